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

TEST_CASE("a default that does not fit the T of a call is an error of that call") {
    const Listed large("x: T = 300");
    CHECK(large.value().value.f64[0] == 300);
    CHECK_THROWS_AS(large.value({}, int8), Atoll::Error);
}
