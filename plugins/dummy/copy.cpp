// Copy with conversion, fill and steps.
#include "elements.hpp"
#include "kernels.hpp"

namespace Dummy {

namespace {

// Every element of every dtype, exactly. `integer`: narrower integers wrap instead of saturating.
struct Wide {
    long double re = 0, im = 0;
    bool integer = false;
};
static_assert(std::numeric_limits<long double>::digits >= 64);

// Converting twice must round like converting once. Rounding the first time "to odd" (towards zero,
// then setting the last bit) leaves a trace of what was cut off, so that the second rounding to a
// much narrower type sees on which side of its midpoint the value was.
float round_to_odd(long double value) {
    float rounded = static_cast<float>(value);
    if (rounded == value || value != value) return rounded;
    if (std::fabs(rounded) > std::fabs(value)) rounded = std::nextafter(rounded, 0.0F);
    std::uint32_t bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    bits |= 1;
    std::memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

template <class V> V saturated(long double value) {
    using Limits = std::numeric_limits<V>;
    if (value != value) return 0;
    if (value <= static_cast<long double>(Limits::min())) return Limits::min();
    if (value >= static_cast<long double>(Limits::max())) return Limits::max();
    return static_cast<V>(value);
}

template <class V> V wrapped(long double integer) {
    return static_cast<V>(integer < 0
                              ? static_cast<std::uint64_t>(static_cast<std::int64_t>(integer))
                              : static_cast<std::uint64_t>(integer));
}

template <class V> Wide widen(V value) {
    if constexpr (is_complex<V>)
        return {value.real(), value.imag(), false};
    else
        return {static_cast<long double>(value), 0, std::is_integral_v<V>};
}

// `narrow`: the value is to be stored in half of float's size.
template <class V> V narrowed(const Wide &wide, bool narrow) {
    if constexpr (std::is_same_v<V, bool>)
        return wide.re != 0 || wide.im != 0;
    else if constexpr (std::is_integral_v<V>)
        return wide.integer ? wrapped<V>(wide.re) : saturated<V>(wide.re);
    else if constexpr (is_complex<V>)
        return {narrowed<typename V::value_type>({wide.re, 0, false}, narrow),
                narrowed<typename V::value_type>({wide.im, 0, false}, narrow)};
    else
        return narrow ? static_cast<V>(round_to_odd(wide.re)) : static_cast<V>(wide.re);
}

// Copies one element; reverses the bytes of each of its parts where `swapped`.
void copy_bytes(char *to, const char *from, std::uint32_t dtype, bool swapped) {
    const auto size = static_cast<std::size_t>(Atoll::sdk::dtype_size(dtype));
    char bytes[16]; // `to` may be `from`
    std::memcpy(bytes, from, size);
    if (swapped) {
        const auto part =
            static_cast<std::size_t>(Atoll::sdk::dtype_size(Atoll::sdk::dtype_facts[dtype].part));
        for (std::size_t begin = 0; begin < size; begin += part)
            std::reverse(bytes + begin, bytes + begin + part);
    }
    std::memcpy(to, bytes, size);
}

Wide load(const char *at, std::uint32_t dtype, bool swapped) {
    char native[16];
    copy_bytes(native, at, dtype, swapped);
    Wide wide;
    with_dtype<ATOLL_DOMAIN_ALL>(dtype,
                                 [&](auto element, auto) { wide = widen(element.load(native)); });
    return wide;
}

void store(char *at, const Wide &wide, std::uint32_t dtype, bool swapped) {
    char native[16];
    const bool narrow =
        dtype == ATOLL_FLOAT16 || dtype == ATOLL_BFLOAT16 || dtype == ATOLL_COMPLEX32;
    with_dtype<ATOLL_DOMAIN_ALL>(dtype, [&](auto element, auto) {
        element.store(native, narrowed<typename decltype(element)::Value>(wide, narrow));
    });
    copy_bytes(at, native, dtype, swapped);
}

} // namespace

namespace Kernels {

void copy(const atoll_call &call) {
    const atoll_operand &out = call.operands[0], &in = call.operands[1];
    const bool out_swapped = out.flags & ATOLL_OPERAND_SWAPPED;
    const bool in_swapped = in.flags & ATOLL_OPERAND_SWAPPED;
    for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
        if (out.dtype == in.dtype) // keeps every bit, also of NaNs
            copy_bytes(at[0], at[1], in.dtype, in_swapped != out_swapped);
        else
            store(at[0], load(at[1], in.dtype, in_swapped), out.dtype, out_swapped);
    });
}

void fill(const atoll_call &call) {
    const auto &value = Atoll::sdk::params<atoll_fill_params>(call).value;
    const char *bytes = reinterpret_cast<const char *>(value.value.bytes);
    for_each(call, 0, call.rank, first_elements(call),
             [&](Pointers at) { copy_bytes(at[0], bytes, call.operands[0].dtype, false); });
}

void steps(const atoll_call &call) {
    const auto &params = Atoll::sdk::params<atoll_steps_params>(call);
    const std::int64_t count = call.rank == 0 ? 1 : call.shape[0];
    std::int64_t i = 0;
    const auto step_through = [&](auto zero) {
        using V = decltype(zero);
        const auto value_of = [](const atoll_scalar &scalar) {
            return Plain<V>::load(reinterpret_cast<const char *>(scalar.value.bytes));
        };
        const V start = value_of(params.start), step = value_of(params.step);
        const V last = value_of(params.last);
        for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
            const V value = params.has_last && i == count - 1
                                ? last
                                : plus(start, times(static_cast<V>(i), step));
            store(at[0], widen(value), call.operands[0].dtype, false);
            ++i;
        });
    };
    switch (params.start.dtype) {
    case ATOLL_INT64: return step_through(std::int64_t{});
    case ATOLL_UINT64: return step_through(std::uint64_t{});
    case ATOLL_FLOAT64: return step_through(double{});
    case ATOLL_COMPLEX128: return step_through(std::complex<double>{});
    default:
        throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                std::string("steps cannot start from ") +
                                    Atoll::sdk::dtype_name(params.start.dtype));
    }
}

} // namespace Kernels

} // namespace Dummy
