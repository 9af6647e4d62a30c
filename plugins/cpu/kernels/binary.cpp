// The loops of every function of the family BINARY.
#include "functors_compare.h"
#include "functors_integer.h"
#include "functors_math.h"
#include "vector_loops.h"

namespace Atoll::kernels {
namespace {

constexpr LoopTable make_table() {
    LoopTable table{};
#define ATOLL_FUNCTION_BINARY(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)      \
    table[id] = binary_row<functor::name, ATOLL_DOMAIN_##DOMAIN>();
#include "atoll/lists/functions_by_family.inc"
    return table;
}

} // namespace

constinit const LoopTable binary_loops = make_table();

} // namespace Atoll::kernels
