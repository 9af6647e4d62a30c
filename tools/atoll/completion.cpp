// `atoll completion`: scripts that complete subcommands and options, generated from the parser.
#include "commands.hpp"
#include "json.hpp"

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

using Commands = std::vector<CompletionOptions::Command>;

// In `script`, replaces @words@ by the subcommands and the options of `atoll`, and @cases@ by a
// branch of a case command for each subcommand, in which `assign` is formatted with its options.
std::string filled(std::string script, const Commands &commands, const char *assign) {
    std::string words, cases;
    for (const CompletionOptions::Command &command : commands) {
        const std::string options = fmt::format("{}", fmt::join(command.options, " "));
        words += command.name.empty() ? options : " " + command.name;
        if (!command.name.empty())
            cases += fmt::format("        {}) {} ;;\n", command.name,
                                 fmt::format(fmt::runtime(assign), options));
    }
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
        for (const std::string &option : command.options)
            if (option.starts_with("--"))
                text += fmt::format("complete -c atoll -n '__fish_seen_subcommand_from {}' -l {}\n",
                                    command.name, option.substr(2));
    }
    return text;
}

} // namespace

int run_completion(const CompletionOptions &options) {
    const Commands &commands = options.commands;
    const std::string script = options.shell == "bash"  ? filled(bash, commands, "words=\"{}\"")
                               : options.shell == "zsh" ? filled(zsh, commands, "choices+=({})")
                                                        : fish(commands);
    if (options.json)
        print_json({{"shell", options.shell}, {"script", script}});
    else
        fmt::print("{}", script);
    return 0;
}

} // namespace Atoll::tools
