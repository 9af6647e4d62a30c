// Sums of each number of four runs and all before it in its run, by vectors of which each lane
// has a run.
//
// Note [Runs as lanes]
// Eight elements of each run at a time are transposed in registers, on the way in and on the way
// out. Sums wait for those before them, results for the runs before theirs, so the results of one
// group of runs are written while the next one is added up: on Zen 3 0.34 ns per element in the
// caches and 0.38 from memory, where one group after the other takes 0.43 and 0.45, and runs side
// by side, number by number, 0.50 and 0.52. All add in the same order.
#pragma once

#include "interleaved.h"
#include "product_vectors.h"

namespace Atoll::kernels {

class LaneRuns {
public:
    static constexpr int runs = 4;
    // Where a vector has as many doubles.
    static constexpr bool is_there = lanes<double> == runs;
    static constexpr int step = 8; // elements of each run
    using Sums = VectorN<double, runs>;

    // The next elements of runs, of which each begins `run` elements after another, are added to
    // sums; result[4 i + r]: sum r up to element i.
    static void add(const float *x, std::int64_t run, Sums &sums, double *result) {
        Floats rows[runs];
#pragma GCC unroll 4
        for (int r = 0; r < runs; ++r) rows[r] = load_vector<Floats>(x + r * run);
        transpose_interleaving(rows); // both halves, which are squares
#pragma GCC unroll 8
        for (int i = 0; i < step; ++i) {
            const Half next = i < 4 ? part_of<4>(rows[i], std::integral_constant<int, 0>())
                                    : part_of<4>(rows[i - 4], std::integral_constant<int, 4>());
            sums += doubles(next);
            store_vector(result + runs * i, sums);
        }
    }
    // What add() gave to `sums`, with what is before each run: the results of these elements.
    template <bool streams>
    static void write(Sums before, const double *sums, float *out, std::int64_t run) {
        Floats rows[runs];
#pragma GCC unroll 4
        for (int i = 0; i < runs; ++i)
            rows[i] =
                joined(results(before, sums + runs * i), results(before, sums + runs * (i + 4)));
        transpose_interleaving(rows); // both halves, which are squares
#pragma GCC unroll 4
        for (int r = 0; r < runs; ++r) {
            if constexpr (streams)
                stream_vector(out + r * run, rows[r]);
            else
                store_vector(out + r * run, rows[r]);
        }
    }

private:
    using Floats = VectorN<float, step>;
    using Half = VectorN<float, 4>;

    static Half results(Sums before, const double *sums) {
        const Sums x = before + load_vector<Sums>(sums);
#if defined(__AVX2__)
        return _mm256_cvtpd_ps(x);
#else
        return __builtin_convertvector(x, Half);
#endif
    }
    static Sums doubles(Half x) {
#if defined(__AVX2__) // GCC 12 would convert halves of it
        return _mm256_cvtps_pd((__m128)x);
#else
        return __builtin_convertvector(x, Sums);
#endif
    }
};

} // namespace Atoll::kernels
