// The function list as data, for tests that go over all functions.
#pragma once

#include "atoll/core_functions.hpp"

#include <cstdint>

struct FunctionFacts {
    const char *name;
    int family, rule;
    std::uint32_t domain;
};
inline constexpr FunctionFacts functions[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)     \
    {#name, ATOLL_FAMILY_##FAMILY, ATOLL_RULE_##RULE, ATOLL_DOMAIN_##DOMAIN},
#include "atoll/lists/functions.inc"
};
