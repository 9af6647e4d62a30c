// Every function of the grown device beside the cpu's: test_grown_device PATH_OF_PLUGIN
#include <atoll/atoll.hpp>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace Atoll;

namespace {

// There are two results: of the grown device, and of the cpu.
void same(const Tensor &mine, const Tensor &theirs, const char *what) {
    if (mine.device() != device("grown_device"))
        throw std::runtime_error(std::string(what) + " is not on the device");
    const std::vector<double> a = mine.to(device("cpu")).to_doubles(), b = theirs.to_doubles();
    if (a.size() != b.size() || a.empty()) throw std::runtime_error(std::string(what) + ": sizes");
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 1e-2 * (1 + std::abs(b[i]))))
            throw std::runtime_error(std::string(what) + ": got " + std::to_string(a[i]) +
                                     ", the cpu " + std::to_string(b[i]));
}

void run(const char *path) {
    load_plugin("cpu");
    configure("grown_device", "units", "8");
    load_plugin(path);
    const Device mine = device("grown_device"), cpu = device("cpu");
    if (mine.properties().units != 8) throw std::runtime_error("the setting is not read");

    for (const DType dtype : {float16, bfloat16, float32, float64}) {
        const Tensor a = linspace(-2, 2, 24, true, {dtype, cpu}).reshape({2, 3, 4});
        const Tensor b = a.flip(2), x = a.to(mine), y = x.flip(2);
        same(x + y, a + b, "add");
        same(x + y(all_, all_, 0).reshape({2, 3, 1}), a + b(all_, all_, 0).reshape({2, 3, 1}),
             "add, broadcast");
        same(exp(x), exp(a), "exp");
        same(less(x, y), less(a, b), "less");
        for (int axis = 0; axis < 3; ++axis) same(sum(x, axis), sum(a, axis), "sum");
        same(sum(y), sum(b), "sum of all");
        same(x.cast(float32) + y.cast(float32), a.cast(float32) + b.cast(float32), "casts");
    }
    const Tensor a = arange(6, {float64, cpu}).reshape({2, 3}), x = a.to(mine);
    same(x * x.T(), a * a.T(), "matmul");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " PATH_OF_PLUGIN\n";
        return 2;
    }
    try {
        run(argv[1]);
        retire_plugin("grown_device");
        std::cout << "all is as it must be\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
