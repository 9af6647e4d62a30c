// Adds a plugin to the registry, reports on it, and removes it.
#pragma once

#include "atoll/plugins.hpp"
#include "loader/descriptor.hpp"

namespace Atoll::detail {

// Call all of these with the registry's mutex held, and never inside a call.

// Publishes the declarations of a started plugin, enumerates its devices and opens the state of all
// implementations that waited for it. Throws Error if the plugin must be refused; then call
// unregister_plugin to remove what was published.
void register_plugin(PluginRecord &plugin, Descriptor &descriptor);
// The report on a loaded plugin.
PluginReport describe(const PluginRecord &plugin);
// Starts or stops routing calls to the plugin's functions, except those of its own devices, which
// may still have to free memory. Waits for running calls.
void set_routed(const PluginRecord &plugin, bool routed);
// Stops routing to the plugin, waits for running calls, closes the state of its implementations and
// unloads it.
void unregister_plugin(PluginRecord &plugin);
// The same unless the plugin is in use: then throws Error (busy) and changes nothing.
void withdraw_plugin(PluginRecord &plugin);

} // namespace Atoll::detail
