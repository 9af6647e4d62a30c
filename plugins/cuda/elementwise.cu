// Arithmetic, element by element.
#include "elementwise.cuh"

namespace Atoll::cuda {
namespace {

// Integers narrower than int are promoted to it and could overflow there: `1u *` keeps them
// unsigned, and floats as they are.
template <class V> struct Plain {
    __host__ __device__ static V plus(V a, V b) { return static_cast<V>(1u * a + b); }
    __host__ __device__ static V minus(V a, V b) { return static_cast<V>(1u * a - b); }
    __host__ __device__ static V times(V a, V b) { return static_cast<V>(1u * a * b); }
};

template <atoll_dtype_set dtypes> struct Common {
    static constexpr atoll_dtype_set domain = dtypes;
    static constexpr bool wraps = true;
    template <class T> using Result = T;
};

struct Add : Common<ATOLL_DOMAIN_ALL> {
    template <class V> __host__ __device__ static V apply(V a, V b) { return Plain<V>::plus(a, b); }
    __host__ __device__ static bool apply(bool a, bool b) { return a || b; }
    template <class P> __host__ __device__ static Complex<P> apply(Complex<P> a, Complex<P> b) {
        return {a.re + b.re, a.im + b.im};
    }
};

struct Subtract : Common<ATOLL_DOMAIN_NUMERIC> {
    template <class V> __host__ __device__ static V apply(V a, V b) {
        return Plain<V>::minus(a, b);
    }
    template <class P> __host__ __device__ static Complex<P> apply(Complex<P> a, Complex<P> b) {
        return {a.re - b.re, a.im - b.im};
    }
};

struct Multiply : Common<ATOLL_DOMAIN_ALL> {
    template <class V> __host__ __device__ static V apply(V a, V b) {
        return Plain<V>::times(a, b);
    }
    __host__ __device__ static bool apply(bool a, bool b) { return a && b; }
    template <class P> __host__ __device__ static Complex<P> apply(Complex<P> a, Complex<P> b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};

struct Divide : Common<ATOLL_DOMAIN_FLOATING> {
    template <class V> __host__ __device__ static V apply(V a, V b) { return a / b; }
    // Smith's method: dividing by the larger part first keeps the squares from overflowing.
    template <class P> __host__ __device__ static Complex<P> apply(Complex<P> a, Complex<P> b) {
        if (fabs(b.re) >= fabs(b.im)) {
            const P ratio = b.im / b.re, scale = b.re + b.im * ratio;
            return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
        }
        const P ratio = b.re / b.im, scale = b.re * ratio + b.im;
        return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
    }
};

struct Negative : Common<ATOLL_DOMAIN_NUMERIC> {
    template <class V> __host__ __device__ static V apply(V a) { return static_cast<V>(-a); }
    template <class P> __host__ __device__ static Complex<P> apply(Complex<P> a) {
        return {-a.re, -a.im};
    }
};

struct Square : Common<ATOLL_DOMAIN_ALL> {
    template <class V> __host__ __device__ static V apply(V a) { return Multiply::apply(a, a); }
};

struct Reciprocal : Common<ATOLL_DOMAIN_FLOATING> {
    template <class V> __host__ __device__ static V apply(V a) { return 1 / a; }
    template <class P> __host__ __device__ static Complex<P> apply(Complex<P> a) {
        return Divide::apply(Complex<P>{1, 0}, a);
    }
};

struct Sqrt : Common<sqrt_dtypes> {
    template <class V> __host__ __device__ static V apply(V a) { return ::sqrt(a); }
};

} // namespace

void add(State &state, atoll_call &call) { map<Add, 2>(state, call); }
void subtract(State &state, atoll_call &call) { map<Subtract, 2>(state, call); }
void multiply(State &state, atoll_call &call) { map<Multiply, 2>(state, call); }
void divide(State &state, atoll_call &call) { map<Divide, 2>(state, call); }
void negative(State &state, atoll_call &call) { map<Negative, 1>(state, call); }
void square(State &state, atoll_call &call) { map<Square, 1>(state, call); }
void reciprocal(State &state, atoll_call &call) { map<Reciprocal, 1>(state, call); }
void sqrt(State &state, atoll_call &call) { map<Sqrt, 1>(state, call); }

} // namespace Atoll::cuda
