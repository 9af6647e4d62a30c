// The functions of vectors of complex numbers, as OfComplex<F>. See Note [Complex vectors].
#pragma once

#include "vector_complex_arcs.h"
#include "vector_complex_exp.h"
#include "vector_complex_log.h"
#include "vector_complex_pow.h"
#include "vector_complex_sqrt.h"
