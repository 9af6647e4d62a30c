// CUB's radix sort, in a unit of its own: its headers take long to compile.
#pragma once

#include "device.hpp"

namespace Atoll::cuda {

// What is sorted, and room for as much. Sorting moves it between the two, and swaps them.
template <class T> struct SortBuffers { T *data, *room; };

// Bytes of scratch memory that radix_sort needs.
template <class Key>
std::size_t radix_sort_scratch(const Target &target, std::uint32_t count, bool with_places);
// Enqueues an ascending, stable sort of `count` keys, and of the places that belong to them unless
// these are null. `room` and the scratch memory are left with garbage.
template <class Key> void radix_sort(const Target &target, void *scratch, std::size_t scratch_bytes,
                                     SortBuffers<Key> &keys, SortBuffers<std::uint32_t> &places,
                                     std::uint32_t count);

} // namespace Atoll::cuda
