// A plugin that can break its contract in every way the host has to survive. It brings a small
// device type `odd` of one inline host-memory device.
//
// The variable ODD says, at each query, what is wrong with the descriptor, with load or with the
// device (a real plugin never reads the environment: query has no other way to be told). The
// plugin's settings "kernel", "allocate" and "interposer" say, at each call, how calls misbehave.
#include "atoll/plugin.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

ATOLL_PLUGIN_NOTE("odd",
                  ATOLL_CONTAINS_DEVICES | ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_INTERPOSERS, 0);

namespace {

namespace sdk = Atoll::sdk;

const atoll_host *host;
std::string mode; // of the last query

bool is(const char *wanted) { return mode == wanted; }
std::string setting(const char *key) { return sdk::config(*host, key); }
// The same as a note in the host's log, which the tests read.
void note(const std::string &text) { host->log(host->self, ATOLL_LOG_INFO, text.c_str()); }

// ---- device -------------------------------------------------------------------------------------

std::int32_t enumerate(const atoll_link *, atoll_call *call) {
    auto &result = sdk::params<atoll_enumerate_params>(*call);
    result.count = 1;
    if (is("enumerate_too_many")) result.count = 4'000'000'000u;
    if (is("enumerate_all")) result.count = 128;
    if (is("enumerate_throws")) throw std::runtime_error("cannot count");
    if (is("enumerate_fails")) return ATOLL_STATUS_DEVICE_LOST;
    if (is("enumerate_unterminated")) {
        result.count = 0;
        std::memset(result.reason, 'x', sizeof result.reason);
    }
    return ATOLL_STATUS_OK;
}

std::int32_t properties(const atoll_link *, atoll_call *call) {
    std::memset(sdk::params<atoll_properties_params>(*call).name, 'y', 128); // no NUL
    return ATOLL_STATUS_OK;
}

std::int32_t facts(const atoll_link *, atoll_call *call) {
    const std::string fault = setting("facts"), longest(255, 'v');
    const auto add = [&](const char *name, const char *value) {
        const auto &params = sdk::params<atoll_facts_params>(*call);
        params.add(params.argument, name, value);
    };
    add("first", "1");
    if (fault == "none") return ATOLL_STATUS_OK;
    if (fault == "null_name") add(nullptr, "2");
    if (fault == "null_value") add("second", nullptr);
    if (fault == "no_name") add("", "2");
    if (fault == "bad_name") add("\033[31mred", "2");
    if (fault == "long_name") add(std::string(64, 'n').c_str(), "2");
    if (fault == "twice") add("first", "2");
    if (fault == "empty") add("second", "");
    if (fault == "long") add("second", (longest + "v").c_str());
    if (fault == "control") add("second", "a\033[2Jb");
    if (fault == "lines") add("second", "a\nb");
    if (fault == "not_utf8") add("second", "\xff");
    for (int i = 0; fault == "many" && i < 300; ++i)
        add(("fact_" + std::to_string(i)).c_str(), "2");
    add(std::string(63, 'n').c_str(), longest.c_str());
    if (fault == "fails") return ATOLL_STATUS_DEVICE_LOST;
    if (fault == "throws") throw std::runtime_error("no facts");
    return ATOLL_STATUS_OK;
}

std::int32_t allocate(const atoll_link *, atoll_call *call) {
    auto &memory = sdk::params<atoll_memory_params>(*call);
    const std::string fault = setting("allocate");
    if (fault == "null") return ATOLL_STATUS_OK;
    if (fault == "throw") throw std::bad_alloc();
    if (fault == "fail") return sdk::set_error(call->error, ATOLL_STATUS_OUT_OF_MEMORY, "full", 12);
    memory.data = std::aligned_alloc(64, (memory.bytes + 127) / 64 * 64);
    if (fault == "misaligned") memory.data = static_cast<char *>(memory.data) + 8;
    return ATOLL_STATUS_OK;
}

std::int32_t release(const atoll_link *, atoll_call *call) {
    const auto address =
        reinterpret_cast<std::uintptr_t>(sdk::params<atoll_memory_params>(*call).data);
    std::free(reinterpret_cast<void *>(address & ~std::uintptr_t{63}));
    if (setting("allocate") == "throw_in_free") throw std::runtime_error("cannot free");
    return ATOLL_STATUS_OK;
}

std::int32_t transfer(const atoll_link *, atoll_call *call) {
    const auto &p = sdk::params<atoll_transfer_params>(*call);
    std::memmove(p.destination, p.source, p.bytes);
    return ATOLL_STATUS_OK;
}

// ---- core ---------------------------------------------------------------------------------------

std::int32_t fill(const atoll_link *, atoll_call *call) {
    auto *out = static_cast<double *>(call->operands[0].data);
    const std::int64_t count = call->rank ? call->shape[0] : 1;
    for (std::int64_t i = 0; i < count; ++i) out[i] = call->attributes[0].value.f64[0];
    return ATOLL_STATUS_OK;
}

std::int32_t copy(const atoll_link *, atoll_call *call) {
    const std::int64_t count = call->rank ? call->shape[0] : 1;
    std::memmove(call->operands[0].data, call->operands[1].data,
                 static_cast<std::size_t>(count) * sizeof(double));
    return ATOLL_STATUS_OK;
}

std::int32_t square_root(const atoll_link *, atoll_call *call) {
    const std::string fault = setting("kernel");
    if (fault == "throw") throw std::runtime_error("kernel exploded");
    if (fault == "throw_int") throw 42;
    if (fault == "garbage") return -123456;
    if (fault == "garbage_text") return sdk::set_error(call->error, 9999, "some words");
    if (fault == "silent") return ATOLL_STATUS_KERNEL_FAILED;
    if (fault == "unterminated") {
        std::memset(call->error->text, 'z', call->error->capacity);
        std::memset(call->error->function, 'q', sizeof call->error->function);
        return ATOLL_STATUS_KERNEL_FAILED;
    }
    if (fault == "buffer_replaced") {
        call->error->text = nullptr;
        call->error->capacity = 0;
        call->error = nullptr;
        return ATOLL_STATUS_KERNEL_FAILED;
    }
    if (fault == "error_but_ok") sdk::set_error(call->error, ATOLL_STATUS_KERNEL_FAILED, "ignored");
    const std::int64_t count = call->rank ? call->shape[0] : 1;
    for (std::int64_t i = 0; i < count; ++i)
        static_cast<double *>(call->operands[0].data)[i] =
            std::sqrt(static_cast<const double *>(call->operands[1].data)[i]);
    return ATOLL_STATUS_OK;
}

// ---- interposer ---------------------------------------------------------------------------------

std::int32_t pass(const atoll_link *self, atoll_call *call) {
    return self->next->fn(self->next, call);
}
std::int32_t create(void *, void **ctx, atoll_error *error) {
    const std::string fault = setting("interposer");
    if (fault == "create_fails")
        return sdk::set_error(error, ATOLL_STATUS_NOT_SUPPORTED, "not today");
    if (fault == "create_garbage") return 4711;
    if (fault == "create_throws") throw std::runtime_error("create exploded");
    if (fault == "create_throws_int") throw 42;
    *ctx = &mode;
    note("created");
    return ATOLL_STATUS_OK;
}
void destroy(void *, void *) {
    note("destroyed");
    if (setting("interposer") == "destroy_throws") throw std::runtime_error("destroy exploded");
}
void report(void *, void *, atoll_writer write, void *user) {
    if (setting("interposer") == "report_throws") throw std::runtime_error("report exploded");
    write(user, "odd report", 10);
}

// ---- descriptor ---------------------------------------------------------------------------------

std::int32_t open_device(void *, std::int32_t, atoll_error *error) {
    if (is("open_fails")) return sdk::set_error(error, ATOLL_STATUS_DEVICE_LOST, "no power");
    if (is("open_throws")) throw std::runtime_error("open exploded");
    note("opened");
    return ATOLL_STATUS_OK;
}
void close_device(void *, std::int32_t) { note("closed"); }

atoll_interposer_decl wrapper;

std::int32_t load(const atoll_host *given, void **plugin, atoll_error *error) {
    host = given;
    if (is("interposer_forgotten")) wrapper = {};
    *plugin = &host;
    if (is("load_fails"))
        return sdk::set_error(error, ATOLL_STATUS_DEVICE_LOST, "no licence; buy one");
    if (is("load_silent")) return 9999;
    if (is("load_throws")) throw std::runtime_error("load exploded");
    if (is("load_throws_int")) throw 42;
    note("loaded");
    return ATOLL_STATUS_OK;
}
std::int32_t unload(void *, atoll_error *error) {
    note("unloaded");
    if (is("unload_throws")) throw std::runtime_error("unload exploded");
    if (is("unload_fails"))
        return host->set_error(error, ATOLL_STATUS_INTERNAL, 0, "something is left");
    error->text[0] = '\0'; // never NULL
    return ATOLL_STATUS_OK;
}

constexpr atoll_function_decl declare(int id, atoll_fn fn, atoll_dtype_set dtypes = 0) {
    atoll_function_decl decl = sdk::declare(static_cast<std::uint16_t>(id), fn);
    decl.dtypes = dtypes;
    return decl;
}

// Structs with something behind them, as a newer plugin would have. All is made anew by query.
template <class T> struct Grown {
    T known{};
    std::uint64_t tail = 0;
};
Grown<atoll_plugin> plugin;
Grown<atoll_device_type_decl> type;
Grown<atoll_impl_decl> impl_list[2];
Grown<atoll_function_decl> core[4];
atoll_function_decl device[6];
atoll_module_decl module;
atoll_function_info module_functions[2];
const atoll_device_type_decl *types[2];
const atoll_impl_decl *impls[2];
const atoll_interposer_decl *wrappers[2];
const atoll_module_decl *modules[2];

atoll_extension extensions[2];

// "extension", what it belongs to, and what is the matter with it.
void extend() {
    const auto says = [](const char *word) { return mode.find(word) != std::string::npos; };
    for (atoll_extension &extension : extensions)
        extension = {sizeof extension, 77, &extensions[1]};
    extensions[1].next = says("circle") ? extensions : nullptr;
    if (says("required")) extensions[1].id |= ATOLL_EXTENSION_REQUIRED;
    if (says("short")) extensions[1].struct_size = 8;
    if (says("function")) core[0].known.next = extensions;
    if (says("impl")) impl_list[1].known.next = extensions;
    if (says("type")) type.known.next = extensions;
    if (says("interposer")) wrapper.next = extensions;
    if (says("module")) module.next = extensions, plugin.known.module_count = 1;
    if (says("unreadable")) // but for who knows the extension
        says("module") ? void(module_functions[1].signature = "a [n] -> b")
                       : void(core[1].known.fn = nullptr);
}

void describe() {
    constexpr atoll_dtype_set f64 = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);
    device[0] = declare(ATOLL_DEVICE_FN_enumerate, enumerate);
    device[1] = declare(ATOLL_DEVICE_FN_properties, properties);
    device[2] = declare(ATOLL_DEVICE_FN_allocate, allocate);
    device[3] = declare(ATOLL_DEVICE_FN_free, release);
    device[4] = declare(ATOLL_DEVICE_FN_transfer, transfer);
    device[5] = declare(ATOLL_DEVICE_FN_facts, facts);
    for (auto &function : core) function = {};
    core[0].known = declare(ATOLL_FN_sqrt, square_root, f64);
    core[1].known = declare(ATOLL_FN_fill, fill, f64);
    core[2].known = declare(ATOLL_FN_copy, copy, f64);
    type = {{sizeof(atoll_device_type_decl), ATOLL_DEVICE_HOST_MEMORY | ATOLL_DEVICE_INLINE, "odd",
             0, 0, nullptr},
            0};
    for (auto &impl : impl_list) {
        impl = {};
        impl.known.struct_size = sizeof(atoll_impl_decl);
        impl.known.device_type = "odd";
        impl.known.function_size = sizeof(atoll_function_decl);
    }
    atoll_impl_decl &device_impl = impl_list[0].known, &core_impl = impl_list[1].known;
    device_impl.module = "device";
    device_impl.functions = device;
    device_impl.function_count = 6;
    core_impl.module = "core";
    core_impl.functions = &core[0].known;
    core_impl.function_size = sizeof core[0];
    core_impl.function_count = 3;
    core_impl.open_device = open_device;
    core_impl.close_device = close_device;
    wrapper = sdk::interposer("odd_wrap", pass, create, destroy, report);
    module = {};
    module.struct_size = sizeof module;
    module.version = 1;
    module.name = "oddities";
    module.functions = module_functions;
    module.function_size = sizeof(atoll_function_info);
    module.function_count = 2;
    for (std::uint16_t i = 0; i < 2; ++i)
        module_functions[i] =
            sdk::function(i, i ? "second" : "first", ATOLL_RULE_GIVEN, 0,
                          {"-> nothing (): int64", nullptr, nullptr, "does nothing"});
    types[0] = types[1] = &type.known;
    impls[0] = &device_impl;
    impls[1] = &core_impl;
    wrappers[0] = wrappers[1] = &wrapper;
    modules[0] = modules[1] = &module;
    plugin = {};
    atoll_plugin &p = plugin.known;
    p.struct_size = sizeof p;
    p.magic = ATOLL_MAGIC;
    p.abi_major = ATOLL_ABI_MAJOR;
    p.abi_minor = ATOLL_ABI_MINOR;
    p.name = "odd";
    p.version = "3.2.1";
    p.vendor = "tests";
    p.license = "Apache-2.0";
    p.description = "breaks its contract on request";
    p.device_types = types;
    p.device_type_count = 1;
    p.impls = impls;
    p.impl_count = 2;
    p.interposers = wrappers;
    p.interposer_count = 1;
    p.modules = modules;
    p.load = load;
    p.unload = unload;

    if (is("magic")) p.magic = 0x12345678;
    if (is("major")) p.abi_major = ATOLL_ABI_MAJOR + 1;
    if (is("minor")) p.abi_minor = ATOLL_ABI_MINOR + 1;
    if (is("host_minor")) p.min_host_minor = ATOLL_ABI_MINOR + 1;
    if (is("short")) p.struct_size = sizeof p - 8;
    if (is("tiny")) p.struct_size = 4;
    if (is("zero_tail") || is("nonzero_tail")) p.struct_size = sizeof plugin;
    if (is("nonzero_tail")) plugin.tail = 1;
    if (is("huge")) p.struct_size = 1u << 30;
    if (is("name")) p.name = "even";
    if (is("bad_name")) p.name = "An Odd Name";
    if (is("no_name")) p.name = nullptr;
    if (is("no_load")) p.load = nullptr;
    if (is("many")) p.impl_count = 4'000'000'000u;
    if (is("null_list")) p.impls = nullptr;
    if (is("null_entry")) impls[1] = nullptr;
    if (is("type_tail")) type.known.struct_size = sizeof type, type.tail = 1;
    if (is("impl_tail")) core_impl.struct_size = sizeof impl_list[1], impl_list[1].tail = 7;
    if (is("impl_zero_tail")) core_impl.struct_size = sizeof impl_list[1];
    if (is("function_tail")) core[1].tail = 7;
    if (is("function_short")) core_impl.function_size = 8;
    if (is("duplicate_ids")) core[3] = core[0], core_impl.function_count = 4;
    if (is("unknown_dtypes")) core[0].known.dtypes |= std::uint64_t{1} << 40;
    if (is("lies"))
        for (auto &function : core)
            function.known.caps = ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES |
                                  ATOLL_CAP_ZERO_STRIDES | ATOLL_CAP_SWAPPED;
    if (is("null_fn")) core[0].known.fn = nullptr;
    if (is("unknown_function")) core[0].known.id = 999;
    if (is("module_version")) core_impl.module_version = 99;
    if (is("missing_function")) device_impl.function_count = 4;
    if (is("not_inline")) type.known.flags = ATOLL_DEVICE_HOST_MEMORY;
    if (is("type_taken"))
        type.known.name = impl_list[0].known.device_type = impl_list[1].known.device_type = "cpu";
    if (is("type_twice")) p.device_type_count = 2;
    if (is("module_twice")) p.module_count = 2;
    if (is("module_core")) p.module_count = 1, module.name = "core";
    if (is("module_ids")) p.module_count = 1, module_functions[1].id = 7;
    if (is("module_unsigned")) p.module_count = 1, module_functions[1].signature = nullptr;
    if (is("module_signature")) p.module_count = 1, module_functions[1].signature = "a (n -> b";
    if (is("module_attributes")) p.module_count = 1, module_functions[1].attributes = "f: bool = 3";
    if (is("module_domain")) p.module_count = 1, module_functions[1].signature = "a () -> b ()";
    if (is("module_names")) p.module_count = 1, module_functions[1].name = "first";
    if (is("interposer_null")) wrapper.fn = nullptr;
    if (is("interposer_twice")) p.interposer_count = 2;
    if (mode.rfind("extension ", 0) == 0) extend();
}

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    const char *wanted = std::getenv("ODD");
    mode = wanted ? wanted : "";
    if (is("null")) return nullptr;
    if (is("query_throws")) throw std::runtime_error("query exploded");
    if (is("query_throws_int")) throw 42;
    describe();
    return &plugin.known;
}
