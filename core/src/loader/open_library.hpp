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
// words in the log: better than one that hangs; so it is with other C libraries (musl has no such
// object), with a glibc that would keep its lock elsewhere, and where a constructor throws inside
// of another dlopen (the lock is held twice). The library stays mapped, half-made; nothing calls
// it.
//
// What else glibc leaves undone, from 2.31 on, does no harm: it runs constructors with its own
// error catching switched off and marks the library as initialised before, and the thread's pointer
// to a catching frame is none in both states. An older glibc may keep a pointer to a frame that is
// gone, which the next failure to bind a symbol lazily on this thread would jump to.
//
// This is why constructors run in a call of dlopen of our own, before Boost.DLL takes the library:
// the C library declares dlopen as never throwing, so that code compiled around it may have no way
// out for an exception.
OpenedLibrary open_library(const std::string &path);

} // namespace Atoll::detail
