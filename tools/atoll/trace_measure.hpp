// Figures that are derived from all records of a trace: percentiles, the use of devices and memory.
#pragma once

#include "trace_model.hpp"

namespace Atoll::tools {

// Of the lengths of spans, in ns. The percentiles are lengths that occur: the smallest one that is
// not exceeded by 50 and 99 % of all.
struct Spread {
    std::int64_t min = 0, p50 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<std::int64_t> &lengths); // sorts some of them

// By function and device type: of its executions where those were followed, else of its calls.
// Functions without a record are missing.
std::map<std::pair<std::string, std::string>, Spread> spreads(const TraceModel &model);

// The ranges of one name, with those that have not ended.
struct RangeUse : RangeLine {
    std::string name;
    Spread spread;                 // of those with a record
    std::int64_t execution_ns = 0; // of work that was enqueued in them
};
std::vector<RangeUse> range_use(const TraceModel &model); // longest first

// When a device worked: the executions on its streams, or the calls on an inline device, of
// functions that compute or transfer. Neither waiting in a queue nor managing memory is work.
struct DeviceUse {
    std::uint32_t process;
    std::string device;
    std::int64_t work_ns = 0;     // sum over streams or threads
    std::int64_t busy_ns = 0;     // at least one of them works
    std::int64_t overlap_ns = 0;  // at least two do
    std::int64_t transfer_ns = 0; // at least one transfers
    std::int64_t hidden_ns = 0;   // … while another computes
};
bool is_work(const TracedCall &call, bool on_stream);
std::vector<DeviceUse> device_use(const TraceModel &model);

// Bytes that a device has allocated, or (in allocate_host) the host for its transfers.
struct MemoryUse {
    std::uint32_t process;
    std::string device;
    std::int64_t peak = 0;
    // Time and bytes from then on; at most `points`, which keep the peaks between them.
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
};
inline constexpr std::size_t every_change = std::numeric_limits<std::int64_t>::max();
std::vector<MemoryUse> memory_use(const TraceModel &model, std::size_t points);

} // namespace Atoll::tools
