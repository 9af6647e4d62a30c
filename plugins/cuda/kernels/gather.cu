// gather and scatter: elements at offsets. Only bytes move; those of bool become 0 or 1.
//
// Note [Equal offsets]
// Of elements that scatter writes to one address the last one wins. The numbers of the elements go
// into a hash table by address, where the largest stays; then those that find themselves there
// write. So nothing depends on the order in which threads run.
#include "kernels.hpp"
#include "move_bytes.cuh"
#include "rows.cuh"

namespace Atoll::cuda {
namespace {

// An offset in bytes; it, too, may be at any address.
__device__ std::int64_t offset_at(const char *from, std::int64_t unit) {
    std::int64_t offset;
    move_bytes(reinterpret_cast<char *>(&offset), from, sizeof offset, false);
    return offset * unit;
}

struct Gather {
    Space<3> space; // out, in, offsets
    std::int64_t unit;
    std::uint32_t size;
    bool is_bool;
    __device__ void operator()(std::uint32_t i) const {
        char *at[3];
        space.locate(i, at);
        move_bytes(at[0], at[1] + offset_at(at[2], unit), size, is_bool);
    }
};

// An address and the last element that goes there.
struct Slot {
    unsigned long long address;
    unsigned long long last;
};

struct Scatter {
    Space<3> space; // out, values, offsets
    std::int64_t unit;
    std::uint32_t size;
    bool is_bool;
    Slot *slots;
    std::uint64_t mask;
    std::uint64_t first; // the number of element 0 of this space
    bool writes;         // the second time

    // Multiplicative hashing; neighbours are tried in turn. The table is never full.
    __device__ Slot &slot(unsigned long long address) const {
        std::uint64_t place = address * UINT64_C(0x9e3779b97f4a7c15) >> 20;
        for (;; ++place) {
            Slot &candidate = slots[place & mask];
            const unsigned long long there = atomicCAS(&candidate.address, 0ull, address);
            if (there == 0 || there == address) return candidate;
        }
    }
    __device__ void operator()(std::uint32_t i) const {
        char *at[3];
        space.locate(i, at);
        char *const to = at[0] + offset_at(at[2], unit);
        Slot &own = slot(reinterpret_cast<std::uintptr_t>(to));
        if (!writes)
            atomicMax(&own.last, static_cast<unsigned long long>(first + i));
        else if (own.last == first + i)
            move_bytes(to, at[1], size, is_bool);
    }
};

} // namespace

void gather(State &state, atoll_call &call) {
    const Target target(state, call);
    Gather work{{},
                sdk::integer(call, 0, 1),
                static_cast<std::uint32_t>(sdk::dtype_size(call.operands[0].dtype)),
                call.operands[0].dtype == ATOLL_DTYPE_BOOL};
    for_each_space(rows_of<3>(call), [&](const Space<3> &space) {
        work.space = space;
        enqueue(target, work);
    });
    target.enqueued();
}

void scatter(State &state, atoll_call &call) {
    const Target target(state, call);
    const Extents<3> elements = rows_of<3>(call);
    std::uint64_t places = 64;
    while (places < 2 * static_cast<std::uint64_t>(elements.count())) places *= 2;
    const Temporary slots(target, places * sizeof(Slot));
    target.check(cudaMemsetAsync(slots.data(), 0, places * sizeof(Slot), target.stream.handle),
                 "cudaMemsetAsync");
    Scatter work{{},
                 sdk::integer(call, 0, 1),
                 static_cast<std::uint32_t>(sdk::dtype_size(call.operands[0].dtype)),
                 call.operands[0].dtype == ATOLL_DTYPE_BOOL,
                 reinterpret_cast<Slot *>(slots.data()),
                 places - 1,
                 0,
                 false};
    for (const bool writes : {false, true}) {
        work.writes = writes;
        work.first = 0;
        for_each_space(elements, [&](const Space<3> &space) {
            work.space = space;
            enqueue(target, work);
            work.first += space.count;
        });
    }
    target.enqueued();
}

} // namespace Atoll::cuda
