// Tables of numbers as text with separators (CSV, RFC 4180).
//
// Records end with LF or CRLF; a field in double quotes may contain separators, line ends and, as
// two, quotes. A byte order mark is skipped, and so are empty lines. Numbers are read and written
// independently of the locale. All functions block and throw Error:
//   not_found         no such file
//   invalid_argument  malformed content: the text names line, column and field
//   out_of_range      a number that the dtype does not hold, likewise
//   not_supported     complex dtypes
//   refused           the system refused to open, read or write; native_code() is errno
// and any error of the device. A failed read creates no tensor; a failed write of a file leaves an
// existing file unchanged. Thread-safe on different streams.
#pragma once

#include "atoll/create.hpp"

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace Atoll {

struct CsvReadOptions {
    char separator = ',';
    bool header = false; // the first record names the columns
    std::int64_t skip_lines = 0;
    char comment = '\0'; // lines that begin with it are skipped
    // Fields that contain no number, besides the names nan and inf, which are numbers of
    // floating-point dtypes.
    std::vector<std::string> missing = {"", "NA", "N/A", "null"};
    // The number in their place; without it NaN, and an error for other dtypes.
    std::optional<Scalar> fill = {};
};
struct Csv {
    Tensor values;                    // (records, fields)
    std::vector<std::string> columns; // from the header, else empty
};
// Reads a table in which all records have the same number of fields. Default dtype: float64; bool
// is written 0, 1, true or false. Numbers are rounded once, to the dtype or, for halves, by way of
// float64. Spaces around a number are allowed.
Csv read_csv(const std::filesystem::path &path, const CsvReadOptions &options = {},
             const Placement &where = {});
Csv read_csv(std::istream &stream, const CsvReadOptions &options = {}, const Placement &where = {});

struct CsvWriteOptions {
    char separator = ',';
    std::vector<std::string> columns = {}; // names for a header
};
// Writes a matrix, a vector as one column, with as many digits as read_csv needs to get the same
// elements. Files appear when they are complete, as those of write_npy.
void write_csv(const std::filesystem::path &path, const Tensor &table,
               const CsvWriteOptions &options = {});
void write_csv(std::ostream &stream, const Tensor &table, const CsvWriteOptions &options = {});

} // namespace Atoll
