// One call of a kernel by its id, and the comparison of what it wrote with the oracle.
#pragma once

#include "levels.h"

namespace oracle {

// A call at the current level. Core axes come first in `shape` and in the operands' strides.
// `groups`: the axes of each slot, without it one each.
inline std::int32_t call(int function, int dtype, const Shape &shape, std::size_t core,
                         std::vector<atoll_operand> operands,
                         const std::vector<atoll_scalar> &attributes = {},
                         const std::vector<std::uint8_t> &groups = {}) {
    atoll_call c;
    std::memset(&c, 0x5a, sizeof c); // what kernels do not read
    c.function = static_cast<std::uint16_t>(function);
    c.dtype = static_cast<std::uint16_t>(dtype);
    c.rank = static_cast<std::uint16_t>(shape.size());
    c.core = static_cast<std::uint16_t>(core);
    c.shape = shape.data();
    c.operands = operands.data();
    c.attributes = attributes.data();
    c.attribute_count = static_cast<std::uint16_t>(attributes.size());
    std::fill_n(c.axes, std::min<std::size_t>(core, ATOLL_MAX_SLOTS), std::uint8_t{1});
    std::copy(groups.begin(), groups.end(), c.axes);
    return level->call(&c);
}

// The same with the core axes last.
inline std::int32_t run(int function, int dtype, Shape shape, std::vector<atoll_operand> operands,
                        const std::vector<atoll_scalar> &attributes = {}, std::size_t core = 0) {
    const auto core_first = [&](Shape &axes) {
        std::rotate(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(core), axes.end());
    };
    std::vector<Shape> strides;
    for (atoll_operand &operand : operands) {
        strides.emplace_back(operand.strides, operand.strides + shape.size());
        core_first(strides.back());
        operand.strides = strides.back().data();
    }
    core_first(shape);
    return call(function, dtype, shape, core, std::move(operands), attributes);
}

inline std::vector<bool> all_axes(const Shape &shape) {
    return std::vector<bool>(shape.size(), true);
}
inline int any_dtype(Random &random) {
    return 1 + static_cast<int>(random() % (ATOLL_DTYPE_COUNT - 1));
}
inline atoll_scalar scalar_of(const Value &v, int dtype) {
    atoll_scalar scalar{};
    scalar.dtype = static_cast<std::uint32_t>(dtype);
    write(reinterpret_cast<char *>(scalar.value.bytes), dtype, false, convert(v, dtype));
    return scalar;
}

inline atoll_scalar flag_of(bool flag) {
    return scalar_of(Value::of(__int128{flag}), ATOLL_DTYPE_BOOL);
}

// Elements that are not what they should be; the first of them in words.
struct Findings {
    std::int64_t wrong = 0;
    std::string first;

    template <class Describe> void check(bool right, Describe &&describe) {
        if (!right && wrong++ == 0) first = describe();
    }
    void check(const Expected &want, const Value &got, int natural, int to,
               const std::string &of = {}) {
        check(accepts(want, got, natural, to),
              [&] { return of + " got " + text(got) + ", expected " + text(want); });
    }
    void report(const std::string &call) const {
        if (wrong) FAIL_CHECK(call << ": " << wrong << " elements are wrong, the first" << first);
        CHECK(wrong == 0);
    }
};

// What an element-wise function gives for values of any dtypes.
inline Expected expect(const Function &f, int dtype, const Value *in) {
    if (f.id == ATOLL_FN_copy) return {in[0]};
    switch (f.signature.input_count()) {
    case 1: return unary(f.id, dtype, in[0]);
    case 2: return binary(f.id, dtype, in[0], in[1]);
    default: return ternary(f.id, dtype, in[0], in[1], in[2]);
    }
}

// Runs one call and checks every element and every other byte of the output. An input that is
// `&out` is in place.
inline void check_elementwise(const Function &f, int dtype, Operand &out,
                              const std::vector<Operand *> &inputs, const std::string &note = {}) {
    const std::vector<char> before = out.memory;
    const int natural = f.id == ATOLL_FN_copy ? inputs[0]->dtype : result_dtype(f.id, dtype);
    std::vector<Expected> expected;
    std::vector<Value> arguments;
    each(out.shape, [&](const Shape &index) {
        Value in[3];
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            in[k] = inputs[k]->get(index);
            arguments.push_back(in[k]);
        }
        expected.push_back(expect(f, dtype, in));
    });
    std::vector<atoll_operand> operands = {out.c()};
    for (Operand *in : inputs) operands.push_back(in->c());
    std::string what =
        std::string(f.name) + " computed in " + facts[dtype].name + ", out " + out.text();
    for (Operand *in : inputs) what += ", in " + (in == &out ? "place" : in->text());
    what += note;
    INFO(what);
    const auto check = [&] {
        Findings findings;
        std::size_t k = 0;
        each(out.shape, [&](const Shape &index) {
            const Value got = out.get(index);
            if (!accepts(expected[k], got, natural, out.dtype))
                findings.check(false, [&] {
                    std::string of = " (element " + std::to_string(k) + ") of";
                    for (std::size_t i = 0; i < inputs.size(); ++i)
                        of += " [" + text(arguments[k * inputs.size() + i]) + "]";
                    return of + " got " + text(got) + ", expected " + text(expected[k]);
                });
            ++k;
        });
        findings.report(what);
        CHECK(out.rest_is(before));
    };
    compute(
        out, {inputs.begin(), inputs.end()}, [&] { return run(f.id, dtype, out.shape, operands); },
        check);
}

} // namespace oracle
