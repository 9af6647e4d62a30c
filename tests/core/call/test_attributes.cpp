// Attributes that a call does not name: the defaults of the function's list, as they are written.
#include "atoll/error.hpp"
#include "atoll/signature_parser.hpp"
#include "call/attributes.hpp"

#include <cstring>

#include <doctest/doctest.h>

using namespace Atoll;

namespace {

struct Listed {
    explicit Listed(const char *attributes) {
        record.full_name = "made.function";
        record.texts = {"a () -> b ()", attributes, ""};
        record.signature = sdk::parse_signature(record.texts[0], record.texts[1], record.texts[2]);
    }
    atoll_scalar value(std::vector<NamedAttribute> given = {}, DType T = float64) const {
        return detail::attribute_values(record, given, T)[0];
    }
    bool is_default(Scalar given) const {
        return detail::is_default(record, 0, value({{"x", given}}), float64);
    }
    detail::FunctionRecord record{};
};

} // namespace

TEST_CASE("defaults are exactly what is written") {
    const Listed tenths("x: float64 = 0.3");
    CHECK(tenths.value().value.f64[0] == 0.3);
    CHECK(tenths.is_default(0.3));
    CHECK(!tenths.is_default(0.1 + 0.2));
    const Listed pi("x: T = 3.141592653589793");
    CHECK(pi.value().value.f64[0] == 3.141592653589793);
    CHECK(pi.is_default(3.141592653589793));
    const Listed most("x: int64 = 9223372036854775807");
    CHECK(most.value().value.i64 == 9223372036854775807);
    CHECK(most.is_default(9223372036854775807));
    CHECK(!most.is_default(9223372036854775806));
    const Listed least("x: int64 = -9223372036854775808");
    CHECK(least.value().value.i64 == std::numeric_limits<std::int64_t>::min());
    const Listed number("x: number = 18446744073709551615");
    CHECK(number.value().dtype == ATOLL_DTYPE_UINT64);
    CHECK(number.value().value.u64 == 18446744073709551615u);
    CHECK(Listed("x: number = 1").value().dtype == ATOLL_DTYPE_INT64);
    CHECK(Listed("x: float64 = -inf").value().value.f64[0] ==
          -std::numeric_limits<double>::infinity());
    CHECK(Listed("x: bool = true").value().value.u64 == 1);
    CHECK(Listed("x: up | down = down").value().value.i64 == 1);
}

TEST_CASE("attributes by position are converted as those by name") {
    const auto by_position = [](const Listed &listed, std::vector<detail::Attribute> given) {
        return detail::attribute_values(listed.record, given, float32);
    };
    const Listed listed("x: T = 2, y: up | down = down, z: int64?");
    const auto all = by_position(listed, {});
    CHECK(all[0].dtype == ATOLL_DTYPE_FLOAT32);
    CHECK(all[0].value.f32[0] == 2);
    CHECK(all[1].value.i64 == 1);
    CHECK(all[2].dtype == ATOLL_VALUE_ABSENT);
    enum class Way { up, down, sideways };
    const auto given = by_position(listed, {7, Way::up, std::optional<std::int64_t>(5)});
    CHECK(given[0].value.f32[0] == 7);
    CHECK(given[1].dtype == ATOLL_VALUE_CHOICE);
    CHECK(given[1].value.i64 == 0);
    CHECK(given[2].value.i64 == 5);
    CHECK(by_position(listed, {7, Way::up, std::optional<std::int64_t>()})[2].dtype ==
          ATOLL_VALUE_ABSENT);
    // What a declaration of another version would pass.
    CHECK_THROWS_AS(by_position(listed, {7, Way::sideways}), Atoll::Error);
    CHECK_THROWS_AS(by_position(listed, {7, 1}), Atoll::Error);
    CHECK_THROWS_AS(by_position(listed, {Way::up}), Atoll::Error);
    CHECK_THROWS_AS(by_position(Listed("x: bool = true"), {true, false}), Atoll::Error);
    const std::vector<std::int64_t> list{3, 0, 4};
    CHECK(by_position(Listed("x: int64[]"), {list})[0].count == 3);
    CHECK_THROWS_AS(by_position(Listed("x: int64[] >= 1"), {list}), Atoll::Error);
    CHECK_THROWS_AS(by_position(Listed("x: T = 1"), {list}), Atoll::Error);
}

TEST_CASE("numbers are not below the least") {
    const Listed listed("x: float64 >= 0 = 2");
    CHECK(listed.value({{"x", 0}}).value.f64[0] == 0);
    CHECK_THROWS_AS(listed.value({{"x", -1e-300}}), Atoll::Error);
    CHECK_THROWS_AS(listed.value({{"x", std::numeric_limits<double>::quiet_NaN()}}), Atoll::Error);
}

TEST_CASE("a default that does not fit the T of a call is an error of that call") {
    const Listed large("x: T = 300");
    CHECK(large.value().value.f64[0] == 300);
    CHECK_THROWS_AS(large.value({}, int8), Atoll::Error);
}
