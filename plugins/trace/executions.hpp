// Tells when enqueued work runs on its stream: a host callback before and after it.
//
// Note [Executions]
// An interposer sees an asynchronous device's call only while it is enqueued. Callbacks that the
// device runs in stream order, one before the work and one after, bracket its execution; they are
// dispatched as calls inserted to serve the traced one, which other interposers see and this one
// passes on. The bracket is the honest outer bound: it holds the device's own cost of the two
// callbacks, and where two threads enqueue into one stream at a time, also the other's work.
#pragma once

#include "atoll/plugin.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace Atoll::trace {

class Session;

// One bracket under way.
struct Bracket {
    Session *session;
    std::uint64_t id, correlation, start;
    std::uint32_t open; // callbacks still to come; through std::atomic_ref
    std::uint32_t next; // in the list of free ones
};

// A fixed number of brackets; taken by callers, given back by the threads that run callbacks.
class Executions {
public:
    static constexpr std::uint32_t capacity = 1 << 16;

    Executions();
    // Null when all are under way.
    Bracket *take() noexcept;
    void give_back(Bracket &bracket) noexcept;
    // Waits until none is under way, but not longer than that; true if none is.
    bool settle(unsigned milliseconds) const noexcept;

private:
    std::unique_ptr<Bracket[]> brackets_;
    // A stack: the index of the first free one in the low half, and in the high half a count of
    // changes, so that a thread cannot mistake a stack that changed and changed back.
    std::atomic<std::uint64_t> free_{0};
    std::atomic<std::uint32_t> untouched_{0}; // from here on never taken
    std::atomic<std::int64_t> under_way_{0};
};

} // namespace Atoll::trace
