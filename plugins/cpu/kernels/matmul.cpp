// matmul: what BLAS can express goes there without copies; the rest is packed, or computed here.
//
// Note [Matrix layouts]
// A matrix is dense along its rows or along its columns, the other stride is the leading dimension:
// that is a BLAS operand, transposed or not. Anything else (both strides larger, zero or negative,
// another dtype or byte order, unaligned) is first packed into a dense column-major scratch matrix.
// An output that is dense along its rows is computed as its transpose: C' = B' A'.
#include "blas.h"
#include "blas_product.h"
#include "convert.h"
#include "functors/arithmetic.h"
#include "parallel.h"

#include <algorithm>
#include <new>

namespace Atoll::kernels {
namespace {

bool flag(const atoll_call &call, int attribute) {
    return call.attributes[attribute].value.bytes[0] != 0;
}
template <class T> T scalar(const atoll_scalar &s) {
    return load<T>(reinterpret_cast<const char *>(s.value.bytes));
}

template <class T> bool is_zero(T x) { return !truth(x); }

// ---- kernels of our own: integers, bool, and floats where BLAS is missing ----

template <class T> struct Ring {
    static T add(T a, T b) { return functor::add::apply(a, b); }
    static T multiply(T a, T b) { return functor::multiply::apply(a, b); }
};

// c += a b for one strip of rows of dense column-major a and c: four columns of a at a time, which
// stay in the cache for all columns of c.
template <class T> void strip_product(const Matrix &c, const Matrix &a, const Matrix &b, T alpha) {
    using R = Ring<T>;
    const std::int64_t m = c.rows, k = a.columns;
    for (std::int64_t j = 0; j < c.columns; ++j) {
        T *o = reinterpret_cast<T *>(c.at(0, j));
        std::int64_t p = 0;
        const auto factor = [&](std::int64_t q) {
            return R::multiply(alpha, *reinterpret_cast<const T *>(b.at(q, j)));
        };
        for (; p + 4 <= k; p += 4) {
            const T *a0 = reinterpret_cast<const T *>(a.at(0, p));
            const T *a1 = reinterpret_cast<const T *>(a.at(0, p + 1));
            const T *a2 = reinterpret_cast<const T *>(a.at(0, p + 2));
            const T *a3 = reinterpret_cast<const T *>(a.at(0, p + 3));
            const T b0 = factor(p), b1 = factor(p + 1), b2 = factor(p + 2), b3 = factor(p + 3);
            ATOLL_INDEPENDENT
            for (std::int64_t i = 0; i < m; ++i)
                o[i] = R::add(R::add(R::add(o[i], R::multiply(a0[i], b0)), R::multiply(a1[i], b1)),
                              R::add(R::multiply(a2[i], b2), R::multiply(a3[i], b3)));
        }
        for (; p < k; ++p) {
            const T *a0 = reinterpret_cast<const T *>(a.at(0, p));
            const T b0 = factor(p);
            ATOLL_INDEPENDENT
            for (std::int64_t i = 0; i < m; ++i) o[i] = R::add(o[i], R::multiply(a0[i], b0));
        }
    }
}

template <class T> void scale(const Matrix &c, T beta) {
    if constexpr (std::is_integral_v<T> || is_float<T>)
        if (beta == T(1)) return;
    for (std::int64_t j = 0; j < c.columns; ++j)
        for (std::int64_t i = 0; i < c.rows; ++i) {
            T &x = *reinterpret_cast<T *>(c.at(i, j));
            x = is_zero(beta) ? T{} : Ring<T>::multiply(beta, x);
        }
}

// c = alpha a b + beta c, all native and aligned; c is dense along its rows or columns.
template <class T>
void own_product(const Matrix &c, const Matrix &a, const Matrix &b, T alpha, T beta) {
    constexpr std::int64_t size = sizeof(T), height = 256, depth = 128;
    const std::int64_t across = std::max<std::int64_t>(1, piece_size * 4 / (c.rows * a.columns));
    scale(c, beta);
    parallel((c.columns + across - 1) / across, across * c.rows * a.columns,
             [&](std::int64_t begin, std::int64_t end) {
                 alignas(64) char packed_a[height * depth * size];
                 alignas(64) char packed_c[height * size];
                 for (std::int64_t i = 0; i < c.rows; i += height)
                     for (std::int64_t p = 0; p < a.columns; p += depth) {
                         const std::int64_t rows = std::min(height, c.rows - i);
                         const std::int64_t inner = std::min(depth, a.columns - p);
                         Matrix left = a.part(i, p, rows, inner);
                         if (left.down != size) {
                             const Matrix pack = dense(packed_a, left, size);
                             for (std::int64_t q = 0; q < inner; ++q)
                                 move_elements(rows, size, pack.at(0, q), size, left.at(0, q),
                                               left.down);
                             left = pack;
                         }
                         for (std::int64_t j = begin * across;
                              j < std::min(end * across, c.columns); ++j) {
                             Matrix column = c.part(i, j, rows, 1);
                             const bool strided = column.down != size;
                             if (strided) {
                                 move_elements(rows, size, packed_c, size, column.data,
                                               column.down);
                                 column = {packed_c, rows, 1, size, 0};
                             }
                             strip_product<T>(column, left, b.part(p, j, inner, 1), alpha);
                             if (strided)
                                 move_elements(rows, size, c.at(i, j), c.down, packed_c, size);
                         }
                     }
             });
}

// ---- one call ----

template <class T> class Product {
public:
    explicit Product(const atoll_call &call)
        : dtype_(call.dtype), wide_(widened(call.dtype)), alpha_(scalar<T>(call.attributes[0])),
          beta_(scalar<T>(call.attributes[1])) {
        const atoll_operand *operands = call.operands;
        for (int k = 0; k < 4; ++k)
            side_[k] = {operands[k].dtype, (operands[k].flags & ATOLL_OPERAND_SWAPPED) != 0};
        if (operands[3].flags & ATOLL_OPERAND_ABSENT) beta_ = T{};
        in_place_ = operands[3].data == operands[0].data; // what overlaps is the very same
    }

    // d = alpha a b + beta c
    void operator()(const Matrix &d, Matrix a, Matrix b, const Matrix &c) {
        a = native(a, side_[1], scratch_[0]);
        b = native(b, side_[2], scratch_[1]);
        const bool adds = !is_zero(beta_);
        if (is_native(d, side_[0]) && (leading(d, size) || leading(d.transposed(), size))) {
            if (adds && !in_place_) to_wide(d, c, side_[3]);
            compute(d, a, b);
            return;
        }
        const Matrix temporary = dense(scratch_[2].get(d.rows * d.columns * size), d, size);
        if (adds) to_wide(temporary, c, side_[3]);
        compute(temporary, a, b);
        // Rounds to the compute dtype, then converts to the output's.
        if (dtype_ == wide_ || side_[0].dtype == dtype_) {
            copy(d, side_[0], temporary, {wide_});
        } else {
            Matrix rounded = dense(temporary.data, d, size);
            copy(rounded, {dtype_}, temporary, {wide_});
            copy(d, side_[0], rounded, {dtype_});
        }
    }

private:
    static constexpr std::int64_t size = sizeof(T);

    bool is_native(const Matrix &a, const Side &side) const {
        const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(a.data) |
                                    static_cast<std::uintptr_t>(a.down) |
                                    static_cast<std::uintptr_t>(a.across);
        return side.dtype == wide_ && dtype_ == wide_ && !side.swapped &&
               (bits & (alignment_of(wide_) - 1)) == 0;
    }
    // Into the dtype that is computed in, by way of the compute dtype.
    void to_wide(const Matrix &out, const Matrix &in, const Side &side) const {
        if (dtype_ != wide_ && side.dtype != dtype_) {
            copy(out, {dtype_}, in, side); // halves: fits in place
            copy(out, {wide_}, out, {dtype_});
        } else {
            copy(out, {wide_}, in, side);
        }
    }
    Matrix native(const Matrix &a, const Side &side, GrowingScratch &scratch) const {
        if (is_native(a, side)) return a;
        const Matrix pack = dense(scratch.get(a.rows * a.columns * size), a, size);
        to_wide(pack, a, side);
        return pack;
    }

    void compute(const Matrix &c, const Matrix &a, const Matrix &b) {
        if constexpr (is_float<Part<T>>) {
            if (blas().found) {
                blas_product<T>(c, a, b, alpha_, beta_, scratch_ + 3);
                return;
            }
            if (a.conj || b.conj) return conjugated(c, a, b);
        }
        own_product<T>(c, a, b, alpha_, beta_);
    }

    // Without BLAS: conjugates copies.
    void conjugated(const Matrix &c, Matrix a, Matrix b) {
        int next = 3;
        for (Matrix *x : {&a, &b}) {
            if (!x->conj) continue;
            Matrix pack = dense(scratch_[next].get(x->rows * x->columns * size), *x, size);
            ++next;
            apply(&atoll_kernels_unary, ATOLL_FN_conj, pack, {wide_}, *x, {wide_});
            pack.conj = false;
            *x = pack;
        }
        own_product<T>(c, a, b, alpha_, beta_);
    }

    std::uint32_t dtype_, wide_;
    T alpha_, beta_;
    bool in_place_; // c is d
    Side side_[4];
    GrowingScratch scratch_[5];
};

template <class T> void run(const atoll_call &call) {
    const atoll_operand *operands = call.operands;
    const std::int64_t m = call.shape[0], k = call.shape[1], n = call.shape[2];
    std::int64_t count = 1;
    for (std::uint32_t axis = 3; axis < call.rank; ++axis) count *= call.shape[axis];
    const auto matrices = [&](std::int64_t begin, std::int64_t end) {
        Product<T> product(call);
        for (std::int64_t index = begin; index < end; ++index) {
            char *data[4];
            for (int o = 0; o < 4; ++o) {
                data[o] = static_cast<char *>(operands[o].data);
                std::int64_t rest = index;
                for (std::uint32_t axis = 3; axis < call.rank; ++axis) {
                    data[o] += rest % call.shape[axis] * operands[o].strides[axis];
                    rest /= call.shape[axis];
                }
            }
            const auto matrix = [&](int o, std::int64_t rows, int down, std::int64_t columns,
                                    int across, bool conj) -> Matrix {
                const std::int64_t *strides = operands[o].strides;
                return {data[o], rows, columns, strides[down], strides[across], conj};
            };
            product(matrix(0, m, 0, n, 2, false), matrix(1, m, 0, k, 1, flag(call, 2)),
                    matrix(2, k, 1, n, 2, flag(call, 3)), matrix(3, m, 0, n, 2, false));
        }
    };
    // Small matrices side by side; large ones one after the other, each on all threads.
    const std::int64_t work = m * n * k;
    if (work <= 32 * 32 * 32)
        parallel(count, work, matrices);
    else
        matrices(0, count);
}

// A product of a column and a row is an element-wise product.
bool is_outer(const atoll_call &call) {
    if (call.shape[1] != 1 || flag(call, 2) || flag(call, 3)) return false;
    const auto is = [&](const atoll_scalar &s, int value) {
        const std::uint32_t wide = widened(call.dtype);
        const std::int64_t zeros[2] = {};
        switch (wide) {
        case ATOLL_DTYPE_FLOAT32: return s.value.f32[0] == static_cast<float>(value);
        case ATOLL_DTYPE_FLOAT64: return s.value.f64[0] == value;
        case ATOLL_DTYPE_COMPLEX64:
            return s.value.f32[0] == static_cast<float>(value) && s.value.f32[1] == 0;
        case ATOLL_DTYPE_COMPLEX128: return s.value.f64[0] == value && s.value.f64[1] == 0;
        default:
            return s.value.bytes[0] == value &&
                   std::memcmp(s.value.bytes + 1, zeros, sizes[wide] - 1u) == 0;
        }
    };
    const bool adds = !(call.operands[3].flags & ATOLL_OPERAND_ABSENT);
    return is(call.attributes[0], 1) && !(adds && !is(call.attributes[1], 0));
}

std::int32_t outer_product(const atoll_call &call) {
    std::int64_t extents[ATOLL_MAX_RANK], strides[3][ATOLL_MAX_RANK];
    atoll_operand operands[3];
    atoll_call product = call;
    product.function = ATOLL_FN_multiply;
    product.rank = static_cast<std::uint16_t>(call.rank - 1);
    product.shape = extents;
    product.operands = operands;
    // All axes but k.
    for (std::uint32_t axis = 0, place = 0; axis < call.rank; ++axis) {
        if (axis == 1) continue;
        extents[place] = call.shape[axis];
        for (int o = 0; o < 3; ++o) strides[o][place] = call.operands[o].strides[axis];
        ++place;
    }
    for (int o = 0; o < 3; ++o) {
        operands[o] = call.operands[o];
        operands[o].strides = strides[o];
    }
    return atoll_kernels_binary(&product);
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_matmul(const atoll_call *call) {
    using namespace Atoll::kernels;
    if (call->dtype == ATOLL_DTYPE_NONE || call->dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    if (is_outer(*call)) return outer_product(*call);
    try {
        switch (call->dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        run<Wrapping<wide::identifier>>(*call);                                                    \
        break;
#include "atoll/lists/dtypes.inc"
        }
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
