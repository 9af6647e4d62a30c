// Opening a library, and what its constructors may do to the process and the thread.
#pragma once

#include "atoll/plugin.h"

#include <cfenv>
#include <string>

namespace Atoll::detail {

// Note [Exceptions out of constructors]
// An exception that leaves a constructor of the library passes through the system's loader, which
// is C: its lock stays with this thread, and every other thread that opens a library, or on some
// systems starts a thread, would wait forever. So the process ends with a message in the log, which
// is better than a process that hangs. The probe finds such a file beforehand.
//
// This is why open_library() calls dlopen, so that constructors run there, before Boost.DLL takes
// the library: the C library declares dlopen as never throwing, so code compiled around it may have
// no way out for an exception.

// Opens the file for the life of the process and returns its atoll_plugin_query_v0; null if it does
// not export one. Throws Error (incompatible) with the system's message where it cannot be opened.
atoll_plugin_query_fn open_library(const std::string &path);

// Note [Floating-point mode]
// A library that was linked with -ffast-math has a constructor that makes the thread which opens it
// flush denormal numbers to zero; other code changes the rounding. Everything that the thread
// computes afterwards would differ. So the mode is restored after a load, with a warning in the
// log.
class FloatModeKeeper {
public:
    explicit FloatModeKeeper(const std::string &plugin);
    ~FloatModeKeeper();
    FloatModeKeeper(const FloatModeKeeper &) = delete;
    FloatModeKeeper &operator=(const FloatModeKeeper &) = delete;

private:
    const std::string &plugin_;
    std::fenv_t before_;
    unsigned control_;
};

} // namespace Atoll::detail
