// Retiring and loading again, with and without live objects; the end of the process.
#include "calls.hpp"
#include "suites.hpp"

#include <chrono>
#include <thread>

namespace Atoll::conformance {

namespace {

void load_again(const Target &target, const char *when) {
    try {
        load_plugin(target.path);
    } catch (const Error &e) {
        fail("cannot be loaded again {}: {}; load and unload must work repeatedly: keep "
             "state in the context that load makes, not in statics",
             when, e.what());
    }
}

void retire_it(const Target &target) {
    try {
        retire_plugin(target.name);
    } catch (const Error &e) {
        fail("does not retire although none of its objects is alive: {}", e.what());
    }
}

// Bytes of one call of the first function that can be called, if there is one.
std::vector<char> sample(const Target &target) {
    for (const Declared &declared : target.functions)
        if (callable(declared.function) && declared.function.repeats())
            return Prepared(declared, {}).bytes();
    return {};
}

// Repeatedly, with the same results.
void retires_and_loads(const Target &target) {
    const std::vector<char> want = sample(target);
    for (int round = 0; round < 5; ++round) {
        retire_it(target);
        for (const std::string &type : target.device_types)
            for (const Device &device : devices_of(type))
                fail("{} still exists after retiring", device.name());
        load_again(target, fmt::format("after retiring, the {}. time", round + 1).c_str());
        if (sample(target) != want)
            fail("gives other results after it was retired and loaded again");
    }
}

void refuses_while_tensors_live(const Target &target) {
    for (const std::string &type : target.device_types) {
        const std::vector<Device> own = devices_of(type);
        if (own.empty()) continue;
        {
            const Storage storage(64, own[0]);
            try {
                retire_plugin(target.name);
            } catch (const Error &e) {
                if (e.status() != Status::busy)
                    fail("retiring with a live storage: need 'busy', got {}", e.what());
                continue;
            }
        }
        load_again(target, "after retiring with a live storage");
        fail("could be retired while one of its storages was alive");
    }
    retire_it(target);
    load_again(target, "after a refused retire");
}

void retires_with_work_under_way(const Target &target) {
    const std::vector<char> want = sample(target);
    for (const std::string &type : target.device_types) {
        for (const Device &device : devices_of(type)) {
            const std::vector<char> bytes(1 << 20, 'x');
            // Destroyed while its transfer may still be running.
            const Tensor t = from_values(bytes.data(), uint8, 1 << 20, {uint8, device});
        }
    }
    retire_it(target);
    load_again(target, "after retiring while work was enqueued");
    if (sample(target) != want) fail("gives other results after retiring while work was enqueued");
}

void joins_its_threads(const Target &target) {
    retire_it(target);
    load_again(target, "");
    sample(target);
    retire_it(target);
    const std::size_t before = threads_alive();
    for (int round = 0; round < 6; ++round) {
        load_again(target, "");
        sample(target);
        retire_it(target);
    }
    std::size_t after = threads_alive();
    // The system may list a thread for a moment after it was joined.
    for (int i = 0; i < 1000 && after > before; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        after = threads_alive();
    }
    load_again(target, "");
    if (after >= before + 6)
        fail(
            "leaks threads: {} more after loading, using and retiring it 6 times; unload must join "
            "the plugin's threads",
            after - before);
}

// Until the end of the process, in memory that is never given back, as a program may hold objects.
void keep_work_under_way(const Target &target) {
    static auto &kept = *new std::vector<Tensor>;
    sample(target);
    for (const std::string &type : target.device_types)
        for (const Device &device : devices_of(type)) {
            const std::vector<char> bytes(1 << 20, 'x');
            kept.push_back(from_values(bytes.data(), uint8, 1 << 20, {uint8, device}));
        }
}

} // namespace

void add_lifecycle_checks(Checks &checks, const Target &target) {
    const auto add = [&](const char *variant, void (*body)(const Target &)) {
        checks.push_back({"lifecycle", "retire", "", variant, [&target, body] { body(target); }});
    };
    add("and load again, 5 times", retires_and_loads);
    if (!target.device_types.empty() && target.absent.empty()) {
        add("is refused while a storage lives", refuses_while_tensors_live);
        add("with work under way", retires_with_work_under_way);
    }
    add("joins threads", joins_its_threads);
    const auto add_exit = [&](const char *variant, void (*body)(const Target &)) {
        checks.push_back({"exit", "process", "", variant, [&target, body] { body(target); }, true});
    };
    add_exit("after a call", [](const Target &own) { sample(own); });
    add_exit("after retiring", retire_it);
    add_exit("with work under way", keep_work_under_way);
}

} // namespace Atoll::conformance
