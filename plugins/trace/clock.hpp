// The tracer's clock: the processor's cycle counter where it is steady, clock_gettime elsewhere.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace Atoll::tracing {

// The time of both clocks at one moment; ns are those of CLOCK_MONOTONIC.
struct ClockSample {
    std::uint64_t ticks, ns;
};

// Counts ticks, whose length is determined only at the end (ns_per_tick), when enough time has
// passed. So the hot path costs one rdtsc, a third of a clock_gettime, and no arithmetic.
class Clock {
public:
    Clock() : steady_counter_(has_steady_counter()), start_(sample()) {}

    std::uint64_t now() const noexcept {
#if defined(__x86_64__)
        if (steady_counter_) [[likely]]
            return __rdtsc();
#endif
        return monotonic_ns();
    }

    // Nanoseconds since construction.
    std::uint64_t elapsed_ns() const noexcept { return monotonic_ns() - start_.ns; }

    // Waits, if it must, until 2 ms have passed since construction: a pair of readings is good to
    // some tens of nanoseconds, so the result is good to about 1e-4 at worst.
    double ns_per_tick() const noexcept {
        if (!steady_counter_) return 1.0;
        while (elapsed_ns() < 2'000'000) {
        }
        const ClockSample end = sample();
        const double ticks = static_cast<double>(end.ticks - start_.ticks);
        return ticks > 0 ? static_cast<double>(end.ns - start_.ns) / ticks : 1.0;
    }

    // Both clocks at one moment: the tightest of some tries, since a thread may be preempted
    // between the readings.
    ClockSample sample() const noexcept {
        ClockSample best{};
        std::uint64_t width = ~std::uint64_t{0};
        for (int attempt = 0; attempt < 8; ++attempt) {
            const std::uint64_t before = now(), ns = monotonic_ns(), after = now();
            if (after - before < width) {
                width = after - before;
                best = {before + width / 2, ns};
            }
        }
        return best;
    }

private:
    static std::uint64_t monotonic_ns() noexcept {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
               static_cast<std::uint64_t>(time.tv_nsec);
    }

    // CPUID 0x80000007, EDX bit 8: the counter runs at one rate in every power state and core.
    static bool has_steady_counter() noexcept {
#if defined(__x86_64__)
        unsigned a = 0, b = 0, c = 0, d = 0;
        return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
#else
        return false;
#endif
    }

    bool steady_counter_;
    ClockSample start_;
};

} // namespace Atoll::tracing
