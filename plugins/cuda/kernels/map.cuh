// Element-wise functions: one functor per function; loading, storing and launching are the same for
// all of them.
//
// Note [Dense and general]
// Operands that lie in one run, aligned to 16 bytes and of the functor's dtypes, go through
// `Dense`: each thread loads several packs of 16 bytes of every operand before it computes
// anything. All else goes through `General`, which converts dtypes and byte orders as it loads and
// stores.
#pragma once

#include "elements.cuh"
#include "functors/functors.h"
#include "launchers.cuh"
#include "packs.cuh"
#include "space.cuh"

#include <cstring>
#include <type_traits>
#include <utility>

namespace Atoll::cuda {

// Values for all elements, from the host.
struct Constant {
    alignas(16) unsigned char bytes[16];
};
template <class S> __host__ __device__ S constant_as(const Constant &constant) {
    return *reinterpret_cast<const S *>(constant.bytes);
}

constexpr unsigned larger_of(std::initializer_list<std::size_t> sizes) {
    return static_cast<unsigned>(std::max(sizes));
}

// R = F(S...), all operands in one run.
template <class F, class R, class... S> struct Dense {
    static constexpr unsigned inputs = sizeof...(S);
    static constexpr unsigned width = 16 / larger_of({sizeof(R), sizeof(S)...}); // of a pack
    static constexpr unsigned rounds = width > 4 ? 16 / width : 4;               // packs per thread
    static constexpr unsigned tile = block_threads * width * rounds;             // of a block

    std::int64_t count;
    R *out;
    const void *in[inputs]; // null: the constant
    Constant constants[inputs];

    template <class T> struct Loaded { Pack<T, width> packs[rounds]; };

    template <class T> __device__ Loaded<T> loaded(unsigned k, std::int64_t first) const {
        Loaded<T> result;
        for (unsigned round = 0; round < rounds; ++round) {
            const std::int64_t place = first + round * block_threads * width;
            if (in[k])
                result.packs[round] = *reinterpret_cast<const Pack<T, width> *>(
                    static_cast<const T *>(in[k]) + place);
            else
                for (T &element : result.packs[round].at) element = constant_as<T>(constants[k]);
        }
        return result;
    }
    __device__ void compute(std::int64_t first, const Loaded<S> &...x) const {
        for (unsigned round = 0; round < rounds; ++round) {
            Pack<R, width> result;
            for (unsigned k = 0; k < width; ++k)
                result.at[k] = stored_as<R>(F::apply(value_of(x.packs[round].at[k])...));
            *reinterpret_cast<Pack<R, width> *>(out + first + round * block_threads * width) =
                result;
        }
    }
    template <class T> __device__ T element(unsigned k, std::int64_t i) const {
        return in[k] ? static_cast<const T *>(in[k])[i] : constant_as<T>(constants[k]);
    }

    template <std::size_t... k> __device__ void run(std::index_sequence<k...>) const {
        const std::int64_t begin = std::int64_t{blockIdx.x} * tile;
        if (begin + tile <= count)
            return compute(begin + threadIdx.x * width,
                           loaded<S>(k, begin + threadIdx.x * width)...);
        for (std::int64_t i = begin + threadIdx.x; i < count; i += block_threads)
            out[i] = stored_as<R>(F::apply(value_of(element<S>(k, i))...));
    }
};
template <class Work> __global__ void __launch_bounds__(block_threads)
    run_dense(const __grid_constant__ Work work) {
    work.run(std::make_index_sequence<Work::inputs>{});
}

template <class Work> void launch_dense(const Target &target, const Work &work) {
    launch(target, dim3(static_cast<unsigned>((work.count + Work::tile - 1) / Work::tile)),
           &run_dense<Work>, work);
}

// A number in the compute dtype, whose sign T may not have.
template <class T> __host__ __device__ T computed(const Number &number, bool is_signed) {
    if constexpr (is_raw<T>)
        return {computed<decltype(T::element)>(number, is_signed)};
    else if constexpr (std::is_integral_v<T>)
        return is_signed ? static_cast<T>(element_of<std::make_signed_t<T>>(number))
                         : element_of<T>(number);
    else
        return element_of<T>(number);
}

// R = F(S...), whatever the operands are.
template <class F, class R, class... S> struct General {
    static constexpr unsigned operands = 1 + sizeof...(S);
    Space<operands> space; // the result, then the inputs
    Access access[operands];
    bool direct[operands];   // native, aligned, of the functor's dtype
    bool constant[operands]; // an input: see constants
    bool is_signed;          // integers, which are computed unsigned
    Constant constants[operands];

    template <class T> __device__ T element(unsigned k, const char *at) const {
        if (constant[k]) return constant_as<T>(constants[k]);
        if (direct[k]) return *reinterpret_cast<const T *>(at);
        return computed<T>(load(at, access[k]), is_signed);
    }
    template <std::size_t... k>
    __device__ void run(std::uint32_t i, std::index_sequence<k...>) const {
        char *at[operands];
        space.locate(i, at);
        const R result = stored_as<R>(F::apply(value_of(element<S>(1 + k, at[1 + k]))...));
        if (direct[0])
            *reinterpret_cast<R *>(at[0]) = result;
        else
            store(at[0], access[0], number(result, is_signed));
    }
    __device__ void operator()(std::uint32_t i) const { run(i, std::index_sequence_for<S...>{}); }

    template <class T> __device__ static Number number(T result, bool is_signed) {
        if constexpr (is_raw<T>)
            return number(result.element, is_signed);
        else if constexpr (std::is_integral_v<T>)
            return is_signed ? number_of(static_cast<std::make_signed_t<T>>(result))
                             : number_of(result);
        else
            return number_of(result);
    }
};

// The parts of an operand that kernels care for.
inline Access access_of(std::uint32_t rank, const atoll_operand &operand) {
    const auto part =
        static_cast<std::uintptr_t>(sdk::dtype_size(sdk::dtype_facts[operand.dtype].part));
    auto bits = reinterpret_cast<std::uintptr_t>(operand.data);
    for (std::uint32_t axis = 0; axis < rank; ++axis)
        bits |= static_cast<std::uintptr_t>(operand.strides[axis]);
    return {static_cast<std::uint8_t>(operand.dtype),
            (operand.flags & ATOLL_OPERAND_SWAPPED) != 0 && part > 1, bits % part == 0};
}
// Whether kernels may read whole elements at once: a complex one is aligned to its size.
inline bool aligned_to(std::uint32_t rank, const atoll_operand &operand, std::size_t bytes) {
    auto bits = reinterpret_cast<std::uintptr_t>(operand.data);
    for (std::uint32_t axis = 0; axis < rank; ++axis)
        bits |= static_cast<std::uintptr_t>(operand.strides[axis]);
    return bits % bytes == 0;
}
// One run of elements without gaps. The host merges axes, so a dense operand has rank 0 or 1.
inline bool is_run(std::uint32_t rank, const atoll_operand &operand, std::size_t size) {
    return rank == 0 || (rank == 1 && operand.strides[0] == static_cast<std::int64_t>(size));
}

// Enqueues R = F(S...) over a space, by the densest way that `work` allows; its space is not set.
template <class F, class R, class... S>
void run_map(const Target &target, std::uint32_t rank, const std::int64_t *shape,
             const atoll_operand *operands, General<F, R, S...> &work) {
    using Packed = Dense<F, R, S...>;
    constexpr unsigned count = 1 + sizeof...(S);
    constexpr std::size_t sizes[] = {sizeof(R), sizeof(S)...};
    bool dense = true;
    for (unsigned k = 0; k < count; ++k) {
        const std::size_t alignment = std::min<std::size_t>(sizes[k] * Packed::width, 16);
        dense = dense && (work.constant[k] ||
                          (work.direct[k] && is_run(rank, operands[k], sizes[k]) &&
                           reinterpret_cast<std::uintptr_t>(operands[k].data) % alignment == 0));
    }
    if (!dense)
        return for_each_space(extents_of<count>(rank, shape, operands),
                              [&](const Space<count> &space) {
                                  work.space = space;
                                  enqueue(target, work);
                              });
    Packed packed{rank == 0 ? 1 : shape[0], static_cast<R *>(operands[0].data), {}, {}};
    for (unsigned k = 1; k < count; ++k) {
        packed.in[k - 1] = work.constant[k] ? nullptr : operands[k].data;
        packed.constants[k - 1] = work.constants[k];
    }
    launch_dense(target, packed);
}

// Enqueues R = F(S...) over a call's space. `dtypes` are those that the functor has.
template <class F, class R, class... S>
void map_as(const Target &target, std::uint32_t rank, const std::int64_t *shape,
            const atoll_operand *operands, const std::uint16_t *dtypes, bool is_signed) {
    using Work = General<F, R, S...>;
    constexpr std::size_t sizes[] = {sizeof(R), sizeof(S)...};
    Work work{};
    work.is_signed = is_signed;
    for (unsigned k = 0; k < Work::operands; ++k) {
        const atoll_operand &operand = operands[k];
        work.constant[k] = k > 0 && (operand.flags & ATOLL_OPERAND_SCALAR);
        work.access[k] = access_of(rank, operand);
        work.direct[k] = !work.constant[k] && operand.dtype == dtypes[k] &&
                         !work.access[k].swapped && aligned_to(rank, operand, sizes[k]);
    }
    const auto convert = [&]<class T>(unsigned k, T) {
        if (!work.constant[k]) return;
        // In host memory, and only until we return.
        const T value = computed<T>(load(static_cast<const char *>(operands[k].data),
                                         {work.access[k].dtype, work.access[k].swapped, false}),
                                    is_signed);
        std::memcpy(work.constants[k].bytes, &value, sizeof value);
    };
    unsigned input = 0;
    (convert(++input, S{}), ...);
    run_map(target, rank, shape, operands, work);
}

// ---- Tables ------------------------------------------------------------------------------------

using LauncherTable = std::array<LauncherRow<Launcher>, ATOLL_FN_COUNT>;

constexpr bool is_signed_dtype(std::uint32_t dtype) {
    return sdk::dtype_facts[dtype].kind == ATOLL_DTYPE_KIND_SIGNED;
}

// For functors that exist with their inputs exchanged.
template <class F> struct Exchanged {
    template <class T> using Type = typename F::template Type<T>;
    template <class T> __host__ __device__ static auto apply(T a, T b) { return F::apply(b, a); }
};

// The inputs of a functor in memory: one type for both signs where the functor wraps.
template <class F, std::uint32_t dtype> struct InputOf {
    using Element = Stored<dtype>;
    using Computed = typename F::template Type<Value<Element>>;
    using type = std::conditional_t<std::is_integral_v<Element>, Computed, Element>;
};
// And its result, which is of `dtype`.
template <class Computed, std::uint32_t dtype> using OutputOf =
    std::conditional_t<std::is_integral_v<Computed>, Computed, Stored<dtype>>;

// A function whose inputs are all of T.
template <class F, std::uint16_t function, std::uint32_t dtype, std::size_t... k>
void map_call(const Target &target, const atoll_call &call) {
    constexpr std::uint16_t result =
        static_cast<std::uint16_t>(sdk::core_functions[function].result_dtype(dtype));
    using S = typename InputOf<F, dtype>::type;
    using R = OutputOf<decltype(F::apply((static_cast<void>(k), Value<S>{})...)), result>;
    constexpr std::uint16_t dtypes[] = {result, (static_cast<void>(k), std::uint16_t{dtype})...};
    map_as<F, R, std::conditional_t<true, S, std::integral_constant<std::size_t, k>>...>(
        target, call.rank, call.shape, call.operands, dtypes, is_signed_dtype(dtype));
}

template <class F, std::uint16_t function, std::uint32_t dtype, std::size_t... k>
constexpr Launcher launcher(std::index_sequence<k...>) {
    if constexpr (requires { typename F::Exchanged; })
        return &map_call<Exchanged<typename F::Exchanged>, function, dtype, k...>;
    else
        return &map_call<F, function, dtype, k...>;
}

template <int inputs, std::uint16_t function, class F>
constexpr LauncherRow<Launcher> launcher_row() {
    if constexpr (kernels::has_functor(sdk::core_functions[function].signature, inputs))
        return launchers_of<function>([](auto dtype) {
            return launcher<F, function, dtype()>(std::make_index_sequence<inputs>());
        });
    else
        return {};
}

inline void run_row(const LauncherTable &table, State &state, atoll_call &call) {
    const Target target(state, call);
    const Launcher launcher = table[call.function][call.dtype];
    if (!launcher)
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         std::string("no kernel for ") + sdk::dtype_name(call.dtype));
    launcher(target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
