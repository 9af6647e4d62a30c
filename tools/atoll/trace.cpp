// `atoll trace`: runs a program with the tracer on and shows what it did.
#include "command.hpp"
#include "terminal.hpp"
#include "trace_run.hpp"

#include <cerrno>
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

using WriteForm = void (*)(const TraceModel &, const TracedRun &, std::FILE *);

// A file that is written beside its place and moved there when it is whole. The place is tried at
// once, so that nobody waits for a program to find that its trace cannot be kept.
class Output {
public:
    explicit Output(const std::string &path) : path_(path), form_(form_of(path)) {
        const auto fail = [&](const std::string &why) {
            throw UsageError(fmt::format("-o {}: {}", path, why));
        };
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
            throw std::runtime_error(fmt::format("{}: {}", path_, std::strerror(errno)));
        temporary_.clear();
    }
    const std::string &path() const { return path_; }

private:
    static WriteForm form_of(const std::string &path) {
        if (path.ends_with(".json")) return write_perfetto;
        if (path.ends_with(".html")) return write_report;
        throw UsageError(fmt::format("-o {}: need a name that ends in .json (a trace for "
                                     "ui.perfetto.dev) or .html (a report)",
                                     path));
    }
    std::string path_;
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
    fmt::print(stderr, "{}", table.text());
}

void note(const std::string &text) {
    fmt::print(stderr, "{} {}\n", styled("atoll trace:", Style::warn, stderr), text);
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
        fmt::print(stderr, "{} {}\n", styled("atoll:", Style::bad, stderr), e.what());
        return e.status;
    }
    const int status = result.signal ? 128 + result.signal : result.status;
    if (result.signal)
        note(fmt::format("the program was ended by signal {} ({})", result.signal,
                         ::strsignal(result.signal)));

    TraceModel model;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder.path))
        if (entry.path().string().find(".timeline") != std::string::npos)
            model.read(entry.path().string());
    if (model.processes.empty()) {
        note(fmt::format("{} has loaded no plugin of Atoll with the tracer on, so there is nothing "
                         "to show; see above for messages of the library",
                         result.command.front()));
        return status == 0 ? 1 : status;
    }
    model.finish();
    if (model.dropped() > 0)
        note(fmt::format("{} calls came after the timeline had reached its limit and are not in "
                         "it; --limit sets a higher one, --functions records fewer",
                         model.dropped()));
    if (model.calls.empty())
        note(options.request.functions.empty()
                 ? std::string("the program made no call")
                 : fmt::format("the program called no function that matches '{}'; `atoll info "
                               "--functions` lists them",
                               options.request.functions));
    if (result.signal && !json) print_hot_list(model);
    for (const auto &output : outputs) {
        output->write(model, result);
        if (!json) fmt::print(stderr, "wrote {}\n", output->path());
    }
    if (json)
        fmt::print("{}\n",
                   summary_json(model, result).dump(2, ' ', false, Json::error_handler_t::replace));
    return status;
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
        ->transform(CLI::AsSizeValue(false));
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
        "Exit status: the program's, or 128 + N if signal N ended it; 126 or 127 if it cannot be\n"
        "started; 2 for bad usage; 1 if a file cannot be written, or if there is nothing to "
        "show.\n\n"
        "Examples:\n"
        "  atoll trace -- ./simulate input.npy\n"
        "  atoll trace -o run.json -o run.html -- ./simulate input.npy\n"
        "  atoll trace --functions 'core.*@cpu' --json -- ./simulate input.npy > run-summary.json");
    command->callback([&request, options] {
        request.run = [&request, options] { return run(*options, request.json); };
    });
}

} // namespace Atoll::tools
