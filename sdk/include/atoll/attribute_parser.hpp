// Parses an attribute of a function's line; signature_parser.hpp parses the rest.
#pragma once

#include "atoll/signature.hpp"
#include "atoll/text_scanner.hpp"

namespace Atoll::sdk::detail {

// Does not check whether the number fits T; the call does.
constexpr void parse_default(TextScanner &in, AttributeSpec &spec) {
    const std::size_t from = in.position();
    switch (spec.type) {
    case AttributeType::ints: in.fail("no default: a list has none");
    case AttributeType::boolean:
        if (!in.accept("true") && !in.accept("false")) in.fail("true or false");
        break;
    case AttributeType::choice:
        if (choice_of(in.name(), spec.words) < 0) in.fail("one of the words, before that");
        break;
    case AttributeType::int64:
        if (static_cast<double>(in.integer()) < spec.least) in.fail("a larger default");
        break;
    default:
        if (in.number() < spec.least) in.fail("a larger default");
    }
    spec.fallback = in.since(from);
}

// Parses the text after the name.
constexpr void parse_attribute(TextScanner &in, AttributeSpec &spec) {
    in.expect(":");
    const std::size_t from = in.position();
    spec.type =
        AttributeType{place_of(in.name(), {"bool", "int64", "float64", "T", "A", "number"})};
    const bool choice = spec.type == AttributeType::choice;
    if (choice && !in.at('|')) in.fail("a type, or words with | between them");
    while (choice && in.accept("|")) in.name();
    if (spec.type == AttributeType::int64 && in.accept("[]")) spec.type = AttributeType::ints;
    spec.words = in.since(from);
    const bool number = !choice && spec.type != AttributeType::boolean;
    if (number && in.accept(">=")) spec.least = in.number();
    spec.optional = in.accept("?");
    spec.required = !spec.optional && !in.accept("=");
    if (!spec.optional && !spec.required) parse_default(in, spec);
}

} // namespace Atoll::sdk::detail
