// One call of a kernel by its id, and the comparison of what it wrote with the oracle.
#pragma once

#include "atoll_kernels.h"
#include "operand.h"

#include <doctest/doctest.h>

namespace oracle {

// `params` is the family's struct, or null.
inline std::int32_t run(int function, int dtype, const Shape &shape,
                        std::vector<atoll_operand> operands, const void *params = nullptr) {
    const auto f = static_cast<std::uint32_t>(function), d = static_cast<std::uint32_t>(dtype),
               rank = static_cast<std::uint32_t>(shape.size());
    const std::int64_t *extents = shape.data();
    const atoll_operand *o = operands.data();
    switch (function_list[function].family) {
    case ATOLL_FAMILY_COPY: return atoll_kernels_copy(rank, extents, o);
    case ATOLL_FAMILY_FILL:
        return atoll_kernels_fill(rank, extents, o, static_cast<const atoll_scalar *>(params));
    case ATOLL_FAMILY_STEPS:
        return atoll_kernels_steps(rank, extents, o,
                                   static_cast<const atoll_steps_params *>(params));
    case ATOLL_FAMILY_UNARY: return atoll_kernels_unary(f, d, rank, extents, o);
    case ATOLL_FAMILY_BINARY: return atoll_kernels_binary(f, d, rank, extents, o);
    case ATOLL_FAMILY_TERNARY: return atoll_kernels_ternary(f, d, rank, extents, o);
    case ATOLL_FAMILY_REDUCE:
    case ATOLL_FAMILY_REDUCE_ONE:
        return atoll_kernels_reduce(f, d, rank, extents, o,
                                    static_cast<const atoll_reduce_params *>(params));
    case ATOLL_FAMILY_ARG_REDUCE:
        return atoll_kernels_arg_reduce(f, d, rank, extents, o,
                                        static_cast<const atoll_reduce_params *>(params));
    case ATOLL_FAMILY_SCAN: return atoll_kernels_scan(f, d, rank, extents, o);
    case ATOLL_FAMILY_SORT:
        return atoll_kernels_sort(f, d, rank, extents, o,
                                  static_cast<const atoll_sort_params *>(params));
    case ATOLL_FAMILY_SEARCH:
        return atoll_kernels_search(d, rank, extents, o,
                                    static_cast<const atoll_search_params *>(params));
    case ATOLL_FAMILY_FIND: return atoll_kernels_find(d, rank, extents, o);
    case ATOLL_FAMILY_GATHER: return atoll_kernels_gather(rank, extents, o);
    case ATOLL_FAMILY_SCATTER: return atoll_kernels_scatter(rank, extents, o);
    default: return ATOLL_STATUS_NOT_SUPPORTED; // MATMUL has a test of its own
    }
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
    switch (f.family) {
    case ATOLL_FAMILY_COPY: return {in[0]};
    case ATOLL_FAMILY_UNARY: return unary(f.id, dtype, in[0]);
    case ATOLL_FAMILY_BINARY: return binary(f.id, dtype, in[0], in[1]);
    default: return ternary(f.id, dtype, in[0], in[1], in[2]);
    }
}
inline int input_count(const Function &f) {
    return f.family == ATOLL_FAMILY_BINARY ? 2 : f.family == ATOLL_FAMILY_TERNARY ? 3 : 1;
}
inline bool is_elementwise(const Function &f) {
    return f.family == ATOLL_FAMILY_UNARY || f.family == ATOLL_FAMILY_BINARY ||
           f.family == ATOLL_FAMILY_TERNARY;
}

// Runs one call and checks every element and every other byte of the output. An input that is
// `&out` is in place.
inline void check_elementwise(const Function &f, int dtype, Operand &out,
                              const std::vector<Operand *> &inputs, const std::string &note = {}) {
    const std::vector<char> before = out.memory;
    const int natural =
        f.family == ATOLL_FAMILY_COPY ? inputs[0]->dtype : result_dtype(f.id, dtype);
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
    std::string call =
        std::string(f.name) + " computed in " + facts[dtype].name + ", out " + out.text();
    for (Operand *in : inputs) call += ", in " + (in == &out ? "place" : in->text());
    call += note;
    INFO(call);
    REQUIRE(run(f.id, dtype, out.shape, operands) == ATOLL_STATUS_OK);
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
    findings.report(call);
    CHECK(out.rest_is(before));
}

} // namespace oracle
