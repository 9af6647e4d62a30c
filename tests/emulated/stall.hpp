// A stream of the emulated device that makes no progress for a while.
#pragma once

#include "runtime.hpp"

#include <atoll/atoll.hpp>
#include <condition_variable>
#include <mutex>

// Holds up a stream until it is told to go on.
class Stall {
public:
    explicit Stall(const Atoll::Stream &stream)
        : native_(reinterpret_cast<cudaStream_t>(stream.native_handle(1))) {
        native_->enqueue([this] {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return is_over_; });
        });
    }
    void end() {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        changed_.notify_all();
    }

    // Whether some thread waits for the stream to end.
    bool is_waited_for() const { return native_->waiters > 0; }

private:
    const cudaStream_t native_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_over_ = false;
};
