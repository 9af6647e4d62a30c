// Parses the text of einsum().
#include "contract/notation.hpp"

#include "base/printable.hpp"
#include "base/throw_error.hpp"
#include "objects/layout.hpp"

#include <algorithm>
#include <map>

namespace Atoll::detail {

namespace {

constexpr std::string_view dots = "...";
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// Labels below this are axes that `...` stands for.
constexpr std::int64_t first_letter = 'A';

class Parser {
public:
    Parser(std::string_view text, std::span<const Tensor> operands)
        : text_(text), operands_(operands) {}

    Notation run() {
        std::string clean;
        for (const char c : text_)
            if (c != ' ') clean += c;
        std::string_view inputs = clean, output;
        const std::size_t arrow = inputs.find("->");
        const bool explicit_output = arrow != inputs.npos;
        if (explicit_output) {
            output = inputs.substr(arrow + 2);
            inputs = inputs.substr(0, arrow);
        }
        const auto terms = 1 + std::count(inputs.begin(), inputs.end(), ',');
        if (terms != static_cast<std::ptrdiff_t>(operands_.size()))
            refuse("has {} {}, got {} {}", terms, terms == 1 ? "term" : "terms", operands_.size(),
                   operands_.size() == 1 ? "tensor" : "tensors");
        for (std::size_t i = 0; i < operands_.size(); ++i) {
            const std::size_t comma = inputs.find(',');
            read_operand(i, inputs.substr(0, comma));
            inputs.remove_prefix(comma == inputs.npos ? inputs.size() : comma + 1);
        }
        for (std::size_t i = 0; i < operands_.size(); ++i) read_extents(i);
        for (std::size_t i = 0; i < operands_.size(); ++i) find_broadcast(i);
        explicit_output ? read_output(output) : make_output();
        return std::move(notation_);
    }

private:
    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> words, Args &&...args) const {
        throw_error(Status::invalid_argument, "einsum", "\"{}\" {}", printable(text_),
                    fmt::format(words, std::forward<Args>(args)...));
    }
    // "operand 1 (3, 4)"
    std::string operand_text(std::size_t i) const {
        return fmt::format("operand {} {}", i, shape_text(impl(operands_[i]).shape));
    }

    // Splits a term around its dots. Returns whether it has any.
    bool split(std::string_view term, std::string_view &before, std::string_view &after) const {
        const std::size_t at = term.find(dots);
        before = term.substr(0, at);
        after = at == term.npos ? "" : term.substr(at + dots.size());
        for (const std::string_view letters : {before, after})
            for (const char c : letters)
                if (!is_letter(c))
                    refuse("has '{}' in a term; terms have letters and one ...",
                           printable(std::string_view(&c, 1)));
        return at != term.npos;
    }

    void read_operand(std::size_t i, std::string_view term) {
        std::string_view before, after;
        const bool has_dots = split(term, before, after);
        const int letters = static_cast<int>(before.size() + after.size());
        const int rank = impl(operands_[i]).shape.size(), others = rank - letters;
        if (has_dots ? others < 0 : others != 0)
            refuse("has {} {} for {}, which has {} {}", letters, letters == 1 ? "label" : "labels",
                   operand_text(i), rank, rank == 1 ? "axis" : "axes");
        std::vector<std::int64_t> &labels = notation_.operands.emplace_back();
        labels.assign(before.begin(), before.end());
        for (int axis = 0; axis < others; ++axis) labels.push_back(axis);
        labels.insert(labels.end(), after.begin(), after.end());
        dotted_ = std::max(dotted_, others);
        any_dots_ |= has_dots;
    }

    void read_extents(std::size_t i) {
        const Dims &shape = impl(operands_[i]).shape;
        for (int axis = 0; axis < shape.size(); ++axis) {
            const std::int64_t label = notation_.operands[i][static_cast<std::size_t>(axis)];
            if (label < first_letter && shape[axis] == 1 && extents_.contains(label)) continue;
            auto [it, added] = extents_.try_emplace(label, Extent{shape[axis], i});
            Extent &known = it->second;
            if (known.extent == shape[axis]) continue;
            if (label < first_letter && known.extent == 1) {
                known = {shape[axis], i};
                continue;
            }
            const std::string name = label < first_letter
                                         ? fmt::format("axis {} of ...", label)
                                         : std::string(1, static_cast<char>(label));
            refuse("needs one extent of {}: {} has {}, {} has {}", name,
                   operand_text(known.operand), known.extent, operand_text(i), shape[axis]);
        }
    }

    void find_broadcast(std::size_t i) {
        std::vector<bool> &broadcast = notation_.broadcast.emplace_back();
        const Dims &shape = impl(operands_[i]).shape;
        for (int axis = 0; axis < shape.size(); ++axis) {
            const std::int64_t label = notation_.operands[i][static_cast<std::size_t>(axis)];
            broadcast.push_back(shape[axis] == 1 && extents_.at(label).extent != 1);
        }
    }

    void read_output(std::string_view term) {
        std::string_view before, after;
        const bool has_dots = split(term, before, after);
        if (!has_dots && dotted_ > 0)
            refuse("has no ... in the result for {} of the operands",
                   dotted_ == 1 ? "an axis" : "axes");
        if (has_dots && !any_dots_) refuse("has ... in the result, but in no operand");
        notation_.result.assign(before.begin(), before.end());
        for (int axis = 0; axis < dotted_; ++axis) notation_.result.push_back(axis);
        notation_.result.insert(notation_.result.end(), after.begin(), after.end());
        for (std::size_t i = 0; i < notation_.result.size(); ++i) {
            const std::int64_t label = notation_.result[i];
            if (!extents_.contains(label))
                refuse("has {} in the result, but in no operand",
                       std::string(1, static_cast<char>(label)));
            const auto end = notation_.result.begin() + static_cast<std::ptrdiff_t>(i);
            if (std::find(notation_.result.begin(), end, label) != end)
                refuse("has {} twice in the result", std::string(1, static_cast<char>(label)));
        }
    }

    // The labels that stand once, in order, after those of the dots.
    void make_output() {
        std::map<std::int64_t, int> counts;
        for (const auto &labels : notation_.operands)
            for (const std::int64_t label : labels) ++counts[label];
        for (const auto &[label, count] : counts)
            if (label < first_letter || count == 1) notation_.result.push_back(label);
    }

    struct Extent {
        std::int64_t extent;
        std::size_t operand; // where it was read
    };

    std::string_view text_;
    std::span<const Tensor> operands_;
    Notation notation_;
    std::map<std::int64_t, Extent> extents_;
    int dotted_ = 0;
    bool any_dots_ = false;
};

} // namespace

Notation parse_notation(std::string_view text, std::span<const Tensor> operands) {
    return Parser(text, operands).run();
}

std::string notation_text(std::span<const std::int64_t> labels) {
    std::string text;
    bool has_dots = false;
    for (const std::int64_t label : labels) {
        if (label >= first_letter)
            text += static_cast<char>(label);
        else if (!std::exchange(has_dots, true))
            text += dots;
    }
    return text;
}

} // namespace Atoll::detail
