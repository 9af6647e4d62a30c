// Products through TAPP against the definition: all types, random ones, one by one and batched, in
// place, in one memory; and descriptions of any kind, which must not crash.
#include "products.hpp"

#include <doctest/doctest.h>

using namespace tapp_tests;

namespace {

constexpr int standard_dtypes[] = {ATOLL_DTYPE_FLOAT32,   ATOLL_DTYPE_FLOAT64,
                                   ATOLL_DTYPE_COMPLEX64, ATOLL_DTYPE_COMPLEX128,
                                   ATOLL_DTYPE_FLOAT16,   ATOLL_DTYPE_BFLOAT16};

std::int64_t below(Random &random, std::int64_t n) { return views::below(random, n); }

// Small whole numbers; of all integers where only integers are computed with.
Value draw_value(int dtype, int T, Random &random) {
    const bool whole = !Atoll::is_floating(static_cast<Atoll::DType>(T));
    return oracle::convert(support::small(whole ? dtype : ATOLL_DTYPE_COMPLEX128, random), dtype);
}

// Room for `count` tensors `spacing` elements apart, with a margin; the first one's origin is set.
void make_memory(Tensor &tensor, int T, Random &random, std::int64_t count = 1,
                 std::int64_t spacing = 0) {
    constexpr std::int64_t margin = 2;
    std::int64_t lowest;
    const std::int64_t reach = tensor.reach(lowest), size = reach + (count - 1) * spacing;
    tensor.origin = margin - lowest;
    tensor.memory.resize(static_cast<std::size_t>((size + 2 * margin) * tensor.itemsize()));
    for (std::int64_t i = 0; i < size + 2 * margin; ++i)
        oracle::write(tensor.memory.data() + i * tensor.itemsize(), tensor.dtype, false,
                      draw_value(tensor.dtype, T, random));
}

class Drawing {
public:
    explicit Drawing(Random &random) : random_(random) {}

    Product draw() {
        Product drawn;
        const int count = static_cast<int>(below(random_, 7));
        Numbers in[roles];
        for (int i = 0; i < count; ++i) {
            const std::int64_t index = indices_[i];
            extents_[index] = below(random_, 12) == 0 ? 0 : 1 + below(random_, 3);
            // in A, in B, in D
            constexpr bool kinds[][3] = {{1, 0, 1}, {1, 0, 1}, {0, 1, 1}, {0, 1, 1}, {1, 1, 0},
                                         {1, 1, 0}, {1, 1, 1}, {1, 0, 0}, {0, 1, 0}};
            const auto &kind = kinds[below(random_, std::size(kinds))];
            if (kind[0]) in[A].push_back(index);
            if (kind[1]) in[B].push_back(index);
            if (kind[2]) in[D].push_back(index);
        }
        for (const Role role : {A, B, D})
            if (!in[role].empty() && below(random_, 6) == 0)
                in[role].push_back(
                    in[role][static_cast<std::size_t>(below(random_, std::ssize(in[role])))]);
        for (const Role role : {A, B, D}) std::shuffle(in[role].begin(), in[role].end(), random_);
        in[C] = in[D];
        int dtype = draw_dtype();
        for (int role = 0; role < roles; ++role) {
            if (below(random_, 3) == 0) dtype = draw_dtype();
            Tensor &tensor = drawn.tensors[role];
            tensor.dtype = dtype;
            tensor.indices = in[role];
            for (const std::int64_t index : in[role]) tensor.extents.push_back(extents_[index]);
            lay_out(tensor, role != D);
            drawn.conjugate[role] = below(random_, 3) == 0;
        }
        constexpr TAPP_prectype precisions[] = {-1, -1, -1, 0, 1, 4, 5, 6};
        drawn.precision = precisions[below(random_, std::size(precisions))];
        const int to = drawn.tensors[D].dtype;
        drawn.alpha = draw_value(to, drawn.T(), random_);
        drawn.beta = draw_value(to, drawn.T(), random_);
        if (below(random_, 3) == 0) drawn.beta = oracle::convert(Value::of(__int128{0}), to);
        return drawn;
    }

private:
    int draw_dtype() {
        return below(random_, 2) ? standard_dtypes[below(random_, 6)]
                                 : static_cast<int>(1 + below(random_, ATOLL_DTYPE_COUNT - 1));
    }
    // Any order of modes, gaps, any signs; inputs may overlap themselves.
    void lay_out(Tensor &tensor, bool is_input) {
        std::vector<std::size_t> order(tensor.extents.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        if (below(random_, 2)) std::shuffle(order.begin(), order.end(), random_);
        tensor.strides.resize(order.size());
        std::int64_t stride = 1 + below(random_, 4) / 3;
        for (const std::size_t mode : order) {
            tensor.strides[mode] = below(random_, 4) == 0 ? -stride : stride;
            if (is_input && below(random_, 10) == 0) tensor.strides[mode] = below(random_, 3) - 1;
            stride *= std::max<std::int64_t>(tensor.extents[mode], 1);
            if (below(random_, 4) == 0) ++stride;
        }
    }

    static constexpr std::int64_t indices_[] = {-7, 0, 3, 'a', INT64_MIN, 1000, INT64_MAX};
    Random &random_;
    std::map<std::int64_t, std::int64_t> extents_;
};

// Executes the product on operands of their own.
std::string run_alone(Product &of, TAPP_tensor_product plan, TAPP_executor exec, Random &random) {
    const int T = of.T();
    for (Tensor &tensor : of.tensors) make_memory(tensor, T, random);
    const bool in_place = below(random, 3) == 0 && of.tensors[C].dtype == of.tensors[D].dtype &&
                          of.tensors[C].strides == of.tensors[D].strides,
               no_c = !of.beta.truth() && below(random, 2);
    if (in_place) of.tensors[C].memory = of.tensors[D].memory;
    const Factor alpha(of.alpha, of.tensors[D].dtype), beta(of.beta, of.tensors[D].dtype);
    std::vector<char> got = of.tensors[D].memory;
    const auto at = [](const Tensor &tensor) {
        return tensor.memory.data() + tensor.origin * tensor.itemsize();
    };
    char *const d = got.data() + of.tensors[D].origin * of.tensors[D].itemsize();
    const void *const c = no_c ? nullptr : in_place ? d : at(of.tensors[C]);
    const TAPP_error code = TAPP_execute_product(
        plan, exec, nullptr, alpha.bytes, at(of.tensors[A]), at(of.tensors[B]), beta.bytes, c, d);
    if (code) return explain(code);
    return check(of, of.tensors[A].memory.data(), of.tensors[B].memory.data(),
                 of.tensors[C].memory.data(), of.tensors[D].memory, got);
}

// Executes several products in one call, equally far from each other or not.
std::string run_batch(Product &of, TAPP_tensor_product plan, TAPP_executor exec, Random &random) {
    const int T = of.T();
    const std::int64_t count = 1 + below(random, 4);
    const bool equal = below(random, 3) != 0, no_c = !of.beta.truth() && below(random, 2);
    std::vector<std::int64_t> offsets[roles]; // bytes
    for (int role = 0; role < roles; ++role) {
        Tensor &tensor = of.tensors[role];
        std::int64_t lowest, reach = tensor.reach(lowest);
        const bool shared = role != D && below(random, 3) == 0;
        const std::int64_t spacing = shared ? 0 : reach + below(random, 2);
        make_memory(tensor, T, random, count, spacing);
        for (std::int64_t i = 0; i < count; ++i)
            offsets[role].push_back(i * spacing * tensor.itemsize());
        if (!equal || below(random, 4) == 0)
            std::shuffle(offsets[role].begin(), offsets[role].end(), random);
    }
    const Factor alpha(of.alpha, of.tensors[D].dtype), beta(of.beta, of.tensors[D].dtype);
    std::vector<char> got = of.tensors[D].memory;
    std::vector<const void *> in[3];
    std::vector<void *> out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        for (const Role role : {A, B, C}) {
            const Tensor &tensor = of.tensors[role];
            in[role].push_back(tensor.memory.data() + tensor.origin * tensor.itemsize() +
                               offsets[role][i]);
        }
        out.push_back(got.data() + of.tensors[D].origin * of.tensors[D].itemsize() + offsets[D][i]);
    }
    const TAPP_error code = TAPP_execute_batched_product(
        plan, exec, nullptr, static_cast<int>(count), alpha.bytes, in[A].data(), in[B].data(),
        beta.bytes, no_c ? nullptr : in[C].data(), out.data());
    if (code) return explain(code);
    // One after the other: what others wrote is no difference.
    std::vector<char> before = of.tensors[D].memory;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        std::vector<char> alone = before;
        std::map<std::int64_t, std::int64_t> at;
        std::int64_t lowest;
        const std::int64_t reach = of.tensors[D].reach(lowest),
                           first = (of.tensors[D].origin + lowest) * of.tensors[D].itemsize() +
                                   offsets[D][i];
        std::copy_n(got.begin() + first, reach * of.tensors[D].itemsize(), alone.begin() + first);
        const std::string wrong =
            check(of, of.tensors[A].memory.data() + offsets[A][i],
                  of.tensors[B].memory.data() + offsets[B][i],
                  of.tensors[C].memory.data() + offsets[C][i], before, alone, offsets[D][i]);
        if (!wrong.empty()) return fmt::format("{} of {}: {}", i, count, wrong);
        before = alone;
    }
    return before == got ? "" : "wrote beside all D";
}

// Executes the product on operands that lie in one memory, over each other in any way.
std::string run_in_one_memory(Product &of, TAPP_tensor_product plan, TAPP_executor exec,
                              Random &random) {
    constexpr std::int64_t slack = 3;
    std::int64_t size = 0;
    for (Tensor &tensor : of.tensors) {
        make_memory(tensor, of.T(), random);
        size = std::max(size, std::ssize(tensor.memory) / tensor.itemsize());
    }
    Tensor arena = of.tensors[D];
    arena.extents = {size + slack};
    arena.strides = {1};
    make_memory(arena, of.T(), random);
    for (Tensor &tensor : of.tensors) tensor.origin += below(random, slack + 1);
    std::vector<char> got = arena.memory;
    const auto at = [&](Role role) {
        return got.data() + of.tensors[role].origin * of.tensors[role].itemsize();
    };
    const Factor alpha(of.alpha, arena.dtype), beta(of.beta, arena.dtype);
    const TAPP_error code = TAPP_execute_product(plan, exec, nullptr, alpha.bytes, at(A), at(B),
                                                 beta.bytes, at(C), at(D));
    if (code) return explain(code);
    const char *const from = arena.memory.data();
    return check(of, from, from, from, arena.memory, got);
}

} // namespace

TEST_CASE("every type of A, B, C and D with every other") {
    const Executor executor("cpu");
    REQUIRE(executor.code == 0);
    Random random(1);
    int failures = 0;
    for (int i = 0; i < 6 * 6 * 6 * 6 && failures < 5; ++i) {
        Product of;
        const int digits[roles] = {i % 6, i / 6 % 6, i / 36 % 6, i / 216};
        const Numbers indices[roles] = {{1, 2}, {2, 3}, {1, 3}, {1, 3}},
                      extents[roles] = {{2, 3}, {3, 4}, {2, 4}, {2, 4}},
                      strides[roles] = {{1, 2}, {4, -1}, {4, 1}, {1, 2}};
        for (int role = 0; role < roles; ++role) {
            of.tensors[role].dtype = standard_dtypes[digits[role]];
            of.tensors[role].indices = indices[role];
            of.tensors[role].extents = extents[role];
            of.tensors[role].strides = strides[role];
            of.conjugate[role] = random() % 2;
        }
        const int to = of.tensors[D].dtype;
        of.alpha = oracle::convert(Value::of(2.0L, -1.0L), to);
        of.beta = oracle::convert(Value::of(-3.0L, 2.0L), to);
        const Plan plan(of);
        const std::string wrong =
            plan.code ? explain(plan.code) : run_alone(of, plan.plan, executor.exec, random);
        CHECK_MESSAGE(wrong.empty(), wrong, "\n", of.text());
        failures += !wrong.empty();
    }
}

TEST_CASE("random products give what the definition says") {
    const std::int64_t cases = random_tests::cases(20'000);
    const auto seed = random_tests::seed(7);
    const Executor cpu("cpu"), dummy("dummy:0");
    REQUIRE(cpu.code == 0);
    REQUIRE(dummy.code == 0);
    int failures = 0;
    for (std::int64_t i = 0; i < cases && failures < 5; ++i) {
        Random random(seed * 1'000'003 + static_cast<std::uint64_t>(i));
        Product of = Drawing(random).draw();
        const Plan plan(of);
        const bool on_cpu = random() % 4 != 0,
                   alike = std::ranges::all_of(of.tensors, [&](const Tensor &tensor) {
                       return tensor.dtype == of.tensors[D].dtype;
                   });
        const std::uint64_t kind = random() % 4;
        const auto run = kind == 0 ? run_batch : kind == 1 && alike ? run_in_one_memory : run_alone;
        std::string wrong = plan.code ? explain(plan.code) : std::string();
        for (int repeat = 0; repeat < 2 && wrong.empty(); ++repeat)
            wrong = run(of, plan.plan, on_cpu ? cpu.exec : dummy.exec, random);
        CHECK_MESSAGE(wrong.empty(), "case ", i, " kind ", kind,
                      on_cpu ? " cpu: " : " dummy: ", wrong, "\n", of.text());
        failures += !wrong.empty();
    }
}

TEST_CASE("signed integers with uint64 are computed modulo 2^64") {
    Random random(1);
    for (const char *device : {"cpu", "dummy:0"})
        for (const int to : {ATOLL_DTYPE_UINT64, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT8}) {
            Product of;
            const int dtypes[roles] = {ATOLL_DTYPE_INT64, ATOLL_DTYPE_UINT64, ATOLL_DTYPE_INT64,
                                       to};
            for (int role = 0; role < roles; ++role) {
                of.tensors[role].dtype = dtypes[role];
                of.tensors[role].indices = {1};
                of.tensors[role].extents = {20};
                of.tensors[role].strides = {1};
            }
            of.alpha = Value::of(oracle::wrap(-3, to));
            of.beta = Value::of(oracle::wrap(-1, to));
            const Plan plan(of);
            REQUIRE(plan.code == 0);
            CHECK(run_alone(of, plan.plan, Executor(device).exec, random) == "");
        }
}

TEST_CASE("halves are added in float32 in every precision") {
    const Executor executor("cpu");
    for (const TAPP_prectype precision : {-1, 0, 1, 4, 5, 6})
        for (const int dtype : {ATOLL_DTYPE_FLOAT16, ATOLL_DTYPE_BFLOAT16}) {
            // 4,096 ones would add up to 2,048 in float16, to 256 in bfloat16.
            Product of;
            of.precision = precision;
            for (Tensor &tensor : of.tensors) tensor.dtype = dtype;
            for (const Role role : {A, B}) {
                of.tensors[role].indices = {1};
                of.tensors[role].extents = {4096};
                of.tensors[role].strides = {role == A};
            }
            const Plan plan(of);
            REQUIRE(plan.code == 0);
            const Value one = Value::of(1.0L, 0.0L);
            const Factor number(one, dtype), zero(Value::of(0.0L, 0.0L), dtype);
            Factor d(zero);
            std::vector<char> ones;
            for (int i = 0; i < 4096; ++i) ones.insert(ones.end(), number.bytes, number.bytes + 2);
            CHECK(TAPP_execute_product(plan.plan, executor.exec, nullptr, number.bytes, ones.data(),
                                       number.bytes, zero.bytes, nullptr, d.bytes) == 0);
            CHECK(oracle::read(d.bytes, dtype, false).re == 4096);
        }
}

TEST_CASE("descriptions of any kind are planned or refused") {
    const std::int64_t cases = random_tests::cases(20'000);
    Random random(random_tests::seed(7));
    const auto number = [&](std::int64_t small) -> std::int64_t {
        switch (below(random, 12)) {
        case 0: return static_cast<std::int64_t>(random());
        case 1: return (std::int64_t{1} << below(random, 63)) - below(random, 3);
        case 2: return INT64_MIN + below(random, 3);
        case 3: return INT64_MAX - below(random, 3);
        default: return below(random, small) - (small > 4 ? 2 : 0);
        }
    };
    std::map<TAPP_error, int> codes;
    for (std::int64_t i = 0; i < cases; ++i) {
        TAPP_tensor_info infos[roles];
        Numbers indices[roles];
        const std::int64_t longest = below(random, 8) == 0 ? 70 : 1 + below(random, 6);
        const bool wild = below(random, 4) != 0;
        std::map<std::int64_t, std::int64_t> known;
        for (int role = 0; role < roles; ++role) {
            const std::int64_t modes = below(random, longest);
            Numbers extents, strides;
            for (std::int64_t mode = 0; mode < modes; ++mode) {
                const std::int64_t index =
                    wild && below(random, 8) == 0 ? number(9) : below(random, 1 + longest);
                std::int64_t extent = wild ? number(4) : below(random, 4);
                if (extent < 0) extent = below(random, 3);
                if (const auto [at, added] = known.emplace(index, extent);
                    !added && below(random, 30) != 0)
                    extent = at->second;
                indices[role].push_back(index);
                extents.push_back(extent);
                strides.push_back(wild ? number(9) : below(random, 40) - 8);
            }
            if (role == D && below(random, 2)) {
                // Likely to be possible: what C has.
                indices[D] = indices[C];
                infos[D] = infos[C];
                continue;
            }
            const TAPP_error code = TAPP_create_tensor_info(
                &infos[role], static_cast<TAPP_datatype>(below(random, 6)),
                static_cast<int>(extents.size()), extents.data(), strides.data());
            CHECK(code == 0);
            if (below(random, 500) == 0) infos[role] = static_cast<TAPP_tensor_info>(random());
        }
        const auto op = [&] {
            return below(random, 300) == 0 ? 7 : static_cast<int>(random() % 2);
        };
        TAPP_tensor_product plan = 0;
        const TAPP_error code = TAPP_create_tensor_product(
            &plan, static_cast<TAPP_handle>(random()), op(), infos[A], indices[A].data(), op(),
            infos[B], indices[B].data(), op(), infos[C], indices[C].data(), op(), infos[D],
            indices[D].data(), below(random, 300) == 0 ? 77 : -1);
        ++codes[code];
        const Factor zero(Value::of(0.0L, 0.0L), ATOLL_DTYPE_COMPLEX128);
        // No executor is what fails then; nothing is read or written.
        const TAPP_error executed = TAPP_execute_product(plan, 0, nullptr, zero.bytes, nullptr,
                                                         nullptr, zero.bytes, nullptr, nullptr);
        CHECK(executed == (code == 0 ? 33 : code));
        CHECK(TAPP_destroy_tensor_product(plan) == 0);
        for (int role = 0; role < roles; ++role) TAPP_destroy_tensor_info(infos[role]);
    }
    // Many kinds are met.
    for (const TAPP_error code : {0, 1, 4, 5, 8, 9, int{TAPP_ATOLL_OVERFLOW},
                                  int{TAPP_ATOLL_BAD_OBJECT}, int{TAPP_ATOLL_BAD_OPERATION}})
        CHECK_MESSAGE((codes[code] > 0 || cases < 20'000), "code ", code);
}
