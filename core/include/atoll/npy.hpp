// NumPy's file formats: .npy (one array) and .npz (a zip archive of named arrays).
//
// Source of the format: numpy/lib/format.py ("NumPy Enhancement Proposal 1"), versions 1.0 to 3.0.
// dtypes: bool, int8 … int64, uint8 … uint64, float16, float32, float64, complex64, complex128, in
// either byte order. All functions block until the data are in place, and throw Error:
//   not_found         no such file, no such array in the archive
//   invalid_argument  malformed or truncated content; the text says what and where
//   not_supported     a dtype, a version of the format, or a feature of zip that is not taken
//   overflow          a shape beyond 63 bits of bytes
//   refused           the system refused to open, read or write; native_code() is errno
// and whatever the device throws. After an error in reading there is no tensor, after one in
// writing a file the old file, if any, is as it was. Thread-safe, on different streams.
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

// Where and as what to make the tensor. Without a dtype: that of the file. The result is in native
// byte order, and in the order of the file (column-major if it says fortran_order, else row-major);
// converted to another dtype it is column-major, as by cast().
//
// A file or span holds exactly one array: bytes after it are an error. A stream may hold several;
// it is left behind the array that was read (after an error: anywhere). Headers of more than 1 MiB
// are refused. No more memory is taken than the input has bytes, where its size is known.
Tensor read_npy(const std::filesystem::path &path, const Placement &where = {});
Tensor read_npy(std::istream &stream, const Placement &where = {});
Tensor read_npy(std::span<const std::byte> bytes, const Placement &where = {});

// Row-major tensors are written so, column-major ones with fortran_order, all others as a
// column-major copy. A byte-swapped tensor is written in the byte order that it has. bfloat16 and
// complex32 are not_supported: the format has no such dtypes. Nothing is appended to the name.
//
// The file is written beside its place under another name and then renamed: it is whole or not
// there. An existing one keeps its permissions; what a symbolic link points to is replaced, not the
// link. What is not a regular file is refused; use a stream.
void write_npy(const std::filesystem::path &path, const Tensor &tensor);
void write_npy(std::ostream &stream, const Tensor &tensor);

// All arrays of an archive by name, without ".npy". Entries must be stored or deflated, not
// encrypted, with different names that end in ".npy" (folders are passed over); checksums are
// verified. Archives that claim to unpack to more than deflate can are refused.
std::map<std::string, Tensor> read_npz(const std::filesystem::path &path,
                                       const Placement &where = {});
std::map<std::string, Tensor> read_npz(std::span<const std::byte> bytes,
                                       const Placement &where = {});
// One of them.
Tensor read_npz(const std::filesystem::path &path, std::string_view name,
                const Placement &where = {});
std::vector<std::string> npz_names(const std::filesystem::path &path);

enum class Compression { stored, deflate };

// Each array as by write_npy, all or none. Names are UTF-8, not empty, and get ".npy" appended.
void write_npz(const std::filesystem::path &path, const std::map<std::string, Tensor> &arrays,
               Compression compression = Compression::stored);

} // namespace Atoll
