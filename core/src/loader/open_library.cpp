// dlopen, and its effects on the thread: see the notes in open_library.hpp.
#include "loader/open_library.hpp"

#include "loader/refusal.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/log.hpp"

#include <dlfcn.h>
#include <exception>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <boost/dll/shared_library.hpp>

namespace Atoll::detail {
namespace {

// Not the declared type, which is noexcept.
using Open = void *(*)(const char *, int);
Open volatile open_by_system = reinterpret_cast<Open>(&::dlopen);

// Rounding, traps and the treatment of denormal numbers, without the exception flags.
unsigned control_bits() {
#if defined(__x86_64__)
    return _mm_getcsr() & ~unsigned{_MM_EXCEPT_MASK};
#elif defined(__aarch64__)
    unsigned long bits;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return static_cast<unsigned>(bits);
#endif
}

} // namespace

atoll_plugin_query_fn open_library(const std::string &path) {
    // Never deep-bound, never unmapped: code and constants of a retired plugin may still be in use.
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
        refuse(Status::incompatible,
               "the system could not open it: {}; check what it links (ldd {})",
               words ? words : error.message(), path);
    constexpr const char *query = "atoll_plugin_query_v0";
    if (!library.has(query)) return nullptr;
    return &library.get<const atoll_plugin *(const atoll_host_info *)>(query);
}

FloatModeKeeper::FloatModeKeeper(const std::string &plugin) : plugin_(plugin) {
    std::fegetenv(&before_);
    control_ = control_bits();
}

FloatModeKeeper::~FloatModeKeeper() {
    if (control_bits() == control_) return;
    std::fesetenv(&before_);
    log_message(ATOLL_LOG_WARN,
                fmt::format("plugin {} changed the rounding or denormal mode of this thread; the "
                            "mode was restored; report it to its vendor: the plugin, or a library "
                            "that it links, was linked with -ffast-math",
                            plugin_));
}

} // namespace Atoll::detail
