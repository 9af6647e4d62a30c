// Attributes by name.
#include "call/attributes.hpp"

#include "atoll/error.hpp"
#include "atoll/text_scanner.hpp"
#include "atoll/type_rules.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// The words between '|', trimmed.
int position_of(std::string_view word, std::string_view words) {
    for (int at = 0;; ++at) {
        const std::size_t end = words.find('|');
        std::string_view own = words.substr(0, end);
        while (own.starts_with(' ')) own.remove_prefix(1);
        while (own.ends_with(' ')) own.remove_suffix(1);
        if (own == word) return at;
        if (end == std::string_view::npos) return -1;
        words.remove_prefix(end + 1);
    }
}

class Converter {
public:
    Converter(const FunctionRecord &function, const sdk::AttributeSpec &spec, DType T)
        : function_(function), spec_(spec), T_(T) {}

    atoll_scalar number(const Scalar &value) const {
        switch (spec_.type) {
        case sdk::AttributeType::boolean:
            if (value.dtype() != bool_) refuse("a bool");
            return value.raw();
        case sdk::AttributeType::int64:
            if (is_floating(value.dtype())) refuse("an integer");
            return value.cast(int64).raw();
        case sdk::AttributeType::float64:
            if (is_complex(value.dtype())) refuse("a real number");
            return value.cast(float64).raw();
        case sdk::AttributeType::T: return value.cast(T_).raw();
        case sdk::AttributeType::A:
            return value
                .cast(static_cast<DType>(sdk::accumulator_of(static_cast<std::uint32_t>(T_))))
                .raw();
        case sdk::AttributeType::number: return value.raw();
        case sdk::AttributeType::ints: refuse("a list of integers");
        default: refuse(fmt::format("one of {}", spec_.words));
        }
    }
    atoll_scalar word(std::string_view given) const {
        const int at =
            spec_.type == sdk::AttributeType::choice ? position_of(given, spec_.words) : -1;
        if (at < 0)
            refuse(spec_.type == sdk::AttributeType::choice ? fmt::format("one of {}", spec_.words)
                                                            : "a number");
        atoll_scalar raw{};
        raw.dtype = ATOLL_VALUE_CHOICE;
        raw.value.i64 = at;
        return raw;
    }
    atoll_scalar list(std::span<const std::int64_t> given) const {
        if (spec_.type != sdk::AttributeType::ints) refuse("one value, not a list");
        atoll_scalar raw{};
        raw.dtype = ATOLL_VALUE_INTS;
        raw.count = static_cast<std::uint32_t>(given.size());
        raw.value.ints = given.data();
        return raw;
    }
    atoll_scalar fallback() const {
        if (spec_.required)
            throw Error(Status::invalid_argument, function_.full_name,
                        fmt::format("got no attribute {}, need one", spec_.name));
        if (spec_.optional) return {};
        if (spec_.type == sdk::AttributeType::choice) return word(spec_.fallback);
        if (spec_.fallback == "true" || spec_.fallback == "false")
            return number(Scalar(spec_.fallback == "true"));
        const double value = sdk::TextScanner(spec_.fallback).number();
        const bool whole = std::isfinite(value) && value == std::trunc(value);
        return number(whole ? Scalar(static_cast<std::int64_t>(value)) : Scalar(value));
    }

private:
    [[noreturn]] void refuse(std::string_view need) const {
        throw Error(Status::invalid_argument, function_.full_name,
                    fmt::format("attribute {} needs {}", spec_.name, need));
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
        while (at < signature.attribute_count &&
               signature.attributes[static_cast<std::size_t>(at)].name != attribute.name)
            ++at;
        if (at == signature.attribute_count) {
            std::string names;
            for (int i = 0; i < signature.attribute_count; ++i)
                names += fmt::format("{}{}", i ? ", " : "",
                                     signature.attributes[static_cast<std::size_t>(i)].name);
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("has no attribute {}; its attributes: {}", attribute.name,
                                    names.empty() ? "none" : names));
        }
        if (named[at])
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("attribute {} is given twice", attribute.name));
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

bool is_default(const FunctionRecord &function, int i, const atoll_scalar &value, DType T) {
    const sdk::AttributeSpec &spec = function.signature.attributes[static_cast<std::size_t>(i)];
    if (spec.required) return false;
    const atoll_scalar own = Converter(function, spec, T).fallback();
    if (own.dtype != value.dtype) return false;
    if (own.dtype == ATOLL_VALUE_ABSENT) return true;
    const std::size_t size =
        own.dtype < ATOLL_DTYPE_COUNT ? sdk::dtype_size(own.dtype) : sizeof own.value.i64;
    return std::memcmp(own.value.bytes, value.value.bytes, size) == 0;
}

} // namespace Atoll::detail
