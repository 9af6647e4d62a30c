// Searching and judging files: see candidates.hpp.
#include "loader/candidates.hpp"

#include "atoll/error.hpp"
#include "base/environment.hpp"
#include "loader/descriptor.hpp"
#include "loader/refusal.hpp"
#include "runtime/host_services.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

std::string sanitizer_name(std::uint32_t bits) {
    if (bits == 0) return "no sanitizer";
    if (bits == ATOLL_SANITIZER_ADDRESS) return "the address sanitizer";
    if (bits == ATOLL_SANITIZER_THREAD) return "the thread sanitizer";
    return fmt::format("sanitizers {:#x}", bits);
}

// By ABI, processor, sanitizer and ATOLL_PLUGINS_DISABLE.
void judge_note(const PluginNote &note) {
    check_abi(note.abi_major, note.abi_minor, note.min_host_minor);
    const auto level = static_cast<std::uint32_t>(isa_level());
    if (note.isa_level > level)
        refuse(Status::incompatible,
               "built for {}, this processor is {}; use a build for a lower level",
               level_name(note.isa_level), level_name(level));
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
    Dl_info self;
    static const char anchor = 0;
    if (!dladdr(&anchor, &self) || !self.dli_fname) return "";
    std::error_code error;
    const auto library = std::filesystem::canonical(self.dli_fname, error);
    return error ? "" : library.parent_path().string();
}

std::vector<std::string> Candidates::search_path() {
    std::vector<std::string> folders;
    if (!safe_mode())
        if (const auto list = secure_environment("ATOLL_PLUGIN_PATH"))
            for (const CheckedPath &entry : split_search_path(*list)) {
                if (entry.ok())
                    folders.push_back(entry.path);
                else
                    explain(entry.path.empty() ? "ATOLL_PLUGIN_PATH" : entry.path, "",
                            entry.refusal);
            }
    if (const std::string beside = library_folder(); !beside.empty())
        folders.push_back(fmt::format("{}/atoll", beside));
    return folders;
}

void Candidates::explain(const std::string &path, const std::string &name,
                         const std::string &reason, bool superseded) {
    PluginReport &report = reports[path];
    if (report.loaded) return;
    report = {};
    report.path = path;
    report.name = name;
    report.superseded = superseded;
    report.reason = reason;
}

Candidate Candidates::examine(const std::string &path) {
    const CheckedPath file = check_plugin_file(path);
    std::string name, refusal;
    try {
        if (!file.ok()) refuse(Status::refused, "{}", file.refusal);
        const std::optional<PluginNote> note = read_plugin_note(file.path, refusal);
        if (!note) refuse(Status::incompatible, "{}", refusal);
        name = note->name;
        judge_note(*note);
        return {file, *note};
    } catch (const Error &e) {
        const std::string why = words_of(e);
        explain(file.path.empty() ? path : file.path, name, why);
        refuse(e.status(), "{}: {}", path, why);
    }
}

std::vector<Candidate> Candidates::search() {
    std::vector<Candidate> best;
    for (const std::string &folder : search_path()) {
        const FolderListing listing = list_plugin_files(folder);
        if (!listing.refusal.empty()) explain(folder, "", listing.refusal);
        std::vector<Candidate> here;
        for (const std::string &file : listing.files) try {
                here.push_back(examine(file));
            } catch (const Error &) { // explained already
            }
        const std::size_t earlier = best.size();
        for (const Candidate &candidate : here) {
            const std::string &path = candidate.file.path, &name = candidate.note.name;
            const auto named = [&](const Candidate &other) { return other.note.name == name; };
            const auto known = std::find_if(best.begin(), best.begin() + earlier, named);
            if (known != best.begin() + earlier) {
                explain(path, name,
                        fmt::format("{} comes earlier in the search path", known->file.path), true);
                continue;
            }
            const Candidate *chosen = &candidate; // the first of the highest level
            for (const Candidate &other : here)
                if (named(other) &&
                    (other.note.isa_level > chosen->note.isa_level ||
                     (other.note.isa_level == chosen->note.isa_level && &other < chosen)))
                    chosen = &other;
            if (chosen == &candidate)
                best.push_back(candidate);
            else
                explain(path, name,
                        fmt::format("{} {}", chosen->file.path,
                                    chosen->note.isa_level > candidate.note.isa_level
                                        ? "is built for a higher level of this processor"
                                        : "is the same plugin and comes first by its file's name"),
                        true);
        }
    }
    return best;
}

} // namespace Atoll::detail
