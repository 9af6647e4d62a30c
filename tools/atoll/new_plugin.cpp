// `atoll new-plugin`: writes a vendor's starting tree from the installed template.
//
// The template consists of the files of a plugin named `newplugin`, which is replaced in contents
// and file names by the name given; `newplugin.EXTENSION` becomes the name of the source file and
// the line DESCRIPTION the contents of KIND/description.md.
#include "commands.hpp"
#include "json.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace Atoll::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view placeholder = "newplugin";

// Names that plugins, modules or device types of the runtime have.
constexpr std::string_view taken[] = {"core",   "cpu",   "cuda",      "cutensor",
                                      "device", "dummy", "dummy_min", "trace"};

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
        throw UsageError(fmt::format("new-plugin: the runtime uses the name '{}'; choose "
                                     "another, such as {}_{}",
                                     name, "my", name));
    if (name == placeholder)
        throw UsageError(fmt::format("new-plugin: '{}' is the placeholder of the template; choose "
                                     "another",
                                     name));
}

// A folder of the tree that this program is installed in, by its path from this program's folder.
fs::path installed(const char *from_tool) {
    std::error_code error;
    const fs::path tool = fs::read_symlink("/proc/self/exe", error);
    if (error)
        throw std::runtime_error(
            fmt::format("new-plugin: cannot find the path of this program: {}", error.message()));
    return fs::weakly_canonical(tool.parent_path() / from_tool);
}

fs::path template_folder() {
    std::error_code error;
    const fs::path folder = installed(ATOLL_TEMPLATE);
    if (!fs::is_directory(folder, error))
        throw std::runtime_error(fmt::format("new-plugin: the template is not in {}; install Atoll "
                                             "(meson install) and run the installed program",
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

// Creates the files in an empty folder and returns their names.
std::vector<std::string> write(const NewPluginOptions &options, const fs::path &folder) {
    const fs::path from = template_folder(), kind = from / options.kind;
    if (!fs::exists(kind / fmt::format("{}.{}", placeholder, options.language)))
        throw UsageError(fmt::format("new-plugin: there is no template of kind {} in {}; choose "
                                     "--language cpp",
                                     options.kind, options.language));
    const std::string source = fmt::format("{}.{}", options.name, options.language);
    const std::pair<fs::path, std::string> files[] = {
        {from / "gitignore", ".gitignore"},
        {from / "CMakeLists.txt", "CMakeLists.txt"},
        {from / "README.md", "README.md"},
        {kind / fmt::format("{}.{}", placeholder, options.language), source},
        {from / "meson.build", "meson.build"},
        {kind / fmt::format("test_{}.cpp", placeholder), fmt::format("test_{}.cpp", options.name)}};
    std::vector<std::string> names;
    for (const auto &[file, name] : files) {
        std::string text = read(file);
        replace_all(text, "DESCRIPTION\n", read(kind / "description.md"));
        replace_all(text, fmt::format("{}.EXTENSION", placeholder), source);
        replace_all(text, placeholder, options.name);
        std::ofstream stream(folder / name, std::ios::binary);
        stream << text;
        if (!stream.flush())
            throw std::runtime_error(
                fmt::format("new-plugin: cannot write {}", (folder / name).string()));
        names.push_back(name);
    }
    return names;
}

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

// The settings with which meson and CMake find this Atoll: "VARIABLE=value " and "
// -DVARIABLE=value"; nothing where pkg-config finds it.
std::pair<std::string, std::string> where_atoll_is() {
    const fs::path prefix = installed(ATOLL_PREFIX);
    const std::string wanted = installed(ATOLL_PKGCONFIG).string();
    const char *const path = std::getenv("PKG_CONFIG_PATH");
    const std::string list = path ? path : "";
    if ((":" + list + ":").find(":" + wanted + ":") != std::string::npos || prefix == "/usr" ||
        prefix == "/usr/local")
        return {};
    return {fmt::format("PKG_CONFIG_PATH={} ", word(list.empty() ? wanted : wanted + ":" + list)),
            fmt::format(" -DCMAKE_PREFIX_PATH={}", word(prefix.string()))};
}

} // namespace

int run_new_plugin(const NewPluginOptions &options) {
    check_name(options.name);
    const std::string given = options.folder.empty() ? options.name : options.folder;
    const fs::path target = fs::absolute(given).lexically_normal();
    // "folder/" ends in an empty name.
    const fs::path folder = target.has_filename() ? target : target.parent_path();
    if (fs::exists(fs::symlink_status(folder)))
        throw UsageError(fmt::format("new-plugin: {} exists already; give another folder with -o, "
                                     "or remove it",
                                     folder.string()));
    if (!fs::is_directory(folder.parent_path()))
        throw UsageError(fmt::format("new-plugin: {} is not a folder; create it first",
                                     folder.parent_path().string()));
    std::error_code error;
    if (!fs::create_directory(folder, error))
        throw UsageError(fmt::format("new-plugin: cannot write to {}: {}",
                                     folder.parent_path().string(), error.message()));
    std::vector<std::string> names;
    try {
        names = write(options, folder);
    } catch (...) {
        fs::remove_all(folder, error);
        throw;
    }
    if (options.json) {
        print_json({{"name", options.name},
                    {"kind", options.kind},
                    {"language", options.language},
                    {"folder", folder.string()},
                    {"files", names}});
        return 0;
    }
    fmt::print("{}\n", styled(folder.string(), Style::bold));
    for (const std::string &name : names) fmt::print("  {}\n", name);
    const auto [for_meson, for_cmake] = where_atoll_is();
    fmt::print("\nNext:\n  cd {}\n", word(given));
    fmt::print("  {}meson setup build && meson test -C build -v\nor:\n"
               "  cmake -S . -B build-cmake{} && cmake --build build-cmake && "
               "ctest --test-dir build-cmake\n",
               for_meson, for_cmake);
    return 0;
}

} // namespace Atoll::tools
