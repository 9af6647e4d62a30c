// Tells interposers of the application's ranges.
#include "atoll/range.hpp"

#include "runtime/registry.hpp"

#include <utility>

namespace Atoll::detail {

namespace {

constinit std::atomic<const RangeWatchers *> watchers{nullptr}; // null: no interposer watches

void tell(const char *name) noexcept {
    if (!watchers.load(std::memory_order_relaxed)) [[likely]]
        return;
    const ReadSection section;
    const RangeWatchers *const now = watchers.load(std::memory_order_acquire);
    if (!now) return;
    for (const RangeWatcher &watcher : *now) {
        try {
            watcher.range(watcher.plugin, watcher.ctx, name);
        } catch (...) { // the program has nothing to do with it
        }
    }
}

} // namespace

void Registry::rebuild_range_watchers() {
    auto made = std::make_unique<RangeWatchers>();
    for (const InterposerEntry &entry : interposer_entries)
        if (entry.decl && entry.decl->range)
            made->push_back({entry.decl->range, entry.plugin->ctx, entry.ctx});
    const RangeWatchers *const next = made->empty() ? nullptr : made.release();
    old_range_watchers_.emplace_back(watchers.exchange(next, std::memory_order_acq_rel));
}

} // namespace Atoll::detail

void atoll_range_push(const char *name) noexcept { Atoll::detail::tell(name ? name : ""); }
void atoll_range_pop() noexcept { Atoll::detail::tell(nullptr); }
