// A fixed list of calls: every function on operands of each layout, and what else the library does
// with them. Random programs may miss some of it.
#pragma once

#include "../any_call.hpp"
#include "../support.hpp"

#include <functional>
#include <string>

namespace calls {

using Atoll::Tensor;

struct GridLayout {
    const char *name;
    oracle::Shape shape;
    oracle::Layout layout;
    bool swapped = false;
};
inline const GridLayout grid_layouts[] = {{"dense", {3, 3}, oracle::Layout::dense},
                                          {"strided", {3, 3}, oracle::Layout::strided},
                                          {"reversed", {3, 3}, oracle::Layout::reversed},
                                          {"transposed", {3, 3}, oracle::Layout::permuted},
                                          {"unaligned", {3, 3}, oracle::Layout::unaligned},
                                          {"broadcast", {3, 3}, oracle::Layout::broadcast},
                                          {"swapped", {3, 3}, oracle::Layout::dense, true},
                                          {"one column", {3, 1}, oracle::Layout::strided},
                                          {"empty", {0, 3}, oracle::Layout::dense},
                                          {"rank 0", {}, oracle::Layout::dense}};

struct GridDtypes {
    int a, b;
};
inline constexpr GridDtypes grid_dtypes[] = {
    {ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_FLOAT32}, {ATOLL_DTYPE_INT32, ATOLL_DTYPE_FLOAT64},
    {ATOLL_DTYPE_INT16, ATOLL_DTYPE_INT16},     {ATOLL_DTYPE_COMPLEX64, ATOLL_DTYPE_FLOAT32},
    {ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL},       {ATOLL_DTYPE_FLOAT16, ATOLL_DTYPE_FLOAT16},
    {ATOLL_DTYPE_INT64, ATOLL_DTYPE_UINT64},    {ATOLL_DTYPE_UINT8, ATOLL_DTYPE_COMPLEX128}};

// Small numbers that differ, none negative.
inline Tensor grid_tensor(int dtype, const oracle::Shape &shape, oracle::Layout layout,
                          bool swapped, Atoll::Device device) {
    oracle::Operand operand = support::operand(dtype, shape, layout, swapped);
    std::int64_t next = 0;
    oracle::each(shape, [&](const oracle::Shape &index) {
        operand.set(index, oracle::convert(oracle::Value::of(__int128{next++ % 5}), dtype));
    });
    return support::upload(operand, device);
}

// Operands are made one after the other, so that allocations have the same names whatever order a
// compiler evaluates arguments in.
class Grid {
public:
    // `run` gets the name of each operation and what it does.
    using Run = std::function<void(const std::string &, const std::function<void()> &)>;
    Grid(Atoll::Device device, Run run) : device_(device), run_(std::move(run)) {}

    // Every function on each layout: as the first operand, as both and the result in place, as the
    // second with a result of another dtype, layout and byte order. `whole`: for all dtypes.
    void every_function(bool whole) const {
        for (int f = 0; f < ATOLL_FN_COUNT; ++f)
            for (std::size_t d = 0; d < std::size(grid_dtypes); ++d)
                if (whole || d == static_cast<std::size_t>(f) % std::size(grid_dtypes))
                    for (const GridLayout &layout : grid_layouts)
                        for (int way = 0; way < 3; ++way) one(f, grid_dtypes[d], layout, way);
    }
    void axes() const {
        for (int f = 0; f < ATOLL_FN_COUNT; ++f)
            for (const oracle::Layout layout : {oracle::Layout::dense, oracle::Layout::permuted})
                along(f, layout);
    }
    void products() const;
    void scalars() const;
    void moves() const;
    void third_party() const;

private:
    Tensor tensor(int dtype, const oracle::Shape &shape,
                  oracle::Layout layout = oracle::Layout::dense, bool swapped = false) const {
        return grid_tensor(dtype, shape, layout, swapped, device_);
    }
    void one(int function, GridDtypes dtypes, const GridLayout &layout, int way) const {
        const auto make = [&](int dtype, bool chosen) {
            return chosen ? tensor(dtype, layout.shape, layout.layout, layout.swapped)
                          : tensor(dtype, {3, 3});
        };
        constexpr const char *ways[] = {"first", "both, in place", "second, given"};
        run_(std::string(functions[function].name) + ' ' + oracle::facts[dtypes.a].name + ' ' +
                 oracle::facts[dtypes.b].name + ' ' + layout.name + ' ' + ways[way],
             [&] {
                 const Tensor a = make(dtypes.a, way < 2), b = make(dtypes.b, way > 0);
                 if (way == 0) return (void)call_any(function, a, b);
                 if (way == 1) // a vector goes over a row
                     return (void)call_any(function, a, b,
                                           gives_vector(function) ? a(0, Atoll::all_) : a);
                 const oracle::Shape shape =
                     gives_vector(function) ? oracle::Shape{3} : oracle::Shape{3, 3};
                 call_any(function, a, b,
                          tensor(ATOLL_DTYPE_COMPLEX128, shape, oracle::Layout::strided, true));
             });
    }
    void along(int function, oracle::Layout layout) const {
        const Atoll::sdk::Signature &signature = Atoll::sdk::core_functions[function].signature;
        const bool reduces = gives_vector(function);
        const auto name = [&](const std::string &axes) {
            return std::string(functions[function].name) + " of 3 axes" +
                   (layout == oracle::Layout::dense ? "" : " transposed") + ", along " + axes;
        };
        const Atoll::Scalar numbers[] = {1, 2};
        const std::size_t count = signature.attribute_count;
        for (int axes = 0; axes < 8 && reduces; ++axes)
            run_(name("axes " + std::to_string(axes)), [&] {
                Atoll::Axes list;
                list.given = true;
                for (int i = 0; i < 3; ++i)
                    if (axes >> i & 1) list.list.push_back(i);
                by_id::reduce(function, tensor(ATOLL_DTYPE_FLOAT32, {2, 3, 4}, layout), list,
                              axes == 5, {}, {numbers, count});
            });
        for (int axis = 0; axis < 3; ++axis) {
            const auto a = [&] { return tensor(ATOLL_DTYPE_INT32, {2, 3, 4}, layout); };
            if (signature.axes != Atoll::sdk::AxesOf::named) continue;
            run_(name(std::to_string(axis)), [&] {
                if (signature.attribute_count == 0) return (void)by_id::scan(function, a(), axis);
                by_id::sort(function, a(), axis, axis == 1);
            });
        }
    }

    Atoll::Device device_;
    Run run_;
};

inline void Grid::products() const {
    using oracle::Layout;
    const oracle::Shape shapes[] = {{3},       {1, 3},    {3, 1},       {3, 3}, {3, 3, 2},
                                    {3, 1, 2}, {3, 3, 1}, {3, 3, 2, 2}, {3, 0}, {0, 3}};
    const auto text = [](const oracle::Shape &shape) {
        std::string list = " (";
        for (const std::int64_t n : shape) list += std::to_string(n) + ',';
        return list + ')';
    };
    for (const oracle::Shape &a : shapes)
        for (const oracle::Shape &b : shapes)
            for (const Layout layout : {Layout::dense, Layout::permuted})
                run_("matmul" + text(a) + text(b) + (layout == Layout::dense ? "" : " transposed"),
                     [&] {
                         const Tensor left = tensor(ATOLL_DTYPE_FLOAT64, a, layout),
                                      right = tensor(ATOLL_DTYPE_FLOAT64, b);
                         matmul(left, right);
                     });
    for (const auto a : {Atoll::Op::N, Atoll::Op::T, Atoll::Op::C})
        for (const auto b : {Atoll::Op::N, Atoll::Op::T, Atoll::Op::C})
            for (const int factors : {0, 1, 2, 3}) // bits: alpha, beta
                run_(std::string("gemm ") + static_cast<char>(a) + static_cast<char>(b) + ' ' +
                         std::to_string(factors),
                     [&] {
                         const Tensor left = tensor(ATOLL_DTYPE_COMPLEX64, {3, 3}),
                                      right =
                                          tensor(ATOLL_DTYPE_COMPLEX64, {3, 3}, Layout::strided),
                                      out = tensor(ATOLL_DTYPE_COMPLEX64, {3, 3});
                         gemm(factors & 1, left, a, right, b, factors >> 1, out);
                     });
    for (const Layout layout : {Layout::dense, Layout::permuted})
        for (const int beta : {0, 2})
            run_(std::string("matmul and another matrix ") + (beta ? "scaled" : "unread"), [&] {
                const Tensor left = tensor(ATOLL_DTYPE_FLOAT64, {3, 3}),
                             right = tensor(ATOLL_DTYPE_FLOAT64, {3, 3, 2}),
                             other = tensor(ATOLL_DTYPE_FLOAT64, {3, 3, 2}, layout);
                Atoll::Function("core.matmul")({left, right, other},
                                               {.attributes = {{"beta", beta}}});
            });
    run_("gemm into its own operand", [&] {
        const Tensor a = tensor(ATOLL_DTYPE_FLOAT32, {3, 3});
        gemm(1, a, Atoll::Op::N, a, Atoll::Op::T, 1, a);
    });
}

inline void Grid::scalars() const {
    using namespace Atoll;
    for (int f = 0; f < ATOLL_FN_COUNT; ++f)
        for (const int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_INT16}}) {
            const bool elementwise = sdk::core_functions[f].signature.elementwise();
            const int inputs = sdk::core_functions[f].signature.input_count();
            const std::string name =
                std::string(functions[f].name) + " of a number and " + oracle::facts[dtype].name;
            const auto t = [&] { return tensor(dtype, {3, 3}, oracle::Layout::permuted); };
            if (elementwise && inputs == 2) {
                run_(name, [&] { by_id::binary(f, 3, t()); });
                run_(name + " behind", [&] { by_id::binary(f, t(), 2.5); });
                run_(name + " in place", [&] {
                    const Tensor a = t();
                    by_id::binary(f, a, Scalar(2, uint8), a);
                });
            }
            if (elementwise && inputs == 3) {
                run_(name, [&] { by_id::ternary(f, t(), 1, 3); });
                run_(name + " behind", [&] {
                    const Tensor a = t(), b = t();
                    by_id::ternary(f, a, b, 3.5);
                });
            }
            if (f == ATOLL_FN_searchsorted)
                run_(name, [&] { by_id::search(f, 3, tensor(dtype, {4}), true); });
        }
    run_("equal of int64 and a number past it",
         [&] { equal(tensor(ATOLL_DTYPE_INT64, {3}), Scalar(std::uint64_t{1} << 63)); });
    run_("sqrt that looks at its domain", [&] {
        sqrt(tensor(ATOLL_DTYPE_FLOAT32, {3, 3}) - 1, {}, ComputeMode::complex);
    });
}

inline void Grid::moves() const {
    using namespace Atoll;
    const auto t = [&](int dtype = ATOLL_DTYPE_FLOAT32) { return tensor(dtype, {4, 3}); };
    const Placement where{float32, device_};
    const Device host = Atoll::device("cpu");
    run_("zeros", [&] { zeros({2, 3}, where); });
    run_("ones", [&] { ones({2, 3}, where); });
    run_("eye", [&] { eye(3, 4, 1, where); });
    run_("full", [&] { full({2, 3}, 2.5, {complex64, device_}); });
    run_("arange", [&] { arange(0, 10, 3, where); });
    run_("linspace", [&] { linspace(0, 1, 5, where); });
    run_("concatenate", [&] { concatenate({t(), t(ATOLL_DTYPE_INT8)}, 0); });
    run_("stack", [&] { stack({t(), t(ATOLL_DTYPE_INT8)}, 1); });
    run_("clone", [&] { t()(range({}, {}, -1)).clone(); });
    run_("replicate", [&] { t().T().replicate(); });
    run_("cast", [&] { t().cast(int16); });
    run_("to the host", [&] { t().T().to(host); });
    run_("to the host and another dtype", [&] { t().cast(complex128, host); });
    run_("from the host", [&] {
        grid_tensor(ATOLL_DTYPE_INT32, {4, 3}, oracle::Layout::permuted, true, host).to(device_);
    });
    run_("byteswap", [&] { t().byteswap(); });
    run_("fill", [&] { t()(all_, range(0, 3, 2)).fill(7); });
    run_("assign a row", [&] { t().assign(tensor(ATOLL_DTYPE_INT64, {1, 3})); });
    run_("assign to a shifted self", [&] {
        const Tensor a = t();
        a.slice(0, 1, 4).assign(a.slice(0, 0, 3));
    });
    run_("add into a shifted self", [&] {
        const Tensor a = t();
        add(a.slice(0, 0, 3), a.slice(0, 1, 4), a.slice(0, 1, 4));
    });
    run_("add a row into itself", [&] {
        const Tensor a = t();
        add(a, a.slice(0, 0, 1), a);
    });
    run_("flatten", [&] { t().T().flatten(); });
    run_("nonzero", [&] { nonzero(t()); });
    run_("by positions", [&] {
        const Tensor picked = t().T()(vector({2, 0, 0}, {int64, device_}));
    });
    run_("by positions of two axes", [&] {
        const Tensor positions = vector({2, 0}, {int64, device_});
        const Tensor picked = t()(positions, positions);
    });
    run_("by a mask", [&] {
        const Tensor a = t();
        a(greater(a, 1)) = 0;
    });
    run_("to positions", [&] { t()(vector({2, 0}, {int32, device_}), range(0, 2)) = 1.5; });
    run_("to positions in place", [&] {
        t()(all_, vector({2, 0}, {int64, device_})) += t()(all_, range(0, 2));
    });
    run_("to positions of what is read", [&] {
        const Tensor a = t();
        a(vector({2, 0}, {int64, device_})) = a.slice(0, 0, 2);
    });
    run_("to positions of swapped elements", [&] {
        const Tensor a = tensor(ATOLL_DTYPE_INT32, {4, 3}, oracle::Layout::permuted, true);
        a(vector({1, 2}, {int64, device_})) = tensor(ATOLL_DTYPE_FLOAT64, {2, 3});
    });
}

inline void Grid::third_party() const {
    for (const int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_INT16}})
        for (const GridLayout &layout : grid_layouts)
            run_(std::string("scale_add ") + oracle::facts[dtype].name + ' ' + layout.name, [&] {
                const Tensor a = tensor(dtype, layout.shape, layout.layout, layout.swapped);
                const Tensor b = tensor(ATOLL_DTYPE_FLOAT32, {3, 3});
                Atoll::Function("hello.scale_add")({a, b});
                Atoll::Function("hello.scale_add")({a, 2}, {.out = {a}});
            });
    run_("calls", [&] { Atoll::Function("hello.calls")({}, {.device = device_}); });
}

} // namespace calls
