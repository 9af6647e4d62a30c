// The part of a BLAS that the kernels use, found at run time.
#pragma once

#include <cstdint>

namespace Atoll::kernels {

// The numbers of cblas.h.
inline constexpr int column_major = 102;
enum class Transpose : int { none = 111, plain = 112, conjugate = 113, only_conjugate = 114 };

// gemm and gemv on elements of one kind. Int: what sizes are; Factor: how alpha and beta are
// passed.
template <class Int, class Factor, class Element> struct BlasRoutines {
    void (*gemm)(int order, int ta, int tb, Int m, Int n, Int k, Factor alpha, const Element *a,
                 Int lda, const Element *b, Int ldb, Factor beta, Element *c, Int ldc) = nullptr;
    void (*gemv)(int order, int t, Int m, Int n, Factor alpha, const Element *a, Int lda,
                 const Element *x, Int incx, Factor beta, Element *y, Int incy) = nullptr;
};
template <class Int> struct BlasInterface {
    BlasRoutines<Int, float, float> s;
    BlasRoutines<Int, double, double> d;
    BlasRoutines<Int, const void *, void> c, z;
};

struct Blas {
    BlasInterface<std::int32_t> narrow; // LP64: used unless
    BlasInterface<std::int64_t> wide;   // ILP64
    bool is_wide = false;
    // Takes Transpose::only_conjugate, and small products from several threads at once without
    // making threads for each. OpenBLAS does.
    bool is_openblas = false;
    // False where the default one multiplies as processors of an earlier level do: Note [BLAS at
    // run time].
    bool suits_processor = true;
};

// The one that was chosen, opened at the first call; null if it cannot be used. Thread-safe.
const Blas *blas();
// Whether the user has named it, for whom it multiplies all but the smallest matrices. Opens
// nothing.
bool is_blas_named();

} // namespace Atoll::kernels
