// Runs the kernel tests on the levels that the variable ATOLL_TEST_LEVELS names (paths of modules,
// separated by colons), with a pool of plain threads so that large calls are cut up.
#define DOCTEST_CONFIG_IMPLEMENT
#include "levels.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <thread>

#include <doctest/doctest.h> // with its implementation

namespace {

// Stays open: products keep memory until the end.
const oracle::LevelKernels *open_level(const std::string &path) {
    void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void *level = module ? dlsym(module, "atoll_test_level") : nullptr;
    if (!level) std::fprintf(stderr, "%s\n", dlerror());
    return static_cast<const oracle::LevelKernels *>(level);
}

} // namespace

void oracle::parallel_for(void *, std::int64_t count, std::int64_t grain, atoll_range_body body,
                          void *argument) {
    const std::int64_t parts = std::clamp<std::int64_t>(count / grain, 1, 3);
    std::vector<std::thread> threads;
    for (std::int64_t part = 0; part < parts; ++part)
        threads.emplace_back(body, argument, count * part / parts, count * (part + 1) / parts);
    for (std::thread &thread : threads) thread.join();
}

int main(int argc, char **argv) {
    const char *paths = std::getenv("ATOLL_TEST_LEVELS");
    std::istringstream list(paths ? paths : "");
    for (std::string path; std::getline(list, path, ':');) {
        const oracle::LevelKernels *level = open_level(path);
        if (!level) return 1;
        level->set_pool(&oracle::parallel_for, nullptr, 3);
        oracle::levels.push_back(level);
    }
    if (oracle::levels.empty()) {
        std::fprintf(stderr, "ATOLL_TEST_LEVELS names no module of kernels\n");
        return 1;
    }
    oracle::level = oracle::levels[0];
    return doctest::Context(argc, argv).run();
}
