// The contraction engine: products of any strided operands without transposed copies of them.
#pragma once

#include "contraction.h"
#include "lane_types.h"

namespace Atoll::kernels {

// d = alpha a b + beta c for the dtypes that are computed in T (`dtype`: the compute dtype). c is
// not read where beta is zero. T: float, double, Complex of these, uint32, uint64, Truth, or
// one that packs several numbers in a lane: Pairs, for factors that int16 holds or results of at
// most 16 bits; Bytes (where has_vnni()) and AmxBytes (where has_amx()), for factors or results of
// 8 bits; Bfloat16s (where has_avx512_bf16()) and AmxBfloat16s (where has_amx()). Returns an
// atoll_status.
template <class T>
std::int32_t contract(const Contraction &contraction, std::uint32_t dtype, T alpha, T beta);

// The same by the code of any type, which T stands for above.
struct ProductCode;
struct ProductFactor;
std::int32_t contract(const ProductCode &code, const Contraction &contraction, std::uint32_t dtype,
                      const ProductFactor &alpha, const ProductFactor &beta);

} // namespace Atoll::kernels
