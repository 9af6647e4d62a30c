// Warnings: the host's handler, or the log.
#include "runtime/warnings.hpp"

#include "runtime/host_services.hpp"
#include "runtime/settings_access.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <fmt/format.h>

namespace Atoll {

namespace {

struct Warnings {
    std::mutex mutex;
    std::shared_ptr<const std::function<void(const Warning &)>> handler;
    std::set<std::string, std::less<>> seen; // full names of functions
};
// Never destroyed: late destructors may still warn.
Warnings &warnings() {
    static auto &value = *new Warnings;
    return value;
}

} // namespace

void set_warning_handler(std::function<void(const Warning &)> handler) {
    Warnings &w = warnings();
    auto shared =
        handler ? std::make_shared<const std::function<void(const Warning &)>>(std::move(handler))
                : nullptr;
    const std::lock_guard lock(w.mutex);
    w.handler = std::move(shared);
}

namespace detail {

void warn(const FunctionRecord &function, std::string_view text) {
    const WarningMode mode = current_settings().warning_mode;
    if (mode == WarningMode::off) return;
    Warnings &w = warnings();
    std::shared_ptr<const std::function<void(const Warning &)>> handler;
    {
        const std::lock_guard lock(w.mutex);
        if (mode == WarningMode::once && !w.seen.insert(function.full_name).second) return;
        handler = w.handler;
    }
    if (handler)
        (*handler)({function.full_name, text});
    else
        log_message(ATOLL_LOG_WARN, fmt::format("[{}] {}", function.full_name, text));
}

} // namespace detail
} // namespace Atoll
