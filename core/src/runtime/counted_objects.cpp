// Objects of plugins. There are few, so one lock serves all.
#include "runtime/counted_objects.hpp"

#include "atoll/plugin.hpp"
#include "base/list.hpp"
#include "base/printable.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/log.hpp"

#include <map>
#include <mutex>

#include <fmt/core.h>

namespace Atoll::detail {

namespace {

struct ObjectRecord {
    atoll_object object;
    ObjectFacts facts;
    void (*destroy)(void *plugin, void *value);
    std::uint64_t references;
    std::uint64_t handles; // of these, held by handles of the application
};

struct Objects {
    std::mutex mutex;
    std::map<const atoll_object *, std::unique_ptr<ObjectRecord>> known; // also while destroy runs
    std::uint64_t made = 0;
    static Objects &get() {
        static Objects &objects = *new Objects; // plugins may release objects at exit
        return objects;
    }
    // Null if there is no such object, or none any more.
    ObjectRecord *find(const atoll_object *object) {
        const auto found = known.find(object);
        const bool lives = found != known.end() && found->second->references > 0;
        return lives ? found->second.get() : nullptr;
    }
};

} // namespace

std::int32_t object_create(void *self, const atoll_object_type *type, const char *device_type,
                           std::int32_t device, void *value, atoll_object **object,
                           atoll_error *error) {
    if (!self || !type || !object || type->struct_size < sizeof *type || !type->name ||
        !type->destroy)
        return sdk::set_error(error, ATOLL_STATUS_INVALID_ARGUMENT,
                              "object_create: needs a type with a name and destroy, and a place "
                              "for the object");
    const DeviceTypeRecord *of = Registry::get().find_device_type(device_type ? device_type : "");
    if (!of || device < 0 || device >= of->device_count)
        return sdk::set_error(error, ATOLL_STATUS_NOT_FOUND, "object_create: no such device");
    const auto *owner = static_cast<const PluginRecord *>(self);
    auto made = std::make_unique<ObjectRecord>(
        ObjectRecord{{sizeof(atoll_object), device, type, value, 0},
                     {owner, of, owner->name + "." + printable(type->name)},
                     type->destroy,
                     1,
                     0});
    Objects &objects = Objects::get();
    const std::lock_guard lock(objects.mutex);
    // The upper half of the numbers: no storage has these.
    made->object.identity = (std::uint64_t{1} << 63) | ++objects.made;
    *object = &made->object;
    objects.known.emplace(*object, std::move(made));
    return ATOLL_STATUS_OK;
}

void object_retain(atoll_object *object) {
    Objects &objects = Objects::get();
    const std::lock_guard lock(objects.mutex);
    if (ObjectRecord *record = objects.find(object)) ++record->references;
}

namespace {

void release(const atoll_object *object, bool handle) {
    Objects &objects = Objects::get();
    ObjectRecord *record;
    ObjectFacts facts;
    {
        const std::lock_guard lock(objects.mutex);
        record = objects.find(object);
        if (!record) return;
        facts = record->facts;
        const bool own = handle || record->references > record->handles;
        if (handle) --record->handles;
        if (own && --record->references > 0) return;
        if (!own) record = nullptr;
    }
    if (!record)
        return log_message(ATOLL_LOG_ERROR,
                           fmt::format("plugin {}: object_release of a {} whose references all "
                                       "belong to handles; nothing is released",
                                       facts.owner->name, facts.type));
    try {
        record->destroy(facts.owner->ctx, record->object.value);
    } catch (...) {
        log_message(ATOLL_LOG_ERROR, fmt::format("plugin {}: an exception left destroy of {}: {}",
                                                 facts.owner->name, facts.type, exception_text()));
    }
    const std::lock_guard lock(objects.mutex);
    objects.known.erase(object);
}

} // namespace

void object_release(atoll_object *object) { release(object, false); }
void release_handle(const atoll_object *object) { release(object, true); }

bool take_handle(const atoll_object *object) {
    Objects &objects = Objects::get();
    const std::lock_guard lock(objects.mutex);
    ObjectRecord *record = objects.find(object);
    if (!record || record->handles == record->references) return false;
    ++record->handles;
    return true;
}

ObjectFacts facts_of(const atoll_object *object) {
    Objects &objects = Objects::get();
    const std::lock_guard lock(objects.mutex);
    const ObjectRecord *record = objects.find(object);
    return record ? record->facts : ObjectFacts{};
}

std::string living_objects(const PluginRecord &plugin) {
    Objects &objects = Objects::get();
    std::map<std::string, int> counts;
    const std::lock_guard lock(objects.mutex);
    for (const auto &[object, record] : objects.known)
        if (record->facts.owner == &plugin) ++counts[record->facts.type];
    std::string text;
    for (const auto &[type, count] : counts)
        add_to_list(text, fmt::format("{} of {}", count, type));
    return text;
}

} // namespace Atoll::detail
