// A host application that uses the module `linalg`: host PLUGIN
#include "linalg_functions.hpp" // made by `atoll header atoll-linalg.so`

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
    const Tensor a = vector({2., 1., 0., 1., 3., 1., 0., 1., 4.}, {device}).reshape({3, 3});
    const Tensor b = vector({1., 2., 3.}, {device});

    // A stack of matrices with one right-hand side, integers among them: nothing of that is in the
    // module.
    const auto [x, info] = linalg::solve(stack({a, 2 * a}, 2).cast(int32), b);
    require(x.shape() == Dims{3, 2} && info.shape() == Dims{2}, "a stack of systems");
    require(close(matmul(a, x(all_, 0)), b), "the first system is solved");

    // An output that overlaps an input, and one that is not wanted.
    const Tensor c = b.clone();
    linalg::solve(a, c, {.x = c});
    require(close(c, x(all_, 0)), "in place");
    const auto [q, r] = linalg::qr(a, {.mode = linalg::QrMode::complete});
    require(close(matmul(q, r), a), "q r is a");
    require(!linalg::qr(a, {.q = false}).q.is_defined(), "r alone");

    require(linalg::dct(a, 1, {.length = 5}).shape() == Dims{3, 5}, "padded along the second axis");
    // A function without a declaration is called by name.
    const Function smooth("linalg.smooth");
    require(close(smooth({b}, {.attributes = {{"rate", 1.0}}})[0], cumsum(b)), "running sums");

    const Object state = linalg::generator(device, {.seed = 7});
    const auto draw = [&] { return linalg::uniform(state, 4, float64); };
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
