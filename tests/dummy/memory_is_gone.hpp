// An operator new for the whole process that fails on demand.
#pragma once

#include <atomic>

namespace FakeHost {

// While true, operator new throws on all threads but the first.
extern std::atomic<bool> memory_is_gone;

} // namespace FakeHost
