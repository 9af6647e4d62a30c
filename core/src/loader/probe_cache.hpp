// The verdicts of probes, kept in a file: see Note [Probe] in probe.hpp.
#pragma once

#include "loader/plugin_files.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// Where verdicts are kept: `atoll/probed` in XDG_CACHE_HOME or HOME/.cache; "" if neither is set
// or the process is privileged.
std::string probe_cache_file();

// What is kept of a file as it is now, by this version of the library: how the child died, "" if it
// survived.
std::optional<std::string> kept_verdict(const CheckedPath &file);
// Replaces what was kept of the file.
void keep_verdict(const CheckedPath &file, const std::string &death);

struct ProbeVerdict {
    CheckedPath file;
    std::string version; // of the library that probed
    std::string death;   // "" if the child survived
};
// The cache's text and back. A text that is damaged anywhere gives nothing, and says so.
std::string write_verdicts(const std::vector<ProbeVerdict> &verdicts);
std::vector<ProbeVerdict> read_verdicts(std::string_view text, std::string &damage);

} // namespace Atoll::detail
