// Reads the note that describes a plugin (atoll/abi/note.h) from a file, without loading it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace Atoll::detail {

// Whether it is [a-z][a-z0-9_-]*, at most 31 characters.
bool valid_name(std::string_view name);

struct PluginNote {
    std::uint16_t abi_major, abi_minor; // what the plugin was compiled against
    std::uint32_t min_host_minor;
    std::uint32_t isa_level;  // x86-64 level 1 to 4, 0: any processor
    std::uint32_t sanitizers; // ATOLL_SANITIZER_* bits
    std::string name;         // valid
};

// Reads the note of a regular file. Throws Error (incompatible) where the file is not a plugin for
// this kind of machine, or is truncated anywhere: opening a truncated library can kill the process.
// Runs nothing of the file and maps none of it, so that a file that shrinks meanwhile is an error
// instead of SIGBUS. Checks the form of the note only, not whether this host can use the plugin.
PluginNote read_plugin_note(const std::string &path);
PluginNote parse_plugin_note(std::istream &file);

} // namespace Atoll::detail
