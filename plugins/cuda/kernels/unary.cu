// Element-wise functions of one input.
#include "kernels.hpp"
#include "map.cuh"

namespace Atoll::cuda {
namespace {

namespace functor = kernels::functor;

constexpr LauncherTable table = {
#define ATOLL_FUNCTION(id, name, ...) launcher_row<1, id, functor::name>(),
#include "atoll/lists/functions.inc"
};

} // namespace

void unary(State &state, atoll_call &call) { run_row(table, state, call); }

} // namespace Atoll::cuda
