// cuBLAS as loops, opened by the plugin as the real library is. What the real one answers with a
// dead context or wrong results is an error here: matrices, numbers and leading dimensions that
// break its rules.
#include "cublas_v2.h"

#include <complex>
#include <cstring>

struct cublasContext {
    cudaStream_t stream = nullptr;
};

namespace {

// bfloat16.
struct Brain {
    std::uint16_t bits;
    Brain() = default;
    explicit Brain(float value) {
        std::uint32_t all;
        std::memcpy(&all, &value, sizeof all);
        bits = static_cast<std::uint16_t>(value != value ? 0x7fc0u
                                                         : (all + 0x7fffu + (all >> 16 & 1)) >> 16);
    }
    explicit operator float() const {
        const std::uint32_t all = std::uint32_t{bits} << 16;
        float value;
        std::memcpy(&value, &all, sizeof value);
        return value;
    }
};

template <class T> T conjugate(T value) { return value; }
template <class T> std::complex<T> conjugate(std::complex<T> value) { return std::conj(value); }

bool aligned(const void *memory, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

struct Operand {
    const void *data;
    std::int64_t leading;
    long long step;
    cublasOperation_t operation;
};

// Element (i, j) of op(x).
template <class T> T element(const Operand &x, const T *data, std::int64_t i, std::int64_t j) {
    if (x.operation == CUBLAS_OP_N) return data[i + j * x.leading];
    const T value = data[j + i * x.leading];
    return x.operation == CUBLAS_OP_C ? conjugate(value) : value;
}

template <class T, class Sum> struct Gemm {
    std::int64_t m, n, k, batch;
    Operand a, b, c;
    Sum alpha, beta;

    cublasStatus_t operator()(cudaStream_t stream) const {
        // Beyond CUDA's rules, but any vectorised kernel wants it.
        if (!aligned(a.data, sizeof(T)) || !aligned(b.data, sizeof(T)) ||
            !aligned(c.data, sizeof(T)))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(batch < 8 ? batch : 8));
        config.blockDim = dim3(32);
        config.stream = stream;
        return cudaLaunchKernelEx(&config, &Gemm::kernel, *this) == cudaSuccess
                   ? CUBLAS_STATUS_SUCCESS
                   : CUBLAS_STATUS_EXECUTION_FAILED;
    }

    static void kernel(Gemm self) {
        for (std::int64_t which = blockIdx.x; which < self.batch; which += gridDim.x) {
            const T *const a = static_cast<const T *>(self.a.data) + which * self.a.step;
            const T *const b = static_cast<const T *>(self.b.data) + which * self.b.step;
            T *const c = const_cast<T *>(static_cast<const T *>(self.c.data)) + which * self.c.step;
            for (std::int64_t place = threadIdx.x; place < self.m * self.n; place += 32) {
                const std::int64_t i = place % self.m, j = place / self.m;
                Sum sum{};
                for (std::int64_t p = 0; p < self.k; ++p)
                    sum += static_cast<Sum>(element(self.a, a, i, p)) *
                           static_cast<Sum>(element(self.b, b, p, j));
                T &out = c[i + j * self.c.leading];
                const Sum scaled = self.alpha * sum;
                out = static_cast<T>(
                    self.beta == Sum{} ? scaled : scaled + self.beta * static_cast<Sum>(out));
            }
        }
    }
};

} // namespace

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void *workspace, std::size_t) {
    return aligned(workspace, 256) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
const char *cublasGetStatusName(cublasStatus_t status) {
    return status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED"
           : status == CUBLAS_STATUS_INVALID_VALUE  ? "CUBLAS_STATUS_INVALID_VALUE"
                                                    : "CUBLAS_STATUS_NOT_SUPPORTED";
}
const char *cublasGetStatusString(cublasStatus_t) { return "emulated"; }

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t transpose_a,
                                             cublasOperation_t transpose_b, std::int64_t m,
                                             std::int64_t n, std::int64_t k, const void *alpha,
                                             const void *a, cudaDataType a_type, std::int64_t lda,
                                             long long stride_a, const void *b, cudaDataType b_type,
                                             std::int64_t ldb, long long stride_b, const void *beta,
                                             void *c, cudaDataType c_type, std::int64_t ldc,
                                             long long stride_c, std::int64_t batch,
                                             cublasComputeType_t compute, cublasGemmAlgo_t) {
    if (!handle || m < 0 || n < 0 || k < 0 || batch < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const auto too_small = [](std::int64_t leading, std::int64_t rows) {
        return leading < (rows > 1 ? rows : 1);
    };
    if (too_small(lda, transpose_a == CUBLAS_OP_N ? m : k) ||
        too_small(ldb, transpose_b == CUBLAS_OP_N ? k : n) || too_small(ldc, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto run = [&]<class T, class Sum>(T, Sum) {
        // The real library reads numbers by aligned loads.
        if (!aligned(alpha, sizeof(Sum)) || !aligned(beta, sizeof(Sum)))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        return Gemm<T, Sum>{m,
                            n,
                            k,
                            batch,
                            {a, lda, stride_a, transpose_a},
                            {b, ldb, stride_b, transpose_b},
                            {c, ldc, stride_c, CUBLAS_OP_N},
                            *static_cast<const Sum *>(alpha),
                            *static_cast<const Sum *>(beta)}(handle->stream);
    };
    const bool single = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC;
    if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (a_type == c_type && single) {
        if (a_type == CUDA_R_32F) return run(float{}, float{});
        if (a_type == CUDA_R_16F) return run(_Float16{}, float{});
        if (a_type == CUDA_R_16BF) return run(Brain{}, float{});
        if (a_type == CUDA_C_32F) return run(std::complex<float>{}, std::complex<float>{});
    } else if (a_type == c_type && compute == CUBLAS_COMPUTE_64F) {
        if (a_type == CUDA_R_64F) return run(double{}, double{});
        if (a_type == CUDA_C_64F) return run(std::complex<double>{}, std::complex<double>{});
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
