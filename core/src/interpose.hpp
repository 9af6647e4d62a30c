// What the loader needs of interposers.
#pragma once

#include "atoll/interpose.hpp"
#include "registry.hpp"

#include <functional>

namespace Atoll::detail {

// Throws Error (busy) on a thread that is inside a call.
void refuse_inside_call(std::string_view op);
// All of these: hold the registry's mutex.
InterposerHandle push_named(std::string_view target, std::string_view name, int priority,
                            bool from_environment, const std::vector<PluginRecord *> &plugins);
// Takes them out, waits for running calls, destroys their state.
void remove_interposers(const std::function<bool(const InterposerEntry &)> &which);
std::string report_of(const InterposerEntry &entry);

} // namespace Atoll::detail
