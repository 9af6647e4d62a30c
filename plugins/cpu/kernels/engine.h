// The contraction engine: products of any strided operands without transposed copies of them.
#pragma once

#include "contraction.h"

namespace Atoll::kernels {

// d = alpha a b + beta c for the dtypes that are computed in T (`dtype`: the compute dtype). c is
// not read where beta is zero. T: float, double, Complex of these, uint32, uint64, Truth, or
// one that packs several numbers in a lane: Pairs, for factors that int16 holds or results of at
// most 16 bits; and, where has_amx(), AmxBytes, for factors or results of 8 bits, and AmxBfloat16s.
// Returns an atoll_status.
template <class T>
std::int32_t contract(const Contraction &contraction, std::uint32_t dtype, T alpha, T beta);

} // namespace Atoll::kernels
