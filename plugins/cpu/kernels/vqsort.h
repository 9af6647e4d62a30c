// Sorting by the processor's vectors: Highway's vqsort.
#pragma once

#include "types.h"

#include <type_traits>

namespace Atoll::kernels {

#if defined(__x86_64__)
template <class T> inline constexpr bool vqsort_takes = std::is_integral_v<T>
                                                            ? sizeof(T) >= 2
                                                            : is_float<Part<T>> && sizeof(T) <= 8;
#else
// With other instructions Highway before 1.3 reads and writes back what follows a row.
template <class T> inline constexpr bool vqsort_takes = false;
#endif

// Of a row that several threads sort.
inline constexpr std::int64_t most_pieces = 32;

// Sorts the n elements at x to y, which is x or overlaps nothing, by way of `room` for as many. A
// row of several `pieces`, each of which is large, is sorted by several threads. False, and x as it
// was, if an element is NaN or -0, or has such a part.
template <class T>
bool vqsort(std::int64_t n, const T *x, T *y, void *room, std::int64_t pieces, bool descending);

} // namespace Atoll::kernels
