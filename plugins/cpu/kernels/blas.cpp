// Loading OpenBLAS.
//
// Note [OpenBLAS at run time]
// OpenBLAS is opened at the first product and not linked: its constructor takes milliseconds and
// starts threads, which a program that never multiplies matrices should not pay for. The plugin
// refuses float products without it rather than being slow in silence. Which processor's kernels it
// uses is its own choice or, as documented there, that of OPENBLAS_CORETYPE; both are left alone.
#include "blas.h"

#include "entries.h"

#include <atomic>
#include <dlfcn.h>

namespace Atoll::kernels {
namespace {

constexpr const char *library = "libopenblas.so.0";
std::atomic<std::int32_t> wanted_threads{0};
std::atomic<const char *> config{""};

template <class F> bool find(void *handle, const char *name, F &function) {
    function = reinterpret_cast<F>(dlsym(handle, name));
    return function != nullptr;
}

Blas load() {
    Blas b;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return b;
    b.found = find(handle, "cblas_sgemm", b.sgemm) && find(handle, "cblas_dgemm", b.dgemm) &&
              find(handle, "cblas_cgemm", b.cgemm) && find(handle, "cblas_zgemm", b.zgemm) &&
              find(handle, "cblas_sgemv", b.sgemv) && find(handle, "cblas_dgemv", b.dgemv) &&
              find(handle, "cblas_cgemv", b.cgemv) && find(handle, "cblas_zgemv", b.zgemv);
    decltype(&openblas_get_config) describe = nullptr;
    if (b.found && find(handle, "openblas_get_config", describe)) config = describe();
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

int32_t atoll_kernels_has_blas(void) { return Atoll::kernels::blas().found ? 1 : 0; }

const char *atoll_kernels_blas_config(void) { return Atoll::kernels::config; }
