// Sums of integers as they are stored, by loops in which the compiler widens while it adds.
#include "joined_groups.h"
#include "reducer_loops.h"

namespace Atoll::kernels {
namespace {

// Of T, which is narrower than 64 bits.
template <class T> struct SumOfIntegers {
    using A = std::uint64_t; // modulo 2^64, whatever the sign
    // Holds the sum of up to `several` elements.
    using Several = std::conditional_t<sizeof(T) < 4, std::int32_t, std::int64_t>;
    static constexpr std::int64_t several = 1 << 15;
    struct State {
        static A start() { return 0; }
        static A combine(A a, A b, const Given &) { return a + b; }
        static A result(A a, const Given &) { return a; }
    };
    using Loops = PlainLoops<SumOfIntegers, A, T, State>;

    static Several value(T x) {
        if constexpr (is_bool<T>)
            return truth(x);
        else
            return static_cast<Several>(x);
    }
    static A take(A a, T x, const Given &) { return a + static_cast<A>(value(x)); }
    static void block(std::int64_t n, const char *in, const Given &, char *accumulator) {
        const T *x = elements_of<T>(in);
        A sum = *Loops::acc(accumulator);
        for (std::int64_t k = 0; k < n;) {
            Several part = 0;
            for (const std::int64_t end = std::min(n, k + several); k < end; ++k)
                part += value(x[k]);
            sum += static_cast<A>(part);
        }
        *Loops::acc(accumulator) = sum;
    }
    static void many_rows(std::int64_t n, const char *const *in, const Given &,
                          char *accumulators) {
        static_assert(rows_taken == 8);
        const auto row = [&](int i) { return elements_of<T>(in[i]); };
        const T *const x0 = row(0), *const x1 = row(1), *const x2 = row(2), *const x3 = row(3);
        const T *const x4 = row(4), *const x5 = row(5), *const x6 = row(6), *const x7 = row(7);
        A *a = Loops::acc(accumulators);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            Several sum = 0;
            for (const T x : {x0[k], x1[k], x2[k], x3[k], x4[k], x5[k], x6[k], x7[k]})
                sum += value(x);
            a[k] += static_cast<A>(sum);
        }
    }
    static void groups(std::int64_t n, std::int64_t rows, const char *in, std::int64_t stride,
                       const Given &, char *groups) {
        using Wide = Vector<A>;
        constexpr int width = lanes<A>, vectors = static_cast<int>(group_bytes / sizeof(Wide));
        using Elements = VectorN<T, width>;
        for (std::int64_t row = 0; row < rows; ++row) {
            const T *const x = elements_of<T>(in + row * stride);
            Wide sums[vectors] = {};
            const auto add = [&](Elements v, int c) {
                sums[c] += __builtin_convertvector(v, Wide);
            };
            std::int64_t k = 0;
            for (; k + vectors * width <= n; k += vectors * width)
                for (int c = 0; c < vectors; ++c) add(load_lanes<Elements>(x + k + c * width), c);
            for (int c = 0; k < n; k += width, ++c) add(load_first<Elements>(n - k, x + k), c);
            std::memcpy(groups + row * group_bytes, sums, sizeof sums);
        }
    }
    static void fold_groups(std::int64_t n, const char *groups, char *accumulators) {
        JoinedGroups<typename Lanes<A>::Vector, A>::join(n, groups, accumulators,
                                                         [](auto a, auto b) { return a + b; });
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.many_rows = &many_rows;
        if constexpr (sizeof(T) == 4) { // of narrower ones GCC 12 makes no vectors of 64 bits
            r.groups = &groups;
            r.fold_groups = &fold_groups;
        }
        return r;
    }
};

// The same with another end.
template <class T> struct MeanOfIntegers {
    struct State : SumOfIntegers<T>::State {
        static double result(std::uint64_t sum, const Given &given) {
            const double n = static_cast<double>(given.count);
            if constexpr (std::is_signed_v<T>)
                return static_cast<double>(static_cast<std::int64_t>(sum)) / n;
            else
                return static_cast<double>(sum) / n;
        }
    };
    static constexpr Reducer reducer() {
        Reducer r = SumOfIntegers<T>::reducer();
        AccumulatorLoops<State, std::uint64_t>::set_finish(r);
        return r;
    }
};

template <template <class> class Make> constexpr StoredRow stored_row() {
    StoredRow row{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if constexpr (sizeof(wide::identifier) < 8 && !is_float<Part<wide::identifier>>)               \
        row[id] = &reducer_of<Make<wide::identifier>>;
#include "atoll/lists/dtypes.inc"
    return row;
}

} // namespace

namespace reducers {
constinit const StoredRow sums_of_integers = stored_row<SumOfIntegers>();
constinit const StoredRow means_of_integers = stored_row<MeanOfIntegers>();
} // namespace reducers

} // namespace Atoll::kernels
