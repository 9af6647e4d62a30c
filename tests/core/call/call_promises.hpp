// What Note [Iteration space] and Note [Without capabilities] of abi/call.h and the capabilities of
// abi/module.h promise of a call, as a judgement of one call by itself.
#pragma once

#include "call_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

namespace calls {

// Where an operand's memory begins and ends.
struct Block {
    const char *begin, *end;
};

// What an implementation declares of a function.
struct Declared {
    std::uint64_t caps = 0;
    std::size_t attributes = 0, inputs = 0; // that it knows
};

class Promises {
public:
    // `blocks`: the operands' memory; `readable`: the host may look at operands now.
    Promises(const CallFacts &call, const Declared &declared, std::vector<Block> blocks,
             bool readable)
        : call_(call), signature_(call.line->signature), declared_(declared),
          blocks_(std::move(blocks)), readable_(readable) {
        for (std::size_t slot = 0; slot < signature_.slot_count; ++slot)
            has_core_ |= !signature_.slots[slot].opaque;
    }

    // What is broken; empty: all is kept.
    std::vector<std::string> broken() {
        if (!call_.malformed.empty()) return {call_.malformed};
        require((call_.flags & ~std::uint32_t{ATOLL_CALL_INSERTED}) == 0, "an unknown flag");
        require(!call_.inserted || from_plugin() || call_.reasons != 0,
                "an inserted call without a reason");
        check_dtype();
        check_slots();
        check_loop();
        for (std::size_t o = 0; o < call_.operands.size(); ++o) {
            const OperandFacts &operand = call_.operands[o];
            if (operand.absent) {
                check_absent(o);
                continue;
            }
            check_elements(o);
            check_identity(o);
            check_strides(o);
        }
        if (!moves()) check_memory();
        if (moves() && readable_ && broken_.empty()) check_moves();
        check_attributes();
        return std::move(broken_);
    }

private:
    bool takes(std::uint64_t caps) const { return (declared_.caps & caps) == caps; }
    bool is(int function) const {
        return call_.module == ATOLL_MODULE_CORE && call_.line->id == function;
    }
    // By offsets: strides do not tell where the elements lie.
    bool gathers() const { return is(ATOLL_FN_gather); }
    bool scatters() const { return is(ATOLL_FN_scatter); }
    bool moves() const { return gathers() || scatters(); }
    // One value everywhere, or the copy that brings it: any tensor can be filled.
    bool fills() const {
        return is(ATOLL_FN_fill) ||
               (is(ATOLL_FN_copy) && call_.inserted && call_.parent_module == ATOLL_MODULE_CORE &&
                call_.parent_function == ATOLL_FN_fill);
    }
    // Whether a plugin may have made the call, as a part of its own function.
    bool from_plugin() const { return call_.inserted && call_.parent_module != ATOLL_MODULE_CORE; }
    const OperandSpec &spec(std::size_t o) const { return signature_.operands[o]; }
    bool output(std::size_t o) const { return o < call_.outputs; }
    void require(bool kept, const std::string &what) {
        if (!kept) broken_.push_back(what);
    }

    // ---- the space ------------------------------------------------------------------------------

    // Elements of neighbouring axes follow each other in every operand.
    bool mergeable(std::size_t axis) const {
        return std::all_of(call_.operands.begin(), call_.operands.end(), [&](const auto &operand) {
            return operand.strides[axis + 1] == operand.strides[axis] * call_.shape[axis];
        });
    }
    void check_merged(std::size_t begin, std::size_t end, const std::string &which) {
        for (std::size_t axis = begin; axis + 1 < end; ++axis)
            require(!mergeable(axis), "neighbours that can be merged in " + which);
    }
    // Smallest first, by the first operand that varies on both axes and tells them apart.
    bool sorted(std::size_t axis) const {
        for (const OperandFacts &operand : call_.operands) {
            const std::int64_t here = std::abs(operand.strides[axis]),
                               next = std::abs(operand.strides[axis + 1]);
            if (here != 0 && next != 0 && here != next) return here < next;
        }
        return true;
    }
    void check_sorted(std::size_t begin, std::size_t end, const std::string &which) {
        for (std::size_t axis = begin; axis < end; ++axis) {
            require(axis + 1 == end || sorted(axis), "axes that are not sorted in " + which);
            const auto first =
                std::find_if(call_.operands.begin(), call_.operands.end(),
                             [&](const OperandFacts &o) { return o.strides[axis] != 0; });
            require(first == call_.operands.end() || first->strides[axis] > 0,
                    "an axis that steps back in " + which);
        }
    }
    void check_slots() {
        for (std::size_t axis = 0; axis < call_.shape.size(); ++axis)
            require(call_.shape[axis] > 0, "an extent that is not positive");
        std::size_t begin = 0;
        for (std::size_t s = 0; s < call_.axes.size(); begin += call_.axes[s++]) {
            const Atoll::sdk::AxisSlot &slot = signature_.slots[s];
            const std::size_t count = call_.axes[s], end = begin + count;
            const std::string which = "slot " + std::string(slot.name);
            if (slot.opaque) {
                require(count == 0, "axes of the opaque " + which);
                continue;
            }
            if (slot.kind != AxisKind::group) {
                require(count == 1, "not one axis in " + which);
                if (count != 1) continue;
                if (slot.kind == AxisKind::fixed)
                    require(call_.shape[begin] == slot.extent, "another extent of " + which);
                if (slot.twin >= 0)
                    require(call_.shape[begin] == call_.shape[first_axis(slot.twin)],
                            "two extents of " + which);
                continue;
            }
            require(count >= 1, "no axis in " + which);
            require(count <= 1 || takes(ATOLL_CAP_STRIDED | ATOLL_CAP_GROUPS),
                    "several axes in " + which);
            if (slot.separate) continue;
            for (std::size_t axis = begin; axis < end; ++axis)
                require(call_.shape[axis] != 1 || count == 1, "an axis of extent 1 in " + which);
            check_merged(begin, end, which);
            if (!slot.ordered) check_sorted(begin, end, which);
        }
    }
    std::size_t first_axis(int slot) const {
        std::size_t axis = 0;
        for (int s = 0; s < slot; ++s) axis += call_.axes[static_cast<std::size_t>(s)];
        return axis;
    }
    void check_loop() {
        const std::size_t begin = call_.core, end = call_.shape.size();
        for (std::size_t axis = begin; axis < end; ++axis)
            require(call_.shape[axis] != 1, "an axis of extent 1 in the loop");
        check_merged(begin, end, "the loop");
        if (!signature_.loop_ordered) check_sorted(begin, end, "the loop");
        require(begin == end || !has_core_ || takes(ATOLL_CAP_LOOPS),
                "a loop that the implementation does not take");
        require(end - begin <= 1 || takes(ATOLL_CAP_STRIDED), "several loop axes");
    }

    // ---- an operand -----------------------------------------------------------------------------

    void check_dtype() {
        const atoll_dtype_set domain = call_.line->domain;
        require(domain ? call_.dtype > ATOLL_DTYPE_NONE && (domain >> call_.dtype & 1)
                       : call_.dtype == ATOLL_DTYPE_NONE,
                "a compute dtype outside of the function's domain");
    }
    void check_absent(std::size_t o) {
        const OperandFacts &operand = call_.operands[o];
        require(spec(o).optional, "an operand that cannot be absent is");
        require(!operand.data && !operand.scalar && !operand.swapped && !operand.disposable,
                "an absent operand that has elements");
        for (const std::int64_t stride : operand.strides)
            require(stride == 0, "an absent operand with strides");
    }
    void check_elements(std::size_t o) {
        const OperandFacts &operand = call_.operands[o];
        require(operand.data, "an operand without an address");
        require(operand.device == call_.device, "an operand on another device");
        require(!operand.disposable || !output(o), "an output that is disposable");
        if (spec(o).optional)
            require(output(o) || o - call_.outputs < declared_.inputs,
                    "an input that the implementation does not know");
        if (spec(o).is_object()) return;
        require(operand.dtype > ATOLL_DTYPE_NONE && operand.dtype < ATOLL_DTYPE_COUNT, "no dtype");
        const auto natural = static_cast<int>(
            Atoll::sdk::dtype_of_operand(spec(o), static_cast<std::uint32_t>(call_.dtype)));
        if (is(ATOLL_FN_copy)) { // from its dtype to another
            if (!output(o)) require(operand.dtype == natural, "not from the call's dtype");
            if (!takes(ATOLL_CAP_MIXED_INPUTS))
                require(operand.dtype == call_.dtype, "a change of dtype");
        } else if (moves()) {
            require(operand.dtype == (natural ? natural : call_.dtype),
                    "a dtype that was not declared");
        } else if (natural && !takes(output(o) ? ATOLL_CAP_MIXED_OUTPUTS : ATOLL_CAP_MIXED_INPUTS))
            require(operand.dtype == natural, "a dtype that was not declared");
        if (moves() || !takes(ATOLL_CAP_SWAPPED)) require(!operand.swapped, "other byte order");
        if (operand.scalar) {
            require(!output(o) && takes(ATOLL_CAP_SCALARS), "a scalar that was not declared");
            return;
        }
        const int part = oracle::facts[oracle::facts[operand.dtype].part].size;
        if (!takes(ATOLL_CAP_UNALIGNED)) {
            bool aligned = reinterpret_cast<std::uintptr_t>(operand.data) % part == 0;
            for (const std::int64_t stride : operand.strides)
                aligned = aligned && stride % part == 0;
            require(aligned, "an operand that is not aligned");
        }
    }
    // What says whose memory it is. A plugin that makes a call itself need not know that.
    void check_identity(std::size_t o) {
        const OperandFacts &operand = call_.operands[o];
        if (operand.scalar) return;
        require(operand.base, "an operand whose memory has no beginning");
        if (from_plugin()) return;
        require(operand.storage != 0, "an operand whose memory has no identity");
        if (blocks_[o].begin)
            require(operand.base == blocks_[o].begin, "memory that begins elsewhere");
        for (const OperandFacts &other : std::span(call_.operands).first(o))
            if (!other.absent && !other.scalar)
                require((other.storage == operand.storage) == (other.base == operand.base),
                        "memory of two identities, or one of two memories");
    }
    // Whose elements are found by offsets alone.
    bool is_base(std::size_t o) const {
        return !takes(ATOLL_CAP_STRIDED) && ((gathers() && o == 1) || (scatters() && o == 0));
    }
    void check_strides(std::size_t o) {
        const OperandFacts &operand = call_.operands[o];
        // The axes on which it varies, in the order of a dense operand.
        std::vector<std::size_t> axes;
        std::vector<bool> own(call_.shape.size(), false);
        for (std::size_t i = 0; i < spec(o).axis_count; ++i) {
            const std::uint8_t slot = spec(o).axes[i];
            for (std::size_t k = 0, first = first_axis(slot); k < call_.axes[slot]; ++k)
                axes.push_back(first + k);
        }
        for (std::size_t axis = call_.core; axis < call_.shape.size(); ++axis) axes.push_back(axis);
        for (const std::size_t axis : axes) own[axis] = true;
        for (std::size_t axis = 0; axis < call_.core; ++axis)
            require(own[axis] || operand.strides[axis] == 0, "a stride on a core axis not its own");
        if (operand.scalar || is_base(o)) {
            for (const std::int64_t stride : operand.strides)
                require(stride == 0, operand.scalar ? "a scalar with strides"
                                                    : "strides beside complete offsets");
            return;
        }
        std::int64_t expected = oracle::facts[operand.dtype].size;
        for (const std::size_t axis : axes) {
            const std::int64_t stride = operand.strides[axis], extent = call_.shape[axis];
            // Without strides there is one loop axis; what has core axes may stand still there.
            const bool stands = !takes(ATOLL_CAP_STRIDED) && axis >= call_.core &&
                                spec(o).axis_count > 0 && !output(o) && stride == 0;
            if (extent <= 1 || stands) continue;
            if (!takes(ATOLL_CAP_STRIDED))
                require(stride == expected, "an operand that is not dense");
            expected *= extent;
            if (!takes(ATOLL_CAP_NEGATIVE_STRIDES)) require(stride >= 0, "a negative stride");
            if (!takes(ATOLL_CAP_ZERO_STRIDES)) require(stride != 0, "a broadcast axis");
            if (output(o) && !scatters() && !fills()) require(stride != 0, "a broadcast output");
        }
    }

    // ---- memory ---------------------------------------------------------------------------------

    // The address of each element, once per element that there is.
    std::vector<const char *> elements_of(const OperandFacts &operand) const {
        Numbers extents, strides;
        for (std::size_t i = 0; i < call_.shape.size(); ++i)
            if (operand.strides[i] != 0)
                extents.push_back(call_.shape[i]), strides.push_back(operand.strides[i]);
        std::vector<const char *> list;
        views::each(extents, [&](const Numbers &index) {
            const char *at = operand.data;
            for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
            list.push_back(at);
        });
        return list;
    }
    int itemsize(std::size_t o) const { return oracle::facts[call_.operands[o].dtype].size; }
    // The bytes of its elements, sorted; elements do not reach into each other.
    static bool apart(std::vector<const char *> &elements, int itemsize) {
        std::sort(elements.begin(), elements.end());
        for (std::size_t i = 1; i < elements.size(); ++i)
            if (elements[i] - elements[i - 1] < itemsize) return false;
        return true;
    }
    // Both sorted.
    static bool overlap(const std::vector<const char *> &a, int a_size,
                        const std::vector<const char *> &b, int b_size) {
        for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
            if (a[i] + a_size <= b[j])
                ++i;
            else if (b[j] + b_size <= a[i])
                ++j;
            else
                return true;
        }
        return false;
    }
    void check_inside(const std::vector<const char *> &sorted, std::size_t o) {
        if (sorted.empty()) return;
        require(from_plugin() || sorted.front() >= call_.operands[o].base,
                "an operand before its memory");
        const Block &block = blocks_[o];
        if (!block.begin) return;
        require(sorted.front() >= block.begin && sorted.back() + itemsize(o) <= block.end,
                "an operand outside of its memory");
    }
    // An input may be the very elements of an output.
    bool in_place(std::size_t out, std::size_t in) const {
        const OperandFacts &a = call_.operands[out], &b = call_.operands[in];
        const bool may = signature_.elementwise() ? itemsize(out) == itemsize(in)
                                                  : spec(in).in_place && a.dtype == b.dtype;
        return may && a.data == b.data && a.strides == b.strides;
    }
    void check_memory() {
        std::vector<std::vector<const char *>> elements(call_.operands.size());
        for (std::size_t o = 0; o < call_.operands.size(); ++o) {
            const OperandFacts &operand = call_.operands[o];
            if (operand.scalar || operand.absent || spec(o).is_object()) continue;
            elements[o] = elements_of(operand);
            const bool separate = apart(elements[o], itemsize(o));
            if (output(o)) require(separate || fills(), "an output that overlaps itself");
            check_inside(elements[o], o);
            for (std::size_t out = 0; out < std::min(o, call_.outputs); ++out)
                require((!output(o) && in_place(out, o)) ||
                            !overlap(elements[out], itemsize(out), elements[o], itemsize(o)),
                        output(o) ? "outputs that overlap" : "an output that overlaps an input");
        }
    }
    // The elements that move, each at the address it has by strides and offsets.
    void check_moves() {
        std::vector<const char *> lists[3];
        views::each(call_.shape, [&](const Numbers &index) {
            const char *at[3];
            for (std::size_t o = 0; o < 3; ++o) {
                at[o] = call_.operands[o].data;
                for (std::size_t i = 0; i < index.size(); ++i)
                    at[o] += index[i] * call_.operands[o].strides[i];
            }
            std::int64_t offset;
            std::memcpy(&offset, at[2], sizeof offset);
            at[gathers() ? 1 : 0] +=
                offset * static_cast<std::int64_t>(call_.attributes[0].value.i);
            for (std::size_t o = 0; o < 3; ++o) lists[o].push_back(at[o]);
        });
        for (std::size_t o = 0; o < 3; ++o) {
            const bool separate = apart(lists[o], itemsize(o));
            if (o == 0 && gathers()) require(separate, "an output that overlaps itself");
            check_inside(lists[o], o);
        }
        require(!overlap(lists[0], itemsize(0), lists[1], itemsize(1)) &&
                    !overlap(lists[0], itemsize(0), lists[2], itemsize(2)),
                "an output that overlaps an input");
    }

    // ---- attributes -----------------------------------------------------------------------------

    bool is_of_type(const Attribute &attribute, const Atoll::sdk::AttributeSpec &wanted) const {
        const auto T = static_cast<std::uint32_t>(call_.dtype);
        switch (wanted.type) {
        case AttributeType::boolean:
            return attribute.dtype == ATOLL_DTYPE_BOOL && attribute.value.i >= 0 &&
                   attribute.value.i <= 1;
        case AttributeType::int64: return attribute.dtype == ATOLL_DTYPE_INT64;
        case AttributeType::float64: return attribute.dtype == ATOLL_DTYPE_FLOAT64;
        case AttributeType::T: return attribute.dtype == T;
        case AttributeType::A: return attribute.dtype == Atoll::sdk::accumulator_of(T);
        case AttributeType::number:
            return attribute.dtype == ATOLL_DTYPE_INT64 || attribute.dtype == ATOLL_DTYPE_UINT64 ||
                   attribute.dtype == ATOLL_DTYPE_FLOAT64 ||
                   attribute.dtype == ATOLL_DTYPE_COMPLEX128;
        case AttributeType::choice:
            return attribute.dtype == ATOLL_VALUE_CHOICE && attribute.value.i >= 0 &&
                   attribute.value.i <= std::count(wanted.words.begin(), wanted.words.end(), '|');
        case AttributeType::ints: return attribute.dtype == ATOLL_VALUE_INTS;
        }
        return false;
    }
    // Also where there is no default: that counts as known. Words are not looked at.
    static bool is_default(const Attribute &attribute, const Atoll::sdk::AttributeSpec &wanted) {
        if (wanted.optional || wanted.required || wanted.type == AttributeType::choice) return true;
        if (wanted.type == AttributeType::boolean)
            return attribute.value.truth() == (wanted.fallback == "true");
        return attribute.value.im == 0 &&
               attribute.value.real() ==
                   std::strtold(std::string(wanted.fallback).c_str(), nullptr);
    }
    void check_attributes() {
        std::uint32_t number = ATOLL_VALUE_ABSENT;
        for (std::size_t i = 0; i < call_.attributes.size(); ++i) {
            const Attribute &attribute = call_.attributes[i];
            const Atoll::sdk::AttributeSpec &wanted = signature_.attributes[i];
            if (attribute.dtype == ATOLL_VALUE_ABSENT) {
                require(wanted.optional, "no value of attribute " + attribute.name);
                continue;
            }
            require(is_of_type(attribute, wanted), "another type of attribute " + attribute.name);
            require(i < declared_.attributes || is_default(attribute, wanted),
                    "attribute " + attribute.name + ", which the implementation does not know");
            if (!is(ATOLL_FN_steps)) continue;
            if (number == ATOLL_VALUE_ABSENT) number = attribute.dtype;
            require(attribute.dtype == number, "steps of several dtypes");
        }
    }

    const CallFacts &call_;
    const Signature &signature_;
    const Declared declared_;
    const std::vector<Block> blocks_;
    const bool readable_;
    bool has_core_ = false;
    std::vector<std::string> broken_;
};

} // namespace calls
