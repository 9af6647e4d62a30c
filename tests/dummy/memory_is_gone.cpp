// See memory_is_gone.hpp. A file of its own, so that no caller sees malloc and free behind new and
// delete.
#include "memory_is_gone.hpp"

#include <cstdlib>
#include <new>
#include <thread>

namespace FakeHost {
std::atomic<bool> memory_is_gone{false};
} // namespace FakeHost

namespace {
const std::thread::id first_thread = std::this_thread::get_id();
} // namespace

void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
    const bool gone = FakeHost::memory_is_gone && std::this_thread::get_id() != first_thread;
    return gone ? nullptr : std::malloc(bytes ? bytes : 1);
}
void *operator new(std::size_t bytes) {
    if (void *memory = operator new(bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
