// The one place where a call leaves the core for a plugin, and where its failure comes back.
#pragma once

#include "base/error_buffer.hpp"
#include "runtime/registry.hpp"

namespace Atoll::detail {

// A call being prepared, with its error buffer.
struct PreparedCall {
    // `parent`: the function that the call serves, or null.
    PreparedCall(const FunctionRecord &function, const DeviceRecord &device, int dtype,
                 void *stream, const FunctionRecord *parent);
    atoll_call call;
    atoll_error error;
    char behind_error[192]; // never written here: see Note [Error buffers]
    const FunctionRecord *function;
    const DeviceRecord *device;
    ErrorText text;
};

// Sends the call through the chain. Must be inside a ReadSection. Throws Error with the function,
// device and plugin when it fails, whatever way the plugin fails.
void dispatch(const Chain &chain, PreparedCall &prepared);
// The same, but returns the status; an exception counts as ATOLL_STATUS_PLUGIN_FAULT.
std::int32_t try_dispatch(const Chain &chain, PreparedCall &prepared) noexcept;

// What the exception being handled says. Only inside a catch block.
std::string exception_text();

} // namespace Atoll::detail
