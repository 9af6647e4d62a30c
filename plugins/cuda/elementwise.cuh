// Element-wise functions: one functor per function, on values; loading, storing and launching are
// the same for all of them.
#pragma once

#include "elements.cuh"
#include "kernels.hpp"
#include "space.cuh"

#include <cstring>
#include <type_traits>

namespace Atoll::cuda {

// The values that arithmetic is done on: halves in float, bool as bool.
template <class T> __host__ __device__ inline T value_of(T element) { return element; }
__host__ __device__ inline bool value_of(Bool element) { return element.value != 0; }
__host__ __device__ inline float value_of(Half element) { return to_float(element); }
__host__ __device__ inline float value_of(Brain element) { return to_float(element); }
__host__ __device__ inline Complex<float> value_of(Complex<Half> element) {
    return {to_float(element.re), to_float(element.im)};
}

template <class T> __host__ __device__ inline void put(T &to, T value) { to = value; }
__host__ __device__ inline void put(Bool &to, bool value) { to.value = value; }
__host__ __device__ inline void put(Half &to, float value) { to = to_half(value); }
__host__ __device__ inline void put(Brain &to, float value) { to = to_brain(value); }
__host__ __device__ inline void put(Complex<Half> &to, Complex<float> value) {
    to = {to_half(value.re), to_half(value.im)};
}

// out = Function(a, b), or Function(a) with one input. Inputs are elements of type T, aligned, or a
// value; outputs of type R.
template <class Function, class R, class T, int Inputs> struct Map {
    Space<1 + Inputs> space;
    bool is_value[Inputs];
    T value[Inputs];
    __host__ __device__ auto input(char *const *at, int i) const {
        return value_of(is_value[i] ? value[i] : *reinterpret_cast<const T *>(at[1 + i]));
    }
    __host__ __device__ void operator()(std::int64_t i) const {
        char *at[1 + Inputs];
        space.locate(i, at);
        R &out = *reinterpret_cast<R *>(at[0]);
        if constexpr (Inputs == 1)
            put(out, Function::apply(input(at, 0)));
        else
            put(out, Function::apply(input(at, 0), input(at, 1)));
    }
};

template <class Function, class R, class T, int Inputs>
Map<Function, R, T, Inputs> make_map(std::uint32_t rank, const std::int64_t *shape,
                                     const atoll_operand *const (&operands)[1 + Inputs]) {
    Map<Function, R, T, Inputs> work{make_space<1 + Inputs>(rank, shape, operands), {}, {}};
    for (int i = 0; i < Inputs; ++i) {
        if (!(operands[1 + i]->flags & ATOLL_OPERAND_SCALAR)) continue;
        work.is_value[i] = true;
        std::memcpy(&work.value[i], operands[1 + i]->data, sizeof(T));
    }
    return work;
}

// run(an element of the dtype). Where `wraps`, signed integers come as unsigned ones, which wrap.
template <atoll_dtype_set domain, bool wraps, class Run>
void with_element(std::uint32_t dtype, const Run &run) {
    const auto either = [&](auto as_signed, auto as_unsigned) {
        if constexpr (wraps)
            run(as_unsigned);
        else
            run(as_signed);
    };
    if constexpr ((domain & ATOLL_DTYPE_BIT(ATOLL_DTYPE_BOOL)) != 0)
        if (dtype == ATOLL_DTYPE_BOOL) return run(Bool{});
    if constexpr ((domain & ATOLL_DOMAIN_INTEGERS) != 0) switch (dtype) {
        case ATOLL_DTYPE_INT8: return either(std::int8_t{}, std::uint8_t{});
        case ATOLL_DTYPE_INT16: return either(std::int16_t{}, std::uint16_t{});
        case ATOLL_DTYPE_INT32: return either(std::int32_t{}, std::uint32_t{});
        case ATOLL_DTYPE_INT64: return either(std::int64_t{}, std::uint64_t{});
        case ATOLL_DTYPE_UINT8: return run(std::uint8_t{});
        case ATOLL_DTYPE_UINT16: return run(std::uint16_t{});
        case ATOLL_DTYPE_UINT32: return run(std::uint32_t{});
        case ATOLL_DTYPE_UINT64: return run(std::uint64_t{});
        }
    if constexpr ((domain & ATOLL_DOMAIN_REAL_FLOATS) != 0) switch (dtype) {
        case ATOLL_DTYPE_FLOAT16: return run(Half{});
        case ATOLL_DTYPE_BFLOAT16: return run(Brain{});
        case ATOLL_DTYPE_FLOAT32: return run(float{});
        case ATOLL_DTYPE_FLOAT64: return run(double{});
        }
    if constexpr ((domain & ATOLL_DOMAIN_COMPLEXES) != 0) switch (dtype) {
        case ATOLL_DTYPE_COMPLEX32: return run(Complex<Half>{});
        case ATOLL_DTYPE_COMPLEX64: return run(Complex<float>{});
        case ATOLL_DTYPE_COMPLEX128: return run(Complex<double>{});
        }
}

// The whole of a function: Function::domain and Function::wraps as above, and Function::Result<T>.
template <class Function, int Inputs> void map(State &state, atoll_call &call) {
    const Target target(state, call);
    const atoll_operand *operands[1 + Inputs];
    for (int i = 0; i <= Inputs; ++i) operands[i] = &call.operands[i];
    with_element<Function::domain, Function::wraps>(call.dtype, [&](auto element) {
        using T = decltype(element);
        using R = typename Function::template Result<T>;
        enqueue(target, make_map<Function, R, T, Inputs>(call.rank, call.shape, operands));
    });
    target.enqueued();
}

} // namespace Atoll::cuda
