// The contraction engine for each type that products are computed in.
#include "engine.h"
#include "tile.h"

namespace Atoll::kernels {

template <class T>
std::int32_t contract(const Contraction &contraction, std::uint32_t dtype, T alpha, T beta) {
    static const ProductCode code = TileKernel<T>::code();
    return contract(code, contraction, dtype, product_factor(alpha), product_factor(beta));
}
template std::int32_t contract(const Contraction &, std::uint32_t, float, float);
template std::int32_t contract(const Contraction &, std::uint32_t, double, double);
template std::int32_t contract(const Contraction &, std::uint32_t, Complex<float>, Complex<float>);
template std::int32_t contract(const Contraction &, std::uint32_t, Complex<double>,
                               Complex<double>);
template std::int32_t contract(const Contraction &, std::uint32_t, std::uint32_t, std::uint32_t);
template std::int32_t contract(const Contraction &, std::uint32_t, std::uint64_t, std::uint64_t);
template std::int32_t contract(const Contraction &, std::uint32_t, Truth, Truth);
template std::int32_t contract(const Contraction &, std::uint32_t, Pairs, Pairs);
#if defined(__x86_64__) && defined(__AVX512F__)
template std::int32_t contract(const Contraction &, std::uint32_t, Bytes, Bytes);
template std::int32_t contract(const Contraction &, std::uint32_t, Bfloat16s, Bfloat16s);
template std::int32_t contract(const Contraction &, std::uint32_t, AmxBytes, AmxBytes);
template std::int32_t contract(const Contraction &, std::uint32_t, AmxBfloat16s, AmxBfloat16s);
#endif

} // namespace Atoll::kernels
