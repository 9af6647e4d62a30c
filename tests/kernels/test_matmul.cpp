// Matrix products against the oracle: dtypes, transposes, strides, stacks, conjugates, alpha, beta
// and what is added.
#include "check.h"
#include "end_of_page.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

using namespace oracle;

namespace {

// Small whole numbers, so that every dtype's arithmetic is exact; integers take their whole range.
Value element(int dtype, int limit, Random &random) {
    const auto small = [&] {
        return static_cast<long double>(static_cast<std::int64_t>(random() % (2 * limit + 1)) -
                                        limit);
    };
    if (dtype == ATOLL_DTYPE_BOOL) return Value::of(__int128{random() % 8 == 0});
    if (is_integer(dtype)) return Value::of(wrap(static_cast<__int128>(random()), dtype));
    return Value::of(small(), is_complex(dtype) ? small() : 0.0L);
}

atoll_scalar scalar(int dtype, long double re, long double im) {
    const int wide = dtype == ATOLL_DTYPE_FLOAT16 || dtype == ATOLL_DTYPE_BFLOAT16
                         ? int{ATOLL_DTYPE_FLOAT32}
                     : dtype == ATOLL_DTYPE_COMPLEX32 ? int{ATOLL_DTYPE_COMPLEX64}
                                                      : dtype;
    atoll_scalar s{};
    s.dtype = static_cast<std::uint32_t>(wide);
    write(reinterpret_cast<char *>(s.value.bytes), wide, false, convert(Value::of(re, im), wide));
    return s;
}

// d = a b + beta c, nothing conjugated; the operands are d, a, b and, if there is one, c.
std::int32_t product(int dtype, const Shape &shape, std::vector<atoll_operand> operands,
                     int beta = 0) {
    if (operands.size() == 3)
        operands.push_back(operand_at(nullptr, operands[0].strides, dtype, ATOLL_OPERAND_ABSENT));
    return call(ATOLL_FN_matmul, dtype, shape, 3, operands,
                {scalar(dtype, 1, 0), scalar(dtype, beta, 0), flag_of(false), flag_of(false)});
}

struct Case {
    std::int64_t m, n, k, stack;
};
enum class Addend { absent, out, other };

// alpha or beta, of whole numbers; the imaginary part counts for complex dtypes.
struct Factor {
    Factor(int real, int imaginary = 0) : re(real), im(imaginary) {}
    int re, im;

    bool is_zero() const { return re == 0 && im == 0; }
    Value value(int dtype) const {
        return convert(is_integer(dtype) || dtype == ATOLL_DTYPE_BOOL
                           ? Value::of(__int128{re})
                           : Value::of(static_cast<long double>(re), static_cast<long double>(im)),
                       dtype);
    }
};

// The last of each array is of the matrix that is added, where that is not the output.
void check(int dtype, const Case &c, Layout layouts[4], int dtypes[4], bool swapped[4],
           std::uint32_t conj, Factor alpha, Factor beta, Addend addend, Random &random) {
    const Shape shape = c.stack ? Shape{c.m, c.k, c.n, c.stack} : Shape{c.m, c.k, c.n};
    const auto varies = [&](bool m, bool n, bool k) {
        std::vector<bool> v = {m, k, n};
        if (c.stack) v.push_back(true);
        return v;
    };
    Operand out(dtypes[0], swapped[0], shape, varies(true, true, false), layouts[0]);
    Operand a(dtypes[1], swapped[1], shape, varies(true, false, true), layouts[1]);
    Operand b(dtypes[2], swapped[2], shape, varies(false, true, true), layouts[2]);
    Operand other(dtypes[3], swapped[3], shape, varies(true, true, false), layouts[3]);
    const auto own_elements = [&](const Operand &operand) {
        Shape own = shape;
        for (std::size_t axis = 0; axis < own.size(); ++axis)
            if (operand.strides[axis] == 0) own[axis] = 1;
        return own;
    };
    for (Operand *operand : {&out, &a, &b, &other})
        each(own_elements(*operand), [&](const Shape &index) {
            operand->set(index, convert(element(operand->dtype, 3, random), operand->dtype));
        });
    Operand &added = addend == Addend::other ? other : out;
    const bool adds = !beta.is_zero() && addend != Addend::absent;
    // What is not added does not matter, and what stands in the output neither.
    for (Operand *operand : {&out, &other})
        if (!(adds && operand == &added) && !is_integer(operand->dtype) &&
            operand->dtype != ATOLL_DTYPE_BOOL)
            each(own_elements(*operand),
                 [&](const Shape &index) { operand->set(index, Value::of(NAN, 0.0L)); });
    const std::vector<char> before = out.memory;
    Shape space = shape;
    space[1] = 1;
    // The elements of a and b for each matrix of the stack, k fastest.
    const auto factors = [&](const Operand &operand, std::size_t free, bool conjugated) {
        Shape order = {c.k, shape[free]}, index(shape.size(), 0);
        if (c.stack) order.push_back(c.stack);
        std::vector<Value> list;
        each(order, [&](const Shape &at) {
            index[1] = at[0];
            index[free] = at[1];
            if (c.stack) index[3] = at[2];
            list.push_back(convert(operand.get(index), dtype));
            if (conjugated) list.back().im = -list.back().im;
        });
        return list;
    };
    const std::vector<Value> of_a = factors(a, 0, conj & 1), of_b = factors(b, 2, conj & 2);
    std::vector<Value> expected;
    each(space, [&](const Shape &index) {
        const std::int64_t matrix = c.stack ? index[3] : 0;
        const Value *x = of_a.data() + c.k * (index[0] + c.m * matrix),
                    *y = of_b.data() + c.k * (index[2] + c.n * matrix);
        const Value weights[] = {alpha.value(dtype), beta.value(dtype)},
                    terms[] = {dot(x, y, c.k, dtype),
                               adds ? convert(added.get(index), dtype) : Value()};
        const Value v = dot(weights, terms, adds ? 2 : 1, dtype);
        expected.push_back(convert(convert(v, dtype), out.dtype));
    });
    const Shape zeros(shape.size(), 0);
    const atoll_operand third = addend == Addend::absent
                                    ? operand_at(nullptr, zeros.data(), dtype, ATOLL_OPERAND_ABSENT)
                                    : added.c();
    const std::vector<atoll_operand> operands = {out.c(), a.c(), b.c(), third};
    const std::vector<atoll_scalar> attributes = {scalar(dtype, alpha.re, alpha.im),
                                                  scalar(dtype, beta.re, beta.im),
                                                  flag_of(conj & 1), flag_of(conj & 2)};
    out.shape = space; // k has no elements of its own
    compute(
        out, {&a, &b, &other},
        [&] { return call(ATOLL_FN_matmul, dtype, shape, 3, operands, attributes); },
        [&] {
            std::size_t k = 0;
            std::int64_t wrong = 0;
            std::string first;
            each(space, [&](const Shape &index) {
                Value got = out.get(index), want = expected[k];
                // The sign of a zero depends on the order of additions.
                for (Value *v : {&got, &want}) {
                    if (v->re == 0) v->re = 0;
                    if (v->im == 0) v->im = 0;
                }
                if (!same(got, want, out.dtype, 0) && wrong++ == 0)
                    first = "got " + text(got) + ", expected " + text(want) + ", element " +
                            std::to_string(k);
                ++k;
            });
            INFO(first);
            CHECK(wrong == 0);
            CHECK(out.rest_is(before));
        });
}

} // namespace

TEST_CASE("products of a large matrix and a vector agree with the oracle") {
    Random random = sequence(15);
    bool swapped[4] = {};
    for (int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_INT32},
                      int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (const Case &c : {Case{700, 1, 101, 0}, Case{1, 517, 130, 0}, Case{9001, 1, 35, 0},
                              Case{1, 1, 4999, 0}})
            for (int trial = 0; trial < (is_complex(dtype) ? 12 : 6); ++trial) {
                const int conj = is_complex(dtype) ? trial % 4 : 0;
                int dtypes[4] = {dtype, dtype, dtype, dtype};
                Layout layout[4];
                for (Layout &each : layout)
                    each =
                        std::array{Layout::dense, Layout::permuted, Layout::strided}[random() % 3];
                // The matrix: along m or n, along k, along neither.
                layout[c.n == 1 ? 1 : 2] =
                    std::array{Layout::dense, Layout::permuted, Layout::strided}[trial % 3];
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(c.m);
                CAPTURE(c.n);
                CAPTURE(trial);
                CAPTURE(conj);
                const bool plain = trial < 3;
                check(dtype, c, layout, dtypes, swapped, conj, plain ? 1 : 2, plain ? 0 : 2,
                      static_cast<Addend>(random() % 3), random);
            }
}

TEST_CASE("products of a matrix from memory and a vector agree with the oracle") {
    Random random = sequence(16);
    Layout dense[4] = {};
    bool swapped[4] = {};
    // What it takes to add up in is not zero already.
    void (*volatile release)(void *) = std::free;
    for (int trial = 0; trial < 2; ++trial) {
        constexpr std::size_t bytes = 24 << 20;
        void *const dirty = std::malloc(bytes);
        std::memset(dirty, 0x3f, bytes);
        release(dirty);
    }
    int reals[4], complexes[4];
    std::fill_n(reals, 4, int{ATOLL_DTYPE_FLOAT64});
    std::fill_n(complexes, 4, int{ATOLL_DTYPE_COMPLEX128});
    check(reals[0], {2051, 1, 1027, 0}, dense, reals, swapped, 0, 2, 2, Addend::out, random);
    check(complexes[0], {1037, 1, 1027, 0}, dense, complexes, swapped, 1, 2, 2, Addend::out,
          random);
}

TEST_CASE("a product reads no operand beyond its end") {
    struct Extents {
        std::int64_t m, k, n;
    };
    for (const int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64},
                            int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (const Extents of :
             {Extents{514, 64, 1}, {131, 32, 1}, {2051, 256, 1}, {1, 64, 514}, {66, 67, 70}}) {
            const std::int64_t m = of.m, k = of.k, n = of.n; // which lambdas of Clang 14 can take
            CAPTURE(dtype);
            CAPTURE(m);
            const std::int64_t size = facts[dtype].size, none[3] = {};
            const std::int64_t strides[3][3] = {
                {size, 0, size * m}, {size, size * m, 0}, {0, size, size * k}};
            const AtEndOfPage d(m * n * size, 1), a(m * k * size, 0), b(k * n * size, 0);
            at_each_level([&] {
                REQUIRE(call(ATOLL_FN_matmul, dtype, {m, k, n}, 3,
                             {operand_at(d.data, strides[0], dtype),
                              operand_at(a.data, strides[1], dtype),
                              operand_at(b.data, strides[2], dtype),
                              operand_at(nullptr, none, dtype, ATOLL_OPERAND_ABSENT)},
                             {scalar(dtype, 1, 0), scalar(dtype, 0, 0), flag_of(false),
                              flag_of(false)}) == ATOLL_STATUS_OK);
                CHECK(std::all_of(d.data, d.data + m * n * size, [](char x) { return x == 0; }));
            });
        }
}

TEST_CASE("products of no terms are zero, or what is added") {
    Random random = sequence(19);
    bool swapped[4] = {};
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (std::int64_t m : {1, 2, 33, 1000})
            for (std::int64_t n : {1, 2, 33, 1000}) {
                int dtypes[4] = {dtype, dtype, dtype, dtype};
                Layout layout[4] = {Layout::dense, Layout::dense, Layout::dense, Layout::dense};
                if (m * n > 33'000) continue;
                for (const bool adds : {false, true})
                    check(dtype, {m, n, 0, 0}, layout, dtypes, swapped, 0, 1, adds ? 2 : 0,
                          adds ? Addend::other : Addend::absent, random);
            }
}

// Long enough to be multiplied piece by piece, along m or n or along k.
TEST_CASE("products of thin matrices agree with the oracle") {
    Random random = sequence(18);
    bool swapped[4] = {};
    for (int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64},
                      int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}}) {
        const std::int64_t unit = is_complex(dtype) ? 1 : 8;
        for (const Case &c : {Case{3, 3001 * unit, 9, 0}, Case{2900 * unit, 5, 7, 0},
                              Case{4, 5, 3500 * unit + 3, 0}, Case{17, 2, 9000 * unit + 1, 0}})
            for (int trial = 0; trial < 4; ++trial) {
                int dtypes[4] = {dtype, dtype, dtype, dtype};
                Layout layout[4];
                for (Layout &each : layout) each = random() % 2 ? Layout::dense : Layout::permuted;
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(c.m);
                CAPTURE(c.n);
                CAPTURE(trial);
                const bool plain = trial < 2;
                check(dtype, c, layout, dtypes, swapped,
                      is_complex(dtype) ? static_cast<int>(random() % 4) : 0, plain ? 1 : 2,
                      plain ? 0 : 2, static_cast<Addend>(random() % 3), random);
            }
    }
}

TEST_CASE("matrix products agree with the oracle") {
    Random random = sequence(13);
    const Case cases[] = {{3, 4, 5, 0},     {1, 1, 9, 0},   {7, 1, 6, 0},     {1, 7, 6, 0},
                          {5, 4, 1, 0},     {16, 9, 33, 2}, {2, 3, 4, 5},     {1, 5, 3, 4},
                          {40, 40, 40, 0},  {33, 1, 20, 3}, {700, 1, 101, 0}, {1, 517, 130, 0},
                          {3001, 1, 35, 0}, {5, 4, 0, 0},   {64, 33, 0, 2},   {7, 1, 0, 0},
                          {1, 1, 0, 3}};
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (const Case &c : cases)
            for (int trial = 0; trial < random_tests::cases(5); ++trial) {
                Layout layout[4];
                int dtypes[4];
                bool swapped[4];
                for (int o = 0; o < 4; ++o) {
                    layout[o] = oracle::layouts[random() % (o == 0 ? 5 : 6)];
                    const bool mixed = trial % 4 == 3 && random() % 2;
                    // Outputs that hold the result exactly or wrap it.
                    dtypes[o] = !mixed   ? dtype
                                : o == 0 ? int{ATOLL_DTYPE_COMPLEX128}
                                         : int{ATOLL_DTYPE_INT8};
                    if (o && mixed && !is_integer(dtype)) dtypes[o] = ATOLL_DTYPE_BOOL;
                    swapped[o] = trial % 4 == 2 && random() % 2;
                }
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(c.m);
                CAPTURE(c.n);
                CAPTURE(c.k);
                CAPTURE(c.stack);
                CAPTURE(static_cast<int>(layout[0]));
                CAPTURE(static_cast<int>(layout[1]));
                CAPTURE(static_cast<int>(layout[2]));
                const auto addend = static_cast<Addend>(random() % 3);
                CAPTURE(static_cast<int>(layout[3]));
                CAPTURE(static_cast<int>(addend));
                CAPTURE(trial);
                const bool plain = trial % 2 == 0;
                const int alpha = plain || dtype == ATOLL_DTYPE_BOOL ? 1 : 2;
                const int beta = plain ? 0 : dtype == ATOLL_DTYPE_BOOL ? 1 : 2;
                check(dtype, c, layout, dtypes, swapped, is_complex(dtype) ? random() % 4 : 0,
                      alpha, beta, addend, random);
            }
}

// About the sizes that are multiplied without packing: rows and columns that do not fill a vector
// or a group, rows of a that are packed after all, more than one thread.
TEST_CASE("products of matrices that the caches hold agree with the oracle") {
    Random random = sequence(21);
    bool swapped[4] = {};
    const auto between = [&](std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    for (int dtype :
         {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX64},
          int{ATOLL_DTYPE_COMPLEX128}, int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_INT64}})
        for (int trial = 0; trial < random_tests::cases(160); ++trial) {
            Case c = {between(1, 70), between(1, 40), between(1, 60), between(0, 3)};
            // Columns far apart; more along k than is packed; one of the other extents is long.
            if (trial % 8 == 5) c = {between(480, 512), between(14, 18), between(36, 70), 0};
            if (trial % 8 == 6) c = {between(12, 40), between(2, 9), between(240, 520), 0};
            if (trial % 16 == 4) c = {between(490, 512), between(16, 18), between(257, 270), 0};
            if (trial % 8 == 7) c = {between(2, 20), between(480, 520), between(2, 20), 0};
            int dtypes[4] = {dtype, dtype, dtype, dtype};
            Layout layout[4];
            for (Layout &each : layout)
                each =
                    std::array{Layout::dense, Layout::permuted, Layout::strided}[random() % 8 % 3];
            if (random() % 4) layout[0] = std::array{Layout::dense, Layout::permuted}[random() % 2];
            CAPTURE(std::string(facts[dtype].name));
            CAPTURE(trial);
            CAPTURE(c.m);
            CAPTURE(c.n);
            CAPTURE(c.k);
            CAPTURE(c.stack);
            const Factor alphas[] = {1, 1, 2, {-1, 2}, {1, 1}, 0},
                         betas[] = {0, 0, 1, 2, {0, 1}, {2, -1}};
            check(dtype, c, layout, dtypes, swapped, is_complex(dtype) ? random() % 4 : 0,
                  alphas[random() % 6], betas[random() % 6], static_cast<Addend>(random() % 3),
                  random);
        }
}

TEST_CASE("a stack of products along axes that do not fuse") {
    // Enough for several threads, whose parts begin anywhere.
    constexpr std::int64_t m = 24, k = 25, n = 26, first = 5, second = 9;
    constexpr std::int64_t size = sizeof(double);
    std::vector<double> a(m * k * first * second), b(k * n * first * second),
        d(m * n * first * second, -1);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 5);
    // a's axes of the stack are exchanged; the axes are those of m, k, n and the stack.
    const Shape shape = {m, k, n, first, second};
    const Shape of_d = {1, 0, m, m * n, m * n * first}, of_a = {1, m, 0, m * k * second, m * k},
                of_b = {0, 1, k, k * n, k * n * first};
    const auto bytes = [](Shape elements) {
        for (std::int64_t &stride : elements) stride *= size;
        return elements;
    };
    const Shape step_d = bytes(of_d), step_a = bytes(of_a), step_b = bytes(of_b);
    at_each_level([&] {
        std::fill(d.begin(), d.end(), -1);
        REQUIRE(product(ATOLL_DTYPE_FLOAT64, shape,
                        {operand_at(d.data(), step_d.data(), ATOLL_DTYPE_FLOAT64),
                         operand_at(a.data(), step_a.data(), ATOLL_DTYPE_FLOAT64),
                         operand_at(b.data(), step_b.data(), ATOLL_DTYPE_FLOAT64)}) ==
                ATOLL_STATUS_OK);
        std::int64_t wrong = 0;
        each({m, n, first, second}, [&](const Shape &at) {
            const auto element = [&](const Shape &step, std::int64_t term) {
                return static_cast<std::size_t>(at[0] * step[0] + term * step[1] + at[1] * step[2] +
                                                at[2] * step[3] + at[3] * step[4]);
            };
            double sum = 0;
            for (std::int64_t p = 0; p < k; ++p) sum += a[element(of_a, p)] * b[element(of_b, p)];
            wrong += d[element(of_d, 0)] != sum;
        });
        CHECK(wrong == 0);
    });
}

TEST_CASE("sums of several blocks along k are found again, whatever lies beside them") {
    Random random = sequence(19);
    bool swapped[4] = {};
    for (int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_INT64},
                      int{ATOLL_DTYPE_COMPLEX128}})
        for (Layout out : {Layout::strided, Layout::dense, Layout::permuted})
            for (Layout third : {Layout::dense, Layout::strided, Layout::permuted}) {
                CAPTURE(std::string(facts[dtype].name));
                int dtypes[4] = {dtype, dtype, dtype, dtype};
                Layout layout[4] = {out, Layout::strided, Layout::strided, third};
                check(dtype, {50, 9, 900, 0}, layout, dtypes, swapped, 0, 1, 1, Addend::other,
                      random);
            }
}

TEST_CASE("a large integer product is cut into blocks correctly") {
    Random random = sequence(17);
    for (Layout first : {Layout::dense, Layout::permuted}) {
        Layout layout[4] = {first, Layout::permuted, Layout::dense, Layout::strided};
        int dtypes[4] = {ATOLL_DTYPE_INT32, ATOLL_DTYPE_INT32, ATOLL_DTYPE_INT32,
                         ATOLL_DTYPE_INT32};
        bool swapped[4] = {};
        for (Addend addend : {Addend::out, Addend::other})
            check(ATOLL_DTYPE_INT32, {300, 40, 140, 0}, layout, dtypes, swapped, 0, 1, 1, addend,
                  random);
    }
}

// Numbers of which several share a lane, on processors that multiply them so: sizes about those of
// tiles, more than one block along k.
TEST_CASE("products of small numbers agree with the oracle") {
    struct Dtypes {
        int dtype, out, a, b;
    };
    constexpr int i8 = ATOLL_DTYPE_INT8, u8 = ATOLL_DTYPE_UINT8, i16 = ATOLL_DTYPE_INT16,
                  u16 = ATOLL_DTYPE_UINT16, i32 = ATOLL_DTYPE_INT32, u32 = ATOLL_DTYPE_UINT32,
                  f16 = ATOLL_DTYPE_FLOAT16, bf16 = ATOLL_DTYPE_BFLOAT16, f32 = ATOLL_DTYPE_FLOAT32;
    const Dtypes all[] = {
        {bf16, bf16, bf16, bf16}, {bf16, f32, bf16, bf16}, {bf16, bf16, i8, bf16},
        {f16, f16, f16, f16},     {i8, i8, i8, i8},        {u8, u8, u8, u8},
        {i8, i16, i32, i8},       {i32, i32, i8, i8},      {i32, i32, u8, i8},
        {i32, i32, i8, u8},       {u32, u32, u8, u8},      {i32, i16, u8, i8},
        {i32, i32, i16, i16},     {i32, i32, u16, i16},    {i32, i32, i16, u8},
        {i16, i16, i16, i16},     {u16, u16, u16, u16},    {i16, i16, u8, i8},
        {f32, f32, bf16, bf16},   {f32, bf16, bf16, bf16}, {f32, f32, bf16, f32},
        {f16, f32, bf16, bf16},
    };
    const Case sizes[] = {{33, 31, 65, 0}, {16, 70, 31, 0}, {64, 17, 130, 2},
                          {97, 48, 64, 0}, {20, 11, 5, 0},  {9, 5, 0, 0},
                          {4, 3, 5, 1501}, {13, 16, 2, 3},  {1, 7, 9, 2}};
    int use_amx = 0;
    SUBCASE("with AMX") { use_amx = 1; }
    SUBCASE("without AMX") {}
    struct Use {
        explicit Use(int use) {
            at_each_level([&] { level->use_amx(use); });
        }
        ~Use() {
            at_each_level([] { level->use_amx(1); });
        }
    } use(use_amx);
    Random random = sequence(18);
    for (const Dtypes &d : all) {
        CAPTURE(std::string(facts[d.dtype].name));
        CAPTURE(std::string(facts[d.a].name));
        CAPTURE(std::string(facts[d.b].name));
        const auto any = [&](const Case &c, int trial) {
            Layout layout[4];
            bool swapped[4];
            for (int o = 0; o < 4; ++o) {
                layout[o] = trial < 2 ? std::array{Layout::dense, Layout::permuted}[random() % 2]
                                      : oracle::layouts[random() % (o == 0 ? 5 : 6)];
                swapped[o] = random() % 8 == 0;
            }
            int dtypes[4] = {d.out, d.a, d.b, d.out};
            CAPTURE(c.m);
            CAPTURE(c.n);
            CAPTURE(c.k);
            CAPTURE(trial);
            const bool plain = trial % 2 == 0;
            check(d.dtype, c, layout, dtypes, swapped, 0, plain ? 1 : 2, plain ? 0 : 2,
                  static_cast<Addend>(random() % 3), random);
        };
        for (const Case &c : sizes)
            for (int trial = 0; trial < 4; ++trial)
                if (!random_tests::leaves_out(random)) any(c, trial);
    }
    // More along k than is multiplied at once.
    for (const Dtypes &d : {all[0], all[3], all[7], all[9], all[12], all[15], all[18]}) {
        CAPTURE(std::string(facts[d.dtype].name));
        for (const bool adds : {false, true}) {
            Layout layout[4] = {Layout::dense, Layout::permuted, Layout::dense, Layout::dense};
            int dtypes[4] = {d.out, d.a, d.b, d.out};
            bool swapped[4] = {};
            check(d.dtype, {20, 7, d.a == i8 ? 8300 : 4300, 0}, layout, dtypes, swapped, 0, 1,
                  adds ? 1 : 0, Addend::out, random);
        }
    }
}

TEST_CASE("without AMX subnormal bfloat16 count as what they are") {
    constexpr std::int64_t n = 32;
    std::vector<std::uint16_t> out(n * n), a(n * n, 0x0001), b(n * n, 0x7180); // 2^-133, 2^100
    const Shape shape = {n, n, n}, by_m = {2, 0, 2 * n}, by_k = {0, 2, 2 * n}, both = {2, 2 * n, 0};
    at_each_level([&] {
        level->use_amx(0);
        REQUIRE(product(ATOLL_DTYPE_BFLOAT16, shape,
                        {operand_at(out.data(), by_m.data(), ATOLL_DTYPE_BFLOAT16),
                         operand_at(a.data(), both.data(), ATOLL_DTYPE_BFLOAT16),
                         operand_at(b.data(), by_k.data(), ATOLL_DTYPE_BFLOAT16)}) ==
                ATOLL_STATUS_OK);
        level->use_amx(1);
        CHECK(std::ranges::count(out, 0x3180) == n * n); // 32 times 2^-33
    });
}

TEST_CASE("what is added is not rounded to the output's dtype before") {
    std::uint16_t out = 0;
    double a = -4096, b = 1, c = 4097;
    const Shape shape = {1, 1, 1}, zeros = {0, 0, 0};
    at_each_level([&] {
        REQUIRE(product(ATOLL_DTYPE_FLOAT64, shape,
                        {operand_at(&out, zeros.data(), ATOLL_DTYPE_FLOAT16),
                         operand_at(&a, zeros.data(), ATOLL_DTYPE_FLOAT64),
                         operand_at(&b, zeros.data(), ATOLL_DTYPE_FLOAT64),
                         operand_at(&c, zeros.data(), ATOLL_DTYPE_FLOAT64)},
                        1) == ATOLL_STATUS_OK);
        CHECK(out == 0x3c00); // 1
    });
}

TEST_CASE("halves of another dtype become that of the product before they are multiplied") {
    constexpr std::int64_t n = 20, k = 8;
    // 1 + 3 / 512, which rounds to 1 + 4 / 512; 1.5
    std::vector<std::uint16_t> out(n * n), a(n * k, 0x3c06), b(k * n, 0x3e00);
    const Shape shape = {n, k, n}, by_m = {2, 0, 2 * n}, by_k = {0, 2, 2 * k}, both = {2, 2 * n, 0};
    at_each_level([&] {
        REQUIRE(product(ATOLL_DTYPE_BFLOAT16, shape,
                        {operand_at(out.data(), by_m.data(), ATOLL_DTYPE_BFLOAT16),
                         operand_at(a.data(), both.data(), ATOLL_DTYPE_FLOAT16),
                         operand_at(b.data(), by_k.data(), ATOLL_DTYPE_FLOAT16)}) ==
                ATOLL_STATUS_OK);
        CHECK(std::ranges::count(out, 0x4142) == n * n); // 8 times 1.515625
    });
}
