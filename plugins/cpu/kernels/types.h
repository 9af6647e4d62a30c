// The element types that kernels compute in, and facts about dtypes.
#pragma once

#include "entries.h"
#include "functors/element.h"

#include <array>
#include <cstdint>
#include <cstring>

// No iteration depends on another one: an output is either the very same elements as an input or
// apart from it. `restrict` would deny the first case.
#if defined(__clang__)
#define ATOLL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ATOLL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace Atoll::kernels {

// Of a vector of the processor level.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

// Elements of a block that is converted: a few blocks of the widest dtype stay in the L1 cache.
inline constexpr std::int64_t block_size = 512;

inline constexpr std::uint8_t sizes[ATOLL_DTYPE_COUNT] = {
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) size,
#include "atoll/lists/dtypes.inc"
};
inline constexpr std::uint8_t kinds[ATOLL_DTYPE_COUNT] = {
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) ATOLL_DTYPE_KIND_##KIND,
#include "atoll/lists/dtypes.inc"
};
inline constexpr std::uint8_t parts[ATOLL_DTYPE_COUNT] = {
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) ATOLL_DTYPE_##PART,
#include "atoll/lists/dtypes.inc"
};

// Facts that follow from these, as tables: small calls ask for them.
template <class Fact> constexpr auto of_each_dtype(const Fact &fact) {
    std::array<std::uint8_t, ATOLL_DTYPE_COUNT> facts{};
    for (std::uint32_t dtype = 0; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        facts[dtype] = static_cast<std::uint8_t>(fact(dtype));
    return facts;
}
inline constexpr auto alignments = of_each_dtype([](std::uint32_t d) { return sizes[parts[d]]; });
inline constexpr auto wide_dtypes = of_each_dtype([](std::uint32_t d) -> std::uint32_t {
    if (kinds[d] < ATOLL_DTYPE_KIND_FLOAT || alignments[d] >= 4) return d;
    return kinds[d] == ATOLL_DTYPE_KIND_COMPLEX ? ATOLL_DTYPE_COMPLEX64 : ATOLL_DTYPE_FLOAT32;
});

// Bytes per part, which is the natural alignment.
constexpr std::uint32_t alignment_of(std::uint32_t dtype) { return alignments[dtype]; }

// The dtype that `dtype` is computed in: floats of fewer than 4 bytes widen, the others stay.
constexpr std::uint32_t widened(std::uint32_t dtype) { return wide_dtypes[dtype]; }

// [function][compute dtype]: the dtype of the result.
using ResultDtypes = std::array<std::array<std::uint8_t, ATOLL_DTYPE_COUNT>, ATOLL_FN_COUNT>;
extern const ResultDtypes result_dtypes;

inline std::uint32_t result_of(std::uint32_t function, std::uint32_t dtype) {
    return result_dtypes[function][dtype];
}

// bool orders, counts and compares as its bytes 0 and 1.
template <class T> using Element = std::conditional_t<is_bool<T>, std::uint8_t, T>;

template <class T> T load(const char *p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

} // namespace Atoll::kernels
