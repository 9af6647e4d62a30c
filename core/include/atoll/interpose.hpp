// Interposers: wrap any function of any backend in a running program.
#pragma once

#include "atoll/abi/call.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll {

// A target selects slots: "*" all functions; "core.*" a module; "core.add" a function; any of them
// with a device type, "core.add@cpu", and a compute dtype, "core.add@cpu:float32".
using InterposerHandle = std::uint64_t;

// Pushes `function` over the target. The function passes calls on with
// self->next->fn(self->next, call) and receives `context` as self->ctx. Higher priorities are
// further out; among equal priorities the newest is outermost. Slots of plugins loaded later are
// included. Thread-safe; never waits for running calls; blocks only for other pushes and pops.
// Throws Error (not_found) for a target that names nothing known, unless it is `module.*`: that
// module may be loaded later.
InterposerHandle push_interposer(std::string_view target, atoll_fn function, void *context,
                                 int priority = 0, std::string_view name = "application");
// Pushes an interposer of a loaded plugin, by name ("trace").
InterposerHandle push_interposer(std::string_view target, std::string_view name, int priority = 0);
// Removes the interposer from every slot, waits until no call is inside it, then frees its state.
// Throws Error (busy) inside a call, and Error (not_found) for an unknown handle.
void pop_interposer(InterposerHandle handle);
// The interposer's report so far, as text.
std::string interposer_report(InterposerHandle handle);

struct InterposerInfo {
    InterposerHandle handle;
    std::string name, target;
    int priority;
};
// The active interposers, outermost first. The interposers that ATOLL_INTERPOSERS names ("trace",
// "trace=core.*", comma-separated, in order) are pushed when the library loads its first plugin,
// and report to standard error at exit.
std::vector<InterposerInfo> interposers();
// The chain of one slot, outermost first: "interposer trace", "implementation of plugin cpu",
// "stub" (which reports that nothing is implemented). Without a dtype: the slot of the first dtype.
std::vector<std::string> chain(std::string_view function, std::string_view device_type,
                               std::string_view dtype = {});

} // namespace Atoll
