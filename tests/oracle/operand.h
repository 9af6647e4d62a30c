// An operand in memory of its own with any layout, whose every byte is accounted for.
#pragma once

#include "../random_tests.hpp"
#include "oracle.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace oracle {

enum class Layout { dense, strided, reversed, permuted, unaligned, broadcast };
inline constexpr Layout layouts[] = {Layout::dense,    Layout::strided,   Layout::reversed,
                                     Layout::permuted, Layout::unaligned, Layout::broadcast};

using Shape = std::vector<std::int64_t>;
using Random = std::mt19937_64;

// At night.
inline bool is_thorough() { return random_tests::scale() >= 10; }
// The random numbers of one test. ATOLL_TEST_SEED gives others.
inline Random sequence(std::uint64_t test) { return Random(test + 1000 * random_tests::seed()); }

inline std::int64_t elements(const Shape &shape) {
    std::int64_t n = 1;
    for (std::int64_t extent : shape) n *= extent;
    return n;
}

// Calls body(index) for every index of a shape, first axis fastest.
template <class Body> void each(const Shape &shape, Body &&body) {
    Shape index(shape.size(), 0);
    for (std::int64_t k = 0, n = elements(shape); k < n; ++k) {
        body(index);
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
}

inline atoll_operand operand_at(void *data, const std::int64_t *strides, int dtype, int flags = 0) {
    atoll_operand operand{};
    operand.data = operand.base = data;
    operand.strides = strides;
    operand.dtype = static_cast<std::uint16_t>(dtype);
    operand.flags = static_cast<std::uint16_t>(flags);
    return operand;
}

struct Operand {
    int dtype;
    bool swapped;
    Shape shape, strides;
    std::vector<char> memory;
    std::int64_t start = 0;
    bool flag_scalar = false; // says so where it is one value

    // `varies[axis]` false: stride 0 there.
    Operand(int dtype, bool swapped, const Shape &shape, const std::vector<bool> &varies,
            Layout layout);

    std::int64_t offset(const Shape &index) const;
    Value get(const Shape &index) const;
    void set(const Shape &index, const Value &v);
    atoll_operand c();
    std::string text() const;
    // Whether the bytes that are no element are those of `before`.
    bool rest_is(const std::vector<char> &before) const;
};

// A value of the dtype: small, large, or special.
Value random_value(int dtype, Random &random, bool specials);
void fill(Operand &operand, Random &random, bool specials);

// Values at which functions of a dtype change their ways. Of complex dtypes these are the parts.
std::vector<Value> special_values(int dtype);

} // namespace oracle
