// Places the axes of a call: inputs determine them, outputs follow.
#include "base/error_buffer.hpp"
#include "base/throw_error.hpp"
#include "call/check_part.hpp"
#include "call/factors.hpp"
#include "call/parts.hpp"
#include "call/route.hpp"
#include "call/taken_apart.hpp"
#include "runtime/dispatch.hpp"

#include <algorithm>
#include <numeric>

namespace Atoll::detail {

namespace {

class CoreAxes : CheckPart {
public:
    explicit CoreAxes(const CheckPart &part) : CheckPart(part) {}

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
    // The core axes of the first input that has any, as the caller names them. If the host counts
    // the elements of an input, all axes of that one.
    void name_core_axes() {
        std::fill_n(c_.slot_axes, ATOLL_MAX_SLOTS, std::uint8_t{1});
        if (s_.axes != sdk::AxesOf::first) {
            if (s_.nonzero >= 0 && c_.tensor[s_.nonzero]) reference_ = s_.nonzero;
            for (int o = s_.output_count; o < s_.operand_count && reference_ < 0; ++o)
                if (spec(o).axis_count > 0 && c_.tensor[o]) reference_ = o;
        }
        if (reference_ < 0) {
            if (given_.group_axes) std::copy_n(given_.group_axes, s_.slot_count, c_.slot_axes);
            return;
        }
        const int rank = tensor(reference_).shape.size();
        const int wanted = spec(reference_).axis_count;
        const bool any_number = slot(spec(reference_).axes[0]).kind == sdk::AxisKind::group;
        if (given_.axes_given) {
            std::uint64_t seen = 0;
            for (int axis : given_.axes) {
                const int own = own_axis(axis, rank);
                if (seen >> own & 1) refuse("axis {} of {} is named twice", own, text(reference_));
                seen |= std::uint64_t{1} << own;
                named_[named_count_++] = static_cast<std::int8_t>(own);
            }
            if (s_.axes == sdk::AxesOf::all && any_number) std::sort(named_, named_ + named_count_);
        } else if (s_.axes == sdk::AxesOf::all || rank <= 1) {
            std::iota(named_, named_ + rank, std::int8_t{0});
            named_count_ = rank;
        } else if (any_number || wanted == 1) {
            refuse("got no axis of {}, need one (or flatten() first)", text(reference_));
        } else {
            refuse("got no axes of {}, need {}", text(reference_), wanted);
        }
        if (any_number)
            c_.slot_axes[spec(reference_).axes[0]] = static_cast<std::uint8_t>(named_count_);
        else if (named_count_ != wanted && rank > 0)
            refuse("got {} axes of {}, need {}", named_count_, text(reference_), wanted);
    }
    int own_axis(int axis, int rank) const {
        if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
        const std::string needed =
            rank == 0 ? "but rank 0 has no axes" : fmt::format("need {} to {}", -rank, rank - 1);
        throw_error(Status::out_of_range, f_.full_name, "got axis {} of {}, {}", axis,
                    text(reference_), needed);
    }

    void begin_slots() {
        c_.core = 0;
        for (int s = 0; s < s_.slot_count; ++s) {
            // As many axes as the reference's group: fftn's k* beside n*.
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
            throw_error(Status::not_supported, f_.full_name,
                        "needs more than {} axes at once; merge some with Tensor::reshape",
                        max_axes);
    }
    const sdk::AxisSlot &slot_of(int at) const {
        int s = s_.slot_count - 1;
        while (begin_[s] > at || c_.slot_axes[s] == 0) --s;
        return slot(s);
    }
    bool is_optional(int at) const { return slot_of(at).kind == sdk::AxisKind::optional; }
    // The core axes that the operand has in the call. Returns how many.
    int core_axes(int o, int *axes) const { return core_axes_of(spec(o), c_.slot_axes, axes); }

    // --- inputs ----------------------------------------------------------------------------------

    void place_inputs() {
        for (int o = 0; o < s_.operand_count; ++o)
            std::fill_n(c_.axis[o], max_axes, std::int8_t{-1});
        int core[max_axes];
        for (int o = s_.output_count; o < s_.operand_count; ++o) {
            if (c_.tensor[o])
                place_input(o);
            else if (c_.scalar[o] && core_axes(o, core) > 0)
                refuse("{} is a number, needs {}", spec(o).name, axes_needed(o));
        }
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
        const bool as_named = reference_ >= 0 && rank == tensor(reference_).shape.size();
        int core[max_axes];
        const int count = core_axes(o, core), there = as_named ? named_count_ : rank;
        std::uint64_t taken = 0; // axes of the operand
        for (int i = 0; i < count; ++i) {
            if (i >= there) {
                // A missing axis counts as one of extent 1 where it may be missing.
                if (!is_optional(core[i]) && rank > 0)
                    refuse("{} needs {}", text(o), axes_needed(o));
                meet(core[i], o, 1);
                continue;
            }
            const int axis = as_named ? named_[i] : i;
            c_.axis[o][core[i]] = static_cast<std::int8_t>(axis);
            taken |= std::uint64_t{1} << axis;
            meet(core[i], o, own[axis]);
        }
        int loop = c_.core;
        for (int axis = 0; axis < rank; ++axis) {
            if (taken >> axis & 1) continue;
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
        if (o == s_.output_count || context_.settings().auto_broadcast) return;
        for (int other = s_.output_count; other < o; ++other)
            if (c_.tensor[other]) require_same_loop(other, o);
    }

    void require_same_loop(int a, int b) const {
        for (int i = c_.core; i < c_.rank; ++i) {
            const int x = c_.axis[a][i], y = c_.axis[b][i];
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
                refuse("{} needs {}{}", text(o), own.name, unit(o, at));
            refuse_extent(o, at, own.name, source_[at], at);
        }
    }
    // "b (5, 3) needs n = 4 rows, as a (4, 4) has", where operand `other` has n on axis `there`.
    [[noreturn]] void refuse_extent(int o, int at, std::string_view axis_name, int other,
                                    int there) const {
        const std::string own = unit(o, at), theirs = unit(other, there);
        const bool alike = own == theirs || theirs == " elements";
        refuse("{} needs {} = {}{}, as {} has{}", text(o), axis_name, c_.shape[there], own,
               o == other ? "it" : text(other), alike ? "" : theirs);
    }
    // What the extent of axis `at` of the call counts in operand `o`.
    std::string unit(int o, int at) const {
        const int axis = c_.axis[o][at];
        if (axis < 0) return "";
        int core[max_axes];
        if (core_axes(o, core) == 1) return " elements";
        return axis == 0 ? " rows" : axis == 1 ? " columns" : fmt::format(" on axis {}", axis);
    }

    // The number of non-zero elements of the input that says how long a result is.
    std::int64_t count_nonzero() const {
        const int o = s_.nonzero;
        if (!c_.tensor[o])
            refuse("needs a tensor {}, whose non-zero elements say how long the result is",
                   spec(o).name);
        if (c_.rank > c_.core)
            refuse("takes no loop axes: the result is as long as {} has non-zero elements",
                   text(o));
        // Throws where the function itself is missing, before anything is counted.
        static const Ref<StreamImpl> none;
        const Route required(f_, c_.device, c_.T, none, context_);
        if (tensor(o).size() == 0) return 0;
        const Context parts = context_.for_parts_of(f_);
        const Tensor &counted =
            *given_.inputs[static_cast<std::size_t>(o - s_.output_count)]->tensor();
        return item_part(part(ATOLL_FN_count_nonzero, {counted}, parts), parts).to_int();
    }

    // Extents that no input has come from the caller, the function's `infer` callback, or elements.
    void know_extents() {
        for (int s = 0; s < s_.slot_count; ++s)
            for (int i = 0; i < c_.slot_axes[s]; ++i) {
                std::int64_t &extent = c_.shape[begin_[s] + i];
                if (s == s_.nonzero_axis)
                    extent = count_nonzero();
                else if (!slot(s).given && given_.extents)
                    extent = given_.extents[s];
                else if (slot(s).given && extent < 0)
                    extent = 1; // an axis that all operands lack
            }
        know_twins();
        if (f_.infer && unknown() >= 0) {
            infer();
            know_twins();
        }
        if (unknown() < 0) return;
        const std::string_view axis = slot_of(unknown()).name;
        if (f_.infer)
            refuse("the function's infer gave no extent of {}; report it to its vendor", axis);
        refuse("got no extent of {}, which only results have; give it with CallOptions::extents",
               axis);
    }
    // The second of two axes of one name in a result has the extent of the first.
    void know_twins() {
        for (int s = 0; s < s_.slot_count; ++s)
            if (!slot(s).given && slot(s).twin >= 0)
                std::copy_n(c_.shape + begin_[slot(s).twin], c_.slot_axes[s], c_.shape + begin_[s]);
    }
    // The first core axis without an extent, or -1.
    int unknown() const {
        for (int i = 0; i < c_.core; ++i)
            if (c_.shape[i] < 0) return i;
        return -1;
    }
    void infer() {
        std::int64_t extents[max_axes];
        std::copy_n(c_.shape, c_.core, extents);
        ErrorBuffer error;
        atoll_infer question{sizeof question,
                             static_cast<std::uint16_t>(c_.T),
                             static_cast<std::uint16_t>(given_.attributes.size()),
                             given_.attributes.data(),
                             {},
                             extents};
        std::copy_n(c_.slot_axes, ATOLL_MAX_SLOTS, question.axes);
        const PluginRecord *owner = f_.module->owner;
        std::int32_t status = ATOLL_STATUS_OK;
        try {
            status = f_.infer(owner ? owner->ctx : nullptr, &question, error.get());
        } catch (...) {
            throw Error(Status::plugin_fault, f_.full_name, border_crossed("infer"));
        }
        if (status != ATOLL_STATUS_OK) refuse("{}", error.words());
        for (int i = 0; i < c_.core; ++i) {
            if (c_.shape[i] >= 0 && extents[i] != c_.shape[i])
                throw_error(Status::plugin_fault, f_.full_name,
                            "the function's infer changed {} = {} to {}; report it to its "
                            "vendor",
                            slot_of(i).name, c_.shape[i], extents[i]);
            c_.shape[i] = extents[i];
        }
    }

    void check_repeated() const {
        for (int s = 0; s < s_.slot_count; ++s) {
            if (slot(s).twin < 0 || c_.slot_axes[s] == 0) continue;
            const int at = begin_[s], twin = begin_[slot(s).twin];
            if (c_.shape[at] != c_.shape[twin])
                refuse_extent(source_[at], at, slot(s).name, source_[twin], twin);
        }
    }

    // Over no elements nothing is computed: outputs without an empty core axis need the identity,
    // even if the loop is empty; a status is 0, and updated operands stay unchanged.
    void check_empty() {
        c_.empty = std::find(c_.shape, c_.shape + c_.rank, 0) != c_.shape + c_.rank;
        // As in BLAS: with alpha == 0 the factors are not read.
        if (is_product(f_)) c_.empty |= is_zero(Scalar(given_.attributes[product_alpha]));
        const int at = static_cast<int>(std::find(c_.shape, c_.shape + c_.core, 0) - c_.shape);
        if (at == c_.core || s_.has_identity) return;
        for (int o = 0; o < s_.output_count; ++o) {
            bool needed = !(given_.unwanted >> o & 1) && o != s_.status && !spec(o).updated;
            for (int i = at; i < c_.core; ++i) needed &= c_.shape[i] != 0 || c_.axis[o][i] < 0;
            if (!needed) continue;
            const std::string_view axis = slot_of(at).name;
            if (source_[at] < 0) refuse("got {} = 0, need at least 1", axis);
            refuse("{} has no elements along {}, needs at least one", text(source_[at]), axis);
        }
    }

    // --- outputs ---------------------------------------------------------------------------------

    void place_outputs() {
        for (int o = 0; o < s_.output_count; ++o) {
            int core[max_axes], rank = 0, loop = c_.core;
            const auto put = [&](int at) { c_.axis[o][at] = static_cast<std::int8_t>(rank++); };
            int *end = std::remove_if(core, core + core_axes(o, core),
                                      [&](int at) { return is_optional(at) && !input_has(at); });
            if (reference_ >= 0) {
                int place[ATOLL_MAX_RANK]; // the output's core axis at each axis of the reference
                end = place_by_name(core, end, place);
                const int own = tensor(reference_).shape.size();
                for (int axis = 0; axis < own; ++axis) {
                    if (place[axis] == is_loop)
                        put(loop++);
                    else if (place[axis] >= 0)
                        put(place[axis]);
                    else if (given_.keepdims)
                        ++rank;
                }
                const bool single = slot(spec(reference_).axes[0]).kind == sdk::AxisKind::one;
                if (own == 0 && single) end = core;
            }
            std::for_each(core, end, put);
            while (loop < c_.rank) put(loop++);
            c_.output_rank[o] = static_cast<std::int8_t>(rank);
        }
    }
    // Places the output's core axes where the reference has them, others in place of named axes
    // that the output lacks, in that order. Leaves in `core` those without a place; returns their
    // end.
    int *place_by_name(int *core, int *end, int *place) const {
        const std::int8_t *const own = c_.axis[reference_];
        std::fill_n(place, tensor(reference_).shape.size(), is_loop);
        for (int i = 0; i < named_count_; ++i) place[named_[i]] = is_gone;
        for (const int *at = core; at < end; ++at)
            if (own[*at] >= 0) place[own[*at]] = *at;
        end = std::remove_if(core, end, [&](int at) { return own[at] >= 0; });
        int *next = core;
        for (int i = 0; i < named_count_ && next < end; ++i)
            if (place[named_[i]] == is_gone) place[named_[i]] = *next++;
        return std::copy(next, end, core);
    }
    bool input_has(int at) const {
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            if (c_.axis[o][at] >= 0) return true;
        return false;
    }

    static constexpr int is_loop = -1, is_gone = -2; // in place_by_name

    int reference_ = -1;                // the input whose axes are named; -1: none
    int begin_[ATOLL_MAX_SLOTS];        // the first axis of each slot
    std::int8_t named_[ATOLL_MAX_RANK]; // axes of the reference
    std::int8_t source_[max_axes];      // the operand that an extent comes from; -1: none
    int named_count_ = 0;
};

} // namespace

void place_axes(const CheckPart &part) { CoreAxes(part).place(); }

} // namespace Atoll::detail
