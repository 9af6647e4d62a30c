// Comparisons, and what follows from them, element by element.
#include "elementwise.cuh"

namespace Atoll::cuda {
namespace {

// NaN compares false with everything, also through operators on values.
template <atoll_dtype_set dtypes> struct Comparison {
    static constexpr atoll_dtype_set domain = dtypes;
    static constexpr bool wraps = false;
    template <class T> using Result = Bool;
};

struct Equal : Comparison<ATOLL_DOMAIN_ALL> {
    template <class V> __host__ __device__ static bool apply(V a, V b) { return a == b; }
    template <class P> __host__ __device__ static bool apply(Complex<P> a, Complex<P> b) {
        return a.re == b.re && a.im == b.im;
    }
};

struct NotEqual : Comparison<ATOLL_DOMAIN_ALL> {
    template <class V> __host__ __device__ static bool apply(V a, V b) {
        return !Equal::apply(a, b);
    }
};

struct Less : Comparison<ATOLL_DOMAIN_ORDERED> {
    template <class V> __host__ __device__ static bool apply(V a, V b) { return a < b; }
};

struct LessEqual : Comparison<ATOLL_DOMAIN_ORDERED> {
    template <class V> __host__ __device__ static bool apply(V a, V b) { return a <= b; }
};

struct Greater : Comparison<ATOLL_DOMAIN_ORDERED> {
    template <class V> __host__ __device__ static bool apply(V a, V b) { return a > b; }
};

struct GreaterEqual : Comparison<ATOLL_DOMAIN_ORDERED> {
    template <class V> __host__ __device__ static bool apply(V a, V b) { return a >= b; }
};

struct Choice {
    static constexpr atoll_dtype_set domain = ATOLL_DOMAIN_ORDERED;
    static constexpr bool wraps = false;
    template <class T> using Result = T;
};

// NaN wins.
struct Minimum : Choice {
    template <class V> __host__ __device__ static V apply(V a, V b) {
        return a <= b || a != a ? a : b;
    }
};

struct Maximum : Choice {
    template <class V> __host__ __device__ static V apply(V a, V b) {
        return a >= b || a != a ? a : b;
    }
};

} // namespace

void equal(State &state, atoll_call &call) { map<Equal, 2>(state, call); }
void not_equal(State &state, atoll_call &call) { map<NotEqual, 2>(state, call); }
void less(State &state, atoll_call &call) { map<Less, 2>(state, call); }
void less_equal(State &state, atoll_call &call) { map<LessEqual, 2>(state, call); }
void greater(State &state, atoll_call &call) { map<Greater, 2>(state, call); }
void greater_equal(State &state, atoll_call &call) { map<GreaterEqual, 2>(state, call); }
void minimum(State &state, atoll_call &call) { map<Minimum, 2>(state, call); }
void maximum(State &state, atoll_call &call) { map<Maximum, 2>(state, call); }

} // namespace Atoll::cuda
