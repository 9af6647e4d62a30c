// `atoll trace`: runs a program with the tracer on and shows what it did.
#include "command.hpp"
#include "terminal.hpp"
#include "trace_run.hpp"

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

struct Options {
    std::vector<std::string> outputs;
    TraceRequest request;
};

// Who interrupts the writing of a long trace leaves no part of a file behind.
std::vector<std::string> unfinished;
void remove_unfinished(int signal) {
    for (const std::string &path : unfinished) ::unlink(path.c_str());
    ::_exit(128 + signal);
}

using WriteForm = void (*)(const TraceModel &, const TracedRun &, std::FILE *);

// A file that is written beside its place and moved there when it is whole. The place is tried at
// once, so that nobody waits for a program to find that its trace cannot be kept.
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
        form_(model, run, file_);
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
    static WriteForm form_of(const std::string &path) {
        if (path.ends_with(".json")) return write_perfetto;
        if (path.ends_with(".html")) return write_report;
        throw UsageError(fmt::format("-o {}: need a name that ends in .json (a trace for "
                                     "ui.perfetto.dev) or .html (a report)",
                                     path));
    }
    std::string given_, path_; // the latter without links
    WriteForm form_;
    std::string temporary_;
    std::FILE *file_ = nullptr;
};

// For a program that could not print its own table.
void print_hot_list(const TraceModel &model) {
    Table table({"function", "device", ">calls", ">total", ">MB", ">GB/s", ">temps", ">copies"});
    for (const HotLine &line : hot_list(model)) {
        if (line.calls == 0) continue;
        table.add({line.function, line.device, fmt::to_string(line.calls),
                   seconds_text(static_cast<double>(line.nanoseconds()) * 1e-9),
                   fmt::format("{:.3f}", static_cast<double>(line.bytes) * 1e-6),
                   fmt::format("{:.3f}", line.gigabytes_per_second()),
                   fmt::to_string(line.temporaries), fmt::to_string(line.copies)});
    }
    say(table.text());
}

void note(const std::string &text) {
    say(fmt::format("{} {}\n", styled("atoll trace:", Style::warn, stderr), text));
}

// All timelines of the run. They are mapped, so the folder may go.
void read_timelines(TraceModel &model, const std::string &folder) {
    for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
        if (entry.path().string().find(".timeline") == std::string::npos) continue;
        if (entry.file_size() == 0) continue; // never begun: the library has said why
        try {
            model.read(entry.path().string());
        } catch (const std::exception &e) {
            note(e.what());
        }
    }
    model.finish();
}

void note_what_is_missing(const TraceModel &model, const TraceFolder &folder) {
    std::uint64_t past_limit = 0, no_room = 0;
    for (const TracedProcess &process : model.processes)
        (process.full == 2 ? no_room : past_limit) += process.dropped;
    if (past_limit > 0)
        note(fmt::format("{} calls came after the timeline had reached its limit and are not in "
                         "it; --limit sets a higher one, --functions records fewer",
                         past_limit));
    if (no_room > 0)
        note(fmt::format("{} calls are not in the trace, because there was no room for them in "
                         "{}; set TMPDIR to a folder with more room",
                         no_room, fs::path(folder.path).parent_path().string()));
}

// Each on its own: the run cannot be had again. False if one could not be written.
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

int run(Options &options, bool json) {
    std::vector<std::unique_ptr<Output>> outputs;
    for (const std::string &path : options.outputs)
        outputs.push_back(std::make_unique<Output>(path));
    options.request.quiet = json;
    const TraceFolder folder;
    TracedRun result;
    try {
        result = run_traced(options.request, folder);
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
                         "to show; see above for messages of the library",
                         result.command.front()));
        return status == 0 ? 1 : status;
    }
    note_what_is_missing(model, folder);
    if (model.calls.empty() && model.dropped() == 0)
        note(options.request.functions.empty()
                 ? std::string("the program made no call")
                 : fmt::format("the program called no function that matches '{}'; `atoll info "
                               "--functions` lists them",
                               options.request.functions));
    if (result.signal && !json) print_hot_list(model);
    const bool written = write_outputs(outputs, model, result, json);
    if (json)
        fmt::print("{}\n",
                   summary_json(model, result).dump(2, ' ', false, Json::error_handler_t::replace));
    return status == 0 && !written ? 1 : status;
}

} // namespace

void add_trace(CLI::App &app, Request &request) {
    CLI::App *command =
        add_command(app, request, "trace", "Run a program and show every call it makes");
    const auto options = std::make_shared<Options>();
    command
        ->add_option("-o,--output", options->outputs,
                     "FILE.json: a trace for ui.perfetto.dev; FILE.html: a report to look at in "
                     "a browser. May be given more than once")
        ->option_text("FILE")
        ->allow_extra_args(false);
    command
        ->add_option("--functions", options->request.functions,
                     "Only functions that match a glob, or one of several separated by commas: "
                     "'core.s*', 'core.*@dummy,device.transfer'")
        ->option_text("GLOB");
    command
        ->add_option("--limit", options->request.limit,
                     "Bytes of records that each process may write (256 MiB)")
        ->option_text("BYTES")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
    command->add_flag("!--no-execution", options->request.execution,
                      "Do not follow work on asynchronous streams, which costs two host callbacks "
                      "per call");
    command->add_option("program", options->request.command, "The program and its arguments")
        ->option_text("PROGRAM ARGS...")
        ->required();
    command->footer(
        "The program runs unmodified: the tracer is switched on by ATOLL_INTERPOSERS and\n"
        "ATOLL_TRACE_*, to which what you have set there is kept. It prints the table of calls to\n"
        "standard error when it ends. With --json its standard output goes to standard error, and "
        "a\n"
        "summary is printed instead.\n\n"
        "Programs that it starts are traced too; a child that forks and starts none is not.\n\n"
        "Exit status: the program's, or 128 + N if signal N ended it; 126 or 127 if it cannot be\n"
        "started; 2 for bad usage; 1 if a file cannot be written, or if there is nothing to "
        "show.\n\n"
        "Examples:\n"
        "  atoll trace -- ./simulate input.npy\n"
        "  atoll trace -o run.json -o run.html -- ./simulate input.npy\n"
        "  atoll trace --functions 'core.*@cpu' --json -- ./simulate input.npy > run-summary.json");
    run_on_parse(command, request, options, run);
}

} // namespace Atoll::tools
