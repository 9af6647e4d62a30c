// Which functions a stream took work from, so that an asynchronous error, which CUDA reports
// without its source, can name the likeliest one.
#pragma once

#include "atoll/plugin.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace Atoll::cuda {

// Any thread may note and read; what threads note at the same time may be lost.
class Culprit {
public:
    // Transfers hardly ever fail themselves: one is named only where there is nothing else.
    void note(const atoll_call &call) {
        const std::uint32_t value = std::uint32_t{call.module} << 16 | call.function;
        if (call.module == ATOLL_MODULE_DEVICE) {
            transfer_.store(value, std::memory_order_relaxed);
            return;
        }
        const std::uint32_t place = count_.load(std::memory_order_relaxed);
        recent_[place % recent_.size()].store(value, std::memory_order_relaxed);
        count_.store(place + 1, std::memory_order_relaxed);
    }
    // All work so far has succeeded.
    void clear() {
        count_.store(0, std::memory_order_relaxed);
        transfer_.store(none, std::memory_order_relaxed);
        for (auto &each : recent_) each.store(none, std::memory_order_relaxed);
    }
    void copy(const Culprit &other) {
        count_.store(other.count_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        transfer_.store(other.transfer_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        for (std::size_t i = 0; i < recent_.size(); ++i)
            recent_[i].store(other.recent_[i].load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
    }
    // The likeliest; NULL if nothing was enqueued since the last clear().
    const char *name(const atoll_host &host) const {
        const std::uint32_t count = count_.load(std::memory_order_relaxed);
        const std::uint32_t value =
            count ? recent_[(count - 1) % recent_.size()].load(std::memory_order_relaxed)
                  : transfer_.load(std::memory_order_relaxed);
        return value == none ? nullptr : name(host, value);
    }
    // All that are remembered, the latest first: "core.sum, core.add".
    std::string names(const atoll_host &host) const {
        std::string text;
        std::uint32_t last = none;
        for (std::uint32_t back = 1; back <= recent_.size(); ++back) {
            const std::uint32_t place = count_.load(std::memory_order_relaxed) - back;
            const std::uint32_t value =
                recent_[place % recent_.size()].load(std::memory_order_relaxed);
            if (value == none) break;
            if (value != last) text += (text.empty() ? "" : ", ") + std::string(name(host, value));
            last = value;
        }
        return text;
    }

private:
    static const char *name(const atoll_host &host, std::uint32_t value) {
        return host.function_name(static_cast<std::uint16_t>(value >> 16),
                                  static_cast<std::uint16_t>(value & 0xffff));
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::array<std::atomic<std::uint32_t>, 8> recent_ = {none, none, none, none,
                                                         none, none, none, none};
    std::atomic<std::uint32_t> count_{0}, transfer_{none};
};

} // namespace Atoll::cuda
