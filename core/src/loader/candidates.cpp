// Searching and judging files: see candidates.hpp.
#include "loader/candidates.hpp"

#include "atoll/error.hpp"
#include "base/environment.hpp"
#include "loader/judgement.hpp"
#include "runtime/host_services.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace Atoll::detail {

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
    const CheckedPath checked = check_plugin_file(path);
    const auto refuse = [&](const std::string &name, Status status, const std::string &why) {
        const std::string text = fmt::format("{}: {}", path, why);
        explain(checked.path.empty() ? path : checked.path, name, why);
        throw Error(status, "load", text);
    };
    if (!checked.ok()) refuse("", Status::refused, checked.refusal);
    std::string refusal;
    const std::optional<PluginNote> note = read_plugin_note(checked.path, refusal);
    if (!note) refuse("", Status::incompatible, refusal);
    if (const NoteJudgement judgement = judge_note(*note); !judgement.refusal.empty())
        refuse(note->name, judgement.status, judgement.refusal);
    return {checked, *note};
}

std::vector<Candidate> Candidates::search() {
    const auto named = [](std::vector<Candidate> &list, const std::string &name) {
        return std::find_if(list.begin(), list.end(),
                            [&](const Candidate &c) { return c.note.name == name; });
    };
    std::vector<Candidate> best;
    for (const std::string &folder : search_path()) {
        const FolderListing listing = list_plugin_files(folder);
        if (!listing.refusal.empty()) explain(folder, "", listing.refusal);
        std::vector<Candidate> here, others;
        for (const std::string &file : listing.files) {
            Candidate candidate;
            try {
                candidate = examine(file);
            } catch (const Error &) {
                continue; // explained already
            }
            const std::string name = candidate.note.name;
            if (const auto earlier = named(best, name); earlier != best.end()) {
                explain(candidate.file.path, name,
                        fmt::format("{} comes earlier in the search path", earlier->file.path),
                        true);
                continue;
            }
            const auto variant = named(here, name);
            if (variant == here.end()) {
                here.push_back(candidate);
                continue;
            }
            if (candidate.note.isa_level > variant->note.isa_level) std::swap(*variant, candidate);
            others.push_back(candidate);
        }
        for (const Candidate &other : others) {
            const auto chosen = named(here, other.note.name);
            explain(other.file.path, other.note.name,
                    fmt::format("{} {}", chosen->file.path,
                                chosen->note.isa_level > other.note.isa_level
                                    ? "is built for a higher level of this processor"
                                    : "is the same plugin and comes first by its file's name"),
                    true);
        }
        best.insert(best.end(), here.begin(), here.end());
    }
    return best;
}

} // namespace Atoll::detail
