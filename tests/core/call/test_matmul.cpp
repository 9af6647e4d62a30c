// Matrix products through the whole library against naive ones: the shape rules, dtypes, layouts,
// stacks, gemm's operations and factors, destinations that are operands.
#include "../exact_products.hpp"

using namespace Atoll;
using namespace support;

namespace {

oracle::Operand random_operand(int dtype, const Shape &shape, Random &random, bool output = false) {
    oracle::Operand o =
        operand(dtype, shape, oracle::layouts[random() % (output ? 5 : 6)], random() % 4 == 0);
    oracle::each(shape, [&](const Shape &i) { o.set(i, small(dtype, random)); });
    return o;
}

// A matrix of a stack: element (row, column) at the stack's index, transposed and conjugated.
struct Side {
    const oracle::Operand &operand;
    Op op = Op::N;
    std::int64_t extent(std::size_t axis) const {
        return axis < operand.shape.size() ? operand.shape[axis] : 1;
    }
    std::int64_t rows() const { return extent(op == Op::N ? 0 : 1); }
    std::int64_t cols() const { return extent(op == Op::N ? 1 : 0); }
    Value at(std::int64_t row, std::int64_t col, const Shape &stack, int dtype) const {
        if (op != Op::N) std::swap(row, col);
        Shape index{row, col};
        index.insert(index.end(), stack.begin(), stack.end());
        index.resize(operand.shape.size());
        for (std::size_t i = 2; i < index.size(); ++i)
            if (operand.shape[i] == 1) index[i] = 0;
        Value v = oracle::convert(operand.get(index), dtype);
        if (op == Op::C) v.im = -v.im;
        return v;
    }
};

struct Factors {
    int alpha = 1, beta = 0;
};

// The first wrong element of `got`, a product of shape `shape`, or "".
std::string check_product(const std::vector<Value> &got, const Shape &shape, int to, const Side &a,
                          const Side &b, bool vector, int dtype, Factors f,
                          const oracle::Operand *c) {
    std::string wrong;
    std::size_t k = 0;
    oracle::each(shape, [&](const Shape &index) {
        const std::size_t lead = vector ? 1 : 2;
        const Shape stack(index.begin() + static_cast<std::ptrdiff_t>(lead), index.end());
        Value total = oracle::convert(Value::of(0), dtype);
        for (std::int64_t i = 0; i < a.cols(); ++i)
            total = plus(total,
                         times(a.at(index[0], i, stack, dtype),
                               b.at(i, vector ? 0 : index[1], stack, dtype), dtype),
                         dtype);
        if (f.alpha != 1) total = times(oracle::convert(Value::of(f.alpha), dtype), total, dtype);
        if (f.beta)
            total = plus(total,
                         times(oracle::convert(Value::of(f.beta), dtype),
                               oracle::convert(c->get(index), dtype), dtype),
                         dtype);
        Value want = oracle::convert(oracle::convert(total, dtype), to), value = got[k++];
        for (Value *v : {&want, &value}) { // the sign of 0 depends on the order of additions
            if (v->re == 0) v->re = 0;
            if (v->im == 0) v->im = 0;
        }
        if (wrong.empty() && !oracle::same(value, want, to, 0))
            wrong = "gave " + oracle::text(value) + ", expected " + oracle::text(want);
    });
    return wrong;
}

} // namespace

TEST_CASE("the shapes of products follow the rules") {
    struct Rule {
        Dims a, b, result;
    };
    const Rule rules[] = {{{2, 3}, {3, 4}, {2, 4}},
                          {{2, 3}, {3}, {2}},
                          {{3}, {1, 4}, {3, 4}},
                          {{1, 3}, {3}, {1}},
                          {{2, 3, 5}, {3, 4}, {2, 4, 5}},
                          {{2, 3}, {1, 1, 5}, {2, 3, 5}},
                          {{2, 3, 5}, {3}, {2, 5}},
                          {{2, 3}, {}, {2, 3}},
                          {{}, {2, 3}, {2, 3}},
                          {{1}, {2, 3}, {2, 3}},
                          {{2, 3}, {1, 1}, {2, 3}},
                          {{2, 3, 5}, {3, 4, 1, 6}, {2, 4, 5, 6}},
                          {{2, 3, 1, 6}, {3, 4, 5}, {2, 4, 5, 6}},
                          {{1, 1, 5}, {2, 3}, {2, 3, 5}},
                          {{2, 3}, {3, 4, 5}, {2, 4, 5}},
                          {{0, 3}, {3, 4}, {0, 4}},
                          {{2, 0}, {0, 4}, {2, 4}},
                          {{2, 0}, {0}, {2}},
                          {{3, 1}, {1, 4}, {3, 4}},
                          {{1, 3}, {3, 1}, {1, 1}},
                          {{}, {}, {}},
                          {{2, 3, 0}, {3, 4}, {2, 4, 0}}};
    for (const Device device : all_devices())
        for (const Rule &rule : rules) {
            const Tensor product =
                matmul(ones(rule.a, {float32, device}), ones(rule.b, {float32, device}));
            CHECK(product.shape() == rule.result);
        }
    const Tensor v = arange(4, {cpu()});
    CHECK((v.T() * v).shape() == Dims{1});
    CHECK((v.T() * v).item().to_int() == 14);
    CHECK((v * v.T()).shape() == Dims{4, 4});
    CHECK((v * v.T())(2, 3).item().to_int() == 6);
}

TEST_CASE("shapes that do not match are named in the error") {
    const auto refused = [](const Dims &a, const Dims &b) {
        return error_text([&] { matmul(ones(a, {cpu()}), ones(b, {cpu()})); });
    };
    CHECK(contains(refused({2, 3}, {4, 2}), "(2, 3)"));
    CHECK(contains(refused({2, 3}, {4, 2}), "(4, 2)"));
    CHECK(contains(refused({3}, {3}), "inner product"));
    CHECK(contains(refused({2, 3, 5}, {3, 4, 6}), "5"));
    CHECK(contains(refused({2, 3}, {2}), "core.matmul"));
    const Tensor a = ones({2, 3}, {cpu()}), b = ones({3, 4}, {cpu()});
    CHECK(contains(error_text([&] { matmul(a, b, zeros({4, 2}, {cpu()})); }), "(2, 4)"));
    CHECK(contains(error_text([&] {
                       gemm(1, a, Op::T, b, Op::N, 0, zeros({2, 4}, {cpu()}));
                   }),
                   "transposed"));
    CHECK_THROWS_AS(gemm(1, a, Op::N, b, Op::N, 0, zeros({4, 2}, {cpu()})), Error);
}

TEST_CASE("products agree with the naive one on every pair of dtypes, layouts and stacks") {
    const AnyOutput any_output;
    Random random(61);
    struct Case {
        Shape a, b;
    };
    const Case cases[] = {{{3, 4}, {4, 2}},    {{4, 3}, {3}},       {{3}, {1, 4}},
                          {{1, 5}, {5}},       {{2, 3, 4}, {3, 2}}, {{2, 3, 2}, {3, 2, 2}},
                          {{2, 3, 3}, {3}},    {{2, 0}, {0, 3}},    {{2, 3, 1, 2}, {3, 2, 3}},
                          {{2, 2}, {2, 3, 2}}, {{7, 9}, {9, 8}},    {{2, 3, 2}, {3, 1, 2}}};
    for (const Device device : all_devices())
        for (int da = 1; da < ATOLL_DTYPE_COUNT; ++da)
            for (int db = 1; db < ATOLL_DTYPE_COUNT; ++db)
                for (int trial = 0; trial < 2; ++trial) {
                    const Case &c = cases[random() % std::size(cases)];
                    const int compute = id(promote(static_cast<DType>(da), static_cast<DType>(db)));
                    // 64-bit integers beside floats would not be exact.
                    if (da != db && !oracle::is_integer(compute) && compute != ATOLL_DTYPE_BOOL &&
                        (oracle::is_integer(da) || oracle::is_integer(db)))
                        continue;
                    oracle::Operand a = random_operand(da, c.a, random),
                                    b = random_operand(db, c.b, random);
                    const Tensor ta = upload(a, device), tb = upload(b, device);
                    const Tensor product = matmul(ta, tb);
                    CAPTURE(device.name());
                    CAPTURE(std::string(oracle::facts[da].name));
                    CAPTURE(std::string(oracle::facts[db].name));
                    CHECK(id(product.dtype()) == compute);
                    const Shape shape = shape_of(product.shape());
                    const bool vector = c.b.size() == 1;
                    std::string wrong = check_product(values_of(product), shape, compute, {a}, {b},
                                                      vector, compute, {}, nullptr);
                    CHECK(wrong == "");
                    const int to = oracle::is_complex(compute) ? int{ATOLL_DTYPE_COMPLEX128}
                                   : trial                     ? compute
                                           : 1 + static_cast<int>(random() % 16);
                    oracle::Operand out = random_operand(to, shape, random, true);
                    const std::vector<char> before = out.memory;
                    const Tensor tout = upload(out, random() % 6 ? device : cpu());
                    CHECK(matmul(ta, tb, tout).impl() == tout.impl());
                    wrong = check_product(values_of(tout), shape, to, {a}, {b}, vector, compute, {},
                                          nullptr);
                    CHECK(wrong == "");
                    out.memory = bytes_of(tout);
                    CHECK(out.rest_is(before));
                }
}

TEST_CASE("gemm takes every operation and factor, and does not read c when beta is 0") {
    Random random(62);
    const Op ops[] = {Op::N, Op::T, Op::C};
    for (const Device device : all_devices())
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
            for (Op op_a : ops)
                for (Op op_b : ops)
                    for (int trial = 0; trial < 2; ++trial) {
                        const bool stacked = random() % 3 == 0;
                        Shape sa = op_a == Op::N ? Shape{3, 4} : Shape{4, 3};
                        Shape sb = op_b == Op::N ? Shape{4, 2} : Shape{2, 4};
                        Shape sc{3, 2};
                        if (stacked) {
                            sa.push_back(2);
                            sb.push_back(random() % 2 ? 2 : 1);
                            sc.push_back(2);
                        }
                        oracle::Operand a = random_operand(dtype, sa, random),
                                        b = random_operand(dtype, sb, random),
                                        c = random_operand(dtype, sc, random, true);
                        const bool is_bool = dtype == ATOLL_DTYPE_BOOL;
                        const Factors f{is_bool ? 1 : 2, trial == 0 ? 0 : is_bool ? 1 : 3};
                        if (trial == 0 && is_floating(static_cast<DType>(dtype)))
                            oracle::each(sc,
                                         [&](const Shape &i) { c.set(i, Value::of(NAN, 0.0L)); });
                        const Tensor tc = upload(c, device);
                        const std::vector<char> before = c.memory;
                        gemm(f.alpha, upload(a, device), op_a, upload(b, device), op_b, f.beta, tc);
                        CAPTURE(device.name());
                        CAPTURE(std::string(oracle::facts[dtype].name));
                        CAPTURE(static_cast<char>(op_a));
                        CAPTURE(static_cast<char>(op_b));
                        CAPTURE(stacked);
                        CAPTURE(f.beta);
                        const std::string wrong = check_product(values_of(tc), sc, dtype, {a, op_a},
                                                                {b, op_b}, false, dtype, f, &c);
                        CHECK(wrong == "");
                        c.memory = bytes_of(tc);
                        CHECK(c.rest_is(before));
                    }
}

TEST_CASE("complex factors multiply and an empty inner axis leaves beta times c") {
    for (const Device device : all_devices()) {
        const std::complex<double> i(0, 1);
        const Tensor a = full({2, 2}, i, {complex64, device}),
                     c = ones({2, 2}, {complex64, device});
        gemm(i, a, Op::C, a, Op::N, 2.0 * i, c);
        // i * (2 * conj(i) * i) + 2i
        CHECK(c(1, 0).item().to_complex() == std::complex<double>(0, 4));
        const Tensor left = zeros({2, 0}, {float64, device}),
                     right = zeros({0, 3}, {float64, device});
        const Tensor kept = ones({2, 3}, {float64, device});
        gemm(5, left, Op::N, right, Op::N, 3, kept);
        CHECK(kept.to_doubles() == std::vector<double>(6, 3.0));
        CHECK(matmul(left, right).to_doubles() == std::vector<double>(6, 0.0));
        CHECK(matmul(left, right, full({2, 3}, NAN, {float64, device})).to_doubles() ==
              std::vector<double>(6, 0.0));
    }
}

TEST_CASE("factors promote like scalars beside tensors") {
    for (const Device device : all_devices()) {
        const Tensor i = full({2, 2}, 3, {int32, device}), f = ones({2, 2}, {float32, device});
        const Tensor out = zeros({2, 2}, {float64, device});
        gemm(0.5, i, Op::N, i, Op::N, 0, out);
        CHECK(out.to_doubles() == std::vector<double>(4, 9.0));
        gemm(1, i, Op::N, i, Op::N, 0.5, out);
        CHECK(out.to_doubles() == std::vector<double>(4, 22.5));
        const Tensor z = zeros({2, 2}, {complex64, device});
        gemm(std::complex<double>(0, 1), f, Op::N, f, Op::N, 0, z);
        CHECK(z(0, 0).item().to_complex() == std::complex<double>(0, 2));
        const Tensor b = ones({2, 2}, {bool_, device}), count = zeros({2, 2}, {int64, device});
        gemm(1, b, Op::N, b, Op::N, 0, count); // or of ands
        CHECK(count.to_doubles() == std::vector<double>(4, 1.0));
        CHECK(error_status([&] {
                  gemm(300, ones({2, 2}, {int8, device}), Op::N, b, Op::N, 0, out);
              }) == Status::out_of_range);
    }
}

TEST_CASE("a product may be written to its own operand") {
    for (const Device device : all_devices()) {
        CAPTURE(device.name());
        for (DType dtype : {float64, int32, complex64, float16}) {
            const Tensor a = counting({3, 3}, dtype, device), b = eye(3, 3, 1, {dtype, device});
            const std::vector<double> ab = matmul(a, b).to_doubles(),
                                      ba = matmul(b, a).to_doubles(),
                                      aa = matmul(a, a).to_doubles();
            const Tensor left = a.clone(), right = a.clone(), both = a.clone();
            CHECK(matmul(left, b, left).to_doubles() == ab);
            CHECK(matmul(b, right, right).to_doubles() == ba);
            CHECK(matmul(both, both, both).to_doubles() == aa);
            const Tensor sum = a.clone();
            gemm(1, sum, Op::T, b, Op::N, 1, sum);
            CHECK(sum.to_doubles() == (matmul(a.T(), b) + a).to_doubles());
            // Into a transposed view of an operand.
            const Tensor turned = a.clone();
            matmul(turned, b, turned.T());
            CHECK(turned.T().to_doubles() == ab);
        }
    }
}

TEST_CASE("one element, or leading unit axes, scale") {
    for (const Device device : all_devices()) {
        const Tensor a = counting({2, 3}, float32, device);
        CHECK((a * 2).to_doubles() == std::vector<double>{0, 2, 4, 6, 8, 10});
        CHECK((full({1, 1}, 2, {int8, device}) * a).dtype() == float32);
        const Tensor scales = counting({1, 1, 3}, float32, device);
        const Tensor scaled = a * scales;
        CHECK(scaled(ellipsis, 2).to_doubles() == (a * 2).to_doubles());
        CHECK((scales * a).to_doubles() == scaled.to_doubles());
    }
}

TEST_CASE("gemm computes in the dtype of all that it reads, c among them") {
    for (const Device device : support::all_devices())
        for (const int k : {0, 3})
            for (const int alpha : {0, 2}) {
                CAPTURE(k);
                CAPTURE(alpha);
                const Placement reals{float32, device};
                const Tensor a = ones({2, k}, reals), b = ones({k, 2}, reals);
                const std::complex<float> old(5, 7), sum(static_cast<float>(alpha * k), 0);
                const Tensor c = full({2, 2}, Scalar(old), {complex64, device});
                gemm(alpha, a, Op::N, b, Op::N, 3, c);
                CHECK(c(1, 1).item<std::complex<float>>() == sum + 3.0F * old);
                gemm(alpha, a, Op::N, b, Op::N, 0, c);
                CHECK(c(1, 1).item<std::complex<float>>() == sum);
                const Tensor wide = full({2, 2}, 1 + 0x1p-40, {float64, device});
                gemm(alpha, a, Op::N, b, Op::N, 1, wide);
                CHECK(wide(1, 1).item<double>() == alpha * k + 1 + 0x1p-40);
            }
}

TEST_CASE("with alpha 0 the factors are not read, on any device") {
    for (const Device device : support::all_devices())
        for (const DType dtype : {float16, float32, float64, complex64}) {
            const Tensor nan = full({2, 2}, std::nan(""), {dtype, device});
            const Tensor c = full({2, 2}, 3, {dtype, device});
            gemm(0, nan, Op::N, nan, Op::N, 2, c);
            CHECK(c.to_doubles() == std::vector<double>(4, 6.0));
        }
}
