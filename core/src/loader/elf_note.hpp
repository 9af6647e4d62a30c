// Reads the note that says what a plugin is (atoll/abi/note.h) from a file, without loading it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace Atoll::detail {

inline constexpr std::size_t max_plugin_name = 31;
// Whether it is [a-z][a-z0-9_-]*, and not too long.
bool valid_name(std::string_view name);

// What stands in the note. Only its form is checked; whether this host can use such a plugin is
// the loader's to judge.
struct PluginNote {
    std::uint16_t abi_major, abi_minor; // what the plugin was compiled against
    std::uint32_t min_host_minor;
    std::uint32_t kinds;      // ATOLL_CONTAINS_* bits
    std::uint32_t isa_level;  // x86-64 level 1 to 4, 0: any processor
    std::uint32_t sanitizers; // ATOLL_SANITIZER_* bits
    std::string name;         // [a-z][a-z0-9_-]*, at most 31 characters
};

// Nothing and a reason in `refusal` ("not an ELF file (…)", "truncated: …", "no Atoll note: …")
// where the file is no plugin for this kind of machine, or is cut off anywhere: opening a cut-off
// library can kill the process. Runs nothing of the file and maps none of it, so that a file that
// shrinks meanwhile is an error and no SIGBUS.
std::optional<PluginNote> read_plugin_note(const std::string &path, std::string &refusal);

// The same on an open file.
std::optional<PluginNote> parse_plugin_note(std::istream &file, std::string &refusal);

} // namespace Atoll::detail
