// The verdicts of probes, kept in a file: see Note [Probe] in probe.hpp.
#include "loader/probe_cache.hpp"

#include "base/environment.hpp"
#include "runtime/host_services.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

constexpr std::string_view first_line = "atoll probe verdicts 1\n";
constexpr std::size_t max_bytes = 1 << 20;

// Part of a line up to the next tab, or all of it.
std::string_view next_field(std::string_view &line) {
    const std::size_t end = line.find('\t');
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    return field;
}

template <class Number> bool parse(std::string_view text, Number &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

bool parse(std::string_view line, ProbeVerdict &verdict) {
    const std::string_view word = next_field(line);
    FileIdentity &id = verdict.file.identity;
    if (!parse(next_field(line), id.device) || !parse(next_field(line), id.inode) ||
        !parse(next_field(line), id.size) || !parse(next_field(line), id.modified) ||
        !parse(next_field(line), id.changed))
        return false;
    verdict.version = next_field(line);
    verdict.file.path = next_field(line);
    verdict.death = line;
    return verdict.file.path.starts_with('/') && !verdict.version.empty() &&
           (word == "died") == !verdict.death.empty() && (word == "died" || word == "survived");
}

// What the file holds; nothing, with a remark, if it cannot be used.
std::vector<ProbeVerdict> load_verdicts(const std::string &path) {
    struct stat facts;
    if (::lstat(path.c_str(), &facts) != 0) return {};
    const CheckedPath checked = check_plugin_file(path);
    std::string damage = checked.refusal, text;
    if (damage.empty()) {
        const OpenFile file(checked.path);
        if (checked.identity.size > max_bytes) {
            damage = "it is larger than 1 MiB";
        } else {
            text.resize(checked.identity.size);
            if (!file || file.read(0, text.data(), text.size()) != static_cast<long>(text.size()))
                damage = "it cannot be read";
        }
    }
    std::vector<ProbeVerdict> verdicts;
    if (damage.empty()) verdicts = read_verdicts(text, damage);
    if (!damage.empty())
        log_message(ATOLL_LOG_WARN, fmt::format("the probe's verdicts in {} are ignored: {}; "
                                                "plugins are probed again",
                                                path, damage));
    return verdicts;
}

// Whole, under another name first, so that no reader sees a part.
void store_verdicts(const std::string &path, const std::vector<ProbeVerdict> &verdicts) {
    const auto failed = [&] {
        log_message(ATOLL_LOG_INFO, fmt::format("the probe's verdict could not be kept in {}: {}",
                                                path, std::strerror(errno)));
    };
    const std::string folder = std::filesystem::path(path).parent_path().string();
    for (const std::string &part : {std::filesystem::path(folder).parent_path().string(), folder})
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return failed();
    const std::string text = write_verdicts(verdicts);
    std::string temporary = path + ".XXXXXX";
    const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC); // mode 0600
    if (descriptor < 0) return failed();
    const bool written =
        ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(descriptor);
    if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
        failed();
        ::unlink(temporary.c_str());
    }
}

bool same_subject(const ProbeVerdict &verdict, const CheckedPath &file) {
    return verdict.file.path == file.path && verdict.file.identity == file.identity &&
           verdict.version == ATOLL_VERSION;
}

} // namespace

std::string probe_cache_file() {
    for (const auto &[variable, below] : {std::pair("XDG_CACHE_HOME", ""), {"HOME", "/.cache"}})
        if (const auto folder = secure_environment(variable); folder && folder->starts_with('/'))
            return fmt::format("{}{}/atoll/probed", *folder, below);
    return "";
}

std::string write_verdicts(const std::vector<ProbeVerdict> &verdicts) {
    std::string text(first_line);
    const auto plain = [](std::string words) {
        for (char &c : words)
            if (static_cast<unsigned char>(c) < ' ') c = ' ';
        return words;
    };
    for (const ProbeVerdict &verdict : verdicts) {
        const auto &[path, refusal, id] = verdict.file;
        if (plain(path) != path) continue; // would not come back
        text +=
            fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                        verdict.death.empty() ? "survived" : "died", id.device, id.inode, id.size,
                        id.modified, id.changed, verdict.version, path, plain(verdict.death));
    }
    return text;
}

std::vector<ProbeVerdict> read_verdicts(std::string_view text, std::string &damage) {
    damage.clear();
    if (!text.starts_with(first_line)) {
        damage = "it does not begin as such a file does";
        return {};
    }
    text.remove_prefix(first_line.size());
    std::vector<ProbeVerdict> verdicts;
    for (int number = 2; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        ProbeVerdict verdict;
        if (end == std::string_view::npos || !parse(text.substr(0, end), verdict)) {
            damage = fmt::format("line {} is damaged", number);
            return {};
        }
        verdicts.push_back(std::move(verdict));
        text.remove_prefix(end + 1);
    }
    return verdicts;
}

std::optional<std::string> kept_verdict(const CheckedPath &file) {
    const std::string path = probe_cache_file();
    if (path.empty()) return std::nullopt;
    for (const ProbeVerdict &verdict : load_verdicts(path))
        if (same_subject(verdict, file)) return verdict.death;
    return std::nullopt;
}

void keep_verdict(const CheckedPath &file, const std::string &death) {
    const std::string path = probe_cache_file();
    if (path.empty()) return;
    std::vector<ProbeVerdict> verdicts = load_verdicts(path);
    std::erase_if(verdicts, [&](const ProbeVerdict &old) { return old.file.path == file.path; });
    verdicts.push_back({file, ATOLL_VERSION, death});
    store_verdicts(path, verdicts);
}

} // namespace Atoll::detail
