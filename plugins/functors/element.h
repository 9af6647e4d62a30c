// The C++ types that elements of each dtype are computed in, for processors and for devices.
//
// Everything in this folder is compiled for the plugin `cpu`, and for devices by compilers that
// know functions for both sides.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define ATOLL_BOTH_SIDES __host__ __device__
#else
#define ATOLL_BOTH_SIDES
#endif

namespace Atoll::kernels {

// A byte that is true when it is not zero; `bool` itself would make other bytes undefined.
enum class Bool : std::uint8_t {};

template <class T> struct Complex { T re, im; };

template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<Complex<T>> = true;
template <class T> inline constexpr bool is_bool = std::is_same_v<T, Bool>;
template <class T> inline constexpr bool is_float = std::is_floating_point_v<T>;

template <class T> ATOLL_BOTH_SIDES constexpr T one() {
    if constexpr (is_complex<T>)
        return {1, 0};
    else
        return T{1};
}

template <class T> struct PartOf { using type = T; };
template <class T> struct PartOf<Complex<T>> { using type = T; };
template <class T> using Part = typename PartOf<T>::type;

// Signed and unsigned arithmetic that wraps gives the same bits, so it is compiled once.
template <class T, bool = std::is_integral_v<T>> struct WrappingOf { using type = T; };
template <class T> struct WrappingOf<T, true> { using type = std::make_unsigned_t<T>; };
template <class T> using Wrapping = typename WrappingOf<T>::type;

// What each dtype is computed in, named by the dtype's identifier in the list.
namespace wide {
using bool_ = Bool;
using int8 = std::int8_t;
using int16 = std::int16_t;
using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using uint16 = std::uint16_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;
using float16 = float;
using bfloat16 = float;
using float32 = float;
using float64 = double;
using complex32 = Complex<float>;
using complex64 = Complex<float>;
using complex128 = Complex<double>;
} // namespace wide

} // namespace Atoll::kernels
