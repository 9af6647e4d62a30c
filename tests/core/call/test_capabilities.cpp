// Implementations that take little: what the host copies, takes apart or refuses for them, and what
// plugins do beside calls. With tests/plugins/picky.cpp and odd.cpp.
#include "../picky.hpp"
#include "../support.hpp"
#include "atoll/interpose.hpp"
#include "atoll/module.hpp"

#include <algorithm>
#include <functional>

using namespace Atoll;
using namespace plugin_tests;
using support::counting;

namespace {

constexpr std::uint64_t strides =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

Device the_cpu() { return device(load_plugin("cpu").devices.at(0)); }

std::vector<std::complex<double>> numbers(const Tensor &tensor) {
    return tensor.cast(complex128).to_vector<std::complex<double>>();
}

// Calls that reached the outermost implementation of a function, but those that serve another.
class Recorder {
public:
    struct Operand {
        int flags;
        std::vector<std::int64_t> strides;
    };
    struct Seen {
        std::vector<std::int64_t> shape;
        int core;
        std::vector<Operand> operands;
    };
    explicit Recorder(const std::string &target) : handle_(push_interposer(target, &see, this)) {}
    ~Recorder() { pop_interposer(handle_); }
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;
    std::vector<Seen> take() { return std::exchange(seen_, {}); }

private:
    static std::int32_t see(const atoll_link *self, atoll_call *call) {
        Seen seen{{call->shape, call->shape + call->rank}, call->core, {}};
        for (int o = 0; o < call->operand_count; ++o) {
            const atoll_operand &operand = call->operands[o];
            seen.operands.push_back(
                {operand.flags, {operand.strides, operand.strides + call->rank}});
        }
        static_cast<Recorder *>(self->ctx)->seen_.push_back(std::move(seen));
        return self->next->fn(self->next, call);
    }
    std::vector<Seen> seen_;
    InterposerHandle handle_;
};

// Small integers: sums are exact whatever their order.
Tensor small(const oracle::Shape &shape, DType dtype, std::int64_t from = -3) {
    const Tensor whole = remainder(counting(shape, int64, the_cpu()), 7) + Scalar(from);
    if (!is_complex(dtype)) return whole.cast(dtype);
    const Tensor result = whole.cast(dtype);
    result.imag().assign(remainder(counting(shape, int64, the_cpu()), 5) - 2);
    return result;
}
Tensor swapped(const Tensor &tensor) {
    Tensor copy = tensor.clone();
    copy.byteswap();
    return copy;
}

// The same numbers in memory where no two axes can be merged.
Tensor apart(const Tensor &tensor) {
    Dims shape = tensor.shape(), wide = shape;
    for (std::int64_t &extent : wide) extent = 2 * extent + 1;
    const Tensor memory = zeros(wide, {tensor.dtype(), tensor.device()});
    Dims steps = memory.strides();
    for (std::int64_t &stride : steps) stride *= 2;
    Tensor view(memory.storage(), 0, shape, steps, tensor.dtype());
    view.assign(tensor);
    return view;
}

// The same without picky and with it.
void check_same(const std::string &words, const std::function<std::vector<Tensor>()> &run,
                PickyOptions options = {}) {
    const std::vector<Tensor> expected = run();
    const Picky picky(words, options);
    const std::vector<Tensor> got = run();
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(got[i].shape() == expected[i].shape());
        CHECK(got[i].dtype() == expected[i].dtype());
        CHECK(numbers(got[i]) == numbers(expected[i]));
    }
}

} // namespace

TEST_CASE("a product of three loops without factors computes all that gemm can") {
    load_plugin("cpu");
    const DType dtypes[] = {float64, float32, float16, int64, complex128};
    for (const DType T : dtypes) {
        CAPTURE(name(T));
        check_same("gemm", [&] {
            const Tensor square = small({4, 4}, T), a = small({4, 3}, T), b = small({3, 5}, T, -2),
                         c = small({4, 5}, T, -1);
            std::vector<Tensor> results;
            for (const Op op_a : {Op::N, Op::T, Op::C})
                for (const Op op_b : {Op::N, Op::T, Op::C})
                    for (const int alpha : {0, 1, 3})
                        for (const int beta : {0, 1, 2}) {
                            const Tensor out = c.clone();
                            const Tensor left = op_a == Op::N ? a : a.T().replicate(),
                                         right = op_b == Op::N ? b : b.T().replicate();
                            gemm(alpha, left, op_a, right, op_b, beta, out);
                            results.push_back(out);
                        }
            // c in another layout, byte order and dtype; c that is an operand or overlaps one.
            for (const Tensor &out :
                 {c.T().replicate().T(), swapped(c), c.cast(complex128), apart(c)}) {
                gemm(2, a, Op::N, b, Op::N, 3, out);
                results.push_back(out);
            }
            const Tensor same = square.clone(), rows = small({8, 4}, T);
            gemm(2, same, Op::N, same, Op::C, 1, same);
            gemm(2, rows.slice(0, 0, 4), Op::T, square, Op::N, 1, rows.slice(0, 1, 5));
            results.push_back(same);
            results.push_back(rows);
            // Stacks, vectors, operands in other layouts, byte orders and dtypes.
            const Tensor stack = small({4, 3, 2}, T), stacks = small({3, 5, 1, 3}, T);
            results.push_back(matmul(stack, b));
            results.push_back(matmul(stack, stacks));
            const Tensor many = small({4, 5, 2, 3}, T);
            gemm(2, stack, Op::N, stacks, Op::N, 2, many);
            results.push_back(many);
            results.push_back(matmul(a, small({3}, T)));
            const Tensor column = small({4}, T);
            gemm(3, a, Op::N, small({3}, T), Op::N, 1, column);
            results.push_back(column);
            results.push_back(matmul(a.T().replicate().T(), apart(b)));
            results.push_back(matmul(swapped(a), b));
            results.push_back(matmul(small({4, 3}, int32), b));
            const Tensor third = c.clone();
            gemm(2, small({3, 4}, int32), Op::C, b.T().replicate(), Op::T, 2,
                 third.T().replicate().T());
            results.push_back(third);
            results.push_back(Function("core.matmul")({a, b, small({4, 5, 2}, T)},
                                                      {.attributes = {{"beta", 2}}})[0]);
            results.push_back(Function("core.matmul")(
                {a, b, small({4, 5}, int32)},
                {.attributes = {{"alpha", 2}, {"beta", 2}, {"conj_a", true}}})[0]);
            // Nothing to multiply.
            const Tensor nothing = c.clone();
            gemm(2, zeros({4, 0}, {T, the_cpu()}), Op::N, zeros({0, 5}, {T, the_cpu()}), Op::N, 3,
                 nothing);
            results.push_back(nothing);
            const Tensor none = zeros({0, 5}, {T, the_cpu()});
            gemm(2, zeros({0, 3}, {T, the_cpu()}), Op::N, b, Op::N, 3, none);
            results.push_back(none);
            return results;
        });
    }
    // It is what the calls came to, and its parts are parts of core.matmul.
    const Picky picky("gemm");
    CHECK(contains(chain("core.matmul", "cpu", "float64").at(0), "picky"));
    CHECK(contains(chain("core.matmul", "cpu", "bfloat16").at(0), "cpu"));
    Recorder recorder("core.matmul@cpu");
    const Tensor a = small({4, 3}, float64), b = small({3, 5}, float64), c = small({4, 5}, float64);
    gemm(2, a, Op::N, b, Op::N, 1, c);
    CHECK(recorder.take().size() == 1);
    // Halves are multiplied as what they are accumulated in, so that factors do not round twice.
    const Tensor half = full({2, 2}, 1.0, {float16, the_cpu()});
    gemm(Scalar(1.0 / 3), half * 3, Op::N, eye(2, 2, 0, {float16, the_cpu()}), Op::N, 0.0, half);
    CHECK(half.to_doubles() == std::vector<double>(4, 1));
}

TEST_CASE(
    "with automatic broadcasting off an operand without core axes has all loop axes or none") {
    load_plugin("cpu");
    const Picky picky("");
    const Function raise("picky.raise");
    const Tensor a = ones({4, 3}, {float64, the_cpu()});
    const ScopedSettings strict([](Settings &s) { s.auto_broadcast = false; });
    const auto raised = [&](const Dims &loop) {
        return raise({a, ones(loop, {float64, the_cpu()})})[0].to_doubles();
    };
    CHECK(raised({}) == std::vector<double>(12, 3.0));
    CHECK(raised({3}) == std::vector<double>(12, 3.0));
    CHECK(support::error_status([&] { raised({1}); }) == Status::invalid_argument);
}

TEST_CASE("with alpha 0, or over nothing, a product is beta c, and its kernel is not called") {
    load_plugin("cpu");
    load_plugin("dummy");
    const Function product("core.matmul");
    for (const Device &device : {the_cpu(), Atoll::device("dummy")})
        for (const DType T : {float64, float32, float16, int64, complex128}) {
            CAPTURE(device.name());
            CAPTURE(name(T));
            const Stream stream = device.new_stream();
            const Placement where(T, device, stream);
            const Scalar any = is_floating(T) ? Scalar(NAN) : Scalar(7);
            const Tensor a = full({4, 3, 2}, any, where), b = full({3, 5}, any, where),
                         c = full({4, 5}, 0, where);
            c(all_, all_) = small({4, 5}, T);
            Recorder recorder("core.matmul@" + std::string(device.type()));
            const auto run = [&](const Tensor &left, const Tensor &right, const Tensor &addend,
                                 int alpha, int beta, const Tensor &out = {}) {
                std::vector<Tensor> into;
                if (out.is_defined()) into.push_back(out);
                const Tensor d = product(
                    {left, right, addend},
                    {.attributes = {{"alpha", alpha}, {"beta", beta}, {"conj_a", is_complex(T)}},
                     .out = into})[0];
                CHECK(d.stream() == stream);
                CHECK(recorder.take().empty());
                return numbers(d);
            };
            const auto once = numbers(multiply(c, Scalar(2).cast(T)));
            auto twice = once; // for each matrix of the stack
            twice.insert(twice.end(), once.begin(), once.end());
            CHECK(run(a, b, c, 0, 2) == twice);
            CHECK(run(a, b, {}, 0, 2) == numbers(zeros({4, 5, 2}, {T, device})));
            CHECK(run(a, b, full({4, 5}, any, where), 0, 0) ==
                  numbers(zeros({4, 5, 2}, {T, device})));
            const Tensor left = a(all_, all_, 0), none = zeros({4, 0}, where);
            CHECK(run(none, zeros({0, 5}, where), c, 3, 2) == once);
            const Tensor same = c.clone();
            CHECK(run(left, b, same, 0, 2, same) == once);
            const Tensor square = full({4, 4}, any, where), part = full({4, 4}, 0, where);
            part(all_, all_) = small({4, 4}, T);
            CHECK(run(square, square, part, 0, 1, square) == numbers(part));
        }
    const Tensor zero = full({1, 1}, -0.0, {float64, the_cpu()});
    CHECK(std::signbit(product({zero, zero, zero}, {.attributes = {{"alpha", 0}, {"beta", 1}}})[0]
                           .item<double>()));
}

TEST_CASE("a product of halves alone is not taken apart for ever") {
    load_plugin("cpu");
    const Variable mode("ODD", "");
    load_plugin(test_plugin("odd"));
    {
        // It has neither a product of float32 nor a fill of float16, for a factor.
        const Picky picky("gemm odd");
        const Tensor a = small({3, 3}, float16).to(device("odd"));
        const Function product("core.matmul");
        CHECK(product({a, a}, {.attributes = {{"conj_a", true}}})[0].to(the_cpu()).to_doubles() ==
              matmul(small({3, 3}, float16), small({3, 3}, float16)).to_doubles());
        const Caught error = caught([&] { product({a, a}, {.attributes = {{"alpha", 2}}}); });
        CHECK(error.status == Status::not_supported);
        CHECK(error.function == "core.fill");
    }
    retire_plugin("odd");
}

TEST_CASE("who multiplies matrices and nothing else contracts without sums, and scales") {
    load_plugin("cpu");
    const Variable mode("ODD", "");
    load_plugin(test_plugin("odd"));
    {
        const Picky picky("gemm odd");
        const auto results = [](const Device &on) {
            const Tensor a = small({3}, float64).to(on), b = small({4}, float64, 1).to(on),
                         c = small({3, 4}, float64).to(on), d = c.clone();
            contract(2, a, "i", b, "j", 0, d, "ij");
            contract(0, a, "i", b, "j", 3, c, "ij");
            return std::vector<std::vector<double>>{contract(a, "i", b, "j", "ij").to_doubles(),
                                                    c.to_doubles(), d.to_doubles()};
        };
        CHECK(results(device("odd")) == results(the_cpu()));
    }
    retire_plugin("odd");
}

TEST_CASE("who takes few axes gets no more, and the right values") {
    load_plugin("cpu");
    const Tensor a = small({3, 4, 2, 5}, float64), b = small({3, 4, 2, 5}, float64, 1);
    const std::vector<double> expected = (a + 2 * b).to_doubles();
    for (const int max_rank : {1, 2, 3}) {
        for (const std::uint64_t caps :
             {std::uint64_t{0}, std::uint64_t{ATOLL_CAP_STRIDED}, strides}) {
            CAPTURE(max_rank);
            CAPTURE(caps);
            const Picky picky("negative", {.caps = caps | ATOLL_CAP_LOOPS, .max_rank = max_rank});
            const Function axpy("picky.axpy"), total("picky.total");
            Recorder calls("picky.*@cpu"), negatives("core.negative@cpu:float64");
            const auto check_ranks = [&](std::size_t most) {
                for (const auto &seen : calls.take()) CHECK(seen.shape.size() <= most);
                for (const auto &seen : negatives.take()) CHECK(seen.shape.size() <= most);
            };
            const auto limit = static_cast<std::size_t>(caps ? max_rank : 1);
            const Tensor out = apart(zeros({3, 4, 2, 5}, {float64, the_cpu()}));
            CHECK(axpy({apart(a), apart(b)})[0].to_doubles() == expected);
            CHECK(axpy({apart(a), b})[0].to_doubles() == expected);
            CHECK(axpy({a.T().replicate().T(), apart(b)}, {.out = {out}})[0].to_doubles() ==
                  expected);
            CHECK(axpy({a, b(all_, all_, all_, range(0, 1))})[0].to_doubles() ==
                  (a + 2 * b(all_, all_, all_, range(0, 1))).to_doubles());
            CHECK(axpy({apart(a), 3.0})[0].to_doubles() == (a + 6.0).to_doubles());
            CHECK(negative(apart(a)).to_doubles() == (-a).to_doubles());
            CHECK(negative(apart(a), out).to_doubles() == (-a).to_doubles());
            check_ranks(limit);
            // A group, and what is kept: one axis each at least, or one element at a time.
            for (const std::vector<int> &axes :
                 {std::vector<int>{0}, {1}, {0, 2}, {1, 3}, {0, 1, 2, 3}}) {
                Axes list;
                list.list = axes;
                list.given = true;
                CHECK(total({apart(a)}, {.axes = list})[0].to_doubles() ==
                      sum(a, list).to_doubles());
                CHECK(total({a}, {.axes = list})[0].to_doubles() == sum(a, list).to_doubles());
            }
            check_ranks(static_cast<std::size_t>(caps ? max_rank : std::min(max_rank, 2)));
        }
    }
    {
        // As many axes as there may be, none of which can be merged.
        Dims shape = Dims::filled(64, 1), steps = Dims::filled(64, 0);
        std::int64_t step = sizeof(double);
        for (int axis = 3; axis < 63; axis += 6, step *= 3) shape[axis] = 2, steps[axis] = step;
        const Tensor memory = arange(1 << 16, {float64, the_cpu()});
        const Tensor deep(memory.storage(), 0, shape, steps, float64);
        const std::vector<double> twice = (deep + 2 * deep.flip(3)).to_doubles();
        const Tensor total = sum(deep, {0, 3, 15, 33});
        for (const int max_rank : {1, 4}) {
            const Picky picky("negative copy",
                              {.caps = strides | ATOLL_CAP_LOOPS, .max_rank = max_rank});
            CHECK(Function("picky.axpy")({deep, deep.flip(3)})[0].to_doubles() == twice);
            CHECK(negative(negative(deep)).to_doubles() == deep.to_doubles());
            CHECK(Function("picky.total")({deep}, {.axes = {0, 3, 15, 33}})[0].to_doubles() ==
                  total.to_doubles());
            CHECK(Function("picky.stretch")({deep, deep})[0].to_doubles() ==
                  (deep * 3.0).to_doubles());
        }
    }
    // A product needs three.
    const Tensor wide = apart(small({2, 3, 2, 2}, float64));
    const auto products = [&] {
        return std::vector<Tensor>{Function("picky.combine")({wide, wide(all_, all_, all_, 0)})[0]};
    };
    const Picky picky("", {.caps = strides, .max_rank = 2});
    Recorder calls("picky.combine");
    CHECK(products()[0].to_doubles() ==
          (wide + 2 * wide(all_, all_, all_, range(0, 1))).to_doubles());
    for (const auto &seen : calls.take()) CHECK(seen.shape.size() == 2);
}

TEST_CASE("a copy that takes few axes is called for parts") {
    load_plugin("cpu");
    const Tensor a = small({3, 4, 2, 5}, float64);
    const std::vector<double> expected = a.to_doubles();
    const Tensor positions = vector({2, 0}, {int64, the_cpu()});
    const std::vector<double> picked = Tensor(a(positions)).to_doubles();
    const Picky picky("copy", {.caps = strides, .max_rank = 2});
    Recorder copies("core.copy@cpu:float64");
    const Tensor view = apart(a);
    CHECK(view.clone().to_doubles() == expected);
    CHECK(view.to_doubles() == expected);
    Tensor out = apart(zeros({5, 2, 4, 3}, {float64, the_cpu()}));
    out.assign(view.permute_axes({3, 2, 1, 0}));
    CHECK(out.permute_axes({3, 2, 1, 0}).to_doubles() == expected);
    CHECK(Tensor(view(positions)).to_doubles() == picked);
    const auto seen = copies.take();
    CHECK(seen.size() > 4);
    for (const auto &call : seen) CHECK(call.shape.size() <= 2);
}

TEST_CASE("positions are moved, aligned, in native order and in bytes for those who need it") {
    load_plugin("cpu");
    alignas(8) char buffer[25];
    Tensor odd = from_memory(buffer + 1, {3}, {8}, int64, the_cpu());
    for (const std::uint64_t caps : {std::uint64_t{0}, strides | ATOLL_CAP_LOOPS,
                                     strides | ATOLL_CAP_LOOPS | ATOLL_CAP_UNALIGNED})
        for (const int knows : {0, 1}) {
            CAPTURE(caps);
            CAPTURE(knows);
            check_same(
                "gather scatter",
                [&] {
                    const Tensor a = small({4, 5}, float64),
                                 at = vector({3, 0, 2}, {int64, the_cpu()}),
                                 points = tensor({{3, 2, 1}, {0, 1, 1}}, int64);
                    odd.assign(at);
                    std::vector<Tensor> results;
                    for (const Tensor &from : {a, apart(a), a.T().replicate().T(), swapped(a)}) {
                        for (const Tensor &p :
                             {at, Tensor(at(range({}, {}, -1))), swapped(at), odd, apart(at)}) {
                            results.push_back(from(p));
                            results.push_back(from(all_, p));
                            // Offsets as they are: of bytes, from one place.
                            const Tensor bytes = from(all_, 0).cast(uint8).replicate();
                            results.push_back(bytes(p));
                            Tensor to = from.replicate();
                            to(p) = -1.5;
                            to(all_, p) = Tensor(a(all_, p)) * 2.0;
                            results.push_back(to);
                            bytes(p) = tensor({7, 8, 9}, uint8);
                            results.push_back(bytes);
                        }
                        results.push_back(from(points));
                        results.push_back(from(apart(points)));
                    }
                    return results;
                },
                {.caps = caps, .knows = knows});
        }
}

TEST_CASE("INNER_DENSE: the first core axis is dense, the others lie as they like") {
    load_plugin("cpu");
    const Tensor a = small({4, 3}, float64), b = small({4, 3}, float64, 2);
    const std::vector<double> expected = (a + 2 * b).to_doubles();
    for (const std::uint64_t loops : {std::uint64_t{0}, std::uint64_t{ATOLL_CAP_LOOPS}}) {
        const Picky picky("", {.caps = ATOLL_CAP_INNER_DENSE | loops});
        const Function combine("picky.combine");
        Recorder calls("picky.combine");
        // Rows of a larger matrix: as BLAS takes them.
        const Tensor large = zeros({9, 3}, {float64, the_cpu()});
        Tensor part = large.slice(0, 2, 6);
        part.assign(a);
        CHECK(combine({part, b})[0].to_doubles() == expected);
        auto seen = calls.take();
        REQUIRE(seen.size() == 1);
        CHECK(seen[0].operands[1].strides == std::vector<std::int64_t>{8, 72});
        CHECK(seen[0].operands[1].flags == 0);
        // The first axis is not dense: copied.
        CHECK(combine({a.T().replicate().T(), apart(b)})[0].to_doubles() == expected);
        seen = calls.take();
        REQUIRE(seen.size() == 1);
        for (int o = 0; o < 3; ++o) {
            CHECK(seen[0].operands[o].strides == std::vector<std::int64_t>{8, 32});
            CHECK(seen[0].operands[o].flags == (o ? ATOLL_OPERAND_DISPOSABLE : 0));
        }
        // Turned around, and broadcast: not declared.
        CHECK(combine({a(all_, range({}, {}, -1)), b})[0].to_doubles() ==
              (a(all_, range({}, {}, -1)) + 2 * b).to_doubles());
        CHECK(combine({a, b(all_, range(0, 1)).broadcast_to({4, 3})})[0].to_doubles() ==
              (a + 2 * b(all_, range(0, 1))).to_doubles());
        for (const auto &call : calls.take())
            for (const auto &operand : call.operands) CHECK(operand.strides[0] == 8);
        // Another dtype is copied in its own layout first.
        CHECK(combine({a.cast(int32).T().replicate().T(), b})[0].to_doubles() == expected);
        const Tensor out = apart(zeros({4, 3}, {float64, the_cpu()}));
        combine({a, b}, {.out = {out}});
        CHECK(out.to_doubles() == expected);
        // Loops in any layout.
        const Tensor stack = small({2, 4, 3}, float64).permute_axes({1, 2, 0});
        CHECK(combine({stack, b})[0].to_doubles() ==
              (stack + 2 * b.reshape({4, 3, 1})).to_doubles());
        for (const auto &call : calls.take())
            for (const auto &operand : call.operands) CHECK(operand.strides[0] == 8);
        // One row: a stride on an axis of one element says nothing.
        CHECK(combine({a.T()(range(0, 1)), b.T()(range(0, 1))})[0].to_doubles() ==
              (a.T()(range(0, 1)) + 2 * b.T()(range(0, 1))).to_doubles());
        CHECK(Function("picky.total")({apart(a)}, {.axes = 1})[0].to_doubles() ==
              sum(a, 1).to_doubles());
    }
}

TEST_CASE("LOOPS: one dense loop axis, with STRIDED any") {
    load_plugin("cpu");
    const Tensor a = small({4, 3, 2, 2}, float64), b = small({4, 3, 1, 2}, float64, 2);
    const std::vector<double> expected = (a + 2 * b).to_doubles();
    struct Entry {
        std::uint64_t caps;
        std::size_t calls, rank;
    };
    for (const Entry &entry : {Entry{0, 4, 2}, Entry{strides, 4, 2}, Entry{ATOLL_CAP_LOOPS, 1, 3},
                               Entry{ATOLL_CAP_LOOPS | strides, 1, 4}}) {
        CAPTURE(entry.caps);
        const Picky picky("", {.caps = entry.caps});
        Recorder calls("picky.combine");
        const Tensor out = apart(zeros({4, 3, 2, 2}, {float64, the_cpu()}));
        CHECK(Function("picky.combine")({apart(a), b}, {.out = {out}})[0].to_doubles() == expected);
        const auto seen = calls.take();
        CHECK(seen.size() == entry.calls);
        for (const auto &call : seen) {
            CHECK(call.core == 2);
            CHECK(call.shape.size() == entry.rank);
            if (entry.caps != ATOLL_CAP_LOOPS) continue;
            for (const auto &operand : call.operands)
                CHECK(operand.strides == std::vector<std::int64_t>{8, 32, 96});
        }
        // One that does not vary over the loop is not copied along it.
        CHECK(Function("picky.combine")({a, b(all_, all_, 0, 0)})[0].to_doubles() ==
              (a + 2 * b(all_, all_, range(0, 1), range(0, 1))).to_doubles());
        for (const auto &call : calls.take())
            for (std::size_t i = 2; i < call.shape.size(); ++i)
                CHECK(call.operands[2].strides[i] == 0);
    }
}

TEST_CASE("an inserted copy says which capability is missing") {
    load_plugin("cpu");
    const Tensor a = small({4, 3}, float64), b = small({4, 3}, float64, 2),
                 stack = small({4, 3, 5}, float64, 1);
    const auto combine = [](const Tensor &x, const Tensor &y, const Tensor &out = {}) {
        if (!out.is_defined()) return Function("picky.combine")({x, y})[0];
        return Function("picky.combine")({x, y}, {.out = {out}})[0];
    };
    const auto odd = [](const Tensor &tensor) { // the same one byte further on
        const Tensor memory = zeros({tensor.bytes() + 1}, {uint8, the_cpu()});
        Tensor view(memory.storage(), 1, tensor.shape(), tensor.strides(), tensor.dtype());
        view.assign(tensor);
        return view;
    };
    constexpr std::uint64_t everything =
        strides | ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS | ATOLL_CAP_SWAPPED |
        ATOLL_CAP_UNALIGNED | ATOLL_CAP_SCALARS | ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS;
    struct Entry {
        std::uint64_t missing;
        std::function<Tensor()> run;
        std::uint32_t reasons;
    };
    const Entry entries[] = {
        {ATOLL_CAP_MIXED_INPUTS, [&] { return combine(a.cast(int32), b); }, ATOLL_REASON_DTYPE},
        {ATOLL_CAP_MIXED_OUTPUTS,
         [&] {
             return combine(a, b, zeros({4, 3}, {float32, the_cpu()}));
         },
         ATOLL_REASON_OUTPUT_DTYPE},
        {ATOLL_CAP_SWAPPED, [&] { return combine(a, swapped(b)); }, ATOLL_REASON_BYTE_ORDER},
        {ATOLL_CAP_UNALIGNED, [&] { return combine(odd(a), b); }, ATOLL_REASON_ALIGNMENT},
        {ATOLL_CAP_NEGATIVE_STRIDES, [&] { return combine(a.flip(0), b); },
         ATOLL_REASON_NEGATIVE_STRIDES},
        {strides, [&] { return combine(apart(a), b); }, ATOLL_REASON_STRIDES},
        {ATOLL_CAP_SWAPPED | strides, [&] { return combine(swapped(apart(a)), b); },
         ATOLL_REASON_BYTE_ORDER}, // the copy is dense in any case
        {ATOLL_CAP_LOOPS,
         [&] {
             return combine(stack, stack, zeros({4, 3, 5}, {float64, the_cpu()}));
         },
         ATOLL_REASON_LOOPS},
        {0, [&] { return combine(a, b, b.clone()); }, 0},
        {0, [&] { return combine(a, b, b); }, ATOLL_REASON_OVERLAP},
    };
    for (const Entry &entry : entries) {
        CAPTURE(entry.missing);
        const Picky picky("", {.caps = everything & ~entry.missing});
        struct Seen {
            std::uint32_t reasons = 0;
            int copies = 0;
        } seen;
        const InterposerHandle handle = push_interposer(
            "core.copy",
            +[](const atoll_link *self, atoll_call *call) {
                auto &own = *static_cast<Seen *>(self->ctx);
                if (call->flags & ATOLL_CALL_INSERTED) {
                    own.reasons |= call->reasons;
                    ++own.copies;
                }
                return self->next->fn(self->next, call);
            },
            &seen);
        entry.run();
        pop_interposer(handle);
        CHECK(seen.reasons == entry.reasons);
        CHECK((seen.copies > 0) == (entry.reasons != 0));
    }
}

TEST_CASE("DISPOSABLE: what was copied for the call may be spoilt, and nothing else") {
    load_plugin("cpu");
    const Tensor a = small({4, 3}, float64), b = small({4, 3}, float64, 2),
                 stack = small({4, 3, 5}, float64, 1);
    const std::vector<double> before = a.to_doubles();
    for (const std::uint64_t caps :
         {std::uint64_t{0}, strides, std::uint64_t{ATOLL_CAP_LOOPS}, ATOLL_CAP_LOOPS | strides}) {
        CAPTURE(caps);
        const Picky picky("negative", {.caps = caps});
        const Function combine("picky.combine"), axpy("picky.axpy");
        Recorder calls("picky.*");
        const auto flags = [&] {
            std::vector<int> list;
            for (const auto &seen : calls.take())
                for (const auto &operand : seen.operands) list.push_back(operand.flags);
            return list;
        };
        combine({a, b});
        CHECK(flags() == std::vector<int>{0, 0, 0});
        combine({a.cast(int32), b});
        CHECK(flags() == std::vector<int>{0, ATOLL_OPERAND_DISPOSABLE, 0});
        combine({a, swapped(b)});
        CHECK(flags() == std::vector<int>{0, 0, ATOLL_OPERAND_DISPOSABLE});
        CHECK(combine({a, a.cast(int32)}, {.out = {b.clone()}})[0].to_doubles() ==
              (3 * a).to_doubles());
        // What is copied once serves every element of the loop, so it is not for the first to
        // spoil.
        CHECK(combine({stack, b.cast(int32)})[0].to_doubles() ==
              (stack + 2 * b.reshape({4, 3, 1})).to_doubles());
        CHECK(combine({a.cast(int32), stack.cast(int32)})[0].to_doubles() ==
              (a.reshape({4, 3, 1}) + 2 * stack).to_doubles());
        CHECK(axpy({a.cast(int32), b(0, 0).cast(int32)})[0].to_doubles() ==
              (a + 2 * b(0, 0)).to_doubles());
        CHECK(axpy({stack, b(all_, all_).cast(int32)})[0].to_doubles() ==
              (stack + 2 * b.reshape({4, 3, 1})).to_doubles());
        CHECK(axpy({2, b.cast(int32)})[0].to_doubles() == (2 * b + 2.0).to_doubles());
        CHECK(a.to_doubles() == before);
    }
}

TEST_CASE("attributes and operands that an implementation does not know never reach it") {
    load_plugin("cpu");
    const Tensor a = vector({3., 1., 2.}, {the_cpu()}), ones_ = ones({3}, {float64, the_cpu()});
    {
        const Picky picky("sort");
        for (const Tensor &x : {a, apart(a)}) {
            CHECK(sort(x).to_doubles() == std::vector<double>{1, 2, 3});
            const Caught error = caught([&] { sort(x, 0, {.descending = true}); });
            CHECK(error.status == Status::not_supported);
            CHECK(error.function == "core.sort");
            CHECK_MESSAGE(contains(error.text, "plugin picky"), error.text);
            CHECK_MESSAGE(contains(error.text, "descending"), error.text);
        }
        CHECK(sort(small({3, 4}, float64), 1).to_doubles() ==
              sort(small({3, 4}, float32), 1).to_doubles());
        CHECK(caught([&] {
                  sort(small({3, 4}, float64), 1, {.descending = true});
              }).status == Status::not_supported);
        // Float32 is still the cpu's.
        CHECK(sort(a.cast(float32), 0, {.descending = true}).to_doubles() ==
              std::vector<double>{3, 2, 1});
    }
    for (const int knows : {0, 1, 2}) {
        CAPTURE(knows);
        const Picky picky("", {.knows = knows});
        const Function shift("picky.shift");
        const auto call = [&](std::initializer_list<Operand> inputs, double by) {
            return shift(inputs, {.attributes = {{"by", by}, {"times", 1}}})[0].to_doubles();
        };
        CHECK(call({a}, 0) == std::vector<double>{3, 1, 2});
        CHECK(call({a, Tensor()}, 0) == std::vector<double>{3, 1, 2});
        // `times` has no default, so it counts as known; `by` before it does not.
        std::vector<double> with_by, with_b;
        const Caught attribute = caught([&] { with_by = call({a}, 1); }),
                     input = caught([&] {
                         with_b = call({a, ones_}, 0);
                     });
        CHECK(attribute.status == (knows < 1 ? Status::not_supported : Status::ok));
        CHECK(input.status == (knows < 2 ? Status::not_supported : Status::ok));
        if (knows >= 1) CHECK(with_by == std::vector<double>{4, 2, 3});
        if (knows >= 2) CHECK(with_b == std::vector<double>{4, 2, 3});
        if (knows < 1) {
            CHECK_MESSAGE(contains(attribute.text, "plugin picky does not know the attribute by"),
                          attribute.text);
            CHECK_MESSAGE(contains(input.text, "plugin picky does not know the operand b"),
                          input.text);
        }
    }
}

TEST_CASE("extensions: unknown ones are skipped, required ones make their declaration ignored") {
    load_plugin("cpu");
    const auto load_odd = [](const std::string &mode) {
        const Variable variable("ODD", "extension " + mode);
        PluginReport report;
        const Caught error = caught([&] { report = load_plugin(test_plugin("odd")); });
        if (error.status == Status::ok) {
            std::string ignored;
            for (const std::string &line : report.ignored) ignored += line + "\n";
            const bool works = !report.devices.empty() && caught([] {
                                                              zeros({2}, {float64, device("odd")});
                                                          }).status == Status::ok;
            const bool roots = works && caught([] {
                                            sqrt(full({2}, 4.0, {float64, device("odd")}));
                                        }).status == Status::ok;
            const bool wraps = caught([] {
                                   pop_interposer(push_interposer("*", "odd_wrap"));
                               }).status == Status::ok;
            const bool defines = caught([] { Module("oddities"); }).status == Status::ok;
            retire_plugin("odd");
            return std::pair(error, ignored + (works ? " works" : "") + (roots ? " roots" : "") +
                                        (wraps ? " wraps" : "") + (defines ? " defines" : ""));
        }
        return std::pair(error, std::string());
    };
    for (const std::string what : {"function", "impl", "module", "interposer", "type"}) {
        CAPTURE(what);
        const auto [taken, all] = load_odd(what);
        CHECK_MESSAGE(taken.status == Status::ok, taken.text);
        CHECK(all == std::string(" works roots wraps") + (what == "module" ? " defines" : ""));
        for (const std::string more : {"", " unreadable"}) {
            if (!more.empty() && what != "module" && what != "impl") continue;
            CAPTURE(more);
            const auto [error, left] = load_odd(what + " required" + more);
            CHECK_MESSAGE(error.status == Status::ok, error.text);
            CHECK_MESSAGE(contains(left, "needs extension 77"), left);
            const auto has = [&](const char *word) {
                return contains(left, std::string(" ") + word);
            };
            CHECK(has("works") == (what != "type" && what != "impl"));
            CHECK(has("roots") == (what != "type" && what != "impl" && what != "function"));
            CHECK(has("wraps") == (what != "interposer"));
            CHECK_FALSE(has("defines"));
        }
        for (const std::string fault : {" circle", " short"}) {
            CAPTURE(fault);
            const auto [error, nothing] = load_odd(what + fault);
            CHECK(error.status == Status::plugin_fault);
            CHECK_MESSAGE(contains(error.text, "descriptor is broken"), error.text);
        }
    }
    check_cpu_works();
}

TEST_CASE(
    "calls outside of calls: device memory while a device is open, a thread of the plugin's") {
    load_plugin("cpu");
    load_plugin("dummy");
    LogCapture log;
    const auto said = [&](const std::vector<std::string> &lines, const std::string &text) {
        return std::any_of(lines.begin(), lines.end(),
                           [&](const std::string &line) { return contains(line, text); });
    };
    const auto shown = [](const std::vector<std::string> &lines) {
        std::string text;
        for (const std::string &line : lines) text += line + "\n";
        return text;
    };
    {
        const Picky picky("memory thread dummy");
        auto lines = log.take();
        INFO(shown(lines));
        CHECK(said(lines, "opened cpu 0"));
        CHECK(said(lines, "opened dummy 0"));
        CHECK(said(lines, "path " + test_plugin("picky")));
        CHECK(said(lines, "find 'core.fill' 0 0 " + std::to_string(ATOLL_FN_fill)));
        for (const char *nothing : {"core.nothing", "picky.next", "picky.", "", "."})
            CHECK(said(lines, std::string("find '") + nothing + "' " +
                                  std::to_string(ATOLL_STATUS_NOT_FOUND) + " 7 7"));
        // Memory goes back to a device that retires first.
        retire_plugin("dummy");
        lines = log.take();
        INFO(shown(lines));
        CHECK(said(lines, "closed dummy 0"));
        CHECK_FALSE(said(lines, "closed cpu"));
        load_plugin("dummy");
        lines = log.take();
        INFO(shown(lines));
        CHECK(said(lines, "opened dummy 0"));
        {
            const Object counter = Function("picky.make").make({}, {.device = device("dummy:0")});
            CHECK(Function("picky.next")({counter})[0].item().to_int() == 0);
        }
    }
    const auto lines = log.take();
    INFO(shown(lines));
    CHECK(said(lines, "closed cpu 0"));
    CHECK(said(lines, "closed dummy 0"));
    CHECK(said(lines, "worked some"));
    CHECK_FALSE(said(lines, "failed"));
    // A device that is gone is not computed on.
    const Device gone = device("dummy:0");
    const Picky picky("dummy");
    const Function make("picky.make");
    retire_plugin("dummy");
    const Caught error = caught([&] { make.make({}, {.device = gone}); });
    CHECK_MESSAGE(contains(error.text, "has been retired"), error.text);
    load_plugin("dummy");
    CHECK(make.make({}, {.device = gone}).device() == gone);
}

TEST_CASE("values are looked at by the host, unless the implementation reports them itself") {
    the_cpu();
    const Tensor values = counting({3}, int64, the_cpu()),
                 counts = vector<std::int64_t>({1, 0, -2}, {int64, the_cpu()});
    {
        const Picky picky("left_shift");
        Recorder looks("core.min@cpu");
        const Caught error = caught([&] { left_shift(values, counts); });
        CHECK(contains(error.text, "got b = -2, need 0 or more"));
        CHECK(looks.take().size() == 1);
    }
    const Picky picky("left_shift", {.caps = ATOLL_CAP_REPORTS_RANGE});
    Recorder looks("core.min@cpu");
    CHECK(contains(caught([&] { left_shift(values, counts); }).text, "seen by the kernel"));
    CHECK(left_shift(values, abs(counts)).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{0, 1, 8});
    CHECK(looks.take().empty());
}

TEST_CASE("an implementation that takes fewer axes than its function has is refused") {
    the_cpu();
    const Caught error = caught([] { const Picky picky("gemm", {.max_rank = 2}); });
    CHECK(error.status == Status::incompatible);
    CHECK(
        contains(error.text, "declares max_rank 2 for core.matmul, whose calls have 3 core axes"));
    const Picky picky("gemm", {.max_rank = 3});
}

TEST_CASE("numbers become dense where the first result is left out, too") {
    the_cpu();
    const Picky picky("");
    const Function sums("picky.sums");
    const Tensor a = counting({6}, float64, the_cpu());
    const std::vector<double> expected = (a + 4).to_doubles();
    CHECK(sums({a, 2.0})[0].to_doubles() == expected);
    CHECK(sums({a, 2.0}, {.without = {"copy"}})[1].to_doubles() == expected);
}

TEST_CASE("groups that stay apart are sent to implementations that take several axes") {
    the_cpu();
    const Tensor a = counting({2, 3}, float64, the_cpu());
    {
        const Picky picky("", {.caps = strides});
        const Function apart("picky.apart");
        const Caught error = caught([&] { apart({a}); });
        CHECK(error.status == Status::not_supported);
        CHECK(contains(error.text, "takes one axis at a time where these operands have several"));
        CHECK(apart({a}, {.axes = 0})[0].to_doubles() == sum(a, 0).to_doubles());
        CHECK(apart({full({}, 5.0, {float64, the_cpu()})})[0].item().to_double() == 5);
    }
    const Picky picky("", {.caps = strides | ATOLL_CAP_GROUPS});
    CHECK(Function("picky.apart")({a})[0].item().to_double() == 15);
}
