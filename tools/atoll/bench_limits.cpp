// Rows of `atoll bench` that use nothing of Atoll but its memory: what the machine allows.
#include "bench_work.hpp"

#include <algorithm>
#include <span>
#include <thread>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace Atoll::tools {

namespace {

using Floats = std::span<const float>;

// out = b + 3 c, as STREAM's triad. Elements [begin, end), both multiples of 4; past the caches
// where the compiler's instructions have that, as what is written need not be read then.
void triad(std::span<float> out, Floats b, Floats c, std::size_t begin, std::size_t end) {
#if defined(__SSE2__)
    const __m128 three = _mm_set1_ps(3);
    for (std::size_t k = begin; k < end; k += 4)
        _mm_stream_ps(&out[k],
                      _mm_add_ps(_mm_load_ps(&b[k]), _mm_mul_ps(three, _mm_load_ps(&c[k]))));
    _mm_sfence();
#else
    for (std::size_t k = begin; k < end; ++k) out[k] = b[k] + 3 * c[k];
#endif
}

Work triads(Device device, unsigned threads) {
    constexpr std::int64_t elements = 10'000'000;
    const Tensor out = empty({elements}, {float32, device}),
                 b = random({elements}, float32, device), c = random({elements}, float32, device);
    try {
        out.host_span<float>();
    } catch (const Error &) {
        throw Error(Status::not_supported, "bench", "measured in host memory only");
    }
    const auto part = [=](unsigned number, std::int64_t repeats) {
        const std::span<float> to = out.host_span<float>();
        const Floats x = b.host_span<const float>(), y = c.host_span<const float>();
        const std::size_t share = (to.size() / threads + 3) / 4 * 4;
        const std::size_t begin = std::min(to.size(), share * number),
                          end = std::min(to.size(), begin + share);
        for (; repeats > 0; --repeats) triad(to, x, y, begin, end);
    };
    return {[=](std::int64_t repeats) {
                std::vector<std::jthread> others;
                for (unsigned i = 1; i < threads; ++i)
                    others.emplace_back([=] { part(i, repeats); });
                part(0, repeats);
            },
            [=] {
                for (unsigned i = 0; i < threads; ++i) part(i, 1);
                return out;
            },
            3 * bytes_of(out), 0};
}

} // namespace

std::vector<BenchRow> limit_rows() {
    return {
        {"b1",
         "triad: b + 3 c, 10 M float32, a plain loop on one thread",
         {},
         [](Device d) { return triads(d, 1); }},
        {"b2",
         "b1 on every processor",
         {},
         [](Device d) { return triads(d, std::max(1U, std::thread::hardware_concurrency())); }},
    };
}

} // namespace Atoll::tools
