// Freed device memory of one stream, kept for its next allocations.
//
// Note [Reuse]
// A block that was freed on a stream is free for work that is enqueued on that stream from then on,
// and for no other: others would have to wait for it. So every stream has blocks of its own. What a
// stream does not keep goes to the driver's pool, which orders streams itself. Blocks come in size
// classes, eight for each power of two, so that at most an eighth of one is unused.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <vector>

namespace Atoll::cuda {

// Sizes below 512 bytes are one class: the pool aligns to 512 bytes anyway.
constexpr std::uint32_t size_class(std::uint64_t bytes) {
    const std::uint64_t last = (bytes < 512 ? 512 : bytes) - 1;
    const std::uint32_t power = 63u - static_cast<std::uint32_t>(std::countl_zero(last));
    return power * 8 + static_cast<std::uint32_t>(last >> (power - 3) & 7);
}
constexpr std::uint64_t class_bytes(std::uint32_t index) {
    return (std::uint64_t{9} + index % 8) << (index / 8 - 3);
}
static_assert(class_bytes(size_class(1)) == 512 && class_bytes(size_class(512)) == 512);
static_assert(class_bytes(size_class(513)) == 576 && class_bytes(size_class(1 << 20)) == 1 << 20);

class FreeBlocks {
public:
    struct Block {
        void *memory;
        std::uint64_t bytes;
        std::uint64_t time; // of its free, in frees of the stream
    };

    // The last block of the class to be freed, or null.
    void *take(std::uint32_t index) {
        const std::lock_guard lock(mutex_);
        std::vector<Block> &blocks = classes_[index];
        if (blocks.empty()) return nullptr;
        void *const memory = blocks.back().memory;
        blocks.pop_back();
        return memory;
    }
    void keep(std::uint32_t index, void *memory) {
        const std::lock_guard lock(mutex_);
        classes_[index].push_back({memory, class_bytes(index), ++time_});
    }
    // The block that has been kept for the longest time; memory is null if there is none.
    Block take_oldest() {
        const std::lock_guard lock(mutex_);
        std::vector<Block> *oldest = nullptr;
        for (std::vector<Block> &blocks : classes_)
            if (!blocks.empty() && (!oldest || blocks.front().time < oldest->front().time))
                oldest = &blocks;
        if (!oldest) return {};
        const Block block = oldest->front();
        oldest->erase(oldest->begin());
        return block;
    }

private:
    std::mutex mutex_;
    std::array<std::vector<Block>, size_class(UINT64_MAX / 2) + 1> classes_;
    std::uint64_t time_ = 0;
};

} // namespace Atoll::cuda
