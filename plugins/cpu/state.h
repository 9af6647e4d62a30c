// What the plugin holds between load and unload; the context of all its functions.
#pragma once

#include "atoll/plugin.hpp"
#include "threads.h"

#include <string>

namespace Atoll::cpu {

struct State {
    explicit State(const atoll_host &host);
    ~State();
    State(const State &) = delete;
    State &operator=(const State &) = delete;

    const atoll_host &host;
    const std::string blas; // the setting
    Threads threads;
};

// The tables of device.cpp and core.cpp.
std::span<const atoll_function_decl> device_functions();
std::span<const atoll_function_decl> core_functions();

} // namespace Atoll::cpu
