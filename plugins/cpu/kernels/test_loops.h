// Loops of functors with a test() (functors/comparison.h): dense elements are asked as vectors, and
// masks of all widths become bytes. GCC's own vectors of such loops are several times the code.
#pragma once

#include "functors/comparison.h"
#include "loops.h"
#include "product_vectors.h"

#include <algorithm>

namespace Atoll::kernels {

using Bytes = Vector<std::int8_t>;

// Masks as masks of half as many bytes: a mask of a wider element is several of 16 bits. x86 packs
// them lane by lane (of 16 bytes), in one instruction; in_order() makes that good.
template <class V> Bytes packed(V low, V high) {
#if defined(__AVX512BW__)
    return (Bytes)_mm512_packs_epi16((__m512i)low, (__m512i)high);
#elif defined(__AVX2__)
    return (Bytes)_mm256_packs_epi16((__m256i)low, (__m256i)high);
#elif defined(__SSE2__)
    return (Bytes)_mm_packs_epi16((__m128i)low, (__m128i)high);
#else
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return __builtin_shufflevector((Bytes)low, (Bytes)high, 2 * i...);
    }
    (std::make_integer_sequence<int, lanes<std::int8_t>>());
#endif
}
// Bytes that were packed from elements of `bytes` bytes: 16 bytes of each vector have become `run`
// bytes, and follow those of the other vectors.
template <int bytes> Bytes in_order(Bytes v) {
    [[maybe_unused]] constexpr int run = 16 / bytes, sources = vector_bytes / 16;
#if defined(__AVX2__)
    if constexpr (bytes > 1) return [&]<int... i>(std::integer_sequence<int, i...>) {
            return __builtin_shufflevector(
                v, v, (i / run % sources * 16 + i / run / sources * run + i % run)...);
        }
    (std::make_integer_sequence<int, vector_bytes>());
#endif
    return v;
}

// Masks of `count` elements of T as one vector: ask(k) gives those of a vector from element k on.
template <class T, int count, class Ask> auto packed_masks(std::int64_t k, const Ask &ask) {
    if constexpr (count == lanes<T>)
        return (Bytes)ask(k);
    else
        return packed(packed_masks<T, count / 2>(k, ask),
                      packed_masks<T, count / 2>(k + count / 2, ask));
}

inline constexpr int answers_at_once = lanes<std::int8_t>;

// The same as bytes, in order.
template <class T, class Ask> Bytes byte_masks(std::int64_t k, const Ask &ask) {
    return in_order<sizeof(T)>(packed_masks<T, answers_at_once>(k, ask));
}
// Of complex elements, asked about their parts: whether both pass, or one does.
template <class Part, bool both, class Ask> Bytes byte_masks_of_pairs(const Ask &ask) {
    const auto joined = [&](std::int64_t first) {
        const auto pairs = (Vector<std::int16_t>)byte_masks<Part>(first, ask);
        return both ? pairs == -1 : pairs != 0;
    };
    return in_order<2>(packed(joined(0), joined(answers_at_once)));
}

// The results for so many elements of each input.
template <class F, class T, class... Ts> Bytes answers(const Ts *...inputs) {
    using E = Element<Part<T>>;
    const auto truth = [](const T *input) {
        return [x = reinterpret_cast<const E *>(input)](std::int64_t k) {
            return load_vector<Vector<E>>(x + k) != 0;
        };
    };
    const auto test = [&](std::int64_t k) {
        if constexpr (is_bool<T>)
            return F::test((Vector<E>)truth(inputs)(k)...);
        else if constexpr (F::of_truths)
            return F::test(truth(inputs)(k)...);
        else
            return F::test(load_vector<Vector<E>>(reinterpret_cast<const E *>(inputs) + k)...);
    };
    Bytes passed;
    if constexpr (is_complex<T> && F::of_truths)
        passed = (Bytes)F::test(byte_masks_of_pairs<E, false>(truth(inputs))...);
    else if constexpr (is_complex<T>)
        passed = byte_masks_of_pairs<E, F::both_parts>(test);
    else
        passed = byte_masks<E>(0, test);
    return passed & 1;
}

// Elements of an input, `answers_at_once` after another: dense ones, or one value over and over.
template <class T> class Inputs {
public:
    Inputs(const char *data, std::int64_t stride) : first_(reinterpret_cast<const T *>(data)) {
        if (stride) return;
        std::fill_n(same_, answers_at_once, *first_);
        first_ = same_;
        mask_ = 0;
    }
    Inputs(const Inputs &) = delete;
    Inputs &operator=(const Inputs &) = delete;

    const T *from(std::int64_t k) const { return first_ + (k & mask_); }

private:
    const T *first_;
    std::int64_t mask_ = -1;
    alignas(vector_bytes) T same_[answers_at_once];
};

// Stores at(k), vectors of `count` elements of so many bytes, for k < n, which is no less.
template <class At>
void store_vectors(std::int64_t n, std::int64_t count, std::int64_t size, char *out, const At &at) {
    const std::int64_t last = n - count;
    const auto rest = at(last); // before what is stored may change it
    for (std::int64_t k = 0; k < last; k += count) store_vector(out + k * size, at(k));
    store_vector(out + last * size, rest);
}

template <int Count, class F, class T>
void test_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    if (n >= answers_at_once && strides[0] == 1 && dense_or_same<T>(strides[1]) &&
        dense_or_same<T>(strides[Count])) {
        const auto run = [out = data[0], n](const auto &at) {
            store_vectors(n, answers_at_once, 1, out, at);
        };
        const Inputs<T> a(data[1], strides[1]);
        if constexpr (Count == 1) {
            run([&](std::int64_t k) { return answers<F, T>(a.from(k)); });
        } else {
            const Inputs<T> b(data[2], strides[2]);
            run([&](std::int64_t k) { return answers<F, T>(a.from(k), b.from(k)); });
        }
    } else if constexpr (Count == 1) {
        unary_loop<F, T>(n, data, strides);
    } else {
        binary_loop<F, T>(n, data, strides);
    }
}

} // namespace Atoll::kernels
