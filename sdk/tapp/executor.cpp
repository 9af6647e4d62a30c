// Executors and handles.
#include "executor.hpp"

#include "handle.hpp"

#include <algorithm>
#include <atoll/error.hpp>
#include <atoll/plugins.hpp>
#include <cstdlib>

namespace Atoll::Tapp {

namespace {

constexpr const char *host = "cpu";

bool is_type_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

Device find_device(std::string_view name) {
    try {
        return device(name);
    } catch (const Error &error) {
        if (error.status() != Status::not_found) throw;
    }
    // A name only: a path would be opened from anywhere.
    const std::string_view type = name.substr(0, name.find(':'));
    if (!is_type_name(type))
        fail(TAPP_ATOLL_NOT_FOUND, "'{}' is no name of a device, as 'cpu' and 'dummy:0' are", name);
    load_plugin(type);
    return device(name);
}

} // namespace

Stream Place::take_stream() {
    {
        const std::lock_guard lock(mutex_);
        if (!streams_.empty()) {
            Stream stream = std::move(streams_.back());
            streams_.pop_back();
            return stream;
        }
    }
    return device_.new_stream();
}

void Place::give_back(Stream stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(std::move(stream));
}

Place &place(std::string_view name) {
    const Device found = find_device(name);
    static std::mutex mutex;
    static auto *const places = new std::vector<std::unique_ptr<Place>>;
    const std::lock_guard lock(mutex);
    for (const auto &known : *places)
        if (known->device() == found) return *known;
    return *places->emplace_back(std::make_unique<Place>(found));
}

Device host_device() { return find_device(host); }

namespace {

// Like all of Atoll, a privileged process does not trust its environment.
std::string_view environment(const char *variable) {
    const char *const value = secure_getenv(variable);
    return value ? value : "";
}

// Loads the plugins that are listed; those that were loaded stay as they are.
void load_listed(std::string_view list) {
    while (!list.empty()) {
        const std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        if (!name.empty()) load_plugin(name);
    }
}

Target target_of_environment() {
    const std::string_view wanted = environment("ATOLL_TAPP_DEVICE");
    Place &found = place(wanted.empty() ? host : wanted);
    static const bool loaded = (load_listed(environment("ATOLL_TAPP_PLUGINS")), true);
    (void)loaded;
    return {&found, false};
}

} // namespace

Executor::Executor() : initial_(target_of_environment()), target_(initial_) {}

Table<Executor> &executors() {
    static auto *const table = new Table<Executor>("an executor");
    return *table;
}

Table<Handle> &handles() {
    static auto *const table = new Table<Handle>("a handle");
    return *table;
}

} // namespace Atoll::Tapp

using namespace Atoll::Tapp;

TAPP_error TAPP_create_executor(TAPP_executor *exec) {
    return guarded([&] {
        require_memory(exec, "exec");
        *exec = 0;
        *exec = executors().add(std::make_shared<Executor>());
    });
}

TAPP_error TAPP_destroy_executor(TAPP_executor exec) {
    return guarded([&] { executors().remove(exec, "exec"); });
}

TAPP_error TAPP_create_handle(TAPP_handle *handle) {
    return guarded([&] {
        require_memory(handle, "handle");
        *handle = 0;
        *handle = handles().add(std::make_shared<Handle>());
    });
}

TAPP_error TAPP_destroy_handle(TAPP_handle handle) {
    return guarded([&] { handles().remove(handle, "handle"); });
}
