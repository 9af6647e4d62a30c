// What the tests of the conformance kit share.
#pragma once

#include <atoll/conformance.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

namespace kit {

namespace conf = Atoll::conformance;

// A plugin of tests/conformance in the build.
inline std::string broken(const std::string &name) {
    const char *folder = std::getenv("ATOLL_BROKEN_PLUGINS");
    REQUIRE_MESSAGE(folder, "ATOLL_BROKEN_PLUGINS must name the folder of these plugins");
    return std::string(folder) + "/" + name + ".so";
}

// A plugin of the search path by the beginning of its file's name.
inline std::string on_path(const std::string &file) {
    std::istringstream folders(std::getenv("ATOLL_PLUGIN_PATH"));
    for (std::string folder; std::getline(folders, folder, ':');)
        for (const auto &entry : std::filesystem::directory_iterator(folder))
            if (entry.path().filename().string().starts_with(file) &&
                entry.path().extension() == ".so")
                return entry.path().string();
    FAIL("no plugin ", file, " in ATOLL_PLUGIN_PATH");
    return {};
}

// The cpu plugin for this machine's processor.
inline std::string cpu_plugin() {
    const char *best = std::getenv("ATOLL_TEST_CPU");
    return best ? best : on_path("atoll-cpu");
}

inline std::size_t count_in(const conf::Report &report, const std::string &group,
                            conf::Outcome outcome) {
    std::size_t count = 0;
    for (const conf::Result &result : report.results)
        count += result.group == group && result.outcome == outcome;
    return count;
}

inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace kit
