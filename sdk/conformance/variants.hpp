// The ways in which the kit calls each function: sizes, layouts and dtypes of the operands, and the
// capability that each way needs.
//
// Note [Handed through]
// If a plugin declares a capability, the host passes such operands unchanged. The kit creates
// operands that need the capability and verifies, with an interposer, that they arrived. So a wrong
// result under "strided" is caused by the plugin and not by a copy of the host. Operands that need
// an undeclared capability must not arrive; if they do, the host is wrong.
#pragma once

#include "calls.hpp"
#include "probe.hpp"

#include <span>

namespace Atoll::conformance {

enum class How {
    plain,
    in_place,      // output 0 overwrites the first input that it may
    in_place_last, // another: the last one
    one_tensor,    // two inputs are the same tensor
    mixed_inputs,
    mixed_output,
    scalar,
    special
};

// One way to call a function.
struct Variant {
    const char *name;
    Prepared::Form form = {};
    Size size = Size::small;
    How kind = How::plain;
    std::uint64_t caps = 0;       // with which operands arrive unchanged
    bool default_setting = false; // with no other
};

// All but `million`; the first is the plain one.
std::span<const Variant> all_variants();
inline const Variant million{.name = "very long", .size = Size::huge};

// "ATOLL_CAP_STRIDED and ATOLL_CAP_GROUPS"
std::string names_of(std::uint64_t caps);

// A dtype other than the result's that the results can be converted to.
DType other_output(DType result);

// The mixed dtypes for a variant: of each input, or of the results. All that the implementation
// takes; the host converts others, all alike.
std::vector<Mix> mixes_of(const Declared &declared, DType dtype, const Setting &setting,
                          const Variant &variant);

// Whether the function can be called so.
bool applies(const Variant &variant, const Setting &setting, const FunctionFacts &f, DType dtype);

// Fails unless the calls had what the variant is about, or the implementation does not take it: see
// Note [Handed through].
void require_honoured(const std::vector<Captured> &calls, const Declared &declared,
                      const Variant &variant);

} // namespace Atoll::conformance
