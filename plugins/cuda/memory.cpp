// Stream-ordered memory, pinned host memory and transfers.
#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace Atoll::cuda {

// --- The cache -------------------------------------------------------------------------------

namespace {

// What an allocation takes from the pool.
std::uint64_t whole_size(const Device &device, std::uint64_t bytes) {
    return device.cache_bytes > 0 ? class_bytes(size_class(bytes)) : bytes;
}

// Counts `bytes` more as taken, unless that is beyond the limit.
bool count_taken(Device &device, std::uint64_t bytes) {
    const std::uint64_t taken = device.memory.taken.fetch_add(bytes) + bytes;
    if (taken > device.limit || taken < bytes) {
        device.memory.taken.fetch_sub(bytes);
        return false;
    }
    std::uint64_t peak = device.memory.peak.load();
    while (peak < taken && !device.memory.peak.compare_exchange_weak(peak, taken)) {
    }
    return true;
}

cudaError_t give_to_pool(Device &device, Stream &stream, void *memory, std::uint64_t bytes) {
    const cudaError_t code = cudaFreeAsync(memory, stream.handle);
    device.memory.taken.fetch_sub(bytes);
    return code;
}

// The oldest block that the stream keeps; false if it keeps none.
bool give_oldest_to_pool(Device &device, Stream &stream) {
    const FreeBlocks::Block block = stream.blocks.take_oldest();
    if (!block.memory) return false;
    device.memory.cached.fetch_sub(block.bytes);
    (void)give_to_pool(device, stream, block.memory, block.bytes);
    return true;
}

cudaError_t take_from_pool(const Target &target, std::uint64_t bytes, void **memory) {
    if (!count_taken(target.device, bytes)) return cudaErrorMemoryAllocation;
    const cudaError_t code =
        cudaMallocFromPoolAsync(memory, bytes, target.device.pool, target.stream.handle);
    if (code != cudaSuccess) {
        cudaGetLastError();
        target.device.memory.taken.fetch_sub(bytes);
    }
    return code;
}

} // namespace

void Stream::give_back_blocks() {
    while (give_oldest_to_pool(device, *this)) {
    }
}

cudaError_t Device::trim() {
    const std::lock_guard lock(streams_mutex);
    for (Stream *const each : streams) each->give_back_blocks();
    // The pool gives away only what no stream has yet to free.
    for (const Stream *const each : streams)
        if (const cudaError_t code = cudaStreamSynchronize(each->handle); code != cudaSuccess)
            return code;
    return cudaMemPoolTrimTo(pool, 0);
}

void *Target::allocate(std::uint64_t bytes) const {
    device.memory.allocations.fetch_add(1, std::memory_order_relaxed);
    const bool cached = device.cache_bytes > 0 && bytes < UINT64_MAX / 4;
    if (cached) {
        if (void *const memory = stream.blocks.take(size_class(bytes))) {
            device.memory.cached.fetch_sub(whole_size(device, bytes));
            device.memory.reused.fetch_add(1, std::memory_order_relaxed);
            return memory;
        }
    }
    void *memory = nullptr;
    const std::uint64_t whole = cached ? whole_size(device, bytes) : bytes;
    cudaError_t code = take_from_pool(*this, whole, &memory);
    if (code == cudaErrorMemoryAllocation) {
        code = device.trim();
        if (code == cudaSuccess) code = take_from_pool(*this, whole, &memory);
    }
    if (code == cudaSuccess) return memory;
    std::string what = "cudaMallocFromPoolAsync of " + std::to_string(bytes) + " bytes";
    if (code == cudaErrorMemoryAllocation) {
        what += ", where " + std::to_string(device.memory.taken) + " are in use";
        if (device.limit != UINT64_MAX)
            what += " and the setting \"limit\" allows " + std::to_string(device.limit);
    }
    fail(code, what.c_str());
}

cudaError_t Target::free(void *memory, std::uint64_t bytes) const {
    const std::uint64_t whole = whole_size(device, bytes);
    if (whole > device.cache_bytes) return give_to_pool(device, stream, memory, whole);
    // What other streams keep cannot be given away from here.
    std::uint64_t cached = device.memory.cached.fetch_add(whole) + whole;
    while (cached > device.cache_bytes && give_oldest_to_pool(device, stream))
        cached = device.memory.cached.load();
    if (cached > device.cache_bytes) {
        device.memory.cached.fetch_sub(whole);
        return give_to_pool(device, stream, memory, whole);
    }
    stream.blocks.keep(size_class(bytes), memory);
    return cudaSuccess;
}

void allocate(State &state, atoll_call &call) {
    const Target target(state, call);
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = target.allocate(memory.bytes);
}

void free_memory(State &state, atoll_call &call) {
    if (state.is_gone(call)) return;
    const Target target(state, call);
    const auto &memory = sdk::params<atoll_memory_params>(call);
    target.check(target.free(memory.data, memory.bytes), "cudaFreeAsync");
}

void allocate_host(State &state, atoll_call &call) {
    const Target target(state, call);
    auto &memory = sdk::params<atoll_memory_params>(call);
    target.check(cudaMallocHost(&memory.data, memory.bytes), "cudaMallocHost");
}

void free_host(State &state, atoll_call &call) {
    if (state.is_gone(call)) return;
    const Target target(state, call);
    target.check(cudaFreeHost(sdk::params<atoll_memory_params>(call).data), "cudaFreeHost");
}

namespace {

// Copies host memory to the device: see Note [Staging].
void upload(const Target &target, char *destination, const char *source, std::uint64_t bytes) {
    Stream &stream = target.stream;
    Device &device = target.device;
    const std::lock_guard lock(stream.upload_mutex);
    Staging::Chunk &chunk = stream.chunk;
    while (bytes > 0) {
        if (chunk.memory && chunk.used == Staging::chunk_bytes)
            target.check(
                device.staging.give(device.events, std::exchange(chunk, {}), stream.handle),
                "cudaEventRecord");
        if (!chunk.memory)
            target.check(device.staging.take(device.events, stream.handle, chunk),
                         "cudaMallocHost");
        char *const place = chunk.memory + chunk.used;
        const std::uint64_t size = std::min(bytes, Staging::chunk_bytes - chunk.used);
        target.state.copy_threads.copy(place, source, size);
        target.check(
            cudaMemcpyAsync(destination, place, size, cudaMemcpyHostToDevice, stream.handle),
            "cudaMemcpyAsync");
        chunk.used += size;
        destination += size;
        source += size;
        bytes -= size;
    }
}

// Whether the stream is idle, so that a wait for it costs nothing.
bool is_idle(const Target &target) {
    const cudaError_t code = cudaStreamQuery(target.stream.handle);
    if (code == cudaErrorNotReady) {
        cudaGetLastError();
        return false;
    }
    target.check(code, "cudaStreamQuery");
    return true;
}

// Copies device memory to the host: see Note [Downloads].
void download(const Target &target, char *destination, const char *source, std::uint64_t bytes) {
    constexpr std::uint64_t small = 64 << 10;
    cudaPointerAttributes memory{};
    target.check(cudaPointerGetAttributes(&memory, destination), "cudaPointerGetAttributes");
    // A callback costs more than CUDA's own copy of a few bytes, which here waits for nothing else.
    if (memory.type != cudaMemoryTypeUnregistered || (bytes <= small && is_idle(target)))
        target.check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToHost,
                                     target.stream.handle),
                     "cudaMemcpyAsync");
    else
        target.stream.downloads.enqueue(target, destination, source, bytes);
}

// Lets the target's device reach the source's pool directly where the hardware can; without that
// the driver still copies, more slowly.
void give_access(const Target &target, Device &source) {
    const std::lock_guard lock(source.mutex);
    const auto index = static_cast<std::size_t>(target.device.index);
    if (source.peers.empty() || source.peers[index]) return;
    source.peers[index] = true;
    int possible = 0;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = target.device.index;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    if (cudaDeviceCanAccessPeer(&possible, target.device.index, source.index) != cudaSuccess ||
        !possible || cudaMemPoolSetAccess(source.pool, &access, 1) != cudaSuccess)
        cudaGetLastError();
}

} // namespace

void transfer(State &state, atoll_call &call) {
    const Target target(state, call);
    const auto &wanted = sdk::params<atoll_transfer_params>(call);
    if (wanted.bytes == 0) return;
    const cudaStream_t stream = target.stream.handle;
    switch (wanted.kind) {
    case ATOLL_TRANSFER_HOST_TO_DEVICE:
        if (wanted.flags & ATOLL_TRANSFER_KEPT)
            target.check(cudaMemcpyAsync(wanted.destination, wanted.source, wanted.bytes,
                                         cudaMemcpyHostToDevice, stream),
                         "cudaMemcpyAsync");
        else
            upload(target, static_cast<char *>(wanted.destination),
                   static_cast<const char *>(wanted.source), wanted.bytes);
        break;
    case ATOLL_TRANSFER_DEVICE_TO_HOST:
        download(target, static_cast<char *>(wanted.destination),
                 static_cast<const char *>(wanted.source), wanted.bytes);
        break;
    case ATOLL_TRANSFER_DEVICE_TO_DEVICE:
        if (wanted.peer == call.device) {
            target.check(cudaMemcpyAsync(wanted.destination, wanted.source, wanted.bytes,
                                         cudaMemcpyDeviceToDevice, stream),
                         "cudaMemcpyAsync");
        } else {
            atoll_call source = call; // only to name the other device
            source.device = wanted.peer;
            give_access(target, state.device(source));
            target.check(cudaMemcpyPeerAsync(wanted.destination, call.device, wanted.source,
                                             wanted.peer, wanted.bytes, stream),
                         "cudaMemcpyPeerAsync");
        }
        break;
    default:
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "[device.transfer] got kind " +
                                                            std::to_string(wanted.kind) +
                                                            ", need 1, 2 or 3");
    }
    target.enqueued();
}

} // namespace Atoll::cuda
