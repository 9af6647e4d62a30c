// Loading a plugin in a child process first, on request, to learn whether a process survives it.
#pragma once

#include "loader/plugin_files.hpp"

#include <string>

namespace Atoll::detail {

// Note [Probe]
// A plugin runs code in this process as soon as it is opened: a crash in a constructor, an abort in
// query or an endless loop in load cannot be undone. With the probe on (set_probe, or ATOLL_PROBE),
// the helper program `atoll-probe` first loads each file that this process has not opened before,
// in a process group that is killed at the deadline. The helper is a new process, never a fork of
// this one, whose threads may hold locks. What kills the helper is refused here; what the helper
// only refuses is left to this process, which explains it. Modules that the plugin depends on are
// loaded too, each after a probe of its own with half the time, so that the plugin that crashes is
// blamed.
//
// The helper is in the folder `atoll` beside the library, or beside the library in a build folder.
// A file that killed a helper is not tried again while it stays unchanged. A missed deadline is not
// remembered, since it depends on the machine's load.

// Throws Error if the file must not be opened: the child did not survive loading it, or the probe
// cannot run. Blocks while loading takes, at most until the deadline. Under the registry's mutex.
void probe_if_asked(const CheckedPath &file, const std::string &plugin,
                    const std::string &library_folder);

} // namespace Atoll::detail
