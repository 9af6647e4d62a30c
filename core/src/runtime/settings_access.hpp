// How the core reads the settings in force: a thread-local look and one relaxed load.
#pragma once

#include "atoll/settings.hpp"
#include "runtime/thread_state.hpp"

namespace Atoll::detail {

extern std::atomic<std::uint64_t> settings_version;
const Settings &refresh_settings();

// Valid until the next change of settings on this thread.
inline const Settings &current_settings() {
    const ThreadState &state = thread_state;
    if (state.scoped_settings) return *state.scoped_settings;
    if (state.record && state.record->settings_version ==
                            settings_version.load(std::memory_order_relaxed)) [[likely]]
        return *state.record->default_settings;
    return refresh_settings();
}

} // namespace Atoll::detail
