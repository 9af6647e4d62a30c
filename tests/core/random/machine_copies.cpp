// What the machine does for copies, writes, flags and streams.
#include "machine.hpp"

namespace interpreter {

// ---- copies ------------------------------------------------------------------------------------

void Machine::copy(const Op &op) {
    const Slot from = in(op);
    const Atoll::Placement where = placement(op, op.dtype);
    const DType own = from.array.dtype;
    const bool casts = op.variant >= 3 && op.variant <= 6;
    Prediction p;
    p.shape = from.array.shape;
    p.result = casts ? op.dtype : own;
    const bool moves = op.variant == 1 || op.variant == 4 || op.variant == 6 || op.variant == 7;
    p.device = moves ? where.device : from.tensor.device();
    p.expect = [=] {
        std::vector<Expected> all;
        for (const Value &v : from.array.values())
            all.push_back({oracle::convert(v, id(p.result))});
        return all;
    };
    Tensor made;
    if (!attempt({}, [&] {
            const Tensor &t = from.tensor;
            switch (op.variant) {
            case 0: made = t.clone(); break;
            case 1: made = t.clone(where.device); break;
            case 2: made = t.replicate(); break;
            case 3: made = t.cast(op.dtype); break;
            case 4: made = t.cast(op.dtype, where.device); break;
            case 5: made = t.ensure(op.dtype); break;
            case 6: made = Atoll::empty(t.shape(), where).assign(t); break;
            default: made = t.to(where.device); break;
            }
        }))
        return;
    if (made.storage() == from.tensor.storage()) {
        // The tensor itself; another object, so that flags are not shared.
        if (!(op.variant == 5 && own == op.dtype) &&
            !(op.variant == 7 && from.tensor.device() == where.device))
            return fail(position_, "no copy was made");
        const Tensor seen = made.shallow_copy();
        Array array = array_of(seen, from.array.memory);
        array.read_only = from.array.read_only;
        return put(op.to, array, seen);
    }
    if (made.is_byteswapped() && !(op.variant < 2 && from.array.swapped &&
                                   made.device().type() == from.tensor.device().type()))
        return fail(position_, "the copy is byte-swapped");
    put_fresh(op, made, p, true);
}

void Machine::assign(const Op &op) {
    Slot to = *slots_[op.to];
    const std::vector<Input> operands = inputs(op, 1);
    Prediction p;
    p.shape = to.array.shape;
    const bool tensor = operands[0].array.has_value();
    if (tensor && !broadcasts_to(operands[0].array->shape, p.shape))
        p.errors.insert(Status::invalid_argument);
    if (!tensor && op.scalars[0].overflows(to.array.dtype)) p.errors.insert(Status::out_of_range);
    p.result = tensor ? operands[0].array->dtype : to.array.dtype;
    p.floats = is_floating(p.result);
    p.expect = [=] {
        std::vector<Expected> all;
        if (tensor)
            for (const Value &v : operands[0].array->values_over(p.shape)) all.push_back({v});
        else
            all.assign(static_cast<std::size_t>(count_of(p.shape)),
                       {oracle::convert(value_of(op.scalars[0]), id(p.result))});
        return all;
    };
    perform(op, p, [&](Atoll::Out) -> Tensor {
        if (!tensor) return to.tensor.assign(op.scalars[0]);
        if (op.flag) return Atoll::View(to.tensor) = in(op).tensor;
        return to.tensor.assign(in(op).tensor);
    });
}

// Unlike all others, fills a tensor that overlaps itself.
void Machine::fill(const Op &op) {
    Slot to = *slots_[op.to];
    std::set<Status> errors;
    if (to.array.is_read_only()) errors.insert(Status::read_only);
    if (op.scalars[0].overflows(to.array.dtype)) errors.insert(Status::out_of_range);
    // What is left where elements share some of their bytes depends on the order.
    for (std::int64_t stride : to.array.strides)
        if (stride % to.array.itemsize() != 0 && to.array.overlaps_itself()) return;
    if (!attempt(errors, [&] { to.tensor.fill(op.scalars[0]); })) return;
    record(to.tensor, to.array, to.array.addresses(), id(to.array.dtype), false, false, [=] {
        return std::vector<Expected>(
            static_cast<std::size_t>(to.array.size()),
            {oracle::convert(value_of(op.scalars[0]), id(to.array.dtype))});
    });
}

void Machine::byteswap(const Op &op) {
    Slot to = *slots_[op.to];
    std::set<Status> errors;
    destination_errors(to.array, errors);
    if (!attempt(errors, [&] { to.tensor.byteswap(); })) return;
    Array turned = to.array;
    if (Atoll::info(turned.dtype).alignment > 1) turned.swapped = !turned.swapped;
    if (to.tensor.is_byteswapped() != turned.swapped)
        return fail(position_, "the byte order is not the other one");
    const Array before = to.array;
    slots_[op.to]->array = turned;
    record(to.tensor, turned, turned.addresses(), id(turned.dtype), false, false, [=] {
        std::vector<Expected> all;
        for (const Value &v : before.values()) all.push_back({v});
        return all;
    });
}

// ---- the rest ----------------------------------------------------------------------------------

void Machine::flags(const Op &op) {
    Slot &to = *slots_[op.to];
    if (op.variant == 0) {
        to.tensor.set_read_only(op.flag);
        to.array.read_only = op.flag;
    } else if (op.variant == 2) {
        to.tensor.storage().set_read_only(op.flag);
        to.array.memory->read_only = op.flag;
    } else if (op.variant == 3) {
        Atoll::Storage storage = to.tensor.storage();
        storage.set_byteswapped(!storage.is_byteswapped());
        for (std::optional<Slot> &slot : slots_)
            if (slot && slot->array.memory == to.array.memory)
                slot->array.swapped = !slot->array.swapped;
    } else if (Atoll::info(to.array.dtype).alignment > 1) {
        to.tensor.set_byteswapped(op.flag);
        to.array.swapped = op.flag;
    }
}

void Machine::detach(const Op &op) {
    Slot &to = *slots_[op.to];
    const Array before = to.array;
    if (!attempt({}, [&] { to.tensor.detach(); })) return;
    auto memory = std::make_shared<Memory>();
    memory->bytes.resize(static_cast<std::size_t>(to.tensor.storage().bytes()));
    memory->boolean = before.memory->boolean;
    to.array = array_of(to.tensor, memory);
    if (to.array.shape != before.shape || to.array.dtype != before.dtype ||
        to.array.read_only != before.read_only || !to.array.fits())
        return fail(position_, "the tensor became " + to.array.text());
    record(to.tensor, to.array, to.array.addresses(), id(before.dtype), false, true, [=] {
        std::vector<Expected> all;
        for (const Value &v : before.values()) all.push_back({v});
        return all;
    });
}

void Machine::dealloc(const Op &op) {
    Slot &to = *slots_[op.to];
    if (!attempt({}, [&] { to.tensor.dealloc(); })) return;
    if (to.tensor.size() != 0 || to.tensor.storage().bytes() != 0)
        return fail(position_, "the tensor has kept its data");
    slots_[op.to].reset();
}

// What a user does with streams; changes nothing.
void Machine::synchronize(const Op &op) {
    const Atoll::Stream one = in(op, 0).tensor.stream(), other = in(op, 1).tensor.stream();
    attempt({}, [&] {
        if (op.variant == 0) one.synchronize();
        if (op.variant == 1) one.wait(other.record());
        if (op.variant == 2) other.record().synchronize();
    });
    if (world_.shaky) Atoll::configure(world_.name, "fault", op.flag ? "latency:300" : "");
}

// The tensor as the user reads it, and its whole storage.
void Machine::check(const Op &op) {
    const Slot from = in(op);
    settle();
    if (!wrong_.empty()) return;
    compare_storage(*slots_[op.in[0]]);
    const auto itemsize = static_cast<std::size_t>(Atoll::size_of(op.dtype));
    std::vector<char> got(static_cast<std::size_t>(from.array.size()) * itemsize);
    if (!attempt({}, [&] { from.tensor.read(got.data(), op.dtype); })) return;
    std::size_t k = 0;
    for (const Value &v : from.array.values()) {
        const Value want = oracle::convert(v, id(op.dtype)),
                    own = oracle::read(got.data() + k * itemsize, id(op.dtype));
        if (!oracle::same(own, want, id(op.dtype), 0))
            return fail(position_, "element " + std::to_string(k) + " was read as " +
                                       oracle::text(own) + ", need " + oracle::text(want));
        ++k;
    }
}

} // namespace interpreter
