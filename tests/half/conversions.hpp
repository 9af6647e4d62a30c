// The functions of atoll/half.h as a table: conversions.cpp is compiled once with and once without
// the F16C instructions, so that one test sees both.
#pragma once

#include <cstdint>

struct Conversions {
    float (*half_to_float)(std::uint16_t);
    std::uint16_t (*float_to_half)(float);
    float (*bfloat_to_float)(std::uint16_t);
    std::uint16_t (*float_to_bfloat)(float);
    std::uint16_t (*double_to_half)(double);
    std::uint16_t (*double_to_bfloat)(double);
};
extern const Conversions portable_conversions, f16c_conversions;
