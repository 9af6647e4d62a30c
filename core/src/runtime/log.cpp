// The log goes to the application's handler, or by spdlog to standard error; warnings go to their
// handler, or to the log.
#include "runtime/log.hpp"

#include "atoll/error.hpp"
#include "atoll/plugins.hpp"
#include "base/callback.hpp"
#include "base/printable.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <set>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace Atoll {

namespace {

// Never destroyed, nor are the warnings: late destructors and plugins' threads may log at exit.
struct Log {
    spdlog::logger logger{"atoll", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    detail::Callback<std::function<void(int, std::string_view)>> handler;
    Log() {
        logger.set_level(spdlog::level::warn);
        logger.set_pattern("[%n %l] %v");
    }
    static Log &get() {
        static Log &log = *new Log;
        return log;
    }
};

struct Warnings {
    detail::Callback<std::function<void(const Warning &)>> handler;
    std::mutex mutex;
    std::set<std::string> seen; // functions
    static Warnings &get() {
        static Warnings &warnings = *new Warnings;
        return warnings;
    }
};

} // namespace

bool detail::logs(int level) {
    return Log::get().logger.should_log(static_cast<spdlog::level::level_enum>(level));
}

void detail::log_message(int level, std::string_view raw) {
    Log &log = Log::get();
    const auto to = static_cast<spdlog::level::level_enum>(std::clamp(level, 0, 4));
    if (!log.logger.should_log(to)) return;
    std::string text = printable(raw);
    if (const auto handler = log.handler.get()) {
        try {
            (*handler)(to, text);
        } catch (...) { // plugins log, and an exception must not pass through them
        }
        return;
    }
    // Continuation lines are indented, so that no text can imitate a record of its own.
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 5)
        text.insert(at + 1, "    ");
    log.logger.log(to, spdlog::string_view_t(text));
}

void detail::warn(const std::string &function, std::string_view text) {
    const WarningMode mode = current_settings().warning_mode;
    if (mode == WarningMode::off) return;
    Warnings &warnings = Warnings::get();
    if (mode == WarningMode::once) {
        const std::lock_guard lock(warnings.mutex);
        if (!warnings.seen.insert(function).second) return;
    }
    if (const auto handler = warnings.handler.get())
        (*handler)({function, text});
    else
        log_message(ATOLL_LOG_WARN, fmt::format("[{}] {}", function, text));
}

void set_warning_handler(std::function<void(const Warning &)> handler) {
    Warnings::get().handler.set(std::move(handler));
}

void set_log_level(std::string_view level) {
    const spdlog::level::level_enum wanted = spdlog::level::from_str(std::string(level));
    if (wanted == spdlog::level::off && level != "off") // from_str's result for unknown levels too
        throw Error(Status::invalid_argument, "set_log_level",
                    "got '" + std::string(level) +
                        "', need trace, debug, info, warn, error, critical or off");
    Log::get().logger.set_level(wanted);
}

void set_log_handler(std::function<void(int, std::string_view)> handler) {
    Log::get().handler.set(std::move(handler));
}

} // namespace Atoll
