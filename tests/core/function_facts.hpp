// The function list as data, for tests that go over all functions.
#pragma once

#include "atoll/core_functions.hpp"

#include <cstdint>

// What a call of a function looks like in C++, which tests that go over all of them must know.
enum class Form {
    copy,
    fill,
    steps,
    unary,
    binary,
    ternary,
    reduce,
    reduce_one, // a reduction with a number
    arg_reduce,
    scan,
    sort,
    search,
    find,
    compress,
    gather,
    scatter,
    product
};

constexpr Form form_of(const Atoll::sdk::FunctionLine &line) {
    switch (line.id) {
    case ATOLL_FN_copy: return Form::copy;
    case ATOLL_FN_fill: return Form::fill;
    case ATOLL_FN_steps: return Form::steps;
    case ATOLL_FN_searchsorted: return Form::search;
    case ATOLL_FN_find: return Form::find;
    case ATOLL_FN_compress: return Form::compress;
    case ATOLL_FN_gather: return Form::gather;
    case ATOLL_FN_scatter: return Form::scatter;
    case ATOLL_FN_matmul: return Form::product;
    }
    const Atoll::sdk::Signature &s = line.signature;
    if (s.elementwise())
        return s.input_count() == 1   ? Form::unary
               : s.input_count() == 2 ? Form::binary
                                      : Form::ternary;
    if (s.slots[0].kind != Atoll::sdk::AxisKind::group)
        return s.attribute_count > 0 ? Form::sort : Form::scan;
    if (s.slots[0].ordered) return Form::arg_reduce;
    const bool number =
        s.attribute_count > 0 && s.attributes[0].type != Atoll::sdk::AttributeType::boolean;
    return number ? Form::reduce_one : Form::reduce;
}

constexpr bool is_reduction(Form form) {
    return form == Form::reduce || form == Form::reduce_one || form == Form::arg_reduce;
}

struct FunctionFacts {
    const char *name;
    Form form;
    int rule;
    atoll_dtype_set domain;
};
inline constexpr FunctionFacts functions[] = {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    {#name, form_of(Atoll::sdk::core_functions[id]), ATOLL_RULE_##RULE, ATOLL_DOMAIN_##DOMAIN},
#include "atoll/lists/functions.inc"
};
