// Reading timeline files into a model.
#include "clock.hpp"
#include "trace_model.hpp"
#include "trace_record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace tracing::timeline;

TraceModel::~TraceModel() {
    for (const File &file : files_) ::munmap(file.memory, file.bytes);
}

// One file.
class TraceModel::Reader {
    using Kind = tracing::timeline::Kind; // not the dtypes'

public:
    Reader(TraceModel &model, const std::string &path, const char *memory, std::size_t bytes)
        : model_(model), memory_(memory), bytes_(bytes),
          header_(*reinterpret_cast<const FileHeader *>(memory)) {
        if (std::memcmp(header_.magic, magic, sizeof magic) != 0)
            throw std::runtime_error(fmt::format("{} is not a timeline file of the tracer", path));
        if (header_.version != tracing::timeline::version)
            throw std::runtime_error(
                fmt::format("{} is a timeline of version {}, this tool reads version {}: use the "
                            "tool of the library that wrote it",
                            path, header_.version, tracing::timeline::version));
        const std::uint64_t elapsed = header_.last.ns - header_.first.ns;
        // Samples less than a millisecond apart do not determine the clock's rate.
        ns_per_tick_ = elapsed > 1'000'000
                           ? static_cast<double>(elapsed) /
                                 static_cast<double>(header_.last.ticks - header_.first.ticks)
                           : tracing::Clock().ns_per_tick();
        process_ = static_cast<std::uint32_t>(model_.processes.size());
        model_.processes.push_back(
            {header_.process, header_.dropped, header_.dropped, header_.dropped,
             header_.closed != 0, header_.full,
             libraries::unpacked(
                 {header_.libraries,
                  std::min<std::uint64_t>(header_.library_bytes, sizeof header_.libraries)})});
        model_.finished_.emplace_back();
    }

    void read() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, const SegmentHeader *> segments;
        const std::uint64_t size = header_.segment_bytes;
        if (size < sizeof(SegmentHeader) || size % alignof(SegmentHeader) != 0 ||
            size > std::uint64_t{1} << 62) // damaged
            return;
        std::map<std::uint32_t, const tracing::CounterTable *> tables;
        for (std::uint64_t at = header_bytes; at + sizeof(SegmentHeader) <= bytes_; at += size) {
            const auto *segment = reinterpret_cast<const SegmentHeader *>(memory_ + at);
            if (segment->lane == 0 || segment->used < sizeof *segment ||
                segment->used > bytes_ - at)
                continue;
            if (segment->sequence == 0) {
                if (segment->used < sizeof *segment + sizeof(tracing::CounterTable)) continue;
                tables[segment->lane] =
                    reinterpret_cast<const tracing::CounterTable *>(segment + 1);
                at += (segment->used - 1) / size * size;
            } else if (segment->used <= size) {
                segments[{segment->lane, segment->sequence}] = segment;
            }
        }
        for (const auto &[lane, table] : tables) count(*table);
        // As many as there are, unless the file is damaged.
        model_.calls.reserve(
            model_.calls.size() +
            std::min<std::uint64_t>(model_.processes[process_].calls, bytes_ / sizeof(Record)));
        std::uint32_t lane = 0;
        for (const auto &[key, segment] : segments) {
            if (key.first != lane) {
                close_ranges();
                lane = key.first;
                table_ = tables.contains(lane) ? tables[lane] : nullptr;
                thread_ = none;
                id_ = 0;
                thread_name_.assign(1, '?');
            }
            if (!table_) continue;
            const char *const begin = reinterpret_cast<const char *>(segment);
            for (std::uint64_t at = sizeof *segment; at + sizeof(Record) <= segment->used;) {
                const auto &record = *reinterpret_cast<const Record *>(begin + at);
                const std::uint64_t bytes = record.words * std::uint64_t{8};
                if (bytes < sizeof record || at + bytes > segment->used) break;
                take(record);
                at += bytes;
            }
        }
        close_ranges();
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    // Adds the counters of a lane to the totals.
    void count(const tracing::CounterTable &table) {
        for (std::size_t i = 0; i < tracing::CounterTable::size; ++i) {
            const tracing::Entry &entry = table.entries[i];
            if (!entry.device) continue;
            const tracing::Names &names = table.names[i];
            const tracing::Counters &c = entry.counters;
            const std::string function(text_of(names.function)), device(text_of(names.device));
            HotLine &line = model_.totals[{function, device}];
            line.function = function;
            line.device = device;
            line.asynchronous = names.asynchronous;
            if (c.calls > 0) {
                const std::int64_t shortest = length(c.min_ticks);
                line.min_ns = line.calls > 0 ? std::min(line.min_ns, shortest) : shortest;
                line.max_ns = std::max(line.max_ns, length(c.max_ticks));
            }
            line.calls += c.calls;
            model_.processes[process_].calls += c.calls;
            line.errors += c.errors;
            line.inserted += c.inserted;
            line.bytes += c.bytes;
            line.executions += c.executions;
            line.executed_bytes += c.executed_bytes;
            line.operations += c.operations;
            line.executed_operations += c.executed_operations;
            add_saturated(line.call_ns, length(c.ticks));
            add_saturated(line.execution_ns, length(c.execution_ticks));
            if (c.temporaries == 0 && c.copies == 0 &&
                c.served_ticks + c.served_execution_ticks == 0)
                continue;
            Served &served = line.served[reasons_of(entry)];
            served.temporaries += c.temporaries;
            served.temporary_bytes += c.temporary_bytes;
            served.copies += c.copies;
            served.copied_bytes += c.copied_bytes;
            add_saturated(served.nanoseconds, length(c.served_ticks));
            add_saturated(served.nanoseconds, length(c.served_execution_ticks));
        }
        model_.processes[process_].dropped += table.dropped;
        for (const tracing::RangeTotals &r : table.ranges) {
            if (r.count == 0) continue;
            RangeLine &line = model_.range_totals[std::string(text_of(r.name))];
            line.min_ns =
                line.count > 0 ? std::min(line.min_ns, length(r.min_ticks)) : length(r.min_ticks);
            line.max_ns = std::max(line.max_ns, length(r.max_ticks));
            line.count += r.count;
            line.calls += r.calls;
            add_saturated(line.ns, length(r.ticks));
            add_saturated(line.call_ns, length(r.call_ticks));
        }
    }
    // Those that did not end, of the lane's present thread.
    void close_ranges() {
        for (const std::size_t range : open_ranges_) {
            model_.ranges[range].end = std::max(latest_, model_.ranges[range].start);
            model_.ranges[range].open = true;
        }
        open_ranges_.clear();
        latest_ = std::numeric_limits<std::int64_t>::min();
    }

    // A damaged file may contain any numbers; limits keep differences in range.
    static constexpr std::int64_t most = 2'000'000'000'000'000'000; // 63 years
    static std::int64_t limited(double ns) {
        return !(ns > -most) ? -most : // NaN too
                   ns < most ? static_cast<std::int64_t>(ns)
                             : most;
    }
    std::int64_t length(std::uint64_t ticks) const {
        return limited(static_cast<double>(ticks) * ns_per_tick_);
    }
    std::int64_t ns(std::uint64_t ticks) const {
        const auto since = static_cast<std::int64_t>(ticks - header_.first.ticks);
        return static_cast<std::int64_t>(std::min<std::uint64_t>(header_.first.ns, most)) +
               limited(static_cast<double>(since) * ns_per_tick_);
    }
    // The present thread of the lane. Threads that make no calls, but only run the device's
    // callbacks, are not listed. A thread that left its lane may write to another one later.
    std::uint32_t thread() {
        const auto [place, is_new] =
            threads_.try_emplace(id_, static_cast<std::uint32_t>(model_.threads.size()));
        if (is_new) model_.threads.push_back({process_, id_, thread_name_});
        return place->second;
    }

    // Null if there is no such entry.
    const tracing::Names *names_of(std::uint16_t entry) const {
        return entry < tracing::CounterTable::size && table_->entries[entry].device
                   ? &table_->names[entry]
                   : nullptr;
    }

    void take(const Record &record) {
        switch (record.kind) {
        case Kind::thread: {
            const auto &text = *reinterpret_cast<const ThreadText *>(&record + 1);
            if (record.words * 8u < sizeof record + sizeof text) return;
            close_ranges();
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
            if (!names_of(record.entry)) return;
            if (record.words * 8u <
                sizeof record +
                    8u * (announced_words(record) + std::min<unsigned>(record.rank, max_extents)))
                return;
            if (thread_ == none) thread_ = thread();
            latest_ = std::max(latest_, ns(end_of(record)));
            TracedCall call{};
            call.record = &record;
            call.name = names_of(record.entry);
            const std::uint16_t parent = details_of(record).parent;
            call.parent = names_of(parent);
            if (call.parent) call.reasons = tracing::reasons_of(table_->entries[parent]);
            call.dtype = tracing::dtype_of(table_->entries[record.entry]);
            call.asynchronous = call.name->asynchronous;
            call.thread = thread_;
            call.start = ns(record.start);
            call.end = ns(end_of(record));
            call.execution = -1;
            model_.calls.push_back(call);
            return;
        }
        case Kind::range_begin: {
            if (thread_ == none) thread_ = thread();
            const char *const text = reinterpret_cast<const char *>(&record + 1);
            const std::size_t room = record.words * 8u - sizeof record;
            latest_ = std::max(latest_, ns(record.start));
            open_ranges_.push_back(model_.ranges.size());
            model_.ranges.push_back(
                {{text, ::strnlen(text, room)}, thread_, ns(record.start), 0, false});
            return;
        }
        case Kind::range_end:
            latest_ = std::max(latest_, ns(record.start));
            if (open_ranges_.empty()) return; // it began before the push
            model_.ranges[open_ranges_.back()].end =
                std::max(ns(record.start), model_.ranges[open_ranges_.back()].start);
            open_ranges_.pop_back();
            return;
        }
    }

    TraceModel &model_;
    const char *memory_;
    std::size_t bytes_;
    const FileHeader &header_;
    double ns_per_tick_;
    std::uint32_t process_, thread_ = none;
    const tracing::CounterTable *table_ = nullptr; // of the lane
    std::uint64_t id_ = 0;
    std::string thread_name_;
    std::vector<std::size_t> open_ranges_; // of the lane's thread, in model_.ranges
    std::int64_t latest_ = std::numeric_limits<std::int64_t>::min(); // end of what it recorded
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
        throw std::runtime_error(fmt::format("{} is not a timeline file of the tracer", path));
    }
    void *const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (memory == MAP_FAILED)
        throw std::runtime_error(fmt::format("cannot map {}: {}", path, std::strerror(errno)));
    files_.push_back({memory, bytes});
    Reader(*this, path, static_cast<const char *>(memory), bytes).read();
}

} // namespace Atoll::tools
