// The examples above the generated declarations compile and run.
#include "../../sdk/examples/linalg/linalg_functions.hpp"
#include "../core/support.hpp"

#include <functional>

#include <doctest/doctest.h>

using namespace Atoll;

namespace {

// What the examples name. Most take float64, some integers only.
struct World {
    Device device = (load_plugin("cpu"), load_plugin(LINALG), Atoll::device("cpu"));
    Tensor a, b, mask, low, high, sorted;
    Object state = linalg::generator(device);

    void example(const char *function, const std::function<void()> &run) {
        CAPTURE(function);
        std::string refused;
        for (const DType dtype : {float64, int64}) {
            a = arange(1, 10, 1, {dtype, device}).reshape({3, 3}) + eye(3, {}, 0, {dtype, device});
            b = a + 1;
            mask = a < b;
            low = full({}, 2, dtype), high = full({}, 5, dtype);
            sorted = vector({1, 3, 5}, {dtype, device});
            try {
                return run();
            } catch (const Error &e) {
                refused += std::string(e.what()) + "\n";
            }
        }
        FAIL_CHECK(refused);
    }
};

} // namespace

#include "header_examples.inc"
