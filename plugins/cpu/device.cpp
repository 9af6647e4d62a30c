// The module `device` on the cpu: one device, host memory, transfers by memcpy, no streams.
#include "atoll/isa_level.hpp"
#include "kernels/entries.h"
#include "memory.h"
#include "state.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/sysinfo.h>

namespace Atoll::cpu {
namespace {

void enumerate(State &, atoll_call &call) { sdk::params<atoll_enumerate_params>(call).count = 1; }

// The processor's name as Linux gives it.
std::string model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "cpu";
}

// Processors that this process may run on.
std::uint32_t processors(const State &state) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return static_cast<std::uint32_t>(CPU_COUNT(&set));
    return static_cast<std::uint32_t>(state.threads.count());
}

void properties(State &state, atoll_call &call) {
    auto &p = sdk::params<atoll_properties_params>(call);
    p.units = processors(state);
    std::snprintf(p.name, sizeof p.name, "%s", model().c_str());
    struct sysinfo info;
    if (sysinfo(&info) == 0) {
        p.total_memory = std::uint64_t{info.totalram} * info.mem_unit;
        p.free_memory = (std::uint64_t{info.freeram} + info.bufferram) * info.mem_unit;
    }
    p.alignment = memory::alignment;
}

// "level", "threads", "blas": which and why; it describes itself once it is open.
void facts(State &state, atoll_call &call) {
    sdk::add_fact(call, "level", sdk::level_name(ATOLL_ISA_LEVEL));
    sdk::add_fact(call, "threads", std::to_string(state.threads.count()));
    const std::string blas = atoll_kernels_blas();
    const std::string why = state.blas.empty() ? "by default: " : "by the setting cpu.blas: ";
    const std::string text = why + (blas.empty() ? "OpenBLAS, opened by the first product" : blas);
    sdk::add_fact(call, "blas", text.substr(0, 255));
}

[[gnu::noinline]] std::int32_t refuse_memory(const atoll_call &call, std::uint64_t bytes) {
    char text[96];
    std::snprintf(text, sizeof text, "no host memory for %llu bytes",
                  static_cast<unsigned long long>(bytes));
    return sdk::set_error(call.error, ATOLL_STATUS_OUT_OF_MEMORY, text);
}

// These two stand on the hot path: no exceptions, no strings unless something is wrong.
std::int32_t allocate(const atoll_link *, atoll_call *call) {
    auto &p = sdk::params<atoll_memory_params>(*call);
    p.data = memory::allocate(p.bytes);
    if (p.data) [[likely]]
        return ATOLL_STATUS_OK;
    return refuse_memory(*call, p.bytes);
}

std::int32_t release(const atoll_link *, atoll_call *call) {
    const auto &p = sdk::params<atoll_memory_params>(*call);
    memory::free(p.data, p.bytes);
    return ATOLL_STATUS_OK;
}

std::int32_t transfer(const atoll_link *, atoll_call *call) {
    const auto &p = sdk::params<atoll_transfer_params>(*call);
    std::memmove(p.destination, p.source, p.bytes);
    return ATOLL_STATUS_OK;
}

// An inline device needs neither streams nor events.
constexpr atoll_function_decl functions[] = {
    sdk::declare<enumerate>(ATOLL_DEVICE_FN_enumerate),
    sdk::declare<properties>(ATOLL_DEVICE_FN_properties),
    sdk::declare<facts>(ATOLL_DEVICE_FN_facts),
    sdk::declare(ATOLL_DEVICE_FN_allocate, &allocate),
    sdk::declare(ATOLL_DEVICE_FN_free, &release),
    sdk::declare(ATOLL_DEVICE_FN_transfer, &transfer),
};

} // namespace

std::span<const atoll_function_decl> device_functions() { return functions; }

} // namespace Atoll::cpu
