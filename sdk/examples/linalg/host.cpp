// A host application that uses the module `linalg`: host PLUGIN
#include <atoll/atoll.hpp>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace Atoll;

namespace {

void require(bool condition, const std::string &what) {
    if (!condition) throw std::runtime_error("not so: " + what);
}
bool close(const Tensor &x, const Tensor &y) { return static_cast<bool>(all_lt(abs(x - y), 1e-9)); }

void use(Device device) {
    const Function solve("linalg.solve"), qr("linalg.qr"), dct("linalg.dct"),
        smooth("linalg.smooth"), uniform("linalg.uniform");
    const Tensor a = vector({2., 1., 0., 1., 3., 1., 0., 1., 4.}, {device}).reshape({3, 3});
    const Tensor b = vector({1., 2., 3.}, {device});

    // A stack of matrices with one right-hand side, integers among them: nothing of that is in the
    // module.
    const auto results = solve({stack({a, 2 * a}, 2).cast(int32), b});
    require(results[0].shape() == Dims{3, 2} && results[1].shape() == Dims{2},
            "a stack of systems");
    require(close(matmul(a, results[0](all_, 0)), b), "the first system is solved");

    // An output that overlaps an input, and one that is not wanted.
    const Tensor x = b.clone();
    solve({a, x}, {.out = {x}});
    require(close(x, results[0](all_, 0)), "in place");
    const auto factors = qr({a}, {.attributes = {{"mode", "complete"}}});
    require(close(matmul(factors[0], factors[1]), a), "q r is a");
    require(!qr({a}, {.without = {"q"}})[0].is_defined(), "r alone");

    require(dct({a}, {.attributes = {{"length", 5}}, .axes = 1})[0].shape() == Dims{3, 5},
            "padded along the second axis");
    require(close(smooth({b}, {.attributes = {{"rate", 1.0}}})[0], cumsum(b)), "running sums");

    const Object state =
        Function("linalg.generator").make({}, {.attributes = {{"seed", 7}}, .device = device});
    const auto draw = [&] {
        return uniform({state}, {.dtype = float64, .extents = {{"n", 4}}})[0];
    };
    const Tensor first = draw(), second = draw();
    require(!close(first, second), "a generator goes on");
    static const std::vector<double> expected = first.to_doubles();
    require(first.to_doubles() == expected, "the same numbers on every device");
}

} // namespace

int main(int count, char **arguments) {
    try {
        require(count == 2, "usage: host PLUGIN");
        load_plugin("cpu");
        load_plugin("dummy");
        load_plugin(arguments[1]);
        use(device("cpu"));
        use(device("dummy:1"));
        std::cout << "all is as it must be\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
