// A call that a plugin gets, as data and as one line of text. Whatever knows the structs of
// abi/call.h and the families is here: where only those change, the text of a call does not.
//
// Note [The text of a call]
//   core.sum int64 (4|3): int64 m7.1 (8|0) = int64 m5.0+16 (24|8) for core.mean
// The function and its compute dtype; the shape, with the loop axes before the bar and the core
// axes behind it (those reduced; m, n, k; the one that is sorted along); outputs, then inputs, each
// with dtype, address and byte strides; then what not every call has. An address is an allocation,
// named by the operation that made it and counted there, and a byte offset: it is the same in every
// run, and a temporary more or less leaves the lines of other operations alone.
#pragma once

#include "../views.hpp"
#include "atoll/abi/call.h"
#include "atoll/abi/device.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace calls {

using views::Numbers;

// ---- what Note [Iteration space] says of a family -----------------------------------------------

struct Form {
    static constexpr int group = -1; // as many core axes as the call says
    static constexpr const char *all = "*";

    int inputs;
    int core_axes = 0; // the others are loop axes
    // Per operand, the output first: the core axes on which it varies, as digits, in the order in
    // which they lie in memory where the operand is dense, or `all`. Null: it has an axis of its
    // own.
    const char *varies[4] = {"", "", "", ""};
    bool core_merged = false; // the core axes are merged, as the loop axes are
    bool in_place = false;    // the output may be the very elements of an input
    int looped = 4;           // operands from here on do not vary over the loop axes
};

// Null for CUSTOM.
inline const Form *form_of(int family) {
    static constexpr Form elementwise[] = {{.inputs = 0},
                                           {.inputs = 1, .in_place = true},
                                           {.inputs = 2, .in_place = true},
                                           {.inputs = 3, .in_place = true}};
    static constexpr Form offsets{.inputs = 2};
    static constexpr Form steps{.inputs = 0, .core_axes = 1, .varies = {"0"}};
    static constexpr Form along{
        .inputs = 1, .core_axes = 1, .varies = {"0", "0"}, .in_place = true};
    static constexpr Form search{.inputs = 2, .core_axes = 1, .varies = {"", "", "0"}, .looped = 2};
    static constexpr Form reduce{
        .inputs = 1, .core_axes = Form::group, .varies = {"", Form::all}, .core_merged = true};
    static constexpr Form find{
        .inputs = 1, .core_axes = Form::group, .varies = {nullptr, Form::all}, .core_merged = true};
    static constexpr Form matmul{.inputs = 2, .core_axes = 3, .varies = {"01", "02", "21"}};
    switch (family) {
    case ATOLL_FAMILY_FILL: return &elementwise[0];
    case ATOLL_FAMILY_COPY:
    case ATOLL_FAMILY_UNARY: return &elementwise[1];
    case ATOLL_FAMILY_BINARY: return &elementwise[2];
    case ATOLL_FAMILY_TERNARY: return &elementwise[3];
    case ATOLL_FAMILY_GATHER:
    case ATOLL_FAMILY_SCATTER: return &offsets;
    case ATOLL_FAMILY_STEPS: return &steps;
    case ATOLL_FAMILY_SCAN:
    case ATOLL_FAMILY_SORT: return &along;
    case ATOLL_FAMILY_SEARCH: return &search;
    case ATOLL_FAMILY_REDUCE:
    case ATOLL_FAMILY_REDUCE_ONE:
    case ATOLL_FAMILY_ARG_REDUCE: return &reduce;
    case ATOLL_FAMILY_FIND: return &find;
    case ATOLL_FAMILY_MATMUL: return &matmul;
    default: return nullptr;
    }
}

// ---- a call as data -----------------------------------------------------------------------------

struct OperandFacts {
    int dtype = 0;
    bool swapped = false, scalar = false;
    const char *data = nullptr;
    Numbers loop, core; // byte strides
    Numbers extents;    // of its own, with CUSTOM; then `loop` are its strides
};

struct Parameter {
    std::string name;
    int dtype; // none: a flag or a count
    oracle::Value value;
};

struct CallFacts {
    int module = 0, function = 0, family = 0;
    const Form *form = nullptr;
    int dtype = 0;
    Numbers loop, core; // extents
    std::size_t outputs = 0;
    std::vector<OperandFacts> operands; // outputs first
    std::vector<Parameter> parameters;
    bool inserted = false;
    int parent_module = 0, parent_function = 0;
    int device = 0;
    const void *stream = nullptr;
    std::string malformed; // what cannot be read as the family says; empty: nothing
};

namespace detail {

inline Parameter parameter(std::string name, const atoll_scalar &scalar) {
    return {std::move(name), static_cast<int>(scalar.dtype),
            oracle::read(reinterpret_cast<const char *>(scalar.value.bytes),
                         static_cast<int>(scalar.dtype))};
}
inline Parameter parameter(std::string name, std::int64_t value) {
    return {std::move(name), ATOLL_NONE, oracle::Value::of(__int128{value})};
}

template <class Params> const Params *params_of(const atoll_call &call, CallFacts &facts) {
    const auto *params = static_cast<const Params *>(call.params);
    if (params && params->struct_size == sizeof(Params)) return params;
    facts.malformed = "no params of the family";
    return nullptr;
}

inline void read_parameters(const atoll_call &call, CallFacts &facts) {
    std::vector<Parameter> &list = facts.parameters;
    switch (call.family) {
    case ATOLL_FAMILY_FILL:
        if (const auto *p = params_of<atoll_fill_params>(call, facts))
            list = {parameter("value", p->value)};
        break;
    case ATOLL_FAMILY_STEPS:
        if (const auto *p = params_of<atoll_steps_params>(call, facts)) {
            list = {parameter("start", p->start), parameter("step", p->step)};
            if (p->has_last) list.push_back(parameter("last", p->last));
        }
        break;
    case ATOLL_FAMILY_REDUCE_ONE:
        if (const auto *p = params_of<atoll_reduce_params>(call, facts))
            list = {parameter("x", p->number)};
        break;
    case ATOLL_FAMILY_SORT:
        if (const auto *p = params_of<atoll_sort_params>(call, facts))
            list = {parameter("descending", p->descending)};
        break;
    case ATOLL_FAMILY_SEARCH:
        if (const auto *p = params_of<atoll_search_params>(call, facts))
            list = {parameter("right", p->right)};
        break;
    case ATOLL_FAMILY_MATMUL:
        if (const auto *p = params_of<atoll_matmul_params>(call, facts))
            list = {parameter("alpha", p->alpha), parameter("beta", p->beta),
                    parameter("conj", p->conj)};
        break;
    default: break;
    }
}

// Where the core axes begin.
inline std::uint32_t loop_axes(const atoll_call &call, CallFacts &facts) {
    const int rank = static_cast<int>(call.rank);
    int loop = rank - facts.form->core_axes;
    if (call.family == ATOLL_FAMILY_FIND) loop = 0;
    if (facts.form->core_axes == Form::group && call.family != ATOLL_FAMILY_FIND) {
        const auto *p = params_of<atoll_reduce_params>(call, facts);
        loop = p ? static_cast<int>(p->kept) : rank;
    }
    if (loop >= 0 && loop <= rank) return static_cast<std::uint32_t>(loop);
    facts.malformed = "not the axes of the family";
    return 0;
}

} // namespace detail

inline CallFacts facts_of(const atoll_call &call) {
    CallFacts facts;
    facts.module = call.module;
    facts.function = call.function;
    facts.family = call.family;
    facts.form = form_of(call.family);
    facts.dtype = call.dtype;
    facts.outputs = call.output_count;
    facts.inserted = call.flags & ATOLL_CALL_INSERTED;
    facts.parent_module = call.parent_module;
    facts.parent_function = call.parent_function;
    facts.device = call.device;
    facts.stream = call.stream;
    if (call.struct_size != sizeof call || call.correlation == 0 || !call.error)
        facts.malformed = "the call's head is not filled in";
    // Of a function that is not implemented the host calls the stub, without operands.
    if (call.operand_count == 0) return facts;

    std::uint32_t loop = 0;
    // m, n and k come first, the core axes of all others last.
    const bool core_first = call.family == ATOLL_FAMILY_MATMUL;
    const auto split = [&](const std::int64_t *numbers, Numbers &loops, Numbers &cores) {
        const std::uint32_t cut = core_first ? call.rank - loop : loop;
        Numbers &front = core_first ? cores : loops, &back = core_first ? loops : cores;
        front.assign(numbers, numbers + cut);
        back.assign(numbers + cut, numbers + call.rank);
    };
    if (facts.form) {
        loop = detail::loop_axes(call, facts);
        split(call.shape, facts.loop, facts.core);
    }
    for (int o = 0; o < call.operand_count; ++o) {
        const atoll_operand &from = call.operands[o];
        OperandFacts to;
        to.dtype = from.dtype;
        to.swapped = from.flags & ATOLL_OPERAND_SWAPPED;
        to.scalar = from.flags & ATOLL_OPERAND_SCALAR;
        to.data = static_cast<const char *>(from.data);
        if (!facts.form) {
            to.extents.assign(from.strides, from.strides + from.rank);
            to.loop.assign(from.strides + from.rank, from.strides + 2 * from.rank);
        } else if (call.family == ATOLL_FAMILY_FIND && o == 0) {
            to.core = {from.strides[0]};
        } else {
            split(from.strides, to.loop, to.core);
        }
        facts.operands.push_back(std::move(to));
    }
    detail::read_parameters(call, facts);
    return facts;
}

// ---- a call as text -----------------------------------------------------------------------------

struct Names {
    std::function<std::string(int module, int function)> function;
    std::function<std::string(const CallFacts &, const char *data)> address;
    std::function<std::string(const CallFacts &)> stream; // empty: the default stream
};

namespace detail {

inline void append(std::string &text, const Numbers &numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i > 0) text += ',';
        text += std::to_string(numbers[i]);
    }
}
inline void append(std::string &text, const Numbers &loop, const Numbers &core) {
    text += '(';
    append(text, loop);
    if (!core.empty()) text += '|';
    append(text, core);
    text += ')';
}
inline std::string hexadecimal(const char *bytes, int count) {
    constexpr const char *digits = "0123456789abcdef";
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += digits[static_cast<unsigned char>(bytes[i]) >> 4];
        text += digits[static_cast<unsigned char>(bytes[i]) & 15];
    }
    return text;
}

} // namespace detail

inline std::string text_of(const CallFacts &call, const Names &names) {
    std::string text = names.function(call.module, call.function) + ' ';
    text += oracle::facts[call.dtype].name;
    text += ' ';
    detail::append(text, call.loop, call.core);
    for (std::size_t o = 0; o < call.operands.size(); ++o) {
        const OperandFacts &operand = call.operands[o];
        text += o == 0 ? ": " : o == call.outputs ? " = " : ", ";
        text += oracle::facts[operand.dtype].name;
        if (operand.swapped) text += " swapped";
        if (operand.scalar) {
            text += " scalar ";
            text += detail::hexadecimal(operand.data, oracle::facts[operand.dtype].size);
            continue;
        }
        text += ' ' + names.address(call, operand.data) + ' ';
        if (!call.form) {
            text += "of ";
            detail::append(text, operand.extents, {});
            text += ' ';
        }
        detail::append(text, operand.loop, operand.core);
    }
    for (const Parameter &parameter : call.parameters) {
        text += ' ' + parameter.name + '=';
        if (parameter.dtype != ATOLL_NONE)
            text += std::string(oracle::facts[parameter.dtype].name) + ':';
        text += oracle::text(parameter.value);
    }
    if (call.inserted) text += " for " + names.function(call.parent_module, call.parent_function);
    if (const std::string stream = names.stream(call); !stream.empty()) text += " on " + stream;
    if (!call.malformed.empty()) text += " MALFORMED: " + call.malformed;
    return text;
}

// ---- calls of the module `device` that others need ----------------------------------------------

// What a call of the module `device` made or let go; its result is in the params once it is done.
struct DeviceEvent {
    enum class Kind { none, allocated, freed, stream_created, stream_destroyed } kind = Kind::none;
    const void *what = nullptr; // the memory or the stream
    std::uint64_t bytes = 0;
};
inline DeviceEvent event_of(const atoll_call &call) {
    using enum DeviceEvent::Kind;
    const bool memory =
        call.function == ATOLL_DEVICE_FN_allocate || call.function == ATOLL_DEVICE_FN_free;
    if (memory) {
        const auto &params = *static_cast<const atoll_memory_params *>(call.params);
        return {call.function == ATOLL_DEVICE_FN_allocate ? allocated : freed, params.data,
                params.bytes};
    }
    const bool stream = call.function == ATOLL_DEVICE_FN_stream_create ||
                        call.function == ATOLL_DEVICE_FN_stream_destroy;
    if (!stream) return {};
    const auto &params = *static_cast<const atoll_stream_params *>(call.params);
    return {call.function == ATOLL_DEVICE_FN_stream_create ? stream_created : stream_destroyed,
            params.stream, 0};
}

} // namespace calls
