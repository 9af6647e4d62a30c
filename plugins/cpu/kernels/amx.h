// Products by AMX, the tile instructions of Intel's processors from Sapphire Rapids on, and whether
// bfloat16 may be multiplied as such.
#pragma once

#include "lane_types.h"

namespace Atoll::kernels {

// Note [AMX]
// Panels of 32 rows and of 32 columns make one tile of d: four tile registers, of 16 rows by 16
// columns each. A lane of 32 bits holds two bfloat16 or four bytes that follow each other along k.
// For 16 lanes along k, a panel of rows has the 32 rows side by side, lane by lane; one of columns
// has the 16 lanes side by side, column by column. Sums are exact products added up in float32,
// where subnormal numbers, products and sums count as zero, or in int32, which wraps.
inline constexpr int amx_edge = 32; // rows of a panel, and columns of one
inline constexpr int amx_lanes = 16;

// Whether the processor has it, the system lets this process use it, and atoll_kernels_use_amx()
// does not say otherwise. The first call asks the system, which gives every thread's signals a
// larger frame from then on: an alternative stack for signals must have room for it
// (sysconf(_SC_MINSIGSTKSZ)).
bool has_amx();

// Whether the processor has AVX512-BF16, which multiplies bfloat16 in the vector registers, and
// atoll_kernels_use_amx() does not say otherwise.
bool has_avx512_bf16();

// As long as it lives, this thread may call amx_multiply().
class AmxRegisters {
public:
    AmxRegisters();
    ~AmxRegisters();
    AmxRegisters(const AmxRegisters &) = delete;
    AmxRegisters &operator=(const AmxRegisters &) = delete;
};

// The sums of a tile, of 32 bits each: those of a column side by side, `step` bytes from those of
// the column before. `lanes`: a multiple of 16. Only the first 16 rows or columns where the others
// are not there.
void amx_multiply(PackedNumbers numbers, bool all_rows, bool all_columns, std::int64_t lanes,
                  const char *rows, const char *columns, char *sums, std::int64_t step);

} // namespace Atoll::kernels
