// Loops with the processor's streaming stores.
#include "streaming.h"

#include "fetch.h"
#include "test_loops.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace Atoll::kernels {
namespace {

// What was fastest on the processors nearest to this one.
LargeOperands measured() {
    constexpr std::int64_t mebibyte = 1 << 20;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_is("amdfam17h")) // Zen's first two generations
        return {.alone = 24 * mebibyte,
                .shared = 24 * mebibyte,
                .copied = {36 * mebibyte, 12 * mebibyte, 32, 1, 1, false},
                .computed = {24 * mebibyte, 12 * mebibyte, 128, 2, 1, false},
                .fetched_ahead = true};
    if (__builtin_cpu_is("znver3"))
        return {.alone = 24 * mebibyte,
                .shared = 36 * mebibyte,
                .copied = {16 * mebibyte, 16 * mebibyte, 48, 1, 1, false},
                .computed = {16 * mebibyte, 16 * mebibyte, 8, 4, 1, true},
                .fetched_ahead = false,
                .scans_stream = true,
                .two_streams = true,
                .by_lines = true,
                .products = 24 * mebibyte};
    if (__builtin_cpu_is("amdfam19h")) // Zen 4
        return {.alone = 24 * mebibyte,
                .shared = 36 * mebibyte,
                .copied = {16 * mebibyte, 16 * mebibyte, 12, 2, 2, false},
                .computed = {16 * mebibyte, 16 * mebibyte, 16, 1, 2, true},
                .fetched_ahead = true};
    if (__builtin_cpu_is("amd")) // others, measured on Zen 5
        return {.alone = 24 * mebibyte,
                .shared = 36 * mebibyte,
                .copied = {16 * mebibyte, 16 * mebibyte, 6, 3, 2, false},
                .computed = {16 * mebibyte, 16 * mebibyte, 10, 1, 2, true},
                .fetched_ahead = false};
#endif
    // All others, measured on Sapphire and Emerald Rapids
    return {.alone = 24 * mebibyte,
            .shared = 36 * mebibyte,
            .copied = {4 * mebibyte, 4 * mebibyte, 4, 4, 1, false},
            .computed = {36 * mebibyte, 12 * mebibyte, 32, 2, 1, true},
            .narrow = 12 * mebibyte,
            .streams_math = false,
            .fetched_ahead = true,
            .scans_stream = true,
            .scans_shared = true,
            .two_streams = true,
            .paced = 16 * mebibyte};
}

// one(k) stores an element, vector(k) a vector of them, aligned, for which it may read `beyond`
// elements more than it stores.
template <class T, int beyond = 0, class One, class Whole>
void each_vector(std::int64_t n, const char *out, One &&one, Whole &&vector) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % cache_line);
    std::int64_t k = 0;
    for (const std::int64_t head = past ? (cache_line - past) / std::int64_t{sizeof(T)} : 0;
         k < std::min(n, head); ++k)
        one(k);
    for (; k + lanes<T> + beyond <= n; k += lanes<T>) vector(k);
    for (; k < n; ++k) one(k);
}

// An input of which every second element is taken, or every one, or one for all.
template <class T> class Spread {
public:
    Spread(const char *data, std::int64_t stride)
        : data_(data), stride_(stride), every_second_(stride == 2 * sizeof(T)),
          others_(data, stride) {}

    const T &one(std::int64_t k) const { return *reinterpret_cast<const T *>(data_ + k * stride_); }
    // Reads what is between its elements and after the last one, too.
    Vector<T> vector(std::int64_t k) const {
        if (!every_second_) return load_vector<Vector<T>>(others_.from(k));
        const T *const first = &one(k);
        return taken(load_vector<Vector<T>>(first), load_vector<Vector<T>>(first + lanes<T>),
                     std::make_integer_sequence<int, lanes<T>>());
    }

private:
    template <int... i>
    static Vector<T> taken(Vector<T> a, Vector<T> b, std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(a, b, 2 * i...);
    }
    const char *const data_;
    const std::int64_t stride_;
    const bool every_second_;
    const Inputs<T> others_;
};

template <class F, class T>
void arithmetic(std::int64_t n, char *const *data, const std::int64_t *strides) {
    T *const out = at<T>(data[0]);
    if (dense_or_same<T>(strides[1]) && dense_or_same<T>(strides[2])) {
        const Inputs<T> a(data[1], strides[1]), b(data[2], strides[2]);
        return each_vector<T>(
            n, data[0], [&](std::int64_t k) { out[k] = F::apply(*a.from(k), *b.from(k)); },
            [&](std::int64_t k) {
                stream_vector(out + k, F::apply(load_vector<Vector<T>>(a.from(k)),
                                                load_vector<Vector<T>>(b.from(k))));
            });
    }
    const Spread<T> a(data[1], strides[1]), b(data[2], strides[2]);
    each_vector<T, 1>(
        n, data[0], [&](std::int64_t k) { out[k] = F::apply(a.one(k), b.one(k)); },
        [&](std::int64_t k) { stream_vector(out + k, F::apply(a.vector(k), b.vector(k))); });
}

template <class F, class T>
void comparison(std::int64_t n, char *const *data, const std::int64_t *strides) {
    Bool *const out = at<Bool>(data[0]);
    const Inputs<T> a(data[1], strides[1]), b(data[2], strides[2]);
    const bool fetches = large_operands().fetched_ahead;
    each_vector<std::int8_t>(
        n, data[0], [&](std::int64_t k) { out[k] = F::apply(*a.from(k), *b.from(k)); },
        [&](std::int64_t k) {
            constexpr int lines = lanes<std::int8_t> * sizeof(T) / cache_line;
            if (fetches) {
                fetch_ahead<lines>(a.from(k));
                fetch_ahead<lines>(b.from(k));
            }
            stream_vector(out + k, answers<F, T>(a.from(k), b.from(k)));
        });
}

// `where`, of the elements' bits.
template <class T> void selection(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using V = Vector<T>;
    using Bits = decltype(V{} == V{});
    T *const out = at<T>(data[0]);
    const Inputs<std::int8_t> mask(data[1], strides[1]);
    const Inputs<T> a(data[2], strides[2]), b(data[3], strides[3]);
    each_vector<T>(
        n, data[0],
        [&](std::int64_t k) { std::memcpy(out + k, (*mask.from(k) ? a : b).from(k), sizeof(T)); },
        [&](std::int64_t k) {
            const auto chosen = load_vector<VectorN<std::int8_t, lanes<T>>>(mask.from(k)) != 0;
            const auto bits = __builtin_convertvector(chosen, Bits);
            const auto x = load_vector<Bits>(a.from(k)), y = load_vector<Bits>(b.from(k));
            stream_vector(out + k, y ^ ((x ^ y) & bits));
        });
}

template <class T> Loop loop_of(std::uint32_t function) {
    switch (function) {
    case ATOLL_FN_where: return &selection<T>;
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
    case ATOLL_FN_greater: return &exchanged_loop<&comparison<functor::less, T>>;
    case ATOLL_FN_greater_equal: return &exchanged_loop<&comparison<functor::less_equal, T>>;
    default: return loop_of<T>(function);
    }
}

} // namespace

LargeOperands &large_operands() {
    static LargeOperands large = [&] {
        LargeOperands own = measured();
#if !defined(__x86_64__) // no stores past the caches
        own.alone = own.shared = own.copied.streamed = own.computed.streamed =
            std::numeric_limits<std::int64_t>::max();
#endif
        return own;
    }();
    return large;
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

bool streams_every_second(std::uint32_t function, std::uint32_t dtype) {
    return sizes[dtype] >= 4 && (function == ATOLL_FN_add || function == ATOLL_FN_subtract ||
                                 function == ATOLL_FN_multiply || function == ATOLL_FN_divide);
}

void stream(std::int64_t bytes, char *to, const char *from) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % cache_line);
    std::int64_t k = past ? std::min(bytes, cache_line - past) : 0;
    if (k) std::memcpy(to, from, static_cast<std::size_t>(k));
    for (; k + vector_bytes <= bytes; k += vector_bytes)
        stream_vector(to + k, load_vector<Vector<std::uint8_t>>(from + k));
    if (k < bytes) std::memcpy(to + k, from + k, static_cast<std::size_t>(bytes - k));
}

void finish_streaming() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

} // namespace Atoll::kernels
