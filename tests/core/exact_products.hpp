// Products of small whole numbers, which are exact in every dtype.
#pragma once

#include "support.hpp"

namespace support {

// Small whole numbers, so that every dtype's products are exact.
inline Value small(int dtype, Random &random) {
    const auto one = [&] { return static_cast<long double>(random() % 5) - 2; };
    if (oracle::is_integer(dtype)) return Value::of(oracle::wrap(random(), dtype));
    return oracle::convert(Value::of(one(), one()), dtype);
}

inline Value times(const Value &a, const Value &b, int dtype) {
    if (dtype == ATOLL_DTYPE_BOOL) return Value::of(a.truth() && b.truth());
    if (oracle::is_integer(dtype))
        return Value::of(oracle::wrap(static_cast<__int128>(static_cast<unsigned __int128>(a.i) *
                                                            static_cast<unsigned __int128>(b.i)),
                                      dtype));
    return Value::of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
inline Value plus(const Value &a, const Value &b, int dtype) {
    if (dtype == ATOLL_DTYPE_BOOL) return Value::of(a.truth() || b.truth());
    if (oracle::is_integer(dtype)) return Value::of(oracle::wrap(a.i + b.i, dtype));
    return Value::of(a.re + b.re, a.im + b.im);
}

} // namespace support
