// Index expressions of every kind, used in every way, against an oracle that lists one by one the
// coordinates that they mean.
//
// Up to rank 2 all pairs of kinds, above random ones.
#include "../../random_tests.hpp"
#include "index_oracle.hpp"

#include <cstdlib>
#include <sstream>

using namespace index_oracle;

namespace {

// How the expression comes to the tensor.
enum class Use {
    direct,
    object,
    bound,
    laid_out,
    moved,
    moved_bound,
    moved_laid_out,
    nested,
    nested_bound,
    count
};
// What is done with the selection.
enum class Action {
    get,
    number,
    same,
    other_dtype,
    swapped,
    broadcast,
    other_device,
    flipped,
    itself,
    add_number,
    add_tensor,
    divide_number,
    count
};

struct Case {
    Device device{};
    Shape shape{};
    DType dtype = int64;
    oracle::Layout layout = oracle::Layout::dense;
    bool swapped = false;
    bool composed = false; // `items` after `first`
    Items first{}, items{};
    Use use = Use::object;
    Action action = Action::get;

    std::string text() const {
        std::ostringstream out;
        out << device.name() << ": " << name(dtype) << (swapped ? " swapped " : " ")
            << ::text(shape) << " layout " << static_cast<int>(layout) << " (";
        if (composed) out << ::text(first) << ") then (";
        out << ::text(items) << ") use " << static_cast<int>(use) << " action "
            << static_cast<int>(action);
        return out.str();
    }
};

bool same(const Value &a, const Value &b) {
    return a.integer == b.integer && a.i == b.i && a.re == b.re && a.im == b.im;
}

Index index_for(const Case &c, const Tensor &t) {
    const Device elsewhere =
        Atoll::device(c.device == Atoll::device("dummy:1") ? "cpu" : "dummy:1");
    const Built built(c.items, c.device);
    Index index(built.elements);
    if (c.composed) {
        const Built first(c.first, c.device);
        // Binding twice to the same shape is binding once.
        index = Index(first.elements).bind(t.shape()).bind(t.shape()).then(index);
    }
    switch (c.use) {
    case Use::bound: return index.bind(t.shape());
    case Use::laid_out: return index.bind(t);
    case Use::moved: return index.to(elsewhere);
    case Use::moved_bound: return index.bind(t.shape()).to(elsewhere);
    case Use::moved_laid_out: return index.bind(t).to(elsewhere);
    case Use::nested: return Index({IndexElement(index)});
    case Use::nested_bound: return Index({IndexElement(index.bind(t)), IndexElement(ellipsis)});
    default: return index;
    }
}

// An index object alone, however often it is wrapped, is that object: bound if it was.
bool bound_alone(const Items &items) {
    if (items.size() != 1) return false;
    return items[0].kind == Item::Kind::bound ||
           (items[0].kind == Item::Kind::unbound && bound_alone(items[0].items));
}

void check_reports(const Index &index, const Case &c, const Selected &expected) {
    CHECK(index.is_view() == expected.view);
    const Index bound = index.bind(dims(c.shape));
    CHECK(bound.is_bound());
    CHECK(shape_of(bound.input_shape()) == c.shape);
    CHECK(shape_of(bound.output_shape()) == expected.shape);
    CHECK(bound.is_view() == expected.view);
    const bool bound_before =
        (c.composed || bound_alone(c.items) || c.use == Use::bound || c.use == Use::laid_out ||
         c.use == Use::moved_bound || c.use == Use::moved_laid_out) &&
        c.use != Use::nested_bound;
    CHECK(index.is_bound() == bound_before);
    CHECK(index.is_bound_to_strides() == (c.use == Use::laid_out || c.use == Use::moved_laid_out));
}

// Elements with values that every dtype holds, by their position; all different in most dtypes.
oracle::Operand filled(DType dtype, const Shape &shape, oracle::Layout layout, bool swapped,
                       int start) {
    oracle::Operand memory = operand(id(dtype), shape, layout, swapped);
    int value = start;
    oracle::each(shape, [&](const Shape &index) {
        memory.set(index, oracle::convert(Value::of(__int128{value++ % 120}), id(dtype)));
    });
    return memory;
}

class Run {
public:
    Run(const Case &c, Random &random)
        : c_(c), random_(random), memory_(filled(c.dtype, c.shape, c.layout, c.swapped, 1)),
          t_(upload(memory_, c.device)), before_(values()) {
        try {
            if (c.composed) {
                const Selected first = select(c.first, c.shape);
                expected_ = select_then(first, select(c.items, first.shape));
            } else {
                expected_ = select(c.items, c.shape);
            }
        } catch (const Fault &fault) {
            status_ = fault.status;
        }
    }

    void check() {
        INFO(c_.text());
        // A fault of the expression must show whatever is done with it.
        try {
            const Built built(c_.items, c_.device);
            if (c_.use == Use::direct && !c_.composed) {
                if (c_.action == Action::get)
                    check_get(t_.index(built.elements));
                else if (built.basic())
                    write(t_.index(built.elements));
                else
                    write(Selection(t_, Index(built.elements)));
            } else {
                const Index index = index_for(c_, t_);
                if (status_ == Status::ok) check_reports(index, c_, expected_);
                const Selection selection(t_, index);
                if (c_.action == Action::get)
                    check_get(selection);
                else
                    write(selection);
            }
            CHECK(status_ == Status::ok);
        } catch (const Error &error) {
            INFO(std::string(error.what()));
            CHECK(error.status() == status_);
            if (status_ != Status::ok) written_.clear();
        }
        std::vector<char> expected = memory_.memory;
        for (std::size_t i = 0; i < written_.size(); ++i)
            oracle::write(expected.data() + memory_.offset(expected_.sources[i]), memory_.dtype,
                          memory_.swapped, oracle::convert(written_[i], memory_.dtype));
        CHECK(bytes_of(t_) == expected);
    }

private:
    std::vector<Value> values() const {
        std::vector<Value> list;
        oracle::each(c_.shape, [&](const Shape &index) { list.push_back(memory_.get(index)); });
        return list;
    }
    std::vector<Value> picked() const {
        std::vector<Value> list;
        for (const Shape &source : expected_.sources) list.push_back(memory_.get(source));
        return list;
    }

    void check_get(const Tensor &result) {
        REQUIRE(shape_of(result.shape()) == expected_.shape);
        CHECK(result.dtype() == c_.dtype);
        CHECK(result.device() == c_.device);
        CHECK((result.storage() == t_.storage()) == expected_.view);
        CHECK(result.is_byteswapped() == (expected_.view && c_.swapped));
        if (!expected_.view) CHECK(result.is_contiguous());
        CHECK_FALSE(result.is_read_only());
        const std::vector<Value> got = values_of(result), want = picked();
        REQUIRE(got.size() == want.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(same(got[i], want[i]));
    }

    // The value at each element of the selection that `source`, of this shape, has by broadcasting.
    std::vector<Value> stretched(const Shape &shape, const std::vector<Value> &source) const {
        std::vector<Value> list;
        const Selected dense{shape, {}, true};
        oracle::each(expected_.shape, [&](const Shape &index) {
            Shape at = index;
            at.resize(shape.size(), 0);
            for (std::size_t axis = 0; axis < shape.size(); ++axis)
                if (shape[axis] == 1) at[axis] = 0;
            list.push_back(source[dense.at(at)]);
        });
        return list;
    }
    Tensor source(DType dtype, const Shape &shape, bool swapped, Device device) {
        const auto layout =
            oracle::elements(shape) == 0 ? oracle::Layout::dense : oracle::layouts[random_() % 5];
        const oracle::Operand memory = filled(dtype, shape, layout, swapped, 50);
        std::vector<Value> list;
        oracle::each(shape, [&](const Shape &index) { list.push_back(memory.get(index)); });
        written_ = stretched(shape, list);
        return upload(memory, device);
    }
    Shape reduced_shape() {
        Shape shape = expected_.shape;
        for (std::int64_t &extent : shape)
            if (random_() % 2) extent = 1;
        while (!shape.empty() && random_() % 3 == 0) shape.pop_back();
        if (random_() % 4 == 0) shape.resize(expected_.shape.size() + 1, 1);
        return shape;
    }
    bool broadcasts(const Shape &shape) const {
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            if (shape[axis] != 1 &&
                (axis >= expected_.shape.size() || shape[axis] != expected_.shape[axis]))
                return false;
        return true;
    }
    // The library's own arithmetic, on a tensor that holds what is selected.
    template <class Apply> void in_place(const Apply &apply) {
        oracle::Operand memory = operand(id(c_.dtype), expected_.shape);
        const std::vector<Value> list = picked();
        std::size_t at = 0;
        oracle::each(expected_.shape, [&](const Shape &index) { memory.set(index, list[at++]); });
        const Tensor reference = upload(memory, c_.device);
        try {
            apply(reference);
            written_ = values_of(reference);
        } catch (const Error &error) {
            if (status_ == Status::ok) status_ = error.status();
        }
    }

    template <class Target> void write(const Target &target) {
        if (status_ != Status::ok) { // no shape to write: any write must fail
            Selection(target_of(target)) = 1;
            return;
        }
        switch (c_.action) {
        case Action::number:
            written_.assign(expected_.sources.size(), Value::of(__int128{1}));
            assign(target, 1);
            break;
        case Action::same:
            assign(target, source(c_.dtype, expected_.shape, false, c_.device));
            break;
        case Action::other_dtype: {
            const DType dtypes[] = {float64, int16, uint8, complex64, float32};
            assign(target, source(dtypes[random_() % 5], expected_.shape, false, c_.device));
            break;
        }
        case Action::swapped:
            assign(target, source(c_.dtype, expected_.shape, true, c_.device));
            break;
        case Action::broadcast: {
            const Shape shape = reduced_shape();
            assign(target, source(c_.dtype, shape, random_() % 2, c_.device));
            break;
        }
        case Action::other_device:
            assign(target, source(c_.dtype, expected_.shape, false, Atoll::device("dummy:1")));
            break;
        case Action::flipped: { // A(i) = A(j), j being i backwards along every axis
            const Items back(expected_.shape.size(), slice({{}, {}, -1}));
            const Selected turned = select_then(expected_, select(back, expected_.shape));
            for (const Shape &at : turned.sources) written_.push_back(memory_.get(at));
            const Index index = index_for(c_, t_).bind(dims(c_.shape));
            assign(target, Selection(t_, index.then(Index(Built(back, c_.device).elements))));
            break;
        }
        case Action::itself: // A(i) = A where that fits, one element of A where not
            if (broadcasts(c_.shape)) {
                written_ = stretched(c_.shape, before_);
                assign(target, t_);
            } else {
                const Items zero(c_.shape.size(), integer(0));
                if (oracle::elements(c_.shape) == 0) break;
                written_ = stretched({}, before_);
                assign(target, t_.index(Built(zero, c_.device).elements));
            }
            break;
        case Action::add_number:
            in_place([](Tensor x) { x += 3; });
            apply(target, [](auto x) { x += 3; });
            break;
        case Action::divide_number:
            in_place([](Tensor x) { x /= 2; });
            apply(target, [](auto x) { x /= 2; });
            break;
        case Action::add_tensor: {
            const Tensor b =
                source(random_() % 2 ? c_.dtype : int16, reduced_shape(), false, c_.device);
            written_.clear();
            in_place([&](Tensor x) { x += b; });
            apply(target, [&](auto x) { x += b; });
            break;
        }
        default: break;
        }
    }
    Selection target_of(const Selection &selection) const { return selection; }
    Selection target_of(const Tensor &view) const { return {view, Index()}; }
    template <class Source> static void assign(Selection to, const Source &source) { to = source; }
    template <class Source> static void assign(Tensor to, const Source &source) {
        to.assign(source);
    }
    template <class Target, class Body> static void apply(const Target &to, const Body &body) {
        body(to);
    }

    const Case &c_;
    Random &random_;
    oracle::Operand memory_;
    Tensor t_;
    std::vector<Value> before_;
    Selected expected_{};
    Status status_ = Status::ok;
    std::vector<Value> written_{};
};

// --- cases ---------------------------------------------------------------------------------------

std::int64_t below(Random &random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

// An index tensor's layout and byte order.
void vary(Item &item, Random &random) {
    if (item.shape.empty() || oracle::elements(item.shape) == 0) return;
    if (random() % 3 == 0) item.layout = oracle::layouts[random() % 5];
    item.swapped = random() % 4 == 0;
}

// How the case is run, other than what it selects.
void choose(Case &c, Random &random) {
    const DType dtypes[] = {int64, float32, uint8, complex64, int16, float64, float16, bool_};
    c.dtype = dtypes[random() % std::size(dtypes)];
    if (oracle::elements(c.shape) > 0 && random() % 2) c.layout = oracle::layouts[random() % 5];
    c.swapped = random() % 4 == 0;
    c.use = static_cast<Use>(random() % static_cast<unsigned>(Use::count));
    c.action = random() % 3 == 0
                   ? Action::get
                   : static_cast<Action>(random() % static_cast<unsigned>(Action::count));
    for (Item &item : c.items)
        if (item.kind == Item::Kind::tensor) vary(item, random);
}

// Every kind of element that takes one axis of this extent, the wrong ones included.
Items kinds_of_axis(std::int64_t n) {
    Items list = {
        plain(Item::Kind::all),
        integer(0),
        integer(n - 1),
        integer(-1),
        integer(n),
        integer(-n - 1),
        slice({1, {}, 1}),
        slice({{}, {}, -1}),
        slice({-100, 100, 2}),
        slice({0, 0, 1}),
        slice({5, -5, -2}),
        positions(int64, {0, n - 1, 0}),
        positions(int8, {-1, 0, -n}),
        positions(uint64, {n - 1}),
        positions(uint8, {}),
        positions(int64, {}),
        positions(int32, {0, n}),
        positions(int64, {0, -n - 1}),
        tensor_item(int16, {}, {-1}),
        tensor_item(uint64, {}, {-1}), // the largest number there is
        positions(float32, {0}),
        tensor_item(bool_, {n}, Shape(static_cast<std::size_t>(n), 0)),
        tensor_item(bool_, {n + 1}, Shape(static_cast<std::size_t>(n + 1), 1)),
    };
    Item mask = tensor_item(bool_, {n}, {});
    for (std::int64_t i = 0; i < n; ++i) mask.values.push_back(i % 2 == 0);
    list.push_back(mask);
    list.push_back(index_item(Item::Kind::bound, {slice({{}, {}, -1})}, {n}));
    list.push_back(index_item(Item::Kind::bound, {mask}, {n}));
    list.push_back(index_item(Item::Kind::bound, {plain(Item::Kind::newaxis)}, {n + 1}));
    list.push_back(index_item(Item::Kind::unbound, {plain(Item::Kind::newaxis), mask}));
    return list;
}

// Those that take two.
Items kinds_of_two(std::int64_t n, std::int64_t m) {
    Item mask = tensor_item(bool_, {n, m}, {});
    for (std::int64_t i = 0; i < n * m; ++i) mask.values.push_back(i % 3 != 1);
    return {
        mask,
        tensor_item(bool_, {n, m}, Shape(static_cast<std::size_t>(n * m), 0)),
        tensor_item(bool_, {n, m + 1}, Shape(static_cast<std::size_t>(n * (m + 1)), 1)),
        tensor_item(int64, {2, 3}, {0, m - 1, n - 1, 0, 0, m - 1}),
        tensor_item(int8, {2, 2}, {-1, 0, -n, -1}),
        tensor_item(uint64, {2, 0}, {}),
        tensor_item(int32, {2, 1}, {0, m}),
        tensor_item(int64, {2, 2}, {0, 0, -n - 1, 0}),
        tensor_item(int64, {1, 2}, {0, 0}),
        tensor_item(int64, {0, 2}, {}),
        tensor_item(int64, {2, 1, 1}, {0, 0}),
        index_item(Item::Kind::bound, {mask, plain(Item::Kind::newaxis)}, {n, m}),
        index_item(Item::Kind::bound, {plain(Item::Kind::all)}, {n, m}),
        index_item(Item::Kind::bound, {plain(Item::Kind::all)}, {n + 1, m}),
        plain(Item::Kind::ellipsis),
    };
}

class Generator {
public:
    Generator(Random &random, bool faults) : random_(random), faults_(faults) {}

    // An expression for the shape, mostly a right one.
    Items items(const Shape &shape, int depth = 0) {
        Items list;
        std::size_t axis = 0;
        bool dots = false;
        while (true) {
            if (pick(8) == 0) list.push_back(plain(Item::Kind::newaxis));
            if (pick(20) == 0) list.push_back(tensor_item(bool_, {}, {pick(2)}));
            if (!dots && pick(6) == 0) {
                dots = true;
                list.push_back(plain(Item::Kind::ellipsis));
                axis += static_cast<std::size_t>(
                    pick(std::ssize(shape) - static_cast<std::int64_t>(axis) + 1));
            }
            if (axis == shape.size()) break;
            if (!dots && pick(8) == 0) break;
            const Shape rest(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
            list.push_back(item(rest, depth));
            axis += axes_of(list.back());
        }
        if (faults_ && pick(25) == 0) list.push_back(plain(Item::Kind::ellipsis));
        if (faults_ && pick(25) == 0) list.push_back(plain(Item::Kind::all));
        if (depth < 2 && pick(12) == 0) return {index_item(Item::Kind::unbound, list)};
        return list;
    }

private:
    std::int64_t pick(std::int64_t n) { return below(random_, n); }
    std::int64_t position(std::int64_t n) {
        if (faults_ && pick(40) == 0) return pick(2) ? n : -n - 1;
        return pick(2 * n) - n;
    }
    DType index_dtype() {
        const DType dtypes[] = {int8, int16, int32, int64, int64, int64};
        return dtypes[pick(6)];
    }
    Item item(const Shape &rest, int depth) {
        const std::int64_t n = rest[0];
        const std::size_t most = std::min<std::size_t>(rest.size(), 3);
        const Shape some(rest.begin(), rest.begin() + 1 + pick(static_cast<std::int64_t>(most)));
        switch (pick(9)) {
        case 0: return plain(Item::Kind::all);
        case 1:
        case 2: {
            const auto end = [&]() -> std::optional<std::int64_t> {
                if (pick(3) == 0) return std::nullopt;
                return pick(4 * n + 7) - 2 * n - 3;
            };
            IndexRange range{end(), end(), 1 + pick(n + 2)};
            if (pick(2)) range.step = -range.step;
            return slice(range);
        }
        case 3:
            if (n > 0 && pick(2)) return tensor_item(index_dtype(), {}, {position(n)});
            return n > 0 ? integer(position(n)) : plain(Item::Kind::all);
        case 4:
        case 5: {
            Shape list(static_cast<std::size_t>(n > 0 ? pick(5) : 0));
            for (std::int64_t &i : list) i = position(n);
            const DType unsigneds[] = {uint8, uint16, uint32, uint64};
            const bool negative =
                std::any_of(list.begin(), list.end(), [](std::int64_t i) { return i < 0; });
            Item made = positions(negative || pick(2) ? index_dtype() : unsigneds[pick(4)], list);
            if (faults_ && pick(40) == 0) made.dtype = float64;
            vary(made, random_);
            return made;
        }
        case 6: {
            Item made = tensor_item(index_dtype(), {std::ssize(some), pick(5)}, {});
            if (oracle::elements(some) == 0) made.shape[1] = 0;
            for (std::int64_t k = 0; k < made.shape[1]; ++k)
                for (std::int64_t extent : some) made.values.push_back(position(extent));
            vary(made, random_);
            return made;
        }
        case 7: {
            Item made = tensor_item(bool_, some, {});
            if (faults_ && pick(20) == 0) ++made.shape.back();
            const std::int64_t of = 1 + pick(4);
            for (std::int64_t k = oracle::elements(made.shape); k > 0; --k)
                made.values.push_back(pick(4) < of);
            vary(made, random_);
            return made;
        }
        default: {
            if (depth >= 2) return integer(n > 0 ? pick(n) : 0);
            Generator right(random_, false);
            Items inner = right.items(some, depth + 1);
            try { // what is wrong in itself cannot be bound
                select(inner, some);
            } catch (const Fault &) {
                inner.clear();
            }
            return index_item(Item::Kind::bound, inner, some);
        }
        }
    }

    Random &random_;
    bool faults_;
};

} // namespace

TEST_CASE("every kind of index beside every other reads and writes what the oracle lists") {
    Random random(random_tests::seed(31));
    const auto check = [&](Device device, const Shape &shape, const Items &items) {
        Case c{device, shape};
        c.items = items;
        choose(c, random);
        Run(c, random).check();
    };
    const Item around[] = {plain(Item::Kind::newaxis), plain(Item::Kind::ellipsis),
                           tensor_item(bool_, {}, {1}), tensor_item(bool_, {}, {0})};
    for (const Device device : all_devices()) {
        for (int repeat = 0; repeat < 12; ++repeat) check(device, {}, {});
        for (const Item &item : around) {
            check(device, {}, {item});
            check(device, {}, {item, item});
        }
        check(device, {}, {integer(0)});
        for (const std::int64_t n : {0, 1, 4})
            for (const Item &item : kinds_of_axis(n)) {
                for (int repeat = 0; repeat < 4; ++repeat) check(device, {n}, {item});
                check(device, {n}, {item, integer(0)});
                for (const Item &other : around) {
                    check(device, {n}, {item, other});
                    check(device, {n}, {other, item});
                }
            }
        for (const Shape &shape : {Shape{3, 2}, Shape{1, 3}, Shape{2, 0}}) {
            for (const Item &first : kinds_of_axis(shape[0])) {
                check(device, shape, {first});
                check(device, shape, {plain(Item::Kind::ellipsis), first});
                for (const Item &second : kinds_of_axis(shape[1]))
                    check(device, shape, {first, second});
            }
            for (const Item &both : kinds_of_two(shape[0], shape[1])) {
                for (int repeat = 0; repeat < 4; ++repeat) check(device, shape, {both});
                for (const Item &other : around) {
                    check(device, shape, {other, both});
                    check(device, shape, {both, other});
                }
            }
        }
    }
}

TEST_CASE("random expressions of rank up to 5 read and write what the oracle lists") {
    Random random(random_tests::seed(32));
    const std::int64_t cases = random_tests::cases(2000);
    for (const Device device : all_devices())
        for (std::int64_t number = 0; number < cases; ++number) {
            Case c{device};
            for (std::int64_t rank = below(random, 6); rank > 0; --rank)
                c.shape.push_back(below(random, 14) == 0 ? 0 : 1 + below(random, 3));
            Generator generate(random, number % 4 == 0);
            c.items = generate.items(c.shape);
            if (number % 3 == 0) {
                try {
                    const Selected first = select(c.items, c.shape);
                    if (first.shape.size() <= 6) {
                        c.first = c.items;
                        c.items = generate.items(first.shape);
                        c.composed = true;
                    }
                } catch (const Fault &) {
                }
            }
            choose(c, random);
            Run(c, random).check();
        }
}

TEST_CASE("an index is refused where it does not match what it was bound to") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({3, 4}, int64, device), m = t(all_, 0) < 2;
        const Index bound = make_index(m, all_).bind({3, 4});
        const auto refused = [](auto &&body) {
            return error_status(body) == Status::invalid_argument;
        };
        CHECK(refused([&] { (void)bound.bind({4, 3}); }));
        CHECK(refused([&] { (void)bound.bind({3, 4, 1}); }));
        CHECK(refused([&] { (void)t.T()(bound).get(); }));
        CHECK(refused([&] { t.T()(bound) = 1; }));
        CHECK(refused([&] { t.T()(bound) += 1; }));
        CHECK(refused([&] { (void)make_index(all_).input_shape(); }));
        CHECK(refused([&] { (void)make_index(all_).output_shape(); }));
        CHECK(refused([&] { (void)make_index(all_).then(make_index(0)); }));
        CHECK(refused([&] { (void)bound.then(make_index(all_, all_, all_)); }));
        CHECK(error_status([&] { (void)bound(2); }) == Status::out_of_range);
        CHECK(refused([&] { (void)make_index(all_).bind({3, -1}); }));
        CHECK(refused([&] { (void)Index().bind(Dims::filled(ATOLL_MAX_RANK + 1, 1)); }));
        CHECK(error_status([&] { (void)Index().bind({INT64_MAX / 2, 4}); }) == Status::overflow);

        // A layout: strides of the same shape that differ, but for axes of one element.
        const Index laid_out = bound.bind(t);
        const Tensor other = empty({3, 4}, {int64, device}, Order::C);
        copy(other, t);
        CHECK(refused([&] { (void)other(laid_out).get(); }));
        CHECK(refused([&] { other(laid_out) = 1; }));
        CHECK(refused([&] { other(laid_out) -= 1; }));
        CHECK(refused([&] { (void)laid_out.bind(other); }));
        CHECK(model_of(other) == model_of(t));
        CHECK(model_of(other(bound)) == model_of(t(laid_out)));
        CHECK(laid_out.bind(t).is_bound_to_strides());
        CHECK(laid_out.bind({3, 4}).is_bound());
        const Tensor row = t(range(0, 1), all_), column = t.T()(all_, range(0, 1));
        const Index last = make_index(0, vector<int>({3}, {device}));
        CHECK(model_of(row(last.bind(row))).numbers == Shape{9});
        const Tensor apart(t.storage(), 0, {1, 4}, {1000, 24}, int64);
        CHECK(model_of(apart(last.bind(row))).numbers == Shape{9});
        // Offsets are bytes: another dtype with the same strides will do.
        const Tensor real = full({5}, 2, {complex64, device}).real();
        const Index second = make_index(vector<int>({1}, {device})).bind(real);
        CHECK(values_of(real(second).get())[0].re == 2);
        CHECK(model_of(arange(5, {int64, device})(second)).numbers == Shape{1});
        // Nested, only its positions count.
        CHECK(model_of(other(laid_out, newaxis)).numbers == model_of(t(bound)).numbers);
        const Index everything = make_index().bind({3, 4});
        CHECK(model_of(t(everything.then(bound.bind(other)))) == model_of(t(bound)));
    }
}

TEST_CASE("what may not be written is not, and the tensor stays as it is") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({2, 3}, int64, device), i = vector<int>({1, 0}, {device});
        const Model before = model_of(t);
        const auto refused = [&](const Tensor &to, Status status) {
            CHECK(error_status([&] { to(i, all_) = 7; }) == status);
            CHECK(error_status([&] { to(i, all_) = t; }) == status);
            CHECK(error_status([&] { to(i, all_) += 7; }) == status);
            CHECK(error_status([&] { to(make_index(i).bind(to)) = 7; }) == status);
            CHECK(model_of(t) == before);
        };
        Tensor locked = t.shallow_copy();
        locked.set_read_only();
        refused(locked, Status::read_only);
        CHECK(locked(make_index(all_, 0)).get().is_read_only());
        CHECK_FALSE(locked(i).get().is_read_only());
        CHECK(error_status([&] { locked(make_index(all_, 0)) = 7; }) == Status::read_only);
        CHECK(error_status([&] { locked(make_index(all_, 0)) += 7; }) == Status::read_only);
        refused(Tensor(t.storage(), 0, {2, 3}, {8, 0}, int64), Status::invalid_argument);
        refused(Tensor(t.storage(), 0, {2, 3}, {8, 8}, int64), Status::invalid_argument);

        const auto status = [](auto &&body) { return error_status(body); };
        CHECK(status([&] { t(i, all_) = zeros({3}, {device}); }) == Status::invalid_argument);
        CHECK(status([&] { t(i) += zeros({2, 3, 2}, {device}); }) == Status::invalid_argument);
        CHECK(status([&] { t.view_as(uint64)(i) += -1; }) == Status::out_of_range);
        CHECK(status([&] { t.cast(int8)(i) = 1000; }) == Status::out_of_range);
        CHECK(status([&] { t(i, vector<int>({0, 3}, {device})) = 7; }) == Status::out_of_range);
        CHECK(status([&] { (void)t(Tensor()).get(); }) == Status::invalid_argument);
        CHECK(status([&] { (void)Tensor()(i).get(); }) == Status::invalid_argument);
        CHECK(model_of(t) == before);
    }
}

TEST_CASE("errors of index tensors say what was given and what fits") {
    const Tensor t = counting({2, 3}, int64, cpu());
    const auto says = [&](auto &&body, std::initializer_list<const char *> parts) {
        const std::string text = error_text(body);
        CAPTURE(text);
        for (const char *part : parts) CHECK(contains(text, part));
    };
    says([&] { (void)t(all_, vector<int>({0, -5})).get(); }, {"-5", "axis 1", "(2, 3)", "-3 to 2"});
    says([&] { (void)t(vector<std::uint64_t>({~std::uint64_t{0}})).get(); },
         {"18446744073709551615", "axis 0", "-2 to 1"});
    says([&] { (void)t(vector<float>({0})).get(); }, {"float32", "need bool"});
    says([&] { (void)t(zeros({2, 2}, {bool_})).get(); }, {"mask of shape (2, 2)", "(2, 3)"});
    says([&] { (void)t(make_index().bind({2})).get(); }, {"(2, 3)", "bound to (2,)"});
    says([&] { (void)t(0, make_index().bind({2})).get(); }, {"bound to shape (2,)", "axes 1 to 1"});
    says([&] { (void)t.T()(make_index().bind(t)).get(); }, {"(3, 2)", "bound to (2, 3)"});
}

TEST_CASE("an index holds what its tensors held when it was bound") {
    for (const Device device : all_devices()) {
        Tensor t = arange(10, {int64, device}), i = vector<std::int64_t>({1, 2}, {device});
        Tensor mask = t < 2;
        const Index unbound = make_index(i), bound = unbound.bind({10}), laid_out = bound.bind(t);
        const Index masked = make_index(mask).bind({10});
        i.assign(5);
        mask.fill(true);
        CHECK(model_of(t(unbound)).numbers == Shape{5, 5});
        CHECK(model_of(t(bound)).numbers == Shape{1, 2});
        CHECK(model_of(t(laid_out)).numbers == Shape{1, 2});
        CHECK(model_of(t(masked)).numbers == Shape{0, 1});
        // Using an index leaves it and the caller's tensors as they are.
        for (int repeat = 0; repeat < 2; ++repeat) {
            t(unbound) += 100;
            CHECK(model_of(i).numbers == Shape{5, 5});
            CHECK(model_of(t(bound, newaxis)).numbers == Shape{1, 2});
        }
        // A tensor that indexes itself.
        const Tensor own = vector<std::int64_t>({2, 0, 1}, {device});
        own(own) = own;
        CHECK(model_of(own).numbers == Shape{0, 1, 2});
        own(own) += own;
        CHECK(model_of(own).numbers == Shape{0, 2, 4});
        // Bytes at stride 1, where positions are offsets.
        const Tensor bytes = arange(6, {uint8, device});
        const Index some = make_index(vector<std::int64_t>({4, 4, 1}, {device})).bind({6});
        for (int repeat = 0; repeat < 2; ++repeat) bytes(some) += 1;
        CHECK(model_of(bytes).numbers == Shape{0, 3, 2, 3, 6, 5});
    }
}

TEST_CASE("narrow index dtypes count from the end of axes that are longer than they can say") {
    for (const Device device : all_devices())
        for (const std::int64_t n : {100, 128, 129, 200, 256, 300, 40'000, 70'000}) {
            const Tensor t = arange(n, {int64, device});
            CAPTURE(n);
            const Tensor i = vector<std::int8_t>({-1, 99, -100}, {device});
            for (const DType dtype : {int8, int16, int32, int64})
                CHECK(model_of(t(i.cast(dtype))).numbers == Shape{n - 1, 99, n - 100});
            const Tensor high = vector<std::uint8_t>({255}, {device});
            CHECK((error_status([&] { (void)t(high).get(); }) == Status::ok) == (n > 255));
            const Tensor low = vector<std::int8_t>({-128}, {device});
            CHECK((error_status([&] { (void)t(low).get(); }) == Status::ok) == (n >= 128));
        }
}

TEST_CASE("of repeated indices the last in column-major order stays") {
    for (const Device device : all_devices()) {
        const Tensor t = zeros({3}, {int64, device});
        t(vector<int>({2, 0, 2, -1, 0}, {device})) = vector<int>({1, 2, 3, 4, 5}, {device});
        CHECK(model_of(t).numbers == Shape{5, 0, 4});
        const Tensor matrix = zeros({2, 2}, {int64, device}), i = vector<int>({1, 1}, {device});
        matrix(i, i) = arange(4, {int64, device}).reshape({2, 2});
        CHECK(model_of(matrix).numbers == Shape{0, 0, 0, 3});
        t(vector<int>({1, 1, 1}, {device})) += 2; // read, computed, written
        CHECK(model_of(t).numbers == Shape{5, 2, 4});
        // Many, where a device has many threads.
        constexpr std::int64_t n = 40'000;
        const Tensor many = zeros({7, 3}, {int64, device});
        const Tensor where_to = remainder(arange(n, {int64, device}), 7);
        many(where_to, all_) = arange(n, {int64, device});
        for (std::int64_t k = 0; k < 7; ++k) {
            const std::int64_t last = (n - 1) - ((n - 1) % 7 - k + 7) % 7;
            CHECK(model_of(many(k, all_)).numbers == Shape{last, last, last});
        }
    }
}

TEST_CASE("selections and temporaries are indices, operands and shapes") {
    for (const Device device : all_devices()) {
        const Tensor t = arange(10, {int64, device}) * Scalar(10);
        const Tensor i = vector<std::int64_t>({7, 1, 3}, {device});
        CHECK(model_of(t(i(i < 5))).numbers == Shape{10, 30});
        CHECK(model_of(t(i) + i).numbers == Shape{77, 11, 33});
        const Tensor copy = t(i);
        t(i) = i(range({}, {}, -1));
        CHECK(model_of(t(i)).numbers == Shape{3, 1, 7});
        CHECK(model_of(copy).numbers == Shape{70, 10, 30});
        std::int64_t total = 0;
        for (std::int64_t extent : make_index(i, newaxis).bind({10}).output_shape())
            total += extent;
        CHECK(total == 4);
        CHECK(model_of(t(nonzero(t > 50))) == model_of(t(t > 50)));
        const Tensor cube = counting({3, 4, 2}, int64, device);
        const Tensor odd = remainder(cube, 3) == Scalar(1);
        CHECK(model_of(cube(nonzero(odd))) == model_of(cube(odd)));
        CHECK(nonzero(full({}, true, {device})).shape() == Dims{0, 1});
    }
}

TEST_CASE("a mask over all elements takes no positions") {
    const auto fails = [](const atoll_link *, atoll_call *) {
        return std::int32_t{ATOLL_STATUS_INTERNAL};
    };
    for (const Device device : all_devices()) {
        const Tensor t = counting({3, 4}, int64, device);
        const Tensor mask = remainder(t, 3) == Scalar(1);
        const Shape wanted = model_of(t(nonzero(mask))).numbers;
        const InterposerHandle handle =
            push_interposer("core.find@" + std::string(device.type()), fails, nullptr);
        CHECK(model_of(t(mask)).numbers == wanted);
        CHECK(model_of(compress(t, mask)).numbers == wanted);
        CHECK_THROWS_AS(t(make_index(mask).bind(t.shape())).get(), Error);
        const Tensor written = t.cast(float32).T();
        written(mask.T()) = 7;
        CHECK(model_of(written.ensure(int64)) == model_of(where(mask, 7, t).T()));
        CHECK(error_text([&] { t.cast(int8)(mask) = 300; }) ==
              "[core.scatter] 300 does not fit int8; convert it with Scalar::cast");
        CHECK(contains(error_text([&] {
                           t(all_, range(0, 1)).broadcast_to({3, 4})(mask) = 1;
                       }),
                       "core.scatter"));
        // Of itself.
        const Tensor own = mask.replicate();
        own(own) = false;
        CHECK(!any(own));
        pop_interposer(handle);
        CHECK(compress(t, zeros({3, 4}, {bool_, device})).shape() == Dims{0});
        // Into another dtype, on another device.
        const Tensor out = empty({4}, {float32, cpu()});
        compress(t, mask.ensure(int8, cpu()), out);
        CHECK(model_of(out.ensure(int64)).numbers == wanted);
        CHECK(compress(counting({}, int64, device), full({}, true, {device})).shape() == Dims{1});
    }
}

TEST_CASE("a byte other than 0 and 1 in a mask counts as true, once") {
    for (const Device device : all_devices()) {
        const Tensor mask = vector<std::uint8_t>({0, 2, 255, 0, 1, 128}, {device}).view_as(bool_);
        const Tensor t = arange(6, {int64, device});
        CHECK(model_of(t(mask)).numbers == Shape{1, 2, 4, 5});
        CHECK(model_of(find(mask)).numbers == Shape{1, 2, 4, 5});
    }
}

TEST_CASE("indexing goes by the caller's settings at its own operands only") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({3, 4}, int64, device);
        const Tensor i = vector<std::int8_t>({-1, 0}, {device}), m = t(0, all_) > 2;
        const Tensor expected = t(i, m), bits = t > 4;
        const ScopedSettings strict([](Settings &s) {
            s.auto_cast = s.auto_broadcast = false;
            s.compute_mode = ComputeMode::error;
            s.default_dtype = DType::none;
            s.default_device = "none:0";
        });
        CHECK(model_of(t(i, m)) == model_of(expected));
        CHECK(model_of(t.T()(m, i)) == model_of(expected.T()));
        CHECK(t(bits).get().size() == 7);
        CHECK(t.T()(bits.T()).get().size() == 7);
        CHECK(model_of(t(make_index(all_, m).bind(t)(i, all_))) == model_of(expected));
        t(i, m) = expected;
        t(i, m) += expected;
        CHECK(error_status([&] { t(i, m) = expected.cast(int32); }) == Status::invalid_argument);
        CHECK(error_status([&] { t(i, m) = expected(all_, 0); }) == Status::invalid_argument);
        const Device other = Atoll::device(device == cpu() ? "dummy:1" : "cpu");
        const Index moved = make_index(i, m).bind(t).to(other);
        CHECK(error_status([&] { (void)t(moved).get(); }) == Status::invalid_argument);
        CHECK(error_status([&] { (void)t(i.to(other)).get(); }) == Status::invalid_argument);
        CHECK(model_of(t(moved.to(device))) == model_of(t(i, m)));
        CHECK(model_of(t.to(other)(moved)) == model_of(t(i, m)));
    }
}

TEST_CASE("tensors without elements take any index that fits, whatever their strides") {
    const Tensor source = zeros({8}, {int64, cpu()});
    constexpr std::int64_t far = std::int64_t{1} << 48;
    const Tensor t(source.storage(), 8, {0, 1 << 20, 3}, {far, -far, far}, int64);
    const Tensor i = vector<std::int64_t>({(1 << 20) - 1, 0, -1});
    CHECK(t(all_, -1, 2).size() == 0);
    CHECK(t(all_, range({}, {}, -(1 << 19)), 2).shape() == Dims{0, 2});
    CHECK(t(all_, i, range({}, {}, -1)).get().shape() == Dims{0, 3, 3});
    CHECK(t(make_index(all_, -1).bind(t)).get().shape() == Dims{0, 3});
    t(all_, i) = 1;
    CHECK(t(all_, -1, 2).offset() <= 64);
    CHECK(t(make_index(all_, -1)).get().offset() <= 64);
}

TEST_CASE("a selection of more elements than can be counted is refused") {
    const Tensor t = zeros({1, 1, 1, 1}, {uint8, cpu()});
    const Tensor i = zeros({1 << 16}, {int8, cpu()});
    CHECK(error_status([&] { t(i, i, i, i) = 1; }) == Status::overflow);
    CHECK(error_status([&] { (void)make_index(i, i, i, i).bind(t); }) == Status::overflow);
    std::vector<IndexElement> many(ATOLL_MAX_RANK + 1, newaxis);
    CHECK(error_status([&] { (void)Index(many).bind(Dims{}); }) == Status::invalid_argument);
}

TEST_CASE("positions may lie in the memory that is written, in any layout") {
    Tensor t = tensor({3, 2, 1, 0, 4, 5}, int64);
    t(Tensor(t(range(0, 4)))) = tensor({10, 11, 12, 13}, int64);
    CHECK(to_string(t) == to_string(tensor({13, 12, 11, 10, 4, 5}, int64)));
    // Elements of one byte, for which positions are offsets in bytes.
    std::int64_t memory[] = {9, 8, 1, 0};
    const Tensor words = from_memory(memory, {4}, {8}, int64, cpu());
    Tensor bytes = from_memory(memory, {32}, {1}, uint8, cpu());
    bytes(words) = tensor({10, 11, 12, 13}, uint8);
    for (const auto &[at, value] : {std::pair{9, 10}, {8, 11}, {1, 12}, {0, 13}})
        CHECK(bytes(at).item<int>() == value);

    // Backwards, at odd addresses, byte-swapped.
    const Tensor at = tensor({7, 0, 99, 5}, int64), from = arange(100);
    Tensor backwards = tensor({5, 99, 0, 7}, int64);
    alignas(8) char buffer[33];
    Tensor odd = from_memory(buffer + 1, {4}, {8}, int64, cpu());
    odd.assign(at);
    Tensor swapped = at.replicate();
    swapped.byteswap();
    for (const Tensor &positions : {Tensor(backwards(range({}, {}, -1))), odd, swapped}) {
        CHECK(all(equal(from(positions), at)).item<bool>());
        Tensor to = zeros({100});
        to(positions) = tensor({1, 2, 3, 4});
        CHECK(to(7).item<double>() == 1);
        CHECK(to(0).item<double>() == 2);
        CHECK(to(99).item<double>() == 3);
        CHECK(to(5).item<double>() == 4);
    }
}
