// A matrix as an operand of the element-wise kernels.
#include "matrix.h"

namespace Atoll::kernels {

void copy(const Matrix &out, const Side &out_side, const Matrix &in, const Side &in_side) {
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
    call.function = ATOLL_FN_copy;
    call.dtype = operands[1].dtype;
    call.rank = 2;
    call.shape = shape;
    call.operands = operands;
    atoll_kernels_copy(&call);
}

} // namespace Atoll::kernels
