// Text of tensors, in the layout of figure 2(d) of the Ocean paper.
#pragma once

#include "atoll/device.hpp"
#include "atoll/error.hpp"
#include "atoll/settings.hpp"
#include "atoll/tensor.hpp"

#include <string>

#include <fmt/format.h>

namespace Atoll {

// Returns the elements and a footer "<tensor.float64 of size 5x5 on cpu (byteswapped, read-only)>".
// A tensor of rank 0 gives only the value, an empty tensor only the footer. Blocks until the data
// are available.
std::string to_string(const Tensor &tensor);
std::string to_string(const Tensor &tensor, const PrintSettings &print);
std::string to_string(const Scalar &scalar);

} // namespace Atoll

namespace Atoll::detail {
// Accepts only "{}"; PrintSettings determine how numbers look.
struct PlainFormatter {
    constexpr auto parse(fmt::format_parse_context &context) {
        if (context.begin() != context.end() && *context.begin() != '}')
            throw fmt::format_error("takes no format specification");
        return context.begin();
    }
};
} // namespace Atoll::detail

template <> struct fmt::formatter<Atoll::Tensor> : Atoll::detail::PlainFormatter {
    template <class Context> auto format(const Atoll::Tensor &tensor, Context &context) const {
        return fmt::format_to(context.out(), "{}", Atoll::to_string(tensor));
    }
};
template <> struct fmt::formatter<Atoll::Scalar> : Atoll::detail::PlainFormatter {
    template <class Context> auto format(const Atoll::Scalar &scalar, Context &context) const {
        return fmt::format_to(context.out(), "{}", Atoll::to_string(scalar));
    }
};
template <> struct fmt::formatter<Atoll::DType> : Atoll::detail::PlainFormatter {
    template <class Context> auto format(Atoll::DType dtype, Context &context) const {
        return fmt::format_to(context.out(), "{}", Atoll::name(dtype));
    }
};
template <> struct fmt::formatter<Atoll::Device> : Atoll::detail::PlainFormatter {
    template <class Context> auto format(const Atoll::Device &device, Context &context) const {
        return fmt::format_to(context.out(), "{}", device ? device.name() : "no device");
    }
};
template <> struct fmt::formatter<Atoll::Status> : Atoll::detail::PlainFormatter {
    template <class Context> auto format(Atoll::Status status, Context &context) const {
        return fmt::format_to(context.out(), "{}", Atoll::name(status));
    }
};
