// Copies of what a plugin declares, made safe: any struct_size, checked names, ids and pointers.
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
    std::vector<atoll_interposer_decl> interposers;
    std::vector<std::string> ignored; // what needs an extension that this host does not know
};

// Why a plugin compiled against one ABI cannot be used by a host of another; "" where it can.
// Drafts (major 0) go with themselves only; minors of later majors work together from
// min_host_minor on.
std::string other_abi(unsigned major, unsigned minor, unsigned min_host_minor, unsigned host_major,
                      unsigned host_minor);

// Throws Error (incompatible, plugin_fault) that says which part is wrong.
Descriptor copy_descriptor(const atoll_plugin *plugin);

} // namespace Atoll::detail
