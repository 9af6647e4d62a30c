// A device that conforms except for one misdeed at one border: it ends the process, or changes it.
#include "atoll/error.hpp"
#include "kit.hpp"

#include <tuple>

using namespace kit;

namespace {

conf::Report report_of(const std::string &misdeed, const std::string &filter, bool list = false) {
    CAPTURE(misdeed);
    ::setenv("ATOLL_TEST_MISDEED", misdeed.c_str(), 1);
    conf::Report report;
    const conf::Options options{.plugin = broken("toy-misdeeds"), .filter = filter};
    if (list)
        CHECK_THROWS_AS(conf::list(options), Atoll::Error);
    else
        report = conf::run(options);
    ::unsetenv("ATOLL_TEST_MISDEED");
    return report;
}

// Each border, and the checks that cross it.
const std::pair<const char *, const char *> borders[] = {
    {"constructor", "load/*"}, {"query", "load/*"},       {"load", "load/*"},
    {"count", "load/*"},       {"kernel", "functions/*"}, {"allocate", "device/*zero sizes"},
    {"unload", "lifecycle/*"}, {"destructor", "exit/*"},  {"thread", "functions/*"},
};

} // namespace

TEST_CASE("a plugin without a misdeed passes these checks") {
    for (const auto &[border, filter] : borders) {
        const conf::Report report = report_of("none", filter);
        CHECK_MESSAGE(report.failed() == 0, conf::summary(report));
        CHECK(report.passed() > 0);
    }
}

TEST_CASE("a process that ends without a verdict has died, whatever its status") {
    for (const auto &[border, filter] : borders)
        for (const char *end : {"exit", "_exit", "abort"}) {
            const std::string misdeed = std::string(border) + ":" + end;
            CAPTURE(misdeed);
            const conf::Report report = report_of(misdeed, filter);
            CHECK(report.failed() > 0);
            CHECK_MESSAGE(contains(conf::summary(report), end == std::string("abort")
                                                              ? "died of signal 6"
                                                              : "ended the process with status 0"),
                          conf::summary(report));
        }
    report_of("query:_exit", "*", true);
}

TEST_CASE("after three crashes in a group the rest of the group is skipped, and says so") {
    const conf::Report report = report_of("kernel:abort", "functions/core.add*");
    CHECK(report.failed() == 3);
    CHECK(report.skipped() == report.results.size() - 3);
    CHECK(contains(conf::summary(report), "not run, because 3 checks of this group"));
}

TEST_CASE("what belongs to the application, and what the host warns of, fails") {
    for (const auto &[misdeed, filter, message] : {
             std::tuple{"load:print", "load/*", "printed 22 bytes to standard output"},
                 {"constructor:print", "load/*", "printed 22 bytes to standard output"},
                 {"load:setenv", "load/*",
                  "the environment variable OMP_NUM_THREADS from nothing to '1'"},
                 {"load:signal", "load/*", "changed the handler of signal 11"},
#if defined(__x86_64__)
                 {"load:flush", "load/*", "changed the rounding or denormal mode"},
                 {"kernel:flush", "functions/*", "changed the floating-point mode"},
#endif
             {
                 "unload:throw", "lifecycle/*", "the host warns"
             }
         }) {
        CAPTURE(misdeed);
        const conf::Report report = report_of(misdeed, filter);
        CHECK(report.failed() > 0);
        CHECK_MESSAGE(contains(conf::summary(report), message), conf::summary(report));
    }
}
