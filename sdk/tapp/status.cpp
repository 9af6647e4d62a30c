// Statuses: the latest executions of the process, in a ring. The number of a status is minus the
// position of its execution in the sequence of all, which begins with 1.
#include "status.hpp"

#include <array>
#include <mutex>

namespace Atoll::Tapp {

namespace {

struct Ring {
    static constexpr std::int64_t size = 1024;

    struct Entry {
        std::int64_t number = 0; // 0: destroyed
        Execution execution;
    };
    std::mutex mutex;
    std::int64_t latest = 0;
    std::array<Entry, size> entries;

    Entry &entry(std::int64_t number) { return entries[static_cast<std::size_t>(number % size)]; }
    // Whether it was given out.
    bool knows(std::int64_t number) const { return number > 0 && number <= latest; }
};

Ring &ring() {
    static auto *const made = new Ring;
    return *made;
}

// Statuses are negative; the least number has no opposite.
std::int64_t number_of(std::intptr_t status) {
    return status < 0 && status != INTPTR_MIN ? -std::int64_t{status} : 0;
}

Ring::Entry &find(Ring &of, TAPP_status status) {
    const std::int64_t number = number_of(status);
    if (!of.knows(number))
        fail(TAPP_ATOLL_BAD_OBJECT, "{} is not a status", static_cast<std::int64_t>(status));
    Ring::Entry &entry = of.entry(number);
    if (entry.number != number)
        fail(TAPP_ATOLL_EXPIRED_STATUS,
             "status {} was destroyed or is older than the latest {} executions",
             static_cast<std::int64_t>(status), Ring::size);
    return entry;
}

} // namespace

TAPP_status record(const Execution &execution) noexcept {
    Ring &in = ring();
    const std::lock_guard lock(in.mutex);
    const std::int64_t number = ++in.latest;
    in.entry(number) = {number, execution};
    return static_cast<TAPP_status>(-number);
}

bool is_status(std::intptr_t number) noexcept { return number < 0; }

Execution execution(TAPP_status status) {
    Ring &in = ring();
    const std::lock_guard lock(in.mutex);
    return find(in, status).execution;
}

} // namespace Atoll::Tapp

using namespace Atoll::Tapp;

TAPP_error TAPP_destroy_status(TAPP_status status) {
    return guarded([&] {
        Ring &in = ring();
        const std::lock_guard lock(in.mutex);
        find(in, status).number = 0;
    });
}
