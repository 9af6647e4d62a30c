// Finding the plugin's context, and calling its device functions with it.
#include "raw_device.hpp"

#include <cstring>

#include <fmt/format.h>

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
    for (std::uint32_t i = 0; i < target.descriptor->impl_count; ++i) {
        const atoll_impl_decl &impl = *target.descriptor->impls[i];
        if (std::string(impl.module) != "device" || impl.device_type != type) continue;
        for (std::uint32_t k = 0; k < impl.function_count; ++k) {
            const auto *f = reinterpret_cast<const atoll_function_decl *>(
                reinterpret_cast<const char *>(impl.functions) +
                std::size_t{k} * impl.function_size);
            if (f->id < ATOLL_DEVICE_FN_COUNT) functions_[f->id] = f;
        }
    }
    for (const Device &device : devices())
        if (device.type() == type && device.index() == index) {
            name_ = device.name();
            Search search{functions_[ATOLL_DEVICE_FN_properties]->fn};
            const InterposerHandle handle =
                push_interposer(fmt::format("device.properties@{}", type), &Search::look, &search);
            device.properties();
            pop_interposer(handle);
            context_ = search.found.ctx;
            owner_ = search.found.owner;
        }
    if (!owner_) throw Failed(fmt::format("device {} of type {} cannot be called", index, type));
}

bool RawDevice::has(int function) const { return functions_[function] != nullptr; }

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
    const atoll_link link{functions_[function]->fn, context_, nullptr, owner_};
    const std::int32_t status = functions_[function]->fn(&link, &own);
    if (own.params == longer) {
        *reinterpret_cast<std::uint32_t *>(longer) = size;
        std::memcpy(params, longer, size);
    }
    for (std::size_t i = capacity_; i < text.size(); ++i)
        if (text[i] != mark)
            throw Failed(fmt::format("wrote past the error buffer, whose capacity is {} bytes; use "
                                     "atoll_host::set_error, which cannot",
                                     capacity_));
    text[capacity_ - 1] = '\0';
    text_ = text.data();
    return status;
}

void RawDevice::call(int function, void *params, void *stream) const {
    const std::int32_t status = try_call(function, params, stream);
    if (status == ATOLL_STATUS_OK) return;
    static constexpr const char *names[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) #name,
#include "atoll/lists/device_functions.inc"
    };
    throw Failed(fmt::format("{} returned status {} ({}): {}", names[function], status,
                             status >= 0 && status < ATOLL_STATUS_COUNT
                                 ? Atoll::name(static_cast<Status>(status))
                                 : "which does not exist",
                             text_.empty() ? "no details given" : text_));
}

void *RawDevice::allocate(std::uint64_t bytes, void *stream) const {
    atoll_memory_params params{sizeof params, 0, bytes, nullptr};
    call(ATOLL_DEVICE_FN_allocate, &params, stream);
    if (!params.data)
        throw Failed(fmt::format("allocate returned OK and no address, for {} bytes", bytes));
    return params.data;
}

void RawDevice::free(void *data, std::uint64_t bytes, void *stream) const {
    atoll_memory_params params{sizeof params, 0, bytes, data};
    call(ATOLL_DEVICE_FN_free, &params, stream);
}

void RawDevice::to_device(void *to, const void *from, std::size_t bytes, void *stream) const {
    atoll_transfer_params params{
        sizeof params, ATOLL_TRANSFER_HOST_TO_DEVICE, to, from, bytes, 0, 0};
    call(ATOLL_DEVICE_FN_transfer, &params, stream);
}

void RawDevice::to_host(void *to, const void *from, std::size_t bytes, void *stream) const {
    atoll_transfer_params params{
        sizeof params, ATOLL_TRANSFER_DEVICE_TO_HOST, to, from, bytes, 0, 0};
    call(ATOLL_DEVICE_FN_transfer, &params, stream);
}

void RawDevice::from_peer(void *to, const RawDevice &peer, const void *from, std::size_t bytes,
                          void *stream) const {
    atoll_transfer_params params{
        sizeof params, ATOLL_TRANSFER_DEVICE_TO_DEVICE, to, from, bytes, peer.index(), 0};
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

RawEvent::~RawEvent() {
    atoll_event_params params{sizeof params, 0, handle_};
    device_->try_call(ATOLL_DEVICE_FN_event_destroy, &params);
}

void RawEvent::record(void *stream) const {
    atoll_event_params params{sizeof params, 0, handle_};
    device_->call(ATOLL_DEVICE_FN_event_record, &params, stream);
}

void RawEvent::wait(const RawDevice &on, void *stream) const {
    atoll_event_params params{sizeof params, 0, handle_};
    on.call(ATOLL_DEVICE_FN_event_wait, &params, stream);
}

void RawEvent::synchronize() const {
    atoll_event_params params{sizeof params, 0, handle_};
    device_->call(ATOLL_DEVICE_FN_event_synchronize, &params);
}

std::int32_t RawEvent::query() const {
    atoll_event_params params{sizeof params, 0, handle_};
    return device_->try_call(ATOLL_DEVICE_FN_event_query, &params);
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
            throw Failed(fmt::format("{}: byte {} of {} is {:#04x}, need {:#04x}", what, i,
                                     want.size(), static_cast<unsigned char>(got[i]),
                                     static_cast<unsigned char>(want[i])));
}

} // namespace Atoll::conformance
