// Choosing and opening a BLAS.
//
// Note [BLAS at run time]
// A BLAS is opened at the first product and not linked: its constructor takes milliseconds and
// starts threads, which a program that never multiplies matrices should not pay for, and users
// have their own. The plugin refuses float products without one rather than being slow in silence.
// Which processor's kernels OpenBLAS uses is its own choice or, as documented there, that of
// OPENBLAS_CORETYPE; both are left alone. But for processors that are newer than it, it chooses the
// oldest ones, which take four to eight times as long (version 0.3.21 on an Emerald Rapids): where
// it has such ones, whatever chose them, the default is not used, and the contraction engine
// multiplies instead. A BLAS that the user names is used as it is.
//
// Note [Names and sizes]
// Builds whose sizes are 64 bits mark their names, OpenBLAS with 64_ (SciPy's has a prefix, too),
// MKL and LAPACK's reference with _64; or they do not, as Debian's, and then a call tells.
#include "blas.h"

#include "entries.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <string>
#include <strings.h>

namespace Atoll::kernels {
namespace {

constexpr const char *default_library = "libopenblas.so.0";

struct Naming {
    const char *prefix, *suffix; // of "cblas_" and all that follows
};
constexpr Naming namings[] = {
    {"", "64_"}, {"", "_64"}, {"scipy_", "64_"}, {"", ""}, {"scipy_", ""}};

// What sizes are where the names do not tell. A negative number of elements in 64 bits is 3 in 32.
bool counts_in_64_bits(void *isamax) {
    using Function = std::uint64_t (*)(std::int64_t, const float *, std::int64_t);
    constexpr auto count = static_cast<std::int64_t>(0xffffffff'00000003);
    const float x[] = {0, 0, 1};
    const auto largest = reinterpret_cast<Function>(isamax)(count, x, 1);
    return static_cast<std::uint32_t>(largest) != 2;
}

// One library that is open.
class Library {
public:
    Library(void *handle, Naming naming) : handle_(handle), naming_(naming) {}

    void *find(const std::string &name) const {
        const std::string full = naming_.prefix + name + naming_.suffix;
        return dlsym(handle_, full.c_str());
    }
    template <class F> bool find(const std::string &name, F &function) const {
        function = reinterpret_cast<F>(find(name));
        return function;
    }
    // Of functions that only one vendor has; some come without the suffix.
    template <class F> bool find_extra(const char *name, F &function) const {
        if (find(name, function)) return true;
        function = reinterpret_cast<F>(dlsym(handle_, name));
        return function;
    }
    // Fills in all functions; the name of one that is missing, or "".
    template <class Int> std::string fill(BlasInterface<Int> &to) const {
        std::string missing;
        const auto routines = [&](const char *letter, auto &of) {
            for (const char *kind : {"gemm", "gemv"}) {
                const std::string name = std::string("cblas_") + letter + kind;
                const bool found =
                    std::strcmp(kind, "gemm") ? find(name, of.gemv) : find(name, of.gemm);
                if (!found && missing.empty()) missing = naming_.prefix + name + naming_.suffix;
            }
        };
        routines("s", to.s);
        routines("d", to.d);
        routines("c", to.c);
        routines("z", to.z);
        return missing;
    }
    bool has_suffix() const { return naming_.suffix[0]; }

private:
    void *handle_;
    Naming naming_;
};

// OpenBLAS's names of processors without AVX2 and FMA, which this level computes with. Later names
// are of processors that have them. Builds for one processor write theirs in capitals.
bool is_of_earlier_level([[maybe_unused]] const char *core) {
#if defined(__FMA__)
    for (const char *earlier :
         {"Generic",    "Katmai",      "Coppermine",   "Northwood",  "Prescott", "Banias",
          "Atom",       "Core2",       "Penryn",       "Dunnington", "Nehalem",  "Sandybridge",
          "Athlon",     "Opteron",     "Opteron_SSE3", "Barcelona",  "Bobcat",   "Bulldozer",
          "Piledriver", "Steamroller", "Nano"})
        if (strcasecmp(core, earlier) == 0) return true;
#endif
    return false;
}

// Sets the threads where the library has a function for that, and says what it is.
std::string introduce(const Library &library, Blas &to, int threads) {
    const char *(*describe)() = nullptr;
    void (*set_threads)(std::int64_t) = nullptr;
    if (library.find_extra("openblas_get_config", describe)) {
        to.is_openblas = true;
        if (threads > 0 && library.find_extra("openblas_set_num_threads", set_threads))
            set_threads(threads);
        return describe();
    }
    // BLIS and AOCL: on their own they use one thread.
    if (library.find_extra("bli_info_get_version_str", describe)) {
        if (threads > 0 && library.find_extra("bli_thread_set_num_threads", set_threads))
            set_threads(threads);
        return std::string("BLIS ") + describe();
    }
    void (*write)(char *, int) = nullptr;
    if (library.find_extra("MKL_Get_Version_String", write) ||
        library.find_extra("mkl_get_version_string", write)) {
        if (threads > 0 && library.find_extra("MKL_Set_Num_Threads", set_threads))
            set_threads(threads);
        char text[200] = "";
        write(text, sizeof text - 1);
        return text;
    }
    return "";
}

struct Opened {
    Blas blas;
    bool usable = false;
    std::string text; // what it is, or why it is not usable
};

// `chosen`: by the user; empty: the default.
Opened open(const std::string &chosen, int threads) {
    const std::string name = chosen.empty() ? default_library : chosen;
    Opened result;
    const auto fail = [&](const std::string &why) {
        result.text = name + ' ' + why;
        return result;
    };
    if (name[0] != '/' && name.find('/') != name.npos)
        return fail("is a path that is not absolute");
    void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *error = dlerror();
        std::string why = error ? error : "no reason given";
        if (why.starts_with(name + ": ")) why.erase(0, name.size() + 2);
        if (name == default_library)
            why += "; install OpenBLAS (Debian: libopenblas0), or choose another BLAS";
        return fail("cannot be opened: " + why);
    }
    for (const Naming &naming : namings) {
        const Library library(handle, naming);
        if (!library.find("cblas_dgemm")) continue;
        result.blas.is_wide = library.has_suffix();
        if (!library.has_suffix()) {
            void *isamax = library.find("cblas_isamax");
            if (!isamax) return fail("has no cblas_isamax");
            result.blas.is_wide = counts_in_64_bits(isamax);
        }
        const std::string missing =
            result.blas.is_wide ? library.fill(result.blas.wide) : library.fill(result.blas.narrow);
        if (!missing.empty()) return fail("has no " + missing);
        const link_map *map = nullptr;
        dlinfo(handle, RTLD_DI_LINKMAP, &map);
        result.text = introduce(library, result.blas, threads);
        while (!result.text.empty() && result.text.back() == ' ') result.text.pop_back();
        if (!result.text.empty()) result.text += ", ";
        result.text += result.blas.is_wide ? "64-bit sizes, " : "32-bit sizes, ";
        result.text += map && map->l_name[0] ? map->l_name : name.c_str();
        const char *(*core)() = nullptr;
        if (chosen.empty() && library.find_extra("openblas_get_corename", core) &&
            is_of_earlier_level(core())) {
            result.blas.suits_processor = false;
            result.text =
                std::string("own kernels, because the default would compute as on a processor ") +
                core() + ": " + result.text;
        }
        result.usable = true;
        return result;
    }
    return fail("is no BLAS with the C interface: it has no cblas_dgemm");
}

// What was chosen and what came of it. Results stay: calls may be using an earlier one.
class Choice {
public:
    void set(const char *library, int threads) {
        const std::lock_guard lock(mutex_);
        std::string name = library ? library : "";
        if (name == name_ && threads == threads_) return;
        name_ = std::move(name);
        threads_ = threads;
        named_.store(!name_.empty(), std::memory_order_relaxed);
        current_.store(nullptr, std::memory_order_release);
    }
    const Opened &get() {
        if (const Opened *opened = current_.load(std::memory_order_acquire)) return *opened;
        const std::lock_guard lock(mutex_);
        if (const Opened *opened = current_.load(std::memory_order_relaxed)) return *opened;
        const Opened &opened = all_.emplace_back(open(name_, threads_));
        current_.store(&opened, std::memory_order_release);
        return opened;
    }
    bool is_named() const { return named_.load(std::memory_order_relaxed); }
    const Opened *known() const { return current_.load(std::memory_order_acquire); }

private:
    std::mutex mutex_;
    std::string name_; // empty: the default
    std::atomic<bool> named_{false};
    int threads_ = 0;
    std::deque<Opened> all_;
    std::atomic<const Opened *> current_{nullptr};
};

// Never destroyed: threads may end after everything else.
Choice &choice() {
    static Choice *const instance = new Choice;
    return *instance;
}

} // namespace

const Blas *blas() {
    const Opened &opened = choice().get();
    return opened.usable ? &opened.blas : nullptr;
}

bool is_blas_named() { return choice().is_named(); }

} // namespace Atoll::kernels

void atoll_kernels_set_blas(const char *library, std::int32_t threads) {
    Atoll::kernels::choice().set(library, threads);
}

const char *atoll_kernels_open_blas(void) {
    const auto &opened = Atoll::kernels::choice().get();
    return opened.usable ? nullptr : opened.text.c_str();
}

const char *atoll_kernels_blas(void) {
    const auto *opened = Atoll::kernels::choice().known();
    return opened && opened->usable ? opened->text.c_str() : "";
}
