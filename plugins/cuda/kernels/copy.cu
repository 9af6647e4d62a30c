// copy and fill.
#include "kernels.hpp"
#include "map.cuh"

#include <cstring>

namespace Atoll::cuda {
namespace {

struct Keep {
    template <class S> __host__ __device__ static S apply(S element) { return element; }
};
template <class To> struct CastTo {
    template <class V> __host__ __device__ static To apply(V value) {
        return element_of<To>(number_of(value));
    }
};

// ---- One dtype on both sides ----

// Elements that kernels cannot read as they are: the other byte order, or no alignment. Bits move,
// a part at a time, so that NaNs keep their payload.
struct Move {
    Space<2> space; // out, in
    Access access[2];
    PartFormat format;
    unsigned parts; // 2 for complex
    __device__ void operator()(std::uint32_t i) const {
        char *at[2];
        space.locate(i, at);
        for (unsigned offset = 0; offset < parts * format.bytes(); offset += format.bytes())
            write_bits(at[0] + offset, format, access[0],
                       read_bits(at[1] + offset, format, access[1]));
    }
};

// Note [Transposes]
// Where out and in step through memory along different axes, a block takes a tile through shared
// memory: it reads rows along the one axis and writes along the other, each warp 32 words side by
// side. Where a word holds several elements, a thread turns a square of as many words; row r of
// a tile is kept in plane r % elements, so that neighbouring lanes use different banks. Tiles that
// are whole have a loop without conditions, which would let each load wait for the one before.
template <class Word, unsigned elements> struct Transpose {
    static constexpr unsigned lanes = 32, warps = block_threads / lanes;
    static constexpr unsigned rows = elements == 1 && sizeof(Word) <= 4 ? 64 : lanes * elements;
    static constexpr unsigned columns = lanes * elements;
    Space<2> outer;                 // all axes but two
    std::uint32_t height;           // along the axis on which out is dense
    std::uint32_t width;            // along the axis on which in is dense
    std::int64_t out_step, in_step; // out's stride along the width, in's along the height
    Divisor tiles, tiles_down;      // of one matrix
};
// Columns become rows.
template <class Word, unsigned elements> __device__ void turn(Word (&words)[elements]) {
    if constexpr (elements > 1) {
        constexpr unsigned bits = 8 * sizeof(Word) / elements;
        constexpr Word mask = (Word{1} << bits) - 1;
        Word turned[elements] = {};
#pragma unroll
        for (unsigned row = 0; row < elements; ++row)
#pragma unroll
            for (unsigned column = 0; column < elements; ++column)
                turned[column] |= (words[row] >> column * bits & mask) << row * bits;
#pragma unroll
        for (unsigned row = 0; row < elements; ++row) words[row] = turned[row];
    }
}
template <class Word, unsigned elements> __global__ void __launch_bounds__(block_threads)
    transpose(const __grid_constant__ Transpose<Word, elements> work) {
    using Shape = Transpose<Word, elements>;
    constexpr unsigned lanes = Shape::lanes, warps = Shape::warps;
    // One more word: columns lie in different banks.
    __shared__ Word tile[elements][Shape::rows / elements][lanes + 1];
    const std::uint32_t matrix = work.tiles.quotient(blockIdx.x);
    const std::uint32_t place = blockIdx.x - matrix * work.tiles.extent;
    const std::uint32_t beside = work.tiles_down.quotient(place);
    const std::uint32_t down = (place - beside * work.tiles_down.extent) * Shape::rows;
    const std::uint32_t across = beside * Shape::columns;
    char *at[2];
    work.outer.locate(matrix, at);
    constexpr auto size = static_cast<std::int64_t>(sizeof(Word) / elements);
    const unsigned lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const char *const from =
        at[1] + (down + warp) * work.in_step + (across + lane * elements) * size;
    char *const to =
        at[0] + (across + warp * elements) * work.out_step + (down + lane * elements) * size;
    const auto read = [&](unsigned row) {
        tile[(warp + row) % elements][(warp + row) / elements][lane] =
            *reinterpret_cast<const Word *>(from + row * work.in_step);
    };
    // Writes the words `column` words across and `row` rows down from the thread's first.
    const auto write = [&](unsigned column, unsigned row) {
        Word words[elements];
#pragma unroll
        for (unsigned k = 0; k < elements; ++k)
            words[k] = tile[k][row / elements + lane][column + warp];
        turn(words);
#pragma unroll
        for (unsigned k = 0; k < elements; ++k)
            *reinterpret_cast<Word *>(to + (column * elements + k) * work.out_step + row * size) =
                words[k];
    };
    if (down + Shape::rows <= work.height && across + Shape::columns <= work.width) {
#pragma unroll
        for (unsigned row = 0; row < Shape::rows; row += warps) read(row);
        __syncthreads();
#pragma unroll
        for (unsigned column = 0; column < lanes; column += warps)
#pragma unroll
            for (unsigned row = 0; row < Shape::rows; row += lanes * elements) write(column, row);
        return;
    }
#pragma unroll 1
    for (unsigned row = 0; row < Shape::rows; row += warps)
        if (down + warp + row < work.height && across + lane * elements < work.width) read(row);
    __syncthreads();
#pragma unroll 1
    for (unsigned column = 0; column < lanes; column += warps)
        for (unsigned row = 0; row < Shape::rows; row += lanes * elements)
            if (across + (column + warp) * elements < work.width &&
                down + row + lane * elements < work.height)
                write(column, row);
}

// The axis along which an operand is dense, or -1.
int dense_axis(std::uint32_t rank, const std::int64_t *shape, const atoll_operand &operand,
               std::int64_t size) {
    for (std::uint32_t axis = 0; axis < rank; ++axis)
        if (operand.strides[axis] == size && shape[axis] > 1) return static_cast<int>(axis);
    return -1;
}

template <class Word, unsigned elements>
void launch_transposes(const Target &target, const Extents<2> &rest, std::uint32_t height,
                       std::uint32_t width, std::int64_t out_step, std::int64_t in_step) {
    using Work = Transpose<Word, elements>;
    const Divisor down(parts_of(height, Work::rows));
    const Divisor tiles(down.extent * parts_of(width, Work::columns));
    for_each_space(rest, std::max<std::int64_t>(1, space_limit / tiles.extent),
                   [&](const Space<2> &outer) {
                       launch(target, dim3(outer.count * tiles.extent), &transpose<Word, elements>,
                              Work{outer, height, width, out_step, in_step, tiles, down});
                   });
}

// Returns false if the copy is not a transpose.
template <class Word> bool transposed(const Target &target, std::uint32_t rank,
                                      const std::int64_t *shape, const atoll_operand *operands) {
    constexpr std::int64_t size = sizeof(Word);
    const int out = dense_axis(rank, shape, operands[0], size);
    const int in = dense_axis(rank, shape, operands[1], size);
    if (out < 0 || in < 0 || out == in || rank > space_rank || shape[out] < 8 || shape[in] < 8 ||
        std::max(shape[out], shape[in]) > space_limit ||
        (shape[out] + 31) / 32 * ((shape[in] + 31) / 32) > space_limit) // a tile is at least 32²
        return false;
    Extents<2> rest;
    rest.rank = 0;
    std::int64_t strides[2][ATOLL_MAX_RANK];
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
        if (static_cast<int>(axis) == out || static_cast<int>(axis) == in) continue;
        rest.shape[rest.rank] = shape[axis];
        for (int k = 0; k < 2; ++k) strides[k][rest.rank] = operands[k].strides[axis];
        ++rest.rank;
    }
    for (int k = 0; k < 2; ++k) {
        rest.data[k] = static_cast<char *>(operands[k].data);
        rest.strides[k] = strides[k];
    }
    const auto height = static_cast<std::uint32_t>(shape[out]);
    const auto width = static_cast<std::uint32_t>(shape[in]);
    const std::int64_t out_step = operands[0].strides[in], in_step = operands[1].strides[out];
    if constexpr (size <= 4) {
        // Several elements to a word, where all addresses and extents allow that.
        using Wide = std::conditional_t<size == 1, std::uint32_t, std::uint64_t>;
        constexpr unsigned elements = sizeof(Wide) / size;
        if (height % elements == 0 && width % elements == 0 &&
            aligned_but_along(static_cast<std::uint32_t>(out), rank, operands[0], sizeof(Wide)) &&
            aligned_but_along(static_cast<std::uint32_t>(in), rank, operands[1], sizeof(Wide))) {
            launch_transposes<Wide, elements>(target, rest, height, width, out_step, in_step);
            return true;
        }
    }
    launch_transposes<Word, 1>(target, rest, height, width, out_step, in_step);
    return true;
}

std::int64_t part_size(unsigned dtype) { return sdk::dtype_size(sdk::dtype_facts[dtype].part); }

// body(an unsigned integer of so many bytes).
template <class Body> void with_word(std::int64_t size, const Body &body) {
    switch (size) {
    case 1: return body(std::uint8_t{});
    case 2: return body(std::uint16_t{});
    case 4: return body(std::uint32_t{});
    case 8: return body(std::uint64_t{});
    default: return body(Complex<double>{});
    }
}

void move(const Target &target, std::uint32_t rank, const std::int64_t *shape,
          const atoll_operand *operands) {
    const std::uint16_t dtype = operands[0].dtype;
    const std::int64_t size = sdk::dtype_size(dtype);
    Access access[2] = {access_of(rank, operands[0]), access_of(rank, operands[1])};
    // What both have in the other byte order stays as it is.
    if (access[0].swapped && access[1].swapped) access[0].swapped = access[1].swapped = false;
    const auto whole = static_cast<std::size_t>(size);
    const bool direct = !access[0].swapped && !access[1].swapped &&
                        aligned_to(rank, operands[0], whole) &&
                        aligned_to(rank, operands[1], whole);
    if (is_run(rank, operands[0], whole) && is_run(rank, operands[1], whole) &&
        access[0].swapped == access[1].swapped) {
        if (operands[0].data == operands[1].data) return;
        const std::size_t bytes = whole * static_cast<std::size_t>(rank == 0 ? 1 : shape[0]);
        return target.check(cudaMemcpyAsync(operands[0].data, operands[1].data, bytes,
                                            cudaMemcpyDeviceToDevice, target.stream.handle),
                            "cudaMemcpyAsync");
    }
    if (direct) {
        // As integers of their size, or pairs of them.
        return with_word(size, [&](auto word) {
            using Word = decltype(word);
            if (transposed<Word>(target, rank, shape, operands)) return;
            const std::uint16_t dtypes[] = {dtype, dtype};
            atoll_operand plain[2] = {operands[0], operands[1]};
            for (atoll_operand &operand : plain)
                operand.flags &= static_cast<std::uint16_t>(~ATOLL_OPERAND_SWAPPED);
            map_as(target, rank, shape, plain, dtypes, dtype,
                   mapping_of<Keep, Raw<Word>, Raw<Word>>);
        });
    }
    for_each_space(extents_of<2>(rank, shape, operands), [&](const Space<2> &space) {
        enqueue(target, Move{space,
                             {access[0], access[1]},
                             format_of(dtype),
                             is_complex_dtype(dtype) ? 2u : 1u});
    });
}

// ---- Two dtypes ----

struct Convert {
    Space<2> space; // out, in
    Access access[2];
    __device__ void operator()(std::uint32_t i) const {
        char *at[2];
        space.locate(i, at);
        store(at[0], access[0], load(at[1], access[1]));
    }
};

struct CastRun {
    void (*kernel)(DenseWork<1>); // null: none
    unsigned tile;
};
template <std::uint32_t to> constexpr LauncherRow<CastRun> cast_row() {
    return launchers_of<ATOLL_FN_copy, CastRun>([](auto from) -> CastRun {
        if constexpr (from() != to && is_compiled(ATOLL_FN_copy, to)) {
            using Cast = Dense<CastTo<Stored<to>>, Stored<to>, Stored<from()>>;
            return {&run_dense<Cast>, Cast::tile};
        } else {
            return {};
        }
    });
}
constexpr std::array<LauncherRow<CastRun>, ATOLL_DTYPE_COUNT> cast_runs = {
    LauncherRow<CastRun>{},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) cast_row<id>(),
#include "atoll/lists/dtypes.inc"
};

void convert(const Target &target, std::uint32_t rank, const std::int64_t *shape,
             const atoll_operand *operands) {
    const Access access[2] = {access_of(rank, operands[0]), access_of(rank, operands[1])};
    bool dense = true;
    for (int k = 0; k < 2; ++k) {
        const auto size = static_cast<std::size_t>(sdk::dtype_size(operands[k].dtype));
        dense = dense && !access[k].swapped && is_run(rank, operands[k], size) &&
                reinterpret_cast<std::uintptr_t>(operands[k].data) % 16 == 0;
    }
    const CastRun cast = cast_runs[operands[0].dtype][operands[1].dtype];
    if (dense && cast.kernel)
        return launch_dense(
            target, cast.kernel, cast.tile,
            DenseWork<1>{rank == 0 ? 1 : shape[0], operands[0].data, {operands[1].data}, {}});
    for_each_space(extents_of<2>(rank, shape, operands), [&](const Space<2> &space) {
        enqueue(target, Convert{space, {access[0], access[1]}});
    });
}

// A number in host memory in the dtype of `out`; bits stay where the dtype is the same.
Constant constant_for(const atoll_operand &out, const atoll_operand &in) {
    if (in.dtype != out.dtype || access_of(0, in).swapped)
        return constant_of(out.dtype, number_at(in));
    Constant constant{};
    std::memcpy(constant.bytes, in.data, static_cast<std::size_t>(sdk::dtype_size(in.dtype)));
    return constant;
}

} // namespace

void fill_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const Constant &value) {
    static constexpr std::int64_t no_strides[ATOLL_MAX_RANK] = {};
    const std::int64_t size = sdk::dtype_size(out.dtype), part = part_size(out.dtype);
    Constant constant = value;
    if (access_of(rank, out).swapped)
        for (std::int64_t begin = 0; begin < size; begin += part)
            std::reverse(constant.bytes + begin, constant.bytes + begin + part);
    atoll_operand operands[2] = {out, out};
    operands[1].strides = no_strides;
    const auto fill_words = [&](auto word, std::int64_t count) {
        using Word = Raw<decltype(word)>;
        GeneralWork<2> work{};
        work.direct[0] = work.constant[1] = true;
        for (std::int64_t k = 0; k < count; ++k) {
            const auto offset = static_cast<std::size_t>(k) * sizeof(Word);
            std::memcpy(work.constants[1].bytes, constant.bytes + offset, sizeof(Word));
            operands[0].data = static_cast<char *>(out.data) + offset;
            run_map(target, rank, shape, operands, work, mapping_of<Keep, Word, Word>);
        }
    };
    // As words of the largest size that all addresses are a multiple of.
    std::int64_t word = size;
    while (!aligned_to(rank, out, static_cast<std::size_t>(word))) word /= 2;
    with_word(word, [&](auto zero) { fill_words(zero, size / word); });
}

void copy_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const atoll_operand &in) {
    if (in.flags & ATOLL_OPERAND_SCALAR)
        return fill_elements(target, rank, shape, out, constant_for(out, in));
    const atoll_operand operands[2] = {out, in};
    if (out.dtype == in.dtype)
        move(target, rank, shape, operands);
    else
        convert(target, rank, shape, operands);
}

void copy(State &state, atoll_call &call) {
    const Target target(state, call);
    copy_elements(target, call.rank, call.shape, call.operands[0], call.operands[1]);
    target.enqueued();
}

void fill(State &state, atoll_call &call) {
    const Target target(state, call);
    const atoll_scalar &value = call.attributes[0];
    atoll_operand in{};
    in.data = const_cast<std::uint8_t *>(value.value.bytes);
    in.dtype = static_cast<std::uint16_t>(value.dtype);
    fill_elements(target, call.rank, call.shape, call.operands[0],
                  constant_for(call.operands[0], in));
    target.enqueued();
}

} // namespace Atoll::cuda
