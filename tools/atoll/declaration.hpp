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
};

struct HeaderOf {
    std::string module;
    std::string name_space; // empty: the module's name
    std::vector<ListedFunction> functions;
    bool is_core() const { return module == "core"; }
};

// Includes, options and declarations; functions with opaque operands are left out.
std::string header_text(const HeaderOf &header);

} // namespace Atoll::tools
