// Beasts whose descriptor or start is wrong. Most of them are one plugin, tests/plugins/odd.cpp,
// which is told at each query what to do wrong.
#include "zoo_tests.hpp"

using namespace Atoll;
using namespace plugin_tests;

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
        {"major", "built for plugin ABI 1.2", "", incompatible},
        {"minor", "built for draft 3 of the plugin ABI, this host has draft 2",
         "rebuild the plugin against the headers of this Atoll", incompatible},
        {"host_minor", "needs a host of draft 3", "update Atoll", incompatible},
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
        {"null_fn", "function 15 is NULL", "report it", fault},
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
        {"module_unsigned", "module oddities: function second has no signature", "report it",
         fault},
        {"module_signature", "module oddities: function second: column 6", "report it", fault},
        {"module_attributes",
         "module oddities: function second: column 11 of 'f: bool = 3': need true or false",
         "report it", fault},
        {"module_domain",
         "module oddities: function second: domain 0 needs operands of fixed dtypes", "report it",
         fault},
        {"module_names", "names unique", "report it", fault},
        {"interposer_null", "an interposer's function is NULL", "report it", fault},
        {"interposer_twice", "interposer 'odd_wrap' is declared twice", "report it", fault},
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
    load_plugin("cpu");
    load_plugin("dummy");
    for (const Case &c : cases) {
        CAPTURE(c.mode);
        const Variable odd("ODD", c.mode);
        const Refusal refusal = refused(path);
        CHECK(refusal.error.status == c.status);
        CHECK_MESSAGE(contains(refusal.error.text, path), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.error.text, c.cause), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.error.text, c.remedy), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.reason, c.cause), refusal.reason);
        CHECK(caught([] { retire_plugin("odd"); }).status == Status::not_found);
        CHECK(caught([] { device("odd"); }).status == Status::not_found);
        CHECK(devices().size() == 3); // cpu, dummy:0, dummy:1
        CHECK(modules().size() == 2);
        others_work();
    }
    // None of it has left anything behind.
    const PluginReport odd = load_plugin(path);
    CHECK(odd.devices == std::vector<std::string>{"odd"});
    CHECK(full({2}, 16.0, {float64, device("odd")}).to_vector<double>() ==
          std::vector<double>{16, 16});
    retire_plugin("dummy");
    retire_plugin("odd");
}

TEST_CASE("functions and dtypes of a newer Atoll are passed over, and the report says so") {
    const std::string path = test_plugin("odd");
    const auto ignored = [&](const char *mode) {
        const Variable odd("ODD", mode);
        const PluginReport report = load_plugin(path);
        CHECK(report.loaded);
        // What the host knows works.
        CHECK(full({2}, 16.0, {float64, device("odd")}).to_vector<double>() ==
              std::vector<double>{16, 16});
        retire_plugin("odd");
        return report.ignored;
    };
    const std::string count = std::to_string(ATOLL_FN_COUNT);
    CHECK(ignored("unknown_function") ==
          std::vector{"function 999 of module core for odd, which has " + count});
    CHECK(ignored("unknown_dtypes") == std::vector<std::string>{"core.sqrt for odd on dtype 40"});
    CHECK(ignored("").empty());
}

TEST_CASE("descriptors that say what this host does not know are refused") {
    struct Case {
        const char *kind, *cause, *remedy;
    };
    const Case cases[] = {
        {"device_name", "a device type is named 'Beast:0', need [a-z]", "report it to its vendor"},
        {"unknown_rule", "rule 1000", "report it to its vendor"},
        {"unknown_domain", "domain 0x10000000000", "report it to its vendor"},
        {"no_doc", "function answer has no doc", "report it to its vendor"},
        {"garbage_functions", "struct_size is 3735928559", "report it to its vendor"},
        {"endless_functions", "4294967295 of them", "report it to its vendor"},
    };
    for (const Case &c : cases) check_refused(zoo(c.kind), c.cause, c.remedy);
}

TEST_CASE("modules that depend on each other in a circle are refused") {
    Folder folder;
    folder.copy(zoo("cycle_a"), "a.so");
    folder.copy(zoo("cycle_b"), "b.so");
    const Variable path("ATOLL_PLUGIN_PATH",
                        fmt::format("{}:{}", std::getenv("ATOLL_PLUGIN_PATH"), folder.path));
    const Caught error = caught([] { load_plugin("cycle_a"); });
    CHECK(error.status == Status::incompatible);
    CHECK_MESSAGE(contains(error.text, folder.path + "/a.so"), error.text);
    CHECK_MESSAGE(
        contains(error.text, "module cycle_a depends on itself, through cycle_a, cycle_b"),
        error.text);
    CHECK(modules().size() == 2);
    others_work();
}
