// Judging notes and descriptors: see judgement.hpp.
#include "loader/judgement.hpp"

#include "base/environment.hpp"
#include "loader/plugin_files.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

std::string sanitizer_name(std::uint32_t bits) {
    if (bits == 0) return "no sanitizer";
    if (bits == ATOLL_SANITIZER_ADDRESS) return "the address sanitizer";
    if (bits == ATOLL_SANITIZER_THREAD) return "the thread sanitizer";
    return fmt::format("sanitizers {:#x}", bits);
}

} // namespace

NoteJudgement judge_note(const PluginNote &note) {
    if (const std::string why = other_abi(note.abi_major, note.abi_minor, note.min_host_minor,
                                          ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR);
        !why.empty())
        return {Status::incompatible, why};
    if (note.isa_level > static_cast<std::uint32_t>(isa_level()))
        return {Status::incompatible,
                fmt::format("built for {}, this processor is {}; use a build for a lower level",
                            level_name(note.isa_level),
                            level_name(static_cast<std::uint32_t>(isa_level())))};
    if (note.sanitizers != ATOLL_SANITIZERS)
        return {Status::incompatible,
                fmt::format("built with {}, this host with {}; build both alike",
                            sanitizer_name(note.sanitizers), sanitizer_name(ATOLL_SANITIZERS))};
    if (const auto disabled = secure_environment("ATOLL_PLUGINS_DISABLE")) {
        const std::vector<std::string> globs = split_names(*disabled);
        if (const std::string *glob = matching_glob(note.name, globs))
            return {Status::refused,
                    fmt::format("disabled by '{}' in ATOLL_PLUGINS_DISABLE", *glob)};
    }
    return {};
}

// The note is what the plugin was chosen by, before any of it ran; the descriptor must not go
// beyond.
void check_agreement(const PluginNote &note, const Descriptor &descriptor) {
    const auto disagree = [](const std::string &what) {
        throw Error(Status::plugin_fault, "load",
                    fmt::format("its note and its descriptor disagree: {}; report it to the "
                                "plugin's vendor",
                                what));
    };
    const atoll_plugin &plugin = descriptor.plugin;
    if (descriptor.name != note.name)
        disagree(
            fmt::format("its note says '{}', its descriptor '{}'", note.name, descriptor.name));
    if (plugin.abi_minor != note.abi_minor || plugin.min_host_minor != note.min_host_minor)
        disagree(fmt::format("the note says ABI minor {} and a host of minor {} at least, the "
                             "descriptor {} and {}",
                             note.abi_minor, note.min_host_minor, plugin.abi_minor,
                             plugin.min_host_minor));
    const bool for_others =
        std::any_of(descriptor.impls.begin(), descriptor.impls.end(), [&](const ImplEntry &impl) {
            return std::none_of(
                descriptor.device_types.begin(), descriptor.device_types.end(),
                [&](const DeviceTypeDecl &own) { return own.name == impl.device_type; });
        });
    const std::tuple<bool, std::uint32_t, const char *> kinds[] = {
        {plugin.device_type_count > 0, ATOLL_CONTAINS_DEVICES, "ATOLL_CONTAINS_DEVICES"},
        {plugin.module_count > 0, ATOLL_CONTAINS_MODULES, "ATOLL_CONTAINS_MODULES"},
        {for_others, ATOLL_CONTAINS_IMPLS, "ATOLL_CONTAINS_IMPLS"},
        {plugin.interposer_count > 0, ATOLL_CONTAINS_INTERPOSERS, "ATOLL_CONTAINS_INTERPOSERS"},
    };
    for (const auto &[present, bit, name] : kinds)
        if (present && !(note.kinds & bit))
            disagree(fmt::format("the descriptor has what {} stands for, which the note's kinds "
                                 "({}) lack",
                                 name, note.kinds));
}

} // namespace Atoll::detail
