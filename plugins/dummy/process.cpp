// Forks are watched, so that a call need not ask the system for the process.
#include "process.hpp"

#include "atoll/plugin.hpp"

#include <atomic>
#include <pthread.h>

namespace Dummy {

namespace {
std::atomic<bool> in_child{false};
}

Process::Process() {
    static const int status = pthread_atfork(nullptr, nullptr, [] { in_child = true; });
    if (status != 0)
        throw Atoll::sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY,
                                "cannot watch for forks of the process");
}

bool Process::left_behind() const { return in_child && id_ != getpid(); }

void refuse_child(const std::string &plugin, const std::string &function) {
    throw Atoll::sdk::Error(ATOLL_STATUS_DEVICE_LOST,
                            "[" + function + "] " + plugin +
                                " does not work in a child that was forked after it was loaded");
}

} // namespace Dummy
