// compositions_tool CASES.npz RESULTS.npz DEVICE: calls functions of compositions.hpp and
// contraction.hpp.
//
// The arrays of a case are named NUMBER/FUNCTION/KEY=VALUE/…/OPERAND, its results
// NUMBER/FUNCTION/KEY=VALUE/…/0, 1, ….
#include "atoll/atoll.hpp"
#include "atoll/npy.hpp"

#include <cstdio>
#include <sstream>

using namespace Atoll;

namespace {

struct Case {
    std::string function;
    std::map<std::string, std::string> values;
    std::map<std::string, Tensor> tensors;

    const Tensor &operator[](const char *name) const { return tensors.at(name); }
    Tensor maybe(const char *name) const {
        return tensors.contains(name) ? tensors.at(name) : Tensor();
    }
    bool has(const char *key) const { return values.contains(key); }
    double number(const char *key, double otherwise = 0) const {
        return has(key) ? std::stod(values.at(key)) : otherwise;
    }
    int integer(const char *key, int otherwise = 0) const {
        return has(key) ? std::stoi(values.at(key)) : otherwise;
    }
    std::optional<int> axis() const {
        return has("axis") ? std::optional(integer("axis")) : std::nullopt;
    }
    std::vector<std::int64_t> list(const char *key) const {
        std::vector<std::int64_t> numbers;
        std::istringstream rest(values.at(key));
        for (std::string part; std::getline(rest, part, ',');) numbers.push_back(std::stoll(part));
        return numbers;
    }
    Dims dims(const char *key) const {
        const std::vector<std::int64_t> extents = list(key);
        return {extents.data(), extents.size()};
    }
    Axes axes(const char *key = "axes") const {
        if (!has(key)) return {};
        const std::vector<std::int64_t> named = list(key);
        return std::vector<int>(named.begin(), named.end());
    }
};

std::vector<Tensor> call(const Case &c) {
    const std::string &f = c.function;
    if (f == "isclose")
        return {isclose(c["a"], c["b"],
                        {.rtol = c.number("rtol", 1e-5),
                         .atol = c.number("atol", 1e-8),
                         .equal_nan = c.has("nan")})};
    if (f == "nan_to_num") {
        NanToNumOptions options{.nan = c.number("nan")};
        if (c.has("posinf")) options.posinf = c.number("posinf");
        if (c.has("neginf")) options.neginf = c.number("neginf");
        return {nan_to_num(c["a"], options)};
    }
    if (f == "diff") return {diff(c["a"], c.axis(), {.n = c.integer("n", 1)})};
    if (f == "outer") return {outer(c["a"], c["b"])};
    if (f == "roll") return {roll(c["a"], c.integer("shift"), c.axis())};
    if (f == "tile") return {tile(c["a"], c.dims("counts"))};
    if (f == "repeat")
        return {c.has("count") ? repeat(c["a"], c.integer("count"), c.axis())
                               : repeat(c["a"], c["counts"], c.axis())};
    if (f == "pad") {
        const std::vector<std::int64_t> flat = c.list("widths");
        std::vector<std::pair<std::int64_t, std::int64_t>> widths;
        for (std::size_t i = 0; i < flat.size(); i += 2) widths.emplace_back(flat[i], flat[i + 1]);
        return {
            pad(c["a"], widths,
                {.mode = static_cast<PadMode>(c.integer("mode")), .value = c.integer("value")})};
    }
    if (f == "meshgrid") return meshgrid({c["a"], c["b"], c["c"]});
    if (f == "triu") return {triu(c["a"], c.integer("k"))};
    if (f == "tril") return {tril(c["a"], c.integer("k"))};
    if (f == "take") return {take(c["a"], c["at"], c.axis())};
    if (f == "unravel_index") return {unravel_index(c["at"], c.dims("shape"))};
    if (f == "unique") return {unique(c["a"])};
    if (f == "unique_all") {
        const auto [values, index, inverse, counts] = unique_all(c["a"]);
        return {values, index, inverse, counts};
    }
    if (f == "bincount")
        return {
            bincount(c["a"], {.weights = c.maybe("weights"), .min_length = c.integer("length")})};
    if (f == "histogram") {
        HistogramOptions options{.weights = c.maybe("weights"), .density = c.has("density")};
        if (c.has("low")) options.range = {c.number("low"), c.number("high")};
        const auto [counts, edges] = c.has("bins") ? histogram(c["a"], c.integer("bins"), options)
                                                   : histogram(c["a"], c["edges"], options);
        return {counts, edges};
    }
    if (f == "topk") {
        const auto [values, indices] =
            topk(c["a"], c.integer("k"), c.axis(), {.largest = !c.has("smallest")});
        return {values, indices};
    }
    if (f == "median") return {median(c["a"], c.axes(), {.keepdims = c.has("keepdims")})};
    if (f == "quantile")
        return {quantile(c["a"], c["q"].to_doubles(), c.axes(), {.keepdims = c.has("keepdims")})};
    if (f == "einsum") {
        std::vector<Tensor> operands;
        for (const auto &[operand, tensor] : c.tensors) operands.push_back(tensor);
        const std::string &text = c.values.at("text");
        const Tensor result = einsum(text, operands);
        if (!c.has("out")) return {result};
        const Tensor out = full_like(result, 1);
        einsum(text, operands, out);
        return {out};
    }
    if (f == "tensordot")
        return {c.has("count") ? tensordot(c["a"], c["b"], c.integer("count"))
                               : tensordot(c["a"], c["b"], c.axes("axes_a"), c.axes("axes_b"))};
    if (f == "inner") return {inner(c["a"], c["b"])};
    if (f == "vdot") return {vdot(c["a"], c["b"])};
    if (f == "kron") return {kron(c["a"], c["b"])};
    if (f == "trace") return {trace(c["a"], c.integer("k"))};
    throw std::runtime_error("no function " + f);
}

} // namespace

int main(int, char **argv) {
    for (const char *plugin : {"cpu", "dummy"}) load_plugin(plugin);
    std::map<std::string, Case> cases;
    for (const auto &[key, tensor] : read_npz(argv[1], {device(argv[3])})) {
        const std::size_t end = key.rfind('/');
        Case &c = cases[key.substr(0, end)];
        c.tensors[key.substr(end + 1)] = tensor;
        std::istringstream parts(key.substr(0, end));
        std::string part;
        std::getline(parts, part, '/');
        std::getline(parts, c.function, '/');
        while (std::getline(parts, part, '/')) {
            const std::size_t equals = part.find('=');
            c.values[part.substr(0, equals)] = equals == part.npos ? "" : part.substr(equals + 1);
        }
    }
    std::map<std::string, Tensor> results;
    for (const auto &[key, c] : cases) try {
            std::size_t i = 0;
            for (const Tensor &result : call(c)) results[key + "/" + std::to_string(i++)] = result;
        } catch (const std::exception &error) { // the missing result fails the case
            std::printf("%s: %s\n", key.c_str(), error.what());
        }
    write_npz(argv[2], results);
}
