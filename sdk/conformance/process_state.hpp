// What a plugin must leave as it is in the process that loads it, and what the host says about the
// plugin.
#pragma once

#include <map>
#include <string>

namespace Atoll::conformance {

// Modes and settings of this process and of the calling thread, by name: the floating-point mode,
// the handlers of signals, the environment, the locale, the working directory.
using ProcessState = std::map<std::string, std::string>;
ProcessState process_state();
// Throws Failed, naming what has changed.
void require_unchanged(const ProcessState &before);

// In a child of the kit. Throws Failed if something was printed to standard output; if this process
// has children.
void require_no_output();
void require_no_processes();

// Receives the log and the warnings of the host while it lives; one at a time.
class HostLog {
public:
    HostLog();
    ~HostLog();
    HostLog(const HostLog &) = delete;
    HostLog &operator=(const HostLog &) = delete;
    // What was logged as a warning or an error since the last call, without what the plugin `name`
    // logged itself.
    static std::string take(const std::string &name);
};

} // namespace Atoll::conformance
