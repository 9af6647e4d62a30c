// Text of tensors, in the layout of the Ocean paper's figure 2(d).
#pragma once

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

template <> struct fmt::formatter<Atoll::Tensor> : fmt::formatter<std::string_view> {
    template <class Context> auto format(const Atoll::Tensor &tensor, Context &context) const {
        return fmt::formatter<std::string_view>::format(Atoll::to_string(tensor), context);
    }
};
template <> struct fmt::formatter<Atoll::DType> : fmt::formatter<std::string_view> {
    template <class Context> auto format(Atoll::DType dtype, Context &context) const {
        return fmt::formatter<std::string_view>::format(Atoll::name(dtype), context);
    }
};
