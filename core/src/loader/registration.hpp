// What a plugin's descriptor becomes in the registry, what is told of it, and taking it out again.
#pragma once

#include "atoll/plugins.hpp"
#include "loader/descriptor.hpp"

namespace Atoll::detail {

// All of these: hold the registry's mutex, not from inside a call.

// Publishes what a started plugin declares, counts its devices and opens the state of every
// implementation that has waited for it. Throws Error where the plugin cannot be taken in; what was
// published by then is for unregister_plugin to take back.
void register_plugin(PluginRecord &plugin, const Descriptor &descriptor);
// What the application is told of a loaded plugin.
PluginReport describe(const PluginRecord &plugin);
// Stops or begins to route calls to the plugin's functions, but for those of its own devices, which
// may still have to give memory back. Waits for the calls under way.
void set_routed(const PluginRecord &plugin, bool routed);
// Stops routing to the plugin, waits for calls that are inside, closes its implementations' state
// and unloads it.
void unregister_plugin(PluginRecord &plugin);
// The same unless something uses the plugin: then throws Error (busy), and it goes on as before.
void withdraw_plugin(PluginRecord &plugin);

} // namespace Atoll::detail
