// The registry: plugins, modules, device types, devices, and the slots that calls go through.
//
//   DeviceTypeRecord ──tables[module]──▶ SlotTable ──slot(function, dtype)──▶ Slot ──head──▶ Chain
//
// A published Chain is immutable: interposers, implementations, stub. Readers load a slot's head
// inside a ReadSection (see Note [Read sections]); writers hold the registry's mutex, publish a new
// chain and free the old one after wait_for_readers(). Records of modules, device types and devices
// are never freed, so that handles stay valid; `live` says whether they can be used.
#pragma once

#include "atoll/abi/device.h"
#include "atoll/abi/host.h"
#include "atoll/abi/object.h"
#include "atoll/dtype.hpp"
#include "atoll/interpose.hpp"
#include "atoll/signature.hpp"
#include "runtime/thread_state.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace Atoll::detail {

struct PluginRecord;
struct ModuleRecord;
struct DeviceTypeRecord;

inline constexpr int max_modules = 64;
inline constexpr int max_device_types = 32;

// A text that may be replaced while others read it without a lock. All texts of a record are kept,
// so that a reader's reference stays valid; there are only a few.
class PublishedText {
public:
    PublishedText(std::string text = "") { set(std::move(text)); }
    // Hold the registry's mutex.
    void set(std::string text) {
        now_.store(&*texts_.insert(std::move(text)).first, std::memory_order_release);
    }
    const std::string &get() const { return *now_.load(std::memory_order_acquire); }
    operator const std::string &() const { return get(); }
    operator std::string_view() const { return get(); }

private:
    std::set<std::string> texts_;
    std::atomic<const std::string *> now_;
};

struct FunctionRecord {
    std::uint16_t id;
    std::uint16_t rule;      // enum atoll_rule
    std::uint16_t module_id; // also here, so that a call need not load the module
    std::uint16_t columns; // slots: one per dtype id, or 1 where no function of the module is typed
    atoll_dtype_set domain;
    // The dtype of the result by the dtype of all inputs, if a call needs no plan, else 0. See
    // Note [Uniform operands].
    std::uint8_t uniform[ATOLL_DTYPE_COUNT];
    std::uint8_t uniform_core[ATOLL_DTYPE_COUNT]; // the same for one input with one core axis
    sdk::Signature signature;                     // views of `texts`
    ModuleRecord *module;
    std::string full_name; // "core.add"
    std::string name, doc;
    std::array<std::string, 3> texts; // signature, attributes, properties
    atoll_infer_fn infer;             // or null
    bool typed() const { return domain != 0; }
    // Fills in what the declaration says. Throws sdk::Error for an invalid signature.
    void declare(const atoll_function_info &info);
};

// Which function a call serves, and why it is needed (ATOLL_REASON_*). Without a reason: a call of
// the application's own, which serves none.
struct Cause {
    std::uint32_t reasons = 0; // first: the low half of a register
    std::uint16_t module = 0, function = 0;
    explicit operator bool() const { return reasons != 0; }
};

struct ModuleRecord {
    std::uint16_t id;
    std::atomic<std::uint32_t> version; // another after a reload, as is the owner
    std::string name;
    std::vector<FunctionRecord> functions;
    std::vector<std::string> depends;
    std::atomic<const PluginRecord *> owner; // null: built in
    std::atomic<bool> live{true};
    const FunctionRecord *find(std::string_view function) const;
};

struct HostLink : atoll_link {
    const DeviceTypeRecord *type;
};

// What a slot points to. links[0] is the head.
struct Chain {
    std::uint64_t caps;         // what the outermost implementation takes (ATOLL_CAP_*)
    std::uint32_t attributes;   // the first of the list that it does not know
    std::uint32_t inputs;       // likewise
    std::uint32_t max_rank;     // axes of a space that it takes
    bool implemented;           // false: only the stub (and interposers) are there
    std::uint32_t count;        // links
    std::uint32_t wrappers;     // of these, interposers
    const PluginRecord *plugin; // the outermost implementation's
    HostLink links[1];          // count of them

    std::int32_t call(atoll_call &call) const { return links[0].fn(&links[0], &call); }
};

struct Slot {
    std::atomic<const Chain *> head{nullptr};
};

// The slots of one module for one device type: a call reaches its chain by few loads.
struct SlotTable {
    static SlotTable *make(const ModuleRecord &module);
    const ModuleRecord *module;
    Slot slots[1]; // functions times columns of them
    Slot &slot(const FunctionRecord &function, int dtype) {
        return slots[function.id * function.columns + (function.columns == 1 ? 0 : dtype)];
    }
};

// How much work was enqueued on a stream, and which work of other streams it waits for.
class StreamWork {
public:
    std::uint64_t id() const { return id_; } // of no other stream, ever
    std::uint64_t count() const { return count_.load(std::memory_order_acquire); }
    void enqueued() { count_.fetch_add(1, std::memory_order_acq_rel); }
    bool waits_for(std::uint64_t stream, std::uint64_t count) const {
        const std::lock_guard lock(mutex_);
        for (const Wait &wait : waits_)
            if (wait.stream == stream) return wait.count >= count;
        return false;
    }
    void note_wait(std::uint64_t stream, std::uint64_t count) {
        const std::lock_guard lock(mutex_);
        Wait *place = &waits_[next_];
        for (Wait &wait : waits_)
            if (wait.stream == stream) place = &wait;
        if (place == &waits_[next_]) next_ = (next_ + 1) % std::size(waits_);
        *place = {stream, count};
    }

private:
    static std::uint64_t next_id() {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }
    struct Wait {
        std::uint64_t stream = 0, count = 0;
    };
    const std::uint64_t id_ = next_id();
    std::atomic<std::uint64_t> count_{1};
    mutable std::mutex mutex_;
    Wait waits_[4]; // the latest
    std::size_t next_ = 0;
};

struct DeviceRecord {
    DeviceTypeRecord *type;
    int index;
    int slot;           // into ThreadRecord::live
    PublishedText name; // another after a reload with other settings
    std::atomic<bool> live{false};
    StreamWork default_work{}; // of the default stream
};

struct DeviceTypeRecord {
    std::string name;
    std::atomic<std::uint32_t> flags{0};      // ATOLL_DEVICE_*
    std::atomic<std::int32_t> dlpack_type{0}; // 0: kDLExtDev
    PluginRecord *plugin = nullptr;           // under the registry's mutex
    std::atomic<bool> live{false};
    PublishedText no_device_reason;
    std::atomic<DeviceRecord *> devices[max_devices]{}; // made once, reused after a reload
    std::atomic<int> device_count{0};
    std::atomic<SlotTable *> tables[max_modules]{};

    bool host_memory() const { return flags & ATOLL_DEVICE_HOST_MEMORY; }
    bool is_inline() const { return flags & ATOLL_DEVICE_INLINE; }
    const Chain *chain(const FunctionRecord &function, int dtype) const {
        return tables[function.module_id]
            .load(std::memory_order_acquire)
            ->slot(function, dtype)
            .head.load(std::memory_order_acquire);
    }
};

// One module implementation that a loaded plugin declared, copied.
struct ImplEntry {
    PluginRecord *plugin;
    std::string module, device_type;
    std::int32_t priority;
    std::uint64_t sequence; // order of loading
    std::uint32_t module_version;
    std::vector<atoll_function_decl> functions;
    std::int32_t (*open_device)(void *, std::int32_t, atoll_error *);
    void (*close_device)(void *, std::int32_t);
    std::vector<int> opened;          // devices on which open_device succeeded
    bool retiring = false;            // no longer routed to
    bool refused = false;             // open_device failed or the module is too old
    std::string refusal;              // why, for the report
    std::vector<std::string> ignored; // declarations that this host does not know, for the report
};

struct SlotFilter {
    std::string module, function, device_type; // "" or "*" matches all
    DType dtype = DType::none;                 // none matches all
    bool matches(const DeviceTypeRecord &type, const FunctionRecord &function, int column) const;
};

// What a plugin offers.
struct InterposerDecl {
    std::string name;
    atoll_interposer_decl decl;
};

// The interposers that are notified of ranges: atoll_interposer_decl::range and its arguments.
struct RangeWatcher {
    void (*range)(void *plugin, void *ctx, const char *name);
    void *plugin, *ctx;
};
using RangeWatchers = std::vector<RangeWatcher>;

struct InterposerEntry : InterposerInfo {
    PluginRecord *plugin; // null: the application's
    const atoll_interposer_decl *decl;
    SlotFilter slots;
    atoll_fn fn;
    void *ctx;
    bool from_environment;
};

// Under the registry's mutex, but for `name`, which never changes.
struct PluginRecord {
    explicit PluginRecord(std::string n) : name(std::move(n)) {}
    const std::string name;
    std::string path, version, vendor, description;
    void *ctx = nullptr;
    std::int32_t (*unload)(void *, atoll_error *) = nullptr;
    std::vector<InterposerDecl> interposers; // stay where they are while loaded
    std::vector<std::string> ignored;        // declarations that this host does not understand
    std::vector<DeviceTypeRecord *> device_types;
    std::vector<ModuleRecord *> modules;
    atoll_host host{};
    bool loaded = false;
};

class Registry {
public:
    // Never destroyed: plugins' threads and late destructors may still call at exit. At a constant
    // address, so that calls need not load it.
    static Registry &get() {
        if (!made_.load(std::memory_order_acquire)) [[unlikely]]
            make();
        return *std::launder(reinterpret_cast<Registry *>(memory_));
    }

    // --- lock-free reading -----------------------------------------------------------------------
    ModuleRecord *module(int id) const {
        return id < max_modules ? modules_[id].load(std::memory_order_acquire) : nullptr;
    }
    ModuleRecord *find_module(std::string_view name) const;
    DeviceTypeRecord *device_type(int i) const {
        return i < max_device_types ? device_types_[i].load(std::memory_order_acquire) : nullptr;
    }
    DeviceTypeRecord *find_device_type(std::string_view name) const;
    // "hello.calls"; null if unknown.
    const FunctionRecord *find_function(std::string_view full_name) const;
    const FunctionRecord &core_function(int id) const { return core_functions_[id]; }
    const FunctionRecord &device_function(int id) const { return device_functions_[id]; }
    DeviceRecord *first_host_device() const;

    // --- writing: hold `mutex` -------------------------------------------------------------------
    std::recursive_mutex mutex;

    // Publishes a module whose functions are declared. Instead revives a retired module of the same
    // name and functions, so that its handles work again.
    ModuleRecord *add_module(std::unique_ptr<ModuleRecord> added, const PluginRecord *owner);
    DeviceTypeRecord *add_device_type(const std::string &name, std::uint32_t flags,
                                      std::int32_t dlpack_type, PluginRecord *plugin);
    DeviceRecord *add_device(DeviceTypeRecord &type, int index);
    // Throws Error unless there is room for `count` devices of the type. Records are never freed,
    // so a plugin that claims too many must not get the first of them.
    void reserve_devices(const DeviceTypeRecord &type, int count) const;
    std::vector<PluginRecord *> plugins; // never freed: chains and notes of errors name them
    std::vector<ImplEntry> impls;
    std::vector<InterposerEntry> interposer_entries; // the outermost first
    std::uint64_t next_sequence = 1;

    // Publishes chains of impls and interposer_entries in every matching slot, and keeps the old
    // ones until collect().
    void rebuild(const SlotFilter &filter = {});
    void rebuild_range_watchers();
    // Waits for readers and frees what was replaced. Never inside a call.
    void collect();

private:
    Registry();
    static void make();
    alignas(64) static std::byte memory_[];
    static std::atomic<bool> made_;
    void rebuild(DeviceTypeRecord &type, const SlotFilter &filter);
    const Chain *build_chain(DeviceTypeRecord &type, const FunctionRecord &function, int dtype);
    std::atomic<ModuleRecord *> modules_[max_modules]{};
    std::atomic<DeviceTypeRecord *> device_types_[max_device_types]{};
    int module_count_ = 0, device_type_count_ = 0, device_count_ = 0;
    const FunctionRecord *core_functions_ = nullptr, *device_functions_ = nullptr;
    std::vector<const Chain *> garbage_;
    std::vector<std::unique_ptr<const RangeWatchers>> old_range_watchers_;
};

} // namespace Atoll::detail

template <> struct fmt::formatter<Atoll::detail::PublishedText> {
    constexpr auto parse(fmt::format_parse_context &context) { return context.begin(); }
    template <class Context>
    auto format(const Atoll::detail::PublishedText &text, Context &context) const {
        const std::string &shown = text.get();
        return std::copy(shown.begin(), shown.end(), context.out());
    }
};
