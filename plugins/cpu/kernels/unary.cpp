// The loops of element-wise functions of one input.
#include "loop_table.h"

namespace Atoll::kernels {

constinit const LoopTable unary_loops = loop_table<1>();

} // namespace Atoll::kernels
