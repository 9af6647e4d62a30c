// What the subcommands of `atoll` share: registration, how output is wanted, errors.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace Atoll::tools {

// Insertion order is kept, so that output reads as it was written.
using Json = nlohmann::ordered_json;

// What the command line asked for.
struct Request {
    bool json = false;        // --json: one JSON document on standard output, nothing else there
    std::function<int()> run; // the subcommand; its value is the exit status
};

// A mistake of the user's: printed without more ado, exit status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Each adds its subcommand to `app`. Options are bound to variables that live as long as the
// program; the subcommand's callback sets request.run.
#define ATOLL_COMMAND(name) void add_##name(CLI::App &app, Request &request);
#include "commands.inc"

// A subcommand with the option --json, which every one has.
CLI::App *add_command(CLI::App &app, Request &request, const std::string &name,
                      const std::string &description);
// Has main call run(*options, request.json) once the command line was parsed into *options.
template <typename Options, typename Run>
void run_on_parse(CLI::App *command, Request &request, std::shared_ptr<Options> options, Run run) {
    command->callback([&request, options, run] {
        request.run = [&request, options, run] { return run(*options, request.json); };
    });
}

} // namespace Atoll::tools
