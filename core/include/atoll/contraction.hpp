// Contractions: products of tensors whose axes carry labels.
//
// Axes with one label run together. A label of two factors that the result lacks is summed over
// both (contracted), one of a single factor is summed there first, one that stands twice in a
// tensor selects its diagonal. The functions compute in the common dtype of their operands, as
// matmul does: integers wrap, for bool `or` of `and`s, halves accumulate in float32 and are rounded
// once. Operands may have any layout; the function behind them is core.matmul, with as many axes
// as there are.
//
// All throw Error (invalid_argument) for labels that do not fit, naming operand, label and extents;
// nothing is written then. None waits for the device. Thread-safe, as long as no tensor is written
// while others use it.
#pragma once

#include "atoll/operations.hpp"

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace Atoll {

// --- Einstein's notation -------------------------------------------------------------------------

struct EinsumOptions {
    // The most bytes that an intermediate result may have; default: no limit.
    std::optional<std::int64_t> memory_limit = {};
};

// The product of any number of tensors in Einstein's notation: "ij,jk->ik". A letter per axis, a
// comma between operands, spaces anywhere.
//
//   einsum("ij,jk", {a, b})          matrix product: labels that stand once, in alphabetical order
//   einsum("ii->i", {a})             diagonal; "ii" the trace, "ij->ji" the transpose
//   einsum("ij...,jk...->ik...", …)  `...` stands for any further axes; they broadcast, the first
//                                    ones aligned, and come first if the result is not given
//
// Always makes a new tensor unless there is an `out`, of the result's shape. More than two operands
// are multiplied in pairs, in the order that einsum_path() shows. The analysis of a text is kept
// per thread for operands of the same layout. Extents of one letter must be equal, 1 does not
// broadcast. Throws Error (out_of_memory) if no order respects the memory limit, (overflow) if none
// has a cost that a double holds.
Tensor einsum(std::string_view text, std::span<const Tensor> operands, Out out = {},
              const EinsumOptions &options = {});
inline Tensor einsum(std::string_view text, std::initializer_list<Tensor> operands, Out out = {},
                     const EinsumOptions &options = {}) {
    return einsum(text, std::span(operands.begin(), operands.size()), out, options);
}

// The order in which einsum() multiplies its operands.
struct EinsumPath {
    struct Step {
        // Positions in the list of operands: both are removed from it, their product is appended.
        int left, right;
        std::string text;  // of the product: "ij,jk->ik"
        double operations; // multiplications and additions
        double elements;   // of the product
    };
    std::vector<Step> steps;      // in order; one less than operands
    double operations = 0;        // of all steps
    double direct_operations = 0; // of one loop over all labels
    double largest = 0;           // elements of the largest product
};
// The best order for up to 10 operands, by operations; a good one for more. Reads no elements.
EinsumPath einsum_path(std::string_view text, std::span<const Tensor> operands,
                       const EinsumOptions &options = {});
inline EinsumPath einsum_path(std::string_view text, std::initializer_list<Tensor> operands,
                              const EinsumOptions &options = {}) {
    return einsum_path(text, std::span(operands.begin(), operands.size()), options);
}
// One line per step, and one with the totals.
std::string to_string(const EinsumPath &path);

// --- two tensors ---------------------------------------------------------------------------------

// One label per axis: the letters of a text, or any integers.
class Labels {
public:
    Labels(const char *letters) : Labels(std::string_view(letters)) {}
    Labels(const std::string &letters) : Labels(std::string_view(letters)) {}
    Labels(std::string_view letters);
    Labels(std::initializer_list<std::int64_t> numbers) : values_(numbers) {}
    Labels(std::span<const std::int64_t> numbers) : values_(numbers) {}
    Labels(const std::vector<std::int64_t> &numbers) : Labels(std::span(numbers)) {}

    int size() const noexcept { return values_.size(); }
    std::int64_t operator[](int axis) const noexcept { return values_[axis]; }
    // Whether they came from a text: errors show them so.
    bool are_letters() const noexcept { return letters_; }

private:
    Dims values_;
    bool letters_ = false;
};

struct ContractOptions {
    bool conj_a = false, conj_b = false; // complex conjugate factors
    bool conj_c = false;                 // and summand
    DType dtype = DType::none; // to compute in; default: the common dtype of a, b, c and factors
};

// Computes c = alpha a b + beta c and returns c: contract(1, a, "ik", b, "kj", 0, c, "ij"). If
// beta == 0, c is not read; if alpha == 0, a and b are not read. A repeated label in c updates its
// diagonal only.
const Tensor &contract(Scalar alpha, const Tensor &a, const Labels &labels_a, const Tensor &b,
                       const Labels &labels_b, Scalar beta, const Tensor &c, const Labels &labels_c,
                       const ContractOptions &options = {});
// The product a b as a new tensor with these labels, or in `out`.
Tensor contract(const Tensor &a, const Labels &labels_a, const Tensor &b, const Labels &labels_b,
                const Labels &labels, Out out = {}, const ContractOptions &options = {});

namespace detail {
class PairContraction;
}

// An operand of a planned contraction: its layout and labels, no elements.
class ContractionOperand {
public:
    ContractionOperand(const Tensor &like, Labels labels);
    // Strides in bytes; those of axes with at most one element may be anything.
    ContractionOperand(DType dtype, Dims shape, Dims strides, Labels labels);

    DType dtype() const noexcept { return dtype_; }
    const Dims &shape() const noexcept { return shape_; }
    const Dims &strides() const noexcept { return strides_; }
    const Labels &labels() const noexcept { return labels_; }

private:
    friend class detail::PairContraction; // lays results out
    DType dtype_;
    Dims shape_, strides_;
    Labels labels_;
};

// The analysis of d = alpha a b + beta c for operands of certain layouts, to repeat it on other
// tensors for the price of a call. Immutable: threads may share it.
class Contraction {
public:
    // d = alpha a b.
    Contraction(const ContractionOperand &a, const ContractionOperand &b,
                const ContractionOperand &d, const ContractOptions &options = {});
    // d = alpha a b + beta c. c has the labels of d, in any order.
    Contraction(const ContractionOperand &a, const ContractionOperand &b,
                const ContractionOperand &c, const ContractionOperand &d,
                const ContractOptions &options = {});

    // The dtype that it computes in; factors of other kinds are refused by run().
    DType dtype() const;

    // d = a b. Throws Error (invalid_argument) if a tensor's dtype, shape or strides differ from
    // the planned ones.
    void run(const Tensor &a, const Tensor &b, const Tensor &d) const;
    // c may be d. It may be undefined if beta == 0 or no c was planned; it is not read if beta ==
    // 0.
    void run(const Scalar &alpha, const Tensor &a, const Tensor &b, const Scalar &beta,
             const Tensor &c, const Tensor &d) const;

private:
    std::shared_ptr<const detail::PairContraction> plan_;
};

// --- products with names of their own ------------------------------------------------------------

// Sums over pairs of axes: axes_a[i] of a runs with axes_b[i] of b. The other axes of a come before
// those of b.
Tensor tensordot(const Tensor &a, const Tensor &b, const Axes &axes_a, const Axes &axes_b,
                 Out out = {});
// Over the last `count` axes of a and the first of b, in order.
Tensor tensordot(const Tensor &a, const Tensor &b, int count = 2, Out out = {});

// Sums over the last axes of both: (2, 3) and (4, 3) give (2, 4), two vectors a number. A number
// multiplies the other operand.
Tensor inner(const Tensor &a, const Tensor &b, Out out = {});
// The sum of conj(a) b over all elements, of tensors of one size; flattened in column-major order
// if their shapes differ.
Tensor vdot(const Tensor &a, const Tensor &b, Out out = {});
// Kronecker's product: block (i, j, …) of the result is a(i, j, …) b. The one with fewer axes gets
// more at the end.
Tensor kron(const Tensor &a, const Tensor &b);
// The sum of a diagonal of the matrices over axes 0 and 1; k > 0 is above the main one. Integers
// are summed in 64 bits, as by sum().
Tensor trace(const Tensor &a, std::int64_t k = 0, Out out = {});

} // namespace Atoll
