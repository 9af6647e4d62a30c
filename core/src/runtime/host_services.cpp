// What atoll_host offers: log, errors, memory, the pool, settings, dispatch, names.
#include "runtime/host_services.hpp"

#include "atoll/error.hpp"
#include "atoll/plugin.hpp"
#include "atoll/plugins.hpp"
#include "base/environment.hpp"
#include "base/printable.hpp"
#include "runtime/counted_objects.hpp"
#include "runtime/dispatch.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/algorithm/string/replace.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace Atoll {

namespace detail {

namespace {

// --- log -----------------------------------------------------------------------------------------
// Our own logger, never destroyed: late destructors and plugins' threads may still log at exit.
struct Log {
    std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>(
        "atoll", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    std::mutex mutex;
    std::shared_ptr<std::function<void(int, std::string_view)>> handler;
    Log() {
        logger->set_level(spdlog::level::warn);
        logger->set_pattern("[%n %l] %v");
    }
    static Log &get() {
        static Log &log = *new Log;
        return log;
    }
};

// --- settings of plugins -------------------------------------------------------------------------
struct PluginSettings {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::string, std::less<>> values;
    // What plugins asked for, and the fallback that they named.
    std::map<std::pair<std::string, std::string>, std::string> asked;
    static PluginSettings &get() {
        static PluginSettings &settings = *new PluginSettings;
        return settings;
    }
};

std::string environment_name(std::string_view plugin, std::string_view key) {
    std::string text = "ATOLL_" + std::string(plugin) + "_" + std::string(key);
    for (char &c : text)
        c = std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : '_';
    return text;
}

// --- the pool ------------------------------------------------------------------------------------
struct Pool {
    std::mutex mutex;
    std::shared_ptr<ParallelFor> application;
    struct Offer {
        const PluginRecord *plugin = nullptr;
        atoll_parallel_for run = nullptr;
        void *context = nullptr;
    };
    std::vector<Offer> offers; // the latest is used, the others wait for its withdrawal
    static Pool &get() {
        static Pool &pool = *new Pool;
        return pool;
    }
};

void log(void *self, std::int32_t level, const char *text) {
    log_message(level, (self ? static_cast<PluginRecord *>(self)->name + ": " : std::string()) +
                           (text ? text : ""));
}

std::int32_t set_error(atoll_error *error, std::int32_t status, std::int64_t native_code,
                       const char *text) {
    return sdk::set_error(error, status, text ? text : "", native_code);
}

void *allocate(std::size_t bytes) {
    return bytes <= SIZE_MAX - 64 ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
}

void parallel_for(void *, std::int64_t count, std::int64_t grain, atoll_range_body body,
                  void *argument) {
    if (count <= 0 || !body) return;
    Pool &pool = Pool::get();
    std::shared_ptr<ParallelFor> application;
    Pool::Offer offer;
    {
        const std::lock_guard lock(pool.mutex);
        application = pool.application;
        if (!pool.offers.empty()) offer = pool.offers.back();
    }
    if (application) {
        try {
            (*application)(count, grain, [&](std::int64_t begin, std::int64_t end) {
                body(argument, begin, end);
            });
        } catch (...) {
            // Parts may have run; the body cannot be run twice, and nothing may be thrown here. The
            // call that this serves fails when it returns: see dispatch().
            thread_state.pool_failed = true;
            log_message(ATOLL_LOG_ERROR,
                        "the application's parallel_for threw: " + exception_text());
        }
    } else if (offer.run) {
        offer.run(offer.context, count, grain, body, argument);
    } else {
        body(argument, 0, count);
    }
}

void offer_parallel_for(void *self, atoll_parallel_for run, void *pool_context) {
    Pool &pool = Pool::get();
    const std::lock_guard lock(pool.mutex);
    const auto *plugin = static_cast<const PluginRecord *>(self);
    std::erase_if(pool.offers, [&](const Pool::Offer &old) { return old.plugin == plugin; });
    if (run) pool.offers.push_back({plugin, run, pool_context});
}

// The setting in force. Hold the settings' mutex.
PluginSetting look_up(const PluginSettings &settings, const std::string &plugin,
                      const std::string &key, std::string fallback) {
    const auto found = settings.values.find(std::pair(plugin, key));
    if (found != settings.values.end()) return {plugin, key, found->second, "application"};
    if (!safe_mode()) {
        const std::string variable = environment_name(plugin, key);
        if (const auto text = secure_environment(variable.c_str()))
            return {plugin, key, *text, variable};
    }
    return {plugin, key, std::move(fallback), "default"};
}

std::size_t config(void *self, const char *key, const char *fallback, char *buffer,
                   std::size_t capacity) {
    if (!self || !key) { // a slip of a C plugin
        if (buffer && capacity > 0) buffer[0] = '\0';
        return 0;
    }
    const std::string &plugin = static_cast<PluginRecord *>(self)->name;
    PluginSettings &settings = PluginSettings::get();
    std::string value;
    {
        const std::lock_guard lock(settings.mutex);
        settings.asked[{plugin, key}] = fallback ? fallback : "";
        value = look_up(settings, plugin, key, fallback ? fallback : "").value;
    }
    if (buffer && capacity > 0) {
        const std::size_t size = std::min(value.size(), capacity - 1);
        std::memcpy(buffer, value.data(), size);
        buffer[size] = '\0';
    }
    return value.size();
}

std::int32_t dispatch(void *, const char *device_type, atoll_call *call) {
    if (!call || !call->error) return ATOLL_STATUS_INVALID_ARGUMENT;
    const ReadSection section; // a plugin's own thread is in none yet
    const Registry &registry = Registry::get();
    const DeviceTypeRecord *type = registry.find_device_type(device_type ? device_type : "");
    const ModuleRecord *module = registry.module(call->module);
    if (!type || !module || call->function >= module->functions.size() ||
        call->dtype >= ATOLL_DTYPE_COUNT)
        return sdk::set_error(call->error, ATOLL_STATUS_NOT_FOUND,
                              "dispatch: no such device type, module, function or dtype");
    if (call->correlation == 0) call->correlation = thread_state.correlation;
    try {
        return type->chain(module->functions[call->function], call->dtype)->call(*call);
    } catch (...) { // of another plugin: the caller may be C, or a thread with nobody to catch it
        const std::string text =
            "dispatch: an exception crossed a plugin's border: " + exception_text();
        return sdk::set_error(call->error, ATOLL_STATUS_PLUGIN_FAULT, text.c_str());
    }
}

const char *function_name(std::uint16_t module, std::uint16_t function) {
    const ModuleRecord *record = Registry::get().module(module);
    if (!record || function >= record->functions.size()) return "?";
    return record->functions[function].full_name.c_str();
}

const char *owner_name(const void *owner) {
    return owner ? static_cast<const PluginRecord *>(owner)->name.c_str() : "host";
}

std::uint32_t device_flags_of(const atoll_link *link) {
    return static_cast<const HostLink *>(link)->type->flags;
}

const char *device_type_of(const atoll_link *link) {
    return static_cast<const HostLink *>(link)->type->name.c_str();
}

std::int32_t find_function(const char *name, std::uint16_t *module, std::uint16_t *function) {
    const FunctionRecord *found = name ? Registry::get().find_function(name) : nullptr;
    if (!found || !module || !function) return ATOLL_STATUS_NOT_FOUND;
    *module = found->module->id;
    *function = found->id;
    return ATOLL_STATUS_OK;
}

} // namespace

bool safe_mode() { return environment_switch("ATOLL_SAFE_MODE"); }

std::vector<PluginSetting> configured() {
    PluginSettings &settings = PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    std::vector<PluginSetting> found;
    for (const auto &[name, value] : settings.values)
        found.push_back({name.first, name.second, value, "application"});
    return found;
}

bool logs(int level) {
    return Log::get().logger->should_log(static_cast<spdlog::level::level_enum>(level));
}

void log_message(int level, std::string_view raw) {
    Log &log = Log::get();
    const auto to = static_cast<spdlog::level::level_enum>(std::clamp(level, 0, 4));
    if (!log.logger->should_log(to)) return;
    const std::string text = printable(raw);
    std::shared_ptr<std::function<void(int, std::string_view)>> handler;
    {
        const std::lock_guard lock(log.mutex);
        handler = log.handler;
    }
    if (handler) {
        try {
            (*handler)(to, text);
        } catch (...) { // plugins log, and nothing may be thrown through them
        }
    } else {
        // A line that goes on is indented, so that no text can pass for a record of its own.
        log.logger->log(to, "{}", boost::replace_all_copy(text, "\n", "\n    "));
    }
}

void make_host(PluginRecord &plugin) {
    plugin.host = {sizeof(atoll_host),
                   0,
                   &plugin,
                   log,
                   set_error,
                   allocate,
                   std::free,
                   parallel_for,
                   offer_parallel_for,
                   config,
                   dispatch,
                   function_name,
                   owner_name,
                   device_type_of,
                   device_flags_of,
                   find_function,
                   plugin.path.c_str(),
                   object_create,
                   object_retain,
                   object_release};
}

void withdraw_parallel_for(const PluginRecord &plugin) {
    Pool &pool = Pool::get();
    const std::lock_guard lock(pool.mutex);
    std::erase_if(pool.offers, [&](const Pool::Offer &offer) { return offer.plugin == &plugin; });
}

} // namespace detail

void configure(std::string_view plugin, std::string_view key, std::string_view value) {
    detail::PluginSettings &settings = detail::PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    std::pair<std::string, std::string> name(plugin, key);
    if (value.empty())
        settings.values.erase(name);
    else
        settings.values[std::move(name)] = std::string(value);
}

std::vector<PluginSetting> plugin_settings() {
    detail::PluginSettings &settings = detail::PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    std::vector<PluginSetting> list;
    for (const auto &[name, fallback] : settings.asked)
        list.push_back(detail::look_up(settings, name.first, name.second, fallback));
    return list;
}

void set_log_level(std::string_view level) {
    const spdlog::level::level_enum wanted = spdlog::level::from_str(std::string(level));
    if (wanted == spdlog::level::off && level != "off") // also what from_str makes of the unknown
        throw Error(Status::invalid_argument, "set_log_level",
                    "got '" + std::string(level) +
                        "', need trace, debug, info, warn, error, critical or off");
    detail::Log::get().logger->set_level(wanted);
}

void set_log_handler(std::function<void(int, std::string_view)> handler) {
    detail::Log &log = detail::Log::get();
    const std::lock_guard lock(log.mutex);
    log.handler =
        handler ? std::make_shared<std::function<void(int, std::string_view)>>(std::move(handler))
                : nullptr;
}

void set_parallel_for(ParallelFor run) {
    detail::Pool &pool = detail::Pool::get();
    const std::lock_guard lock(pool.mutex);
    pool.application = run ? std::make_shared<ParallelFor>(std::move(run)) : nullptr;
}

std::string_view version() { return ATOLL_VERSION; }

} // namespace Atoll
