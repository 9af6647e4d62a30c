// The context of a call: made at the entry point, and passed on to the calls that serve it.
#pragma once

#include "runtime/registry.hpp"
#include "runtime/settings_access.hpp"

namespace Atoll::detail {

struct Context {
    const FunctionRecord *parent = nullptr; // the outermost function that the call serves
    const Settings *own_settings = nullptr; // null: those of the thread
    DType dtype = DType::none;              // T, if the caller decides it
    DeviceRecord *device = nullptr;         // where to compute, likewise

    const Settings &settings() const { return own_settings ? *own_settings : current_settings(); }
    // For a call that serves `function`: ignores the user's settings, and plugins get it flagged as
    // inserted.
    Context for_parts_of(const FunctionRecord &function) const {
        static const Settings plain{.lossy = Lossy::allow};
        return {parent ? parent : &function, &plain, DType::none, nullptr};
    }
};

} // namespace Atoll::detail
