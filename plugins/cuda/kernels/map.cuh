// Element-wise functions: one functor per function; loading, storing and launching are the same for
// all of them.
//
// Note [Dense and general]
// Operands that lie in one run, aligned to 16 bytes and of the functor's dtypes, go through
// `Dense`: each thread loads several packs of 16 bytes of every operand, one for long functors,
// before it computes anything. All else goes through `General`, which converts dtypes and byte
// orders as it loads and stores.
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

// What kernels take, the same for all functors: operands in one run, or operands of any layout.
template <unsigned Inputs> struct DenseWork {
    std::int64_t count;
    void *out;
    const void *in[Inputs]; // null: the constant
    Constant constants[Inputs];
};
template <unsigned Operands> struct GeneralWork {
    Space<Operands> space; // the result, then the inputs
    Access access[Operands];
    bool direct[Operands];   // native, aligned, of the functor's dtype
    bool constant[Operands]; // an input: see constants
    bool is_signed;          // integers, which are computed unsigned
    Constant constants[Operands];
};

// R = F(S...), all operands in one run.
template <class F, class R, class... S> struct Dense {
    static constexpr unsigned inputs = sizeof...(S);
    using Work = DenseWork<inputs>;
    static constexpr unsigned width = 16 / larger_of({sizeof(R), sizeof(S)...}); // of a pack
    // Packs per thread. Scalar functors are long, and their code is there for every element.
    static constexpr unsigned rounds = requires { F::scalar; }
    ? 1 : width > 4 ? 16 / width : 4;
    static constexpr unsigned tile = block_threads * width * rounds; // of a block

    template <class T> struct Loaded { Pack<T, width> packs[rounds]; };

    template <class T>
    __device__ static Loaded<T> loaded(const Work &work, unsigned k, std::int64_t first) {
        Loaded<T> result;
        for (unsigned round = 0; round < rounds; ++round) {
            const std::int64_t place = first + round * block_threads * width;
            if (work.in[k])
                result.packs[round] = *reinterpret_cast<const Pack<T, width> *>(
                    static_cast<const T *>(work.in[k]) + place);
            else
                for (T &element : result.packs[round].at)
                    element = constant_as<T>(work.constants[k]);
        }
        return result;
    }
    __device__ static void compute(R *out, const Loaded<S> &...x) {
        for (unsigned round = 0; round < rounds; ++round) {
            Pack<R, width> result;
            for (unsigned k = 0; k < width; ++k)
                result.at[k] = stored_as<R>(F::apply(value_of(x.packs[round].at[k])...));
            *reinterpret_cast<Pack<R, width> *>(out + round * block_threads * width) = result;
        }
    }
    template <class T> __device__ static T element(const Work &work, unsigned k, std::int64_t i) {
        return work.in[k] ? static_cast<const T *>(work.in[k])[i]
                          : constant_as<T>(work.constants[k]);
    }

    template <std::size_t... k>
    __device__ static void run(const Work &work, std::index_sequence<k...>) {
        const std::int64_t begin = std::int64_t{blockIdx.x} * tile;
        R *const out = static_cast<R *>(work.out);
        if (begin + tile <= work.count) {
            const std::int64_t first = begin + threadIdx.x * width;
            return compute(out + first, loaded<S>(work, k, first)...);
        }
#pragma unroll 1
        for (std::int64_t i = begin + threadIdx.x; i < work.count; i += block_threads)
            out[i] = stored_as<R>(F::apply(value_of(element<S>(work, k, i))...));
    }
};
template <class Map> __global__ void __launch_bounds__(block_threads)
    run_dense(const __grid_constant__ typename Map::Work work) {
    Map::run(work, std::make_index_sequence<Map::inputs>{});
}

template <class Work>
void launch_dense(const Target &target, void (*kernel)(Work), unsigned tile, const Work &work) {
    launch(target, dim3(static_cast<unsigned>((work.count + tile - 1) / tile)), kernel, work);
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
// And back.
template <class T> __host__ __device__ Number number_from(T value, bool is_signed) {
    if constexpr (is_raw<T>)
        return number_from(value.element, is_signed);
    else if constexpr (std::is_integral_v<T>)
        return is_signed ? number_of(static_cast<std::make_signed_t<T>>(value)) : number_of(value);
    else
        return number_of(value);
}

// R = F(S...), whatever the operands are.
template <class F, class R, class... S> struct General {
    static constexpr unsigned operands = 1 + sizeof...(S);
    using Work = GeneralWork<operands>;

    template <class T> __device__ static T element(const Work &work, unsigned k, const char *at) {
        if (work.constant[k]) return constant_as<T>(work.constants[k]);
        if (work.direct[k]) return *reinterpret_cast<const T *>(at);
        return computed<T>(load(at, work.access[k]), work.is_signed);
    }
    template <std::size_t... k>
    __device__ static void run(const Work &work, std::uint32_t i, std::index_sequence<k...>) {
        char *at[operands];
        work.space.locate(i, at);
        const R result = stored_as<R>(F::apply(value_of(element<S>(work, 1 + k, at[1 + k]))...));
        if (work.direct[0])
            *reinterpret_cast<R *>(at[0]) = result;
        else
            store(at[0], work.access[0], number_from(result, work.is_signed));
    }
};
template <class Map> __global__ void __launch_bounds__(block_threads)
    run_general(const __grid_constant__ typename Map::Work work) {
    walk_elements(work.space.count, [&](std::uint32_t i) {
        Map::run(work, i, std::make_index_sequence<Map::operands - 1>());
    });
}

// Whether the addresses of all elements are multiples of `bytes`, but for steps along the axis
// `except`.
inline bool aligned_but_along(std::uint32_t except, std::uint32_t rank,
                              const atoll_operand &operand, std::size_t bytes) {
    auto bits = reinterpret_cast<std::uintptr_t>(operand.data);
    for (std::uint32_t axis = 0; axis < rank; ++axis)
        if (axis != except) bits |= static_cast<std::uintptr_t>(operand.strides[axis]);
    return bits % bytes == 0;
}
// Whether kernels may read whole elements at once: a complex one is aligned to its size.
inline bool aligned_to(std::uint32_t rank, const atoll_operand &operand, std::size_t bytes) {
    return aligned_but_along(rank, rank, operand, bytes);
}
// The parts of an operand that kernels care for.
inline Access access_of(std::uint32_t rank, const atoll_operand &operand) {
    const auto part =
        static_cast<std::size_t>(sdk::dtype_size(sdk::dtype_facts[operand.dtype].part));
    return {static_cast<std::uint8_t>(operand.dtype),
            (operand.flags & ATOLL_OPERAND_SWAPPED) != 0 && part > 1,
            aligned_to(rank, operand, part)};
}
// One run of elements without gaps. The host merges axes, so a dense operand has rank 0 or 1.
inline bool is_run(std::uint32_t rank, const atoll_operand &operand, std::size_t size) {
    return rank == 0 || (rank == 1 && operand.strides[0] == static_cast<std::int64_t>(size));
}

// The kernels of R = F(S...), and what the host has to know to launch them.
template <unsigned Operands> struct Mapping {
    void (*dense)(DenseWork<Operands - 1>);
    void (*general)(GeneralWork<Operands>);
    unsigned width, tile;         // of the dense one
    std::uint8_t bytes[Operands]; // of an element
};
template <class F, class R, class... S>
inline constexpr Mapping<1 + sizeof...(S)> mapping_of = {&run_dense<Dense<F, R, S...>>,
                                                         &run_general<General<F, R, S...>>,
                                                         Dense<F, R, S...>::width,
                                                         Dense<F, R, S...>::tile,
                                                         {sizeof(R), sizeof(S)...}};

// Enqueues a mapping over a space, by the densest way that `work` allows; its space is not set.
template <unsigned Operands> void run_map(const Target &target, std::uint32_t rank,
                                          const std::int64_t *shape, const atoll_operand *operands,
                                          GeneralWork<Operands> &work,
                                          const Mapping<Operands> &mapping) {
    bool dense = true;
    for (unsigned k = 0; k < Operands; ++k) {
        const std::size_t alignment = std::min(mapping.bytes[k] * mapping.width, 16u);
        dense = dense && (work.constant[k] ||
                          (work.direct[k] && is_run(rank, operands[k], mapping.bytes[k]) &&
                           reinterpret_cast<std::uintptr_t>(operands[k].data) % alignment == 0));
    }
    if (!dense)
        return for_each_space(extents_of<Operands>(rank, shape, operands),
                              [&](const Space<Operands> &space) {
                                  work.space = space;
                                  launch_elements(target, mapping.general, work);
                              });
    DenseWork<Operands - 1> packed{rank == 0 ? 1 : shape[0], operands[0].data, {}, {}};
    for (unsigned k = 1; k < Operands; ++k) {
        packed.in[k - 1] = work.constant[k] ? nullptr : operands[k].data;
        packed.constants[k - 1] = work.constants[k];
    }
    launch_dense(target, mapping.dense, mapping.tile, packed);
}

constexpr bool is_signed_dtype(std::uint32_t dtype) {
    return sdk::dtype_facts[dtype].kind == ATOLL_DTYPE_KIND_SIGNED;
}

// A number in host memory, which may lie at any address.
inline Number number_at(const atoll_operand &operand) {
    const Access access = access_of(0, operand);
    return load(static_cast<const char *>(operand.data), {access.dtype, access.swapped, false});
}
inline Constant constant_of(std::uint32_t dtype, const Number &number) {
    Constant constant{};
    store(reinterpret_cast<char *>(constant.bytes), {static_cast<std::uint8_t>(dtype), false, true},
          number);
    return constant;
}

// Enqueues a mapping over a call's space. `dtypes` are those that the functor has; integers are
// signed if those of `compute_dtype` are.
template <unsigned Operands> void map_as(const Target &target, std::uint32_t rank,
                                         const std::int64_t *shape, const atoll_operand *operands,
                                         const std::uint16_t *dtypes, std::uint32_t compute_dtype,
                                         const Mapping<Operands> &mapping) {
    GeneralWork<Operands> work{};
    work.is_signed = is_signed_dtype(compute_dtype);
    for (unsigned k = 0; k < Operands; ++k) {
        const atoll_operand &operand = operands[k];
        work.constant[k] = k > 0 && (operand.flags & ATOLL_OPERAND_SCALAR);
        work.access[k] = access_of(rank, operand);
        work.direct[k] = !work.constant[k] && operand.dtype == dtypes[k] &&
                         !work.access[k].swapped && aligned_to(rank, operand, mapping.bytes[k]);
        if (work.constant[k]) // there only until we return
            work.constants[k] = constant_of(dtypes[k], number_at(operand));
    }
    run_map(target, rank, shape, operands, work, mapping);
}

// ---- Tables ------------------------------------------------------------------------------------

// The mappings of a function, by compute dtype; null where there is none.
template <unsigned Inputs> struct MappingRow {
    LauncherRow<const Mapping<Inputs + 1> *> of_dtype;
    bool exchanged; // the two inputs
};
template <unsigned Inputs> using MappingTable = std::array<MappingRow<Inputs>, ATOLL_FN_COUNT>;

// The inputs of a functor in memory: one type for both signs where the functor wraps.
template <class F, std::uint32_t dtype> struct InputOf {
    using Element = Stored<dtype>;
    using Computed = typename F::template Type<Value<Element>>;
    using type = std::conditional_t<std::is_integral_v<Element>, Computed, Element>;
};
// And its result, which is of `dtype`.
template <class Computed, std::uint32_t dtype> using OutputOf =
    std::conditional_t<std::is_integral_v<Computed>, Computed, Stored<dtype>>;

// Of functors that do the same on integers there is one kernel.
template <class F, class V> struct OneForAll {
    template <class... Others> static constexpr bool is_any = (std::is_same_v<F, Others> || ...);
    static constexpr bool is_integer = std::is_integral_v<V> || kernels::is_bool<V>;
    static constexpr bool keeps = is_any<kernels::functor::ceil, kernels::functor::floor,
                                         kernels::functor::trunc, kernels::functor::round> ||
                                  (std::is_unsigned_v<V> && is_any<kernels::functor::abs>);
    static constexpr bool is_false =
        is_any<kernels::functor::isinf, kernels::functor::isposinf, kernels::functor::isneginf>;
    using type =
        std::conditional_t<is_integer && keeps, kernels::functor::conj,
                           std::conditional_t<is_integer && is_false, kernels::functor::isnan, F>>;
};

// A function whose inputs are all of T.
template <class G, std::uint16_t function, std::uint32_t dtype, std::size_t... k>
constexpr const Mapping<1 + sizeof...(k)> *mapping_for(std::index_sequence<k...>) {
    using F = typename OneForAll<G, Value<Stored<dtype>>>::type;
    constexpr std::uint16_t result =
        static_cast<std::uint16_t>(sdk::core_functions[function].result_dtype(dtype));
    using S = typename InputOf<F, dtype>::type;
    using R = OutputOf<decltype(F::apply((static_cast<void>(k), Value<S>{})...)), result>;
    return &mapping_of<F, R,
                       std::conditional_t<true, S, std::integral_constant<std::size_t, k>>...>;
}

template <unsigned inputs, std::uint16_t function, class F>
constexpr MappingRow<inputs> mapping_row() {
    if constexpr (!kernels::has_functor(sdk::core_functions[function].signature, inputs))
        return {};
    else if constexpr (requires { typename F::Exchanged; })
        return {mapping_row<inputs, function, typename F::Exchanged>().of_dtype, true};
    else
        return {launchers_of<function, const Mapping<inputs + 1> *>([](auto dtype) {
                    return mapping_for<F, function, dtype()>(std::make_index_sequence<inputs>());
                }),
                false};
}

template <unsigned Inputs>
void run_row(const MappingTable<Inputs> &table, const Target &target, const atoll_call &call) {
    const MappingRow<Inputs> &row = table[call.function];
    const auto *const mapping = row.of_dtype[call.dtype];
    if (!mapping)
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         std::string("no kernel for ") + sdk::dtype_name(call.dtype));
    atoll_operand operands[Inputs + 1];
    std::uint16_t dtypes[Inputs + 1];
    for (unsigned k = 0; k <= Inputs; ++k) {
        operands[k] = call.operands[k];
        dtypes[k] = call.dtype;
    }
    dtypes[0] =
        static_cast<std::uint16_t>(sdk::core_functions[call.function].result_dtype(call.dtype));
    if (Inputs == 2 && row.exchanged) std::swap(operands[1], operands[Inputs]);
    map_as(target, call.rank, call.shape, operands, dtypes, call.dtype, *mapping);
}

} // namespace Atoll::cuda
