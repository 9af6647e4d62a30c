// Attributes: executors, statuses, handles.
#include "executor.hpp"
#include "handle.hpp"
#include "status.hpp"

#include <atoll/plugins.hpp>
#include <string>

namespace Atoll::Tapp {

namespace {

void *text(const char *characters) { return const_cast<char *>(characters); }
void *number(std::int64_t value) {
    return reinterpret_cast<void *>(static_cast<std::intptr_t>(value));
}
const char *memory_name(bool device) { return device ? "device" : "host"; }

[[noreturn]] void no_attribute(const char *kind, TAPP_key key) {
    fail(TAPP_ATOLL_BAD_KEY, "{} has no attribute {:#x}; see tapp/atoll.h", kind, key);
}

void *get(const Executor &executor, TAPP_key key) {
    const Target target = executor.target();
    switch (key) {
    case TAPP_ATOLL_DEVICE: return text(target.place->name());
    case TAPP_ATOLL_MEMORY: return text(memory_name(target.device_memory));
    default: no_attribute("an executor", key);
    }
}

void *get(const Execution &execution, TAPP_key key) {
    switch (key) {
    case TAPP_ATOLL_DEVICE: return text(execution.device);
    case TAPP_ATOLL_NANOSECONDS: return number(execution.nanoseconds);
    case TAPP_ATOLL_OPERATIONS: return number(execution.operations);
    case TAPP_ATOLL_ERROR: return number(execution.error);
    default: no_attribute("a status", key);
    }
}

void *get(TAPP_attr attr, TAPP_key key) {
    if (is_status(attr)) return get(execution(attr), key);
    if (const auto executor = executors().find(attr)) return get(*executor, key);
    if (!handles().find(attr))
        fail(TAPP_ATOLL_BAD_OBJECT,
             "attr = {:#x} is not an executor, a status or a handle, or was destroyed",
             static_cast<std::uintptr_t>(attr));
    if (key != TAPP_ATOLL_VERSION) no_attribute("a handle", key);
    static const std::string &kept = *new std::string(version());
    return text(kept.c_str());
}

// The object whose attributes can be set.
std::shared_ptr<Executor> settable(TAPP_attr attr, TAPP_key key) {
    if (is_status(attr) || handles().find(attr)) {
        void *const current = get(attr, key); // throws if there is no such attribute
        (void)current;
        fail(TAPP_ATOLL_BAD_KEY, "attribute {:#x} of {} can only be read", key,
             is_status(attr) ? "a status" : "a handle");
    }
    return executors().get(attr, "attr");
}

void set(Executor &executor, TAPP_key key, const char *value) {
    switch (key) {
    case TAPP_ATOLL_DEVICE:
        require_memory(value, "the name of the device");
        return executor.set_device(place(value));
    case TAPP_ATOLL_MEMORY: {
        require_memory(value, "the kind of memory");
        const std::string_view wanted = value;
        for (const bool device : {false, true})
            if (wanted == memory_name(device)) return executor.set_device_memory(device);
        fail(TAPP_ATOLL_BAD_VALUE, "got memory '{}', need 'host' or 'device'", wanted);
    }
    default: no_attribute("an executor", key);
    }
}

void clear(Executor &executor, TAPP_key key) {
    switch (key) {
    case TAPP_ATOLL_DEVICE: return executor.set_device(*executor.initial().place);
    case TAPP_ATOLL_MEMORY: return executor.set_device_memory(executor.initial().device_memory);
    default: no_attribute("an executor", key);
    }
}

} // namespace

} // namespace Atoll::Tapp

using namespace Atoll::Tapp;

TAPP_error TAPP_attr_set(TAPP_attr attr, TAPP_key key, void *value) {
    return guarded([&] { set(*settable(attr, key), key, static_cast<const char *>(value)); });
}

TAPP_error TAPP_attr_get(TAPP_attr attr, TAPP_key key, void **value) {
    return guarded([&] {
        require_memory(value, "value");
        *value = get(attr, key);
    });
}

TAPP_error TAPP_attr_clear(TAPP_attr attr, TAPP_key key) {
    return guarded([&] { clear(*settable(attr, key), key); });
}
