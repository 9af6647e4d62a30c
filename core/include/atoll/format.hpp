// Text of tensors, in the layout of figure 2(d) of the Ocean paper.
#pragma once

#include "atoll/settings.hpp"
#include "atoll/tensor.hpp"

#include <string>

#include <fmt/format.h>

namespace Atoll {

// Returns the elements and a footer "<tensor.float64 of size 5x5 on cpu (byteswapped, read-only)>".
// A tensor of rank 0 gives only the value, like a Scalar with the fewest digits that read back as
// the same value of its dtype; an empty tensor gives only the footer. Blocks until the data
// are available. to_string(tensor) uses the settings in effect.
std::string to_string(const Tensor &tensor, const PrintSettings &print);

namespace detail {
// Accepts only "{}"; PrintSettings determine how numbers look.
template <class T> struct Formatter {
    constexpr auto parse(fmt::format_parse_context &context) {
        if (context.begin() != context.end() && *context.begin() != '}')
            throw fmt::format_error("takes no format specification");
        return context.begin();
    }
    template <class Context> auto format(const T &value, Context &context) const {
        return fmt::format_to(context.out(), "{}", to_string(value));
    }
};
} // namespace detail

} // namespace Atoll

template <> struct fmt::formatter<Atoll::Tensor> : Atoll::detail::Formatter<Atoll::Tensor> {};
template <> struct fmt::formatter<Atoll::View> : Atoll::detail::Formatter<Atoll::Tensor> {};
template <> struct fmt::formatter<Atoll::Scalar> : Atoll::detail::Formatter<Atoll::Scalar> {};
template <> struct fmt::formatter<Atoll::Dims> : Atoll::detail::Formatter<Atoll::Dims> {};
template <> struct fmt::formatter<Atoll::DType> : Atoll::detail::Formatter<Atoll::DType> {};
template <> struct fmt::formatter<Atoll::Device> : Atoll::detail::Formatter<Atoll::Device> {};
template <> struct fmt::formatter<Atoll::Status> : Atoll::detail::Formatter<Atoll::Status> {};
