// What the tests of loading, retiring and wrapping share: folders, errors, logs, child processes.
#pragma once

#include <atoll/atoll.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

namespace plugin_tests {

namespace fs = std::filesystem;

// The folder of tests/plugins in the build.
inline std::string test_folder() {
    const char *folder = std::getenv("ATOLL_TEST_PLUGINS");
    REQUIRE_MESSAGE(folder, "ATOLL_TEST_PLUGINS must name the folder of the test plugins");
    return folder;
}
inline std::string test_plugin(const std::string &name) {
    return test_folder() + "/" + name + ".so";
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// What a call threw; status ok if it threw nothing.
struct Caught {
    Atoll::Status status = Atoll::Status::ok;
    std::string text, function, device, plugin;
    std::int64_t native_code = 0;
};
template <class Body> Caught caught(Body &&body) {
    try {
        body();
    } catch (const Atoll::Error &e) {
        return {e.status(), e.what(), e.function(), e.device(), e.plugin(), e.native_code()};
    } // anything else fails the test case
    return {};
}

// Sets a variable of the environment for a scope.
class Variable {
public:
    Variable(const char *name, const std::string &value) : name_(name) {
        if (const char *old = std::getenv(name)) old_ = old, had_ = true;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (had_)
            ::setenv(name_.c_str(), old_.c_str(), 1);
        else
            ::unsetenv(name_.c_str());
    }
    Variable(const Variable &) = delete;
    Variable &operator=(const Variable &) = delete;

private:
    std::string name_, old_;
    bool had_ = false;
};

// A folder that only this user can write to, gone at the end.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "atoll-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()));
        path = name;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string file(const std::string &name, const std::string &content) const {
        std::ofstream(path + "/" + name, std::ios::binary) << content;
        return path + "/" + name;
    }
    std::string copy(const std::string &from, const std::string &name) const {
        fs::copy_file(from, path + "/" + name);
        return path + "/" + name;
    }
    std::string path;
};

// Collects the log of level info and up while it lives.
class LogCapture {
public:
    LogCapture() {
        Atoll::set_log_level("info");
        Atoll::set_log_handler([this](int, std::string_view text) {
            const std::lock_guard lock(mutex_);
            lines_.emplace_back(text);
        });
    }
    ~LogCapture() {
        Atoll::set_log_handler({});
        Atoll::set_log_level("warn");
    }
    LogCapture(const LogCapture &) = delete;
    LogCapture &operator=(const LogCapture &) = delete;
    // What came since the last time.
    std::vector<std::string> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(lines_, {});
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

// Runs one test case of this program in a process of its own with more variables set ("A=b").
struct ChildResult {
    int status = -1;
    std::string output; // both streams
};
inline ChildResult run_child(const std::string &test_case,
                             const std::vector<std::string> &variables,
                             const std::string &folder = "/") {
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    std::string command = "cd '" + folder + "' && env";
    for (const std::string &variable : variables) command += " '" + variable + "'";
    command += " '" + self + "' --no-skip --test-case='" + test_case + "' 2>&1";
    ChildResult result;
    std::FILE *pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe);
    char buffer[4096];
    for (std::size_t size; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        result.output.append(buffer, size);
    const int status = ::pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

inline const Atoll::PluginReport *find_report(const std::vector<Atoll::PluginReport> &reports,
                                              std::string_view path_part) {
    for (const Atoll::PluginReport &report : reports)
        if (contains(report.path.string(), path_part)) return &report;
    return nullptr;
}

// The cpu still computes.
inline void check_cpu_works() {
    const auto cpu = Atoll::device(Atoll::load_plugin("cpu").devices.at(0));
    const Atoll::Tensor t = Atoll::full({5}, 9.0, {Atoll::float64, cpu});
    CHECK(Atoll::sqrt(t).to_vector<double>() == std::vector<double>(5, 3.0));
}

} // namespace plugin_tests
