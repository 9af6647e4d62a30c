// The pool of brackets: see executions.hpp.
#include "executions.hpp"

#include <ctime>

namespace Atoll::trace {

namespace {
constexpr std::uint32_t none = 0; // indices in the stack count from 1
constexpr std::uint64_t low = 0xffffffffu;
} // namespace

// Not zeroed: pages are touched as brackets come into use.
Executions::Executions() : brackets_(std::make_unique_for_overwrite<Bracket[]>(capacity)) {}

Bracket *Executions::take() noexcept {
    std::uint64_t head = free_.load(std::memory_order_acquire);
    while ((head & low) != none) {
        Bracket &first = brackets_[(head & low) - 1];
        const std::uint64_t next =
            ((head >> 32) + 1) << 32 | std::atomic_ref(first.next).load(std::memory_order_relaxed);
        if (free_.compare_exchange_weak(head, next, std::memory_order_acquire)) {
            under_way_.fetch_add(1, std::memory_order_relaxed);
            return &first;
        }
    }
    std::uint32_t index = untouched_.load(std::memory_order_relaxed);
    while (index < capacity)
        if (untouched_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed)) {
            under_way_.fetch_add(1, std::memory_order_relaxed);
            return &brackets_[index];
        }
    return nullptr;
}

void Executions::give_back(Bracket &bracket) noexcept {
    const auto index = static_cast<std::uint32_t>(&bracket - brackets_.get()) + 1;
    std::uint64_t head = free_.load(std::memory_order_relaxed), next;
    do {
        std::atomic_ref(bracket.next)
            .store(static_cast<std::uint32_t>(head & low), std::memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | index;
    } while (!free_.compare_exchange_weak(head, next, std::memory_order_release,
                                          std::memory_order_relaxed));
    under_way_.fetch_sub(1, std::memory_order_release); // last: see Session's end
}

bool Executions::settle(unsigned milliseconds) const noexcept {
    for (unsigned waited = 0;; ++waited) {
        if (under_way_.load(std::memory_order_acquire) == 0) return true;
        if (waited == milliseconds) return false;
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
}

} // namespace Atoll::trace
