// Search for plugin files and the checks before one is opened: see candidates.hpp.
#include "loader/candidates.hpp"

#include "atoll/isa_level.hpp"
#include "base/environment.hpp"
#include "loader/descriptor.hpp"
#include "loader/refusal.hpp"
#include "loader/trust.hpp"
#include "runtime/plugin_settings.hpp"

#include <algorithm>

namespace Atoll::detail {
namespace {

std::string sanitizer_name(std::uint32_t bits) {
    if (bits == 0) return "no sanitizer";
    if (bits == ATOLL_SANITIZER_ADDRESS) return "the address sanitizer";
    if (bits == ATOLL_SANITIZER_THREAD) return "the thread sanitizer";
    return fmt::format("sanitizers {:#x}", bits);
}

// Whether this host can use the plugin, and ATOLL_PLUGINS_DISABLE allows it.
void judge_note(const PluginNote &note) {
    check_abi(note.abi_major, note.abi_minor, note.min_host_minor);
    const auto level = static_cast<std::uint32_t>(sdk::isa_level());
    if (note.isa_level > level)
        refuse(Status::incompatible,
               "built for {}, this processor is {}; use a build for a lower level",
               sdk::level_name(note.isa_level), sdk::level_name(level));
    if (note.sanitizers != ATOLL_SANITIZERS)
        refuse(Status::incompatible, "built with {}, this host with {}; build both alike",
               sanitizer_name(note.sanitizers), sanitizer_name(ATOLL_SANITIZERS));
    const std::vector<std::string> disabled =
        split_names(secure_environment("ATOLL_PLUGINS_DISABLE").value_or(""));
    if (const std::string *glob = matching_glob(note.name, disabled))
        refuse(Status::refused, "disabled by '{}' in ATOLL_PLUGINS_DISABLE", *glob);
}

} // namespace

std::string library_folder() {
    const std::string &library = library_file();
    return library.empty() ? "" : folder_of(library);
}

std::vector<std::string> searched_folders() {
    std::vector<std::string> folders;
    if (!safe_mode())
        for (const CheckedPath &entry :
             split_search_path(secure_environment("ATOLL_PLUGIN_PATH").value_or(""))) {
            if (entry.ok())
                folders.push_back(entry.path);
            else
                explain(entry.path.empty() ? "ATOLL_PLUGIN_PATH" : entry.path, "", entry.refusal);
        }
    if (const std::string beside = library_folder(); !beside.empty())
        folders.push_back(beside + "/atoll");
    return folders;
}

std::map<std::string, PluginReport> &reports() {
    static auto &value = *new std::map<std::string, PluginReport>; // plugins stay until exit
    return value;
}

void explain(const std::string &path, const std::string &name, const std::string &reason,
             bool superseded) {
    PluginReport &report = reports()[path];
    if (report.loaded) return;
    report = {};
    report.path = path;
    report.name = name;
    report.superseded = superseded;
    report.reason = reason;
}

Candidate examine(const std::string &path, CheckedPath checked) {
    Candidate candidate{std::move(checked), {}};
    const CheckedPath &file = candidate.file;
    try {
        if (!file.ok()) refuse(Status::refused, "{}", file.refusal);
        candidate.note = read_plugin_note(file.path);
        judge_note(candidate.note);
        return candidate;
    } catch (const Error &e) {
        const std::string why = reason_of(e);
        explain(file.path.empty() ? path : file.path, candidate.note.name, why);
        refuse(e.status(), "{}: {}", path, why);
    }
}

std::vector<Candidate> find_candidates() {
    std::vector<Candidate> found;
    for (const std::string &folder : searched_folders()) {
        const FolderListing listing = list_plugin_files(folder);
        if (!listing.refusal.empty()) explain(folder, "", listing.refusal);
        std::vector<Candidate> here;
        for (const CheckedPath &file : listing.files) try {
                here.push_back(examine(file.path, file));
            } catch (const Error &) { // explained already
            }
        std::stable_sort(here.begin(), here.end(), [](const Candidate &a, const Candidate &b) {
            return a.note.isa_level > b.note.isa_level;
        });
        const auto earlier = static_cast<std::ptrdiff_t>(found.size());
        for (const Candidate &candidate : here) {
            const auto known = std::find_if(found.begin(), found.end(), [&](const Candidate &c) {
                return c.note.name == candidate.note.name;
            });
            if (known == found.end()) {
                found.push_back(candidate);
                continue;
            }
            const char *why = known - found.begin() < earlier ? "comes earlier in the search path"
                              : known->note.isa_level > candidate.note.isa_level
                                  ? "is built for a higher level of this processor"
                                  : "is the same plugin and comes first by its file's name";
            explain(candidate.file.path, candidate.note.name,
                    fmt::format("{} {}", known->file.path, why), true);
        }
        std::sort(found.begin() + earlier, found.end(),
                  [](const Candidate &a, const Candidate &b) { return a.file.path < b.file.path; });
    }
    return found;
}

} // namespace Atoll::detail
