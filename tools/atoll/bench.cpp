// `atoll bench`: times rows of fixed work, and compares two implementations.
#include "bench.hpp"

#include "commands.hpp"
#include "json.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fnmatch.h>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double time_of(const Work &work, const Device &device, std::int64_t repeats) {
    device.synchronize();
    const double start = now();
    work.repeat(repeats);
    device.synchronize();
    return (now() - start) / static_cast<double>(repeats);
}

// The number of repeats that take about `seconds`; the first runs also warm caches and pools.
std::int64_t repeats_for(const Work &work, const Device &device, double seconds) {
    std::int64_t repeats = 1;
    for (double took = time_of(work, device, 1);;) {
        if (took * static_cast<double>(repeats) >= seconds / 4 || repeats > 10'000'000)
            return std::max<std::int64_t>(
                1, static_cast<std::int64_t>(seconds / std::max(took, 1e-9)));
        repeats *= 4;
        took = time_of(work, device, repeats);
    }
}

// The largest |a - b|, absolute and relative to the largest |b|; two NaNs do not differ.
struct Difference {
    double absolute = 0, relative = 0;
};
Difference difference(const Tensor &a, const Tensor &b) {
    if (a.shape() != b.shape() || a.dtype() != b.dtype())
        throw Error(Status::invalid_argument, "bench",
                    fmt::format("the two implementations gave {} and {} of other shapes or dtypes",
                                name(a.dtype()), name(b.dtype())));
    Difference worst;
    double largest = 0;
    const auto compare = [&](const std::vector<double> &x, const std::vector<double> &y) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (std::isfinite(y[i])) largest = std::max(largest, std::abs(y[i]));
            if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
            const double apart = std::abs(x[i] - y[i]);
            worst.absolute = std::max(worst.absolute, std::isnan(apart) ? INFINITY : apart);
        }
    };
    compare(a.real().to_doubles(), b.real().to_doubles());
    compare(a.imag().to_doubles(), b.imag().to_doubles());
    worst.relative = worst.absolute == 0 ? 0 : worst.absolute / largest;
    return worst;
}

bool selected(const BenchOptions &options, const BenchRow &row) {
    if (options.rows.empty()) return row.group == BenchGroup::standard || options.list;
    return std::any_of(options.rows.begin(), options.rows.end(), [&](const std::string &pattern) {
        return ::fnmatch(pattern.c_str(), row.id, 0) == 0;
    });
}

struct Measured {
    const BenchRow *row = nullptr;
    double seconds = 0, bytes = 0, operations = 0;
    std::optional<double> other; // seconds of the other implementation
    Difference apart;
    std::string skipped;  // the reason, if it was not measured
    bool foreign = false; // skipped because the rival does not implement it
};

// The other implementation: a plugin with functions for the device, which is loaded only while it
// is measured, or one with its own device.
class Rival {
public:
    Rival(std::string path, Device device) : path_(std::move(path)), device_(device) {
        const PluginReport report = load_plugin(path_);
        name_ = report.name;
        if (report.implements.empty())
            throw UsageError(
                fmt::format("{} implements no functions, so there is nothing to compare", path_));
        if (!report.devices.empty()) other_device_ = Atoll::device(report.devices.front());
        if (!other_device_) retire_plugin(name_);
    }
    const std::string &name() const { return name_; }
    Device device() const { return other_device_ ? *other_device_ : device_; }
    bool is_override() const { return !other_device_; }
    void enter() {
        if (is_override()) load_plugin(path_);
    }
    void leave() {
        if (is_override()) retire_plugin(name_);
    }
    // Whether it implements any of the row's functions. Only between enter and leave.
    bool serves(const BenchRow &row) const {
        if (!is_override()) return true;
        for (const std::string &function : row.functions)
            for (const FunctionSupport &support : Function("core." + function).support())
                if (support.device_type == device_.type()) {
                    for (const DType dtype : support.dtypes)
                        for (const std::string &link :
                             chain("core." + function, device_.type(), Atoll::name(dtype)))
                            if (link == "implementation of plugin " + name_) return true;
                }
        return false;
    }

private:
    std::string path_, name_;
    Device device_;
    std::optional<Device> other_device_;
};

Measured measure(const BenchRow &row, const BenchOptions &options, Device device, Rival *rival) {
    Measured result;
    result.row = &row;
    try {
        if (rival) {
            rival->enter();
            result.foreign = !rival->serves(row);
            rival->leave();
        }
        if (result.foreign) {
            result.skipped = "not implemented by " + rival->name();
            return result;
        }
        const Work work = row.prepare(device);
        result.bytes = work.bytes;
        result.operations = work.operations;
        const std::int64_t repeats = repeats_for(work, device, options.seconds);
        result.seconds = INFINITY;
        if (!rival) {
            for (int round = 0; round < options.rounds; ++round)
                result.seconds = std::min(result.seconds, time_of(work, device, repeats));
            return result;
        }
        const Work other = rival->is_override() ? work : row.prepare(rival->device());
        const Device other_device = rival->device();
        const Tensor ours = work.result();
        rival->enter();
        const std::int64_t other_repeats = repeats_for(other, other_device, options.seconds);
        const Tensor theirs = other.result().to(device).clone();
        rival->leave();
        result.apart = difference(theirs, ours);
        double best = INFINITY;
        // Alternating, so that disturbances affect both.
        for (int round = 0; round < options.rounds; ++round) {
            result.seconds = std::min(result.seconds, time_of(work, device, repeats));
            rival->enter();
            best = std::min(best, time_of(other, other_device, other_repeats));
            rival->leave();
        }
        result.other = best;
    } catch (const Error &e) {
        if (e.status() != Status::not_supported) throw;
        result.skipped = e.what();
    }
    return result;
}

// Of the contractions: the geometric mean of their rates in GFLOP/s.
class MeanRate {
public:
    void add(const Measured &m) {
        if (m.row->group != BenchGroup::contraction || !m.skipped.empty()) return;
        logarithms_ += std::log(m.operations / m.seconds * 1e-9);
        ++count_;
    }
    int count() const { return count_; }
    double value() const { return std::exp(logarithms_ / count_); }

private:
    double logarithms_ = 0;
    int count_ = 0;
};

std::string rate(const Measured &m) {
    if (m.operations > 0) return fmt::format("{:.1f} GF/s", m.operations / m.seconds * 1e-9);
    return m.bytes >= 1e5 ? fmt::format("{:.1f} GB/s", m.bytes / m.seconds * 1e-9) : "";
}

Json as_json(const Measured &m) {
    Json row = {{"id", m.row->id}, {"what", m.row->what}};
    if (!m.skipped.empty()) {
        row["skipped"] = m.skipped;
        return row;
    }
    row["seconds"] = m.seconds;
    if (m.bytes > 0) row["bytes"] = m.bytes;
    if (m.operations > 0) row["operations"] = m.operations;
    if (m.other) {
        row["other_seconds"] = *m.other;
        row["ratio"] = *m.other / m.seconds;
        // JSON has no infinity.
        row["largest_difference"] =
            std::isfinite(m.apart.absolute) ? Json(m.apart.absolute) : Json();
        row["relative_difference"] =
            std::isfinite(m.apart.relative) ? Json(m.apart.relative) : Json();
    }
    return row;
}

} // namespace

int run_bench(const BenchOptions &options) {
    const std::vector<BenchRow> all = bench_rows(options.elements);
    std::vector<const BenchRow *> rows;
    for (const BenchRow &row : all)
        if (selected(options, row)) rows.push_back(&row);
    if (rows.empty())
        throw UsageError(fmt::format("no row matches '{}'; `atoll bench --list` shows them",
                                     fmt::join(options.rows, "', '")));
    if (options.list) {
        Table table({"row", "work"});
        Json list = Json::array();
        for (const BenchRow *row : rows) {
            table.add({row->id, row->what});
            list.push_back({{"id", row->id}, {"what", row->what}});
        }
        if (options.json)
            print_json(list);
        else
            fmt::print("{}", table.text());
        return 0;
    }
    const std::string type = options.device.substr(0, options.device.find(':'));
    if (options.threads >= 0) configure(type, "threads", fmt::to_string(options.threads));
    load_plugin(type);
    const Device device = Atoll::device(options.device);
    const ScopedSettings here([&](Settings &s) { s.default_device = device.name(); });
    std::optional<Rival> rival;
    if (!options.against.empty()) rival.emplace(options.against, device);

    std::vector<std::string> header{"row", "work", ">time", ">rate"};
    if (rival) header = {"row", "work", ">time", ">" + rival->name(), ">ratio", ">difference"};
    Table table(header);
    Json list = Json::array();
    std::size_t left_out = 0;
    MeanRate mean;
    for (const BenchRow *row : rows) {
        const Measured m = measure(*row, options, device, rival ? &*rival : nullptr);
        if (m.foreign && options.rows.empty()) { // nobody has asked for it
            ++left_out;
            continue;
        }
        mean.add(m);
        if (options.json) {
            list.push_back(as_json(m));
            continue;
        }
        if (!m.skipped.empty())
            table.add({row->id, row->what, styled("-", Style::dim), styled(m.skipped, Style::dim)});
        else if (m.other)
            table.add({row->id, row->what, seconds_text(m.seconds), seconds_text(*m.other),
                       fmt::format("{:.2f}", *m.other / m.seconds),
                       m.apart.absolute == 0 ? "none" : fmt::format("{:.1e}", m.apart.relative)});
        else
            table.add({row->id, row->what, seconds_text(m.seconds), rate(m)});
    }
    if (options.json) {
        Json document = {{"device", device.name()}, {"version", version()}, {"rows", list}};
        if (rival) document["against"] = rival->name();
        if (mean.count() > 1)
            document["contractions"] = {{"count", mean.count()},
                                        {"geometric_mean_gflops", mean.value()}};
        print_json(document);
        return 0;
    }
    if (mean.count() > 1)
        table.add({"t", fmt::format("geometric mean of {} contractions", mean.count()), "",
                   fmt::format("{:.1f} GF/s", mean.value())});
    fmt::print("{}", table.text());
    if (left_out > 0)
        fmt::print("\n{} other rows use functions that {} does not implement.\n", left_out,
                   rival->name());
    if (rival)
        fmt::print("\nratio: time of {} / time without it; difference: largest |a - b| of the "
                   "results, relative to the largest |b|\n",
                   rival->name());
    return 0;
}

} // namespace Atoll::tools
