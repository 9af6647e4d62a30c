// Loops with the processor's streaming stores.
#include "streaming.h"

#include "functors/comparison.h"
#include "product_vectors.h"

#include <algorithm>
#include <limits>

namespace Atoll::kernels {
namespace {

bool gains() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

// one(k) stores an element, vector(k) a vector of them, aligned.
template <class T, class One, class Whole>
void each_vector(std::int64_t n, const char *out, One &&one, Whole &&vector) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % cache_line);
    std::int64_t k = 0;
    for (const std::int64_t head = past ? (cache_line - past) / std::int64_t{sizeof(T)} : 0;
         k < std::min(n, head); ++k)
        one(k);
    for (; k + lanes<T> <= n; k += lanes<T>) vector(k);
    for (; k < n; ++k) one(k);
}

// run(x, y, xs, ys): x(k) and y(k) are the inputs' elements, xs(k) and ys(k) vectors of them.
template <class T, class Run>
void with_inputs(char *const *data, const std::int64_t *strides, Run &&run) {
    using V = Vector<T>;
    const T *const a = at<const T>(data[1]), *const b = at<const T>(data[2]);
    const auto element = [](const T *p) { return [p](std::int64_t k) { return p[k]; }; };
    const auto whole = [](const T *p) {
        return [p](std::int64_t k) { return load_vector<V>(p + k); };
    };
    // A vector of them is v - 0: that keeps the sign of a zero.
    const auto value = [](auto v) { return [v](std::int64_t) { return v; }; };
    if (strides[1] == 0)
        run(value(*a), element(b), value(*a - V{}), whole(b));
    else if (strides[2] == 0)
        run(element(a), value(*b), whole(a), value(*b - V{}));
    else
        run(element(a), element(b), whole(a), whole(b));
}

template <class F, class T>
void arithmetic(std::int64_t n, char *const *data, const std::int64_t *strides) {
    T *const out = at<T>(data[0]);
    with_inputs<T>(data, strides, [&](auto x, auto y, auto xs, auto ys) {
        each_vector<T>(
            n, data[0], [&](std::int64_t k) { out[k] = F::apply(x(k), y(k)); },
            [&](std::int64_t k) { stream_vector(out + k, F::apply(xs(k), ys(k))); });
    });
}

template <class F, class V> auto compared(V a, V b) {
    if constexpr (std::is_same_v<F, functor::equal>) return a == b;
    if constexpr (std::is_same_v<F, functor::not_equal>) return a != b;
    if constexpr (std::is_same_v<F, functor::less>) return a < b;
    if constexpr (std::is_same_v<F, functor::less_equal>) return a <= b;
    if constexpr (std::is_same_v<F, functor::greater>) return a > b;
    if constexpr (std::is_same_v<F, functor::greater_equal>) return a >= b;
}
// `Count` results as bytes, all bits of which are set where the comparison holds.
template <class F, class T, int Count, class X, class Y>
VectorN<std::int8_t, Count> comparisons(std::int64_t k, const X &xs, const Y &ys) {
    if constexpr (Count == lanes<T>)
        return __builtin_convertvector(compared<F>(xs(k), ys(k)), VectorN<std::int8_t, Count>);
    else
        return joined(comparisons<F, T, Count / 2>(k, xs, ys),
                      comparisons<F, T, Count / 2>(k + Count / 2, xs, ys));
}
template <class F, class T>
void comparison(std::int64_t n, char *const *data, const std::int64_t *strides) {
    Bool *const out = at<Bool>(data[0]);
    with_inputs<T>(data, strides, [&](auto x, auto y, auto xs, auto ys) {
        each_vector<std::int8_t>(
            n, data[0], [&](std::int64_t k) { out[k] = Bool(compared<F>(x(k), y(k))); },
            [&](std::int64_t k) {
                stream_vector(out + k, comparisons<F, T, lanes<std::int8_t>>(k, xs, ys) & 1);
            });
    });
}

// The input may be at any address.
template <class T> void copy(std::int64_t n, char *const *data, const std::int64_t *) {
    T *const out = at<T>(data[0]);
    const char *const in = data[1];
    constexpr std::int64_t size = sizeof(T);
    each_vector<T>(
        n, data[0], [&](std::int64_t k) { out[k] = load<T>(in + k * size); },
        [&](std::int64_t k) { stream_vector(out + k, load_vector<Vector<T>>(in + k * size)); });
}

template <class T> Loop loop_of(std::uint32_t function) {
    switch (function) {
    case ATOLL_FN_add: return &arithmetic<functor::add, T>;
    case ATOLL_FN_subtract: return &arithmetic<functor::subtract, T>;
    case ATOLL_FN_multiply: return &arithmetic<functor::multiply, T>;
    default: return nullptr;
    }
}
template <class T> Loop loop_of_floats(std::uint32_t function) {
    switch (function) {
    case ATOLL_FN_divide: return &arithmetic<functor::divide, T>;
    case ATOLL_FN_equal: return &comparison<functor::equal, T>;
    case ATOLL_FN_not_equal: return &comparison<functor::not_equal, T>;
    case ATOLL_FN_less: return &comparison<functor::less, T>;
    case ATOLL_FN_less_equal: return &comparison<functor::less_equal, T>;
    case ATOLL_FN_greater: return &comparison<functor::greater, T>;
    case ATOLL_FN_greater_equal: return &comparison<functor::greater_equal, T>;
    default: return loop_of<T>(function);
    }
}

} // namespace

LargeBytes &large_bytes() {
    constexpr std::int64_t mebibyte = 1 << 20, never = std::numeric_limits<std::int64_t>::max();
    static LargeBytes bytes = gains() ? LargeBytes{24 * mebibyte, 36 * mebibyte, 12 * mebibyte}
                                      : LargeBytes{never, never, 12 * mebibyte};
    return bytes;
}

Loop streamed_loop(std::uint32_t function, std::uint32_t dtype) {
    switch (dtype) {
    case ATOLL_DTYPE_FLOAT32: return loop_of_floats<float>(function);
    case ATOLL_DTYPE_FLOAT64: return loop_of_floats<double>(function);
    // Their bits are the same for both signs.
    case ATOLL_DTYPE_INT8:
    case ATOLL_DTYPE_UINT8: return loop_of<std::uint8_t>(function);
    case ATOLL_DTYPE_INT16:
    case ATOLL_DTYPE_UINT16: return loop_of<std::uint16_t>(function);
    case ATOLL_DTYPE_INT32:
    case ATOLL_DTYPE_UINT32: return loop_of<std::uint32_t>(function);
    case ATOLL_DTYPE_INT64:
    case ATOLL_DTYPE_UINT64: return loop_of<std::uint64_t>(function);
    default: return nullptr;
    }
}

Loop streamed_copy(std::int64_t size) {
    switch (size) {
    case 1: return &copy<std::uint8_t>;
    case 2: return &copy<std::uint16_t>;
    case 4: return &copy<std::uint32_t>;
    case 8: return &copy<std::uint64_t>;
    default: return nullptr;
    }
}

void stream_lines(std::int64_t count, char *to, std::int64_t stride, const char *lines) {
    for (std::int64_t k = 0; k < count; ++k)
        for (int part = 0; part < cache_line; part += vector_bytes)
            stream_vector(to + k * stride + part,
                          load_vector<Vector<std::uint8_t>>(lines + k * cache_line + part));
}

void finish_streaming() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

} // namespace Atoll::kernels
