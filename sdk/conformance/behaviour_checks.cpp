// Per function: struct sizes of other versions, a no-op interposer, many threads, memory.
#include "calls.hpp"
#include "compare.hpp"
#include "probe.hpp"
#include "suites.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <malloc.h>
#include <thread>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

// Operands on the device and a place for the result.
struct Prepared {
    Call call;
    Device device;
    std::vector<Tensor> inputs;
    Guarded output;

    Prepared(const Declared &declared, DType dtype, Size size, std::size_t rotate = 0,
             const Placement &where = {})
        : call(make_call(declared.function, dtype, size)),
          device(where.device ? where.device : Target::device_of(declared.device_type)) {
        const Placement there(dtype, device, where.stream);
        for (Call::Input &input : call.inputs) {
            // Other threads, other values; a sorted table stays as it is.
            if (input.values.size() > rotate &&
                !(call.function.family == ATOLL_FAMILY_SEARCH && &input != call.inputs.data()))
                std::rotate(input.values.begin(), input.values.begin() + static_cast<long>(rotate),
                            input.values.end());
            inputs.push_back(lay_out(input.values, input.shape, input.dtype, there).tensor);
        }
        output = lay_out_blank(call.out_shape, call.result, there);
    }
    Tensor run() const {
        return invoke(call, inputs, device, call.takes_out ? Out(output.tensor) : Out());
    }
    // The bytes of the result.
    std::vector<char> bytes() const {
        const Tensor result = run();
        return storage_bytes(result);
    }
};

// ---- structs ------------------------------------------------------------------------------------

void other_sizes(const Declared &declared, Probe::Form form) {
    const Prepared prepared(declared, usual_dtype(declared), Size::small);
    const std::vector<char> want = prepared.bytes();
    Probe probe(declared.subject());
    probe.set_form(form);
    struct Words {
        const char *what, *rule;
    };
    const auto [what, rule] =
        form == Probe::Form::zero_tail
            ? Words{"structs are longer, with zeros at their end",
                    "a newer host sends such; a zero tail must be accepted"}
        : form == Probe::Form::unknown_tail
            ? Words{"structs are longer, with members at their end that the plugin does not know",
                    "a newer host sends such; do not look behind the members that you know"}
            : Words{"params are shorter", "what struct_size leaves out reads as zero"};
    try {
        const std::vector<char> got = prepared.bytes();
        if (probe.changed() == 0) throw Skipped("this function was not called");
        if (got != want) throw Failed(fmt::format("another result where the {}; {}", what, rule));
    } catch (const Error &e) {
        throw Failed(fmt::format("refused a call whose {}: {}; {}", what, e.what(), rule));
    }
}

// ---- interposed ---------------------------------------------------------------------------------

void same_when_interposed(const Declared &declared, DType dtype) {
    const Prepared prepared(declared, dtype, Size::small);
    const std::vector<char> want = prepared.bytes();
    const NoOp no_op(declared.subject());
    if (prepared.bytes() != want)
        throw Failed("another result under an interposer that only passes calls on; a function "
                     "must look at its call and its own context, not at who called it");
}

// ---- placed -------------------------------------------------------------------------------------

void same_on_other_device(const Declared &declared, Device other) {
    const DType dtype = usual_dtype(declared);
    const std::vector<char> want = Prepared(declared, dtype, Size::long_).bytes();
    if (Prepared(declared, dtype, Size::long_, 0, other).bytes() != want)
        throw Failed(fmt::format("another result on {} than on {}; run on the device that "
                                 "call->device names",
                                 other.name(), Target::device_of(declared.device_type).name()));
}

// Transfers to and from operands are on that stream, so a kernel on another one does not see them.
void same_on_own_stream(const Declared &declared) {
    constexpr std::size_t rounds = 4;
    const Device device = Target::device_of(declared.device_type);
    const DType dtype = usual_dtype(declared);
    Stream stream;
    try {
        stream = device.new_stream();
    } catch (const Error &e) {
        if (e.status() != Status::not_supported) throw;
        throw Skipped("the device has no streams of its own");
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::vector<char> want = Prepared(declared, dtype, Size::long_, round).bytes();
        if (Prepared(declared, dtype, Size::long_, round, {dtype, device, stream}).bytes() != want)
            throw Failed("another result where the operands are on a stream of their own; enqueue "
                         "the work on call->stream");
    }
}

// ---- threads ------------------------------------------------------------------------------------

void same_from_threads(const Declared &declared) {
    constexpr std::size_t threads = 4;
    constexpr int rounds = 12;
    const DType dtype = usual_dtype(declared);
    std::vector<Prepared> prepared;
    std::vector<std::vector<char>> want;
    for (std::size_t t = 0; t < threads; ++t) {
        // Worth a while of work, so that calls meet.
        prepared.emplace_back(declared, dtype,
                              elementwise(declared.function) ? Size::large : Size::long_, t);
        want.push_back(prepared.back().bytes());
    }
    std::barrier together(threads);
    std::atomic<int> wrong{0};
    std::vector<std::string> errors(threads);
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            try {
                for (int round = 0; round < rounds; ++round) {
                    together.arrive_and_wait(); // each call at the same moment
                    if (prepared[t].bytes() != want[t]) ++wrong;
                }
            } catch (const std::exception &e) {
                errors[t] = e.what();
            }
            together.arrive_and_drop();
        });
    for (std::thread &worker : workers) worker.join();
    for (const std::string &error : errors)
        if (!error.empty())
            throw Failed(fmt::format("a call failed while others ran on other threads: {}", error));
    if (wrong > 0)
        throw Failed(fmt::format("not thread-safe: {} of {} results differ when {} threads call at "
                                 "once, each on tensors of its own; functions are called from any "
                                 "thread, several at a time: keep scratch memory on the stack or "
                                 "per call",
                                 wrong.load(), threads * rounds, threads));
}

// ---- memory -------------------------------------------------------------------------------------

void device_memory_balances(const Declared &declared) {
    const Device device = Target::device_of(declared.device_type);
    { Prepared(declared, usual_dtype(declared), Size::small).run(); } // what is set up once
    device.synchronize();
    const MemoryCount count(declared.device_type);
    {
        const Prepared prepared(declared, usual_dtype(declared), Size::small);
        for (int i = 0; i < 3; ++i) prepared.run();
        device.synchronize();
    }
    device.synchronize();
    if (count.blocks() != 0)
        throw Failed(fmt::format("leaks device memory: {} blocks, {} bytes, allocated during calls "
                                 "and not freed when all tensors were gone",
                                 count.blocks(), count.bytes()));
}

// In the main arena and in mappings of their own; 0 under a sanitizer.
std::size_t heap_in_use() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

void host_memory_balances(const Declared &declared) {
    constexpr int rounds = 60;
    const Device device = Target::device_of(declared.device_type);
    const Prepared prepared(declared, usual_dtype(declared), Size::long_);
    const auto run = [&] {
        for (int i = 0; i < rounds; ++i) prepared.run();
        device.synchronize();
    };
    run();
    const std::size_t before = heap_in_use();
    run();
    const std::size_t after = heap_in_use();
    const std::size_t bound = rounds * 64; // bytes
    if (after > before + bound) {
        run(); // once more: what grows again is no cache
        if (heap_in_use() > after + bound)
            throw Failed(fmt::format("leaks host memory: {} bytes more after {} calls, and as many "
                                     "again after {} more; free what a call allocates before it "
                                     "returns, or when its work is done",
                                     after - before, rounds, rounds));
    }
}

} // namespace

void add_behaviour_checks(Checks &checks, const Target &target) {
    const auto each = [&](auto &&body) {
        for (const Declared &declared : target.functions)
            if (callable(declared.function) && declared.dtypes) body(declared);
    };
    const auto add = [&](const char *group, const Declared &declared, DType dtype,
                         const char *variant, auto body) {
        checks.push_back({group, declared.subject(), std::string(Atoll::name(dtype)), variant,
                          [&declared, body] { body(declared); }});
    };
    each([&](const Declared &declared) {
        const DType dtype = usual_dtype(declared);
        add("structs", declared, dtype, "longer, zeros at the end",
            [](const Declared &d) { other_sizes(d, Probe::Form::zero_tail); });
        add("structs", declared, dtype, "longer, unknown members",
            [](const Declared &d) { other_sizes(d, Probe::Form::unknown_tail); });
        const int family = declared.function.family;
        if (family == ATOLL_FAMILY_REDUCE || family == ATOLL_FAMILY_ARG_REDUCE)
            add("structs", declared, dtype, "shorter params",
                [](const Declared &d) { other_sizes(d, Probe::Form::short_params); });
    });
    each([&](const Declared &declared) {
        add("interposed", declared, usual_dtype(declared), "over everything",
            [](const Declared &d) {
                // The device's own functions, and those that the host inserts, are wrapped as well.
                const Prepared prepared(d, usual_dtype(d), Size::small);
                const std::vector<char> want = prepared.bytes();
                const NoOp no_op("*");
                const Prepared again(d, usual_dtype(d), Size::small);
                if (again.bytes() != want)
                    throw Failed("another result while everything is wrapped by an interposer that "
                                 "only passes calls on");
            });
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d)
            if (const auto dtype = static_cast<DType>(d); declared.has(dtype))
                add("interposed", declared, dtype, "",
                    [dtype](const Declared &d) { same_when_interposed(d, dtype); });
    });
    each([&](const Declared &declared) {
        const Device first = Target::device_of(declared.device_type);
        const DType dtype = usual_dtype(declared);
        for (const Device &other : devices())
            if (other.type() == first.type() && !(other == first))
                checks.push_back({"placed", declared.subject(), std::string(Atoll::name(dtype)),
                                  fmt::format("on {}", other.name()),
                                  [&declared, other] { same_on_other_device(declared, other); }});
        if (!first.is_inline())
            add("placed", declared, dtype, "on a stream of its own", same_on_own_stream);
    });
    each([&](const Declared &declared) {
        add("threads", declared, usual_dtype(declared), "", same_from_threads);
    });
    each([&](const Declared &declared) {
        add("memory", declared, usual_dtype(declared), "device memory", device_memory_balances);
        add("memory", declared, usual_dtype(declared), "host memory", host_memory_balances);
    });
}

} // namespace Atoll::conformance
