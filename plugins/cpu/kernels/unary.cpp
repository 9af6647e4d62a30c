// The loops of every function of the family UNARY.
#include "functors_compare.h"
#include "functors_integer.h"
#include "functors_math.h"
#include "vector_loops.h"

namespace Atoll::kernels {
namespace {

constexpr LoopTable make_table() {
    LoopTable table{};
#define ATOLL_FUNCTION_UNARY(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)       \
    table[id] = unary_row<functor::name, ATOLL_DOMAIN_##DOMAIN>();
#include "atoll/lists/functions_by_family.inc"
    return table;
}

} // namespace

constinit const LoopTable unary_loops = make_table();

} // namespace Atoll::kernels
