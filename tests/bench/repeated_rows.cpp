// Runs rows of `atoll bench` under valgrind, which counts the instructions of each; see
// instructions.py. Arguments: NAME=REPEATS, one per row.
#include "bench.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <valgrind/callgrind.h>

int main(int count, char **arguments) {
    Atoll::load_plugin("cpu");
    const auto rows = Atoll::tools::bench_rows(16);
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i], name = argument.substr(0, argument.find('='));
        const long repeats = std::atol(argument.c_str() + name.size() + 1);
        bool found = false;
        for (const auto &row : rows) {
            if (row.id != name) continue;
            found = true;
            const Atoll::tools::Work work = row.prepare(Atoll::device("cpu"));
            work.repeat(repeats > 1 ? 100 : 1); // fills pools
            CALLGRIND_START_INSTRUMENTATION;
            CALLGRIND_ZERO_STATS;
            work.repeat(repeats);
            CALLGRIND_DUMP_STATS_AT(name.c_str());
            CALLGRIND_STOP_INSTRUMENTATION;
        }
        if (!found) return std::fprintf(stderr, "there is no row %s\n", name.c_str()), 1;
    }
}
