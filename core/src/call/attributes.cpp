// Attributes by name.
#include "call/attributes.hpp"

#include "atoll/format.hpp"
#include "atoll/text_scanner.hpp"
#include "base/list.hpp"
#include "base/throw_error.hpp"
#include "call/promotion.hpp"

#include <cmath>
#include <cstring>

namespace Atoll::detail {

namespace {

class Converter {
public:
    Converter(const FunctionRecord &function, const sdk::AttributeSpec &spec, DType T)
        : function_(function), spec_(spec), T_(T) {}

    atoll_scalar any(const atoll_scalar &value) const {
        switch (value.dtype) {
        case ATOLL_VALUE_ABSENT: return fallback();
        case ATOLL_VALUE_INTS: return list({value.value.ints, value.count});
        case ATOLL_VALUE_CHOICE:
            if (spec_.type != sdk::AttributeType::choice ||
                sdk::choice_count(spec_.words) <= value.value.i64)
                refuse(fmt::format("word {}", value.value.i64), need());
            return value;
        default: return number(Scalar(value));
        }
    }
    atoll_scalar number(const Scalar &value) const {
        switch (spec_.type) {
        case sdk::AttributeType::boolean:
            if (value.dtype() != bool_) refuse(to_string(value), "a bool");
            return value.raw();
        case sdk::AttributeType::int64:
            if (is_floating(value.dtype())) refuse(to_string(value), "an integer");
            return converted(value, int64);
        case sdk::AttributeType::float64: return converted(value, float64);
        case sdk::AttributeType::T: return converted(value, T_);
        case sdk::AttributeType::A: return converted(value, accumulator(T_));
        case sdk::AttributeType::number: return value.raw();
        default: refuse(to_string(value), need());
        }
    }
    atoll_scalar word(std::string_view given) const {
        const int at =
            spec_.type == sdk::AttributeType::choice ? sdk::choice_of(given, spec_.words) : -1;
        if (at < 0) refuse(fmt::format("'{}'", given), need());
        atoll_scalar raw{};
        raw.dtype = ATOLL_VALUE_CHOICE;
        raw.value.i64 = at;
        return raw;
    }
    atoll_scalar list(std::span<const std::int64_t> given) const {
        if (spec_.type != sdk::AttributeType::ints) refuse("a list", need());
        for (const std::int64_t number : given) require_least(number);
        atoll_scalar raw{};
        raw.dtype = ATOLL_VALUE_INTS;
        raw.count = static_cast<std::uint32_t>(given.size());
        raw.value.ints = given.data();
        return raw;
    }
    atoll_scalar fallback() const {
        if (spec_.required)
            throw_error(Status::invalid_argument, function_.full_name,
                        "got no attribute {}, which has no default", spec_.name);
        if (spec_.optional) return {};
        if (spec_.type == sdk::AttributeType::choice) return word(spec_.fallback);
        if (spec_.type == sdk::AttributeType::boolean)
            return number(Scalar(spec_.fallback == "true"));
        // Never fails: the signature's parser has read it.
        const sdk::Decimal value = sdk::TextScanner(spec_.fallback).decimal();
        if (value.is_int64()) return number(Scalar(value.integer()));
        if (value.is_whole() && !value.negative) return number(Scalar(value.digits));
        return number(Scalar(value.value()));
    }

private:
    atoll_scalar converted(const Scalar &value, DType dtype) const {
        if (is_complex(value.dtype()) && !is_complex(dtype))
            refuse(to_string(value), "a real number");
        if (value.overflows(dtype)) refuse(to_string(value), fmt::format("to fit {}", name(dtype)));
        require_least(value);
        return value.cast(dtype).raw();
    }
    void require_least(const Scalar &value) const {
        if (std::isinf(spec_.least)) return;
        if (!(value.to_double() >= spec_.least))
            refuse(to_string(value), fmt::format("{} or more", spec_.least));
    }
    // The values that the attribute accepts.
    std::string need() const {
        switch (spec_.type) {
        case sdk::AttributeType::boolean: return "a bool";
        case sdk::AttributeType::int64: return "an integer";
        case sdk::AttributeType::ints: return "a list of integers";
        case sdk::AttributeType::choice: return fmt::format("one of {}", spec_.words);
        default: return "a number";
        }
    }
    [[noreturn]] void refuse(std::string_view got, std::string_view needed) const {
        throw_error(Status::invalid_argument, function_.full_name, "attribute {} is {}, needs {}",
                    spec_.name, got, needed);
    }
    const FunctionRecord &function_;
    const sdk::AttributeSpec &spec_;
    DType T_;
};

} // namespace

AttributeValues attribute_values(const FunctionRecord &function,
                                 std::span<const NamedAttribute> given, DType T) {
    const sdk::Signature &signature = function.signature;
    AttributeValues values{};
    const NamedAttribute *named[8] = {};
    for (const NamedAttribute &attribute : given) {
        int at = 0;
        while (at < signature.attribute_count && signature.attribute(at).name != attribute.name)
            ++at;
        if (at == signature.attribute_count) {
            std::string names;
            for (int i = 0; i < signature.attribute_count; ++i)
                add_to_list(names, signature.attribute(i).name);
            throw_error(Status::invalid_argument, function.full_name,
                        "has no attribute {}, takes {}", attribute.name,
                        names.empty() ? "none" : names);
        }
        if (named[at])
            throw_error(Status::invalid_argument, function.full_name, "attribute {} is given twice",
                        attribute.name);
        named[at] = &attribute;
    }
    for (std::size_t i = 0; i < signature.attribute_count; ++i) {
        const Converter convert(function, signature.attributes[i], T);
        if (!named[i])
            values[i] = convert.fallback();
        else if (const auto *number = std::get_if<Scalar>(&named[i]->value))
            values[i] = convert.number(*number);
        else if (const auto *word = std::get_if<std::string>(&named[i]->value))
            values[i] = convert.word(*word);
        else
            values[i] = convert.list(std::get<std::vector<std::int64_t>>(named[i]->value));
    }
    return values;
}

AttributeValues attribute_values(const FunctionRecord &function, std::span<const Attribute> given,
                                 DType T) {
    const sdk::Signature &signature = function.signature;
    if (given.size() > signature.attribute_count)
        throw_error(Status::invalid_argument, function.full_name,
                    "got {} attributes, takes {}: the declaration is of another "
                    "version of the module",
                    given.size(), signature.attribute_count);
    AttributeValues values;
    for (std::size_t i = 0; i < signature.attribute_count; ++i) {
        const Converter convert(function, signature.attributes[i], T);
        values[i] = i < given.size() ? convert.any(given[i].raw()) : convert.fallback();
    }
    return values;
}

bool is_default(const FunctionRecord &function, int i, const atoll_scalar &value, DType T) {
    const sdk::AttributeSpec &spec = function.signature.attribute(i);
    if (spec.required) return false;
    const atoll_scalar own = Converter(function, spec, T).fallback();
    if (own.dtype != value.dtype) return false;
    if (own.dtype == ATOLL_VALUE_ABSENT) return true;
    const std::size_t size =
        own.dtype < ATOLL_DTYPE_COUNT ? sdk::dtype_size(own.dtype) : sizeof own.value.i64;
    return std::memcmp(own.value.bytes, value.value.bytes, size) == 0;
}

} // namespace Atoll::detail
