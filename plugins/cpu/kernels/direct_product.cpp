// Products straight from the operands: columns of a in registers against elements of b. Neither is
// packed but for rows of a that are not dense, or too far apart.
#include "direct_product.h"

#include "direct_strips.h"
#include "parallel.h"

namespace Atoll::kernels {
namespace {

constexpr std::int64_t smallest = 32; // extents of products that a BLAS by name does not get
constexpr std::int64_t longest = 512; // of an extent
// Of b, which is read once for each strip of rows: it stays in the L2 cache.
constexpr std::int64_t most_bytes = vector_bytes < 64 ? 256 << 10 : 512 << 10;
constexpr std::int64_t most_vector_bytes = 128 << 10; // of a, for a vector
// On vectors of less than 64 bytes BLAS is ahead from here on.
constexpr std::int64_t most_work =
    vector_bytes < 64 ? 128 * 128 * 128 : longest * longest * longest;

template <class T> bool is_smallest(const DirectStrips<T> &p) {
    return p.m / p.parts <= smallest && p.n <= smallest && p.k <= smallest;
}
// Whether others are not faster.
template <class T> bool suits(const DirectStrips<T> &p) {
    const std::int64_t rows = p.m / p.parts;
    // For a vector others have more sums at a time.
    if (p.n == 1 && (!p.is_dense() || rows * p.k * p.size > most_vector_bytes)) return false;
    return rows <= longest && p.n <= longest &&
           p.k <= (p.is_dense() ? longest : p.longest_packed) && 4 * p.m >= 3 * p.width &&
           rows * p.n * p.k <= most_work && p.n * p.k * p.size <= most_bytes &&
           (p.is_packed() || !p.collides(p.a_k)) && !p.collides(p.b_k) &&
           (vector_bytes == 64 || p.b_k == p.size || !p.is_spread(p.b_k));
}

} // namespace

template <class T> bool direct_product(const atoll_call &call, T alpha, T beta, bool conj_a,
                                       bool conj_b, bool only_smallest) {
    using Strips = DirectStrips<T>;
    const std::int64_t *shape = call.shape;
    if (!is_of_matrices(call, longest) || !truth(alpha)) return false;
    const atoll_operand *operands = call.operands;
    const bool adds = truth(beta);
    for (int o = 0; o < (adds ? 4 : 3); ++o)
        if (operands[o].dtype != call.dtype || (operands[o].flags & ATOLL_OPERAND_SWAPPED))
            return false;
    const std::int64_t *d = operands[0].strides, *a = operands[1].strides, *b = operands[2].strides,
                       *c = operands[adds ? 3 : 0].strides;
    // Dot products of dense vectors have a loop of their own.
    if (shape[0] == 1 && shape[2] == 1 && a[1] == sizeof(T) && b[1] == sizeof(T)) return false;
    // A stack of matrices that lie side by side is multiplied along the stack.
    if (!is_complex<T> && call.rank > 3 && shape[3] >= lanes<Part<T>> && d[3] == sizeof(T) &&
        a[3] == sizeof(T) && b[3] == sizeof(T))
        return false;
    // An output that is dense along its rows is computed as its transpose: d' = b' a'.
    const bool exchanged = d[0] != sizeof(T) && shape[0] != 1;
    if (exchanged && d[2] != sizeof(T) && shape[2] != 1) return false;
    const bool plain = Strips::is_one(alpha) && !adds;
    Strips product = {shape[0], shape[1], shape[2], a[0], a[1],  b[1],   b[2],  c[0],
                      c[2],     d[2],     alpha,    beta, plain, conj_a, conj_b};
    if (exchanged)
        product = {shape[2], shape[1], shape[0], b[2], b[1],  a[1],   a[0],  c[2],
                   c[0],     d[0],     alpha,    beta, plain, conj_b, conj_a};
    product.m *= Strips::parts;
    if (!is_smallest(product) && (only_smallest || !suits(product))) return false;
    std::int64_t count = 1;
    for (std::uint32_t axis = 3; axis < call.rank; ++axis) count *= shape[axis];
    // Large ones are cut along the rows, or along the columns if these are more and a is not
    // packed.
    const std::int64_t work = product.m * product.k * product.n * Strips::parts / 8;
    const std::int64_t strips = (product.m + Strips::strip - 1) / Strips::strip;
    const std::int64_t groups = (product.n + Strips::group - 1) / Strips::group;
    const bool by_columns = groups > strips && !product.is_packed();
    const std::int64_t cuts = count * work < parallel_threshold ? 1 : by_columns ? groups : strips;
    const auto operand_of = [&](int o) -> const atoll_operand & {
        return operands[o == 3 && !adds ? 0 : o];
    };
    const auto multiply = [&](typename Strips::Range rows, typename Strips::Range columns,
                              char *const *data) {
        product.run(rows, columns, data[0], data[exchanged ? 2 : 1], data[exchanged ? 1 : 2],
                    data[3]);
    };
    if (count == 1 && cuts == 1) {
        char *data[4];
        for (int o = 0; o < 4; ++o) data[o] = static_cast<char *>(operand_of(o).data);
        multiply({0, product.m}, {0, product.n}, data);
        return true;
    }
    // As a rule products differ along one axis, with neighbours one step away.
    const std::int64_t neighbours = call.rank > 3 ? shape[3] : 1;
    parallel(count * cuts, work / cuts + 1, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t at = begin / cuts;
            char *data[4];
            std::int64_t step[4];
            for (int o = 0; o < 4; ++o) {
                const atoll_operand &operand = operand_of(o);
                data[o] = static_cast<char *>(operand.data);
                std::int64_t index = at;
                for (std::uint32_t axis = 3; axis < call.rank; index /= shape[axis++])
                    data[o] += index % shape[axis] * operand.strides[axis];
                step[o] = call.rank > 3 ? operand.strides[3] : 0;
            }
            const std::int64_t stop = std::min(end, (at + neighbours - at % neighbours) * cuts);
            for (std::int64_t first = begin % cuts; begin < stop; first = 0) {
                const std::int64_t last = std::min(cuts, first + stop - begin);
                typename Strips::Range rows{0, product.m}, columns{0, product.n};
                if (cuts > 1 && by_columns)
                    columns = {first * Strips::group, std::min(columns.end, last * Strips::group)};
                else if (cuts > 1)
                    rows = {first * Strips::strip, std::min(rows.end, last * Strips::strip)};
                multiply(rows, columns, data);
                begin += last - first;
                for (int o = 0; o < 4; ++o) data[o] += step[o];
            }
        }
    });
    return true;
}
template bool direct_product(const atoll_call &, std::uint32_t, std::uint32_t, bool, bool, bool);
template bool direct_product(const atoll_call &, std::uint64_t, std::uint64_t, bool, bool, bool);
template bool direct_product(const atoll_call &, float, float, bool, bool, bool);
template bool direct_product(const atoll_call &, double, double, bool, bool, bool);
template bool direct_product(const atoll_call &, Complex<float>, Complex<float>, bool, bool, bool);
template bool direct_product(const atoll_call &, Complex<double>, Complex<double>, bool, bool,
                             bool);

} // namespace Atoll::kernels
