// Builds the chains that slots point to, from implementations and interposers.
#include "atoll/plugin.hpp"
#include "base/list.hpp"
#include "runtime/registry.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/core.h>

namespace Atoll::detail {

namespace {

// The end of every chain: reports that the function is not implemented for this dtype.
std::int32_t stub(const atoll_link *self, atoll_call *call) {
    const auto &type = *static_cast<const HostLink *>(self)->type;
    std::string supported;
    const ModuleRecord *module = Registry::get().module(call->module);
    const FunctionRecord *function = module ? &module->functions[call->function] : nullptr;
    for (int dtype = 1; function && dtype < function->columns; ++dtype)
        if (const Chain *chain = type.chain(*function, dtype); chain && chain->implemented)
            add_to_list(supported, name(static_cast<DType>(dtype)));
    const std::string text =
        !supported.empty()
            ? fmt::format("not implemented for {} here; implemented for: {}; cast first",
                          name(static_cast<DType>(call->dtype)), supported)
            : fmt::format("no loaded plugin implements it for device type {}; load one that does"
                          " (module {}), or move the operands to another device",
                          type.name, module ? module->name : "?");
    return sdk::set_error(call->error, ATOLL_STATUS_NOT_SUPPORTED, text.c_str());
}

bool name_matches(std::string_view pattern, std::string_view name) {
    return pattern.empty() || pattern == "*" || pattern == name;
}

void free_chain(const Chain *chain) {
    ::operator delete(const_cast<Chain *>(chain), std::align_val_t(64));
}

// The position of the first unknown attribute. Those without a default count as known: the function
// makes no sense without them.
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

// Leaves what this implementation takes, too.
void restrict_to(Chain &chain, const sdk::Signature &s, const atoll_function_decl &decl) {
    chain.caps &= decl.caps | ATOLL_CAP_FORWARDS;
    chain.attributes = std::min(chain.attributes, known_attributes(s, decl.attributes));
    chain.inputs = std::min(chain.inputs, known_inputs(s, decl.inputs));
    if (decl.max_rank > 0) chain.max_rank = std::min<std::uint32_t>(chain.max_rank, decl.max_rank);
}

} // namespace

bool SlotFilter::matches(const DeviceTypeRecord &type, const FunctionRecord &f, int column) const {
    return name_matches(device_type, type.name) && name_matches(module, f.module->name) &&
           name_matches(function, f.name) &&
           (dtype == DType::none || !f.typed() || static_cast<int>(dtype) == column);
}

const Chain *Registry::build_chain(DeviceTypeRecord &type, const FunctionRecord &function,
                                   int dtype) {
    using Level = std::pair<const ImplEntry *, const atoll_function_decl *>;
    std::vector<Level> implementations;
    for (const ImplEntry &impl : impls) {
        if (impl.refused || impl.retiring || impl.device_type != type.name ||
            impl.module != function.module->name ||
            !function.module->live.load(std::memory_order_relaxed))
            continue;
        for (const atoll_function_decl &decl : impl.functions)
            if (decl.id == function.id && (!function.typed() || decl.dtypes >> dtype & 1))
                implementations.emplace_back(&impl, &decl);
    }
    std::stable_sort(implementations.begin(), implementations.end(),
                     [](const Level &a, const Level &b) {
                         return std::pair(a.first->priority, a.first->sequence) >
                                std::pair(b.first->priority, b.first->sequence);
                     });
    std::vector<HostLink> links;
    const auto add = [&](atoll_fn fn, void *ctx, const PluginRecord *owner) {
        links.push_back({{fn, ctx, nullptr, owner}, &type});
    };
    for (const InterposerEntry &entry : interposer_entries)
        if (entry.slots.matches(type, function, dtype)) add(entry.fn, entry.ctx, entry.plugin);
    const std::size_t wrappers = links.size();
    for (const auto &[impl, decl] : implementations) add(decl->fn, impl->plugin->ctx, impl->plugin);
    add(&stub, nullptr, nullptr);

    void *memory =
        ::operator new(sizeof(Chain) + (links.size() - 1) * sizeof(HostLink), std::align_val_t(64));
    auto *chain = static_cast<Chain *>(memory);
    chain->count = static_cast<std::uint32_t>(links.size());
    chain->wrappers = static_cast<std::uint32_t>(wrappers);
    chain->implemented = !implementations.empty();
    chain->plugin = chain->implemented ? implementations.front().first->plugin : nullptr;
    chain->caps = ~std::uint64_t{0};
    chain->attributes = chain->inputs = ~0u;
    chain->max_rank = ATOLL_MAX_RANK;
    for (const auto &[impl, decl] : implementations) {
        restrict_to(*chain, function.signature, *decl);
        if (!(decl->caps & ATOLL_CAP_FORWARDS)) break;
    }
    std::copy(links.begin(), links.end(), chain->links);
    for (std::size_t i = 1; i < links.size(); ++i) chain->links[i - 1].next = &chain->links[i];
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
    old_range_watchers_.clear();
}

} // namespace Atoll::detail
