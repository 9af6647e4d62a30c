// Least squares on NIST's Longley data, which are nearly collinear: condition number 5e9.
#include "demo.hpp"
#include "qr.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <vector>

#include <fmt/core.h>

namespace Demo {

using namespace Atoll;

namespace {

struct Data {
    std::vector<double> certified;         // b0 … b6
    std::vector<std::vector<double>> rows; // y, x1 … x6
};

std::vector<double> numbers(const std::string &text) {
    std::vector<double> values;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        double value;
        const auto result = std::from_chars(at, end, value);
        require(result.ec == std::errc(), fmt::format("'{}' is a list of numbers", text));
        values.push_back(value);
        for (at = result.ptr; at < end && (*at == ',' || *at == ' ');) ++at;
    }
    return values;
}

Data read(const std::string &csv) {
    std::ifstream file(csv);
    require(file.good(), csv + " can be read");
    const std::string marker = "# certified b0..b6: ";
    Data data;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(marker))
            data.certified = numbers(line.substr(marker.size()));
        else if (!line.starts_with('#') && !line.starts_with('y'))
            data.rows.push_back(numbers(line));
    }
    require(data.rows.size() == 16 && data.certified.size() == 7,
            csv + " has 16 observations and 7 certified values");
    for (const auto &row : data.rows) require(row.size() == 7, csv + " has 7 numbers in each row");
    return data;
}

// The b that minimises |X b - y|, with X and y given side by side as [X y].
//
// Gram-Schmidt's Q is only as orthogonal as X is well conditioned, and Q'y suffers from it: here it
// would cost four of fourteen digits. But with y as one more column, R's last column is what Q'y
// would be if Q were orthogonal to working precision, and R b = Q'y is solved as accurately as by
// Householder's method (Å. Björck, "Solving linear least squares problems by Gram-Schmidt
// orthogonalization", BIT 7, 1967).
Tensor least_squares(const Tensor &Xy, Factorise factorise) {
    const Tensor Q = Xy.clone();
    const auto n = Q.extent(1) - 1;
    const Tensor R = zeros({n + 1, n + 1}, {Q.dtype(), Q.device()});
    factorise(Q, R);
    // Back substitution: solve for the last unknown, take it out of the equations above.
    const Tensor b = R(range(0, n), n).clone();
    for (std::int64_t i = n - 1; i >= 0; --i) {
        b(i) /= R(i, i);
        b(range(0, i)) -= R(range(0, i), i) * b(i);
    }
    return b;
}

// The first function that the above needs and the device lacks for float64; empty if there is none.
std::string lacking(Device device) {
    for (const char *name : {"core.copy", "core.fill", "core.matmul", "core.multiply",
                             "core.subtract", "core.divide", "core.sqrt"}) {
        bool found = false;
        for (const FunctionSupport &support : Function(name).support())
            found = found || (support.device_type == device.type() &&
                              std::ranges::count(support.dtypes, float64) > 0);
        if (!found) return name;
    }
    return {};
}

double correct_digits(double value, double certified) {
    const double error = std::abs((value - certified) / certified);
    return error == 0 ? 15 : std::min(15.0, -std::log10(error)); // certified to 15 digits
}

void solve(const Data &data, Device device, const char *title, Factorise factorise) {
    // [X y], with ones for the intercept.
    const auto m = static_cast<std::int64_t>(data.rows.size());
    const auto n = static_cast<std::int64_t>(data.certified.size());
    const Tensor Xy = ones({m, n + 1}, {float64, device});
    for (std::int64_t i = 0; i < m; ++i) {
        const Tensor row = vector(std::span(data.rows[static_cast<std::size_t>(i)]));
        Xy(i, range(1, n)) = row(range(1));
        Xy(i, n) = row(0);
    }
    const std::vector<double> b = least_squares(Xy, factorise).to_doubles();

    fmt::print("\n-- {}, {}\n{:6}{:>24}{:>24}{:>8}\n", device.name(), title, "", "computed",
               "certified", "digits");
    double worst = 15;
    for (std::size_t i = 0; i < b.size(); ++i) {
        const double digits = correct_digits(b[i], data.certified[i]);
        fmt::print("b{:<5}{:>24.15g}{:>24.15g}{:>8.1f}\n", i, b[i], data.certified[i], digits);
        worst = std::min(worst, digits);
    }
    require(worst >= 10, "every coefficient has 10 correct digits");
}

} // namespace

void longley(const std::string &csv) {
    const Data data = read(csv);
    int solved = 0;
    for (const Device device : devices()) {
        if (const std::string missing = lacking(device); !missing.empty()) {
            fmt::print("\n-- {}: left out, it has no {} for float64\n", device.name(), missing);
            continue;
        }
        solve(data, device, "one column at a time", qr_by_columns);
        solve(data, device, "rank-one updates", qr_by_updates);
        ++solved;
    }
    require(solved >= 2, "at least two devices can do it");
}

} // namespace Demo
