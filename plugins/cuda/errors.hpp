// What CUDA's errors mean, and processes that CUDA does not work in.
#pragma once

#include <string>

#include <cuda_runtime.h>

namespace Atoll::cuda {

// Whether CUDA's documentation says of this error that the process must be started anew.
bool is_final(cudaError_t code);
// What to do, to be appended to CUDA's own words; may be empty.
const char *advice(cudaError_t code);
// Why there are no devices.
std::string reason_of_none(cudaError_t code);

// CUDA does not work in a process that was forked from one that had used it.
void note_use();
bool is_forked();

} // namespace Atoll::cuda
