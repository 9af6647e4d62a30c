// Faults that the simulated device injects on request. A real plugin has nothing like this file.
#pragma once

#include "atoll/plugin.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace Dummy {

// Note [Faults]
// The setting "fault" is a list, separated by commas. It is read again at every call, so that an
// application can change it at run time; "" clears it. NAME is a function with or without its
// module: "add" or "core.add", "transfer" or "device.transfer".
//
//   fault           what happens                                 what the host must make of it
//   allocate:N      the Nth allocation from now on fails, once   OUT_OF_MEMORY from that call
//   stream_create   no stream can be made                        OUT_OF_MEMORY from that call
//   event_create    no event can be made                         OUT_OF_MEMORY from that call
//   enqueue:NAME    the function fails before it is enqueued     KERNEL_FAILED from that call
//   kernel:NAME     the function fails on the worker, its        the call succeeds; the next
//                   outputs stay as they are                     synchronisation: KERNEL_FAILED
//                                                                with atoll_error::function = NAME
//   transfer        like kernel:NAME, for transfers of bytes     the same, "device.transfer"
//   lost            all devices are lost (lost:1 only the        DEVICE_LOST from every call on the
//                   second) until the setting is cleared         device. Enqueued work still runs;
//                                                                free and destroy still work;
//                                                                callbacks get DEVICE_LOST
//   latency:N       all kernels and transfers take N             nothing but time
//                   microseconds longer
//   throw:NAME      the function throws an exception             an error with its text (the SDK
//                                                                header catches at the border)
//   status:NAME     the function does nothing and returns 9999   PLUGIN_FAULT, in the host's words
//                   with no text
//
// Functions that give back or wait (free, the destroys, the synchronises) fail only after they have
// done their work: the host cannot repeat it, and memory that enqueued work writes to would go.
//
// "allocate:N" counts from the moment the setting changes: to use it twice, clear it in between.
class Faults {
public:
    // What shall happen when a piece of work runs.
    struct Later {
        std::chrono::microseconds latency{0};
        std::string fault;   // "" for none
        void happen() const; // on the worker; throws where the fault says so
    };

    // Throws INVALID_ARGUMENT where the setting cannot be understood.
    Faults(const atoll_host &host, std::string device_type);

    // Before a call: throws, or returns a status that the call has to return unless it is 0.
    std::int32_t before(const atoll_call &call);
    // For work about to be enqueued.
    Later later(const atoll_call &call);
    // "lost" alone. The functions that must do their work nevertheless ask here afterwards.
    bool lost(std::int32_t device);

private:
    struct Fault {
        std::string text, kind, argument;
    };

    void refresh(); // with the lock held
    static bool names(const Fault &fault, const std::string &function);

    const atoll_host &host_;
    const std::string device_type_;
    std::mutex mutex_;
    std::string setting_;
    std::vector<Fault> faults_;
    std::uint64_t allocations_left_ = 0; // until the one that fails; 0: none does
};

} // namespace Dummy
