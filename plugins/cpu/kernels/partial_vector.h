// The ends of rows that do not fill a vector.
#pragma once

#include "product_vectors.h"

namespace Atoll::kernels {

// The first `count` elements of a vector in memory; the others are zero and stay as they are.
template <class T> class PartialVector {
public:
    using V = Vector<T>;
#if defined(__AVX512F__)
    explicit PartialVector(std::int64_t count) : mask_((1u << count) - 1) {}
    V load(const char *p) const {
        if constexpr (sizeof(T) == 4)
            return (V)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask_), p);
        else
            return (V)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask_), p);
    }
    void store(char *p, V v) const {
        if constexpr (sizeof(T) == 4)
            _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask_), (__m512)v);
        else
            _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask_), (__m512d)v);
    }

private:
    unsigned mask_;
#elif defined(__AVX2__)
    explicit PartialVector(std::int64_t count) : bytes_(count * std::int64_t{sizeof(T)}) {
        Mask lane;
        for (int i = 0; i < lanes<T>; ++i) lane[i] = i;
        mask_ = lane < static_cast<Integer>(count);
    }
    V load(const char *p) const {
        if constexpr (sizeof(T) == 4)
            return (V)_mm256_maskload_ps(reinterpret_cast<const float *>(p), (__m256i)mask_);
        else
            return (V)_mm256_maskload_pd(reinterpret_cast<const double *>(p), (__m256i)mask_);
    }
    // Piece by piece: AMD's processors store by a mask in microcode, up to Zen 3 at least.
    void store(char *p, V v) const {
        __m128i part = _mm256_castsi256_si128((__m256i)v);
        if (bytes_ & 16) {
            store_vector(p, part);
            p += 16;
            part = _mm256_extracti128_si256((__m256i)v, 1);
        }
        if (bytes_ & 8) {
            _mm_storel_epi64(reinterpret_cast<__m128i *>(p), part);
            p += 8;
            part = _mm_unpackhi_epi64(part, part);
        }
        if (bytes_ & 4) _mm_storeu_si32(p, part);
    }

private:
    using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    using Mask = Vector<Integer>;
    Mask mask_;
    std::int64_t bytes_;
#else
    explicit PartialVector(std::int64_t count) : count_(count) {}
    V load(const char *p) const {
        V v = {};
        for (std::int64_t i = 0; i < count_; ++i) v[i] = kernels::load<T>(p + i * size);
        return v;
    }
    void store(char *p, V v) const {
        for (std::int64_t i = 0; i < count_; ++i) {
            const T x = v[i];
            std::memcpy(p + i * size, &x, sizeof x);
        }
    }

private:
    static constexpr std::int64_t size = sizeof(T);
    std::int64_t count_;
#endif
};

} // namespace Atoll::kernels
