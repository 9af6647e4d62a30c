// QR factorisation in place, after figure 2 of the Ocean Tensor Package paper, in both its
// variants.
#pragma once

#include <atoll/atoll.hpp>

namespace Demo {

// A = QR by modified Gram-Schmidt. `Q` (m×n, full rank, floating) holds A before and the
// orthonormal columns after; `R` (n×n, zeros) gets the upper triangle. They may be of any dtypes,
// devices and byte orders, also different ones.
using Factorise = void (*)(const Atoll::Tensor &Q, const Atoll::Tensor &R);

// One column at a time.
void qr_by_columns(const Atoll::Tensor &Q, const Atoll::Tensor &R);
// All remaining columns at once, with a rank-one update.
void qr_by_updates(const Atoll::Tensor &Q, const Atoll::Tensor &R);

} // namespace Demo
