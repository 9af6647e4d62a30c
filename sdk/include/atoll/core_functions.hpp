// The functions of the module `core` as data: lists/functions.inc, parsed at compile time. A line
// with a syntax error does not compile.
#pragma once

#include "atoll/signature_parser.hpp"
#include "atoll/type_rules.hpp"

namespace Atoll::sdk {

struct FunctionLine {
    std::uint16_t id;
    std::uint16_t rule;
    atoll_dtype_set domain;        // of T
    const char *name, *doc, *text; // text: the signature as written
    Signature signature;

    // The dtype of the first output, and of an input, for a given T; T if the signature leaves it
    // open.
    constexpr std::uint32_t result_dtype(std::uint32_t T) const {
        const std::uint32_t dtype = dtype_of_operand(signature.operands[0], T);
        return dtype ? dtype : T;
    }
    constexpr std::uint32_t input_dtype(int i, std::uint32_t T) const {
        const std::uint32_t dtype = dtype_of_operand(signature.input(i), T);
        return dtype ? dtype : T;
    }
};

inline constexpr FunctionLine core_functions[] = {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    {id,                                                                                           \
     ATOLL_RULE_##RULE,                                                                            \
     ATOLL_DOMAIN_##DOMAIN,                                                                        \
     #name,                                                                                        \
     doc,                                                                                          \
     SIGNATURE,                                                                                    \
     parse_signature(SIGNATURE, ATTRIBUTES, PROPERTIES)},
#include "atoll/lists/functions.inc"
};

constexpr bool ids_count_up() {
    for (std::uint16_t i = 0; i < std::size(core_functions); ++i)
        if (core_functions[i].id != i) return false;
    return true;
}
static_assert(ids_count_up(), "the ids of lists/functions.inc count up from 0");

// Returns one line of an implementation's table for the module `core`: a function that accepts all
// dtypes of its domain, or those of them in `dtypes`, and knows all attributes and inputs of the
// list.
template <auto Function> constexpr atoll_function_decl
declare_core(std::uint16_t id, std::uint64_t caps, atoll_dtype_set dtypes = ~atoll_dtype_set{0}) {
    const FunctionLine &line = core_functions[id];
    const Known known{line.signature.attribute_count,
                      static_cast<std::uint16_t>(line.signature.input_count())};
    return declare<Function>(id, line.domain & dtypes, caps, known);
}

} // namespace Atoll::sdk
