// What make_call and the expectation are made of.
#pragma once

#include "calls.hpp"

namespace Atoll::conformance {

bool is(const FunctionFacts &function, int id); // of core

// Those of a setting, and those without a default.
void set_attributes(Call &call, const Setting &setting);
void set_shapes(Call &call, const Recipe &recipe);
void set_values(Call &call, const Recipe &recipe);

// Broadcast: the first input along its last axis, the second along its first, others not at all.
// Scattered: those but the second.
Layout layout_of(Layout wanted, std::size_t input, const Call::Argument &argument);
// The positions of those that are not zero.
Values found(const Values &values);

} // namespace Atoll::conformance
