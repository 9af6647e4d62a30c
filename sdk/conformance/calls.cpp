// Calls made from signatures.
#include "call_parts.hpp"

#include <algorithm>

namespace Atoll::conformance {

namespace {

constexpr std::pair<std::string_view, unsigned> traits[] = {
    {"core.copy", exact_values},
    {"core.fill", exact_values},
    {"core.steps", exact_values},
    {"core.where", exact_values},
    {"core.clip", exact_values},
    {"core.sort", exact_values},
    {"core.gather", exact_values | moves_elements},
    {"core.scatter", exact_values | moves_elements},
    {"core.prod", multiplies_up},
    {"core.cumprod", multiplies_up},
    {"core.searchsorted", needs_sorted},
    {"core.compress", exact_values},
    {"core.lgamma", steep_at_zeros},
};

DType dtype_of(const sdk::OperandSpec &spec, DType T) {
    const std::uint32_t dtype = sdk::dtype_of_operand(spec, static_cast<std::uint32_t>(T));
    return dtype ? static_cast<DType>(dtype) : T;
}

// A list of inputs has a length that is known at compile time.
template <std::size_t Count = 0> std::vector<Tensor>
call_any(const Function &function, const std::vector<Operand> &inputs, const CallOptions &options) {
    if constexpr (Count < ATOLL_MAX_OPERANDS)
        if (inputs.size() > Count) return call_any<Count + 1>(function, inputs, options);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return function({inputs[I]...}, options);
    }
    (std::make_index_sequence<Count>());
}

// All rows in reverse order, which gather and scatter move. On the host if possible, because the
// functions that check an index may be missing on `device`.
Tensor rows_tensor(const Tensor &tensor, Device device) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = tensor.extent(0); i-- > 0;) rows.push_back(i);
    for (const Device &other : devices())
        if (other.is_host_memory()) return vector(rows, {int64, other});
    return vector(rows, {int64, device});
}

std::vector<Tensor> move_rows(const Call &call, const Tensor &in, Device device,
                              const std::vector<Tensor> &out) {
    // Bound to a layout it holds offsets in bytes; otherwise the positions are the offsets, and the
    // stride of an axis is their unit.
    const bool by_positions = !call.options.attributes.empty();
    const auto rows = make_index(rows_tensor(in, device));
    const auto rows_of = [&](const Tensor &tensor) {
        return by_positions ? rows.bind(tensor.shape()) : rows.bind(tensor);
    };
    if (is(call.function, ATOLL_FN_gather)) return {in(rows_of(in))};
    out[0](rows_of(out[0])) = in;
    return out;
}

} // namespace

bool has(const FunctionFacts &function, Trait trait) {
    for (const auto &[name, own] : traits)
        if (name == function.name) return own & trait;
    return false;
}

bool is(const FunctionFacts &f, int id) { return f.is_core() && f.id == id; }

bool callable(const FunctionFacts &function) {
    const sdk::Signature &s = function.signature;
    if (s.takes_objects || s.makes_objects) return false;
    for (int i = 0; i < s.attribute_count; ++i)
        if (s.attribute(i).required && s.attribute(i).type == sdk::AttributeType::ints)
            return false;
    return std::none_of(s.slots.begin(), s.slots.begin() + s.slot_count,
                        [](const sdk::AxisSlot &slot) { return slot.opaque; }) ||
           has(function, moves_elements);
}

bool Call::settled() const {
    return std::none_of(outputs.begin(), outputs.end(), [](const Argument &output) {
        return !output.absent && std::count(output.shape.begin(), output.shape.end(), -1) != 0;
    });
}

Call make_call(const FunctionFacts &function, DType compute, const Recipe &recipe,
               bool with_values) {
    const sdk::Signature &s = function.signature;
    Call call{function, compute};
    bool makes_T = false;
    for (int i = 0; i < s.input_count(); ++i) {
        const sdk::OperandSpec &spec = s.input(i);
        const auto &given = recipe.setting.inputs;
        const bool absent =
            spec.optional && std::find(given.begin(), given.end(), spec.name) == given.end();
        call.inputs.push_back({dtype_of(spec, compute), {}, {}, absent});
        makes_T |= spec.type == sdk::TypeOf::T && !absent;
    }
    call.options.without = recipe.setting.without;
    for (int o = 0; o < s.output_count; ++o) {
        const auto &gone = call.options.without;
        const bool absent = std::find(gone.begin(), gone.end(), s.operand(o).name) != gone.end();
        call.outputs.push_back({dtype_of(s.operand(o), compute), {}, {}, absent});
    }
    if (!makes_T) call.options.dtype = compute;
    call.takes_out = !is(function, ATOLL_FN_gather);
    set_attributes(call, recipe.setting);
    set_shapes(call, recipe);
    if (has(function, moves_elements))
        call.inputs.erase(call.inputs.begin() + 1); // the index computes the offsets
    if (with_values) set_values(call, recipe);
    return call;
}

std::vector<int> in_place_inputs(const Call &call) {
    const sdk::Signature &s = call.function.signature;
    const Call::Argument &output = call.outputs[0];
    // Copying a tensor to itself does nothing.
    if (!call.takes_out || output.absent || s.operand(0).updated ||
        is(call.function, ATOLL_FN_copy))
        return {};
    std::vector<int> inputs;
    for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
        const Call::Argument &input = call.inputs[static_cast<std::size_t>(i)];
        if (!input.absent && input.dtype == output.dtype && input.shape == output.shape &&
            (s.elementwise() || s.input(i).in_place))
            inputs.push_back(i);
    }
    return inputs;
}

std::pair<int, int> equal_inputs(const Call &call) {
    for (std::size_t j = 1; j < call.inputs.size(); ++j)
        for (std::size_t i = 0; i < j; ++i) {
            const Call::Argument &a = call.inputs[i], &b = call.inputs[j];
            if (!a.absent && !b.absent && a.dtype == b.dtype && a.shape == b.shape)
                return {static_cast<int>(i), static_cast<int>(j)};
        }
    return {-1, -1};
}

int scalar_input(const Call &call) {
    if (call.inputs.size() < 2 || has(call.function, moves_elements)) return -1;
    for (int i = static_cast<int>(call.inputs.size()) - 1; i >= 0; --i) {
        const sdk::OperandSpec &spec = call.function.signature.input(i);
        if (spec.axis_count == 0 && !spec.is_object())
            return call.inputs[static_cast<std::size_t>(i)].absent ? -1 : i;
    }
    return -1;
}

std::vector<Tensor> invoke(const Call &call, const std::vector<Tensor> &inputs, Device device,
                           const std::vector<Tensor> &out, bool scalar) {
    if (has(call.function, moves_elements)) return move_rows(call, inputs[0], device, out);
    std::vector<Operand> operands;
    operands.reserve(inputs.size());
    for (std::size_t o = 0; o < inputs.size(); ++o)
        if (scalar && static_cast<int>(o) == scalar_input(call))
            operands.emplace_back(call.inputs[o].values[0]);
        else
            operands.emplace_back(inputs[o]);
    CallOptions options = call.options;
    options.out = out;
    if (std::none_of(inputs.begin(), inputs.end(), [](const Tensor &t) { return t.is_defined(); }))
        options.device = device;
    return call_any(Function(call.function.name), operands, options);
}

Guarded lay_out(const Call::Argument &argument, const Placement &where, Layout layout, bool swapped,
                std::size_t seed) {
    if (argument.absent) return {};
    return lay_out(argument.values, argument.shape, argument.dtype, where, layout, swapped, seed);
}

Prepared::Prepared(Call own, const Placement &where, const Form &form)
    : call(std::move(own)), device(where.device) {
    const bool all = form.swapped == Swapped::all;
    for (std::size_t o = 0; o < call.inputs.size(); ++o)
        inputs.push_back(lay_out(call.inputs[o], where, layout_of(form.inputs, o, call.inputs[o]),
                                 all || (form.swapped == Swapped::first_input && o == 0), o + 1));
    if (!call.takes_out) return;
    if (!call.settled()) {
        const Expected known = expect_of_itself(call, device);
        for (std::size_t o = 0; o < call.outputs.size(); ++o)
            call.outputs[o].shape = known.shapes[o];
    }
    for (const Call::Argument &output : call.outputs)
        outputs.push_back(
            lay_out(output, where, form.outputs, all || form.swapped == Swapped::outputs));
}

Prepared::Prepared(const Declared &declared, const Recipe &recipe, const Placement &where)
    : Prepared(
          make_call(declared.function, usual_dtype(declared), recipe),
          Placement(where.dtype, where.device ? where.device : declared.device(), where.stream)) {}

std::vector<Tensor> Prepared::run(bool scalar) const {
    const auto tensors_of = [](const std::vector<Guarded> &list) {
        std::vector<Tensor> tensors;
        for (const Guarded &operand : list) tensors.push_back(operand.tensor);
        return tensors;
    };
    return invoke(call, tensors_of(inputs), device, tensors_of(outputs), scalar);
}

std::vector<char> Prepared::bytes() const {
    std::vector<char> all;
    for (const Tensor &result : run())
        if (result.is_defined()) {
            const std::vector<char> bytes = storage_bytes(result);
            all.insert(all.end(), bytes.begin(), bytes.end());
        }
    return all;
}

void require_refused(const FunctionFacts &function, DType dtype, Device device) {
    try {
        Prepared(make_call(function, dtype), {dtype, device}).run();
    } catch (const Error &e) {
        // Moving elements needs offsets, which other functions compute.
        if (e.status() == Status::not_supported &&
            (has(function, moves_elements) || e.function() == function.name))
            return;
        fail("need an error 'not supported' that names {}, got {}: {}", function.name,
             Atoll::name(e.status()), e.what());
    }
    fail("not declared, but the call succeeded");
}

} // namespace Atoll::conformance
