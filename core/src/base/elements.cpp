// Loads, stores and conversions of single elements.
#include "base/elements.hpp"

#include "atoll/half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace Atoll::detail {

namespace {

template <class T> T peek(const unsigned char *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}
template <class T> void poke(void *address, T value) { std::memcpy(address, &value, sizeof value); }

double load_part(const unsigned char *bytes, DType part) {
    switch (part) {
    case DType::float16: return atoll_half_to_float(peek<std::uint16_t>(bytes));
    case DType::bfloat16: return atoll_bfloat_to_float(peek<std::uint16_t>(bytes));
    case DType::float32: return peek<float>(bytes);
    default: return peek<double>(bytes);
    }
}

void store_part(void *address, DType part, const Wide &value, double d) {
    const bool integer = value.kind == Kind::signed_ || value.kind == Kind::unsigned_;
    switch (part) {
    case DType::float16: poke(address, atoll_double_to_half(d)); break;
    case DType::bfloat16: poke(address, atoll_double_to_bfloat(d)); break;
    case DType::float32:
        // A 64-bit integer must not be rounded twice.
        poke(address, !integer                      ? static_cast<float>(d)
                      : value.kind == Kind::signed_ ? static_cast<float>(value.i)
                                                    : static_cast<float>(value.u));
        break;
    default: poke(address, d);
    }
}

double as_double(const Wide &value) {
    switch (value.kind) {
    case Kind::signed_: return static_cast<double>(value.i);
    case Kind::unsigned_: return static_cast<double>(value.u);
    default: return value.z.real();
    }
}

template <class T> void store_integer(void *address, const Wide &value) {
    switch (value.kind) {
    case Kind::signed_: poke(address, static_cast<T>(value.i)); return;
    case Kind::unsigned_: poke(address, static_cast<T>(value.u)); return;
    default: break;
    }
    const double d = value.z.real();
    // The upper limit is not exact in double for 64 bits; limit + 1 is a power of two.
    const double upper = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double lower = static_cast<double>(std::numeric_limits<T>::lowest());
    if (d != d)
        poke(address, T{0});
    else if (d >= upper)
        poke(address, std::numeric_limits<T>::max());
    else if (d <= lower)
        poke(address, std::numeric_limits<T>::lowest());
    else
        poke(address, static_cast<T>(d));
}

} // namespace

Wide load_element(const void *address, DType dtype, bool swapped) {
    unsigned char bytes[16];
    const DTypeInfo &facts = info(dtype);
    std::memcpy(bytes, address, facts.size);
    if (swapped)
        for (unsigned char *part = bytes; part < bytes + facts.size; part += facts.alignment)
            std::reverse(part, part + facts.alignment);
    Wide wide;
    wide.kind = Kind::signed_;
    switch (dtype) {
    case DType::none: break;
    case DType::bool_:
        wide.kind = Kind::unsigned_;
        wide.u = bytes[0] != 0;
        break;
    case DType::int8: wide.i = peek<std::int8_t>(bytes); break;
    case DType::int16: wide.i = peek<std::int16_t>(bytes); break;
    case DType::int32: wide.i = peek<std::int32_t>(bytes); break;
    case DType::int64: wide.i = peek<std::int64_t>(bytes); break;
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
        wide.kind = Kind::unsigned_;
        std::memcpy(&wide.u, bytes, facts.size); // little endian, like the ABI's hosts
        break;
    default:
        wide.kind = facts.kind == Kind::complex ? Kind::complex : Kind::float_;
        wide.z = load_part(bytes, facts.part);
        if (wide.kind == Kind::complex) wide.z.imag(load_part(bytes + facts.alignment, facts.part));
    }
    return wide;
}

void store_element(void *address, DType dtype, const Wide &value) {
    const DTypeInfo &facts = info(dtype);
    switch (dtype) {
    case DType::none: break;
    case DType::bool_: {
        bool truth = value.z != std::complex<double>(0);
        if (value.kind == Kind::signed_)
            truth = value.i != 0;
        else if (value.kind == Kind::unsigned_)
            truth = value.u != 0;
        poke(address, truth);
        break;
    }
    case DType::int8: store_integer<std::int8_t>(address, value); break;
    case DType::int16: store_integer<std::int16_t>(address, value); break;
    case DType::int32: store_integer<std::int32_t>(address, value); break;
    case DType::int64: store_integer<std::int64_t>(address, value); break;
    case DType::uint8: store_integer<std::uint8_t>(address, value); break;
    case DType::uint16: store_integer<std::uint16_t>(address, value); break;
    case DType::uint32: store_integer<std::uint32_t>(address, value); break;
    case DType::uint64: store_integer<std::uint64_t>(address, value); break;
    default:
        store_part(address, facts.part, value, as_double(value));
        if (facts.kind == Kind::complex) {
            Wide imaginary;
            imaginary.kind = Kind::float_;
            imaginary.z = value.kind == Kind::complex ? value.z.imag() : 0.0;
            store_part(static_cast<char *>(address) + facts.alignment, facts.part, imaginary,
                       imaginary.z.real());
        }
    }
}

} // namespace Atoll::detail
