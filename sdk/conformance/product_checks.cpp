// What a product of matrices is asked for beyond a times b: factors, operands as they lie, another
// matrix that is added.
#include "compare.hpp"
#include "suites.hpp"

#include <cmath>

namespace Atoll::conformance {

namespace {

enum class C { absent, output, other };

struct Product {
    const char *name;
    double alpha, beta;
    C c;
    Layout factors; // transposition is in the strides
    bool conj_a, conj_b;
    bool poisoned; // what must not be read holds NaN before the call
    const char *rule;
};

constexpr Layout dense = Layout::dense, transposed = Layout::transposed;
const Product products[] = {
    {"alpha and beta", 2, 3, C::output, dense, false, false, false,
     "out = alpha * a b + beta * c, where c is out"},
    {"alpha without c", 2, 3, C::absent, dense, false, false, true,
     "without c out = alpha * a b, whatever beta is"},
    {"another matrix c", 2, 3, C::other, dense, false, false, true,
     "out = alpha * a b + beta * c; out is not read where c is another matrix"},
    {"transposed operands", 1, 0, C::absent, transposed, false, false, false,
     "transposition is in the strides"},
    {"conjugated operands", 1, 0, C::absent, transposed, true, true, false,
     "conj_a and conj_b say which operands are conjugated"},
    {"one conjugated operand", 1, 0, C::absent, dense, false, true, false,
     "conj_a and conj_b say which operands are conjugated"},
    {"beta 0", 1, 0, C::output, dense, false, false, true, "with beta == 0 out is not read"},
    {"beta 0, another matrix c", 1, 0, C::other, dense, false, false, true,
     "with beta == 0 c is not read"},
};

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

void multiplies(const Target &target, const Declared &declared, DType dtype, const Product &p,
                Size size) {
    Setting setting{.name = p.name,
                    .attributes = {{"alpha", Scalar(p.alpha)},
                                   {"beta", Scalar(p.beta)},
                                   {"conj_a", Scalar(p.conj_a)},
                                   {"conj_b", Scalar(p.conj_b)}}};
    if (p.c != C::absent) setting.inputs = {"c"};
    Call call = make_call(declared.function, dtype, {.size = size, .setting = setting}, false);
    int seed = 0;
    for (Call::Argument &input : call.inputs)
        if (!input.absent) input.values = small_values(count_of(input.shape), dtype, ++seed);
    const Expected expected = expect(target, call, declared.device_type);
    expected.require();
    if (p.poisoned) {
        const Values poison(static_cast<std::size_t>(count_of(call.outputs[0].shape)),
                            Scalar(NAN).cast(dtype));
        call.outputs[0].values = poison;
        if (p.beta == 0 && p.c != C::absent) call.inputs[2].values = poison;
    }
    try {
        Prepared prepared(std::move(call), {dtype, declared.device()}, {p.factors, dense});
        if (p.c == C::output) prepared.outputs[0] = prepared.inputs[2];
        prepared.run();
        const Guarded &output = prepared.outputs[0];
        const std::vector<char> bytes = output.read();
        require_guards(output, bytes, "output 0");
        require_equal(expected.values[0], decode(output.tensor, bytes), tolerance_of(prepared.call),
                      expected.source);
    } catch (const Failed &failed) {
        fail("{}; {}", failed.what(), p.rule);
    } catch (const Error &error) {
        fail("the call failed: {}; {}", error.what(), p.rule);
    }
}

} // namespace

void add_product_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        if (declared.function.name != "core.matmul") continue;
        for (const DType dtype : declared.all_dtypes())
            for (const Product &product : products) {
                if (product.poisoned && !is_floating(dtype)) continue;
                for (const Size size : {Size::bare, Size::small})
                    checks.push_back(
                        {"functions", declared.subject(), word(dtype),
                         product.name + std::string(size == Size::bare ? "" : ", stacked"),
                         [&target, &declared, dtype, &product, size] {
                             multiplies(target, declared, dtype, product, size);
                         }});
            }
    }
}

} // namespace Atoll::conformance
