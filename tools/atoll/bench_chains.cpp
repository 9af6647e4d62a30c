// Rows of `atoll bench` that are more than one call: small programs, and results that live on.
#include "bench_work.hpp"

#include <array>

namespace Atoll::tools {

namespace {

template <class Prepare> BenchRow chain(const char *id, const char *what,
                                        std::vector<std::string> functions, Prepare prepare) {
    return {id, what, std::move(functions), prepare};
}

// `count` additions of which the last 500 results are held.
void add_and_hold(const Tensor &a, std::int64_t count) {
    std::array<Tensor, 500> held;
    for (std::int64_t i = 0; i < count; ++i)
        held[static_cast<std::size_t>(i) % held.size()] = add(a, a);
}
// By so many threads of the application, all at the same time. Its time is that of one call of one
// thread: it stays the same where threads do not meet.
Work held_results(std::int64_t elements, Device device, unsigned threads) {
    const Tensor a = random({elements}, float32, device);
    return {[=](std::int64_t repeats) {
                on_threads(threads, [&](unsigned) { add_and_hold(a, repeats); });
            },
            [=] { return add(a, a); }, 3 * bytes_of(a) * threads, 0};
}
BenchRow held_row(const char *id, const char *what, std::int64_t elements, bool everywhere) {
    return chain(id, what, {"add"}, [=](Device device) {
        return held_results(elements, device, everywhere ? processors() : 1);
    });
}

} // namespace

std::vector<BenchRow> chain_rows() {
    return {
        chain("p1", "softmax of columns, 1,000² float32", {"max", "exp", "sum"},
              [](Device d) {
                  const Tensor x = random({1000, 1000}, float32, d, -5, 5);
                  return work(
                      [=] {
                          const Tensor e = exp(x - max(x, 0, {.keepdims = true}));
                          return Tensor(e / sum(e, 0, {.keepdims = true}));
                      },
                      2 * bytes_of(x));
              }),
        chain("p2", "layer norm of columns, 1,000² float32", {"mean", "var", "sqrt"},
              [](Device d) {
                  const Tensor x = random({1000, 1000}, float32, d, -5, 5);
                  return work(
                      [=] {
                          const Tensor deviation = sqrt(var(x, 0, {.keepdims = true}) + 1e-5F);
                          return Tensor((x - mean(x, 0, {.keepdims = true})) / deviation);
                      },
                      2 * bytes_of(x));
              }),
        chain("p3", "3-point stencil by views, 1 M float64", {"add", "multiply"},
              [](Device d) {
                  const Tensor x = random({million}, float64, d);
                  return work(
                      [=] {
                          return Tensor((x(range(0, -2)) + x(range(1, -1)) + x(range(2, million))) *
                                        (1.0 / 3));
                      },
                      2 * bytes_of(x));
              }),
        chain("p4", "searchsorted, 1 M float64 in 256 edges", {"searchsorted"},
              [](Device d) {
                  const Tensor x = random({million}, float64, d),
                               edges = linspace(0.5, 2, 256, {float64, d});
                  return work([=] { return searchsorted(x, edges); }, 2 * bytes_of(x));
              }),
        chain("p5", "sort, 1 M float32", {"sort"},
              [](Device d) {
                  const Tensor x = random({million}, float32, d);
                  return work([=] { return sort(x); }, 2 * bytes_of(x));
              }),
        chain("p6", "argsort, 1 M float32", {"argsort"},
              [](Device d) {
                  const Tensor x = random({million}, float32, d);
                  return work([=] { return argsort(x); }, 3 * bytes_of(x));
              }),
        chain("p7", "cumsum, 10 M float32", {"cumsum"},
              [](Device d) {
                  const Tensor x = random({10 * million}, float32, d);
                  return work([=] { return cumsum(x); }, 2 * bytes_of(x));
              }),
        chain("p8", "where, 10 M float32", {"where"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d),
                               b = random({10 * million}, float32, d), mask = less(a, Scalar(1.25));
                  return work([=] { return where(mask, a, b); }, 3 * bytes_of(a) + bytes_of(mask));
              }),
        chain("p9", "twiddle factors: matrix 1,024² · row, complex64", {"multiply"},
              [](Device d) {
                  const Tensor x = random({1024, 1024}, complex64, d),
                               row = random({1, 1024}, complex64, d);
                  return work([=] { return multiply(x, row); }, 2 * bytes_of(x));
              }),
        chain("p10", "a b c d, matrices of 300² float32", {"matmul"},
              [](Device d) {
                  const Tensor a = random({300, 300}, float32, d);
                  return work([=] { return Tensor(a * a * a * a); }, 0, 3 * 54e6);
              }),
        chain("p11", "clip, 1 M float32", {"clip"},
              [](Device d) {
                  const Tensor x = random({million}, float32, d);
                  return work([=] { return clip(x, 0.8, 1.6); }, 2 * bytes_of(x));
              }),
        chain("p12", "histogram, 1 M float64 in 100 bins", {"searchsorted", "sort"},
              [](Device d) {
                  const Tensor x = random({million}, float64, d);
                  return work(
                      [=] {
                          return histogram(x, 100, {.range = {{0.5, 2}}}).counts;
                      },
                      bytes_of(x));
              }),
        chain("p13", "the 100 largest of 1 M float32", {"sort", "argsort", "find", "gather"},
              [](Device d) {
                  const Tensor x = random({million}, float32, d);
                  return work([=] { return topk(x, 100).values; }, bytes_of(x));
              }),
        chain("p14", "a number under a mask, 10 M float32, half of them", {"where"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d), mask = less(a, Scalar(1.25));
                  return work([=]() -> const Tensor & { return a(mask) = 1, a; },
                              2 * bytes_of(a) + bytes_of(mask));
              }),
        chain("p15", "bincount, 1 M int64 in 1,000 bins, float64 weights", {"min", "copy"},
              [](Device d) {
                  const Tensor bins = random({million}, int64, d, 0, 1000),
                               weights = random({million}, float64, d);
                  return work([=] { return bincount(bins, {.weights = weights}); },
                              bytes_of(bins) + bytes_of(weights));
              }),
        chain("p16", "repeat, 1 M float32, 0 to 2 times each", {"find", "cumsum", "scatter"},
              [](Device d) {
                  const Tensor x = random({million}, float32, d),
                               counts = random({million}, int64, d, 0, 3);
                  return work([=] { return repeat(x, counts); },
                              2 * bytes_of(x) + bytes_of(counts));
              }),
        held_row("a1", "a + b, 1 float32, 500 results held", 1, false),
        held_row("a2", "a + b, 1,000 float32, 500 results held", 1000, false),
        held_row("a3", "a + b, 4,000 float32, 500 results held", 4000, false),
        held_row("a4", "a1 in a thread per processor, each", 1, true),
        held_row("a5", "a2 in a thread per processor, each", 1000, true),
        held_row("a6", "a3 in a thread per processor, each", 4000, true),
    };
}

} // namespace Atoll::tools
