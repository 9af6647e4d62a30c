// What all tests of the kernels include, parsed once.
#include "../kernels/check.h"
