// Groups of several axes (`m*`), which only the library's inside can name: packed for who takes one
// axis each. Built with the library's objects.
#include "../picky.hpp"
#include "../support.hpp"
#include "atoll/type_rules.hpp"
#include "call/pipeline.hpp"

#include <array>

using namespace Atoll;
using namespace plugin_tests;

namespace {

// d = a b + beta c, with these many axes in m, k and n.
Tensor product(const Tensor &a, const Tensor &b, const Tensor &c, int beta,
               std::array<std::uint8_t, 3> groups, bool into_c) {
    const detail::ReadSection section;
    const Operand left(a), right(b), third(c);
    const Operand *inputs[] = {&left, &right, beta ? &third : nullptr};
    const Tensor *outputs[] = {into_c ? &c : nullptr};
    const DType A = static_cast<DType>(sdk::accumulator_of(static_cast<std::uint32_t>(a.dtype())));
    const atoll_scalar attributes[] = {Scalar(1).cast(A).raw(), Scalar(beta).cast(A).raw(),
                                       Scalar(false).raw(), Scalar(false).raw()};
    return detail::run_one(detail::Registry::get().core_function(ATOLL_FN_matmul),
                           {.inputs = inputs,
                            .outputs = outputs,
                            .attributes = attributes,
                            .group_axes = groups.data()},
                           {});
}

// The same numbers in memory where no two axes can be merged; the first axis slowest.
Tensor apart(const Tensor &tensor) {
    Dims wide;
    for (int axis = tensor.rank() - 1; axis >= 0; --axis)
        wide.push_back(2 * tensor.shape()[axis] + 1);
    const Tensor memory = zeros(wide, {tensor.dtype(), tensor.device()});
    Dims steps = memory.reverse_axes().strides();
    for (std::int64_t &stride : steps) stride *= 2;
    Tensor view(memory.storage(), 0, tensor.shape(), steps, tensor.dtype());
    view.assign(tensor);
    return view;
}

std::vector<std::complex<double>> numbers(const Tensor &tensor) {
    return tensor.cast(complex128).to_vector<std::complex<double>>();
}

} // namespace

TEST_CASE("groups of several axes are packed for who takes one axis each") {
    load_plugin("cpu");
    const Device cpu = device("cpu");
    for (const DType T : {float64, complex128, float16}) {
        CAPTURE(name(T));
        const auto counting = [&](const Dims &shape, int from) {
            std::int64_t size = 1;
            for (std::int64_t extent : shape) size *= extent;
            return (remainder(arange(size, {int64, cpu}), 5) + from).cast(T).reshape(shape);
        };
        // m m, k k, n and two elements of a loop.
        const Tensor a = counting({2, 3, 2, 4, 2}, -2), b = counting({2, 4, 3}, -1),
                     c = counting({2, 3, 3, 2}, 0);
        // The same with the groups as one axis.
        const Tensor expected = matmul(a.reshape({6, 8, 2}), b.reshape({8, 3}));
        for (const bool mine : {false, true}) {
            CAPTURE(mine);
            const std::unique_ptr<Picky> picky(mine ? new Picky("gemm") : nullptr);
            CHECK(plugin_tests::contains(chain("core.matmul", "cpu", name(T)).at(0), "picky") ==
                  mine);
            for (const bool strided : {false, true})
                for (const int beta : {0, 2})
                    for (const bool into_c : {false, true}) {
                        const Tensor left = strided ? apart(a) : a, right = strided ? apart(b) : b,
                                     third = strided ? apart(c) : c.clone();
                        const Tensor d = product(left, right, third, beta, {2, 2, 1}, into_c);
                        REQUIRE(d.shape() == c.shape());
                        CHECK(numbers(d.reshape({6, 3, 2})) ==
                              numbers(expected + beta * c.reshape({6, 3, 2})));
                        if (into_c) CHECK(numbers(third) == numbers(d));
                    }
            // A group without axes.
            const Tensor whole =
                product(counting({2, 4}, 1), counting({2, 4}, -1), c, 0, {0, 2, 0}, false);
            CHECK(whole.rank() == 0);
            CHECK(whole.item().to_complex().real() ==
                  sum(multiply(counting({2, 4}, 1), counting({2, 4}, -1)))
                      .item()
                      .to_complex()
                      .real());
        }
    }
}
