// Products through TAPP's functions, and what they must give by the definition.
#pragma once

#include "../core/exact_products.hpp"
#include "../core/views.hpp"
#include "tapp.h"
#include "tapp/atoll.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tapp_tests {

using oracle::Random;
using oracle::Value;
using Numbers = std::vector<std::int64_t>;

inline constexpr TAPP_datatype own_types = 0x1000;

// A tensor of a product: strides in elements, memory for `count` of them.
struct Tensor {
    int dtype = 0;
    Numbers indices, extents, strides;
    std::int64_t origin = 0; // of element (0, …), in elements
    std::vector<char> memory;

    std::int64_t itemsize() const { return Atoll::size_of(static_cast<Atoll::DType>(dtype)); }
    // From its lowest element to behind its highest, and where (0, …) is.
    std::int64_t reach(std::int64_t &lowest) const {
        lowest = 0;
        std::int64_t highest = 0;
        for (std::size_t mode = 0; mode < extents.size(); ++mode) {
            if (extents[mode] == 0) return lowest = 0;
            const std::int64_t last = strides[mode] * (extents[mode] - 1);
            (last < 0 ? lowest : highest) += last;
        }
        return highest - lowest + 1;
    }
    std::int64_t byte(const std::map<std::int64_t, std::int64_t> &point) const {
        std::int64_t at = origin;
        for (std::size_t mode = 0; mode < indices.size(); ++mode)
            at += point.at(indices[mode]) * strides[mode];
        return at * itemsize();
    }
    std::string text() const {
        return fmt::format("{} [{}] extents [{}] strides [{}]",
                           Atoll::name(static_cast<Atoll::DType>(dtype)), fmt::join(indices, " "),
                           fmt::join(extents, " "), fmt::join(strides, " "));
    }
};

enum Role { A, B, C, D, roles };

struct Product {
    Tensor tensors[roles];
    bool conjugate[roles] = {};
    TAPP_prectype precision = TAPP_DEFAULT_PREC;
    Value alpha, beta; // of D's type

    // What it is computed in.
    int T() const {
        auto common = Atoll::DType::bool_;
        bool whole = true;
        for (const Tensor &tensor : tensors) {
            const auto dtype = static_cast<Atoll::DType>(tensor.dtype);
            common = Atoll::promote(common, dtype);
            whole = whole && !Atoll::is_floating(dtype);
        }
        if (whole && Atoll::is_floating(common)) common = Atoll::uint64;
        if (precision == TAPP_F32F32_ACCUM_F32) common = promote(common, Atoll::float32);
        if (precision == TAPP_F64F64_ACCUM_F64) common = promote(common, Atoll::float64);
        return static_cast<int>(common);
    }
    std::string text() const {
        std::string words = fmt::format("alpha {} beta {} precision {}", oracle::text(alpha),
                                        oracle::text(beta), precision);
        for (int role = 0; role < roles; ++role)
            words += fmt::format("\n  {}{} {}", "ABCD"[role], conjugate[role] ? "*" : "",
                                 tensors[role].text());
        return words;
    }
};

// Calls body() with each point of the indices in `at`.
template <class Body> void each_point(const Numbers &indices, const Numbers &extents,
                                      std::map<std::int64_t, std::int64_t> &at, const Body &body) {
    views::each(extents, [&](const Numbers &point) {
        for (std::size_t i = 0; i < indices.size(); ++i) at[indices[i]] = point[i];
        body();
    });
}

// Checks the elements of D in `got` against the definition on the operands' memory, and that the
// rest of `got` is as in `before`. Describes the first difference.
inline std::string check(const Product &of, const char *a, const char *b, const char *c,
                         const std::vector<char> &before, const std::vector<char> &got,
                         std::int64_t offset = 0) {
    const int T = of.T();
    std::map<std::int64_t, std::int64_t> extents;
    for (const Role role : {A, B})
        for (std::size_t mode = 0; mode < of.tensors[role].indices.size(); ++mode)
            extents[of.tensors[role].indices[mode]] = of.tensors[role].extents[mode];
    Numbers lists[2][2]; // free, summed: indices, extents
    for (const auto &[index, extent] : extents) {
        auto &list = lists[std::ranges::count(of.tensors[D].indices, index) == 0];
        list[0].push_back(index);
        list[1].push_back(extent);
    }
    std::map<std::int64_t, std::int64_t> at;
    const auto element = [&](Role role, const char *memory) {
        const Tensor &tensor = of.tensors[role];
        Value value =
            oracle::convert(oracle::read(memory + tensor.byte(at), tensor.dtype, false), T);
        if (of.conjugate[role]) value.im = -value.im;
        return value;
    };
    std::string wrong;
    std::vector<char> expected = before;
    each_point(lists[0][0], lists[0][1], at, [&] {
        Value total = oracle::convert(Value::of(__int128{0}), T);
        each_point(lists[1][0], lists[1][1], at, [&] {
            total = support::plus(total, support::times(element(A, a), element(B, b), T), T);
        });
        total = support::times(oracle::convert(of.alpha, T), total, T);
        if (of.beta.truth())
            total = support::plus(total,
                                  support::times(oracle::convert(of.beta, T), element(C, c), T), T);
        if (of.conjugate[D]) total.im = -total.im;
        const Tensor &d = of.tensors[D];
        const std::int64_t byte = offset + d.byte(at);
        // Results that T rounds, and that only D does, and all zeros.
        Value value = oracle::read(got.data() + byte, d.dtype, false),
              twice = oracle::convert(oracle::convert(total, T), d.dtype),
              once = oracle::convert(total, d.dtype);
        for (Value *v : {&value, &twice, &once}) {
            if (v->re == 0) v->re = 0;
            if (v->im == 0) v->im = 0;
        }
        std::copy_n(got.begin() + byte, d.itemsize(), expected.begin() + byte);
        if (wrong.empty() && !oracle::same(value, twice, d.dtype, 0) &&
            !oracle::same(value, once, d.dtype, 0))
            wrong = fmt::format("D at byte {} is {}, expected {}", byte, oracle::text(value),
                                oracle::text(twice));
    });
    if (wrong.empty() && expected != got) wrong = "wrote beside the elements of D";
    return wrong;
}

// Objects that end with the scope.
struct Info {
    explicit Info(const Tensor &of) {
        code = TAPP_create_tensor_info(&info, own_types + of.dtype,
                                       static_cast<int>(of.extents.size()), of.extents.data(),
                                       of.strides.data());
    }
    ~Info() { TAPP_destroy_tensor_info(info); }
    Info(const Info &) = delete;
    Info &operator=(const Info &) = delete;
    TAPP_tensor_info info = 0;
    TAPP_error code;
};
struct Plan {
    explicit Plan(const Product &of) {
        const Info a(of.tensors[A]), b(of.tensors[B]), c(of.tensors[C]), d(of.tensors[D]);
        code = TAPP_create_tensor_product(&plan, 0, of.conjugate[A], a.info,
                                          of.tensors[A].indices.data(), of.conjugate[B], b.info,
                                          of.tensors[B].indices.data(), of.conjugate[C], c.info,
                                          of.tensors[C].indices.data(), of.conjugate[D], d.info,
                                          of.tensors[D].indices.data(), of.precision);
    }
    ~Plan() { TAPP_destroy_tensor_product(plan); }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    TAPP_tensor_product plan = 0;
    TAPP_error code;
};
struct Executor {
    explicit Executor(const char *device) {
        code = TAPP_create_executor(&exec);
        if (code == 0) code = TAPP_attr_set(exec, TAPP_ATOLL_DEVICE, const_cast<char *>(device));
    }
    ~Executor() { TAPP_destroy_executor(exec); }
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;
    TAPP_executor exec = 0;
    TAPP_error code;
};

// A number in memory of the type.
struct Factor {
    Factor(const Value &value, int dtype) { oracle::write(bytes, dtype, false, value); }
    char bytes[16] = {};
};

inline std::string explain(TAPP_error error) {
    std::string text(TAPP_explain_error(error, 0, nullptr), '\0');
    TAPP_explain_error(error, text.size() + 1, text.data());
    return fmt::format("{}: {}", error, text);
}

} // namespace tapp_tests
