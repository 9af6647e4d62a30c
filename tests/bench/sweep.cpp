// The time of every function by dtype and layout, a line each: "add,float32,dense,115.20", in
// microseconds for SIDE squared elements. sweep.py compares these with NumPy and PyTorch: the rows
// of `atoll bench` are few, and what a row does not look at may be slow for years.
//
//     sweep [SIDE [PART OF A NAME [EXTENT OF THE SHORT AXES]]]
#include "atoll/atoll.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace Atoll;

namespace {

std::int64_t side = 1000, elements = side * side, few = 3;
std::string only;
std::string suffix; // ",float32,dense"

// The best of some runs, of which the first does not count.
void measure(const std::string &function, const std::function<void()> &run) {
    const std::string name = function + suffix;
    if (name.find(only) == std::string::npos) return;
    using Clock = std::chrono::steady_clock;
    const std::int64_t calls = std::max<std::int64_t>(1, 100'000 / elements);
    double best = 1e9, total = 0;
    try {
        run();
        for (int turn = 0; turn < 9 && (turn < 3 || total < 0.02); ++turn) {
            const auto start = Clock::now();
            for (std::int64_t call = 0; call < calls; ++call) run();
            const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
            best = std::min(best, seconds / static_cast<double>(calls));
            total += seconds;
        }
    } catch (const Error &) { // not for this dtype
        return;
    }
    std::printf("%s,%.2f\n", name.c_str(), best * 1e6);
    std::fflush(stdout);
}

#define UNARY(name) measure(#name, [&] { name(a, out); })
#define BINARY(name) measure(#name, [&] { name(a, b, out); })

void elementwise(const Tensor &a, const Tensor &b, DType dtype) {
    {
        const Tensor out = empty(a.shape(), dtype);
        BINARY(add), BINARY(subtract), BINARY(multiply), BINARY(divide), BINARY(pow);
        BINARY(minimum), BINARY(maximum), BINARY(floor_divide), BINARY(remainder), BINARY(fmod);
        BINARY(hypot), BINARY(copysign), BINARY(atan2), BINARY(bitwise_and), BINARY(left_shift);
        UNARY(negative), UNARY(square), UNARY(sign), UNARY(reciprocal), UNARY(sqrt), UNARY(cbrt);
        UNARY(exp), UNARY(exp2), UNARY(expm1), UNARY(log), UNARY(log2), UNARY(log10), UNARY(log1p);
        UNARY(sin), UNARY(cos), UNARY(tan), UNARY(asin), UNARY(acos), UNARY(atan), UNARY(sinh);
        UNARY(cosh), UNARY(tanh), UNARY(asinh), UNARY(acosh), UNARY(atanh), UNARY(erf);
        UNARY(erfc), UNARY(lgamma), UNARY(floor), UNARY(round), UNARY(trunc);
        if (dtype != bool_) {
            const Tensor mask = less(abs(a), 0.5);
            measure("where", [&] { where(mask, a, b, out); });
        }
    }
    {
        const Tensor out = empty(a.shape(), info(dtype).part);
        UNARY(abs);
    }
    {
        const Tensor out = empty(a.shape(), bool_);
        BINARY(less), BINARY(equal), BINARY(logical_and), UNARY(logical_not), UNARY(isnan);
    }
    for (const DType to : {float32, float64, int32, int8, float16}) {
        if (is_complex(dtype) || dtype == bool_) continue;
        const Tensor out = empty(a.shape(), to);
        measure(fmt::format("cast_{}", name(to)), [&] { copy(out, a); });
    }
}

#define REDUCTION(name) measure(#name, [&] { axis ? name(a, *axis) : name(a); })

void reductions(const Tensor &a, std::optional<int> axis) {
    REDUCTION(sum), REDUCTION(prod), REDUCTION(mean), REDUCTION(var), REDUCTION(norm);
    REDUCTION(max), REDUCTION(argmax), REDUCTION(any), REDUCTION(all), REDUCTION(count_nonzero);
}

void along(const Tensor &a, int axis) {
    measure("cumsum", [&] { cumsum(a, axis); });
    measure("sort", [&] { sort(a, axis); });
    measure("argsort", [&] { argsort(a, axis); });
}

void all_of(DType dtype) {
    const auto on = [&](const char *layout) {
        suffix = fmt::format(",{},{}", name(dtype), layout);
    };
    // Numbers from 0.05 to 0.95 or from 1 to 100, none foreseeable, the same in each run.
    std::vector<double> values(static_cast<std::size_t>(4 * elements));
    std::uint64_t state = 88172645463325252;
    for (double &value : values) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        value = static_cast<double>(state >> 11) * 0x1p-53;
    }
    const Tensor drawn = vector(values);
    const Tensor pool = dtype == bool_      ? less(drawn, 0.5)
                        : is_integer(dtype) ? floor(drawn * 100 + 1).cast(dtype)
                                            : (drawn * 0.9 + 0.05).cast(dtype);
    const auto part = [&](std::int64_t first, std::int64_t count) {
        return pool(range(first, first + count)).clone();
    };
    const std::int64_t columns = elements / few,
                       edge = static_cast<std::int64_t>(std::cbrt(elements) + 1e-6);
    const Tensor a = part(0, elements), b = part(elements, elements);
    const Tensor square = a.reshape({side, side}),
                 short_columns = part(0, few * columns).reshape({few, columns}),
                 cube = part(0, edge * edge * edge).reshape({edge, edge, edge});
    on("dense"), elementwise(a, b, dtype);
    on("strided"), elementwise(pool(range(0, 2 * elements, 2)),
                               pool(range(2 * elements, 4 * elements, 2)), dtype);
    on("transposed"), elementwise(square.T(), b.reshape({side, side}), dtype);
    on("thin"), elementwise(short_columns, part(0, few).reshape({few, 1}), dtype);

    on("all"), reductions(a, {}), along(a, 0);
    on("fast"), reductions(square, 0), along(square, 0);
    on("slow"), reductions(square, 1), along(square, 1);
    on("short"), reductions(short_columns, 0), along(short_columns, 0);
    on("few"), reductions(short_columns, 1);
    on("middle"), reductions(cube, 1);
    on("apart"), reductions(pool(range(0, 2 * elements, 2)), {});
}

} // namespace

int main(int count, char **arguments) {
    if (count > 1) side = std::atoi(arguments[1]), elements = side * side;
    if (count > 2) only = arguments[2];
    if (count > 3) few = std::atoi(arguments[3]);
    load_plugin("cpu");
    for (const DType dtype : {float32, float64, int8, uint8, int16, int32, int64, float16, bfloat16,
                              complex64, complex128, bool_})
        all_of(dtype);
}
