// The kernel library through its C header: every call that the runtime makes of the cpu plugin
// gives the same bytes there; and what the header says of wrong, empty and large calls.
#include "../core/call/call_grid.hpp"
#include "atoll/kernels.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

// ---- the plugin's calls again ----

// The bytes that an output lies in.
struct Range {
    char *low, *high;
};
Range range_of(const atoll_call &call, const atoll_operand &operand) {
    char *low = static_cast<char *>(operand.data), *high = low;
    for (int axis = 0; axis < call.rank; ++axis) {
        const std::int64_t reach = (call.shape[axis] - 1) * operand.strides[axis];
        (reach < 0 ? low : high) += reach;
    }
    if (call.function == ATOLL_FN_scatter) { // anywhere in what was allocated: see the offsets
        const atoll_operand &offsets = call.operands[2];
        std::int64_t least = 0, most = 0;
        oracle::each(oracle::Shape(call.shape, call.shape + call.rank),
                     [&](const oracle::Shape &i) {
                         const char *at = static_cast<const char *>(offsets.data);
                         for (int axis = 0; axis < call.rank; ++axis)
                             at += i[static_cast<std::size_t>(axis)] * offsets.strides[axis];
                         std::int64_t offset;
                         std::memcpy(&offset, at, sizeof offset);
                         offset *= call.attributes[0].value.i64;
                         least = std::min(least, offset);
                         most = std::max(most, offset);
                     });
        low += least;
        high += most;
    }
    return {low, high + oracle::facts[operand.dtype].size};
}

struct Comparison {
    std::int64_t calls = 0, differ = 0;
    std::string first;
    bool seen[ATOLL_FN_COUNT] = {};
};

// Makes the call of the plugin's and then of the library, on a copy of what it writes.
std::int32_t compare(const atoll_link *self, atoll_call *call) {
    auto &comparison = *static_cast<Comparison *>(self->ctx);
    const Range range = range_of(*call, call->operands[0]);
    // At the same distance from a cache line: how vectors are cut does not differ.
    std::vector<char> memory(static_cast<std::size_t>(range.high - range.low) + 128);
    char *copy = memory.data();
    while ((reinterpret_cast<std::uintptr_t>(copy) ^ reinterpret_cast<std::uintptr_t>(range.low)) %
           64)
        ++copy;
    std::copy(range.low, range.high, copy);
    const auto moved = [&](void *data) {
        char *at = static_cast<char *>(data);
        return at >= range.low && at < range.high ? copy + (at - range.low) : at;
    };

    const Atoll::sdk::Signature &signature = Atoll::sdk::core_functions[call->function].signature;
    std::vector<atoll_kernel_operand> operands;
    std::vector<std::int64_t> strides[ATOLL_MAX_OPERANDS];
    for (int i = 0; i < call->operand_count; ++i) {
        const atoll_operand &from = call->operands[i];
        strides[i].assign(from.strides, from.strides + call->rank);
        // What stands at axes that an operand does not have is ignored.
        for (int slot = 0, axis = 0; slot < signature.slot_count; ++slot)
            for (int end = axis + call->axes[slot]; axis < end; ++axis)
                if (!signature.operand(i).has_axis(slot)) strides[i][axis] = 1'000'003;
        const bool swapped = from.flags & ATOLL_OPERAND_SWAPPED;
        operands.push_back({moved(from.data), strides[i].data(), from.dtype,
                            swapped ? std::uint32_t{ATOLL_KERNEL_SWAPPED} : 0});
    }
    char error[300] = "";
    atoll_kernel_call again{};
    again.struct_size = sizeof again;
    again.function = call->function;
    again.dtype = call->dtype;
    again.rank = call->rank;
    again.operand_count = call->operand_count;
    again.attribute_count = call->attribute_count;
    std::copy_n(call->axes, signature.slot_count, again.axes);
    again.extents = call->shape;
    again.operands = operands.data();
    again.attributes = call->attributes;
    again.error = error;
    again.error_capacity = sizeof error;
    const std::int32_t status = atoll_kernel_run(&again);
    const std::int32_t expected = self->next->fn(self->next, call);
    ++comparison.calls;
    comparison.seen[call->function] = true;
    if ((status != expected || !std::equal(range.low, range.high, copy)) && !comparison.differ++)
        comparison.first = std::string(functions[call->function].name) + ' ' +
                           oracle::facts[call->dtype].name + ", status " + std::to_string(status) +
                           ' ' + error;
    return expected;
}

} // namespace

TEST_CASE("every function gives through the library what it gives through the plugin") {
    const Atoll::Device cpu = support::cpu();
    Comparison comparison;
    const auto handle = Atoll::push_interposer("core.*@cpu", &compare, &comparison);
    const AnyOutput any;
    std::string operation;
    const calls::Grid grid(cpu, [&](const std::string &name, const std::function<void()> &run) {
        const std::int64_t before = comparison.differ;
        try {
            run();
        } catch (const Atoll::Error &) { // what the runtime refuses is no call
        }
        if (comparison.differ && !before) operation = name;
    });
    grid.every_function(true);
    grid.axes();
    grid.products();
    grid.scalars();
    grid.moves();
    Atoll::pop_interposer(handle);
    INFO(operation << ": " << comparison.first);
    CHECK(comparison.differ == 0);
    CHECK(comparison.calls > 10'000);
    for (int function = 0; function < ATOLL_FN_COUNT; ++function) {
        INFO(functions[function].name);
        CHECK(comparison.seen[function]);
    }
}

// ---- calls by hand ----

namespace {

// A call on float64 vectors, whose members a test changes.
struct Call : atoll_kernel_call {
    explicit Call(int f, std::vector<std::int64_t> shape) : atoll_kernel_call{}, shape_(shape) {
        struct_size = sizeof(atoll_kernel_call);
        function = static_cast<std::uint16_t>(f);
        dtype = ATOLL_DTYPE_FLOAT64;
        rank = static_cast<std::uint16_t>(shape_.size());
        extents = shape_.data();
        error = text;
        error_capacity = sizeof text;
    }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    Call &with(void *data, std::vector<std::int64_t> strides,
               std::uint32_t of = ATOLL_DTYPE_FLOAT64) {
        strides_.push_back(std::make_unique<std::vector<std::int64_t>>(std::move(strides)));
        list_.push_back({data, strides_.back()->data(), of, 0});
        operands = list_.data();
        operand_count = static_cast<std::uint16_t>(list_.size());
        return *this;
    }
    Call &with(const atoll_scalar &value) {
        values_.push_back(value);
        attributes = values_.data();
        attribute_count = static_cast<std::uint16_t>(values_.size());
        return *this;
    }
    std::int32_t run() { return atoll_kernel_run(this); }

    char text[300] = "";
    std::vector<atoll_kernel_operand> list_;

private:
    std::vector<std::int64_t> shape_;
    std::vector<std::unique_ptr<std::vector<std::int64_t>>> strides_;
    std::vector<atoll_scalar> values_;
};

} // namespace

TEST_CASE("attributes have their defaults, and values of other dtypes are converted") {
    double a[] = {1, 2, 3, 4}, b[] = {5, 6}, d[2] = {7, 7};
    // d = A b, then d = 2 A b + d, of a column-major A
    const auto product = [&](Call &call) -> Call & {
        return call.with(d, {8, 0, 0}).with(a, {8, 16, 0}).with(b, {0, 8, 0});
    };
    Call plain(ATOLL_KERNEL_matmul, {2, 2, 1});
    REQUIRE(product(plain).run() == ATOLL_STATUS_OK);
    CHECK(d[0] == 23);
    CHECK(d[1] == 34);
    Call scaled(ATOLL_KERNEL_matmul, {2, 2, 1});
    product(scaled).with(d, {8, 0, 0});
    atoll_scalar two{}, one{};
    two.dtype = ATOLL_DTYPE_INT64;
    two.value.i64 = 2;
    one.dtype = ATOLL_DTYPE_FLOAT32;
    one.value.f32[0] = 1;
    REQUIRE(scaled.with(two).with(one).run() == ATOLL_STATUS_OK);
    CHECK(d[0] == 23 + 2 * 23);
    // var with ddof = 1 as an integer
    double var = 0;
    one.dtype = ATOLL_DTYPE_UINT8;
    one.value = {};
    one.value.bytes[0] = 1;
    Call variance(ATOLL_KERNEL_var, {4});
    REQUIRE(variance.with(&var, {0}).with(a, {8}).with(one).run() == ATOLL_STATUS_OK);
    CHECK(var == 5.0 / 3);
}

TEST_CASE("a name may stand for several axes") {
    double a[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}}, sum[3] = {};
    // over the first and the last axis
    Call call(ATOLL_KERNEL_sum, {2, 2, 3});
    call.axes[0] = 2;
    REQUIRE(call.with(sum, {0, 0, 8}).with(a, {48, 8, 16}).run() == ATOLL_STATUS_OK);
    CHECK(sum[0] == 1 + 2 + 7 + 8);
    CHECK(sum[2] == 5 + 6 + 11 + 12);
    // d[i] = sum over k and l of a[k][i][l] b[k][l]
    double b[2][2] = {{1, 10}, {100, 1000}}, d[3] = {};
    Call product(ATOLL_KERNEL_matmul, {3, 2, 2, 1});
    product.axes[1] = 2;
    product.with(d, {8, 0, 0, 0}).with(a, {16, 48, 8, 0}).with(b, {0, 16, 8, 0});
    REQUIRE(product.run() == ATOLL_STATUS_OK);
    CHECK(d[0] == 1 + 20 + 700 + 8000);
    CHECK(d[2] == 5 + 60 + 1100 + 12000);
}

TEST_CASE("wrong calls are refused in words, and nothing is written") {
    double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {};
    const auto add = [&](auto &&change) {
        Call call(ATOLL_KERNEL_add, {4});
        call.with(c, {8}).with(a, {8}).with(b, {8});
        change(call);
        const std::int32_t status = call.run();
        CHECK(std::all_of(c, c + 4, [](double x) { return x == 0; }));
        return std::to_string(status) + ' ' + call.text;
    };
    const auto begins = [](const std::string &text, const std::string &with) {
        INFO(text);
        return text.substr(0, with.size()) == with;
    };
    CHECK(begins(add([](Call &x) { x.struct_size = 8; }), "1 "));
    CHECK(begins(add([](Call &x) { x.function = 9999; }),
                 "2 [atoll_kernel_run] there is no function 9999"));
    CHECK(begins(add([](Call &x) { x.dtype = 99; }), "1 [add] there is no dtype 99"));
    CHECK(begins(add([](Call &x) { x.function = ATOLL_KERNEL_bitwise_or; }),
                 "2 [bitwise_or] does not compute in float64, but in bool int8"));
    CHECK(begins(add([](Call &x) { x.rank = 65; }), "1 [add] rank 65, need at most 64"));
    CHECK(begins(add([](Call &x) { x.extents = nullptr; }), "1 [add] no extents"));
    CHECK(begins(add([](Call &x) { const_cast<std::int64_t *>(x.extents)[0] = -1; }),
                 "1 [add] extent -1 of axis 0"));
    CHECK(begins(add([](Call &x) { x.operand_count = 2; }), "1 [add] operand \"b\" has no data"));
    CHECK(begins(add([](Call &x) { x.operand_count = 4; }),
                 "1 [add] 4 operands, need those of \"a (), b () -> c ()\""));
    CHECK(begins(add([](Call &x) { x.list_[1].dtype = 17; }),
                 "1 [add] operand \"a\" has the dtype 17"));
    CHECK(begins(add([](Call &x) { x.list_[1].flags = 6; }), "1 [add] operand \"a\" has flags 6"));
    CHECK(begins(add([](Call &x) { x.list_[1].strides = nullptr; }),
                 "1 [add] operand \"a\" has no strides"));
    CHECK(begins(add([](Call &x) { x.attribute_count = 1; }),
                 "1 [add] 1 attributes, need at most 0"));
    CHECK(begins(add([](Call &x) { x.function = ATOLL_KERNEL_fill, x.operand_count = 1; }),
                 "1 [fill] attribute \"value\" is required"));
    CHECK(begins(
        add([](Call &x) { x.function = ATOLL_KERNEL_sort, x.operand_count = 2, x.axes[0] = 2; }),
        "1 [sort] 2 axes \"n\", which is one axis"));
    CHECK(begins(add([](Call &x) { x.function = ATOLL_KERNEL_matmul; }),
                 "1 [matmul] rank 1 is less than the core axes of \"a (m*, k*)"));
    CHECK(begins(add([](Call &x) { x.function = ATOLL_KERNEL_gather; }),
                 "1 [gather] operand \"offsets\" is float64, need int64"));
    CHECK(atoll_kernel_run(nullptr) == ATOLL_STATUS_INVALID_ARGUMENT);

    const auto attribute = [&](int function, int dtype, auto... bits) {
        Call call(function, {4});
        call.with(c, {8}).with(a, {8});
        atoll_scalar x{};
        x.dtype = static_cast<std::uint32_t>(dtype);
        int at = 0;
        ((x.value.f64[at++] = bits), ...);
        call.with(x);
        return std::to_string(call.run()) + ' ' + call.text;
    };
    CHECK(begins(attribute(ATOLL_KERNEL_norm, ATOLL_DTYPE_FLOAT64, -1.0),
                 "1 [norm] attribute \"p\" is -1"));
    CHECK(begins(attribute(ATOLL_KERNEL_norm, ATOLL_DTYPE_COMPLEX128, 1.0, 1.0),
                 "1 [norm] attribute \"p\" is complex, need a real number"));
    CHECK(begins(attribute(ATOLL_KERNEL_norm, ATOLL_VALUE_CHOICE, 1.0),
                 "1 [norm] attribute \"p\" has the dtype 65537"));
}

TEST_CASE("find needs room for exactly what it finds") {
    double a[] = {0, 2, 0, 4};
    std::int64_t at[4] = {-1, -1, -1, -1};
    const auto find = [&](std::int64_t room) {
        Call call(ATOLL_KERNEL_find, {4, room});
        const std::int32_t status = call.with(at, {0, 8}, ATOLL_DTYPE_INT64).with(a, {8, 0}).run();
        return std::to_string(status) + ' ' + call.text;
    };
    CHECK(find(1) == "1 [find] operand \"at\" has 1 elements, need 2: as many as are not zero");
    CHECK(at[0] == -1);
    CHECK(find(2) == "0 ");
    CHECK(at[0] == 1);
    CHECK(at[1] == 3);
    CHECK(at[2] == -1);
}

TEST_CASE("over no elements the result is the identity, or an error") {
    double a = 1, out[2] = {7, 7}, c[2] = {3, 4};
    CHECK(Call(ATOLL_KERNEL_add, {0}).with(out, {8}).with(&a, {8}).with(&a, {8}).run() ==
          ATOLL_STATUS_OK);
    CHECK(Call(ATOLL_KERNEL_prod, {0, 2}).with(out, {0, 8}).with(&a, {8, 8}).run() ==
          ATOLL_STATUS_OK);
    CHECK(out[0] == 1);
    CHECK(out[1] == 1);
    Call least(ATOLL_KERNEL_min, {0, 2});
    CHECK(least.with(out, {0, 8}).with(&a, {8, 8}).run() == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(least.text) == "[min] no elements, of which it is undefined");
    // d = A B + beta C with no k
    atoll_scalar alpha{}, beta{};
    beta.dtype = ATOLL_DTYPE_FLOAT64;
    beta.value.f64[0] = 10;
    Call product(ATOLL_KERNEL_matmul, {2, 0, 1});
    product.with(out, {8, 0, 0}).with(&a, {8, 8, 0}).with(&a, {0, 8, 8}).with(c, {8, 0, 0});
    CHECK(product.with(alpha).with(beta).run() == ATOLL_STATUS_OK);
    CHECK(out[0] == 30);
    CHECK(out[1] == 40);
    // With beta = 0, the default, C is not read.
    c[0] = NAN;
    Call alone(ATOLL_KERNEL_matmul, {2, 0, 1});
    alone.with(out, {8, 0, 0}).with(&a, {8, 8, 0}).with(&a, {0, 8, 8}).with(c, {8, 0, 0});
    CHECK(alone.run() == ATOLL_STATUS_OK);
    CHECK(out[0] == 0);
    CHECK(out[1] == 0);
}

TEST_CASE("a struct of a newer version is taken if it uses nothing new") {
    double a[4] = {1, 2, 3, 4}, c[4] = {};
    struct Newer {
        atoll_kernel_call call;
        std::uint64_t more;
    } newer = {};
    Call call(ATOLL_KERNEL_negative, {4});
    call.with(c, {8}).with(a, {8});
    newer.call = call;
    newer.call.struct_size = sizeof newer;
    newer.more = 1;
    CHECK(atoll_kernel_run(&newer.call) == ATOLL_STATUS_NOT_SUPPORTED);
    CHECK(std::string(call.text).find("does not know") != std::string::npos);
    CHECK(c[0] == 0);
    newer.more = 0;
    CHECK(atoll_kernel_run(&newer.call) == ATOLL_STATUS_OK);
    CHECK(c[3] == -4);
}

TEST_CASE("large calls are shared through the caller's hook, each through its own") {
    constexpr std::int64_t n = 1 << 20;
    std::vector<double> a(n, 2.0), with(n), without(n);
    int shared = 0;
    const auto run = [&](std::vector<double> &out, bool hooked) {
        Call call(ATOLL_KERNEL_sqrt, {n});
        call.with(out.data(), {8}).with(a.data(), {8});
        if (hooked) {
            call.pool = &shared;
            call.parallel_for = [](void *pool, std::int64_t count, std::int64_t,
                                   atoll_kernel_body body, void *argument) {
                ++*static_cast<int *>(pool);
                for (std::int64_t i = count; i-- > 0;) body(argument, i, i + 1); // in any order
            };
        }
        REQUIRE(call.run() == ATOLL_STATUS_OK);
    };
    run(with, true);
    CHECK(shared == 1);
    run(without, false);
    CHECK(shared == 1);
    CHECK(with == without);
}

TEST_CASE("a hook may make calls, too") {
    constexpr std::int64_t n = 1 << 20;
    std::vector<double> a(n, 1.0);
    std::vector<std::int64_t> at(n);
    struct Hook {
        bool calls;
        int shared = 0;
    };
    const auto shared = [&](Hook hook) {
        Call call(ATOLL_KERNEL_find, {n, n});
        call.with(at.data(), {0, 8}, ATOLL_DTYPE_INT64).with(a.data(), {8, 0});
        call.pool = &hook;
        call.parallel_for = [](void *pool, std::int64_t count, std::int64_t, atoll_kernel_body body,
                               void *argument) {
            Hook &one = *static_cast<Hook *>(pool);
            ++one.shared;
            double in = 1, out = 0;
            if (one.calls)
                CHECK(Call(ATOLL_KERNEL_negative, {}).with(&out, {}).with(&in, {}).run() == 0);
            body(argument, 0, count);
        };
        REQUIRE(call.run() == ATOLL_STATUS_OK);
        return hook.shared;
    };
    const int without = shared({false});
    CHECK(without > 1);
    CHECK(shared({true}) == without);
}

TEST_CASE("the library describes its functions and names its level") {
    for (int function = 0; function < ATOLL_FN_COUNT; ++function) {
        const atoll_kernel_info *info = atoll_kernel_describe(function);
        REQUIRE(info);
        CHECK(atoll_kernel_find(info->name) == function);
        CHECK(info->dtypes == Atoll::sdk::core_functions[function].domain);
        CHECK(std::string(info->doc).size() > 0);
    }
    CHECK(atoll_kernel_describe(ATOLL_FN_COUNT) == nullptr);
    CHECK(atoll_kernel_describe(-1) == nullptr);
    CHECK(atoll_kernel_find("no such function") == -1);
    CHECK(atoll_kernel_find(nullptr) == -1);
    CHECK(std::string(atoll_kernel_level()).size() > 0);
}
