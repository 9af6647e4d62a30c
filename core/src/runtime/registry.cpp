// Records of modules, functions, device types and devices.
#include "runtime/registry.hpp"

#include "atoll/signature_parser.hpp"
#include "atoll/type_rules.hpp"
#include "base/printable.hpp"
#include "base/throw_error.hpp"

#include <algorithm>
#include <new>
#include <span>

namespace Atoll::detail {

namespace {

constexpr atoll_function_info described(std::uint16_t id, std::uint16_t rule,
                                        atoll_dtype_set domain, const char *name, const char *doc,
                                        const char *signature = nullptr,
                                        const char *attributes = nullptr,
                                        const char *properties = nullptr) {
    return {sizeof(atoll_function_info),
            id,
            rule,
            domain,
            name,
            doc,
            signature,
            attributes,
            properties,
            nullptr};
}

constexpr atoll_function_info core_functions[] = {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    described(id, ATOLL_RULE_##RULE, ATOLL_DOMAIN_##DOMAIN, #name, doc, SIGNATURE, ATTRIBUTES,     \
              PROPERTIES),
#include "atoll/lists/functions.inc"
};
constexpr atoll_function_info device_functions[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc)                                     \
    described(id, ATOLL_RULE_GIVEN, 0, #name, doc),
#include "atoll/lists/device_functions.inc"
};

// One output, and inputs of T on the loop alone, with nothing to look at before the call.
bool can_be_uniform(const sdk::Signature &s) {
    if (!s.elementwise() || s.output_count != 1 || s.input_count() == 0 || s.attribute_count > 0 ||
        s.counts >= 0 || s.loop_ordered)
        return false;
    for (int i = 0; i < s.input_count(); ++i)
        if (s.input(i).type != sdk::TypeOf::T || s.input(i).optional) return false;
    return true;
}

// One input and one output of one core axis or group, which the caller may leave to the function.
bool can_be_uniform_core(const sdk::Signature &s) {
    return s.slot_count == 1 && s.axes != sdk::AxesOf::first && s.output_count == 1 &&
           s.input_count() == 1 && s.input(0).type == sdk::TypeOf::T && s.slots[0].given &&
           !s.slots[0].opaque && !s.slots[0].separate;
}

void set_uniform(FunctionRecord &f) {
    for (std::uint32_t dtype = 0; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
        const bool own = (f.domain >> dtype & 1) && sdk::make_T(f.rule, dtype) == dtype;
        const auto result = static_cast<std::uint8_t>(
            own ? sdk::dtype_of_operand(f.signature.operands[0], dtype) : 0);
        f.uniform[dtype] = can_be_uniform(f.signature) ? result : 0;
        f.uniform_core[dtype] = can_be_uniform_core(f.signature) ? result : 0;
    }
}

bool same_functions(const ModuleRecord &a, const ModuleRecord &b) {
    return a.name == b.name &&
           std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(),
                      b.functions.end(), [](const FunctionRecord &f, const FunctionRecord &g) {
                          return f.name == g.name && f.rule == g.rule && f.domain == g.domain &&
                                 f.texts == g.texts;
                      });
}

std::unique_ptr<ModuleRecord> built_in(const char *name,
                                       std::span<const atoll_function_info> functions) {
    auto module = std::make_unique<ModuleRecord>();
    module->version = 1;
    module->name = name;
    module->functions.resize(functions.size());
    for (const atoll_function_info &info : functions) module->functions[info.id].declare(info);
    return module;
}

} // namespace

void FunctionRecord::declare(const atoll_function_info &info) {
    const auto text = [](const char *given) { return std::string(given ? given : ""); };
    id = info.id;
    rule = info.rule;
    domain = info.domain;
    name = info.name;
    doc = printable(info.doc);
    texts = {text(info.signature), text(info.attributes), text(info.properties)};
    if (info.signature) signature = sdk::parse_signature(texts[0], texts[1], texts[2]);
    infer = info.infer;
}

const FunctionRecord *ModuleRecord::find(std::string_view function) const {
    for (const FunctionRecord &record : functions)
        if (record.name == function) return &record;
    return nullptr;
}

SlotTable *SlotTable::make(const ModuleRecord &module) {
    std::size_t count = 1;
    for (const FunctionRecord &f : module.functions) count += f.columns;
    auto *table =
        static_cast<SlotTable *>(::operator new(sizeof(SlotTable) + (count - 1) * sizeof(Slot)));
    table->module = &module;
    std::uninitialized_default_construct_n(table->slots, count);
    return table;
}

alignas(64) std::byte Registry::memory_[sizeof(Registry)];
constinit std::atomic<bool> Registry::made_{false};

void Registry::make() {
    static const Registry *const made = new (memory_) Registry;
    static_cast<void>(made);
    made_.store(true, std::memory_order_release);
}

Registry::Registry() {
    core_functions_ = add_module(built_in("core", core_functions), nullptr)->functions.data();
    device_functions_ = add_module(built_in("device", device_functions), nullptr)->functions.data();
}

ModuleRecord *Registry::find_module(std::string_view name) const {
    for (int i = 0; ModuleRecord *record = module(i); ++i)
        if (record->name == name && record->live.load(std::memory_order_acquire)) return record;
    return nullptr;
}

DeviceTypeRecord *Registry::find_device_type(std::string_view name) const {
    for (int i = 0; DeviceTypeRecord *record = device_type(i); ++i)
        if (record->name == name) return record;
    return nullptr;
}

const FunctionRecord *Registry::find_function(std::string_view full_name) const {
    const std::size_t dot = full_name.find('.');
    const ModuleRecord *record = dot == std::string_view::npos
                                     ? module(ATOLL_MODULE_CORE)
                                     : find_module(full_name.substr(0, dot));
    return record ? record->find(full_name.substr(dot + 1)) : nullptr; // npos + 1 is 0
}

DeviceRecord *Registry::first_host_device() const {
    for (int i = 0; const DeviceTypeRecord *type = device_type(i); ++i)
        if (type->live.load(std::memory_order_acquire) && type->host_memory() &&
            type->device_count.load(std::memory_order_acquire) > 0)
            return type->devices[0].load(std::memory_order_acquire);
    return nullptr;
}

ModuleRecord *Registry::add_module(std::unique_ptr<ModuleRecord> added, const PluginRecord *owner) {
    for (int i = 0; i < module_count_; ++i) {
        ModuleRecord *record = module(i);
        if (record->live.load(std::memory_order_relaxed) || !same_functions(*record, *added))
            continue;
        record->version = added->version.load();
        record->owner = owner;
        for (FunctionRecord &f : record->functions) f.infer = added->functions[f.id].infer;
        record->live.store(true, std::memory_order_release);
        rebuild({record->name, "", "", DType::none});
        return record;
    }
    if (module_count_ == max_modules)
        throw_error(Status::refused, "load_plugin",
                    "there are {} modules already, no room for '{}'", max_modules, added->name);
    ModuleRecord *record = added.release(); // for the life of the process
    record->id = static_cast<std::uint16_t>(module_count_);
    record->owner = owner;
    for (FunctionRecord &f : record->functions) {
        f.module = record;
        f.module_id = record->id;
        f.full_name = record->name + "." + f.name;
        set_uniform(f);
    }
    const bool typed = std::any_of(record->functions.begin(), record->functions.end(),
                                   [](const FunctionRecord &f) { return f.typed(); });
    for (FunctionRecord &f : record->functions) f.columns = typed ? ATOLL_DTYPE_COUNT : 1;
    for (int i = 0; i < device_type_count_; ++i)
        device_type(i)->tables[record->id].store(SlotTable::make(*record),
                                                 std::memory_order_release);
    ++module_count_;
    rebuild({record->name, "", "", DType::none});
    // Last: readers that find the module find chains in all of its slots.
    modules_[record->id].store(record, std::memory_order_release);
    return record;
}

DeviceTypeRecord *Registry::add_device_type(const std::string &name, std::uint32_t flags,
                                            std::int32_t dlpack_type, PluginRecord *plugin) {
    DeviceTypeRecord *record = find_device_type(name);
    if (!record) {
        if (device_type_count_ == max_device_types)
            throw_error(Status::refused, "load_plugin",
                        "there are {} device types already, no room for '{}'", max_device_types,
                        name);
        record = new DeviceTypeRecord;
        record->name = name;
        for (int i = 0; i < module_count_; ++i)
            record->tables[i].store(SlotTable::make(*module(i)), std::memory_order_release);
        rebuild(*record, {}); // before it can be found, as with modules
        device_types_[device_type_count_++].store(record, std::memory_order_release);
    }
    record->flags = flags;
    record->dlpack_type = dlpack_type;
    record->plugin = plugin;
    rebuild({"", "", name, DType::none});
    return record;
}

void Registry::reserve_devices(const DeviceTypeRecord &type, int count) const {
    int missing = 0;
    for (int i = 0; i < count; ++i) missing += !type.devices[i].load(std::memory_order_relaxed);
    if (missing > max_devices - device_count_)
        throw_error(Status::refused, "load_plugin",
                    "device type '{}' claims {} devices; there is room for {} in all, "
                    "{} are taken",
                    type.name, count, max_devices, device_count_);
}

DeviceRecord *Registry::add_device(DeviceTypeRecord &type, int index) {
    DeviceRecord *record = type.devices[index].load(std::memory_order_relaxed);
    if (!record) {
        record = new DeviceRecord;
        record->type = &type;
        record->index = index;
        record->slot = device_count_++;
        type.devices[index].store(record, std::memory_order_release);
    }
    return record;
}

} // namespace Atoll::detail
