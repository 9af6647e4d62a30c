// The Ocean paper's figure 2: A = QR with Q byte-swapped on the cpu and R in single precision on
// another device.
#include "demo.hpp"
#include "qr.hpp"

#include <atoll/format.hpp>

#include <fmt/core.h>

namespace Demo {

using namespace Atoll;

namespace {

// What the figure prints, row by row.
constexpr const char *figure_q[5][5] = {{"0.17961", "0.41037", "0.58318", "0.51237", "0.44353"},
                                        {"0.17961", "0.77910", "-0.59087", "-0.07841", "0.07392"},
                                        {"0.35921", "0.26763", "0.51389", "-0.66920", "-0.29569"},
                                        {"0.53882", "-0.05947", "-0.06544", "0.50915", "-0.66530"},
                                        {"0.71842", "-0.38658", "-0.20594", "-0.15575", "0.51745"}};
constexpr const char *figure_r[5][5] = {{"5.56776", "15.44606", "25.50395", "35.56185", "45.61975"},
                                        {"0.00000", "5.42396", "9.96772", "14.69584", "19.42397"},
                                        {"0.00000", "0.00000", "2.27881", "2.87354", "3.90708"},
                                        {"0.00000", "0.00000", "0.00000", "1.76914", "1.69502"},
                                        {"0.00000", "0.00000", "0.00000", "0.00000", "1.55236"}};

void compare(const char *name, const Tensor &matrix, const char *const (&rows)[5][5]) {
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) {
            const std::string text = fmt::format("{:.5f}", matrix(i, j).item().to_double());
            require(text == rows[i][j], fmt::format("{}({}, {}) is {}, the figure has {}", name, i,
                                                    j, text, rows[i][j]));
        }
}

// The device for R: a GPU where there is one, otherwise a simulated accelerator.
Device other_device() {
    for (const char *type : {"cuda", "dummy"})
        for (const Device candidate : devices())
            if (candidate.type() == type) return candidate;
    throw std::runtime_error("neither a cuda nor a dummy device is loaded");
}

void run(const char *title, Factorise factorise) {
    fmt::print("\n-- {}\n", title);
    const Tensor A = arange(25, {float64, device("cpu")}).reshape({5, 5});
    A.diag() += 1; // through a view

    Tensor Q = A.clone();
    Q.byteswap();
    const Tensor R = zeros(A.shape(), {float32, other_device()});

    factorise(Q, R);

    const double orthogonality = norm(Q.T() * Q - eye(Q.extent(0))).item().to_double();
    const double residual = norm(Q * R - A).item().to_double();
    fmt::print("Q {}\nR {}\n|Q'Q - I| = {:.5e}\n|QR - A|  = {:.5e}\n", to_string(Q), to_string(R),
               orthogonality, residual);

    require(Q.is_byteswapped() && Q.dtype() == float64, "Q is still byte-swapped float64");
    compare("Q", Q, figure_q);
    compare("R", R, figure_r);
    require(orthogonality <= 1e-13, "|Q'Q - I| is at most 1e-13");
    // Not smaller either: it is float32's rounding in R that shows here.
    require(residual >= 5e-7 && residual <= 1e-5, "|QR - A| is about 2e-6");
    fmt::print("Q and R are the figure's to all five decimals\n");
}

} // namespace

void figure() {
    run("one column at a time", qr_by_columns);
    run("rank-one updates of all remaining columns", qr_by_updates);
}

} // namespace Demo
