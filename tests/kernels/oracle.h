// The oracle as a whole: what every function of the list should give, element by element and
// slowly.
#pragma once

#include "oracle_elementwise.h"
#include "oracle_order.h"
#include "oracle_reduce.h"
#include "oracle_values.h"
