// One table of conversions, named by CONVERSIONS; see conversions.hpp.
#include "conversions.hpp"

#include "atoll/half.h"

const Conversions CONVERSIONS{
    [](std::uint16_t half) { return atoll_half_to_float(half); },
    [](float value) { return atoll_float_to_half(value); },
    [](std::uint16_t bfloat) { return atoll_bfloat_to_float(bfloat); },
    [](float value) { return atoll_float_to_bfloat(value); },
    [](double value) { return atoll_double_to_half(value); },
    [](double value) { return atoll_double_to_bfloat(value); },
};
