// Stream-ordered memory, pinned host memory and transfers.
#include "device.hpp"

#include <algorithm>
#include <cstring>

namespace Atoll::cuda {

void *Target::allocate(std::uint64_t bytes) const {
    void *memory = nullptr;
    cudaError_t code = cudaMallocFromPoolAsync(&memory, bytes, device.pool, stream.handle);
    if (code == cudaErrorMemoryAllocation) {
        // What earlier work on the stream frees, and what the pool keeps in pieces that do not fit.
        cudaGetLastError();
        code = cudaStreamSynchronize(stream.handle);
        if (code == cudaSuccess) code = cudaMemPoolTrimTo(device.pool, 0);
        if (code == cudaSuccess)
            code = cudaMallocFromPoolAsync(&memory, bytes, device.pool, stream.handle);
    }
    if (code != cudaSuccess)
        fail(code, ("cudaMallocFromPoolAsync of " + std::to_string(bytes) + " bytes").c_str());
    return memory;
}

void Target::free(void *memory) const {
    check(cudaFreeAsync(memory, stream.handle), "cudaFreeAsync");
}

void allocate(State &state, atoll_call &call) {
    const Target target(state, call);
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = target.allocate(memory.bytes);
}

void free_memory(State &state, atoll_call &call) {
    const Target target(state, call);
    target.free(sdk::params<atoll_memory_params>(call).data);
}

void allocate_host(State &state, atoll_call &call) {
    const Target target(state, call);
    auto &memory = sdk::params<atoll_memory_params>(call);
    target.check(cudaMallocHost(&memory.data, memory.bytes), "cudaMallocHost");
}

void free_host(State &state, atoll_call &call) {
    const Target target(state, call);
    target.check(cudaFreeHost(sdk::params<atoll_memory_params>(call).data), "cudaFreeHost");
}

namespace {

// Copies host memory to the device through the stream's staging memory, see Staging. Blocks only
// while both halves are full of data that earlier work on the stream holds up.
void upload(const Target &target, char *destination, const char *source, std::uint64_t bytes) {
    Stream &stream = target.stream;
    const std::lock_guard lock(stream.mutex);
    Staging &staging = stream.staging;
    for (int i = 0; i < 2; ++i) {
        if (!staging.drained[i])
            target.check(cudaEventCreateWithFlags(&staging.drained[i], cudaEventDisableTiming),
                         "cudaEventCreateWithFlags");
        if (!staging.halves[i])
            target.check(
                cudaMallocHost(reinterpret_cast<void **>(&staging.halves[i]), Staging::half_size),
                "cudaMallocHost");
    }
    while (bytes > 0) {
        if (staging.used == Staging::half_size) {
            target.check(cudaEventRecord(staging.drained[staging.current], stream.handle),
                         "cudaEventRecord");
            // An event that was never recorded counts as done.
            target.check(cudaEventSynchronize(staging.drained[1 - staging.current]),
                         "cudaEventSynchronize");
            staging.current = 1 - staging.current;
            staging.used = 0;
        }
        char *const place = staging.halves[staging.current] + staging.used;
        const std::uint64_t size = std::min(bytes, Staging::half_size - staging.used);
        std::memcpy(place, source, size);
        target.check(
            cudaMemcpyAsync(destination, place, size, cudaMemcpyHostToDevice, stream.handle),
            "cudaMemcpyAsync");
        staging.used += size;
        destination += size;
        source += size;
        bytes -= size;
    }
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
        target.check(cudaMemcpyAsync(wanted.destination, wanted.source, wanted.bytes,
                                     cudaMemcpyDeviceToHost, stream),
                     "cudaMemcpyAsync");
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
