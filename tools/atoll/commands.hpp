// The subcommands of `atoll`: their options and the functions that run them. Each is implemented in
// a file of its name; command_line.cpp declares the options to the parser.
#pragma once

#include "atoll/conformance.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace Atoll::tools {

// A mistake of the user: main prints the text alone and returns 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Options of every subcommand.
struct CommonOptions {
    bool json = false; // print one JSON document on standard output, and nothing else there
};

struct InfoOptions : CommonOptions {
    bool plugins = false, devices = false, modules = false, functions = false, settings = false,
         interposers = false, libraries = false;
};
struct TraceOptions : CommonOptions {
    std::vector<std::string> outputs, command;
    std::vector<std::string> diff; // two traces to compare, instead of running a program
    std::string functions;         // globs separated by commas; empty: all
    std::uint64_t limit = 0;       // bytes of each process's timeline; 0: the plugin's default
    bool execution = true;
};
struct CheckOptions : CommonOptions {
    conformance::Options kit;
    std::string junit, matrix;
    bool list = false;
};
struct BenchOptions : CommonOptions {
    std::vector<std::string> rows;
    std::string device = "cpu", against;
    int threads = -1, rounds = 7;
    double seconds = 0.02;
    std::int64_t elements = 1 << 28;
    bool list = false;
};
struct NewPluginOptions : CommonOptions {
    std::string name, kind = "device", language = "cpp", folder;
};
struct HeaderOptions {
    std::string module, name_space;
    std::vector<std::string> without;
};
struct CompletionOptions : CommonOptions {
    struct Command {
        std::string name, description;    // no name: `atoll` itself
        std::vector<std::string> options; // "--name", "-n", values of positional arguments
        std::vector<std::pair<std::string, std::string>> values; // "--kind", "device override"
    };
    std::string shell;
    std::vector<Command> commands;
};

// Each returns the exit status.
int run_info(const InfoOptions &options);
int run_trace(const TraceOptions &options);
int diff_traces(const TraceOptions &options);
int run_check(const CheckOptions &options);
int run_bench(const BenchOptions &options);
int run_new_plugin(const NewPluginOptions &options);
int run_header(const HeaderOptions &options);
int run_completion(const CompletionOptions &options);

} // namespace Atoll::tools
