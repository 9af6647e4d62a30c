// Element-wise functions of one input.
#include "kernels.hpp"
#include "map.cuh"

namespace Atoll::cuda {
namespace {

namespace functor = kernels::functor;

constexpr MappingTable<1> table = {
#define ATOLL_FUNCTION(id, name, ...) mapping_row<1, id, functor::name>(),
#include "atoll/lists/functions.inc"
};

} // namespace

void unary(State &state, atoll_call &call) {
    const Target target(state, call);
    run_row(table, target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
