// A plugin that brings an OpenBLAS of its own: the setting "library" is the file. Its function
// answer multiplies two 2×2 matrices with it and gives the last element.
#include "atoll/plugin.hpp"

#include <dlfcn.h>

ATOLL_PLUGIN_NOTE("own_openblas", ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_IMPLS, 0);

namespace {

namespace sdk = Atoll::sdk;

using Dgemm = void (*)(int order, int op_a, int op_b, int m, int n, int k, double alpha,
                       const double *a, int lda, const double *b, int ldb, double beta, double *c,
                       int ldc);

struct State {
    explicit State(const atoll_host &host) {
        const std::string file = sdk::config(host, "library");
        void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw sdk::Error(ATOLL_STATUS_NOT_FOUND, dlerror());
        dgemm = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
        if (!dgemm) throw sdk::Error(ATOLL_STATUS_NOT_FOUND, "no cblas_dgemm");
    }
    Dgemm dgemm;
};

void multiply(State &state, atoll_call &call) {
    const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    double c[4] = {};
    state.dgemm(102, 111, 111, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2); // column-major, as they are
    *static_cast<double *>(call.operands[0].data) = c[3];
}

constexpr atoll_function_info functions[] = {
    sdk::function(0, "answer", ATOLL_RULE_GIVEN, 0,
                  {"-> number (): float64", nullptr, nullptr, "multiplies"}),
};
constexpr atoll_module_decl module = sdk::module("own_openblas", 1, functions);
constexpr atoll_function_decl table[] = {sdk::declare<multiply>(0)};
constexpr atoll_impl_decl impl = sdk::implement("own_openblas", "cpu", table);
constexpr const atoll_module_decl *modules[] = {&module};
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"own_openblas", "1.0", "tests", "Apache-2.0", "brings an OpenBLAS"}, modules, impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
