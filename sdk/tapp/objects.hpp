// Objects of the interface. Programs hold numbers, not addresses: whatever a program passes can be
// looked up, and a number is never given again.
#pragma once

#include "failure.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace Atoll::Tapp {

// Numbers of all kinds of objects differ; statuses are negative.
inline std::intptr_t next_number() {
    // Far from what a program may have in a variable that it did not set.
    static std::atomic<std::intptr_t> next{std::intptr_t{0x4154} << 40};
    return next.fetch_add(1, std::memory_order_relaxed);
}

// The live objects of one kind. Lives as long as the process.
template <class Object> class Table {
public:
    // `kind`: "a tensor info".
    explicit Table(const char *kind) : kind_(kind) {}

    std::intptr_t add(std::shared_ptr<Object> object) {
        const std::intptr_t number = next_number();
        const std::unique_lock lock(mutex_);
        objects_.emplace(number, std::move(object));
        return number;
    }
    // Null if there is none.
    std::shared_ptr<Object> find(std::intptr_t number) const {
        const std::shared_lock lock(mutex_);
        const auto found = objects_.find(number);
        return found == objects_.end() ? nullptr : found->second;
    }
    // `name` stands for the argument in the error.
    std::shared_ptr<Object> get(std::intptr_t number, const char *name) const {
        if (auto object = find(number)) return object;
        refuse(number, name);
    }
    void remove(std::intptr_t number, const char *name) {
        std::shared_ptr<Object> last; // ends outside the lock
        const std::unique_lock lock(mutex_);
        const auto found = objects_.find(number);
        if (found == objects_.end()) refuse(number, name);
        last = std::move(found->second);
        objects_.erase(found);
    }

private:
    [[noreturn]] void refuse(std::intptr_t number, const char *name) const {
        fail(TAPP_ATOLL_BAD_OBJECT, "{} = {:#x} is not {}, or was destroyed", name,
             static_cast<std::uintptr_t>(number), kind_);
    }

    const char *kind_;
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::intptr_t, std::shared_ptr<Object>> objects_;
};

} // namespace Atoll::Tapp
