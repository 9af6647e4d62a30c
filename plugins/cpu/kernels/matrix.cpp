// Packing: a matrix as an operand of the element-wise kernels.
#include "matrix.h"

namespace Atoll::kernels {

void apply(std::int32_t (*kernel)(const atoll_call *), atoll_core_function function,
           const Matrix &out, const Side &out_side, const Matrix &in, const Side &in_side) {
    const std::int64_t shape[2] = {out.rows, out.columns};
    const std::int64_t strides[2][2] = {{out.down, out.across}, {in.down, in.across}};
    atoll_operand operands[2] = {};
    for (int k = 0; k < 2; ++k) {
        const Side &side = k ? in_side : out_side;
        operands[k].data = operands[k].base = k ? in.data : out.data;
        operands[k].strides = strides[k];
        operands[k].dtype = static_cast<std::uint16_t>(side.dtype);
        operands[k].flags = side.swapped ? ATOLL_OPERAND_SWAPPED : 0;
    }
    atoll_call call = {};
    call.function = static_cast<std::uint16_t>(function);
    call.dtype = operands[1].dtype;
    call.rank = 2;
    call.shape = shape;
    call.operands = operands;
    kernel(&call);
}
void copy(const Matrix &out, const Side &out_side, const Matrix &in, const Side &in_side) {
    apply(&atoll_kernels_copy, ATOLL_FN_copy, out, out_side, in, in_side);
}

} // namespace Atoll::kernels
