// The measured rows, in a list. Sizes are in elements.
#include "../../sdk/examples/qr/qr.hpp"
#include "bench.hpp"
#include "bench_work.hpp"

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

// A random operand.
struct Data {
    Dims shape;
    DType dtype = float32;
    double low = 0.5, high = 2;
    Tensor on(Device device) const { return random(shape, dtype, device, low, high); }
};

BenchRow unary(const char *id, const char *what, const char *name, Unary function, const Data &a) {
    return {id, what, {name}, [=](Device d) { return tools::unary(function, a.on(d)); }};
}
BenchRow binary(const char *id, const char *what, const char *name, Binary function, const Data &a,
                const Data &b) {
    return {id, what, {name}, [=](Device d) { return tools::binary(function, a.on(d), b.on(d)); }};
}
BenchRow binary(const char *id, const char *what, const char *name, Binary function,
                const Data &both) {
    return binary(id, what, name, function, both, both);
}
template <class Function> BenchRow reduction(const char *id, const char *what, const char *name,
                                             const Data &a, Function function) {
    return {id, what, {name}, [=](Device d) { return tools::reduction(a.on(d), function); }};
}
// Of as many results as elements.
template <class Function> BenchRow along(const char *id, const char *what, const char *name,
                                         const Data &data, Function function) {
    return {id, what, {name}, [=](Device d) {
                const Tensor a = data.on(d);
                return work([=] { return function(a); }, bytes_of(a) + bytes_of(function(a)));
            }};
}
BenchRow product(const char *id, const char *what, const Data &a, const Data &b,
                 double operations) {
    return {id, what, {"matmul"}, [=](Device d) {
                return tools::product(a.on(d), b.on(d), operations);
            }};
}
BenchRow product(const char *id, const char *what, const Data &both, double operations) {
    return product(id, what, both, both, operations);
}
// What the others do not cover.
template <class Prepare> BenchRow other(const char *id, const char *what,
                                        std::vector<std::string> functions, Prepare prepare) {
    return {id, what, std::move(functions), prepare};
}

std::int32_t pass_on(const atoll_link *self, atoll_call *call) {
    return self->next->fn(self->next, call);
}

const auto sorted = [](const Tensor &a) { return sort(a, 0); };
const auto sum_of_all = [](const Tensor &a) { return sum(a); };
const auto sum_over_first = [](const Tensor &a) { return sum(a, 0); };
const auto sum_over_second = [](const Tensor &a) { return sum(a, 1); };

// ---- Small calls --------------------------------------------------------------------------------

std::vector<BenchRow> small_calls() {
    return {
        binary("o1", "a + b, 1 float32, new result", "add", add, {{1}}),
        other("o2", "a + b, 1 float32, given result", {"add"},
              [](Device d) {
                  const Tensor a = random({1}, float32, d);
                  return add_into(a, a, empty_like(a));
              }),
        other("o3", "view: slice and scalar index of a matrix", {},
              [](Device d) {
                  const Tensor a = random({20, 30}, float32, d);
                  return work([=] { return a(range(2, 10), 3); }, 0);
              }),
        binary("o4", "a + b, 1,000 float32, new result", "add", add, {{1000}}),
        reduction("g1", "sum, 4 float32", "sum", {{4}}, sum_of_all),
        binary("g2", "matrix 3×4 + row, float32, new result", "add", add, {{3, 4}}, {{1, 4}}),
        product("g3", "sgemm, 2²", {{2, 2}}, 16),
        along("g4", "sort, 4 float32, new result", "sort", {{4}}, sorted),
        binary("g5", "int32 + float64, 4 elements, new result", "add", add, {{4}, int32, 0, 100},
               {{4}, float64}),
        other("g6", "einsum, 2² · 2², given result", {"matmul"},
              [](Device d) { return contraction("ik,kj->ij", "i2 j2 k2", d); }),
        product("g7", "float16 product, 2²", {{2, 2}, float16}, 16),
        along("g8", "sort, 200 int16, new result", "sort", {{200}, int16, 0, 10'000}, sorted),
        along("g9", "sort, 1,000 bool, new result", "sort", {{1000}, bool_, 0, 2}, sorted),
    };
}

// ---- Element-wise functions ---------------------------------------------------------------------

std::vector<BenchRow> elementwise() {
    return {
        binary("e1", "a + b, 10 M float32, new result", "add", add, {{10 * million}}),
        other("e2", "a + b, 10 M float32, given result", {"add"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d);
                  return add_into(a, random({10 * million}, float32, d), empty_like(a));
              }),
        binary("e3", "int32 + float32, 1 M, float64 result", "add", add, {{million}, int32, 0, 100},
               {{million}}),
        binary("e4", "matrix 3,000² + column (broadcast along the slow axis), float32", "add", add,
               {{3000, 3000}}, {{3000}}),
        binary("e5", "matrix 3,000² + row (broadcast along the fast axis), float32", "add", add,
               {{3000, 3000}}, {{1, 3000}}),
        other("e6", "a + b, stride-2 operands, 5 M float32", {"add"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d),
                               b = random({10 * million}, float32, d);
                  Work add_up = tools::binary(add, a(range(0, {}, 2)), b(range(0, {}, 2)));
                  // The memory gives whole cache lines, of which half is wanted.
                  add_up.bytes += 0.5 * (bytes_of(a) + bytes_of(b));
                  return add_up;
              }),
        other("e7", "a + b.T, float64 2,000²", {"add"},
              [](Device d) {
                  return tools::binary(add, random({2000, 2000}, float64, d),
                                       random({2000, 2000}, float64, d).T());
              }),
        unary("e8", "sqrt, 1 M float64", "sqrt", sqrt, {{million}, float64}),
        unary("e9", "exp, 1 M float32", "exp", exp, {{million}, float32, -5, 5}),
        unary("e10", "sin, 1 M float64", "sin", sin, {{million}, float64, -9, 9}),
        unary("e11", "tanh, 1 M float32", "tanh", tanh, {{million}, float32, -3, 3}),
        unary("e12", "log, 1 M float64", "log", log, {{million}, float64}),
        binary("e13", "pow, 1 M float32", "pow", pow, {{million}}, {{million}, float32, -2, 2}),
        binary("e14", "a < b, 10 M float32", "less", less, {{10 * million}}),
        binary("e15", "a + b, 10 M int8", "add", add, {{10 * million}, int8, -60, 60}),
        binary("e16", "a + b, 1 M float16", "add", add, {{million}, float16}),
        binary("e17", "a · b (elements), 1 M complex64", "multiply", multiply,
               {{million}, complex64}),
        binary("e18", "floor_divide, 1 M int32", "floor_divide", floor_divide,
               {{million}, int32, -1e6, 1e6}, {{million}, int32, 1, 1000}),
        other("e19", "cast float64 to float32, 1 M", {"copy"},
              [](Device d) {
                  const Tensor a = random({million}, float64, d);
                  Tensor to = empty({million}, {float32, d});
                  return work([=]() mutable -> const Tensor & { return to.assign(a); },
                              12.0 * million);
              }),
        other("e20", "float64 + byte-swapped float64, 1 M", {"add"},
              [](Device d) {
                  Tensor b = random({million}, float64, d);
                  b.byteswap();
                  return tools::binary(add, random({million}, float64, d), b);
              }),
    };
}

// ---- Reductions, copies, indexing ---------------------------------------------------------------

std::vector<BenchRow> reductions() {
    return {
        reduction("r1", "sum, 10 M float32", "sum", {{10 * million}}, sum_of_all),
        reduction("r2", "sum over the slow axis, 4,000² float32", "sum", {{4000, 4000}},
                  sum_over_second),
        reduction("r3", "sum over the fast axis, 4,000² float32", "sum", {{4000, 4000}},
                  sum_over_first),
        reduction("r4", "max, 10 M float32", "max", {{10 * million}},
                  [](const Tensor &a) { return max(a); }),
        reduction("r5", "2-norm, 1 M float64", "norm", {{million}, float64},
                  [](const Tensor &a) { return norm(a); }),
        reduction("r6", "sum over the middle axis, 100×200×300 float32", "sum", {{100, 200, 300}},
                  sum_over_second),
        reduction("r7", "any, 10 M false", "any", {{10 * million}, bool_, 0, 0},
                  [](const Tensor &a) { return any(a); }),
    };
}

// Axes of a few elements, a million elements altogether; the short axis is the dense one.
std::vector<BenchRow> short_axes() {
    static constexpr std::int64_t of_3 = 333'333, of_16 = 62'500, of_32 = 31'250;
    return {
        binary("s1", "3 float32 beside a row of each, 333,333 times", "subtract", subtract,
               {{3, of_3}}, {{1, of_3}}),
        reduction("s2", "sums of 16 float64, 62,500 times", "sum", {{16, of_16}, float64},
                  sum_over_first),
        reduction("s3", "argmax of 16 float32, 62,500 times", "argmax", {{16, of_16}},
                  [](const Tensor &a) { return argmax(a, 0); }),
        reduction("s4", "sums of 333,333 float32, 3 times", "sum", {{3, of_3}}, sum_over_second),
        along("s5", "running sums of 16 float64, 62,500 times", "cumsum", {{16, of_16}, float64},
              [](const Tensor &a) { return cumsum(a, 0); }),
        along("s6", "sort 32 float32, 31,250 times", "sort", {{32, of_32}}, sorted),
        along("s7", "argsort 32 float32, 31,250 times", "argsort", {{32, of_32}},
              [](const Tensor &a) { return argsort(a, 0); }),
        product("s8", "float32 product, 3² · 3×333,333", {{3, 3}}, {{3, of_3}}, 18.0 * of_3),
    };
}

std::vector<BenchRow> copies_and_indexing() {
    return {
        other("c1", "transposed copy, float64 4,000²", {"copy"},
              [](Device d) {
                  return copying(random({4000, 4000}, float64, d).T());
              }),
        other("c2", "permuted copy, float32 200×220×240", {"copy"},
              [](Device d) {
                  return copying(random({200, 220, 240}, float32, d).permute_axes({2, 0, 1}));
              }),
        other("c3", "plain copy, 10 M float32", {"copy"},
              [](Device d) { return copying(random({10 * million}, float32, d)); }),
        other("i1", "gather 1 M of 10 M float32", {"gather"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d);
                  const Tensor at = random({million}, int64, d, 0, 10 * million);
                  return work([=]() -> Tensor { return a(at); }, 16.0 * million);
              }),
        other("i2", "elements under a mask, 10 M float32, half of them", {"compress"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d), mask = less(a, Scalar(1.25));
                  return work([=]() -> Tensor { return a(mask); }, 70.0 * million);
              }),
        other("i3", "scatter 1 M into 10 M float32", {"scatter"},
              [](Device d) {
                  const Tensor a = zeros({10 * million}, {float32, d}),
                               from = random({million}, float32, d);
                  const Tensor at = random({million}, int64, d, 0, 10 * million);
                  return work([=]() -> const Tensor & { return a(at) = from, a; }, 16.0 * million);
              }),
        other("i4", "i1 with an index object bound to the layout", {"gather"},
              [](Device d) {
                  const Tensor a = random({10 * million}, float32, d);
                  const Index at = make_index(random({million}, int64, d, 0, 10 * million)).bind(a);
                  return work([=]() -> Tensor { return a(at); }, 16.0 * million);
              }),
    };
}

// ---- Products -----------------------------------------------------------------------------------

std::vector<BenchRow> products() {
    return {
        product("m1", "dgemm, 1,000²", {{thousand, thousand}, float64}, 2e9),
        product("m2", "sgemm, 2,000²", {{2000, 2000}}, 16e9),
        product("m3", "1,000 products of 16×16, float64", {{16, 16, thousand}, float64}, 8.192e6),
        product("m4", "dgemv, 3,000²", {{3000, 3000}, float64}, {{3000}, float64}, 18e6),
        product("m5", "int32 product, 300²", {{300, 300}, int32, 0, 9}, 54e6),
        product("m6", "float16 product, 300²", {{300, 300}, float16}, 54e6),
        product("m7", "cgemm, 500²", {{500, 500}, complex64}, 1e9),
        product("m8", "1,000 products of 16×16, float32", {{16, 16, thousand}}, 8.192e6),
        product("m9", "100 products of 16×16, float64", {{16, 16, 100}, float64}, 0.8192e6),
        product("m10", "100 products of 16×16, float32", {{16, 16, 100}}, 0.8192e6),
        product("m11", "bfloat16 product, 1,000²", {{thousand, thousand}, bfloat16}, 2e9),
        other("m12", "int8 product in int32, 1,000²", {"matmul"},
              [](Device d) {
                  const Tensor a = random({thousand, thousand}, int8, d, -9, 9);
                  return work(
                      [=] {
                          return Function("core.matmul")({a, a}, {.dtype = int32})[0];
                      },
                      0, 2e9);
              }),
    };
}

std::vector<BenchRow> contractions() {
    static constexpr std::pair<const char *, const char *> cases[] = {
#define ATOLL_TCCG(text, extents) {text, extents},
#include "tccg.inc"
    };
    static const std::vector<std::string> ids = [] {
        std::vector<std::string> all;
        for (std::size_t i = 1; i <= std::size(cases); ++i) all.push_back(fmt::format("t{}", i));
        return all;
    }();
    std::vector<BenchRow> rows;
    for (std::size_t i = 0; i < std::size(cases); ++i)
        rows.push_back({ids[i].c_str(),
                        cases[i].first,
                        {"matmul"},
                        [i](Device d) { return contraction(cases[i].first, cases[i].second, d); },
                        BenchGroup::contraction});
    return rows;
}

// ---- Interposers, processes, a program ----------------------------------------------------------

std::vector<BenchRow> programs() {
    return {
        other(
            "d1", "o2 under a no-op interposer", {"add"},
            [](Device d) { return interposed(d, push_interposer("core.add", pass_on, nullptr)); }),
        other("d1t", "o2 under the counting tracer", {"add"},
              [](Device d) {
                  load_plugin("trace");
                  return interposed(d, push_interposer("core.add", "trace"));
              }),
        other("l1", "`atoll info` as a process: load everything, print, exit", {},
              [](Device) { return process("info"); }),
        other("q1", "QR by rank-one updates, n = 200, float64", {},
              [](Device d) {
                  const Tensor a = random({200, 200}, float64, d, -1, 1);
                  const auto factorise = [=] {
                      const Tensor q = a.clone(), r = zeros({200, 200}, {float64, d});
                      Demo::qr_by_updates(q, r);
                      return q;
                  };
                  return work(factorise, 0);
              }),
    };
}

} // namespace

std::vector<BenchRow> bench_rows(std::int64_t elements) {
    std::vector<BenchRow> all;
    for (const auto part : {small_calls, elementwise, reductions, short_axes, copies_and_indexing,
                            products, chain_rows, contractions, programs, limit_rows})
        for (BenchRow &row : part()) all.push_back(std::move(row));
    for (BenchRow &row : large_rows(elements)) all.push_back(std::move(row));
    return all;
}

} // namespace Atoll::tools
