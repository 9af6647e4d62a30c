// Conversions between float and the half-precision format, as the compiler has them.
#pragma once

#include "cuda_runtime.h"

#include <cstring>

struct __half_raw {
    unsigned short x;
};
struct __half {
    unsigned short x;
    __half() = default;
    __half(__half_raw raw) : x(raw.x) {}
    operator __half_raw() const { return {x}; }
};
inline float __half2float(__half value) {
    _Float16 half;
    std::memcpy(&half, &value.x, sizeof half);
    return static_cast<float>(half);
}
inline __half __float2half_rn(float value) {
    const _Float16 half = static_cast<_Float16>(value);
    __half_raw raw;
    std::memcpy(&raw.x, &half, sizeof half);
    return raw;
}
