// Operations whose operands overlap in every way agree with a model of memory: an array of bytes,
// evaluated element by element, in which everything is read before anything is written.
#include "../any_output.hpp"
#include "../by_id.hpp"
#include "../views.hpp"

#include <functional>
#include <optional>

#include <doctest/doctest.h>

using namespace views;
using Atoll::DType;
using oracle::Value;

namespace {

// ---- a case -------------------------------------------------------------------------------------

enum class What { unary, binary, in_place, assign, fill, byteswap, reduce, matmul, gemm };
constexpr const char *names[] = {"unary",    "binary", "in place", "assign", "fill",
                                 "byteswap", "reduce", "matmul",   "gemm"};

struct Input {
    View view;
    std::optional<Atoll::Scalar> scalar; // instead of a tensor
    bool elsewhere = false;              // in a storage of its own
};

struct Case {
    What what;
    int function = 0;
    View out;
    bool read_only = false;
    std::vector<Input> inputs;
    Atoll::Scalar value; // fill
    Atoll::Axes axes;    // reduce
    bool keepdims = false;
    Atoll::Op op_a = Atoll::Op::N, op_b = Atoll::Op::N; // gemm
    int alpha = 1, beta = 0;
    std::vector<char> memory, other; // before; of the common storage, and of those elsewhere

    DType common() const {
        DType dtype = DType::none;
        for (const Input &in : inputs) {
            const DType own = in.scalar ? in.scalar->dtype() : in.view.dtype;
            dtype = dtype == DType::none ? own : promote(dtype, own);
        }
        if (what == What::gemm && beta) dtype = promote(dtype, out.dtype);
        // The factors of gemm are integers, but 0 and 1 are bools among bools.
        return dtype == Atoll::bool_ && (alpha > 1 || beta > 1) ? Atoll::int64 : dtype;
    }
    DType compute() const { return compute_dtype(function, common()); }
    DType natural() const {
        return static_cast<DType>(oracle::result_dtype(function, id(compute())));
    }
    std::string text() const {
        std::ostringstream out;
        out << names[static_cast<int>(what)] << ' ' << functions[function].name << "\n  out "
            << this->out.text() << (read_only ? " read-only" : "");
        for (const Input &in : inputs) {
            out << "\n  in  ";
            if (in.scalar)
                out << "scalar " << in.scalar->to_double() << ' ' << name(in.scalar->dtype());
            else
                out << in.view.text() << (in.elsewhere ? " elsewhere" : "");
        }
        if (what == What::fill) out << "\n  value " << value.to_double();
        if (what == What::reduce) {
            out << "\n  axes";
            for (int axis : axes.list) out << ' ' << axis;
            out << (axes.given ? "" : " all") << (keepdims ? " keepdims" : "");
        }
        if (what == What::gemm)
            out << "\n  alpha " << alpha << " op " << static_cast<char>(op_a)
                << static_cast<char>(op_b) << " beta " << beta;
        out << "\n  memory";
        for (unsigned char byte : memory) out << ' ' << std::hex << int{byte};
        return out.str();
    }
};

// ---- the model ----------------------------------------------------------------------------------

// How far the result may be from the model's value; < 0: anything goes, because the model does not
// know how much of such values survives (overflow on the way, cancellation of huge terms).
using Tolerance = long double;
constexpr Tolerance anything = -1;

// For results that are exact but for the sign of a zero.
constexpr Tolerance zeros_alike = 1e-30L;

struct Expected {
    Value value;
    Tolerance tolerance = 0;
};

// Values with which nothing overflows or underflows on the way.
bool tame(const Value &v) {
    for (const long double part : {v.real(), v.im}) {
        const long double size = std::fabs(part);
        if (!(size == 0 || (size > 1e-3L && size < 1e3L))) return false;
    }
    return true;
}

bool overlaps_itself(const View &view) {
    std::vector<std::int64_t> starts;
    each(view.shape, [&](const Numbers &index) { starts.push_back(view.at(index)); });
    std::sort(starts.begin(), starts.end());
    for (std::size_t i = 1; i < starts.size(); ++i)
        if (starts[i] - starts[i - 1] < view.itemsize()) return true;
    return false;
}

class Model {
public:
    explicit Model(const Case &c) : case_(c) {}

    // In the order of each(out.shape).
    std::vector<Expected> results() {
        std::vector<Expected> all;
        each(case_.out.shape, [&](const Numbers &index) { all.push_back(result(index)); });
        return all;
    }

private:
    Value read(const Input &in, const Numbers &index, DType as) const {
        const Value v =
            in.scalar ? oracle::read(reinterpret_cast<const char *>(in.scalar->raw().value.bytes),
                                     id(in.scalar->dtype()))
                      : in.view.read(in.elsewhere ? case_.other : case_.memory, index);
        return oracle::convert(v, id(as));
    }
    Expected stored(const Value &natural, Tolerance tolerance) const {
        return {oracle::convert(natural, id(case_.out.dtype)), tolerance};
    }
    // The coarser of the spacings that the result is rounded to.
    long double epsilon() const {
        return std::max(oracle::epsilon(id(case_.natural())), oracle::epsilon(id(case_.out.dtype)));
    }

    Expected result(const Numbers &index) {
        switch (case_.what) {
        case What::assign:
            return stored(read(case_.inputs[0], index, case_.inputs[0].view.dtype), 0);
        case What::byteswap: return stored(case_.out.read(case_.memory, index), 0);
        case What::fill:
            return stored(
                oracle::read(reinterpret_cast<const char *>(case_.value.raw().value.bytes),
                             id(case_.value.dtype())),
                0);
        case What::reduce: return reduced(index);
        case What::matmul:
        case What::gemm: return product(index);
        default: return elementwise(index);
        }
    }

    Expected elementwise(const Numbers &index) {
        const DType compute = case_.compute();
        const Value a = read(case_.inputs[0], index, compute);
        const Value b = case_.inputs.size() > 1 ? read(case_.inputs[1], index, compute) : Value{};
        bool approximate = false;
        const Value natural = oracle::apply(case_.function, id(compute), a, b, &approximate);
        Tolerance tolerance = 0;
        if (approximate && is_complex(compute)) {
            const long double size = std::max(std::fabs(natural.real()), std::fabs(natural.im));
            tolerance = tame(a) && tame(b) && std::isfinite(size)
                            ? 8 * epsilon() * size + zeros_alike
                            : anything;
        }
        return stored(natural, tolerance);
    }

    Expected reduced(const Numbers &index) {
        const Input &in = case_.inputs[0];
        const DType compute = case_.compute();
        const std::size_t rank = in.view.shape.size();
        std::vector<bool> reduce(rank, !case_.axes.given);
        for (int axis : case_.axes.list)
            reduce[static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(rank) : axis)] =
                true;
        Numbers inner = in.view.shape;
        for (std::size_t i = 0; i < rank; ++i)
            if (!reduce[i]) inner[i] = 1;
        std::vector<Value> values;
        each(inner, [&](Numbers at) {
            for (std::size_t i = 0, own = 0; i < rank; ++i) {
                if (!reduce[i]) at[i] = index[own];
                if (!reduce[i] || case_.keepdims) ++own;
            }
            values.push_back(read(in, at, compute));
        });
        return reduced(values, compute);
    }

    Expected reduced(const std::vector<Value> &values, DType compute) {
        const int function = case_.function;
        const auto n = static_cast<long double>(values.size());
        bool all_tame = true;
        for (const Value &v : values) all_tame = all_tame && tame(v);
        if (function == ATOLL_FN_any || function == ATOLL_FN_all) {
            bool any = false, all = true;
            for (const Value &v : values) {
                const bool truth = v.truth() || std::isnan(v.re) || std::isnan(v.im);
                any = any || truth, all = all && truth;
            }
            return stored(Value::of(__int128{function == ATOLL_FN_any ? any : all}), 0);
        }
        if (function == ATOLL_FN_min || function == ATOLL_FN_max) {
            Value best = values[0];
            for (const Value &v : values) {
                if (!v.integer && std::isnan(best.re)) break;
                const bool better =
                    v.integer ? (function == ATOLL_FN_min ? v.i < best.i : v.i > best.i)
                              : std::isnan(v.re) ||
                                    (function == ATOLL_FN_min ? v.re < best.re : v.re > best.re);
                if (better) best = v;
            }
            // Which of two zeros wins is open.
            return stored(best, best.truth() ? 0 : zeros_alike);
        }
        if (!is_floating(compute)) {
            __int128 total = function == ATOLL_FN_prod;
            for (const Value &v : values)
                total =
                    oracle::wrap(function == ATOLL_FN_prod
                                     ? static_cast<__int128>(static_cast<unsigned __int128>(total) *
                                                             static_cast<unsigned __int128>(v.i))
                                     : total + v.i,
                                 id(compute));
            return stored(Value::of(total), 0);
        }
        if (!all_tame) return stored({}, anything);
        std::complex<long double> total = function == ATOLL_FN_prod ? 1 : 0;
        long double size = 0, large = 1, small = 1; // bounds of the products on the way
        for (const Value &v : values) {
            const std::complex<long double> x(v.re, v.im);
            if (function == ATOLL_FN_prod) {
                total *= x, size = std::abs(total);
                large *= std::max(1.0L, std::abs(x));
                if (v.truth()) small *= std::min(1.0L, std::abs(x));
            }
            if (function == ATOLL_FN_sum) total += x, size += std::abs(x);
            if (function == ATOLL_FN_norm) total += std::norm(x);
        }
        if (function == ATOLL_FN_norm) total = size = std::sqrt(total.real());
        // Many tame numbers together may leave the range of float16.
        if (size > 3e4L || large > 3e4L || small < 1e-4L) return stored({}, anything);
        return stored(oracle::convert(Value::of(total.real(), total.imag()), id(case_.natural())),
                      2 * (n + 2) * epsilon() * size + zeros_alike);
    }

    // The element of a matrix operand, as the product reads it.
    Value element(int operand, std::int64_t row, std::int64_t col, const Numbers &stack) {
        const Input &in = case_.inputs[static_cast<std::size_t>(operand)];
        const Atoll::Op op = operand == 0 ? case_.op_a : case_.op_b;
        if (op != Atoll::Op::N) std::swap(row, col);
        Numbers at{row, col};
        at.insert(at.end(), stack.begin(), stack.end());
        at.resize(std::max(at.size(), in.view.shape.size()), 0);
        Value v = read(in, at, case_.compute());
        if (op == Atoll::Op::C) v.im = -v.im;
        return v;
    }

    Expected product(const Numbers &index) {
        const DType compute = case_.compute();
        const View &a = case_.inputs[0].view, &b = case_.inputs[1].view;
        const bool vector = b.shape.size() == 1 && case_.op_b == Atoll::Op::N;
        const std::int64_t row = index[0], col = vector ? 0 : index[1];
        const Numbers stack(index.begin() + (vector ? 1 : 2), index.end());
        const std::size_t inner_axis = case_.op_a == Atoll::Op::N ? 1 : 0;
        const std::int64_t k = inner_axis < a.shape.size() ? a.shape[inner_axis] : 1;
        const Value old = oracle::convert(case_.out.read(case_.memory, index), id(compute));
        __int128 whole = 0;
        bool truth = false, all_tame = tame(old) || case_.beta == 0;
        std::complex<long double> total = 0;
        long double size = 0;
        for (std::int64_t i = 0; i < k; ++i) {
            const Value x = element(0, row, i, stack), y = element(1, i, col, stack);
            if (!is_floating(compute)) {
                // Modulo 2^64 is modulo the size of every integer type.
                whole = oracle::wrap(whole + oracle::wrap(x.i, ATOLL_DTYPE_INT64) *
                                                 oracle::wrap(y.i, ATOLL_DTYPE_INT64),
                                     ATOLL_DTYPE_INT64);
                truth = truth || (x.i && y.i);
                continue;
            }
            all_tame = all_tame && tame(x) && tame(y);
            const std::complex<long double> p(x.re, x.im), q(y.re, y.im);
            total += p * q;
            size += std::abs(p) * std::abs(q);
        }
        if (compute == Atoll::bool_)
            return stored(Value::of(__int128{truth || (case_.beta && old.i)}), 0);
        if (!is_floating(compute))
            return stored(
                Value::of(oracle::wrap(whole * case_.alpha + old.i * case_.beta, id(compute))), 0);
        total = total * static_cast<long double>(case_.alpha);
        size *= case_.alpha;
        if (case_.beta) {
            const std::complex<long double> c(old.re, old.im);
            total += c * static_cast<long double>(case_.beta);
            size += std::abs(c) * case_.beta;
        }
        if (!all_tame || size > 3e4L) return stored({}, anything);
        return stored(oracle::convert(Value::of(total.real(), total.imag()), id(compute)),
                      2 * static_cast<long double>(k + 3) * epsilon() * size + zeros_alike);
    }

    const Case &case_;
};

bool agrees(const Value &got, const Expected &want, DType dtype) {
    if (want.tolerance < 0) return true;
    if (want.tolerance == 0) return oracle::same(got, want.value, id(dtype), 0);
    if (dtype == Atoll::bool_) return got.i == want.value.i;
    const long double slack = want.tolerance + (got.integer ? 1 : 0);
    return oracle::same_part(got.real(), want.value.real(), slack) &&
           oracle::same_part(got.im, want.value.im, slack);
}

// ---- random cases -------------------------------------------------------------------------------

class Maker {
public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    Case make() {
        Case c;
        do {
            c = Case();
            const int kind = static_cast<int>(below(random_, 100));
            c.what = kind < 30   ? What::binary
                     : kind < 45 ? What::unary
                     : kind < 60 ? What::in_place
                     : kind < 75 ? What::assign
                     : kind < 79 ? What::fill
                     : kind < 83 ? What::byteswap
                     : kind < 90 ? What::reduce
                     : kind < 95 ? What::matmul
                                 : What::gemm;
        } while (!fill_in(c));
        place(c);
        return c;
    }

private:
    bool fill_in(Case &c) {
        switch (c.what) {
        case What::reduce: return reduction(c);
        case What::matmul:
        case What::gemm: return product(c);
        default: break;
        }
        Numbers shape(static_cast<std::size_t>(below(random_, 5)));
        for (std::int64_t &n : shape) n = chance(random_, 3) ? 0 : 1 + below(random_, 4);
        c.out = random_view(shape, random_dtype(random_));
        c.read_only = chance(random_, 3);
        switch (c.what) {
        case What::fill:
            c.function = ATOLL_FN_fill;
            c.value = Atoll::Scalar(Atoll::Scalar(below(random_, 2)), c.out.dtype);
            // What is left where elements share some of their bytes depends on the order.
            return !overlaps_itself(c.out) || overlap_whole(c.out);
        case What::byteswap:
        case What::assign:
            c.function = ATOLL_FN_copy;
            if (c.what == What::assign) c.inputs = {related(c.out, broadcastable(shape))};
            return true;
        default: break;
        }
        const bool unary = c.what == What::unary;
        const int first = unary ? ATOLL_FN_negative : ATOLL_FN_add,
                  last = unary                      ? ATOLL_FN_conj
                         : c.what == What::in_place ? ATOLL_FN_divide
                                                    : ATOLL_FN_greater_equal;
        c.function = first + static_cast<int>(below(random_, last - first + 1));
        for (int i = 0; i < (unary ? 1 : 2); ++i) {
            Input in;
            if (c.what == What::in_place && i == 0)
                in.view = c.out;
            else if (!unary && chance(random_, 8) && !(i == 1 && c.inputs[0].scalar))
                in.scalar = Atoll::Scalar(Atoll::Scalar(below(random_, 2)), random_dtype(random_));
            else
                in = related(c.out, broadcastable(shape));
            c.inputs.push_back(in);
        }
        return in_domain(c.function, c.compute());
    }

    bool reduction(Case &c) {
        Numbers shape(static_cast<std::size_t>(1 + below(random_, 4)));
        for (std::int64_t &n : shape) n = 1 + below(random_, 4);
        Input in;
        in.view = random_view(shape, random_dtype(random_));
        constexpr int list[] = {ATOLL_FN_sum,  ATOLL_FN_prod, ATOLL_FN_min, ATOLL_FN_max,
                                ATOLL_FN_norm, ATOLL_FN_any,  ATOLL_FN_all};
        c.function = list[below(random_, std::ssize(list))];
        c.keepdims = chance(random_, 30);
        c.axes.given = chance(random_, 80);
        Numbers kept;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            const bool reduce = !c.axes.given || chance(random_, 50);
            if (reduce && c.axes.given)
                c.axes.list.push_back(static_cast<int>(i) -
                                      (chance(random_, 30) ? static_cast<int>(shape.size()) : 0));
            if (!reduce || c.keepdims) kept.push_back(reduce ? 1 : shape[i]);
        }
        c.inputs = {in};
        c.out = related(in.view, kept).view;
        c.read_only = chance(random_, 3);
        return in_domain(c.function, c.compute());
    }

    bool product(Case &c) {
        c.function = ATOLL_FN_matmul;
        const std::int64_t m = 1 + below(random_, 3), k = 1 + below(random_, 3),
                           n = 1 + below(random_, 3), s = 1 + below(random_, 3);
        const bool gemm = c.what == What::gemm;
        if (gemm) {
            constexpr Atoll::Op ops[] = {Atoll::Op::N, Atoll::Op::T, Atoll::Op::C};
            c.op_a = ops[below(random_, 3)];
            c.op_b = ops[below(random_, 3)];
            c.alpha = 1 + static_cast<int>(below(random_, 2));
            c.beta = static_cast<int>(below(random_, 3));
        }
        Numbers a{m, k}, b{k, n}, out{m, n};
        if (c.op_a != Atoll::Op::N) std::swap(a[0], a[1]);
        if (c.op_b != Atoll::Op::N) std::swap(b[0], b[1]);
        if (c.op_b == Atoll::Op::N && chance(random_, 20)) b.pop_back(), out.pop_back();
        const bool a_stack = chance(random_, 25), b_stack = b.size() == 2 && chance(random_, 25);
        if (a_stack) a.push_back(s);
        if (b_stack) b.push_back(chance(random_, 70) ? s : 1);
        if (a_stack || b_stack) out.push_back(std::max(a_stack ? s : 1, b_stack ? b.back() : 1));
        // These would scale element by element.
        for (const Numbers *shape : {&a, &b}) {
            std::int64_t size = 1;
            for (std::int64_t extent : *shape) size *= extent;
            if (!gemm && (size == 1 || (shape->size() > 2 && (*shape)[0] == 1 && (*shape)[1] == 1)))
                return false;
        }
        c.out = random_view(out, random_dtype(random_));
        for (const Numbers &shape : {a, b}) c.inputs.push_back(related(c.out, shape));
        c.read_only = chance(random_, 3);
        // With another dtype C would be rounded twice.
        if (c.beta) c.out.dtype = c.common();
        return true;
    }

    static bool overlap_whole(const View &view) {
        bool whole = true;
        for (std::int64_t stride : view.strides) whole = whole && stride % view.itemsize() == 0;
        return whole;
    }

    Numbers broadcastable(const Numbers &to) {
        Numbers shape = to;
        if (chance(random_, 25))
            for (std::int64_t &n : shape)
                if (chance(random_, 40)) n = 1;
        while (!shape.empty() && (shape.back() == 1 || chance(random_, 10)) && chance(random_, 30))
            shape.pop_back();
        return shape;
    }

    View random_view(const Numbers &shape, DType dtype) {
        View view;
        view.dtype = dtype;
        view.swapped = chance(random_, 20);
        view.shape = shape;
        view.strides.assign(shape.size(), 0);
        const std::int64_t itemsize = view.itemsize();
        if (chance(random_, 65)) { // axes nested in any order, perhaps with gaps
            std::vector<std::size_t> order(shape.size());
            for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
            if (chance(random_, 60)) std::shuffle(order.begin(), order.end(), random_);
            const std::int64_t unit = chance(random_, 85) ? itemsize : 1;
            std::int64_t next = itemsize + (chance(random_, 30) ? unit * below(random_, 3) : 0);
            for (std::size_t i : order) {
                view.strides[i] = next;
                next = next * std::max<std::int64_t>(shape[i], 1) +
                       (chance(random_, 15) ? unit * below(random_, 3) : 0);
            }
        } else { // anything
            const std::int64_t unit = chance(random_, 80) ? itemsize
                                      : chance(random_, 50)
                                          ? Atoll::size_of(Atoll::info(dtype).part)
                                          : 1;
            for (std::int64_t &stride : view.strides) stride = unit * below(random_, 5);
        }
        for (std::int64_t &stride : view.strides)
            if (chance(random_, 25)) stride = -stride;
        if (!shape.empty() && chance(random_, 8))
            view.strides[static_cast<std::size_t>(
                below(random_, static_cast<std::int64_t>(shape.size())))] = 0;
        return view;
    }

    // A view of the given shape that is likely to meet `to`: the same, shifted, transposed, turned
    // around, stretched, of another dtype, the other part of complex numbers.
    Input related(const View &to, const Numbers &shape) {
        Input in;
        if (chance(random_, 10)) {
            in.view = random_view(shape, random_dtype(random_));
            in.elsewhere = chance(random_, 60);
            return in;
        }
        View &view = in.view;
        view = random_view(shape, to.dtype);
        view.swapped = chance(random_, 85) ? to.swapped : !to.swapped;
        const std::int64_t part = Atoll::size_of(Atoll::info(to.dtype).part);
        if (chance(random_, 30)) view.dtype = random_dtype(random_);
        if (chance(random_, 15)) do
                view.dtype = random_dtype(random_);
            while (view.itemsize() != to.itemsize());
        if (is_complex(to.dtype) && chance(random_, 15)) view.dtype = Atoll::info(to.dtype).part;
        for (std::size_t i = 0; i < shape.size() && i < to.shape.size(); ++i)
            view.strides[i] = to.strides[i];
        view.offset = to.offset;
        const auto axes = static_cast<std::int64_t>(shape.size());
        if (axes >= 2 && chance(random_, 25))
            std::swap(view.strides[static_cast<std::size_t>(below(random_, axes))],
                      view.strides[static_cast<std::size_t>(below(random_, axes))]);
        if (axes && chance(random_, 20)) {
            const auto axis = static_cast<std::size_t>(below(random_, axes));
            view.offset += view.strides[axis] * (shape[axis] - 1);
            view.strides[axis] = -view.strides[axis];
        }
        if (axes && chance(random_, 8))
            view.strides[static_cast<std::size_t>(below(random_, axes))] = 0;
        switch (below(random_, 8)) {
        case 0: view.offset += part; break;
        case 1: view.offset -= view.itemsize(); break;
        case 2: view.offset += (below(random_, 7) - 3) * view.itemsize(); break;
        case 3:
            if (!to.strides.empty())
                view.offset += to.strides[static_cast<std::size_t>(
                    below(random_, static_cast<std::int64_t>(to.strides.size())))];
            break;
        case 4: view.offset += below(random_, 5) - 2; break;
        default: break; // the same place
        }
        return in;
    }

    // Moves all views into a storage that holds them, and makes what is in it.
    void place(Case &c) {
        std::int64_t low = 0, high = 1, own_high = 1;
        const auto widen = [&](const View &view) {
            std::int64_t from, to;
            view.range(from, to);
            low = std::min(low, from), high = std::max(high, to);
        };
        widen(c.out);
        for (const Input &in : c.inputs)
            if (!in.scalar && !in.elsewhere) widen(in.view);
        const std::int64_t shift = (-low + 15) / 16 * 16 + 16 * below(random_, 2);
        c.out.offset += shift;
        for (Input &in : c.inputs) {
            if (in.scalar) continue;
            if (!in.elsewhere) {
                in.view.offset += shift;
                continue;
            }
            std::int64_t from, to;
            in.view.range(from, to);
            in.view.offset -= std::min<std::int64_t>(from, 0);
            own_high = std::max(own_high, to - std::min<std::int64_t>(from, 0));
        }
        c.memory = contents(high + shift + below(random_, 9), c);
        c.other = contents(own_high, c);
    }

    // Small numbers of one of the operands' dtypes, or any bytes at all.
    std::vector<char> contents(std::int64_t bytes, const Case &c) {
        std::vector<char> memory(static_cast<std::size_t>(bytes));
        for (char &byte : memory) byte = static_cast<char>(random_());
        if (chance(random_, 30)) return memory;
        const View &like = c.inputs.empty() || c.inputs[0].scalar || chance(random_, 50)
                               ? c.out
                               : c.inputs[0].view;
        const std::int64_t phase = like.offset % like.itemsize();
        for (std::int64_t at = phase; at + like.itemsize() <= bytes; at += like.itemsize()) {
            const long double re = static_cast<long double>(below(random_, 17) - 8) / 2,
                              im = static_cast<long double>(below(random_, 17) - 8) / 2;
            oracle::write(memory.data() + at, id(like.dtype), like.swapped,
                          oracle::convert(Value::of(re, im), id(like.dtype)));
        }
        return memory;
    }

    Random random_;
};

// ---- running it ---------------------------------------------------------------------------------

struct Place {
    Atoll::Device device, other; // of the destination; of inputs elsewhere
    bool borrowed = false;       // each tensor over a storage object of its own on the same memory
};

struct Outcome {
    Atoll::Status status = Atoll::Status::ok;
    std::string text;
    std::vector<char> memory;
    bool swapped = false;
};

void perform(const Case &c, Atoll::Tensor out, std::span<const Atoll::Tensor> tensors) {
    std::vector<Atoll::Operand> inputs;
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
        if (c.inputs[i].scalar)
            inputs.emplace_back(*c.inputs[i].scalar);
        else
            inputs.emplace_back(tensors[i]);
    switch (c.what) {
    case What::unary: by_id::unary(c.function, inputs[0], out); break;
    case What::binary: by_id::binary(c.function, inputs[0], inputs[1], out); break;
    case What::in_place:
        if (c.function == ATOLL_FN_add) out += inputs[1];
        if (c.function == ATOLL_FN_subtract) out -= inputs[1];
        if (c.function == ATOLL_FN_multiply) multiply(out, inputs[1], out);
        if (c.function == ATOLL_FN_divide) out /= inputs[1];
        break;
    case What::assign: out.assign(inputs[0]); break;
    case What::fill: out.fill(c.value); break;
    case What::byteswap: out.byteswap(); break;
    case What::reduce: {
        const Atoll::Scalar order(2);
        const std::size_t count = c.function == ATOLL_FN_norm;
        by_id::reduce(c.function, tensors[0], c.axes, c.keepdims, out, {&order, count});
        break;
    }
    case What::matmul: Atoll::matmul(inputs[0], inputs[1], out); break;
    case What::gemm:
        Atoll::gemm(c.alpha, tensors[0], c.op_a, tensors[1], c.op_b, c.beta, out);
        break;
    }
}

Outcome run(const Case &c, const Place &place) {
    using Atoll::uint8;
    const auto count = static_cast<std::int64_t>(c.memory.size());
    Outcome outcome;
    std::vector<char> memory = c.memory;
    const Atoll::Tensor bytes =
        place.borrowed ? Atoll::from_memory(memory.data(), {count}, {1}, uint8, place.device)
                       : Atoll::from_values(memory.data(), uint8, count, {uint8, place.device});
    const auto storage = [&] {
        return place.borrowed
                   ? Atoll::Storage::borrow(memory.data(), count, place.device, uint8, {})
                   : bytes.storage();
    };
    Atoll::Tensor out = c.out.on(storage());
    out.set_read_only(c.read_only);
    std::vector<Atoll::Tensor> tensors;
    for (const Input &in : c.inputs) {
        if (in.scalar)
            tensors.emplace_back();
        else if (in.elsewhere)
            tensors.push_back(in.view.on(
                Atoll::from_values(c.other.data(), uint8, static_cast<std::int64_t>(c.other.size()),
                                   {uint8, place.other})
                    .storage()));
        else
            tensors.push_back(in.view.on(storage()));
    }
    try {
        perform(c, out, tensors);
    } catch (const Atoll::Error &error) {
        outcome.status = error.status();
        outcome.text = error.what();
    }
    outcome.memory.resize(c.memory.size());
    bytes.read(outcome.memory.data(), uint8);
    outcome.swapped = out.is_byteswapped();
    return outcome;
}

// Empty if the outcome is what the model says.
std::string complaint(const Case &c, const Outcome &outcome, const std::vector<Expected> &expected,
                      bool self_overlap) {
    std::ostringstream out;
    const bool refused = c.read_only || (self_overlap && c.what != What::fill);
    const Atoll::Status status = c.read_only ? Atoll::Status::read_only
                                 : refused   ? Atoll::Status::invalid_argument
                                             : Atoll::Status::ok;
    if (outcome.status != status) {
        out << "status " << name(outcome.status) << " instead of " << name(status) << ": "
            << outcome.text;
        return out.str();
    }
    std::vector<char> before = c.memory, after = outcome.memory;
    if (!refused) {
        View written = c.out;
        if (outcome.swapped != written.swapped) {
            if (c.what != What::byteswap) return "the byte order changed";
            written.swapped = outcome.swapped;
        } else if (c.what == What::byteswap && Atoll::info(c.out.dtype).alignment > 1) {
            return "the byte order did not change";
        }
        std::size_t i = 0;
        each(written.shape, [&](const Numbers &index) {
            const Value got = written.read(outcome.memory, index);
            if (out.str().empty() && !agrees(got, expected[i], written.dtype)) {
                out << "element (";
                for (std::int64_t n : index) out << n << ',';
                out << ") is " << oracle::text(got) << " instead of "
                    << oracle::text(expected[i].value);
            }
            for (std::vector<char> *memory : {&before, &after})
                std::fill_n(memory->begin() + written.at(index), written.itemsize(), '\0');
            ++i;
        });
        if (!out.str().empty()) return out.str();
    }
    if (before != after) return "bytes beside the destination changed";
    return {};
}

struct Counts {
    std::int64_t run = 0, refused = 0, failed = 0;
};

Counts run_cases(std::int64_t count, const std::vector<Place> &places, std::uint64_t sequence) {
    const AnyOutput any_output;
    const auto seed = random_tests::seed();
    const std::int64_t only = random_tests::only_case();
    count = random_tests::cases(count);
    Counts counts;
    for (std::int64_t i = only < 0 ? 0 : only; i < (only < 0 ? count : only + 1); ++i) {
        Maker maker((seed << 48) + (sequence << 40) + static_cast<std::uint64_t>(i));
        const Case c = maker.make();
        const bool self_overlap = overlaps_itself(c.out);
        const bool refused = c.read_only || (self_overlap && c.what != What::fill);
        const std::vector<Expected> expected =
            refused ? std::vector<Expected>() : Model(c).results();
        counts.refused += refused;
        for (const Place &place : places) {
            ++counts.run;
            const std::string wrong = complaint(c, run(c, place), expected, self_overlap);
            if (wrong.empty()) continue;
            ++counts.failed;
            FAIL_CHECK("on ", place.device.name(), std::string(place.borrowed ? " (borrowed)" : ""),
                       ", seed ", seed, ", case ", i, ": ", wrong, "\n", c.text());
            if (counts.failed >= 5) FAIL("enough");
        }
    }
    return counts;
}

} // namespace

TEST_CASE("operations with overlapping operands agree with a model of memory on cpu and dummy") {
    Atoll::load_plugin("cpu");
    Atoll::load_plugin("dummy");
    const Atoll::Device cpu = Atoll::device("cpu"), dummy = Atoll::device("dummy:0");
    const Counts counts = run_cases(100'000, {{cpu, dummy}, {dummy, Atoll::device("dummy:1")}}, 1);
    CHECK(counts.failed == 0);
    // The cases are worth something: most of them compute, some are refused.
    if (counts.run > 1000) {
        CHECK(counts.refused * 100 > counts.run);
        CHECK(counts.refused * 4 < counts.run);
    }
}

TEST_CASE(
    "operations on borrowed memory that several storages share agree with a model of memory") {
    Atoll::load_plugin("cpu");
    const Atoll::Device cpu = Atoll::device("cpu");
    CHECK(run_cases(20'000, {{cpu, cpu, true}}, 2).failed == 0);
}

TEST_CASE("a plugin without capabilities agrees with a model of memory") {
    Atoll::load_plugin("cpu");
    Atoll::load_plugin("dummy_min");
    const Atoll::Device device = Atoll::device("dummy_min");
    CHECK(run_cases(20'000, {{device, Atoll::device("cpu")}}, 3).failed == 0);
}
