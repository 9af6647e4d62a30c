// The oracle as a whole: what every function of the list should give, element by element and
// slowly.
#pragma once

#include "elementwise.h"
#include "order.h"
#include "reduce.h"
#include "values.h"
