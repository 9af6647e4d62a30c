// Reads timeline files and makes sense of them: see trace_model.hpp.
#include "trace_model.hpp"

#include "atoll/plugin.hpp"
#include "clock.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace trace::timeline;

namespace {

const std::uint64_t *words_of(const Record &record) {
    return reinterpret_cast<const std::uint64_t *>(&record + 1);
}
// Words behind the record that stand before the one of this flag.
unsigned words_before(const Record &record, unsigned flag) {
    return static_cast<unsigned>(std::popcount(record.flags & flags_with_word & (flag - 1)));
}
unsigned announced_words(const Record &record) { return words_before(record, flags_with_word + 1); }
// The word that this flag announces, or 0 without it.
std::uint64_t word_of(const Record &record, RecordFlag flag) {
    return record.flags & flag ? words_of(record)[words_before(record, flag)] : 0;
}
Details details_of(const Record &record) {
    return record.flags & flag_details ? std::bit_cast<Details>(word_of(record, flag_details))
                                       : Details{};
}
std::uint64_t end_of(const Record &record) {
    return record.start + (record.flags & flag_long ? word_of(record, flag_long) : record.ticks);
}

} // namespace

std::string TracedCall::device() const {
    return fmt::format("{}:{}", name->device, details_of(*record).device);
}
std::int32_t TracedCall::status() const { return details_of(*record).status; }
bool TracedCall::failed() const {
    const std::int32_t own = status();
    return own != ATOLL_STATUS_OK && own != ATOLL_STATUS_NOT_READY;
}
std::uint64_t TracedCall::stream() const { return word_of(*record, flag_stream); }
std::uint64_t TracedCall::event() const { return word_of(*record, flag_event); }

std::vector<std::int64_t> TracedCall::shape() const {
    const std::uint64_t *extents = words_of(*record) + announced_words(*record);
    return {extents, extents + std::min<unsigned>(record->rank, max_extents)};
}

TraceModel::~TraceModel() {
    for (const File &file : files_) ::munmap(file.memory, file.bytes);
}

// One file.
class TraceModel::Reader {
public:
    Reader(TraceModel &model, const std::string &path, const char *memory, std::size_t bytes)
        : model_(model), memory_(memory), bytes_(bytes),
          header_(*reinterpret_cast<const FileHeader *>(memory)) {
        if (std::memcmp(header_.magic, magic, sizeof magic) != 0)
            throw std::runtime_error(fmt::format("{} is no timeline file of the tracer", path));
        if (header_.version != version)
            throw std::runtime_error(
                fmt::format("{} is a timeline of version {}, this tool reads version {}: use the "
                            "tool of the library that wrote it",
                            path, header_.version, version));
        const std::uint64_t elapsed = header_.last.ns - header_.first.ns;
        // Over less than a millisecond the two samples do not tell the clock's rate.
        ns_per_tick_ = elapsed > 1'000'000
                           ? static_cast<double>(elapsed) /
                                 static_cast<double>(header_.last.ticks - header_.first.ticks)
                           : trace::Clock().ns_per_tick();
        process_ = static_cast<std::uint32_t>(model_.processes.size());
        model_.processes.push_back(
            {header_.process, 0, header_.dropped, header_.closed != 0, header_.full});
        model_.finished_.emplace_back();
    }

    void read() {
        // Of two segments with one lane and sequence either will do: the later one in the file,
        // which is the copy.
        std::map<std::pair<std::uint32_t, std::uint32_t>, const SegmentHeader *> segments;
        const std::uint64_t size = header_.segment_bytes;
        if (size < sizeof(SegmentHeader) || size % alignof(SegmentHeader) != 0 ||
            size > std::uint64_t{1} << 62) // damaged
            return;
        for (std::uint64_t at = header_bytes; at + sizeof(SegmentHeader) <= bytes_; at += size) {
            const auto *segment = reinterpret_cast<const SegmentHeader *>(memory_ + at);
            if (segment->lane == 0 || segment->used < sizeof *segment || segment->used > size ||
                at + segment->used > bytes_) // the last copy is as long as its records
                continue;
            segments[{segment->lane, segment->sequence}] = segment;
        }
        std::uint32_t lane = 0;
        for (const auto &[key, segment] : segments) {
            if (key.first != lane) {
                lane = key.first;
                names_.clear();
                thread_ = none;
                id_ = 0;
                thread_name_.assign(1, '?');
            }
            model_.processes[process_].dropped += segment->dropped;
            const char *const begin = reinterpret_cast<const char *>(segment);
            for (std::uint64_t at = sizeof *segment; at + sizeof(Record) <= segment->used;) {
                const auto &record = *reinterpret_cast<const Record *>(begin + at);
                const std::uint64_t bytes = record.words * std::uint64_t{8};
                if (bytes < sizeof record || at + bytes > segment->used) break;
                take(record);
                at += bytes;
            }
        }
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct Name {
        const NameText *text = nullptr;
        std::uint16_t dtype = 0;
        bool asynchronous = false;
    };

    // Of a damaged file the numbers may be anything: bounded, so that differences stay numbers.
    std::int64_t ns(std::uint64_t ticks) const {
        constexpr std::int64_t most = 2'000'000'000'000'000'000; // 63 years
        const auto since = static_cast<std::int64_t>(ticks - header_.first.ticks);
        const double passed = static_cast<double>(since) * ns_per_tick_;
        const std::int64_t offset = !(passed > -most) ? -most : // NaN too
                                        passed < most ? static_cast<std::int64_t>(passed)
                                                      : most;
        return static_cast<std::int64_t>(std::min<std::uint64_t>(header_.first.ns, most)) + offset;
    }
    // The lane's present thread. Only who calls is one; others just run the device's callbacks. A
    // thread that has left its lane may write to another one later.
    std::uint32_t thread() {
        const auto [place, is_new] =
            threads_.try_emplace(id_, static_cast<std::uint32_t>(model_.threads.size()));
        if (is_new) model_.threads.push_back({process_, id_, thread_name_});
        return place->second;
    }

    void take(const Record &record) {
        switch (record.kind) {
        case Kind::name: {
            const auto *text = reinterpret_cast<const NameText *>(&record + 1);
            if (record.words * 8u < sizeof record + sizeof *text) return;
            if (names_.size() <= record.entry) names_.resize(record.entry + std::size_t{1});
            names_[record.entry] = {text, record.dtypes[0],
                                    (record.flags & flag_asynchronous) != 0};
            return;
        }
        case Kind::thread: {
            const auto &text = *reinterpret_cast<const ThreadText *>(&record + 1);
            if (record.words * 8u < sizeof record + sizeof text) return;
            id_ = text.id;
            thread_name_.assign(text.name, ::strnlen(text.name, sizeof text.name));
            thread_ = none;
            return;
        }
        case Kind::execution:
            if (!(record.flags & flag_followed) ||
                record.words * 8u < sizeof record + 8u * announced_words(record))
                return;
            model_.finished_[process_][word_of(record, flag_followed)] = {
                ns(record.start), ns(end_of(record)), details_of(record).status};
            return;
        case Kind::call: {
            if (record.entry >= names_.size() || !names_[record.entry].text) return;
            if (record.words * 8u <
                sizeof record +
                    8u * (announced_words(record) + std::min<unsigned>(record.rank, max_extents)))
                return;
            if (thread_ == none) thread_ = thread();
            const Name &name = names_[record.entry];
            TracedCall call{};
            call.record = &record;
            call.name = name.text;
            const std::uint16_t parent = details_of(record).parent;
            call.parent = parent < names_.size() ? names_[parent].text : nullptr;
            call.dtype = name.dtype;
            call.asynchronous = name.asynchronous;
            call.thread = thread_;
            call.start = ns(record.start);
            call.end = ns(end_of(record));
            call.execution = -1;
            model_.calls.push_back(call);
            ++model_.processes[process_].calls;
            return;
        }
        }
    }

    TraceModel &model_;
    const char *memory_;
    std::size_t bytes_;
    const FileHeader &header_;
    double ns_per_tick_;
    std::uint32_t process_, thread_ = none;
    std::vector<Name> names_; // of the lane, by entry
    std::uint64_t id_ = 0;
    std::string thread_name_;
    std::unordered_map<std::uint64_t, std::uint32_t> threads_;
};

void TraceModel::read(const std::string &path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (file < 0 || ::fstat(file, &facts) != 0) {
        const int code = errno;
        if (file >= 0) ::close(file);
        throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(code)));
    }
    const auto bytes = static_cast<std::size_t>(facts.st_size);
    if (bytes < header_bytes) {
        ::close(file);
        throw std::runtime_error(fmt::format("{} is no timeline file of the tracer", path));
    }
    void *const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (memory == MAP_FAILED)
        throw std::runtime_error(fmt::format("cannot map {}: {}", path, std::strerror(errno)));
    files_.push_back({memory, bytes});
    Reader(*this, path, static_cast<const char *>(memory), bytes).read();
}

void TraceModel::finish() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const TracedCall &call : calls) first = std::min(first, call.start);
    for (TracedCall &call : calls) {
        call.start -= first;
        call.end -= first;
        last = std::max(last, call.end);
    }
    for (Ids &ids : finished_)
        for (auto &[id, execution] : ids) {
            execution.start -= first;
            execution.end -= first;
            last = std::max(last, execution.end);
        }
    nanoseconds = last;
    nest();
    group();
    attach();
    connect_events();
}

// Calls on one thread lie within each other or apart; where the processors' counters differ by a
// little, the inner one is cut.
void TraceModel::nest() {
    std::sort(calls.begin(), calls.end(), [](const TracedCall &a, const TracedCall &b) {
        return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    });
    std::vector<const TracedCall *> around;
    for (TracedCall &call : calls) {
        while (!around.empty() &&
               (around.back()->thread != call.thread || around.back()->end <= call.start))
            around.pop_back();
        if (!around.empty()) call.end = std::min(call.end, around.back()->end);
        call.depth = static_cast<std::uint32_t>(around.size());
        around.push_back(&call);
    }
}

namespace {

bool is_device_function(std::string_view name) { return name.starts_with("device."); }

std::string_view short_name(std::string_view name) {
    for (const std::string_view module : {"core.", "device."})
        if (name.starts_with(module)) return name.substr(module.size());
    return name;
}

// After whom the interface call is called: the first computing function that was not inserted, else
// the one that the first inserted call serves, else the first call.
std::string_view api_name(const TracedCall *begin, const TracedCall *end) {
    for (const TracedCall *call = begin; call != end; ++call)
        if (!call->has(flag_inserted) && !is_device_function(call->function()))
            return short_name(call->function());
    for (const TracedCall *call = begin; call != end; ++call)
        if (call->parent) return short_name(call->parent->function);
    return short_name(begin->function());
}

} // namespace

void TraceModel::group() {
    for (std::size_t begin = 0, end; begin < calls.size(); begin = end) {
        const TracedCall &first = calls[begin];
        std::int64_t last = first.end;
        for (end = begin + 1;
             end < calls.size() && calls[end].thread == first.thread &&
             (calls[end].depth > 0 || calls[end].record->correlation == first.record->correlation);
             ++end)
            last = std::max(last, calls[end].end);
        api_calls.push_back({api_name(&calls[begin], calls.data() + end), first.record->correlation,
                             first.thread, first.start, last, end - begin});
    }
}

// Those of one device side by side.
void TraceModel::sort_streams() {
    std::vector<std::uint32_t> order(streams.size()), place(streams.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t i) {
        return std::tie(streams[i].process, streams[i].device, streams[i].number);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<TracedStream> sorted;
    for (const std::uint32_t stream : order) {
        place[stream] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(streams[stream]));
    }
    streams = std::move(sorted);
    for (Execution &execution : executions) execution.stream = place[execution.stream];
}

void TraceModel::attach() {
    std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, std::uint32_t> known;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> numbers;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        TracedCall &call = calls[i];
        if (!call.has(flag_followed)) continue;
        const std::uint32_t process = threads[call.thread].process;
        const auto found = finished_[process].find(word_of(*call.record, flag_followed));
        // A call that failed has enqueued nothing.
        if (found == finished_[process].end() || call.status() != ATOLL_STATUS_OK) continue;
        const auto [place, is_new] = known.try_emplace({process, call.device(), call.stream()},
                                                       static_cast<std::uint32_t>(streams.size()));
        if (is_new) {
            const std::uint64_t handle = call.stream();
            const std::uint32_t number = handle ? ++numbers[{process, call.device()}] : 0;
            streams.push_back({process, call.device(), handle, number});
        }
        // The callback before the work may have run before the call was even made.
        executions.push_back({std::max(found->second.start, call.start), found->second.end,
                              found->second.status, i, place->second, false});
    }
    sort_streams();
    // A stream does one thing after the other, in the order of enqueueing. Brackets overlap where
    // several threads enqueue into it at a time: a thread's callback may come in between another's
    // work and callback, even long after. So work ends no later than what was enqueued after it,
    // and begins no earlier than what came before it ends.
    const auto call_start = [&](const Execution &e) { return calls[e.call].start; };
    std::sort(executions.begin(), executions.end(), [&](const Execution &a, const Execution &b) {
        return std::tuple(a.stream, call_start(a), a.call) <
               std::tuple(b.stream, call_start(b), b.call);
    });
    for (std::size_t i = executions.size(); i-- > 1;) {
        Execution &own = executions[i - 1];
        const Execution &next = executions[i];
        if (own.stream != next.stream || own.end <= next.end) continue;
        own.end = next.end;
        own.shared = true;
    }
    for (std::size_t i = 0; i < executions.size(); ++i) {
        Execution &own = executions[i];
        if (i > 0 && executions[i - 1].stream == own.stream && own.start < executions[i - 1].end) {
            own.shared |= own.start + 1 < executions[i - 1].end;
            own.start = executions[i - 1].end;
        }
        own.end = std::max(own.end, own.start + 1); // a flow needs a span that it can end in
        calls[own.call].execution = static_cast<std::int64_t>(i);
    }
}

// A wait is for the latest record of its event that was enqueued before it.
void TraceModel::connect_events() {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::size_t>> records, waits;
    for (std::size_t i = 0; i < executions.size(); ++i) {
        const TracedCall &call = calls[executions[i].call];
        const std::pair key{threads[call.thread].process, call.event()};
        if (call.function() == "device.event_record") records[key].push_back(i);
        if (call.function() == "device.event_wait") waits[key].push_back(i);
    }
    const auto enqueued = [&](std::size_t execution) {
        return calls[executions[execution].call].start;
    };
    for (auto &[key, list] : records)
        std::sort(list.begin(), list.end(),
                  [&](std::size_t a, std::size_t b) { return enqueued(a) < enqueued(b); });
    for (const auto &[key, list] : waits) {
        const std::vector<std::size_t> &known = records[key];
        for (const std::size_t wait : list) {
            const auto after = std::upper_bound(
                known.begin(), known.end(), enqueued(wait),
                [&](std::int64_t time, std::size_t record) { return time < enqueued(record); });
            // Where brackets overlap it may look as if the wait was over before: no arrow then.
            if (after != known.begin() &&
                executions[*std::prev(after)].start < executions[wait].end)
                event_flows.push_back({*std::prev(after), wait});
        }
    }
}

std::uint64_t TraceModel::dropped() const {
    std::uint64_t sum = 0;
    for (const TracedProcess &process : processes) sum += process.dropped;
    return sum;
}

} // namespace Atoll::tools
