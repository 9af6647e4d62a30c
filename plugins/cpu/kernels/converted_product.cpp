// Products of few elements that are not the numbers in which they are multiplied: packing and
// converting tiles would take longer than all else.
#include "converted_product.h"

#include "convert.h"
#include "direct_product.h"
#include "functors/arithmetic.h"
#include "scratch.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t longest = 16; // of m, k and n
constexpr std::int64_t short_run = 16;
constexpr std::int64_t most_elements = 16'384; // of a copy; larger stacks are cut

// An operand and its dense copy.
struct Copy {
    std::int64_t shape[ATOLL_MAX_RANK], strides[ATOLL_MAX_RANK];
    std::int64_t elements = 1;
    int run = 0; // the axis that is converted at once

    // Without the axis along which it does not vary.
    Copy(const atoll_call &call, int without, std::int64_t size) {
        for (int axis = 0; axis < call.rank; ++axis) {
            shape[axis] = axis == without ? 1 : call.shape[axis];
            strides[axis] = axis == without ? 0 : elements * size;
            elements *= shape[axis];
            if (shape[run] < short_run && shape[axis] > shape[run]) run = axis;
        }
    }
    void convert(const Conversion &conversion, int rank, char *out, const std::int64_t *out_strides,
                 const char *in, const std::int64_t *in_strides) const {
        std::int64_t index[ATOLL_MAX_RANK] = {};
        for (std::int64_t left = elements / shape[run]; left > 0; --left) {
            conversion.run(shape[run], out, out_strides[run], in, in_strides[run]);
            for (int axis = 0; axis < rank; ++axis) {
                if (axis == run) continue;
                out += out_strides[axis];
                in += in_strides[axis];
                if (++index[axis] < shape[axis]) break;
                out -= index[axis] * out_strides[axis];
                in -= index[axis] * in_strides[axis];
                index[axis] = 0;
            }
        }
    }
};

} // namespace

template <class T> bool converted_product(const atoll_call &call, std::uint32_t wide, T alpha,
                                          T beta, bool conj_a, bool conj_b) {
    const std::int64_t *shape = call.shape;
    if (call.core != 3 || call.axes[0] != 1 || call.axes[1] != 1 || shape[0] > longest ||
        shape[1] > longest || shape[2] > longest || (shape[0] == 1 && shape[2] == 1) ||
        !truth(alpha))
        return false;
    constexpr std::int64_t size = sizeof(T);
    const bool adds = truth(beta);
    const int operands = adds ? 4 : 3;
    // The axis that each lacks: d and c k, a n, b m.
    const Copy copies[] = {{call, 1, size}, {call, 2, size}, {call, 0, size}, {call, 1, size}};
    std::int64_t most = 0;
    for (const Copy &copy : copies) most = std::max(most, copy.elements);
    const int last = call.rank - 1;
    if (most > most_elements && last >= 3 && shape[last] > 1) {
        std::int64_t extents[ATOLL_MAX_RANK];
        std::copy_n(shape, call.rank, extents);
        atoll_operand parts[4];
        std::copy_n(call.operands, 4, parts);
        atoll_call part = call;
        part.shape = extents;
        part.operands = parts;
        const std::int64_t half = shape[last] / 2;
        for (const std::int64_t extent : {half, shape[last] - half}) {
            extents[last] = extent;
            if (!converted_product(part, wide, alpha, beta, conj_a, conj_b)) return false;
            for (int o = 0; o < operands; ++o)
                parts[o].data = static_cast<char *>(parts[o].data) + half * parts[o].strides[last];
        }
        return true;
    }
    const Scratch scratch(operands * most * size);
    atoll_operand native[4] = {};
    for (int o = 0; o < 4; ++o) {
        native[o].data = scratch.data() + (o < operands ? o : 0) * most * size;
        native[o].strides = const_cast<std::int64_t *>(copies[o].strides);
        native[o].dtype = static_cast<std::uint16_t>(wide);
        const atoll_operand &operand = call.operands[o];
        if (o == 0 || o >= operands) continue;
        const Conversion in({operand.dtype, call.dtype, wide},
                            operand.flags & ATOLL_OPERAND_SWAPPED, false);
        copies[o].convert(in, call.rank, static_cast<char *>(native[o].data), copies[o].strides,
                          static_cast<const char *>(operand.data), operand.strides);
    }
    atoll_call product = call;
    product.dtype = static_cast<std::uint16_t>(wide);
    product.operands = native;
    if (!direct_product(product, alpha, beta, conj_a, conj_b, true)) return false;
    const atoll_operand &d = call.operands[0];
    const Conversion out({wide, call.dtype, d.dtype}, false, d.flags & ATOLL_OPERAND_SWAPPED);
    copies[0].convert(out, call.rank, static_cast<char *>(d.data), d.strides,
                      static_cast<const char *>(native[0].data), copies[0].strides);
    return true;
}
template bool converted_product(const atoll_call &, std::uint32_t, std::uint32_t, std::uint32_t,
                                bool, bool);
template bool converted_product(const atoll_call &, std::uint32_t, std::uint64_t, std::uint64_t,
                                bool, bool);
template bool converted_product(const atoll_call &, std::uint32_t, float, float, bool, bool);
template bool converted_product(const atoll_call &, std::uint32_t, double, double, bool, bool);
template bool converted_product(const atoll_call &, std::uint32_t, Complex<float>, Complex<float>,
                                bool, bool);
template bool converted_product(const atoll_call &, std::uint32_t, Complex<double>, Complex<double>,
                                bool, bool);

} // namespace Atoll::kernels
