// What the environment says of tests with random cases. ATOLL_TEST_SCALE: so many times the usual
// number of cases. ATOLL_TEST_SEED: another sequence. ATOLL_TEST_CASE: that case alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace random_tests {

inline std::int64_t number_from_environment(const char *name, std::int64_t fallback) {
    const char *text = std::getenv(name);
    return text ? std::atoll(text) : fallback;
}
inline double scale() {
    const char *text = std::getenv("ATOLL_TEST_SCALE");
    return text ? std::atof(text) : 1;
}
// At least one.
inline std::int64_t cases(std::int64_t usual) {
    return std::max<std::int64_t>(1, std::llround(scale() * static_cast<double>(usual)));
}
// For lists that are taken as a whole at the usual scale: below it, one of so many.
inline std::size_t one_of() {
    return static_cast<std::size_t>(std::max(1LL, std::llround(1 / scale())));
}
// Whether a case of such a list is left out, at random.
template <class Random> bool leaves_out(Random &random) { return random() % one_of() != 0; }
inline std::uint64_t seed(std::int64_t usual = 1) {
    return static_cast<std::uint64_t>(number_from_environment("ATOLL_TEST_SEED", usual));
}
// -1: all.
inline std::int64_t only_case() { return number_from_environment("ATOLL_TEST_CASE", -1); }

} // namespace random_tests
