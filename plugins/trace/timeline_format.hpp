// The file that the tracer writes with the setting `timeline`, and that `atoll trace` reads.
//
// Note [Timeline file]
//   4 pages    FileHeader
//   slots      each segment_bytes long. A segment takes one: a SegmentHeader, then records up to
//              `used`. So do the counters of a lane, which may take several: a SegmentHeader with
//              the sequence 0, then a CounterTable. Lane 0: empty
// A lane is written by one thread at a time; its segments are in the order of `sequence`. `used`
// counts whole records only, so the file is valid up to the last record at any moment, however the
// process ends. The entries of the counters say what the records' `entry` means. Numbers have the
// byte order of the machine that wrote the file, which is meant for the tool of the same version:
// every change raises `version`.
#pragma once

#include "clock.hpp"

#include <cstddef>
#include <cstdint>

namespace Atoll::tracing::timeline {

inline constexpr char magic[8] = {'A', 'T', 'O', 'L', 'T', 'R', 'C', 'E'};
inline constexpr std::uint32_t version = 6;
inline constexpr std::size_t page_bytes = 4096, header_bytes = 4 * page_bytes;

struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t process;
    std::uint64_t segment_bytes;
    std::uint64_t slots; // so far
    ClockSample first, last;
    std::uint64_t dropped; // calls on threads whose counters are not in the file
    std::uint32_t closed;  // 1: the session or the process came to its regular end
    std::uint32_t full;    // 1: the limit was reached; 2: the file could not grow (disk full …)
    std::uint64_t limit_bytes;
    std::uint64_t library_bytes; // of `libraries`, which is text of libraries::packed()
    char libraries[3 * page_bytes];
};
static_assert(sizeof(FileHeader) <= header_bytes);

struct SegmentHeader {
    std::uint32_t lane, sequence;
    std::uint64_t used; // bytes, this header included
    std::uint64_t reserved[6];
};
static_assert(sizeof(SegmentHeader) == 64);

enum class Kind : std::uint8_t {
    call = 1,        // a call, enqueued or executed; then its extents
    execution = 2,   // what an enqueued call took on its stream
    thread = 3,      // the thread that writes the lane from here on; then a ThreadText
    range_begin = 4, // at `start`; then the name, ended by at least one NUL
    range_end = 5,   // of the newest open range of the thread, if any
};

enum RecordFlag : std::uint16_t {
    // Each of these announces a word behind the record; they come in this order.
    flag_followed = 1,    // the id that a call and its execution have in common
    flag_handle = 2,      // of an event, or of the stream that the call creates or destroys
    flag_long = 4,        // the ticks it took, where `ticks` cannot hold them
    flag_stream = 8,      // the stream's handle, where it is not the default one
    flag_details = 16,    // Details, where they are not all as in Details{}
    flag_operations = 32, // floating-point operations
    flag_slots = 64,      // how many axes each slot of the signature has: atoll_call::axes
    // These do not.
    flag_inserted = 128, // the call serves another one
    // Why an enqueued call has no execution record:
    flag_no_callback = 256, // the device type does not offer host_callback, or it failed
    flag_not_asked = 512,   // the setting `execution` is 0
};
inline constexpr unsigned flags_with_word = 127;

inline constexpr std::uint16_t no_entry = 0xffff;
inline constexpr unsigned max_extents = 8, max_dtypes = 4;

// Small, so that a tight loop of calls writes less and more of them fit into the file's limit: what
// is rare comes in words of 8 bytes behind it.
struct Record {
    Kind kind;
    std::uint8_t words; // of the whole record
    std::uint8_t rank;  // min(rank, max_extents) extents, a word each, end the record of a call
    std::uint8_t operand_count;
    std::uint16_t entry, flags;
    std::uint8_t dtypes[max_dtypes]; // of the first operands
    std::uint32_t ticks;             // that it took
    std::uint64_t start;             // in ticks
    std::uint64_t correlation;
    std::uint64_t bytes;
};
static_assert(sizeof(Record) == 40);

struct Details {
    std::int32_t status = 0;
    std::int16_t device = 0;         // index
    std::uint16_t parent = no_entry; // entry of the function that an inserted call serves, if known
};
static_assert(sizeof(Details) == 8);

struct ThreadText {
    std::uint64_t id; // of the kernel
    char name[16];
};
static_assert(sizeof(ThreadText) % 8 == 0);

} // namespace Atoll::tracing::timeline
