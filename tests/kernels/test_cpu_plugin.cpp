// Loads a cpu plugin by hand with a small host of its own: exported symbols, query, load, memory,
// a call through the table, unload, and all of it again.
//
// usage: test_cpu_plugin PLUGIN.so [doctest options]
#define DOCTEST_CONFIG_IMPLEMENT
#include "address_space.h"
#include "atoll/plugin.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <mutex>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

namespace {

const char *path = nullptr;
atoll_parallel_for offered = nullptr;
void *offered_pool = nullptr;
std::string threads_setting, cache_setting;

std::size_t config(void *, const char *key, const char *fallback, char *buffer,
                   std::size_t capacity) {
    std::string value = std::string(key) == "threads" ? threads_setting : fallback;
    if (std::string(key) == "cache_bytes" && !cache_setting.empty()) value = cache_setting;
    if (capacity) {
        const std::size_t size = std::min(value.size(), capacity - 1);
        std::memcpy(buffer, value.data(), size);
        buffer[size] = '\0';
    }
    return value.size();
}

atoll_host make_host() {
    atoll_host host{};
    host.struct_size = sizeof host;
    host.config = &config;
    host.offer_parallel_for = [](void *, atoll_parallel_for run, void *pool) {
        offered = run;
        offered_pool = pool;
    };
    host.parallel_for = [](void *, std::int64_t count, std::int64_t grain, atoll_range_body body,
                           void *argument) { offered(offered_pool, count, grain, body, argument); };
    return host;
}

struct Plugin {
    Plugin() {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        REQUIRE_MESSAGE(handle, dlerror());
        auto query =
            reinterpret_cast<atoll_plugin_query_fn>(dlsym(handle, "atoll_plugin_query_v0"));
        REQUIRE((query != nullptr));
        const atoll_host_info info = {sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, "test"};
        plugin = query(&info);
        REQUIRE(plugin == query(&info));
        error.struct_size = sizeof error;
        error.text = text;
        error.capacity = sizeof text;
    }
    const atoll_function_decl *find(const char *module, std::uint16_t id) const {
        for (std::uint32_t k = 0; k < plugin->impl_count; ++k) {
            const atoll_impl_decl &impl = *plugin->impls[k];
            if (std::string(impl.module) != module) continue;
            for (std::uint32_t f = 0; f < impl.function_count; ++f)
                if (impl.functions[f].id == id) return &impl.functions[f];
        }
        return nullptr;
    }
    std::int32_t call(const char *module, std::uint16_t id, void *params) {
        const atoll_function_decl *f = find(module, id);
        REQUIRE(f);
        atoll_call c{};
        c.struct_size = sizeof c;
        c.function = id;
        c.params = params;
        c.error = &error;
        return f->fn(&link(f->fn), &c);
    }
    const atoll_link &link(atoll_fn fn) {
        link_ = {fn, context, nullptr, nullptr};
        return link_;
    }
    void *handle;
    const atoll_plugin *plugin;
    void *context = nullptr;
    atoll_error error{};
    char text[200] = {};
    atoll_link link_{};
};

} // namespace

TEST_CASE("the plugin describes itself and declares every function") {
    Plugin p;
    CHECK(p.plugin->magic == ATOLL_MAGIC);
    CHECK(std::string(p.plugin->name) == "cpu");
    REQUIRE(p.plugin->device_type_count == 1);
    CHECK(p.plugin->device_types[0]->flags == (ATOLL_DEVICE_HOST_MEMORY | ATOLL_DEVICE_INLINE));
    for (std::uint16_t id = 0; id < ATOLL_FN_COUNT; ++id) CHECK(p.find("core", id) != nullptr);
    CHECK(dlsym(p.handle, "atoll_kernels_copy") == nullptr);
}

TEST_CASE("loads, allocates, adds, refuses and unloads, twice") {
    for (int round = 0; round < 2; ++round) {
        Plugin p;
        const atoll_host host = make_host();
        REQUIRE(p.plugin->load(&host, &p.context, &p.error) == ATOLL_STATUS_OK);
        atoll_properties_params properties{};
        CHECK(p.call("device", ATOLL_DEVICE_FN_properties, &properties) == ATOLL_STATUS_OK);
        CHECK(properties.units > 0);
        CHECK(properties.total_memory > 0);
        CHECK(properties.alignment == 64);
        for (const std::uint64_t bytes : {1, 64, 65, 4096, 4097, 100000, 50000000}) {
            std::vector<void *> blocks;
            for (int k = 0; k < 100; ++k) {
                atoll_memory_params memory{sizeof memory, 0, bytes, nullptr};
                REQUIRE(p.call("device", ATOLL_DEVICE_FN_allocate, &memory) == ATOLL_STATUS_OK);
                REQUIRE(reinterpret_cast<std::uintptr_t>(memory.data) % 64 == 0);
                std::memset(memory.data, k, std::min<std::uint64_t>(bytes, 4096));
                static_cast<char *>(memory.data)[bytes - 1] = 1;
                blocks.push_back(memory.data);
                if (bytes > 1000000 && k == 3) break;
            }
#if !defined(__SANITIZE_ADDRESS__) // which has no lists
            // New ones ascend: see Shared::refill.
            if (round == 0 && bytes == 4096)
                CHECK(std::is_sorted(blocks.begin(), blocks.begin() + 32));
#endif
            std::vector<void *> sorted = blocks;
            std::sort(sorted.begin(), sorted.end());
            CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
            // Freed on another thread.
            const atoll_function_decl *release = p.find("device", ATOLL_DEVICE_FN_free);
            std::thread([&] {
                for (void *block : blocks) {
                    atoll_memory_params memory{sizeof memory, 0, bytes, block};
                    atoll_call call{};
                    call.params = &memory;
                    release->fn(nullptr, &call);
                }
            }).join();
        }
        atoll_memory_params much{sizeof much, 0, std::uint64_t{1} << 60, nullptr};
        CHECK(p.call("device", ATOLL_DEVICE_FN_allocate, &much) == ATOLL_STATUS_OUT_OF_MEMORY);
        CHECK(std::string(p.text).find("1152921504606846976") != std::string::npos);

        std::vector<float> a(1000000, 1.5f), b(1000000, 2.0f), out(1000000);
        std::int64_t shape = 1000000, stride = 4;
        atoll_operand operands[3] = {};
        float *const data[] = {out.data(), a.data(), b.data()};
        for (int k = 0; k < 3; ++k) {
            operands[k].data = operands[k].base = data[k];
            operands[k].strides = &stride;
            operands[k].dtype = ATOLL_DTYPE_FLOAT32;
        }
        const atoll_function_decl *add = p.find("core", ATOLL_FN_add);
        const atoll_link &link = p.link(add->fn);
        atoll_call call{};
        call.struct_size = sizeof call;
        call.function = ATOLL_FN_add;
        call.dtype = ATOLL_DTYPE_FLOAT32;
        call.output_count = 1;
        call.operand_count = 3;
        call.rank = 1;
        call.shape = &shape;
        call.operands = operands;
        call.error = &p.error;
        REQUIRE(add->fn(&link, &call) == ATOLL_STATUS_OK);
        CHECK(std::all_of(out.begin(), out.end(), [](float x) { return x == 3.5f; }));
        shape = 1;
        out[0] = 0;
        const auto begin = std::chrono::steady_clock::now();
        constexpr int repeats = 1000000;
        for (int k = 0; k < repeats; ++k) add->fn(&link, &call);
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - begin;
        MESSAGE("one-element add at the plugin's entry: ", spent.count() / repeats, " ns");
        CHECK(out[0] == 3.5f);
        REQUIRE(p.plugin->unload(p.context, &p.error) == ATOLL_STATUS_OK);
    }
}

TEST_CASE("small blocks get the memory that large ones have cached, and give it back") {
#if defined(__SANITIZE_ADDRESS__)
    return; // no cache, and no limit of the address space
#endif
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        // Exits with the number of the step that failed.
        Plugin p;
        const atoll_host host = make_host();
        if (p.plugin->load(&host, &p.context, &p.error)) _exit(1);
        const auto allocate = [&](std::uint64_t bytes) -> void * {
            atoll_memory_params memory{sizeof memory, 0, bytes, nullptr};
            return p.call("device", ATOLL_DEVICE_FN_allocate, &memory) ? nullptr : memory.data;
        };
        const auto give_back = [&](void *data, std::uint64_t bytes) {
            atoll_memory_params memory{sizeof memory, 0, bytes, data};
            return p.call("device", ATOLL_DEVICE_FN_free, &memory) == ATOLL_STATUS_OK;
        };
        constexpr std::uint64_t mib = 1 << 20;
        std::vector<void *> large, small;
        for (int k = 0; k < 30; ++k) large.push_back(allocate(10 * mib));
        for (void *block : large)
            if (!block || !give_back(block, 10 * mib)) _exit(2);
        large.clear();
        small.reserve(200 * mib / 4096);
        if (!limit_address_space(8 * mib)) _exit(3);
        // 100 MiB of small blocks, then as much of large ones.
        for (std::uint64_t k = 0; k < 100 * mib / 4096; ++k) {
            small.push_back(allocate(4096));
            if (!small.back()) _exit(4);
            std::memset(small.back(), 1, 4096);
        }
        for (void *block : small)
            if (!give_back(block, 4096)) _exit(5);
        for (int k = 0; k < 20; ++k)
            if (!allocate(10 * mib)) _exit(6);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE(
    "blocks of any size stay apart, whoever frees them, and go back to the system at the end") {
    struct Block {
        void *data;
        std::uint64_t bytes;
        unsigned char stamp;
    };
    Plugin p;
    const atoll_host host = make_host();
    const atoll_function_decl &take = *p.find("device", ATOLL_DEVICE_FN_allocate);
    const atoll_function_decl &give = *p.find("device", ATOLL_DEVICE_FN_free);
    const auto call = [&](const atoll_function_decl &f, atoll_memory_params &memory) {
        const atoll_link link = {f.fn, p.context, nullptr, nullptr};
        atoll_call c{};
        c.struct_size = sizeof c;
        c.function = f.id;
        c.params = &memory;
        return f.fn(&link, &c) == ATOLL_STATUS_OK;
    };
    const auto is_whole = [](const Block &block) {
        const auto *bytes = static_cast<unsigned char *>(block.data);
        return std::all_of(bytes, bytes + block.bytes,
                           [&](unsigned char byte) { return byte == block.stamp; });
    };
    const auto in_use = [] {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    SUBCASE("kept for reuse") {}
    SUBCASE("nothing is kept") { cache_setting = "0"; }
    const bool keeps = cache_setting.empty();
    const std::size_t before = in_use();
    REQUIRE(p.plugin->load(&host, &p.context, &p.error) == ATOLL_STATUS_OK);
    std::mutex mutex;
    std::vector<Block> shared; // each thread frees what the other allocated
    std::atomic<int> faults{0};
    const auto churn = [&](unsigned seed) {
        static constexpr std::uint64_t sizes[] = {64,    4096,  4097,  5000,  9000,
                                                  16000, 61000, 65536, 65537, 300000};
        const std::size_t first = keeps ? 0 : 2; // of the smaller ones slabs remain
        std::mt19937 random(seed);
        std::vector<Block> own;
        const auto free_one = [&](const Block &block) {
            atoll_memory_params memory{sizeof memory, 0, block.bytes, block.data};
            if (!is_whole(block) || !call(give, memory)) ++faults;
        };
        for (int step = 0; step < 1000; ++step) {
            const std::uint64_t bytes = sizes[first + random() % (std::size(sizes) - first)];
            atoll_memory_params memory{sizeof memory, 0, bytes, nullptr};
            if (!call(take, memory)) return void(++faults);
            own.push_back({memory.data, bytes, static_cast<unsigned char>(random())});
            std::memset(memory.data, own.back().stamp, bytes);
            if (own.size() < 20) continue;
            std::swap(own[random() % own.size()], own.back());
            {
                const std::lock_guard lock(mutex);
                shared.push_back(own.back());
                own.pop_back();
                std::swap(shared[random() % shared.size()], shared.back());
                own.push_back(shared.back());
                shared.pop_back();
            }
            free_one(own.back());
            own.pop_back();
            if (own.size() > 15 && random() % 2) {
                free_one(own.back());
                own.pop_back();
            }
        }
        for (const Block &block : own) free_one(block);
    };
    {
        const std::jthread several(
            [&] { // one after the other, so that what one keeps gets to others
                for (unsigned seed = 0; seed < 8; ++seed) std::jthread(churn, seed);
            });
        churn(9); // this thread lives on, with what it keeps for itself
    }
    for (const Block &block : shared) {
        atoll_memory_params memory{sizeof memory, 0, block.bytes, block.data};
        CHECK(is_whole(block));
        CHECK(call(give, memory));
    }
    CHECK(faults == 0);
    constexpr std::size_t little = 65536;
    if (!keeps) CHECK(in_use() < before + little);
    cache_setting.clear();
    REQUIRE(p.plugin->unload(p.context, &p.error) == ATOLL_STATUS_OK);
    CHECK(in_use() < before + little);
}

TEST_CASE("a wrong setting is an error that names it") {
    Plugin p;
    const atoll_host host = make_host();
    threads_setting = "many";
    CHECK(p.plugin->load(&host, &p.context, &p.error) == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(p.text).find("threads") != std::string::npos);
    threads_setting = "";
}

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s PLUGIN.so [doctest options]\n", argv[0]);
        return 2;
    }
    path = argv[1];
    return doctest::Context(argc - 1, argv + 1).run();
}
