// Settings of plugins: names that no plugin asks for are reported once, with the nearest that one
// does; what is unknown anywhere is reported with the nearest known name.
#include "../support.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

using namespace Atoll;
using namespace support;

namespace {

// What is logged while it lives.
class Log {
public:
    Log() {
        set_log_handler([this](int, std::string_view text) { lines_.emplace_back(text); });
    }
    ~Log() { set_log_handler({}); }
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;
    std::ptrdiff_t count(std::string_view words) const {
        return std::count_if(lines_.begin(), lines_.end(), [&](const std::string &line) {
            return line.find(words) != std::string::npos;
        });
    }
    std::size_t size() const { return lines_.size(); }

private:
    std::vector<std::string> lines_;
};

PluginSetting setting(std::string_view plugin, std::string_view key) {
    for (const PluginSetting &one : plugin_settings())
        if (one.plugin == plugin && one.key == key) return one;
    FAIL("no setting " << key);
    return {};
}

} // namespace

TEST_CASE("a load reports variables and settings that it does not know, once") {
    ::setenv("ATOLL_CPU_THREAD", "2", 1);          // of the plugin, misspelt
    ::setenv("ATOLL_PLUGINS_PATH", "/nowhere", 1); // of the host, misspelt
    ::setenv("ATOLL_DUMMY_NOISE", "1", 1);         // of a plugin that is not loaded yet
    ::setenv("ATOLL_UNLIKE_ANY_OTHER", "1", 1);    // of another program
    configure("cpu", "cores", "2");
    configure("dumy", "devices", "3");
    const Log log;
    load_plugin("cpu");
    CHECK(log.count("ATOLL_CPU_THREAD: the plugin cpu has no setting 'thread'") == 1);
    CHECK(log.count("did you mean 'threads'?") == 1);
    CHECK(log.count("ATOLL_PLUGINS_PATH has no effect; did you mean ATOLL_PLUGIN_PATH?") == 1);
    CHECK(log.count("configure: the plugin cpu has no setting 'cores'") == 1);
    CHECK(log.size() == 3);
    load_plugin("dummy");
    CHECK(log.count("ATOLL_DUMMY_NOISE: the plugin dummy has no setting 'noise', but ") == 1);
    CHECK(log.count("configure: no plugin 'dumy' is loaded; did you mean 'dummy'?") == 1);
    CHECK(log.size() == 5);
    load_plugin("dummy_min");
    CHECK(log.size() == 5);
    for (const char *name :
         {"ATOLL_CPU_THREAD", "ATOLL_PLUGINS_PATH", "ATOLL_DUMMY_NOISE", "ATOLL_UNLIKE_ANY_OTHER"})
        ::unsetenv(name);
    configure("cpu", "cores", "");
    configure("dumy", "devices", "");
}

TEST_CASE("configure reports a key that a loaded plugin did not ask for, once") {
    load_devices();
    const Log log;
    configure("dummy", "falt", "lost");
    CHECK(log.count("the plugin dummy has no setting 'falt', but devices, fault, memory; did you "
                    "mean 'fault'?") == 1);
    configure("dummy", "falt", "");
    configure("dummy", "memory", "1000");
    configure("dummy", "memory", "");
    CHECK(log.size() == 1);
}

TEST_CASE("settings show the value in force and where it is from") {
    load_devices();
    CHECK(setting("dummy", "devices").value == "2");
    CHECK(setting("dummy", "devices").source == "default");
    const PluginSetting threads = setting("cpu", "threads");
    CHECK(std::stoi(threads.value) >= 1); // not the "0" that stands for all cores
    configure("cpu", "threads", "3");
    CHECK(setting("cpu", "threads").value == "3");
    CHECK(setting("cpu", "threads").source == "application");
    configure("cpu", "threads", "");
}

TEST_CASE("a misspelt name is answered with the nearest known one") {
    load_devices();
    const auto refusal = [](const char *plugin) {
        return error_text([&] { load_plugin(plugin); });
    };
    CHECK(contains(refusal("dumy"), "did you mean 'dummy'?"));
    CHECK(contains(refusal("trase"), "did you mean 'trace'?"));
    CHECK_FALSE(contains(refusal("something_else_altogether"), "did you mean"));
    CHECK(
        contains(error_text([] { (void)dtype_from_name("flaot32"); }), "did you mean 'float32'?"));
    CHECK_FALSE(contains(error_text([] { (void)dtype_from_name("x"); }), "did you mean"));
}

TEST_CASE("what has no axes, no truth value or no kernel is named") {
    load_devices();
    const Tensor number = full({}, 1), pair = full({2}, 1);
    CHECK(contains(error_text([&] { (void)sum(number, 0); }), "rank 0 has no axes"));
    CHECK(contains(error_text([&] { (void)number.flip(0); }), "rank 0 has no axes"));
    const std::string truth = error_text([&] { (void)bool(pair == pair); });
    CHECK(contains(truth, "[tensor.bool]"));
    CHECK(contains(truth, "use all() or any()"));
    CHECK(bool(number == 1));
}
