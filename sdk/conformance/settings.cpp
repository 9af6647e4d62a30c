// Choices of attributes and optional operands for a call.
#include "call_parts.hpp"

#include <limits>

namespace Atoll::conformance {

namespace {

using sdk::AttributeType;

// The dtype of a `number`.
DType number_dtype(DType T) {
    if (is_complex(T)) return complex128;
    if (is_real_float(T)) return float64;
    return info(T).kind == Kind::unsigned_ ? uint64 : int64;
}

using AttributeValue = decltype(NamedAttribute::value);

// Values that are not the default.
std::vector<AttributeValue> other_values(const sdk::AttributeSpec &spec, std::int64_t number) {
    std::vector<AttributeValue> values;
    switch (spec.type) {
    case AttributeType::ints: break;
    case AttributeType::boolean: values.emplace_back(Scalar(spec.fallback != "true")); break;
    case AttributeType::choice:
        for (sdk::TextScanner words(spec.words); !words.done(); words.accept("|"))
            if (const std::string_view word = words.name(); word != spec.fallback)
                values.emplace_back(std::string(word));
        break;
    case AttributeType::float64:
        values.emplace_back(Scalar(number));
        if (spec.fallback != "0" && spec.least <= 0) values.emplace_back(Scalar(0.0));
        values.emplace_back(Scalar(std::numeric_limits<double>::infinity()));
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

} // namespace

void set_attributes(Call &call, const Setting &setting) {
    auto &list = call.options.attributes;
    list = setting.attributes;
    const sdk::Signature &s = call.function.signature;
    for (int i = 0; i < s.attribute_count; ++i) {
        const sdk::AttributeSpec &spec = s.attribute(i);
        if (spec.required)
            list.push_back({std::string(spec.name), other_values(spec, i % 2 ? 2 : 3).front()});
        for (NamedAttribute &given : list)
            if (given.name == spec.name && spec.type == AttributeType::number)
                given.value = std::get<Scalar>(given.value).cast(number_dtype(call.compute));
    }
}

std::vector<Setting> settings_of(const Declared &declared) {
    const sdk::Signature &s = declared.function.signature;
    // Where it does not know them, the host does without.
    const bool all = is(declared.function, ATOLL_FN_matmul);
    std::vector<Setting> list(1);
    // The host chooses the unit; that one is given says that it is not to be a byte.
    if (has(declared.function, moves_elements)) {
        if (declared.knows_attribute(0))
            list.push_back({"by positions", {{std::string(s.attribute(0).name), Scalar(2)}}});
        return list;
    }
    std::vector<std::string_view> optional;
    for (int i = 0; i < s.input_count(); ++i)
        if (s.input(i).optional && (all || declared.knows_input(i))) {
            optional.push_back(s.input(i).name);
            list.push_back({fmt::format("with {}", s.input(i).name), {}, {s.input(i).name}});
        }
    Setting together{"all attributes", {}, optional};
    for (int i = 0; i < s.attribute_count; ++i) {
        const sdk::AttributeSpec &spec = s.attribute(i);
        if (spec.required || !(all || declared.knows_attribute(i))) continue;
        const auto values = other_values(spec, spec.fallback == "2" ? 3 : 2);
        for (const AttributeValue &value : values)
            list.push_back({label(spec.name, value), {{std::string(spec.name), value}}, optional});
        if (!values.empty()) together.attributes.push_back({std::string(spec.name), values[0]});
    }
    if (together.attributes.size() > 1) {
        list.push_back(together);
        // Multiplying by 1 may take a path of its own.
        for (int i = 0; i < s.attribute_count; ++i) {
            const sdk::AttributeSpec &spec = s.attribute(i);
            const bool is_number = spec.type == AttributeType::A || spec.type == AttributeType::T ||
                                   spec.type == AttributeType::number;
            if (!is_number || spec.fallback == "1") continue;
            Setting other = together;
            for (NamedAttribute &given : other.attributes) {
                if (given.name != spec.name) continue;
                given.value = Scalar(1);
                other.name = fmt::format("all attributes, {} = 1", spec.name);
                list.push_back(other);
            }
        }
        if (!optional.empty())
            list.push_back({"all attributes, no optional input", together.attributes});
    }
    for (int o = 0; o < s.output_count; ++o)
        if (const std::string name(s.operand(o).name); s.operand(o).optional)
            list.push_back({"without " + name, {}, {}, {name}});
    return list;
}

} // namespace Atoll::conformance
