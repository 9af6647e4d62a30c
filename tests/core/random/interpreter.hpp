// A naive interpreter of tensor operations: storages are arrays of bytes, every operation reads all
// its elements before it writes one, and what an element becomes is the oracle's business. Shares
// nothing with the library but scalars and the promotion of dtypes.
#pragma once

#include "../../oracle/order.h"
#include "../views.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

namespace interpreter {

using namespace views;
using Atoll::DType;
using Atoll::Scalar;
using Atoll::Status;
using oracle::Expected;
using oracle::Value;

// ---- memory -------------------------------------------------------------------------------------

struct Memory {
    std::vector<char> bytes;
    bool boolean = false;   // holds bools: 0 and 1, so tensors of other dtypes keep off
    bool read_only = false; // so are all tensors over it
};

inline std::int64_t count_of(const Numbers &shape) {
    std::int64_t n = 1;
    for (std::int64_t extent : shape) n *= extent;
    return n;
}

struct Array : View {
    std::shared_ptr<Memory> memory;
    bool read_only = false; // by itself

    bool is_read_only() const { return read_only || memory->read_only; }
    Value read(std::int64_t address) const {
        return oracle::read(memory->bytes.data() + address, id(dtype), swapped);
    }
    // All that follow are in column-major order.
    Numbers addresses() const {
        Numbers list;
        each(shape, [&](const Numbers &index) { list.push_back(at(index)); });
        return list;
    }
    std::vector<Value> values() const { return values_over(shape); }
    // As broadcast to another shape.
    std::vector<Value> values_over(const Numbers &other) const {
        std::vector<Value> list;
        each(other, [&](const Numbers &index) { list.push_back(read(at(index))); });
        return list;
    }
    // Two elements share bytes.
    bool overlaps_itself() const {
        Numbers starts = addresses();
        std::sort(starts.begin(), starts.end());
        for (std::size_t i = 1; i < starts.size(); ++i)
            if (starts[i] - starts[i - 1] < itemsize()) return true;
        return false;
    }
    bool fits() const {
        std::int64_t low, high;
        range(low, high);
        return low >= 0 && high <= static_cast<std::int64_t>(memory->bytes.size());
    }
};

// First axes aligned; false if the shapes do not meet.
inline bool broadcast(Numbers &shape, const Numbers &other) {
    if (other.size() > shape.size()) shape.resize(other.size(), 1);
    for (std::size_t i = 0; i < other.size(); ++i) {
        if (other[i] == 1 || other[i] == shape[i]) continue;
        if (shape[i] != 1) return false;
        shape[i] = other[i];
    }
    return true;
}
// Destinations keep their shape; extents of 1 beyond its axes do no harm.
inline bool broadcasts_to(const Numbers &from, const Numbers &to) {
    for (std::size_t i = 0; i < from.size(); ++i)
        if (from[i] != 1 && (i >= to.size() || from[i] != to[i])) return false;
    return true;
}

// ---- dtypes -------------------------------------------------------------------------------------

inline Value value_of(const Scalar &scalar) {
    return oracle::read(reinterpret_cast<const char *>(scalar.raw().value.bytes),
                        id(scalar.dtype()));
}

// An operand: a tensor or a number.
struct Input {
    std::optional<Array> array;
    Scalar scalar;
};

struct Rule {
    DType compute = DType::none, result = DType::none;
    std::set<Status> errors;
};

inline bool is_signed(DType dtype) { return Atoll::info(dtype).kind == Atoll::Kind::signed_; }
inline bool is_unsigned(DType dtype) { return Atoll::info(dtype).kind == Atoll::Kind::unsigned_; }

inline Rule rule_of(int function, DType common) {
    Rule rule;
    rule.compute = compute_dtype(function, common);
    rule.result = static_cast<DType>(oracle::result_dtype(function, id(rule.compute)));
    if (!in_domain(function, rule.compute)) rule.errors.insert(Status::invalid_argument);
    return rule;
}

// Weak numbers count by their kind only.
inline Rule rule_of(int function, const std::vector<Input> &inputs) {
    const int kind = functions[function].rule;
    DType common = DType::none;
    std::set<Status> errors;
    const std::size_t first = function == ATOLL_FN_where ? 1 : 0;
    for (std::size_t i = first; i < inputs.size(); ++i) {
        if (!inputs[i].array && inputs[i].scalar.is_weak()) continue;
        const DType own = inputs[i].array ? inputs[i].array->dtype : inputs[i].scalar.dtype();
        common = common == DType::none ? own : promote(common, own);
    }
    for (std::size_t i = first; i < inputs.size(); ++i) {
        if (inputs[i].array || !inputs[i].scalar.is_weak()) continue;
        const Scalar &scalar = inputs[i].scalar;
        const DType own = scalar.dtype();
        if (common == DType::none) {
            common = is_integer(own) ? Atoll::int64 : own;
        } else if (is_integer(own)) {
            if (common == Atoll::bool_) common = Atoll::int64;
            const Value v = value_of(scalar);
            if (is_integer(common) && oracle::wrap(v.i, id(common)) != v.i &&
                kind != ATOLL_RULE_FLOAT) {
                if (Atoll::sdk::core_functions[function].signature.operands[0].dtype ==
                    ATOLL_DTYPE_BOOL)
                    common = promote(common, own);
                else
                    errors.insert(Status::out_of_range);
            }
        } else if (is_complex(own)) {
            common = is_floating(common) ? promote(common, Atoll::complex32) : Atoll::complex128;
        } else if (own == Atoll::float64 && !is_floating(common)) {
            common = Atoll::float64;
        }
    }
    Rule rule = rule_of(function, common);
    rule.errors.merge(errors);
    return rule;
}

// ---- element by element -------------------------------------------------------------------------

inline bool long_integer(DType dtype) { return dtype == Atoll::int64 || dtype == Atoll::uint64; }

inline std::vector<Expected> elementwise(int function, DType compute,
                                         const std::vector<Input> &inputs, const Numbers &shape) {
    bool exact = false; // Note [Exact comparisons] in atoll/abi/module.h
    std::vector<std::vector<Value>> x;
    for (const Input &in : inputs) {
        exact |= in.array ? long_integer(in.array->dtype)
                          : !in.scalar.is_weak() && long_integer(in.scalar.dtype());
        x.push_back(in.array ? in.array->values_over(shape)
                             : std::vector<Value>(static_cast<std::size_t>(count_of(shape)),
                                                  value_of(in.scalar)));
    }
    exact = exact && oracle::is_comparison(function) && is_floating(compute);
    std::vector<Expected> results;
    const int dtype = id(compute);
    for (std::size_t k = 0; k < x[0].size(); ++k) {
        if (!exact)
            for (std::size_t i = function == ATOLL_FN_where; i < x.size(); ++i)
                x[i][k] = oracle::convert(x[i][k], dtype);
        switch (x.size()) {
        case 1:
            results.push_back(oracle::unary(function, dtype, x[0][k]));
            // A GPU's has absolute digits only near its zeros at negative numbers.
            if (function == ATOLL_FN_lgamma && dtype == ATOLL_DTYPE_FLOAT64 && x[0][k].re < 0)
                results.back().tolerance = std::max(
                    results.back().tolerance, 4 * oracle::ulp(1, oracle::compute_part(dtype)));
            break;
        case 2:
            results.push_back(oracle::binary(function, dtype, x[0][k], x[1][k]));
            // The C library's long double power takes -2^63 for 2^63.
            if (function == ATOLL_FN_pow && std::fabs(x[1][k].re) >= 0x1p62L)
                results.back().open = true;
            break;
        default: results.push_back(oracle::ternary(function, dtype, x[0][k], x[1][k], x[2][k]));
        }
    }
    return results;
}

// Integers do not take negative exponents and shift counts.
inline bool counts_matter(int function, DType compute, const Input &counts) {
    const bool takes = function == ATOLL_FN_pow || function == ATOLL_FN_left_shift ||
                       function == ATOLL_FN_right_shift;
    return takes && is_signed(compute) && (!counts.array || is_signed(counts.array->dtype));
}
// Where something is counted at all: `shape` is the result's.
template <class Shape>
bool negative_counts(DType compute, const Input &counts, const Shape &shape) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return false;
    if (!counts.array) return oracle::convert(value_of(counts.scalar), id(compute)).i < 0;
    for (const Value &v : counts.array->values())
        if (v.i < 0) return true;
    return false;
}

// ---- reductions, scans, sorting -----------------------------------------------------------------

// Whether sums, squares and products of these stay clear of the ends of what is computed in, where
// a result that exists may be lost on the way.
inline bool tame(const std::vector<Value> &values, DType compute, bool multiplied) {
    const bool wide = Atoll::info(compute).part == Atoll::float64;
    const long double limit = wide ? 0x1p300L : 0x1p40L;
    long double exponents = 0;
    for (const Value &v : values) {
        const Value c = oracle::convert(v, id(compute));
        for (const long double part : {c.real(), c.im}) {
            const long double size = std::fabs(part);
            if (size == 0 || !std::isfinite(size)) continue;
            if (size > limit || size < 1 / limit) return false;
            exponents += std::fabs(std::log2(size));
        }
    }
    return !multiplied || exponents < (wide ? 900 : 100);
}
inline bool accumulates(int function) {
    switch (function) {
    case ATOLL_FN_sum:
    case ATOLL_FN_prod:
    case ATOLL_FN_mean:
    case ATOLL_FN_sum_abs:
    case ATOLL_FN_var:
    case ATOLL_FN_stddev:
    case ATOLL_FN_norm:
    case ATOLL_FN_cumsum:
    case ATOLL_FN_cumprod: return true;
    default: return false;
    }
}
inline bool multiplies(int function) {
    return function == ATOLL_FN_prod || function == ATOLL_FN_cumprod;
}
// There is no smallest of nothing.
inline bool needs_elements(int function) {
    switch (function) {
    case ATOLL_FN_min:
    case ATOLL_FN_max:
    case ATOLL_FN_argmin:
    case ATOLL_FN_argmax:
    case ATOLL_FN_mean:
    case ATOLL_FN_min_abs:
    case ATOLL_FN_max_abs:
    case ATOLL_FN_var:
    case ATOLL_FN_stddev: return true;
    default: return false;
    }
}
// Whether a sum starts at 0 or at its first element, which may be -0, is not said.
inline void leave_zeros_open(Expected &e) {
    if (!e.value.integer && (e.value.re == 0 || e.value.im == 0)) e.signs = false;
}

inline std::vector<Expected> reduced(int function, DType compute, const Array &a,
                                     const std::vector<bool> &axes, Value x, bool skip_nan) {
    Numbers outer = a.shape, inner = a.shape;
    for (std::size_t i = 0; i < a.shape.size(); ++i) (axes[i] ? outer : inner)[i] = 1;
    std::vector<Expected> results;
    each(outer, [&](const Numbers &kept) {
        std::vector<Value> elements;
        each(inner, [&](Numbers index) {
            for (std::size_t i = 0; i < index.size(); ++i) index[i] += kept[i];
            elements.push_back(a.read(a.at(index)));
        });
        Expected e = oracle::reduce(function, id(compute), elements, x, skip_nan);
        if (is_floating(compute) && accumulates(function)) {
            e.open |= !tame(elements, compute, multiplies(function));
            leave_zeros_open(e);
        }
        results.push_back(e);
    });
    return results;
}

// body(elements of a line along the axis) -> one Expected for each; rank 0 is one line.
template <class Body>
std::vector<Expected> along(const Array &a, std::size_t axis, const Body &body) {
    std::vector<Expected> results(static_cast<std::size_t>(a.size()));
    if (a.size() == 0) return results;
    const std::int64_t n = a.shape.empty() ? 1 : a.shape[axis];
    std::int64_t step = 1;
    for (std::size_t i = 0; i < axis; ++i) step *= a.shape[i];
    const std::vector<Value> values = a.values();
    for (std::int64_t start = 0; start < a.size(); ++start) {
        if (start / step % n != 0) continue;
        std::vector<Value> line;
        const auto at = [&](std::int64_t k) { return static_cast<std::size_t>(start + k * step); };
        for (std::int64_t k = 0; k < n; ++k) line.push_back(values[at(k)]);
        const std::vector<Expected> made = body(line);
        for (std::int64_t k = 0; k < n; ++k) results[at(k)] = made[static_cast<std::size_t>(k)];
    }
    return results;
}
inline std::vector<Expected> scanned(int function, DType compute, const Array &a,
                                     std::size_t axis) {
    return along(a, axis, [&](const std::vector<Value> &line) {
        std::vector<Expected> made = oracle::scan(function, id(compute), line);
        const bool open = is_floating(compute) && !tame(line, compute, multiplies(function));
        for (Expected &e : made) {
            e.open |= open;
            leave_zeros_open(e);
        }
        return made;
    });
}
inline std::vector<Expected> sorted(int function, DType compute, const Array &a, std::size_t axis,
                                    bool descending) {
    return along(a, axis, [&](const std::vector<Value> &line) {
        std::vector<Expected> made;
        for (const Value &v : oracle::sort(function, id(compute), line, descending))
            made.push_back({v});
        return made;
    });
}

// ---- products -----------------------------------------------------------------------------------

// alpha op_a(a) op_b(b) + beta c; shapes as matmul wants them. `old` are c's elements.
struct Product {
    Array a, b;
    Atoll::Op op_a = Atoll::Op::N, op_b = Atoll::Op::N;
    int alpha = 1, beta = 0;
    DType compute = DType::none;

    static std::int64_t extent(const Array &x, std::size_t axis) {
        return axis < x.shape.size() ? x.shape[axis] : 1;
    }
    std::int64_t rows() const { return extent(a, op_a == Atoll::Op::N ? 0 : 1); }
    std::int64_t inner() const { return extent(a, op_a == Atoll::Op::N ? 1 : 0); }
    std::int64_t inner_of_b() const { return extent(b, op_b == Atoll::Op::N ? 0 : 1); }
    std::int64_t cols() const { return extent(b, op_b == Atoll::Op::N ? 1 : 0); }
    bool vector() const { return b.shape.size() == 1 && op_b == Atoll::Op::N; }
    // False if there is none.
    bool shape(Numbers &made) const {
        const auto stack = [](const Array &x) {
            return x.shape.size() < 3 ? Numbers() : Numbers(x.shape.begin() + 2, x.shape.end());
        };
        Numbers stacks = stack(a);
        if (inner() != inner_of_b() || !broadcast(stacks, stack(b))) return false;
        made = {rows()};
        if (!vector()) made.push_back(cols());
        made.insert(made.end(), stacks.begin(), stacks.end());
        return true;
    }

    std::vector<Expected> elements(const Numbers &shape, const std::vector<Value> &old) const {
        std::vector<Expected> results;
        std::size_t at = 0;
        each(shape, [&](const Numbers &index) {
            const std::int64_t col = vector() ? 0 : index[1];
            const Numbers stack(index.begin() + (vector() ? 1 : 2), index.end());
            std::vector<Value> x, y;
            for (std::int64_t i = 0; i < inner(); ++i) {
                x.push_back(element(a, op_a, index[0], i, stack));
                y.push_back(element(b, op_b, i, col, stack));
            }
            results.push_back(element(x, y, beta ? old[at] : Value{}));
            ++at;
        });
        return results;
    }

private:
    Value element(const Array &m, Atoll::Op op, std::int64_t row, std::int64_t col,
                  const Numbers &stack) const {
        if (op != Atoll::Op::N) std::swap(row, col);
        Numbers index{row, col};
        index.insert(index.end(), stack.begin(), stack.end());
        index.resize(std::max(index.size(), m.shape.size()), 0);
        Value v = oracle::convert(m.read(m.at(index)), id(compute));
        if (op == Atoll::Op::C) v.im = -v.im;
        return v;
    }
    Expected element(const std::vector<Value> &x, const std::vector<Value> &y,
                     const Value &before) const {
        const Value old = oracle::convert(before, id(compute));
        if (!is_floating(compute)) {
            __int128 total = 0;
            bool any = false;
            for (std::size_t i = 0; i < x.size(); ++i) {
                total = oracle::wrap(total + oracle::wrapped_product(x[i].i, y[i].i),
                                     ATOLL_DTYPE_INT64);
                any = any || (x[i].i && y[i].i);
            }
            if (compute == Atoll::bool_) return oracle::truth_of((alpha && any) || (beta && old.i));
            return {Value::of(oracle::wrap(total * alpha + old.i * beta, id(compute)))};
        }
        std::complex<long double> total = 0;
        long double size = 0;
        bool finite = true;
        const auto add = [&](std::complex<long double> p, std::complex<long double> q) {
            finite &= oracle::finite(p) && oracle::finite(q);
            total += is_complex(compute)
                         ? std::complex<long double>(p.real() * q.real() - p.imag() * q.imag(),
                                                     p.real() * q.imag() + p.imag() * q.real())
                         : std::complex<long double>(p.real() * q.real());
            size += std::abs(p) * std::abs(q);
        };
        if (alpha)
            for (std::size_t i = 0; i < x.size(); ++i)
                add({x[i].re, x[i].im},
                    std::complex<long double>(y[i].re, y[i].im) * static_cast<long double>(alpha));
        if (beta) add({old.re, old.im}, static_cast<long double>(beta));
        Expected e{Value::of(total.real(), total.imag())};
        if (finite)
            e.tolerance = 4 * (static_cast<long double>(x.size()) + 4) * size *
                          oracle::epsilon(oracle::compute_part(id(compute)));
        e.zeros = e.signs = false;
        std::vector<Value> all = x;
        all.insert(all.end(), y.begin(), y.end());
        all.push_back(old);
        e.open = !tame(all, compute, false) || (!finite && (is_complex(compute) || alpha != 1));
        return e;
    }
};

// A single element, or rank 3 and more with leading 1x1: matmul multiplies element by element.
inline bool scales(const Array &a) {
    return a.size() == 1 || (a.shape.size() >= 3 && a.shape[0] == 1 && a.shape[1] == 1);
}

// ---- indexing -----------------------------------------------------------------------------------

struct IndexPart {
    enum class Kind { integer, range, all, ellipsis, newaxis, positions, tuples, mask } kind;
    std::int64_t integer = 0;
    Atoll::IndexRange range{};
    Numbers list{};  // positions; tuples column by column; the mask's elements
    Numbers shape{}; // tuples, mask
    DType dtype = Atoll::int64;
};

// Which elements an index expression picks.
struct Selected {
    Numbers shape;
    bool view = true;
    std::set<Status> errors;

    Selected(const Numbers &input, const std::vector<IndexPart> &parts) : base_(input.size(), 0) {
        std::size_t named = 0, axis = 0;
        for (const IndexPart &part : parts) named += consumed(part);
        if (named > input.size()) {
            errors.insert(Status::invalid_argument);
            return;
        }
        const auto whole = [&] {
            Numbers all(static_cast<std::size_t>(input[axis]));
            std::iota(all.begin(), all.end(), 0);
            add({{axis, all}}, input[axis]);
            ++axis;
        };
        const auto resolve = [&](std::int64_t position, std::size_t of) {
            if (position < -input[of] || position >= input[of]) errors.insert(Status::out_of_range);
            return position < 0 ? position + input[of] : position;
        };
        for (const IndexPart &part : parts) {
            switch (part.kind) {
            case IndexPart::Kind::integer:
                base_[axis] = resolve(part.integer, axis);
                ++axis;
                break;
            case IndexPart::Kind::range: {
                const Numbers walked = walk(part.range, input[axis]);
                add({{axis, walked}}, static_cast<std::int64_t>(walked.size()));
                ++axis;
                break;
            }
            case IndexPart::Kind::all: whole(); break;
            case IndexPart::Kind::ellipsis:
                for (std::size_t skip = input.size() - named; skip > 0; --skip) whole();
                break;
            case IndexPart::Kind::newaxis: add({}, 1); break;
            case IndexPart::Kind::positions: {
                view = false;
                Numbers list;
                for (std::int64_t p : part.list) list.push_back(resolve(p, axis));
                add({{axis, list}}, static_cast<std::int64_t>(list.size()));
                ++axis;
                break;
            }
            case IndexPart::Kind::tuples: {
                view = false;
                const auto rows = static_cast<std::size_t>(part.shape[0]);
                std::vector<Walk> walks(rows);
                for (std::size_t row = 0; row < rows; ++row) {
                    walks[row].axis = axis + row;
                    for (std::size_t k = row; k < part.list.size(); k += rows)
                        walks[row].positions.push_back(resolve(part.list[k], axis + row));
                }
                add(walks, part.shape[1]);
                axis += rows;
                break;
            }
            case IndexPart::Kind::mask: {
                view = false;
                std::vector<Walk> walks(part.shape.size());
                for (std::size_t i = 0; i < walks.size(); ++i) {
                    walks[i].axis = axis + i;
                    if (part.shape[i] != input[axis + i]) errors.insert(Status::invalid_argument);
                }
                std::size_t k = 0;
                std::int64_t found = 0;
                each(part.shape, [&](const Numbers &index) {
                    if (!part.list[k++]) return;
                    ++found;
                    for (std::size_t i = 0; i < walks.size(); ++i)
                        walks[i].positions.push_back(index[i]);
                });
                add(walks, found);
                axis += walks.size();
                break;
            }
            }
        }
        while (axis < input.size()) whole();
    }

    // The elements' positions in the input in column-major order.
    Numbers positions(const Numbers &input) const {
        Array counting;
        counting.shape = input;
        for (std::int64_t step = 1; const std::int64_t n : input) {
            counting.strides.push_back(step);
            step *= n;
        }
        Numbers list;
        each(shape, [&](const Numbers &index) {
            Numbers at = base_;
            for (std::size_t i = 0; i < axes_.size(); ++i)
                for (const Walk &walk : axes_[i])
                    at[walk.axis] = walk.positions[static_cast<std::size_t>(index[i])];
            list.push_back(counting.at(at));
        });
        return list;
    }

private:
    struct Walk {
        std::size_t axis;
        Numbers positions;
    };
    static std::size_t consumed(const IndexPart &part) {
        switch (part.kind) {
        case IndexPart::Kind::ellipsis:
        case IndexPart::Kind::newaxis: return 0;
        case IndexPart::Kind::tuples: return static_cast<std::size_t>(part.shape[0]);
        case IndexPart::Kind::mask: return part.shape.size();
        default: return 1;
        }
    }
    // As in Python.
    static Numbers walk(const Atoll::IndexRange &r, std::int64_t n) {
        const std::int64_t low = r.step > 0 ? 0 : -1, high = r.step > 0 ? n : n - 1;
        const auto clip = [&](std::optional<std::int64_t> end, std::int64_t missing) {
            if (!end) return missing;
            return std::clamp(*end < 0 ? *end + n : *end, low, std::max(low, high));
        };
        const std::int64_t stop = clip(r.stop, r.step > 0 ? n : -1);
        Numbers list;
        for (std::int64_t i = clip(r.start, r.step > 0 ? 0 : n - 1);
             r.step > 0 ? i < stop : i > stop; i += r.step)
            list.push_back(i);
        return list;
    }
    void add(std::vector<Walk> walks, std::int64_t extent) {
        axes_.push_back(std::move(walks));
        shape.push_back(extent);
    }
    Numbers base_;
    std::vector<std::vector<Walk>> axes_;
};

// The same for an index into the result of an index.
struct Selection {
    Numbers shape, positions; // the latter unless there are errors
    bool view = true;
    std::set<Status> errors;

    Selection(const Numbers &input, const std::vector<IndexPart> &parts,
              const std::vector<IndexPart> &next) {
        const Selected first(input, parts);
        shape = first.shape;
        view = first.view;
        errors = first.errors;
        if (!errors.empty()) return;
        positions = first.positions(input);
        if (next.empty()) return;
        const Selected second(first.shape, next);
        shape = second.shape;
        view = view && second.view;
        errors = second.errors;
        if (!errors.empty()) return;
        Numbers picked;
        for (std::int64_t p : second.positions(first.shape))
            picked.push_back(positions[static_cast<std::size_t>(p)]);
        positions = picked;
    }
    Numbers addresses(const Array &a) const {
        const Numbers all = a.addresses();
        Numbers list;
        for (std::int64_t p : positions) list.push_back(all[static_cast<std::size_t>(p)]);
        return list;
    }
};

} // namespace interpreter
