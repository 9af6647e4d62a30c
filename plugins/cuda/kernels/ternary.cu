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
template <std::uint32_t dtype> void where_call(const Target &target, const atoll_call &call) {
    using Element = kernels::Wrapping<Stored<dtype>>;
    using S = std::conditional_t<std::is_same_v<Element, Bool>, Bool, Raw<Element>>;
    constexpr std::uint16_t dtypes[] = {dtype, ATOLL_DTYPE_BOOL, dtype, dtype};
    map_as<Select, S, Bool, S, S>(target, call.rank, call.shape, call.operands, dtypes,
                                  is_signed_dtype(dtype));
}

constexpr LauncherTable make_table() {
    LauncherTable table = {
#define ATOLL_FUNCTION(id, name, ...) launcher_row<3, id, functor::name>(),
#include "atoll/lists/functions.inc"
    };
    table[ATOLL_FN_where] =
        launchers_of<ATOLL_FN_where>([](auto dtype) { return &where_call<dtype()>; });
    return table;
}
constexpr LauncherTable table = make_table();

} // namespace

void ternary(State &state, atoll_call &call) { run_row(table, state, call); }

} // namespace Atoll::cuda
