// Opens cuBLAS: see cublas.hpp.
#include "cublas.hpp"

#include "atoll/plugin.hpp"

#include <dlfcn.h>
#include <string>

namespace Atoll::cuda {
namespace {

constexpr const char *file = "libcublas.so." ATOLL_STRINGIFY(CUBLAS_VER_MAJOR);

[[noreturn]] void fail() {
    const char *const why = ::dlerror();
    throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                     std::string("matrix products need cuBLAS, which cannot be used: ") +
                         (why ? why : file) +
                         "; install the CUDA Toolkit's cuBLAS, or add its folder to "
                         "LD_LIBRARY_PATH");
}

template <class Function> void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (!function) fail();
}

Cublas open() {
    void *const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) fail();
    Cublas cublas{};
    find(library, "cublasCreate_v2", cublas.create);
    find(library, "cublasDestroy_v2", cublas.destroy);
    find(library, "cublasSetStream_v2", cublas.set_stream);
    find(library, "cublasSetMathMode", cublas.set_math_mode);
    find(library, "cublasGetStatusName", cublas.status_name);
    find(library, "cublasGetStatusString", cublas.status_string);
    find(library, "cublasGemmStridedBatchedEx_64", cublas.gemm);
    return cublas;
}

} // namespace

const Cublas &Cublas::get() {
    static const Cublas cublas = open();
    return cublas;
}

} // namespace Atoll::cuda
