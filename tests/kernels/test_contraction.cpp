// Random contractions against naive sums: any number of axes of each kind, any strides, dtypes and
// byte orders, results in place. Small whole numbers, which every dtype adds up exactly; floats
// also within the bound that the number of terms gives.
#include "check.h"
#include "end_of_page.h"

using namespace oracle;

namespace {

std::int64_t below(Random &random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}
bool chance(Random &random, int percent) { return below(random, 100) < percent; }

// A number of any dtype: wrapping, or exact.
struct Number {
    std::uint64_t whole = 0;
    double re = 0, im = 0;
};
Number number_of(const Value &v) {
    if (v.integer) return {static_cast<std::uint64_t>(v.i), static_cast<double>(v.i), 0};
    return {0, static_cast<double>(v.re), static_cast<double>(v.im)};
}
// d += a b
void add_product(Number &d, const Number &a, const Number &b, int dtype) {
    if (dtype == ATOLL_DTYPE_BOOL) {
        d.whole |= a.whole & b.whole;
    } else if (is_integer(dtype)) {
        d.whole += a.whole * b.whole;
    } else {
        d.re += a.re * b.re - a.im * b.im;
        d.im += a.re * b.im + a.im * b.re;
    }
}
Value value_of(const Number &n, int dtype) {
    if (dtype == ATOLL_DTYPE_BOOL || is_integer(dtype))
        return Value::of(wrap(static_cast<__int128>(n.whole), dtype));
    return Value::of(static_cast<long double>(n.re), static_cast<long double>(n.im));
}

enum Kind { of_m, of_k, of_n, of_loop };
// Which kinds of axes an operand has: d, a, b, c.
bool has_kind(std::size_t operand, int kind) {
    if (kind == of_loop) return true;
    return operand == 1 ? kind != of_n : operand == 2 ? kind != of_m : kind != of_k;
}

// An operand with strides of any size and sign in memory of its own, some of them zero for inputs.
// It is dense along axis `inner`, if that is one of its axes.
Operand any_operand(std::size_t which, int dtype, bool swapped, const Shape &shape,
                    const std::vector<int> &kinds, std::size_t inner, Random &random) {
    Operand o(dtype, swapped, shape, std::vector<bool>(shape.size(), false), Layout::dense);
    std::vector<std::size_t> order;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (has_kind(which, kinds[axis])) order.push_back(axis);
    if (chance(random, 60)) std::shuffle(order.begin(), order.end(), random);
    const auto first = std::find(order.begin(), order.end(), inner);
    if (first != order.end()) std::rotate(order.begin(), first, first + 1);
    const std::int64_t item = facts[dtype].size;
    const bool padded = chance(random, 30), reversed = chance(random, 20),
               repeats = chance(random, 15) && which != 0 && which != 3;
    std::int64_t next = padded && first == order.end() && chance(random, 50) ? 2 * item : item,
                 low = 0;
    for (const std::size_t axis : order) {
        if (repeats && chance(random, 30)) continue;
        const bool back = reversed && axis != inner && chance(random, 50);
        o.strides[axis] = back ? -next : next;
        if (back) low -= next * (shape[axis] - 1);
        next *= shape[axis];
        if (padded && chance(random, 50)) next += item * (1 + below(random, 3));
    }
    o.memory.assign(static_cast<std::size_t>(next + 3 * 64), '\x5a');
    const std::int64_t part = facts[facts[dtype].part].size;
    o.start = 64 - low + (chance(random, 10) ? 1 : chance(random, 30) ? part % item : 0);
    return o;
}

std::int64_t any_extent(int kind, bool large, Random &random) {
    static constexpr std::int64_t rows[] = {8,  12, 13, 16, 23, 24, 25, 31,
                                            33, 47, 48, 49, 64, 72, 97},
                                  depths[] = {8, 9, 17, 40, 127, 129, 383, 384, 385, 400, 770};
    if (!large) return 1 + below(random, 7);
    if (kind == of_k) return depths[below(random, std::size(depths))];
    return rows[below(random, kind == of_loop ? 2 : std::size(rows))];
}

struct Case {
    int dtype;
    Shape shape;
    std::vector<int> kinds;
    std::vector<std::uint8_t> groups = {0, 0, 0};
    // The axis along which an operand is dense, if that is certain.
    std::size_t inner[4] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    int dtypes[4];
    bool swapped[4], conj_a, conj_b;
    int alpha, beta;
    bool in_place, absent, exact;

    explicit Case(Random &random) : dtype(any_dtype(random)) {
        static constexpr std::int64_t most[] = {300, 6'000, 300'000};
        const std::int64_t room = most[chance(random, 5) ? 2 : below(random, 2)];
        for (int kind = of_m; kind <= of_loop; ++kind) {
            const std::int64_t axes = below(random, kind == of_loop ? 3 : 4);
            std::int64_t taken = 1;
            for (std::int64_t i = 0; i < axes; ++i) {
                const std::int64_t extent =
                    any_extent(kind, room > 300 && chance(random, 35), random);
                if (elements(shape) * extent > room || taken * extent > room / 6) continue;
                taken *= extent;
                shape.push_back(extent);
                kinds.push_back(kind);
                if (kind < of_loop) ++groups[static_cast<std::size_t>(kind)];
            }
        }
        const std::int64_t special = below(random, 100);
        if (special < 15) draw_stack(random);
        if (special >= 95) draw_transposed(random);
        const bool thin = special >= 15 && special < 23;
        if (thin) draw_thin(random);
        const bool small = special >= 88 && special < 95;
        if (small) draw_tiles(random);
        const bool mixed = special >= 23 && special < 88 && chance(random, 25);
        for (int o = 0; o < 4; ++o) {
            dtypes[o] = mixed && chance(random, 50) ? any_dtype(random) : dtype;
            if (small) dtypes[o] = small_number(o, random);
            swapped[o] = !thin && chance(random, 8);
        }
        conj_a = is_complex(dtype) && chance(random, 50);
        conj_b = is_complex(dtype) && chance(random, 50);
        const bool flags = dtype == ATOLL_DTYPE_BOOL;
        alpha = chance(random, 60) || flags ? 1 : static_cast<int>(below(random, 4)) - 1;
        beta = chance(random, 40) ? 0 : chance(random, 50) || flags ? 1 : -2;
        absent = chance(random, 20);
        in_place = !absent && chance(random, 50);
        exact = is_integer(dtype) || flags || is_complex(dtypes[0]) || !is_real_float(dtype) ||
                dtypes[0] != dtype || chance(random, 50);
        if (small && chance(random, 40)) make_plain(random);
    }
    bool adds() const { return beta != 0 && !absent; }

private:
    // A stack of small products that lie side by side, or of dot products of dense vectors.
    void draw_stack(Random &random) {
        dtype = chance(random, 50) ? ATOLL_DTYPE_FLOAT32 : ATOLL_DTYPE_FLOAT64;
        const bool dots = chance(random, 30);
        shape.clear();
        kinds.clear();
        groups = {1, 1, 1};
        add(of_m, dots || chance(random, 30) ? 1 : 1 + below(random, 11));
        add(of_k, dots ? 1 + below(random, 200) : 1 + below(random, 20));
        add(of_n, dots || chance(random, 30) ? 1 : 1 + below(random, 11));
        add(of_loop, 1 + below(random, dots ? 7 : 160));
        if (chance(random, 50)) add(of_loop, 1 + below(random, 4));
        std::fill_n(inner, 4, dots ? 1 : 3);
    }
    // d has few rows or columns, or both and long sums; each operand is dense along one of its
    // axes.
    void draw_thin(Random &random) {
        static constexpr int all[] = {ATOLL_DTYPE_FLOAT32,   ATOLL_DTYPE_FLOAT64,
                                      ATOLL_DTYPE_COMPLEX64, ATOLL_DTYPE_COMPLEX128,
                                      ATOLL_DTYPE_INT32,     ATOLL_DTYPE_UINT64};
        static constexpr std::int64_t few[] = {1, 2, 3, 4, 4, 5, 8, 16, 17, 32, 33, 128, 129};
        dtype = all[below(random, std::size(all))];
        shape.clear();
        kinds.clear();
        groups = {1, 1, 1};
        const std::int64_t columns = few[below(random, std::size(few))],
                           room = 400'000 / columns; // of rows and terms
        std::int64_t rows = 0, terms = 0;
        if (chance(random, 40)) { // long sums
            rows = std::max(columns, few[below(random, std::size(few))]);
            terms = std::min(512 + below(random, chance(random, 20) ? 20'000 : 1'500), room / rows);
        } else {
            terms = 1 + below(random, chance(random, 40) ? 4 : chance(random, 60) ? 60 : 700);
            rows = std::min(513 + below(random, chance(random, 20) ? 6'000 : 600), room / terms);
        }
        const bool exchanged = chance(random, 50);
        add(of_m, exchanged ? columns : rows);
        add(of_k, terms);
        add(of_n, exchanged ? rows : columns);
        if (chance(random, 30)) add(of_loop, 1 + below(random, 6));
        const auto either = [&](std::size_t one, std::size_t other) {
            return chance(random, 10) ? SIZE_MAX : chance(random, 50) ? one : other;
        };
        inner[0] = either(0, 2);
        inner[1] = either(0, 1);
        inner[2] = either(1, 2);
        inner[3] = either(0, 2);
    }
    // Some tiles of numbers of which several share a lane, their rows and columns along one axis or
    // two.
    void draw_tiles(Random &random) {
        static constexpr int all[] = {ATOLL_DTYPE_INT32, ATOLL_DTYPE_INT32, ATOLL_DTYPE_INT8,
                                      ATOLL_DTYPE_UINT16, ATOLL_DTYPE_BFLOAT16};
        dtype = all[below(random, std::size(all))];
        shape.clear();
        kinds.clear();
        groups = {1, 1, 1};
        for (int kind = of_m; kind <= of_n; ++kind) {
            add(kind, (chance(random, 50) ? 32 : 17) + below(random, 2) * 16);
            if (kind == of_k || chance(random, 50)) continue;
            add(kind, 1 + below(random, 3));
            groups[static_cast<std::size_t>(kind)] = 2;
        }
    }
    // Products of bytes whose sums need no conversion, and what is added none or another one than
    // they.
    void make_plain(Random &random) {
        dtype = ATOLL_DTYPE_INT32;
        dtypes[0] = dtype;
        dtypes[1] = dtypes[2] = ATOLL_DTYPE_INT8;
        dtypes[3] = chance(random, 30) ? dtype : int{ATOLL_DTYPE_INT16};
        std::fill_n(swapped, 4, false);
        shape[0] = 48;
        inner[0] = 0;
        alpha = 1;
        beta = chance(random, 50);
        absent = in_place = false;
    }
    int small_number(int operand, Random &random) const {
        const bool factor = operand == 1 || operand == 2;
        if (chance(random, 60) && !(factor && dtype == ATOLL_DTYPE_INT32)) return dtype;
        if (!is_integer(dtype)) return factor ? int{ATOLL_DTYPE_INT8} : int{ATOLL_DTYPE_FLOAT32};
        static constexpr int all[] = {ATOLL_DTYPE_INT8, ATOLL_DTYPE_UINT8, ATOLL_DTYPE_INT8,
                                      ATOLL_DTYPE_INT16};
        return all[below(random, std::size(all))];
    }
    // Rows, or columns, along two long axes: d is dense along one, the factor along the other.
    void draw_transposed(Random &random) {
        const bool rows = chance(random, 50);
        shape.clear();
        kinds.clear();
        groups = {1, 1, 1};
        groups[rows ? 0 : 2] = 2;
        const auto long_axes = [&](int kind) {
            for (int i = 0; i < 2; ++i) add(kind, any_extent(kind, true, random));
        };
        const std::int64_t depth = 1 + below(random, 12), others = 1 + below(random, 6);
        rows ? long_axes(of_m) : add(of_m, others);
        add(of_k, depth);
        rows ? add(of_n, others) : long_axes(of_n);
        const std::size_t first = rows ? 0 : 2;
        inner[0] = inner[3] = first;
        inner[rows ? 1 : 2] = first + 1;
    }
    void add(int kind, std::int64_t extent) {
        shape.push_back(extent);
        kinds.push_back(kind);
    }
};

Value any_element(const Case &c, int dtype, Random &random) {
    if (dtype == ATOLL_DTYPE_BOOL) return Value::of(__int128{chance(random, 20)});
    if (is_integer(dtype) && is_integer(c.dtype))
        return Value::of(wrap(static_cast<__int128>(random()), dtype));
    if (!c.exact && is_real_float(dtype))
        return convert(
            Value::of(std::ldexp(static_cast<long double>(below(random, 1 << 20)), -20) - 0.5L,
                      0.0L),
            dtype);
    const auto small = [&] { return static_cast<long double>(below(random, 5)) - 2; };
    return convert(Value::of(small(), small()), dtype);
}

// The elements of an operand in T, k fastest, then `free` axes, then the loop.
std::vector<Number> in_order(const Operand &operand, const Case &c, int free, bool conjugated) {
    Shape order, index(c.shape.size(), 0);
    std::vector<std::size_t> axes;
    for (const int kind : {int{of_k}, free, int{of_loop}})
        for (std::size_t axis = 0; axis < c.shape.size(); ++axis)
            if (c.kinds[axis] == kind) {
                axes.push_back(axis);
                order.push_back(c.shape[axis]);
            }
    std::vector<Number> list;
    each(order, [&](const Shape &at) {
        for (std::size_t i = 0; i < axes.size(); ++i) index[axes[i]] = at[i];
        list.push_back(number_of(convert(operand.get(index), c.dtype)));
        if (conjugated) list.back().im = -list.back().im;
    });
    return list;
}
std::int64_t extent_of(const Case &c, int kind) {
    std::int64_t n = 1;
    for (std::size_t axis = 0; axis < c.shape.size(); ++axis)
        if (c.kinds[axis] == kind) n *= c.shape[axis];
    return n;
}

atoll_scalar factor(int dtype, int value) {
    const int wide = facts[facts[dtype].part].size == 2 && !is_integer(dtype)
                         ? is_complex(dtype) ? int{ATOLL_DTYPE_COMPLEX64} : int{ATOLL_DTYPE_FLOAT32}
                         : dtype;
    return scalar_of(Value::of(__int128{value}), wide);
}

void run_case(std::uint64_t seed) {
    Random random(seed);
    const Case c(random);
    std::vector<Operand> operands;
    for (std::size_t o = 0; o < 4; ++o) {
        operands.push_back(
            any_operand(o, c.dtypes[o], c.swapped[o], c.shape, c.kinds, c.inner[o], random));
        // Where a stride is zero, the element that is written last counts.
        each(c.shape, [&, &operand = operands.back()](const Shape &index) {
            for (std::size_t axis = 0; axis < index.size(); ++axis)
                if (index[axis] && !has_kind(o, c.kinds[axis])) return;
            operand.set(index, any_element(c, c.dtypes[o], random));
        });
    }
    Operand &d = operands[0], &added = operands[c.in_place ? 0 : 3];
    const Shape zeros(c.shape.size(), 0);
    Shape space = c.shape;
    for (std::size_t axis = 0; axis < space.size(); ++axis)
        if (c.kinds[axis] == of_k) space[axis] = 1;
    for (Operand *o : {&d, &operands[3]}) // what is not added does not matter
        if (!(c.adds() && o == &added) && !is_integer(o->dtype) && o->dtype != ATOLL_DTYPE_BOOL)
            each(space, [&](const Shape &index) { o->set(index, Value::of(NAN, NAN)); });
    std::string what = std::string("computed in ") + facts[c.dtype].name + ", axes " +
                       std::to_string(c.groups[0]) + ' ' + std::to_string(c.groups[1]) + ' ' +
                       std::to_string(c.groups[2]) + ", d " + d.text() + ", a " +
                       operands[1].text() + ", b " + operands[2].text() + ", c " + added.text() +
                       (c.absent ? " absent" : "") + ", alpha " + std::to_string(c.alpha) +
                       ", beta " + std::to_string(c.beta) + (c.conj_a ? ", conj a" : "") +
                       (c.conj_b ? ", conj b" : "") + ": ";

    const std::vector<Number> a = in_order(operands[1], c, of_m, c.conj_a),
                              b = in_order(operands[2], c, of_n, c.conj_b);
    const std::int64_t m = extent_of(c, of_m), n = extent_of(c, of_n), k = extent_of(c, of_k);
    const Number alpha = number_of(convert(Value::of(__int128{c.alpha}), c.dtype)),
                 beta = number_of(convert(Value::of(__int128{c.beta}), c.dtype));
    std::vector<Value> expected;
    std::vector<double> sizes;
    std::int64_t place = 0; // in the space without k: m fastest, then n, then the loop
    each(space, [&](const Shape &index) {
        const std::int64_t row = place % m, column = place / m % n, matrix = place / (m * n);
        ++place;
        Number sum;
        double size = 0;
        const Number *x = a.data() + k * (row + m * matrix),
                     *y = b.data() + k * (column + n * matrix);
        for (std::int64_t p = 0; p < k; ++p) {
            add_product(sum, x[p], y[p], c.dtype);
            size += std::fabs(x[p].re * y[p].re);
        }
        Number value;
        add_product(value, alpha, sum, c.dtype);
        if (c.adds()) {
            const Number third = number_of(convert(added.get(index), c.dtype));
            add_product(value, beta, third, c.dtype);
            size += std::fabs(third.re);
        }
        expected.push_back(convert(convert(value_of(value, c.dtype), c.dtype), d.dtype));
        sizes.push_back(size);
    });

    INFO(what);
    const std::vector<char> before = d.memory;
    const std::vector<atoll_operand> given = {
        d.c(), operands[1].c(), operands[2].c(),
        c.absent ? operand_at(nullptr, zeros.data(), c.dtype, ATOLL_OPERAND_ABSENT) : added.c()};
    const std::vector<atoll_scalar> attributes = {factor(c.dtype, c.alpha), factor(c.dtype, c.beta),
                                                  flag_of(c.conj_a), flag_of(c.conj_b)};
    d.shape = space;
    compute(
        d, {&operands[1], &operands[2], &operands[3]},
        [&] {
            return call(ATOLL_FN_matmul, c.dtype, c.shape,
                        c.groups[0] + std::size_t{c.groups[1]} + c.groups[2], given, attributes,
                        c.groups);
        },
        [&] {
            std::string wrong;
            std::size_t at = 0;
            each(space, [&](const Shape &index) {
                Value got = d.get(index), want = expected[at];
                const int rounded = facts[c.dtype].part == ATOLL_DTYPE_FLOAT64
                                        ? int{ATOLL_DTYPE_FLOAT64}
                                        : int{ATOLL_DTYPE_FLOAT32};
                const double bound = (static_cast<double>(k) + 3) * sizes[at] * 3 *
                                     static_cast<double>(epsilon(rounded));
                ++at;
                for (Value *v : {&got, &want}) { // a zero's sign depends on the order of additions
                    if (v->re == 0) v->re = 0;
                    if (v->im == 0) v->im = 0;
                }
                const bool good =
                    c.exact
                        ? same(got, want, d.dtype, 0)
                        : std::fabs(static_cast<double>(got.re - want.re)) <=
                              bound + static_cast<double>(std::fabs(want.re) * epsilon(d.dtype));
                if (!good && wrong.empty())
                    wrong = "got " + text(got) + ", expected " + text(want) + ", element " +
                            std::to_string(at - 1);
            });
            CHECK(wrong == "");
            CHECK(d.rest_is(before));
        });
}

} // namespace

TEST_CASE("contractions agree with naive sums") {
    const auto seed = random_tests::seed();
    const std::int64_t only = random_tests::only_case(), count = random_tests::cases(2'000);
    for (std::int64_t i = only < 0 ? 0 : only; i < (only < 0 ? count : only + 1); ++i) {
        INFO("rerun with ATOLL_TEST_SEED=" << seed << " ATOLL_TEST_CASE=" << i);
        run_case(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    }
}

TEST_CASE("nothing is read behind an operand") {
    const std::int64_t k = 32, n = 64;
    std::int64_t m = 95, inner = 1, a_bytes = m * k;
    std::array<std::int64_t, 4> a_strides = {1, 0, m, 0};
    SUBCASE("whose last row is the last but one of a panel") {}
    // d is dense along the first axis of m, a along the second and along k: blocks of both whose
    // last ones have groups without any rows.
    SUBCASE("whose groups are partly empty") {
        m = 472;
        inner = 16;
        a_strides = {4096, 1, 1, 0};
        a_bytes = (m - 1) * 4096 + inner + k - 1;
    }
    const AtEndOfPage a(a_bytes, 1), b(k * n, 1);
    std::vector<std::int32_t> d(static_cast<std::size_t>(m * inner * n));
    const std::int64_t d_strides[] = {4, 4 * m, 0, 4 * m * inner}, b_strides[] = {0, 0, 1, k},
                       nothing[] = {0, 0, 0, 0};
    at_each_level([&] {
        std::fill(d.begin(), d.end(), 0);
        REQUIRE(call(ATOLL_FN_matmul, ATOLL_DTYPE_INT32, {m, inner, k, n}, 4,
                     {operand_at(d.data(), d_strides, ATOLL_DTYPE_INT32),
                      operand_at(a.data, a_strides.data(), ATOLL_DTYPE_INT8),
                      operand_at(b.data, b_strides, ATOLL_DTYPE_INT8),
                      operand_at(nullptr, nothing, ATOLL_DTYPE_INT32, ATOLL_OPERAND_ABSENT)},
                     {factor(ATOLL_DTYPE_INT32, 1), factor(ATOLL_DTYPE_INT32, 0), flag_of(false),
                      flag_of(false)},
                     {2, 1, 1}) == ATOLL_STATUS_OK);
        CHECK(std::count(d.begin(), d.end(), 32) == m * inner * n);
    });
}

TEST_CASE("products over no indices at all are zero") {
    constexpr std::int64_t m = 16, n = 4;
    const std::vector<double> factors(1000, 1.0);
    double *const any = const_cast<double *>(factors.data());
    const std::int64_t d_strides[] = {8, 0, 0, 8 * m}, a_strides[] = {320, 40, 8, 0},
                       b_strides[] = {0, 8, 40, 400}, nothing[] = {0, 0, 0, 0};
    constexpr int f64 = ATOLL_DTYPE_FLOAT64;
    for (const Shape &shape : {Shape{m, 0, 5, n}, Shape{m, 5, 0, n}, Shape{m, 0, 0, n}})
        at_each_level([&] {
            std::vector<double> d(m * n, 7.0);
            REQUIRE(call(ATOLL_FN_matmul, f64, shape, 4,
                         {operand_at(d.data(), d_strides, f64), operand_at(any, a_strides, f64),
                          operand_at(any, b_strides, f64),
                          operand_at(nullptr, nothing, f64, ATOLL_OPERAND_ABSENT)},
                         {factor(f64, 1), factor(f64, 0), flag_of(false), flag_of(false)},
                         {1, 2, 1}) == ATOLL_STATUS_OK);
            CHECK(std::count(d.begin(), d.end(), 0.0) == m * n);
        });
}

// What is added may be what the result's memory holds in another dtype or byte order.
TEST_CASE("products are added to the bytes of their results, read as what they are") {
    constexpr std::int64_t m = 64, k = 64, n = 64;
    const std::vector<double> factors(m * k, 1.0);
    double *const any = const_cast<double *>(factors.data());
    const std::int64_t d_strides[] = {8, 0, 8 * m}, a_strides[] = {8, 8 * m, 0},
                       b_strides[] = {0, 8, 8 * k};
    constexpr int f64 = ATOLL_DTYPE_FLOAT64;
    for (const bool swapped : {true, false})
        at_each_level([&] {
            std::vector<char> d(8 * m * n);
            for (std::int64_t i = 0; i < m * n; ++i) {
                const std::int64_t number = i;
                const double value = static_cast<double>(i);
                char *const at = d.data() + 8 * i;
                std::memcpy(at, swapped ? static_cast<const void *>(&value) : &number, 8);
                if (swapped) std::reverse(at, at + 8);
            }
            const int third = swapped ? f64 : int{ATOLL_DTYPE_INT64};
            REQUIRE(call(ATOLL_FN_matmul, f64, {m, k, n}, 3,
                         {operand_at(d.data(), d_strides, f64), operand_at(any, a_strides, f64),
                          operand_at(any, b_strides, f64),
                          operand_at(d.data(), d_strides, third,
                                     swapped ? int{ATOLL_OPERAND_SWAPPED} : 0)},
                         {factor(f64, 1), factor(f64, 1), flag_of(false), flag_of(false)},
                         {1, 1, 1}) == ATOLL_STATUS_OK);
            std::int64_t right = 0;
            for (std::int64_t i = 0; i < m * n; ++i) {
                double got;
                std::memcpy(&got, d.data() + 8 * i, 8);
                right += got == static_cast<double>(k + i);
            }
            CHECK(right == m * n);
        });
}

TEST_CASE("scratch of a thread stays within 16 MiB, whatever the operands") {
    struct Product {
        int dtype, factors;
        std::int64_t m, k, n;
        bool adds;
    };
    constexpr int f64 = ATOLL_DTYPE_FLOAT64, c128 = ATOLL_DTYPE_COMPLEX128,
                  f16 = ATOLL_DTYPE_FLOAT16, bf16 = ATOLL_DTYPE_BFLOAT16, i8 = ATOLL_DTYPE_INT8,
                  i16 = ATOLL_DTYPE_INT16;
    // More rows and columns than are packed as a whole, dense along no axis so that BLAS has no
    // part; then more along k than one block has, whose sums wait in a scratch matrix.
    const Product products[] = {
        {f64, f64, 1030, 384, 2900, false},  {c128, c128, 520, 384, 1500, false},
        {f16, f16, 300, 384, 4300, false},   {f16, f16, 100, 4096, 520, true},
        {bf16, bf16, 490, 4100, 1030, true}, {i16, c128, 100, 1100, 520, true},
        {i8, i8, 100, 8200, 520, true},      {i8, i8, 60, 8192, 1030, false}};
    at_each_level([] {
        level->set_pool(nullptr, nullptr, 0);
        while (level->kept_scratch_bytes() > 0) level->use_scratch(65 << 20);
    });
    for (const Product &p : products) {
        const std::int64_t m = p.m, k = p.k, n = p.n, size = facts[p.dtype].size,
                           step = 2 * facts[p.factors].size;
        const std::vector<char> a(static_cast<std::size_t>(m * k * step)),
            b(static_cast<std::size_t>(k * n * step));
        std::vector<char> d(static_cast<std::size_t>(m * n * size));
        const auto at = [&](const std::vector<char> &memory, const std::int64_t *strides) {
            return operand_at(const_cast<char *>(memory.data()), strides,
                              &memory == &d ? p.dtype : p.factors);
        };
        for (const bool transposed : {false, true}) {
            const std::int64_t d_strides[] = {size, 0, size * m},
                               a_strides[] = {transposed ? step * k : step,
                                              transposed ? step : step * m, 0},
                               b_strides[] = {0, transposed ? step * n : step,
                                              transposed ? step : step * k};
            const std::int64_t nothing[] = {0, 0, 0};
            at_each_level([&] {
                const std::int32_t status = call(
                    ATOLL_FN_matmul, p.dtype, {m, k, n}, 3,
                    {at(d, d_strides), at(a, a_strides), at(b, b_strides),
                     p.adds ? at(d, d_strides)
                            : operand_at(nullptr, nothing, p.dtype, ATOLL_OPERAND_ABSENT)},
                    {factor(p.dtype, 1), factor(p.dtype, p.adds), flag_of(false), flag_of(false)},
                    {1, 1, 1});
                CHECK(status == ATOLL_STATUS_OK);
            });
        }
    }
    at_each_level([] {
        level->set_pool(&parallel_for, nullptr, 3);
        const std::int64_t kept = level->kept_scratch_bytes();
        CHECK(kept > 8 << 20);
        CHECK(kept <= 16 << 20);
        level->use_scratch(65 << 20);
        CHECK(level->kept_scratch_bytes() <= kept);
    });
}
