// The measured rows, in a list. Sizes are in elements.
#include "../../sdk/examples/qr/qr.hpp"
#include "bench.hpp"
#include "bench_work.hpp"

namespace Atoll::tools {

namespace {

constexpr std::int64_t thousand = 1000, million = 1'000'000;

Work small(Device device, std::int64_t size) {
    return binary(add, random({size}, float32, device), random({size}, float32, device));
}

std::int32_t pass_on(const atoll_link *self, atoll_call *call) {
    return self->next->fn(self->next, call);
}

const BenchRow rows[] = {
    {"o1", "a + b, 1 float32, new result", {"add"}, [](Device d) { return small(d, 1); }},
    {"o2",
     "a + b, 1 float32, given result",
     {"add"},
     [](Device d) {
         const Tensor a = random({1}, float32, d);
         return add_into(a, a, empty_like(a));
     }},
    {"o3",
     "view: slice and scalar index of a matrix",
     {},
     [](Device d) {
         const Tensor a = random({20, 30}, float32, d);
         return work([=] { return a(range(2, 10), 3); }, 0);
     }},
    {"o4", "a + b, 1,000 float32, new result", {"add"}, [](Device d) { return small(d, 1000); }},
    {"g1",
     "sum, 4 float32",
     {"sum"},
     [](Device d) {
         return reduction(random({4}, float32, d), [](const Tensor &a) { return sum(a); });
     }},
    {"g2",
     "matrix 3×4 + row, float32, new result",
     {"add"},
     [](Device d) {
         return binary(add, random({3, 4}, float32, d), random({1, 4}, float32, d));
     }},
    {"g3",
     "sgemm, 2²",
     {"matmul"},
     [](Device d) {
         return product(random({2, 2}, float32, d), random({2, 2}, float32, d), 16);
     }},
    {"g4",
     "sort, 4 float32, new result",
     {"sort"},
     [](Device d) { return work([a = random({4}, float32, d)] { return sort(a); }, 32); }},
    {"g5",
     "int32 + float64, 4 elements, new result",
     {"add"},
     [](Device d) { return binary(add, random({4}, int32, d, 0, 100), random({4}, float64, d)); }},
    {"e1",
     "a + b, 10 M float32, new result",
     {"add"},
     [](Device d) { return small(d, 10 * million); }},
    {"e2",
     "a + b, 10 M float32, given result",
     {"add"},
     [](Device d) {
         const Tensor a = random({10 * million}, float32, d);
         return add_into(a, random({10 * million}, float32, d), empty_like(a));
     }},
    {"e3",
     "int32 + float32, 1 M, float64 result",
     {"add"},
     [](Device d) {
         return binary(add, random({million}, int32, d, 0, 100), random({million}, float32, d));
     }},
    {"e4",
     "matrix 3,000² + column (broadcast along the slow axis), float32",
     {"add"},
     [](Device d) {
         return binary(add, random({3000, 3000}, float32, d), random({3000}, float32, d));
     }},
    {"e5",
     "matrix 3,000² + row (broadcast along the fast axis), float32",
     {"add"},
     [](Device d) {
         return binary(add, random({3000, 3000}, float32, d), random({1, 3000}, float32, d));
     }},
    {"e6",
     "a + b, stride-2 operands, 5 M float32",
     {"add"},
     [](Device d) {
         const Tensor a = random({10 * million}, float32, d),
                      b = random({10 * million}, float32, d);
         return binary(add, a(range(0, {}, 2)), b(range(0, {}, 2)));
     }},
    {"e7",
     "a + b.T, float64 2,000²",
     {"add"},
     [](Device d) {
         return binary(add, random({2000, 2000}, float64, d), random({2000, 2000}, float64, d).T());
     }},
    {"e8",
     "sqrt, 1 M float64",
     {"sqrt"},
     [](Device d) { return unary(sqrt, random({million}, float64, d)); }},
    {"e9",
     "exp, 1 M float32",
     {"exp"},
     [](Device d) { return unary(exp, random({million}, float32, d, -5, 5)); }},
    {"e10",
     "sin, 1 M float64",
     {"sin"},
     [](Device d) { return unary(sin, random({million}, float64, d, -9, 9)); }},
    {"e11",
     "tanh, 1 M float32",
     {"tanh"},
     [](Device d) { return unary(tanh, random({million}, float32, d, -3, 3)); }},
    {"e12",
     "log, 1 M float64",
     {"log"},
     [](Device d) { return unary(log, random({million}, float64, d)); }},
    {"e13",
     "pow, 1 M float32",
     {"pow"},
     [](Device d) {
         return binary(pow, random({million}, float32, d), random({million}, float32, d, -2, 2));
     }},
    {"e14",
     "a < b, 10 M float32",
     {"less"},
     [](Device d) {
         return binary(less, random({10 * million}, float32, d),
                       random({10 * million}, float32, d));
     }},
    {"e15",
     "a + b, 10 M int8",
     {"add"},
     [](Device d) {
         const Tensor a = random({10 * million}, int8, d, -60, 60);
         return binary(add, a, a.clone());
     }},
    {"e16",
     "a + b, 1 M float16",
     {"add"},
     [](Device d) {
         return binary(add, random({million}, float16, d), random({million}, float16, d));
     }},
    {"e17",
     "a · b (elements), 1 M complex64",
     {"multiply"},
     [](Device d) {
         return binary(multiply, random({million}, complex64, d), random({million}, complex64, d));
     }},
    {"e18",
     "floor_divide, 1 M int32",
     {"floor_divide"},
     [](Device d) {
         return binary(floor_divide, random({million}, int32, d, -1e6, 1e6),
                       random({million}, int32, d, 1, 1000));
     }},
    {"e19",
     "cast float64 to float32, 1 M",
     {"copy"},
     [](Device d) {
         const Tensor a = random({million}, float64, d), to = empty({million}, {float32, d});
         return work([=]() -> const Tensor & { return to.assign(a), to; }, 12.0 * million);
     }},
    {"e20",
     "float64 + byte-swapped float64, 1 M",
     {"add"},
     [](Device d) {
         const Tensor b = random({million}, float64, d);
         b.byteswap();
         return binary(add, random({million}, float64, d), b);
     }},
    {"r1",
     "sum, 10 M float32",
     {"sum"},
     [](Device d) {
         return reduction(random({10 * million}, float32, d),
                          [](const Tensor &a) { return sum(a); });
     }},
    {"r2",
     "sum over the slow axis, 4,000² float32",
     {"sum"},
     [](Device d) {
         return reduction(random({4000, 4000}, float32, d),
                          [](const Tensor &a) { return sum(a, 1); });
     }},
    {"r3",
     "sum over the fast axis, 4,000² float32",
     {"sum"},
     [](Device d) {
         return reduction(random({4000, 4000}, float32, d),
                          [](const Tensor &a) { return sum(a, 0); });
     }},
    {"r4",
     "max, 10 M float32",
     {"max"},
     [](Device d) {
         return reduction(random({10 * million}, float32, d),
                          [](const Tensor &a) { return max(a); });
     }},
    {"r5",
     "2-norm, 1 M float64",
     {"norm"},
     [](Device d) {
         return reduction(random({million}, float64, d), [](const Tensor &a) { return norm(a); });
     }},
    {"r6",
     "sum over the middle axis, 100×200×300 float32",
     {"sum"},
     [](Device d) {
         return reduction(random({100, 200, 300}, float32, d),
                          [](const Tensor &a) { return sum(a, 1); });
     }},
    {"r7",
     "any, 10 M false",
     {"any"},
     [](Device d) {
         return reduction(zeros({10 * million}, {bool_, d}),
                          [](const Tensor &a) { return any(a); });
     }},
    {"c1",
     "transposed copy, float64 4,000²",
     {"copy"},
     [](Device d) {
         return copying(random({4000, 4000}, float64, d).T());
     }},
    {"c2",
     "permuted copy, float32 200×220×240",
     {"copy"},
     [](Device d) {
         return copying(random({200, 220, 240}, float32, d).permute_axes({2, 0, 1}));
     }},
    {"c3",
     "plain copy, 10 M float32",
     {"copy"},
     [](Device d) { return copying(random({10 * million}, float32, d)); }},
    {"i1",
     "gather 1 M of 10 M float32",
     {"gather"},
     [](Device d) {
         const Tensor a = random({10 * million}, float32, d);
         const Tensor at = random({million}, int64, d, 0, 10 * million);
         return work([=]() -> Tensor { return a(at); }, 16.0 * million);
     }},
    {"i2",
     "elements under a mask, 10 M float32, half of them",
     {"gather", "find"},
     [](Device d) {
         const Tensor a = random({10 * million}, float32, d), mask = less(a, Scalar(1.25));
         return work([=]() -> Tensor { return a(mask); }, 70.0 * million);
     }},
    {"i3",
     "scatter 1 M into 10 M float32",
     {"scatter"},
     [](Device d) {
         const Tensor a = zeros({10 * million}, {float32, d}), from = random({million}, float32, d);
         const Tensor at = random({million}, int64, d, 0, 10 * million);
         return work([=]() -> const Tensor & { return a(at) = from, a; }, 16.0 * million);
     }},
    {"i4",
     "i1 with an index object bound to the layout",
     {"gather"},
     [](Device d) {
         const Tensor a = random({10 * million}, float32, d);
         const Index at = make_index(random({million}, int64, d, 0, 10 * million)).bind(a);
         return work([=]() -> Tensor { return a(at); }, 16.0 * million);
     }},
    {"m1",
     "dgemm, 1,000²",
     {"matmul"},
     [](Device d) {
         return product(random({thousand, thousand}, float64, d),
                        random({thousand, thousand}, float64, d), 2e9);
     }},
    {"m2",
     "sgemm, 2,000²",
     {"matmul"},
     [](Device d) {
         return product(random({2000, 2000}, float32, d), random({2000, 2000}, float32, d), 16e9);
     }},
    {"m3",
     "1,000 products of 16×16, float64",
     {"matmul"},
     [](Device d) {
         return product(random({16, 16, thousand}, float64, d),
                        random({16, 16, thousand}, float64, d), 8.192e6);
     }},
    {"m4",
     "dgemv, 3,000²",
     {"matmul"},
     [](Device d) {
         return product(random({3000, 3000}, float64, d), random({3000}, float64, d), 18e6);
     }},
    {"m5",
     "int32 product, 300²",
     {"matmul"},
     [](Device d) {
         return product(random({300, 300}, int32, d, 0, 9), random({300, 300}, int32, d, 0, 9),
                        54e6);
     }},
    {"m6",
     "float16 product, 300²",
     {"matmul"},
     [](Device d) {
         return product(random({300, 300}, float16, d), random({300, 300}, float16, d), 54e6);
     }},
    {"m7",
     "cgemm, 500²",
     {"matmul"},
     [](Device d) {
         return product(random({500, 500}, complex64, d), random({500, 500}, complex64, d), 1e9);
     }},
    {"d1",
     "o2 under a no-op interposer",
     {"add"},
     [](Device d) { return interposed(d, push_interposer("core.add", pass_on, nullptr)); }},
    {"d1t",
     "o2 under the counting tracer",
     {"add"},
     [](Device d) {
         load_plugin("trace");
         return interposed(d, push_interposer("core.add", "trace"));
     }},
    {"l1",
     "`atoll info` as a process: load everything, print, exit",
     {},
     [](Device) { return process("info"); }},
    {"q1",
     "QR by rank-one updates, n = 200, float64",
     {},
     [](Device d) {
         const Tensor a = random({200, 200}, float64, d, -1, 1);
         const auto factorise = [=] {
             const Tensor q = a.clone(), r = zeros({200, 200}, {float64, d});
             Demo::qr_by_updates(q, r);
             return q;
         };
         return work(factorise, 0);
     }},
};

} // namespace

std::span<const BenchRow> bench_rows() { return rows; }

} // namespace Atoll::tools
