// What the loader needs of interposers, and the lock of changes.
#pragma once

#include "atoll/interpose.hpp"
#include "runtime/registry.hpp"

#include <functional>
#include <mutex>

namespace Atoll::detail {

// Locks the registry; throws Error (busy) on a thread that is inside a call.
std::unique_lock<std::recursive_mutex> lock_registry(std::string_view op);

// The same for a call that changes what is loaded or pushed. Throws Error (busy) also if this
// thread is inside such a change already, in a plugin's code or a log handler that the change runs:
// the lists that the outer call walks would be modified.
class RegistryChange {
public:
    explicit RegistryChange(std::string_view op);
    ~RegistryChange();
    RegistryChange(const RegistryChange &) = delete;
    RegistryChange &operator=(const RegistryChange &) = delete;

private:
    std::unique_lock<std::recursive_mutex> lock_;
};

// Hold the registry's mutex for all of these.
InterposerHandle push_named(std::string_view target, std::string_view name, int priority,
                            bool from_environment);
// Removes interposers, waits for running calls, and destroys their state.
void remove_interposers(const std::function<bool(const InterposerEntry &)> &which);
std::string report_of(const InterposerEntry &entry);

} // namespace Atoll::detail
