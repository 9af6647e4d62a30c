// The text of einsum(): "ij,jk->ik".
#pragma once

#include "atoll/tensor.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// The labels of operands and result. Letters are their codes; `...` is replaced by labels of the
// axes that it stands for, 0, 1, ….
struct Notation {
    std::vector<std::vector<std::int64_t>> operands;
    std::vector<std::int64_t> result;
    // For each axis of each operand, whether it has extent 1 and broadcasts to a larger one.
    std::vector<std::vector<bool>> broadcast;
};

// Throws Error (invalid_argument) that quotes the text, unless it fits the operands' ranks, and
// names the label whose extents differ.
Notation parse_notation(std::string_view text, std::span<const Tensor> operands);

// "ij", with `...` for the axes that it stands for.
std::string notation_text(std::span<const std::int64_t> labels);

} // namespace Atoll::detail
