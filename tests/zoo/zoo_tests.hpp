// What the tests of the zoo share: the beasts' files, refusals, and that everything else still
// works.
#pragma once

#include "plugin_tests.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace plugin_tests {

// The file of a beast of tests/zoo in the build.
inline std::string zoo(const std::string &name) {
    const char *folder = std::getenv("ATOLL_ZOO");
    REQUIRE_MESSAGE(folder, "ATOLL_ZOO must name the folder of the zoo");
    return std::string(folder) + "/" + name + ".so";
}

// Everything known about a file that was refused.
struct Refusal {
    Caught error;
    std::string reason; // of the report
};
inline Refusal refused(const std::string &path) {
    Refusal refusal;
    refusal.error = caught([&] { Atoll::load_plugin(path); });
    REQUIRE_MESSAGE(refusal.error.status != Atoll::Status::ok, path);
    const auto reports = Atoll::load_report();
    const Atoll::PluginReport *report = find_report(reports, path);
    REQUIRE_MESSAGE(report, path);
    CHECK_FALSE(report->loaded);
    refusal.reason = report->reason;
    return refusal;
}

// Other plugins load and add two tensors.
inline void others_work() {
    for (const char *name : {"cpu", "dummy"}) {
        const auto device = Atoll::device(Atoll::load_plugin(name).devices.at(0));
        const Atoll::Tensor two = Atoll::full({5}, 2.0, {Atoll::float64, device});
        CHECK((two + two).to_vector<double>() == std::vector<double>(5, 4.0));
    }
}

// That the file is refused with its name, the cause and the remedy, and has left nothing behind.
inline void check_refused(const std::string &path, const std::string &cause,
                          const std::string &remedy) {
    CAPTURE(path);
    const std::size_t devices = Atoll::devices().size(), modules = Atoll::modules().size();
    const Refusal refusal = refused(path);
    CHECK_MESSAGE(contains(refusal.error.text, path), refusal.error.text);
    CHECK_MESSAGE(contains(refusal.error.text, cause), refusal.error.text);
    CHECK_MESSAGE(contains(refusal.error.text, remedy), refusal.error.text);
    CHECK_MESSAGE(contains(refusal.reason, cause), refusal.reason);
    CHECK(Atoll::devices().size() == devices);
    CHECK(Atoll::modules().size() == modules);
    others_work();
}

// Puts a copy of the library into a folder; a child that has the folder in LD_LIBRARY_PATH uses it.
// Gives the folder of the original.
inline std::string copy_library(const Folder &folder) {
    fs::path library;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (contains(line, "/libatoll.so")) library = line.substr(line.find('/'));
    REQUIRE_FALSE(library.empty());
    const std::string copy = folder.copy(library.string(), library.filename().string());
    for (const auto &entry : fs::directory_iterator(library.parent_path()))
        if (entry.is_symlink() && contains(entry.path().filename().string(), "libatoll.so"))
            fs::create_symlink(copy, folder.path + "/" + entry.path().filename().string());
    return library.parent_path().string();
}

} // namespace plugin_tests
