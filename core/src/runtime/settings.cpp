// The process default and the scopes of settings.
#include "atoll/settings.hpp"

#include "base/enums.hpp"
#include "runtime/log.hpp"
#include "runtime/settings_access.hpp"
#include "runtime/thread_state.hpp"

#include <mutex>
#include <vector>

namespace Atoll {

namespace {
std::mutex default_mutex;
std::shared_ptr<const Settings> &default_settings() {
    static auto &value = *new std::shared_ptr<const Settings>(std::make_shared<Settings>());
    return value;
}
} // namespace

namespace detail {

std::atomic<std::uint64_t> settings_version{1};

const Settings &refresh_settings() {
    if (!thread_state.record) register_thread();
    ThreadRecord &record = *thread_state.record;
    const std::lock_guard lock(default_mutex);
    record.default_settings = default_settings();
    record.settings_version = settings_version.load(std::memory_order_relaxed);
    return *record.default_settings;
}

} // namespace detail

Settings settings() { return detail::current_settings(); }

namespace {

const Settings &checked(const Settings &settings, std::string_view op) {
    detail::require_dtype_or_none(settings.default_dtype, op);
    detail::require_compute_mode(settings.compute_mode, op);
    detail::require_one_of(settings.lossy, {Lossy::error, Lossy::warn, Lossy::allow},
                           "treatment of lossy results", "error, warn or allow", op);
    detail::require_one_of(settings.warning_mode,
                           {WarningMode::off, WarningMode::once, WarningMode::always},
                           "warning mode", "off, once or always", op);
    return settings;
}

} // namespace

void set_settings(const Settings &settings) {
    checked(settings, "set_settings");
    const std::lock_guard lock(default_mutex);
    default_settings() = std::make_shared<Settings>(settings);
    detail::settings_version.fetch_add(1, std::memory_order_relaxed);
}

struct ScopedSettings::State : Settings {
    Settings *outer;
};

ScopedSettings::ScopedSettings(Settings settings)
    : state_(new State{checked(settings, "settings"), detail::thread_state.scoped_settings}) {
    detail::thread_state.scoped_settings = state_;
}

ScopedSettings::ScopedSettings(const std::function<void(Settings &)> &change)
    : ScopedSettings([&] {
          Settings changed = detail::current_settings();
          change(changed);
          return changed;
      }()) {}

ScopedSettings::~ScopedSettings() {
    Settings **place = &detail::thread_state.scoped_settings;
    const bool innermost = *place == state_;
    while (*place && *place != state_) place = &static_cast<State *>(*place)->outer;
    if (!innermost)
        detail::log_message(ATOLL_LOG_ERROR, "ScopedSettings ended out of order or on another "
                                             "thread; end scopes in reverse order");
    if (!*place) { // the other thread may still use it
        static auto &kept = *new std::vector<State *>;
        const std::lock_guard lock(default_mutex);
        kept.push_back(state_);
        return;
    }
    *place = state_->outer;
    delete state_;
}

} // namespace Atoll
