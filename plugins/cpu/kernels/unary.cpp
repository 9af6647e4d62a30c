// The loops of every function of the family UNARY.
#include "loops.h"

namespace Atoll::kernels {
namespace {

#define ROW_COPY(name, DOMAIN)
#define ROW_FILL(name, DOMAIN)
#define ROW_STEPS(name, DOMAIN)
#define ROW_UNARY(name, DOMAIN) table[ATOLL_FN_##name] = unary_row<functor::name, DOMAIN>();
#define ROW_BINARY(name, DOMAIN)
#define ROW_REDUCE(name, DOMAIN)
#define ROW_MATMUL(name, DOMAIN)

constexpr LoopTable make_table() {
    LoopTable table{};
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc)                                        \
    ROW_##FAMILY(name, ATOLL_DOMAIN_##DOMAIN)
#include "atoll/lists/functions.inc"
    return table;
}

} // namespace

constinit const LoopTable unary_loops = make_table();

} // namespace Atoll::kernels
