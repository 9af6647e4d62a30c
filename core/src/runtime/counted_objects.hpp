// Objects that plugins make and the host counts: see abi/object.h.
#pragma once

#include "runtime/registry.hpp"

#include <string>

namespace Atoll::detail {

// The services of atoll_host.
std::int32_t object_create(void *self, const atoll_object_type *type, const char *device_type,
                           std::int32_t device, void *value, atoll_object **object,
                           atoll_error *error);
void object_retain(atoll_object *object);
void object_release(atoll_object *object);

// A living object; null owner if there is none at this address.
struct ObjectFacts {
    const PluginRecord *owner = nullptr; // the plugin that made it
    const DeviceTypeRecord *device_type = nullptr;
    std::string type; // "linalg.generator"
};
ObjectFacts facts_of(const atoll_object *object);

// A handle takes over one of the object's references; false if handles have all of them. The plugin
// cannot release those, so the object of a handle stays alive.
bool take_handle(const atoll_object *object);
void release_handle(const atoll_object *object);

// "2 of linalg.generator, 1 of linalg.plan"; "" if none of the plugin's objects are alive.
std::string living_objects(const PluginRecord &plugin);

} // namespace Atoll::detail
