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
                .computed = {16 * mebibyte, 16 * mebibyte, 4096, 32, 0, false, 4 * mebibyte},
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

// vector(k) stores the vector of elements from k on.
template <class T, class Store> void each_vector(std::int64_t n, Store &&vector) {
    constexpr std::int64_t of_line = cache_line / std::int64_t{sizeof(T)};
    for (std::int64_t k = 0; k < n; k += of_line)
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < of_line; v += lanes<T>) vector(k + v);
}

// An input of which every second element is taken, or every one, or one for all.
template <class T> class Spread {
public:
    Spread(const char *data, std::int64_t stride)
        : data_(reinterpret_cast<const T *>(data)), every_second_(stride == 2 * sizeof(T)),
          others_(data, stride) {}

    Vector<T> vector(std::int64_t k) const {
        if (!every_second_) return load_vector<Vector<T>>(others_.from(k));
        // What is behind the last element is not read.
        const T *const first = data_ + 2 * k;
        return taken(load_vector<Vector<T>>(first), load_vector<Vector<T>>(first + lanes<T> - 1),
                     std::make_integer_sequence<int, lanes<T>>());
    }

private:
    template <int... i>
    static Vector<T> taken(Vector<T> a, Vector<T> b, std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(a, b, (2 * i < lanes<T> ? 2 * i : 2 * i + 1)...);
    }
    const T *const data_;
    const bool every_second_;
    const Inputs<T> others_;
};

template <class F, class T>
void arithmetic(std::int64_t n, char *const *data, const std::int64_t *strides) {
    T *const out = at<T>(data[0]);
    const auto stores = [&](const auto &a, const auto &b) {
        each_vector<T>(n, [&](std::int64_t k) { stream_vector(out + k, F::apply(a(k), b(k))); });
    };
    const auto dense = [&](int operand) {
        const T *const first = at<const T>(data[operand]);
        return [first](std::int64_t k) { return load_vector<Vector<T>>(first + k); };
    };
    const auto same = [&](int operand) {
        const Vector<T> value = *at<const T>(data[operand]) - Vector<T>{}; // -0 stays
        return [value](std::int64_t) { return value; };
    };
    const auto is_dense = [&](int operand) { return strides[operand] == sizeof(T); };
    // The fewer the instructions, the further ahead the processor reads.
    if (is_dense(1) && is_dense(2)) return stores(dense(1), dense(2));
    if (is_dense(1) && strides[2] == 0) return stores(dense(1), same(2));
    if (strides[1] == 0 && is_dense(2)) return stores(same(1), dense(2));
    const Spread<T> a(data[1], strides[1]), b(data[2], strides[2]);
    stores([&](std::int64_t k) { return a.vector(k); },
           [&](std::int64_t k) { return b.vector(k); });
}

template <class F, class T>
void comparison(std::int64_t n, char *const *data, const std::int64_t *strides) {
    Bool *const out = at<Bool>(data[0]);
    const Inputs<T> a(data[1], strides[1]), b(data[2], strides[2]);
    const bool fetches = large_operands().fetched_ahead;
    each_vector<std::int8_t>(n, [&](std::int64_t k) {
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
    each_vector<T>(n, [&](std::int64_t k) {
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

void finish_streaming() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

} // namespace Atoll::kernels
