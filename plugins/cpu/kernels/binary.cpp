// The loops of element-wise functions of two inputs.
#include "loop_table.h"

namespace Atoll::kernels {

constinit const LoopTable binary_loops = loop_table<2>();

} // namespace Atoll::kernels
