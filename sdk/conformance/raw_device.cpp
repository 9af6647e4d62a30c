// Finds the plugin's context and calls its device functions with it.
#include "raw_device.hpp"

#include "passing_call.hpp"
#include "probe.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace Atoll::conformance {

namespace {

// The link through which the plugin's own `properties` is called.
struct Search {
    atoll_fn wanted;
    atoll_link found{};

    static std::int32_t look(const atoll_link *self, atoll_call *call) {
        Search &search = *static_cast<Search *>(self->ctx);
        for (const atoll_link *link = self->next; link; link = link->next)
            if (link->fn == search.wanted) search.found = *link;
        return self->next->fn(self->next, call);
    }
};

constexpr std::size_t tail = 64; // bytes that a newer host would have

} // namespace

RawDevice::RawDevice(const Target &target, const std::string &type, int index) : index_(index) {
    const auto read = [&](const atoll_plugin &plugin) {
        for (const atoll_impl_decl *impl : impls_of(plugin)) {
            if (std::string_view(impl->module) != "device" || impl->device_type != type) continue;
            for (std::uint32_t i = 0; i < impl->function_count; ++i)
                if (const auto &f = function_of(*impl, i); f.id < ATOLL_DEVICE_FN_COUNT)
                    functions_[f.id] = &f;
        }
    };
    read(*target.descriptor);
    if (!target.brings(type))
        for (const PluginReport &report : load_report())
            if (const auto *plugin = report.loaded ? query_plugin(report.path.string()) : nullptr)
                read(*plugin);
    for (const Device &device : devices_of(type))
        if (device.index() == index && functions_[ATOLL_DEVICE_FN_properties]) {
            name_ = device.name();
            host_memory_ = device.is_host_memory();
            Search search{functions_[ATOLL_DEVICE_FN_properties]->fn};
            const Pushed pushed("device.properties@" + type, &Search::look, &search, 0);
            device.properties();
            context_ = search.found.ctx;
            owner_ = search.found.owner;
        }
    if (!owner_) fail("device {} of type {} cannot be called", index, type);
}

std::int32_t RawDevice::try_call(int function, void *params, void *stream) const {
    constexpr std::size_t guard = 64;
    constexpr char mark = 0x5b;
    std::vector<char> text(capacity_ + guard, mark);
    text[0] = '\0';
    atoll_error error{sizeof(atoll_error), 0, 0, capacity_, 0, text.data(), {}};
    atoll_call own{};
    std::memset(own.reserved, tail_.value_or(0), sizeof own.reserved);
    own.struct_size = sizeof own;
    own.module = ATOLL_MODULE_DEVICE;
    own.function = static_cast<std::uint16_t>(function);
    own.device = index_;
    own.stream = stream;
    own.correlation = 1;
    own.error = &error;
    alignas(16) unsigned char longer[1024];
    const std::uint32_t size = *static_cast<const std::uint32_t *>(params);
    own.params = params;
    if (tail_ && size + tail <= sizeof longer) {
        std::memcpy(longer, params, size);
        std::memset(longer + size, *tail_, tail);
        *reinterpret_cast<std::uint32_t *>(longer) = size + static_cast<std::uint32_t>(tail);
        own.params = longer;
    }
    PassingCall passing(own);
    const std::int32_t status = passing.pass({functions_[function]->fn, context_, nullptr, owner_});
    if (!passing.changed().empty()) misdeed_ = passing.changed();
    if (own.params == longer) {
        *reinterpret_cast<std::uint32_t *>(longer) = size;
        std::memcpy(params, longer, size);
    }
    for (std::size_t i = capacity_; i < text.size(); ++i)
        if (text[i] != mark)
            fail("wrote past the error buffer, whose capacity is {} bytes; use "
                 "atoll_host::set_error, which cannot",
                 capacity_);
    text[capacity_ - 1] = '\0';
    text_ = text.data();
    return status;
}

void RawDevice::call(int function, void *params, void *stream) const {
    static constexpr const char *names[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) #name,
#include "atoll/lists/device_functions.inc"
    };
    const std::int32_t status = try_call(function, params, stream);
    if (!misdeed_.empty()) fail("{} {}", names[function], std::exchange(misdeed_, {}));
    if (status == ATOLL_STATUS_OK) return;
    fail("{} returned status {} ({}): {}", names[function], status,
         status >= 0 && status < ATOLL_STATUS_COUNT ? Atoll::name(static_cast<Status>(status))
                                                    : "which does not exist",
         text_.empty() ? "no details given" : text_);
}

void *RawDevice::allocate(std::uint64_t bytes, void *stream) const {
    atoll_memory_params params{sizeof params, 0, bytes, nullptr};
    call(ATOLL_DEVICE_FN_allocate, &params, stream);
    if (!params.data) fail("allocate returned OK and no address, for {} bytes", bytes);
    return params.data;
}

void RawDevice::free(void *data, std::uint64_t bytes, void *stream) const {
    atoll_memory_params params{sizeof params, 0, bytes, data};
    call(ATOLL_DEVICE_FN_free, &params, stream);
}

void RawDevice::transfer(atoll_transfer_kind kind, void *to, const void *from, std::size_t bytes,
                         int peer, void *stream) const {
    atoll_transfer_params params{sizeof params, kind, to, from, bytes, peer, 0};
    call(ATOLL_DEVICE_FN_transfer, &params, stream);
}

void RawDevice::synchronize(void *stream) const {
    if (!has(ATOLL_DEVICE_FN_stream_synchronize)) return;
    atoll_stream_params params{sizeof params, 0, stream};
    call(ATOLL_DEVICE_FN_stream_synchronize, &params, stream);
}

RawStream::RawStream(const RawDevice &device) : device_(&device) {
    if (!device.has(ATOLL_DEVICE_FN_stream_create)) return;
    atoll_stream_params params{sizeof params, 0, nullptr};
    device.call(ATOLL_DEVICE_FN_stream_create, &params);
    handle_ = params.stream;
}

RawStream::~RawStream() {
    if (!handle_) return;
    atoll_stream_params params{sizeof params, 0, handle_};
    device_->try_call(ATOLL_DEVICE_FN_stream_destroy, &params);
}

RawEvent::RawEvent(const RawDevice &device) : device_(&device) {
    atoll_event_params params{sizeof params, 0, nullptr};
    device.call(ATOLL_DEVICE_FN_event_create, &params);
    handle_ = params.event;
}

std::int32_t RawEvent::try_call(int function) const {
    atoll_event_params params{sizeof params, 0, handle_};
    return device_->try_call(function, &params);
}

void RawEvent::call(const RawDevice &on, int function, void *stream) const {
    atoll_event_params params{sizeof params, 0, handle_};
    on.call(function, &params, stream);
}

LongWork::LongWork(const RawDevice &device, void *stream, unsigned transfers)
    : device_(&device), stream_(stream), others_(bytes), last_(bytes), block_(device, bytes) {
    const std::vector<char> ones(bytes, 1);
    device.to_device(block_.data(), ones.data(), bytes);
    device.synchronize();
    for (unsigned i = 1; i < transfers; ++i)
        device.to_host(others_.data(), block_.data(), bytes, stream);
    device.to_host(last_.data(), block_.data(), bytes, stream);
}

LongWork::~LongWork() {
    if (drained_) return;
    try {
        device_->synchronize(stream_); // it writes to memory of this object
    } catch (const Failed &) {
        // the check fails already, or a check of the order on a stream reports it
    }
}

namespace {

constexpr unsigned most_transfers = 64;

// Tried until it is seen once, because a device may catch up while this thread does not run.
bool transfers_return_early(const RawDevice &device) {
    static std::map<std::string, bool> known; // checks run one at a time in a process
    const auto [at, is_new] = known.try_emplace(device.name(), false);
    for (int turn = 0; is_new && !at->second && turn < 16; ++turn)
        at->second = !LongWork(device, nullptr, most_transfers).done();
    return at->second;
}

} // namespace

void require_no_wait(const RawDevice &device, const std::string &complaint,
                     const std::function<std::optional<bool>(unsigned transfers)> &attempt) {
    if (!transfers_return_early(device))
        skip("the device has done all work when a transfer returns");
    int waited = 0;
    unsigned transfers = 4;
    for (int turn = 0; turn < most_attempts; ++turn) {
        const std::optional<bool> returned = attempt(transfers);
        if (returned == true) return;
        // Of little work this thread may often miss the end, of much hardly ever.
        waited += returned.has_value() && transfers == most_transfers;
        if (waited == 8) fail("{}", complaint);
        transfers = std::min(transfers * 4, most_transfers);
    }
    skip("in {} attempts, the work before the call was done before the call began", most_attempts);
}

void require_no_block(const RawDevice &device, const char *function,
                      const std::function<void(void *stream)> &call) {
    const RawStream stream(device);
    require_no_wait(device,
                    std::string(function) + " waits for the work on the stream; it must return at "
                                            "once",
                    [&](unsigned transfers) -> std::optional<bool> {
                        const LongWork work(device, stream.handle(), transfers);
                        if (work.done()) return {};
                        call(stream.handle());
                        return !work.done();
                    });
}

std::vector<char> bytes_of(std::size_t count, unsigned seed) {
    std::vector<char> bytes(count);
    std::uint32_t state = seed * 2654435761u + 12345;
    for (char &byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<char>(state >> 24);
    }
    return bytes;
}

void require_bytes(const std::vector<char> &want, const std::vector<char> &got,
                   const std::string &what) {
    for (std::size_t i = 0; i < want.size(); ++i)
        if (want[i] != got[i])
            fail("{}: byte {} of {} is {:#04x}, need {:#04x}", what, i, want.size(),
                 static_cast<unsigned char>(got[i]), static_cast<unsigned char>(want[i]));
}

} // namespace Atoll::conformance
