#include "draw.hpp"

#include "../by_id.hpp"

#include <numeric>

namespace interpreter {

namespace {

class Drawer {
public:
    Drawer(const Machine &machine, std::uint64_t seed) : machine_(machine), random_(seed) {
        // A program keeps to few dtypes and extents, so that its tensors meet each other.
        const int taste = static_cast<int>(below(random_, 10));
        const int count = 2 + static_cast<int>(below(random_, 4));
        for (int i = 0; i < count; ++i) {
            DType dtype = random_dtype(random_);
            while ((taste < 3 && is_floating(dtype)) || (taste == 3 && !is_floating(dtype)))
                dtype = random_dtype(random_);
            dtypes_.push_back(dtype);
        }
        extent_ = 2 + below(random_, 4);
        special_ = chance(random_, 40);
    }

    Op draw() {
        struct Choice {
            int weight;
            void (Drawer::*draw)(Op &);
        };
        static constexpr Choice choices[] = {
            {7, &Drawer::create},    {2, &Drawer::constant},       {1, &Drawer::steps},
            {7, &Drawer::overlay},   {13, &Drawer::view},          {10, &Drawer::unary},
            {16, &Drawer::binary},   {4, &Drawer::ternary},        {6, &Drawer::in_place},
            {9, &Drawer::reduce},    {3, &Drawer::scan},           {3, &Drawer::sort},
            {2, &Drawer::search},    {1, &Drawer::find},           {1, &Drawer::compress},
            {4, &Drawer::matmul},    {3, &Drawer::gemm},           {8, &Drawer::copy},
            {6, &Drawer::assign},    {3, &Drawer::fill},           {5, &Drawer::index_get},
            {5, &Drawer::index_set}, {4, &Drawer::index_in_place}, {2, &Drawer::join},
            {2, &Drawer::byteswap},  {3, &Drawer::flags},          {1, &Drawer::detach},
            {1, &Drawer::dealloc},   {4, &Drawer::synchronize},    {3, &Drawer::check}};
        constexpr int total = [] {
            int sum = 0;
            for (const Choice &choice : choices) sum += choice.weight;
            return sum;
        }();
        Op op;
        op.watched = chance(random_, 70);
        if (held() < 3) {
            create(op);
            return op;
        }
        auto at = static_cast<int>(below(random_, total));
        for (const Choice &choice : choices) {
            if (at < choice.weight) {
                (this->*choice.draw)(op);
                break;
            }
            at -= choice.weight;
        }
        return op;
    }

private:
    int held() const {
        int n = 0;
        for (int s = 0; s < slot_count; ++s) n += machine_.slot(s).has_value();
        return n;
    }
    int any() {
        for (;;) {
            const auto s = static_cast<int>(below(random_, slot_count));
            if (machine_.slot(s)) return s;
        }
    }
    const Array &array(int s) const { return machine_.slot(s)->array; }
    // Among a few, one that the test likes; else any.
    template <class Test> int any(const Test &test) {
        for (int tries = 0; tries < 12; ++tries)
            if (const int s = any(); test(array(s))) return s;
        return any();
    }
    int fresh_slot() {
        for (int s = 0; s < slot_count; ++s)
            if (!machine_.slot(s)) return s;
        return static_cast<int>(below(random_, slot_count));
    }
    // Sets where the result of a known shape goes.
    void result(Op &op, const Numbers &shape, int percent = 45) {
        op.to = fresh_slot();
        if (!chance(random_, percent)) return;
        const int s = any([&](const Array &a) { return a.shape == shape; });
        if (array(s).shape != shape && !chance(random_, 5)) return;
        op.given = true;
        op.to = s;
    }
    DType dtype() {
        if (chance(random_, 10)) return random_dtype(random_);
        return dtypes_[static_cast<std::size_t>(
            below(random_, static_cast<std::int64_t>(dtypes_.size())))];
    }
    int place() { return static_cast<int>(below(random_, place_count)); }
    std::int64_t axis_of(const Array &a) {
        return a.shape.empty() ? 0 : below(random_, static_cast<std::int64_t>(a.shape.size()));
    }
    Numbers shape() {
        Numbers made(static_cast<std::size_t>(below(random_, 4)));
        for (std::int64_t &n : made)
            n = chance(random_, 70)   ? extent_
                : chance(random_, 5)  ? 0
                : chance(random_, 40) ? 1
                                      : 1 + below(random_, 5);
        return made;
    }
    // A function of a form, on which the dtypes make sense if possible.
    template <class Fits> int function_of(std::initializer_list<Form> forms, const Fits &fits) {
        int chosen = 0;
        for (int tries = 0; tries < 4; ++tries) {
            do chosen = static_cast<int>(below(random_, ATOLL_FN_COUNT));
            while (std::find(forms.begin(), forms.end(), functions[chosen].form) == forms.end());
            if (fits(chosen)) break;
        }
        return chosen;
    }
    Scalar small_number() {
        switch (below(random_, 8)) {
        case 0: return Scalar(chance(random_, 50));
        case 1: return Scalar(0.5 * static_cast<double>(below(random_, 9)));
        case 2: return Scalar(std::complex<double>(1.5, static_cast<double>(below(random_, 3))));
        case 3: return Scalar(Scalar(below(random_, 2)), dtype());
        case 4: return Scalar(below(random_, 9) - 4);
        default: return Scalar(below(random_, 5));
        }
    }
    Value element(DType dtype) {
        const auto quarter = [&]() -> long double {
            if (special_ && chance(random_, 6)) {
                constexpr long double list[] = {NAN, INFINITY, -INFINITY, -0.0L, 1e30L, -1e-30L};
                return list[below(random_, 6)];
            }
            return static_cast<long double>(below(random_, 33) - 16) / 4;
        };
        const int to = id(dtype);
        if (is_integer(dtype) && special_ && chance(random_, 20))
            return Value::of(oracle::wrap(static_cast<__int128>(random_()), to));
        if (is_integer(dtype)) return Value::of(oracle::wrap(below(random_, 25) - 8, to));
        if (dtype == Atoll::bool_) return Value::of(__int128{chance(random_, 50)});
        return oracle::convert(Value::of(quarter(), quarter()), to);
    }

    // ---- layouts --------------------------------------------------------------------------------

    // Axes nested in any order, gaps, any signs, zero and overlapping strides, any alignment.
    View layout(const Numbers &shape, DType dtype) {
        View view;
        view.dtype = dtype;
        view.swapped = chance(random_, 15) && Atoll::info(dtype).alignment > 1;
        view.shape = shape;
        view.strides.assign(shape.size(), 0);
        const std::int64_t itemsize = view.itemsize();
        std::vector<std::size_t> order(shape.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (chance(random_, 50)) std::shuffle(order.begin(), order.end(), random_);
        const std::int64_t unit = chance(random_, 90) ? itemsize : 1;
        std::int64_t next = itemsize + (chance(random_, 20) ? unit * below(random_, 3) : 0);
        for (std::size_t i : order) {
            view.strides[i] = next;
            next = next * std::max<std::int64_t>(shape[i], 1) +
                   (chance(random_, 10) ? unit * below(random_, 3) : 0);
        }
        for (std::int64_t &stride : view.strides)
            if (chance(random_, 15)) stride = -stride;
        if (!shape.empty() && chance(random_, 5))
            view.strides[static_cast<std::size_t>(
                below(random_, static_cast<std::int64_t>(shape.size())))] =
                chance(random_, 50) ? 0 : unit;
        return view;
    }

    void create(Op &op) {
        op.kind = Kind::create;
        op.to = fresh_slot();
        op.place = place();
        const DType own = dtype();
        op.layout = layout(shape(), own);
        std::int64_t low, high;
        op.layout.range(low, high);
        op.layout.offset = -low + (chance(random_, 15) ? below(random_, 9) : 0);
        high += op.layout.offset;
        op.bytes.assign(static_cast<std::size_t>(std::max<std::int64_t>(high, op.layout.offset)) +
                            static_cast<std::size_t>(chance(random_, 30) ? below(random_, 20) : 0),
                        '\0');
        if (own != Atoll::bool_) // what overlays see in gaps
            for (char &byte : op.bytes) byte = static_cast<char>(below(random_, 4));
        each(op.layout.shape, [&](const Numbers &at) {
            oracle::write(op.bytes.data() + op.layout.at(at), id(own), op.layout.swapped,
                          element(own));
        });
        if (op.bytes.empty()) op.bytes.push_back('\0');
    }

    // Another tensor over the same storage: shifted, transposed, turned around, of another dtype.
    void overlay(Op &op) {
        op.kind = Kind::overlay;
        op.in[0] = any();
        op.to = fresh_slot();
        const Array &from = array(op.in[0]);
        View &view = op.layout;
        view = from;
        const bool boolean = from.memory->boolean;
        if (!boolean && chance(random_, 30)) {
            do view.dtype = chance(random_, 50) ? random_dtype(random_) : dtype();
            while (view.dtype == Atoll::bool_);
        }
        if (chance(random_, 10)) view.swapped = !view.swapped;
        if (Atoll::info(view.dtype).alignment == 1) view.swapped = false;
        const auto bytes = static_cast<std::int64_t>(from.memory->bytes.size());
        const auto rank = static_cast<std::int64_t>(view.shape.size());
        for (int tries = 0; tries < 6; ++tries) {
            View tried = view;
            if (rank >= 2 && chance(random_, 25))
                std::swap(tried.strides[static_cast<std::size_t>(below(random_, rank))],
                          tried.strides[static_cast<std::size_t>(below(random_, rank))]);
            if (rank && chance(random_, 30)) {
                const auto axis = static_cast<std::size_t>(below(random_, rank));
                if (tried.shape[axis] > 1) --tried.shape[axis];
            }
            if (rank && chance(random_, 20)) {
                const auto axis = static_cast<std::size_t>(below(random_, rank));
                tried.offset += tried.strides[axis] * (tried.shape[axis] - 1);
                tried.strides[axis] = -tried.strides[axis];
            }
            if (chance(random_, 15)) tried = layout(shape(), view.dtype);
            switch (below(random_, 6)) {
            case 0: tried.offset += tried.itemsize(); break;
            case 1: tried.offset -= tried.itemsize(); break;
            case 2: tried.offset += below(random_, 7) - 3; break;
            case 3:
                if (rank && !tried.strides.empty()) tried.offset += tried.strides[0];
                break;
            default: break;
            }
            std::int64_t low, high;
            tried.range(low, high);
            const bool fits =
                low >= 0 && high <= bytes && tried.offset >= 0 && tried.offset <= bytes;
            if (!fits && tries < 5 && !chance(random_, 2)) continue;
            view = tried;
            break;
        }
    }

    void constant(Op &op) {
        op.kind = Kind::constant;
        op.to = fresh_slot();
        op.variant = static_cast<int>(below(random_, 4));
        op.numbers = op.variant == 3 ? Numbers{extent_, 1 + below(random_, 4)} : shape();
        op.dtype = dtype();
        op.place = place();
        op.flag = chance(random_, 40);
        op.scalars[0] = small_number();
    }

    void steps(Op &op) {
        op.kind = Kind::steps;
        op.function = ATOLL_FN_steps;
        op.to = fresh_slot();
        op.variant = chance(random_, 30);
        op.numbers = {below(random_, 9), 1 + below(random_, 3), below(random_, 9)};
        op.dtype = dtype();
        if (op.dtype == Atoll::bool_) op.dtype = Atoll::int32;
        op.place = place();
        op.flag = chance(random_, 50);
    }

    // ---- views ----------------------------------------------------------------------------------

    void view(Op &op) {
        op.kind = Kind::view;
        op.in[0] = any();
        op.to = fresh_slot();
        const Array &a = array(op.in[0]);
        const auto rank = static_cast<std::int64_t>(a.shape.size());
        op.variant = static_cast<int>(below(random_, static_cast<int>(ViewKind::count)));
        const std::int64_t x = axis_of(a), y = axis_of(a);
        op.numbers = {x, y};
        op.flag = chance(random_, 40);
        const std::int64_t n = rank ? a.shape[static_cast<std::size_t>(x)] : 0;
        switch (static_cast<ViewKind>(op.variant)) {
        case ViewKind::slice: {
            const std::int64_t begin = below(random_, n + 1);
            op.numbers = {x, begin, begin + below(random_, n - begin + 1)};
            break;
        }
        case ViewKind::split:
            op.numbers = {x, chance(random_, 60) ? std::max<std::int64_t>(n, 1) : 1,
                          below(random_, 5)};
            break;
        case ViewKind::permute_axes:
            op.numbers.assign(static_cast<std::size_t>(rank), 0);
            std::iota(op.numbers.begin(), op.numbers.end(), 0);
            std::shuffle(op.numbers.begin(), op.numbers.end(), random_);
            break;
        case ViewKind::diag: op.numbers = {below(random_, 3) - 1}; break;
        case ViewKind::unsqueeze: op.numbers = {below(random_, rank + 1)}; break;
        case ViewKind::squeeze_axis:
            for (std::int64_t i = 0; i < rank; ++i)
                if (a.shape[static_cast<std::size_t>(i)] == 1) op.numbers = {i};
            break;
        case ViewKind::reshape: { // joins and splits axes
            op.numbers = a.shape;
            if (rank >= 2 && chance(random_, 60)) {
                const auto at = static_cast<std::size_t>(below(random_, rank - 1));
                op.numbers[at] *= op.numbers[at + 1];
                op.numbers.erase(op.numbers.begin() + static_cast<std::ptrdiff_t>(at) + 1);
            } else if (rank && chance(random_, 50)) {
                op.numbers.insert(op.numbers.begin(), 1);
                std::swap(op.numbers[0], op.numbers[1]);
            } else {
                op.numbers = {a.size()};
            }
            break;
        }
        case ViewKind::flatten: op.numbers = {below(random_, 5)}; break;
        case ViewKind::broadcast_to:
            op.numbers = a.shape;
            for (std::int64_t &extent : op.numbers)
                if (extent == 1 && chance(random_, 60)) extent = extent_;
            if (rank < 3 && chance(random_, 60))
                op.numbers.insert(op.flag ? op.numbers.end() : op.numbers.begin(), extent_);
            break;
        case ViewKind::view_as:
            for (int tries = 0; tries < 20; ++tries) {
                op.dtype = random_dtype(random_);
                if (Atoll::size_of(op.dtype) == a.itemsize() && op.dtype != a.dtype) break;
            }
            break;
        default: break;
        }
    }

    // ---- functions ------------------------------------------------------------------------------

    // One that meets the shape by broadcasting; with `into` without stretching it.
    int partner(const Numbers &shape, bool into) {
        return any([&](const Array &a) {
            Numbers met = shape;
            return broadcast(met, a.shape) && (!into || met == shape) && count_of(met) <= 200;
        });
    }
    void operands(Op &op, int count, int scalar_percent) {
        op.in[0] = any();
        Numbers shape = array(op.in[0]).shape;
        op.to = fresh_slot();
        if (chance(random_, 50)) { // a destination first: it is never stretched
            op.given = true;
            op.to = chance(random_, 30) ? op.in[0]
                                        : any([&](const Array &a) { return a.shape == shape; });
            shape = array(op.to).shape;
            if (!broadcasts_to(array(op.in[0]).shape, shape)) op.in[0] = partner(shape, true);
        }
        for (int i = 1; i < count; ++i) op.in[i] = partner(shape, op.given);
        for (int i = 0; i < count; ++i) {
            op.scalars[i] = small_number();
            if (count > 1 && chance(random_, scalar_percent)) op.in[i] = -1;
        }
        if (std::all_of(op.in, op.in + 3, [](int s) { return s < 0; })) op.in[0] = any();
    }
    std::vector<Input> inputs(const Op &op, int count) const {
        std::vector<Input> list;
        for (int i = 0; i < count; ++i) {
            Input input;
            if (op.in[i] >= 0) input.array = array(op.in[i]);
            input.scalar = op.scalars[i];
            list.push_back(std::move(input));
        }
        return list;
    }
    void unary(Op &op) {
        op.kind = Kind::unary;
        operands(op, 1, 0);
        op.function = function_of({Form::unary},
                                  [&](int f) { return rule_of(f, inputs(op, 1)).errors.empty(); });
    }
    void binary(Op &op) {
        op.kind = Kind::binary;
        operands(op, 2, 10);
        op.function = function_of({Form::binary},
                                  [&](int f) { return rule_of(f, inputs(op, 2)).errors.empty(); });
    }
    void ternary(Op &op) {
        op.kind = Kind::ternary;
        operands(op, 3, 12);
        op.function = function_of({Form::ternary},
                                  [&](int f) { return rule_of(f, inputs(op, 3)).errors.empty(); });
    }
    int operator_function(bool by_number) {
        constexpr int list[] = {ATOLL_FN_add,         ATOLL_FN_subtract,    ATOLL_FN_divide,
                                ATOLL_FN_remainder,   ATOLL_FN_bitwise_and, ATOLL_FN_bitwise_or,
                                ATOLL_FN_bitwise_xor, ATOLL_FN_left_shift,  ATOLL_FN_right_shift,
                                ATOLL_FN_multiply}; // `*=` takes numbers only
        return list[below(random_, by_number ? 10 : 9)];
    }
    void in_place(Op &op) {
        op.kind = Kind::in_place;
        op.given = true;
        op.to = op.in[0] = any();
        op.in[1] = chance(random_, 20) ? -1 : partner(array(op.to).shape, true);
        op.scalars[1] = small_number();
        for (int tries = 0; tries < 4; ++tries) {
            op.function = operator_function(op.in[1] < 0);
            if (rule_of(op.function, inputs(op, 2)).errors.empty()) break;
        }
    }

    void reduce(Op &op) {
        op.kind = Kind::reduce;
        op.in[0] = any();
        const Array &a = array(op.in[0]);
        op.function = function_of({Form::reduce, Form::reduce_one, Form::arg_reduce},
                                  [&](int f) { return rule_of(f, a.dtype).errors.empty(); });
        op.flag = chance(random_, 30);
        op.variant = chance(random_, 75);
        Numbers kept;
        const auto rank = static_cast<std::int64_t>(a.shape.size());
        for (std::int64_t i = 0; i < rank; ++i) {
            const bool reduced = !op.variant || chance(random_, 50);
            if (reduced) op.numbers.push_back(chance(random_, 30) ? i - rank : i);
            if (!reduced || op.flag)
                kept.push_back(reduced ? 1 : a.shape[static_cast<std::size_t>(i)]);
        }
        switch (op.function) {
        case ATOLL_FN_var:
        case ATOLL_FN_stddev:
            op.scalars[0] = Scalar(0.5 * static_cast<double>(below(random_, 4)));
            break;
        case ATOLL_FN_norm: {
            constexpr double orders[] = {0, 1, 2, 3, 0.5, INFINITY};
            op.scalars[0] = Scalar(orders[below(random_, 6)]);
            break;
        }
        default: break;
        }
        op.scalars[1] = Scalar(oracle::can_skip_nan(op.function) && chance(random_, 30));
        result(op, kept, 30);
    }

    void scan(Op &op) {
        op.kind = Kind::scan;
        op.in[0] = any();
        const Array &a = array(op.in[0]);
        op.function = function_of({Form::scan}, [&](int) { return true; });
        op.variant =
            a.shape.size() > 1 ? !chance(random_, 3) : chance(random_, 50) && !a.shape.empty();
        op.numbers = {axis_of(a)};
        result(op, a.shape);
    }
    void sort(Op &op) {
        op.kind = Kind::sort;
        op.in[0] = any([](const Array &a) { return !a.shape.empty(); });
        const Array &a = array(op.in[0]);
        op.function = function_of({Form::sort}, [&](int) { return true; });
        op.numbers = {axis_of(a)};
        op.flag = chance(random_, 40);
        result(op, a.shape);
    }
    void search(Op &op) {
        op.kind = Kind::search;
        op.function = ATOLL_FN_searchsorted;
        op.in[0] = chance(random_, 10) ? -1 : any();
        op.in[1] = any();
        op.scalars[0] = small_number();
        op.flag = chance(random_, 50);
        result(op, op.in[0] < 0 ? Numbers() : array(op.in[0]).shape, 30);
    }
    void find(Op &op) {
        op.kind = Kind::find;
        op.function = ATOLL_FN_find;
        op.in[0] = any();
        op.to = fresh_slot();
        op.variant = chance(random_, 40);
    }
    void compress(Op &op) {
        op.kind = Kind::compress;
        op.function = ATOLL_FN_compress;
        op.in[0] = any();
        op.in[1] = any([&](const Array &mask) { return mask.shape == array(op.in[0]).shape; });
        op.to = fresh_slot();
    }
    void matmul(Op &op) {
        op.kind = Kind::matmul;
        op.function = ATOLL_FN_matmul;
        op.in[0] = any();
        const Array &a = array(op.in[0]);
        const std::int64_t inner = a.shape.size() > 1 ? a.shape[1] : 1;
        op.in[1] = any([&](const Array &b) { return (b.shape.empty() ? 1 : b.shape[0]) == inner; });
        Product product;
        product.a = a, product.b = array(op.in[1]);
        Numbers shape;
        if (!product.shape(shape)) shape = a.shape;
        result(op, shape, 35);
    }
    void gemm(Op &op) {
        op.kind = Kind::gemm;
        op.function = ATOLL_FN_matmul;
        op.given = true;
        const auto matrix = [](const Array &a) { return a.shape.size() == 2; };
        op.in[0] = any(matrix), op.in[1] = any(matrix);
        op.numbers = {below(random_, 3), below(random_, 3), below(random_, 3), below(random_, 3)};
        Product product;
        product.a = array(op.in[0]), product.b = array(op.in[1]);
        Numbers shape;
        for (int tries = 0; tries < 6; ++tries) {
            product.op_a = op.numbers[0] ? Atoll::Op::T : Atoll::Op::N;
            product.op_b = op.numbers[1] ? Atoll::Op::T : Atoll::Op::N;
            if (product.shape(shape)) break;
            op.numbers[0] = below(random_, 3), op.numbers[1] = below(random_, 3);
            op.in[1] = any(matrix);
            product.b = array(op.in[1]);
        }
        op.to = any([&](const Array &c) { return c.shape == shape; });
    }

    // ---- copies and writes ----------------------------------------------------------------------

    void copy(Op &op) {
        op.kind = Kind::copy;
        op.function = ATOLL_FN_copy;
        op.in[0] = any();
        op.to = fresh_slot();
        op.variant = static_cast<int>(below(random_, 8));
        op.dtype = dtype();
        op.place = place();
    }
    void assign(Op &op) {
        op.kind = Kind::assign;
        op.function = ATOLL_FN_copy;
        op.given = true;
        op.to = any();
        op.in[0] = chance(random_, 10) ? -1 : partner(array(op.to).shape, true);
        op.scalars[0] = small_number();
        op.flag = chance(random_, 20);
    }
    void fill(Op &op) {
        op.kind = Kind::fill;
        op.function = ATOLL_FN_fill;
        op.given = true;
        op.to = any();
        op.scalars[0] = small_number();
    }
    void byteswap(Op &op) {
        op.kind = Kind::byteswap;
        op.given = true;
        op.to = any();
    }
    void flags(Op &op) {
        op.kind = Kind::flags;
        op.given = true;
        op.to = any();
        op.variant = chance(random_, 60) ? 0 : static_cast<int>(below(random_, 4));
        op.flag = chance(random_, op.variant == 2 ? 25 : 40);
    }
    void detach(Op &op) {
        op.kind = Kind::detach;
        op.given = true;
        op.to = any();
    }
    void dealloc(Op &op) {
        op.kind = Kind::dealloc;
        op.given = true;
        op.to = any();
    }
    void join(Op &op) {
        op.kind = Kind::join;
        op.to = fresh_slot();
        op.variant = chance(random_, 40);
        op.in[0] = any([](const Array &a) { return !a.shape.empty(); });
        const Numbers shape = array(op.in[0]).shape;
        const auto alike = [&](const Array &a) { return a.shape == shape; };
        op.in[1] = any(alike);
        if (chance(random_, 40)) op.in[2] = any(alike);
        const std::int64_t axes = static_cast<std::int64_t>(shape.size()) + op.variant;
        op.numbers = {below(random_, std::max<std::int64_t>(axes, 1))};
    }
    void synchronize(Op &op) {
        op.kind = Kind::synchronize;
        op.in[0] = any(), op.in[1] = any();
        op.variant = static_cast<int>(below(random_, 4));
        op.flag = chance(random_, 40);
    }
    void check(Op &op) {
        op.kind = Kind::check;
        op.in[0] = any();
        op.dtype = chance(random_, 50) ? array(op.in[0]).dtype : dtype();
    }

    // ---- indexing -------------------------------------------------------------------------------

    std::vector<IndexPart> index(const Numbers &shape) {
        std::vector<IndexPart> parts;
        const auto rank = static_cast<std::int64_t>(shape.size());
        const bool basic = chance(random_, 30);
        bool ellipsis = false;
        const auto position = [&](std::int64_t n) {
            return chance(random_, 1) ? n : below(random_, 2 * std::max<std::int64_t>(n, 1)) - n;
        };
        const auto index_dtype = [&] {
            constexpr DType list[] = {Atoll::int64, Atoll::int32, Atoll::int8};
            return list[below(random_, 3)];
        };
        std::int64_t axis = 0;
        while (axis < rank) {
            const std::int64_t n = shape[static_cast<std::size_t>(axis)];
            IndexPart part{IndexPart::Kind::all};
            if (chance(random_, 8)) {
                part.kind = IndexPart::Kind::newaxis;
                parts.push_back(part);
                continue;
            }
            std::int64_t taken = 1;
            const std::int64_t kind = below(random_, basic ? 4 : 8);
            if (kind == 0 && n > 0) {
                part.kind = IndexPart::Kind::integer;
                part.integer = position(n);
            } else if (kind == 1) {
                part.kind = IndexPart::Kind::range;
                if (chance(random_, 60)) part.range.start = below(random_, 2 * n + 3) - n - 1;
                if (chance(random_, 60)) part.range.stop = below(random_, 2 * n + 3) - n - 1;
                part.range.step = chance(random_, 60)   ? 1
                                  : chance(random_, 60) ? -1
                                                        : below(random_, 5) - 2;
                if (part.range.step == 0) part.range.step = 2;
            } else if (kind == 2 && !ellipsis) {
                part.kind = IndexPart::Kind::ellipsis;
                ellipsis = true;
                taken = below(random_, rank - axis + 1);
            } else if (kind == 4 || kind == 5) {
                part.kind = IndexPart::Kind::positions;
                part.dtype = index_dtype();
                const std::int64_t count = n ? below(random_, 5) : 0;
                for (std::int64_t i = 0; i < count; ++i) part.list.push_back(position(n));
            } else if (kind == 6) {
                part.kind = IndexPart::Kind::mask;
                taken = 1 + below(random_, std::min<std::int64_t>(rank - axis, 2));
                for (std::int64_t i = 0; i < taken; ++i)
                    part.shape.push_back(shape[static_cast<std::size_t>(axis + i)]);
                for (std::int64_t i = count_of(part.shape); i > 0; --i)
                    part.list.push_back(chance(random_, 50));
            } else if (kind == 7 && rank - axis >= 2) {
                part.kind = IndexPart::Kind::tuples;
                part.dtype = index_dtype();
                taken = 2;
                const std::int64_t count = 1 + below(random_, 4);
                part.shape = {2, count};
                for (std::int64_t k = 0; k < 2 * count; ++k)
                    part.list.push_back(position(shape[static_cast<std::size_t>(axis + k % 2)]));
            }
            for (std::int64_t p : part.list)
                if (p < -128 || p > 127) part.dtype = Atoll::int64;
            parts.push_back(part);
            axis += taken;
            if (!ellipsis && chance(random_, 20)) break; // the rest is whole
        }
        return parts;
    }
    void index_get(Op &op) {
        op.kind = Kind::index_get;
        op.function = ATOLL_FN_gather;
        op.in[0] = any();
        op.to = fresh_slot();
        op.place = place();
        draw_index(op, array(op.in[0]).shape);
    }
    void draw_index(Op &op, const Numbers &shape) {
        op.variant = static_cast<int>(below(random_, 5));
        op.index = index(shape);
        if (op.variant != 4) return;
        op.next = index(Selected(shape, op.index).shape);
        if (op.next.empty()) op.next.push_back({IndexPart::Kind::ellipsis});
    }
    void index_set(Op &op) {
        op.kind = Kind::index_set;
        op.function = ATOLL_FN_scatter;
        op.given = true;
        op.to = any();
        op.place = place();
        draw_index(op, array(op.to).shape);
        const Selection selected(array(op.to).shape, op.index, op.next);
        op.in[0] = chance(random_, 15) ? -1 : partner(selected.shape, true);
        if (op.in[0] >= 0 && !broadcasts_to(array(op.in[0]).shape, selected.shape) &&
            chance(random_, 90))
            op.in[0] = -1;
        op.scalars[0] = small_number();
    }
    void index_in_place(Op &op) {
        index_set(op);
        op.kind = Kind::index_in_place;
        op.in[1] = op.in[0];
        op.in[0] = -1;
        op.scalars[1] = small_number();
        for (int tries = 0; tries < 4; ++tries) {
            op.function = operator_function(op.in[1] < 0);
            std::vector<Input> list = inputs(op, 2);
            list[0].array = array(op.to);
            if (rule_of(op.function, list).errors.empty()) break;
        }
    }

    const Machine &machine_;
    Random random_;
    std::vector<DType> dtypes_;
    std::int64_t extent_;
    bool special_;
};

} // namespace

std::function<Op()> drawer(const Machine &machine, std::uint64_t seed) {
    return [drawer = Drawer(machine, seed)]() mutable { return drawer.draw(); };
}

} // namespace interpreter
