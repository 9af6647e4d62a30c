// Having the system open a library, and surviving what its constructors throw.
#pragma once

#include <string>

#include <boost/dll/shared_library.hpp>

namespace Atoll::detail {

struct OpenedLibrary {
    boost::dll::shared_library library; // not loaded if it could not be opened
    std::string refusal;                // then the system's words, or what a constructor threw
    bool constructor_threw = false;
};

// Note [Exceptions out of constructors]
// An exception that leaves a constructor of the library passes through the system's loader, which
// is C and knows nothing of it: its lock stays with this thread, and every other thread that opens
// a library, or on some systems starts a thread, would wait for ever. So the lock is given back
// here, as the loader would have done. Where it cannot be found for certain, the process ends, with
// words in the log: better than one that hangs. The library stays mapped, half-made; nothing calls
// it.
//
// This is why constructors run in a call of dlopen of our own, before Boost.DLL takes the library:
// the C library declares dlopen as never throwing, so that code compiled around it may have no way
// out for an exception.
OpenedLibrary open_library(const std::string &path);

} // namespace Atoll::detail
