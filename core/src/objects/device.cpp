// Devices: what is known of them, and calls of the module `device`.
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/throw_error.hpp"
#include "objects/objects.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

DeviceRecord &checked(DeviceRecord *record) {
    if (!record)
        throw Error(Status::invalid_argument, "device",
                    "no device (default-constructed); get one with device(\"cpu\")");
    return *record;
}

void refuse_retired(const DeviceRecord &device, std::string_view op) {
    throw Error(Status::not_found, op,
                fmt::format("the plugin of device {} has been retired; load it again", device.name),
                device.name);
}

void device_call(const DeviceRecord &device, int function, void *params, void *stream,
                 Cause cause) {
    const ReadSection section;
    PreparedDeviceCall call(device, function, params, stream, cause);
    dispatch(call.chain(), call);
}

std::int32_t try_device_call(const DeviceRecord &device, int function, void *params,
                             void *stream) noexcept {
    const ReadSection section;
    PreparedDeviceCall call(device, function, params, stream);
    return try_dispatch(call.chain(), call);
}

void last_device_call(const DeviceRecord &device, int function, void *params,
                      void *stream) noexcept {
    const ReadSection section;
    PreparedDeviceCall prepared(device, function, params, stream);
    const Chain &chain = prepared.chain();
    try {
        if (const std::int32_t status = chain.call(prepared.call); status != ATOLL_STATUS_OK)
            [[unlikely]]
            warn_of_failure(chain, prepared, status, false);
    } catch (...) {
        warn_of_failure(chain, prepared, ATOLL_STATUS_PLUGIN_FAULT, true);
    }
}

void transfer(StreamOf on, std::uint32_t kind, void *destination, const void *source,
              std::int64_t bytes, int peer, Cause cause, std::uint32_t flags) {
    atoll_transfer_params params{
        sizeof params, kind, destination, source, static_cast<std::uint64_t>(bytes), peer, flags};
    bool interposed = false;
    try {
        const ReadSection section;
        PreparedDeviceCall call(*on.device, ATOLL_DEVICE_FN_transfer, &params, on.handle(), cause);
        const Chain &chain = call.chain();
        interposed = chain.wrappers > 0;
        dispatch(chain, call);
    } catch (const Error &error) {
        // A transfer that says why it failed is over, but the words may be an interposer's, which
        // had it enqueued.
        if (error.status() == Status::plugin_fault || interposed)
            wait_for_stream(*on.device, on.handle());
        throw;
    }
    on.work().enqueued();
}

bool device_implements(const DeviceTypeRecord &type, int function) {
    const ReadSection section;
    return type.chain(Registry::get().device_function(function), 0)->implemented;
}

} // namespace detail

using namespace detail;

std::string Device::name() const { return checked(record_).name; }
std::string_view Device::type() const { return checked(record_).type->name; }
int Device::index() const { return checked(record_).index; }
bool Device::is_host_memory() const { return checked(record_).type->host_memory(); }
bool Device::is_inline() const { return checked(record_).type->is_inline(); }

namespace {
bool takes(const DeviceRecord &device, int function, std::uint64_t cap) {
    const ReadSection section;
    const Chain &chain =
        *device.type->chain(Registry::get().core_function(function), ATOLL_DTYPE_FLOAT64);
    return chain.implemented && (chain.caps & cap);
}
} // namespace

bool Device::supports_byteswap() const {
    return takes(checked(record_), ATOLL_FN_copy, ATOLL_CAP_SWAPPED);
}
bool Device::supports_mixed_dtypes() const {
    return takes(checked(record_), ATOLL_FN_add, ATOLL_CAP_MIXED_INPUTS);
}

DeviceProperties Device::properties() const {
    require_live(checked(record_), "device.properties");
    atoll_properties_params params{};
    params.struct_size = sizeof params;
    device_call(*record_, ATOLL_DEVICE_FN_properties, &params);
    params.name[sizeof params.name - 1] = '\0';
    return {printable(params.name), params.units, params.total_memory, params.free_memory,
            params.alignment};
}

std::vector<std::string> Device::modules() const {
    const ReadSection section;
    std::vector<std::string> names;
    for (int m = 0; const ModuleRecord *module = Registry::get().module(m); ++m) {
        const auto implemented = [&](const FunctionRecord &function) {
            for (int dtype = 0; dtype < function.columns; ++dtype)
                if (checked(record_).type->chain(function, dtype)->implemented) return true;
            return false;
        };
        if (std::any_of(module->functions.begin(), module->functions.end(), implemented))
            names.push_back(module->name);
    }
    return names;
}

void Device::synchronize() const {
    require_live(checked(record_), "device.stream_synchronize");
    synchronize_within_deadline(*record_, nullptr);
}

Device device(std::string_view name) {
    const std::size_t colon = name.find(':');
    const std::string_view type_name = name.substr(0, colon);
    unsigned index = 0;
    bool valid = true;
    if (colon != std::string_view::npos) {
        const char *digits = name.data() + colon + 1, *end = name.data() + name.size();
        const auto [rest, error] = std::from_chars(digits, end, index);
        valid = error == std::errc() && rest == end && end - digits < 5;
    }
    const DeviceTypeRecord *type = Registry::get().find_device_type(type_name);
    if (valid && type && type->live && static_cast<int>(index) < type->device_count)
        return Device(type->devices[index].load(std::memory_order_acquire));
    std::string known;
    std::vector<std::string> types;
    for (const Device &d : devices()) {
        known += (known.empty() ? "" : ", ") + d.name();
        types.emplace_back(d.type());
    }
    std::string why =
        fmt::format("load its plugin first, e.g. Atoll::load_plugin(\"{}\")", type_name);
    if (!valid || type_name.empty())
        why = "write a type, or a type and an index, e.g. \"dummy:0\"";
    else if (type && type->live && type->device_count == 0)
        why = "its plugin found no device: " + type->no_device_reason.get();
    else if (type && type->live)
        why = fmt::format("{} has {} device(s), counted from 0", type_name, type->device_count);
    throw_error(Status::not_found, "device", "there is no device '{}'; {}; devices now: {}{}", name,
                why, known.empty() ? "none" : known,
                type && type->live ? "" : detail::suggestion(type_name, types));
}

std::vector<Device> devices() {
    std::vector<Device> found;
    for (int t = 0; const DeviceTypeRecord *type = Registry::get().device_type(t); ++t) {
        if (!type->live.load(std::memory_order_acquire)) continue;
        for (int i = 0; i < type->device_count; ++i)
            found.emplace_back(type->devices[i].load(std::memory_order_acquire));
    }
    return found;
}

Device default_device() {
    const Settings &now = current_settings();
    if (!now.default_device.empty()) return device(std::string(now.default_device));
    if (DeviceRecord *first = Registry::get().first_host_device()) return Device(first);
    throw Error(Status::not_found, "device",
                "no default device: no plugin with a host device is loaded; call "
                "Atoll::load_plugin(\"cpu\") or set Settings::default_device");
}

} // namespace Atoll
