// Runs the kernel tests, with a pool of plain threads so that large calls are cut up.
#define DOCTEST_CONFIG_IMPLEMENT
#include "entries.h"

#include <algorithm>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

int main(int argc, char **argv) {
    atoll_kernels_set_pool(
        [](void *, std::int64_t count, std::int64_t grain, atoll_range_body body, void *argument) {
            const std::int64_t parts = std::clamp<std::int64_t>(count / grain, 1, 3);
            std::vector<std::thread> threads;
            for (std::int64_t part = 0; part < parts; ++part)
                threads.emplace_back(body, argument, count * part / parts,
                                     count * (part + 1) / parts);
            for (std::thread &thread : threads) thread.join();
        },
        nullptr);
    return doctest::Context(argc, argv).run();
}
