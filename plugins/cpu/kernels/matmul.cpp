// matmul: outer products are element-wise ones, matrices that the caches hold are multiplied where
// they are, tiny ones of other numbers after a conversion, a matrix times a vector has loops of its
// own, thin matrices are multiplied where they are, too, if that is ahead of BLAS or BLAS does not
// take them, larger ones go to BLAS, and all else is a contraction. A BLAS that the user names gets
// all but the smallest matrices.
#include "amx.h"
#include "blas.h"
#include "blas_product.h"
#include "converted_product.h"
#include "direct_product.h"
#include "dot_product.h"
#include "engine.h"
#include "functors/arithmetic.h"
#include "interleaved_product.h"
#include "matrix_vector.h"
#include "openblas_product.h"
#include "parallel.h"
#include "product_vectors.h"
#include "streaming.h"
#include "thin_product.h"

#include <bit>
#include <optional>

namespace Atoll::kernels {
namespace {

bool flag(const atoll_call &call, int attribute) {
    return call.attributes[attribute].value.bytes[0] != 0;
}
// What a dtype that is computed in W is multiplied in: integers wrap when they are stored.
template <class W> struct MultipliedIn { using type = W; };
template <class W>
requires std::is_integral_v<W>
struct MultipliedIn<W> {
    using type = std::conditional_t<sizeof(W) == 8, std::uint64_t,
                                    std::conditional_t<sizeof(W) == 4, std::uint32_t, Pairs>>;
};
template <> struct MultipliedIn<Bool> { using type = Truth; };

// An attribute of the dtype that is computed in W.
template <class W> auto factor(const atoll_scalar &s) {
    using T = typename MultipliedIn<W>::type;
    const W value = load<W>(reinterpret_cast<const char *>(s.value.bytes));
    if constexpr (is_bool<W>)
        return T{truth(value)};
    else if constexpr (std::is_same_v<T, Pairs>)
        return T{static_cast<std::uint32_t>(value)};
    else
        return static_cast<T>(value);
}

// Products that are bound by writing d, which BLAS reads first: from some size on the engine stores
// past the caches.
template <class T> bool is_bound_by_output(const Contraction &p) {
    const std::int64_t m = p.m.size(), n = p.n.size();
    return sizeof(T) >= 8 && p.k.size() <= 128 && m >= 32 && n >= 16 &&
           m * n * static_cast<std::int64_t>(sizeof(T)) >= large_operands().products;
}

// A plain product of matrices that BLAS takes, once for each element of the batch.
template <class T> bool blas_contract(const Contraction &p, std::uint32_t dtype, T alpha, T beta) {
    constexpr std::int64_t size = sizeof(T);
    const bool adds = truth(beta);
    if (!p.is_plain() || !truth(alpha) || (!adds && is_bound_by_output<T>(p))) return false;
    if (p.k.size() == 0) return false; // gemv leaves d as it is
    for (ProductOperand o : {product_d, product_a, product_b}) {
        const Matrix matrix = p.matrix(o);
        std::uint64_t bits = reinterpret_cast<std::uint64_t>(matrix.data);
        for (int i = 0; i < p.batch.count; ++i)
            bits |= static_cast<std::uint64_t>(p.batch.axis[i].stride[o]);
        if (p.side[o].dtype != dtype || p.side[o].swapped || bits % alignof(T) != 0 ||
            !is_blas_matrix(matrix, size))
            return false;
    }
    const Blas *const blas = kernels::blas();
    const bool conjugates = p.matrix(product_a).conj || p.matrix(product_b).conj;
    if (!blas || !blas->suits_processor || (conjugates && !blas->is_openblas)) return false;
    // Small matrices side by side, unless the library would share each among threads; large ones
    // one after the other, each on all threads.
    const std::int64_t work = p.work();
    const bool side_by_side = p.batch.size() > 1 && work <= openblas_serial_work<T>;
    if (side_by_side && !blas->is_openblas && work <= 32 * 32 * 32) return false;
    if (!side_by_side && !is_blas_named() && p.suits_side_by_side()) return false;
    // What overlaps is the very same, but maybe of another dtype or byte order.
    const bool in_place =
        p.data[product_c] == p.data[product_d] && is_native(p.side[product_c], dtype, size);
    const auto matrices = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto matrix = [&](ProductOperand o) {
                Matrix x = p.matrix(o);
                x.data += p.batch_offset(o, i);
                return x;
            };
            const Matrix d = matrix(product_d);
            if (adds && !in_place) copy(d, {dtype}, matrix(product_c), p.side[product_c]);
            if (blas->is_openblas)
                openblas_product<T>(d, matrix(product_a), matrix(product_b), alpha, beta);
            else
                blas_product<T>(d, matrix(product_a), matrix(product_b), alpha, beta);
        }
    };
    if (side_by_side && blas->is_openblas)
        parallel(p.batch.size(), work, matrices);
    else
        matrices(0, p.batch.size());
    return true;
}

bool is_byte(const Side &side) {
    return side.dtype == ATOLL_DTYPE_INT8 || side.dtype == ATOLL_DTYPE_UINT8;
}
bool fits_int16(const Side &side) { return is_byte(side) || side.dtype == ATOLL_DTYPE_INT16; }

#if defined(__x86_64__) && defined(__AVX512F__)
bool is_bfloat16(const Side &side) { return side.dtype == ATOLL_DTYPE_BFLOAT16; }

// By instructions that multiply bytes or bfloat16, where the processor has them: of AMX for what
// fills half a register along k, and a tile of some shape.
template <class T> std::optional<std::int32_t>
contract_packed(const Contraction &p, std::uint32_t dtype, T alpha, T beta) {
    const std::int64_t k = p.k.size();
    const bool suits_amx = k >= 32 && p.work() >= 32 * 32 * 32;
    if constexpr (std::is_same_v<T, float>) {
        const bool factors = is_bfloat16(p.side[product_a]) && is_bfloat16(p.side[product_b]);
        if (dtype == ATOLL_DTYPE_BFLOAT16 || (dtype == ATOLL_DTYPE_FLOAT32 && factors)) {
            if (suits_amx && has_amx())
                return contract(p, dtype, AmxBfloat16s{alpha}, AmxBfloat16s{beta});
            if (has_avx512_bf16()) return contract(p, dtype, Bfloat16s{alpha}, Bfloat16s{beta});
        }
    } else if constexpr (std::is_same_v<T, Pairs> || std::is_same_v<T, std::uint32_t>) {
        const auto a = std::bit_cast<std::uint32_t>(alpha), b = std::bit_cast<std::uint32_t>(beta);
        if (sizes[dtype] == 1 || (is_byte(p.side[product_a]) && is_byte(p.side[product_b]))) {
            if (suits_amx && has_amx()) return contract(p, dtype, AmxBytes{a}, AmxBytes{b});
            if (k > 2 && has_vnni()) return contract(p, dtype, Bytes{a}, Bytes{b});
        }
    }
    return std::nullopt;
}
#endif

template <class W> std::int32_t run(const atoll_call &call) {
    using T = typename MultipliedIn<W>::type;
    const T alpha = factor<W>(call.attributes[0]);
    T beta = factor<W>(call.attributes[1]);
    if (call.operands[3].flags & ATOLL_OPERAND_ABSENT) beta = T{};
    const bool conj_a = flag(call, 2), conj_b = flag(call, 3);
    constexpr bool integers = std::is_integral_v<T>;
    if constexpr (integers || is_float<Part<T>>)
        if (widened(call.dtype) == call.dtype &&
            direct_product(call, alpha, beta, conj_a, conj_b, !integers && is_blas_named()))
            return ATOLL_STATUS_OK;
    const Contraction contraction(call, truth(beta), conj_a, conj_b);
    if constexpr (integers || is_float<T>)
        if (interleaved_product(contraction, call.dtype, alpha, beta) ||
            dot_products(contraction, call.dtype, alpha, beta))
            return ATOLL_STATUS_OK;
    if constexpr (integers || is_float<Part<T>>)
        if ((integers || !is_blas_named()) && matrix_vector(contraction, call.dtype, alpha, beta))
            return ATOLL_STATUS_OK;
    if constexpr (integers || is_float<Part<T>>) {
        if (converted_product(call, widened(call.dtype), alpha, beta, conj_a, conj_b))
            return ATOLL_STATUS_OK;
    } else if constexpr (std::is_same_v<T, Pairs>) {
        if (converted_product(call, ATOLL_DTYPE_INT32, alpha.value, beta.value, conj_a, conj_b))
            return ATOLL_STATUS_OK;
    }
    if constexpr (is_float<Part<T>>) {
        if (!is_blas_named() && thin_product(contraction, call.dtype, alpha, beta, true))
            return ATOLL_STATUS_OK;
        if (widened(call.dtype) == call.dtype &&
            blas_contract(contraction, call.dtype, alpha, beta))
            return ATOLL_STATUS_OK;
    }
    if constexpr (integers || is_float<Part<T>>)
        if (thin_product(contraction, call.dtype, alpha, beta)) return ATOLL_STATUS_OK;
#if defined(__x86_64__) && defined(__AVX512F__)
    if (const auto status = contract_packed(contraction, call.dtype, alpha, beta)) return *status;
#endif
    if constexpr (std::is_same_v<T, std::uint32_t>)
        if (fits_int16(contraction.side[product_a]) && fits_int16(contraction.side[product_b]))
            return contract(contraction, call.dtype, Pairs{alpha}, Pairs{beta});
    return contract(contraction, call.dtype, alpha, beta);
}

// A product of a column and a row is an element-wise product.
bool is_outer(const atoll_call &call) {
    if (flag(call, 2) || flag(call, 3)) return false;
    const int first = call.axes[0];
    for (int axis = first; axis < first + call.axes[1]; ++axis)
        if (call.shape[axis] != 1) return false;
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
    product.rank = static_cast<std::uint16_t>(call.rank - call.axes[1]);
    product.shape = extents;
    product.operands = operands;
    // All axes but k.
    for (int axis = 0, place = 0; axis < call.rank; ++axis) {
        if (axis >= call.axes[0] && axis < call.axes[0] + call.axes[1]) continue;
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
    std::int32_t status = ATOLL_STATUS_NOT_SUPPORTED;
    switch (call->dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        status = run<wide::identifier>(*call);                                                     \
        break;
#include "atoll/lists/dtypes.inc"
    }
    return status;
}

const char *atoll_kernels_lack(const atoll_call *call) {
    const bool multiplies = call->function == ATOLL_FN_matmul;
    return multiplies && ATOLL_DOMAIN_FLOATING >> call->dtype & 1 ? atoll_kernels_open_blas()
                                                                  : nullptr;
}
