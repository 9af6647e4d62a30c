// A C++ layer over the plugin ABI: catches exceptions, gives typed parameters, builds tables.
//
//   struct State { const atoll_host *host; … };                    // lives from load to unload
//   void add(State &state, atoll_call &call) { … throw Atoll::sdk::Error(…) … }
//   constexpr atoll_function_decl functions[] = {
//       Atoll::sdk::declare<add>(ATOLL_FN_add, ATOLL_DOMAIN_REAL_FLOATS),
//   };
//   constexpr atoll_impl_decl core = Atoll::sdk::implement("core", "mine", functions);
//   constexpr const atoll_impl_decl *impls[] = {&core};
//   constexpr atoll_plugin plugin = Atoll::sdk::describe<State>({"mine", "1.0", …}, impls, …);
//
// Header only: all code is compiled into the plugin's own binary. For typed operands see
// operand.hpp.
#pragma once

#if !defined(__cpp_exceptions)
#error                                                                                             \
    "atoll/plugin.hpp needs C++ exceptions: remove -fno-exceptions, or write the plugin in C (atoll/plugin.h)"
#elif __cplusplus < 202002L
#error                                                                                             \
    "atoll/plugin.hpp needs C++20: compile with -std=c++20, or write the plugin in C (atoll/plugin.h)"
#else

#include "atoll/half.h"
#include "atoll/plugin.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace Atoll::sdk {

// Thrown inside a plugin; becomes a status and a text when it reaches the ABI.
class Error : public std::exception {
public:
    Error(atoll_status status, std::string text, std::int64_t native_code = 0)
        : status_(status), native_code_(native_code), text_(std::move(text)) {}
    const char *what() const noexcept override { return text_.c_str(); }
    atoll_status status() const noexcept { return status_; }
    std::int64_t native_code() const noexcept { return native_code_; }

private:
    atoll_status status_;
    std::int64_t native_code_;
    std::string text_;
};

// Fills in an error buffer without overrunning it and returns the status. `error` may be null.
inline std::int32_t set_error(atoll_error *error, std::int32_t status, const char *text,
                              std::int64_t native_code = 0) noexcept {
    if (error) {
        error->status = status;
        error->native_code = native_code;
        if (error->text && error->capacity > 0) {
            const std::size_t size = std::min<std::size_t>(std::strlen(text), error->capacity - 1);
            std::memcpy(error->text, text, size);
            error->text[size] = '\0';
        }
    }
    return status;
}

// Runs `body` and converts any exception to a status and a text in `error`.
template <class Body> std::int32_t guarded(atoll_error *error, Body &&body) noexcept {
    try {
        body();
        return ATOLL_STATUS_OK;
    } catch (const Error &e) {
        return set_error(error, e.status(), e.what(), e.native_code());
    } catch (const std::bad_alloc &) {
        return set_error(error, ATOLL_STATUS_OUT_OF_MEMORY, "out of host memory");
    } catch (const std::exception &e) {
        return set_error(error, ATOLL_STATUS_INTERNAL, e.what());
    } catch (...) {
        return set_error(error, ATOLL_STATUS_INTERNAL, "an exception of unknown type");
    }
}

namespace detail {
template <class F> struct FirstArgument;
template <class R, class State, class... Rest> struct FirstArgument<R (*)(State &, Rest...)> {
    using type = State;
};
} // namespace detail

// The C entry point of `void Function(State &, atoll_call &)`, or of `std::int32_t Function(State
// &, const atoll_link &self, atoll_call &)`, which returns a status; State is the link's context.
template <auto Function> std::int32_t entry(const atoll_link *self, atoll_call *call) {
    using State = typename detail::FirstArgument<decltype(Function)>::type;
    auto &state = *static_cast<State *>(self->ctx);
    if constexpr (std::is_invocable_v<decltype(Function), State &, atoll_call &>) {
        return guarded(call->error, [&] { Function(state, *call); });
    } else {
        std::int32_t status = ATOLL_STATUS_OK;
        const std::int32_t thrown =
            guarded(call->error, [&] { status = Function(state, *self, *call); });
        return thrown != ATOLL_STATUS_OK ? thrown : status;
    }
}

// Passes a call on to the next link and returns its status, for interposers and for implementations
// declared with ATOLL_CAP_FORWARDS: `if (…) return sdk::forward(self, call);`.
inline std::int32_t forward(const atoll_link &self, atoll_call &call) {
    return self.next->fn(self.next, &call);
}

// How many attributes and inputs of a function an implementation knows, counted from the first.
// Attributes without a default and inputs that are not optional always count as known. See
// atoll_function_decl.
struct Known {
    std::uint16_t attributes = 0, inputs = 0;
};

// Returns one line of an implementation's table. `dtypes` are ATOLL_DTYPE_BITs, `caps` ATOLL_CAPs.
template <auto Function> constexpr atoll_function_decl
declare(std::uint16_t id, atoll_dtype_set dtypes = 0, std::uint64_t caps = 0, Known known = {}) {
    atoll_function_decl decl{};
    decl.struct_size = sizeof decl;
    decl.id = id;
    decl.attributes = known.attributes;
    decl.dtypes = dtypes;
    decl.caps = caps;
    decl.fn = &entry<Function>;
    decl.inputs = known.inputs;
    return decl;
}

// Likewise for a function with the ABI's own signature. Functions that catch nothing cost less this
// way.
constexpr atoll_function_decl declare(std::uint16_t id, atoll_fn fn) {
    atoll_function_decl decl{};
    decl.struct_size = sizeof decl;
    decl.id = id;
    decl.fn = fn;
    return decl;
}

// load and unload of a plugin whose context is constructed as `State(const atoll_host &)`. The
// destructor of State joins threads and frees everything; it must not throw.
template <class State>
std::int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    return guarded(error, [&] { *plugin = new State(*host); });
}
template <class State> std::int32_t unload(void *plugin, atoll_error *error) {
    return guarded(error, [&] { delete static_cast<State *>(plugin); });
}

// Declares a device type that the plugin provides; for `dlpack_type` see abi/device.h.
constexpr atoll_device_type_decl device_type(const char *name, std::uint32_t flags,
                                             std::int32_t dlpack_type = 0) {
    atoll_device_type_decl type{};
    type.struct_size = sizeof type;
    type.flags = flags;
    type.name = name;
    type.dlpack_type = dlpack_type;
    return type;
}

// The texts of a function; see Note [Signatures] in abi/module.h.
struct FunctionTexts {
    const char *signature, *attributes, *properties, *doc;
};

// Declares one function of a module's interface. `domain` is the set of dtypes that T may be.
constexpr atoll_function_info function(std::uint16_t id, const char *name, std::uint16_t rule,
                                       atoll_dtype_set domain, const FunctionTexts &texts,
                                       atoll_infer_fn infer = nullptr) {
    atoll_function_info info{};
    info.struct_size = sizeof info;
    info.id = id;
    info.rule = rule;
    info.domain = domain;
    info.name = name;
    info.doc = texts.doc;
    info.signature = texts.signature;
    info.attributes = texts.attributes;
    info.properties = texts.properties;
    info.infer = infer;
    return info;
}

// Declares a module's interface.
constexpr atoll_module_decl module(const char *name, std::uint32_t version,
                                   std::span<const atoll_function_info> functions) {
    atoll_module_decl decl{};
    decl.struct_size = sizeof decl;
    decl.version = version;
    decl.name = name;
    decl.functions = functions.data();
    decl.function_size = sizeof(atoll_function_info);
    decl.function_count = static_cast<std::uint32_t>(functions.size());
    return decl;
}

// Declares an implementation of a module for a device type. Set open_device, close_device and
// priority on the result if needed.
constexpr atoll_impl_decl implement(const char *module, const char *device_type,
                                    std::span<const atoll_function_decl> functions,
                                    std::uint32_t module_version = 1) {
    atoll_impl_decl impl{};
    impl.struct_size = sizeof impl;
    impl.module = module;
    impl.device_type = device_type;
    impl.module_version = module_version;
    impl.function_size = sizeof(atoll_function_decl);
    impl.functions = functions.data();
    impl.function_count = static_cast<std::uint32_t>(functions.size());
    return impl;
}

// Declares an interposer. Without `create`, every push uses the plugin's own context.
constexpr atoll_interposer_decl
interposer(const char *name, atoll_fn fn, decltype(atoll_interposer_decl::create) create = nullptr,
           decltype(atoll_interposer_decl::destroy) destroy = nullptr,
           decltype(atoll_interposer_decl::report) report = nullptr,
           decltype(atoll_interposer_decl::range) range = nullptr) {
    atoll_interposer_decl decl{};
    decl.struct_size = sizeof decl;
    decl.name = name;
    decl.fn = fn;
    decl.create = create;
    decl.destroy = destroy;
    decl.report = report;
    decl.range = range;
    return decl;
}

struct About {
    const char *name, *version, *vendor, *license, *description;
};

namespace detail {
template <std::size_t Count>
constexpr void contain(atoll_plugin &plugin, const atoll_module_decl *const (&list)[Count]) {
    plugin.modules = list;
    plugin.module_count = Count;
}
template <std::size_t Count>
constexpr void contain(atoll_plugin &plugin, const atoll_device_type_decl *const (&list)[Count]) {
    plugin.device_types = list;
    plugin.device_type_count = Count;
}
template <std::size_t Count>
constexpr void contain(atoll_plugin &plugin, const atoll_impl_decl *const (&list)[Count]) {
    plugin.impls = list;
    plugin.impl_count = Count;
}
template <std::size_t Count>
constexpr void contain(atoll_plugin &plugin, const atoll_interposer_decl *const (&list)[Count]) {
    plugin.interposers = list;
    plugin.interposer_count = Count;
}
} // namespace detail

// Returns the descriptor for query. `lists` are static arrays of pointers to what the plugin
// contains: modules, device types, implementations, interposers, in any order, each at most once.
template <class State, class... Lists>
constexpr atoll_plugin describe(const About &about, const Lists &...lists) {
    atoll_plugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.magic = ATOLL_MAGIC;
    plugin.abi_major = ATOLL_ABI_MAJOR;
    plugin.abi_minor = ATOLL_ABI_MINOR;
    plugin.name = about.name;
    plugin.version = about.version;
    plugin.vendor = about.vendor;
    plugin.license = about.license;
    plugin.description = about.description;
    plugin.load = load<State>;
    plugin.unload = unload<State>;
    (detail::contain(plugin, lists), ...);
    return plugin;
}

// Returns attribute `i` of the function's list as a bool.
inline bool flag(const atoll_call &call, std::size_t i) {
    return call.attributes[i].value.bytes[0] != 0;
}

// Returns attribute `i` as an integer; its default where the caller does not know it: a plugin that
// dispatches a call may be older than the attribute.
inline std::int64_t integer(const atoll_call &call, std::size_t i, std::int64_t fallback) {
    return i < call.attribute_count ? call.attributes[i].value.i64 : fallback;
}

// The parameter struct of a call of the module `device`; some structs receive results.
template <class Params> Params &params(const atoll_call &call) {
    return *static_cast<Params *>(call.params);
}

// One fact of a device, in its function `facts`.
inline void add_fact(atoll_call &call, const char *name, const std::string &value) {
    const auto &facts = params<atoll_facts_params>(call);
    facts.add(facts.argument, name, value.c_str());
}

// Copies a struct of the host at the size that this plugin knows; members that an older host lacks
// are zero.
template <class Struct> Struct copy_struct(const Struct &from) {
    Struct copy{};
    std::memcpy(static_cast<void *>(&copy), &from,
                std::min<std::size_t>(from.struct_size, sizeof copy));
    return copy;
}

// Reads a setting of this plugin from the application or the environment.
inline std::string config(const atoll_host &host, const char *key, const char *fallback = "") {
    char buffer[256];
    const std::size_t size = host.config(host.self, key, fallback, buffer, sizeof buffer);
    if (size < sizeof buffer) return std::string(buffer, size);
    std::string text(size + 1, '\0');
    host.config(host.self, key, fallback, text.data(), text.size());
    text.resize(std::strlen(text.c_str()));
    return text;
}

// The module and id of a function by name, "hello.scale_add"; throws Error (not_found). The host
// numbers the modules of third parties at run time: ask again after one was loaded.
struct FunctionId {
    std::uint16_t module, function;
};
inline FunctionId find_function(const atoll_host &host, const std::string &name) {
    FunctionId id;
    if (host.find_function(name.c_str(), &id.module, &id.function) != ATOLL_STATUS_OK)
        throw Error(ATOLL_STATUS_NOT_FOUND, "there is no function " + name);
    return id;
}

// Calls another function as part of `parent`, on its device and stream and with its correlation id.
// `call` contains the remaining fields. Operands must be dense, native and of the compute dtype,
// which every implementation accepts. Throws Error on failure.
inline void dispatch(const atoll_host &host, const char *device_type, const atoll_call &parent,
                     atoll_call call) {
    call.struct_size = sizeof call;
    call.flags = ATOLL_CALL_INSERTED;
    call.parent_module = parent.module;
    call.parent_function = parent.function;
    call.device = parent.device;
    call.stream = parent.stream;
    call.correlation = parent.correlation;
    call.error = parent.error;
    const std::int32_t status = host.dispatch(host.self, device_type, &call);
    // The error buffer already contains the error. Throwing it again would copy the buffer onto
    // itself, so copy the text.
    if (status != ATOLL_STATUS_OK)
        throw Error(static_cast<atoll_status>(status),
                    std::string(parent.error->text ? parent.error->text : ""),
                    parent.error->native_code);
}

// Calls a function of the module `device` as part of `parent`.
template <class Params> void dispatch_device(const atoll_host &host, const char *device_type,
                                             const atoll_call &parent,
                                             atoll_device_function function, Params &params) {
    atoll_call call{};
    call.module = ATOLL_MODULE_DEVICE;
    call.function = static_cast<std::uint16_t>(function);
    call.params = &params;
    dispatch(host, device_type, parent, call);
}

// Creates an object as the result in operand `operand`, which takes over the reference.
inline void give_object(const atoll_host &host, const char *device_type, atoll_call &call,
                        std::size_t operand, const atoll_object_type &type, void *value) {
    atoll_object *object = nullptr;
    const std::int32_t status =
        host.object_create(host.self, &type, device_type, call.device, value, &object, call.error);
    if (status != ATOLL_STATUS_OK)
        throw Error(static_cast<atoll_status>(status),
                    std::string(call.error->text ? call.error->text : ""));
    call.operands[operand].data = object;
}
// The value of an object operand; throws Error if the object is of another type.
template <class Value>
Value &object_value(const atoll_call &call, std::size_t operand, const atoll_object_type &type) {
    const auto *object = static_cast<const atoll_object *>(call.operands[operand].data);
    if (object->type != &type)
        throw Error(ATOLL_STATUS_INVALID_ARGUMENT,
                    std::string("got a ") + object->type->name + ", needs a " + type.name);
    return *static_cast<Value *>(object->value);
}

// The native handle of the stream of `call`, its context or its device, by a kind from the device
// type's header. An implementation for another plugin's device enqueues its work with it.
template <class Handle> Handle native_handle(const atoll_host &host, const char *device_type,
                                             const atoll_call &call, std::uint32_t kind) {
    atoll_native_handle_params params{sizeof params, kind, 0};
    dispatch_device(host, device_type, call, ATOLL_DEVICE_FN_native_handle, params);
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(params.value);
    else
        return static_cast<Handle>(params.value);
}

// Temporary memory on the parent's device. It is freed in stream order, that is, after the work
// that was enqueued before.
class DeviceBlock {
public:
    DeviceBlock(const atoll_host &host, const char *device_type, const atoll_call &parent,
                std::uint64_t bytes)
        : host_(host), device_type_(device_type),
          parent_(parent), params_{sizeof params_, 0, bytes, nullptr} {
        dispatch_device(host_, device_type_, parent_, ATOLL_DEVICE_FN_allocate, params_);
    }
    ~DeviceBlock() {
        try {
            dispatch_device(host_, device_type_, parent_, ATOLL_DEVICE_FN_free, params_);
        } catch (const Error &error) { // the call's own error, if any, is being thrown already
            host_.log(host_.self, ATOLL_LOG_ERROR, error.what());
        }
    }
    DeviceBlock(const DeviceBlock &) = delete;
    DeviceBlock &operator=(const DeviceBlock &) = delete;
    void *data() const { return params_.data; }

private:
    const atoll_host &host_;
    const char *device_type_;
    const atoll_call &parent_;
    atoll_memory_params params_;
};

} // namespace Atoll::sdk

#endif
