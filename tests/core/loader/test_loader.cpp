// Finding plugins, their dependencies, and the environment. Bad plugins are in tests/zoo.
#include "../plugin_tests.hpp"

#include <algorithm>

using namespace Atoll;
using namespace plugin_tests;

TEST_CASE("loads by name and by path, and loading again changes nothing") {
    const PluginReport cpu = load_plugin("cpu");
    CHECK(cpu.loaded);
    CHECK(cpu.name == "cpu");
    CHECK(cpu.devices == std::vector<std::string>{"cpu"});
    CHECK(std::count(cpu.implements.begin(), cpu.implements.end(), "core for cpu") == 1);
    CHECK(std::count(cpu.implements.begin(), cpu.implements.end(), "device for cpu") == 1);
    CHECK(cpu.path.is_absolute());
    CHECK_FALSE(cpu.version.empty());
    CHECK_FALSE(cpu.description.empty());
    const PluginReport again = load_plugin("cpu"), by_path = load_plugin(cpu.path.string());
    CHECK(again.path == cpu.path);
    CHECK(by_path.name == "cpu");
    CHECK(devices().size() == 1);

    const PluginReport odd = load_plugin(test_plugin("odd"));
    CHECK(odd.version == "3.2.1");
    CHECK(odd.devices == std::vector<std::string>{"odd"});
    CHECK(odd.interposers == std::vector<std::string>{"odd_wrap"});
    retire_plugin("odd");
}

TEST_CASE("load_all loads what can be loaded and explains the rest") {
    Folder folder;
    folder.file("atoll-text.so", "#!/bin/sh\necho hello\n");
    folder.copy(test_plugin("other_major"), "atoll-other-major.so");
    folder.copy(test_plugin("base"), "atoll-base.so");
    folder.copy(test_plugin("base"), "atoll-base-twin.so");
    folder.file("notes.txt", "no candidate at all");
    std::vector<PluginReport> reports;
    {
        const Variable path("ATOLL_PLUGIN_PATH",
                            std::string(std::getenv("ATOLL_PLUGIN_PATH")) + ":" + folder.path);
        LogCapture log; // warnings of what failed
        reports = load_all_plugins();
    }
    const auto find = [&](const char *part) -> PluginReport {
        const PluginReport *report = find_report(reports, part);
        REQUIRE_MESSAGE(report, part);
        return *report;
    };
    for (const char *good : {"atoll-dummy.so", "atoll-dummy-min.so", "atoll-hello.so",
                             "atoll-hello-cpu.so", "atoll-hello-dummy.so", "atoll-trace.so"})
        CHECK_MESSAGE(find(good).loaded, good);
    CHECK(find("/atoll-base.so").loaded != find("atoll-base-twin.so").loaded);
    const PluginReport text = find("atoll-text.so");
    CHECK_FALSE(text.loaded);
    CHECK(contains(text.reason, "not an ELF file"));
    const PluginReport other = find("atoll-other-major.so");
    CHECK_FALSE(other.loaded);
    CHECK(other.name == "other_major");
    CHECK(contains(other.reason, "plugin ABI 2.2"));
    CHECK(find_report(reports, "notes.txt") == nullptr);
    // One cpu of all levels is loaded, the others say which.
    std::size_t cpus = 0;
    for (const PluginReport &report : reports) cpus += report.name == "cpu" && report.loaded;
    CHECK(cpus == 1);
    CHECK(std::is_sorted(reports.begin(), reports.end(),
                         [](const auto &a, const auto &b) { return a.path < b.path; }));
    for (const char *name :
         {"hello_dummy", "hello_cpu", "hello", "trace", "dummy", "dummy_min", "base"})
        retire_plugin(name);
    // A report stays, with the reason.
    const auto after = load_report();
    CHECK(find_report(after, "atoll-trace.so")->reason == "retired");
}

TEST_CASE("an unknown name lists where was searched, what was found, what to do") {
    const Caught error = caught([] { load_plugin("no_such_plugin"); });
    CHECK(error.status == Status::not_found);
    CHECK(error.function == "load_plugin");
    CHECK(contains(error.text, "'no_such_plugin'"));
    CHECK(contains(error.text, std::getenv("ATOLL_PLUGIN_PATH")));
    for (const char *name : {"cpu", "dummy", "hello_cpu", "trace"})
        CHECK_MESSAGE(contains(error.text, name), error.text);
    CHECK(contains(error.text, "set ATOLL_PLUGIN_PATH, or give a path"));

    // A plugin of that name that had to be refused is no mystery.
    Folder folder;
    folder.copy(test_plugin("other_major"), "x.so");
    const Variable path("ATOLL_PLUGIN_PATH", folder.path);
    const Caught refused = caught([] { load_plugin("other_major"); });
    CHECK(refused.status == Status::not_found);
    CHECK(contains(refused.text, folder.path + "/x.so"));
    CHECK(contains(refused.text, "plugin ABI 2.2"));

    const Caught missing = caught([] { load_plugin("/no/such/file.so"); });
    CHECK(contains(missing.text, "/no/such/file.so"));
    CHECK(contains(missing.text, "cannot be found"));
}

TEST_CASE("a longer descriptor with a zero tail is an older host's friend") {
    for (const char *mode : {"zero_tail", "impl_zero_tail"}) {
        const Variable odd("ODD", mode);
        CHECK(load_plugin(test_plugin("odd")).loaded);
        CHECK(full({2}, 16.0, {float64, device("odd")}).to_vector<double>() ==
              std::vector<double>{16, 16});
        retire_plugin("odd");
    }
}

TEST_CASE("no device is no error, and its reason is told") {
    const Variable odd("ODD", "enumerate_unterminated");
    const PluginReport report = load_plugin(test_plugin("odd"));
    CHECK(report.loaded);
    CHECK(report.devices.empty());
    CHECK(report.reason == "no device: " + std::string(255, 'x'));
    const Caught error = caught([] { device("odd"); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "found no device: xxx"));
    retire_plugin("odd");
    configure("dummy", "devices", "0");
    CHECK(load_plugin("dummy").reason == "no device: the setting devices is 0");
    CHECK(contains(caught([] { device("dummy"); }).text, "the setting devices is 0"));
    configure("dummy", "devices", "many");
    retire_plugin("dummy");
    const Caught setting = caught([] { load_plugin("dummy"); });
    CHECK(contains(setting.text, "'many', need a number"));
    configure("dummy", "devices", "");
}

TEST_CASE("dependencies load by name; those that cannot are explained") {
    const Variable path("ATOLL_PLUGIN_PATH",
                        std::string(std::getenv("ATOLL_PLUGIN_PATH")) + ":" + test_folder());
    load_plugin("cpu");
    CHECK(modules().size() == 2);
    load_plugin("extension"); // brings base
    CHECK(modules().size() == 4);
    const Caught busy = caught([] { retire_plugin("base"); });
    CHECK(busy.status == Status::busy);
    CHECK(contains(busy.text, "module extension of plugin extension depends on module base"));
    CHECK(contains(busy.text, "retire that plugin first"));
    retire_plugin("extension");
    retire_plugin("base");

    const auto check = [](const char *name, const char *cause) {
        const Caught error = caught([&] { load_plugin(name); });
        CHECK_MESSAGE(error.status != Status::ok, name);
        CHECK_MESSAGE(contains(error.text, cause), error.text);
        CHECK_MESSAGE(contains(error.text, test_plugin(name)), error.text);
        CHECK(modules().size() == 2);
    };
    check("selfish", "depends on itself");
    check("lost", "no usable plugin 'nowhere'");
    check("orphan", "plugin base_cpu does not define the module base_cpu");
    check("sneaky", "'./base.so'"); // a name, never a path
    retire_plugin("base_cpu");
}

TEST_CASE("what is missing says what, where and what to do") {
    load_plugin("cpu");
    // A device.
    Caught error = caught([] { device("dummy"); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "there is no device 'dummy'"));
    CHECK(contains(error.text, "Atoll::load_plugin(\"dummy\")"));
    CHECK(contains(error.text, "devices now: cpu"));
    load_plugin("dummy");
    error = caught([] { device("dummy:7"); });
    CHECK(contains(error.text, "2 device(s), counted from 0"));
    CHECK(contains(error.text, "cpu, dummy:0, dummy:1"));
    CHECK(caught([] { device("dummy:"); }).status == Status::not_found);
    CHECK(caught([] { device("dummy:1x"); }).status == Status::not_found);
    CHECK(caught([] { device("dummy:99999999999"); }).status == Status::not_found);
    CHECK(caught([] { device(""); }).status == Status::not_found);

    // A function that no plugin implements here.
    load_plugin(test_plugin("odd"));
    {
        const Tensor t = full({2}, 1.0, {float64, device("odd")});
        error = caught([&] { add(t, t); });
        CHECK(error.status == Status::not_supported);
        CHECK(error.function == "core.add");
        CHECK(error.device == "odd");
        CHECK_MESSAGE(contains(error.text, "no loaded plugin implements it for device type odd"),
                      error.text);
        CHECK(contains(error.text, "load one that does"));
        error = caught([] { arange(3, {float64, device("odd")}); });
        CHECK(error.function == "arange");
        CHECK_MESSAGE(contains(error.text, "needs core.steps, which is not implemented"),
                      error.text);
        CHECK(caught([] {
                  linspace(0, 1, 3, {}, {float64, device("odd")});
              }).function == "linspace");
        // A dtype that it has not.
        error = caught([&] { sqrt(t.view_as(complex64)); });
        CHECK(error.status == Status::not_supported);
        CHECK_MESSAGE(contains(error.text, "not implemented for complex64"), error.text);
        CHECK_MESSAGE(contains(error.text, "implemented for: float64; cast first"), error.text);
        CHECK(contains(error.text, "odd"));
    }
    retire_plugin("odd");
    // A module that is not there.
    error = caught([] { Function("hello.calls"); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "'hello.calls'"));
    CHECK(contains(error.text, "modules now: core, device"));
    CHECK(caught([] { Function("core.no_such"); }).status == Status::not_found);
    // A module without an implementation for a device.
    load_plugin("hello");
    load_plugin("hello_cpu");
    {
        const Function scale_add("hello.scale_add");
        const Tensor t = full({2}, 1.0, {float64, device("dummy")});
        error = caught([&] { scale_add({t, t}); });
        CHECK(error.status == Status::not_supported);
        CHECK(error.function == "hello.scale_add");
        CHECK(error.device == "dummy:0");
        CHECK(contains(error.text, "device type dummy"));
        CHECK(contains(error.text, "module hello"));
        const Tensor i = full({2}, 1, {int32, device("cpu")});
        error = caught([&] { scale_add({i, i}); });
        CHECK_MESSAGE(contains(error.text, "not implemented for int32"), error.text);
        CHECK_MESSAGE(contains(error.text, "float32, float64"), error.text);
        // A dtype outside the function's domain.
        const Tensor b = full({2}, true, {bool_, device("cpu")});
        error = caught([&] { scale_add({b, b}); });
        CHECK(error.status == Status::invalid_argument);
        CHECK(contains(error.text, "got bool (a, b), need one of int8"));
        // Another number of inputs.
        CHECK(caught([&] { Function("hello.calls")({t}); }).status == Status::invalid_argument);
    }
    for (const char *name : {"hello_cpu", "hello", "dummy"}) retire_plugin(name);
}

// ---- The environment, in processes of their own -------------------------------------------------

TEST_CASE("child: relative entries" * doctest::skip()) {
    const Caught error = caught([] { load_plugin("cpu"); });
    CHECK(error.status == Status::not_found);
    const auto reports = load_report();
    const auto reason = [&](const char *path) {
        for (const PluginReport &report : reports)
            if (report.path == path) return report.reason;
        return std::string("not mentioned");
    };
    CHECK(contains(reason("plugins"), "give an absolute one"));
    CHECK(contains(reason("ATOLL_PLUGIN_PATH"), "working directory, which is never searched"));
    CHECK(contains(reason("/no/such/folder"), "cannot be listed"));
}

TEST_CASE("relative and empty entries of the search path are refused") {
    // Where the relative entry would lead to a plugin that works.
    Folder folder;
    const fs::path cpu = load_plugin("cpu").path;
    fs::create_directory(folder.path + "/plugins");
    fs::copy_file(cpu, folder.path + "/plugins/" + cpu.filename().string());
    fs::copy_file(cpu, folder.path + "/" + cpu.filename().string());
    const ChildResult child = run_child(
        "child: relative entries", {"ATOLL_PLUGIN_PATH=plugins:.:/no/such/folder:"}, folder.path);
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: disabled" * doctest::skip()) {
    load_all_plugins();
    CHECK(caught([] { load_plugin("dummy"); }).status == Status::not_found);
    const Caught error = caught([] { load_plugin("dummy_min"); });
    CHECK(contains(error.text, "disabled by 'dummy*' in ATOLL_PLUGINS_DISABLE"));
    const auto reports = load_report();
    CHECK(find_report(reports, "atoll-dummy.so")->reason ==
          "disabled by 'dummy*' in ATOLL_PLUGINS_DISABLE");
    CHECK_FALSE(find_report(reports, "atoll-trace.so")->loaded);
    CHECK(find_report(reports, "atoll-hello.so")->loaded);
    // By path too.
    CHECK(caught([&] {
              load_plugin(find_report(reports, "atoll-trace.so")->path.string());
          }).status == Status::refused);
    check_cpu_works();
}

TEST_CASE("ATOLL_PLUGINS_DISABLE keeps plugins out, by glob") {
    const ChildResult child =
        run_child("child: disabled", {"ATOLL_PLUGINS_DISABLE= dummy* ,, trace"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: safe mode" * doctest::skip()) {
    const Caught error = caught([] { load_plugin("dummy"); });
    CHECK(error.status == Status::not_found);
    CHECK_FALSE(contains(error.text, "atoll-dummy"));
    // By path it works; settings and interposers of the environment count for nothing.
    const std::string listed = std::getenv("ATOLL_PLUGIN_PATH");
    std::string cpu, dummy;
    for (std::size_t at = 0; at < listed.size();) {
        const std::size_t end = std::min(listed.find(':', at), listed.size());
        for (const auto &entry : fs::directory_iterator(listed.substr(at, end - at))) {
            if (entry.path().filename() == "atoll-dummy.so") dummy = entry.path();
        }
        at = end + 1;
    }
    CHECK(load_plugin(dummy).devices.size() == 2);
    CHECK(interposers().empty());
}

TEST_CASE("ATOLL_SAFE_MODE ignores the environment's paths, settings and interposers") {
    const ChildResult child =
        run_child("child: safe mode",
                  {"ATOLL_SAFE_MODE=1", "ATOLL_DUMMY_DEVICES=5", "ATOLL_INTERPOSERS=trace"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: settings" * doctest::skip()) {
    CHECK(load_plugin("dummy").devices.size() == 5);
    retire_plugin("dummy");
    configure("dummy", "devices", "3"); // the application wins
    CHECK(load_plugin("dummy").devices.size() == 3);
    configure("dummy", "devices", "");
    retire_plugin("dummy");
    CHECK(load_plugin("dummy").devices.size() == 5);
}

TEST_CASE("a plugin's settings come from the environment, the application's win") {
    const ChildResult child = run_child("child: settings", {"ATOLL_DUMMY_DEVICES=5"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: interposers" * doctest::skip()) {
    check_cpu_works();
    std::vector<std::string> names;
    for (const InterposerInfo &info : interposers()) names.push_back(info.name + " " + info.target);
    CHECK(names == std::vector<std::string>{"trace core.sqrt", "trace *"});
}

TEST_CASE("child: interposers of later plugins" * doctest::skip()) {
    const auto targets = [] {
        std::vector<std::string> list;
        for (const InterposerInfo &info : interposers()) list.push_back(info.target);
        return list;
    };
    load_plugin("cpu");
    CHECK(targets().empty());
    load_plugin("dummy");
    CHECK(targets() == std::vector<std::string>{"*@dummy"});
    load_plugin("hello");
    CHECK(targets() == std::vector<std::string>{"hello.calls", "*@dummy"}); // outermost first
}

TEST_CASE("ATOLL_INTERPOSERS may name what a later plugin brings") {
    const ChildResult child = run_child("child: interposers of later plugins",
                                        {"ATOLL_INTERPOSERS=trace=hello.calls,trace=*@dummy"});
    CHECK_MESSAGE(child.status == 0, child.output);
    // Said once.
    const std::string words = "'trace=hello.calls': [push_interposer] target 'hello.calls': there "
                              "is no module 'hello'";
    const std::size_t first = child.output.find(words);
    REQUIRE_MESSAGE(first != std::string::npos, child.output);
    CHECK(child.output.find(words, first + 1) == std::string::npos);
    CHECK(contains(child.output, "tried again whenever a plugin is loaded"));
}

TEST_CASE("ATOLL_INTERPOSERS pushes in order and reports at exit") {
    const ChildResult child =
        run_child("child: interposers",
                  {"ATOLL_INTERPOSERS=trace, trace=core.sqrt, no_such, trace=core.no_such"});
    CHECK_MESSAGE(child.status == 0, child.output);
    CHECK(contains(child.output, "ATOLL_INTERPOSERS, 'no_such'"));
    CHECK(contains(child.output, "there is no function 'no_such'"));
    CHECK_MESSAGE(contains(child.output, "core.fill"), child.output);
    // Once in each of the two reports.
    const std::size_t first = child.output.find("\ncore.sqrt");
    REQUIRE(first != std::string::npos);
    CHECK(child.output.find("\ncore.sqrt", first + 1) != std::string::npos);
}
