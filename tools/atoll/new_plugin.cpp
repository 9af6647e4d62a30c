// `atoll new-plugin`: writes a vendor's starting tree from the installed template.
//
// The template is real files of a plugin named `newplugin`; that word is replaced in contents and
// file names, `newplugin.EXTENSION` by the source's name. In README.md, what stands between the
// lines `<!-- if WORD -->` and `<!-- end -->` is for the choice WORD only.
#include "command.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view placeholder = "newplugin";

struct Options {
    std::string name, kind = "device", language = "cpp", build = "both", folder;
};

// Names that plugins, modules or device types of the runtime have.
constexpr std::string_view taken[] = {"core",      "cpu",   "cuda",      "device",      "dummy",
                                      "dummy_min", "hello", "hello_cpu", "hello_dummy", "trace"};

void check_name(const std::string &name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (name.empty() || name.size() > 31 || name[0] < 'a' || name[0] > 'z' ||
        !std::all_of(name.begin(), name.end(), fits))
        throw UsageError(fmt::format("new-plugin: a plugin cannot be named '{}'; need a lowercase "
                                     "letter, then lowercase letters, digits or '_', at most 31 "
                                     "in all",
                                     name));
    if (std::find(std::begin(taken), std::end(taken), name) != std::end(taken))
        throw UsageError(fmt::format("new-plugin: '{}' is a name of the runtime's own; take "
                                     "another, such as {}_{}",
                                     name, "my", name));
    if (name == placeholder)
        throw UsageError(fmt::format("new-plugin: '{}' stands for the name in the template; take "
                                     "another",
                                     name));
}

// share/atoll/template of the tree that this program is installed in.
fs::path template_folder() {
    std::error_code error;
    const fs::path tool = fs::read_symlink("/proc/self/exe", error);
    if (error)
        throw std::runtime_error(
            fmt::format("new-plugin: cannot tell where this program is: {}", error.message()));
    const fs::path folder = (tool.parent_path() / ATOLL_TEMPLATE).lexically_normal();
    if (!fs::is_directory(folder, error))
        throw std::runtime_error(
            fmt::format("new-plugin: the template should be in {}, but is not there; install Atoll "
                        "(meson install) and call the installed program",
                        folder.string()));
    return folder;
}

std::string read(const fs::path &file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream || !text)
        throw std::runtime_error(fmt::format("new-plugin: cannot read {}", file.string()));
    return text.str();
}

void replace_all(std::string &text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

// Without the sections that are for another choice, and without the marks.
std::string choose(const std::string &text, const std::set<std::string> &chosen) {
    std::istringstream lines(text);
    std::string kept;
    bool keep = true;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("<!-- if ")) {
            keep = chosen.count(line.substr(8, line.find(' ', 8) - 8)) > 0;
        } else if (line == "<!-- end -->") {
            keep = true;
        } else if (keep) {
            kept += line;
            kept += '\n';
        }
    }
    return kept;
}

// (file of the template, file of the new tree)
using Files = std::vector<std::pair<fs::path, std::string>>;

Files files_of(const Options &options) {
    const fs::path from = template_folder();
    const fs::path kind = from / options.kind;
    const std::string source = fmt::format("{}.{}", options.name, options.language);
    Files files{
        {from / "README.md", "README.md"},
        {from / "gitignore", ".gitignore"},
        {kind / fmt::format("{}.{}", placeholder, options.language), source},
        {kind / fmt::format("test_{}.cpp", placeholder), fmt::format("test_{}.cpp", options.name)}};
    if (options.build != "cmake") files.emplace_back(from / "meson.build", "meson.build");
    if (options.build != "meson") files.emplace_back(from / "CMakeLists.txt", "CMakeLists.txt");
    std::sort(files.begin(), files.end(),
              [](const auto &a, const auto &b) { return a.second < b.second; });
    return files;
}

void write(const Options &options, const Files &files, const fs::path &folder) {
    std::set<std::string> chosen{options.kind, options.build};
    if (options.build == "both") chosen.insert({"meson", "cmake"});
    for (const auto &[from, name] : files) {
        std::string text = read(from);
        if (name == "README.md") text = choose(text, chosen);
        replace_all(text, fmt::format("{}.EXTENSION", placeholder),
                    fmt::format("{}.{}", options.name, options.language));
        replace_all(text, placeholder, options.name);
        std::ofstream stream(folder / name, std::ios::binary);
        stream << text;
        if (!stream.flush())
            throw std::runtime_error(
                fmt::format("new-plugin: cannot write {}", (folder / name).string()));
    }
}

// A folder that goes away unless it is moved to its place.
class Scaffold {
public:
    explicit Scaffold(const fs::path &target) : target_(target) {
        std::string pattern = (target.parent_path() / ".new-plugin-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw UsageError(fmt::format("new-plugin: cannot write to {}: {}",
                                         target.parent_path().string(),
                                         std::generic_category().message(errno)));
        path_ = pattern;
        fs::permissions(path_, fs::perms::owner_all | fs::perms::group_read |
                                   fs::perms::group_exec | fs::perms::others_read |
                                   fs::perms::others_exec);
    }
    ~Scaffold() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Scaffold(const Scaffold &) = delete;
    Scaffold &operator=(const Scaffold &) = delete;
    const fs::path &path() const { return path_; }
    void finish() { fs::rename(path_, target_); }

private:
    fs::path path_, target_;
};

// The text as one word of a shell.
std::string word(const std::string &text) {
    if (std::all_of(text.begin(), text.end(), [](unsigned char c) {
            return std::isalnum(c) ||
                   std::string_view("_./-").find(static_cast<char>(c)) != std::string_view::npos;
        }))
        return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

int run(Options options, bool json) {
    check_name(options.name);
    if (options.folder.empty()) options.folder = options.name;
    const fs::path target = fs::absolute(options.folder).lexically_normal();
    // "folder/" ends in an empty name.
    const fs::path folder = target.has_filename() ? target : target.parent_path();
    if (fs::exists(fs::symlink_status(folder)))
        throw UsageError(fmt::format("new-plugin: {} exists already; give another folder with -o, "
                                     "or remove it",
                                     folder.string()));
    if (!fs::is_directory(folder.parent_path()))
        throw UsageError(fmt::format("new-plugin: {} is not a folder; make it first",
                                     folder.parent_path().string()));
    const Files files = files_of(options);
    Scaffold scaffold(folder);
    write(options, files, scaffold.path());
    scaffold.finish();

    std::vector<std::string> names;
    for (const auto &[from, name] : files) names.push_back(name);
    if (json) {
        fmt::print("{}\n", Json({{"name", options.name},
                                 {"kind", options.kind},
                                 {"language", options.language},
                                 {"build", options.build},
                                 {"folder", folder.string()},
                                 {"files", names}})
                               .dump(2));
        return 0;
    }
    fmt::print("{}\n", styled(folder.string(), Style::bold));
    for (const std::string &name : names) fmt::print("  {}\n", name);
    fmt::print("\nNext:\n  cd {}\n", word(options.folder));
    if (options.build != "cmake") fmt::print("  meson setup build && meson test -C build -v\n");
    if (options.build != "meson")
        fmt::print("  cmake -S . -B build-cmake && cmake --build build-cmake && "
                   "ctest --test-dir build-cmake\n");
    return 0;
}

} // namespace

void add_new_plugin(CLI::App &app, Request &request) {
    CLI::App *command =
        add_command(app, request, "new-plugin", "Write the starting tree of a new plugin");
    const auto options = std::make_shared<Options>();
    command->add_option("name", options->name, "The plugin's name: lowercase letters, digits, '_'")
        ->required();
    command
        ->add_option("--kind", options->kind,
                     "device: a device type of your own; override: one function on the cpu")
        ->check(CLI::IsMember({"device", "override"}))
        ->capture_default_str();
    command->add_option("--language", options->language, "c (C11) or cpp (C++20)")
        ->check(CLI::IsMember({"c", "cpp"}))
        ->capture_default_str();
    command->add_option("--build", options->build, "meson, cmake or both")
        ->check(CLI::IsMember({"meson", "cmake", "both"}))
        ->capture_default_str();
    command->add_option("-o,--output", options->folder,
                        "The folder to make; default: NAME in the working directory");
    command->footer("The tree builds against an installed Atoll, tests itself, and says in its "
                    "README.md how to go on.\n\n"
                    "Example: atoll new-plugin acme && cd acme && meson setup build && "
                    "meson test -C build");
    run_on_parse(command, request, options, run);
}

} // namespace Atoll::tools
