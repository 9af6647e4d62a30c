// The totals of the application's ranges: atoll/range.h.
#include "session.hpp"
#include "thread_state.hpp"

#include <algorithm>
#include <cstring>

namespace Atoll::tracing {

namespace {

// The place of the name's totals. Only the thread itself adds names; a report sees one when its
// count is no longer 0.
std::size_t place_of_name(CounterTable &table, const char *name) noexcept {
    const std::size_t size = ::strnlen(name, sizeof(RangeTotals::name) - 1);
    for (std::size_t i = 0; i + 1 < max_ranges; ++i) {
        RangeTotals &totals = table.ranges[i];
        if (!*totals.name) {
            std::memcpy(totals.name, name, size);
            return i;
        }
        if (std::strncmp(totals.name, name, size) == 0 && totals.name[size] == '\0') return i;
    }
    std::strcpy(table.ranges[max_ranges - 1].name, other_ranges);
    return max_ranges - 1;
}

} // namespace

void Session::range(const char *name) noexcept {
    Table *const own = table();
    if (!own) return;
    const std::uint64_t now = timed_ ? clock_.now() : 0;
    if (name && !*name) name = "(no name)";
    if (Timeline *const timeline = timeline_.load(std::memory_order_relaxed))
        record_range(*timeline, own->lane, name, now);
    if (name) {
        if (own->range_depth < max_open_ranges)
            own->open_ranges[own->range_depth] = {place_of_name(*own, name), now, 0, 0};
        ++own->range_depth;
        return;
    }
    if (own->range_depth == 0) return; // it began before the push
    if (--own->range_depth >= max_open_ranges) return;
    const OpenRange &ended = own->open_ranges[own->range_depth];
    RangeTotals &totals = own->ranges[ended.totals];
    const std::uint64_t ticks = std::max(now, ended.start) - ended.start;
    const auto set = [](std::uint64_t &number, std::uint64_t value) {
        std::atomic_ref(number).store(value, std::memory_order_relaxed);
    };
    if (totals.count == 0 || ticks < totals.min_ticks) set(totals.min_ticks, ticks);
    if (ticks > totals.max_ticks) set(totals.max_ticks, ticks);
    add(totals.ticks, ticks);
    add(totals.calls, ended.calls);
    add(totals.call_ticks, ended.call_ticks);
    std::atomic_ref(totals.count).store(totals.count + 1, std::memory_order_release);
    if (own->range_depth == 0) return;
    OpenRange &around = own->open_ranges[own->range_depth - 1];
    around.calls += ended.calls;
    around.call_ticks += ended.call_ticks;
}

Ranges Session::ranges() const {
    Ranges sums;
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next)
        for (RangeTotals &part : table->ranges) {
            const std::uint64_t count = std::atomic_ref(part.count).load(std::memory_order_acquire);
            if (count == 0) continue;
            RangeTotals &sum = sums[part.name];
            sum.min_ticks = sum.count > 0 ? std::min(sum.min_ticks, read(part.min_ticks))
                                          : read(part.min_ticks);
            sum.max_ticks = std::max(sum.max_ticks, read(part.max_ticks));
            sum.count += count;
            sum.ticks += read(part.ticks);
            sum.calls += read(part.calls);
            sum.call_ticks += read(part.call_ticks);
        }
    return sums;
}

} // namespace Atoll::tracing
