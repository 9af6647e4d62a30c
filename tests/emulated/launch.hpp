// Runs the threads of a kernel's blocks on one thread of the processor.
//
// Note [Threads of a block]
// A block's threads run one after the other, in an order that the seed decides, each until it ends
// or comes to a barrier. Then the next one runs, on a stack of its own; when all have come to the
// barrier they go on, again in another order. So what a missing barrier leaves to chance goes wrong
// in some orders. Threads that never wait share one stack. Blocks run in any order too, and one at
// a time: races between blocks, between warps without barriers, and the caches of a real device
// are not to be seen here.
//
// Note [Shared memory]
// Shared memory is the thread-local memory of the kernel's library, in which the plugin keeps
// nothing else. No grid finds there what an earlier one has left.
#pragma once

#include "cuda_runtime.h"

#include <cstdint>
#include <functional>

namespace Emulated {

// Runs the whole grid of the function at `kernel` on the calling thread. Aborts with a word where
// only some threads of a block come to a barrier.
void run_grid(const void *kernel, const dim3 &blocks, const dim3 &threads,
              const std::function<void()> &thread, std::uint64_t seed);

} // namespace Emulated
