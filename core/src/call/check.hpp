// First stage of a call: checks its arguments and decides what follows from them. Changes nothing.
#pragma once

#include "atoll/arguments.hpp"
#include "call/promotion.hpp"
#include "call/space.hpp"

namespace Atoll::detail {

// What the caller gives.
struct Arguments {
    Inputs inputs;                                 // in the order of the signature; null: absent
    std::span<const Tensor *const> outputs = {};   // null or missing: to be made
    std::span<const atoll_scalar> attributes = {}; // all of them, in the order of the list
    std::span<const int> axes = {};                // for `axes all` and `axes named`
    bool axes_given = false;                       // else: all, or the only one
    bool keepdims = false;                         // core axes that outputs lack become 1
    const std::uint8_t *group_axes = nullptr; // per slot; for groups under `axes first`; null: 1
    const std::int64_t *extents = nullptr;    // per slot; of those in outputs only
    std::uint32_t unwanted = 0;               // bits of the optional outputs that are not made
    Mode mode = {}; // for elements outside the function's domain; empty: that of the settings
    Tensor *temporary = nullptr; // an input of an element-wise function: see Note [Temporaries]
};

// Operands are numbered as in the call: outputs first.
struct Checked {
    const FunctionRecord *function;
    DeviceRecord *device;
    DType T;
    const TensorImpl *tensor[max_operands]; // null: a scalar, absent, or an output to be made
    const Scalar *scalar[max_operands];     // null: a tensor or absent
    // The call's axes: core axes slot after slot, then loop axes.
    int rank, core;
    std::uint8_t slot_axes[ATOLL_MAX_SLOTS];
    std::int64_t shape[max_axes];
    // The operand's own axis there; -1: none. These two are unset for functions without core axes,
    // where axis i of an operand is axis i of the call.
    std::int8_t axis[max_operands][max_axes];
    std::int8_t output_rank[max_operands];
    bool empty; // an extent is 0, or alpha of a product, so nothing is computed

    Dims output_shape(int output) const;
    // Appends a tensor, laid over the call's axes.
    void lay(int operand, Space &space) const {
        if (function->signature.elementwise())
            space.add(*tensor[operand]);
        else
            space.add(*tensor[operand], axis[operand]);
    }
};

// Throws Error that names operands, axes and shapes. No required input may be missing.
void check(const FunctionRecord &function, const Arguments &arguments, const Context &context,
           Checked &checked);

// Throws unless exactly the inputs that the signature calls objects are objects: these have no
// dtype to decide anything from.
void require_kinds(const FunctionRecord &function, Inputs inputs);

// Throws if `out`, by this name in errors, is read-only or may overlap itself.
void check_output(const TensorImpl &out, std::string_view name, std::string_view op);

} // namespace Atoll::detail
