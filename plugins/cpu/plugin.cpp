// The cpu plugin: what it is, its settings, load and unload.
//
// Settings, read at load: "threads", the most threads of one call (0: all processors);
// "cache_bytes", how much freed memory is kept for reuse; "blas", the name or path of the BLAS that
// multiplies matrices instead of OpenBLAS; "amx", 0: products do not use the tile instructions of
// Intel's processors, nor those of bfloat16 AVX512-BF16, which count subnormal numbers as zero.
#include "atoll/isa_level.hpp"
#include "kernels/entries.h"
#include "memory.h"
#include "state.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <sys/sysinfo.h>

namespace Atoll::cpu {
namespace {

std::uint64_t number(const atoll_host &host, const char *key, std::uint64_t fallback) {
    const std::string text = sdk::config(host, key, std::to_string(fallback).c_str());
    std::uint64_t value = fallback;
    if (text.empty()) return fallback;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, std::string("setting \"") + key +
                                                            "\" is \"" + text +
                                                            "\", need a non-negative integer");
    return value;
}

// A quarter of the memory for results that come back in the same sizes, but never more than 4 GiB.
std::uint64_t default_cache() {
    struct sysinfo info;
    const std::uint64_t total =
        sysinfo(&info) == 0 ? std::uint64_t{info.totalram} * info.mem_unit : 0;
    return std::min<std::uint64_t>(total / 4, std::uint64_t{4} << 30);
}

} // namespace

State::State(const atoll_host &h)
    : host(h), blas(sdk::config(h, "blas")),
      threads(static_cast<int>(std::min<std::uint64_t>(number(h, "threads", 0), 1 << 16))) {
    memory::set_cache_limit(number(h, "cache_bytes", default_cache()));
    atoll_kernels_use_amx(number(h, "amx", 1) != 0);
    // OpenBLAS uses all processors on its own, others may not.
    const bool limited = number(h, "threads", 0) > 0;
    atoll_kernels_set_blas(blas.c_str(), limited || !blas.empty() ? threads.count() : 0);
    // What a user asks for is opened at once: if it cannot be, products would fail much later.
    if (const char *why = blas.empty() ? nullptr : atoll_kernels_open_blas())
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, std::string("setting \"blas\": ") + why);
    // As the default, `atoll info` shows the number in force.
    (void)number(h, "threads", static_cast<std::uint64_t>(threads.count()));
    host.offer_parallel_for(host.self, &Threads::parallel_for, &threads);
    // Kernels use the host's pool: ours, unless the application has set its own.
    atoll_kernels_set_pool(
        [](void *state, std::int64_t count, std::int64_t grain, atoll_range_body body,
           void *argument) {
            const atoll_host &services = static_cast<State *>(state)->host;
            services.parallel_for(services.self, count, grain, body, argument);
        },
        this, threads.count());
}

State::~State() {
    atoll_kernels_set_pool(nullptr, nullptr, 0);
    memory::release();
}

namespace {

constexpr atoll_device_type_decl device_type =
    sdk::device_type("cpu", ATOLL_DEVICE_HOST_MEMORY | ATOLL_DEVICE_INLINE, 1 /* kDLCPU */);

atoll_plugin describe() {
    static const atoll_impl_decl device = sdk::implement("device", "cpu", device_functions());
    static const atoll_impl_decl core = sdk::implement("core", "cpu", core_functions());
    static const atoll_impl_decl *const impls[] = {&device, &core};
    static const atoll_device_type_decl *const device_types[] = {&device_type};
    static const std::string description =
        "the host's processors, " + sdk::level_name(ATOLL_ISA_LEVEL) + " kernels";
    return sdk::describe<State>({"cpu", "0.1.0", "Atoll", "Apache-2.0", description.c_str()}, impls,
                                device_types);
}

} // namespace
} // namespace Atoll::cpu

ATOLL_PLUGIN_NOTE("cpu", ATOLL_CONTAINS_DEVICES, 0);

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    static const atoll_plugin plugin = Atoll::cpu::describe();
    return &plugin;
}
