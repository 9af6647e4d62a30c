// Loading OpenBLAS.
//
// Note [OpenBLAS at run time]
// OpenBLAS chooses its kernels in its constructor, from the processor's model number. Releases that
// are older than a processor fall back to another generation's kernels; 0.3.21 takes AMD's AVX-512
// processors for Haswell and loses half of their speed. The documented way to correct it is the
// environment variable OPENBLAS_CORETYPE, read in that constructor. So the library is opened here
// and not linked: for the time of dlopen `environ` points to a private list that holds everything
// the real one does and this variable. Exchanging one pointer, unlike setenv, does not disturb
// other threads that read the environment. Where the process already has OpenBLAS, or the user has
// set the variable, nothing is changed. Opening it late also keeps its start-up time and threads
// away from programs that never multiply matrices.
#include "blas.h"

#include "atoll_kernels.h"

#include <atomic>
#include <cpuid.h>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace Atoll::kernels {
namespace {

constexpr const char *library = "libopenblas.so.0";
std::atomic<std::int32_t> wanted_threads{0};

// An AMD processor with the AVX-512 subsets that OpenBLAS's SkylakeX kernels use.
bool amd_avx512() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx) return false;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}

void *open_for_core(const char *setting) {
    char **const original = environ;
    const std::size_t name = static_cast<std::size_t>(std::strchr(setting, '=') - setting) + 1;
    std::vector<char *> list;
    for (char **entry = original; entry && *entry; ++entry) {
        if (std::strncmp(*entry, setting, name) == 0) return dlopen(library, RTLD_NOW | RTLD_LOCAL);
        list.push_back(*entry);
    }
    list.push_back(const_cast<char *>(setting));
    list.push_back(nullptr);
    environ = list.data();
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    // Whoever set a variable meanwhile has replaced the list; theirs then stays.
    if (environ == list.data()) environ = original;
    return handle;
}

template <class F> bool find(void *handle, const char *name, F &function) {
    function = reinterpret_cast<F>(dlsym(handle, name));
    return function != nullptr;
}

Blas load() {
    Blas b;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!handle)
        handle = amd_avx512() ? open_for_core("OPENBLAS_CORETYPE=SkylakeX")
                              : dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return b;
    b.found = find(handle, "cblas_sgemm", b.sgemm) && find(handle, "cblas_dgemm", b.dgemm) &&
              find(handle, "cblas_cgemm", b.cgemm) && find(handle, "cblas_zgemm", b.zgemm) &&
              find(handle, "cblas_sgemv", b.sgemv) && find(handle, "cblas_dgemv", b.dgemv) &&
              find(handle, "cblas_cgemv", b.cgemv) && find(handle, "cblas_zgemv", b.zgemv);
    decltype(&openblas_get_corename) core = nullptr;
    if (find(handle, "openblas_get_corename", core)) b.core = core();
    decltype(&openblas_set_num_threads) set_threads = nullptr;
    if (wanted_threads > 0 && find(handle, "openblas_set_num_threads", set_threads))
        set_threads(wanted_threads);
    return b;
}

} // namespace

const Blas &blas() {
    static const Blas loaded = load();
    return loaded;
}

} // namespace Atoll::kernels

void atoll_kernels_set_blas_threads(std::int32_t threads) {
    Atoll::kernels::wanted_threads = threads;
}

const char *atoll_kernels_blas_core(void) { return Atoll::kernels::blas().core; }
