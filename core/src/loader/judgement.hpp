// Whether this host can use a plugin, by its note before it is opened, and by its descriptor after.
#pragma once

#include "atoll/error.hpp"
#include "loader/descriptor.hpp"
#include "loader/elf_note.hpp"

#include <string>

namespace Atoll::detail {

struct NoteJudgement {
    Status status = Status::ok;
    std::string refusal; // "" if the plugin may be opened
};
// By ABI, processor, sanitizer and ATOLL_PLUGINS_DISABLE.
NoteJudgement judge_note(const PluginNote &note);

// Throws Error (plugin_fault) where the descriptor goes beyond the note: the note is what the
// plugin was chosen by, before any of it ran.
void check_agreement(const PluginNote &note, const Descriptor &descriptor);

} // namespace Atoll::detail
