// A host application that uses the plugin: test_newplugin PATH_OF_PLUGIN
#include <atoll/atoll.hpp>
#include <iostream>
#include <stdexcept>
#include <vector>

using namespace Atoll;

namespace {

void require(bool condition, const char *what) {
    if (!condition) throw std::runtime_error(std::string("not so: ") + what);
}

void run(const char *path) {
    load_plugin("cpu");
    require(load_plugin(path).loaded, "the plugin loads");
    const Device mine = device("newplugin"), cpu = device("cpu");

    const Tensor a = arange(12, {float32, cpu}).reshape({3, 4});
    const Tensor sum = a.to(mine) + a.to(mine);
    require(sum.device() == mine, "the sum lives on the device");
    require(sum.to_vector<float>() == (a * 2.0).to_vector<float>(), "it is what the cpu computes");

    // Work of one stream that work of another one needs: Atoll puts events between them.
    const Stream first = mine.new_stream(), second = mine.new_stream();
    Tensor x = a.to(mine), y = x + x;
    for (int i = 0; i < 100; ++i) {
        x = empty({3, 4}, {float32, mine, i % 2 ? first : second});
        add(y, a.to(mine), x);
        std::swap(x, y);
    }
    require(y.to_vector<float>() == (a * 102.0).to_vector<float>(), "streams keep their order");

    // Not implemented yet: an error, and no crash. Once it is implemented, test its result.
    try {
        exp(sum);
        require(false, "exp is an error; now that it is there, test what it gives");
    } catch (const Error &error) {
        std::cout << "as expected: " << error.what() << "\n";
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " PATH_OF_PLUGIN\n";
        return 2;
    }
    try {
        run(argv[1]);
        retire_plugin("newplugin"); // all tensors of the device are destroyed
        std::cout << "all is as it must be\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
