// The contents of the timeline files of a program: threads, calls, executions on streams.
#pragma once

#include "counters.hpp"
#include "libraries.hpp"
#include "moves_bytes.hpp"
#include "timeline_format.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace Atoll::tools {

// In a damaged file the end of the text may be missing.
template <std::size_t Capacity> std::string_view text_of(const char (&text)[Capacity]) {
    return {text, ::strnlen(text, Capacity)};
}

// For sums of numbers out of a damaged file.
inline void add_saturated(std::int64_t &sum, std::int64_t part) {
    if (__builtin_add_overflow(sum, part, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

// One span on a thread: a call of one function of one device type. Times in ns since the first.
struct TracedCall {
    const tracing::timeline::Record *record;
    const tracing::Names *name;   // never null
    const tracing::Names *parent; // of an inserted call, if known
    std::uint16_t reasons;        // of an inserted call: ATOLL_REASON_*
    std::uint16_t dtype;          // compute dtype
    bool asynchronous;
    std::uint32_t depth; // calls around it on its thread
    std::uint32_t thread;
    std::int64_t start, end;
    std::int64_t execution = -1; // index

    std::int64_t nanoseconds() const { return end - start; }
    bool has(std::uint16_t flag) const { return record->flags & flag; }
    std::string_view function() const { return text_of(name->function); }
    std::string_view device_type() const { return text_of(name->device); }
    std::string device() const; // "dummy:0"
    int device_index() const;
    std::int32_t status() const;
    bool failed() const; // the answer "not ready" of event_query is not a failure
    // Handles; 0: the default stream; none.
    std::uint64_t stream() const;
    std::uint64_t handle() const; // of an event; of a stream that is created or destroyed
    std::vector<std::int64_t> shape() const; // at most max_extents
    std::uint64_t operations() const;        // floating-point; 0: the function declares none
    // Of a product, which axes its operands have: "ab,bc->ac", a letter for each of the shape's
    // extents. Empty for other functions, and for more axes than letters.
    std::string labels() const;
};

// One span on a stream: the execution of an enqueued call.
struct Execution {
    std::int64_t start, end;
    std::int32_t status;
    std::size_t call;
    std::uint32_t stream;
    bool shared;            // the bracket overlapped others and was shortened
    std::int64_t shortened; // by how much the bracket is longer
};

// The calls with one correlation id, on one thread, which one call of the library's interface
// caused.
struct ApiCall {
    std::size_t begin, end; // indices of calls
};

// A range of the application: atoll/range.h.
struct TracedRange {
    std::string_view name;
    std::uint32_t thread;
    std::int64_t start, end;
    bool open; // it had not ended when the thread or the trace did, so `end` is that of its last
               // call
    std::uint32_t depth = 0; // ranges around it
};

struct TracedProcess {
    std::uint32_t id;
    // All calls; those without a record; those of `dropped` that are in no total but these.
    std::uint64_t calls = 0, dropped = 0, uncounted = 0;
    bool closed;        // it ended regularly
    std::uint32_t full; // see FileHeader
    std::vector<libraries::Library> libraries;
};
struct TracedThread {
    std::uint32_t process; // index
    std::uint64_t id;
    std::string name;
};
struct TracedStream {
    std::uint32_t process;
    std::string device;   // "dummy:0"
    std::uint64_t handle; // others may have had it before, or have it later
    std::uint32_t number; // within its device, 0: the default stream
};
// From the recording of an event on one stream to the wait for it on another.
struct EventFlow {
    std::size_t from, to; // executions
};

// Whether it waits, on a stream or on the host, for other work. On a stream, so does the recording
// of an event, which only marks a place in the queue.
inline bool is_waiting(std::string_view function, bool on_stream) {
    return on_stream
               ? function == "device.event_wait" || function == "device.event_record"
               : function == "device.stream_synchronize" || function == "device.event_synchronize";
}

// What the runtime inserted to serve a function, for one set of reasons.
struct Served {
    std::uint64_t temporaries = 0, temporary_bytes = 0, copies = 0, copied_bytes = 0;
    std::int64_t nanoseconds = 0;
};

// The totals of a function on a device type.
struct HotLine {
    std::string function, device;
    bool asynchronous = false;
    std::uint64_t calls = 0, errors = 0, inserted = 0, executions = 0;
    std::int64_t call_ns = 0, min_ns = 0, max_ns = 0, execution_ns = 0;
    std::uint64_t bytes = 0, executed_bytes = 0, operations = 0, executed_operations = 0;
    std::map<std::uint16_t, Served> served; // by reasons (ATOLL_REASON_*)
    Served all_served() const;

    // Where it runs, if that is known; else in the calls.
    std::int64_t nanoseconds() const { return executions > 0 ? execution_ns : call_ns; }
    bool waits() const { return is_waiting(function, executions > 0); }
    double gigabytes_per_second() const {
        return tracing::moves_bytes(function) ? rate_of(bytes, executed_bytes) : 0;
    }
    double gigaflops_per_second() const { return rate_of(operations, executed_operations); }

private:
    // Per nanosecond; 0 where the calls only enqueue the work and nobody followed it.
    double rate_of(std::uint64_t called, std::uint64_t executed) const {
        if (asynchronous && executions == 0) return 0;
        const auto done = static_cast<double>(executions > 0 ? executed : called);
        return nanoseconds() > 0 ? done / static_cast<double>(nanoseconds()) : 0;
    }
};
// The totals of the ranges of one name.
struct RangeLine {
    std::uint64_t count = 0, calls = 0;
    std::int64_t ns = 0, min_ns = 0, max_ns = 0, call_ns = 0;
};

class TraceModel {
public:
    TraceModel() = default;
    ~TraceModel();
    TraceModel(const TraceModel &) = delete;
    TraceModel &operator=(const TraceModel &) = delete;

    // Throws std::runtime_error if the file is not a timeline of this version.
    void read(const std::string &path);
    // After the last file: order, nesting, groups, flows.
    void finish();

    std::vector<TracedProcess> processes;
    std::vector<TracedThread> threads;
    std::vector<TracedStream> streams;
    std::vector<TracedCall> calls;     // by thread, then in the order of their starts, outer first
    std::vector<Execution> executions; // by stream, then in their order
    std::vector<ApiCall> api_calls;    // by thread, then in order
    std::vector<EventFlow> event_flows;
    std::vector<TracedRange> ranges; // by thread, then in the order of their starts, outer first
    // By function and device type, from the counters, which know dropped calls too. Executions take
    // as long as their brackets; see hot_list().
    std::map<std::pair<std::string, std::string>, HotLine> totals;
    std::map<std::string, RangeLine> range_totals; // by name, of ranges that have ended
    std::int64_t nanoseconds = 0;                  // from the first start to the last end

    // The name of the interface call.
    std::string_view name(const ApiCall &api) const;
    std::int64_t end(const ApiCall &api) const;
    // Whether all its calls are within one, so that a span for it would only repeat that.
    bool repeats_its_call(const ApiCall &api) const;

    std::uint64_t all_calls() const; // with dropped ones
    std::uint64_t dropped() const;

private:
    struct File {
        void *memory;
        std::size_t bytes;
    };
    struct Finished { // an execution's record
        std::int64_t start, end;
        std::int32_t status;
    };
    using Ids = std::unordered_map<std::uint64_t, Finished>;
    class Reader;
    void nest();
    void group();
    void attach();
    void sort_streams();
    void connect_events();
    void nest_ranges();

    std::vector<File> files_;
    std::vector<Ids> finished_; // per process
};

// The totals with executions shortened where their brackets overlapped. Longest first.
std::vector<HotLine> hot_list(const TraceModel &model);

} // namespace Atoll::tools
