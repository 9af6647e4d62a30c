// A plugin of naive kernels that takes as little as it is told to, and a module with objects.
//
// What it declares is told by variables of the environment at each query, as with odd.cpp:
//   PICKY       words: "gemm", "sort", "negative", "copy", "left_shift", "gather", "scatter" (it
//               replaces these functions of core on the cpu; with "odd" gemm on that device, for
//               float16 and float64), "memory" (open_device fills device memory), "thread" (one of
//               its own works until unload), "dummy" (its module computes there, too)
//   PICKY_CAPS  ATOLL_CAP_*, of all functions but gemm and sort; strides of left_shift are dense
//   PICKY_RANK  their max_rank
//   PICKY_KNOWS how many attributes and inputs its functions know, gather and scatter included
// The setting "make" says what `make` gives back, "destroy" how objects go.
//
// With -DOTHER it is another plugin that implements the module for the cpu with higher priority.
#include "atoll/half.h"
#include "atoll/plugin.hpp"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#ifdef OTHER
#define NAME "picky_other"
#else
#define NAME "picky"
#endif
ATOLL_PLUGIN_NOTE(NAME, ATOLL_CONTAINS_IMPLS | ATOLL_CONTAINS_MODULES, 0);

namespace {

constexpr bool other = std::string_view(NAME) != "picky";

namespace sdk = Atoll::sdk;

std::string variable(const char *name) {
    const char *text = std::getenv(name);
    return text ? text : "";
}
bool told(const char *word) {
    return (" " + variable("PICKY") + " ").find(word) != std::string::npos;
}
std::uint32_t number(const char *name) {
    return static_cast<std::uint32_t>(std::strtoul(variable(name).c_str(), nullptr, 0));
}

// ---- memory of devices, outside of calls
// ---------------------------------------------------------

struct Place {
    const char *device_type;
    std::int32_t device;
};

// A call of its own: no stream, no parent, correlation 0.
atoll_call call_on(const Place &place, std::uint16_t module, std::uint16_t function,
                   atoll_error &error) {
    atoll_call call{};
    call.struct_size = sizeof call;
    call.module = module;
    call.function = function;
    call.device = place.device;
    call.error = &error;
    return call;
}

std::int32_t fill(const atoll_host &host, const Place &place, void *data, double value,
                  std::int64_t count) {
    char text[200] = "";
    atoll_error error{sizeof error, 0, 0, sizeof text, 0, text, ""};
    atoll_call call = call_on(place, ATOLL_MODULE_CORE, ATOLL_FN_fill, error);
    const std::int64_t stride = sizeof(double);
    atoll_operand out{};
    out.data = out.base = data;
    out.strides = &stride;
    out.dtype = ATOLL_DTYPE_FLOAT64;
    out.device = place.device;
    const atoll_scalar number{ATOLL_DTYPE_FLOAT64, 0, 0, {.f64 = {value, 0}}};
    call.dtype = ATOLL_DTYPE_FLOAT64;
    call.output_count = call.operand_count = call.attribute_count = call.rank = 1;
    call.shape = &count;
    call.operands = &out;
    call.attributes = &number;
    const std::int32_t status = host.dispatch(host.self, place.device_type, &call);
    if (status != ATOLL_STATUS_OK || call.correlation == 0)
        host.log(host.self, ATOLL_LOG_ERROR, (std::string("fill failed: ") + text).c_str());
    return status;
}

std::int32_t memory(const atoll_host &host, const Place &place, bool give_back, void *&data) {
    char text[200] = "";
    atoll_error error{sizeof error, 0, 0, sizeof text, 0, text, ""};
    atoll_call call = call_on(place, ATOLL_MODULE_DEVICE,
                              give_back ? ATOLL_DEVICE_FN_free : ATOLL_DEVICE_FN_allocate, error);
    atoll_memory_params params{sizeof params, 0, 64, data};
    call.params = &params;
    const std::int32_t status = host.dispatch(host.self, place.device_type, &call);
    data = params.data;
    return status;
}

// ---- state
// ---------------------------------------------------------------------------------------

struct State {
    explicit State(const atoll_host &h) : host(h) {
        note(std::string("path ") + host.plugin_path);
        for (const char *name : {"core.fill", "core.nothing", "picky.next", "picky.", "", "."}) {
            std::uint16_t module = 7, function = 7;
            const std::int32_t status = host.find_function(name, &module, &function);
            note(std::string("find '") + name + "' " + std::to_string(status) + " " +
                 std::to_string(module) + " " + std::to_string(function));
        }
        if (told("thread"))
            worker = std::thread([this] {
                double here[8];
                while (!stops) {
                    fill(host, {"cpu", 0}, here, 3, 8);
                    fills += here[7] == 3;
                }
            });
    }
    ~State() {
        stops = true;
        if (worker.joinable()) {
            worker.join();
            note(std::string("worked ") + (fills > 0 ? "some" : "not"));
        }
    }
    void note(const std::string &text) const { host.log(host.self, ATOLL_LOG_INFO, text.c_str()); }
    std::string setting(const char *key) const { return sdk::config(host, key); }

    const atoll_host &host;
    std::map<std::pair<std::string, std::int32_t>, void *> memory; // of devices
    std::thread worker;
    std::atomic<bool> stops{false};
    std::atomic<long> fills{0};
};

std::int32_t open(State &state, const char *type, std::int32_t device) {
    if (!told("memory")) return ATOLL_STATUS_OK;
    void *data = nullptr;
    std::int32_t status = memory(state.host, {type, device}, false, data);
    if (status == ATOLL_STATUS_OK) {
        status = fill(state.host, {type, device}, data, 5, 8);
        if (status == ATOLL_STATUS_OK)
            state.memory[{type, device}] = data;
        else // there is no close for a device that could not be opened
            memory(state.host, {type, device}, true, data);
    }
    state.note(std::string("opened ") + type + " " + std::to_string(status));
    return status;
}
void close(State &state, const char *type, std::int32_t device) {
    // What the mode was when it was opened counts.
    const auto own = state.memory.find({type, device});
    if (own == state.memory.end()) return;
    const std::int32_t status = memory(state.host, {type, device}, true, own->second);
    state.note(std::string("closed ") + type + " " + std::to_string(status));
}
template <const auto &Type> std::int32_t open(void *state, std::int32_t device, atoll_error *) {
    return open(*static_cast<State *>(state), Type, device);
}
template <const auto &Type> void close(void *state, std::int32_t device) {
    close(*static_cast<State *>(state), Type, device);
}
constexpr char cpu_name[] = "cpu", dummy_name[] = "dummy";

// ---- core: a product of three loops
// --------------------------------------------------------------

struct Half {
    std::uint16_t bits;
    operator float() const { return atoll_half_to_float(bits); }
};
Half narrow(float value, Half) { return {atoll_float_to_half(value)}; }
template <class T, class Sum> T narrow(Sum value, T) { return static_cast<T>(value); }

// Dense matrices, and nothing but a, b and d is looked at.
template <class T, class Sum = T> void multiply(atoll_call &call) {
    if (call.rank != 3 || call.core != 3)
        throw sdk::Error(ATOLL_STATUS_INTERNAL, "got other axes than m, k, n");
    const std::int64_t m = call.shape[0], k = call.shape[1], n = call.shape[2];
    const std::int64_t size = sizeof(T);
    const atoll_operand *o = call.operands;
    const auto lies = [](const atoll_operand &x, std::int64_t s, std::int64_t t, std::int64_t inner,
                         int p, int q) {
        return (s == 1 || x.strides[p] == inner) && (t == 1 || x.strides[q] == inner * s);
    };
    if (!lies(o[0], m, n, size, 0, 2) || !lies(o[1], m, k, size, 0, 1) ||
        !lies(o[2], k, n, size, 1, 2) || (o[0].flags | o[1].flags | o[2].flags) & 7)
        throw sdk::Error(ATOLL_STATUS_INTERNAL, "got operands that are not dense");
    if (!(o[3].flags & ATOLL_OPERAND_ABSENT))
        throw sdk::Error(ATOLL_STATUS_INTERNAL, "got a c that it does not know");
    T *d = static_cast<T *>(o[0].data);
    const T *a = static_cast<const T *>(o[1].data), *b = static_cast<const T *>(o[2].data);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            Sum sum{};
            for (std::int64_t l = 0; l < k; ++l) sum += Sum(a[i + m * l]) * Sum(b[l + k * j]);
            d[i + m * j] = narrow(sum, T{});
        }
}
// As kernels do that use the call for their variables.
void scribble(atoll_call &call) {
    for (int o = 0; o < call.operand_count; ++o) {
        call.operands[o].data = nullptr;
        call.operands[o].flags = ATOLL_OPERAND_ABSENT;
    }
}

void gemm(State &, atoll_call &call) {
    switch (call.dtype) {
    case ATOLL_DTYPE_FLOAT16: multiply<Half, float>(call); break;
    case ATOLL_DTYPE_FLOAT32: multiply<float>(call); break;
    case ATOLL_DTYPE_FLOAT64: multiply<double>(call); break;
    case ATOLL_DTYPE_INT64: multiply<std::int64_t>(call); break;
    case ATOLL_DTYPE_COMPLEX128: multiply<std::complex<double>>(call); break;
    default: throw sdk::Error(ATOLL_STATUS_INTERNAL, "got a dtype that it did not declare");
    }
    scribble(call);
}

void sort(State &, atoll_call &call) {
    double *b = static_cast<double *>(call.operands[0].data);
    const double *a = static_cast<const double *>(call.operands[1].data);
    const std::int64_t n = call.shape[0];
    std::copy(a, a + n, b);
    std::sort(b, b + n);
    scribble(call);
}

// ---- kernels for any strides
// ---------------------------------------------------------------------

// body(pointers of float64) for each element of the call's space.
template <class Body> void each(const atoll_call &call, const Body &body) {
    std::vector<std::int64_t> at(call.rank);
    for (;;) {
        double *p[ATOLL_MAX_OPERANDS] = {};
        for (int o = 0; o < call.operand_count; ++o) {
            char *data = static_cast<char *>(call.operands[o].data);
            for (int i = 0; i < call.rank && data; ++i) data += at[i] * call.operands[o].strides[i];
            p[o] = reinterpret_cast<double *>(data);
        }
        body(p);
        int i = 0;
        while (i < call.rank && ++at[i] == call.shape[i]) at[i++] = 0;
        if (i == call.rank) return;
    }
}
// What the host has copied for the call is spoilt, as a kernel may do.
void spoil(const atoll_call &call) {
    for (int o = call.output_count; o < call.operand_count; ++o)
        if (call.operands[o].flags & ATOLL_OPERAND_DISPOSABLE)
            each(call, [&](double **p) { *p[o] = -1e9; });
}

void negative(State &, atoll_call &call) {
    each(call, [](double **p) { *p[0] = -*p[1]; });
    spoil(call);
}
// Looks at the counts itself, whoever has done so before.
void left_shift(State &, atoll_call &call) {
    const std::int64_t n = call.rank ? call.shape[0] : 1;
    const auto *values = static_cast<const std::int64_t *>(call.operands[1].data),
               *counts = static_cast<const std::int64_t *>(call.operands[2].data);
    for (std::int64_t i = 0; i < n; ++i)
        if (counts[i] < 0)
            throw sdk::Error(ATOLL_STATUS_DOMAIN_, "seen by the kernel: a negative count");
    auto *results = static_cast<std::int64_t *>(call.operands[0].data);
    for (std::int64_t i = 0; i < n; ++i) results[i] = values[i] << counts[i];
}
void copy(State &, atoll_call &call) {
    each(call, [](double **p) { *p[0] = *p[1]; });
}
// Moves elements by offsets, which apply to the operand `indexed`. Without the capabilities it
// takes the host's promises at their word: no strides, and a unit of one byte.
template <int indexed> void move(State &, atoll_call &call) {
    const std::uint64_t caps = number("PICKY_CAPS");
    const std::int64_t unit = number("PICKY_KNOWS") ? call.attributes[0].value.i64 : 1;
    const std::size_t size = call.dtype == ATOLL_DTYPE_UINT8 ? 1 : 8;
    const std::size_t sizes[] = {size, size, 8};
    for (int o = 0; o < call.operand_count; ++o)
        if (!(caps & ATOLL_CAP_UNALIGNED) &&
            reinterpret_cast<std::uintptr_t>(call.operands[o].data) % sizes[o])
            throw sdk::Error(ATOLL_STATUS_INTERNAL, "got an unaligned operand");
    const auto move_one = [&](void *to, void *from, void *at) {
        char *ends[] = {static_cast<char *>(to), static_cast<char *>(from)};
        std::int64_t offset;
        std::memcpy(&offset, at, sizeof offset);
        ends[indexed] += offset * unit;
        std::memcpy(ends[0], ends[1], size);
    };
    if (caps & ATOLL_CAP_STRIDED)
        return each(call, [&](double **p) { move_one(p[0], p[1], p[2]); });
    char *p[3];
    for (int o = 0; o < 3; ++o) p[o] = static_cast<char *>(call.operands[o].data);
    std::int64_t n = 1;
    for (int i = 0; i < call.rank; ++i) n *= call.shape[i];
    for (; n > 0; --n) {
        move_one(p[0], p[1], p[2]);
        for (int o = 0; o < 3; ++o)
            if (o != indexed) p[o] += sizes[o];
    }
}
void combine(State &, atoll_call &call) {
    each(call, [](double **p) { *p[0] = *p[1] + 2 * *p[2]; });
    spoil(call);
}
// Takes the promise of dense operands at its word.
void dense_sums(State &, atoll_call &call) {
    const std::int64_t n = call.rank ? call.shape[0] : 1;
    const auto numbers = [&](int o) { return static_cast<double *>(call.operands[o].data); };
    for (std::int64_t i = 0; i < n; ++i) numbers(1)[i] = numbers(2)[i] + 2 * numbers(3)[i];
    if (double *copy = numbers(0)) std::copy_n(numbers(1), n, copy);
}
void total(State &, atoll_call &call) {
    if (call.core == 0) throw sdk::Error(ATOLL_STATUS_INTERNAL, "a group without an axis");
    each(call, [](double **p) { *p[0] = 0; });
    each(call, [](double **p) { *p[0] += *p[1]; });
    spoil(call);
}
void shift(State &, atoll_call &call) {
    const double by = call.attributes[0].value.f64[0];
    each(call, [&](double **p) { *p[0] = *p[1] + by + (p[2] ? *p[2] : 0); });
}

// ---- objects
// -------------------------------------------------------------------------------------

struct Counter {
    std::int64_t first;
    std::atomic<std::int64_t> now;
};
void destroy(void *plugin, void *value) {
    auto &state = *static_cast<State *>(plugin);
    auto *counter = static_cast<Counter *>(value);
    state.note("destroyed " + std::to_string(counter->first));
    delete counter;
    if (state.setting("destroy") == "throws") throw std::runtime_error("destroy exploded");
}
constexpr atoll_object_type counter_type{sizeof(atoll_object_type), 0, "counter", &destroy};
constexpr atoll_object_type stranger_type{sizeof(atoll_object_type), 0, "stranger", &destroy};

template <const auto &Type> void make(State &state, atoll_call &call) {
    const std::string what = state.setting("make");
    if (what == "nothing") return;
    if (what == "garbage") {
        call.operands[0].data = &state;
        return;
    }
    static std::atomic<atoll_object *> last{nullptr};
    if (what == "again" || what == "once more") { // without a count to give, and with one
        if (what == "once more") state.host.object_retain(last);
        call.operands[0].data = last;
        return;
    }
    const std::int64_t first = call.attributes[0].value.i64;
    const auto &type = what == "stranger" ? stranger_type : counter_type;
    if (what == "elsewhere") {
        atoll_call other = call;
        other.device = 1;
        return sdk::give_object(state.host, "dummy", other, 0, type, new Counter{first, {first}});
    }
    sdk::give_object(state.host, Type, call, 0, type, new Counter{first, {first}});
    auto *made = static_cast<atoll_object *>(call.operands[0].data);
    last = made;
    if (what == "let go") state.host.object_release(made); // the count that it gives away
    if (what == "fails") throw sdk::Error(ATOLL_STATUS_KERNEL_FAILED, "not today");
}
Counter &counter(const atoll_call &call, std::size_t operand) {
    if (!(call.operands[operand].flags & ATOLL_OPERAND_OBJECT))
        throw sdk::Error(ATOLL_STATUS_INTERNAL, "got an object without its flag");
    return sdk::object_value<Counter>(call, operand, counter_type);
}
// Writes an int64, on the cpu or the simulated accelerator, which has a fill of its own.
template <const auto &Type> void write(State &state, atoll_call &call, std::int64_t value) {
    const atoll_scalar number{ATOLL_DTYPE_INT64, 0, 0, {.i64 = value}};
    atoll_call inner{};
    inner.module = ATOLL_MODULE_CORE;
    inner.function = ATOLL_FN_fill;
    inner.dtype = ATOLL_DTYPE_INT64;
    inner.output_count = inner.operand_count = inner.attribute_count = 1;
    inner.rank = call.rank;
    inner.shape = call.shape;
    inner.operands = call.operands;
    inner.attributes = &number;
    sdk::dispatch(state.host, Type, call, inner);
}
template <const auto &Type> void next(State &state, atoll_call &call) {
    atoll_object *object = static_cast<atoll_object *>(call.operands[1].data);
    write<Type>(state, call, counter(call, 1).now++);
    if (state.setting("make") == "let go later") state.host.object_release(object);
}
template <const auto &Type> void now(State &state, atoll_call &call) {
    write<Type>(state, call, counter(call, 1).now);
}
template <const auto &Type> void both(State &state, atoll_call &call) {
    ++counter(call, 1).now;
    write<Type>(state, call, ++counter(call, 2).now);
}
// b = a + the number, which goes up with each call.
void count_on(State &, atoll_call &call) {
    const auto number = static_cast<double>(counter(call, 1).now++);
    each(call, [&](double **p) { *p[0] = *p[2] + number; });
}
// An object made of a tensor.
void plan(State &state, atoll_call &call) {
    double sum = 0;
    each(call, [&](double **p) { sum += *p[1]; });
    const auto first = static_cast<std::int64_t>(sum);
    sdk::give_object(state.host, "cpu", call, 0, counter_type, new Counter{first, {first}});
}

// ---- declarations
// --------------------------------------------------------------------------------

enum {
    COMBINE,
    AXPY,
    TOTAL,
    SHIFT,
    MAKE,
    NEXT,
    NOW,
    BOTH,
    COUNT_ON,
    PLAN,
    PLAN_EACH,
    STRETCH,
    APART,
    SUMS,
    RAISE
};
constexpr atoll_dtype_set f64 = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);

constexpr atoll_function_info interface[] = {
    sdk::function(COMBINE, "combine", ATOLL_RULE_FLOAT, f64,
                  {"a (m, n), b (m, n) -> c (m, n)", nullptr, nullptr, "a + 2 b"}),
    sdk::function(AXPY, "axpy", ATOLL_RULE_FLOAT, f64,
                  {"a (), b () -> c ()", nullptr, nullptr, "a + 2 b"}),
    sdk::function(TOTAL, "total", ATOLL_RULE_FLOAT, f64,
                  {"a (n*) -> s ()", nullptr, "axes all, identity 0", "the sum"}),
    sdk::function(
        SHIFT, "shift", ATOLL_RULE_FLOAT, f64,
        {"a (n), b (n)? -> c (n)", "by: float64 = 0, times: int64", nullptr, "a + b + by"}),
    sdk::function(MAKE, "make", ATOLL_RULE_GIVEN, 0,
                  {"-> state: object", "start: int64 = 0", nullptr, "a counter"}),
    sdk::function(NEXT, "next", ATOLL_RULE_GIVEN, 0,
                  {"state: object& -> n (): int64", nullptr, nullptr, "counts"}),
    sdk::function(NOW, "now", ATOLL_RULE_GIVEN, 0,
                  {"state: object -> n (): int64", nullptr, nullptr, "the next number"}),
    sdk::function(
        BOTH, "both", ATOLL_RULE_GIVEN, 0,
        {"state: object&, other: object& -> n (): int64", nullptr, nullptr, "counts both"}),
    sdk::function(COUNT_ON, "count_on", ATOLL_RULE_FLOAT, f64,
                  {"state: object&, a (n) -> b (n)", nullptr, nullptr, "a + a number"}),
    sdk::function(PLAN, "plan", ATOLL_RULE_FLOAT, f64,
                  {"a (n) -> state: object", nullptr, nullptr, "a counter from the sum on"}),
    sdk::function(PLAN_EACH, "plan_each", ATOLL_RULE_FLOAT, f64,
                  {"a () -> state: object", nullptr, nullptr, "a counter from the sum on"}),
    sdk::function(STRETCH, "stretch", ATOLL_RULE_FLOAT, f64,
                  {"a (n), b (n) -> c (n)", nullptr, nullptr, "a + 2 b"}),
    sdk::function(APART, "apart", ATOLL_RULE_FLOAT, f64,
                  {"a (n*) -> s ()", nullptr, "axes all, n separate, identity 0", "the sum"}),
    sdk::function(SUMS, "sums", ATOLL_RULE_FLOAT, f64,
                  {"a (), b () -> copy ()?, c ()", nullptr, nullptr, "a + 2 b"}),
    sdk::function(RAISE, "raise", ATOLL_RULE_FLOAT, f64,
                  {"a (n), by () -> c (n)", nullptr, nullptr, "a + 2 by"}),
};
atoll_module_decl module = sdk::module("picky", 1, interface);

atoll_function_decl core[8], cpu[std::size(interface)], dummy[4];
atoll_impl_decl core_impl, cpu_impl, dummy_impl;
const atoll_module_decl *modules[] = {&module};
const atoll_impl_decl *impls[3];
atoll_plugin plugin;

void describe() {
    const std::uint64_t caps = number("PICKY_CAPS");
    const auto knows = static_cast<std::uint16_t>(number("PICKY_KNOWS"));
    const sdk::Known known{knows, knows};
    std::uint32_t count = 0;
    for (auto &function : core) function = {};
    if (told("gemm"))
        core[count++] = sdk::declare<gemm>(
            ATOLL_FN_matmul,
            f64 | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT16) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) |
                ATOLL_DTYPE_BIT(ATOLL_DTYPE_INT64) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_COMPLEX128),
            0, {0, 2});
    if (told("sort")) core[count++] = sdk::declare<sort>(ATOLL_FN_sort, f64);
    if (told("negative")) core[count++] = sdk::declare<negative>(ATOLL_FN_negative, f64, caps);
    if (told("copy")) core[count++] = sdk::declare<copy>(ATOLL_FN_copy, f64, caps);
    if (told("left_shift"))
        core[count++] =
            sdk::declare<left_shift>(ATOLL_FN_left_shift, ATOLL_DTYPE_BIT(ATOLL_DTYPE_INT64), caps);
    constexpr atoll_dtype_set movable = f64 | ATOLL_DTYPE_BIT(ATOLL_DTYPE_UINT8);
    if (told("gather"))
        core[count++] = sdk::declare<move<1>>(ATOLL_FN_gather, movable, caps, {knows, 2});
    if (told("scatter"))
        core[count++] = sdk::declare<move<0>>(ATOLL_FN_scatter, movable, caps, {knows, 2});
    for (auto &function : core)
        function.max_rank = static_cast<std::uint16_t>(number("PICKY_RANK"));
    core_impl = sdk::implement("core", told("odd") ? "odd" : "cpu", {core, count});
    if (told("odd")) core[0].dtypes = f64 | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT16);
    core_impl.priority = 10;

    cpu[COMBINE] = sdk::declare<combine>(COMBINE, f64, caps);
    cpu[AXPY] = sdk::declare<combine>(AXPY, f64, caps);
    cpu[TOTAL] = sdk::declare<total>(TOTAL, f64, caps);
    cpu[SHIFT] = sdk::declare<shift>(SHIFT, f64, caps, known);
    cpu[MAKE] = sdk::declare<make<cpu_name>>(MAKE, 0, 0, {1, 0});
    cpu[NEXT] = sdk::declare<next<cpu_name>>(NEXT);
    cpu[NOW] = sdk::declare<now<cpu_name>>(NOW);
    cpu[BOTH] = sdk::declare<both<cpu_name>>(BOTH);
    cpu[COUNT_ON] = sdk::declare<count_on>(COUNT_ON, f64, caps);
    cpu[PLAN] = sdk::declare<plan>(PLAN, f64, caps);
    cpu[PLAN_EACH] = sdk::declare<plan>(PLAN_EACH, f64, caps);
    cpu[STRETCH] = sdk::declare<combine>(STRETCH, f64, caps);
    cpu[APART] = sdk::declare<total>(APART, f64, caps);
    cpu[RAISE] = sdk::declare<combine>(RAISE, f64, caps);
    cpu[SUMS] = sdk::declare<dense_sums>(SUMS, f64);
    for (auto &function : cpu) function.max_rank = static_cast<std::uint16_t>(number("PICKY_RANK"));
    if (cpu[COMBINE].max_rank == 1) cpu[COMBINE].max_rank = 2; // no fewer than its axes
    cpu_impl = sdk::implement("picky", "cpu", cpu);
    cpu_impl.open_device = open<cpu_name>;
    cpu_impl.close_device = close<cpu_name>;

    dummy[0] = sdk::declare<make<dummy_name>>(MAKE, 0, 0, {1, 0});
    dummy[1] = sdk::declare<next<dummy_name>>(NEXT);
    dummy[2] = sdk::declare<now<dummy_name>>(NOW);
    dummy[3] = sdk::declare<both<dummy_name>>(BOTH);
    dummy_impl = sdk::implement("picky", "dummy", dummy);
    dummy_impl.open_device = open<dummy_name>;
    dummy_impl.close_device = close<dummy_name>;

    plugin = {};
    plugin.struct_size = sizeof plugin;
    plugin.magic = ATOLL_MAGIC;
    plugin.abi_major = ATOLL_ABI_MAJOR;
    plugin.abi_minor = ATOLL_ABI_MINOR;
    plugin.name = NAME;
    plugin.version = "1";
    plugin.impls = impls;
    plugin.load = sdk::load<State>;
    plugin.unload = sdk::unload<State>;
    impls[plugin.impl_count++] = &cpu_impl;
    if (other) {
        cpu_impl.priority = 20;
        return;
    }
    plugin.modules = modules;
    plugin.module_count = 1;
    if (count > 0) impls[plugin.impl_count++] = &core_impl;
    if (told("dummy")) impls[plugin.impl_count++] = &dummy_impl;
}

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    describe();
    return &plugin;
}
