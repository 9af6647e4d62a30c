// Checks of a call from outside; values in the dtypes that kernels read; results over no elements.
#include "library/prepare.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace Atoll::kernels {
namespace {

using sdk::AttributeType;

[[noreturn]] void refuse(atoll_status status, std::string text) {
    throw sdk::Error(status, std::move(text));
}
[[noreturn]] void invalid(std::string text) {
    refuse(ATOLL_STATUS_INVALID_ARGUMENT, std::move(text));
}
std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

// What this file knows of signatures is what the list has.
constexpr bool is_understood(const sdk::Signature &s) {
    for (int i = 0; i < s.attribute_count; ++i)
        if (s.attribute(i).type == AttributeType::choice ||
            s.attribute(i).type == AttributeType::ints)
            return false;
    for (int i = 0; i < s.slot_count; ++i)
        if (s.slot(i).kind != sdk::AxisKind::one && s.slot(i).kind != sdk::AxisKind::group)
            return false;
    return true;
}
static_assert(std::ranges::all_of(sdk::core_functions, [](const sdk::FunctionLine &line) {
    return is_understood(line.signature);
}));

const sdk::FunctionLine &line_of(const atoll_kernel_call &given) {
    if (given.function >= ATOLL_KERNEL_COUNT)
        refuse(ATOLL_STATUS_NOT_SUPPORTED,
               "there is no function " + std::to_string(given.function));
    const sdk::FunctionLine &line = sdk::core_functions[given.function];
    if (given.dtype == ATOLL_DTYPE_NONE || given.dtype >= ATOLL_DTYPE_COUNT)
        invalid("there is no dtype " + std::to_string(given.dtype));
    if (line.domain >> given.dtype & 1) return line;
    std::string text =
        std::string("does not compute in ") + sdk::dtype_name(given.dtype) + ", but in";
    for (std::uint32_t dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        if (line.domain >> dtype & 1) text += std::string(" ") + sdk::dtype_name(dtype);
    refuse(ATOLL_STATUS_NOT_SUPPORTED, std::move(text));
}

// What a value that may be any number is read as: a kernel reads 8 bytes per part.
std::uint32_t widest(std::uint32_t dtype) {
    switch (sdk::dtype_facts[dtype].kind) {
    case ATOLL_DTYPE_KIND_UNSIGNED: return ATOLL_DTYPE_UINT64;
    case ATOLL_DTYPE_KIND_COMPLEX: return ATOLL_DTYPE_COMPLEX128;
    case ATOLL_DTYPE_KIND_FLOAT:
    case ATOLL_DTYPE_KIND_BRAIN: return ATOLL_DTYPE_FLOAT64;
    default: return ATOLL_DTYPE_INT64;
    }
}

bool is_complex(std::uint32_t dtype) {
    return sdk::dtype_facts[dtype].kind == ATOLL_DTYPE_KIND_COMPLEX;
}

// A default as the list has it.
atoll_scalar default_of(const sdk::AttributeSpec &spec) {
    atoll_scalar value{};
    if (spec.type == AttributeType::boolean) {
        value.dtype = ATOLL_DTYPE_BOOL;
        value.value.bytes[0] = spec.fallback == "true";
    } else {
        value.dtype = ATOLL_DTYPE_FLOAT64;
        value.value.f64[0] = sdk::TextScanner(spec.fallback).number();
    }
    return value;
}

} // namespace

Prepared::Prepared(const atoll_kernel_call &given, const Level &level)
    : line_(line_of(given)), signature_(line_.signature),
      level_(level), pool_{given.parallel_for, given.pool, 0} {
    call_.struct_size = sizeof call_;
    call_.function = given.function;
    call_.dtype = given.dtype;
    call_.output_count = signature_.output_count;
    call_.operand_count = signature_.operand_count;
    call_.attribute_count = signature_.attribute_count;
    call_.operands = operands_;
    call_.attributes = attributes_;
    take_axes(given);
    take_operands(given);
    take_attributes(given);
    if (given.function == ATOLL_KERNEL_find) check_count_of_found();
}

void Prepared::take_axes(const atoll_kernel_call &given) {
    if (given.rank > ATOLL_MAX_RANK)
        invalid("rank " + std::to_string(given.rank) + ", need at most " +
                std::to_string(ATOLL_MAX_RANK));
    int core = 0;
    for (int slot = 0; slot < signature_.slot_count; ++slot) {
        const sdk::AxisSlot &spec = signature_.slot(slot);
        const int axes = spec.opaque ? 0 : std::max<int>(given.axes[slot], 1);
        if (axes > 1 && spec.kind != sdk::AxisKind::group)
            invalid(std::to_string(axes) + " axes " + quoted(spec.name) + ", which is one axis");
        if (core + axes > given.rank)
            invalid("rank " + std::to_string(given.rank) + " is less than the core axes of " +
                    quoted(line_.text));
        std::fill_n(slots_ + core, axes, static_cast<std::uint8_t>(slot));
        call_.axes[slot] = static_cast<std::uint8_t>(axes);
        core += axes;
    }
    if (given.rank && !given.extents) invalid("no extents");
    for (int axis = 0; axis < given.rank; ++axis)
        if (given.extents[axis] < 0)
            invalid("extent " + std::to_string(given.extents[axis]) + " of axis " +
                    std::to_string(axis));
    call_.rank = given.rank;
    call_.core = static_cast<std::uint16_t>(core);
    call_.shape = given.extents;
}

bool Prepared::has_axis(std::size_t operand, int axis) const {
    return axis >= call_.core || signature_.operands[operand].has_axis(slots_[axis]);
}

void Prepared::take_operands(const atoll_kernel_call &given) {
    if (given.operand_count > signature_.operand_count)
        invalid(std::to_string(given.operand_count) + " operands, need those of " +
                quoted(line_.text));
    if (given.operand_count && !given.operands) invalid("no operands");
    for (std::size_t i = 0; i < signature_.operand_count; ++i) {
        const sdk::OperandSpec &spec = signature_.operands[i];
        atoll_operand &operand = operands_[i];
        operand = {};
        operand.strides = strides_[i];
        std::fill_n(strides_[i], call_.rank, 0);
        const atoll_kernel_operand from =
            i < given.operand_count ? given.operands[i] : atoll_kernel_operand{};
        const auto named = [&] { return "operand " + quoted(spec.name); };
        if (!from.data && spec.optional) {
            operand.flags = ATOLL_OPERAND_ABSENT;
            continue;
        }
        if (!from.data) invalid(named() + " has no data");
        if (from.dtype == ATOLL_DTYPE_NONE || from.dtype >= ATOLL_DTYPE_COUNT)
            invalid(named() + " has the dtype " + std::to_string(from.dtype) +
                    ", which there is not");
        if (from.flags & ~std::uint32_t{ATOLL_KERNEL_SWAPPED})
            invalid(named() + " has flags " + std::to_string(from.flags) + ", which there are not");
        if (only_moves()) {
            const std::uint32_t need = spec.type == sdk::TypeOf::any ? call_.dtype : spec.dtype;
            if (from.dtype != need)
                invalid(named() + " is " + sdk::dtype_name(from.dtype) + ", need " +
                        sdk::dtype_name(need));
            if (from.flags) invalid(named() + " is swapped; elements are moved as they are");
        }
        operand.data = operand.base = from.data;
        operand.dtype = static_cast<std::uint16_t>(from.dtype);
        operand.flags = from.flags & ATOLL_KERNEL_SWAPPED ? ATOLL_OPERAND_SWAPPED : 0;
        if (call_.rank && !from.strides) invalid(named() + " has no strides");
        for (int axis = 0; axis < call_.rank; ++axis)
            if (has_axis(i, axis)) strides_[i][axis] = from.strides[axis];
    }
}

// gather and scatter.
bool Prepared::only_moves() const {
    return std::ranges::any_of(signature_.slots, &sdk::AxisSlot::opaque);
}

std::uint32_t Prepared::dtype_of_attribute(std::size_t index) const {
    switch (signature_.attributes[index].type) {
    case AttributeType::boolean: return ATOLL_DTYPE_BOOL;
    case AttributeType::int64: return ATOLL_DTYPE_INT64;
    case AttributeType::float64: return ATOLL_DTYPE_FLOAT64;
    case AttributeType::A: return sdk::accumulator_of(call_.dtype);
    default: return call_.dtype;
    }
}

atoll_scalar Prepared::converted(const atoll_scalar &value, std::uint32_t dtype) const {
    if (value.dtype == dtype) return value;
    atoll_scalar result{};
    result.dtype = dtype;
    atoll_operand operands[2] = {};
    operands[0].data = result.value.bytes;
    operands[1].data = const_cast<std::uint8_t *>(value.value.bytes);
    operands[0].dtype = static_cast<std::uint16_t>(dtype);
    operands[1].dtype = static_cast<std::uint16_t>(value.dtype);
    atoll_call copy{};
    copy.function = ATOLL_KERNEL_copy;
    copy.dtype = operands[0].dtype;
    copy.operands = operands;
    level_.run(copy, {});
    return result;
}

void Prepared::take_attributes(const atoll_kernel_call &given) {
    if (given.attribute_count > signature_.attribute_count)
        invalid(std::to_string(given.attribute_count) + " attributes, need at most " +
                std::to_string(signature_.attribute_count));
    if (given.attribute_count && !given.attributes) invalid("no attributes");
    for (std::size_t i = 0; i < signature_.attribute_count; ++i) {
        const sdk::AttributeSpec &spec = signature_.attributes[i];
        const bool is_given = i < given.attribute_count && given.attributes[i].dtype;
        const auto named = [&] { return "attribute " + quoted(spec.name); };
        attributes_[i] = {};
        if (!is_given && spec.required) invalid(named() + " is required");
        if (!is_given && spec.optional) continue;
        const atoll_scalar value = is_given ? given.attributes[i] : default_of(spec);
        if (value.dtype >= ATOLL_DTYPE_COUNT)
            invalid(named() + " has the dtype " + std::to_string(value.dtype) +
                    ", which there is not");
        std::uint32_t dtype = dtype_of_attribute(i);
        if (spec.type == AttributeType::number) {
            // The first one decides.
            dtype = i ? attributes_[0].dtype : widest(value.dtype);
            if (widest(value.dtype) != dtype)
                invalid(named() + " is " + sdk::dtype_name(value.dtype) + ", need " +
                        sdk::dtype_name(dtype) + " as " + quoted(signature_.attributes[0].name));
        }
        if (is_complex(value.dtype) && !is_complex(dtype))
            invalid(named() + " is complex, need a real number");
        attributes_[i] = converted(value, dtype);
        if (spec.type == AttributeType::float64 && !(attributes_[i].value.f64[0] >= spec.least))
            invalid(named() + " is " + std::to_string(attributes_[i].value.f64[0]) +
                    ", need at least " + std::to_string(spec.least));
    }
}

// find writes as many elements as are not zero, whatever room there is.
void Prepared::check_count_of_found() const {
    if (call_.rank != call_.core) invalid("loop axes, of which find has none");
    std::int64_t count = 0, elements = 1;
    const std::int64_t zeros[ATOLL_MAX_RANK] = {};
    for (int axis = 0; axis + 1 < call_.core; ++axis) elements *= call_.shape[axis];
    if (elements) {
        atoll_operand operands[2] = {{}, operands_[1]};
        operands[0].data = &count;
        operands[0].strides = zeros;
        operands[0].dtype = ATOLL_DTYPE_INT64;
        atoll_call counting = call_;
        counting.function = ATOLL_KERNEL_count_nonzero;
        counting.operands = operands;
        counting.attribute_count = 0;
        --counting.rank;
        --counting.core;
        if (const std::int32_t status = level_.run(counting, pool_))
            refuse(static_cast<atoll_status>(status), "cannot count the elements");
    }
    const std::int64_t room = call_.shape[call_.core - 1];
    if (room != count)
        invalid("operand " + quoted(signature_.operands[0].name) + " has " + std::to_string(room) +
                " elements, need " + std::to_string(count) + ": as many as are not zero");
}

std::int32_t Prepared::run() const {
    bool is_empty = false;
    for (int axis = 0; axis < call_.rank; ++axis) {
        if (call_.shape[axis]) continue;
        if (has_axis(0, axis)) return ATOLL_STATUS_OK; // the output has no elements
        is_empty = true;
    }
    if (is_empty && call_.function != ATOLL_KERNEL_matmul) return over_nothing();
    if (const char *why = level_.lack(&call_)) refuse(ATOLL_STATUS_NOT_SUPPORTED, why);
    return level_.run(call_, pool_);
}

// The identity. Products add to others, and know what they are over nothing.
std::int32_t Prepared::over_nothing() const {
    if (!signature_.has_identity) invalid("no elements, of which it is undefined");
    std::int64_t extents[ATOLL_MAX_RANK];
    for (int axis = 0; axis < call_.rank; ++axis)
        extents[axis] = has_axis(0, axis) ? call_.shape[axis] : 1;
    atoll_call call = call_;
    call.shape = extents;
    call.core = 0;
    atoll_scalar identity{};
    identity.dtype = ATOLL_DTYPE_INT64;
    identity.value.i64 = signature_.identity;
    call.function = ATOLL_KERNEL_fill;
    call.attributes = &identity;
    return level_.run(call, pool_);
}

} // namespace Atoll::kernels
