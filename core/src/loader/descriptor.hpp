// Copies of what a plugin declares, made safe: any struct_size, checked names, ids and pointers.
#pragma once

#include "atoll/plugin.h"
#include "loader/elf_note.hpp"
#include "runtime/registry.hpp"

#include <string>
#include <vector>

namespace Atoll::detail {

struct DeviceTypeDecl {
    std::string name;
    std::uint32_t flags;
    std::int32_t dlpack_type;
};

struct ModuleDecl {
    atoll_module_decl decl; // functions points into the vector below
    std::vector<atoll_function_info> functions;
};

struct Descriptor {
    atoll_plugin plugin;
    std::string name;
    std::vector<DeviceTypeDecl> device_types;
    std::vector<ModuleDecl> modules;
    std::vector<ImplEntry> impls; // without plugin and sequence
    std::vector<InterposerDecl> interposers;
    std::vector<std::string> ignored; // what needs an extension that this host does not know
};

// Throws Error (incompatible) where a plugin that was compiled against this ABI cannot be used.
// Drafts (major 0) go with themselves only; minors of later majors work together from
// min_host_minor on.
void check_abi(unsigned major, unsigned minor, unsigned min_host_minor);

// Throws Error (incompatible, plugin_fault) that says which part is wrong, or goes beyond the note.
Descriptor copy_descriptor(const atoll_plugin *plugin, const PluginNote &note);

} // namespace Atoll::detail
