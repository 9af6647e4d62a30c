// Groups that rows have been folded into, folded further: in registers, several rows at a time.
#pragma once

#include "reducers.h"

#include <cstring>
#include <utility>

namespace Atoll::kernels {

// Accumulators of some lanes each, of which a group has several: neighbours are combined, then
// neighbours of these, and so on, as on every level.
template <class V, class A> class JoinedGroups {
public:
    // Accumulator i is that of group i; as many more as fill a vector are read and written. The
    // groups follow each other; combine(a, b) takes vectors.
    template <class Combine>
    static void join(std::int64_t n, const char *groups, char *accumulators, Combine &&combine) {
        for (std::int64_t k = 0; k < n; k += in_vector) {
            const V joined = of_vectors<in_group>(groups + k * group_bytes, combine);
            std::memcpy(accumulators + k * std::int64_t{sizeof(A)}, &joined, sizeof joined);
        }
    }

private:
    static constexpr int in_vector = sizeof(V) / sizeof(A), in_group = group_bytes / sizeof(A);

    // Of so many vectors, which follow each other.
    template <int count, class Combine>
    [[gnu::always_inline]] static V of_vectors(const char *p, Combine &combine) {
        if constexpr (count == 1) {
            V v;
            std::memcpy(&v, p, sizeof v);
            return v;
        } else {
            constexpr int half = count / 2;
            const V a = of_vectors<half>(p, combine),
                    b = of_vectors<half>(p + half * std::int64_t{sizeof(V)}, combine);
            return combine(every_second<0>(a, b), every_second<1>(a, b));
        }
    }
    // Accumulators of a, then of b.
    template <int first> static V every_second(V a, V b) {
        constexpr int lanes = sizeof(V) / sizeof(V{}[0]), unit = lanes / in_vector;
        return [&]<int... k>(std::integer_sequence<int, k...>) {
            return __builtin_shufflevector(a, b, ((k / unit * 2 + first) * unit + k % unit)...);
        }
        (std::make_integer_sequence<int, lanes>());
    }
};

} // namespace Atoll::kernels
