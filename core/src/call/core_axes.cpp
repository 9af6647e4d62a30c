// Placing of axes: inputs make them, outputs follow.
#include "call/core_axes.hpp"

#include "call/check_part.hpp"
#include "call/infer.hpp"

#include <algorithm>

namespace Atoll::detail {

namespace {

class CoreAxes : CheckPart {
public:
    using CheckPart::CheckPart;

    void place() {
        name_core_axes();
        begin_slots();
        place_inputs();
        know_extents();
        place_outputs();
        check_repeated();
        check_empty();
    }

private:
    // The core axes of the first input that has some, as the caller names them.
    void name_core_axes() {
        reference_ = -1;
        for (int o = s_.output_count; o < s_.operand_count && reference_ < 0; ++o)
            if (spec(o).axis_count > 0 && c_.tensor[o]) reference_ = o;
        std::fill_n(c_.slot_axes, ATOLL_MAX_SLOTS, std::uint8_t{1});
        named_count_ = 0;
        if (s_.axes == sdk::AxesOf::first || reference_ < 0) {
            for (int s = 0; s < s_.slot_count && given_.group_axes; ++s)
                c_.slot_axes[s] = given_.group_axes[s];
            return;
        }
        const int rank = tensor(reference_).shape.size();
        const int wanted = spec(reference_).axis_count;
        const bool any_number = slot(spec(reference_).axes[0]).kind == sdk::AxisKind::group;
        if (given_.axes_given) {
            std::uint64_t seen = 0;
            for (int axis : given_.axes) {
                const int own = own_axis(axis, rank);
                if (seen >> own & 1)
                    refuse(fmt::format("axis {} of {} is named twice", own, text(reference_)));
                seen |= std::uint64_t{1} << own;
                named_[named_count_++] = static_cast<std::int8_t>(own);
            }
            if (s_.axes == sdk::AxesOf::all && any_number) std::sort(named_, named_ + named_count_);
        } else if (s_.axes == sdk::AxesOf::all || rank <= 1) {
            while (named_count_ < rank) {
                named_[named_count_] = static_cast<std::int8_t>(named_count_);
                ++named_count_;
            }
        } else {
            refuse(any_number || wanted == 1
                       ? fmt::format("got no axis of {}, need one (or flatten() first)",
                                     text(reference_))
                       : fmt::format("got no axes of {}, need {}", text(reference_), wanted));
        }
        if (any_number)
            c_.slot_axes[spec(reference_).axes[0]] = static_cast<std::uint8_t>(named_count_);
        else if (named_count_ != wanted && rank > 0)
            refuse(
                fmt::format("got {} axes of {}, need {}", named_count_, text(reference_), wanted));
    }
    int own_axis(int axis, int rank) const {
        if (axis < -rank || axis >= rank)
            refuse(rank == 0
                       ? fmt::format("got axis {} of {}, which has none", axis, text(reference_))
                       : fmt::format("got axis {} of {}, need {} to {}", axis, text(reference_),
                                     -rank, rank - 1),
                   Status::out_of_range);
        return axis < 0 ? axis + rank : axis;
    }

    void begin_slots() {
        c_.core = 0;
        for (int s = 0; s < s_.slot_count; ++s) {
            if (slot(s).opaque) c_.slot_axes[s] = 0;
            // As many as the reference has: fftn's k* beside n*.
            if (!slot(s).given && slot(s).kind == sdk::AxisKind::group)
                c_.slot_axes[s] = static_cast<std::uint8_t>(named_count_);
            begin_[s] = c_.core;
            require_room(c_.core + c_.slot_axes[s]);
            for (int i = 0; i < c_.slot_axes[s]; ++i) {
                source_[c_.core] = -1;
                c_.shape[c_.core++] = slot(s).kind == sdk::AxisKind::fixed ? slot(s).extent : -1;
            }
        }
        c_.rank = c_.core;
    }
    void require_room(int axes) const {
        if (axes > max_axes)
            refuse(fmt::format("needs more than {} axes at once; merge some with Tensor::reshape",
                               max_axes),
                   Status::not_supported);
    }

    // --- inputs ----------------------------------------------------------------------------------

    void place_inputs() {
        for (int o = s_.output_count; o < s_.operand_count; ++o) {
            if (c_.tensor[o])
                place_input(o);
            else if (c_.scalar[o] && core_count(o) > 0)
                refuse(fmt::format("{} is a number, needs {}", spec(o).name, axes_needed(o)));
            else
                filled_[o] = 0;
        }
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            std::fill(c_.axis[o] + filled_[o], c_.axis[o] + c_.rank, std::int8_t{-1});
    }
    // How many core axes the operand has in the call.
    int core_count(int o) const {
        int count = 0;
        for (int i = 0; i < spec(o).axis_count; ++i)
            count += c_.slot_axes[spec(o).axes[static_cast<std::size_t>(i)]];
        return count;
    }
    // "at least 1 axis: (n, k?)"
    std::string axes_needed(int o) const {
        int count = 0;
        std::string list;
        for (int i = 0; i < spec(o).axis_count; ++i) {
            const int s = spec(o).axes[static_cast<std::size_t>(i)];
            const bool optional = slot(s).kind == sdk::AxisKind::optional;
            if (!optional) count += c_.slot_axes[s];
            list += fmt::format("{}{}{}", i ? ", " : "", slot(s).name,
                                slot(s).kind == sdk::AxisKind::group ? "*"
                                : optional                           ? "?"
                                                                     : "");
        }
        return fmt::format("at least {} {}: ({})", count, count == 1 ? "axis" : "axes", list);
    }

    void place_input(int o) {
        const Dims &own = tensor(o).shape;
        const int rank = own.size();
        std::fill_n(c_.axis[o], c_.core, std::int8_t{-1});
        const bool as_named = s_.axes != sdk::AxesOf::first && reference_ >= 0 &&
                              (rank == tensor(reference_).shape.size() || o == reference_);
        std::uint64_t core = 0;
        int next = 0;
        for (int i = 0; i < spec(o).axis_count; ++i) {
            const std::uint8_t s = spec(o).axes[static_cast<std::size_t>(i)];
            for (int k = 0; k < c_.slot_axes[s]; ++k, ++next) {
                const int at = begin_[s] + k;
                const int axis = as_named ? (next < named_count_ ? named_[next] : -1)
                                          : (next < rank ? next : -1);
                if (axis < 0) {
                    // A missing axis counts as one of extent 1 where it may be missing.
                    if (slot(s).kind != sdk::AxisKind::optional && rank > 0)
                        refuse(fmt::format("{} needs {}", text(o), axes_needed(o)));
                    meet(at, o, 1);
                    continue;
                }
                c_.axis[o][at] = static_cast<std::int8_t>(axis);
                core |= std::uint64_t{1} << axis;
                meet(at, o, own[axis]);
            }
        }
        int loop = c_.core;
        for (int axis = 0; axis < rank; ++axis) {
            if (core >> axis & 1) continue;
            if (loop == c_.rank || c_.shape[loop] == 1) {
                if (loop == c_.rank) require_room(++c_.rank);
                c_.shape[loop] = own[axis];
                source_[loop] = static_cast<std::int8_t>(o);
            } else if (own[axis] != 1 && own[axis] != c_.shape[loop]) {
                const int other = source_[loop];
                refuse_broadcast(named(other), c_.axis[other][loop], named(o), axis, f_.full_name);
            }
            c_.axis[o][loop++] = static_cast<std::int8_t>(axis);
        }
        filled_[o] = loop;
        if (o == s_.output_count) return;
        if (!context_.settings().auto_broadcast)
            for (int other = s_.output_count; other < o; ++other)
                if (c_.tensor[other]) require_same_loop(other, o);
    }

    void require_same_loop(int a, int b) const {
        for (int i = c_.core; i < c_.rank; ++i) {
            const int x = i < filled_[a] ? c_.axis[a][i] : -1,
                      y = i < filled_[b] ? c_.axis[b][i] : -1;
            const std::int64_t n = x < 0 ? 1 : tensor(a).shape[x],
                               m = y < 0 ? 1 : tensor(b).shape[y];
            // Beside one without core axes, an operand with some need not have loop axes.
            const bool both = spec(a).axis_count > 0 && spec(b).axis_count > 0;
            if (n != m && (both || (x >= 0 && y >= 0)))
                refuse_auto_broadcast(named(a), named(b), f_.full_name);
        }
    }

    // --- extents ---------------------------------------------------------------------------------

    // Core axis `at` of the call has this extent in operand `o`.
    void meet(int at, int o, std::int64_t extent) {
        if (c_.shape[at] < 0) {
            c_.shape[at] = extent;
            source_[at] = static_cast<std::int8_t>(o);
        } else if (c_.shape[at] != extent) {
            const sdk::AxisSlot &own = slot_of(at);
            if (own.kind == sdk::AxisKind::fixed)
                refuse(fmt::format("{} needs {}{}", text(o), own.name, unit(o, at)));
            refuse_extent(o, at, own.name, source_[at], at);
        }
    }
    const sdk::AxisSlot &slot_of(int at) const {
        int s = s_.slot_count - 1;
        while (begin_[s] > at || c_.slot_axes[s] == 0) --s;
        return slot(s);
    }
    // "b (5, 3) needs n = 4 rows, as a (4, 4) has", where operand `other` has n on axis `there`.
    [[noreturn]] void refuse_extent(int o, int at, std::string_view axis_name, int other,
                                    int there) const {
        const std::string own = unit(o, at), theirs = unit(other, there);
        const bool alike = own == theirs || theirs == " elements";
        refuse(fmt::format("{} needs {} = {}{}, as {} has{}", text(o), axis_name, c_.shape[there],
                           own, o == other ? "it" : text(other), alike ? "" : theirs));
    }
    // What the extent of axis `at` of the call counts in operand `o`.
    std::string unit(int o, int at) const {
        const int axis = c_.axis[o][at];
        if (axis < 0) return "";
        if (core_count(o) == 1) return " elements";
        return axis == 0 ? " rows" : axis == 1 ? " columns" : fmt::format(" on axis {}", axis);
    }

    // The extents that no input has.
    void know_extents() {
        for (int s = 0; s < s_.slot_count; ++s)
            for (int i = 0; i < c_.slot_axes[s]; ++i) {
                std::int64_t &extent = c_.shape[begin_[s] + i];
                if (!slot(s).given && given_.extents)
                    extent = given_.extents[s];
                else if (slot(s).given && extent < 0)
                    extent = 1; // an axis that all operands lack
            }
        infer_extents(f_, given_, context_, c_);
    }

    void check_repeated() const {
        for (int s = 0; s < s_.slot_count; ++s) {
            if (slot(s).twin < 0 || c_.slot_axes[s] == 0) continue;
            const int at = begin_[s], twin = begin_[slot(s).twin];
            if (c_.shape[at] != c_.shape[twin])
                refuse_extent(source_[at], at, slot(s).name, source_[twin], twin);
        }
    }

    // Over no elements nothing is computed: outputs with an empty core axis need nothing, others
    // the identity, even where the loop is empty; a status is 0, and what is updated stays as it
    // is.
    void check_empty() {
        c_.empty = false;
        for (int i = 0; i < c_.rank; ++i) c_.empty |= c_.shape[i] == 0;
        if (!c_.empty || s_.has_identity) return;
        for (int o = 0; o < s_.output_count; ++o)
            if (!(c_.unwanted >> o & 1) && o != s_.status && !spec(o).updated && needs_elements(o))
                refuse_empty();
    }
    bool needs_elements(int output) const {
        bool empty = false; // a core axis of the call
        for (int i = 0; i < c_.core; ++i) {
            if (c_.shape[i] != 0) continue;
            if (c_.axis[output][i] >= 0) return false;
            empty = true;
        }
        return empty;
    }
    [[noreturn]] void refuse_empty() const {
        const int at = static_cast<int>(std::find(c_.shape, c_.shape + c_.core, 0) - c_.shape);
        const std::string_view axis = slot_of(at).name;
        refuse(source_[at] < 0 ? fmt::format("got {} = 0, need at least 1", axis)
                               : fmt::format("{} has no elements along {}, needs at least one",
                                             text(source_[at]), axis));
    }

    // --- outputs ---------------------------------------------------------------------------------

    void place_outputs() {
        for (int o = 0; o < s_.output_count; ++o) {
            std::fill_n(c_.axis[o], c_.rank, std::int8_t{-1});
            // The core axes in the order of the parentheses.
            int core[max_axes], count = 0;
            for (int i = 0; i < spec(o).axis_count; ++i) {
                const std::uint8_t s = spec(o).axes[static_cast<std::size_t>(i)];
                for (int k = 0; k < c_.slot_axes[s]; ++k)
                    if (slot(s).kind != sdk::AxisKind::optional || source_has(s))
                        core[count++] = begin_[s] + k;
            }
            int rank = 0, loop = c_.core;
            if (s_.axes != sdk::AxesOf::first && reference_ >= 0) {
                int place[ATOLL_MAX_RANK]; // the output's core axis at each axis of the reference
                const int left = place_by_name(core, count, place);
                const int own = tensor(reference_).shape.size();
                for (int axis = 0; axis < own; ++axis) {
                    if (place[axis] == is_loop)
                        c_.axis[o][loop++] = static_cast<std::int8_t>(rank++);
                    else if (place[axis] >= 0)
                        c_.axis[o][place[axis]] = static_cast<std::int8_t>(rank++);
                    else if (given_.keepdims)
                        ++rank;
                }
                const bool single = slot(spec(reference_).axes[0]).kind == sdk::AxisKind::one;
                count = own == 0 && single ? 0 : left;
            }
            for (int i = 0; i < count; ++i) c_.axis[o][core[i]] = static_cast<std::int8_t>(rank++);
            while (loop < c_.rank) c_.axis[o][loop++] = static_cast<std::int8_t>(rank++);
            c_.output_rank[o] = static_cast<std::int8_t>(rank);
        }
    }
    // Where the reference has the same core axis; others where named axes are that the output
    // lacks, in the order of their names. Leaves in `core` those without a place, and returns how
    // many.
    int place_by_name(int *core, int count, int *place) const {
        std::fill_n(place, tensor(reference_).shape.size(), is_loop);
        for (int i = 0; i < named_count_; ++i) place[named_[i]] = is_gone;
        int others = 0, left = 0;
        for (int i = 0; i < count; ++i) {
            if (const int own = c_.axis[reference_][core[i]]; own >= 0)
                place[own] = core[i];
            else
                core[others++] = core[i];
        }
        for (int i = 0, next = 0; i < others; ++i) {
            while (next < named_count_ && place[named_[next]] != is_gone) ++next;
            if (next < named_count_)
                place[named_[next]] = core[i];
            else
                core[left++] = core[i];
        }
        return left;
    }
    // Whether an input really has the axis of an optional slot.
    bool source_has(std::uint8_t s) const {
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            if (c_.tensor[o] && c_.axis[o][begin_[s]] >= 0) return true;
        return false;
    }

    static constexpr int is_loop = -1, is_gone = -2; // in place_by_name

    int reference_;                     // the input whose axes are named; -1: none
    int begin_[ATOLL_MAX_SLOTS];        // the first axis of each slot
    int filled_[max_operands];          // axes of the call that an operand knows of
    std::int8_t named_[ATOLL_MAX_RANK]; // axes of the reference
    std::int8_t source_[max_axes];      // the operand that an extent comes from; -1: none
    int named_count_;
};

} // namespace

void place_axes(const FunctionRecord &function, const Arguments &arguments, const Context &context,
                Checked &checked) {
    CoreAxes(function, arguments, context, checked).place();
}

} // namespace Atoll::detail
