// Ranges for profilers would look for a library to report to.
#define NVTX_DISABLE
#include "radix_sort.hpp"

#include <cub/device/device_radix_sort.cuh>

namespace Atoll::cuda {
namespace {

template <class Key> void call_cub(const Target &target, void *scratch, std::size_t &scratch_bytes,
                                   cub::DoubleBuffer<Key> &keys,
                                   cub::DoubleBuffer<std::uint32_t> &places, std::uint32_t count,
                                   bool with_places) {
    constexpr int bits = 8 * sizeof(Key);
    const cudaStream_t stream = target.stream.handle;
    using cub::DeviceRadixSort;
    cudaGetLastError(); // CUB takes the thread's last error for its own
    target.check(with_places ? DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, places,
                                                          count, 0, bits, stream)
                             : DeviceRadixSort::SortKeys(scratch, scratch_bytes, keys, count, 0,
                                                         bits, stream),
                 "cub::DeviceRadixSort");
}

} // namespace

template <class Key>
std::size_t radix_sort_scratch(const Target &target, std::uint32_t count, bool with_places) {
    cub::DoubleBuffer<Key> keys(nullptr, nullptr);
    cub::DoubleBuffer<std::uint32_t> places(nullptr, nullptr);
    std::size_t bytes = 0;
    call_cub(target, nullptr, bytes, keys, places, count, with_places);
    return bytes;
}

template <class Key> void radix_sort(const Target &target, void *scratch, std::size_t scratch_bytes,
                                     SortBuffers<Key> &keys, SortBuffers<std::uint32_t> &places,
                                     std::uint32_t count) {
    cub::DoubleBuffer<Key> both(keys.data, keys.room);
    cub::DoubleBuffer<std::uint32_t> both_places(places.data, places.room);
    call_cub(target, scratch, scratch_bytes, both, both_places, count, places.data != nullptr);
    keys = {both.Current(), both.Alternate()};
    places = {both_places.Current(), both_places.Alternate()};
}

#define ATOLL_RADIX_SORT(Key)                                                                      \
    template std::size_t radix_sort_scratch<Key>(const Target &, std::uint32_t, bool);             \
    template void radix_sort(const Target &, void *, std::size_t, SortBuffers<Key> &,              \
                             SortBuffers<std::uint32_t> &, std::uint32_t);
ATOLL_RADIX_SORT(std::uint8_t)
ATOLL_RADIX_SORT(std::uint16_t)
ATOLL_RADIX_SORT(std::uint32_t)
ATOLL_RADIX_SORT(std::uint64_t)
#undef ATOLL_RADIX_SORT

} // namespace Atoll::cuda
