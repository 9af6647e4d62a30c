// A host application: what it computes with is decided by the plugins that this machine has.
//
//   qr_demo LONGLEY_CSV FAST_SQRT_PLUGIN
//
// With ATOLL_INTERPOSERS=trace in the environment the tracer's table follows on standard error; the
// program and what it prints are the same.
#include "demo.hpp"

#include <atoll/atoll.hpp>
#include <cstdio>
#include <exception>

#include <fmt/core.h>

namespace {

std::string joined(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void show_plugins() {
    for (const Atoll::PluginReport &plugin : Atoll::load_all_plugins()) {
        if (plugin.superseded) continue; // a better build of it is here
        if (!plugin.loaded) {
            fmt::print("{:<12} not loaded: {}\n", plugin.name, plugin.reason);
            continue;
        }
        fmt::print("{:<12} {}", plugin.name, plugin.description);
        if (!plugin.devices.empty()) fmt::print(" [{}]", joined(plugin.devices));
        if (!plugin.reason.empty()) fmt::print(" ({})", plugin.reason);
        fmt::print("\n");
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: {} LONGLEY_CSV FAST_SQRT_PLUGIN\n", argv[0]);
        return 2;
    }
    try {
        fmt::print("== Plugins of Atoll {}\n\n", Atoll::version());
        show_plugins();
        fmt::print("\n== QR factorisation across devices, dtypes and byte orders\n");
        Demo::figure();
        fmt::print("\n== Longley regression by QR, beside NIST's certified values\n");
        Demo::longley(argv[1]);
        fmt::print("\n== A third party's square root\n\n");
        Demo::replaced_sqrt(argv[2]);
        fmt::print("\nall results are as they must be\n");
    } catch (const std::exception &error) {
        std::fflush(stdout);
        fmt::print(stderr, "qr_demo: {}\n", error.what());
        return 1;
    }
}
