// Interposers of the kit: they record the operands that the plugin receives, and make the call in
// memory that is gone afterwards, and in another form within what the ABI allows.
#pragma once

#include "atoll/atoll.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace Atoll::conformance {

// One call as it arrived at the implementation.
struct Captured {
    struct Operand {
        const void *data;
        std::vector<std::int64_t> strides; // bytes
        DType dtype;
        std::uint32_t flags;
    };
    DType compute;
    std::vector<std::int64_t> shape;
    std::size_t core = 0;          // of the axes
    std::uint8_t axes[8] = {};     // core axes of each slot
    std::vector<Operand> operands; // outputs first
    int outputs = 1;
};

// An interposer of the kit's, or of the plugin under check, while this lives.
class Pushed {
public:
    Pushed(const std::string &target, atoll_fn fn, void *ctx, int priority)
        : handle(push_interposer(target, fn, ctx, priority, "conformance")) {}
    Pushed(const std::string &target, std::string_view name)
        : handle(push_interposer(target, name)) {}
    ~Pushed() { pop_interposer(handle); }
    Pushed(const Pushed &) = delete;
    Pushed &operator=(const Pushed &) = delete;
    const InterposerHandle handle;
};

class Probe {
public:
    // The reserved words of calls, operands and attributes that are passed on.
    enum class Form : std::uint8_t { as_it_is, zeros, anything };

    // Over a target of push_interposer ("core.add@cpu").
    explicit Probe(const std::string &target);

    // The calls since the last take(), without those that the host inserted.
    std::vector<Captured> take();
    void set_form(Form form) { form_ = form; }
    // Throws Failed if a call has changed its arguments.
    void require_read_only();
    // Looks at calls that begin before `is_done`: how many, and how many of them return before.
    // Not while calls are under way.
    void watch(std::function<bool()> is_done) { is_done_ = std::move(is_done); }
    int begun() const { return begun_; }
    int returned() const { return returned_; }
    // Calls whose form was really changed.
    int changed() const { return changed_; }

private:
    static std::int32_t pass(const atoll_link *self, atoll_call *call);
    void capture(const atoll_call &call);

    std::atomic<Form> form_{Form::as_it_is};
    std::atomic<int> changed_{0}, begun_{0}, returned_{0};
    std::function<bool()> is_done_;
    std::mutex mutex_;
    std::vector<Captured> captured_;
    std::string misdeed_;
    Pushed pushed_; // last: it calls pass, which uses the members above
};

// Counts allocations and releases of device memory on one device type.
class MemoryCount {
public:
    explicit MemoryCount(const std::string &device_type);
    std::int64_t blocks() const { return blocks_; } // allocated and not freed
    std::int64_t bytes() const { return bytes_; }

private:
    static std::int32_t pass(const atoll_link *self, atoll_call *call);
    std::atomic<std::int64_t> blocks_{0}, bytes_{0};
    Pushed pushed_;
};

// Passes every call on and does nothing else.
Pushed push_no_op(const std::string &target);

} // namespace Atoll::conformance
