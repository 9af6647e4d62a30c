// dlopen, and what its constructors throw: see Note [Exceptions out of constructors].
#include "loader/open_library.hpp"

#include "atoll/error.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"

#include <dlfcn.h>
#include <exception>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

// Not the declared type: that one does not throw.
using Open = void *(*)(const char *, int);
Open volatile open_by_system = reinterpret_cast<Open>(&::dlopen);

} // namespace

boost::dll::shared_library open_library(const std::string &path) {
    // Never deep-bound, never unmapped: code and constants of a retired plugin may still be named.
    constexpr int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    void *opened = nullptr;
    try {
        opened = open_by_system(path.c_str(), mode);
    } catch (...) {
        log_message(ATOLL_LOG_ERROR,
                    fmt::format("{}: an exception left a constructor of this file ({}), which "
                                "leaves the system's loader locked, so the process ends here; "
                                "report it to the plugin's vendor, and keep the plugin out with "
                                "ATOLL_PLUGINS_DISABLE, or set ATOLL_PROBE=1",
                                path, exception_text()));
        std::terminate();
    }
    boost::dll::shared_library library;
    boost::dll::fs::error_code error;
    const char *words = opened ? nullptr : ::dlerror();
    if (opened)
        library.load(boost::dll::fs::path(path), static_cast<boost::dll::load_mode::type>(mode),
                     error);
    if (!library)
        throw Error(Status::incompatible, "load",
                    fmt::format("the system could not open it: {}; check what it links (ldd {})",
                                words ? words : error.message(), path));
    return library;
}

} // namespace Atoll::detail
