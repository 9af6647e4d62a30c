// Threads of the checks.
#include "check.hpp"

#include <exception>
#include <filesystem>
#include <iterator>
#include <thread>

namespace Atoll::conformance {

void on_threads(std::size_t count, const std::function<void(std::size_t)> &body) {
    std::vector<std::exception_ptr> errors(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            try {
                body(i);
            } catch (...) {
                errors[i] = std::current_exception();
            }
        });
    for (std::thread &thread : threads) thread.join();
    for (const std::exception_ptr &error : errors)
        if (error) std::rethrow_exception(error);
}

std::size_t threads_alive() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

} // namespace Atoll::conformance
