// Scalar: one value with a dtype; weak if it was created from a plain C++ number (NEP 50).
#pragma once

#include "atoll/dtype.hpp"

#include <bit>
#include <complex>
#include <concepts>

namespace Atoll {

// A value on the host. C++ numbers convert implicitly to *weak* scalars: with a tensor only their
// kind matters, so that `float32 tensor + 2.0` stays float32. A scalar with an explicit dtype is
// strong and promotes like a tensor.
class Scalar {
public:
    Scalar() = default; // int64 0, weak
    // A template, so that pointers ("text", nullptr) do not convert.
    template <std::same_as<bool> T> Scalar(T value) : Scalar(bool_, bool_) {
        raw_.value.u64 = value;
    }
    template <class T>
    requires(std::integral<T> && !std::same_as<T, bool>) Scalar(T value)
        : Scalar(std::signed_integral<T> ? int64 : uint64, integer_of<T>) {
        if constexpr (std::signed_integral<T>)
            raw_.value.i64 = value;
        else
            raw_.value.u64 = value;
    }
    Scalar(float value) : Scalar(float64, float32) { raw_.value.f64[0] = value; }
    Scalar(double value) : Scalar(float64, float64) { raw_.value.f64[0] = value; }
    template <class T> Scalar(std::complex<T> value)
        : Scalar(complex128, std::same_as<T, float> ? complex64 : complex128) {
        raw_.value.f64[0] = static_cast<double>(value.real());
        raw_.value.f64[1] = static_cast<double>(value.imag());
    }
    // Converts `value` to `dtype` (like cast); the result is strong. Throws Error if it does not
    // fit, see overflows().
    Scalar(Scalar value, DType dtype);

    DType dtype() const noexcept { return static_cast<DType>(raw_.dtype); }
    // The dtype of the C++ type that a weak scalar was made from (float32 for float); dtype() of a
    // strong one.
    DType value_dtype() const noexcept { return weak_ ? value_dtype_ : dtype(); }
    bool is_weak() const noexcept { return weak_; }

    // The value converted to another dtype (float to integer saturates, NaN to 0).
    Scalar cast(DType dtype) const;
    // True iff the value is outside the range of `dtype`: an integer or bool beyond an integer
    // `dtype`, or a finite number that becomes infinite in a floating-point one.
    bool overflows(DType dtype) const;
    double to_double() const;                // real part
    std::complex<double> to_complex() const; // exact for all but 64-bit integers
    std::int64_t to_int() const;             // like cast to int64

    // The representation in the plugin ABI.
    const atoll_scalar &raw() const noexcept { return raw_; }
    explicit Scalar(const atoll_scalar &raw) : raw_(raw), weak_(false) {}

private:
    template <class T> static constexpr DType integer_of =
        static_cast<DType>((std::signed_integral<T> ? ATOLL_DTYPE_INT8 : ATOLL_DTYPE_UINT8) +
                           std::bit_width(sizeof(T)) - 1);
    Scalar(DType dtype, DType value_dtype) : value_dtype_(value_dtype) {
        raw_.dtype = static_cast<std::uint32_t>(dtype);
    }

    atoll_scalar raw_{ATOLL_DTYPE_INT64, 0, 0, {}};
    bool weak_ = true;
    DType value_dtype_ = int64; // of a weak scalar
};

} // namespace Atoll
