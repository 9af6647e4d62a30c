// cub::DeviceRadixSort as the standard library's stable sort, on one thread of a kernel. What CUB
// leaves undefined is garbage here, and sizes that break its rules are errors.
#pragma once

#include "cuda_runtime.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

namespace Emulated {
extern std::atomic<long> radix_sorts; // enqueued so far
} // namespace Emulated

namespace cub {

template <class T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
    T *Current() { return d_buffers[selector]; }
    T *Alternate() { return d_buffers[selector ^ 1]; }
};

class DeviceRadixSort {
    // Of `values` null: there are none.
    template <class Key, class Value> struct Work {
        Key *keys, *sorted_keys;
        Value *values, *sorted_values;
        std::uint32_t count;
        bool stays; // sorted where it was
    };
    template <class Key, class Value> static void kernel(Work<Key, Value> work) {
        std::vector<std::uint32_t> order(work.count);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return work.keys[a] < work.keys[b];
        });
        const auto move = [&]<class T>(T *from, T *to) {
            for (std::uint32_t i = 0; i < work.count; ++i) to[i] = from[order[i]];
            if (work.stays) std::swap_ranges(from, from + work.count, to);
            std::memset(work.stays ? to : from, 0xa5, work.count * sizeof(T));
        };
        move(work.keys, work.sorted_keys);
        if (work.values) move(work.values, work.sorted_values);
    }

    template <class Key, class Value>
    static cudaError_t sort(void *scratch, std::size_t &scratch_bytes, DoubleBuffer<Key> &keys,
                            DoubleBuffer<Value> *values, std::uint32_t count, int begin_bit,
                            int end_bit, cudaStream_t stream) {
        static_assert(std::is_unsigned_v<Key> && !std::is_same_v<Key, bool>);
        const std::size_t needed = 1024 + count / 8;
        if (!scratch) {
            scratch_bytes = needed;
            return cudaSuccess;
        }
        const auto fits = [&]<class T>(DoubleBuffer<T> &both) {
            const auto one = reinterpret_cast<std::uintptr_t>(both.Current()),
                       other = reinterpret_cast<std::uintptr_t>(both.Alternate());
            return one % sizeof(T) == 0 && other % sizeof(T) == 0 &&
                   (one > other ? one - other : other - one) >= count * sizeof(T);
        };
        if (scratch_bytes < needed || count == 0 || begin_bit != 0 ||
            end_bit != static_cast<int>(8 * sizeof(Key)) || !fits(keys) ||
            (values && !fits(*values)))
            return cudaErrorInvalidValue;
        // These are the device's memory, all of it.
        const auto spoil = [stream](void *memory, std::size_t bytes) {
            return cudaMemsetAsync(memory, 0xa5, bytes, stream);
        };
        cudaError_t code = spoil(scratch, scratch_bytes);
        if (code == cudaSuccess) code = spoil(keys.Alternate(), count * sizeof(Key));
        if (code == cudaSuccess && values) code = spoil(values->Alternate(), count * sizeof(Value));
        if (code != cudaSuccess) return code;
        // The number of passes decides which buffer has the results: here any.
        const bool stays = Emulated::radix_sorts++ % 2 == 0;
        Work<Key, Value> work{keys.Current(), keys.Alternate(), nullptr, nullptr, count, stays};
        if (values) {
            work.values = values->Current();
            work.sorted_values = values->Alternate();
        }
        cudaLaunchConfig_t config{};
        config.stream = stream;
        code = cudaLaunchKernelEx(&config, &kernel<Key, Value>, work);
        // CUB asks for the thread's last error, which may be an older one.
        if (code != cudaSuccess || (code = cudaPeekAtLastError()) != cudaSuccess) return code;
        keys.selector ^= !stays;
        if (values) values->selector ^= !stays;
        return cudaSuccess;
    }

public:
    template <class Key> static cudaError_t SortKeys(void *scratch, std::size_t &scratch_bytes,
                                                     DoubleBuffer<Key> &keys, std::uint32_t count,
                                                     int begin_bit, int end_bit,
                                                     cudaStream_t stream) {
        return sort<Key, char>(scratch, scratch_bytes, keys, nullptr, count, begin_bit, end_bit,
                               stream);
    }
    template <class Key, class Value>
    static cudaError_t SortPairs(void *scratch, std::size_t &scratch_bytes, DoubleBuffer<Key> &keys,
                                 DoubleBuffer<Value> &values, std::uint32_t count, int begin_bit,
                                 int end_bit, cudaStream_t stream) {
        return sort(scratch, scratch_bytes, keys, &values, count, begin_bit, end_bit, stream);
    }
};

} // namespace cub
