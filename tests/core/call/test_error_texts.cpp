// What wrong calls are told, word for word. Texts name operands and axes, never positions.
#include "../support.hpp"
#include "atoll/module.hpp"
#include "made_function.hpp"

using namespace Atoll;
using namespace support;

namespace {

struct WrongCall {
    std::function<void()> call;
    const char *text;
};

void check_texts(std::span<const WrongCall> calls) {
    for (const WrongCall &wrong : calls) CHECK(error_text(wrong.call) == wrong.text);
}

using Ints = std::vector<std::int64_t>;

// A function of any signature: as far as the check of its arguments.
void refused(const char *signature, std::initializer_list<Operand> inputs,
             const char *properties = "", const CallOptions &options = {}) {
    const MadeFunction made(signature, properties);
    made.check(inputs, options);
}

struct Fixture {
    Fixture() {
        load_devices();
        static const bool once = (load_plugin(std::string(LINALG)), true);
        (void)once;
    }
    Tensor of(const Dims &shape, DType dtype = float64) const {
        return ones(shape, {dtype, cpu()});
    }
    Function named(const char *name) const { return Function(name); }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "operands that are missing, too many, or of the wrong kind") {
    const Function solve = named("linalg.solve"), sort = named("core.sort");
    const Tensor a = of({3, 3}), b = of({3});
    const WrongCall calls[] = {
        {[&] { solve({a}); }, "[linalg.solve] got no b, takes a, b"},
        {[&] {
             solve({Tensor(), b});
         },
         "[linalg.solve] got no a, takes a, b"},
        {[&] {
             solve({a, b, b});
         },
         "[linalg.solve] got 3 inputs, takes a, b"},
        {[&] { sort({}); }, "[core.sort] got no a, takes a"},
        {[&] {
             sort({a, b});
         },
         "[core.sort] got 2 inputs, takes a"},
        {[&] { named("core.fill")({a}); }, "[core.fill] got 1 input, takes none"},
        {[&] { named("core.matmul")({a}); }, "[core.matmul] got no b, takes a, b, c?"},
        {[&] {
             named("core.add")({a, b, b, b, b, b, b, b, b, b});
         },
         "[core.add] got 10 inputs, takes a, b"},
        {[&] {
             solve({1.5, b});
         },
         "[linalg.solve] a is a number, needs at least 2 axes: (n, n)"},
        {[&] {
             solve({a, 2});
         },
         "[linalg.solve] b is a number, needs at least 1 axis: (n, k?)"},
        {[&] { sort({2}); }, "[core.sort] a is a number, needs at least 1 axis: (n)"},
        {[&] {
             named("core.matmul")({a, 2});
         },
         "[core.matmul] b is a number, needs at least 2 axes: (k*, n*)"},
        {[&] { a + Tensor(); },
         "[core.add] b is undefined (default-constructed); assign a tensor first"},
        {[&] { sqrt(Tensor()); },
         "[core.sqrt] a is undefined (default-constructed); assign a tensor first"},
        {[&] { sum(Tensor()); },
         "[core.sum] a is undefined (default-constructed); assign a tensor first"},
        {[&] {
             refused("plan: object, a () -> b ()", {a, a});
         },
         "[made.function] plan is a tensor, needs an object"},
        {[&] {
             refused("plan: object, a () -> b ()", {2, a});
         },
         "[made.function] plan is a number, needs an object"},
        {[&] { named("linalg.sove"); }, "[function] there is no function 'linalg.sove'; modules "
                                        "now: core, device, linalg; did you "
                                        "mean 'linalg.solve'?"},
        {[&] { Module("linalgs"); }, "[module] there is no module 'linalgs'; load the plugin that "
                                     "defines it; modules now: core, "
                                     "device, linalg; did you mean 'linalg'?"},
        {[&] { Module("core").function("squared"); },
         "[module] module core has no function 'squared'; did you mean 'square'?"},
        {[&] { device("dumy:1"); },
         "[device] there is no device 'dumy:1'; load its plugin first, e.g. "
         "Atoll::load_plugin(\"dumy\"); devices now: cpu, dummy:0, dummy:1, dummy_min; did you "
         "mean 'dummy'?"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "extents of core axes") {
    const Function solve = named("linalg.solve"), product = named("core.matmul");
    const char *const cross = "a (3), b (3) -> c (3)";
    const WrongCall calls[] = {
        // An axis that two operands have; one that an operand has twice.
        {[&] {
             solve({of({4, 4}), of({5, 3})});
         },
         "[linalg.solve] b (5, 3) needs n = 4 rows, as a (4, 4) has"},
        {[&] {
             solve({of({4, 4}), of({5})});
         },
         "[linalg.solve] b (5,) needs n = 4 rows, as a (4, 4) has"},
        {[&] {
             solve({of({3, 4}), of({3})});
         },
         "[linalg.solve] a (3, 4) needs n = 3 columns, as it has rows"},
        {[&] {
             refused("a (n, n, n) -> b ()", {of({2, 2, 3})});
         },
         "[made.function] a (2, 2, 3) needs n = 2 on axis 2, as it has rows"},
        {[&] {
             refused("a (n), b (n) -> c ()", {of({2}), of({3})});
         },
         "[made.function] b (3,) needs n = 2 elements, as a (2,) has"},
        {[&] {
             refused("a (n), b (n) -> c ()", {of({2}), of({1})});
         },
         "[made.function] b (1,) needs n = 2 elements, as a (2,) has"},
        {[&] {
             refused("a (n)?, b (n), c (m, n) -> d ()", {Tensor(), of({2}), of({4, 3})});
         },
         "[made.function] c (4, 3) needs n = 2 columns, as b (2,) has"},
        // Too few axes.
        {[&] {
             solve({of({3}), of({3})});
         },
         "[linalg.solve] a (3,) needs at least 2 axes: (n, n)"},
        {[&] { refused("a (m, n, k?) -> b ()", {of({3})}); },
         "[made.function] a (3,) needs at least 2 axes: (m, n, k?)"},
        {[&] {
             refused("a (n), b (n, k?) -> c ()", {of({3}), 2});
         },
         "[made.function] b is a number, needs at least 1 axis: (n, k?)"},
        {[&] {
             refused("a (n), b (n) -> c ()", {of({3}), 2});
         },
         "[made.function] b is a number, needs at least 1 axis: (n)"},
        // One that may be missing.
        {[&] {
             refused("a (n, k?), b (k?) -> c ()", {of({3, 2}), of({4})});
         },
         "[made.function] b (4,) needs k = 2 elements, as a (3, 2) has columns"},
        {[&] {
             refused("a (n, k?), b (n, k?) -> c ()", {of({3, 2}), of({3})});
         },
         "[made.function] b (3,) needs k = 2, as a (3, 2) has columns"},
        // A fixed one.
        {[&] {
             refused(cross, {of({4}), of({3})});
         },
         "[made.function] a (4,) needs 3 elements"},
        {[&] {
             refused(cross, {of({3}), of({2, 5})});
         },
         "[made.function] b (2, 5) needs 3 elements"},
        {[&] {
             refused("a (n, 2) -> b (n)", {of({5, 3})});
         },
         "[made.function] a (5, 3) needs 2 columns"},
        {[&] { refused("a (n, 2) -> b (n)", {of({5})}); },
         "[made.function] a (5,) needs at least 2 axes: (n, 2)"},
        {[&] {
             refused(cross, {of({3}), 1.5});
         },
         "[made.function] b is a number, needs at least 1 axis: (3)"},
        // Groups.
        {[&] {
             product({of({2, 3}), of({4, 2})});
         },
         "[core.matmul] b (4, 2) needs k = 3 rows, as a (2, 3) has columns"},
        {[&] {
             product({of({2, 3}), of({3, 2}), of({2, 3})});
         },
         "[core.matmul] c (2, 3) needs n = 2 columns, as b (3, 2) has"},
        {[&] {
             product({of({2, 3}), of({3})});
         },
         "[core.matmul] b (3,) needs at least 2 axes: (k*, n*)"},
        {[&] {
             refused("a (n*), b (n*) -> s ()", {of({2, 3}), of({2, 4})}, "axes all");
         },
         "[made.function] b (2, 4) needs n = 3 columns, as a (2, 3) has"},
        {[&] {
             refused("a (n*), b (n*) -> s ()", {of({2, 3}), of({2})}, "axes all");
         },
         "[made.function] b (2,) needs at least 2 axes: (n*)"},
        // More than there can be.
        // A number where axes are needed, behind an operand of loop axes.
        {[&] {
             refused("w (), a (n) -> b ()", {of({2}), 1.0}, "axes named");
         },
         "[made.function] a is a number, needs at least 1 axis: (n)"},
        {[&] { refused("a (n*) -> b (k*)", {of(Dims::filled(33, 1))}, "axes all"); },
         "[made.function] needs more than 65 axes at once; merge some with Tensor::reshape"},
        {[&] {
             const Tensor high = of(Dims::filled(64, 1));
             refused("a (i, j), b (k, l) -> s ()", {high, high});
         },
         "[made.function] needs more than 65 axes at once; merge some with Tensor::reshape"},
        // Extents that only results have.
        {[&] { refused("a (n) -> b (k)", {of({3})}); },
         "[made.function] got no extent of k, which only results have; give it with "
         "CallOptions::extents"},
        {[&] {
             named("core.steps")({}, {.attributes = {{"start", 0}, {"step", 1}}, .dtype = int64});
         },
         "[core.steps] got no extent of n, which only results have; give it with "
         "CallOptions::extents"},
        {[&] {
             solve({of({3, 3}), of({3})}, {.extents = {{"k", 2}}});
         },
         "[linalg.solve] got an extent of k, takes those that only results have: none"},
        {[&] {
             // Counted, so that nothing is written beyond the result.
             named("core.find")({of({3})}, {.extents = {{"c", 2}}});
         },
         "[core.find] got an extent of c, takes those that only results have: none"},
        {[&] {
             named("core.steps")(
                 {}, {.attributes = {{"start", 1}, {"step", 1}}, .extents = {{"n", -2}}});
         },
         "[core.steps] got n = -2, need 0 or more"},
        {[&] {
             named("core.find")({of({3, 4})}, {.axes = 0});
         },
         "[core.find] takes no loop axes: the result is as long as a (3, 4) has non-zero elements"},
        {[&] {
             compress(of({3, 4}), of({3}));
         },
         "[core.compress] takes no loop axes: the result is as long as mask (3,) has non-zero "
         "elements"},
        {[&] {
             named("core.compress")({of({}), 1});
         },
         "[core.compress] needs a tensor mask, whose non-zero elements say how long the result is"},
        {[&] {
             compress(of({3, 4}), of({3, 3}));
         },
         "[core.compress] mask (3, 3) needs n = 4 columns, as a (3, 4) has"},
        {[&] {
             compress(of({3, 4}), of({2}));
         },
         "[core.compress] mask (2,) needs n = 3 elements, as a (3, 4) has"},
        {[&] {
             compress(of({3}), of({3, 1}));
         },
         "[core.compress] a (3,) needs at least 2 axes: (n*)"},
        {[&] { compress(of({3}), ones({3}), of({2})); }, "[core.compress] b (2,) needs shape (3,)"},
        {[&] {
             const MadeFunction silent("a (n) -> b (k)", "",
                                       [](void *, atoll_infer *, atoll_error *) {
                                           return std::int32_t{ATOLL_STATUS_OK};
                                       });
             silent.check({of({3})});
         },
         "[made.function] the function's infer gave no extent of k; report it to its vendor"},
        {[&] {
             named("linalg.dct")({of({3})}, {.attributes = {{"length", 0}}});
         },
         "[linalg.dct] attribute length is 0, needs 1 or more"},
        {[&] {
             const MadeFunction strict(
                 "a (n) -> b (k)", "", [](void *, atoll_infer *, atoll_error *error) {
                     return sdk::set_error(error, ATOLL_STATUS_INVALID_ARGUMENT,
                                           "takes vectors of even length");
                 });
             strict.check({of({3})});
         },
         "[made.function] takes vectors of even length"},
        {[&] {
             const MadeFunction window(
                 "a () -> b (k)", "", [](void *, atoll_infer *, atoll_error *error) {
                     return sdk::set_error(error, ATOLL_STATUS_INVALID_ARGUMENT, "takes no 0");
                 });
             window.check({of({})}); // no input has a core axis
         },
         "[made.function] takes no 0"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "axes that are named") {
    const Function smooth = named("linalg.smooth");
    const Tensor a = of({2, 3});
    const WrongCall calls[] = {
        {[&] { named("linalg.dct")({a}); },
         "[linalg.dct] got no axis of a (2, 3), need one (or flatten() first)"},
        {[&] { cumsum(a); },
         "[core.cumsum] got no axis of a (2, 3), need one (or flatten() first)"},
        {[&] {
             refused("a (m, n) -> b ()", {of({2, 3, 4})}, "axes named");
         },
         "[made.function] got no axes of a (2, 3, 4), need 2"},
        {[&] {
             smooth({a}, {.axes = {0, 1}});
         },
         "[linalg.smooth] got 2 axes of a (2, 3), need 1"},
        {[&] {
             smooth({a}, {.axes = {1, 1}});
         },
         "[linalg.smooth] axis 1 of a (2, 3) is named twice"},
        {[&] {
             smooth({a}, {.axes = {1, -1}});
         },
         "[linalg.smooth] axis 1 of a (2, 3) is named twice"},
        {[&] { smooth({a}, {.axes = 5}); }, "[linalg.smooth] got axis 5 of a (2, 3), need -2 to 1"},
        {[&] { sort(a, -3); }, "[core.sort] got axis -3 of a (2, 3), need -2 to 1"},
        {[&] { sum(a, 2); }, "[core.sum] got axis 2 of a (2, 3), need -2 to 1"},
        {[&] {
             sum(a, {0, -2});
         },
         "[core.sum] axis 0 of a (2, 3) is named twice"},
        {[&] { sum(of({}), 0); }, "[core.sum] got axis 0 of a (), but rank 0 has no axes"},
        {[&] { max(of({3}), 1); }, "[core.max] got axis 1 of a (3,), need -1 to 0"},
        {[&] { (void)of({}).squeeze(0); }, "[tensor.squeeze] got axis 0, but rank 0 has no axes"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "shapes that do not broadcast") {
    Tensor a = of({2, 3}), b = of({4});
    const WrongCall calls[] = {
        {[&] { a + b; }, "[core.add] a (2, 3) and b (4,) do not broadcast: axis 0 of a is 2, axis "
                         "0 of b is 4; need extents that are equal or 1, first axes aligned"},
        {[&] {
             a + of({2, 4});
         },
         "[core.add] a (2, 3) and b (2, 4) do not broadcast: axis 1 of a is 3, axis 1 of b is 4; "
         "need extents that are equal or 1, first axes aligned"},
        {[&] {
             where(of({2}), of({1, 3}), of({2, 4}));
         },
         "[core.where] a (1, 3) and b (2, 4) do not broadcast: axis 1 of a is 3, axis 1 of b is 4; "
         "need extents that are equal or 1, first axes aligned"},
        {[&] { clip(of({3}), 0, of({2})); },
         "[core.clip] a (3,) and high (2,) do not broadcast: axis 0 of a is 3, axis 0 of high is "
         "2; need extents that are equal or 1, first axes aligned"},
        {[&] { add(a, 1, b); }, "[core.add] got a (2, 3) for c (4,); results are never broadcast"},
        {[&] {
             Tensor c = of({2, 3});
             c += of({2, 3, 2});
         },
         "[core.add] got b (2, 3, 2) for c (2, 3); results are never broadcast"},
        {[&] { a.assign(b); }, "[core.copy] got a (4,) for out (2, 3), need extents that are equal "
                               "or 1, first axes aligned"},
        {[&] {
             const Tensor c = of({2, 3});
             c(vector<int>({0, 1})) = b;
         },
         "[core.scatter] got values (4,) for a selection (2, 3), need extents that are equal or 1, "
         "first axes aligned"},
        {[&] {
             named("linalg.solve")({of({3, 3, 2}), of({3, 1, 4})});
         },
         "[linalg.solve] a (3, 3, 2) and b (3, 1, 4) do not broadcast: axis 2 of a is 2, axis 2 of "
         "b is 4; need extents that are equal or 1, first axes aligned"},
        {[&] {
             named("core.searchsorted")({of({2}), of({5, 3})});
         },
         "[core.searchsorted] a (2,) and sorted (5, 3) do not broadcast: axis 0 of a is 2, axis 1 "
         "of sorted is 3; need extents that are equal or 1, first axes aligned"},
        {[&] { searchsorted(b, a); },
         "[core.searchsorted] a (4,) and sorted (2, 3) do not broadcast: axis 0 of a is 4, axis 1 "
         "of sorted is 3; need extents that are equal or 1, first axes aligned"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_broadcast = false; });
             a + of({2});
         },
         "[core.add] got a (2, 3) and b (2,) with automatic broadcasting off; use "
         "Tensor::broadcast_to, or set Settings::auto_broadcast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_broadcast = false; });
             add(of({2}), 1, a);
         },
         "[core.add] got c (2, 3) and a (2,) with automatic broadcasting off; use "
         "Tensor::broadcast_to, or set Settings::auto_broadcast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_broadcast = false; });
             a.assign(of({2}));
         },
         "[core.copy] got out (2, 3) and a (2,) with automatic broadcasting off; use "
         "Tensor::broadcast_to, or set Settings::auto_broadcast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_broadcast = false; });
             named("linalg.solve")({of({3, 3, 2}), of({3})});
         },
         "[linalg.solve] got a (3, 3, 2) and b (3,) with automatic broadcasting off; use "
         "Tensor::broadcast_to, or set Settings::auto_broadcast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_broadcast = false; });
             gemm(1, of({2, 3, 2}), Op::N, of({3, 2}), Op::N, 0, of({2, 2, 2}));
         },
         "[core.matmul] got a (2, 3, 2) and b (3, 2) with automatic broadcasting off; use "
         "Tensor::broadcast_to, or set Settings::auto_broadcast"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "products") {
    const Tensor a = of({2, 3}), b = of({3, 4});
    const WrongCall calls[] = {
        {[&] {
             matmul(a, of({4, 2}));
         },
         "[core.matmul] b (4, 2) needs k = 3 rows, as a (2, 3) has columns"},
        {[&] { matmul(a, of({2})); },
         "[core.matmul] b (2,) needs k = 3 rows, as a (2, 3) has columns"},
        {[&] { matmul(of({3}), of({3})); },
         "[core.matmul] b (3,) needs k = 1 rows, as a (3,) has columns (vectors are columns: a.T() "
         "* b is the inner product, multiply(a, b) the element-wise one)"},
        {[&] {
             matmul(of({2, 3, 5}), of({3, 4, 6}));
         },
         "[core.matmul] a (2, 3, 5) and b (3, 4, 6) do not broadcast: axis 2 of a is 5, axis 2 of "
         "b is 6; need extents that are equal or 1, first axes aligned"},
        {[&] {
             matmul(a, b, of({4, 2}));
         },
         "[core.matmul] d (4, 2) needs shape (2, 4)"},
        {[&] {
             gemm(1, a, Op::T, b, Op::N, 0, of({2, 4}));
         },
         "[core.matmul] b (3, 4) needs k = 2 rows, as a transposed (3, 2) has columns"},
        {[&] {
             gemm(1, a, Op::N, b, Op::T, 0, of({2, 4}));
         },
         "[core.matmul] b transposed (4, 3) needs k = 3 rows, as a (2, 3) has columns"},
        {[&] {
             gemm(1, a, Op::N, b, Op::N, 0, of({2, 3}));
         },
         "[core.matmul] c (2, 3) needs shape (2, 4)"},
        {[&] {
             gemm(1, of({2, 3, 5}), Op::N, of({3, 4, 6}), Op::N, 0, of({2, 4, 5}));
         },
         "[core.matmul] a (2, 3, 5) and b (3, 4, 6) do not broadcast: axis 2 of a is 5, axis 2 of "
         "b is 6; need extents that are equal or 1, first axes aligned"},
        {[&] {
             const Tensor i = of({2, 2}, int8);
             gemm(1000, i, Op::N, i, Op::N, 0, i.clone());
         },
         "[core.matmul] alpha or beta = 1000 does not fit int8; cast the tensor, or give the "
         "number a dtype with Scalar(value, dtype)"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture,
                  "a result of which it takes too long to find out whether it overlaps itself") {
    // Differences of the numbers of Conway and Guy, no two sums of which are equal.
    constexpr std::size_t axes = 20;
    std::int64_t numbers[axes + 1] = {0, 1};
    for (std::size_t n = 1, back = 1; n < axes; ++n) {
        if (back * (back + 1) / 2 < n) ++back;
        numbers[n + 1] = 2 * numbers[n] - numbers[n - back];
    }
    Dims strides;
    for (std::size_t n = 0; n < axes; ++n) strides.push_back(numbers[axes] - numbers[n]);
    Tensor hard = empty_strided(Dims::filled(axes, 2), strides, {int8, cpu()});
    CHECK(hard.is_self_overlapping());
    CHECK(error_text([&] { hard += 1; })
              .ends_with("may overlap itself in memory, which takes too long to find out; write to "
                         "a replicate()"));
}

TEST_CASE_FIXTURE(Fixture, "results that are given, or left out") {
    const Function solve = named("linalg.solve"), qr = named("linalg.qr");
    Tensor a = of({3, 3}), b = of({3});
    Tensor frozen = of({3}), folded = empty_strided({2, 3}, {8, 0}, {float64, cpu()});
    frozen.set_read_only();
    const WrongCall calls[] = {
        {[&] {
             solve({a, b}, {.out = {of({2})}});
         },
         "[linalg.solve] x (2,) needs shape (3,)"},
        {[&] {
             solve({a, b}, {.out = {Tensor(), of({1}, int32)}});
         },
         "[linalg.solve] info (1,) needs shape ()"},
        {[&] { sum(a, 0, {.keepdims = true}, of({3})); }, "[core.sum] s (3,) needs shape (1, 3)"},
        {[&] { sort(a, 0, {}, of({3})); }, "[core.sort] b (3,) needs shape (3, 3)"},
        {[&] {
             solve({a, b}, {.out = {of({3}), of({}, int32), of({})}});
         },
         "[linalg.solve] got 3 tensors to write to, makes 2: x, info"},
        {[&] { add(b, 1, frozen); }, "[core.add] on cpu: c (3,) is read-only; write to a clone()"},
        {[&] {
             solve({a, b}, {.out = {frozen}});
         },
         "[linalg.solve] on cpu: x (3,) is read-only; write to a clone()"},
        {[&] { frozen.fill(0); }, "[core.fill] on cpu: out (3,) is read-only; write to a clone()"},
        {[&] { matmul(a, b, frozen); },
         "[core.matmul] on cpu: d (3,) is read-only; write to a clone()"},
        {[&] { frozen(vector<int>({0})) = 1; },
         "[core.scatter] on cpu: a (3,) is read-only; write to a clone()"},
        {[&] { folded += 1; },
         "[core.add] on cpu: c (2, 3) overlaps itself in memory; write to a replicate()"},
        {[&] {
             gemm(1, of({2, 3}), Op::N, a, Op::N, 0, folded);
         },
         "[core.matmul] on cpu: c (2, 3) overlaps itself in memory; write to a replicate()"},
        {[&] {
             qr({a}, {.out = {a, a}});
         },
         "[linalg.qr] q and r share memory; results need memory of their own"},
        {[&] { refused("a () -> plan: object", {b}, "", {.out = {b}}); },
         "[made.function] plan is an object, which the call makes; leave it out"},
        {[&] { qr({a}, {.without = {"r"}}); }, "[linalg.qr] r is always made, cannot be left out"},
        {[&] { qr({a}, {.without = {"s"}}); }, "[linalg.qr] has no result s, makes q, r"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_cast = false; });
             add(b, b, of({3}, float32));
         },
         "[core.add] got float64 on cpu for c (float32 on cpu) with automatic casting off; cast "
         "first, or set Settings::auto_cast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_cast = false; });
             b.assign(of({3}, float32));
         },
         "[core.copy] got float32 on cpu for out (float64 on cpu) with automatic casting off; cast "
         "first, or set Settings::auto_cast"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "dtypes, devices and elements that a function does not take") {
    Tensor z = of({3}, complex64), i = of({3}, int8), d = of({3});
    const WrongCall calls[] = {
        {[&] {
             named("linalg.solve")({of({3, 3}, complex64), d});
         },
         "[linalg.solve] got complex128 (a: complex64, b: float64), need one of float32, float64"},
        {[&] { less(z, z); },
         "[core.less] got complex64 (a, b), need one of bool, int8, int16, int32, int64, uint8, "
         "uint16, uint32, uint64, float16, bfloat16, float32, float64"},
        {[&] { less(z, d); },
         "[core.less] got complex128 (a: complex64, b: float64), need one of bool, int8, int16, "
         "int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64"},
        {[&] { min(z); },
         "[core.min] got complex64 (a), need one of bool, int8, int16, int32, int64, uint8, "
         "uint16, uint32, uint64, float16, bfloat16, float32, float64"},
        {[&] { negative(of({2}, bool_)); },
         "[core.negative] got bool (a), need one of int8, int16, int32, int64, uint8, uint16, "
         "uint32, uint64, float16, bfloat16, float32, float64, complex32, complex64, complex128"},
        {[&] { bitwise_and(i, 1.5); },
         "[core.bitwise_and] got float64 (a: int8, b: 1.5), need one of bool, int8, int16, int32, "
         "int64, uint8, uint16, uint32, uint64"},
        {[&] {
             named("core.fill")({}, {.attributes = {{"value", 1}}});
         },
         "[core.fill] got nothing that makes the dtype; give one with CallOptions::dtype"},
        {[&] { named("core.floor")({d}, {.dtype = complex128}); },
         "[core.floor] got complex128, need one of bool, int8, int16, int32, int64, uint8, uint16, "
         "uint32, uint64, float16, bfloat16, float32, float64"},
        {[&] { i + 1000; }, "[core.add] b = 1000 does not fit int8; cast the tensor, or give the "
                            "number a dtype with Scalar(value, dtype)"},
        {[&] { i.fill(-129); }, "[core.fill] -129 does not fit int8; convert it with Scalar::cast"},
        {[&] { i(vector<int>({0})) = 300; },
         "[core.scatter] 300 does not fit int8; convert it with Scalar::cast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_cast = false; });
             i + d;
         },
         "[core.add] got dtypes that differ (a: int8, b: float64) with automatic casting off; cast "
         "one of them, or set Settings::auto_cast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_cast = false; });
             i + 1.5;
         },
         "[core.add] got a number that makes float64 of int8 (a: int8, b: 1.5) with automatic "
         "casting off; cast the tensor, or set Settings::auto_cast"},
        {[&] {
             const ScopedSettings off([](Settings &s) { s.auto_cast = false; });
             d + of({3}).to(device("dummy:1"));
         },
         "[core.add] got a on cpu and b on dummy:1 with automatic casting off; move one with "
         "Tensor::to, or set Settings::auto_cast"},
        {[&] { pow(i, -1); }, "[core.pow] got b = -1, need 0 or more; cast to a float dtype first"},
        {[&] { left_shift(i, negative(i)); }, "[core.left_shift] got b = -1, need 0 or more"},
        {[&] { sqrt(negative(d), {}, ComputeMode::error); },
         "[core.sqrt] a has an element below 0"},
        {[&] { asin(d + d, {}, ComputeMode::error); },
         "[core.asin] a has an element outside [-1, 1]"},
        {[&] { divide(d, 0, {}, ComputeMode::error); },
         "[core.divide] b has an element that is zero"},
        {[&] { pow(negative(d), 0.5, {}, ComputeMode::error); },
         "[core.pow] a has a negative element where b is not an integer"},
        {[&] { sqrt(negative(d), of({3}), ComputeMode::complex); },
         "[core.sqrt] b is float64, needs a complex dtype for elements outside the domain"},
        // No elements where there must be some.
        {[&] { min(of({0})); }, "[core.min] a (0,) has no elements along n, needs at least one"},
        // As in NumPy: the loop's being empty does not help.
        {[&] {
             min(of({0, 1, 0}), {0, 1});
         },
         "[core.min] a (0, 1, 0) has no elements along n, needs at least one"},
        {[&] {
             argmax(of({3, 0}), 1);
         },
         "[core.argmax] a (3, 0) has no elements along n, needs at least one"},
        {[&] {
             named("linalg.dct")({of({0})}, {.attributes = {{"length", 2}}});
         },
         "[linalg.dct] a (0,) has no elements along n, needs at least one"},
        {[&] {
             named("linalg.qr")({of({3, 0})}, {.attributes = {{"mode", "complete"}}});
         },
         "[linalg.qr] a (3, 0) has no elements along n, needs at least one"},
        {[&] {
             refused("a () -> b (k), s ()", {d}, "", {.extents = {{"k", 0}}});
         },
         "[made.function] got k = 0, need at least 1"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "attributes") {
    const Function qr = named("linalg.qr"), smooth = named("linalg.smooth"),
                   dct = named("linalg.dct"), fill = named("core.fill"), sort = named("core.sort");
    const Tensor a = of({3, 3}), b = of({3});
    const WrongCall calls[] = {
        {[&] {
             qr({a}, {.attributes = {{"mod", "full"}}});
         },
         "[linalg.qr] has no attribute mod, takes mode"},
        {[&] {
             named("linalg.solve")({a, b}, {.attributes = {{"upper", true}}});
         },
         "[linalg.solve] has no attribute upper, takes none"},
        {[&] {
             qr({a}, {.attributes = {{"mode", "reduced"}, {"mode", "complete"}}});
         },
         "[linalg.qr] attribute mode is given twice"},
        {[&] { fill({}, {.dtype = int8}); },
         "[core.fill] got no attribute value, which has no default"},
        {[&] {
             qr({a}, {.attributes = {{"mode", "full"}}});
         },
         "[linalg.qr] attribute mode is 'full', needs one of reduced | complete"},
        {[&] {
             qr({a}, {.attributes = {{"mode", 1}}});
         },
         "[linalg.qr] attribute mode is 1, needs one of reduced | complete"},
        {[&] {
             qr({a}, {.attributes = {{"mode", Ints{1}}}});
         },
         "[linalg.qr] attribute mode is a list, needs one of reduced | complete"},
        {[&] {
             smooth({b}, {.attributes = {{"rate", "fast"}}});
         },
         "[linalg.smooth] attribute rate is 'fast', needs a number"},
        {[&] {
             smooth({b}, {.attributes = {{"rate", Ints{1}}}});
         },
         "[linalg.smooth] attribute rate is a list, needs a number"},
        {[&] {
             smooth({b}, {.attributes = {{"rate", std::complex<double>(0, 1)}}});
         },
         "[linalg.smooth] attribute rate is 0 + 1j, needs a real number"},
        {[&] {
             dct({b}, {.attributes = {{"length", 1.5}}});
         },
         "[linalg.dct] attribute length is 1.5, needs an integer"},
        {[&] {
             dct({b}, {.attributes = {{"length", ~std::uint64_t{0}}}});
         },
         "[linalg.dct] attribute length is 18446744073709551615, needs to fit int64"},
        {[&] {
             dct({b}, {.attributes = {{"length", "long"}}});
         },
         "[linalg.dct] attribute length is 'long', needs an integer"},
        {[&] {
             sort({b}, {.attributes = {{"descending", 1}}});
         },
         "[core.sort] attribute descending is 1, needs a bool"},
        {[&] {
             sort({b}, {.attributes = {{"descending", "yes"}}});
         },
         "[core.sort] attribute descending is 'yes', needs a bool"},
        {[&] {
             fill({}, {.attributes = {{"value", 300}}, .dtype = int8});
         },
         "[core.fill] attribute value is 300, needs to fit int8"},
        {[&] {
             fill({}, {.attributes = {{"value", std::complex<double>(0, 1)}}, .dtype = float32});
         },
         "[core.fill] attribute value is 0 + 1j, needs a real number"},
        {[&] { norm(a, {}, {.p = -1}); }, "[core.norm] attribute p is -1, needs 0 or more"},
        {[&] { norm(a, {}, {.p = std::complex<double>(0, 1)}); },
         "[core.norm] attribute p is 0 + 1j, needs a real number"},
        {[&] { var(a, {}, {.ddof = std::complex<double>(0, 1)}); },
         "[core.var] attribute ddof is 0 + 1j, needs a real number"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "results that are updated, and what callers cannot give") {
    const Tensor a = of({3, 3}), indices = zeros({2}, {int64, cpu()});
    const CallOptions short_one{.out = {of({2})}};
    const WrongCall calls[] = {
        {[&] { refused("x (n) -> a (n)&", {of({5})}, "", short_one); },
         "[made.function] a (2,) needs shape (5,)"},
        {[&] { refused("x (n) -> a (n)&", {of({5})}); },
         "[made.function] a is also read, needs a tensor to update: give one with "
         "CallOptions::out"},
        {[&] {
             named("linalg.qr")({a}, {.extents = {{"r", 5}}});
         },
         "[linalg.qr] takes no extents: it infers those that only results have"},
        {[&] {
             named("linalg.solve")({a, of({3})}, {.axes = 0});
         },
         "[linalg.solve] takes no axes: its core axes are the first ones of each operand"},
        {[&] {
             named("core.gather")({a, indices});
         },
         "[core.gather] is called by the host alone"},
    };
    check_texts(calls);
}

TEST_CASE_FIXTURE(Fixture, "a function that infers wrongly is to blame itself") {
    const auto with = [&](atoll_infer_fn infer) {
        const MadeFunction made("a (n) -> b (k)", "", infer);
        made.check({of({3})});
    };
    const WrongCall calls[] = {
        {[&] {
             with([](void *, atoll_infer *question, atoll_error *) {
                 question->extents[0] = 100;
                 question->extents[1] = 1;
                 return std::int32_t{ATOLL_STATUS_OK};
             });
         },
         "[made.function] the function's infer changed n = 3 to 100; report it to its vendor"},
        {[&] {
             with([](void *, atoll_infer *, atoll_error *) -> std::int32_t {
                 throw std::runtime_error("no memory of it");
             });
         },
         "[made.function] an exception crossed the plugin's border in infer (no memory of it); "
         "the plugin must catch it"},
    };
    check_texts(calls);
}
