// Interposers from ATOLL_INTERPOSERS.
#include "loader/environment_interposers.hpp"

#include "atoll/error.hpp"
#include "base/environment.hpp"
#include "loader/plugin_files.hpp"
#include "runtime/interpose.hpp"
#include "runtime/log.hpp"
#include "runtime/plugin_settings.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace Atoll::detail {
namespace {

void print_reports_at_exit() {
    // exit() may have been called while another thread, or this one, holds the registry.
    std::unique_lock lock(Registry::get().mutex, std::defer_lock);
    for (int i = 0; i < 100 && !lock.try_lock(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!lock) return;
    const auto &entries = Registry::get().interposer_entries;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) { // in the list's order
        if (!entry->from_environment) continue;
        try {
            const std::string text = report_of(*entry);
            std::fwrite(text.data(), 1, text.size(), stderr);
        } catch (const Error &e) {
            log_message(ATOLL_LOG_ERROR, e.what());
        }
    }
}

// An entry that is not pushed yet: a later plugin may provide its target, a module or device type.
struct Pending {
    std::string item, name, target;
    bool failure_logged = false;
};
bool has_read = false;
auto &all_pending = *new std::vector<Pending>; // plugins may be loaded at exit

void read_environment(const std::function<void(const std::string &)> &load) {
    has_read = true;
    const auto list = secure_environment("ATOLL_INTERPOSERS");
    if (!list || safe_mode()) return;
    for (const std::string &item : split_names(*list)) {
        const std::size_t equals = item.find('=');
        const std::string name = item.substr(0, equals);
        try {
            load(name);
            all_pending.push_back(
                {item, name, equals == std::string::npos ? "*" : item.substr(equals + 1)});
        } catch (const Error &e) {
            log_message(ATOLL_LOG_ERROR,
                        fmt::format("ATOLL_INTERPOSERS, '{}': {}", item, e.what()));
        }
    }
    std::atexit(print_reports_at_exit);
    std::at_quick_exit(print_reports_at_exit);
}

} // namespace

void push_environment_interposers(const std::function<void(const std::string &)> &load) {
    if (!has_read) read_environment(load);
    std::erase_if(all_pending, [](Pending &pending) {
        try {
            push_named(pending.target, pending.name, 0, true);
        } catch (const Error &e) {
            const bool may_come = e.status() == Status::not_found;
            if (!std::exchange(pending.failure_logged, true))
                log_message(
                    ATOLL_LOG_ERROR,
                    fmt::format("ATOLL_INTERPOSERS, '{}': {}{}", pending.item, e.what(),
                                may_come ? "; tried again whenever a plugin is loaded" : ""));
            return !may_come;
        }
        return true;
    });
}

} // namespace Atoll::detail
