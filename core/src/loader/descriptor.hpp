// Checked copies of what a plugin declares.
#pragma once

#include "atoll/plugin.h"
#include "runtime/registry.hpp"

#include <string>
#include <vector>

namespace Atoll::detail {

struct DeviceTypeDecl {
    std::string name;
    std::uint32_t flags;
    std::int32_t dlpack_type;
};

struct Descriptor {
    atoll_plugin plugin;
    std::string name;
    std::vector<DeviceTypeDecl> device_types;
    std::vector<std::unique_ptr<ModuleRecord>> modules;
    std::vector<ImplEntry> impls; // without plugin and sequence
    std::vector<InterposerDecl> interposers;
    std::vector<std::string> ignored; // what needs an extension that this host does not know
};

// Throws Error (incompatible) unless this host can use a plugin that was compiled against this ABI.
// A draft (major 0) works with itself only; with later majors, a host works from min_host_minor on.
void check_abi(unsigned major, unsigned minor, unsigned min_host_minor);

// Throws Error (incompatible, plugin_fault) that names the invalid part. `note_name`: the name in
// the note, by which the plugin was chosen.
Descriptor copy_descriptor(const atoll_plugin *plugin, const std::string &note_name);

} // namespace Atoll::detail
