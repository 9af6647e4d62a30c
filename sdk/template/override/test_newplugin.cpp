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

// The first implementation of square on the cpu.
std::string server(const char *dtype) { return chain("core.square", "cpu", dtype).front(); }

void run(const char *path) {
    load_plugin("cpu");
    const Tensor a = linspace(-3, 3, 1001, {float64, device("cpu")});
    const std::vector<double> before = square(a).to_doubles();
    const std::string original = server("float64");

    require(load_plugin(path).loaded, "the plugin loads");
    require(server("float64") == "implementation of plugin newplugin", "it serves float64");
    require(server("float16") == original, "other dtypes stay where they were");
    require(square(a).to_doubles() == before, "it computes what the cpu does");
    const Tensor backwards = a.flip(0);
    const std::vector<double> mirrored(before.rbegin(), before.rend());
    require(square(backwards).to_doubles() == mirrored, "views are squared too");

    retire_plugin("newplugin");
    require(server("float64") == original, "the original is back");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " PATH_OF_PLUGIN\n";
        return 2;
    }
    try {
        run(argv[1]);
        std::cout << "all is as it must be\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
