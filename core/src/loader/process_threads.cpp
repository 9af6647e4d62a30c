// Reading /proc/self/task: see process_threads.hpp.
#include "loader/process_threads.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

// Field 22 of proc(5)'s stat; 0 if the thread is gone.
std::uint64_t began(int id) {
    const int file =
        ::open(fmt::format("/proc/self/task/{}/stat", id).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char bytes[1024];
    const ssize_t size = ::read(file, bytes, sizeof bytes);
    ::close(file);
    std::string_view text(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
    // The name, field 2, is in parentheses and may hold anything.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos) return 0;
    text.remove_prefix(name_end + 1);
    for (int field = 3; field <= 22; ++field) {
        const std::size_t blank = text.find(' ');
        if (blank == std::string_view::npos) return 0;
        text.remove_prefix(blank + 1);
    }
    std::uint64_t ticks = 0;
    std::from_chars(text.data(), text.data() + text.size(), ticks);
    return ticks;
}

} // namespace

std::vector<int> threads_of_process() {
    const std::unique_ptr<DIR, int (*)(DIR *)> tasks(::opendir("/proc/self/task"), &::closedir);
    std::vector<int> ids;
    while (const dirent *entry = tasks ? ::readdir(tasks.get()) : nullptr)
        if (const int id = std::atoi(entry->d_name); id > 0) ids.push_back(id);
    return ids;
}

std::vector<ThreadIdentity> threads_since(const std::vector<int> &before) {
    std::vector<ThreadIdentity> threads;
    for (const int id : threads_of_process())
        if (std::find(before.begin(), before.end(), id) == before.end())
            if (const std::uint64_t ticks = began(id)) threads.push_back({id, ticks});
    return threads;
}

std::size_t still_running(const std::vector<ThreadIdentity> &threads) {
    const auto runs = [](const ThreadIdentity &t) { return began(t.id) == t.began; };
    std::size_t count = 0;
    for (int look = 0; look < 5; ++look) {
        if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        count = static_cast<std::size_t>(std::count_if(threads.begin(), threads.end(), runs));
        if (count == 0) break;
    }
    return count;
}

} // namespace Atoll::detail
