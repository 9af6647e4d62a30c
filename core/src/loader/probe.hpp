// Loading a plugin in a child process first, on request, to learn whether a process survives it.
#pragma once

#include "loader/plugin_files.hpp"

#include <string>

namespace Atoll::detail {

// Note [Probe]
// A plugin runs code in this process as soon as it is opened: a crash in a constructor, an abort in
// query, an endless loop in load cannot be undone here. With the probe on (set_probe, or
// ATOLL_PROBE), a file that this process has not opened before is first loaded by the helper
// `atoll-probe`, a program of its own that is started afresh (never a fork of this process, whose
// threads may hold locks), in a process group that is killed at the deadline. What kills the helper
// is refused here; what the helper only refuses is left to this process, which explains it. Modules
// that the plugin depends on are loaded too, each after a probe of its own with half the time, so
// that a crash is put down to the plugin that crashes.
//
// The helper lies in the folder `atoll` beside the library, or beside the library in a build
// folder. What killed a helper is not tried again by this process while the file stays as it is.
// That the deadline passed is not remembered, since it depends on the machine's load.

// Throws Error if the file must not be opened here: the child did not survive loading it, or the
// probe is not set up as it should be. Blocks for as long as loading takes, at most to the
// deadline. Under the registry's mutex.
void probe_if_asked(const CheckedPath &file, const std::string &plugin,
                    const std::string &library_folder);

} // namespace Atoll::detail
