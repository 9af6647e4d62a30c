// A host application that uses the module `activation`: host INTERFACE FOR_CPU FOR_DUMMY
//
// The three plugins are loaded in every order, used on two device types, and retired, time and
// again.
#include <algorithm>
#include <atoll/atoll.hpp>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace Atoll;

namespace {

void require(bool condition, const std::string &what) {
    if (!condition) throw std::runtime_error("not so: " + what);
}

bool close(const std::vector<double> &a, const std::vector<double> &b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](double x, double y) { return std::abs(x - y) <= 1e-6; });
}

// What serves a function first.
std::string server(const char *function, const std::string &device) {
    return chain(function, device, "float32").front();
}

// Everything the module brings, on both device types.
void use(DType dtype) {
    const Function sigmoid("activation.sigmoid"), dropout("activation.dropout");
    const Tensor a = linspace(-4, 4, 9, true, {dtype, device("cpu")});
    const Tensor b = a.to(device("dummy:1")); // has a generator of its own
    const std::vector<double> expected = (1.0 / (exp(a * -1.0) + 1.0)).to_doubles();
    require(close(sigmoid({a})[0].to_doubles(), expected), "sigmoid on the cpu");
    require(close(sigmoid({b})[0].to_doubles(), expected), "sigmoid on the dummy");
    require(sigmoid({b.flip(0)})[0].to_doubles().front() == sigmoid({b})[0].to_doubles().back(),
            "views too");
    require(close(tanh(b).to_doubles(), tanh(a).to_doubles()), "tanh is the same on both");

    // A device's generator runs on from call to call; other devices' are not touched.
    const Tensor many = ones({1000}, {dtype, device("dummy:0")});
    const double first = sum(dropout({many, 0.25})[0]).to_doubles()[0];
    const double second = sum(dropout({many, 0.25})[0]).to_doubles()[0];
    const double on_cpu = sum(dropout({many.to(device("cpu")), 0.25})[0]).to_doubles()[0];
    require(first > 650 && first < 850 && first != second,
            "a quarter is dropped, not the same one");
    require(on_cpu == first, "the first draw on one device is the first draw on the other");
}

// The error of a call that must fail.
std::string refusal(const Function &function, const Tensor &a) {
    try {
        function({a});
    } catch (const Error &error) {
        return error.what();
    }
    throw std::runtime_error("not so: a call without an implementation is an error");
}

void run(std::vector<std::string> paths) {
    load_plugin("cpu");
    load_plugin("dummy");
    const std::string cpu = server("core.tanh", "cpu"), dummy = server("core.tanh", "dummy");
    const std::vector<std::string> given = paths;
    std::sort(paths.begin(), paths.end());
    do {
        std::vector<std::string> names;
        for (const std::string &path : paths) names.push_back(load_plugin(path).name);
        // The interface has loaded what it depends on; that module's part for the dummy is the
        // application's to load.
        load_plugin("hello_dummy");
        require(server("core.tanh", "cpu") == "implementation of plugin activation_cpu" &&
                    server("core.tanh", "dummy") == "implementation of plugin activation_dummy",
                "the module's tanh comes first");
        use(float32);
        for (const std::string &name : names) retire_plugin(name);
        require(server("core.tanh", "cpu") == cpu && server("core.tanh", "dummy") == dummy,
                "tanh is as before");
        std::cout << "loaded and retired: " << names[0] << ", " << names[1] << ", " << names[2]
                  << "\n";
    } while (std::next_permutation(paths.begin(), paths.end()));

    // Without the part for the cpu, and with it: a handle starts to work.
    load_plugin(given[0]);
    const Function sigmoid("activation.sigmoid");
    const Tensor a = ones({3}, {float64, device("cpu")});
    const std::string why = refusal(sigmoid, a);
    require(why.find("activation.sigmoid") != std::string::npos, "the error names the function");
    std::cout << "as expected: " << why << "\n";
    load_plugin(given[1]);
    sigmoid({a});

    // A setting, read when the plugin's devices are opened.
    const Tensor many = ones({1000}, {float64, device("cpu")});
    const auto draw = [&] { return Function("activation.dropout")({many, 0.5})[0].to_doubles(); };
    const std::vector<double> drawn = draw();
    for (const char *seed : {"1", "7"}) {
        retire_plugin("activation_cpu");
        configure("activation_cpu", "seed", seed);
        load_plugin(given[1]);
        require((draw() == drawn) == (seed == std::string("1")), "the seed decides what is drawn");
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::cerr << "usage: " << argv[0] << " INTERFACE FOR_CPU FOR_DUMMY\n";
        return 2;
    }
    try {
        run({argv + 1, argv + argc});
        std::cout << "all is as it must be\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
