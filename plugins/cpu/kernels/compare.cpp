// Exact comparisons between int64, uint64, float64 and complex128.
#include "compare.h"

#include "functors/order.h"

#include <utility>

namespace Atoll::kernels {
namespace {

template <class I> int order(I a, double b) { return exact_order(a, b); }
template <class I> int order(double a, I b) {
    const int opposite = order(b, a);
    return opposite == 2 ? 2 : -opposite;
}
int order(std::int64_t a, std::uint64_t b) {
    return int{std::cmp_greater(a, b)} - int{std::cmp_less(a, b)};
}
int order(std::uint64_t a, std::int64_t b) { return -order(b, a); }
// Complex numbers are only equal or not.
template <class I> int order(I a, Complex<double> b) { return b.im == 0 ? order(a, b.re) : 2; }
template <class I> int order(Complex<double> a, I b) { return order(b, a); }

struct equal {
    static bool test(int order) { return order == 0; }
};
struct not_equal {
    static bool test(int order) { return order != 0; }
};
struct less {
    static bool test(int order) { return order == -1; }
};
struct less_equal {
    static bool test(int order) { return order <= 0; }
};
struct greater {
    static bool test(int order) { return order == 1; }
};
struct greater_equal {
    static bool test(int order) { return order == 0 || order == 1; }
};

template <class F, class A, class B>
void loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    char *out = data[0], *a = data[1], *b = data[2];
    for (std::int64_t k = 0; k < n; ++k)
        *at<Bool>(out + k * strides[0]) = Bool(
            F::test(order(*at<const A>(a + k * strides[1]), *at<const B>(b + k * strides[2]))));
}

enum Class : int { Signed, Unsigned, Real, Pair, None };

Class class_of(std::uint32_t dtype) {
    switch (kinds[dtype]) {
    case ATOLL_DTYPE_KIND_SIGNED: return Signed;
    case ATOLL_DTYPE_KIND_BOOL:
    case ATOLL_DTYPE_KIND_UNSIGNED: return Unsigned;
    case ATOLL_DTYPE_KIND_FLOAT:
    case ATOLL_DTYPE_KIND_BRAIN: return Real;
    case ATOLL_DTYPE_KIND_COMPLEX: return Pair;
    default: return None;
    }
}

using Pairs = std::array<std::array<Loop, 4>, 4>;

template <class F, bool Ordered> constexpr Pairs pairs() {
    using I = std::int64_t;
    using U = std::uint64_t;
    using Z = Complex<double>;
    Pairs loops{};
    loops[Signed][Unsigned] = &loop<F, I, U>;
    loops[Unsigned][Signed] = &loop<F, U, I>;
    loops[Signed][Real] = &loop<F, I, double>;
    loops[Real][Signed] = &loop<F, double, I>;
    loops[Unsigned][Real] = &loop<F, U, double>;
    loops[Real][Unsigned] = &loop<F, double, U>;
    if constexpr (!Ordered) {
        loops[Signed][Pair] = &loop<F, I, Z>;
        loops[Pair][Signed] = &loop<F, Z, I>;
        loops[Unsigned][Pair] = &loop<F, U, Z>;
        loops[Pair][Unsigned] = &loop<F, Z, U>;
    }
    return loops;
}

constexpr Pairs equal_loops = pairs<equal, false>();
constexpr Pairs not_equal_loops = pairs<not_equal, false>();
constexpr Pairs less_loops = pairs<less, true>();
constexpr Pairs less_equal_loops = pairs<less_equal, true>();
constexpr Pairs greater_loops = pairs<greater, true>();
constexpr Pairs greater_equal_loops = pairs<greater_equal, true>();

bool long_integer(std::uint32_t dtype) {
    return dtype == ATOLL_DTYPE_INT64 || dtype == ATOLL_DTYPE_UINT64;
}

} // namespace

std::uint32_t exact_dtype(std::uint32_t dtype) {
    constexpr std::uint32_t dtypes[] = {ATOLL_DTYPE_INT64, ATOLL_DTYPE_UINT64, ATOLL_DTYPE_FLOAT64,
                                        ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_NONE};
    return dtypes[class_of(dtype)];
}

Loop exact_loop(std::uint32_t function, std::uint32_t dtype, std::uint32_t a, std::uint32_t b) {
    if (!(ATOLL_DOMAIN_FLOATING >> dtype & 1) || !(long_integer(a) || long_integer(b)))
        return nullptr;
    const Class from = class_of(a), to = class_of(b);
    if (from == None || to == None) return nullptr;
    switch (function) {
    case ATOLL_FN_equal: return equal_loops[from][to];
    case ATOLL_FN_not_equal: return not_equal_loops[from][to];
    case ATOLL_FN_less: return less_loops[from][to];
    case ATOLL_FN_less_equal: return less_equal_loops[from][to];
    case ATOLL_FN_greater: return greater_loops[from][to];
    case ATOLL_FN_greater_equal: return greater_equal_loops[from][to];
    default: return nullptr;
    }
}

} // namespace Atoll::kernels
