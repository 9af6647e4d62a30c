// A reduction with its types erased: what reduce.cpp drives, and where each function's is found.
#pragma once

#include "atoll/core_functions.hpp"
#include "types.h"

#include <array>

namespace Atoll::kernels {

// What a call gives to its reducer.
struct Given {
    double scale = 1;         // of norm_two, where it repeats itself
    double x = 0;             // of var, stddev and norm
    std::int64_t count = 0;   // elements per result
    bool far = false;         // elements come from no cache
    bool fetches = false;     // and software fetches them
    bool two_streams = false; // and two leaves are read at once
};

inline constexpr std::int64_t largest_accumulator = 56; // bytes
// Enough to read and write the accumulators seldom, few enough for the processor to fetch ahead.
inline constexpr std::int64_t rows_taken = 8;
inline constexpr std::int64_t group_bytes = 64;
inline constexpr std::int64_t narrow_bytes = 512; // of rows whose accumulators stay in registers
inline constexpr std::int64_t leaf = 2048;        // elements that lanes add up without halving

struct Reducer;
using StoredRow = std::array<const Reducer *, ATOLL_DTYPE_COUNT>; // by the dtype of elements

// All arrays are dense and aligned. Null functions: not there.
struct Reducer {
    std::uint8_t size = 0;     // bytes of an accumulator
    std::uint8_t out_size = 0; // bytes of a result
    std::uint8_t result = 0;   // the result's dtype; none: what the rule makes of the compute dtype
    bool pairwise = false;     // rounds: long runs are halved, not added up
    bool halves = false;       // block() does that itself
    bool by_members = false;   // n accumulators are an array for each member, not one of structs
    void (*identity)(std::int64_t n, char *accumulators) = nullptr;
    // One accumulator takes in n elements.
    void (*block)(std::int64_t n, const char *in, const Given &given, char *accumulator) = nullptr;
    // Accumulator i takes in element i.
    void (*rows)(std::int64_t n, const char *in, const Given &given, char *accumulators) = nullptr;
    // The same with the elements i of `rows_taken` rows, one after the other.
    using ManyRows = void (*)(std::int64_t n, const char *const *in, const Given &given,
                              char *accumulators);
    ManyRows many_rows = nullptr;
    // The same with any number of rows, `stride` bytes apart; n accumulators fill at least a vector
    // and at most `narrow_bytes`.
    void (*narrow_rows)(std::int64_t n, std::int64_t rows, const char *in, std::int64_t stride,
                        char *accumulators) = nullptr;
    // Folds each of some rows of n elements, `stride` bytes apart, into as many accumulators as
    // fill `group_bytes`; these follow each other.
    void (*groups)(std::int64_t n, std::int64_t rows, const char *in, std::int64_t stride,
                   const Given &given, char *groups) = nullptr;
    // Folds each of n such groups, as JoinedGroups does.
    void (*fold_groups)(std::int64_t n, const char *groups, char *accumulators) = nullptr;
    // Accumulator i takes in accumulator i of `from`.
    void (*merge)(std::int64_t n, const char *from, const Given &given,
                  char *accumulators) = nullptr;
    void (*finish)(std::int64_t n, const char *accumulators, const Given &given,
                   char *out) = nullptr;
    bool (*done)(const char *accumulator) = nullptr; // no further element can change it
    // The scale to repeat with because squares left the range, or 1.
    double (*rescale)(const char *accumulator) = nullptr;
    // A few rows are taken in twice: after `rows` `turn` gets how many there are, and `rows_again`
    // takes them in. `settle` says whether that will do; if not, which it does not say of the
    // `last` time, all follow again.
    void (*turn)(std::int64_t n, std::int64_t rows, char *accumulators) = nullptr;
    void (*rows_again)(std::int64_t n, const char *in, const Given &given,
                       char *accumulators) = nullptr;
    ManyRows many_rows_again = nullptr;
    bool (*settle)(std::int64_t n, bool last, char *accumulators) = nullptr;
    // The same reduction of elements as they are stored, not of the compute dtype: null, or by
    // their dtype, where it is there.
    const StoredRow *of_stored = nullptr;
};

using ReducerRow = std::array<Reducer, ATOLL_DTYPE_COUNT>; // by compute dtype

namespace reducers {
// One for every reduction of the list, and another for those with skip_nan; no others are defined.
#define ATOLL_FUNCTION(id, name, ...) extern const ReducerRow name, nan_##name;
#include "atoll/lists/functions.inc"
// norm itself is for any p; these for the p of their name.
extern const ReducerRow norm_one, norm_two, norm_infinity, nan_norm_one, nan_norm_two,
    nan_norm_infinity;
extern const StoredRow sums_of_integers, means_of_integers; // narrower than 64 bits
} // namespace reducers

} // namespace Atoll::kernels
