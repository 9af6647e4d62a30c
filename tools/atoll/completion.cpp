// `atoll completion`: scripts that complete subcommands and options, generated from the parser.
#include "commands.hpp"
#include "json.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

using Commands = std::vector<CompletionOptions::Command>;

// In `script`, replaces @words@ by the subcommands and the options of `atoll`, @cases@ by a branch
// of a case command for each subcommand, in which `assign` is formatted with its options, and
// @values@ by one for each option with a list of values.
std::string filled(std::string script, const Commands &commands, const char *assign,
                   const char *assign_values) {
    std::string words, cases, values;
    for (const CompletionOptions::Command &command : commands) {
        const std::string options = fmt::format("{}", fmt::join(command.options, " "));
        words += command.name.empty() ? options : " " + command.name;
        if (!command.name.empty())
            cases += fmt::format("        {}) {} ;;\n", command.name,
                                 fmt::format(fmt::runtime(assign), options));
        for (const auto &[option, list] : command.values)
            values += fmt::format("    {},{}) {} ;;\n", command.name, option,
                                  fmt::format(fmt::runtime(assign_values), list));
    }
    script.replace(script.find("@values@\n"), 9, values);
    script.replace(script.find("@words@"), 7, words);
    script.replace(script.find("@cases@\n"), 8, cases);
    return script;
}

constexpr const char *bash = R"(# Completion of atoll for bash; source it from ~/.bashrc
_atoll() {
    local current=${COMP_WORDS[COMP_CWORD]} words="@words@" i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
@cases@
        --) COMPREPLY=($(compgen -c -- "$current")); return ;;
        esac
    done
    case ${COMP_WORDS[1]},${COMP_WORDS[COMP_CWORD - 1]} in
@values@
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _atoll atoll
)";

constexpr const char *zsh = R"(#compdef atoll
# Completion of atoll for zsh; source it from ~/.zshrc
_atoll() {
    local -a choices=()
    if ((CURRENT == 2)); then
        compadd -- @words@
        return
    fi
    case ${words[2]} in
@cases@
    esac
    case ${words[2]},${words[CURRENT-1]} in
@values@
    esac
    compadd -- $choices
    _files
}
compdef _atoll atoll
)";

std::string fish(const Commands &commands) {
    std::string text = "# Completion of atoll for fish: atoll completion fish | source\n";
    for (const CompletionOptions::Command &command : commands) {
        if (command.name.empty()) continue;
        text += fmt::format("complete -c atoll -n __fish_use_subcommand -f -a {} -d '{}'\n",
                            command.name, command.description);
        for (const std::string &option : command.options) {
            const auto known =
                std::find_if(command.values.begin(), command.values.end(),
                             [&](const auto &values) { return values.first == option; });
            const std::string values =
                known == command.values.end() ? "" : fmt::format(" -x -a '{}'", known->second);
            const std::string what = option.starts_with("--")  ? " -l " + option.substr(2)
                                     : option.starts_with('-') ? " -s " + option.substr(1)
                                                               : fmt::format(" -a '{}'", option);
            text += fmt::format("complete -c atoll -n '__fish_seen_subcommand_from {}'{}{}\n",
                                command.name, what, values);
        }
    }
    return text;
}

} // namespace

int run_completion(const CompletionOptions &options) {
    const Commands &commands = options.commands;
    const std::string script =
        options.shell == "bash"  ? filled(bash, commands, "words=\"{}\"",
                                          "COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return")
        : options.shell == "zsh" ? filled(zsh, commands, "choices+=({})", "compadd -- {}; return")
                                 : fish(commands);
    if (options.json)
        print_json({{"shell", options.shell}, {"script", script}});
    else
        fmt::print("{}", script);
    return 0;
}

} // namespace Atoll::tools
