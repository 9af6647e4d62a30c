// Elements of a row, 16 bytes at a time, wherever the row begins.
//
// Note [Packs]
// A pack is as many neighbouring elements as 16 bytes hold. Which elements make a pack, and which
// thread takes it, follows from their positions in the row alone, so results do not depend on
// addresses. A row that begins between multiples of 16 bytes is read by two loads per pack, of the
// aligned 16 bytes on either side; the thread's neighbour has loaded one of them, too.
#pragma once

#include "elements.cuh"
#include "space.cuh"

namespace Atoll::cuda {

template <class S, unsigned Count> struct alignas(sizeof(S) * Count) Pack { S at[Count]; };
template <class S> inline constexpr unsigned pack_width = 16 / sizeof(S);

// The 16 bytes that begin `bytes` behind the first one of two neighbouring blocks of 16.
template <unsigned element_bytes>
__device__ inline uint4 bytes_between(const uint4 &low, const uint4 &high, unsigned bytes) {
    std::uint32_t words[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (unsigned k = 0; k < 6; ++k) words[k] = bytes & 8 ? words[k + 2] : words[k];
    if constexpr (element_bytes < 8)
#pragma unroll
        for (unsigned k = 0; k < 5; ++k) words[k] = bytes & 4 ? words[k + 1] : words[k];
    if constexpr (element_bytes < 4)
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            words[k] = static_cast<std::uint32_t>((std::uint64_t{words[k + 1]} << 32 | words[k]) >>
                                                  bytes % 4 * 8);
    return {words[0], words[1], words[2], words[3]};
}

// Reads packs of a row that is one run, of elements aligned to their size; or packs whose addresses
// have the same remainder as `row`.
template <class S> class PackReader {
public:
    static constexpr unsigned width = pack_width<S>;
    using Result = Pack<S, width>;

    __device__ explicit PackReader(const char *row)
        : offset_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) % 16)) {}
    // How many elements of the row there must be before and behind a pack.
    __device__ std::uint32_t margin() const { return offset_ != 0 ? width : 0; }
    __device__ Result operator()(const char *from) const {
        if (offset_ == 0) return *reinterpret_cast<const Result *>(from);
        const uint4 *const low = reinterpret_cast<const uint4 *>(from - offset_);
        return bits_as<Result>(bytes_between<sizeof(S)>(low[0], low[1], offset_));
    }

private:
    unsigned offset_; // bytes from a multiple of 16
};

} // namespace Atoll::cuda
