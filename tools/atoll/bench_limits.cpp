// Rows of `atoll bench` that other rows cannot beat: plain loops, which use nothing of Atoll but
// its memory, and calls straight to a kernel.
#include "bench_work.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

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

// The sum of elements [begin, end), both multiples of 32.
float total(Floats x, std::size_t begin, std::size_t end) {
#if defined(__SSE2__)
    constexpr std::size_t chains = 8; // additions at a time
    __m128 sums[chains];
    for (__m128 &sum : sums) sum = _mm_setzero_ps();
    for (std::size_t k = begin; k < end; k += 4 * chains)
#pragma GCC unroll 8
        for (std::size_t c = 0; c < chains; ++c)
            sums[c] = _mm_add_ps(sums[c], _mm_load_ps(&x[k + 4 * c]));
    for (std::size_t c = 1; c < chains; ++c) sums[0] = _mm_add_ps(sums[0], sums[c]);
    float lanes[4];
    _mm_storeu_ps(lanes, sums[0]);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
#else
    float sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += x[k];
    return sum;
#endif
}

// A plain loop: part(begin, end) for a share of `elements` on each thread. `out`: the result.
template <class Part> Work plain_loop(std::size_t elements, unsigned threads, double bytes,
                                      const Tensor &out, Part part) {
    try {
        out.host_span<float>();
    } catch (const Error &) {
        throw Error(Status::not_supported, "bench", "measured in host memory only");
    }
    const auto run = [=](unsigned number, std::int64_t repeats) {
        const std::size_t share = (elements / threads + 31) / 32 * 32;
        const std::size_t begin = std::min(elements, share * number),
                          end = std::min(elements, begin + share);
        for (; repeats > 0; --repeats) part(number, begin, end);
    };
    return {[=](std::int64_t repeats) {
                on_threads(threads, [&](unsigned number) { run(number, repeats); });
            },
            [=] {
                for (unsigned i = 0; i < threads; ++i) run(i, 1);
                return out;
            },
            bytes, 0};
}

Work triads(Device device, unsigned threads) {
    constexpr std::int64_t elements = 10'000'000;
    const Tensor out = empty({elements}, {float32, device}),
                 b = random({elements}, float32, device), c = random({elements}, float32, device);
    return plain_loop(elements, threads, 3 * bytes_of(out), out,
                      [=](unsigned, std::size_t begin, std::size_t end) {
                          triad(out.host_span<float>(), b.host_span<const float>(),
                                c.host_span<const float>(), begin, end);
                      });
}

// As many elements as r3 has. A total of each thread is the result.
Work totals(Device device, unsigned threads) {
    constexpr std::int64_t elements = 16'000'000;
    const Tensor x = random({elements}, float32, device),
                 out = empty({std::int64_t{threads}}, {float32, device});
    return plain_loop(elements, threads, bytes_of(x), out,
                      [=](unsigned number, std::size_t begin, std::size_t end) {
                          out.host_span<float>()[number] =
                              total(x.host_span<const float>(), begin, end);
                      });
}

// A call of `out = a + b`: copies of its arrays, and of the link at its end, the kernel.
struct Recorded {
    Tensor a, b, out;
    atoll_link link{};
    atoll_call call{};
    std::vector<std::int64_t> shape, strides;
    std::vector<atoll_operand> operands;

    static std::int32_t record(const atoll_link *self, atoll_call *call) {
        static_cast<Recorded *>(self->ctx)->keep(*self->next, *call);
        return self->next->fn(self->next, call);
    }

private:
    void keep(const atoll_link &next, const atoll_call &original) {
        link = next;
        call = original;
        shape.assign(call.shape, call.shape + call.rank);
        operands.assign(call.operands, call.operands + call.operand_count);
        strides.clear();
        for (const atoll_operand &o : operands)
            strides.insert(strides.end(), o.strides, o.strides + call.rank);
        for (std::size_t o = 0; o < operands.size(); ++o)
            operands[o].strides = strides.data() + o * call.rank;
        call.shape = shape.data();
        call.operands = operands.data();
        call.attributes = nullptr;
    }
};

// The kernel of a + b into a result that exists, called without the core: no checks, no interposer,
// no search for an implementation. It is the kernel of when this is made: rows of it are about no
// function, so that nothing is compared with a plugin that replaces `add` later.
Work straight_to_kernel(Device device, std::int64_t elements) {
    const auto recorded = std::make_shared<Recorded>();
    recorded->a = random({elements}, float32, device);
    recorded->b = random({elements}, float32, device);
    recorded->out = empty_like(recorded->a);
    {
        const auto pushed = popped_later(push_interposer(fmt::format("core.add@{}", device.type()),
                                                         &Recorded::record, recorded.get()));
        add(recorded->a, recorded->b, recorded->out);
    }
    const auto run = [recorded](std::int64_t repeats) {
        char text[512] = "";
        atoll_error error{sizeof error, 0, 0, sizeof text, 0, text, {}};
        recorded->call.error = &error;
        for (; repeats > 0; --repeats)
            if (recorded->link.fn(&recorded->link, &recorded->call) != ATOLL_STATUS_OK)
                throw Error(Status::internal, "bench",
                            fmt::format("the kernel of core.add failed: {}", text));
    };
    const auto result = [run, recorded] {
        recorded->out.fill(0);
        run(1);
        return recorded->out;
    };
    return {run, result, 3 * bytes_of(recorded->out), 0};
}

} // namespace

std::vector<BenchRow> limit_rows() {
    return {
        {"b1",
         "triad: b + 3 c, 10 M float32, a plain loop on one thread",
         {},
         [](Device d) { return triads(d, 1); }},
        {"b2", "b1 on every processor", {}, [](Device d) { return triads(d, processors()); }},
        {"b3",
         "sum of 16 M float32, a plain loop on one thread",
         {},
         [](Device d) { return totals(d, 1); }},
        {"b4", "b3 on every processor", {}, [](Device d) { return totals(d, processors()); }},
        {"b5",
         "a + b, 1 float32, straight to the kernel",
         {},
         [](Device d) { return straight_to_kernel(d, 1); }},
        {"b6",
         "a + b, 1,000 float32, straight to the kernel",
         {},
         [](Device d) { return straight_to_kernel(d, 1000); }},
    };
}

} // namespace Atoll::tools
