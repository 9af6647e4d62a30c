// Element-wise functions of two inputs.
#include "functors/order.h"
#include "kernels.hpp"
#include "map.cuh"

namespace Atoll::cuda {
namespace {

namespace functor = kernels::functor;

constexpr MappingTable<2> table = {
#define ATOLL_FUNCTION(id, name, ...) mapping_row<2, id, functor::name>(),
#include "atoll/lists/functions.inc"
};

// ---- Comparisons of operands that the compute dtype cannot hold ----
// Note [Exact comparisons] in atoll/abi/module.h.

// The sign of a - b, and 2 where they have no order. A complex number is only equal or not.
__host__ __device__ int order(const Number &a, const Number &b) {
    if (a.is_integer && b.is_integer) {
        const bool a_negative = a.is_signed && a.bits >> 63,
                   b_negative = b.is_signed && b.bits >> 63;
        if (a_negative != b_negative) return a_negative ? -1 : 1;
        return int{a.bits > b.bits} - int{a.bits < b.bits};
    }
    if (a.is_integer) {
        if (b.im != 0) return 2;
        return a.is_signed ? kernels::exact_order(static_cast<std::int64_t>(a.bits), b.re)
                           : kernels::exact_order(a.bits, b.re);
    }
    if (b.is_integer) {
        const int opposite = order(b, a);
        return opposite == 2 ? 2 : -opposite;
    }
    if (a.re != a.re || b.re != b.re || a.im != b.im) return 2;
    return int{a.re > b.re} - int{a.re < b.re};
}

struct ExactComparison {
    Space<3> space;
    Access access[3];
    bool constant[3];
    Number constants[3];
    std::uint16_t function;
    __host__ __device__ bool holds(int sign) const {
        switch (function) {
        case ATOLL_FN_equal: return sign == 0;
        case ATOLL_FN_not_equal: return sign != 0;
        case ATOLL_FN_less: return sign == -1;
        case ATOLL_FN_less_equal: return sign == -1 || sign == 0;
        case ATOLL_FN_greater: return sign == 1;
        default: return sign == 1 || sign == 0;
        }
    }
    __device__ Number number(int k, const char *at) const {
        return constant[k] ? constants[k] : load(at, access[k]);
    }
    __device__ void operator()(std::uint32_t i) const {
        char *at[3];
        space.locate(i, at);
        store(at[0], access[0], number_of(Bool(holds(order(number(1, at[1]), number(2, at[2]))))));
    }
};

bool is_long_integer(std::uint32_t dtype) {
    return dtype == ATOLL_DTYPE_INT64 || dtype == ATOLL_DTYPE_UINT64;
}
bool must_be_exact(const atoll_call &call) {
    const std::uint32_t a = call.operands[1].dtype, b = call.operands[2].dtype;
    return sdk::core_functions[call.function].signature.exact && a != b &&
           (ATOLL_DOMAIN_FLOATING >> call.dtype & 1) && (is_long_integer(a) || is_long_integer(b));
}

void compare_exactly(const Target &target, const atoll_call &call) {
    ExactComparison work{};
    work.function = call.function;
    for (int k = 0; k < 3; ++k) {
        const atoll_operand &operand = call.operands[k];
        work.access[k] = access_of(call.rank, operand);
        work.constant[k] = k > 0 && (operand.flags & ATOLL_OPERAND_SCALAR);
        if (work.constant[k]) work.constants[k] = number_at(operand);
    }
    for_each_space(extents_of<3>(call.rank, call.shape, call.operands), [&](const Space<3> &space) {
        work.space = space;
        enqueue(target, work);
    });
}

} // namespace

void binary(State &state, atoll_call &call) {
    const Target target(state, call);
    if (must_be_exact(call))
        compare_exactly(target, call);
    else
        run_row(table, target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
