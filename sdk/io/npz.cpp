// .npz files: archives of .npy files, through libzip.
#include "base/printable.hpp"
#include "files.hpp"
#include "npy_io.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <zip.h>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

constexpr std::string_view extension = ".npy";
// Deflate makes at most 258 bytes of 2 bits, so 1032 of one byte.
constexpr std::uint64_t most_per_byte = 1032;

struct CloseFile {
    void operator()(zip_file_t *file) const { zip_fclose(file); }
};
// Nothing is written unless somebody closes the archive.
struct DiscardArchive {
    void operator()(zip_t *archive) const { zip_discard(archive); }
};
using EntryFile = std::unique_ptr<zip_file_t, CloseFile>;
using ArchiveHandle = std::unique_ptr<zip_t, DiscardArchive>;

struct ZipError : zip_error_t {
    ZipError() { zip_error_init(this); }
    ~ZipError() { zip_error_fini(this); }
    ZipError(const ZipError &) = delete;
    ZipError &operator=(const ZipError &) = delete;
};

// What libzip says, as the status that npy.hpp promises.
Error error_of(zip_error_t &error, std::string_view op, const std::string &what) {
    const bool system = zip_error_system_type(&error) == ZIP_ET_SYS;
    const int code = system ? zip_error_code_system(&error) : 0;
    Status status = Status::invalid_argument;
    switch (zip_error_code_zip(&error)) {
    case ZIP_ER_MEMORY: status = Status::out_of_memory; break;
    case ZIP_ER_OPEN:
    case ZIP_ER_READ:
    case ZIP_ER_SEEK:
    case ZIP_ER_WRITE:
    case ZIP_ER_CLOSE:
    case ZIP_ER_RENAME:
    case ZIP_ER_TMPOPEN: status = code == ENOENT ? Status::not_found : Status::refused; break;
    case ZIP_ER_COMPNOTSUPP:
    case ZIP_ER_ENCRNOTSUPP:
    case ZIP_ER_NOPASSWD:
    case ZIP_ER_MULTIDISK:
    case ZIP_ER_OPNOTSUPP: status = Status::not_supported; break;
    }
    return Error(status, op, fmt::format("{}: {}", what, zip_error_strerror(&error)), {}, {}, code);
}

// --- reading -------------------------------------------------------------------------------------

class Archive {
public:
    Archive(const std::filesystem::path &path, std::string_view op)
        : name_(in_quotes(path.native())), op_(op) {
        std::error_code error;
        bytes_ = std::filesystem::file_size(path, error);
        if (error) refuse_file(path, "opened", error.value(), op);
        ZipError zip_error;
        open(zip_source_file_create(path.c_str(), 0, -1, &zip_error), zip_error);
    }
    Archive(std::span<const std::byte> bytes, std::string_view op)
        : name_("memory"), op_(op), bytes_(bytes.size()) {
        ZipError zip_error;
        open(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &zip_error), zip_error);
    }

    // Entry by name of its array.
    const std::map<std::string, zip_uint64_t> &entries() const { return entries_; }

    Tensor read(const std::string &array, zip_uint64_t entry, const Placement &where) {
        const std::string what = fmt::format("{}, array {}", name_, in_quotes(array));
        zip_stat_t facts;
        if (zip_stat_index(handle_.get(), entry, 0, &facts) != 0)
            throw error_of(*zip_get_error(handle_.get()), op_, what);
        constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
        if ((facts.valid & needed) != needed) refuse(what, "the archive does not tell its size");
        if ((facts.valid & ZIP_STAT_ENCRYPTION_METHOD) && facts.encryption_method != ZIP_EM_NONE)
            refuse(what, "it is encrypted; unpack the archive and pack it plain",
                   Status::not_supported);
        if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE)
            refuse(what,
                   fmt::format("compression method {}, need stored (0) or deflate (8)",
                               facts.comp_method),
                   Status::not_supported);
        // The sizes are claims. Entries that share their bytes, or that unpack to more than deflate
        // can, are made to exhaust memory.
        const bool stored = facts.comp_method == ZIP_CM_STORE;
        packed_ += std::min(facts.comp_size, bytes_ + 1);
        if (facts.comp_size > bytes_ || packed_ > bytes_)
            refuse(what, fmt::format("it claims {} packed bytes in an archive of {}",
                                     facts.comp_size, bytes_));
        if (stored ? facts.size != facts.comp_size : facts.size / most_per_byte > facts.comp_size)
            refuse(what,
                   fmt::format("it claims to unpack {} bytes to {}", facts.comp_size, facts.size));
        EntryFile file(zip_fopen_index(handle_.get(), entry, 0));
        if (!file) throw error_of(*zip_get_error(handle_.get()), op_, what);
        // Unpacked as it is read. The checksum is verified at its end.
        const auto unpack = [&](char *to, std::size_t count) {
            const zip_int64_t got = zip_fread(file.get(), to, count);
            if (got < 0) throw error_of(*zip_file_get_error(file.get()), op_, what);
            return static_cast<std::size_t>(got);
        };
        NpySource source(what, facts.size, op_, unpack);
        return read_whole(source, where);
    }

    [[noreturn]] void refuse(const std::string &what, std::string_view why,
                             Status status = Status::invalid_argument) const {
        throw Error(status, op_, fmt::format("{}: {}", what, why));
    }
    [[noreturn]] void no_array(std::string_view array) const {
        std::string known;
        for (const auto &[key, entry] : entries_) {
            known += fmt::format("{}{}", known.empty() ? "" : ", ", in_quotes(key));
            if (known.size() > 200) {
                known += " …";
                break;
            }
        }
        refuse(
            name_,
            fmt::format("no array {}; it has {}", in_quotes(array), known.empty() ? "none" : known),
            Status::not_found);
    }

private:
    void open(zip_source_t *source, ZipError &error) {
        if (!source) throw error_of(error, op_, name_);
        // libzip takes no bytes for an archive of nothing.
        if (bytes_ > 0) handle_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
        if (!handle_) {
            zip_source_free(source);
            if (bytes_ == 0) refuse(name_, "it is empty, so no .npz file");
            throw error_of(error, op_, name_ + " is no .npz file");
        }
        const zip_int64_t count = zip_get_num_entries(handle_.get(), 0);
        for (zip_int64_t i = 0; i < count; ++i) {
            const auto entry = static_cast<zip_uint64_t>(i);
            const char *text = zip_get_name(handle_.get(), entry, 0);
            if (!text) throw error_of(*zip_get_error(handle_.get()), op_, name_);
            std::string_view key = text;
            if (key.ends_with('/')) continue; // a folder
            if (!key.ends_with(extension))
                refuse(name_, fmt::format("the entry {} is no array: its name does not end in {}",
                                          in_quotes(key), extension));
            key.remove_suffix(extension.size());
            if (!entries_.emplace(key, entry).second)
                refuse(name_, fmt::format("two arrays have the name {}", in_quotes(key)));
        }
    }

    std::string name_;
    std::string_view op_;
    std::uint64_t bytes_ = 0;  // of the whole archive
    std::uint64_t packed_ = 0; // of the entries read so far
    ArchiveHandle handle_;
    std::map<std::string, zip_uint64_t> entries_;
};

std::map<std::string, Tensor> read_all(Archive archive, const Placement &where) {
    std::map<std::string, Tensor> arrays;
    for (const auto &[key, entry] : archive.entries())
        arrays.emplace(key, archive.read(key, entry, where));
    return arrays;
}

// --- writing -------------------------------------------------------------------------------------

// What libzip reads one entry from. Must outlive the archive's closing.
struct Entry {
    Tensor tensor;
    std::uint64_t size;
    std::optional<NpyEncoder> encoder; // while open
    std::span<const char> rest;        // of its last piece
    std::exception_ptr failure;

    Entry(const Tensor &t, std::string_view op) : tensor(t), size(NpyEncoder(t, op).size()) {}

    // zip_source_callback: called by C, so no exception may leave it.
    static zip_int64_t answer(void *user, void *data, zip_uint64_t bytes,
                              zip_source_cmd_t command) {
        Entry &entry = *static_cast<Entry *>(user);
        try {
            switch (command) {
            case ZIP_SOURCE_OPEN:
                entry.encoder.emplace(entry.tensor, "write_npz");
                entry.rest = {};
                return 0;
            case ZIP_SOURCE_READ: {
                if (entry.rest.empty()) entry.rest = entry.encoder->next();
                const std::size_t count = std::min<zip_uint64_t>(entry.rest.size(), bytes);
                std::copy_n(entry.rest.data(), count, static_cast<char *>(data));
                entry.rest = entry.rest.subspan(count);
                return static_cast<zip_int64_t>(count);
            }
            case ZIP_SOURCE_CLOSE: entry.encoder.reset(); return 0;
            case ZIP_SOURCE_STAT: {
                auto *facts = static_cast<zip_stat_t *>(data);
                zip_stat_init(facts);
                facts->size = entry.size;
                facts->valid = ZIP_STAT_SIZE;
                return sizeof *facts;
            }
            case ZIP_SOURCE_ERROR: {
                const int codes[2] = {ZIP_ER_READ, 0};
                std::memcpy(data, codes, sizeof codes);
                return sizeof codes;
            }
            case ZIP_SOURCE_FREE: return 0;
            case ZIP_SOURCE_SUPPORTS:
                return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ,
                                                      ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                                      ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
            default: return -1;
            }
        } catch (...) {
            entry.failure = std::current_exception();
            return -1;
        }
    }
};

// libzip removes an archive without entries; NumPy writes the end record alone.
void write_empty(const std::filesystem::path &path, std::string_view op) {
    const char end_record[22] = {'P', 'K', 5, 6};
    NewFile file(path, op);
    file.write(end_record, sizeof end_record);
    file.commit();
}

} // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path &path, const Placement &where) {
    return read_all(Archive(path, "read_npz"), where);
}

std::map<std::string, Tensor> read_npz(std::span<const std::byte> bytes, const Placement &where) {
    return read_all(Archive(bytes, "read_npz"), where);
}

Tensor read_npz(const std::filesystem::path &path, std::string_view name, const Placement &where) {
    Archive archive(path, "read_npz");
    const auto found = archive.entries().find(std::string(name));
    if (found == archive.entries().end()) archive.no_array(name);
    return archive.read(found->first, found->second, where);
}

std::vector<std::string> npz_names(const std::filesystem::path &path) {
    const Archive archive(path, "npz_names");
    std::vector<std::string> names;
    for (const auto &[key, entry] : archive.entries()) names.push_back(key);
    return names;
}

void write_npz(const std::filesystem::path &path, const std::map<std::string, Tensor> &arrays,
               Compression compression) {
    const std::string_view op = "write_npz";
    if (arrays.empty()) return write_empty(path, op);
    const std::filesystem::path target = writable_target(path, op);
    std::vector<std::unique_ptr<Entry>> entries;
    ZipError error;
    int code = 0;
    ArchiveHandle archive(zip_open(target.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
    if (!archive) {
        zip_error_set(&error, code, errno);
        throw error_of(error, op, in_quotes(path.native()) + " cannot be written");
    }
    for (const auto &[key, tensor] : arrays) {
        const std::string what =
            fmt::format("{}, array {}", in_quotes(path.native()), in_quotes(key));
        if (key.empty() || key.size() > 65000 || printable(key) != key)
            throw Error(
                Status::invalid_argument, op,
                fmt::format("{}: a name must have 1 to 65000 bytes of printable UTF-8", what));
        entries.push_back(std::make_unique<Entry>(tensor, op));
        zip_source_t *source =
            zip_source_function_create(&Entry::answer, entries.back().get(), &error);
        if (!source) throw error_of(error, op, what);
        const std::string entry = key + std::string(extension);
        const zip_int64_t index =
            zip_file_add(archive.get(), entry.c_str(), source, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(source);
            throw error_of(*zip_get_error(archive.get()), op, what);
        }
        // A date that is the same every time, NumPy's, so that equal arrays give equal files.
        constexpr zip_uint16_t first_of_1980 = 1 << 5 | 1;
        const auto at = static_cast<zip_uint64_t>(index);
        const bool deflate = compression == Compression::deflate;
        if (zip_set_file_compression(archive.get(), at, deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                                     0) != 0 ||
            zip_file_set_dostime(archive.get(), at, 0, first_of_1980, 0) != 0)
            throw error_of(*zip_get_error(archive.get()), op, what);
    }
    // libzip writes to a file beside the target and renames it; on failure it removes that file.
    if (zip_close(archive.get()) != 0) {
        for (const auto &entry : entries)
            if (entry->failure) std::rethrow_exception(entry->failure);
        throw error_of(*zip_get_error(archive.get()), op,
                       in_quotes(path.native()) + " cannot be written");
    }
    (void)archive.release(); // closed
}

} // namespace Atoll
