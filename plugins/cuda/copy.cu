// copy and fill: one generic strided kernel for every dtype, layout and byte order; memcpy and
// memset where they will do.
#include "atoll/dtype_facts.hpp"
#include "elements.cuh"
#include "kernels.hpp"
#include "space.cuh"

#include <cstring>

namespace Atoll::cuda {
namespace {

// Same dtype on both sides: bits move, a part at a time, so that NaNs keep their payload.
template <class Word> struct Move {
    Space<2> space; // out, in
    Access out, in;
    int parts; // 2 for complex
    __host__ __device__ void operator()(std::int64_t i) const {
        char *at[2];
        space.locate(i, at);
        for (unsigned offset = 0; offset < parts * sizeof(Word); offset += sizeof(Word))
            write(at[0] + offset, out, read<Word>(at[1] + offset, in));
    }
};

struct Convert {
    Space<2> space; // out, in
    Access out, in;
    unsigned out_dtype, in_dtype;
    __host__ __device__ void operator()(std::int64_t i) const {
        char *at[2];
        space.locate(i, at);
        store(out_dtype, at[0], out, load(in_dtype, at[1], in));
    }
};

template <class Word> struct Fill {
    Space<1> space;
    Access out;
    int parts;
    Word value[2];
    __host__ __device__ void operator()(std::int64_t i) const {
        char *at[1];
        space.locate(i, at);
        for (int part = 0; part < parts; ++part)
            write(at[0] + part * sizeof(Word), out, value[part]);
    }
};

std::int64_t part_size(unsigned dtype) { return sdk::dtype_size(sdk::dtype_facts[dtype].part); }

bool is_swapped(const atoll_operand &operand) {
    return (operand.flags & ATOLL_OPERAND_SWAPPED) && part_size(operand.dtype) > 1;
}

Access access_of(std::uint32_t rank, const atoll_operand &operand) {
    auto bits = reinterpret_cast<std::uintptr_t>(operand.data);
    for (std::uint32_t axis = 0; axis < rank; ++axis)
        bits |= static_cast<std::uintptr_t>(operand.strides[axis]);
    const auto word = static_cast<std::uintptr_t>(part_size(operand.dtype));
    return {is_swapped(operand), bits % word == 0};
}

// One run of elements without gaps. The host merges axes, so a dense operand has rank 0 or 1.
bool is_dense(std::uint32_t rank, const atoll_operand &operand) {
    return rank == 0 || (rank == 1 && operand.strides[0] == sdk::dtype_size(operand.dtype));
}

std::uint64_t total_bytes(std::uint32_t rank, const std::int64_t *shape, unsigned dtype) {
    return static_cast<std::uint64_t>(sdk::dtype_size(dtype)) *
           static_cast<std::uint64_t>(rank == 0 ? 1 : shape[0]);
}

// Calls `body` with a value of the unsigned type that has the size of the dtype's parts.
template <class Body> void with_word(unsigned dtype, const Body &body) {
    switch (part_size(dtype)) {
    case 1: body(std::uint8_t{}); break;
    case 2: body(std::uint16_t{}); break;
    case 4: body(std::uint32_t{}); break;
    default: body(std::uint64_t{});
    }
}

} // namespace

void copy_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const atoll_operand &in) {
    if (in.flags & ATOLL_OPERAND_SCALAR) {
        // In host memory, and only until we return: converted here.
        atoll_scalar value{};
        value.dtype = out.dtype;
        store(out.dtype, reinterpret_cast<char *>(value.value.bytes), {false, false},
              load(in.dtype, static_cast<const char *>(in.data), {is_swapped(in), false}));
        if (in.dtype == out.dtype && !is_swapped(in))
            std::memcpy(value.value.bytes, in.data,
                        static_cast<std::size_t>(sdk::dtype_size(in.dtype)));
        return fill_elements(target, rank, shape, out, value);
    }
    const Space<2> space = make_space<2>(rank, shape, {&out, &in});
    const Access write_access = access_of(rank, out), read_access = access_of(rank, in);
    if (out.dtype != in.dtype)
        return enqueue(target, Convert{space, write_access, read_access, out.dtype, in.dtype});
    if (is_dense(rank, out) && is_dense(rank, in) && is_swapped(out) == is_swapped(in)) {
        if (out.data == in.data) return;
        return target.check(cudaMemcpyAsync(out.data, in.data, total_bytes(rank, shape, out.dtype),
                                            cudaMemcpyDeviceToDevice, target.stream.handle),
                            "cudaMemcpyAsync");
    }
    const int parts = static_cast<int>(sdk::dtype_size(out.dtype) / part_size(out.dtype));
    with_word(out.dtype, [&](auto word) {
        enqueue(target, Move<decltype(word)>{space, write_access, read_access, parts});
    });
}

void fill_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const atoll_scalar &value) {
    const auto size = static_cast<std::size_t>(sdk::dtype_size(out.dtype));
    const std::uint8_t *const bytes = value.value.bytes;
    if (is_dense(rank, out) &&
        std::all_of(bytes, bytes + size, [&](std::uint8_t byte) { return byte == bytes[0]; }))
        return target.check(cudaMemsetAsync(out.data, bytes[0], total_bytes(rank, shape, out.dtype),
                                            target.stream.handle),
                            "cudaMemsetAsync");
    with_word(out.dtype, [&](auto word) {
        using Word = decltype(word);
        Fill<Word> work{make_space<1>(rank, shape, {&out}),
                        access_of(rank, out),
                        static_cast<int>(size / sizeof(Word)),
                        {}};
        std::memcpy(work.value, bytes, size);
        enqueue(target, work);
    });
}

void copy(State &state, atoll_call &call) {
    const Target target(state, call);
    copy_elements(target, call.rank, call.shape, call.operands[0], call.operands[1]);
    target.enqueued();
}

void fill(State &state, atoll_call &call) {
    const Target target(state, call);
    fill_elements(target, call.rank, call.shape, call.operands[0], call.attributes[0]);
    target.enqueued();
}

} // namespace Atoll::cuda
