// Without isolation a plugin that ends the process ends the kit, and its status would say that all
// is well.
#pragma once

namespace Atoll::conformance {

// While this lives, exit, quick_exit and _exit of this process say that a plugin must not do that,
// and end it with status 1. A system call that a plugin makes itself is not noticed.
class EndOfProcess {
public:
    EndOfProcess();
    ~EndOfProcess();
    EndOfProcess(const EndOfProcess &) = delete;
    EndOfProcess &operator=(const EndOfProcess &) = delete;
};

} // namespace Atoll::conformance
