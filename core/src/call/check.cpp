// Checking of arguments, and what follows from them.
#include "call/check.hpp"

#include "base/error_buffer.hpp"
#include "call/broadcast.hpp"
#include "objects/object.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

class Checker {
public:
    Checker(const FunctionRecord &function, const Arguments &arguments, const Context &context,
            Checked &checked)
        : f_(function), s_(function.signature), given_(arguments), context_(context), c_(checked) {}

    void run() {
        take_operands();
        c_.function = &f_;
        c_.device = decide_device(f_, given_.inputs, context_);
        c_.T = decide_T(f_, given_.inputs, context_);
        check_object_devices();
        if (s_.elementwise()) {
            broadcast_all();
        } else {
            name_core_axes();
            place_inputs();
            place_outputs();
            check_extents();
        }
        check_outputs();
    }

private:
    bool is_opaque(std::uint8_t slot) const { return s_.slots[slot].opaque; }
    const sdk::OperandSpec &spec(int o) const { return s_.operands[static_cast<std::size_t>(o)]; }
    const TensorImpl &tensor(int o) const { return *c_.tensor[o]; }

    [[noreturn]] void refuse(const std::string &text,
                             Status status = Status::invalid_argument) const {
        throw Error(status, f_.full_name, text);
    }
    // "(5, 3)", "(5,)", "()"
    static std::string tuple(const Dims &shape) {
        std::string list;
        for (std::int64_t extent : shape)
            list += fmt::format("{}{}", list.empty() ? "" : ", ", extent);
        return fmt::format("({}{})", list, shape.size() == 1 ? "," : "");
    }
    // "b (5, 3)"
    std::string text(int o) const {
        return fmt::format("{} {}", spec(o).name, tuple(tensor(o).shape));
    }
    std::string input_names() const {
        std::string names;
        for (int i = 0; i < s_.input_count(); ++i)
            names += fmt::format("{}{}", i ? ", " : "", s_.input(i).name);
        return names.empty() ? "none" : names;
    }
    // What the extent of an axis of the call counts in operand `o`.
    const char *unit(int o, int at) const {
        int position = -1;
        for (int i = 0; i < spec(o).axis_count; ++i) {
            const std::uint8_t slot = spec(o).axes[static_cast<std::size_t>(i)];
            if (at >= begin_[slot] && at < begin_[slot] + c_.slot_axes[slot]) position = i;
        }
        if (spec(o).axis_count == 1) return " elements";
        return position == 0 ? " rows" : position == 1 ? " columns" : "";
    }

    void take_operands() {
        const int outputs = s_.output_count, count = s_.operand_count;
        c_.unwanted = given_.unwanted;
        if (static_cast<int>(given_.inputs.size()) > s_.input_count())
            refuse(fmt::format("got {} inputs, takes {}: {}", given_.inputs.size(),
                               s_.input_count(), input_names()));
        for (int o = 0; o < count; ++o) {
            c_.tensor[o] = nullptr;
            c_.scalar[o] = nullptr;
            const auto i = static_cast<std::size_t>(o < outputs ? o : o - outputs);
            if (o < outputs) {
                if (i < given_.outputs.size() && given_.outputs[i])
                    c_.tensor[o] = &impl(*given_.outputs[i]);
                continue;
            }
            const Operand *operand = i < given_.inputs.size() ? given_.inputs[i] : nullptr;
            if (!operand) {
                if (!spec(o).optional)
                    refuse(fmt::format("got no {}; takes {}", spec(o).name, input_names()));
            } else if (operand->tensor()) {
                c_.tensor[o] = &impl(*operand->tensor());
                require_kind(o);
            } else {
                c_.scalar[o] = &operand->scalar();
                if (is_object_operand(o))
                    refuse(fmt::format("{} is a number, needs an object", spec(o).name));
            }
        }
    }
    bool is_object_operand(int o) const { return spec(o).type == sdk::TypeOf::object; }
    void require_kind(int o) const {
        if (is_object(tensor(o)) != is_object_operand(o))
            refuse(fmt::format("{} is {}", spec(o).name,
                               is_object_operand(o) ? "a tensor, needs an object"
                                                    : "an object, needs a tensor"));
    }
    // Objects stay where they were made.
    void check_object_devices() const {
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            if (is_object_operand(o) && c_.tensor[o] && tensor(o).device() != c_.device)
                refuse(fmt::format("{} lies on {}, the call runs on {}; objects are not copied",
                                   spec(o).name, tensor(o).device()->name, c_.device->name));
    }

    // --- functions without core axes -------------------------------------------------------------

    void broadcast_all() {
        c_.core = 0;
        const int outputs = s_.output_count, count = s_.operand_count;
        Dims scratch;
        const Dims *shape = nullptr;
        const TensorImpl *out = c_.tensor[0];
        for (int o = outputs; o < count; ++o) {
            if (!c_.tensor[o] || is_object_operand(o)) continue;
            const Dims &own = tensor(o).shape;
            if (out) {
                if (!broadcasts_to(own, out->shape))
                    refuse(fmt::format("got an operand of shape {} for a destination of shape {}; "
                                       "destinations are never broadcast",
                                       shape_text(own), shape_text(out->shape)));
                require_auto_broadcast(out->shape, own, f_.full_name, context_);
            } else if (!shape) {
                shape = &own;
            } else if (!(own == *shape)) {
                require_auto_broadcast(*shape, own, f_.full_name, context_);
                if (shape != &scratch) scratch = *shape;
                shape = &scratch;
                broadcast_shapes(scratch, own, f_.full_name);
            }
        }
        if (out)
            shape = &out->shape;
        else if (!shape)
            shape = &scratch;
        c_.rank = shape->size();
        std::copy(shape->begin(), shape->end(), c_.shape);
        for (int o = 0; o < outputs; ++o) c_.output_rank[o] = static_cast<std::int8_t>(c_.rank);
        c_.empty_group = c_.nothing_to_do = false;
        for (int i = 0; i < c_.rank; ++i) c_.nothing_to_do |= c_.shape[i] == 0;
    }

    // --- functions with core axes ----------------------------------------------------------------

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
        const bool any_number = s_.slots[spec(reference_).axes[0]].kind == sdk::AxisKind::group;
        if (given_.axes_given) {
            std::uint64_t seen = 0;
            for (int axis : given_.axes) {
                const int own = checked_axis(axis, rank, f_.full_name);
                if (seen >> own & 1) refuse(fmt::format("axis {} is named twice", axis));
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
            refuse(fmt::format("got no axis for {} {}, need one (or flatten() first)",
                               spec(reference_).name, shape_text(tensor(reference_).shape)));
        }
        const int wanted = spec(reference_).axis_count;
        if (any_number)
            c_.slot_axes[spec(reference_).axes[0]] = static_cast<std::uint8_t>(named_count_);
        else if (named_count_ != wanted && rank > 0)
            refuse(fmt::format("got {} axes of {}, need {}", named_count_, spec(reference_).name,
                               wanted));
    }

    // "(n, k?)"
    std::string parentheses(int o) const {
        std::string list;
        for (int i = 0; i < spec(o).axis_count; ++i) {
            const sdk::AxisSlot &slot = s_.slots[spec(o).axes[static_cast<std::size_t>(i)]];
            list += fmt::format("{}{}{}", i ? ", " : "", slot.name,
                                slot.kind == sdk::AxisKind::group      ? "*"
                                : slot.kind == sdk::AxisKind::optional ? "?"
                                                                       : "");
        }
        return "(" + list + ")";
    }
    // How many core axes the operand has in the call.
    int core_count(int o) const {
        int count = 0;
        for (int i = 0; i < spec(o).axis_count; ++i) {
            const std::uint8_t slot = spec(o).axes[static_cast<std::size_t>(i)];
            count += is_opaque(slot) ? 0 : c_.slot_axes[slot];
        }
        return count;
    }

    void place_inputs() {
        c_.core = 0;
        for (int s = 0; s < s_.slot_count; ++s) {
            const sdk::AxisSlot &slot = s_.slots[static_cast<std::size_t>(s)];
            if (slot.opaque) c_.slot_axes[s] = 0;
            // As many as the reference has: fftn's k* beside n*.
            if (!slot.given && slot.kind == sdk::AxisKind::group)
                c_.slot_axes[s] = static_cast<std::uint8_t>(named_count_);
            begin_[s] = c_.core;
            for (int i = 0; i < c_.slot_axes[s]; ++i) {
                source_[c_.core] = -1;
                c_.shape[c_.core++] = slot.kind == sdk::AxisKind::fixed ? slot.extent : -1;
            }
        }
        c_.rank = c_.core;
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            if (c_.tensor[o])
                place_input(o);
            else if (c_.scalar[o] && core_count(o) > 0)
                refuse(fmt::format("{} is a number, needs {} axes at least: {}", spec(o).name,
                                   core_count(o), parentheses(o)));
            else
                filled_[o] = 0;
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            std::fill(c_.axis[o] + filled_[o], c_.axis[o] + c_.rank, std::int8_t{-1});
        for (int s = 0; s < s_.slot_count; ++s)
            for (int i = 0; i < c_.slot_axes[s]; ++i) {
                std::int64_t &extent = c_.shape[begin_[s] + i];
                const sdk::AxisSlot &slot = s_.slots[static_cast<std::size_t>(s)];
                if (!slot.given && given_.extents)
                    extent = given_.extents[s];
                else if (slot.given && extent < 0)
                    extent = 1; // an axis that all operands lack
            }
        if (std::find(c_.shape, c_.shape + c_.core, -1) != c_.shape + c_.core) infer();
    }

    // The extents that stand in outputs only.
    void infer() {
        if (f_.infer) {
            ErrorBuffer error;
            atoll_infer question{sizeof question,
                                 static_cast<std::uint16_t>(c_.T),
                                 static_cast<std::uint16_t>(given_.attributes.size()),
                                 given_.attributes.data(),
                                 {},
                                 c_.shape};
            std::copy_n(c_.slot_axes, ATOLL_MAX_SLOTS, question.axes);
            const PluginRecord *owner = f_.module->owner;
            if (f_.infer(owner ? owner->ctx : nullptr, &question, error.get()) != ATOLL_STATUS_OK)
                refuse(error.words());
        }
        for (int s = 0; s < s_.slot_count; ++s)
            for (int i = 0; i < c_.slot_axes[s]; ++i)
                if (c_.shape[begin_[s] + i] < 0)
                    refuse(f_.infer ? fmt::format("its infer gave no extent of {}",
                                                  s_.slots[static_cast<std::size_t>(s)].name)
                                    : fmt::format("needs the extent of {}, which stands in results "
                                                  "only",
                                                  s_.slots[static_cast<std::size_t>(s)].name));
    }

    void place_input(int o) {
        const Dims &own = tensor(o).shape;
        const int rank = own.size();
        std::fill_n(c_.axis[o], c_.core, std::int8_t{-1});
        const bool as_named = s_.axes != sdk::AxesOf::first &&
                              (rank == tensor(reference_).shape.size() || o == reference_);
        std::uint64_t core = 0;
        int next = 0;
        for (int i = 0; i < spec(o).axis_count; ++i) {
            const std::uint8_t slot = spec(o).axes[static_cast<std::size_t>(i)];
            for (int k = 0; k < c_.slot_axes[slot]; ++k, ++next) {
                const int at = begin_[slot] + k;
                const int axis = as_named ? (next < named_count_ ? named_[next] : -1)
                                          : (next < rank ? next : -1);
                if (axis < 0) {
                    // A missing axis counts as one of extent 1 where it may be missing.
                    const sdk::AxisKind kind = s_.slots[slot].kind;
                    if (kind != sdk::AxisKind::optional && rank > 0)
                        refuse(fmt::format("{} needs {} axes at least: {}", text(o), core_count(o),
                                           parentheses(o)));
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
            if (loop == c_.rank) {
                c_.rank++;
                c_.shape[loop] = own[axis];
                source_[loop] = static_cast<std::int8_t>(o);
            } else if (c_.shape[loop] == 1) {
                c_.shape[loop] = own[axis];
                source_[loop] = static_cast<std::int8_t>(o);
            } else if (own[axis] != 1 && own[axis] != c_.shape[loop]) {
                refuse(fmt::format("got shapes {} and {}, need extents that are equal or 1 on "
                                   "every axis (first axes aligned; axis {} differs)",
                                   shape_text(tensor(source_[loop]).shape), shape_text(own), axis));
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
                require_auto_broadcast(tensor(a).shape, tensor(b).shape, f_.full_name, context_);
        }
    }

    // Core axis `at` of the call has this extent in operand `o`.
    void meet(int at, int o, std::int64_t extent) {
        if (c_.shape[at] == extent) {
            if (source_[at] < 0) source_[at] = static_cast<std::int8_t>(o);
            return;
        }
        if (c_.shape[at] >= 0) {
            int slot = s_.slot_count - 1;
            while (begin_[slot] > at || c_.slot_axes[slot] == 0) --slot;
            const std::string_view name = s_.slots[static_cast<std::size_t>(slot)].name;
            refuse(source_[at] < 0 ? fmt::format("{} needs {}{}", text(o), name, unit(o, at))
                                   : fmt::format("{} needs {} = {}{}, as {} has", text(o), name,
                                                 c_.shape[at], unit(o, at), text(source_[at])));
        }
        c_.shape[at] = extent;
        source_[at] = static_cast<std::int8_t>(o);
    }

    void place_outputs() {
        for (int o = 0; o < s_.output_count; ++o) {
            std::fill_n(c_.axis[o], c_.rank, std::int8_t{-1});
            // The core axes in the order of the parentheses.
            int core[max_axes], count = 0;
            for (int i = 0; i < spec(o).axis_count; ++i) {
                const std::uint8_t slot = spec(o).axes[static_cast<std::size_t>(i)];
                for (int k = 0; k < c_.slot_axes[slot]; ++k)
                    if (s_.slots[slot].kind != sdk::AxisKind::optional || source_has(slot))
                        core[count++] = begin_[slot] + k;
            }
            int rank = 0, used = 0, loop = c_.core;
            if (s_.axes != sdk::AxesOf::first && reference_ >= 0) {
                // Where the reference has its core axes.
                std::uint64_t named = 0;
                for (int i = 0; i < named_count_; ++i) named |= std::uint64_t{1} << named_[i];
                const int own = tensor(reference_).shape.size();
                for (int axis = 0; axis < own; ++axis) {
                    if (!(named >> axis & 1))
                        c_.axis[o][loop++] = static_cast<std::int8_t>(rank++);
                    else if (used < count)
                        c_.axis[o][core[used++]] = static_cast<std::int8_t>(rank++);
                    else if (given_.keepdims)
                        ++rank;
                }
                if (own == 0)
                    used =
                        s_.slots[spec(reference_).axes[0]].kind == sdk::AxisKind::one ? count : 0;
            }
            while (used < count) c_.axis[o][core[used++]] = static_cast<std::int8_t>(rank++);
            while (loop < c_.rank) c_.axis[o][loop++] = static_cast<std::int8_t>(rank++);
            c_.output_rank[o] = static_cast<std::int8_t>(rank);
        }
    }
    // Whether an input really has the axis of an optional slot.
    bool source_has(std::uint8_t slot) const {
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            if (c_.tensor[o] && c_.axis[o][begin_[slot]] >= 0) return true;
        return false;
    }

    // --- both ------------------------------------------------------------------------------------

    void check_extents() {
        for (int s = 0; s < s_.slot_count; ++s) {
            const sdk::AxisSlot &slot = s_.slots[static_cast<std::size_t>(s)];
            if (slot.twin < 0 || c_.shape[begin_[s]] == c_.shape[begin_[slot.twin]]) continue;
            const int o = source_[begin_[s]], other = source_[begin_[slot.twin]];
            refuse(fmt::format("{} needs {} = {}{}, as {} has", text(o), slot.name,
                               c_.shape[begin_[slot.twin]], unit(o, begin_[s]), text(other)));
        }
        c_.empty_group = false;
        for (int i = 0; i < c_.core; ++i) {
            if (c_.shape[i] != 0) continue;
            bool in_output = false;
            for (int o = 0; o < s_.output_count; ++o)
                in_output |= !(c_.unwanted >> o & 1) && c_.axis[o][i] >= 0;
            c_.empty_group |= !in_output;
        }
        c_.nothing_to_do = true;
        for (int o = 0; o < s_.output_count; ++o) {
            if (c_.unwanted >> o & 1) continue;
            bool elements = true;
            for (int i = 0; i < c_.rank; ++i)
                if (c_.axis[o][i] >= 0 && c_.shape[i] == 0) elements = false;
            if (elements) c_.nothing_to_do = false;
        }
    }

    void check_outputs() {
        for (int o = 0; o < s_.output_count; ++o) {
            if (!c_.tensor[o]) continue;
            const TensorImpl &out = tensor(o);
            if (is_object_operand(o))
                refuse(fmt::format("{} is an object, which is made anew", spec(o).name));
            check_output(out, f_.full_name);
            if ((!s_.elementwise() || o > 0) && !spec(o).updated)
                if (const Dims shape = c_.output_shape(o); !(out.shape == shape))
                    refuse(fmt::format("got a destination of shape {}, need {}",
                                       shape_text(out.shape), shape_text(shape)));
            if (const DType natural = natural_dtype(spec(o), c_.T); natural != DType::none)
                require_auto_cast(out, natural, c_.device, f_.full_name, context_);
            for (int other = 0; other < o; ++other)
                if (c_.tensor[other] && overlapping(out, tensor(other)))
                    refuse(fmt::format("{} and {} overlap", spec(other).name, spec(o).name));
        }
    }

    const FunctionRecord &f_;
    const sdk::Signature &s_;
    const Arguments &given_;
    const Context &context_;
    Checked &c_;
    int reference_ = -1;
    int begin_[ATOLL_MAX_SLOTS]; // the first axis of each slot
    int filled_[max_operands];   // axes of the call that an operand knows of
    std::int8_t named_[ATOLL_MAX_RANK], source_[max_axes];
    int named_count_ = 0;
};

} // namespace

void check(const FunctionRecord &function, const Arguments &arguments, const Context &context,
           Checked &checked) {
    Checker(function, arguments, context, checked).run();
}

Dims Checked::output_shape(int output) const {
    if (function->signature.elementwise()) return Dims(shape, static_cast<std::size_t>(rank));
    Dims result = Dims::filled(output_rank[output], 1);
    for (int i = 0; i < rank; ++i)
        if (axis[output][i] >= 0) result[axis[output][i]] = shape[i];
    return result;
}

void Checked::lay(const TensorImpl &t, int operand, SpaceOperand &at) const {
    const std::int64_t *extents = t.shape.data(), *strides = t.strides.data();
    if (function->signature.elementwise()) {
        const int own = std::min(t.shape.size(), rank);
        for (int i = 0; i < own; ++i) at.strides[i] = extents[i] == 1 ? 0 : strides[i];
        std::fill(at.strides + own, at.strides + rank, 0);
        return;
    }
    for (int i = 0; i < rank; ++i) {
        const int own = axis[operand][i];
        at.strides[i] = own < 0 || extents[own] == 1 ? 0 : strides[own];
    }
}

void check_output(const TensorImpl &out, std::string_view op) {
    if (out.read_only()) [[unlikely]]
        throw Error(Status::read_only, op,
                    fmt::format("the destination (shape {}, {}) is read-only; write to a clone()",
                                shape_text(out.shape), name(out.dtype)),
                    out.device()->name);
    if (self_overlapping(out)) [[unlikely]]
        throw Error(Status::invalid_argument, op,
                    fmt::format("the destination (shape {}, {}) overlaps itself in memory; write "
                                "to a replicate()",
                                shape_text(out.shape), name(out.dtype)),
                    out.device()->name);
}

} // namespace Atoll::detail
