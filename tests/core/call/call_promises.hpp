// What Note [Iteration space] of abi/call.h and the capabilities of abi/module.h promise of a call,
// as a judgement of one call by itself.
#pragma once

#include "call_text.hpp"

#include <algorithm>
#include <cstring>

namespace calls {

// Where an operand's memory begins and ends.
struct Block {
    const char *begin, *end;
};

class Promises {
public:
    // `caps` as the implementation declares them; `blocks`: the operands' memory; `readable`: the
    // host may look at operands now.
    Promises(const CallFacts &call, std::uint32_t caps, std::vector<Block> blocks, bool readable)
        : call_(call), form_(*call.form), caps_(caps), blocks_(std::move(blocks)),
          readable_(readable) {}

    // What is broken; empty: all is kept.
    std::vector<std::string> broken() {
        if (!call_.malformed.empty()) return {call_.malformed};
        if (call_.outputs != 1 || static_cast<int>(call_.operands.size()) != form_.inputs + 1)
            return {"the number of operands is not the family's"};
        check_axes();
        for (std::size_t o = 0; o < call_.operands.size(); ++o) {
            check_elements(o);
            check_strides(o);
        }
        if (!moves()) check_memory();
        if (moves() && readable_) check_moves();
        check_parameters();
        return std::move(broken_);
    }

private:
    bool takes(std::uint32_t cap) const { return (caps_ & cap) == cap; }
    bool is(int function) const {
        return call_.module == ATOLL_MODULE_CORE && call_.function == function;
    }
    // By offsets: strides do not tell where the elements lie.
    bool gathers() const { return call_.family == ATOLL_FAMILY_GATHER; }
    bool scatters() const { return call_.family == ATOLL_FAMILY_SCATTER; }
    bool moves() const { return gathers() || scatters(); }
    // One value everywhere, or the copy that brings it: any tensor can be filled.
    bool fills() const {
        return is(ATOLL_FN_fill) ||
               (is(ATOLL_FN_copy) && call_.inserted && call_.parent_module == ATOLL_MODULE_CORE &&
                call_.parent_function == ATOLL_FN_fill);
    }
    void require(bool kept, const std::string &what) {
        if (!kept) broken_.push_back(what);
    }

    // ---- the space ------------------------------------------------------------------------------

    bool mergeable(std::size_t axis, Numbers OperandFacts::*strides, const Numbers &extents) const {
        for (std::size_t o = 0; o < call_.operands.size(); ++o) {
            if (!form_.varies[o]) continue;
            const Numbers &own = call_.operands[o].*strides;
            if (own[axis + 1] != own[axis] * extents[axis]) return false;
        }
        return true;
    }
    // `least`: so many axes there are in any case.
    void check_merged(Numbers OperandFacts::*strides, const Numbers &extents, std::size_t least,
                      const char *which) {
        for (std::size_t i = 0; i < extents.size(); ++i) {
            require(extents[i] != 1 || extents.size() <= least,
                    std::string("an axis of extent 1 among the ") + which);
            if (i + 1 < extents.size())
                require(!mergeable(i, strides, extents),
                        std::string("neighbours that can be merged among the ") + which);
        }
    }
    void check_axes() {
        for (const std::int64_t extent : call_.loop) require(extent > 0, "an extent of 0");
        for (std::size_t i = 0; i < call_.core.size(); ++i)
            require(call_.core[i] > 0 || (is(ATOLL_FN_matmul) && i == 2 && call_.core[i] == 0),
                    "an extent of 0");
        require(call_.loop.size() + call_.core.size() <= ATOLL_MAX_RANK, "too many axes");
        const bool dense = !takes(ATOLL_CAP_STRIDED) && form_.core_axes != 0;
        check_merged(&OperandFacts::loop, call_.loop, dense ? 1 : 0, "loop axes");
        if (form_.core_merged) check_merged(&OperandFacts::core, call_.core, 1, "core axes");
        if (form_.core_axes == Form::group) require(!call_.core.empty(), "no core axis");
        if (is(ATOLL_FN_matmul) && !takes(ATOLL_CAP_STACKS))
            require(call_.loop.empty(), "a stack that the implementation does not take");
        if (!takes(ATOLL_CAP_STRIDED)) {
            require(call_.loop.size() <= 1, "several loop axes");
            if (form_.core_merged) require(call_.core.size() == 1, "several core axes");
        }
    }

    // ---- an operand -----------------------------------------------------------------------------

    // The dtype of an operand that nothing else is declared for.
    int plain_dtype(std::size_t o) const {
        if (moves() && o == 2) return ATOLL_INT64;
        if (o >= call_.outputs)
            return call_.module == ATOLL_MODULE_CORE && o == call_.outputs &&
                           call_.function == ATOLL_FN_where
                       ? int{ATOLL_BOOL}
                       : call_.dtype;
        return call_.module == ATOLL_MODULE_CORE ? oracle::result_dtype(call_.function, call_.dtype)
                                                 : call_.dtype;
    }
    void check_elements(std::size_t o) {
        const OperandFacts &operand = call_.operands[o];
        const bool output = o < call_.outputs;
        require(operand.dtype > ATOLL_NONE && operand.dtype < ATOLL_DTYPE_COUNT, "no dtype");
        if (call_.module == ATOLL_MODULE_CORE)
            require(functions[call_.function].domain >> call_.dtype & 1,
                    "a compute dtype outside of the function's domain");
        if (is(ATOLL_FN_copy)) { // from its dtype to another
            if (!output) require(operand.dtype == call_.dtype, "not from the call's dtype");
            if (!takes(ATOLL_CAP_MIXED_INPUTS))
                require(operand.dtype == call_.dtype, "a change of dtype");
        } else if (moves() || !takes(output ? ATOLL_CAP_MIXED_OUTPUTS : ATOLL_CAP_MIXED_INPUTS)) {
            require(operand.dtype == plain_dtype(o), "a dtype that was not declared");
        }
        if (moves() || !takes(ATOLL_CAP_SWAPPED)) require(!operand.swapped, "other byte order");
        if (operand.scalar) {
            require(!output && takes(ATOLL_CAP_SCALARS), "a scalar that was not declared");
            return;
        }
        const int part = oracle::facts[oracle::facts[operand.dtype].part].size;
        if (!takes(ATOLL_CAP_UNALIGNED)) {
            bool aligned = reinterpret_cast<std::uintptr_t>(operand.data) % part == 0;
            for (const Numbers *strides : {&operand.loop, &operand.core})
                for (const std::int64_t stride : *strides) aligned = aligned && stride % part == 0;
            require(aligned, "an operand that is not aligned");
        }
    }
    bool varies(std::size_t o, std::size_t core) const {
        const char *axes = form_.varies[o];
        return !std::strcmp(axes, Form::all) || std::strchr(axes, static_cast<int>('0' + core));
    }
    void check_strides(std::size_t o) {
        const OperandFacts &operand = call_.operands[o];
        const bool output = o < call_.outputs;
        const std::int64_t itemsize = oracle::facts[operand.dtype].size;
        if (!form_.varies[o]) { // a vector
            require(
                operand.core.size() == 1 &&
                    (takes(ATOLL_CAP_STRIDED) ? operand.core[0] > 0 : operand.core[0] == itemsize),
                "a vector of other strides");
            return;
        }
        // The strides of the axes on which it varies, in the order of a dense operand.
        Numbers strides, extents;
        for (std::size_t i = 0; i < call_.core.size(); ++i)
            if (!varies(o, i)) require(operand.core[i] == 0, "a stride on a core axis not its own");
        if (std::strcmp(form_.varies[o], Form::all)) {
            for (const char *axis = form_.varies[o]; *axis; ++axis) {
                strides.push_back(operand.core[static_cast<std::size_t>(*axis - '0')]);
                extents.push_back(call_.core[static_cast<std::size_t>(*axis - '0')]);
            }
        } else {
            strides = operand.core;
            extents = call_.core;
        }
        if (static_cast<int>(o) < form_.looped) {
            strides.insert(strides.end(), operand.loop.begin(), operand.loop.end());
            extents.insert(extents.end(), call_.loop.begin(), call_.loop.end());
        } else {
            for (const std::int64_t stride : operand.loop)
                require(stride == 0, "a stride on a loop axis not its own");
        }
        if (operand.scalar || is_base(o)) {
            for (const std::int64_t stride : strides)
                require(stride == 0, operand.scalar ? "a scalar with strides"
                                                    : "strides beside complete offsets");
            return;
        }
        // Nothing is read where k is 0.
        if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
        std::int64_t expected = itemsize;
        for (std::size_t i = 0; i < strides.size(); ++i) {
            if (!takes(ATOLL_CAP_STRIDED)) {
                require(strides[i] == expected || extents[i] <= 1, "an operand that is not dense");
                expected *= extents[i];
            }
            if (extents[i] <= 1) continue;
            if (!takes(ATOLL_CAP_NEGATIVE_STRIDES)) require(strides[i] >= 0, "a negative stride");
            if (!takes(ATOLL_CAP_ZERO_STRIDES)) require(strides[i] != 0, "a broadcast axis");
            if (output && !scatters() && !fills()) require(strides[i] != 0, "a broadcast output");
        }
    }
    // Whose elements are found by offsets alone.
    bool is_base(std::size_t o) const {
        return !takes(ATOLL_CAP_STRIDED) && ((gathers() && o == 1) || (scatters() && o == 0));
    }

    // ---- memory ---------------------------------------------------------------------------------

    // The address of each element, once per element that there is.
    std::vector<const char *> elements_of(const OperandFacts &operand) const {
        Numbers extents, strides;
        const auto add = [&](const Numbers &shape, const Numbers &own) {
            for (std::size_t i = 0; i < own.size() && i < shape.size(); ++i)
                if (own[i] != 0) extents.push_back(shape[i]), strides.push_back(own[i]);
        };
        add(call_.core, operand.core);
        add(call_.loop, operand.loop);
        std::vector<const char *> list;
        views::each(extents, [&](const Numbers &index) {
            const char *at = operand.data;
            for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
            list.push_back(at);
        });
        return list;
    }
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
        const int itemsize = oracle::facts[call_.operands[o].dtype].size;
        const Block &block = blocks_[o];
        if (!block.begin || sorted.empty()) return;
        require(sorted.front() >= block.begin && sorted.back() + itemsize <= block.end,
                "an operand outside of its memory");
    }
    bool same_elements(const OperandFacts &a, const OperandFacts &b) const {
        const int a_size = oracle::facts[a.dtype].size, b_size = oracle::facts[b.dtype].size;
        const bool one_dtype = form_.core_axes == 0 || a.dtype == b.dtype;
        return a.data == b.data && a_size == b_size && a.loop == b.loop && a.core == b.core &&
               one_dtype;
    }
    void check_memory() {
        const OperandFacts &out = call_.operands[0];
        OperandFacts vector = out;
        if (!form_.varies[0]) vector.core.clear(); // how long it is only the host knows
        std::vector<const char *> written = elements_of(vector);
        const int out_size = oracle::facts[out.dtype].size;
        require(apart(written, out_size) || fills(), "an output that overlaps itself");
        check_inside(written, 0);
        for (std::size_t o = 1; o < call_.operands.size(); ++o) {
            const OperandFacts &in = call_.operands[o];
            if (in.scalar) continue;
            if (std::find(call_.core.begin(), call_.core.end(), 0) != call_.core.end()) continue;
            std::vector<const char *> read = elements_of(in);
            const int in_size = oracle::facts[in.dtype].size;
            apart(read, in_size);
            check_inside(read, o);
            if (form_.in_place && same_elements(out, in)) continue;
            require(!overlap(written, out_size, read, in_size), "an output that overlaps an input");
        }
    }
    // The elements that move, each at the address it has by strides and offsets.
    void check_moves() {
        Numbers extents = call_.loop;
        const OperandFacts &out = call_.operands[0], &in = call_.operands[1],
                           &offsets = call_.operands[2];
        std::vector<const char *> lists[3];
        views::each(extents, [&](const Numbers &index) {
            const char *at[3] = {out.data, in.data, offsets.data};
            for (std::size_t i = 0; i < index.size(); ++i)
                for (int o = 0; o < 3; ++o) at[o] += index[i] * call_.operands[o].loop[i];
            std::int64_t offset;
            std::memcpy(&offset, at[2], sizeof offset);
            at[gathers() ? 1 : 0] += offset;
            for (int o = 0; o < 3; ++o) lists[o].push_back(at[o]);
        });
        const int itemsize = oracle::facts[out.dtype].size;
        for (std::size_t o = 0; o < 3; ++o) {
            const bool separate = apart(lists[o], oracle::facts[call_.operands[o].dtype].size);
            if (o == 0 && gathers()) require(separate, "an output that overlaps itself");
            check_inside(lists[o], o);
        }
        require(!overlap(lists[0], itemsize, lists[1], itemsize) &&
                    !overlap(lists[0], itemsize, lists[2], 8),
                "an output that overlaps an input");
    }

    // ---- parameters -----------------------------------------------------------------------------

    // The dtype of the bounds and factors of a compute dtype.
    static int number_dtype(int compute) {
        if (compute == ATOLL_FLOAT16 || compute == ATOLL_BFLOAT16) return ATOLL_FLOAT32;
        return compute == ATOLL_COMPLEX32 ? int{ATOLL_COMPLEX64} : compute;
    }
    void check_parameters() {
        const std::vector<Parameter> &list = call_.parameters;
        const auto all_are = [&](std::size_t count, int dtype) {
            return list.size() >= count &&
                   std::all_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
                               [&](const Parameter &p) { return p.dtype == dtype; });
        };
        switch (call_.family) {
        case ATOLL_FAMILY_FILL:
            require(all_are(1, call_.operands[0].dtype), "a value not of the output's dtype");
            break;
        case ATOLL_FAMILY_STEPS: {
            const int dtype = list[0].dtype;
            require(all_are(list.size(), dtype) &&
                        (dtype == ATOLL_INT64 || dtype == ATOLL_UINT64 || dtype == ATOLL_FLOAT64 ||
                         dtype == ATOLL_COMPLEX128),
                    "steps of another dtype");
            break;
        }
        case ATOLL_FAMILY_REDUCE_ONE:
            require(all_are(1, int{ATOLL_FLOAT64}), "a number of another dtype");
            break;
        case ATOLL_FAMILY_MATMUL:
            require(all_are(2, number_dtype(call_.dtype)), "factors of another dtype");
            break;
        default: break;
        }
    }

    const CallFacts &call_;
    const Form &form_;
    const std::uint32_t caps_;
    const std::vector<Block> blocks_;
    const bool readable_;
    std::vector<std::string> broken_;
};

} // namespace calls
