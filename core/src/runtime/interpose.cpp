// Pushing and popping interposers, and looking at chains.
#include "runtime/interpose.hpp"

#include "atoll/error.hpp"
#include "runtime/dispatch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

void refuse_inside_call(std::string_view op) {
    if (in_read_section())
        throw Error(Status::busy, op,
                    "called from inside a call (an interposer or a callback); it would wait for "
                    "that call for ever; do it after the call has returned");
}

namespace {
bool change_under_way = false; // under the registry's mutex
}

RegistryChange::RegistryChange(std::string_view op) {
    refuse_inside_call(op);
    lock_ = std::unique_lock(Registry::get().mutex);
    if (change_under_way)
        throw Error(Status::busy, op,
                    "called by a plugin or a log handler that this thread runs while it loads, "
                    "retires, pushes or pops; do it after that has returned");
    change_under_way = true;
}

RegistryChange::~RegistryChange() { change_under_way = false; }

namespace {

// "core.add@cpu:float32" into its parts; throws where a part names nothing.
SlotFilter parse_target(std::string_view target) {
    SlotFilter slots;
    const Registry &registry = Registry::get();
    const auto unknown = [&](std::string_view what, std::string_view which) {
        throw Error(Status::not_found, "push_interposer",
                    fmt::format("target '{}': there is no {} '{}'; write \"*\", \"module.*\", "
                                "\"module.function\", each with \"@device_type\" and \":dtype\" if "
                                "wanted",
                                target, what, which));
    };
    std::string_view rest = target;
    if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
        slots.dtype = dtype_from_name(rest.substr(colon + 1));
        rest = rest.substr(0, colon);
    }
    if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
        slots.device_type = rest.substr(at + 1);
        if (!registry.find_device_type(slots.device_type))
            unknown("device type", slots.device_type);
        rest = rest.substr(0, at);
    }
    if (rest == "*") {
        slots.module = slots.function = rest;
        return slots;
    }
    const std::size_t dot = rest.find('.');
    slots.module = dot == std::string_view::npos ? "core" : rest.substr(0, dot);
    slots.function = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    if (slots.function == "*") return slots; // also for modules that come later
    const ModuleRecord *module = registry.find_module(slots.module);
    if (!module) unknown("module", slots.module);
    if (!module->find(slots.function)) unknown("function", slots.function);
    return slots;
}

InterposerHandle publish(InterposerEntry entry, std::string_view target) {
    Registry &registry = Registry::get();
    auto &entries = registry.interposer_entries;
    entry.target = target;
    entry.handle = registry.next_sequence++;
    const auto inner = std::find_if(entries.begin(), entries.end(), [&](const auto &other) {
        return other.priority <= entry.priority;
    });
    const InterposerEntry &pushed = *entries.insert(inner, std::move(entry));
    registry.rebuild(pushed.slots);
    return pushed.handle;
}

} // namespace

InterposerHandle push_named(std::string_view target, std::string_view name, int priority,
                            bool from_environment) {
    InterposerEntry entry{};
    std::string known;
    for (PluginRecord *plugin : Registry::get().plugins)
        for (const InterposerDecl &offered : plugin->interposers) {
            known += (known.empty() ? "" : ", ") + offered.name;
            if (offered.name != name) continue;
            entry.plugin = plugin;
            entry.decl = &offered.decl;
        }
    if (!entry.decl)
        throw Error(Status::not_found, "push_interposer",
                    fmt::format("no loaded plugin offers an interposer '{}'; load its plugin "
                                "first; offered now: {}",
                                name, known.empty() ? "none" : known));
    entry.name = name;
    entry.priority = priority;
    entry.from_environment = from_environment;
    entry.fn = entry.decl->fn;
    entry.ctx = entry.plugin->ctx;
    entry.slots = parse_target(target);
    if (entry.decl->create) {
        const CallbackResult result = run_callback([&](atoll_error *error) {
            return entry.decl->create(entry.plugin->ctx, &entry.ctx, error);
        });
        if (result.status != Status::ok)
            throw Error(result.status, "push_interposer",
                        fmt::format("'{}' could not start: {}", name, result.words), {},
                        entry.plugin->name);
    }
    return publish(std::move(entry), target);
}

void remove_interposers(const std::function<bool(const InterposerEntry &)> &which) {
    Registry &registry = Registry::get();
    auto &entries = registry.interposer_entries;
    const auto middle = std::stable_partition(entries.begin(), entries.end(),
                                              [&](const InterposerEntry &e) { return !which(e); });
    const std::vector<InterposerEntry> removed(middle, entries.end());
    entries.erase(middle, entries.end());
    for (const InterposerEntry &e : removed) registry.rebuild(e.slots);
    if (!removed.empty()) registry.collect();
    for (const InterposerEntry &e : removed)
        if (e.decl && e.decl->destroy && e.decl->create)
            run_finaliser(fmt::format("interposer {} of plugin {}", e.name, e.plugin->name),
                          [&] { e.decl->destroy(e.plugin->ctx, e.ctx); });
}

std::string report_of(const InterposerEntry &entry) {
    std::string text;
    if (!entry.decl || !entry.decl->report) return text;
    try {
        entry.decl->report(
            entry.plugin->ctx, entry.ctx,
            [](void *user, const char *part, std::size_t size) {
                static_cast<std::string *>(user)->append(part, size);
            },
            &text);
    } catch (...) {
        throw Error(Status::plugin_fault, "interposer_report",
                    fmt::format("'{}': an exception crossed the plugin's border: {}", entry.name,
                                exception_text()),
                    {}, entry.plugin->name);
    }
    return text;
}

} // namespace detail

using namespace detail;

InterposerHandle push_interposer(std::string_view target, atoll_fn function, void *context,
                                 int priority, std::string_view name) {
    if (!function)
        throw Error(Status::invalid_argument, "push_interposer", "got no function (NULL)");
    const RegistryChange change("push_interposer");
    InterposerEntry entry{};
    entry.name = name;
    entry.priority = priority;
    entry.fn = function;
    entry.ctx = context;
    entry.slots = parse_target(target);
    return publish(std::move(entry), target);
}

InterposerHandle push_interposer(std::string_view target, std::string_view name, int priority) {
    const RegistryChange change("push_interposer");
    return push_named(target, name, priority, false);
}

void pop_interposer(InterposerHandle handle) {
    const RegistryChange change("pop_interposer");
    const Registry &registry = Registry::get();
    const auto is_it = [&](const InterposerEntry &e) { return e.handle == handle; };
    if (std::none_of(registry.interposer_entries.begin(), registry.interposer_entries.end(), is_it))
        throw Error(Status::not_found, "pop_interposer",
                    fmt::format("there is no interposer {}; it was popped before, or its plugin "
                                "has been retired",
                                handle));
    remove_interposers(is_it);
}

std::string interposer_report(InterposerHandle handle) {
    const RegistryChange change("interposer_report"); // the plugin must not pop what reports
    for (const InterposerEntry &entry : Registry::get().interposer_entries)
        if (entry.handle == handle) return report_of(entry);
    throw Error(Status::not_found, "interposer_report",
                fmt::format("there is no interposer {}", handle));
}

std::vector<InterposerInfo> interposers() {
    refuse_inside_call("interposers");
    const std::lock_guard lock(Registry::get().mutex);
    std::vector<InterposerInfo> list;
    for (const InterposerEntry &e : Registry::get().interposer_entries)
        list.push_back({e.handle, e.name, e.target, e.priority});
    return list;
}

std::vector<std::string> chain(std::string_view function, std::string_view device_type,
                               std::string_view dtype) {
    refuse_inside_call("chain");
    const std::lock_guard lock(Registry::get().mutex);
    const FunctionRecord *record = Registry::get().find_function(function);
    const DeviceTypeRecord *type = Registry::get().find_device_type(device_type);
    if (!record || !type)
        throw Error(Status::not_found, "chain",
                    fmt::format("there is no {} '{}'", record ? "device type" : "function",
                                record ? device_type : function));
    const int column = dtype.empty() ? 1 : static_cast<int>(dtype_from_name(dtype));
    const ReadSection section;
    const Chain &links = *type->chain(*record, column);
    std::vector<std::string> names;
    // Interposers come first. Not found by function and context: these need not differ.
    for (const InterposerEntry &e : Registry::get().interposer_entries)
        if (e.slots.matches(*type, *record, column)) names.push_back("interposer " + e.name);
    for (std::size_t i = names.size(); i < links.count; ++i) {
        const auto *owner = static_cast<const PluginRecord *>(links.links[i].owner);
        names.push_back(owner ? "implementation of plugin " + owner->name : "stub");
    }
    return names;
}

} // namespace Atoll
