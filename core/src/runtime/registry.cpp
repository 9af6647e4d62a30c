// Records, slot tables, and the building of chains.
#include "runtime/registry.hpp"

#include "atoll/error.hpp"
#include "atoll/signature_parser.hpp"
#include "atoll/type_rules.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

constexpr atoll_function_info core_functions[] = {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    {sizeof(atoll_function_info),                                                                  \
     id,                                                                                           \
     ATOLL_RULE_##RULE,                                                                            \
     ATOLL_DOMAIN_##DOMAIN,                                                                        \
     #name,                                                                                        \
     doc,                                                                                          \
     SIGNATURE,                                                                                    \
     ATTRIBUTES,                                                                                   \
     PROPERTIES,                                                                                   \
     nullptr},
#include "atoll/lists/functions.inc"
};
constexpr atoll_function_info device_functions[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc)                                     \
    {sizeof(atoll_function_info),                                                                  \
     id,                                                                                           \
     ATOLL_RULE_GIVEN,                                                                             \
     0,                                                                                            \
     #name,                                                                                        \
     doc,                                                                                          \
     nullptr,                                                                                      \
     nullptr,                                                                                      \
     nullptr,                                                                                      \
     nullptr},
#include "atoll/lists/device_functions.inc"
};

// The end of every chain: says that nothing is implemented here, and what is.
std::int32_t stub(const atoll_link *self, atoll_call *call) {
    const auto &type = *static_cast<const HostLink *>(self)->type;
    std::string supported;
    const ModuleRecord *module = Registry::get().module(call->module);
    const FunctionRecord *function = module ? &module->functions[call->function] : nullptr;
    if (function && function->columns > 1) {
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            const Chain *chain = type.chain(*function, dtype);
            if (chain && chain->implemented)
                supported += fmt::format("{}{}", supported.empty() ? "" : ", ",
                                         name(static_cast<DType>(dtype)));
        }
    }
    const std::string text =
        !supported.empty()
            ? fmt::format("not implemented for {} here; implemented for: {}; cast first",
                          name(static_cast<DType>(call->dtype)), supported)
            : fmt::format("no loaded plugin implements it for device type {}; load one that does"
                          " (module {}), or move the operands to another device",
                          type.name, module ? module->name : "?");
    const std::size_t size = std::min<std::size_t>(text.size(), call->error->capacity - 1);
    std::memcpy(call->error->text, text.data(), size);
    call->error->text[size] = '\0';
    call->error->status = ATOLL_STATUS_NOT_SUPPORTED;
    return ATOLL_STATUS_NOT_SUPPORTED;
}

std::array<std::string, 3> texts_of(const atoll_function_info &info) {
    const auto text = [](const char *given) { return std::string(given ? given : ""); };
    return {text(info.signature), text(info.attributes), text(info.properties)};
}

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
    return s.slot_count == 1 && s.axes != sdk::AxesOf::first && !s.waits && s.output_count == 1 &&
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

bool same_functions(const ModuleRecord &record, const atoll_module_decl &decl) {
    if (record.name != decl.name || record.functions.size() != decl.function_count) return false;
    for (std::uint32_t i = 0; i < decl.function_count; ++i) {
        const atoll_function_info &info = decl.functions[i];
        const FunctionRecord &f = record.functions[info.id];
        if (f.name != info.name || f.rule != info.rule || f.domain != info.domain ||
            f.texts != texts_of(info))
            return false;
    }
    return true;
}

bool name_matches(std::string_view pattern, std::string_view name) {
    return pattern.empty() || pattern == "*" || pattern == name;
}

void free_chain(const Chain *chain) {
    ::operator delete(const_cast<Chain *>(chain), std::align_val_t(64));
}

// The position of the first attribute that is not known. Those without a default count as known:
// the function makes no sense without them.
std::uint32_t known_attributes(const sdk::Signature &s, std::uint32_t declared) {
    std::uint32_t i = 0;
    while (i < s.attribute_count && (i < declared || s.attributes[i].required)) ++i;
    return i;
}
std::uint32_t known_inputs(const sdk::Signature &s, std::uint32_t declared) {
    int i = 0;
    while (i < s.input_count() &&
           (static_cast<std::uint32_t>(i) < declared || !s.input(i).optional))
        ++i;
    return static_cast<std::uint32_t>(i);
}

// What both of two implementations take.
void restrict_to(Chain &chain, const sdk::Signature &s, const atoll_function_decl &decl) {
    chain.caps &= decl.caps | ATOLL_CAP_FORWARDS;
    chain.attributes = std::min(chain.attributes, known_attributes(s, decl.attributes));
    chain.inputs = std::min(chain.inputs, known_inputs(s, decl.inputs));
    if (decl.max_rank > 0) chain.max_rank = std::min<std::uint32_t>(chain.max_rank, decl.max_rank);
}

} // namespace

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

Registry::Registry() {
    atoll_module_decl decl{};
    decl.struct_size = sizeof decl;
    decl.version = 1;
    decl.function_size = sizeof(atoll_function_info);
    decl.name = "core";
    decl.functions = core_functions;
    decl.function_count = std::size(core_functions);
    core_functions_ = add_module(decl, nullptr)->functions.data();
    decl.name = "device";
    decl.functions = device_functions;
    decl.function_count = std::size(device_functions);
    device_functions_ = add_module(decl, nullptr)->functions.data();
}

ModuleRecord *Registry::find_module(std::string_view name) const {
    for (int i = 0; i < max_modules; ++i) {
        ModuleRecord *record = module(i);
        if (!record) break;
        if (record->name == name && record->live.load(std::memory_order_acquire)) return record;
    }
    return nullptr;
}

DeviceTypeRecord *Registry::find_device_type(std::string_view name) const {
    for (int i = 0; i < max_device_types; ++i) {
        DeviceTypeRecord *record = device_type(i);
        if (!record) break;
        if (record->name == name) return record;
    }
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
    for (int i = 0; i < max_device_types; ++i) {
        DeviceTypeRecord *type = device_type(i);
        if (!type) break;
        if (type->live.load(std::memory_order_acquire) && type->host_memory() &&
            type->device_count.load(std::memory_order_acquire) > 0)
            return type->devices[0].load(std::memory_order_acquire);
    }
    return nullptr;
}

ModuleRecord *Registry::add_module(const atoll_module_decl &decl, const PluginRecord *owner) {
    for (int i = 0; i < module_count_; ++i) {
        ModuleRecord *record = module(i);
        if (record->live.load(std::memory_order_relaxed) || !same_functions(*record, decl))
            continue;
        record->version = decl.version;
        record->owner = owner;
        for (std::uint32_t i = 0; i < decl.function_count; ++i)
            record->functions[decl.functions[i].id].infer = decl.functions[i].infer;
        record->live.store(true, std::memory_order_release);
        rebuild({record->name, "", "", DType::none});
        return record;
    }
    if (module_count_ == max_modules)
        throw Error(
            Status::refused, "load",
            fmt::format("there are {} modules already, no room for '{}'", max_modules, decl.name));
    auto *record = new ModuleRecord;
    record->id = static_cast<std::uint16_t>(module_count_);
    record->version = decl.version;
    record->name = decl.name;
    record->owner = owner;
    for (const char *const *name = decl.depends; name && *name; ++name)
        record->depends.emplace_back(*name);
    record->functions.resize(decl.function_count);
    for (std::uint32_t i = 0; i < decl.function_count; ++i) {
        const atoll_function_info &info = decl.functions[i];
        FunctionRecord &f = record->functions[info.id];
        f.id = info.id;
        f.rule = info.rule;
        f.domain = info.domain;
        f.module = record;
        f.module_id = record->id;
        f.name = info.name;
        f.full_name = record->name + "." + f.name;
        f.doc = printable(info.doc);
        f.texts = texts_of(info);
        if (info.signature) f.signature = sdk::parse_signature(f.texts[0], f.texts[1], f.texts[2]);
        f.infer = info.infer;
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
    // Last: who finds the module finds chains in all of its slots.
    modules_[record->id].store(record, std::memory_order_release);
    return record;
}

DeviceTypeRecord *Registry::add_device_type(const std::string &name, std::uint32_t flags,
                                            std::int32_t dlpack_type, PluginRecord *plugin) {
    DeviceTypeRecord *record = find_device_type(name);
    if (!record) {
        if (device_type_count_ == max_device_types)
            throw Error(Status::refused, "load",
                        fmt::format("there are {} device types already, no room for '{}'",
                                    max_device_types, name));
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
        throw Error(Status::refused, "load",
                    fmt::format("device type '{}' claims {} devices; there is room for {} in all, "
                                "{} are taken",
                                type.name, count, max_devices, device_count_));
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

bool SlotFilter::matches(const DeviceTypeRecord &type, const FunctionRecord &f, int column) const {
    return name_matches(device_type, type.name) && name_matches(module, f.module->name) &&
           name_matches(function, f.name) &&
           (dtype == DType::none || !f.typed() || static_cast<int>(dtype) == column);
}

const Chain *Registry::build_chain(DeviceTypeRecord &type, const FunctionRecord &function,
                                   int dtype) {
    struct Level {
        atoll_fn fn;
        void *ctx;
        const PluginRecord *owner;
        std::int32_t priority;
        std::uint64_t age;
        const atoll_function_decl *decl; // of an implementation
    };
    std::vector<Level> implementations, wrappers;
    if (function.module->live.load(std::memory_order_relaxed)) {
        for (const ImplEntry &impl : impls) {
            if (impl.refused || impl.retiring || impl.device_type != type.name ||
                impl.module != function.module->name)
                continue;
            for (const atoll_function_decl &decl : impl.functions)
                if (decl.id == function.id && (!function.typed() || decl.dtypes >> dtype & 1))
                    implementations.push_back({decl.fn, impl.plugin->ctx, impl.plugin,
                                               impl.priority, impl.sequence, &decl});
        }
    }
    for (const InterposerEntry &entry : interposer_entries)
        if (SlotFilter{entry.module, entry.function, entry.device_type, entry.dtype}.matches(
                type, function, dtype))
            wrappers.push_back(
                {entry.fn, entry.ctx, entry.plugin, entry.priority, entry.handle, nullptr});
    const auto outermost_first = [](const Level &a, const Level &b) {
        return a.priority != b.priority ? a.priority > b.priority : a.age > b.age;
    };
    std::stable_sort(implementations.begin(), implementations.end(), outermost_first);
    std::stable_sort(wrappers.begin(), wrappers.end(), outermost_first);

    const std::size_t count = wrappers.size() + implementations.size() + 1;
    void *memory =
        ::operator new(sizeof(Chain) + (count - 1) * sizeof(HostLink), std::align_val_t(64));
    auto *chain = static_cast<Chain *>(memory);
    chain->count = static_cast<std::uint32_t>(count);
    chain->wrappers = static_cast<std::uint32_t>(wrappers.size());
    chain->implemented = !implementations.empty();
    chain->plugin = chain->implemented ? implementations.front().owner : nullptr;
    chain->caps = ~std::uint64_t{0};
    chain->attributes = chain->inputs = ~0u;
    chain->max_rank = ATOLL_MAX_RANK;
    for (const Level &level : implementations) {
        restrict_to(*chain, function.signature, *level.decl);
        if (!(level.decl->caps & ATOLL_CAP_FORWARDS)) break;
    }
    std::size_t at = 0;
    const auto add = [&](atoll_fn fn, void *ctx, const PluginRecord *owner) {
        HostLink &link = chain->links[at];
        link.fn = fn;
        link.ctx = ctx;
        link.owner = owner;
        link.next = at + 1 < count ? &chain->links[at + 1] : nullptr;
        link.type = &type;
        ++at;
    };
    for (const Level &level : wrappers) add(level.fn, level.ctx, level.owner);
    for (const Level &level : implementations) add(level.fn, level.ctx, level.owner);
    add(&stub, nullptr, nullptr);
    return chain;
}

void Registry::rebuild(const SlotFilter &filter) {
    for (int t = 0; t < device_type_count_; ++t) rebuild(*device_type(t), filter);
}

void Registry::rebuild(DeviceTypeRecord &type, const SlotFilter &filter) {
    if (!name_matches(filter.device_type, type.name)) return;
    for (int m = 0; m < module_count_; ++m) {
        SlotTable &table = *type.tables[m].load(std::memory_order_relaxed);
        if (!name_matches(filter.module, table.module->name)) continue;
        for (const FunctionRecord &function : table.module->functions) {
            if (!name_matches(filter.function, function.name)) continue;
            for (int dtype = 0; dtype < function.columns; ++dtype) {
                Slot &slot = table.slot(function, dtype);
                const Chain *old = slot.head.load(std::memory_order_relaxed);
                if (old && !filter.matches(type, function, dtype)) continue;
                slot.head.store(build_chain(type, function, dtype), std::memory_order_release);
                if (old) garbage_.push_back(old);
            }
        }
    }
}

void Registry::collect() {
    wait_for_readers();
    for (const Chain *chain : garbage_) free_chain(chain);
    garbage_.clear();
}

} // namespace Atoll::detail
