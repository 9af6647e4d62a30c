// Arguments, invocation and expectation, all from the signature.
#include "calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

using sdk::AttributeType, sdk::AxesOf, sdk::AxisKind, sdk::TypeOf;

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
    {"core.find", counts_non_zero},
};

bool is(const FunctionFacts &f, int id) { return f.is_core() && f.id == id; }

DType dtype_of(const sdk::OperandSpec &spec, DType T) {
    const std::uint32_t dtype = sdk::dtype_of_operand(spec, static_cast<std::uint32_t>(T));
    return dtype ? static_cast<DType>(dtype) : T;
}

// What a `number` is given in.
DType number_dtype(DType T) {
    if (is_complex(T)) return complex128;
    if (is_real_float(T)) return float64;
    return info(T).kind == Kind::unsigned_ ? uint64 : int64;
}

// ---- attributes ---------------------------------------------------------------------------------

using AttributeValue = decltype(NamedAttribute::value);

std::vector<std::string> words_of(std::string_view words) {
    std::vector<std::string> list(1);
    for (const char c : words)
        if (c == '|')
            list.emplace_back();
        else if (c != ' ')
            list.back() += c;
    return list;
}

// Values that are not the default.
std::vector<AttributeValue> other_values(const sdk::AttributeSpec &spec, std::int64_t number) {
    std::vector<AttributeValue> values;
    switch (spec.type) {
    case AttributeType::ints: break;
    case AttributeType::boolean: values.emplace_back(Scalar(spec.fallback != "true")); break;
    case AttributeType::choice:
        for (const std::string &word : words_of(spec.words))
            if (word != spec.fallback) values.emplace_back(word);
        break;
    default: values.emplace_back(Scalar(number));
    }
    return values;
}

std::string label(std::string_view name, const AttributeValue &value) {
    if (const auto *given = std::get_if<std::string>(&value))
        return fmt::format("{} = {}", name, *given);
    const auto &number = std::get<Scalar>(value);
    if (number.dtype() != bool_) return fmt::format("{} = {}", name, text(number));
    return number.to_int() ? std::string(name) : fmt::format("{} = false", name);
}

void set_attributes(Call &call, const Setting &setting) {
    auto &list = call.options.attributes;
    list = setting.attributes;
    const sdk::Signature &s = call.function.signature;
    for (std::size_t i = 0; i < s.attribute_count; ++i) {
        const sdk::AttributeSpec &spec = s.attributes[i];
        if (spec.required)
            list.push_back({std::string(spec.name), other_values(spec, i % 2 ? 2 : 3).front()});
        for (NamedAttribute &given : list)
            if (given.name == spec.name && spec.type == AttributeType::number)
                given.value = std::get<Scalar>(given.value).cast(number_dtype(call.compute));
    }
}

// Null where it was not given.
const Scalar *attribute(const Call &call, std::string_view name) {
    for (const NamedAttribute &given : call.options.attributes)
        if (given.name == name) return &std::get<Scalar>(given.value);
    return nullptr;
}

// ---- shapes -------------------------------------------------------------------------------------

constexpr std::int64_t small_extents[] = {5, 4, 2, 6, 3, 7, 8, 9};
constexpr std::int64_t long_extents[] = {40, 33, 19, 21, 17, 23, 18, 20};

// Of functions without core axes.
Shape matrix(Size size) {
    switch (size) {
    case Size::one: return {};
    case Size::large: return {4001, 3};
    case Size::long_: return {257, 3};
    case Size::apart: return {4, 3, 2};
    default: return {4, 3};
    }
}

class Shaper {
public:
    Shaper(Call &call, Size size)
        : call_(call), s_(call.function.signature), size_(size),
          // All axes of the tensor are core axes.
          whole_(s_.axes == AxesOf::all &&
                 (size == Size::one || size == Size::bare || has(call.function, counts_non_zero))) {
    }

    void run() {
        for (int i = 0; i < s_.input_count() && reference_ < 0; ++i)
            if (s_.input(i).axis_count > 0 && !call_.inputs[index(i)].absent) reference_ = i;
        for (std::size_t i = 0; i < s_.slot_count; ++i) slots_[i] = extents_of(i);
        set_loop();
        name_axes();
        int last = -1; // the last with core axes
        for (int i = 0; i < s_.input_count(); ++i)
            if (!core_of(s_.input(i)).empty() && !call_.inputs[index(i)].absent) last = i;
        for (int i = 0; i < s_.input_count(); ++i) {
            const bool alone =
                i == last && (size_ == Size::shared || (size_ == Size::long_ && beside()));
            call_.inputs[index(i)].shape = arranged(core_of(s_.input(i)), alone ? Shape() : loop_);
        }
        for (std::size_t o = 0; o < s_.output_count; ++o)
            call_.outputs[o].shape = arranged(core_of(s_.operands[o]), loop_);
        count_terms();
    }

private:
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }
    bool named() const { return s_.axes != AxesOf::first && reference_ >= 0; }

    // One axis, or those of a group. Unknown: -1.
    Shape extents_of(std::size_t i) {
        const sdk::AxisSlot &slot = s_.slots[i];
        const bool group = slot.kind == AxisKind::group, one = size_ == Size::one;
        if (slot.opaque || (slot.kind == AxisKind::optional && size_ == Size::bare)) return {};
        if (named() && one && (slot.given || s_.axes == AxesOf::named)) return {};
        if (group && whole_ && slot.given) return matrix(size_);
        const std::size_t same = slot.twin >= 0 ? static_cast<std::size_t>(slot.twin) : i;
        std::int64_t n = small_extents[same];
        if (slot.kind == AxisKind::fixed)
            n = slot.extent;
        else if (one)
            n = 1;
        else if (size_ == Size::long_)
            n = s_.slot_count == 1 ? 257 : long_extents[same];
        if (!slot.given) {
            n = call_.function.infers ? -1 : one ? 1 : size_ == Size::long_ ? 53 : 7;
            if (n > 0 && slot.twin < 0) call_.options.extents.emplace_back(slot.name, n);
            return group ? Shape(core_of(s_.input(reference_)).size(), n) : Shape{n};
        }
        if (group && s_.axes == AxesOf::all && size_ == Size::apart) return {n, 2};
        return {n};
    }

    // Whether an input has loop axes only, as what is searched for has.
    bool beside() const {
        if (has(call_.function, moves_elements)) return true;
        for (int i = 0; i < s_.input_count(); ++i)
            if (s_.input(i).axis_count == 0) return true;
        return s_.elementwise();
    }
    void set_loop() {
        const bool none =
            s_.input_count() == 0 || whole_ || size_ == Size::one || size_ == Size::bare;
        if (none && !s_.elementwise())
            loop_ = {};
        else if (beside() && size_ != Size::apart)
            loop_ = matrix(size_);
        else if (size_ == Size::apart)
            loop_ = reference_ < 0 ? matrix(size_) : Shape{3, 2};
        else
            loop_ = {3};
    }
    // Where the core axes stand, for `axes all` and `axes named`.
    void name_axes() {
        if (!named()) return;
        const std::size_t count = core_of(s_.input(reference_)).size();
        rank_ = count + loop_.size();
        for (std::size_t i = 0; i < count; ++i)
            places_.push_back(size_ != Size::apart || whole_ ? i
                              : count == 1                   ? std::size_t{1}
                                                             : std::min(2 * i, rank_ - count + i));
        if (whole_ || size_ == Size::one) return;
        call_.options.axes.given = true;
        for (const std::size_t place : places_)
            call_.options.axes.list.push_back(static_cast<int>(place));
    }

    Shape core_of(const sdk::OperandSpec &spec) const {
        Shape core;
        for (std::size_t i = 0; i < spec.axis_count; ++i)
            core.insert(core.end(), slots_[spec.axes[i]].begin(), slots_[spec.axes[i]].end());
        return core;
    }
    // Core axes first, or where the reference has them.
    Shape arranged(const Shape &core, const Shape &loop) const {
        Shape shape;
        std::size_t next_core = 0, next_loop = 0;
        for (std::size_t axis = 0; axis < rank_; ++axis)
            if (std::find(places_.begin(), places_.end(), axis) == places_.end()) {
                if (next_loop < loop.size()) shape.push_back(loop[next_loop++]);
            } else if (next_core < core.size()) {
                shape.push_back(core[next_core++]);
            }
        shape.insert(shape.end(), core.begin() + static_cast<long>(next_core), core.end());
        shape.insert(shape.end(), loop.begin() + static_cast<long>(next_loop), loop.end());
        return shape;
    }
    // The axes that the first output lacks, or else all core axes.
    void count_terms() {
        std::int64_t all = 1, gone = 1;
        bool reduces = false;
        for (std::size_t i = 0; i < s_.slot_count; ++i) {
            if (!s_.slots[i].given || s_.slots[i].twin >= 0) continue;
            const auto &axes = s_.operands[0].axes;
            const auto end = axes.begin() + s_.operands[0].axis_count;
            const bool kept = std::find(axes.begin(), end, i) != end;
            reduces |= !kept;
            all *= count_of(slots_[i]);
            gone *= kept ? 1 : count_of(slots_[i]);
        }
        call_.terms = reduces ? gone : all;
    }

    Call &call_;
    const sdk::Signature &s_;
    const Size size_;
    const bool whole_;
    int reference_ = -1; // the first input with core axes
    Shape slots_[ATOLL_MAX_SLOTS], loop_;
    std::size_t rank_ = 0;            // of the reference under `axes all` and `axes named`
    std::vector<std::size_t> places_; // of its core axes
};

// ---- values -------------------------------------------------------------------------------------

// Element k of input o, exact in the dtype.
Scalar value_of(const FunctionFacts &f, DType dtype, std::size_t o, std::size_t k,
                const Recipe &recipe) {
    const std::size_t mixed = (k * 7919 + o * 104729 + k * k * 31 + 13) % 1031;
    const auto spread = static_cast<std::int64_t>(mixed % 129) - 64;
    const auto other = static_cast<std::int64_t>((mixed * 53 + 7) % 127) - 63;
    if (dtype == bool_) return Scalar(mixed % 2 == 1).cast(dtype);
    if (is_integer(dtype)) {
        const bool has_sign = info(dtype).kind == Kind::signed_;
        if (f.signature.counts == f.signature.output_count + static_cast<int>(o))
            return Scalar(static_cast<std::int64_t>(mixed % 6)).cast(dtype);
        if (recipe.special && k % 4 < 2) {
            const int bits = 8 * info(dtype).size;
            if (!has_sign)
                return Scalar(k % 4 ? std::uint64_t{0} : ~std::uint64_t{0} >> (64 - bits))
                    .cast(dtype);
            const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
            return Scalar(k % 4 ? high : -high - 1).cast(dtype);
        }
        const std::int64_t small = spread / 6;
        return Scalar(has_sign ? small : std::abs(small)).cast(dtype);
    }
    static constexpr double specials[] = {0.0, -0.0, 1.0, NAN, INFINITY, -INFINITY, -1.0, 2.0};
    if (recipe.special && k % 2 == 0 && is_real_float(dtype)) {
        const double x = specials[(k / 2 + 3 * o) % 8];
        return Scalar(x).cast(dtype);
    }
    double re = static_cast<double>(spread) / (recipe.damped ? 32 : 8);
    double im = static_cast<double>(other == 0 ? 1 : other) / (recipe.damped ? 32 : 16);
    if (has(f, multiplies_up)) {
        const double size = mixed % 8 == 0 ? 2 : mixed % 8 == 1 ? 0.5 : 1;
        re = mixed % 3 ? size : -size;
        im = 0;
        if (is_complex(dtype) && mixed % 2) std::swap(re, im);
    }
    return is_complex(dtype) ? Scalar(std::complex<double>(re, im)).cast(dtype)
                             : Scalar(re).cast(dtype);
}

Values values_for(const FunctionFacts &f, const Call::Argument &argument, std::size_t o,
                  const Recipe &recipe) {
    Values values;
    for (std::int64_t k = 0; k < count_of(argument.shape); ++k)
        values.push_back(
            value_of(f, argument.dtype, o, static_cast<std::size_t>(k) + recipe.seed, recipe));
    return values;
}

// NaN last, complex numbers by real, then imaginary part; along the first axis.
void sort_columns(Call::Argument &argument) {
    const auto n = argument.shape[0];
    for (auto from = argument.values.begin(); from != argument.values.end(); from += n)
        std::stable_sort(from, from + n, [](const Scalar &a, const Scalar &b) {
            const auto x = a.to_complex(), y = b.to_complex();
            if (std::isnan(x.real()) || std::isnan(y.real()))
                return !std::isnan(x.real()) && std::isnan(y.real());
            return x.real() != y.real() ? x.real() < y.real() : x.imag() < y.imag();
        });
}

// A square matrix gets a heavy diagonal, so that it has an inverse.
void strengthen_diagonal(const sdk::Signature &s, const sdk::OperandSpec &spec,
                         Call::Argument &argument) {
    if (spec.axis_count < 2 || s.slots[spec.axes[1]].twin != spec.axes[0]) return;
    const auto n = static_cast<std::size_t>(argument.shape[0]);
    for (std::size_t k = 0; k < argument.values.size(); ++k)
        if (Scalar &value = argument.values[k]; k % n == k / n % n && argument.dtype != bool_)
            value = Scalar(value.to_complex() + 32.0).cast(argument.dtype);
}

Values found(const Values &values) {
    Values positions;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k].cast(bool_).to_int() != 0)
            positions.push_back(Scalar(static_cast<std::int64_t>(k)));
    return positions;
}

// Broadcast: the first input along its last axis, the second along its first, others not at all.
Layout layout_of(Layout wanted, std::size_t o, const Call::Argument &input) {
    if (wanted != Layout::broadcast) return wanted;
    if (o > 1 || input.shape.size() < 2) return Layout::dense;
    return o == 1 ? Layout::broadcast_first : wanted;
}

void set_values(Call &call, const Recipe &recipe) {
    const FunctionFacts &f = call.function;
    const sdk::Signature &s = f.signature;
    for (std::size_t o = 0; o < call.inputs.size(); ++o) {
        Call::Argument &input = call.inputs[o];
        if (input.absent) continue;
        input.values = values_for(f, input, o, recipe);
        strengthen_diagonal(s, s.input(static_cast<int>(o)), input);
    }
    for (std::size_t o = 0; o < call.outputs.size(); ++o)
        if (s.operands[o].updated && !has(f, moves_elements))
            call.outputs[o].values = values_for(f, call.outputs[o], s.operand_count + o, recipe);
    if (has(f, needs_sorted)) {
        sort_columns(call.inputs[1]);
        // Some of those that are searched for are there.
        const Values &table = call.inputs[1].values;
        const auto n = static_cast<std::size_t>(call.inputs[1].shape[0]);
        for (std::size_t k = 0; k < call.inputs[0].values.size(); k += 2)
            call.inputs[0].values[k] = table[(k * n + k % n) % table.size()];
    }
    for (std::size_t o = 0; o < call.inputs.size() && recipe.broadcast; ++o)
        if (Call::Argument &input = call.inputs[o];
            layout_of(Layout::broadcast, o, input) != Layout::dense)
            input.values = broadcast_values(input.values, input.shape, o == 0);
    if (has(f, counts_non_zero)) {
        const auto count = static_cast<std::int64_t>(found(call.inputs[0].values).size());
        call.options.extents[0].second = count;
        call.outputs[0].shape = {count};
    }
}

// ---- invocation ---------------------------------------------------------------------------------

template <std::size_t... I>
std::vector<Tensor> call_with(const Function &function, const std::vector<Operand> &inputs,
                              const CallOptions &options, std::index_sequence<I...>) {
    return function({inputs[I]...}, options);
}
template <std::size_t Count = 0> std::vector<Tensor>
call_any(const Function &function, const std::vector<Operand> &inputs, const CallOptions &options) {
    if constexpr (Count < ATOLL_MAX_OPERANDS)
        if (inputs.size() > Count) return call_any<Count + 1>(function, inputs, options);
    return call_with(function, inputs, options, std::make_index_sequence<Count>());
}

// All rows, from the end: what gather and scatter move here. On the host where there is a device
// for it, because an index is checked by functions that `device` may lack.
Tensor rows_tensor(const Tensor &tensor, Device device) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = tensor.extent(0); i-- > 0;) rows.push_back(i);
    for (const Device &other : devices())
        if (other.is_host_memory()) return vector(rows, {int64, other});
    return vector(rows, {int64, device});
}

std::vector<Tensor> move_rows(const Call &call, const Tensor &in, Device device,
                              const std::vector<Tensor> &out) {
    const auto rows = make_index(rows_tensor(in, device));
    if (is(call.function, ATOLL_FN_gather)) return {in(rows.bind(in))};
    out[0](rows.bind(out[0])) = in;
    return out;
}

// ---- expectation --------------------------------------------------------------------------------

DType wide(DType dtype) {
    return is_complex(dtype) ? complex128 : is_real_float(dtype) ? float64 : dtype;
}

bool by_definition(const Call &call, Values &values) {
    const FunctionFacts &f = call.function;
    if (!f.is_core()) return false;
    const Shape &shape = call.outputs[0].shape;
    switch (f.id) {
    case ATOLL_FN_copy: values = call.inputs[0].values; return true;
    case ATOLL_FN_fill:
        values.assign(static_cast<std::size_t>(count_of(shape)),
                      attribute(call, "value")->cast(call.compute));
        return true;
    case ATOLL_FN_steps: {
        const std::int64_t start = attribute(call, "start")->to_int(),
                           step = attribute(call, "step")->to_int();
        for (std::int64_t k = 0; k < shape[0]; ++k)
            values.push_back(Scalar(start + step * k).cast(call.compute));
        if (const Scalar *last = attribute(call, "last")) values.back() = last->cast(call.compute);
        return true;
    }
    case ATOLL_FN_gather:
    case ATOLL_FN_scatter: {
        values = call.inputs[0].values;
        const auto n = static_cast<std::size_t>(shape[0]);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = call.inputs[0].values[k - k % n + n - 1 - k % n];
        return true;
    }
    case ATOLL_FN_find: values = found(call.inputs[0].values); return true;
    default: return false;
    }
}

Tensor plain(const Call::Argument &argument, DType dtype, Device device) {
    if (argument.absent || argument.values.empty()) return {};
    std::vector<char> bytes;
    for (const Scalar &value : argument.values) {
        const Scalar as = value.cast(dtype);
        const auto *from = reinterpret_cast<const char *>(as.raw().value.bytes);
        bytes.insert(bytes.end(), from, from + size_of(dtype));
    }
    const Tensor all = from_values(
        bytes.data(), dtype, static_cast<std::int64_t>(argument.values.size()), {dtype, device});
    return Tensor(all.storage(), 0, dims_of(argument.shape),
                  empty(dims_of(argument.shape), {dtype, device}).strides(), dtype);
}

Shape shape_of(const Tensor &tensor) { return {tensor.shape().begin(), tensor.shape().end()}; }

} // namespace

bool has(const FunctionFacts &function, Trait trait) {
    for (const auto &[name, own] : traits)
        if (name == function.name) return own & trait;
    return false;
}

bool callable(const FunctionFacts &function) {
    const sdk::Signature &s = function.signature;
    if (s.takes_objects || s.makes_objects) return false;
    for (std::size_t i = 0; i < s.attribute_count; ++i)
        if (s.attributes[i].required && s.attributes[i].type == AttributeType::ints) return false;
    return std::none_of(s.slots.begin(), s.slots.begin() + s.slot_count,
                        [](const sdk::AxisSlot &slot) { return slot.opaque; }) ||
           has(function, moves_elements);
}

bool has_size(const FunctionFacts &function, Size size) {
    const sdk::Signature &s = function.signature;
    const bool moves = has(function, moves_elements);
    int required = 0;
    bool core = false;
    for (int i = 0; i < s.input_count() && !moves; ++i) {
        required += !s.input(i).optional;
        core |= s.input(i).axis_count > 0;
    }
    switch (size) {
    case Size::one: return !moves; // need an axis to index
    case Size::large: return s.elementwise();
    case Size::bare: return core && !has(function, counts_non_zero);
    case Size::apart: return s.input_count() > 0 || s.elementwise();
    case Size::shared: return core && required > 1 && s.axes == AxesOf::first;
    default: return true;
    }
}

std::vector<Setting> settings_of(const Declared &declared) {
    const sdk::Signature &s = declared.function.signature;
    // Where it does not know them, the host does without.
    const bool all = is(declared.function, ATOLL_FN_matmul);
    std::vector<Setting> list(1);
    std::vector<std::string_view> optional;
    for (int i = 0; i < s.input_count(); ++i)
        if (s.input(i).optional && (all || declared.knows_input(i))) {
            optional.push_back(s.input(i).name);
            list.push_back({fmt::format("with {}", s.input(i).name), {}, {s.input(i).name}});
        }
    for (std::size_t i = 0; i < s.attribute_count; ++i) {
        const sdk::AttributeSpec &spec = s.attributes[i];
        if (spec.required || !(all || declared.knows_attribute(i))) continue;
        for (const AttributeValue &value : other_values(spec, spec.fallback == "2" ? 3 : 2))
            list.push_back({label(spec.name, value), {{std::string(spec.name), value}}, optional});
    }
    for (std::size_t o = 0; o < s.output_count; ++o)
        if (const std::string name(s.operands[o].name); s.operands[o].optional)
            list.push_back({"without " + name, {}, {}, {name}});
    return list;
}

bool Call::settled() const {
    return std::none_of(outputs.begin(), outputs.end(), [](const Argument &output) {
        return !output.absent && std::count(output.shape.begin(), output.shape.end(), -1) != 0;
    });
}

void Call::settle(const std::vector<Shape> &shapes) {
    for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o].shape = shapes[o];
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
        makes_T |= spec.type == TypeOf::T && !absent;
    }
    call.options.without = recipe.setting.without;
    for (std::size_t o = 0; o < s.output_count; ++o) {
        const auto &gone = call.options.without;
        const bool absent = std::find(gone.begin(), gone.end(), s.operands[o].name) != gone.end();
        call.outputs.push_back({dtype_of(s.operands[o], compute), {}, {}, absent});
    }
    if (!makes_T) call.options.dtype = compute;
    call.takes_out = !is(function, ATOLL_FN_gather);
    set_attributes(call, recipe.setting);
    Shaper(call, recipe.size).run();
    if (has(function, moves_elements))
        call.inputs.erase(call.inputs.begin() + 1); // the offsets are the index's
    if (with_values) set_values(call, recipe);
    return call;
}

bool mix_inputs(Call &call) {
    const sdk::Signature &s = call.function.signature;
    int last = -1, count = 0;
    for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i)
        if (s.input(i).type == TypeOf::T && !call.inputs[static_cast<std::size_t>(i)].absent)
            last = i, ++count;
    if (last < 0) return false;
    Call::Argument &input = call.inputs[static_cast<std::size_t>(last)];
    for (const DType other : {int8, uint8, int16, float16, int32, float32, float64, bool_}) {
        const DType common = count == 1 ? other : promote(call.compute, other);
        if (other == call.compute ||
            static_cast<DType>(sdk::make_T(call.function.rule,
                                           static_cast<std::uint32_t>(common))) != call.compute)
            continue;
        input.dtype = other;
        for (Scalar &value : input.values) value = value.cast(other);
        if (has(call.function, needs_sorted) && !input.values.empty()) sort_columns(input);
        return true;
    }
    return false;
}

int in_place_input(const Call &call) {
    const sdk::Signature &s = call.function.signature;
    const Call::Argument &output = call.outputs[0];
    // A copy onto itself is none.
    if (!call.takes_out || output.absent || s.operands[0].updated ||
        is(call.function, ATOLL_FN_copy))
        return -1;
    for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
        const Call::Argument &input = call.inputs[static_cast<std::size_t>(i)];
        if (!input.absent && input.dtype == output.dtype && input.shape == output.shape &&
            (s.elementwise() || s.input(i).in_place))
            return i;
    }
    return -1;
}

std::vector<Tensor> invoke(const Call &call, const std::vector<Tensor> &inputs, Device device,
                           const std::vector<Tensor> &out, bool scalar) {
    if (has(call.function, moves_elements)) return move_rows(call, inputs[0], device, out);
    std::vector<Operand> operands;
    operands.reserve(inputs.size());
    for (std::size_t o = 0; o < inputs.size(); ++o)
        if (scalar && o + 1 == inputs.size())
            operands.emplace_back(call.inputs[o].values[0]);
        else
            operands.emplace_back(inputs[o]);
    CallOptions options = call.options;
    options.out = out;
    if (std::none_of(inputs.begin(), inputs.end(), [](const Tensor &t) { return t.is_defined(); }))
        options.device = device;
    return call_any(Function(call.function.name), operands, options);
}

Prepared::Prepared(Call own, const Placement &where, const Form &form)
    : call(std::move(own)), device(where.device) {
    for (std::size_t o = 0; o < call.inputs.size(); ++o) {
        const Call::Argument &input = call.inputs[o];
        inputs.push_back(input.absent ? Guarded()
                                      : lay_out(input.values, input.shape, input.dtype, where,
                                                layout_of(form.inputs, o, input), form.swapped));
    }
    if (!call.takes_out) return;
    if (!call.settled()) call.settle(expect_of_itself(call, device).shapes);
    for (const Call::Argument &output : call.outputs)
        outputs.push_back(
            output.absent ? Guarded()
            : output.values.empty()
                ? lay_out_blank(output.shape, output.dtype, where, form.outputs, form.swapped)
                : lay_out(output.values, output.shape, output.dtype, where, form.outputs,
                          form.swapped));
}

Prepared::Prepared(const Declared &declared, const Recipe &recipe, const Placement &where)
    : Prepared(make_call(declared.function, usual_dtype(declared), recipe),
               Placement(where.dtype,
                         where.device ? where.device : Target::device_of(declared.device_type),
                         where.stream)) {}

namespace {
std::vector<Tensor> tensors_of(const std::vector<Guarded> &list) {
    std::vector<Tensor> tensors;
    for (const Guarded &operand : list) tensors.push_back(operand.tensor);
    return tensors;
}
} // namespace

std::vector<Tensor> Prepared::run(bool scalar) const {
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

namespace {

// With contiguous operands. Places for results only where they say something.
Expected ask(const Call &call, Device device, DType (*dtype_of)(DType), std::string source) {
    Call own = call;
    own.options.dtype = dtype_of(call.options.dtype);
    std::vector<Tensor> in, out;
    for (const Call::Argument &input : call.inputs)
        in.push_back(plain(input, dtype_of(input.dtype), device));
    for (const Call::Argument &output : call.outputs)
        out.push_back(call.inputs.empty() && call.settled()
                          ? empty(dims_of(output.shape), {dtype_of(output.dtype), device})
                          : plain(output, dtype_of(output.dtype), device));
    Expected expected{{}, {}, std::move(source)};
    for (const Tensor &result : invoke(own, in, device, out)) {
        const bool there = result.is_defined();
        expected.values.push_back(there ? values_of(result) : Values());
        expected.shapes.push_back(there ? shape_of(result) : Shape());
    }
    return expected;
}

} // namespace

Expected expect(const Target &target, const Call &call, const std::string &device_type) {
    if (Values values; by_definition(call, values))
        return {{std::move(values)}, {call.outputs[0].shape}, "the definition"};
    const auto device = target.reference(call.function, device_type, wide(call.compute));
    if (!device) return {};
    return ask(call, *device, wide, device->name());
}

Expected expect_of_itself(const Call &call, Device device) {
    const auto same = [](DType dtype) { return dtype; };
    return ask(call, device, same, "the same call with contiguous operands");
}

} // namespace Atoll::conformance
