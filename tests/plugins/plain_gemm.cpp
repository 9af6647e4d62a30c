// Somebody's product of dense float64 matrices in place of the cpu's core.matmul: three loops, no
// capability, no attribute, no third operand. Says at its end how often it was called.
#include "atoll/plugin.hpp"

#include <atomic>
#include <cstdio>

ATOLL_PLUGIN_NOTE("plain_gemm", ATOLL_CONTAINS_IMPLS, 0);

namespace {

namespace sdk = Atoll::sdk;

struct Calls {
    std::atomic<int> count = 0;
    ~Calls() { std::fprintf(stderr, "plain_gemm multiplied %d times\n", count.load()); }
} calls;

struct State {
    explicit State(const atoll_host &) {}
};

void multiply(State &, atoll_call &call) {
    if (call.core != 3 || call.rank != 3)
        throw sdk::Error(ATOLL_STATUS_INTERNAL, "got a stack or groups of axes");
    const std::int64_t m = call.shape[0], k = call.shape[1], n = call.shape[2];
    auto *const d = static_cast<double *>(call.operands[0].data);
    const auto *const a = static_cast<const double *>(call.operands[1].data),
                      *const b = static_cast<const double *>(call.operands[2].data);
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
            double sum = 0;
            for (std::int64_t p = 0; p < k; ++p) sum += a[i + p * m] * b[p + j * k];
            d[i + j * m] = sum;
        }
    ++calls.count;
}

constexpr atoll_function_decl functions[] = {
    sdk::declare<multiply>(ATOLL_FN_matmul, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64))};
constexpr atoll_impl_decl first() {
    atoll_impl_decl impl = sdk::implement("core", "cpu", functions);
    impl.priority = 10;
    return impl;
}
constexpr atoll_impl_decl impl = first();
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"plain_gemm", "1", "tests", "Apache-2.0", "its own matrix product on the cpu"}, impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
