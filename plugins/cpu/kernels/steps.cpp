// Sequences: start, start + step, start + 2 step and so on, computed by blocks and converted.
#include "convert.h"
#include "parallel.h"
#include "space.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

// Element i of a sequence, in the dtype that `start` is in.
template <class T> T step_value(T start, T step, std::int64_t i) {
    if constexpr (is_complex<T>) {
        return {start.re + static_cast<double>(i) * step.re,
                start.im + static_cast<double>(i) * step.im};
    } else {
        return static_cast<T>(start + static_cast<T>(i) * step);
    }
}

template <class T>
void fill_steps(const Conversion &conversion, const Space &space, const atoll_scalar *attributes) {
    const auto attribute = [&](int i) {
        return load<T>(reinterpret_cast<const char *>(attributes[i].value.bytes));
    };
    const T start = attribute(0), step = attribute(1);
    const bool has_last = attributes[2].dtype != ATOLL_VALUE_ABSENT;
    const T last = has_last ? attribute(2) : T{};
    const std::int64_t n = space.shape[0], stride = space.strides[0][0];
    parallel((n + block_size - 1) / block_size, block_size,
             [&](std::int64_t begin, std::int64_t end) {
                 alignas(64) T block[block_size];
                 for (std::int64_t i = begin * block_size; i < std::min(n, end * block_size);
                      i += block_size) {
                     const std::int64_t count = std::min(block_size, n - i);
                     for (std::int64_t k = 0; k < count; ++k)
                         block[k] = step_value(start, step, i + k);
                     if (has_last && i + count == n) block[count - 1] = last;
                     conversion.run(count, space.data[0] + i * stride, stride,
                                    reinterpret_cast<const char *>(block), sizeof(T));
                 }
             });
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_steps(const atoll_call *call) {
    using namespace Atoll::kernels;
    const atoll_operand &out = call->operands[0];
    const std::uint32_t from = call->attributes[0].dtype;
    if (out.dtype == ATOLL_DTYPE_NONE || out.dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    // No axes: a Space may turn them around.
    Space space(0, 0, nullptr, &out, 1);
    space.shape[0] = call->shape[0];
    space.strides[0][0] = out.strides[0];
    const Conversion conversion({from, out.dtype}, false, out.flags & ATOLL_OPERAND_SWAPPED);
    switch (from) {
    case ATOLL_DTYPE_INT64:
    case ATOLL_DTYPE_UINT64: fill_steps<std::uint64_t>(conversion, space, call->attributes); break;
    case ATOLL_DTYPE_FLOAT64: fill_steps<double>(conversion, space, call->attributes); break;
    case ATOLL_DTYPE_COMPLEX128:
        fill_steps<Complex<double>>(conversion, space, call->attributes);
        break;
    default: return ATOLL_STATUS_NOT_SUPPORTED;
    }
    return ATOLL_STATUS_OK;
}
