// The emulated device, for tests.
#pragma once

#include <atoll/atoll.hpp>
#include <cstdlib>

// Loads the cpu and the emulated plugin first.
inline Atoll::Device gpu(const char *name = "cuda:0") {
    static const bool loaded = [] {
        Atoll::set_log_level("off"); // failures that nobody asks for are logged
        Atoll::load_plugin("cpu");
        Atoll::load_plugin(std::getenv("ATOLL_EMULATED_CUDA"));
        return true;
    }();
    (void)loaded;
    return Atoll::device(name);
}
