// Labels in errors and paths.
#pragma once

#include "atoll/contraction.hpp"

#include <fmt/core.h>

namespace Atoll::detail {

// One label: a letter, or a number.
inline std::string label_text(std::int64_t label, bool is_letter) {
    return is_letter ? std::string(1, static_cast<char>(label)) : fmt::format("{}", label);
}

// All: "ijk", or [3, 1, 2].
inline std::string labels_text(const Labels &labels) {
    std::string text = "\"";
    if (!labels.are_letters()) text = "[";
    for (int axis = 0; axis < labels.size(); ++axis) {
        if (axis > 0 && !labels.are_letters()) text += ", ";
        text += label_text(labels[axis], labels.are_letters());
    }
    return text + (labels.are_letters() ? '"' : ']');
}

} // namespace Atoll::detail
