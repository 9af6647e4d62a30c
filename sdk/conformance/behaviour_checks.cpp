// Per function: reserved words, a no-op interposer, other devices, work before it, threads, memory.
#include "calls.hpp"
#include "probe.hpp"
#include "raw_device.hpp"
#include "suites.hpp"

#include <atomic>
#include <barrier>

namespace Atoll::conformance {

namespace {

// ---- structs ------------------------------------------------------------------------------------

// The host does not initialise them, so both calls set them.
void other_reserved(const Declared &declared) {
    const Prepared prepared(declared, {});
    Probe probe(declared.subject());
    constexpr const char *rule = "reserved words of calls, operands and attributes are "
                                 "unspecified; never read them";
    const auto with = [&](Probe::Form form) {
        probe.set_form(form);
        try {
            return prepared.bytes();
        } catch (const Error &e) {
            fail("refuses a call because of its reserved words: {}; {}", e.what(), rule);
        }
    };
    const std::vector<char> want = with(Probe::Form::zeros), got = with(Probe::Form::anything);
    if (probe.changed() == 0) skip("this function was not called");
    if (got != want) fail("the result depends on reserved words; {}", rule);
}

// ---- interposed ---------------------------------------------------------------------------------

void same_when_interposed(const Declared &declared, DType dtype, const std::string &over,
                          const char *difference) {
    const auto bytes = [&] {
        return Prepared(make_call(declared.function, dtype), {dtype, declared.device()}).bytes();
    };
    const std::vector<char> want = bytes();
    const Pushed no_op = push_no_op(over);
    if (bytes() != want) fail("different results {}", difference);
}

// ---- placed -------------------------------------------------------------------------------------

void same_on_other_device(const Declared &declared, Device other) {
    const std::vector<char> want = Prepared(declared, {.size = Size::long_}).bytes();
    if (Prepared(declared, {.size = Size::long_}, {usual_dtype(declared), other}).bytes() != want)
        fail("different results on {} and {}; run on the device that call->device names",
             other.name(), declared.device().name());
}

// Operands are transferred on that stream, so a kernel on another stream reads other values.
void same_on_own_stream(const Declared &declared) {
    constexpr std::size_t rounds = 4;
    const Device device = declared.device();
    const DType dtype = usual_dtype(declared);
    Stream stream;
    try {
        stream = device.new_stream();
    } catch (const Error &e) {
        if (e.status() != Status::not_supported) throw;
        skip("the device has no streams of its own");
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        const Recipe recipe{.size = Size::long_, .seed = round};
        const std::vector<char> want = Prepared(declared, recipe).bytes();
        if (Prepared(declared, recipe, {dtype, device, stream}).bytes() != want)
            fail("different results if the operands are on a separate stream; enqueue the work "
                 "on call->stream");
    }
}

// ---- enqueued -----------------------------------------------------------------------------------

// Behind work that takes a while, so that the call's own work begins when the call has returned:
// Note [Gone].
void returns_at_once(const Target &target, const Declared &declared) {
    const Device device = declared.device();
    const RawDevice raw(target, declared.device_type, device.index());
    const Recipe recipe{.size = Size::long_};
    const std::vector<char> want = Prepared(declared, recipe).bytes();
    Probe probe(declared.subject());
    require_no_wait(
        raw, "waits for the work before it on the stream; enqueue the work of the call and return",
        [&](unsigned transfers) -> std::optional<bool> {
            const Prepared prepared(declared, recipe); // with operands that hold no results yet
            device.synchronize();
            const int begun = probe.begun(), returned = probe.returned();
            const LongWork work(raw, nullptr, transfers);
            probe.watch([&] { return work.done(); });
            const std::vector<char> got = prepared.bytes();
            probe.watch({});
            probe.require_read_only();
            if (got != want) fail("other results if there is work before it on the stream");
            if (probe.begun() == begun) return {};
            return probe.returned() > returned;
        });
}

// ---- threads ------------------------------------------------------------------------------------

void same_from_threads(const Declared &declared) {
    constexpr std::size_t threads = 4;
    constexpr int rounds = 12;
    // Long enough for calls to overlap.
    const Size size = declared.function.signature.elementwise() ? Size::large : Size::long_;
    std::vector<Prepared> prepared;
    std::vector<std::vector<char>> want;
    for (std::size_t t = 0; t < threads; ++t) {
        prepared.emplace_back(declared, Recipe{.size = size, .seed = t});
        want.push_back(prepared.back().bytes());
    }
    std::barrier together(threads);
    std::atomic<int> wrong{0};
    on_threads(threads, [&](std::size_t t) {
        try {
            for (int round = 0; round < rounds; ++round) {
                together.arrive_and_wait(); // all threads call at once
                if (prepared[t].bytes() != want[t]) ++wrong;
            }
        } catch (const std::exception &e) {
            together.arrive_and_drop();
            fail("a call failed while other threads called: {}", e.what());
        }
    });
    if (wrong > 0)
        fail("not thread-safe: {} of {} results differ when {} threads call at once with "
             "separate tensors; several threads may call a function at once: keep "
             "scratch memory on the stack or per call",
             wrong.load(), threads * rounds, threads);
}

// ---- memory -------------------------------------------------------------------------------------

void device_memory_balances(const Declared &declared) {
    const Device device = declared.device();
    { Prepared(declared, {}).run(); } // one-time initialisation
    device.synchronize();
    const MemoryCount count(declared.device_type);
    {
        const Prepared prepared(declared, {});
        for (int i = 0; i < 3; ++i) prepared.run();
        device.synchronize();
    }
    device.synchronize();
    if (count.blocks() != 0)
        fail("leaks device memory: {} blocks, {} bytes, allocated during calls and not freed when "
             "all tensors were destroyed",
             count.blocks(), count.bytes());
}

void host_memory_balances(const Declared &declared) {
    constexpr int rounds = 60;
    const Device device = declared.device();
    const Prepared prepared(declared, {.size = Size::long_});
    const auto run = [&] {
        for (int i = 0; i < rounds; ++i) prepared.run();
        device.synchronize();
    };
    run();
    // A leak grows with every batch of calls. The caches of malloc grow only now and then: they
    // keep freed blocks per thread, and more of them after a longer queue.
    constexpr int batches = 8;
    constexpr std::size_t bound = rounds * 64; // bytes
    std::size_t growth = 0;
    for (int batch = 0; batch < batches; ++batch) {
        const std::size_t before = heap_in_use();
        run();
        const std::size_t after = heap_in_use();
        if (after <= before + bound) return;
        growth += after - before;
    }
    fail(
        "leaks host memory: {} bytes after {} calls, growing with every {} calls; free memory of a "
        "call before it returns, or when its work is done",
        growth, batches * rounds, rounds);
}

} // namespace

void add_behaviour_checks(Checks &checks, const Target &target) {
    const auto each = [&](const char *group, auto &&body) {
        for (const Declared &declared : target.functions) {
            const auto add = [&](DType dtype, const std::string &variant, auto check) {
                checks.push_back({group, declared.subject(), word(dtype), variant,
                                  [&declared, check] { check(declared); }});
            };
            if (callable(declared.function) && declared.function.repeats())
                body(declared, usual_dtype(declared), add);
        }
    };
    each("structs", [](const Declared &, DType usual, auto &&add) {
        add(usual, "reserved words", other_reserved);
    });
    each("interposed", [](const Declared &declared, DType usual, auto &&add) {
        // This includes functions of the device and calls that the host inserts.
        add(usual, "over everything", [usual](const Declared &d) {
            same_when_interposed(d, usual, "*",
                                 "while an interposer that only passes calls on wraps everything");
        });
        for (const DType dtype : declared.all_dtypes())
            add(dtype, "", [dtype](const Declared &d) {
                same_when_interposed(d, dtype, d.subject(),
                                     "under an interposer that only passes calls on; a function "
                                     "must depend only on its "
                                     "call and its context");
            });
    });
    each("placed", [](const Declared &declared, DType usual, auto &&add) {
        const Device first = declared.device();
        for (const Device &other : devices_of(declared.device_type))
            if (!(other == first))
                add(usual, "on " + other.name(),
                    [other](const Declared &d) { same_on_other_device(d, other); });
        if (!first.is_inline()) add(usual, "on a stream of its own", same_on_own_stream);
    });
    each("enqueued", [&target](const Declared &declared, DType usual, auto &&add) {
        // The host waits to count elements, and to see whether counts are valid.
        const sdk::Signature &s = declared.function.signature;
        if (!declared.device().is_inline() && s.nonzero < 0 &&
            (s.counts < 0 || !is_integer(usual) || declared.takes(ATOLL_CAP_REPORTS_RANGE)))
            add(usual, "", [&target](const Declared &d) { returns_at_once(target, d); });
    });
    each("threads",
         [](const Declared &, DType usual, auto &&add) { add(usual, "", same_from_threads); });
    each("memory", [](const Declared &, DType usual, auto &&add) {
        add(usual, "device memory", device_memory_balances);
        add(usual, "host memory", host_memory_balances);
    });
}

} // namespace Atoll::conformance
