// See Note [AMX].
#include "amx.h"

#include "entries.h"

#include <atomic>

namespace Atoll::kernels {
namespace {
std::atomic<bool> may_use = true;
}
} // namespace Atoll::kernels

void atoll_kernels_use_amx(std::int32_t use) { Atoll::kernels::may_use = use != 0; }

#if defined(__x86_64__) && defined(__AVX512F__)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATOLL_AMX __attribute__((target("amx-tile,amx-bf16,amx-int8")))

namespace Atoll::kernels {
namespace {

constexpr int row_stride = amx_edge * 4, column_stride = amx_lanes * 4;

// What each of the eight registers is: as in Intel's manual, LDTILECFG.
struct alignas(64) Configuration {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Configuration configuration;

bool ask() {
    unsigned a, b, c, d;
    constexpr unsigned bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25, all = bf16 | tile | int8;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & all) != all) return false;
    constexpr long request_permission = 0x1023, tile_data = 18; // ARCH_REQ_XCOMP_PERM
    return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

// GCC does not let constructors have a target of their own.
ATOLL_AMX void set_up() { _tile_loadconfig(&configuration); }
ATOLL_AMX void release() { _tile_release(); }

// Registers 0 to 3 are sums, 4 and 5 columns, 6 and 7 rows.
template <PackedNumbers numbers> struct Multiply;
#define ATOLL_AMX_MULTIPLY(NUMBERS, INSTRUCTION)                                                   \
    template <> struct Multiply<PackedNumbers::NUMBERS> {                                          \
        template <bool all_rows, bool all_columns> ATOLL_AMX static void add() {                   \
            INSTRUCTION(0, 4, 6);                                                                  \
            if (all_rows) INSTRUCTION(1, 4, 7);                                                    \
            if (all_columns) INSTRUCTION(2, 5, 6);                                                 \
            if (all_rows && all_columns) INSTRUCTION(3, 5, 7);                                     \
        }                                                                                          \
    };
ATOLL_AMX_MULTIPLY(bfloat16, _tile_dpbf16ps)
// The first factor of an instruction is the columns.
ATOLL_AMX_MULTIPLY(signed_signed, _tile_dpbssd)
ATOLL_AMX_MULTIPLY(signed_unsigned, _tile_dpbusd)
ATOLL_AMX_MULTIPLY(unsigned_signed, _tile_dpbsud)
ATOLL_AMX_MULTIPLY(unsigned_unsigned, _tile_dpbuud)
#undef ATOLL_AMX_MULTIPLY

template <PackedNumbers numbers, bool all_rows, bool all_columns> ATOLL_AMX void
multiply(std::int64_t lanes, const char *rows, const char *columns, char *sums, std::int64_t step) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::int64_t lane = 0; lane < lanes; lane += amx_lanes) {
        _tile_loadd(4, columns, column_stride);
        _tile_loadd(6, rows, row_stride);
        if (all_rows) _tile_loadd(7, rows + row_stride / 2, row_stride);
        if (all_columns) _tile_loadd(5, columns + amx_edge / 2 * column_stride, column_stride);
        Multiply<numbers>::template add<all_rows, all_columns>();
        rows += amx_lanes * row_stride;
        columns += amx_edge * column_stride;
    }
    const std::int64_t right = amx_edge / 2 * step;
    constexpr int down = row_stride / 2;
    _tile_stored(0, sums, step);
    if (all_rows) _tile_stored(1, sums + down, step);
    if (all_columns) _tile_stored(2, sums + right, step);
    if (all_rows && all_columns) _tile_stored(3, sums + right + down, step);
}

template <PackedNumbers numbers> void multiply(bool all_rows, bool all_columns, std::int64_t lanes,
                                               const char *rows, const char *columns, char *sums,
                                               std::int64_t step) {
    if (all_rows && all_columns)
        multiply<numbers, true, true>(lanes, rows, columns, sums, step);
    else if (all_rows)
        multiply<numbers, true, false>(lanes, rows, columns, sums, step);
    else if (all_columns)
        multiply<numbers, false, true>(lanes, rows, columns, sums, step);
    else
        multiply<numbers, false, false>(lanes, rows, columns, sums, step);
}

} // namespace

bool has_amx() {
    if (!may_use.load(std::memory_order_relaxed)) return false;
    static const bool has = ask();
    return has;
}

bool has_avx512_bf16() {
    return may_use.load(std::memory_order_relaxed) && __builtin_cpu_supports("avx512bf16");
}

AmxRegisters::AmxRegisters() { set_up(); }
AmxRegisters::~AmxRegisters() { release(); }

void amx_multiply(PackedNumbers numbers, bool all_rows, bool all_columns, std::int64_t lanes,
                  const char *rows, const char *columns, char *sums, std::int64_t step) {
    switch (numbers) {
#define ATOLL_AMX_NUMBERS(NUMBERS)                                                                 \
    case PackedNumbers::NUMBERS:                                                                   \
        return multiply<PackedNumbers::NUMBERS>(all_rows, all_columns, lanes, rows, columns, sums, \
                                                step);
        ATOLL_AMX_NUMBERS(bfloat16)
        ATOLL_AMX_NUMBERS(signed_signed)
        ATOLL_AMX_NUMBERS(signed_unsigned)
        ATOLL_AMX_NUMBERS(unsigned_signed)
        ATOLL_AMX_NUMBERS(unsigned_unsigned)
#undef ATOLL_AMX_NUMBERS
    }
}

} // namespace Atoll::kernels

#else

namespace Atoll::kernels {

bool has_amx() { return false; }
bool has_avx512_bf16() { return false; }
AmxRegisters::AmxRegisters() = default;
AmxRegisters::~AmxRegisters() = default;

} // namespace Atoll::kernels

#endif
