// The loops of element-wise functions of three inputs.
#include "loop_table.h"

namespace Atoll::kernels {
namespace {

template <class Part> struct Pair { Part first, second; };

// `where` moves elements without looking at them, bool excepted: one loop per size and alignment,
// which for a complex number is that of its parts.
struct select {
    // No branches: no processor foresees a random mask.
    template <class T> static T apply(Bool mask, T b, T c) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(c ^ ((b ^ c) & (T{} - T{truth(mask)})));
        else if constexpr (requires { b.first; })
            return T{apply(mask, b.first, c.first), apply(mask, b.second, c.second)};
        else
            return taken(truth(mask) ? b : c);
    }
};
template <std::uint32_t Size, std::uint32_t Alignment> constexpr Loop select_loop() {
    if constexpr (Size == 1)
        return &ternary_loop<select, Bool, std::uint8_t>;
    else if constexpr (Size == 2)
        return &ternary_loop<select, Bool, std::uint16_t>;
    else if constexpr (Size == 4 && Alignment == 4)
        return &ternary_loop<select, Bool, std::uint32_t>;
    else if constexpr (Size == 4)
        return &ternary_loop<select, Bool, Pair<std::uint16_t>>;
    else if constexpr (Size == 8 && Alignment == 8)
        return &ternary_loop<select, Bool, std::uint64_t>;
    else if constexpr (Size == 8)
        return &ternary_loop<select, Bool, Pair<std::uint32_t>>;
    else
        return &ternary_loop<select, Bool, Pair<std::uint64_t>>;
}

constexpr LoopTable make_table() {
    LoopTable table = loop_table<3>();
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    table[ATOLL_FN_where][id] = select_loop<size, alignment_of(id)>();
#include "atoll/lists/dtypes.inc"
    table[ATOLL_FN_where][ATOLL_DTYPE_BOOL] = &ternary_loop<select, Bool, Bool>;
    return table;
}

} // namespace

constinit const LoopTable ternary_loops = make_table();

} // namespace Atoll::kernels
