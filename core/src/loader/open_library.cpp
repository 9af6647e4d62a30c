// dlopen, and the lock that it leaves behind: see Note [Exceptions out of constructors].
#include "loader/open_library.hpp"

#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"

#include <dlfcn.h>
#include <exception>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

// Not the declared type: that one does not throw.
using Open = void *(*)(const char *, int);
Open volatile open_by_system = reinterpret_cast<Open>(&::dlopen);

// Gives back the loader's lock; true if that is certain. It is a recursive mutex somewhere in the C
// library's object _rtld_global, and this thread owns no other there while constructors run.
bool release_loader_lock() {
    void *const globals = dlsym(RTLD_DEFAULT, "_rtld_global");
    Dl_info info;
    const ElfW(Sym) *symbol = nullptr;
    if (!globals ||
        !dladdr1(globals, &info, const_cast<void **>(reinterpret_cast<const void **>(&symbol)),
                 RTLD_DL_SYMENT) ||
        !symbol)
        return false;
    auto *const bytes = static_cast<char *>(globals);
    const pid_t self = ::gettid();
    pthread_mutex_t *held = nullptr;
    for (std::size_t at = 0; at + sizeof(pthread_mutex_t) <= symbol->st_size;
         at += alignof(pthread_mutex_t)) {
        auto *const mutex = reinterpret_cast<pthread_mutex_t *>(bytes + at);
        const auto &state = mutex->__data;
        if (state.__owner != self || state.__kind != PTHREAD_MUTEX_RECURSIVE_NP ||
            state.__lock == 0 || state.__count != 1 || state.__nusers != 1)
            continue;
        if (held) return false;
        held = mutex;
    }
    return held && ::pthread_mutex_unlock(held) == 0;
}

} // namespace

OpenedLibrary open_library(const std::string &path) {
    OpenedLibrary opened;
    try {
        // Never deep-bound, never unmapped: code and constants of a retired plugin may still be
        // named.
        constexpr int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
        if (!open_by_system(path.c_str(), mode)) {
            if (const char *words = dlerror()) opened.refusal = words;
            return opened;
        }
        boost::dll::fs::error_code error;
        opened.library.load(boost::dll::fs::path(path),
                            static_cast<boost::dll::load_mode::type>(mode), error);
        if (error) opened.refusal = error.message();
    } catch (...) {
        opened.refusal = exception_text();
        opened.constructor_threw = true;
        if (!release_loader_lock()) {
            log_message(ATOLL_LOG_ERROR,
                        fmt::format("{}: an exception left a constructor of this file ({}) and the "
                                    "system's loader stays locked, so the process ends here; "
                                    "report it to the plugin's vendor, and keep the plugin out "
                                    "with ATOLL_PLUGINS_DISABLE, or set ATOLL_PROBE=1",
                                    path, opened.refusal));
            std::terminate();
        }
    }
    return opened;
}

} // namespace Atoll::detail
