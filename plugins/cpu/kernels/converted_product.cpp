// Products of few elements that are not the numbers in which they are multiplied: packing and
// converting tiles would take longer than all else.
#include "converted_product.h"

#include "convert.h"
#include "direct_product.h"
#include "functors/arithmetic.h"
#include "scratch.h"
#include "space.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t longest = 16; // of m, k and n
constexpr std::int64_t short_row = 16;
constexpr std::int64_t most_elements = 16'384; // of a copy; larger stacks are cut

// A dense copy of an operand, which does not vary along one axis.
struct Copy {
    std::int64_t shape[ATOLL_MAX_RANK], strides[ATOLL_MAX_RANK];
    std::int64_t elements = 1;

    Copy(const atoll_call &call, int without, std::int64_t size) {
        for (int axis = 0; axis < call.rank; ++axis) {
            shape[axis] = axis == without ? 1 : call.shape[axis];
            strides[axis] = axis == without ? 0 : elements * size;
            elements *= shape[axis];
        }
    }
};

bool swapped(const atoll_operand &operand) { return operand.flags & ATOLL_OPERAND_SWAPPED; }

void convert(const Conversion &with, const Copy &copy, std::uint32_t rank, const atoll_operand &out,
             const atoll_operand &in) {
    if (copy.elements == 0) return; // a product of no terms
    const atoll_operand operands[] = {out, in};
    Space space(0, rank, copy.shape, operands, 2);
    int row = 0;
    for (int axis = 1; axis < space.rank; ++axis)
        if (space.shape[row] < short_row && space.shape[axis] > space.shape[row]) row = axis;
    std::swap(space.shape[0], space.shape[row]);
    for (int k = 0; k < 2; ++k) std::swap(space.strides[k][0], space.strides[k][row]);
    Rows rows(space, 0, 1);
    for (std::int64_t left = space.outer(); left > 0; --left, rows.next())
        with.run(space.shape[0], rows.data[0], space.strides[0][0], rows.data[1],
                 space.strides[1][0]);
}

} // namespace

template <class T> bool converted_product(const atoll_call &call, std::uint32_t wide, T alpha,
                                          T beta, bool conj_a, bool conj_b) {
    const std::int64_t *shape = call.shape;
    if (!is_of_matrices(call, longest) || (shape[0] == 1 && shape[2] == 1) || !truth(alpha))
        return false;
    constexpr std::int64_t size = sizeof(T);
    const bool adds = truth(beta);
    const int operands = adds ? 4 : 3;
    // The axis that each lacks: d and c k, a n, b m.
    const Copy copies[] = {{call, 1, size}, {call, 2, size}, {call, 0, size}, {call, 1, size}};
    std::int64_t most = 0;
    for (int o = 0; o < 3; ++o) most = std::max(most, copies[o].elements); // c is as large as d
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
    for (int o = 0; o < operands; ++o) {
        const atoll_operand &operand = call.operands[o];
        native[o].data = scratch.data() + o * most * size;
        native[o].strides = copies[o].strides;
        native[o].dtype = static_cast<std::uint16_t>(wide);
        if (o > 0)
            convert({{operand.dtype, call.dtype, wide}, swapped(operand), false}, copies[o],
                    call.rank, native[o], operand);
    }
    atoll_call product = call;
    product.dtype = static_cast<std::uint16_t>(wide);
    product.operands = native;
    if (!direct_product(product, alpha, beta, conj_a, conj_b, true)) return false;
    const atoll_operand &d = call.operands[0];
    convert({{wide, call.dtype, d.dtype}, false, swapped(d)}, copies[0], call.rank, d, native[0]);
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
