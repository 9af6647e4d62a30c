// The text of generated declarations.
#pragma once

#include "atoll/signature.hpp"

#include <string>
#include <vector>

namespace Atoll::tools {

// A function of a module's list.
struct ListedFunction {
    std::string name, doc, signature_text;
    std::uint32_t rule = 0;
    atoll_dtype_set domain = 0;
    sdk::Signature signature;
    bool infers = false; // the extents that only results have

    // Whether axes are reduced, which the results lack.
    bool reduces() const {
        return signature.axes == sdk::AxesOf::all && signature.operand(0).axis_count == 0;
    }
    // Whether the caller names one axis, and no more.
    bool names_one_axis() const {
        const sdk::OperandSpec &first = signature.input(0);
        return signature.axes == sdk::AxesOf::named && first.axis_count == 1 &&
               signature.slot(first.axes[0]).kind == sdk::AxisKind::one;
    }
};

struct HeaderOf {
    std::string module;
    std::string name_space; // empty: the module's name
    std::vector<ListedFunction> functions;
    bool is_core() const { return module == "core"; }
};

// The comment above a declaration.
std::string comment_of(const ListedFunction &function, const std::string &example);

// Includes, options and declarations; functions with opaque operands are left out.
std::string header_text(const HeaderOf &header);

} // namespace Atoll::tools
