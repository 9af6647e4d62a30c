// The command `atoll`: looks into the runtime and its plugins, traces, checks and measures.
//
// Exit status: 0 done; 1 what was asked for failed (a check, a program under trace); 2 bad usage.
#include "atoll/atoll.hpp"
#include "command.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

using namespace Atoll::tools;

namespace Atoll::tools {

CLI::App *add_command(CLI::App &app, Request &request, const std::string &name,
                      const std::string &description) {
    CLI::App *command = app.add_subcommand(name, description);
    command->add_flag("--json", request.json, "Print one JSON document instead of text");
    return command;
}

} // namespace Atoll::tools

namespace {

// As with env and time, what follows the program's name is the program's: `atoll trace ls -l`.
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
        if (option && option->get_items_expected_max() > 0) ++i; // its value
    }
    return words;
}

// The status, or 1 where standard output does not take what was printed. A reader that has gone
// wants no more; a full disk is an error.
int written(int status) {
    const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout); // now or before
    if (!failed || errno == EPIPE) return status;
    Atoll::tools::say_error(
        fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    return 1;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app{"Looks into the Atoll tensor runtime and its plugins.", "atoll"};
    app.set_version_flag("--version", "atoll " + std::string(Atoll::version()));
    app.set_help_all_flag("--help-all", "Print the help of every subcommand");
    app.require_subcommand(1);
    app.footer("Plugins are found in ATOLL_PLUGIN_PATH, then beside the installed library.\n"
               "`atoll COMMAND --help` explains a command, with examples.");
    Request request;
#define ATOLL_COMMAND(name) add_##name(app, request);
#include "commands.inc"
    try {
        std::vector<std::string> words = words_of(app, argc, argv);
        std::reverse(words.begin(), words.end()); // as CLI11 wants it
        app.parse(std::move(words));
        return written(request.run());
    } catch (const CLI::ParseError &e) { // also --help and --version
        return app.exit(e) == 0 ? written(0) : 2;
    } catch (const UsageError &e) {
        say_error(e.what());
        return 2;
    } catch (const std::exception &e) {
        say_error(e.what());
        return 1;
    }
}
