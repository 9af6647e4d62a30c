// Bad plugins: one object in the file of each kind. zoo_kind, of kind.c, says which kind it is;
// without a fault of its own it defines a module of that name with one function. What the
// descriptor alone can do wrong is in tests/plugins/odd.cpp.
#include "atoll/plugin.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

extern "C" {
extern __attribute__((visibility("hidden"))) const char zoo_kind[];
extern __attribute__((visibility("hidden"))) int (*const zoo_own_answer)();
}

namespace {

bool is(std::string_view kind) { return kind == zoo_kind; }

const atoll_host *host;
// Steers a terminal, begins what looks like a record of the log, is no UTF-8.
constexpr const char *forged = "\x1b[31m red \xff\n[atoll error] forged";

__attribute__((constructor)) void opened() {
    if (is("constructor_throws")) throw std::runtime_error("constructor exploded");
    if (is("constructor_crashes")) std::raise(SIGSEGV);
    if (is("constructor_exits")) std::_Exit(7);
    if (is("constructor_floods")) { // more than a pipe holds
        std::fputs(std::string(1 << 20, '.').c_str(), stderr);
        std::_Exit(9);
    }
    if (is("constructor_counts")) {
        Dl_info self;
        if (dladdr(&host, &self))
            std::ofstream(std::string(self.dli_fname) + ".starts", std::ios::app) << '.';
        std::_Exit(9); // nothing is flushed that is not closed
    }
    if (is("constructor_closes"))
        for (int file = 0; file < 1024; ++file) ::close(file);
#if defined(__x86_64__)
    if (is("fast_math")) _mm_setcsr(_mm_getcsr() | 0x8040); // what -ffast-math links in
#endif
    if (is("constructor_prints")) std::puts("a vendor greets you");
    if (is("constructor_writes")) {
        Dl_info self;
        const timespec times[2] = {{1, 0}, {1, 0}};
        if (dladdr(&host, &self)) ::utimensat(AT_FDCWD, self.dli_fname, times, 0);
    }
}

std::atomic<int> pool_runs{0};

void pool(void *, std::int64_t count, std::int64_t, atoll_range_body body, void *argument) {
    if (is("pool_and_failure")) std::abort(); // it failed, so nobody may use its pool
    ++pool_runs;
    body(argument, 0, count);
}

// Slips of C plugins; the one that was not survived in the way it should, "" if all were.
std::string_view misuse_services(atoll_error *error) {
    const auto body = [](void *, std::int64_t, std::int64_t) { std::abort(); };
    atoll_call call{};
    char text[4] = "xyz";
    host->log(host->self, 99, nullptr);
    host->log(nullptr, -99, "nobody");
    if (host->config(host->self, nullptr, "abc", text, sizeof text) != 0 || text[0] != '\0')
        return "config without a key";
    if (host->config(nullptr, "key", "abc", nullptr, 0) != 0) return "config for nobody";
    if (host->config(host->self, "key", nullptr, nullptr, 10) != 0) return "config to nowhere";
    host->parallel_for(host->self, -1, 1, body, nullptr);
    host->parallel_for(host->self, 8, -1, nullptr, nullptr);
    if (host->allocate(SIZE_MAX) || host->allocate(SIZE_MAX / 2)) return "allocate";
    host->deallocate(nullptr);
    if (host->set_error(nullptr, 7, 0, "text") != 7) return "set_error nowhere";
    if (host->set_error(error, 7, 0, nullptr) != 7) return "set_error without text";
    if (host->dispatch(host->self, nullptr, nullptr) == ATOLL_STATUS_OK) return "dispatch of NULL";
    if (host->dispatch(host->self, nullptr, &call) == ATOLL_STATUS_OK) return "dispatch of zeros";
    if (host->function_name(65535, 65535) != std::string_view("?")) return "function_name";
    return "";
}

struct Speechless : std::exception {
    const char *what() const noexcept override { return nullptr; }
};

bool running = false;

std::int32_t load(const atoll_host *given, void **, atoll_error *error) {
    host = given;
    if (is("does_as_told")) {
        char order[16];
        if (host->config(host->self, "order", "", order, sizeof order) > 0) std::abort();
    }
    if (is("load_exits")) std::exit(0);
    if (is("load_hangs"))
        for (;;) ::pause();
    if (is("speechless")) throw Speechless();
    if (is("misuses_services"))
        if (const std::string_view slip = misuse_services(error); !slip.empty())
            return host->set_error(error, ATOLL_STATUS_INTERNAL, 0, slip.data());
    if (is("forger")) host->log(host->self, ATOLL_LOG_WARN, forged);
    if (is("talks_in_load")) host->log(host->self, ATOLL_LOG_INFO, "loading");
    if (is("pool") || is("pool_and_failure")) host->offer_parallel_for(host->self, pool, nullptr);
    if (is("pool_and_failure")) {
        host->set_error(error, ATOLL_STATUS_DEVICE_LOST, 0, "second thoughts");
        return ATOLL_STATUS_DEVICE_LOST;
    }
    if (running) std::abort();
    running = true;
    return ATOLL_STATUS_OK;
}

std::int32_t unload(void *, atoll_error *error) {
    host->log(host->self, ATOLL_LOG_INFO, "unload");
    if (!running) std::abort(); // once for each load
    running = false;
    if (is("unload_fails")) return host->set_error(error, ATOLL_STATUS_INTERNAL, 0, "still busy");
    return ATOLL_STATUS_OK;
}

std::int32_t answer(const atoll_link *, atoll_call *call) {
    if (is("forger")) return host->set_error(call->error, ATOLL_STATUS_KERNEL_FAILED, 0, forged);
    std::int64_t number = 0;
    if (is("pool")) {
        host->parallel_for(
            host->self, 8, 1, [](void *, std::int64_t, std::int64_t) {}, nullptr);
        number = pool_runs;
    }
    if (zoo_own_answer) number = zoo_own_answer();
    *static_cast<std::int64_t *>(call->operands[0].data) = number;
    return ATOLL_STATUS_OK;
}

std::int32_t open_device(void *, std::int32_t, atoll_error *error) {
    if (is("power_cut")) {
        host->set_error(error, ATOLL_STATUS_DEVICE_LOST, 0, "no power");
        return ATOLL_STATUS_DEVICE_LOST;
    }
    if (is("power_spike")) throw std::runtime_error("spike");
    return ATOLL_STATUS_OK;
}

atoll_function_info function;
atoll_module_decl module;
atoll_function_decl implementation;
atoll_impl_decl impl;
atoll_device_type_decl type;
const char *depends[2];
const atoll_module_decl *modules[1] = {&module};
const atoll_impl_decl *impls[1] = {&impl};
const atoll_device_type_decl *types[1] = {&type};
atoll_plugin plugin;

void describe() {
    function = {};
    function.struct_size = sizeof function;
    function.name = "answer";
    function.doc = "gives a number";
    function.signature = "-> number (): int64";
    if (is("unknown_rule")) function.rule = 1000;
    if (is("unknown_domain")) function.domain = std::uint64_t{1} << 40;
    if (is("no_doc")) function.doc = nullptr;
    module = {sizeof module, 1, zoo_kind, &function, sizeof function, 1, nullptr, nullptr};
    if (is("garbage_functions")) module.function_size = 0xdeadbeef;
    if (is("endless_functions")) module.function_count = 0xffffffff;
    if (is("needs_crasher")) depends[0] = "query_crashes", module.depends = depends;
    if (is("forger")) function.doc = forged;
    if (is("cycle_a")) depends[0] = "cycle_b", module.depends = depends;
    if (is("cycle_b")) depends[0] = "cycle_a", module.depends = depends;
    implementation = {};
    implementation.struct_size = sizeof implementation;
    implementation.fn = answer;
    impl = {};
    impl.struct_size = sizeof impl;
    impl.module = zoo_kind;
    impl.device_type = "cpu";
    impl.module_version = 1;
    impl.function_size = sizeof implementation;
    impl.functions = &implementation;
    impl.function_count = 1;
    impl.open_device = open_device;
    type = {};
    type.struct_size = sizeof type;
    type.flags = ATOLL_DEVICE_HOST_MEMORY | ATOLL_DEVICE_INLINE;
    type.name = "Beast:0";
    plugin = {};
    plugin.struct_size = sizeof plugin;
    plugin.magic = ATOLL_MAGIC;
    plugin.abi_major = ATOLL_ABI_MAJOR;
    plugin.abi_minor = ATOLL_ABI_MINOR;
    plugin.name = zoo_kind;
    if (is("forger")) plugin.description = plugin.version = forged;
    plugin.modules = modules;
    plugin.module_count = 1;
    plugin.impls = impls;
    plugin.impl_count = 1;
    plugin.load = load;
    plugin.unload = unload;
    if (is("device_name")) plugin.device_types = types, plugin.device_type_count = 1;
    if (is("power_cut") || is("power_spike")) { // waits for a module of another plugin
        plugin.module_count = 0;
        impl.module = "tame";
    }
}

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    if (is("query_crashes")) std::raise(SIGSEGV);
    if (is("query_aborts")) std::abort();
    describe();
    return &plugin;
}
