// The checks, by group. Each function appends its own; bodies hold references to `target`.
#pragma once

#include "check.hpp"
#include "target.hpp"

namespace Atoll::conformance {

// Of the file alone, without running any of its code. Group "file".
void add_file_checks(Checks &checks, const std::string &path);
// Loading, the query, the descriptor. Group "load".
void add_load_checks(Checks &checks, const Target &target);
// Memory and transfers, then order and callbacks, and events. Groups "device" and "streams".
void add_device_checks(Checks &checks, const Target &target);
void add_stream_checks(Checks &checks, const Target &target, const std::string &type, int index);
void add_event_checks(Checks &checks, const Target &target, const std::string &type, int index);
// Function × dtype × layout. Groups "reached", "functions".
void add_function_checks(Checks &checks, const Target &target);
// The same for lengths around those of vectors, blocks and threads' shares. Group "functions".
void add_length_checks(Checks &checks, const Target &target);
// Nothing before or behind the elements of operands is read or written. Group "bounds".
void add_bounds_checks(Checks &checks, const Target &target);
// Functions that are not declared are refused. Group "undeclared".
void add_undeclared_checks(Checks &checks, const Target &target);
// Per function: struct sizes, a no-op interposer, other devices and streams, threads, memory.
// Groups "structs", "interposed", "placed", "threads", "memory".
void add_behaviour_checks(Checks &checks, const Target &target);
// Retiring and loading again; the end of the process. Groups "lifecycle" and "exit".
void add_lifecycle_checks(Checks &checks, const Target &target);
// Groups "modules" and "interposers".
void add_module_checks(Checks &checks, const Target &target);
void add_interposer_checks(Checks &checks, const Target &target);

// Removes the interposer that add_function_checks keeps from one check to the next.
void end_group();

} // namespace Atoll::conformance
