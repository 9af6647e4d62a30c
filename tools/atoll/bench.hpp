// The rows that `atoll bench` measures.
#pragma once

#include "atoll/atoll.hpp"

#include <cstdint>
#include <functional>
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

// Contractions and large rows are measured only if a pattern names them.
enum class BenchGroup { standard, contraction, large };

struct BenchRow {
    const char *id, *what;
    std::vector<std::string> functions; // of the module core that the row is about
    std::function<Work(Device)> prepare;
    BenchGroup group = BenchGroup::standard;
};

// All rows; the large ones have so many elements.
std::vector<BenchRow> bench_rows(std::int64_t elements);
std::vector<BenchRow> large_rows(std::int64_t elements);
std::vector<BenchRow> chain_rows();
std::vector<BenchRow> limit_rows();

} // namespace Atoll::tools
