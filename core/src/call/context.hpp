// The context of a call: made at the entry point, and passed on to the calls that serve it.
#pragma once

#include "runtime/registry.hpp"
#include "runtime/settings_access.hpp"

namespace Atoll::detail {

// For sets of reasons.
inline std::uint32_t reason_if(bool needed, std::uint32_t reason) { return needed ? reason : 0; }

struct Context {
    Cause cause{};                          // the outermost function that the call serves
    const Settings *own_settings = nullptr; // null: those of the thread
    DType dtype = DType::none;              // T, if the caller decides it
    DeviceRecord *device = nullptr;         // where to compute, likewise

    const Settings &settings() const { return own_settings ? *own_settings : current_settings(); }
    // Settings that forbid nothing, for calls that have been checked against those of the user.
    static const Settings *unrestricted() {
        static const Settings plain{.lossy = Lossy::allow};
        return &plain;
    }
    // For a call that serves `function`: ignores the user's settings, and plugins get it flagged as
    // inserted. Its reason is that of the call around it, if that is inserted too.
    Context for_parts_of(const FunctionRecord &function) const {
        const Cause step{ATOLL_REASON_STEP, function.module_id, function.id};
        return {cause ? cause : step, unrestricted(), DType::none, nullptr};
    }
    // The same for a call with reasons of its own (ATOLL_REASON_*).
    Context because(std::uint32_t reasons) const {
        Context own = *this;
        own.cause.reasons = reasons;
        return own;
    }
};

} // namespace Atoll::detail
