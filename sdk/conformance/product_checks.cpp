// What a product of matrices is asked for beyond a times b: factors, operands as they lie, none of
// k.
#include "calls.hpp"
#include "compare.hpp"
#include "suites.hpp"

#include <cmath>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

struct Product {
    const char *name;
    std::int64_t k;
    double alpha, beta;
    Op op_a, op_b;
    bool poisoned = false; // out holds NaN before the call
    const char *rule;
};

const Product products[] = {
    {"alpha and beta", 4, 2, 3, Op::N, Op::N, false, "out = alpha * a b + beta * out"},
    {"transposed operands", 4, 1, 0, Op::T, Op::T, false, "transposition is in the strides"},
    {"conjugated operands", 4, 1, 0, Op::C, Op::C, false,
     "`conj` of atoll_matmul_params says which operands are conjugated"},
    {"one conjugated operand", 4, 1, 0, Op::N, Op::C, false,
     "`conj` of atoll_matmul_params has a bit for each operand"},
    {"beta 0", 4, 1, 0, Op::N, Op::N, true, "with beta == 0 out is not read"},
};

// m, n: extents of the result.
constexpr std::int64_t m = 3, n = 2;

Values small_values(std::int64_t count, DType dtype, int seed) {
    const bool has_sign = info(dtype).kind != Kind::unsigned_;
    Values values;
    for (std::int64_t i = 0; i < count; ++i) {
        const double re = static_cast<double>((i * 7 + seed) % 5) - (has_sign ? 2 : 0);
        const double im = static_cast<double>((i * 3 + seed) % 4) - 1;
        values.push_back(is_complex(dtype) ? Scalar(std::complex<double>(re, im)).cast(dtype)
                                           : Scalar(re).cast(dtype));
    }
    return values;
}

Values product_on(Device device, DType dtype, const Product &p, const Values &a, const Values &b,
                  const Values &out) {
    const auto shape = [](Op op, std::int64_t rows, std::int64_t columns) {
        return op == Op::N ? Shape{rows, columns} : Shape{columns, rows};
    };
    const Guarded left = lay_out(a, shape(p.op_a, m, p.k), dtype, device),
                  right = lay_out(b, shape(p.op_b, p.k, n), dtype, device),
                  result = lay_out(out, {m, n}, dtype, device);
    gemm(Scalar(p.alpha), left.tensor, p.op_a, right.tensor, p.op_b, Scalar(p.beta), result.tensor);
    result.tensor.stream().synchronize();
    const std::vector<char> bytes = result.read();
    require_guards(result, bytes, "output 0");
    return decode(result.tensor, bytes);
}

void multiplies(const Target &target, const Declared &declared, DType dtype, const Product &p) {
    const auto reference = target.reference(declared.function, declared.device_type, dtype);
    if (!reference)
        throw Skipped("there is nothing to compare the result with: load another device that has "
                      "the function (--with PLUGIN)");
    const Values a = small_values(m * p.k, dtype, 1), b = small_values(p.k * n, dtype, 2),
                 clean = small_values(m * n, dtype, 3);
    const Values poison(clean.size(), Scalar(NAN).cast(dtype));
    const Values want = product_on(*reference, dtype, p, a, b, clean);
    try {
        const Values got = product_on(Target::device_of(declared.device_type), dtype, p, a, b,
                                      p.poisoned ? poison : clean);
        require_equal(want, got, tolerance_of(declared.function, dtype, 4, 4), reference->name());
    } catch (const Failed &failed) {
        throw Failed(fmt::format("{}; {}", failed.what(), p.rule));
    } catch (const Error &error) {
        throw Failed(fmt::format("the call failed: {}; {}", error.what(), p.rule));
    }
}

} // namespace

void add_product_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        if (!callable(declared.function) || declared.function.family != ATOLL_FAMILY_MATMUL)
            continue;
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            if (!declared.has(dtype)) continue;
            for (const Product &product : products) {
                if (product.poisoned && !is_floating(dtype)) continue;
                checks.push_back({"functions", declared.subject(), std::string(Atoll::name(dtype)),
                                  product.name, [&target, &declared, dtype, &product] {
                                      multiplies(target, declared, dtype, product);
                                  }});
            }
        }
    }
}

} // namespace Atoll::conformance
