// Handles of objects.
#include "objects/object.hpp"

#include "atoll/object.hpp"

#include <fmt/format.h>

namespace Atoll {

namespace detail {

Tensor take_object(atoll_object *object, DeviceRecord *device, const Ref<StreamImpl> &stream,
                   const FunctionRecord &function) {
    const ObjectFacts facts = facts_of(object);
    const bool here =
        facts.owner && facts.device_type == device->type && object->device == device->index;
    if (!here || !take_handle(object)) {
        const char *what = !object        ? "nothing"
                           : !facts.owner ? "what is no object of the host's"
                           : !here        ? "an object of another device"
                                          : "an object without a count of its own";
        if (facts.owner && !here) object_release(object); // the count is nobody's now
        throw Error(Status::plugin_fault, function.full_name,
                    fmt::format("the plugin gave back {} where its result is an object; report it "
                                "to its vendor",
                                what),
                    device->name);
    }
    Ref<StorageImpl> storage = borrow_storage(object, 0, device, DType::none, stream,
                                              [object] { release_handle(object); });
    storage->id = object->identity;
    return make_view(std::move(storage), 0, {}, {}, DType::none, 0);
}

} // namespace detail

std::string Object::type() const {
    return detail::facts_of(detail::object_of(detail::impl(tensor_))).type;
}

} // namespace Atoll
