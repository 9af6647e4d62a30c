#include "launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <boost/context/fiber.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

thread_local constinit uint3 threadIdx{}, blockIdx{};
thread_local constinit dim3 blockDim, gridDim;

namespace Emulated {
namespace {

constexpr std::size_t stack_size = 256 << 10;
constexpr unsigned warp_size = 32;

// A stack and what runs on it. The sanitizers want to hear of every switch.
class Fiber {
public:
    // `body` runs at the first switch to this fiber, and returns once ending() is true.
    explicit Fiber(void (*body)(Fiber &))
        : stack_(new char[stack_size]),
          other_(std::allocator_arg,
                 boost::context::preallocated(stack_.get() + stack_size, stack_size, {}), Kept{},
                 [this, body](boost::context::fiber &&home) {
                     other_ = std::move(home);
                     arrived();
                     body(*this);
                     leaving(nullptr);
                     return std::move(other_);
                 }) {
#if defined(__SANITIZE_THREAD__)
        tsan_ = __tsan_create_fiber(0);
#endif
    }
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;
    ~Fiber() {
        ending_ = true;
        enter();
#if defined(__SANITIZE_THREAD__)
        __tsan_destroy_fiber(tsan_);
#endif
    }

    bool ending() const { return ending_; }
    // Runs this fiber until it calls leave() or ends.
    void enter() {
#if defined(__SANITIZE_THREAD__)
        home_tsan_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(tsan_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
        void *fake = nullptr;
        __sanitizer_start_switch_fiber(&fake, stack_.get(), stack_size);
        other_ = std::move(other_).resume();
        __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
        other_ = std::move(other_).resume();
#endif
    }
    // On the fiber's own stack: goes back to enter().
    void leave() {
        void *fake = nullptr;
        leaving(&fake);
        other_ = std::move(other_).resume();
        arrived(fake);
    }

private:
    // The stack is this object's.
    struct Kept {
        void deallocate(boost::context::stack_context &) noexcept {}
    };

    // Without a place for it, this stack is not come back to.
    void leaving([[maybe_unused]] void **fake) {
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(home_tsan_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(fake, home_stack_, home_size_);
#endif
    }
    void arrived([[maybe_unused]] void *fake = nullptr) {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake, &home_stack_, &home_size_);
#endif
    }

    std::unique_ptr<char[]> stack_;
    bool ending_ = false;
#if defined(__SANITIZE_ADDRESS__)
    const void *home_stack_ = nullptr;
    std::size_t home_size_ = 0;
#endif
#if defined(__SANITIZE_THREAD__)
    void *tsan_ = nullptr, *home_tsan_ = nullptr;
#endif
    boost::context::fiber other_; // the side that does not run
};

enum class State : std::uint8_t { ready, at_block_barrier, at_warp_barrier, done };

class Block;
thread_local Block *current = nullptr;
// Not inlined: a fiber must not keep what it has read before it was switched away from.
[[gnu::noinline]] Block &current_block() { return *current; }

// Stacks are kept by the thread: making one costs more than most blocks.
std::vector<std::unique_ptr<Fiber>> &spare_fibers() {
    thread_local std::vector<std::unique_ptr<Fiber>> spare;
    return spare;
}

// One block: see Note [Threads of a block].
class Block {
public:
    Block(const dim3 &threads, const std::function<void()> &thread, std::mt19937_64 &random)
        : thread_(thread), threads_(threads), states_(threads.x * threads.y * threads.z),
          fibers_(states_.size()), slots_(states_.size()), random_(random) {}

    void run() {
        current = this;
        std::vector<unsigned> order(states_.size());
        std::iota(order.begin(), order.end(), 0u);
        for (std::size_t done = 0; done < order.size();) {
            std::shuffle(order.begin(), order.end(), random_);
            bool moved = false;
            for (const unsigned number : order) {
                if (states_[number] != State::ready) continue;
                moved = true;
                run(number);
                done += states_[number] == State::done;
            }
            if (!release() && !moved && done < order.size()) {
                std::fputs("emulated: only some threads of a block came to a barrier\n", stderr);
                std::abort();
            }
        }
        current = nullptr;
    }

    // On a thread's own stack.
    void run_running() {
        thread_();
        stop(State::done);
    }
    void stop(State where) {
        states_[running_] = where;
        running_fiber_->leave();
    }
    void *slot(unsigned lane) { return &slots_[running_ / warp_size * warp_size + lane]; }

private:
    void run(unsigned number) {
        running_ = number;
        threadIdx = {number % threads_.x, number / threads_.x % threads_.y,
                     number / threads_.x / threads_.y};
        std::unique_ptr<Fiber> &fiber = fibers_[number];
        if (!fiber) {
            if (spare_fibers().empty()) spare_fibers().push_back(std::make_unique<Fiber>(&main));
            fiber = std::move(spare_fibers().back());
            spare_fibers().pop_back();
        }
        running_fiber_ = fiber.get();
        fiber->enter();
        if (states_[number] == State::done) spare_fibers().push_back(std::move(fiber));
    }

    // Lets those go on whose barrier is complete. False if there are none.
    bool release() {
        const auto complete = [&](std::size_t begin, std::size_t end, State where) {
            const auto from = states_.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto to = states_.begin() + static_cast<std::ptrdiff_t>(end);
            if (!std::all_of(from, to, [&](State state) { return state == where; })) return false;
            std::fill(from, to, State::ready);
            return true;
        };
        bool any = complete(0, states_.size(), State::at_block_barrier);
        for (std::size_t begin = 0; begin < states_.size(); begin += warp_size)
            any |= complete(begin, std::min(begin + warp_size, states_.size()),
                            State::at_warp_barrier);
        return any;
    }

    // What runs on every stack, for one thread after the other.
    static void main(Fiber &fiber) {
        while (!fiber.ending()) current_block().run_running();
    }

    const std::function<void()> &thread_;
    dim3 threads_;
    std::vector<State> states_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<uint4> slots_;
    std::mt19937_64 &random_;
    unsigned running_ = 0;
    Fiber *running_fiber_ = nullptr;
};

} // namespace

void block_barrier() { current_block().stop(State::at_block_barrier); }
void warp_barrier() { current_block().stop(State::at_warp_barrier); }
void *lane_slot(unsigned lane) { return current_block().slot(lane); }

namespace {

// See Note [Shared memory].
void spoil_shared_memory(const void *kernel) {
    auto code = reinterpret_cast<ElfW(Addr)>(kernel);
    const auto visit = [](dl_phdr_info *library, std::size_t, void *address) {
        const ElfW(Addr) at = *static_cast<ElfW(Addr) *>(address) - library->dlpi_addr;
        std::size_t bytes = 0;
        bool contains = false;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
            const auto &part = library->dlpi_phdr[i];
            if (part.p_type == PT_TLS) bytes = part.p_memsz;
            if (part.p_type == PT_LOAD) contains = contains || at - part.p_vaddr < part.p_memsz;
        }
        // Null as long as this thread has not used any.
        if (contains && library->dlpi_tls_data) std::memset(library->dlpi_tls_data, 0xa5, bytes);
        return contains ? 1 : 0;
    };
    dl_iterate_phdr(visit, &code);
}

} // namespace

void run_grid(const void *kernel, const dim3 &blocks, const dim3 &threads,
              const std::function<void()> &thread, std::uint64_t seed) {
    spoil_shared_memory(kernel);
    std::mt19937_64 random(seed);
    std::vector<unsigned> order(blocks.x * blocks.y * blocks.z);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    blockDim = threads;
    gridDim = blocks;
    for (const unsigned number : order) {
        blockIdx = {number % blocks.x, number / blocks.x % blocks.y, number / blocks.x / blocks.y};
        Block(threads, thread, random).run();
    }
}

} // namespace Emulated
