// Threads of the checks.
#include "check.hpp"

#include <exception>
#include <filesystem>
#include <iterator>
#include <malloc.h>
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
    std::error_code error;
    const std::filesystem::directory_iterator tasks("/proc/self/task", error);
    if (error) skip("/proc/self/task, which shows the threads, cannot be read");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

std::size_t heap_in_use() {
    const struct mallinfo2 info = ::mallinfo2(); // the main arena, and separate mappings
    return info.uordblks + info.hblkhd;
}

} // namespace Atoll::conformance
