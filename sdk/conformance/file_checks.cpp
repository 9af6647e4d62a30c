// Checks of the file as the linker wrote it, and of its query.
#include "elf_file.hpp"
#include "suites.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace Atoll::conformance {

namespace {

// A host of this version.
const atoll_host_info this_host{sizeof this_host, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, "0"};

void one_symbol(const std::string &path) {
    std::vector<std::string> others = read_elf(path).exported;
    const bool has_query = std::erase(others, query_name) > 0;
    if (!has_query)
        fail("does not export {}; declare it with ATOLL_EXPORT and link with the SDK's plugin.map",
             query_name);
    if (!others.empty())
        fail("exports {} besides {}, which may clash with symbols of other plugins; compile with "
             "-fvisibility=hidden and link with the SDK's plugin.map",
             fmt::join(others, ", "), query_name);
}

// Opens a library as the loader does for the file: from the folders that it names itself, then from
// the usual ones. Null if it is not there.
void *open_needed(const std::string &path, const ElfFile &file, const std::string &name) {
    const std::string origin = std::filesystem::canonical(path).parent_path();
    for (std::string folder : file.run_paths) {
        for (const std::string word : {"$ORIGIN", "${ORIGIN}"})
            if (folder.starts_with(word)) folder.replace(0, word.size(), origin);
        if (void *library = ::dlopen((folder + "/" + name).c_str(), RTLD_LAZY | RTLD_LOCAL))
            return library;
    }
    return ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

// Every undefined symbol comes from a library that the file names.
void symbols_from_needed(const std::string &path) {
    const ElfFile file = read_elf(path);
    std::vector<void *> libraries;
    for (const std::string &name : file.needed) {
        void *library = open_needed(path, file, name);
        if (!library)
            fail("needs {}, which cannot be opened: {}; install it, or link it statically", name,
                 ::dlerror());
        libraries.push_back(library);
    }
    std::vector<std::string> missing;
    for (const std::string &symbol : file.undefined)
        if (std::none_of(libraries.begin(), libraries.end(), [&](void *library) {
                return ::dlsym(library, symbol.c_str()) != nullptr;
            }))
            missing.push_back(symbol);
    std::erase_if(missing, [](const std::string &s) { return s == "__tls_get_addr"; });
    if (!missing.empty())
        fail("uses {}, which none of its libraries ({}) defines; link the library that does, and "
             "use -Wl,-z,defs to detect this",
             fmt::join(missing, ", "), fmt::join(file.needed, ", "));
}

void nothing_of_atoll(const std::string &path) {
    for (const std::string &name : read_elf(path).needed)
        if (name.starts_with("libatoll"))
            fail("links {}; a plugin needs only the headers and receives the host's services in "
                 "load",
                 name);
}

void safe_run_paths(const std::string &path) {
    for (const std::string &folder : read_elf(path).run_paths) {
        if (folder.starts_with("$ORIGIN") || folder.starts_with("${ORIGIN}")) continue;
        if (!folder.starts_with('/'))
            fail(
                "its RUNPATH has the relative folder '{}', so the working directory determines the "
                "libraries; use $ORIGIN or an absolute folder",
                folder);
        struct stat facts;
        if (::stat(folder.c_str(), &facts) == 0 && (facts.st_mode & S_IWOTH))
            fail("its RUNPATH has the folder {}, which is writable by everyone; remove it", folder);
    }
}

void no_loose_memory(const std::string &path) {
    const ElfFile file = read_elf(path);
    if (file.executable_stack)
        fail("asks for an executable stack; assembler files need a .note.GNU-stack section");
    if (file.text_relocations) fail("has relocations in its code; compile with -fPIC");
}

void has_note(const std::string &path) {
    const ElfFile file = read_elf(path);
    if (file.note_name.empty())
        fail("has no note .note.atoll; put ATOLL_PLUGIN_NOTE(name, kinds, 0) at file scope of one "
             "source file");
    if (file.note_words[0] != ATOLL_MAGIC)
        fail("the note's magic is {:#x}, need {:#x}; use ATOLL_PLUGIN_NOTE", file.note_words[0],
             ATOLL_MAGIC);
}

// ---- once it is loaded --------------------------------------------------------------------------

void loads(const Target &target) {
    if (!target.trouble.empty()) throw Failed(target.trouble);
    if (!target.warnings.empty()) fail("the host warns: {}", target.warnings);
}

void note_is_descriptor(const Target &target) {
    const ElfFile file = read_elf(target.path);
    const atoll_plugin &d = *target.descriptor;
    const auto differ = [](const char *what, auto note, auto descriptor) {
        if (note != descriptor)
            fail("the note says {} {}, the descriptor {}; write both from the same constants", what,
                 note, descriptor);
    };
    differ("name", file.note_name, std::string(d.name));
    differ("ABI major", file.note_words[1] >> 16, unsigned{d.abi_major});
    differ("ABI minor", file.note_words[1] & 0xffff, unsigned{d.abi_minor});
    differ("lowest host minor", file.note_words[2], unsigned{d.min_host_minor});
    const auto impls = impls_of(d);
    const bool impls_for_others = std::any_of(impls.begin(), impls.end(), [&](const auto *impl) {
        return !target.brings(impl->device_type);
    });
    const unsigned kinds = (d.device_type_count ? ATOLL_CONTAINS_DEVICES : 0u) |
                           (d.module_count ? ATOLL_CONTAINS_MODULES : 0u) |
                           (impls_for_others ? ATOLL_CONTAINS_IMPLS : 0u) |
                           (d.interposer_count ? ATOLL_CONTAINS_INTERPOSERS : 0u);
    differ("kinds", file.note_words[3], kinds);
}

// The struct and everything that it points to, as text.
std::string descriptor_text(const atoll_plugin &d) {
    const auto text = [](const char *s) { return std::string(s ? s : "NULL"); };
    std::string all =
        fmt::format("{} {:#x} {}.{} >= {} {} {} {} {} {}", d.struct_size, d.magic, d.abi_major,
                    d.abi_minor, d.min_host_minor, text(d.name), text(d.version), text(d.vendor),
                    text(d.license), text(d.description));
    for (const auto *type : device_types_of(d))
        all += fmt::format("; device type {} {}", type->name, type->flags);
    for (const auto *m : modules_of(d))
        all += fmt::format("; module {} {} of {}", m->name, m->version, m->function_count);
    for (const auto *impl : impls_of(d)) {
        all += fmt::format("; {} for {} at {}", impl->module, impl->device_type, impl->priority);
        for (std::uint32_t i = 0; i < impl->function_count; ++i) {
            const atoll_function_decl &f = function_of(*impl, i);
            all += fmt::format(" {}:{:x}:{:x}:{}", f.id, f.dtypes, f.caps,
                               reinterpret_cast<const void *>(f.fn));
        }
    }
    for (const auto *i : interposers_of(d)) all += fmt::format("; interposer {}", i->name);
    return all;
}

const atoll_plugin &answer(const Target &target, const atoll_host_info *info, const char *when) {
    const atoll_plugin *descriptor = query_of(target.path)(info);
    if (!descriptor) fail("query returned NULL {}", when);
    return *descriptor;
}

void query_repeats(const Target &target) {
    const std::string first = descriptor_text(answer(target, &this_host, "the first time"));
    for (int i = 0; i < 3; ++i)
        if (descriptor_text(answer(target, &this_host, "when asked again")) != first)
            fail(
                "query returns another descriptor when it is called again; it must be pure: return "
                "one static descriptor, and examine the machine in load or enumerate");
}

int open_files() {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd) count += ::fcntl(fd, F_GETFD) != -1;
    return count;
}

void query_does_no_work(const Target &target) {
    const int files = open_files();
    const std::size_t before = threads_alive();
    for (int i = 0; i < 3; ++i) answer(target, &this_host, "");
    if (open_files() > files || threads_alive() > before)
        fail("query opened files or started threads; leave all work to load");
}

// A newer host passes members that this plugin does not know.
void query_takes_longer_info(const Target &target) {
    struct {
        atoll_host_info info;
        char tail[64];
    } newer{this_host, {}};
    newer.info.struct_size = sizeof newer;
    for (const int byte : {0, 0xa5}) {
        std::memset(newer.tail, byte, sizeof newer.tail);
        if (descriptor_text(
                answer(target, &newer.info, "to a host whose atoll_host_info is longer")) !=
            descriptor_text(answer(target, &this_host, "")))
            fail("query returns another descriptor for a longer atoll_host_info; check "
                 "struct_size before reading members, and ignore unknown ones");
    }
}

// Hosts with the same major and a later minor are compatible.
void query_takes_newer_minor(const Target &target) {
    const atoll_host_info newer{sizeof newer, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR + 7, "9.9"};
    answer(target, &newer,
           "to a host of a newer minor; hosts and plugins of one major work "
           "together, so do not refuse it");
}

// Without a reference, results cannot be checked.
void has_reference(const Target &target) {
    if (target.reference_name.empty())
        fail("no other device to compare results with: put the plugin cpu or dummy on the search "
             "path (ATOLL_PLUGIN_PATH), or name another one (--with PLUGIN)");
}

void has_texts(const Target &target) {
    const atoll_plugin &d = *target.descriptor;
    for (const auto &[what, text] : {std::pair{"version", d.version},
                                     {"vendor", d.vendor},
                                     {"license", d.license},
                                     {"description", d.description}})
        if (!text || !*text) fail("its descriptor has no {}; users see it in `atoll info`", what);
    if (std::strchr(d.description, '\n')) fail("its description has more than one line");
}

void sizes_are_right(const Target &target) {
    const atoll_plugin &d = *target.descriptor;
    const auto need = [](const char *what, std::size_t size, std::size_t least) {
        if (size < least)
            fail("struct_size of {} is {}, need sizeof, {} or more", what, size, least);
    };
    need("atoll_plugin", d.struct_size, sizeof(atoll_plugin));
    for (const auto *type : device_types_of(d))
        need("atoll_device_type_decl", type->struct_size, sizeof *type);
    for (const auto *module : modules_of(d)) {
        need("atoll_module_decl", module->struct_size, sizeof *module);
        need("atoll_function_info", module->function_size, sizeof(atoll_function_info));
    }
    for (const auto *impl : impls_of(d)) {
        need("atoll_impl_decl", impl->struct_size, sizeof *impl);
        need("atoll_function_decl", impl->function_size, sizeof(atoll_function_decl));
    }
    for (const auto *interposer : interposers_of(d))
        need("atoll_interposer_decl", interposer->struct_size, sizeof *interposer);
}

} // namespace

void add_file_checks(Checks &checks, const std::string &path) {
    const auto add = [&](const char *subject, const char *variant,
                         void (*body)(const std::string &)) {
        checks.push_back({"file", subject, "", variant, [path, body] { body(path); }});
    };
    add("note", "exists", has_note);
    add("exports", "one symbol", one_symbol);
    add("links", "every symbol from a named library", symbols_from_needed);
    add("links", "nothing of Atoll", nothing_of_atoll);
    add("links", "no RUNPATH that others control", safe_run_paths);
    add("links", "no executable stack, no relocations in code", no_loose_memory);
}

void add_load_checks(Checks &checks, const Target &target) {
    const auto add = [&](const char *subject, const char *variant, void (*body)(const Target &)) {
        checks.push_back({"load", subject, "", variant, [&target, body] { body(target); }});
    };
    add("plugin", "loads", loads);
    add("note", "equals the descriptor", note_is_descriptor);
    add("query", "returns the same every time", query_repeats);
    add("query", "does no work", query_does_no_work);
    add("query", "accepts a longer atoll_host_info", query_takes_longer_info);
    add("query", "accepts a host of a newer minor", query_takes_newer_minor);
    add("descriptor", "texts", has_texts);
    add("descriptor", "struct sizes", sizes_are_right);
    for (const std::string &missing : target.not_reached)
        checks.push_back(
            {"load", "implementation", "", "is reached", [missing] {
                 fail("{}, so it cannot be checked; put the plugin that defines it on the "
                      "search path (ATOLL_PLUGIN_PATH), or name it (--with PLUGIN)",
                      missing);
             }});
    add("reference", "exists", has_reference);
}

} // namespace Atoll::conformance
