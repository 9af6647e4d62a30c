// Deliberately broken plugins: each fails, in the check that is about its fault, with a message
// that names it.
#include "kit.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

using namespace kit;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

struct Broken {
    const char *plugin;
    const char *check;               // glob: a check that fails
    const char *message;             // a part of what it says
    const char *innocent = "file/*"; // glob: checks that still pass
};

// A sanitizer reports a crash differently.
const char *const crash = address_sanitizer ? "ended the process" : "died of signal 11";

const Broken list[] = {
    {"override-wrong_int32", "functions/core.add@cpu:int32/contiguous", "wrong result: 12 of 12",
     "functions/core.add@cpu:float64/*"},
    {"override-off_by_one", "functions/core.add@cpu:*/contiguous",
     "wrote outside the destination: byte 1 behind its last element", "functions/core.sum@*"},
    {"override-writes_input", "functions/core.add@cpu:*/contiguous", "wrote to its input",
     "functions/core.sum@*"},
    {"override-ignores_strides", "functions/core.add@cpu:*/transposed", "wrong result",
     "functions/core.add@*/contiguous"},
    {"override-ignores_strides", "functions/core.add@cpu:*/reversed", "wrong result",
     "functions/core.add@*/swapped"},
    {"override-ignores_swapped", "functions/core.add@cpu:*/swapped", "swapped",
     "functions/core.add@*/strided"},
    {"override-claims_dtype", "functions/core.add@cpu:int32/contiguous",
     "declares core.add@cpu for int32, but does not do it", "functions/core.add@cpu:float64/*"},
    {"override-does_nothing", "functions/core.add@cpu:float64/contiguous", "nothing was written",
     "functions/core.add@cpu:int32/*"},
    {"override-bad_status", "functions/core.add@cpu:*/contiguous", "status 4711",
     "functions/core.sum@*"},
    {"override-reads_shape_at_rank_0", "functions/core.add@cpu:*/rank 0",
     "wrote outside the destination", "functions/core.add@*/contiguous"},
    {"override-works_in_float", "functions/core.add@cpu:float64/contiguous", "wrong result",
     "functions/core.add@cpu:int32/*"},
    {"override-forgets_rank_3", "functions/core.add@cpu:*/any axes", "wrong result",
     "functions/core.add@*/transposed"},
    {"override-scribbles", "functions/core.add@cpu:*/contiguous",
     "wrote to the operands of its call", "functions/core.add@*/strided"},
    {"override-global_scratch", "threads/core.add@cpu*", "not thread-safe",
     "functions/*/contiguous"},
    {"override-leaks", "memory/core.add@cpu*/host memory", "leaks host memory",
     "functions/*/contiguous"},
    {"override-crashes", "functions/core.add@cpu:*/broadcast", crash,
     "functions/core.add@*/swapped"},
    {"override-exits", "functions/core.add@cpu:*/broadcast", "ended the process with status 3",
     "functions/core.add@*/swapped"},
    {"override-reads_reserved", "structs/core.sum@cpu*/reserved words",
     "reserved words of calls, operands and attributes are unspecified",
     "structs/core.matmul@*/reserved words"},
    {"override-forgets_rank_9", "functions/core.add@cpu:*/many axes", "wrong result",
     "functions/core.add@*/any axes"},
    {"override-overruns_whole_blocks", "functions/core.add@cpu:*/2 to 4097 elements",
     "vectors of 128 elements: wrote outside the destination", "functions/core.add@*/long"},
    {"override-sum_forgets_blocks", "functions/core.sum@cpu:*/2 to 4097 elements",
     "vectors of 1024 elements: wrong result", "functions/core.sum@*/long"},
    {"override-reads_behind", "bounds/core.add@cpu:*/no access behind operands", crash,
     "@(functions/*|bounds/core.add@*before*)"},
    {"override-reads_before", "bounds/core.add@cpu:*/no access before operands", crash,
     "@(functions/*|bounds/core.add@*behind*)"},
    {"override-swapped_as_first", "functions/core.add@cpu:*/first input swapped", "wrong result",
     "functions/core.add@*/swapped"},
    {"override-swapped_as_output", "functions/core.add@cpu:*/outputs swapped", "wrong result",
     "functions/core.add@*/swapped"},
    {"override-wrong_for_one_tensor", "functions/core.add@cpu:*/both inputs are one",
     "wrong result", "functions/core.add@*/in place*"},
    {"override-copies_first", "functions/core.add@cpu:*/in place of the last input", "wrong result",
     "functions/core.add@*/in place"},
    {"override-ignores_alpha_at_beta_1",
     "functions/core.matmul@cpu:float64/all attributes, beta = 1", "wrong result",
     "functions/core.matmul@*/all attributes"},
    {"override-wrong_for_one_row", "functions/core.matmul@cpu:float64/first core axis of extent 1",
     "wrong result", "functions/core.matmul@*/contiguous"},
    {"override-wrong_for_one_term",
     "functions/core.matmul@cpu:float64/second core axis of extent 1", "wrong result",
     "functions/core.matmul@*/first core axis of extent 1"},
    {"override-wrong_for_one_column",
     "functions/core.matmul@cpu:float64/third core axis of extent 1", "wrong result",
     "functions/core.matmul@*/second core axis of extent 1"},
    {"override-forgets_remainder", "functions/core.add@cpu:*/2 to 4097 elements",
     "vectors of 5 elements: wrong result: 1 of 5", "functions/core.add@*/contiguous"},
    {"override-forgets_last_share", "functions/core.add@cpu:*/1000003 elements",
     "1000003 elements, from element 990693 on: wrong result: 3 of 9310",
     "functions/core.add@*/2 to*"},
    {"override-reads_out_at_beta_0", "functions/core.matmul@cpu:float64/with c",
     "results hold NaN before the call", "functions/core.matmul@*/beta = 2"},
    {"override-ignores_alpha", "functions/core.matmul@cpu:float64/all attributes", "wrong result",
     "functions/core.matmul@*/contiguous"},
    {"override-ignores_descending", "functions/core.sort@cpu:float64/descending", "wrong result",
     "functions/core.sort@*/contiguous"},
    {"override-reload_broken", "lifecycle/retire/and load again*",
     "the library is initialised already", "functions/*/contiguous"},
    {"override-random_query", "load/query/returns the same every time", "it must be pure",
     "functions/*/contiguous"},
    {"override-refuses_newer_host", "load/query/accepts a longer atoll_host_info",
     "query returned NULL", "functions/*/contiguous"},
    {"override-second_symbol", "file/exports/one symbol", "add_elements", "functions/*/contiguous"},
    {"override-other_note", "load/plugin/loads", "its note says 'override_sum'"},
    {"override-other_kinds", "load/note/equals the descriptor",
     "the note says kinds 9, the descriptor 4", "functions/*/contiguous"},
    {"override-shadowed", "reached/core.add@cpu:float64", "calls go to another one",
     "functions/core.add@*/contiguous"},
    // The host refuses such memory, so that nothing can be computed.
    {"toy-misaligned", "device/toy:0/allocate 64 bytes, alignment", "need a multiple of 64"},
    {"toy-free_does_nothing", "device/toy:0/free returns memory", "leaks memory", "functions/*"},
    {"toy-free_too_early", "streams/toy:0/free is in order", "", "functions/*/contiguous"},
    {"toy-promises_too_much", "device/toy:0/allocate 2^60*",
     "allocate returned OK for 1152921504606846976 bytes", "functions/*"},
    {"toy-facts_change", "device/toy:0/facts", "need the same names in the same order",
     "functions/*"},
    {"toy-facts_control_terminals", "device/toy:0/facts", "gave the fact sound the value \"\\x07\"",
     "functions/*"},
    {"toy-overruns_error", "device/toy:0/allocate fails with a short error buffer",
     "wrote past the error buffer", "functions/*"},
    {"toy-copies_whole_words", "device/toy:0/transfer 4095 bytes there and back", "has changed",
     "device/toy:0/transfer 64 bytes there and back"},
    {"toy-reads_source_late", "device/toy:0/transfer, the source may be reused at once",
     "the source was read after the transfer had returned", "functions/*/contiguous"},
    {"toy-reorders", "streams/toy:0/order on the default stream",
     "work on one stream ran out of order", "functions/*/contiguous"},
    {"toy-ignores_stream", "placed/core.add@toy:float32/on a stream of its own",
     "enqueue the work on call->stream", "functions/*"},
    {"toy-ignores_device", "placed/core.add@toy:float32/on toy:1",
     "run on the device that call->device names", "functions/*"},
    {"toy-refuses_newer_params", "device/toy:0/longer structs, unknown members",
     "params say what the toy does not know", "device/toy:0/longer structs, zeros*"},
    {"toy-events_do_not_order", "streams/toy:0/event_wait orders two streams",
     "event_wait orders streams", "functions/*"},
    {"toy-events_do_not_wait", "streams/toy:0/an event completes after its work",
     "event_synchronize returned before the work", "functions/*"},
    {"toy-events_are_read_late", "streams/toy:0/an event is *", "", "functions/*"},
    {"toy-events_die_with_streams", "streams/toy:0/an event outlives its stream",
     "an event may outlive its stream", "functions/*"},
    {"toy-events_say_done", "streams/toy:0/event_query",
     "returned OK while the work before the event was under way", "functions/*"},
    {"toy-destroy_drops", "streams/toy:0/destroying a stream drains it",
     "stream_destroy returned before the work on the stream was done", "functions/*"},
    {"toy-wait_blocks", "streams/toy:0/event_wait does not block", "event_wait waits for the work",
     "streams/toy:0/event_wait orders two streams"},
    {"toy-free_blocks", "streams/toy:0/free does not block", "free waits for the work",
     "functions/*"},
    {"toy-kernel_blocks", "enqueued/core.add@toy:float32*", "waits for the work before it",
     "functions/*"},
    {"toy-reads_shape_late", "enqueued/core.add@toy:float32*", "", "device/*"},
    {"toy-query_is_busy", "streams/toy:0/event_query", "event_query returned status 10",
     "functions/*"},
    {"toy-calls_back_twice", "streams/toy:0/host callbacks", "called 2 times, need once",
     "functions/*"},
    {"toy-leaks_device_memory", "memory/core.add@toy*/device memory",
     "leaks device memory: 3 blocks", "functions/*"},
    {"toy-leaks_thread", "lifecycle/retire/joins threads", "leaks threads: 6 more", "functions/*"},
    {"toy-wants_exact_params", "device/toy:0/longer structs*", "params of another size",
     "functions/*"},
    {"counter-drops_calls", "interposers/counter/passes calls on, over [*]", "other results",
     "interposers/counter/passes calls on, over core.add"},
    {"counter-swallows_errors", "interposers/counter/passes errors on",
     "return what the next link returned", "interposers/counter/passes calls on*"},
    {"counter-says_nothing", "interposers/counter/reports", "reports nothing",
     "interposers/counter/passes calls on*"},
};

// What a sanitizer sees first, or keeps from happening.
bool makes_sense(const Broken &broken) {
    const std::string name = broken.plugin;
    return !address_sanitizer || (name != "override-leaks" && name != "toy-free_too_early" &&
                                  name != "toy-free_does_nothing" && name != "toy-misaligned");
}

} // namespace

TEST_CASE("every broken plugin fails in the check about its fault, with a message that names it") {
    for (const Broken &wrong : list) {
        if (!makes_sense(wrong)) continue;
        CAPTURE(std::string(wrong.plugin));
        conf::Options options{.plugin = broken(wrong.plugin), .filter = wrong.check};
        const conf::Report guilty = conf::run(options);
        CHECK_MESSAGE(guilty.failed() > 0, "no check ", wrong.check, " failed");
        CHECK_MESSAGE(contains(conf::summary(guilty), wrong.message), conf::summary(guilty));
        // A file that cannot be loaded has no other checks.
        if (contains(wrong.check, "/loads")) continue;
        options.filter = wrong.innocent;
        const conf::Report innocent = conf::run(options);
        CHECK_MESSAGE(innocent.failed() == 0, conf::summary(innocent));
        CHECK(innocent.passed() > 0);
    }
}

TEST_CASE("a plugin that leaves a process behind fails for that alone, and once") {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // to wait for it here
    const char *const filter = "@([!b]*/core.add@*|[!b]*/process/*)";
    const conf::Report good = conf::run({.plugin = broken("override-conforms"), .filter = filter});
    const conf::Report report = conf::run({.plugin = broken("override-forks"), .filter = filter});
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    CHECK_MESSAGE(report.failed() == 1, conf::summary(report));
    CHECK(contains(conf::summary(report), "left a process behind"));
    CHECK(report.results.size() == good.results.size());
    int left = 0;
    for (int status = 0; ::waitpid(-1, &status, 0) > 0; ++left)
        CHECK_MESSAGE(WIFSIGNALED(status), "it was left to run to its end");
    CHECK(left > 0);
}

TEST_CASE("what a plugin prints does not spoil the reports") {
    const conf::Report report =
        conf::run({.plugin = broken("override-prints_bytes"), .filter = "functions/*/rank 0"});
    CHECK(report.failed() > 0);
    for (const std::string &text : {conf::summary(report), conf::junit(report)}) {
        CHECK(contains(text, "having printed: \\xc3\\xff\\x1b[31m"));
        CHECK_FALSE(contains(text, "\x1b"));
        CHECK_FALSE(contains(text, "\xff"));
    }
}

TEST_CASE("a crash or a hang fails its own check and no other") {
    const char *const filter = "*/core.add@*";
    const conf::Report good = conf::run({.plugin = broken("override-conforms"), .filter = filter});
    for (const char *name : {"override-crashes", "override-exits", "override-hangs"}) {
        CAPTURE(name);
        conf::Options options{.plugin = broken(name), .filter = filter};
        options.deadline = 8;
        const conf::Report bad = conf::run(options);
        CHECK(bad.results.size() == good.results.size());
        const bool hangs = contains(name, "hangs"); // for int32 only, as each takes the deadline
        CHECK(bad.failed() == (hangs ? 1 : 2));
        if (hangs) CHECK(contains(conf::summary(bad), "hung: no answer for"));
    }
}
