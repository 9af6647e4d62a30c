// The header of a .npy file, read and written.
#pragma once

#include "npy_io.hpp"

namespace Atoll::detail {

struct NpyHeader {
    DType dtype;
    bool swapped; // the data are in the other byte order
    Order order;  // F or C
    Dims shape;
    std::int64_t bytes;
};

NpyHeader read_header(NpySource &source);
// The header with all that stands before it. Throws Error where the format has no such dtype.
std::string header_of(const Tensor &t, Order order, std::string_view op);

} // namespace Atoll::detail
