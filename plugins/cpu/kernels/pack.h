// Packing: blocks of any strided layout into the panels of the product kernel.
#pragma once

#include "positions.h"

namespace Atoll::kernels {

// The indices along k of one block, as one operand sees them.
struct Depth {
    std::int64_t size = 0;
    const std::int64_t *offsets; // bytes
    // Runs along which the operand is dense: `width` indices that begin at `starts` and are
    // `stride` apart. All other indices are `singles`.
    std::int64_t width = 0, stride = 1, runs = 0, single_count = 0;
    std::int32_t *starts, *singles;
    bool is_dense = false; // along the whole block

    static std::int64_t bytes(std::int64_t size) { return 2 * 4 * size + 64 + size; }
    // Finds the runs of `width` indices in tables of these bytes; `across` as in DepthOrder.
    void find_runs(char *memory, std::int64_t width, std::int64_t across, std::int64_t element);
};

// The length of runs that packing transposes, for groups of `group` positions and elements of
// `size` bytes; 0: none.
int transposed_width(int group, std::int64_t size);

// Packs elements of `size` bytes from `data`: see Note [Panels]. `panel_groups` groups make a
// panel; `across` as in Grouping. Writes whole panels, also where the last one has fewer groups.
void pack(char *out, const char *data, std::int64_t size, const Block &block, int panel_groups,
          std::int64_t across, const Depth &depth);
// The same of float16 or bfloat16 in this processor's byte order, which become float32.
void pack_widened(char *out, const char *data, std::uint32_t dtype, const Block &block,
                  int panel_groups, std::int64_t across, const Depth &depth);

} // namespace Atoll::kernels
