// The contents of the timeline files of a program: threads, calls, executions on streams.
#pragma once

#include "moves_bytes.hpp"
#include "timeline_format.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace Atoll::tools {

// One span on a thread: a call of one function of one device type. Times in ns since the first.
struct TracedCall {
    const trace::timeline::Record *record;
    const trace::timeline::NameText *name;   // never null
    const trace::timeline::NameText *parent; // of an inserted call, if known
    std::uint16_t dtype;                     // compute dtype
    bool asynchronous;
    std::uint32_t depth; // calls around it on its thread
    std::uint32_t thread;
    std::int64_t start, end;
    std::int64_t execution = -1; // index

    std::int64_t nanoseconds() const { return end - start; }
    bool has(std::uint16_t flag) const { return record->flags & flag; }
    std::string_view function() const { return name->function; }
    std::string device() const; // "dummy:0"
    std::int32_t status() const;
    bool failed() const; // the answer "not ready" of event_query is not a failure
    // Handles; 0: the default stream; not a function of an event.
    std::uint64_t stream() const;
    std::uint64_t event() const;
    std::vector<std::int64_t> shape() const; // at most max_extents
};

// One span on a stream: the execution of an enqueued call.
struct Execution {
    std::int64_t start, end;
    std::int32_t status;
    std::size_t call;
    std::uint32_t stream;
    bool shared; // the bracket overlapped others and was shortened
};

// The calls with one correlation id, which one call of the library's interface caused.
struct ApiCall {
    std::string_view name;
    std::uint64_t correlation;
    std::uint32_t thread;
    std::int64_t start, end; // of the first and the last
    std::size_t calls;
};

struct TracedProcess {
    std::uint32_t id;
    std::uint64_t calls = 0, dropped = 0;
    bool closed;        // it ended regularly
    std::uint32_t full; // see FileHeader
};
struct TracedThread {
    std::uint32_t process; // index
    std::uint64_t id;
    std::string name;
};
struct TracedStream {
    std::uint32_t process;
    std::string device; // "dummy:0"
    std::uint64_t handle;
    std::uint32_t number; // within its device, 0: the default stream
};
// From the recording of an event on one stream to the wait for it on another.
struct EventFlow {
    std::size_t from, to; // executions
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
    std::int64_t nanoseconds = 0; // from the first start to the last end

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

    std::vector<File> files_;
    std::vector<Ids> finished_; // per process
};

// Whether it waits, on a stream or on the host, for other work.
inline bool is_waiting(std::string_view function, bool on_stream) {
    return on_stream
               ? function == "device.event_wait"
               : function == "device.stream_synchronize" || function == "device.event_synchronize";
}

// One line of the hot list: a function on a device type.
struct HotLine {
    std::string function, device;
    bool asynchronous = false;
    std::uint64_t calls = 0, errors = 0, inserted = 0, executions = 0;
    std::int64_t call_ns = 0, execution_ns = 0;
    std::uint64_t bytes = 0, executed_bytes = 0;
    // Inserted to serve it:
    std::uint64_t temporaries = 0, temporary_bytes = 0, copies = 0, copied_bytes = 0;
    std::int64_t served_ns = 0;

    // Where it runs, if that is known; else in the calls.
    std::int64_t nanoseconds() const { return executions > 0 ? execution_ns : call_ns; }
    bool waits() const { return is_waiting(function, executions > 0); }
    double gigabytes_per_second() const {
        if (!trace::moves_bytes(function) || (asynchronous && executions == 0)) return 0;
        const auto moved = static_cast<double>(executions > 0 ? executed_bytes : bytes);
        return nanoseconds() > 0 ? moved / static_cast<double>(nanoseconds()) : 0;
    }
};
// Longest first.
std::vector<HotLine> hot_list(const TraceModel &model);

} // namespace Atoll::tools
