// Streams (a worker thread with a queue), events, and the errors that stick to them.
#pragma once

#include "atoll/dummy.h"
#include "atoll/plugin.h"
#include "memory.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace Dummy {

// Note [Failures]
// Work that fails leaves a Failure on its stream; the work after it runs all the same, and further
// failures are dropped while one is unreported. An event takes the failure of its stream along, and
// a stream that waits for the event inherits it: its results depend on what failed. All of them
// share one object, so the first synchronisation reports it and no other does. It is made when the
// work is enqueued: when memory is gone on the worker, there is none for a message either.
struct Failure {
    std::int32_t status = 0;
    char text[640] = "";
    std::string function; // the culprit, "core.add"
    std::atomic<bool> reported{false};
};

// If there is a failure that nobody has reported, names its function in `error` and throws it.
void report(const std::shared_ptr<Failure> &failure, atoll_error *error);

// A mark in a stream. Each record starts a new generation, and waits are for the generation that is
// the latest when they are asked for: recording again does not disturb them. Generation 0, never
// recorded, counts as done.
class Event {
public:
    std::uint64_t start(); // a new generation
    void finish(std::uint64_t generation, std::shared_ptr<Failure> failure);
    std::uint64_t latest() const;
    bool done(std::uint64_t generation) const;
    // Blocks; returns the failure that the stream had when it reached the mark, or null.
    std::shared_ptr<Failure> wait(std::uint64_t generation) const;
    // Nanoseconds of the steady clock when `generation` or a later one was reached.
    std::int64_t time() const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable finished_;
    std::uint64_t latest_ = 0, done_ = 0;
    std::int64_t time_ = 0;            // of generation done_
    std::shared_ptr<Failure> failure_; // of generation done_
};

// All functions may be called from any thread but the stream's own; only synchronize and stop
// block. Waits cannot form a circle: an event can only be waited for once its mark is in a queue.
class Stream {
public:
    // `device`: for messages and checks, "dummy:0".
    Stream(std::string device, const Memory &memory);
    ~Stream() { stop(); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    const std::string &device() const { return device_; }
    atoll_dummy_queue *queue() { return &handle_.queue; }

    // `work` runs on the worker after all that was enqueued before; what it throws becomes the
    // failure of `function`.
    void enqueue(std::string function, std::function<void()> work);
    void record(std::shared_ptr<Event> event);
    void wait(std::shared_ptr<Event> event);
    // Calls function(argument, status of the unreported failure or `status`).
    void callback(void (*function)(void *, std::int32_t), void *argument, std::int32_t status);

    // Waits for what is enqueued so far; returns the unreported failure, if any, and forgets it.
    std::shared_ptr<Failure> synchronize();
    // Runs what is enqueued, then joins the worker. Nothing may be enqueued after.
    void stop();

private:
    struct Task {
        std::shared_ptr<Failure> failure; // if it fails
        std::function<void()> work;
    };

    void run();
    void fail(std::shared_ptr<Failure> failure);
    std::shared_ptr<Failure> failure() const;

    // What others enqueue their work with; `queue` comes first.
    struct Handle {
        atoll_dummy_queue queue;
        Stream *stream;
        const Memory *memory;
    };
    Handle handle_;
    const std::string device_;
    mutable std::mutex mutex_;
    std::condition_variable work_arrived_, work_done_;
    std::deque<Task> queue_;
    std::uint64_t enqueued_ = 0, completed_ = 0;
    bool stopping_ = false;
    std::shared_ptr<Failure> failure_;
    std::thread worker_; // last: starts when the rest exists
};

} // namespace Dummy
