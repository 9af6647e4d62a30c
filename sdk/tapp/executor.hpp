// Executors: a device, and where its operands are.
#pragma once

#include "objects.hpp"

#include <atoll/device.hpp>
#include <atoll/stream.hpp>
#include <mutex>
#include <string_view>
#include <vector>

namespace Atoll::Tapp {

// What the executors of one device share. Lives as long as the process.
class Place {
public:
    explicit Place(Device device) : device_(device), name_(device.name()) {}

    Device device() const { return device_; }
    const char *name() const { return name_.c_str(); }

    // A stream that nobody else uses, so that the errors of its work are of one execution.
    Stream take_stream();
    void give_back(Stream stream);
    // For work on the default stream, likewise.
    std::mutex &default_stream_mutex() { return mutex_of_default_; }

private:
    const Device device_;
    const std::string name_;
    std::mutex mutex_, mutex_of_default_;
    std::vector<Stream> streams_;
};

// Loads the plugin if there is no such device yet. Throws Failure, Error.
Place &place(std::string_view name);
// Where memory of the host is.
Device host_device();

struct Target {
    Place *place;
    bool device_memory; // operands are in the device's memory
};

class Executor {
public:
    // As the environment says. Throws Failure, Error.
    Executor();

    // What it was made with.
    Target initial() const { return initial_; }
    Target target() const {
        const std::lock_guard lock(mutex_);
        return target_;
    }
    void set_device(Place &place) {
        const std::lock_guard lock(mutex_);
        target_.place = &place;
    }
    void set_device_memory(bool on) {
        const std::lock_guard lock(mutex_);
        target_.device_memory = on;
    }

private:
    const Target initial_;
    mutable std::mutex mutex_;
    Target target_;
};

Table<Executor> &executors();

} // namespace Atoll::Tapp
