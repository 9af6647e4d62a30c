// The one-dimensional cast loops: a table of every pair of computed dtypes, and the halves.
#include "convert.h"
#include "vector_halves.h"
#include "vector_operations.h"

#include <algorithm>
#include <array>
#include <limits>

namespace Atoll::kernels {
namespace {

// Truncates; saturates at the ends; NaN gives 0. Only values that fit reach the machine's own
// conversion, and there is no branch, so that the loop vectorises.
template <class To, class From> To truncate(From x) {
    constexpr int bits = std::numeric_limits<To>::digits;
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From end = static_cast<From>(std::uint64_t{1} << (bits - 1)) * From(2);
    const From inside = x > low && x < end ? x : From(0);
    // Narrow integers go through int32, which every level converts in vectors.
    using Middle = std::conditional_t<(sizeof(To) < 4), std::int32_t, To>;
    To result = static_cast<To>(static_cast<Middle>(inside));
    result = x <= low ? std::numeric_limits<To>::min() : result;
    return x >= end ? std::numeric_limits<To>::max() : result;
}

template <class To, class From> To convert(From x) {
    if constexpr (is_complex<From> && is_complex<To>) {
        return {static_cast<Part<To>>(x.re), static_cast<Part<To>>(x.im)};
    } else if constexpr (is_complex<To>) {
        return {convert<Part<To>>(x), Part<To>(0)};
    } else if constexpr (is_complex<From> && is_bool<To>) {
        return To(x.re != 0 || x.im != 0);
    } else if constexpr (is_complex<From>) {
        return convert<To>(x.re);
    } else if constexpr (is_bool<To>) {
        return To(x != From(0));
    } else if constexpr (is_bool<From>) {
        // x != 0 without a branch, which compilers make of that for floats.
        const auto byte = static_cast<std::uint8_t>(x);
        return static_cast<To>(static_cast<std::uint8_t>(byte | (0 - byte)) >> 7);
    } else if constexpr (is_float<From> && std::is_integral_v<To>) {
        return truncate<To>(x);
    } else {
        return static_cast<To>(x);
    }
}

// Whether all numbers of an integer type are floats of another one, and int32.
template <class To, class From> inline constexpr bool holds_ends =
    is_float<From> &&std::is_integral_v<To> &&std::numeric_limits<To>::digits < 32 &&
    std::numeric_limits<To>::digits < std::numeric_limits<From>::digits;
// The same as truncate() of each element, as int32, in half the time of the compiler's vectors of
// that.
template <class To, class V> auto truncated(V x) {
    using From = vector_math::Element<V>;
    x = vector_math::at_least(static_cast<From>(std::numeric_limits<To>::min()), x);
    x = vector_math::at_most(static_cast<From>(std::numeric_limits<To>::max()), x);
    x = x == x ? x : V{};
    return __builtin_convertvector(x, VectorN<std::int32_t, lanes<From>>);
}

template <class To, class From> void cast(std::int64_t n, char *out, const char *in) {
    To *o = reinterpret_cast<To *>(out);
    const From *i = reinterpret_cast<const From *>(in);
    std::int64_t k = 0;
    if constexpr (holds_ends<To, From>) {
        using V = Vector<From>;
        // GCC 12 makes bytes of one vector in scalars, but good code of loops over many.
        if constexpr (vector_bytes == 32 && sizeof(To) == 1) {
            constexpr std::int64_t block = 128;
            alignas(32) std::int32_t whole[block];
            for (std::int64_t count; n - k >= lanes<From>; k += count) {
                count = std::min(block, (n - k) / lanes<From> * lanes<From>);
                for (std::int64_t j = 0; j < count; j += lanes<From>)
                    store_vector(whole + j, truncated<To>(load_vector<V>(i + k + j)));
                for (std::int64_t j = 0; j < count; ++j) o[k + j] = static_cast<To>(whole[j]);
            }
        }
        for (; k + lanes<From> <= n; k += lanes<From>)
            store_vector(o + k, __builtin_convertvector(truncated<To>(load_vector<V>(i + k)),
                                                        VectorN<To, lanes<From>>));
    }
    ATOLL_INDEPENDENT
    for (; k < n; ++k) o[k] = convert<To>(i[k]);
}

// Four at a time: on AMD's Zen 4 a tenth faster from the caches than with wider vectors.
template <> void cast<float, double>(std::int64_t n, char *out, const char *in) {
    float *o = reinterpret_cast<float *>(out);
    const double *i = reinterpret_cast<const double *>(in);
    std::int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        store_vector(o + k, __builtin_convertvector(load_vector<VectorN<double, 4>>(i + k),
                                                    VectorN<float, 4>));
    for (; k < n; ++k) o[k] = static_cast<float>(i[k]);
}

#if defined(__AVX2__) && !defined(__AVX512F__)
template <> void cast<std::int32_t, float>(std::int64_t n, char *out, const char *in) {
    using V = Vector<float>;
    const float *i = reinterpret_cast<const float *>(in);
    std::int32_t *o = reinterpret_cast<std::int32_t *>(out);
    std::int64_t k = 0;
    for (; k + lanes<float> <= n; k += lanes<float>) {
        const V x = load_vector<V>(i + k);
        // What does not fit gives the least number, which is the greatest one turned over.
        store_vector(o + k,
                     ((Vector<std::int32_t>)_mm256_cvttps_epi32(x) ^ (x >= 0x1p31f)) & (x == x));
    }
    for (; k < n; ++k) o[k] = truncate<std::int32_t>(i[k]);
}

// A double of each half of an integer's bits, 2^84 and 2^52 added to them: the first difference is
// exact, and the sum is rounded once.
template <class T> void cast_to_double(std::int64_t n, char *out, const char *in) {
    using namespace vector_math;
    using V = Vector<double>;
    constexpr double high = 0x1p84, low = 0x1p52, sign = std::is_signed_v<T> ? 0x1p63 : 0;
    const T *i = reinterpret_cast<const T *>(in);
    double *o = reinterpret_cast<double *>(out);
    std::int64_t k = 0;
    for (; k + lanes<T> <= n; k += lanes<T>) {
        auto x = load_vector<Integers<V>>(i + k);
        if constexpr (std::is_signed_v<T>) x ^= std::uint64_t{1} << 63;
        const V upper = from_bits<V>(x >> 32 | bits(all<V>(high)));
        const V lower = from_bits<V>((x & 0xffffffff) | bits(all<V>(low)));
        store_vector(o + k, (upper - (high + sign + low)) + lower);
    }
    for (; k < n; ++k) o[k] = static_cast<double>(i[k]);
}
template <> void cast<double, std::int64_t>(std::int64_t n, char *out, const char *in) {
    cast_to_double<std::int64_t>(n, out, in);
}
template <> void cast<double, std::uint64_t>(std::int64_t n, char *out, const char *in) {
    cast_to_double<std::uint64_t>(n, out, in);
}
#endif

// Integers of one width are the same bits: what comes from an integer is compiled once for both.
template <class To, class From> using CastTo =
    std::conditional_t<std::is_integral_v<From> || is_bool<From>, Wrapping<To>, To>;

using Row = std::array<CastLoop, ATOLL_DTYPE_COUNT>;

template <class To> constexpr Row row(std::uint32_t to) {
    Row loops{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if (widened(id) == id && id != to)                                                             \
        loops[id] = &cast<CastTo<To, wide::identifier>, wide::identifier>;
#include "atoll/lists/dtypes.inc"
    return loops;
}

// Rounds to float towards zero and sets the last bit where anything was cut off.
float to_odd(double x) {
    const float nearest = static_cast<float>(x);
    std::uint32_t bits;
    std::memcpy(&bits, &nearest, 4);
    const double back = nearest, size = x < 0 ? -x : x, back_size = back < 0 ? -back : back;
    bits -= back_size > size ? 1u : 0u;
    bits |= back != x ? 1u : 0u;
    float odd;
    std::memcpy(&odd, &bits, 4);
    return odd;
}

// Integers that round to a bfloat16 as they would themselves. Those of 64 bits go by way of a
// double that does so.
template <class T> float to_odd(T x) requires(sizeof(T) == 8) {
    const bool minus = x < T(0);
    std::uint64_t size =
        minus ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    if (size >> 53) size = (size & ~std::uint64_t{0x7ff}) | (size & 0x7ff ? 0x800 : 0);
    return to_odd(minus ? -static_cast<double>(size) : static_cast<double>(size));
}
// Of those that may not be floats the last nine bits become one.
template <class T> float to_odd(T x) requires(sizeof(T) == 4) {
    constexpr T end = T(1) << 24;
    const T fewer = (x & ~T(0x1ff)) | ((x & T(0x1ff)) != 0 ? T(0x100) : T(0));
    return static_cast<float>(x < end && (std::is_unsigned_v<T> || x > T(0) - end) ? x : fewer);
}

template <class T> void odd(std::int64_t n, char *out, const char *in) {
    float *o = reinterpret_cast<float *>(out);
    const T *i = reinterpret_cast<const T *>(in);
    ATOLL_INDEPENDENT
    for (std::int64_t k = 0; k < n; ++k) o[k] = to_odd(i[k]);
}
void odd_parts(std::int64_t n, char *out, const char *in) { odd<double>(2 * n, out, in); }

// The same for what is rounded to a float16: where that is 0 or infinite, the number matters
// little.
float to_odd_half(double x) {
    constexpr std::uint64_t last = std::uint64_t{1} << 29, below = last - 1; // of a float
    std::uint64_t bits;
    std::memcpy(&bits, &x, 8);
    bits = (bits | ((bits & below) + below)) & ~below; // the sum reaches the last bit, if not zero
    std::memcpy(&x, &bits, 8);
    return static_cast<float>(x);
}
template <class T> float to_odd_half(T x) {
    constexpr T most = 1 << 17; // integers up to here are floats
    x = x < most ? x : most;
    if constexpr (std::is_signed_v<T>) x = x > -most ? x : -most;
    return static_cast<float>(static_cast<std::int32_t>(x));
}
template <class T> void odd_halves(std::int64_t n, char *out, const char *in) {
    float *o = reinterpret_cast<float *>(out);
    const T *i = reinterpret_cast<const T *>(in);
    ATOLL_INDEPENDENT
    for (std::int64_t k = 0; k < n; ++k) o[k] = to_odd_half(i[k]);
}
void odd_half_parts(std::int64_t n, char *out, const char *in) {
    odd_halves<double>(2 * n, out, in);
}

// Halves, or the parts of complex ones.
template <class Format, int Parts> void widen(std::int64_t n, char *out, const char *in) {
    vector_halves::widen<Format>(Parts * n, out, in);
}
template <class Format, int Parts> void round(std::int64_t n, char *out, const char *in) {
    vector_halves::round<Format>(Parts * n, out, in);
}

constexpr std::array<Row, ATOLL_DTYPE_COUNT> make_table() {
    std::array<Row, ATOLL_DTYPE_COUNT> table{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if (widened(id) == id) table[id] = row<wide::identifier>(id);
#include "atoll/lists/dtypes.inc"
    table[ATOLL_DTYPE_FLOAT32][ATOLL_DTYPE_FLOAT16] = &widen<vector_halves::Float16, 1>;
    table[ATOLL_DTYPE_FLOAT16][ATOLL_DTYPE_FLOAT32] = &round<vector_halves::Float16, 1>;
    table[ATOLL_DTYPE_FLOAT32][ATOLL_DTYPE_BFLOAT16] = &widen<vector_halves::Bfloat16, 1>;
    table[ATOLL_DTYPE_BFLOAT16][ATOLL_DTYPE_FLOAT32] = &round<vector_halves::Bfloat16, 1>;
    table[ATOLL_DTYPE_COMPLEX64][ATOLL_DTYPE_COMPLEX32] = &widen<vector_halves::Float16, 2>;
    table[ATOLL_DTYPE_COMPLEX32][ATOLL_DTYPE_COMPLEX64] = &round<vector_halves::Float16, 2>;
    return table;
}
constexpr std::array<Row, ATOLL_DTYPE_COUNT> table = make_table();

} // namespace

CastLoop cast_loop(std::uint32_t to, std::uint32_t from) { return table[to][from]; }

CastLoop odd_loop(std::uint32_t to, std::uint32_t from) {
    const auto either = [&](CastLoop any, CastLoop half) {
        return parts[to] == ATOLL_DTYPE_FLOAT16 ? half : any;
    };
    switch (from) {
    case ATOLL_DTYPE_INT32: return either(&odd<std::int32_t>, &odd_halves<std::int32_t>);
    case ATOLL_DTYPE_UINT32: return either(&odd<std::uint32_t>, &odd_halves<std::uint32_t>);
    case ATOLL_DTYPE_INT64: return either(&odd<std::int64_t>, &odd_halves<std::int64_t>);
    case ATOLL_DTYPE_UINT64: return either(&odd<std::uint64_t>, &odd_halves<std::uint64_t>);
    case ATOLL_DTYPE_FLOAT64: return either(&odd<double>, &odd_halves<double>);
    case ATOLL_DTYPE_COMPLEX128: return either(&odd_parts, &odd_half_parts);
    default: return table[ATOLL_DTYPE_FLOAT32][from];
    }
}

} // namespace Atoll::kernels
