// See Note [Allocator].
#include "memory.h"

#include "atoll/abi/note.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace Atoll::cpu::memory {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 46; // more than any address space has

void *from_system(std::uint64_t bytes, std::size_t align) {
    return std::aligned_alloc(align, (bytes + align - 1) & ~std::uint64_t{align - 1});
}

#if ATOLL_SANITIZERS & ATOLL_SANITIZER_ADDRESS
constexpr bool caching = false;
#else
constexpr bool caching = true;
#endif

// A free block holds its own list entry.
struct Block {
    Block *next;
};

constexpr std::uint64_t small_limit = 4096;
constexpr std::size_t small_classes = small_limit / alignment;
constexpr std::uint64_t slab_bytes = 1u << 18;   // what small blocks are cut from
constexpr std::uint64_t slab_header = alignment; // before a slab's first block

constexpr std::size_t small_class(std::uint64_t bytes) { return (bytes - 1) / alignment; }
constexpr std::uint64_t small_bytes(std::size_t index) { return (index + 1) * alignment; }

// Blocks of each class that move between a thread and the others at once: some pages, of which all
// but the first and the last are one thread's. Where two threads have blocks in one page, the
// processor, which fetches ahead of each one's stores, takes lines from the other: with 32 blocks
// a + b of one float32 takes up to 245 ns in two threads at once, so 184 (Zen 1).
constexpr auto batches = [] {
    std::array<std::uint32_t, small_classes> counts{};
    for (std::size_t index = 0; index < small_classes; ++index)
        counts[index] =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(32, 16384 / small_bytes(index)));
    return counts;
}();

struct FreeList {
    Block *head = nullptr;
    std::uint32_t count = 0;

    void push(Block *block) {
        block->next = head;
        head = block;
        ++count;
    }
    Block *pop() {
        Block *block = head;
        head = block->next;
        --count;
        return block;
    }
};

// ---- slabs ----

// Small blocks of one class are cut from a slab, which stands at a multiple of its size, so that a
// block's address says which one it is of.
struct Slab {
    Slab *next, *previous; // those of the class with blocks left
    Block *free;           // blocks that came back
    std::uint32_t cut;     // bytes cut into blocks so far, with the header
    std::uint32_t used;    // blocks in use or in a thread's list

    static Slab *of(void *block) {
        return reinterpret_cast<Slab *>(reinterpret_cast<std::uintptr_t>(block) &
                                        ~std::uintptr_t{slab_bytes - 1});
    }
    bool has_block(std::uint64_t size) const { return free || cut + size <= slab_bytes; }
    Block *take(std::uint64_t size) {
        ++used;
        if (Block *block = free) {
            free = block->next;
            return block;
        }
        char *block = reinterpret_cast<char *>(this) + cut;
        cut += static_cast<std::uint32_t>(size);
        return reinterpret_cast<Block *>(block);
    }
};
static_assert(sizeof(Slab) <= slab_header);

// ---- large blocks, and slabs of which no block is in use ----

constexpr std::uint64_t huge_page = 1u << 21;

struct LargeBlock {
    LargeBlock *newer, *older;   // all cached blocks, by time of free
    LargeBlock *next, *previous; // those of one class, newest first
    std::uint32_t index;
};

// Eight classes per power of two: at most an eighth of a block is unused.
constexpr std::uint32_t large_class(std::uint64_t bytes) {
    const std::uint32_t log = 63u - static_cast<std::uint32_t>(std::countl_zero(bytes - 1));
    return log * 8 + static_cast<std::uint32_t>((bytes - 1) >> (log - 3) & 7);
}
constexpr std::uint64_t class_bytes(std::uint32_t index) {
    return (std::uint64_t{9} + index % 8) << (index / 8 - 3);
}
// Slabs are a class of their own: other blocks of their size are aligned to less.
constexpr std::uint32_t slab_class = 64 * 8, large_classes = slab_class + 1;
constexpr std::uint64_t cached_bytes(std::uint32_t index) {
    return index == slab_class ? slab_bytes : class_bytes(index);
}
static_assert(class_bytes(large_class(4097)) >= 4097 && class_bytes(large_class(4608)) == 4608);
static_assert(class_bytes(large_class(1u << 20)) == 1u << 20);

// ---- free lists of one thread; no other thread touches them while a call may be inside ----

// Blocks of the shared cache's classes up to this many bytes pass by the thread that freed them
// last: a few of each.
constexpr std::uint64_t medium_limit = 65536;
constexpr std::uint32_t first_medium = large_class(small_limit + 1);
constexpr std::size_t medium_classes = large_class(medium_limit) - first_medium + 1;
constexpr std::uint32_t medium_blocks = 4; // of a class

struct ThreadCache {
    FreeList lists[small_classes];
    FreeList medium[medium_classes];
};

class Shared {
public:
    // Takes a batch of blocks of a small class into `list`; false when the system has none.
    //
    // They leave the list by ascending address, so that addresses of nearly 4096 bytes each fall
    // modulo 4096 from operands to result. Where the result is up to 512 bytes above an operand
    // there, Zen 4 mistakes every eighth pair for a load of what was just stored, and waits:
    // adding 1,000 float32 takes 220 ns or more instead of 140.
    bool refill(std::size_t index, FreeList &list) {
        const std::uint64_t size = small_bytes(index);
        Block *blocks[batches[0]];
        std::uint32_t count = 0;
        for (const bool last : {false, true}) {
            {
                const std::lock_guard lock(mutex_);
                if (!slabs_[index]) start_slab(index);
                while (slabs_[index] && count < batches[index]) {
                    Slab *slab = slabs_[index];
                    blocks[count++] = slab->take(size);
                    if (!slab->has_block(size)) unlink(slab, index);
                }
            }
            while (count) list.push(blocks[--count]);
            if (list.count) return true;
            if (!last) give_back(0);
        }
        return false;
    }
    void drain(std::size_t index, FreeList &list, std::uint32_t count) {
        const std::uint64_t size = small_bytes(index);
        bool much;
        {
            const std::lock_guard lock(mutex_);
            while (count-- && list.head) {
                Block *block = list.pop();
                Slab *slab = Slab::of(block);
                if (!slab->has_block(size)) link(slab, index);
                block->next = slab->free;
                slab->free = block;
                if (--slab->used) continue;
                unlink(slab, index);
                cache(reinterpret_cast<LargeBlock *>(slab), slab_class);
            }
            much = cached_ > limit_;
        }
        if (much) give_back(limit_);
    }

    ThreadCache *join() {
        auto *cache = new (std::nothrow) ThreadCache;
        if (!cache) return nullptr;
        const std::lock_guard lock(mutex_);
        threads_.push_back(cache);
        return cache;
    }
    void leave(ThreadCache *cache) {
        drain_all(*cache);
        const std::lock_guard lock(mutex_);
        std::erase(threads_, cache);
        delete cache;
    }

    // `own`: the free lists of this thread, if it has some.
    void *take_large(std::uint64_t bytes, ThreadCache *own) {
        const std::uint32_t index = large_class(bytes);
        {
            const std::lock_guard lock(mutex_);
            if (LargeBlock *block = large_[index]) {
                unlink(block);
                return block;
            }
        }
        const std::uint64_t whole = class_bytes(index);
        const bool huge = whole >= 2 * huge_page;
        void *data = from_system(whole, huge ? huge_page : alignment);
        if (!data) {
            if (own) drain_medium(*own);
            give_back(0);
            data = from_system(whole, huge ? huge_page : alignment);
        }
        // A hint: huge pages need fewer faults. Not where more than half of one would go unused.
        const std::uint64_t in_huge = (bytes + huge_page / 2) / huge_page * huge_page;
        if (data && huge) madvise(data, std::min(in_huge, whole), MADV_HUGEPAGE);
        return data;
    }
    bool keeps(std::uint32_t index) const { return class_bytes(index) <= limit_; }
    void keep_large(void *data, std::uint32_t index) {
        if (!keeps(index)) return std::free(data);
        auto *block = static_cast<LargeBlock *>(data);
        {
            const std::lock_guard lock(mutex_);
            cache(block, index);
            if (cached_ <= limit_) return;
        }
        give_back(limit_);
    }

    void set_limit(std::uint64_t bytes) {
        limit_ = bytes;
        give_back(bytes);
    }

    void release() {
        for (ThreadCache *cache : threads_) drain_all(*cache);
        give_back(0);
    }

private:
    void drain_medium(ThreadCache &cache) {
        for (std::uint32_t index = 0; index < medium_classes; ++index)
            while (cache.medium[index].head)
                keep_large(cache.medium[index].pop(), first_medium + index);
    }
    void drain_all(ThreadCache &cache) {
        for (std::size_t index = 0; index < small_classes; ++index)
            drain(index, cache.lists[index], cache.lists[index].count);
        drain_medium(cache);
    }
    // A slab without a block in use becomes the first of the class; none if there is no memory.
    void start_slab(std::size_t index) {
        void *memory = large_[slab_class];
        if (memory)
            unlink(large_[slab_class]);
        else
            memory = from_system(slab_bytes, slab_bytes);
        if (!memory) return;
        Slab *slab = new (memory) Slab{};
        slab->cut = slab_header;
        link(slab, index);
    }
    void link(Slab *slab, std::size_t index) {
        slab->previous = nullptr;
        slab->next = slabs_[index];
        if (slab->next) slab->next->previous = slab;
        slabs_[index] = slab;
    }
    void unlink(Slab *slab, std::size_t index) {
        (slab->previous ? slab->previous->next : slabs_[index]) = slab->next;
        if (slab->next) slab->next->previous = slab->previous;
    }
    void cache(LargeBlock *block, std::uint32_t index) {
        block->index = index;
        block->previous = nullptr;
        block->next = large_[index];
        if (block->next) block->next->previous = block;
        large_[index] = block;
        block->newer = nullptr;
        block->older = newest_;
        if (newest_)
            newest_->newer = block;
        else
            oldest_ = block;
        newest_ = block;
        cached_ += cached_bytes(index);
    }
    void unlink(LargeBlock *block) {
        (block->previous ? block->previous->next : large_[block->index]) = block->next;
        if (block->next) block->next->previous = block->previous;
        (block->newer ? block->newer->older : newest_) = block->older;
        (block->older ? block->older->newer : oldest_) = block->newer;
        cached_ -= cached_bytes(block->index);
    }
    // The system's free may take long (it unmaps), so the lock is not held for it.
    void give_back(std::uint64_t limit) {
        for (;;) {
            LargeBlock *block;
            {
                const std::lock_guard lock(mutex_);
                if (cached_ <= limit || !oldest_) return;
                block = oldest_;
                unlink(block);
            }
            std::free(block);
        }
    }

    std::mutex mutex_;
    Slab *slabs_[small_classes] = {}; // those with blocks left
    std::vector<ThreadCache *> threads_;
    LargeBlock *large_[large_classes] = {};
    LargeBlock *newest_ = nullptr, *oldest_ = nullptr;
    std::uint64_t cached_ = 0;
    std::uint64_t limit_ = std::uint64_t{1} << 30; // written while no call is inside
};

// Never destroyed: threads may end after everything else.
Shared &shared() {
    static Shared *const instance = new Shared;
    return *instance;
}

// Initial-exec: eight bytes of the space that the loader sets aside for that, and an access is one
// load instead of a call.
__attribute__((tls_model("initial-exec"))) thread_local ThreadCache *thread_cache = nullptr;

struct ThreadExit {
    bool armed = false;
    ~ThreadExit() {
        if (thread_cache) shared().leave(thread_cache);
        thread_cache = nullptr;
        ended = true;
    }
    static thread_local bool ended; // thread-local destructors that run later still may free
};
thread_local bool ThreadExit::ended = false;
thread_local ThreadExit thread_exit;

ThreadCache *start_thread() {
    if (ThreadExit::ended) return nullptr;
    thread_exit.armed = true; // constructs it, so that its destructor will run
    return thread_cache = shared().join();
}

__attribute__((noinline)) void *allocate_slowly(std::size_t index) {
    ThreadCache *cache = thread_cache ? thread_cache : start_thread();
    if (!cache) {
        FreeList one;
        if (!shared().refill(index, one)) return nullptr;
        Block *block = one.pop();
        shared().drain(index, one, one.count);
        return block;
    }
    FreeList &list = cache->lists[index];
    return shared().refill(index, list) ? list.pop() : nullptr;
}

__attribute__((noinline)) void free_slowly(Block *block, std::size_t index) {
    ThreadCache *cache = thread_cache ? thread_cache : start_thread();
    if (!cache) {
        FreeList one;
        one.push(block);
        return shared().drain(index, one, 1);
    }
    cache->lists[index].push(block);
    if (cache->lists[index].count >= 2 * batches[index])
        shared().drain(index, cache->lists[index], batches[index]);
}

} // namespace

void *allocate(std::uint64_t bytes) {
    if (!caching) return bytes > (std::uint64_t{1} << 38) ? nullptr : from_system(bytes, alignment);
    if (bytes <= small_limit) {
        const std::size_t index = small_class(bytes ? bytes : 1);
        ThreadCache *cache = thread_cache;
        if (cache && cache->lists[index].head) return cache->lists[index].pop();
        return allocate_slowly(index);
    }
    if (bytes > largest) return nullptr;
    ThreadCache *cache = thread_cache;
    if (bytes <= medium_limit && cache)
        if (FreeList &list = cache->medium[large_class(bytes) - first_medium]; list.head)
            return list.pop();
    return shared().take_large(bytes, cache);
}

void free(void *data, std::uint64_t bytes) {
    if (!data) return;
    if (!caching) return std::free(data);
    if (bytes <= small_limit) {
        const std::size_t index = small_class(bytes ? bytes : 1);
        ThreadCache *cache = thread_cache;
        auto *block = static_cast<Block *>(data);
        if (cache && cache->lists[index].count + 1 < 2 * batches[index])
            return cache->lists[index].push(block);
        return free_slowly(block, index);
    }
    const std::uint32_t index = large_class(bytes);
    if (bytes <= medium_limit && shared().keeps(index)) {
        ThreadCache *cache = thread_cache ? thread_cache : start_thread();
        if (cache && cache->medium[index - first_medium].count < medium_blocks)
            return cache->medium[index - first_medium].push(static_cast<Block *>(data));
    }
    shared().keep_large(data, index);
}

void set_cache_limit(std::uint64_t bytes) { shared().set_limit(bytes); }

void release() { shared().release(); }

} // namespace Atoll::cpu::memory
