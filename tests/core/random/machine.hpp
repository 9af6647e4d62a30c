// The machine that runs tensor operations on a device and in the interpreter at once and compares
// the two. What it does for each kind of operation is in machine_functions.cpp, machine_copies.cpp
// and machine_views.cpp.
//
// Note [Deferred interpretation]
// An asynchronous device is only put to the test while nobody waits for it. So the machine
// interprets shapes, dtypes and errors at once, but elements later: after each operation whose
// digits or NaNs are the device's own it enqueues a copy of the storage that was written, and goes
// on. When elements are needed, the operations are interpreted in order, each compared with its
// copy, whose elements the interpreter's memory takes over, so that errors do not add up.
#pragma once

#include "../any_output.hpp"
#include "program.hpp"

#include <deque>

namespace interpreter {

// A device as programs see it: several streams, perhaps several devices, and the cpu.
struct World {
    std::string name;
    std::vector<Atoll::Placement> places; // without dtypes
    bool shaky = false;                   // may be made slow at random
};

struct Slot {
    Array array;
    Tensor tensor;
};

class Machine {
public:
    explicit Machine(const World &world, bool tracing = false) : world_(world), tracing_(tracing) {}
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    // False once something is wrong.
    bool run(const Op &op) {
        position_ = count_++;
        if (tracing_) trace_ << "  " << describe(op) << '\n';
        if (!runnable(op)) {
            ++skipped_;
            if (tracing_) trace_ << "      (left out)\n";
            return true;
        }
        const int refused = refused_;
        guarded([&] {
            execute(op);
            if (refused_ == refused) ++worked_[static_cast<std::size_t>(op.function)];
            if (!waits_ || pending_.size() > 40) settle();
        });
        return wrong_.empty();
    }
    // Compares all that is there.
    bool finish() {
        position_ = count_;
        guarded([&] {
            settle();
            for (int s = 0; s < slot_count && wrong_.empty(); ++s)
                if (slots_[s]) compare_storage(*slots_[s]);
        });
        return wrong_.empty();
    }
    const std::string &wrong() const { return wrong_; }
    int wrong_at() const { return wrong_at_; } // the operation's number
    int refused() const { return refused_; }
    int skipped() const { return skipped_; }
    // How often each function of the list has worked.
    const std::vector<int> &worked() const { return worked_; }
    std::string trace() const { return trace_.str(); }
    const std::optional<Slot> &slot(int s) const { return slots_[s]; }

private:
    // ---- what is compared -----------------------------------------------------------------------

    // One operation's writes to one storage.
    struct Effect {
        int position;
        Array target;
        Numbers addresses;
        int natural; // the dtype of the results before they are converted to the target's
        bool fresh;  // nothing is known of the storage's other bytes
        std::function<std::vector<Expected>()> expect;
        Tensor copy;              // of the storage's bytes, enqueued
        std::vector<char> memory; // or those bytes
        bool copied = false;
    };

    void fail(int position, const std::string &what) {
        if (!wrong_.empty()) return;
        wrong_ = what;
        wrong_at_ = position;
    }

    // What fails on an asynchronous device may be thrown later, wherever the library waits.
    template <class Body> void guarded(const Body &body) {
        try {
            body();
        } catch (const Atoll::Error &error) {
            fail(position_, std::string("threw ") + error.what());
        }
        if (!wrong_.empty()) pending_.clear();
    }

    static bool is_inline(const Tensor &tensor) { return tensor.device().is_inline(); }
    static std::vector<char> storage_bytes(const Tensor &tensor) {
        const Atoll::Storage storage = tensor.storage();
        std::vector<char> bytes(static_cast<std::size_t>(storage.bytes()));
        if (bytes.empty()) return bytes;
        if (is_inline(tensor))
            std::memcpy(bytes.data(), storage.data(), bytes.size());
        else
            Tensor(storage, 0, {storage.bytes()}, {1}, Atoll::uint8)
                .read(bytes.data(), Atoll::uint8);
        return bytes;
    }

    // `floats`: digits, or the bits of NaN, are the device's own.
    void record(const Tensor &tensor, Array target, Numbers addresses, int natural, bool floats,
                bool fresh, std::function<std::vector<Expected>()> expect) {
        Effect effect{position_,
                      std::move(target),
                      std::move(addresses),
                      natural,
                      fresh,
                      std::move(expect),
                      {},
                      {},
                      false};
        const Atoll::Storage storage = tensor.storage();
        const bool gaps =
            fresh && storage.bytes() != effect.target.size() * effect.target.itemsize();
        if (floats || gaps || watched_ || is_floating(effect.target.dtype)) {
            effect.copied = true;
            if (is_inline(tensor))
                effect.memory = storage_bytes(tensor);
            else
                effect.copy = Tensor(storage, 0, {storage.bytes()}, {1}, Atoll::uint8).replicate();
        }
        waits_ = !is_inline(tensor);
        pending_.push_back(std::move(effect));
    }

    void settle() {
        for (; !pending_.empty() && wrong_.empty(); pending_.pop_front())
            interpret(pending_.front());
        if (!wrong_.empty()) pending_.clear();
    }

    void interpret(Effect &effect) {
        Array &target = effect.target;
        std::vector<char> &bytes = target.memory->bytes;
        const std::vector<Expected> expected = effect.expect();
        const int to = id(target.dtype);
        const auto converted = [&](std::size_t k) {
            return oracle::convert(oracle::convert(expected[k].value, effect.natural), to);
        };
        if (!effect.copied) {
            for (std::size_t k = 0; k < expected.size(); ++k)
                oracle::write(bytes.data() + effect.addresses[k], to, target.swapped, converted(k));
            return;
        }
        std::vector<char> got = std::move(effect.memory);
        if (effect.copy.is_defined()) {
            got.resize(bytes.size());
            effect.copy.read(got.data(), Atoll::uint8);
        }
        std::vector<char> written(bytes.size(), '\0');
        const auto size = static_cast<std::size_t>(target.itemsize());
        for (std::size_t k = expected.size(); k-- > 0;) { // the last one written stays
            const auto at = static_cast<std::size_t>(effect.addresses[k]);
            if (written[at]) continue;
            std::fill_n(written.begin() + effect.addresses[k], size, '\1');
            const Value v = oracle::read(got.data() + at, to, target.swapped);
            if (!oracle::accepts(expected[k], v, effect.natural, to)) {
                std::ostringstream out;
                out << "element " << k << " is " << oracle::text(v) << ", need "
                    << oracle::text(expected[k]);
                if (effect.natural != to)
                    out << " as " << oracle::facts[effect.natural].name << " as "
                        << oracle::facts[to].name;
                return fail(effect.position, out.str());
            }
        }
        for (std::size_t i = 0; i < bytes.size() && !effect.fresh; ++i)
            if (!written[i] && got[i] != bytes[i])
                return fail(effect.position, "byte " + std::to_string(i) +
                                                 " of the storage, which is not of the "
                                                 "destination, changed");
        bytes = std::move(got);
    }

    void compare_storage(const Slot &slot) {
        const std::vector<char> got = storage_bytes(slot.tensor);
        const Array &array = slot.array;
        if (got == array.memory->bytes) return;
        std::string detail;
        each(array.shape, [&](const Numbers &index) {
            const Value own = array.View::read(got, index), want = array.read(array.at(index));
            if (detail.empty() && !oracle::same(own, want, id(array.dtype), 0))
                detail = ": element " + shape_text(index) + " is " + oracle::text(own) + ", need " +
                         oracle::text(want);
        });
        fail(position_, "the storage of t" + std::to_string(slot_of(slot)) +
                            " is not what the operations made it" + detail);
    }
    int slot_of(const Slot &slot) const {
        for (int s = 0; s < slot_count; ++s)
            if (slots_[s] && &*slots_[s] == &slot) return s;
        return -1;
    }

    // ---- calls ----------------------------------------------------------------------------------

    // What the interpreter says of an operation.
    struct Prediction {
        std::set<Status> errors; // any of these; none: it works
        Numbers shape{};
        DType result = DType::none;
        bool floats = false;
        std::function<std::vector<Expected>()> expect{};
        Atoll::Device device{};
    };

    // Runs body; false if it threw. Judges whether that is right.
    template <class Body> bool attempt(const std::set<Status> &errors, const Body &body) {
        Status status = Status::ok;
        std::string what;
        try {
            body();
        } catch (const Atoll::Error &error) {
            status = error.status();
            what = error.what();
        }
        if (tracing_ && status != Status::ok) trace_ << "      throws " << what << '\n';
        refused_ += status != Status::ok;
        if (errors.empty() ? status != Status::ok : errors.count(status) == 0) {
            std::string need;
            for (Status error : errors)
                need += (need.empty() ? "" : " or ") + std::string(name(error));
            fail(position_, "status " + std::string(name(status)) + " (" + what + "), need " +
                                (need.empty() ? "ok" : need));
        }
        return status == Status::ok && wrong_.empty();
    }

    static Array array_of(const Tensor &tensor, std::shared_ptr<Memory> memory) {
        Array array;
        array.dtype = tensor.dtype();
        array.swapped = tensor.is_byteswapped();
        array.read_only = tensor.is_read_only() && !memory->read_only;
        array.shape.assign(tensor.shape().begin(), tensor.shape().end());
        array.strides.assign(tensor.strides().begin(), tensor.strides().end());
        array.offset = tensor.offset();
        array.memory = std::move(memory);
        return array;
    }
    static std::string shape_text(const Numbers &shape) {
        std::string text = "(";
        for (std::int64_t n : shape) text += (text.size() > 1 ? "," : "") + std::to_string(n);
        return text + ")";
    }

    void put(int to, Array array, const Tensor &tensor) {
        if (tracing_)
            trace_ << "      t" << to << " is " << array.text()
                   << (array.is_read_only() ? " read-only" : "") << " on " << tensor.device().name()
                   << '\n';
        slots_[to] = Slot{std::move(array), tensor};
    }

    // A new tensor with a storage of its own.
    void put_fresh(const Op &op, const Tensor &tensor, const Prediction &p,
                   bool any_order = false) {
        auto memory = std::make_shared<Memory>();
        memory->bytes.resize(static_cast<std::size_t>(tensor.storage().bytes()));
        Array array = array_of(tensor, memory);
        if (array.shape != p.shape || array.dtype != p.result || array.read_only ||
            (array.swapped && !any_order) || (p.device && !(tensor.device() == p.device)) ||
            !array.fits())
            return fail(position_, "the result is " + array.text() + " on " +
                                       tensor.device().name() + ", need " +
                                       std::string(name(p.result)) + ' ' + shape_text(p.shape));
        memory->boolean = array.dtype == Atoll::bool_;
        record(tensor, array, array.addresses(), id(p.result), p.floats, true, p.expect);
        put(op.to, array, tensor);
    }

    // call(out) gives the result.
    template <class Call> void perform(const Op &op, Prediction p, const Call &call) {
        if (count_of(p.shape) > 500 || p.shape.size() > 7) return;
        if (!op.given) {
            Tensor result;
            if (attempt(p.errors, [&] { result = call(Atoll::Out()); })) put_fresh(op, result, p);
            return;
        }
        const Slot to = *slots_[op.to];
        if (to.array.shape != p.shape) p.errors.insert(Status::invalid_argument);
        destination_errors(to.array, p.errors);
        // A destination of a storage with bools must be of them, too: it is.
        if (attempt(p.errors, [&] { call(Atoll::Out(to.tensor)); }))
            record(to.tensor, to.array, to.array.addresses(), id(p.result), p.floats, false,
                   p.expect);
    }
    static void destination_errors(const Array &to, std::set<Status> &errors) {
        if (to.is_read_only()) errors.insert(Status::read_only);
        if (to.overlaps_itself()) errors.insert(Status::invalid_argument);
    }

    // The operands are there.
    bool runnable(const Op &op) const {
        for (int s : op.in)
            if (s >= 0 && !slots_[s]) return false;
        return !op.given || slots_[op.to];
    }
    const Slot &in(const Op &op, int i = 0) const { return *slots_[op.in[i]]; }
    std::vector<Input> inputs(const Op &op, int count) const {
        std::vector<Input> list;
        for (int i = 0; i < count; ++i) {
            Input input;
            if (op.in[i] >= 0)
                input.array = in(op, i).array;
            else
                input.scalar = op.scalars[i];
            list.push_back(std::move(input));
        }
        return list;
    }
    void execute(const Op &op) {
        waits_ = true;
        watched_ = op.watched;
        switch (op.kind) {
        case Kind::create: return create(op);
        case Kind::overlay: return overlay(op);
        case Kind::view: return view(op);
        case Kind::unary: return elementwise(op, 1);
        case Kind::binary:
        case Kind::in_place: return elementwise(op, 2);
        case Kind::ternary: return elementwise(op, 3);
        case Kind::reduce: return reduce(op);
        case Kind::scan: return scan(op);
        case Kind::sort: return sort(op);
        case Kind::search: return search(op);
        case Kind::find: return find(op);
        case Kind::compress: return compress(op);
        case Kind::matmul: return matmul(op);
        case Kind::gemm: return gemm(op);
        case Kind::copy: return copy(op);
        case Kind::assign: return assign(op);
        case Kind::fill: return fill(op);
        case Kind::index_get: return index_get(op);
        case Kind::index_set: return index_set(op);
        case Kind::index_in_place: return index_in_place(op);
        case Kind::join: return join(op);
        case Kind::steps: return steps(op);
        case Kind::constant: return constant(op);
        case Kind::byteswap: return byteswap(op);
        case Kind::flags: return flags(op);
        case Kind::detach: return detach(op);
        case Kind::dealloc: return dealloc(op);
        case Kind::synchronize: return synchronize(op);
        case Kind::check: return check(op);
        }
    }

    Atoll::Placement placement(const Op &op, DType dtype) const {
        Atoll::Placement where = world_.places[static_cast<std::size_t>(op.place)];
        where.dtype = dtype;
        return where;
    }

    // making tensors
    void create(const Op &op);
    void overlay(const Op &op);
    void constant(const Op &op);
    void steps(const Op &op);
    void join(const Op &op);

    // functions
    void elementwise(const Op &op, int count);
    template <class To> static void apply_operator(int function, To &to, const Atoll::Operand &b) {
        switch (function) {
        case ATOLL_FN_add: to += b; break;
        case ATOLL_FN_subtract: to -= b; break;
        case ATOLL_FN_multiply: to *= b.scalar(); break;
        case ATOLL_FN_divide: to /= b; break;
        case ATOLL_FN_remainder: to %= b; break;
        case ATOLL_FN_bitwise_and: to &= b; break;
        case ATOLL_FN_bitwise_or: to |= b; break;
        case ATOLL_FN_bitwise_xor: to ^= b; break;
        case ATOLL_FN_left_shift: to <<= b; break;
        default: to >>= b; break;
        }
    }
    void reduce(const Op &op);
    void scan(const Op &op);
    void sort(const Op &op);
    void search(const Op &op);
    void find(const Op &op);
    void compress(const Op &op);
    void matmul(const Op &op);
    void gemm(const Op &op);

    // copies
    void copy(const Op &op);
    void assign(const Op &op);
    void fill(const Op &op);
    void byteswap(const Op &op);

    // the rest
    void flags(const Op &op);
    void detach(const Op &op);
    void dealloc(const Op &op);
    void synchronize(const Op &op);
    void check(const Op &op);

    // views
    void view(const Op &op);
    static Tensor call_view(const Op &op, ViewKind kind, const Tensor &t);
    void imaginary_zeros(const Op &op, const Slot &from);

    // indexing
    // The library's form of the elements; keeps the tensors that they refer to.
    struct Elements {
        std::deque<Tensor> tensors;
        std::vector<Atoll::IndexElement> list;
    };
    void make_elements(const Op &op, const std::vector<IndexPart> &parts, Elements &made) const;
    Atoll::Index make_index(const Op &op, const Elements &elements, const Tensor &t) const;
    void index_get(const Op &op);
    static void selection_errors(const Array &to, const Selection &selected,
                                 std::set<Status> &errors);
    void index_set(const Op &op);
    void index_in_place(const Op &op);

    const World &world_;
    const AnyOutput any_output_;
    const bool tracing_;
    std::optional<Slot> slots_[slot_count];
    std::deque<Effect> pending_;
    bool watched_ = false;
    bool waits_ = true; // the last operation ran on a device that does not run inline
    int count_ = 0, position_ = 0, wrong_at_ = -1, refused_ = 0, skipped_ = 0;
    std::vector<int> worked_ = std::vector<int>(ATOLL_FN_COUNT);
    std::string wrong_;
    std::ostringstream trace_;
};

} // namespace interpreter
