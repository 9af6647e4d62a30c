// Element-wise functions: one functor per function, one piece of work for all of them.
#include "elements.cuh"
#include "kernels.hpp"
#include "space.cuh"

#include <cstring>

namespace Atoll::cuda {
namespace {

struct Add {
    // Integers wrap: signed ones come here as unsigned.
    template <class T> __host__ __device__ static T apply(T a, T b) {
        return static_cast<T>(a + b);
    }
    __host__ __device__ static Bool apply(Bool a, Bool b) {
        return {static_cast<std::uint8_t>((a.value | b.value) != 0)};
    }
    __host__ __device__ static Half apply(Half a, Half b) {
        return to_half(to_float(a) + to_float(b));
    }
    __host__ __device__ static Brain apply(Brain a, Brain b) {
        return to_brain(to_float(a) + to_float(b));
    }
    template <class T> __host__ __device__ static Complex<T> apply(Complex<T> a, Complex<T> b) {
        return {apply(a.re, b.re), apply(a.im, b.im)};
    }
};

struct Multiply {
    template <class T> __host__ __device__ static T apply(T a, T b) { return a * b; }
    template <class T> __host__ __device__ static Complex<T> apply(Complex<T> a, Complex<T> b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};

// All operands of the compute dtype T, aligned; an input may be a value instead.
template <class Function, class T> struct Binary {
    Space<3> space; // out, a, b
    bool is_value[2];
    T value[2];
    __host__ __device__ void operator()(std::int64_t i) const {
        char *at[3];
        space.locate(i, at);
        const T a = is_value[0] ? value[0] : *reinterpret_cast<const T *>(at[1]);
        const T b = is_value[1] ? value[1] : *reinterpret_cast<const T *>(at[2]);
        *reinterpret_cast<T *>(at[0]) = Function::apply(a, b);
    }
};

template <class Function, class T>
void enqueue_binary(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                    const atoll_operand &out, const atoll_operand &a, const atoll_operand &b) {
    Binary<Function, T> work{make_space<3>(rank, shape, {&out, &a, &b}), {}, {}};
    const atoll_operand *const inputs[] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
        if (!(inputs[i]->flags & ATOLL_OPERAND_SCALAR)) continue;
        work.is_value[i] = true;
        std::memcpy(&work.value[i], inputs[i]->data, sizeof(T));
    }
    enqueue(target, work);
}

} // namespace

void add(State &state, atoll_call &call) {
    const Target target(state, call);
    const auto run = [&](auto example) {
        using T = decltype(example);
        enqueue_binary<Add, T>(target, call.rank, call.shape, call.operands[0], call.operands[1],
                               call.operands[2]);
    };
    switch (call.dtype) {
    case ATOLL_BOOL: run(Bool{}); break;
    case ATOLL_INT8:
    case ATOLL_UINT8: run(std::uint8_t{}); break;
    case ATOLL_INT16:
    case ATOLL_UINT16: run(std::uint16_t{}); break;
    case ATOLL_INT32:
    case ATOLL_UINT32: run(std::uint32_t{}); break;
    case ATOLL_INT64:
    case ATOLL_UINT64: run(std::uint64_t{}); break;
    case ATOLL_FLOAT16: run(Half{}); break;
    case ATOLL_BFLOAT16: run(Brain{}); break;
    case ATOLL_FLOAT32: run(float{}); break;
    case ATOLL_FLOAT64: run(double{}); break;
    case ATOLL_COMPLEX32: run(Complex<Half>{}); break;
    case ATOLL_COMPLEX64: run(Complex<float>{}); break;
    default: run(Complex<double>{});
    }
    target.enqueued();
}

void scale_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                    const atoll_operand &out, const atoll_scalar &factor) {
    atoll_operand value = out; // its strides do not matter
    value.data = const_cast<std::uint8_t *>(factor.value.bytes);
    value.flags = ATOLL_OPERAND_SCALAR;
    const auto run = [&](auto example) {
        using T = decltype(example);
        enqueue_binary<Multiply, T>(target, rank, shape, out, out, value);
    };
    switch (out.dtype) {
    case ATOLL_FLOAT32: run(float{}); break;
    case ATOLL_FLOAT64: run(double{}); break;
    case ATOLL_COMPLEX64: run(Complex<float>{}); break;
    default: run(Complex<double>{});
    }
}

} // namespace Atoll::cuda
