// The least host that a plugin runs under: opens it, and calls its functions straight from its
// tables. For tests of a plugin alone, without libatoll.
#pragma once

#include "atoll/plugin.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace FakeHost {

// What the plugins under test find behind atoll_host. One per process, as the names are.
struct Host {
    std::mutex mutex;
    std::map<std::string, std::string> settings;
    std::vector<std::string> logged;
    // Where dispatch looks: the tables of the device type's plugin, and its context.
    std::map<std::pair<int, int>, atoll_link> slots;

    static Host &instance() {
        static Host host;
        return host;
    }
    void set(const std::string &key, const std::string &value) {
        const std::lock_guard lock(mutex);
        settings[key] = value;
    }
};

inline const char *function_name(std::uint16_t module, std::uint16_t function) {
    static const std::map<std::pair<int, int>, const char *> names{
#define ATOLL_FUNCTION(id, name, ...) {{ATOLL_MODULE_CORE, id}, "core." #name},
#include "atoll/lists/functions.inc"
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc)                                     \
    {{ATOLL_MODULE_DEVICE, id}, "device." #name},
#include "atoll/lists/device_functions.inc"
    };
    const auto found = names.find({module, function});
    return found == names.end() ? "?" : found->second;
}

inline const atoll_host &services() {
    static const atoll_host host{
        .struct_size = sizeof(atoll_host),
        .reserved = 0,
        .self = &Host::instance(),
        .log =
            [](void *self, std::int32_t, const char *text) {
                auto &host = *static_cast<Host *>(self);
                const std::lock_guard lock(host.mutex);
                host.logged.push_back(text);
            },
        .set_error =
            [](atoll_error *error, std::int32_t status, std::int64_t native, const char *text) {
                return Atoll::sdk::set_error(error, status, text, native);
            },
        .allocate =
            [](std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); },
        .deallocate = [](void *memory) { std::free(memory); },
        .parallel_for = [](void *, std::int64_t count, std::int64_t, atoll_range_body body,
                           void *argument) { body(argument, 0, count); },
        .offer_parallel_for = [](void *, atoll_parallel_for, void *) {},
        .config =
            [](void *self, const char *key, const char *fallback, char *buffer,
               std::size_t capacity) {
                auto &host = *static_cast<Host *>(self);
                const std::lock_guard lock(host.mutex);
                const auto found = host.settings.find(key);
                const std::string value = found == host.settings.end() ? fallback : found->second;
                if (capacity > 0) buffer[value.copy(buffer, capacity - 1)] = '\0';
                return value.size();
            },
        .dispatch =
            [](void *self, const char *, atoll_call *call) {
                auto &slots = static_cast<Host *>(self)->slots;
                const auto found = slots.find({call->module, call->function});
                if (found == slots.end())
                    return Atoll::sdk::set_error(call->error, ATOLL_STATUS_NOT_SUPPORTED,
                                                 "no slot");
                return found->second.fn(&found->second, call);
            },
        .function_name = function_name,
        .owner_name = [](const void *) { return "test"; },
        .device_type_of = [](const atoll_link *) { return "dummy"; },
        .device_flags_of = [](const atoll_link *) { return 0u; },
        .find_function = [](const char *, std::uint16_t *, std::uint16_t *) -> std::int32_t {
            return ATOLL_STATUS_NOT_FOUND;
        },
        .plugin_path = "",
        .object_create = [](void *, const atoll_object_type *, const char *, std::int32_t, void *,
                            atoll_object **,
                            atoll_error *) -> std::int32_t { return ATOLL_STATUS_NOT_SUPPORTED; },
        .object_retain = [](atoll_object *) {},
        .object_release = [](atoll_object *) {},
    };
    return host;
}

// What a failed call said.
struct Failed : std::runtime_error {
    Failed(std::int32_t status, const char *text, const char *function)
        : std::runtime_error(text), status(status), function(function) {}
    std::int32_t status;
    std::string function; // the culprit of an asynchronous error
};

// A plugin from load to unload.
class Plugin {
public:
    explicit Plugin(const std::string &path) {
        library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library_) throw std::runtime_error(dlerror());
        const auto query =
            reinterpret_cast<atoll_plugin_query_fn>(dlsym(library_, "atoll_plugin_query_v0"));
        const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, "test"};
        descriptor = query(&info);
        with_error(
            [&](atoll_error &error) { return descriptor->load(&services(), &context, &error); });
    }
    ~Plugin() { unload(); }
    Plugin(const Plugin &) = delete;
    Plugin &operator=(const Plugin &) = delete;

    // Stays mapped, as in the real host.
    void unload() {
        if (!context) return;
        with_error([&](atoll_error &error) { return descriptor->unload(context, &error); });
        context = nullptr;
    }

    const atoll_function_decl *find(const std::string &module, std::uint16_t function,
                                    std::uint16_t dtype = ATOLL_DTYPE_NONE) const {
        for (std::uint32_t i = 0; i < descriptor->impl_count; ++i) {
            const atoll_impl_decl &impl = *descriptor->impls[i];
            if (impl.module != module) continue;
            for (std::uint32_t f = 0; f < impl.function_count; ++f)
                if (impl.functions[f].id == function &&
                    (dtype == ATOLL_DTYPE_NONE || (impl.functions[f].dtypes >> dtype & 1)))
                    return &impl.functions[f];
        }
        return nullptr;
    }

    // Throws Failed where the function does not return OK.
    void call(const std::string &module, atoll_call &call) const {
        const atoll_function_decl *function = find(module, call.function, call.dtype);
        if (!function) throw std::runtime_error("no such function");
        call.struct_size = sizeof call;
        call.correlation = 1;
        const atoll_link link{function->fn, context, nullptr, nullptr};
        with_error([&](atoll_error &error) {
            call.error = &error;
            return link.fn(&link, &call);
        });
    }

    // Makes dispatch find this plugin's functions.
    void publish() const {
        for (std::uint32_t i = 0; i < descriptor->impl_count; ++i) {
            const atoll_impl_decl &impl = *descriptor->impls[i];
            const int module =
                impl.module == std::string("core") ? ATOLL_MODULE_CORE : ATOLL_MODULE_DEVICE;
            for (std::uint32_t f = 0; f < impl.function_count; ++f)
                Host::instance().slots[{module, impl.functions[f].id}] = {
                    impl.functions[f].fn, context, nullptr, nullptr};
        }
    }

    const atoll_plugin *descriptor = nullptr;
    void *context = nullptr;

private:
    template <class Body> static void with_error(const Body &body) {
        char text[256] = "";
        atoll_error error{};
        error.struct_size = sizeof error;
        error.capacity = sizeof text;
        error.text = text;
        const std::int32_t status = body(error);
        if (status != ATOLL_STATUS_OK) throw Failed(status, text, error.function);
    }

    void *library_ = nullptr;
};

} // namespace FakeHost
