// The rows that `atoll bench` measures.
#pragma once

#include "atoll/atoll.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace Atoll::tools {

// A row, prepared on a device. On asynchronous devices, work may still be running when a function
// returns.
struct Work {
    std::function<void(std::int64_t)> repeat; // that many times
    std::function<Tensor()> result;           // once
    double bytes = 0;                         // read and written, at least
    double operations = 0;                    // floating-point, for products
};

struct BenchRow {
    const char *id, *what;
    std::vector<std::string> functions; // of the module core that the row is about
    std::function<Work(Device)> prepare;
    bool on_demand = false; // measured only if a pattern names it
};

std::span<const BenchRow> bench_rows();

} // namespace Atoll::tools
