// The TCCG contractions (tools/atoll/tccg.inc) against OpenBLAS's product of matrices of the same
// m, n and k, in one process, taking turns; the best of some turns counts. Prints the ratio per
// case and geometric means, also with every ratio capped at 1; asserts nothing.
//
//   bench_contractions [--type float64|float32|complex128|complex64] [--beta 0|1]
//                      [--threads N] [--turns N] [--cases PATTERN] [--largest GFLOP]
#include "../../plugins/cpu/threads.h"
#include "entries.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fnmatch.h>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <vector>

#include <cblas.h>

namespace {

struct Options {
    std::string type = "float64", cases = "*"; // a pattern of texts
    int beta = 0, threads = 1, turns = 3;
    double largest = 1e9; // of 10^9 operations
};

struct Blas {
    decltype(&cblas_sgemm) sgemm;
    decltype(&cblas_dgemm) dgemm;
    decltype(&cblas_cgemm) cgemm;
    decltype(&cblas_zgemm) zgemm;
    decltype(&openblas_set_num_threads) set_threads;

    Blas() {
        void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!handle) throw std::runtime_error(dlerror());
        const auto find = [&](const char *name, auto &function) {
            function =
                reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        };
        find("cblas_sgemm", sgemm);
        find("cblas_dgemm", dgemm);
        find("cblas_cgemm", cgemm);
        find("cblas_zgemm", zgemm);
        find("openblas_set_num_threads", set_threads);
    }
    template <class T> void gemm(int m, int n, int k, const T *a, const T *b, T beta, T *c) const {
        const T one = 1;
        const auto call = [&](auto function, auto alpha, auto factor) {
            function(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, m, b, k, factor,
                     c, m);
        };
        if constexpr (std::is_same_v<T, float>)
            call(sgemm, one, beta);
        else if constexpr (std::is_same_v<T, double>)
            call(dgemm, one, beta);
        else if constexpr (std::is_same_v<T, std::complex<float>>)
            call(cgemm, &one, &beta);
        else
            call(zgemm, &one, &beta);
    }
};

template <class T> constexpr std::uint16_t dtype = std::is_same_v<T, float>    ? ATOLL_DTYPE_FLOAT32
                                                   : std::is_same_v<T, double> ? ATOLL_DTYPE_FLOAT64
                                                   : sizeof(T) == 8 ? ATOLL_DTYPE_COMPLEX64
                                                                    : ATOLL_DTYPE_COMPLEX128;

struct Contraction {
    std::string name, indices[3]; // d, a, b
    std::map<char, std::int64_t> extents;

    std::int64_t size(const std::string &of) const {
        std::int64_t n = 1;
        for (const char index : of) n *= extents.at(index);
        return n;
    }
    // The indices of one of the strings that are in two of them.
    std::string common(int x, int y) const {
        std::string both;
        for (const char index : indices[x])
            if (indices[y].find(index) != std::string::npos) both += index;
        return both;
    }
};

std::vector<Contraction> read(const Options &options) {
    static constexpr std::pair<const char *, const char *> list[] = {
#define ATOLL_TCCG(text, extents) {text, extents},
#include "../../tools/atoll/tccg.inc"
    };
    std::vector<Contraction> cases;
    for (const auto &[text, all_extents] : list) {
        const std::string product = text;
        Contraction c;
        c.name = product;
        const std::size_t comma = product.find(','), arrow = product.find("->");
        c.indices[0] = product.substr(arrow + 2);
        c.indices[1] = product.substr(0, comma);
        c.indices[2] = product.substr(comma + 1, arrow - comma - 1);
        std::istringstream extents(all_extents);
        for (std::string one; extents >> one;) c.extents[one[0]] = std::stoll(one.substr(1));
        if (fnmatch(options.cases.c_str(), c.name.c_str(), 0) == 0) cases.push_back(c);
    }
    return cases;
}

template <class T> struct Call {
    std::vector<std::int64_t> shape, strides[4];
    atoll_operand operands[4] = {};
    atoll_scalar attributes[4] = {};
    atoll_call call = {};

    // Column-major tensors.
    Call(const Contraction &c, T *d, T *a, T *b, T beta) {
        const std::string order[3] = {c.common(0, 1), c.common(1, 2), c.common(0, 2)};
        const std::string axes = order[0] + order[1] + order[2];
        T *const data[4] = {d, a, b, d};
        for (const char index : axes) shape.push_back(c.extents.at(index));
        for (int o = 0; o < 4; ++o) {
            const std::string &mine = c.indices[o % 3];
            for (const char index : axes) {
                const std::size_t place = mine.find(index);
                strides[o].push_back(place == std::string::npos
                                         ? 0
                                         : c.size(mine.substr(0, place)) *
                                               static_cast<std::int64_t>(sizeof(T)));
            }
            operands[o].data = data[o];
            operands[o].strides = strides[o].data();
            operands[o].dtype = dtype<T>;
        }
        const T alpha = 1;
        std::memcpy(attributes[0].value.bytes, &alpha, sizeof alpha);
        std::memcpy(attributes[1].value.bytes, &beta, sizeof beta);
        call.function = ATOLL_FN_matmul;
        call.dtype = dtype<T>;
        call.output_count = 1;
        call.operand_count = call.attribute_count = 4;
        call.rank = call.core = static_cast<std::uint16_t>(axes.size());
        for (int s = 0; s < 3; ++s) call.axes[s] = static_cast<std::uint8_t>(order[s].size());
        call.shape = shape.data();
        call.operands = operands;
        call.attributes = attributes;
    }
};

// Of one thread processor time, which other processes disturb less.
double now(bool processor) {
    timespec time;
    clock_gettime(processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class T> std::unique_ptr<T[], decltype(&std::free)> numbers(std::int64_t count) {
    // Huge pages, as the plugin's own memory has them.
    constexpr std::size_t page = 2 << 20;
    const std::size_t bytes =
        (static_cast<std::size_t>(count) * sizeof(T) + page - 1) / page * page;
    T *const data = static_cast<T *>(std::aligned_alloc(page, bytes));
    madvise(data, bytes, MADV_HUGEPAGE);
    for (std::int64_t i = 0; i < count; ++i)
        data[i] = T(static_cast<decltype(std::abs(T()))>(i % 7 - 3));
    return {data, &std::free};
}

template <class T> void measure(const Options &options) {
    const auto seconds = [&](auto &&work) {
        const double start = now(options.threads == 1);
        work();
        return now(options.threads == 1) - start;
    };
    const Blas blas;
    blas.set_threads(options.threads);
    double log_sum = 0, capped_sum = 0, worst = 1e9;
    int count = 0;
    std::printf("%s, beta = %d, %d threads\n", options.type.c_str(), options.beta, options.threads);
    for (const Contraction &c : read(options)) {
        const std::int64_t m = c.size(c.common(0, 1)), n = c.size(c.common(0, 2)),
                           k = c.size(c.common(1, 2));
        const double operations = (sizeof(T) == 2 * sizeof(std::abs(T())) ? 8e-9 : 2e-9) *
                                  static_cast<double>(m) * static_cast<double>(n) *
                                  static_cast<double>(k);
        if (operations > options.largest) continue;
        const auto d = numbers<T>(m * n), a = numbers<T>(m * k), b = numbers<T>(k * n);
        const T beta = static_cast<T>(options.beta);
        Call<T> ours(c, d.get(), a.get(), b.get(), beta);
        double best = 1e30, peer = 1e30, spent = 0;
        for (int turn = 0; turn < options.turns || (spent < 0.3 && turn < 50); ++turn) {
            best = std::min(best, seconds([&] { atoll_kernels_matmul(&ours.call); }));
            peer = std::min(peer, seconds([&] {
                                blas.gemm(static_cast<int>(m), static_cast<int>(n),
                                          static_cast<int>(k), a.get(), b.get(), beta, d.get());
                            }));
            spent += best + peer;
        }
        const double ratio = peer / best;
        log_sum += std::log(ratio);
        capped_sum += std::log(std::min(ratio, 1.0));
        worst = std::min(worst, ratio);
        ++count;
        std::printf("%-18s m %7lld n %6lld k %6lld  %7.1f GF/s  gemm %7.1f GF/s  ratio %5.2f\n",
                    c.name.c_str(), static_cast<long long>(m), static_cast<long long>(n),
                    static_cast<long long>(k), operations / best, operations / peer, ratio);
        std::fflush(stdout);
    }
    if (count)
        std::printf("%d cases: geometric mean %.3f, capped at 1 %.3f, worst %.2f\n", count,
                    std::exp(log_sum / count), std::exp(capped_sum / count), worst);
}

} // namespace

int main(int argc, char **argv) try {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
        if (name == "--type")
            options.type = value();
        else if (name == "--beta")
            options.beta = std::atoi(value());
        else if (name == "--threads")
            options.threads = std::atoi(value());
        else if (name == "--turns")
            options.turns = std::atoi(value());
        else if (name == "--cases")
            options.cases = value();
        else if (name == "--largest")
            options.largest = std::atof(value());
        else
            throw std::runtime_error("unknown argument " + name);
    }
    Atoll::cpu::Threads threads(options.threads);
    atoll_kernels_set_pool(&Atoll::cpu::Threads::parallel_for, &threads, threads.count());
    if (options.type == "float32")
        measure<float>(options);
    else if (options.type == "complex64")
        measure<std::complex<float>>(options);
    else if (options.type == "complex128")
        measure<std::complex<double>>(options);
    else
        measure<double>(options);
} catch (const std::exception &e) {
    std::fprintf(stderr, "bench_contractions: %s\n", e.what());
    return 1;
}
