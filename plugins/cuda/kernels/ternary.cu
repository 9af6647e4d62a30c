// Element-wise functions of three inputs.
#include "kernels.hpp"
#include "map.cuh"

namespace Atoll::cuda {
namespace {

namespace functor = kernels::functor;

struct Select {
    template <class S> __host__ __device__ static S apply(Bool mask, S a, S b) {
        return kernels::truth(mask) ? a : b;
    }
};
constexpr auto selects = launchers_of<ATOLL_FN_where, const Mapping<4> *>([](auto dtype) {
    using Element = kernels::Wrapping<Stored<dtype()>>;
    using S = std::conditional_t<std::is_same_v<Element, Bool>, Bool, Raw<Element>>;
    return &mapping_of<Select, S, Bool, S, S>;
});

constexpr MappingTable<3> table = {
#define ATOLL_FUNCTION(id, name, ...) mapping_row<3, id, functor::name>(),
#include "atoll/lists/functions.inc"
};

} // namespace

void ternary(State &state, atoll_call &call) {
    const Target target(state, call);
    if (call.function == ATOLL_FN_where) {
        const std::uint16_t dtypes[] = {call.dtype, ATOLL_DTYPE_BOOL, call.dtype, call.dtype};
        map_as(target, call.rank, call.shape, call.operands, dtypes, call.dtype,
               *selects[call.dtype]);
    } else {
        run_row(table, target, call);
    }
    target.enqueued();
}

} // namespace Atoll::cuda
