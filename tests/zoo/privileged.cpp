// Run with privileges that its user does not have: says what the library makes of the environment.
#include <atoll/atoll.hpp>
#include <cstdio>
#include <string>
#include <sys/auxv.h>

using namespace Atoll;

namespace {

template <class Body> std::string outcome(Body body) {
    try {
        return body();
    } catch (const Error &e) {
        return e.what();
    }
}

} // namespace

// privileged CPU_PLUGIN DUMMY_PLUGIN
int main(int, char **arguments) {
    std::printf("secure: %lu\n", getauxval(AT_SECURE));
    // ATOLL_PLUGIN_PATH
    std::printf("by name: %s\n", outcome([] { return load_plugin("dummy").name; }).c_str());
    // ATOLL_PLUGINS_DISABLE, ATOLL_PLUGINS_LOCK, ATOLL_PROBE, ATOLL_DUMMY_DEVICES,
    // ATOLL_INTERPOSERS
    std::printf("cpu: %s\n", outcome([&] { return load_plugin(arguments[1]).name; }).c_str());
    std::printf(
        "dummy devices: %s\n",
        outcome([&] { return std::to_string(load_plugin(arguments[2]).devices.size()); }).c_str());
    std::printf("interposers: %zu\n", interposers().size());
}
