// Work of bench_work.hpp.
#include "bench_work.hpp"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <random>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

Tensor random(const Dims &shape, DType dtype, Device device, double low, double high) {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    static std::minstd_rand generator;
    generator.seed(static_cast<unsigned>(size));
    std::uniform_real_distribution<double> draw(low, high);
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double &value : values) value = draw(generator);
    return vector(values, {float64, device}).cast(dtype).reshape(shape);
}

Tensor hashed(const Dims &shape, DType dtype, Device device, double low, double high) {
    constexpr std::int64_t part = 1 << 24; // elements, which bounds the temporaries
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    const Tensor all = empty({size}, {dtype, device});
    for (std::int64_t from = 0; from < size; from += part) {
        const std::int64_t to = std::min(size, from + part);
        Tensor bits = arange(from, to, 1, {int64, device}).cast(int32);
        for (const std::int32_t factor : {-2048144789, -1028477387}) {
            bits = bitwise_xor(bits, right_shift(bits, Scalar(16)));
            bits = multiply(bits, Scalar(factor));
        }
        const Tensor units = multiply(bits.cast(float64), Scalar(0x1p-32)); // -0.5 to 0.5
        all(range(from, to)) = add(multiply(units, Scalar(high - low)), Scalar((low + high) / 2));
    }
    return all.reshape(shape);
}

Work unary(Unary function, const Tensor &a) {
    const double result = bytes_of(function(a, {}, {}));
    return work([=] { return function(a, {}, {}); }, bytes_of(a) + result);
}
Work binary(Binary function, const Tensor &a, const Tensor &b) {
    const double result = bytes_of(function(a, b, {}, {}));
    return work([=] { return function(a, b, {}, {}); }, bytes_of(a) + bytes_of(b) + result);
}
Work add_into(const Tensor &a, const Tensor &b, const Tensor &out) {
    return work([=]() -> decltype(auto) { return add(a, b, out); },
                bytes_of(a) + bytes_of(b) + bytes_of(out));
}
Work copying(const Tensor &from) {
    Tensor to = empty(from.shape(), {from.dtype(), from.device()});
    return work([=]() mutable -> const Tensor & { return to.assign(from); }, 2 * bytes_of(from));
}
Work product(const Tensor &a, const Tensor &b, double operations) {
    return work([=] { return matmul(a, b); }, 0, operations);
}

Work contraction(const char *text, const char *extents, Device device) {
    std::map<char, std::int64_t> extent_of;
    double operations = 2;
    std::istringstream words(extents);
    for (std::string word; words >> word;) {
        extent_of[word[0]] = std::stoll(word.substr(1));
        operations *= static_cast<double>(extent_of[word[0]]);
    }
    const std::string_view all = text;
    const std::size_t comma = all.find(','), arrow = all.find("->");
    const auto shape_of = [&](std::string_view labels) {
        Dims shape;
        for (const char label : labels) shape.push_back(extent_of.at(label));
        return shape;
    };
    const Tensor a = random(shape_of(all.substr(0, comma)), float64, device),
                 b = random(shape_of(all.substr(comma + 1, arrow - comma - 1)), float64, device),
                 d = empty(shape_of(all.substr(arrow + 2)), {float64, device});
    return work([=] { return einsum(text, {a, b}, d); }, 0, operations);
}

unsigned processors() { return std::max(1U, std::thread::hardware_concurrency()); }

std::shared_ptr<const void> popped_later(InterposerHandle pushed) {
    return {nullptr, [pushed](const void *) { pop_interposer(pushed); }};
}

Work interposed(Device device, InterposerHandle pushed) {
    const std::shared_ptr<const void> keep = popped_later(pushed);
    const Tensor a = random({1}, float32, device), out = empty({1}, {float32, device});
    return work([=, keep = keep]() -> decltype(auto) { return add(a, a, out); }, 12);
}

Work process(const char *argument) {
    const auto run = [argument]() -> Tensor {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        char name[] = "atoll";
        char *const arguments[] = {name, const_cast<char *>(argument), nullptr};
        pid_t child;
        int status = -1;
        if (posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0)
            waitpid(child, &status, 0);
        posix_spawn_file_actions_destroy(&actions);
        if (status != 0)
            throw Error(Status::internal, "bench",
                        fmt::format("`atoll {}` failed in a process of its own", argument));
        return {};
    };
    return work(run, 0);
}

} // namespace Atoll::tools
