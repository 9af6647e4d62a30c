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

// What is known of a living object; null owner where there is none at this address.
struct ObjectFacts {
    const PluginRecord *owner = nullptr; // the plugin that made it
    const DeviceTypeRecord *device_type = nullptr;
    std::string type; // "linalg.generator"
};
ObjectFacts facts_of(const atoll_object *object);

// A handle takes over one of the object's counts; false where all are held by handles already. The
// plugin cannot release those, so that a handle's object lives.
bool take_handle(const atoll_object *object);
void release_handle(const atoll_object *object);

// "2 of linalg.generator, 1 of linalg.plan"; "" where none of the plugin's objects live.
std::string living_objects(const PluginRecord &plugin);

} // namespace Atoll::detail
