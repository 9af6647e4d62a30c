// A module of a third party: what it declares in a line, the runtime does. Kernels see one matrix
// or one vector at a time, dense, native and of the dtype that they are declared for; stacks, other
// dtypes and layouts, overlap and results are not their business. The same arithmetic runs on two
// devices: on the cpu inside the call, on the simulated accelerator (`dummy`) on its stream, which
// the device's own API gives access to, as a GPU's would.
#include "linalg.hpp"

#include "atoll/dummy.h"
#include "atoll/owned_call.hpp"
#include "kernels.hpp"

#include <functional>
#include <memory>

ATOLL_PLUGIN_NOTE("linalg", ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_IMPLS, 0);

namespace Linalg {
namespace {

namespace sdk = Atoll::sdk;

struct State {
    explicit State(const atoll_host &host) : host(host) {}
    const atoll_host &host;
};

// --- The interface

std::int32_t infer_qr(void *, atoll_infer *infer, atoll_error *) {
    std::int64_t *extents = infer->extents; // m, n, r
    const bool complete = infer->attributes[0].value.i64 == LINALG_complete;
    extents[2] = complete ? extents[0] : std::min(extents[0], extents[1]);
    return ATOLL_STATUS_OK;
}

std::int32_t infer_dct(void *, atoll_infer *infer, atoll_error *) {
    const atoll_scalar &length = infer->attributes[0];
    infer->extents[1] = length.dtype == ATOLL_VALUE_ABSENT ? infer->extents[0] : length.value.i64;
    return ATOLL_STATUS_OK;
}

constexpr atoll_dtype_set floats =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);

constexpr atoll_function_info interface[] = {
    sdk::function(LINALG_solve, "solve", ATOLL_RULE_FLOAT, floats,
                  {"a (n, n), b (n, k?) -> x (n, k?), info (): int32", "", "status info",
                   "x with a x = b; info: the first pivot that is zero, from 1, or 0"}),
    sdk::function(LINALG_qr, "qr", ATOLL_RULE_FLOAT, floats,
                  {"a (m, n) -> q (m, r)?, r (r, n)", "mode: reduced | complete = reduced", "",
                   "a = q r with orthonormal columns of q and r upper triangular"},
                  &infer_qr),
    sdk::function(LINALG_dct, "dct", ATOLL_RULE_FLOAT, floats,
                  {"a (n) -> b (k)", "length: int64 >= 1?", "axes named",
                   "cosine transform of type II along an axis, cut or padded to `length`"},
                  &infer_dct),
    sdk::function(LINALG_smooth, "smooth", ATOLL_RULE_FLOAT, floats,
                  {"a (n) -> b (n)", "rate: float64 = 0.5", "axes named, in place a",
                   "b[i] = a[i] + rate * b[i - 1] along an axis"}),
    sdk::function(
        LINALG_generator, "generator", ATOLL_RULE_GIVEN, 0,
        {"-> state: object", "seed: int64 = 1", "", "the state of a generator of random numbers"}),
    sdk::function(LINALG_uniform, "uniform", ATOLL_RULE_GIVEN, floats,
                  {"state: object& -> a (n)", "", "n ordered",
                   "the generator's next n numbers, evenly spread over [0, 1)"}),
};
constexpr atoll_module_decl module = sdk::module("linalg", 1, interface);

// --- Objects

constexpr atoll_object_type generator_type = {
    sizeof(atoll_object_type), 0, "generator",
    [](void *, void *value) { delete static_cast<Generator *>(value); }};

template <const char *const &Device> void generator(State &state, atoll_call &call) {
    auto made = std::make_unique<Generator>();
    made->seed = call.attributes[0].value.u64;
    sdk::give_object(state.host, Device, call, 0, generator_type, made.get());
    made.release();
}
// The kernel of a call of `uniform`, for the numbers that it takes.
std::function<void(const atoll_call &)> draw(const atoll_call &call) {
    auto &from = sdk::object_value<Generator>(call, 1, generator_type);
    const auto n = static_cast<std::uint64_t>(call.shape[0]);
    return [seed = from.seed, first = from.next.fetch_add(n)](const atoll_call &later) {
        uniform(later, seed, first);
    };
}

// --- For the cpu

template <void (*Kernel)(const atoll_call &)> void on_cpu(State &, atoll_call &call) {
    Kernel(call);
}
void uniform_on_cpu(State &, atoll_call &call) { draw(call)(call); }

constexpr const char *cpu = "cpu";
constexpr atoll_function_decl cpu_functions[] = {
    sdk::declare<on_cpu<solve>>(LINALG_solve, floats),
    sdk::declare<on_cpu<qr>>(LINALG_qr, floats, 0, {.attributes = 1}),
    sdk::declare<on_cpu<dct>>(LINALG_dct, floats, 0, {.attributes = 1}),
    sdk::declare<on_cpu<smooth>>(LINALG_smooth, floats, 0, {.attributes = 1}),
    sdk::declare<generator<cpu>>(LINALG_generator, 0, 0, {.attributes = 1}),
    sdk::declare<uniform_on_cpu>(LINALG_uniform, floats),
};
constexpr atoll_impl_decl cpu_impl = sdk::implement("linalg", cpu, cpu_functions);

// --- For the simulated accelerator

constexpr const char *dummy = "dummy";

// What is enqueued: the call, as its worker sees it, and what to do.
struct Work {
    Work(const atoll_call &call, std::function<void(const atoll_call &)> what)
        : copy(call), kernel(std::move(what)) {}
    sdk::OwnedCall copy;
    std::function<void(const atoll_call &)> kernel;
};

void enqueue(State &state, const atoll_call &call, std::function<void(const atoll_call &)> kernel) {
    auto *queue =
        sdk::native_handle<atoll_dummy_queue *>(state.host, dummy, call, ATOLL_DUMMY_QUEUE);
    auto work = std::make_unique<Work>(call, std::move(kernel));
    for (atoll_operand &operand : work->copy.operands())
        if (!(operand.flags & (ATOLL_OPERAND_ABSENT | ATOLL_OPERAND_OBJECT)))
            operand.data = queue->address(queue, operand.data);
    queue->enqueue(
        queue, state.host.function_name(call.module, call.function),
        [](void *argument) {
            const std::unique_ptr<Work> own(static_cast<Work *>(argument));
            return sdk::guarded(nullptr, [&] { own->kernel(own->copy.call()); });
        },
        work.release());
}
template <void (*Kernel)(const atoll_call &)> void on_dummy(State &state, atoll_call &call) {
    enqueue(state, call, Kernel);
}
void uniform_on_dummy(State &state, atoll_call &call) { enqueue(state, call, draw(call)); }

constexpr atoll_function_decl dummy_functions[] = {
    sdk::declare<on_dummy<solve>>(LINALG_solve, floats),
    sdk::declare<on_dummy<qr>>(LINALG_qr, floats, 0, {.attributes = 1}),
    sdk::declare<on_dummy<dct>>(LINALG_dct, floats, 0, {.attributes = 1}),
    sdk::declare<on_dummy<smooth>>(LINALG_smooth, floats, 0, {.attributes = 1}),
    sdk::declare<generator<dummy>>(LINALG_generator, 0, 0, {.attributes = 1}),
    sdk::declare<uniform_on_dummy>(LINALG_uniform, floats),
};
constexpr atoll_impl_decl dummy_impl = sdk::implement("linalg", dummy, dummy_functions);

// --- The plugin

constexpr const atoll_module_decl *modules[] = {&module};
constexpr const atoll_impl_decl *impls[] = {&cpu_impl, &dummy_impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"linalg", "1.0.0", "a third party", "Apache-2.0", "example: linear algebra on two devices"},
    modules, impls);

} // namespace
} // namespace Linalg

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Linalg::plugin; }
