// Finding, judging and opening plugins; and that a plugin which breaks its contract in any way is
// refused or contained, with words that name file, cause and remedy, while everything else works.
#include "atoll/hello.h"
#include "plugin_tests.hpp"

#include <algorithm>

using namespace Atoll;
using namespace plugin_tests;

namespace {

// Everything known about a file that was refused.
struct Refusal {
    Caught error;
    std::string reason; // of the report
};
Refusal refused(const std::string &path) {
    Refusal refusal;
    refusal.error = caught([&] { load(path); });
    REQUIRE_MESSAGE(refusal.error.status != Status::ok, path);
    const auto reports = load_report();
    const PluginReport *report = find_report(reports, path);
    REQUIRE_MESSAGE(report, path);
    CHECK_FALSE(report->loaded);
    refusal.reason = report->reason;
    return refusal;
}

} // namespace

TEST_CASE("loads by name and by path, and loading again changes nothing") {
    const PluginReport cpu = load("cpu");
    CHECK(cpu.loaded);
    CHECK(cpu.name == "cpu");
    CHECK(cpu.devices == std::vector<std::string>{"cpu"});
    CHECK(std::count(cpu.implements.begin(), cpu.implements.end(), "core for cpu") == 1);
    CHECK(std::count(cpu.implements.begin(), cpu.implements.end(), "device for cpu") == 1);
    CHECK(cpu.path.is_absolute());
    CHECK_FALSE(cpu.version.empty());
    CHECK_FALSE(cpu.description.empty());
    const PluginReport again = load("cpu"), by_path = load(cpu.path.string());
    CHECK(again.path == cpu.path);
    CHECK(by_path.name == "cpu");
    CHECK(devices().size() == 1);

    const PluginReport odd = load(test_plugin("odd"));
    CHECK(odd.version == "3.2.1");
    CHECK(odd.devices == std::vector<std::string>{"odd"});
    CHECK(odd.interposers == std::vector<std::string>{"odd_wrap"});
    retire("odd");
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
        reports = load_all();
    }
    const auto find = [&](const char *part) -> PluginReport {
        const PluginReport *report = find_report(reports, part);
        REQUIRE_MESSAGE(report, part);
        return *report;
    };
    for (const char *good : {"atoll-dummy.so", "atoll-dummy-min.so", "atoll-hello.so",
                             "atoll-hello-cpu.so", "atoll-hello-dummy.so", "atoll-trace.so"})
        CHECK_MESSAGE(find(good).loaded, good, ": ", find(good).reason);
    CHECK(find("/atoll-base.so").loaded != find("atoll-base-twin.so").loaded);
    const PluginReport text = find("atoll-text.so");
    CHECK_FALSE(text.loaded);
    CHECK(contains(text.reason, "not an ELF file"));
    const PluginReport other = find("atoll-other-major.so");
    CHECK_FALSE(other.loaded);
    CHECK(other.name == "other_major");
    CHECK(contains(other.reason, "plugin ABI 2.0"));
    CHECK(find_report(reports, "notes.txt") == nullptr);
    // One cpu of all levels is loaded, the others say which.
    std::size_t cpus = 0;
    for (const PluginReport &report : reports) cpus += report.name == "cpu" && report.loaded;
    CHECK(cpus == 1);
    CHECK(std::is_sorted(reports.begin(), reports.end(),
                         [](const auto &a, const auto &b) { return a.path < b.path; }));
    for (const char *name :
         {"hello_dummy", "hello_cpu", "hello", "trace", "dummy", "dummy_min", "base"})
        retire(name);
    // A report stays, with the reason.
    const auto after = load_report();
    CHECK(find_report(after, "atoll-trace.so")->reason == "retired");
}

TEST_CASE("an unknown name lists where was searched, what was found, what to do") {
    const Caught error = caught([] { load("no_such_plugin"); });
    CHECK(error.status == Status::not_found);
    CHECK(error.function == "load");
    CHECK(contains(error.text, "'no_such_plugin'"));
    CHECK(contains(error.text, std::getenv("ATOLL_PLUGIN_PATH")));
    for (const char *name : {"cpu", "dummy", "hello_cpu", "trace"})
        CHECK_MESSAGE(contains(error.text, name), error.text);
    CHECK(contains(error.text, "set ATOLL_PLUGIN_PATH, or give a path"));

    // A plugin of that name that had to be refused is no mystery.
    Folder folder;
    folder.copy(test_plugin("other_major"), "x.so");
    const Variable path("ATOLL_PLUGIN_PATH", folder.path);
    const Caught refused = caught([] { load("other_major"); });
    CHECK(refused.status == Status::not_found);
    CHECK(contains(refused.text, folder.path + "/x.so"));
    CHECK(contains(refused.text, "plugin ABI 2.0"));

    const Caught missing = caught([] { load("/no/such/file.so"); });
    CHECK(contains(missing.text, "/no/such/file.so"));
    CHECK(contains(missing.text, "cannot be found"));
}

TEST_CASE("files that are no plugin are refused before they run") {
    Folder folder;
    const auto check = [](const std::string &path, const char *cause) {
        const Refusal refusal = refused(path);
        CHECK_MESSAGE(contains(refusal.error.text, path), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.error.text, cause), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.reason, cause), refusal.reason);
    };
    check(folder.file("text.so", "#!/bin/sh\necho hello\n"), "not an ELF file");
    check(folder.file("empty.so", ""), "it is empty");
    fs::create_directory(folder.path + "/folder.so");
    check(folder.path + "/folder.so", "a folder, not a file");
    check(test_plugin("other_major"),
          "built for plugin ABI 2.0, this host speaks 1.x; get a build");
    check(fs::canonical(test_plugin("../note_module")),
          "needs a host of plugin ABI 1.7 or newer, this one is 1.0; update Atoll");
    check(test_plugin("no_query"), "does not export atoll_plugin_query_v1; link it with");

    // Cut off anywhere: the head, the middle, the last byte.
    std::ifstream in(test_plugin("odd"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(whole.size() > 4096);
    for (const std::size_t size : {std::size_t{20}, std::size_t{64}, std::size_t{1000},
                                   whole.size() / 2, whole.size() - 1}) {
        const std::string path =
            folder.file("cut" + std::to_string(size) + ".so", whole.substr(0, size));
        const Refusal refusal = refused(path);
        CHECK(contains(refusal.error.text, path));
        CHECK_MESSAGE(contains(refusal.error.text, "truncated"), size, refusal.error.text);
    }

    // Somebody else could have written it.
    const std::string open = folder.copy(test_plugin("odd"), "open.so");
    fs::permissions(open, fs::perms::others_write, fs::perm_options::add);
    check(open, "chmod o-w");
    fs::permissions(open, fs::perms::others_write, fs::perm_options::remove);
    fs::permissions(folder.path, fs::perms::others_write, fs::perm_options::add);
    check(open, "its folder");
    fs::permissions(folder.path, fs::perms::others_write, fs::perm_options::remove);
    load(open);
    // The same plugin from another file.
    const Caught twin = caught([] { load(test_plugin("odd")); });
    CHECK(contains(twin.text, open));
    CHECK(contains(twin.text, "retire it first"));
    retire("odd");
    check_cpu_works();
}

TEST_CASE("a broken descriptor or load is refused with file, cause and remedy") {
    const std::string path = test_plugin("odd");
    struct Case {
        const char *mode, *cause, *remedy;
        Status status;
    };
    constexpr Status fault = Status::plugin_fault, incompatible = Status::incompatible;
    const Case cases[] = {
        {"null", "declined this host (returned NULL)", "", Status::refused},
        {"query_throws", "query exploded", "exception crossed", fault},
        {"query_throws_int", "unknown type", "exception crossed", fault},
        {"magic", "magic is 0x12345678", "report it to its vendor", fault},
        {"major", "built for plugin ABI 2.0", "update Atoll or the plugin", incompatible},
        {"minor", "needs a host of 1.1", "update Atoll or the plugin", incompatible},
        {"short", "struct_size", "report it to its vendor", fault},
        {"tiny", "struct_size is 4", "report it to its vendor", fault},
        {"nonzero_tail", "fields that this host does not know", "update Atoll", incompatible},
        {"huge", "struct_size", "report it to its vendor", fault},
        {"name", "its note says 'odd', its descriptor 'even'", "", fault},
        {"bad_name", "An Odd Name", "need [a-z]", fault},
        {"no_name", "no name", "report it", fault},
        {"no_load", "load or unload is NULL", "report it", fault},
        {"many", "4000000000 implementations", "report it", fault},
        {"null_list", "list of implementations is NULL", "report it", fault},
        {"null_entry", "an implementation is NULL", "report it", fault},
        {"type_tail", "a device type uses fields", "update Atoll", incompatible},
        {"impl_tail", "an implementation uses fields", "update Atoll", incompatible},
        {"function_tail", "functions uses fields", "update Atoll", incompatible},
        {"function_short", "struct_size is 8", "report it", fault},
        {"duplicate_ids", "core for odd: function 15 is declared twice", "report it", fault},
        {"unknown_dtypes", "unknown dtypes (0x40000000)", "report it", fault},
        {"null_fn", "function 15 is NULL", "report it", fault},
        {"unknown_function", "implements function 999 of module core", "update the plugin",
         incompatible},
        {"module_version", "needs version 99 of module core, which is version 1", "update",
         incompatible},
        {"missing_function", "lacks device.transfer", "every device needs", incompatible},
        {"not_inline", "lacks device.stream_synchronize", "not inline", incompatible},
        {"type_taken", "device type 'cpu' comes from plugin cpu already", "retire that first",
         Status::refused},
        {"type_twice", "device type 'odd'", "twice", fault},
        {"module_twice", "module 'oddities'", "twice", fault},
        {"module_core", "module 'core' comes from the core already", "", Status::refused},
        {"module_ids", "function second has id 7", "ids must be 0 to 1", fault},
        {"module_family", "family 77", "unknown to this host", fault},
        {"module_names", "names too", "report it", fault},
        {"interposer_null", "an interposer's function is NULL", "report it", fault},
        {"load_fails", "no licence; buy one", "could not start", Status::device_lost},
        {"load_silent", "no details given", "could not start", fault},
        {"load_throws", "load exploded", "exception crossed", fault},
        {"load_throws_int", "unknown type", "exception crossed", fault},
        {"enumerate_too_many", "claims 4000000000 devices", "", fault},
        {"enumerate_all", "128", "devices", Status::refused},
        {"enumerate_throws", "cannot count", "exception crossed", fault},
        {"enumerate_fails", "[device.enumerate]", "", Status::device_lost},
        {"open_fails", "could not open odd:0 for module core: no power", "", Status::refused},
        {"open_throws", "open exploded", "exception crossed", fault},
    };
    load("cpu");
    for (const Case &c : cases) {
        CAPTURE(c.mode);
        const Variable odd("ODD", c.mode);
        const Refusal refusal = refused(path);
        CHECK(refusal.error.status == c.status);
        CHECK_MESSAGE(contains(refusal.error.text, path), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.error.text, c.cause), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.error.text, c.remedy), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.reason, c.cause), refusal.reason);
        CHECK(caught([] { retire("odd"); }).status == Status::not_found);
        CHECK(caught([] { device("odd"); }).status == Status::not_found);
        CHECK(devices().size() == 1);
        CHECK(modules().size() == 2);
        check_cpu_works();
    }
    // None of it has left anything behind.
    const PluginReport odd = load(path);
    CHECK(odd.devices == std::vector<std::string>{"odd"});
    CHECK(full({2}, 16.0, {float64, device("odd")}).to_vector<double>() ==
          std::vector<double>{16, 16});
    CHECK(load("dummy").devices.size() == 2);
    retire("dummy");
    retire("odd");
}

TEST_CASE("a longer descriptor with a zero tail is an older host's friend") {
    for (const char *mode : {"zero_tail", "impl_zero_tail"}) {
        const Variable odd("ODD", mode);
        CHECK(load(test_plugin("odd")).loaded);
        CHECK(full({2}, 16.0, {float64, device("odd")}).to_vector<double>() ==
              std::vector<double>{16, 16});
        retire("odd");
    }
}

TEST_CASE("no device is no error, and its reason is told") {
    const Variable odd("ODD", "enumerate_unterminated");
    const PluginReport report = load(test_plugin("odd"));
    CHECK(report.loaded);
    CHECK(report.devices.empty());
    CHECK(report.reason == "no device: " + std::string(255, 'x'));
    const Caught error = caught([] { device("odd"); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "found no device: xxx"));
    retire("odd");
    configure("dummy", "devices", "0");
    CHECK(load("dummy").reason == "no device: the setting devices is 0");
    CHECK(contains(caught([] { device("dummy"); }).text, "the setting devices is 0"));
    configure("dummy", "devices", "many");
    retire("dummy");
    const Caught setting = caught([] { load("dummy"); });
    CHECK(contains(setting.text, "'many', need a number"));
    configure("dummy", "devices", "");
}

TEST_CASE("a plugin that fails to stop is retired all the same") {
    for (const auto &[mode, words] :
         {std::pair("unload_fails", "something is left"), std::pair("unload_throws", "exploded")}) {
        LogCapture log;
        const Variable odd("ODD", mode);
        load(test_plugin("odd"));
        CHECK(caught([] { retire("odd"); }).status == Status::ok);
        std::string all;
        for (const std::string &line : log.take()) all += line + "\n";
        CHECK_MESSAGE(contains(all, words), all);
        CHECK(caught([] { device("odd"); }).status == Status::not_found);
    }
    // unload is called, with an error buffer, also where the start failed half-way.
    LogCapture log;
    const Variable odd("ODD", "open_fails");
    CHECK(caught([] { load(test_plugin("odd")); }).status == Status::refused);
    CHECK(log.take() == std::vector<std::string>{"odd: loaded", "odd: unloaded"});
}

TEST_CASE("kernels that break their contract are contained") {
    load("cpu");
    load(test_plugin("odd"));
    const Device odd = device("odd");
    {
        const Tensor t = full({3}, 16.0, {float64, odd});
        struct Case {
            const char *mode, *cause;
            Status status;
        };
        const Case cases[] = {
            {"throw", "an exception crossed the plugin's border (kernel exploded)",
             Status::plugin_fault},
            {"throw_int", "an exception crossed the plugin's border (of unknown type)",
             Status::plugin_fault},
            {"garbage", "returned status -123456, which does not exist", Status::plugin_fault},
            {"garbage_text", "returned status 9999, which does not exist: some words",
             Status::plugin_fault},
            {"silent", "kernel failed (the plugin gave no details)", Status::kernel_failed},
            {"unterminated", "zzz", Status::kernel_failed},
            {"buffer_replaced", "kernel failed", Status::kernel_failed},
        };
        for (const Case &c : cases) {
            CAPTURE(c.mode);
            configure("odd", "kernel", c.mode);
            const Caught error = caught([&] { sqrt(t); });
            CHECK(error.status == c.status);
            CHECK_MESSAGE(contains(error.text, c.cause), error.text);
            CHECK(error.device == "odd");
            CHECK(error.plugin == "odd");
            CHECK(error.text.size() < 1200);
            if (c.mode != std::string("unterminated")) CHECK(error.function == "core.sqrt");
            check_cpu_works();
        }
        configure("odd", "kernel", "error_but_ok"); // the status counts
        CHECK(sqrt(t).to_vector<double>() == std::vector<double>(3, 4.0));
        configure("odd", "kernel", "");

        const auto allocate = [&] { return empty({3}, {float64, odd}); };
        configure("odd", "allocate", "null");
        Caught error = caught(allocate);
        CHECK(error.status == Status::plugin_fault);
        CHECK(contains(error.text, "returned NULL for 24 bytes without an error"));
        configure("odd", "allocate", "throw");
        CHECK(caught(allocate).status == Status::plugin_fault);
        configure("odd", "allocate", "fail");
        error = caught(allocate);
        CHECK(error.status == Status::out_of_memory);
        CHECK(error.native_code == 12);
        CHECK(contains(error.text, "full"));
        configure("odd", "allocate", "throw_in_free");
        { const Tensor gone = allocate(); }
        configure("odd", "allocate", "");
        CHECK(odd.properties().name == std::string(127, 'y'));
    }
    // Not one of the failures above has left something counted.
    retire("odd");
    check_cpu_works();
}

TEST_CASE("interposers that break their contract are contained") {
    load("cpu");
    load(test_plugin("odd"));
    const auto push = [] { push_interposer("core.sqrt", "odd_wrap"); };
    const auto with = [&](const char *mode) {
        configure("odd", "interposer", mode);
        return caught(push);
    };
    Caught error = with("create_fails");
    CHECK(error.status == Status::not_supported);
    CHECK(contains(error.text, "'odd_wrap' could not start: not today"));
    error = with("create_garbage");
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "4711"));
    error = with("create_throws");
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "create exploded"));
    CHECK(with("create_throws_int").status == Status::plugin_fault);
    CHECK(interposers().empty());
    configure("odd", "interposer", "report_throws");
    const InterposerHandle handle = push_interposer("core.sqrt", "odd_wrap");
    error = caught([&] { interposer_report(handle); });
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "report exploded"));
    configure("odd", "interposer", "destroy_throws");
    LogCapture log;
    CHECK(caught([&] { pop_interposer(handle); }).status == Status::ok);
    bool told = false;
    for (const std::string &line : log.take()) told = told || contains(line, "destroy exploded");
    CHECK(told);
    configure("odd", "interposer", "");
    CHECK(interposers().empty());
    retire("odd");
    check_cpu_works();
}

TEST_CASE("dependencies load by name; those that cannot are explained") {
    const Variable path("ATOLL_PLUGIN_PATH",
                        std::string(std::getenv("ATOLL_PLUGIN_PATH")) + ":" + test_folder());
    load("cpu");
    CHECK(modules().size() == 2);
    load("extension"); // brings base
    CHECK(modules().size() == 4);
    const Caught busy = caught([] { retire("base"); });
    CHECK(busy.status == Status::busy);
    CHECK(contains(busy.text, "module extension of plugin extension depends on module base"));
    CHECK(contains(busy.text, "retire that plugin first"));
    retire("extension");
    retire("base");

    const auto check = [](const char *name, const char *cause) {
        const Caught error = caught([&] { load(name); });
        CHECK_MESSAGE(error.status != Status::ok, name);
        CHECK_MESSAGE(contains(error.text, cause), error.text);
        CHECK_MESSAGE(contains(error.text, test_plugin(name)), error.text);
        CHECK(modules().size() == 2);
    };
    check("selfish", "depends on itself");
    check("lost", "no usable plugin 'nowhere'");
    check("orphan", "plugin base_cpu does not define the module base_cpu");
    check("sneaky", "'./base.so'"); // a name, never a path
    retire("base_cpu");
}

TEST_CASE("what is missing says what, where and what to do") {
    load("cpu");
    // A device.
    Caught error = caught([] { device("dummy"); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "there is no device 'dummy'"));
    CHECK(contains(error.text, "Atoll::load(\"dummy\")"));
    CHECK(contains(error.text, "devices now: cpu"));
    load("dummy");
    error = caught([] { device("dummy:7"); });
    CHECK(contains(error.text, "2 device(s), counted from 0"));
    CHECK(contains(error.text, "cpu, dummy:0, dummy:1"));
    CHECK(caught([] { device("dummy:"); }).status == Status::not_found);
    CHECK(caught([] { device("dummy:1x"); }).status == Status::not_found);
    CHECK(caught([] { device("dummy:99999999999"); }).status == Status::not_found);
    CHECK(caught([] { device(""); }).status == Status::not_found);

    // A function that no plugin implements here.
    load(test_plugin("odd"));
    {
        const Tensor t = full({2}, 1.0, {float64, device("odd")});
        error = caught([&] { add(t, t); });
        CHECK(error.status == Status::not_supported);
        CHECK(error.function == "core.add");
        CHECK(error.device == "odd");
        CHECK_MESSAGE(contains(error.text, "no loaded plugin implements it for device type odd"),
                      error.text);
        CHECK(contains(error.text, "load one that does"));
        // A dtype that it has not.
        error = caught([&] { sqrt(t.view_as(complex64)); });
        CHECK(error.status == Status::not_supported);
        CHECK_MESSAGE(contains(error.text, "not implemented for complex64"), error.text);
        CHECK_MESSAGE(contains(error.text, "implemented for: float64; cast first"), error.text);
        CHECK(contains(error.text, "odd"));
    }
    retire("odd");
    // A module that is not there.
    error = caught([] { Function("hello.greet"); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "'hello.greet'"));
    CHECK(contains(error.text, "modules now: core, device"));
    CHECK(caught([] { Function("core.no_such"); }).status == Status::not_found);
    // A module without an implementation for a device.
    load("hello");
    load("hello_cpu");
    {
        const Function scale_add("hello.scale_add");
        const Tensor t = full({2}, 1.0, {float64, device("dummy")});
        error = caught([&] { scale_add.binary(t, t); });
        CHECK(error.status == Status::not_supported);
        CHECK(error.function == "hello.scale_add");
        CHECK(error.device == "dummy:0");
        CHECK(contains(error.text, "device type dummy"));
        CHECK(contains(error.text, "module hello"));
        const Tensor i = full({2}, 1, {int32, device("cpu")});
        error = caught([&] { scale_add.binary(i, i); });
        CHECK_MESSAGE(contains(error.text, "not implemented for int32"), error.text);
        CHECK_MESSAGE(contains(error.text, "float32, float64"), error.text);
        // A dtype outside the function's domain.
        const Tensor b = full({2}, true, {bool_, device("cpu")});
        error = caught([&] { scale_add.binary(b, b); });
        CHECK(error.status == Status::invalid_argument);
        CHECK(contains(error.text, "got bool, need one of int8"));
        // Another family.
        CHECK(caught([&] { Function("hello.greet").unary(t); }).status == Status::invalid_argument);
    }
    for (const char *name : {"hello_cpu", "hello", "dummy"}) retire(name);
}

// ---- The environment, in processes of their own -------------------------------------------------

TEST_CASE("child: relative entries" * doctest::skip()) {
    const Caught error = caught([] { load("cpu"); });
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
    const fs::path cpu = load("cpu").path;
    fs::create_directory(folder.path + "/plugins");
    fs::copy_file(cpu, folder.path + "/plugins/" + cpu.filename().string());
    fs::copy_file(cpu, folder.path + "/" + cpu.filename().string());
    const ChildResult child = run_child(
        "child: relative entries", {"ATOLL_PLUGIN_PATH=plugins:.:/no/such/folder:"}, folder.path);
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: disabled" * doctest::skip()) {
    load_all();
    CHECK(caught([] { load("dummy"); }).status == Status::not_found);
    const Caught error = caught([] { load("dummy_min"); });
    CHECK(contains(error.text, "disabled by 'dummy*' in ATOLL_PLUGINS_DISABLE"));
    const auto reports = load_report();
    CHECK(find_report(reports, "atoll-dummy.so")->reason ==
          "disabled by 'dummy*' in ATOLL_PLUGINS_DISABLE");
    CHECK_FALSE(find_report(reports, "atoll-trace.so")->loaded);
    CHECK(find_report(reports, "atoll-hello.so")->loaded);
    // By path too.
    CHECK(caught([&] { load(find_report(reports, "atoll-trace.so")->path.string()); }).status ==
          Status::refused);
    check_cpu_works();
}

TEST_CASE("ATOLL_PLUGINS_DISABLE keeps plugins out, by glob") {
    const ChildResult child =
        run_child("child: disabled", {"ATOLL_PLUGINS_DISABLE= dummy* ,, trace"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: safe mode" * doctest::skip()) {
    const Caught error = caught([] { load("dummy"); });
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
    CHECK(load(dummy).devices.size() == 2);
    CHECK(interposers().empty());
}

TEST_CASE("ATOLL_SAFE_MODE ignores the environment's paths, settings and interposers") {
    const ChildResult child =
        run_child("child: safe mode",
                  {"ATOLL_SAFE_MODE=1", "ATOLL_DUMMY_DEVICES=5", "ATOLL_INTERPOSERS=trace"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: settings" * doctest::skip()) {
    CHECK(load("dummy").devices.size() == 5);
    retire("dummy");
    configure("dummy", "devices", "3"); // the application wins
    CHECK(load("dummy").devices.size() == 3);
    configure("dummy", "devices", "");
    retire("dummy");
    CHECK(load("dummy").devices.size() == 5);
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
