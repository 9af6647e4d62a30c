// Pushes and pops interposers, and lists chains.
#include "runtime/interpose.hpp"

#include "base/list.hpp"
#include "base/throw_error.hpp"
#include "runtime/dispatch.hpp"

#include <algorithm>

namespace Atoll {

namespace detail {

namespace {

bool change_under_way = false; // under the registry's mutex

} // namespace

std::unique_lock<std::recursive_mutex> lock_registry(std::string_view op) {
    if (in_read_section())
        throw Error(Status::busy, op,
                    "called from inside a call (an interposer or a callback), which it would wait "
                    "for forever; do it after the call has returned");
    return std::unique_lock(Registry::get().mutex);
}

RegistryChange::RegistryChange(std::string_view op) : lock_(lock_registry(op)) {
    if (change_under_way)
        throw Error(Status::busy, op,
                    "called by a plugin or a log handler while this thread loads, retires, pushes "
                    "or pops; do it after that has returned");
    change_under_way = true;
}

RegistryChange::~RegistryChange() { change_under_way = false; }

namespace {

// Parses "core.add@cpu:float32"; throws Error for unknown names.
SlotFilter parse_target(std::string_view target) {
    SlotFilter slots;
    const Registry &registry = Registry::get();
    const auto unknown = [&](std::string_view what, std::string_view which) {
        throw_error(Status::not_found, "push_interposer",
                    "target '{}': there is no {} '{}'; write \"*\", \"module.*\", "
                    "\"module.function\", each optionally with \"@device_type\" and \":dtype\"",
                    target, what, which);
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
    registry.rebuild_range_watchers();
    return pushed.handle;
}

} // namespace

InterposerHandle push_named(std::string_view target, std::string_view name, int priority,
                            bool from_environment) {
    InterposerEntry entry{};
    std::string known;
    for (PluginRecord *plugin : Registry::get().plugins)
        for (const InterposerDecl &offered : plugin->interposers) {
            add_to_list(known, offered.name);
            if (offered.name != name) continue;
            entry.plugin = plugin;
            entry.decl = &offered.decl;
        }
    if (!entry.decl)
        throw_error(Status::not_found, "push_interposer",
                    "no loaded plugin offers an interposer '{}'; load its plugin "
                    "first; offered now: {}",
                    name, known.empty() ? "none" : known);
    entry.name = name;
    entry.priority = priority;
    entry.from_environment = from_environment;
    entry.fn = entry.decl->fn;
    entry.ctx = entry.plugin->ctx;
    entry.slots = parse_target(target);
    if (entry.decl->create)
        run_callback("push_interposer", fmt::format("'{}' could not start", name), *entry.plugin,
                     [&](atoll_error *error) {
                         return entry.decl->create(entry.plugin->ctx, &entry.ctx, error);
                     });
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
    if (!removed.empty()) {
        registry.rebuild_range_watchers();
        registry.collect();
    }
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
        throw_error(Status::not_found, "pop_interposer",
                    "there is no interposer {}; it was popped already, or its plugin "
                    "was retired",
                    handle);
    remove_interposers(is_it);
}

std::string interposer_report(InterposerHandle handle) {
    const RegistryChange change("interposer_report"); // the plugin must not pop what reports
    for (const InterposerEntry &entry : Registry::get().interposer_entries)
        if (entry.handle == handle) return report_of(entry);
    throw_error(Status::not_found, "interposer_report", "there is no interposer {}", handle);
}

std::vector<InterposerInfo> interposers() {
    const auto lock = lock_registry("interposers");
    const auto &entries = Registry::get().interposer_entries;
    return {entries.begin(), entries.end()};
}

std::vector<std::string> chain(std::string_view function, std::string_view device_type,
                               std::string_view dtype) {
    const auto lock = lock_registry("chain");
    const FunctionRecord *record = Registry::get().find_function(function);
    const DeviceTypeRecord *type = Registry::get().find_device_type(device_type);
    if (!record || !type)
        throw_error(Status::not_found, "chain", "there is no {} '{}'",
                    record ? "device type" : "function", record ? device_type : function);
    const int column = dtype.empty() ? 1 : static_cast<int>(dtype_from_name(dtype));
    const ReadSection section;
    const Chain &links = *type->chain(*record, column);
    std::vector<std::string> names;
    // Interposers come first. Their links cannot tell them apart: function and context may be
    // equal.
    for (const InterposerEntry &e : Registry::get().interposer_entries)
        if (e.slots.matches(*type, *record, column)) names.push_back("interposer " + e.name);
    for (std::size_t i = names.size(); i < links.count; ++i) {
        const auto *owner = static_cast<const PluginRecord *>(links.links[i].owner);
        names.push_back(owner ? "implementation of plugin " + owner->name : "stub");
    }
    return names;
}

} // namespace Atoll
