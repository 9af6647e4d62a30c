// NumPy's file formats: .npy (one array) and .npz (a zip archive of named arrays).
//
// Specification: numpy/lib/format.py ("NumPy Enhancement Proposal 1"), versions 1.0 to 3.0.
// Supported dtypes: bool, int8 … int64, uint8 … uint64, float16, float32, float64, complex64,
// complex128, in either byte order. All functions block until the data are in place, and throw
// Error:
//   not_found         no such file, or no such array in the archive
//   invalid_argument  malformed or truncated content; the text says what and where
//   not_supported     an unsupported dtype, format version or zip feature
//   overflow          the array needs more bytes than 63 bits can count
//   refused           the system refused to open, read or write; native_code() is errno
// and any error of the device. A failed read creates no tensor; a failed write of a file leaves an
// existing file unchanged. Thread-safe on different streams.
#pragma once

#include "atoll/create.hpp"
#include "atoll/tensor.hpp"

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll {

// `where` specifies the dtype, device and stream of the tensor; the default dtype is that of the
// file. The result is in native byte order and in the order of the file (column-major if it says
// fortran_order, else row-major). If the dtype is converted, the result is column-major, as from
// cast().
//
// A file or span must contain exactly one array: trailing bytes are an error. A stream may contain
// several; its position is then after the array that was read (after an error: unspecified).
// Headers of more than 1 MiB are refused. If the size of the input is known, reading allocates no
// more memory than the input has bytes.
Tensor read_npy(const std::filesystem::path &path, const Placement &where = {});
Tensor read_npy(std::istream &stream, const Placement &where = {});
Tensor read_npy(std::span<const std::byte> bytes, const Placement &where = {});

// Writes row-major tensors in row-major order, column-major tensors with fortran_order, and all
// others as a column-major copy. A byte-swapped tensor is written in its own byte order. bfloat16
// and complex32 are not_supported: the format has no such dtypes. The file name is used unchanged.
//
// The file is written under another name in the same folder and then renamed, so it is either
// complete or absent. An existing file keeps its permissions. The target of a symbolic link is
// replaced, not the link. A path that is not a regular file is refused; use a stream.
void write_npy(const std::filesystem::path &path, const Tensor &tensor);
void write_npy(std::ostream &stream, const Tensor &tensor);

// Reads all arrays of an archive, by name without ".npy". Entries must be stored or deflated, not
// encrypted, with distinct names that end in ".npy" (folders are skipped). Checksums are verified.
// Archives that claim to unpack to more data than deflate can produce are refused.
std::map<std::string, Tensor> read_npz(const std::filesystem::path &path,
                                       const Placement &where = {});
std::map<std::string, Tensor> read_npz(std::span<const std::byte> bytes,
                                       const Placement &where = {});
// Reads one array of an archive.
Tensor read_npz(const std::filesystem::path &path, std::string_view name,
                const Placement &where = {});
std::vector<std::string> npz_names(const std::filesystem::path &path);

enum class Compression { stored, deflate };

// Writes each array like write_npy; writes all arrays or none. Names are printable UTF-8 (line
// feeds and tabs are allowed) of 1 to 65,000 bytes; ".npy" is appended.
void write_npz(const std::filesystem::path &path, const std::map<std::string, Tensor> &arrays,
               Compression compression = Compression::stored);

} // namespace Atoll
