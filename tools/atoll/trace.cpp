// `atoll trace`: runs a program with the tracer on and shows what it did.
#include "commands.hpp"
#include "json.hpp"
#include "libraries.hpp"
#include "reasons.hpp"
#include "terminal.hpp"
#include "trace_measure.hpp"
#include "trace_run.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace fs = std::filesystem;

namespace {

// Removes incomplete files if a signal interrupts the writing.
std::vector<std::string> unfinished;
void remove_unfinished(int signal) {
    for (const std::string &path : unfinished) ::unlink(path.c_str());
    ::_exit(128 + signal);
}

struct Form {
    void (*write)(const TraceModel &, const TracedRun &, Sink &);
    bool compressed;
};

// A file that is written under a temporary name in the same folder and renamed when it is complete.
// The constructor creates it, so that an unusable path is reported before the program runs.
class Output {
public:
    explicit Output(const std::string &path) : path_(path), form_(form_of(path)) {
        const auto fail = [&](const std::string &why) {
            throw UsageError(fmt::format("-o {}: {}", path, why));
        };
        given_ = path;
        if (fs::is_directory(path)) fail("this is a folder, need a file");
        if (fs::exists(path) && ::access(path.c_str(), W_OK) != 0) fail(std::strerror(errno));
        if (fs::exists(path)) path_ = fs::canonical(path).string();
        temporary_ = path_ + ".XXXXXX";
        const int file = ::mkstemp(temporary_.data());
        if (file < 0) {
            temporary_.clear();
            fail(std::strerror(errno));
        }
        file_ = ::fdopen(file, "w");
        unfinished.push_back(temporary_);
    }
    ~Output() {
        if (file_) std::fclose(file_);
        if (!temporary_.empty()) ::unlink(temporary_.c_str());
    }
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    void write(const TraceModel &model, const TracedRun &run) {
        Sink sink(file_, form_.compressed);
        form_.write(model, run, sink);
        sink.finish();
        const mode_t mask = ::umask(0);
        ::umask(mask);
        ::fchmod(::fileno(file_), 0666 & ~mask);
        const bool flushed = std::fclose(std::exchange(file_, nullptr)) == 0;
        if (!flushed || ::rename(temporary_.c_str(), path_.c_str()) != 0)
            throw std::runtime_error(fmt::format("cannot write: {}", std::strerror(errno)));
        temporary_.clear();
    }
    const std::string &path() const { return given_; }

private:
    static Form form_of(const std::string &path) {
        if (path.ends_with(".pftrace")) return {write_pftrace, false};
        if (path.ends_with(".json")) return {write_trace_events, false};
        if (path.ends_with(".json.gz")) return {write_trace_events, true};
        if (path.ends_with(".html")) return {write_report, false};
        throw UsageError(fmt::format("-o {}: need a name that ends in .html (a report), .pftrace, "
                                     ".json or .json.gz (a trace for ui.perfetto.dev)",
                                     path));
    }
    std::string given_, path_; // path_: links resolved
    Form form_;
    std::string temporary_;
    std::FILE *file_ = nullptr;
};

// For a program that ended before it printed its own table, by a signal or by _exit, and for a
// terminal that is too narrow for that.
void print_hot_list(const TraceModel &model) {
    Table table({"function", "device", ">calls", ">total", ">MB", ">GB/s", ">GFLOP/s", ">temps",
                 ">copies"});
    for (const HotLine &line : hot_list(model)) {
        if (line.calls == 0) continue;
        const Served served = line.all_served();
        table.add({line.function, line.device, fmt::to_string(line.calls),
                   seconds_text(static_cast<double>(line.nanoseconds()) * 1e-9),
                   fmt::format("{:.3f}", static_cast<double>(line.bytes) * 1e-6),
                   fmt::format("{:.3f}", line.gigabytes_per_second()),
                   line.operations ? fmt::format("{:.3f}", line.gigaflops_per_second()) : "-",
                   fmt::to_string(served.temporaries), fmt::to_string(served.copies)});
    }
    say(table.text(stderr));
    Table inserted({"inserted for", "on", ">temps", ">MB", ">copies", ">MB", ">total",
                    "because of (missing capability)"});
    for (const HotLine &line : hot_list(model))
        for (const auto &[reasons, served] : line.served)
            inserted.add({line.function, line.device, fmt::to_string(served.temporaries),
                          fmt::format("{:.3f}", static_cast<double>(served.temporary_bytes) * 1e-6),
                          fmt::to_string(served.copies),
                          fmt::format("{:.3f}", static_cast<double>(served.copied_bytes) * 1e-6),
                          seconds_text(static_cast<double>(served.nanoseconds) * 1e-9),
                          tracing::reasons_text(reasons)});
    if (!inserted.empty()) say("\n" + inserted.text(stderr));
    Table ranges({"range", ">count", ">total", ">mean", ">calls", ">in calls"});
    for (const RangeUse &range : range_use(model))
        ranges.add(
            {range.name, fmt::to_string(range.count),
             seconds_text(static_cast<double>(range.ns) * 1e-9),
             seconds_text(static_cast<double>(range.ns) * 1e-9 / static_cast<double>(range.count)),
             fmt::to_string(range.calls), seconds_text(static_cast<double>(range.call_ns) * 1e-9)});
    if (!ranges.empty()) say("\n" + ranges.text(stderr));
    for (const TracedProcess &process : model.processes) say(libraries::table(process.libraries));
}

void note(const std::string &text) {
    say(fmt::format("{} {}\n", styled("atoll trace:", Style::warn, stderr), text));
}

// All timelines of the run. They are mapped, so the folder may be removed.
void read_timelines(TraceModel &model, const std::string &folder) {
    std::vector<fs::path> paths;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
        if (entry.path().string().find(".timeline") == std::string::npos) continue;
        if (entry.file_size() == 0) continue; // never begun: the library reported why
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end()); // by process
    for (const fs::path &path : paths) {
        try {
            model.read(path.string());
        } catch (const std::exception &e) {
            note(e.what());
        }
    }
    model.finish();
}

void note_what_is_missing(const TraceModel &model, const TraceFolder &folder) {
    std::uint64_t past_limit = 0, no_room = 0, uncounted = 0;
    for (const TracedProcess &process : model.processes) {
        (process.full == 2 ? no_room : past_limit) += process.dropped;
        uncounted += process.uncounted;
    }
    if (past_limit > 0)
        note(fmt::format("{} calls came after the timeline had reached its limit: they are in the "
                         "totals only; raise it with --limit, or record fewer with --functions",
                         past_limit));
    if (no_room > 0)
        note(fmt::format("{} calls are in {} only, because there was no space in {}; set TMPDIR to "
                         "a folder with more space",
                         no_room, uncounted > 0 ? "the number of calls" : "the totals",
                         fs::path(folder.path).parent_path().string()));
}

// Writes as many as possible, since the run cannot be repeated. False if one could not be written.
bool write_outputs(const std::vector<std::unique_ptr<Output>> &outputs, const TraceModel &model,
                   const TracedRun &result, bool json) {
    bool written = true;
    for (const auto &output : outputs) try {
            output->write(model, result);
            if (!json) say(fmt::format("wrote {}\n", output->path()));
        } catch (const std::exception &e) {
            say_error(fmt::format("{}: {}", output->path(), e.what()));
            written = false;
        }
    return written;
}

} // namespace

int run_trace(const TraceOptions &options) {
    if (!options.diff.empty()) return diff_traces(options);
    if (options.command.empty()) throw UsageError("trace: name a program to run, or --diff");
    std::vector<std::unique_ptr<Output>> outputs;
    for (const std::string &path : options.outputs)
        outputs.push_back(std::make_unique<Output>(path));
    const TraceFolder folder;
    TracedRun result;
    try {
        result = run_traced(options, folder);
    } catch (const CannotStart &e) {
        say_error(e.what());
        return e.status;
    }
    const int status = result.signal ? 128 + result.signal : result.status;
    if (result.signal)
        note(fmt::format("the program was ended by signal {} ({})", result.signal,
                         ::strsignal(result.signal)));

    TraceModel model;
    read_timelines(model, folder.path);
    folder.remove();
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) std::signal(signal, remove_unfinished);
    }
    if (model.processes.empty()) {
        note(fmt::format("{} has loaded no plugin of Atoll with the tracer on, so there is nothing "
                         "to show; see the messages of the library above",
                         result.command.front()));
        return status == 0 ? 1 : status;
    }
    note_what_is_missing(model, folder);
    if (model.all_calls() == 0)
        note(options.functions.empty()
                 ? std::string("the program made no call")
                 : fmt::format("the program called no function that matches '{}'; `atoll info "
                               "--functions` lists them",
                               options.functions));
    const bool ended = std::all_of(model.processes.begin(), model.processes.end(),
                                   [](const TracedProcess &process) { return process.closed; });
    if (!options.json) {
        if (!ended || narrow_terminal()) print_hot_list(model);
        for (const std::string &sentence : advice(model, result)) note(sentence);
    }
    const bool written = write_outputs(outputs, model, result, options.json);
    if (options.json) print_json(summary_json(model, result));
    return status == 0 && !written ? 1 : status;
}

} // namespace Atoll::tools
