// Dtypes, promotion against NumPy's table, weak scalars (NEP 50), and the functions' dtype rules.
#include "../any_call.hpp"
#include "../support.hpp"

using namespace Atoll;
using namespace support;

namespace {

std::vector<DType> all_dtypes() {
    std::vector<DType> dtypes;
    for (int i = 1; i < ATOLL_DTYPE_COUNT; ++i) dtypes.push_back(static_cast<DType>(i));
    return dtypes;
}

// Bits that an integer's magnitude needs, or that a float's significand has.
int digits(DType dtype) {
    switch (dtype) {
    case DType::float16: return 11;
    case DType::bfloat16: return 8;
    case DType::float32: return 24;
    case DType::float64: return 53;
    case DType::bool_: return 1;
    default: return 8 * static_cast<int>(size_of(dtype)) - (info(dtype).kind == Kind::signed_);
    }
}

// The rule of the documentation, for a real float and any real dtype.
DType float_rule(DType real_float, DType other) {
    if (is_real_float(other)) {
        if (size_of(real_float) != size_of(other))
            return size_of(real_float) > size_of(other) ? real_float : other;
        return real_float == other ? other : float32;
    }
    for (DType candidate : {real_float, float32, float64})
        if (size_of(candidate) >= size_of(real_float) && digits(candidate) >= digits(other))
            return candidate;
    return float64;
}
DType complex_of(DType part) {
    return part == float16 ? complex32 : part == float32 ? complex64 : complex128;
}

DType dtype_with(DType tensor, const Scalar &scalar) {
    return add(zeros({2}, {tensor, cpu()}), scalar).dtype();
}

bool in_domain(atoll_dtype_set domain, DType dtype) { return domain >> id(dtype) & 1; }

} // namespace

TEST_CASE("promotion is symmetric, idempotent and never narrower than its operands' kind") {
    for (DType a : all_dtypes()) {
        CHECK(promote(a, a) == a);
        for (DType b : all_dtypes()) {
            CAPTURE(name(a));
            CAPTURE(name(b));
            const DType both = promote(a, b);
            CHECK(both == promote(b, a));
            CHECK(is_complex(both) == (is_complex(a) || is_complex(b)));
            // Mixing signs with uint64 is the one case where integers become floats.
            if (is_floating(both) && !is_floating(a) && !is_floating(b)) {
                CHECK(both == float64);
                CHECK((a == uint64 || b == uint64));
            }
            // What has been promoted absorbs its operands.
            CHECK(promote(both, a) == both);
        }
    }
}

TEST_CASE("promotion agrees with NumPy for the dtypes that both have") {
    int cells = 0;
#define PROMOTE(a, b, result, same_kind)                                                           \
    ++cells;                                                                                       \
    CHECK_MESSAGE(promote(a, b) == result, #a " with " #b);
#include "../../golden/promotion.inc"
    CHECK(cells == 14 * 14);
}

TEST_CASE("bfloat16 and complex32 promote by the rule of significands") {
    for (DType other : all_dtypes()) {
        CAPTURE(name(other));
        const DType part = info(other).part;
        if (is_complex(other)) {
            CHECK(promote(bfloat16, other) == complex_of(float_rule(bfloat16, part)));
            CHECK(promote(complex32, other) == complex_of(float_rule(float16, part)));
        } else {
            CHECK(promote(bfloat16, other) == float_rule(bfloat16, other));
            CHECK(promote(complex32, other) == complex_of(float_rule(float16, other)));
        }
    }
    CHECK(promote(float16, bfloat16) == float32);
}

TEST_CASE("tensors of two dtypes meet in the promoted one") {
    for (DType a : all_dtypes())
        for (DType b : all_dtypes())
            CHECK(add(zeros({1}, {a, cpu()}), zeros({1}, {b, cpu()})).dtype() == promote(a, b));
}

TEST_CASE("weak scalars change a dtype only by their kind") {
    for (DType dtype : all_dtypes()) {
        CAPTURE(name(dtype));
        const DType with_int = dtype == bool_ ? int64 : dtype;
        const DType with_double = is_floating(dtype) ? dtype : float64;
        DType with_complex = complex128;
        if (is_complex(dtype)) with_complex = dtype;
        if (is_real_float(dtype)) with_complex = complex_of(dtype == bfloat16 ? float32 : dtype);
        CHECK(dtype_with(dtype, true) == dtype);
        CHECK(dtype_with(dtype, 3) == with_int);
        CHECK(dtype_with(dtype, 3u) == with_int);
        CHECK(dtype_with(dtype, 0.5f) == with_double);
        CHECK(dtype_with(dtype, 0.5) == with_double);
        CHECK(dtype_with(dtype, std::complex<float>(0, 1)) == with_complex);
        CHECK(dtype_with(dtype, std::complex<double>(0, 1)) == with_complex);
        // The order of operands plays no part.
        CHECK(subtract(0.5, zeros({2}, {dtype == bool_ ? int8 : dtype, cpu()})).dtype() ==
              with_double);
    }
}

TEST_CASE("strong scalars promote like tensors") {
    for (DType dtype : all_dtypes())
        for (DType strong : all_dtypes())
            CHECK(dtype_with(dtype, Scalar(1, strong)) == promote(dtype, strong));
}

TEST_CASE("two weak scalars meet in the default dtype of their kind") {
    load_devices();
    CHECK(add(1, 2).dtype() == int64);
    CHECK(add(1, 2.5).dtype() == float64);
    CHECK(add(1.0, std::complex<double>(0, 1)).dtype() == complex128);
    CHECK(add(true, false).dtype() == bool_);
    CHECK(add(1, 2.5).item().to_double() == 3.5);
    // Integers meet in int64, which has to hold them; in comparisons they keep their values.
    constexpr std::uint64_t top = ~std::uint64_t{0};
    CHECK(error_status([] { add(top, 1); }) == Status::out_of_range);
    CHECK(error_status([] { add(1, top); }) == Status::out_of_range);
    CHECK(error_status([] { negative(top); }) == Status::out_of_range);
    CHECK(contains(error_text([] { where(vector({true}), top, 0); }), "does not fit int64"));
    CHECK(add(Scalar(top, uint64), 0).item<std::uint64_t>() == top);
    CHECK(!static_cast<bool>(equal(top, -1)));
    CHECK(!static_cast<bool>(less(top, 5)));
    CHECK(static_cast<bool>(less(-1, top)));
    CHECK(add(top, 0.5).item<double>() == 0x1p64);
    CHECK(add(0.5, top).item<double>() == 0x1p64);
    const Tensor small = zeros({1}, {int8, cpu()});
    CHECK(where(small, 300, 0.5).dtype() == float64);
    CHECK(where(small, 0.5, 300).dtype() == float64);
}

TEST_CASE("a weak integer must fit the tensor's dtype") {
    using Limits64 = std::numeric_limits<std::int64_t>;
    for (DType dtype : all_dtypes()) {
        if (!is_integer(dtype)) continue;
        CAPTURE(name(dtype));
        const int bits = 8 * static_cast<int>(size_of(dtype));
        const bool sign = info(dtype).kind == Kind::signed_;
        const __int128 high = (static_cast<__int128>(1) << (sign ? bits - 1 : bits)) - 1;
        const __int128 low = sign ? -high - 1 : 0;
        const Tensor tensor = zeros({2}, {dtype, cpu()});
        const auto try_integer = [&](__int128 value) {
            if (value > Limits64::max())
                return error_status([&] { add(tensor, static_cast<std::uint64_t>(value)); });
            return error_status([&] { add(tensor, static_cast<std::int64_t>(value)); });
        };
        CHECK(try_integer(high) == Status::ok);
        CHECK(try_integer(low) == Status::ok);
        if (high + 1 <= std::numeric_limits<std::uint64_t>::max())
            CHECK(try_integer(high + 1) == Status::out_of_range);
        if (low - 1 >= Limits64::min()) CHECK(try_integer(low - 1) == Status::out_of_range);
        const std::string text = error_text([&] { add(zeros({2}, {uint8, cpu()}), 256); });
        CHECK(contains(text, "256"));
        CHECK(contains(text, "uint8"));
        CHECK(contains(text, "core.add"));
    }
    // No integer is too large for a float.
    CHECK(add(zeros({1}, {float16, cpu()}), 100000).dtype() == float16);
}

TEST_CASE("a strong scalar is made only of an integer that fits") {
    CHECK(Scalar(255, uint8).to_int() == 255);
    CHECK_THROWS_AS(Scalar(256, uint8), Error);
    CHECK_THROWS_AS(Scalar(-1, uint64), Error);
    CHECK_THROWS_AS(Scalar(~std::uint64_t{0}, int64), Error);
    CHECK(contains(error_text([] { Scalar(~std::uint64_t{0}, int64); }), "18446744073709551615"));
    CHECK(!Scalar(255, uint8).is_weak());
    CHECK(Scalar(1e300).cast(int32).to_int() == std::numeric_limits<std::int32_t>::max());
    CHECK(Scalar(NAN).cast(int64).to_int() == 0);
}

TEST_CASE("every function's result has the dtype of its rule, or its domain is named") {
    for (int f = 0; f < ATOLL_FN_COUNT; ++f)
        for (DType dtype : all_dtypes()) {
            const FunctionFacts &facts = functions[f];
            CAPTURE(std::string(facts.name));
            CAPTURE(name(dtype));
            const Tensor a = ones({3, 3}, {dtype, cpu()});
            if (facts.rule == ATOLL_RULE_GIVEN || f == ATOLL_FN_copy) continue;
            const auto call = [&] { return call_any(f, a, a); };
            const bool is_float = is_floating(dtype);
            DType compute = dtype;
            switch (facts.rule) {
            case ATOLL_RULE_COMMON: break;
            case ATOLL_RULE_FLOAT: compute = is_float ? dtype : float64; break;
            case ATOLL_RULE_SUM:
                if (!is_float) compute = info(dtype).kind == Kind::unsigned_ ? uint64 : int64;
                break;
            case ATOLL_RULE_NUMBER: compute = dtype == bool_ ? int8 : dtype; break;
            default: FAIL("a rule that this test does not know");
            }
            const sdk::OperandSpec &output = sdk::core_functions[f].signature.operands[0];
            DType result = compute;
            switch (output.type) {
            case sdk::TypeOf::T: break;
            case sdk::TypeOf::R: result = info(compute).part; break;
            case sdk::TypeOf::dtype: result = static_cast<DType>(output.dtype); break;
            default: FAIL("a type that this test does not know");
            }
            if (in_domain(facts.domain, compute)) {
                CHECK(call().dtype() == result);
            } else {
                const std::string text = error_text(call);
                CHECK(contains(text, std::string(name(compute))));
                CHECK(contains(text, "core." + std::string(facts.name)));
            }
        }
}

TEST_CASE("dtypes are found by name and alias") {
    for (DType dtype : all_dtypes()) CHECK(dtype_from_name(name(dtype)) == dtype);
    CHECK(dtype_from_name("double") == float64);
    CHECK(dtype_from_name("cfloat") == complex64);
    const std::string text = error_text([] { dtype_from_name("float8"); });
    CHECK(contains(text, "float8"));
    CHECK(contains(text, "complex128"));
    CHECK_THROWS_AS(dtype_from_name(""), Error);
}
