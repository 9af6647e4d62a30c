// Interposers: wrapping any function of any backend in a running program.
#pragma once

#include "atoll/abi/call.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll {

// Which slots: "*" everything; "core.*" a module; "core.add" a function; any of them with a device
// type, "core.add@cpu", and a compute dtype, "core.add@cpu:float32".
using InterposerHandle = std::uint64_t;

// Pushes `function` over the target; it passes calls on with self->next->fn(self->next, call) and
// gets `context` as self->ctx. Higher priorities are further out; among equals the newest is.
// Future plugins' slots are covered too. Thread-safe; never waits for running calls; blocks only
// for other pushes and pops. Throws Error for a target that names nothing known (unless it ends in
// '*').
InterposerHandle push_interposer(std::string_view target, atoll_fn function, void *context,
                                 int priority = 0, std::string_view name = "application");
// One that a loaded plugin offers, by name ("trace").
InterposerHandle push_interposer(std::string_view target, std::string_view name, int priority = 0);
// Takes it out of every slot, waits until no call is inside any more, then frees its state. Throws
// Error (busy) from inside a call, and (not_found) for an unknown handle.
void pop_interposer(InterposerHandle handle);
// What the interposer has to say so far, as text.
std::string interposer_report(InterposerHandle handle);

struct InterposerInfo {
    InterposerHandle handle;
    std::string name, target;
    int priority;
};
// Those in force, outermost first. Those that ATOLL_INTERPOSERS names ("trace", "trace=core.*",
// comma-separated, in order) are pushed when the library loads its first plugin, and report to
// standard error at exit.
std::vector<InterposerInfo> interposers();
// The chain of one slot, outermost first: "interposer trace", "implementation of plugin cpu",
// "stub" (which says that nothing is implemented). Without a dtype: that of the first.
std::vector<std::string> chain(std::string_view function, std::string_view device_type,
                               std::string_view dtype = {});

} // namespace Atoll
