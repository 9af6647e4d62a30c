// Memory and transfers of the device types that the plugin brings.
#include "raw_device.hpp"
#include "suites.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <unistd.h>

namespace Atoll::conformance {

namespace {

atoll_properties_params properties_of(const RawDevice &device) {
    atoll_properties_params params{};
    params.struct_size = sizeof params;
    device.call(ATOLL_DEVICE_FN_properties, &params);
    return params;
}

void properties(const RawDevice &device) {
    const atoll_properties_params params = properties_of(device);
    if (!std::memchr(params.name, '\0', sizeof params.name))
        fail("the name of the model has no NUL within its 128 bytes");
    if (!params.name[0]) fail("the name of the model is empty");
    if (params.alignment < 16 || (params.alignment & (params.alignment - 1)))
        fail("alignment is {}, need a power of two, 16 or more", params.alignment);
    if (params.total_memory && params.free_memory > params.total_memory)
        fail("{} bytes are free of {}", params.free_memory, params.total_memory);
}

// The host checks each fact; what it refuses fails here.
void facts(Device device) {
    const auto names = [&] {
        std::vector<std::string> all;
        for (const DeviceFact &fact : device.facts()) all.push_back(fact.name);
        return all;
    };
    const std::vector<std::string> before = names();
    const Storage in_use(1024, device);
    if (const std::vector<std::string> now = names(); now != before)
        fail("facts named \"{}\" and, while memory was in use, \"{}\"; need the same names in the "
             "same order at every call",
             fmt::join(before, ", "), fmt::join(now, ", "));
}

void alignment(const RawDevice &device, std::uint64_t bytes) {
    const auto need = std::max<std::uint64_t>(properties_of(device).alignment, 64);
    std::vector<std::unique_ptr<Block>> blocks; // several, since one may be aligned by chance
    for (int i = 0; i < 8; ++i) {
        blocks.push_back(std::make_unique<Block>(device, bytes));
        const auto address = reinterpret_cast<std::uintptr_t>(blocks.back()->data());
        if (address % need)
            fail("allocate returned {:#x} for {} bytes, need a multiple of {} (64, or `alignment` "
                 "of properties where that is more)",
                 address, bytes, need);
    }
}

void blocks_do_not_overlap(const RawDevice &device) {
    constexpr std::size_t count = 48;
    std::vector<std::unique_ptr<Block>> blocks;
    const auto size = [](std::size_t i) { return 1 + i * i * 7; };
    for (std::size_t i = 0; i < count; ++i) {
        blocks.push_back(std::make_unique<Block>(device, size(i)));
        const auto bytes = bytes_of(size(i), static_cast<unsigned>(i));
        device.to_device(blocks[i]->data(), bytes.data(), bytes.size());
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<char> got(size(i));
        device.to_host(got.data(), blocks[i]->data(), got.size());
        device.synchronize();
        require_bytes(
            bytes_of(size(i), static_cast<unsigned>(i)), got,
            fmt::format("block {} of {} that live at once was changed by another", i, count));
    }
}

void zero_size(Device device) {
    const Storage nothing(0, device);
    Tensor a = empty({0, 3}, {float32, device}), b = empty({0, 3}, {float32, device});
    b.assign(a);
    if (a.to_vector<float>().size() != 0 || a.to(device).size() != 0)
        fail("an empty tensor has elements");
    const Tensor again = empty({}, {uint8, device}); // the device is as it was
    again.storage();
}

void too_much(const RawDevice &device, std::uint64_t bytes) {
    atoll_memory_params params{sizeof params, 0, bytes, nullptr};
    const std::int32_t status = device.try_call(ATOLL_DEVICE_FN_allocate, &params);
    if (status == ATOLL_STATUS_OK)
        fail("allocate returned OK for {} bytes; return ATOLL_STATUS_OUT_OF_MEMORY at once if "
             "there is "
             "not enough memory",
             bytes);
    if (status != ATOLL_STATUS_OUT_OF_MEMORY)
        fail("allocate of {} bytes returned status {}, need ATOLL_STATUS_OUT_OF_MEMORY ({})", bytes,
             status, device.text());
    if (device.text().empty()) fail("out of memory without a text: report the requested size");
    const Block small(device, 64);
    const auto want = bytes_of(64, 1);
    std::vector<char> got(64);
    device.to_device(small.data(), want.data(), 64);
    device.to_host(got.data(), small.data(), 64);
    device.synchronize();
    require_bytes(want, got, "after an allocation that failed, another one does not work");
}

// More than is free, yet not more than there is. A device whose memory is virtual may grant it.
void all_memory(const RawDevice &device) {
    const std::uint64_t all = properties_of(device).total_memory;
    { const Block freed(device, 4096); } // what is free again does not delay the answer
    device.synchronize();
    const Block held(device, 4096);
    atoll_memory_params params{sizeof params, 0, all, nullptr};
    const std::int32_t status = device.try_call(ATOLL_DEVICE_FN_allocate, &params);
    if (status == ATOLL_STATUS_OK)
        device.free(params.data, all);
    else if (status != ATOLL_STATUS_OUT_OF_MEMORY)
        fail("allocate of all {} bytes while some are in use returned status {}, need "
             "ATOLL_STATUS_OUT_OF_MEMORY ({})",
             all, status, device.text());
    device.synchronize();
    const Block small(device, 64);
}

void error_buffer(RawDevice device) {
    for (const std::uint32_t capacity : {1u, 8u, 16u}) {
        device.set_error_capacity(capacity);
        atoll_memory_params params{sizeof params, 0, std::uint64_t{1} << 60, nullptr};
        device.try_call(ATOLL_DEVICE_FN_allocate, &params);
    }
}

std::size_t resident_bytes() {
#if defined(__SANITIZE_ADDRESS__)
    return 0; // it keeps freed memory for a while
#endif
    std::size_t pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages >> pages))
        skip("/proc/self/statm, which shows the memory of this process, cannot be read");
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void free_returns_memory(const RawDevice &device) {
    constexpr std::size_t bytes = 4 << 20, rounds = 64;
    const std::vector<char> content(bytes, 'x');
    // One block at a time, so that pending releases do not matter.
    const auto round = [&] {
        {
            const Block block(device, bytes);
            device.to_device(block.data(), content.data(), bytes);
        }
        device.synchronize();
    };
    const auto free_memory = [&] {
        device.synchronize();
        return properties_of(device).free_memory;
    };
    for (int i = 0; i < 4; ++i) round();
    const std::uint64_t free_before = free_memory();
    const std::size_t before = resident_bytes();
    for (std::size_t i = 0; i < rounds; ++i) round();
    const std::uint64_t free_after = free_memory();
    const std::size_t after = resident_bytes();
    const std::size_t bound = bytes * rounds / 2;
    if (after > before + bound)
        fail("leaks memory: {} blocks of {} bytes were allocated and freed one after the other, "
             "and the process grew by {} bytes; free must release or reuse memory",
             rounds, bytes, after - before);
    // Host memory changes for many other reasons.
    const bool own_memory = free_before != 0 && !device.is_host_memory();
    if (own_memory && free_after + bound < free_before)
        fail("leaks device memory: {} bytes fewer are free after {} blocks of {} bytes were "
             "allocated and freed one after the other",
             free_before - free_after, rounds, bytes);
}

void allocate_from_threads(const RawDevice &device) {
    on_threads(4, [&](std::size_t t) {
        const RawDevice own = device; // with its own error text
        for (unsigned i = 0; i < 60; ++i) {
            const std::size_t size = 100 + 37 * i;
            const auto want = bytes_of(size, i + 1000u * static_cast<unsigned>(t));
            const Block block(own, size);
            own.to_device(block.data(), want.data(), size);
            std::vector<char> got(size);
            own.to_host(got.data(), block.data(), size);
            own.synchronize();
            require_bytes(want, got, "not thread-safe: memory of one thread was changed");
        }
    });
}

// ---- transfers ----------------------------------------------------------------------------------

void there_and_back(const RawDevice &device, std::size_t bytes, std::size_t offset) {
    const std::size_t all = bytes + 2 * 64;
    const Block block(device, all);
    const std::vector<char> around(all, 0x11);
    device.to_device(block.data(), around.data(), all);
    const auto want = bytes_of(bytes, static_cast<unsigned>(bytes));
    device.to_device(block.data(64 + offset - 32), want.data(), bytes);
    std::vector<char> got(bytes), whole(all);
    device.to_host(got.data(), block.data(64 + offset - 32), bytes);
    device.to_host(whole.data(), block.data(), all);
    device.synchronize();
    require_bytes(want, got, "data has changed on its way to the device and back");
    std::vector<char> expected = around;
    std::copy(want.begin(), want.end(), expected.begin() + static_cast<long>(32 + offset));
    require_bytes(expected, whole, "a transfer changed bytes outside its destination");
}

void source_may_be_reused(const RawDevice &device) {
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{1} << 20}) {
        const Block block(device, bytes);
        const auto want = bytes_of(bytes, 5);
        std::vector<char> source = want, got(bytes);
        device.to_device(block.data(), source.data(), bytes);
        std::fill(source.begin(), source.end(), 0x7f);
        device.to_host(got.data(), block.data(), bytes);
        device.synchronize();
        require_bytes(
            want, got,
            "the source was read after the transfer had returned; copy it first, since the "
            "caller may reuse it at once");
    }
}

// Host memory that transfers access without staging.
void pinned_memory(const RawDevice &device) {
    for (const std::size_t bytes : {1, 4099, 1 << 20}) {
        atoll_memory_params host{sizeof host, 0, bytes, nullptr};
        device.call(ATOLL_DEVICE_FN_allocate_host, &host);
        if (!host.data || reinterpret_cast<std::uintptr_t>(host.data) % 64)
            fail("allocate_host returned {} for {} bytes, need an address that is a multiple of 64",
                 host.data, bytes);
        const Block block(device, bytes);
        const auto want = bytes_of(bytes, 9);
        std::copy(want.begin(), want.end(), static_cast<char *>(host.data));
        atoll_transfer_params params{
            sizeof params,      ATOLL_TRANSFER_HOST_TO_DEVICE, block.data(), host.data, bytes, 0,
            ATOLL_TRANSFER_KEPT};
        device.call(ATOLL_DEVICE_FN_transfer, &params);
        std::vector<char> got(bytes);
        device.to_host(got.data(), block.data(), bytes);
        device.synchronize();
        require_bytes(want, got,
                      "a transfer from memory of allocate_host, with ATOLL_TRANSFER_KEPT");
        std::fill_n(static_cast<char *>(host.data), bytes, '\0');
        device.to_host(host.data, block.data(), bytes);
        device.synchronize();
        got.assign(static_cast<char *>(host.data), static_cast<char *>(host.data) + bytes);
        require_bytes(want, got, "a transfer to memory of allocate_host");
        device.call(ATOLL_DEVICE_FN_free_host, &host);
    }
}

void unknown_native_handle(const RawDevice &device) {
    atoll_native_handle_params params{sizeof params, 0x7fffffff, 0};
    if (const std::int32_t status = device.try_call(ATOLL_DEVICE_FN_native_handle, &params);
        status != ATOLL_STATUS_INVALID_ARGUMENT)
        fail("native_handle returned status {} for a kind that does not exist, need "
             "ATOLL_STATUS_INVALID_ARGUMENT",
             status);
}

void between_devices(Device from, Device to) {
    for (const std::int64_t bytes : {1, 64, 4099, 1 << 20}) {
        const auto want = bytes_of(static_cast<std::size_t>(bytes), static_cast<unsigned>(bytes));
        const Tensor a = from_values(want.data(), uint8, bytes, {uint8, from});
        const Tensor b = a.to(to);
        std::vector<char> got(static_cast<std::size_t>(bytes));
        b.read(got.data(), uint8);
        require_bytes(
            want, got,
            fmt::format("a copy of {} bytes from {} to {}", bytes, from.name(), to.name()));
    }
}

std::uint32_t enumerated(const RawDevice &device) {
    atoll_enumerate_params params{sizeof params, 0, {}};
    device.call(ATOLL_DEVICE_FN_enumerate, &params);
    return params.count;
}

void longer_structs(RawDevice device, unsigned char tail) {
    device.lengthen(tail);
    if (enumerated(device) == 0)
        fail("enumerate returns 0 devices if its params are longer; read only known "
             "members");
    properties(device);
    there_and_back(device, 1000, 1);
}

void enumerates_alike(const RawDevice &device, const std::string &type) {
    const std::size_t count = devices_of(type).size();
    const Block in_use(device, 64);
    for (int i = 0; i < 3; ++i)
        if (const std::uint32_t now = enumerated(device); now != count)
            fail("enumerate returns {} devices, but returned {} when it was loaded; the number "
                 "must not change",
                 now, count);
}

} // namespace

void add_device_checks(Checks &checks, const Target &target) {
    for (const std::string &absent : target.absent)
        checks.push_back({"device", absent.substr(0, absent.find(':')), "", "exists", [absent] {
                              skip("no device, so nothing that needs one was checked ({})", absent);
                          }});
    for (const Device &device : devices()) {
        const std::string type(device.type());
        if (!target.brings(type)) continue;
        const std::string name = device.name();
        const int index = device.index();
        const auto add = [&](const std::string &variant, std::function<void()> body) {
            checks.push_back({"device", name, "", variant, std::move(body)});
        };
        const auto raw = [&target, type, index] { return RawDevice(target, type, index); };
        add("enumerate returns the same number every time", [=] { enumerates_alike(raw(), type); });
        add("properties", [=] { properties(raw()); });
        for (const std::uint64_t bytes : {1, 2, 63, 64, 65, 1000, 4096, 100'000, 1 << 20})
            add(fmt::format("allocate {} bytes, alignment", bytes),
                [=] { alignment(raw(), bytes); });
        add("allocate, blocks do not overlap", [=] { blocks_do_not_overlap(raw()); });
        add("zero sizes", [=] { zero_size(device); });
        for (const int bits : {50, 60, 62})
            add(fmt::format("allocate 2^{} bytes fails, small ones succeed", bits),
                [=] { too_much(raw(), std::uint64_t{1} << bits); });
        if (device.properties().total_memory > 0) // 0: unknown
            add("allocate all memory while some is in use", [=] { all_memory(raw()); });
        add("allocate fails with a short error buffer", [=] { error_buffer(raw()); });
        add("free returns memory", [=] { free_returns_memory(raw()); });
        add("allocate from many threads", [=] { allocate_from_threads(raw()); });
        for (const std::size_t bytes : {1, 3, 64, 4095, 65537, 1 << 20})
            for (const std::size_t offset : {0, 1})
                add(fmt::format("transfer {} bytes there and back{}", bytes,
                                offset ? ", unaligned" : ""),
                    [=] { there_and_back(raw(), bytes, offset); });
        add("transfer, the source may be reused at once", [=] { source_may_be_reused(raw()); });
        const RawDevice own = raw();
        if (own.has(ATOLL_DEVICE_FN_allocate_host))
            add("allocate_host", [=] { pinned_memory(raw()); });
        if (own.has(ATOLL_DEVICE_FN_facts)) add("facts", [=] { facts(device); });
        if (own.has(ATOLL_DEVICE_FN_native_handle))
            add("native_handle of an unknown kind", [=] { unknown_native_handle(raw()); });
        for (const Device &other : devices())
            if (const std::string other_name = other.name(); other_name != name) {
                add(fmt::format("copy to {}", other_name), [=] { between_devices(device, other); });
                add(fmt::format("copy from {}", other_name),
                    [=] { between_devices(other, device); });
            }
        add("longer structs, zeros at the end", [=] { longer_structs(raw(), 0); });
        add("longer structs, unknown members", [=] { longer_structs(raw(), 0xa5); });
        add_stream_checks(checks, target, type, index);
        add_event_checks(checks, target, type, index);
    }
}

} // namespace Atoll::conformance
