// `atoll completion`: scripts that complete subcommands and options, written from what the parser
// knows, so that they never fall behind.
#include "command.hpp"

#include <cstdio>
#include <memory>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

std::vector<std::string> options_of(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::Option *option : app.get_options()) {
        for (const std::string &name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string &name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::string joined(const std::vector<std::string> &list) {
    return fmt::format("{}", fmt::join(list, " "));
}

std::string bash(const CLI::App &app) {
    std::string commands, cases;
    for (const CLI::App *command : app.get_subcommands({})) {
        commands += (commands.empty() ? "" : " ") + command->get_name();
        cases += fmt::format("        {}) words=\"{}\" ;;\n", command->get_name(),
                             joined(options_of(*command)));
    }
    return R"(# Completion of atoll for bash; source it from ~/.bashrc
_atoll() {
    local current=${COMP_WORDS[COMP_CWORD]} words=")" +
           commands + " " + joined(options_of(app)) + R"script(" i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
)script" + cases +
           R"script(        --) COMPREPLY=($(compgen -c -- "$current")); return ;;
        esac
    done
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _atoll atoll
)script";
}

std::string zsh(const CLI::App &app) {
    std::string commands, cases;
    for (const CLI::App *command : app.get_subcommands({})) {
        commands += (commands.empty() ? "" : " ") + command->get_name();
        cases += fmt::format("        {}) choices+=({}) ;;\n", command->get_name(),
                             joined(options_of(*command)));
    }
    return R"(#compdef atoll
# Completion of atoll for zsh; source it from ~/.zshrc
_atoll() {
    local -a choices=()
    if ((CURRENT == 2)); then
        compadd -- )" +
           commands + " " + joined(options_of(app)) + R"script(
        return
    fi
    case ${words[2]} in
)script" + cases +
           R"script(    esac
    compadd -- $choices
    _files
}
compdef _atoll atoll
)script";
}

std::string fish(const CLI::App &app) {
    std::string text = "# Completion of atoll for fish: atoll completion fish | source\n";
    for (const CLI::App *command : app.get_subcommands({})) {
        text += fmt::format("complete -c atoll -n __fish_use_subcommand -f -a {} -d '{}'\n",
                            command->get_name(), command->get_description());
        for (const CLI::Option *option : command->get_options())
            for (const std::string &name : option->get_lnames())
                text += fmt::format("complete -c atoll -n '__fish_seen_subcommand_from {}' -l {}\n",
                                    command->get_name(), name);
    }
    return text;
}

} // namespace

void add_completion(CLI::App &app, Request &request) {
    CLI::App *command =
        add_command(app, request, "completion", "Print a completion script for a shell");
    const auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->footer("Example: eval \"$(atoll completion bash)\"");
    command->callback([&app, &request, shell] {
        request.run = [&app, &request, shell] {
            const std::string script = *shell == "bash"  ? bash(app)
                                       : *shell == "zsh" ? zsh(app)
                                                         : fish(app);
            if (request.json)
                fmt::print("{}\n", Json({{"shell", *shell}, {"script", script}}).dump());
            else
                fmt::print("{}", script);
            return 0;
        };
    });
}

} // namespace Atoll::tools
