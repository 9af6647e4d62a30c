// The parser of functions' lines: what it makes of them, and what it says of wrong ones.
#include "atoll/core_functions.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

using namespace Atoll::sdk;

namespace {

std::string complaint(const char *signature, const char *attributes = "",
                      const char *properties = "") {
    try {
        parse_signature(signature, attributes, properties);
    } catch (const Error &error) {
        return error.what();
    }
    return "";
}

// "m k n*": the slots in order, with their marks.
std::string slots(const Signature &s) {
    std::string text;
    for (int i = 0; i < s.slot_count; ++i) {
        const AxisSlot &slot = s.slot(i);
        text += (i ? " " : "") + std::string(slot.name);
        if (slot.kind == AxisKind::group) text += "*";
        if (slot.kind == AxisKind::optional) text += "?";
        if (!slot.given) text += "!";
    }
    return text;
}
// "out: 0 1": an operand and the slots of its parentheses.
std::string operand(const Signature &s, int i) {
    const OperandSpec &spec = s.operand(i);
    std::string text(spec.name);
    for (int k = 0; k < spec.axis_count; ++k)
        text += " " + std::to_string(spec.axes[static_cast<std::size_t>(k)]);
    return text;
}

} // namespace

TEST_CASE("a signature parses at compile time") {
    constexpr Signature s = parse_signature("a (), b () -> c (): bool", "", "exact");
    static_assert(s.output_count == 1 && s.operand_count == 3 && s.elementwise() && s.exact);
    static_assert(s.operands[0].dtype == ATOLL_DTYPE_BOOL && s.operands[0].type == TypeOf::dtype);
    static_assert(s.input(1).name == "b" && s.input(1).type == TypeOf::T);
}

TEST_CASE("outputs come first among the operands, core axes in order of appearance") {
    const Signature s = parse_signature("a (m*, k*), b (k*, n*), c (m*, n*)? -> d (m*, n*)");
    CHECK(slots(s) == "m* k* n*");
    CHECK(operand(s, 0) == "d 0 2");
    CHECK(operand(s, 1) == "a 0 1");
    CHECK(operand(s, 2) == "b 1 2");
    CHECK(operand(s, 3) == "c 0 2");
    CHECK(s.operands[3].optional);
    CHECK(!s.operands[2].optional);
}

TEST_CASE("a name that stands twice in one operand makes two axes, which others share in order") {
    const Signature s = parse_signature("a (n, n), b (n, k?) -> x (n, k?), info (): int32");
    CHECK(slots(s) == "n n k?");
    CHECK(operand(s, 2) == "a 0 1");
    CHECK(operand(s, 3) == "b 0 2");
    CHECK(operand(s, 0) == "x 0 2");
    CHECK(s.operands[1].dtype == ATOLL_DTYPE_INT32);
}

TEST_CASE("names that stand in outputs only are told apart, fixed extents are known") {
    const Signature s = parse_signature("a (m, n), b (3) -> q (m, r)?, r (r, n), c (3)");
    CHECK(slots(s) == "m n 3 r!");
    CHECK(s.slots[2].extent == 3);
    CHECK(operand(s, 2) == "c 2");
    CHECK(s.operands[0].optional);
}

TEST_CASE("types, objects and updated operands") {
    const Signature s = parse_signature(
        "state: object&, mean ()?, std ()?: R, at (): int64 -> a (): any&, b (): C, "
        "c (): A, d (): U");
    CHECK(s.input(0).type == TypeOf::object);
    CHECK(s.input(0).updated);
    CHECK(s.input(1).optional);
    CHECK(s.input(2).type == TypeOf::R);
    CHECK(s.input(3).dtype == ATOLL_DTYPE_INT64);
    CHECK(s.operands[0].type == TypeOf::any);
    CHECK(s.operands[0].updated);
    CHECK(s.operands[1].type == TypeOf::C);
    CHECK(s.operands[2].type == TypeOf::A);
    CHECK(s.operands[3].type == TypeOf::U);
}

TEST_CASE("attributes have a type and a default, or may be absent, or must be given") {
    const Signature s = parse_signature(
        "a (n) -> b (k)", "mode: reduced | complete = reduced, ddof: float64 = 0, n: int64?, "
                          "lengths: int64[]?, low: number, alpha: A = 1, up: bool = false, x: T");
    REQUIRE(s.attribute_count == 8);
    CHECK(s.attributes[0].type == AttributeType::choice);
    CHECK(s.attributes[0].words == "reduced | complete");
    CHECK(s.attributes[0].fallback == "reduced");
    CHECK(s.attributes[1].type == AttributeType::float64);
    CHECK(s.attributes[1].fallback == "0");
    CHECK(s.attributes[2].optional);
    CHECK(!s.attributes[2].required);
    CHECK(s.attributes[3].type == AttributeType::ints);
    CHECK(s.attributes[4].required);
    CHECK(s.attributes[4].type == AttributeType::number);
    CHECK(s.attributes[5].type == AttributeType::A);
    CHECK(s.attributes[6].fallback == "false");
    CHECK(s.attributes[7].type == AttributeType::T);
}

TEST_CASE("properties") {
    const Signature s = parse_signature("a (n*, x), b () -> c (n*), info (): int32", "",
                                        "axes all, identity 1, n ordered, x opaque, in place a b, "
                                        "counts b, domain -1 inf, status info, flop 2");
    CHECK(s.axes == AxesOf::all);
    CHECK(s.has_identity);
    CHECK(s.identity == 1);
    CHECK(s.slots[0].ordered);
    CHECK(!s.slots[1].ordered);
    CHECK(s.slots[1].opaque);
    CHECK(s.input(0).in_place);
    CHECK(s.input(1).in_place);
    CHECK(!s.operands[0].in_place);
    CHECK(s.counts == 3);
    CHECK(s.status == 1);
    CHECK(s.domain == MathDomain::range);
    CHECK(s.low == -1);
    CHECK(s.high == std::numeric_limits<double>::infinity());
    CHECK(s.flop == 2);
    CHECK(
        parse_signature("a (n) -> b (n)", "", "axes named, n separate, loop ordered").loop_ordered);
    CHECK(parse_signature("a (), b () -> c ()", "", "domain divisor").domain ==
          MathDomain::divisor);
    CHECK(parse_signature("a (), b () -> c ()", "", "domain power").domain == MathDomain::power);
    const Signature counted = parse_signature("a (n*), m (n*) -> b (k, c)", "", "c nonzero m");
    CHECK(counted.nonzero == 2);
    CHECK(counted.nonzero_axis == 2);
    CHECK(counted.is_free(1)); // k
    CHECK(!counted.is_free(2));
    CHECK(!counted.is_free(0));
}

TEST_CASE("a wrong line is an error that names the column and what is needed there") {
    CHECK(complaint("a (n* -> b ()") == "column 7 of 'a (n* -> b ()': need ',' or ')'");
    CHECK(complaint("a () b () -> c ()") == "column 6 of 'a () b () -> c ()': need ',' or '->'");
    CHECK(complaint("a ()") == "column 5 of 'a ()': need ',' or '->'");
    CHECK(complaint("a () ->") == "column 8 of 'a () ->': need a name");
    CHECK(complaint("a () -> b () c") == "column 14 of 'a () -> b () c': need the end");
    CHECK(complaint("a -> b ()") == "column 3 of 'a -> b ()': need '('");
    CHECK(complaint("a () -> a ()") == "column 13 of 'a () -> a ()': need different names");
    CHECK(complaint("a (n), b (n*) -> c ()") ==
          "column 13 of 'a (n), b (n*) -> c ()': need the axis marked as before");
    CHECK(complaint("a (): flaot -> b ()") ==
          "column 13 of 'a (): flaot -> b ()': need a dtype, T, R, "
          "C, A, U, any or object, before that");
    CHECK(complaint("a (b, c, d, e, f) -> g ()") ==
          "column 16 of 'a (b, c, d, e, f) -> g ()': need fewer axes");
    CHECK(complaint("a (b, c, d), e (f, g, h), i (j, k, l) -> m ()")
              .ends_with("need fewer core axes"));
    CHECK(complaint("a (), b (), c (), d (), e (), f (), g (), h (), i () -> j ()")
              .ends_with("need fewer operands"));
    CHECK(complaint("a () -> b ()", "x: string")
              .ends_with("need a type, or words with | between them"));
    CHECK(complaint("a () -> b ()", "x: bool = false y: bool").ends_with("need ,"));
    CHECK(complaint("a () -> b ()", "", "quick") ==
          "column 6 of 'quick': need a property, before that");
    CHECK(complaint("a (n) -> b ()", "", "m ordered") ==
          "column 10 of 'm ordered': need the name of an axis, before that");
    CHECK(
        complaint("a (n) -> b (c)", "", "n nonzero a") ==
        "column 11 of 'n nonzero a': need the name of an axis that only outputs have, before that");
    CHECK(complaint("a (n) -> b (c)", "", "c nonzero a, n nonzero a")
              .ends_with("need only one axis whose extent is counted, before that"));
    CHECK(complaint("a (n) -> b (c)", "", "c nonzero b")
              .ends_with("need the name of an input, before that"));
    CHECK(complaint("a () -> b ()", "", "in place c") ==
          "column 11 of 'in place c': need the name of an input, before that");
    CHECK(complaint("a () -> b ()", "", "identity many").ends_with("need a number"));
    // Only the last axis can be missing.
    CHECK(complaint("a (n?, m) -> b ()") ==
          "column 6 of 'a (n?, m) -> b ()': need ')' behind an optional axis");
    CHECK(complaint("a (n, m) -> b (m?, n)").ends_with("need ')' behind an optional axis"));
    // A comma has something behind it.
    CHECK(complaint("a () -> b (),") == "column 14 of 'a () -> b (),': need a name");
    CHECK(complaint("a (n,) -> b ()").ends_with("need a name"));
    CHECK(complaint("a () -> b ()", "x: bool = false,") ==
          "column 17 of 'x: bool = false,': need a name");
    CHECK(complaint("a () -> b ()", "x: bool = false, ").ends_with("need a name"));
    CHECK(complaint("a () -> b ()", "", "exact,") == "column 7 of 'exact,': need a name");
    CHECK(complaint("a () -> b ()", "", ", exact").ends_with("need a name"));
}

TEST_CASE("properties name operands of the kind that they are about") {
    const auto about = [](const char *properties) {
        return complaint("a (), b () -> c (), info (): int32", "", properties);
    };
    CHECK(about("counts a, status info, in place a b") == "");
    for (const char *wrong : {"counts c", "counts d", "in place c", "in place a c", "in place d"}) {
        CAPTURE(wrong);
        CHECK(about(wrong).ends_with("need the name of an input, before that"));
    }
    CHECK(about("status a") == "column 9 of 'status a': need the name of an output, before that");
    CHECK(about("status d").ends_with("need the name of an output, before that"));
    CHECK(about("in place") == "column 9 of 'in place': need a name");
    const Signature below = parse_signature("a () -> c ()", "", "domain -inf 0.5");
    CHECK(below.low == -std::numeric_limits<double>::infinity());
    CHECK(below.high == 0.5);
    for (const char *domain : {"domain 0 inf", "domain divisor", "domain power"}) {
        CAPTURE(domain);
        CHECK(about(domain) == "");
        CHECK(
            complaint("-> c ()", "", domain).ends_with("need a function with inputs, before that"));
    }
}

TEST_CASE("an optional axis stands in an input") {
    CHECK(complaint("a (n), b (k?) -> c (n, k?)") == "");
    CHECK(complaint("a (n) -> c (n, k?)") ==
          "column 18 of 'a (n) -> c (n, k?)': need an input that has the axis too");
    CHECK(complaint("-> c (k?)").ends_with("need an input that has the axis too"));
}

TEST_CASE("integers are integers of 64 bits") {
    const auto identity = [](const char *number) {
        return parse_signature("a (n*) -> s ()", "", number).identity;
    };
    CHECK(identity("identity 9223372036854775807") == std::numeric_limits<std::int64_t>::max());
    CHECK(identity("identity -9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    CHECK(identity("identity 2.0") == 2);
    for (const char *wrong :
         {"identity inf", "identity -inf", "identity 0.5", "identity 9223372036854775808",
          "identity -9223372036854775809", "flop 0.5", "flop inf"}) {
        CAPTURE(wrong);
        CHECK(complaint("a (n*) -> s ()", "", wrong)
                  .ends_with("need an integer of 64 bits, before that"));
    }
    CHECK(complaint("a (n*) -> s ()", "", "identity 1e30") ==
          "column 11 of 'identity 1e30': need ,");
    CHECK(complaint("a (n*) -> s ()", "", "identity 1000000000000000000000000000000")
              .ends_with("need fewer digits"));
    CHECK(complaint("a (2.5) -> s ()").ends_with("need an integer of 64 bits, before that"));
}

TEST_CASE("attributes have different names, and defaults of their types") {
    const auto said = [](const char *attributes) { return complaint("a () -> b ()", attributes); };
    CHECK(said("x: bool = false, x: int64 = 3") ==
          "column 19 of 'x: bool = false, x: int64 = 3': need different names");
    CHECK(said("mode: up | down = down, f: bool = true, y: int64 = -1, z: float64 = -inf, v: T = "
               "0.5, w: A = 2, n: number = 18446744073709551615") == "");
    CHECK(said("mode: up | down = sideways") ==
          "column 27 of 'mode: up | down = sideways': need one of the words, before that");
    CHECK(said("mode: up | down = 1").ends_with("need a name"));
    CHECK(said("f: bool = 3") == "column 11 of 'f: bool = 3': need true or false");
    CHECK(said("f: bool = truely").ends_with("need true or false"));
    CHECK(said("f: int64[] = 3") ==
          "column 14 of 'f: int64[] = 3': need no default: a list has none");
    for (const char *wrong : {"z: float64 = foo", "z: float64 = true", "z: T = up", "z: A = -",
                              "z: number = false", "z: int64 = up"}) {
        CAPTURE(wrong);
        CHECK(said(wrong).ends_with("need a number"));
    }
    for (const char *wrong : {"y: int64 = 1.5", "y: int64 = inf", "y: int64 = 9223372036854775808",
                              "y: int64 = -9223372036854775809"}) {
        CAPTURE(wrong);
        CHECK(said(wrong).ends_with("need an integer of 64 bits, before that"));
    }
    CHECK(said("p: float64 >= 0 = 2, n: int64 >= 1?, list: int64[] >= -1") == "");
    CHECK(parse_signature("a () -> b ()", "p: float64 >= 0.5 = 2").attributes[0].least == 0.5);
    CHECK(said("p: float64 >= 0 = -1").ends_with("need a larger default"));
    CHECK(said("n: int64 >= 2 = 1").ends_with("need a larger default"));
    CHECK(said("f: bool >= 0 = true") == "column 9 of 'f: bool >= 0 = true': need ,");
    // Lists are of integers.
    CHECK(said("f: bool[]") == "column 8 of 'f: bool[]': need ,");
    CHECK(said("f: float64[]?").ends_with("need ,"));
    CHECK(said("z: float64 = 0.1234567890123456789").ends_with("need fewer digits"));
}

TEST_CASE("numbers are read as the compiler reads them") {
    static_assert(TextScanner("0.3").number() == 0.3);
    static_assert(TextScanner("-1.57079632679489662").number() == -1.57079632679489662);
    static_assert(TextScanner("9223372036854775807").integer() == 9223372036854775807);
    const char *const texts[] = {"0",
                                 "0.1",
                                 "0.3",
                                 "0.7",
                                 "1.0",
                                 "1.10",
                                 "123.456",
                                 "2.675",
                                 "0.000001",
                                 "3.141592653589793",
                                 "0.999999999999999999",
                                 "9007199254740993",
                                 "18446744073709551615",
                                 "18446744073709549568",
                                 "9007199254740993.5",
                                 "4503599627370497.5",
                                 "4503599627370496.5",
                                 "0.000000000000000001",
                                 "9007199254740992.001",
                                 "9007199254740993.0",
                                 "1.000000000000000111"};
    for (const char *text : texts) {
        CAPTURE(text);
        CHECK(TextScanner(text).number() == std::strtod(std::string(text).c_str(), nullptr));
    }
    // Many, so that all ways of rounding come about.
    std::uint64_t bits = 1;
    for (int i = 0; i < 100'000; ++i) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        std::string text = std::to_string(bits >> (i % 60));
        if (const std::size_t places = bits % 19; places < text.size())
            text.insert(text.size() - places, places ? "." : "");
        else
            text.insert(0,
                        "0." + std::string(std::min<std::size_t>(18, places) - text.size(), '0'));
        CAPTURE(text);
        REQUIRE(TextScanner(text).number() == std::strtod(text.c_str(), nullptr));
    }
}

TEST_CASE("T follows from the inputs by the rule, and the operands' dtypes from T") {
    CHECK(make_T(ATOLL_RULE_COMMON, ATOLL_DTYPE_INT8) == ATOLL_DTYPE_INT8);
    CHECK(make_T(ATOLL_RULE_FLOAT, ATOLL_DTYPE_BOOL) == ATOLL_DTYPE_FLOAT64);
    CHECK(make_T(ATOLL_RULE_FLOAT, ATOLL_DTYPE_BFLOAT16) == ATOLL_DTYPE_BFLOAT16);
    CHECK(make_T(ATOLL_RULE_SUM, ATOLL_DTYPE_BOOL) == ATOLL_DTYPE_INT64);
    CHECK(make_T(ATOLL_RULE_SUM, ATOLL_DTYPE_UINT8) == ATOLL_DTYPE_UINT64);
    CHECK(make_T(ATOLL_RULE_SUM, ATOLL_DTYPE_FLOAT16) == ATOLL_DTYPE_FLOAT16);
    CHECK(make_T(ATOLL_RULE_NUMBER, ATOLL_DTYPE_BOOL) == ATOLL_DTYPE_INT8);
    CHECK(make_T(ATOLL_RULE_NUMBER, ATOLL_DTYPE_UINT8) == ATOLL_DTYPE_UINT8);
    CHECK(make_T(ATOLL_RULE_COMPLEX, ATOLL_DTYPE_INT32) == ATOLL_DTYPE_COMPLEX128);
    CHECK(make_T(ATOLL_RULE_COMPLEX, ATOLL_DTYPE_BFLOAT16) == ATOLL_DTYPE_COMPLEX64);
    CHECK(make_T(ATOLL_RULE_COMPLEX, ATOLL_DTYPE_COMPLEX32) == ATOLL_DTYPE_COMPLEX32);
    CHECK(accumulator_of(ATOLL_DTYPE_COMPLEX32) == ATOLL_DTYPE_COMPLEX64);
    CHECK(accumulator_of(ATOLL_DTYPE_BFLOAT16) == ATOLL_DTYPE_FLOAT32);
    CHECK(accumulator_of(ATOLL_DTYPE_INT8) == ATOLL_DTYPE_INT8);
    CHECK(core_functions[ATOLL_FN_abs].result_dtype(ATOLL_DTYPE_COMPLEX64) == ATOLL_DTYPE_FLOAT32);
    CHECK(core_functions[ATOLL_FN_less].result_dtype(ATOLL_DTYPE_COMPLEX64) == ATOLL_DTYPE_BOOL);
    CHECK(core_functions[ATOLL_FN_where].input_dtype(0, ATOLL_DTYPE_FLOAT32) == ATOLL_DTYPE_BOOL);
    CHECK(core_functions[ATOLL_FN_where].input_dtype(1, ATOLL_DTYPE_FLOAT32) ==
          ATOLL_DTYPE_FLOAT32);
}
