// Where the time of a trace goes, and what to try: sentences for its top.
#include "reasons.hpp"
#include "terminal.hpp"
#include "trace_output.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

// What a program can do where a plugin cannot be changed.
std::string_view remedy(std::uint32_t reasons) {
    static constexpr std::pair<std::uint32_t, std::string_view> remedies[] = {
        {ATOLL_REASON_DEVICE, "move the operand to the device once, before"},
        {ATOLL_REASON_DTYPE, "cast the operand once, before"},
        {ATOLL_REASON_OUTPUT_DTYPE, "give an output of the result's dtype"},
        {ATOLL_REASON_BYTE_ORDER, "convert the operand to native byte order once, before"},
        {ATOLL_REASON_ALIGNMENT, "align the operand"},
        {ATOLL_REASON_NUMBER, "make the number a tensor once, before"},
        {ATOLL_REASON_OVERLAP, "write to another tensor than the inputs"},
        {ATOLL_REASON_STRIDES | ATOLL_REASON_NEGATIVE_STRIDES | ATOLL_REASON_BROADCAST |
             ATOLL_REASON_AXES,
         "make a dense copy of the operand once, before"},
        {ATOLL_REASON_TRANSFER, "make the tensor dense and of its final dtype before it travels"},
    };
    for (const auto &[reason, text] : remedies)
        if (reasons & reason) return text;
    return {};
}

// The capabilities that the reasons ask for: "MIXED_INPUTS and STRIDED".
std::string capabilities(std::uint32_t reasons) {
    std::string list;
    for (const tracing::Reason &reason : tracing::all_reasons)
        if ((reasons & reason.bit) && *reason.capability)
            list += (list.empty() ? "" : " and ") + std::string(reason.capability);
    return list;
}

double percent(std::int64_t part, double whole) {
    return whole > 0 ? 100 * static_cast<double>(part) / whole : 0;
}

} // namespace

std::vector<std::string> advice(const TraceModel &model, const TracedRun &run) {
    std::vector<std::string> sentences;
    const std::vector<HotLine> lines = hot_list(model);
    const double length =
        model.dropped() > 0 ? run.seconds * 1e9 : static_cast<double>(model.nanoseconds);
    const auto threads = static_cast<double>(std::max<std::size_t>(model.threads.size(), 1));

    double working = 0;
    std::map<std::string, std::int64_t> waits, work; // by device type
    const HotLine *hottest = nullptr;                // lines are longest first
    for (const HotLine &line : lines) {
        if (line.waits()) {
            if (line.executions == 0) add_saturated(waits[line.device], line.call_ns);
            continue;
        }
        if (line.calls == 0) continue;
        if (!hottest) hottest = &line;
        working += static_cast<double>(line.nanoseconds());
        if (line.executions > 0) add_saturated(work[line.device], line.execution_ns);
    }
    for (const auto &[device, time] : waits)
        if (percent(time, length * threads) >= 10)
            sentences.push_back(fmt::format(
                "The host waits for {} {:.0f} % of its time{}.", device,
                percent(time, length * threads),
                work[device] > 0 ? fmt::format(", and the streams of {} work {:.0f} % of the time",
                                               device, percent(work[device], length))
                                 : std::string()));
    if (hottest)
        sentences.push_back(fmt::format(
            "{} on {} takes {:.0f} % of the time of all functions, {}.", hottest->function,
            hottest->device, percent(hottest->nanoseconds(), working),
            seconds_text(static_cast<double>(hottest->nanoseconds()) * 1e-9)));
    struct Inserted {
        const HotLine *line;
        std::uint16_t reasons;
        const Served *served;
    };
    std::vector<Inserted> inserted;
    for (const HotLine &line : lines)
        for (const auto &[reasons, served] : line.served)
            if (served.copied_bytes > 0 && !remedy(reasons).empty())
                inserted.push_back({&line, reasons, &served});
    std::stable_sort(inserted.begin(), inserted.end(), [](const Inserted &a, const Inserted &b) {
        return a.served->nanoseconds > b.served->nanoseconds;
    });
    if (inserted.size() > 2) inserted.resize(2);
    for (const auto &[line, reasons, served] : inserted) {
        const std::string lacking = capabilities(reasons);
        sentences.push_back(
            fmt::format("{} copies {} on {} in {}, because {}: {}.", line->function,
                        bytes_text(static_cast<double>(served->copied_bytes)), line->device,
                        seconds_text(static_cast<double>(served->nanoseconds) * 1e-9),
                        lacking.empty() ? "of " + tracing::reasons_text(reasons)
                                        : "its plugin lacks " + lacking,
                        remedy(reasons)));
    }
    return sentences;
}

} // namespace Atoll::tools
