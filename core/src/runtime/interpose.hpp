// What the loader needs of interposers.
#pragma once

#include "atoll/interpose.hpp"
#include "runtime/registry.hpp"

#include <functional>
#include <mutex>

namespace Atoll::detail {

// Throws Error (busy) on a thread that is inside a call.
void refuse_inside_call(std::string_view op);

// Holds the registry's mutex for a call that changes what is loaded or pushed. Throws Error (busy)
// where this thread is inside such a call already: in a plugin's code that the call runs, or in the
// application's log handler. Lists that the outer call walks would change under it.
class RegistryChange {
public:
    explicit RegistryChange(std::string_view op);
    ~RegistryChange();
    RegistryChange(const RegistryChange &) = delete;
    RegistryChange &operator=(const RegistryChange &) = delete;

private:
    std::unique_lock<std::recursive_mutex> lock_;
};
// All of these: hold the registry's mutex.
InterposerHandle push_named(std::string_view target, std::string_view name, int priority,
                            bool from_environment);
// Takes them out, waits for running calls, destroys their state.
void remove_interposers(const std::function<bool(const InterposerEntry &)> &which);
std::string report_of(const InterposerEntry &entry);

} // namespace Atoll::detail
