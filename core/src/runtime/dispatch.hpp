// The one place where a call leaves the core for a plugin, and where its failure becomes an Error.
#pragma once

#include "atoll/error.hpp"
#include "base/error_buffer.hpp"
#include "runtime/registry.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace Atoll::detail {

// A call being prepared, with its error buffer.
struct PreparedCall {
    PreparedCall(const FunctionRecord &function, const DeviceRecord &device, int dtype,
                 void *stream, Cause cause, void *params = nullptr);
    atoll_call call;
    atoll_error error;
    const FunctionRecord *function;
    const DeviceRecord *device;
    ErrorText text;
};

inline PreparedCall::PreparedCall(const FunctionRecord &f, const DeviceRecord &d, int dtype,
                                  void *stream, Cause cause, void *params)
    : function(&f), device(&d) {
    call.struct_size = sizeof call;
    call.flags = 0;
    call.module = f.module_id;
    call.function = f.id;
    call.dtype = static_cast<std::uint16_t>(dtype);
    call.output_count = call.operand_count = call.attribute_count = 0;
    call.rank = call.core = 0;
    call.device = d.index;
    if (cause) {
        call.flags = ATOLL_CALL_INSERTED;
        call.parent_module = cause.module;
        call.parent_function = cause.function;
        call.reasons = cause.reasons;
    }
    call.shape = nullptr;
    call.operands = nullptr;
    call.params = params;
    call.stream = stream;
    call.correlation = thread_state.correlation;
    call.error = &error;
    error.struct_size = sizeof error;
    error.status = 0;
    error.native_code = 0;
    error.capacity = ErrorText::capacity;
    error.reserved = 0;
    error.text = text.bytes;
    error.function[0] = '\0';
    text.clear();
}

// A call of the module `device`, whose functions take `params`. Make it inside a ReadSection.
struct PreparedDeviceCall : PreparedCall {
    PreparedDeviceCall(const DeviceRecord &on, int number, void *params, void *stream = nullptr,
                       Cause cause = {})
        : PreparedCall(Registry::get().device_function(number), on, 0, stream, cause, params) {}
    const Chain &chain() const { return *device->type->chain(*function, 0); }
};

// Throws the Error of a call that failed: with the function, device and plugin. `exception`: the
// text of what the plugin threw; empty: it returned `status`.
[[noreturn, gnu::cold]] void fail(const Chain &chain, PreparedCall &prepared, std::int32_t status,
                                  std::string_view exception);
// The same inside the handler of what the plugin threw.
[[noreturn, gnu::cold]] void fail_of_exception(const Chain &chain, PreparedCall &prepared);

// Sends the call through the chain, inside a ReadSection. However it fails, throws Error.
inline void dispatch(const Chain &chain, PreparedCall &prepared) {
    std::int32_t status;
    try {
        status = chain.call(prepared.call);
        if (status == ATOLL_STATUS_OK && !thread_state.pool_failed) [[likely]]
            return;
    } catch (...) {
        fail_of_exception(chain, prepared);
    }
    fail(chain, prepared, status, {});
}
// The same, but returns the status; an exception counts as ATOLL_STATUS_PLUGIN_FAULT.
std::int32_t try_dispatch(const Chain &chain, PreparedCall &prepared) noexcept;
// Warns of the error that dispatch() would have thrown for this status, or for the exception that
// is being handled (`thrown`).
[[gnu::cold]] void warn_of_failure(const Chain &chain, PreparedCall &prepared, std::int32_t status,
                                   bool thrown) noexcept;

// The text of the exception being handled.
std::string exception_text();
// The text of an error for the exception being handled, which left a plugin, in this callback.
std::string border_crossed(std::string_view callback = {});

// Runs load, unload, open_device or create of a plugin. If it fails, throws Error of `op`: "WHAT: "
// and what the plugin reported, or how it broke the contract. `as`: the status for an error that
// the plugin reports; empty: the plugin's.
void run_callback(std::string_view op, std::string_view what, const PluginRecord &plugin,
                  const std::function<std::int32_t(atoll_error *)> &callback,
                  std::optional<Status> as = {});
// For a callback that cannot fail; logs what it throws for `owner`.
void run_finaliser(std::string_view owner, const std::function<void()> &callback);

} // namespace Atoll::detail
