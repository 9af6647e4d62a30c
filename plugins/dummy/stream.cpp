// Streams, events and their errors: see stream.hpp.
#include "stream.hpp"

#include "atoll/plugin.hpp"

#include <chrono>
#include <cstdio>

namespace Dummy {

namespace sdk = Atoll::sdk;

void report(const std::shared_ptr<Failure> &failure, atoll_error *error) {
    if (!failure || failure->reported.exchange(true)) return;
    const std::size_t size = failure->function.copy(error->function, sizeof error->function - 1);
    error->function[size] = '\0';
    // Only statuses of the ABI get into a Failure.
    throw sdk::Error(static_cast<atoll_status>(failure->status), failure->text);
}

std::uint64_t Event::start() {
    const std::lock_guard lock(mutex_);
    return ++latest_;
}

void Event::finish(std::uint64_t generation, std::shared_ptr<Failure> failure) {
    const std::lock_guard lock(mutex_);
    // Of two records on different streams the later one may be reached first.
    if (generation > done_) {
        done_ = generation;
        time_ =
            std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
        failure_ = std::move(failure);
    }
    finished_.notify_all();
}

std::uint64_t Event::latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

bool Event::done(std::uint64_t generation) const {
    const std::lock_guard lock(mutex_);
    return done_ >= generation;
}

std::shared_ptr<Failure> Event::wait(std::uint64_t generation) const {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return done_ >= generation; });
    return failure_;
}

std::int64_t Event::time() const {
    const std::lock_guard lock(mutex_);
    return time_;
}

Stream::Stream(std::string device, const Memory &memory)
    : handle_{{[](atoll_dummy_queue *queue, const char *name, std::int32_t (*function)(void *),
                  void *argument) {
                   reinterpret_cast<Handle *>(queue)->stream->enqueue(name, [function, argument] {
                       if (const std::int32_t status = function(argument))
                           throw sdk::Error(static_cast<atoll_status>(status), "failed");
                   });
               },
               [](atoll_dummy_queue *queue, void *device_address) -> void * {
                   return reinterpret_cast<Handle *>(queue)->memory->worker_address(device_address);
               }},
              this,
              &memory},
      device_(std::move(device)), worker_([this] { run(); }) {}

void Stream::enqueue(std::string function, std::function<void()> work) {
    Task task{std::make_shared<Failure>(), std::move(work)};
    task.failure->function = std::move(function);
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    ++enqueued_;
    work_arrived_.notify_one();
}

void Stream::record(std::shared_ptr<Event> event) {
    const std::uint64_t generation = event->start();
    enqueue("device.event_record",
            [this, event, generation] { event->finish(generation, failure()); });
}

void Stream::wait(std::shared_ptr<Event> event) {
    const std::uint64_t generation = event->latest();
    if (generation == 0) return;
    enqueue("device.event_wait", [this, event, generation] {
        const std::shared_ptr<Failure> inherited = event->wait(generation);
        if (inherited && !inherited->reported) fail(inherited);
    });
}

void Stream::callback(void (*function)(void *, std::int32_t), void *argument, std::int32_t status) {
    enqueue("device.host_callback", [this, function, argument, status] {
        const std::shared_ptr<Failure> current = failure();
        function(argument, current ? current->status : status);
    });
}

std::shared_ptr<Failure> Stream::synchronize() {
    std::unique_lock lock(mutex_);
    const std::uint64_t target = enqueued_;
    work_done_.wait(lock, [&] { return completed_ >= target; });
    return std::exchange(failure_, nullptr);
}

void Stream::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        work_arrived_.notify_one();
    }
    if (worker_.joinable()) worker_.join();
}

void Stream::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        work_arrived_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        Task task = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();

        Failure &failure = *task.failure;
        atoll_error error{.struct_size = sizeof error,
                          .status = 0,
                          .native_code = 0,
                          .capacity = sizeof failure.text,
                          .reserved = 0,
                          .text = failure.text,
                          .function = {}};
        failure.status = sdk::guarded(&error, task.work);
        if (failure.status != ATOLL_STATUS_OK) fail(std::move(task.failure));
        task = {}; // what the work owned is gone before it counts as done

        lock.lock();
        ++completed_;
        work_done_.notify_all();
    }
}

void Stream::fail(std::shared_ptr<Failure> failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_ || failure_->reported) failure_ = std::move(failure);
}

std::shared_ptr<Failure> Stream::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_ && !failure_->reported ? failure_ : nullptr;
}

} // namespace Dummy
