// Records the calls that plugins get, through interposers over all functions: as text, and what is
// broken of the promises of abi/call.h.
#pragma once

#include "atoll/plugin.h"
#include "call_promises.hpp"

#include <deque>
#include <dlfcn.h>
#include <map>
#include <thread>

namespace calls {

// What a loaded plugin says of itself.
inline const atoll_plugin &description_of(const std::string &plugin) {
    const Atoll::PluginReport report = Atoll::load_plugin(plugin);
    void *file = dlopen(report.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    void *symbol = file ? dlsym(file, "atoll_plugin_query_v0") : nullptr;
    if (!symbol) throw std::runtime_error("no plugin at " + report.path.string());
    dlclose(file); // the library holds it
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, "test"};
    return *reinterpret_cast<atoll_plugin_query_fn>(symbol)(&info);
}

// What the implementations of one plugin declare.
class Declarations {
public:
    explicit Declarations(const std::string &plugin) {
        const atoll_plugin &description = description_of(plugin);
        for (std::uint32_t i = 0; i < description.impl_count; ++i) {
            const atoll_impl_decl &impl = *description.impls[i];
            for (std::uint32_t f = 0; f < impl.function_count; ++f) {
                const atoll_function_decl &function = impl.functions[f];
                for (int dtype = 0; dtype < ATOLL_DTYPE_COUNT; ++dtype)
                    if (dtype == 0 || (function.dtypes >> dtype & 1)) // 0: of one slot
                        list_[{impl.module, impl.device_type, function.id, dtype}] = {
                            function.caps, function.attributes, function.inputs};
            }
        }
    }
    Declared of(const std::string &module, const std::string &device_type, int function,
                int dtype) const {
        const auto found = list_.find({module, device_type, function, dtype});
        return found == list_.end() ? Declared() : found->second;
    }

private:
    std::map<std::tuple<std::string, std::string, int, int>, Declared> list_;
};

// While it lives, it sees all calls on some device types; from one thread.
class Recorder {
public:
    // Device types, each brought by the plugin of its name. `third_party`: modules other than core
    // and device, in the order of loading, each defined by the plugin of its name, with its
    // implementation's plugin for the device types that it has one for.
    using Implementations = std::map<std::string, std::string>; // plugin by device type
    Recorder(const std::vector<std::string> &device_types,
             const std::vector<std::pair<std::string, Implementations>> &third_party = {}) {
        for (const std::string &type : device_types) {
            push({.type = type, .module = "device", .declared = {}});
            push({.type = type, .module = "core", .declared = Declarations(type)});
        }
        for (const auto &[module, implementations] : third_party) {
            modules_.push_back({module, lines_of(module)});
            for (const auto &[type, plugin] : implementations)
                push({.type = type, .module = module, .declared = Declarations(plugin)});
        }
    }
    ~Recorder() {
        for (const Atoll::InterposerHandle handle : handles_) Atoll::pop_interposer(handle);
    }
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;

    // Text is only made where it is asked for.
    void set_text(bool on) { writes_ = on; }
    void begin_program(const std::string &title) {
        if (writes_) text_ += "==== " + title + '\n';
    }
    // One of a program; its allocations are "m<number>.0", "m<number>.1" …
    template <class Describe> void begin_operation(int number, const Describe &describe) {
        operation_ = std::to_string(number);
        prefix_ = 'm' + operation_ + '.';
        allocated_ = 0;
        if (writes_) text_ += "-- " + operation_ + ' ' + describe() + '\n';
    }
    // One by itself, whose memory no other uses: "m0", "m1" …
    void begin_operation(const std::string &name) {
        operation_ = name;
        prefix_ = 'm';
        allocated_ = 0;
        if (writes_) text_ += "-- " + name + '\n';
    }
    void remark(const std::string &text) {
        if (writes_) text_ += "   " + text + '\n';
    }
    std::string take_text() { return std::exchange(text_, {}); }
    std::int64_t call_count() const { return calls_; }
    // Calls that break a promise, and how; not more than a few.
    std::vector<std::string> take_broken() { return std::exchange(broken_, {}); }

private:
    // What one interposer covers.
    struct Site {
        std::string type, module;
        std::optional<Declarations> declared;
        Recorder *recorder = nullptr;
    };
    struct Allocation {
        const char *end;
        std::string name;
    };

    struct ThirdParty {
        std::string name;
        std::vector<Line> lines; // by id
    };

    static std::vector<Line> lines_of(const std::string &module) {
        const auto text = [](const char *it) { return std::string_view(it ? it : ""); };
        const atoll_module_decl &decl = *description_of(module).modules[0];
        std::vector<Line> lines;
        for (std::uint32_t i = 0; i < decl.function_count; ++i) {
            const atoll_function_info &f = decl.functions[i];
            lines.push_back({f.id, f.rule, f.domain, f.name, f.doc, f.signature,
                             Atoll::sdk::parse_signature(text(f.signature), text(f.attributes),
                                                         text(f.properties))});
        }
        std::sort(lines.begin(), lines.end(),
                  [](const Line &a, const Line &b) { return a.id < b.id; });
        return lines;
    }
    const Line &line_of(int module, int function) const {
        if (module == ATOLL_MODULE_CORE) return Atoll::sdk::core_functions[function];
        return modules_.at(static_cast<std::size_t>(module - 2))
            .lines.at(static_cast<std::size_t>(function));
    }
    void push(Site site) {
        site.recorder = this;
        sites_.push_back(std::move(site));
        Site &own = sites_.back();
        handles_.push_back(Atoll::push_interposer(own.module + ".*@" + own.type, intercept, &own));
    }

    static std::int32_t intercept(const atoll_link *self, atoll_call *call) {
        auto &site = *static_cast<Site *>(self->ctx);
        Recorder &recorder = *site.recorder;
        if (std::this_thread::get_id() != recorder.thread_) std::abort(); // a race, were it used
        // As the plugin gets it: it may use the operands as it likes.
        if (site.module == "device") recorder.let_go(site, *call);
        const std::size_t line = site.module == "device" ? 0 : recorder.see(site, *call);
        const std::int32_t status = self->next->fn(self->next, call);
        if (site.module == "device")
            recorder.take_note(site, *call, status);
        else if (status != ATOLL_STATUS_OK && recorder.writes_)
            recorder.text_.insert(line, std::string(" -> ") +
                                            std::string(name(static_cast<Atoll::Status>(status))));
        return status;
    }

    // ---- names ----------------------------------------------------------------------------------

    using Key = std::tuple<std::string, int, const char *>; // device type and index, address

    void let_go(const Site &site, const atoll_call &call) {
        const DeviceEvent event = event_of(call);
        if (event.kind == DeviceEvent::Kind::freed) {
            memory_.erase({site.type, call.device, static_cast<const char *>(event.what)});
            const auto [first, last] = identities_.equal_range(event.what);
            for (auto it = first; it != last; ++it)
                storages_[it->second] = nullptr; // never used again
            identities_.erase(first, last);
        }
        if (event.kind == DeviceEvent::Kind::stream_destroyed) streams_.erase(event.what);
    }
    void take_note(const Site &site, const atoll_call &call, std::int32_t status) {
        if (status != ATOLL_STATUS_OK) return;
        const DeviceEvent event = event_of(call);
        if (event.kind == DeviceEvent::Kind::allocated) {
            const auto *data = static_cast<const char *>(event.what);
            memory_[{site.type, call.device, data}] = {data + event.bytes,
                                                       prefix_ + std::to_string(allocated_++)};
        } else if (event.kind == DeviceEvent::Kind::stream_created) {
            streams_[event.what] = "stream " + std::to_string(++stream_count_[site.type]);
        }
    }
    // Null: memory that no device has allocated.
    const Allocation *find(const Site &site, int device, const char *data,
                           const char **begin = nullptr) const {
        auto at = memory_.upper_bound({site.type, device, data});
        if (at == memory_.begin()) return nullptr;
        --at;
        if (std::get<0>(at->first) != site.type || std::get<1>(at->first) != device ||
            data >= at->second.end)
            return nullptr;
        if (begin) *begin = std::get<2>(at->first);
        return &at->second;
    }
    std::string address(const Site &site, int device, const char *data) const {
        const char *begin = nullptr;
        const Allocation *allocation = find(site, device, data, &begin);
        if (!allocation) return "host";
        return allocation->name + (data == begin ? "" : "+" + std::to_string(data - begin));
    }
    std::string function_name(int module, int function) const {
        static constexpr const char *device[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) "device." #name,
#include "atoll/lists/device_functions.inc"
        };
        if (module == ATOLL_MODULE_DEVICE) return device[function];
        const std::string name = module == ATOLL_MODULE_CORE
                                     ? "core"
                                     : modules_.at(static_cast<std::size_t>(module - 2)).name;
        return name + '.' + line_of(module, function).name;
    }

    // ---- calls ----------------------------------------------------------------------------------

    // Where the call's line ends in the text.
    std::size_t see(const Site &site, const atoll_call &call) {
        ++calls_;
        const CallFacts facts = facts_of(call, line_of(call.module, call.function));
        const bool unimplemented = call.operand_count == 0;
        std::vector<std::string> broken;
        if (!unimplemented) {
            std::vector<Block> blocks;
            for (const OperandFacts &operand : facts.operands) {
                Block block{nullptr, nullptr};
                if (const Allocation *own = find(site, call.device, operand.data, &block.begin))
                    block.end = own->end;
                blocks.push_back(block);
                if (operand.storage == 0) continue;
                const auto [known, is_new] = storages_.try_emplace(operand.storage, operand.base);
                if (is_new) identities_.emplace(operand.base, operand.storage);
                if (known->second != operand.base) broken.push_back("an identity of other memory");
            }
            const Declared declared =
                site.declared->of(site.module, site.type, call.function, call.dtype);
            for (std::string &what :
                 Promises(facts, declared, std::move(blocks), site.type == "cpu").broken())
                broken.push_back(std::move(what));
        }
        if (!writes_ && broken.empty()) return 0;
        const Names names{
            [&](int module, int function) { return function_name(module, function); },
            [&](const CallFacts &, const char *data) { return address(site, call.device, data); },
            [&](const CallFacts &own) {
                const auto found = streams_.find(own.stream);
                return found == streams_.end() ? std::string() : found->second;
            }};
        const std::string line =
            site.type + ':' + std::to_string(call.device) + ' ' + text_of(facts, names);
        for (const std::string &what : broken)
            if (broken_.size() < 10)
                broken_.push_back(what + " in operation " + operation_ + ": " + line);
        if (writes_) text_ += line + '\n';
        return text_.empty() ? 0 : text_.size() - 1;
    }

    const std::thread::id thread_ = std::this_thread::get_id();
    std::deque<Site> sites_; // interposers hold their addresses
    std::vector<Atoll::InterposerHandle> handles_;
    std::vector<ThirdParty> modules_;
    std::map<Key, Allocation> memory_;
    std::map<std::uint64_t, const void *> storages_; // where the memory of an identity begins
    std::multimap<const void *, std::uint64_t> identities_; // of the memory that begins there
    std::map<const void *, std::string> streams_;
    std::map<std::string, int> stream_count_;
    bool writes_ = false;
    std::string operation_, prefix_ = "m";
    int allocated_ = 0;
    std::int64_t calls_ = 0;
    std::string text_;
    std::vector<std::string> broken_;
};

} // namespace calls
