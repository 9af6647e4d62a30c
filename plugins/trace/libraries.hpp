// The libraries of this process of which a second copy does harm: BLAS, OpenMP, oneTBB, CUDA, NCCL.
// For the tracer's report and for `atoll info`.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::libraries {

struct Library {
    std::string kind;    // "OpenBLAS"
    std::string path;    // links resolved
    std::string version; // from the file's name; may be empty
    std::string build_id;
    std::vector<std::string> needed_by; // files that name it as needed; none: opened at run time
};

namespace detail {

struct Kind {
    const char *name, *file; // the beginning of the file's name
};
inline constexpr Kind kinds[] = {
    {"CUDA driver", "libcuda.so"}, {"CUDA runtime", "libcudart"},
    {"cuBLAS", "libcublas"},       {"cuBLASLt", "libcublasLt"},
    {"cuTENSOR", "libcutensor"},   {"NCCL", "libnccl"},
    {"OpenBLAS", "libopenblas"},   {"OpenBLAS", "libscipy_openblas"},
    {"MKL loader", "libmkl_rt"},   {"MKL", "libmkl_core"},
    {"BLIS", "libblis"},           {"BLAS", "libblas"},
    {"GNU OpenMP", "libgomp"},     {"LLVM OpenMP", "libomp"},
    {"Intel OpenMP", "libiomp"},   {"oneTBB", "libtbb"},
};

// The longest that fits: libcublasLt is not libcublas.
inline const Kind *kind_of(std::string_view file) {
    const Kind *found = nullptr;
    for (const Kind &kind : kinds) {
        const std::string_view begin = kind.file;
        const char after = file.size() > begin.size() ? file[begin.size()] : '\0';
        if (!file.starts_with(begin) || (after >= 'a' && after <= 'z')) continue;
        if (!found || begin.size() > std::strlen(found->file)) found = &kind;
    }
    return found;
}

inline std::string name_of(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// The longest row of numbers with points between: "0.3.21" of libopenblasp-r0.3.21.so.
inline std::string version_in(std::string_view name) {
    std::string_view best;
    for (std::size_t i = 0; i < name.size();) {
        std::size_t end = i;
        while (end < name.size() && ((name[end] >= '0' && name[end] <= '9') ||
                                     (name[end] == '.' && end > i && name[end - 1] != '.')))
            ++end;
        std::string_view run = name.substr(i, end - i);
        if (run.ends_with('.')) run.remove_suffix(1);
        if (run.size() > best.size()) best = run;
        i = std::max(end, i + 1);
    }
    return std::string(best);
}

inline std::string resolved(const std::string &path) {
    char text[PATH_MAX];
    return ::realpath(path.c_str(), text) ? text : path;
}

struct Mapped {
    std::string path, soname, build_id;
    std::vector<std::string> needed;
};

inline void read_notes(const char *at, std::size_t bytes, Mapped &mapped) {
    const char *const end = at + bytes;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const std::size_t name = (note.n_namesz + 3u) & ~3u, size = (note.n_descsz + 3u) & ~3u;
        const char *const description = at + sizeof note + name;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(at + sizeof note, "GNU", 4) == 0)
            for (std::uint32_t i = 0; i < note.n_descsz; ++i) {
                char digits[3];
                std::snprintf(digits, sizeof digits, "%02x",
                              static_cast<unsigned char>(description[i]));
                mapped.build_id += digits;
            }
        at = description + size;
    }
}

inline int add_object(dl_phdr_info *info, std::size_t, void *list) {
    Mapped mapped;
    mapped.path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    const ElfW(Dyn) *dynamic = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &header = info->dlpi_phdr[i];
        const char *const at = reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr);
        if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn) *>(at);
        if (header.p_type == PT_NOTE && mapped.build_id.empty())
            read_notes(at, header.p_memsz, mapped);
    }
    const char *strings = nullptr;
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_STRTAB) {
            ElfW(Addr) address = entry->d_un.d_ptr; // glibc has relocated it, but not the vdso's
            if (address < info->dlpi_addr) address += info->dlpi_addr;
            strings = reinterpret_cast<const char *>(address);
        }
    for (const ElfW(Dyn) *entry = dynamic; strings && entry && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED) mapped.needed.emplace_back(strings + entry->d_un.d_val);
        if (entry->d_tag == DT_SONAME) mapped.soname = strings + entry->d_un.d_val;
    }
    static_cast<std::vector<Mapped> *>(list)->push_back(std::move(mapped));
    return 0;
}

} // namespace detail

// What the process has mapped now, by kind and path.
inline std::vector<Library> mapped() {
    std::vector<detail::Mapped> all;
    ::dl_iterate_phdr(detail::add_object, &all);
    std::vector<Library> found;
    for (const detail::Mapped &mapped : all) {
        const std::string given = detail::name_of(mapped.path);
        const std::string &soname = mapped.soname.empty() ? given : mapped.soname;
        const detail::Kind *kind = detail::kind_of(given);
        if (!kind) kind = detail::kind_of(soname);
        if (!kind) continue;
        const std::string path = detail::resolved(mapped.path);
        Library library{
            kind->name, path, detail::version_in(detail::name_of(path)), mapped.build_id, {}};
        if (library.version.empty()) library.version = detail::version_in(soname);
        for (const detail::Mapped &user : all)
            if (std::find(user.needed.begin(), user.needed.end(), soname) != user.needed.end())
                library.needed_by.push_back(detail::name_of(detail::resolved(user.path)));
        found.push_back(std::move(library));
    }
    std::sort(found.begin(), found.end(), [](const Library &a, const Library &b) {
        return a.kind != b.kind ? a.kind < b.kind : a.path < b.path;
    });
    return found;
}

// A sentence for each kind that is there twice, and for OpenMP runtimes of two kinds, whose threads
// compete.
inline std::vector<std::string> warnings(const std::vector<Library> &libraries) {
    std::vector<std::string> texts;
    const Library *openmp = nullptr;
    for (std::size_t i = 0; i < libraries.size(); ++i) {
        const Library &own = libraries[i];
        if (i > 0 && libraries[i - 1].kind == own.kind)
            texts.push_back("two copies of " + own.kind + " are loaded, " + libraries[i - 1].path +
                            " and " + own.path + ": each has threads and settings of its own");
        if (!own.kind.ends_with(" OpenMP")) continue;
        if (openmp && openmp->kind != own.kind)
            texts.push_back("two OpenMP runtimes are loaded, " + openmp->path + " and " + own.path +
                            ": their threads compete for the processors");
        openmp = &own;
    }
    return texts;
}

// How often the process has opened or closed a library: what mapped() says has not changed as long
// as this has not.
inline std::uint64_t changes() {
    std::uint64_t count = 0;
    ::dl_iterate_phdr(
        +[](dl_phdr_info *info, std::size_t, void *sum) {
            *static_cast<std::uint64_t *>(sum) = info->dlpi_adds + info->dlpi_subs;
            return 1;
        },
        &count);
    return count;
}

// A line for each, and for each warning.
inline std::string table(const std::vector<Library> &libraries) {
    std::string text;
    for (const Library &own : libraries) {
        std::string users;
        for (const std::string &user : own.needed_by) users += (users.empty() ? "" : ", ") + user;
        text += own.kind + (own.version.empty() ? "" : " " + own.version) + "  " + own.path +
                (users.empty() ? ", opened at run time" : ", needed by " + users) +
                (own.build_id.empty() ? "" : ", build id " + own.build_id) + "\n";
    }
    for (const std::string &warning : warnings(libraries)) text += "warning: " + warning + "\n";
    return text.empty() ? text : "\nlibraries of which a second copy does harm\n" + text;
}

// For files: a line for each library, its fields separated by tabs.
inline std::string packed(const std::vector<Library> &libraries) {
    std::string text;
    for (const Library &own : libraries) {
        text += own.kind + '\t' + own.path + '\t' + own.version + '\t' + own.build_id;
        for (const std::string &user : own.needed_by) text += '\t' + user;
        text += '\n';
    }
    return text;
}
// Ignores a last line that is cut off.
inline std::vector<Library> unpacked(std::string_view text) {
    std::vector<Library> libraries;
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
        std::vector<std::string> fields(1);
        for (const char c : text.substr(0, end))
            if (c == '\t')
                fields.emplace_back();
            else
                fields.back() += c;
        fields.resize(std::max<std::size_t>(fields.size(), 4));
        libraries.push_back(
            {fields[0], fields[1], fields[2], fields[3], {fields.begin() + 4, fields.end()}});
    }
    return libraries;
}

} // namespace Atoll::libraries
