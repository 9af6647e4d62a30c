// Sums of each number of a short run and all before it, by vectors.
//
// Note [Sums of runs]
// To each element of the second half of a block the last sum of its first half is added, for blocks
// of 2, 4, 8 and so on, first within vectors and then of whole ones. The width of vectors does not
// matter. Sums of numbers that are not negative do not fall: of two neighbours the second one's
// sum is that of the first plus a number, or both are the same number plus sums of a shorter run.
#pragma once

#include "product_vectors.h"

namespace Atoll::kernels {

// Elements of `parts` numbers each, which are summed part by part.
template <class T, int parts> class RunSums {
public:
    using V = Vector<T>;
    static constexpr int width = lanes<T>; // numbers

    // v: the numbers of a run, a power of two of vectors.
    template <int vectors> [[gnu::always_inline]] static void run(V (&v)[vectors]) {
#pragma GCC unroll 16
        for (int i = 0; i < vectors; ++i) v[i] = within<parts>(v[i]);
#pragma GCC unroll 4
        for (int half = 1; half < vectors; half *= 2) {
#pragma GCC unroll 16
            for (int i = 0; i < vectors; ++i)
                if (i & half) v[i] += last_of(v[i / half * half - 1]);
        }
    }

private:
    using Mask = Vector<std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>>;
    using Every = std::make_integer_sequence<int, width>;

    // Blocks of 2 `half` numbers and wider ones.
    template <int half> static V within(V v) {
        if constexpr (half == width)
            return v;
        else
            return within<2 * half>(with_first_half<half>(v, Every()));
    }
    template <int half, int... i> static V with_first_half(V v, std::integer_sequence<int, i...>) {
        const V sums = v + __builtin_shufflevector(
                               v, v, (i / (2 * half) * (2 * half) + half - parts + i % parts)...);
        // Compilers have masks for it, where they would take a shuffle for a shuffle.
        return Mask{(i & half ? -1 : 0)...} ? sums : v;
    }
    static V last_of(V v) {
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return __builtin_shufflevector(v, v, (width - parts + i % parts)...);
        }
        (Every());
    }
};

} // namespace Atoll::kernels
