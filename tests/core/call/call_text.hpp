// A call that a plugin gets, as data and as one line of text. Whatever knows the structs of
// abi/call.h is here: where only those change, the text of a call does not.
//
// Note [The text of a call]
//   core.sum int64 (3|4): int64 m7.1 (0|8) = int64 m5.0+16 (8|24) for core.mean
//   core.matmul float64 (2;3;4|) …
// The function and its compute dtype; the shape, with the core axes before the bar (slots apart by
// semicolons) and the loop axes behind it; outputs, then inputs, each with dtype, address and byte
// strides; then attributes, and what not every call has. An address is an allocation, named by the
// operation that made it and counted there, and a byte offset: it is the same in every run, and a
// temporary more or less leaves the lines of other operations alone.
#pragma once

#include "../views.hpp"
#include "atoll/abi/call.h"
#include "atoll/abi/device.h"
#include "atoll/core_functions.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace calls {

using views::Numbers;
using Line = Atoll::sdk::FunctionLine;
using Atoll::sdk::AttributeType;
using Atoll::sdk::AxisKind;
using Atoll::sdk::OperandSpec;
using Atoll::sdk::Signature;
using Atoll::sdk::TypeOf;

// ---- a call as data -----------------------------------------------------------------------------

struct OperandFacts {
    int dtype = 0;
    bool swapped = false, scalar = false, absent = false, disposable = false;
    const char *data = nullptr, *base = nullptr;
    std::uint64_t storage = 0;
    int device = 0;
    Numbers strides; // bytes
};

struct Attribute {
    std::string name;
    std::uint32_t dtype; // or one of atoll_value_kind
    oracle::Value value; // of an element, or the position of a word
    Numbers ints;
};

struct CallFacts {
    int module = 0;
    const Line *line = nullptr; // the function's
    int dtype = 0;
    Numbers shape;
    std::size_t core = 0;          // axes [0, core) are core axes, the others loop axes
    std::vector<std::size_t> axes; // core axes of each slot
    std::size_t outputs = 0;
    std::vector<OperandFacts> operands; // outputs first
    std::vector<Attribute> attributes;
    std::uint32_t flags = 0;
    bool inserted = false;
    int parent_module = 0, parent_function = 0;
    std::uint32_t reasons = 0; // of an inserted call
    int device = 0;
    const void *stream = nullptr;
    std::string malformed; // what cannot be read as the signature says; empty: nothing
};

namespace detail {

inline constexpr std::pair<std::uint32_t, const char *> reasons[] = {
#define ATOLL_CALL_REASON(bit, ENUM, name, capability, text) {ATOLL_REASON_##ENUM, name},
#include "atoll/lists/call_reasons.inc"
};

inline Attribute attribute_of(std::string_view name, const atoll_scalar &from) {
    Attribute to{std::string(name), from.dtype, {}, {}};
    if (from.dtype == ATOLL_VALUE_INTS)
        to.ints.assign(from.value.ints, from.value.ints + from.count);
    else if (from.dtype == ATOLL_VALUE_CHOICE)
        to.value = oracle::Value::of(__int128{from.value.i64});
    else if (from.dtype > ATOLL_DTYPE_NONE && from.dtype < ATOLL_DTYPE_COUNT)
        to.value = oracle::read(reinterpret_cast<const char *>(from.value.bytes),
                                static_cast<int>(from.dtype));
    return to;
}

inline std::string malformed(const atoll_call &call, const Signature &signature) {
    if (call.struct_size != sizeof call || call.correlation == 0 || !call.error)
        return "the call's head is not filled in";
    // Of a function that is not implemented the host calls the stub, without operands.
    if (call.operand_count == 0) return "";
    if (call.output_count != signature.output_count ||
        call.operand_count != signature.operand_count)
        return "the number of operands is not the signature's";
    if (call.attribute_count != signature.attribute_count)
        return "the number of attributes is not the list's";
    std::size_t core = 0;
    for (std::size_t slot = 0; slot < signature.slot_count; ++slot) core += call.axes[slot];
    if (core != call.core || call.core > call.rank || call.rank > ATOLL_MAX_RANK)
        return "the numbers of axes do not add up";
    return "";
}

} // namespace detail

inline CallFacts facts_of(const atoll_call &call, const Line &line) {
    const Signature &signature = line.signature;
    CallFacts facts;
    facts.module = call.module;
    facts.line = &line;
    facts.dtype = call.dtype;
    facts.flags = call.flags;
    facts.inserted = call.flags & ATOLL_CALL_INSERTED;
    facts.parent_module = call.parent_module;
    facts.parent_function = call.parent_function;
    if (facts.inserted) facts.reasons = call.reasons;
    facts.device = call.device;
    facts.stream = call.stream;
    facts.malformed = detail::malformed(call, signature);
    if (call.operand_count == 0 || !facts.malformed.empty()) return facts;

    facts.outputs = call.output_count;
    facts.core = call.core;
    facts.shape.assign(call.shape, call.shape + call.rank);
    facts.axes.assign(call.axes, call.axes + signature.slot_count);
    for (int o = 0; o < call.operand_count; ++o) {
        const atoll_operand &from = call.operands[o];
        facts.operands.push_back({.dtype = from.dtype,
                                  .swapped = (from.flags & ATOLL_OPERAND_SWAPPED) != 0,
                                  .scalar = (from.flags & ATOLL_OPERAND_SCALAR) != 0,
                                  .absent = (from.flags & ATOLL_OPERAND_ABSENT) != 0,
                                  .disposable = (from.flags & ATOLL_OPERAND_DISPOSABLE) != 0,
                                  .data = static_cast<const char *>(from.data),
                                  .base = static_cast<const char *>(from.base),
                                  .storage = from.storage,
                                  .device = from.device,
                                  .strides = Numbers(from.strides, from.strides + call.rank)});
    }
    for (std::size_t i = 0; i < call.attribute_count; ++i)
        facts.attributes.push_back(
            detail::attribute_of(signature.attributes[i].name, call.attributes[i]));
    return facts;
}

// ---- a call as text -----------------------------------------------------------------------------

struct Names {
    std::function<std::string(int module, int function)> function;
    std::function<std::string(const CallFacts &, const char *data)> address;
    std::function<std::string(const CallFacts &)> stream; // empty: the default stream
};

namespace detail {

// One number per axis.
inline void append(std::string &text, const CallFacts &call, const Numbers &numbers) {
    std::size_t axis = 0;
    const auto list = [&](std::size_t end) {
        for (std::size_t begin = axis; axis < end; ++axis) {
            if (axis > begin) text += ',';
            text += std::to_string(numbers[axis]);
        }
    };
    text += '(';
    for (const std::size_t count : call.axes) {
        if (axis > 0) text += ';';
        list(axis + count);
    }
    if (call.core > 0) text += '|';
    list(numbers.size());
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
inline std::string text_of(const Attribute &attribute) {
    if (attribute.dtype == ATOLL_VALUE_ABSENT) return "absent";
    if (attribute.dtype == ATOLL_VALUE_CHOICE) return "word " + oracle::text(attribute.value);
    if (attribute.dtype == ATOLL_VALUE_INTS) {
        std::string list = "[";
        for (const std::int64_t number : attribute.ints)
            list += (list.size() > 1 ? "," : "") + std::to_string(number);
        return list + ']';
    }
    if (attribute.dtype >= ATOLL_DTYPE_COUNT) return "of no dtype";
    return std::string(oracle::facts[attribute.dtype].name) + ':' + oracle::text(attribute.value);
}

} // namespace detail

inline std::string text_of(const CallFacts &call, const Names &names) {
    std::string text = names.function(call.module, call.line->id) + ' ';
    text += oracle::facts[call.dtype].name;
    text += ' ';
    detail::append(text, call, call.shape);
    for (std::size_t o = 0; o < call.operands.size(); ++o) {
        const OperandFacts &operand = call.operands[o];
        text += o == 0 ? ": " : o == call.outputs ? " = " : ", ";
        if (operand.absent) {
            text += "absent";
            continue;
        }
        text += oracle::facts[operand.dtype].name;
        if (operand.swapped) text += " swapped";
        if (operand.scalar) {
            text += " scalar ";
            text += detail::hexadecimal(operand.data, oracle::facts[operand.dtype].size);
            continue;
        }
        text += ' ' + names.address(call, operand.data) + ' ';
        detail::append(text, call, operand.strides);
    }
    for (const Attribute &attribute : call.attributes)
        text += ' ' + attribute.name + '=' + detail::text_of(attribute);
    if (call.inserted) {
        text += " for " + names.function(call.parent_module, call.parent_function);
        for (const auto &[reason, name] : detail::reasons)
            if (call.reasons & reason) text += std::string(", ") + name;
    }
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
