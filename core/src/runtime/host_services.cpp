// The services of atoll_host: errors, memory, the pool, dispatch, names.
#include "runtime/host_services.hpp"

#include "atoll/plugin.hpp"
#include "atoll/plugins.hpp"
#include "base/callback.hpp"
#include "runtime/counted_objects.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/log.hpp"
#include "runtime/plugin_settings.hpp"

#include <algorithm>
#include <cstring>

namespace Atoll {

namespace detail {

namespace {

// --- the pool ------------------------------------------------------------------------------------
struct Pool {
    Callback<ParallelFor> application;
    struct Offer {
        const PluginRecord *plugin = nullptr;
        atoll_parallel_for run = nullptr;
        void *context = nullptr;
    };
    std::mutex mutex;
    std::vector<Offer> offers; // the latest is used; the others replace it when it is withdrawn
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
    if (const auto application = pool.application.get()) {
        try {
            (*application)(count, grain, [&](std::int64_t begin, std::int64_t end) {
                body(argument, begin, end);
            });
        } catch (...) {
            // The body cannot be run again, because parts of it may have run, and nothing may be
            // thrown through the plugin: dispatch() fails when the call returns.
            thread_state.pool_failed = true;
            log_message(ATOLL_LOG_ERROR,
                        "the application's parallel_for threw: " + exception_text());
        }
        return;
    }
    Pool::Offer offer;
    {
        const std::lock_guard lock(pool.mutex);
        if (!pool.offers.empty()) offer = pool.offers.back();
    }
    if (offer.run)
        offer.run(offer.context, count, grain, body, argument);
    else
        body(argument, 0, count);
}

void offer_parallel_for(void *self, atoll_parallel_for run, void *pool_context) {
    Pool &pool = Pool::get();
    const std::lock_guard lock(pool.mutex);
    const auto *plugin = static_cast<const PluginRecord *>(self);
    std::erase_if(pool.offers, [&](const Pool::Offer &old) { return old.plugin == plugin; });
    if (run) pool.offers.push_back({plugin, run, pool_context});
}

std::size_t config(void *self, const char *key, const char *fallback, char *buffer,
                   std::size_t capacity) {
    if (!self || !key) { // an error of a C plugin
        if (buffer && capacity > 0) buffer[0] = '\0';
        return 0;
    }
    const std::string &plugin = static_cast<PluginRecord *>(self)->name;
    const std::string value = ask_setting(plugin, key, fallback ? fallback : "");
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
    call->reasons = 0; // a plugin's own
    try {
        return type->chain(module->functions[call->function], call->dtype)->call(*call);
    } catch (...) { // of another plugin: the caller may be C, or a thread that catches nothing
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

void set_parallel_for(ParallelFor run) { detail::Pool::get().application.set(std::move(run)); }

std::string_view version() { return ATOLL_VERSION; }

} // namespace Atoll
