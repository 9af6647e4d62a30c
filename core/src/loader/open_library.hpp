// Having the system open a library.
#pragma once

#include <string>

#include <boost/dll/shared_library.hpp>

namespace Atoll::detail {

// Note [Exceptions out of constructors]
// An exception that leaves a constructor of the library passes through the system's loader, which
// is C and knows nothing of it: its lock stays with this thread, and every other thread that opens
// a library, or on some systems starts a thread, would wait for ever. So the process ends, with
// words in the log: better than one that hangs. The probe finds such a file beforehand.
//
// This is why constructors run in a call of dlopen of our own, before Boost.DLL takes the library:
// the C library declares dlopen as never throwing, so that code compiled around it may have no way
// out for an exception.

// Throws Error (incompatible) with the system's words where it cannot open the file.
boost::dll::shared_library open_library(const std::string &path);

} // namespace Atoll::detail
