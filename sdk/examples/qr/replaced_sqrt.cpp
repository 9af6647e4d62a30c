// Replacing one function of one dtype on one device type while the program runs, and undoing it.
#include "demo.hpp"
#include "qr.hpp"

#include <vector>

#include <fmt/core.h>

namespace Demo {

using namespace Atoll;

namespace {

// Whose implementation a call meets first. Interposers stand before it and are of no interest here.
std::string implementation(std::string_view dtype) {
    for (const std::string &link : chain("core.sqrt", "cpu", dtype))
        if (!link.starts_with("interposer")) return link;
    return "none";
}

std::int64_t count() {
    return Function("fast_sqrt.count")({}, {.device = device("cpu")})[0].item().to_int();
}

// R of the figure's matrix in `dtype` on the cpu: five square roots.
std::vector<double> factorise(DType dtype) {
    const Device cpu = device("cpu");
    const Tensor Q = arange(25, {dtype, cpu}).reshape({5, 5});
    Q.diag() += 1;
    const Tensor R = zeros({5, 5}, {dtype, cpu});
    qr_by_columns(Q, R);
    return R.to_doubles();
}

void show(const char *when) {
    fmt::print("{:<28} float64: {}; float32: {}\n", when, implementation("float64"),
               implementation("float32"));
}

} // namespace

void replaced_sqrt(const std::string &plugin) {
    const std::string before = implementation("float64");
    const std::vector<double> expected = factorise(float64);
    show("core.sqrt on cpu, before");

    const std::string name = load_plugin(plugin).name;
    show(("with " + name + " loaded").c_str());
    require(implementation("float64") == "implementation of plugin " + name,
            name + " serves core.sqrt for float64");
    require(implementation("float32") == before, "float32 stays as it was");
    const std::int64_t start = count();
    require(factorise(float64) == expected, "R is bit for bit the same");
    const std::int64_t served = count() - start;
    factorise(float32);
    const std::int64_t others = count() - start - served;
    fmt::print("  a 5x5 factorisation made {} calls of it in float64, {} in float32; same R\n",
               served, others);
    require(served == 5 && others == 0, "it serves 5 calls in float64 and none in float32");

    retire_plugin(name);
    show(("with " + name + " retired").c_str());
    require(implementation("float64") == before, "the original is back");
    require(factorise(float64) == expected, "R is bit for bit the same");
    try {
        count();
        throw std::logic_error("a retired module still answers");
    } catch (const Error &error) {
        fmt::print("  asking it for the count: {}\n", error.what());
    }

    // The plugin counts over its whole life, so a call that reached it meanwhile would show.
    load_plugin(plugin);
    const std::int64_t now = count();
    retire_plugin(name);
    fmt::print("  loaded once more, it has still served {} calls; retired\n", now);
    require(now == start + served, "the retired plugin got no call");
    require(implementation("float64") == before, "the original is back");
}

} // namespace Demo
