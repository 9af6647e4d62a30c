// The probe's helper: loads one plugin and says whether it lived to tell. See core/src/probe.hpp.
//
//   atoll-probe FILE [PLUGIN KEY VALUE]...
//
// Writes "done" to descriptor 3, where that is open, once the plugin is loaded or refused.
#include "atoll/error.hpp"
#include "atoll/plugins.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
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
    try {
        Atoll::set_probe(false);
        for (int i = 2; i < count; i += 3)
            Atoll::configure(arguments[i], arguments[i + 1], arguments[i + 2]);
        const Atoll::PluginReport report = Atoll::load(arguments[1]);
        std::printf("loaded %s\n", report.name.c_str());
    } catch (const Atoll::Error &e) {
        std::printf("%s\n", e.what());
    }
    std::fflush(stdout);
    const ssize_t told = ::write(3, "done", 4);
    ::_exit(told == 4 || errno == EBADF ? 0 : 1); // at once: the end is no part of loading
}
