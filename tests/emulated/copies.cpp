// The runtime's functions of memory.
#include "runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace Emulated;

struct CUmemPoolHandle_st {
    Device &device;
};

namespace {

std::atomic<long> blocking_copies{0};

// Pinned host memory by its first byte.
struct Pinned {
    std::mutex mutex;
    std::map<const char *, std::size_t> blocks;
};
Pinned &pinned() {
    static Pinned *const pinned = new Pinned;
    return *pinned;
}
bool is_pinned(const void *memory, std::size_t bytes) {
    Pinned &p = pinned();
    const std::lock_guard lock(p.mutex);
    const char *const first = static_cast<const char *>(memory);
    auto found = p.blocks.upper_bound(first);
    if (found == p.blocks.begin()) return false;
    --found;
    return first + bytes <= found->first + found->second;
}

// Whose memory it is; null if it is nobody's.
Device *owner_of(const void *memory, std::size_t bytes) {
    for (int i = 0; i < device_count; ++i)
        if (device(i).memory.contains(memory, bytes)) return &device(i);
    return nullptr;
}

} // namespace

#define ENTER()                                                                                    \
    if (const cudaError_t code_ = enter_context(__func__); code_ != cudaSuccess) return code_

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props) {
    ENTER();
    *pool = new CUmemPoolHandle_st{device(props->location.id)};
    return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    delete pool;
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) {
    ENTER();
    return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void *value) {
    ENTER();
    const std::uint64_t used = pool->device.memory.used();
    std::memcpy(value, &used, sizeof used);
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access,
                                 std::size_t count) {
    ENTER();
    for (std::size_t i = 0; i < count; ++i)
        pool->device.peers |= std::uint32_t{1} << access[i].location.id;
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
    ENTER();
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **memory, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    ENTER();
    if (&pool->device != &stream->device) return outcome(cudaErrorInvalidValue);
    Memory &all = pool->device.memory;
    char *const address = all.allocate(bytes);
    if (!address) return outcome(cudaErrorMemoryAllocation);
    stream->enqueue([&all, address] { all.activate(address); });
    *memory = address;
    return cudaSuccess;
}
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
    char *const address = static_cast<char *>(memory);
    Memory &all = stream->device.memory;
    if (!all.mark_freed(address)) return outcome(cudaErrorInvalidValue);
    stream->enqueue([&all, address] { all.release(address); });
    ENTER();
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **memory, std::size_t bytes) {
    ENTER();
    *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*memory) return outcome(cudaErrorMemoryAllocation);
    Pinned &p = pinned();
    const std::lock_guard lock(p.mutex);
    p.blocks[static_cast<const char *>(*memory)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void *memory) {
    Pinned &p = pinned();
    {
        const std::lock_guard lock(p.mutex);
        if (memory && p.blocks.erase(static_cast<const char *>(memory)) == 0)
            return outcome(cudaErrorInvalidValue);
    }
    std::free(memory);
    ENTER();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
    ENTER();
    *attributes = {};
    if (const Device *const owner = owner_of(memory, 1)) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = owner->index;
    } else if (is_pinned(memory, 1)) {
        attributes->type = cudaMemoryTypeHost;
    }
    return cudaSuccess;
}

// From pageable memory: the bytes are taken at once. To it: returns when they are there. Pinned
// memory is read and written when the stream comes to it.
cudaError_t cudaMemcpyAsync(void *destination, const void *source, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER();
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((owner_of(destination, bytes) != nullptr) != to_device ||
        (owner_of(source, bytes) != nullptr) != from_device)
        return outcome(cudaErrorInvalidValue);
    const auto move = [stream, bytes](void *to, const void *from) {
        if (stream->device.sticky == cudaSuccess) std::memmove(to, from, bytes);
    };
    if (!from_device && !is_pinned(source, bytes)) {
        const char *const first = static_cast<const char *>(source);
        stream->enqueue([move, destination, taken = std::vector<char>(first, first + bytes)] {
            move(destination, taken.data());
        });
        return cudaSuccess;
    }
    stream->enqueue([move, destination, source] { move(destination, source); });
    if (!to_device && !is_pinned(destination, bytes)) {
        ++blocking_copies;
        stream->wait();
        return outcome(stream->device.sticky);
    }
    return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void *destination, int destination_device, const void *source,
                                int source_device, std::size_t bytes, cudaStream_t stream) {
    ENTER();
    if (owner_of(destination, bytes) != &device(destination_device) ||
        owner_of(source, bytes) != &device(source_device))
        return outcome(cudaErrorInvalidValue);
    stream->enqueue([=] {
        for (int i = 0; i < device_count; ++i) device(i).memory.admit(true);
        if (stream->device.sticky == cudaSuccess) std::memcpy(destination, source, bytes);
        for (int i = 0; i < device_count; ++i)
            device(i).memory.admit(&device(i) == &stream->device);
    });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *memory, int value, std::size_t bytes, cudaStream_t stream) {
    ENTER();
    if (owner_of(memory, bytes) != &stream->device) return outcome(cudaErrorInvalidValue);
    stream->enqueue([=] {
        if (stream->device.sticky == cudaSuccess) std::memset(memory, value, bytes);
    });
    return cudaSuccess;
}

long emulated_blocking_copies() { return blocking_copies; }
