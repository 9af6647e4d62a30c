// The probe's helper: loads one plugin and says whether it lived to tell. See
// core/src/loader/probe.hpp.
//
//   atoll-probe FILE [PLUGIN KEY VALUE]...
//
// Started by the probe, which looks for the last line that this writes, it finds in its environment
// that whatever FILE depends on is to be probed in turn.
#include "atoll/error.hpp"
#include "atoll/plugins.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 2 || count % 3 != 2) {
        std::fprintf(stderr, "usage: %s FILE [PLUGIN KEY VALUE]...\n", arguments[0]);
        return 2;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // no orphans
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    // The plugin may redirect what it knows of.
    const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    // Run by hand, it is not to start another of its kind.
    if (!std::getenv("ATOLL_PROBED_NOW")) Atoll::set_probe(false);
    try {
        for (int i = 2; i < count; i += 3)
            Atoll::configure(arguments[i], arguments[i + 1], arguments[i + 2]);
        const Atoll::PluginReport report = Atoll::load_plugin(arguments[1]);
        std::printf("loaded %s\n", report.name.c_str());
    } catch (const Atoll::Error &e) {
        std::printf("%s\n", e.what());
    }
    std::fflush(stdout);
    constexpr std::string_view end = "atoll-probe: survived loading it\n"; // if only to refuse it
    const ssize_t told = ::write(output, end.data(), end.size());
    ::_exit(told > 0 || errno == EBADF ? 0 : 1); // at once: the end is no part of loading
}
