// The command `atoll`: shows, traces, checks and measures the runtime and its plugins.
//
// Exit status: 0 success; 1 failure (of a check, or of a traced program); 2 bad usage.
#include "atoll/plugins.hpp"
#include "base/nearest.hpp"
#include "commands.hpp"
#include "terminal.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>

#include <fmt/format.h>

using namespace Atoll::tools;

namespace {

// The parser of the command line. Parsing sets `chosen` to the subcommand with its options.
class CommandLine {
public:
    CommandLine();
    CommandLine(const CommandLine &) = delete;
    CommandLine &operator=(const CommandLine &) = delete;

    CLI::App app{"Shows, traces, checks and measures the Atoll tensor runtime and its plugins.",
                 "atoll"};
    std::function<int()> chosen;

private:
    template <class Options> CLI::App &add(const char *name, const char *description,
                                           Options &options, int (*run)(const Options &)) {
        CLI::App *command = app.add_subcommand(name, description);
        if constexpr (requires { options.json; })
            command->add_flag("--json", options.json, "Print one JSON document instead of text");
        command->callback(
            [this, &options, run] { chosen = [&options, run] { return run(options); }; });
        return *command;
    }
    void add_info();
    void add_trace();
    void add_check();
    void add_bench();
    void add_new_plugin();
    void add_header();
    void add_completion();

    InfoOptions info_;
    TraceOptions trace_;
    CheckOptions check_;
    BenchOptions bench_;
    NewPluginOptions new_plugin_;
    HeaderOptions header_;
    CompletionOptions completion_;
};

CommandLine::CommandLine() {
    app.set_version_flag("--version", "atoll " + std::string(Atoll::version()));
    app.set_help_all_flag("--help-all", "Print the help of every subcommand");
    app.require_subcommand(1);
    app.footer("Plugins are searched in ATOLL_PLUGIN_PATH, then beside the installed library.\n"
               "`atoll COMMAND --help` describes a command, with examples.");
    add_info();
    add_trace();
    add_check();
    add_bench();
    add_new_plugin();
    add_header();
    add_completion();
}

void CommandLine::add_info() {
    CLI::App &command =
        add("info", "Show plugins, devices, modules, functions, settings", info_, run_info);
    command.add_flag("--plugins", info_.plugins, "Every file found: loaded, or why not");
    command.add_flag("--devices", info_.devices, "Devices and their properties");
    command.add_flag("--modules", info_.modules, "Modules whose interface is loaded");
    command.add_flag("--functions", info_.functions, "Functions, their devices and dtypes");
    command.add_flag("--settings", info_.settings, "Settings and the source of each");
    command.add_flag("--interposers", info_.interposers,
                     "Interposers, and the chains of functions that have more than one link");
    command.add_flag("--libraries", info_.libraries,
                     "BLAS, OpenMP, oneTBB, CUDA and NCCL files that plugins have loaded");
    command.footer("Without options: plugins, devices, modules and settings.\n"
                   "Examples:\n"
                   "  atoll info --plugins\n"
                   "  ATOLL_INTERPOSERS=trace=core.add atoll info --interposers");
}

void CommandLine::add_trace() {
    CLI::App &command =
        add("trace", "Run a program and show every call it makes", trace_, run_trace);
    command
        .add_option("-o,--output", trace_.outputs,
                    "FILE.html: a report for a browser; FILE.pftrace, FILE.json or FILE.json.gz: "
                    "a trace for ui.perfetto.dev. May be repeated")
        ->option_text("FILE")
        ->allow_extra_args(false);
    command
        .add_option("--functions", trace_.functions,
                    "Only functions that match a glob, or one of several separated by commas: "
                    "'core.s*', 'core.*@dummy,device.transfer'")
        ->option_text("GLOB");
    command
        .add_option("--limit", trace_.limit,
                    "Bytes of records that each process may write (256M), at least 1100K")
        ->option_text("BYTES")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
    command.add_flag("!--no-execution", trace_.execution,
                     "Do not follow work on asynchronous streams, which costs two host callbacks "
                     "per call");
    command
        .add_option("--diff", trace_.diff,
                    "Compare the totals of two traces (.json, .json.gz, .html) instead of running "
                    "a program")
        ->option_text("BEFORE AFTER")
        ->expected(2);
    command.add_option("program", trace_.command, "The program and its arguments")
        ->option_text("PROGRAM ARGS...");
    command.footer(
        "The program runs unmodified: ATOLL_INTERPOSERS and ATOLL_TRACE_* enable the tracer, in\n"
        "addition to your own settings. The table of calls is printed to standard error when the\n"
        "program ends. With --json, its standard output goes to standard error, and a summary is\n"
        "printed instead.\n\n"
        "Programs that it starts are traced too; a forked child that executes none is not.\n\n"
        "Exit status: that of the program, or 128 + N if signal N ended it; 126 or 127 if it\n"
        "cannot be started; 2 for bad usage; 1 if a file cannot be written or nothing was "
        "traced.\n\n"
        "Examples:\n"
        "  atoll trace -- ./simulate input.npy\n"
        "  atoll trace -o run.html -o run.pftrace -- ./simulate input.npy\n"
        "  atoll trace --diff before.json after.json\n"
        "  atoll trace --functions 'core.*@cpu' --json -- ./simulate input.npy > run-summary.json");
}

void CommandLine::add_check() {
    CLI::App &command = add("check", "Check that a plugin conforms to the ABI", check_, run_check);
    command.add_option("plugin", check_.kit.plugin, "The plugin file")->required();
    command.add_option("--filter", check_.kit.filter,
                       "Only checks whose name matches, as in 'functions/core.add*'");
    command.add_option("--with", check_.kit.with,
                       "Plugins to load first, by name or path; may be repeated");
    command.add_option("--junit", check_.junit, "Write the results as JUnit XML to this file");
    command.add_option("--matrix", check_.matrix,
                       "Write the support matrix as Markdown to this file");
    command
        .add_option("--deadline", check_.kit.deadline, "Seconds after which a check counts as hung")
        ->check(CLI::Range(0.1, 86400.0, "SECONDS"));
    command.add_flag("--list", check_.list, "Print the names of the checks without running them");
    command.add_flag("--fail-fast", check_.kit.fail_fast, "Stop at the first failure");
    command.add_flag("!--no-isolate", check_.kit.isolate,
                     "Run in this process, for a debugger; a crash ends it");
    command.footer(
        "Checks the file, loading, the device, every declared function for every dtype and\n"
        "layout, threads, memory and retiring. Results are compared with another device: the\n"
        "plugin cpu or dummy of the search path.\n"
        "Exit status: 0 conforms, 1 a check failed, 2 bad usage.\n\n"
        "Examples:\n"
        "  atoll check build/atoll-mine.so\n"
        "  atoll check build/atoll-mine.so --filter 'functions/core.add*:float32/*'\n"
        "  atoll check build/atoll-mine.so --junit results.xml --matrix SUPPORT.md");
}

void CommandLine::add_bench() {
    CLI::App &command =
        add("bench", "Run a fixed set of benchmarks on a device", bench_, run_bench);
    command.add_option("rows", bench_.rows, "Rows or patterns, such as e1 'r*'; default: all");
    command.add_option("--device", bench_.device, "The device, such as cpu or dummy:1")
        ->capture_default_str();
    command.add_option("--against", bench_.against,
                       "A plugin file to compare with: it replaces functions of the device, or "
                       "has a device of its own");
    command.add_option("--threads", bench_.threads, "The plugin's setting threads; 0: all")
        ->check(CLI::Range(0, 4096));
    command.add_option("--rounds", bench_.rounds, "Number of rounds, of which the best counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_option("--seconds", bench_.seconds, "Approximate duration of one round")
        ->check(CLI::Range(1e-4, 60.0))
        ->capture_default_str();
    command.add_option("--elements", bench_.elements, "N, the size of the rows x1, x2, …")
        ->check(CLI::Range(std::int64_t{16}, std::int64_t{1} << 34))
        ->capture_default_str();
    command.add_flag("--list", bench_.list, "List the rows without measuring");
    command.footer("Examples:\n"
                   "  atoll bench 'e*' --threads 1\n"
                   "  atoll bench e8 --against ./atoll-fast-sqrt.so\n"
                   "  atoll bench 'x*' --device cuda:0\n"
                   "Times are the best of several rounds; compare only figures of one run.");
}

void CommandLine::add_new_plugin() {
    CLI::App &command =
        add("new-plugin", "Create the source tree of a new plugin", new_plugin_, run_new_plugin);
    command
        .add_option("name", new_plugin_.name, "The plugin's name: lowercase letters, digits, '_'")
        ->required();
    const auto choice = [&](const char *name, std::string &value, std::vector<std::string> values,
                            const char *text) {
        command.add_option(name, value, text)
            ->check(CLI::IsMember(std::move(values)))
            ->capture_default_str();
    };
    choice("--kind", new_plugin_.kind, {"device", "async", "override"},
           "device: a device type of your own; async: one with streams and events; override: one "
           "function on the cpu");
    choice("--language", new_plugin_.language, {"c", "cpp"},
           "c (C11) or cpp (C++20; async only this)");
    command.add_option("-o,--output", new_plugin_.folder,
                       "The folder to create; default: NAME in the working directory");
    command.footer("The tree builds against an installed Atoll and contains a test; its README.md "
                   "describes the next\nsteps.\n\n"
                   "Example: atoll new-plugin acme && cd acme && meson setup build && "
                   "meson test -C build");
}

void CommandLine::add_header() {
    CLI::App &command =
        add("header", "Print the C++ declarations of a module's functions", header_, run_header);
    command.add_option("module", header_.module, "A plugin that declares one module, or core")
        ->required();
    command.add_option("--namespace", header_.name_space, "Default: the name of the module");
    command.add_option("--without", header_.without, "Functions to leave out")->delimiter(',');
    command.footer("Prints a documented declaration of each function. The header needs "
                   "atoll/atoll.hpp and\nC++20; the module's plugin must be loaded before the "
                   "first call.\n\n"
                   "Example:\n  atoll header build/atoll-linalg.so > linalg_functions.hpp\n");
}

// Last: it lists the options of all others.
void CommandLine::add_completion() {
    CLI::App &command =
        add("completion", "Print a completion script for a shell", completion_, run_completion);
    command.add_option("shell", completion_.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command.footer("Example: eval \"$(atoll completion bash)\"");
    const auto list = [this](const CLI::App &of, const std::string &name) {
        CompletionOptions::Command listed{name, of.get_description(), {}, {}};
        for (const CLI::Option *option : of.get_options()) {
            std::vector<std::string> words;
            for (const std::string &word : option->get_lnames()) words.push_back("--" + word);
            for (const std::string &word : option->get_snames()) words.push_back("-" + word);
            // CLI::IsMember puts "{one,other}" behind the type's name.
            std::string values = option->get_type_name();
            values.erase(0, std::min(values.find('{'), values.size() - 1) + 1);
            std::replace(values.begin(), values.end(), ',', ' ');
            if (values.ends_with('}')) {
                values.pop_back();
                if (words.empty())
                    words.push_back(values);
                else
                    for (const std::string &word : words) listed.values.emplace_back(word, values);
            }
            listed.options.insert(listed.options.end(), words.begin(), words.end());
        }
        completion_.commands.push_back(std::move(listed));
    };
    list(app, "");
    for (const CLI::App *other : app.get_subcommands({})) list(*other, other->get_name());
}

// Refuses a first word that is neither a command nor an option, for CLI11's own message names none.
void require_command(const CLI::App &app, const std::vector<std::string> &words) {
    if (words.empty() || words[0].starts_with('-')) return;
    std::vector<std::string> names;
    std::string list;
    for (const CLI::App *command : app.get_subcommands({})) {
        if (command->get_name() == words[0]) return;
        names.push_back(command->get_name());
        list += (list.empty() ? "" : ", ") + names.back();
    }
    throw UsageError(fmt::format("unknown command '{}'{}; commands: {}", words[0],
                                 Atoll::detail::suggestion(words[0], names), list));
}

// As with env and time, words after the program's name belong to the program: `atoll trace ls -l`.
std::vector<std::string> words_of(const CLI::App &app, int argc, char **argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words[0] != "trace") return words;
    const CLI::App *trace = app.get_subcommand("trace");
    for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
        if (!words[i].starts_with('-')) {
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--");
            break;
        }
        const CLI::Option *option = trace->get_option_no_throw(words[i]);
        if (option && option->get_items_expected_max() > 0) // its values
            i += option->get_items_expected_min() > 1 ? 2 : 1;
    }
    return words;
}

// The status, or 1 if standard output cannot be written, as on a full disk. A closed pipe is not an
// error: the reader wants no more.
int written(int status) {
    const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout); // now or before
    if (!failed || errno == EPIPE) return status;
    say_error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    return 1;
}

} // namespace

int main(int argc, char **argv) {
    CommandLine line;
    try {
        std::vector<std::string> words = words_of(line.app, argc, argv);
        require_command(line.app, words);
        std::reverse(words.begin(), words.end()); // the order that CLI11 expects
        line.app.parse(std::move(words));
        return written(line.chosen());
    } catch (const CLI::ParseError &e) { // also --help and --version
        std::ostringstream out;
        const int status = line.app.exit(e, out);
        fmt::print("{}", wrapped(out.str(), terminal_width(stdout)));
        return status == 0 ? written(0) : 2;
    } catch (const UsageError &e) {
        say_error(e.what());
        return 2;
    } catch (const std::exception &e) {
        say_error(e.what());
        return 1;
    }
}
