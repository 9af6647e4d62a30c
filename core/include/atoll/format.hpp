// Text of tensors, in the layout of the Ocean paper's figure 2(d).
#pragma once

#include "atoll/device.hpp"
#include "atoll/error.hpp"
#include "atoll/settings.hpp"
#include "atoll/tensor.hpp"

#include <string>

#include <fmt/format.h>

namespace Atoll {

// The elements and a footer "<tensor.float64 of size 5x5 on cpu (byteswapped, read-only)>". Rank 0
// gives the value alone, an empty tensor the footer alone. Blocks until the data are there.
std::string to_string(const Tensor &tensor);
std::string to_string(const Tensor &tensor, const PrintSettings &print);
std::string to_string(const Scalar &scalar);

} // namespace Atoll

namespace Atoll::detail {
// Takes "{}" only: how numbers look is a matter of PrintSettings.
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
