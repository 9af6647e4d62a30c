// What the machine does for views and for indices.
#include "machine.hpp"

#include <numeric>

namespace interpreter {

// ---- views -------------------------------------------------------------------------------------

void Machine::view(const Op &op) {
    const Slot from = in(op);
    const Array &a = from.array;
    const auto kind = static_cast<ViewKind>(op.variant);
    Numbers shape = a.shape;
    std::function<Numbers(const Numbers &)> source; // index of the result -> index of a
    DType dtype = a.dtype;
    std::int64_t shift = 0; // bytes
    bool may_copy = false, read_only = a.read_only;
    const std::size_t rank = shape.size();
    const auto number = [&](std::size_t i) {
        return i < op.numbers.size() ? op.numbers[i] : std::int64_t{0};
    };
    const auto x = static_cast<std::size_t>(number(0)), y = static_cast<std::size_t>(number(1));
    const auto has = [&](std::size_t axis) { return axis < rank; };
    const auto same = [](const Numbers &i) { return i; };
    // Result axis i is axis order[i].
    const auto permuted = [&](const std::vector<std::size_t> &order) {
        for (std::size_t i = 0; i < rank; ++i) shape[i] = a.shape[order[i]];
        source = [order](const Numbers &i) {
            Numbers own(i.size());
            for (std::size_t k = 0; k < i.size(); ++k) own[order[k]] = i[k];
            return own;
        };
    };
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Elements in column-major order of `walk`, an index map from a shape of as many elements.
    const auto reordered = [&](const Numbers &other,
                               const std::function<Numbers(const Numbers &)> &walk) {
        auto list = std::make_shared<std::vector<Numbers>>();
        each(other, [&](const Numbers &i) { list->push_back(walk(i)); });
        const Numbers made = shape;
        source = [list, made](const Numbers &i) {
            std::int64_t position = 0, step = 1;
            for (std::size_t k = 0; k < made.size(); ++k) position += i[k] * step, step *= made[k];
            return (*list)[static_cast<std::size_t>(position)];
        };
        may_copy = true;
    };
    switch (kind) {
    case ViewKind::conjugate_transpose:
    case ViewKind::transpose:
        if (rank == 0) {
            source = same;
        } else {
            if (rank == 1) shape.push_back(1);
            std::swap(shape[0], shape[1]);
            source = [rank](Numbers i) {
                i.resize(std::max<std::size_t>(i.size(), 2), 0);
                std::swap(i[0], i[1]);
                i.resize(rank);
                return i;
            };
        }
        may_copy = kind == ViewKind::conjugate_transpose && is_complex(dtype);
        break;
    case ViewKind::slice: {
        const std::int64_t begin = number(1), end = number(2);
        if (!has(x) || begin > end || end > a.shape[x]) return;
        shape[x] = end - begin;
        source = [=](Numbers i) { return i[x] += begin, i; };
        break;
    }
    case ViewKind::split: {
        if (!has(x) || number(1) < 1 || a.shape[x] % number(1) != 0) return;
        shape[x] /= number(1);
        const std::int64_t begin = shape[x] * (number(2) % number(1));
        source = [=](Numbers i) { return i[x] += begin, i; };
        break;
    }
    case ViewKind::flip: {
        if (!has(x)) return;
        const std::int64_t last = shape[x] - 1;
        source = [=](Numbers i) { return i[x] = last - i[x], i; };
        break;
    }
    case ViewKind::real:
        source = same;
        dtype = Atoll::info(dtype).part;
        break;
    case ViewKind::imag:
        if (!is_complex(dtype)) return imaginary_zeros(op, from);
        source = same;
        dtype = Atoll::info(dtype).part;
        shift = Atoll::size_of(dtype);
        break;
    case ViewKind::swap_axes:
        if (!has(x) || !has(y)) return;
        std::swap(order[x], order[y]);
        permuted(order);
        break;
    case ViewKind::permute_axes:
        if (op.numbers.size() != rank) return;
        for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::size_t>(op.numbers[i]);
        permuted(order);
        break;
    case ViewKind::reverse_axes:
    case ViewKind::reverse_axes2:
        std::reverse(order.begin(), order.end());
        if (kind == ViewKind::reverse_axes2 && rank > 1) std::swap(order[0], order[1]);
        permuted(order);
        break;
    case ViewKind::diag: {
        const std::int64_t k = number(0);
        if (rank < 2 || k < -a.shape[0] || k > a.shape[1]) return;
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < a.shape[0]; ++i) count += i + k >= 0 && i + k < a.shape[1];
        shape.erase(shape.begin());
        shape[0] = count;
        source = [k](Numbers i) {
            i.insert(i.begin(), i[0] - std::min<std::int64_t>(k, 0));
            i[1] += std::max<std::int64_t>(k, 0);
            return i;
        };
        break;
    }
    case ViewKind::unsqueeze:
        if (x > rank) return;
        shape.insert(shape.begin() + number(0), 1);
        source = [=](Numbers i) { return i.erase(i.begin() + static_cast<std::ptrdiff_t>(x)), i; };
        break;
    case ViewKind::squeeze:
    case ViewKind::squeeze_axis: {
        const bool all = kind == ViewKind::squeeze;
        if (!all && (!has(x) || shape[x] != 1)) return;
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < rank; ++i)
            if (all ? a.shape[i] != 1 : i != x) kept.push_back(i);
        shape.clear();
        for (std::size_t i : kept) shape.push_back(a.shape[i]);
        source = [=](const Numbers &i) {
            Numbers own(rank, 0);
            for (std::size_t k = 0; k < kept.size(); ++k) own[kept[k]] = i[k];
            return own;
        };
        break;
    }
    case ViewKind::reshape:
        if (count_of(op.numbers) != a.size()) return;
        shape = op.numbers;
        reordered(a.shape, same);
        break;
    case ViewKind::flatten: {
        Atoll::Order by = orders[number(0)];
        shape = {a.size()};
        if (by == Atoll::Order::A) {
            const bool c_only = !from.tensor.is_contiguous(Atoll::Order::F) &&
                                from.tensor.is_contiguous(Atoll::Order::C);
            by = c_only ? Atoll::Order::C : Atoll::Order::F;
        }
        if (by == Atoll::Order::C) std::reverse(order.begin(), order.end());
        if (by == Atoll::Order::R && rank > 1) std::swap(order[0], order[1]);
        if (by == Atoll::Order::K)
            std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
                return std::abs(a.strides[p]) < std::abs(a.strides[q]);
            });
        Numbers walked;
        for (std::size_t i : order) walked.push_back(a.shape[i]);
        reordered(walked, [&](const Numbers &i) {
            Numbers own(rank);
            for (std::size_t k = 0; k < rank; ++k) own[order[k]] = i[k];
            return own;
        });
        break;
    }
    case ViewKind::broadcast_to: {
        shape = op.numbers;
        const std::size_t left = op.flag ? 0 : shape.size() - std::min(rank, shape.size());
        if (shape.size() < rank || count_of(shape) > 300) return;
        for (std::size_t i = 0; i < rank; ++i)
            if (a.shape[i] != 1 && a.shape[i] != shape[i + left]) return;
        const Numbers own = a.shape;
        source = [=](const Numbers &i) {
            Numbers at(i.begin() + static_cast<std::ptrdiff_t>(left),
                       i.begin() + static_cast<std::ptrdiff_t>(left + rank));
            for (std::size_t k = 0; k < rank; ++k)
                if (own[k] == 1) at[k] = 0;
            return at;
        };
        read_only = read_only || shape != a.shape;
        break;
    }
    case ViewKind::view_as:
        if (a.memory->boolean || op.dtype == Atoll::bool_ ||
            Atoll::size_of(op.dtype) != a.itemsize())
            return;
        dtype = op.dtype;
        source = same;
        break;
    case ViewKind::as_contiguous: may_copy = true; [[fallthrough]];
    default: source = same; break;
    }
    Tensor made;
    if (!attempt({}, [&] { made = call_view(op, kind, from.tensor); })) return;
    Numbers addresses;
    each(shape, [&](const Numbers &i) { addresses.push_back(a.at(source(i)) + shift); });
    if (made.storage() == from.tensor.storage() && !(may_copy && addresses.empty())) {
        const Tensor seen = made.shallow_copy(); // flags of its own
        Array array = array_of(seen, a.memory);
        array.read_only = read_only;
        if (array.shape != shape || array.dtype != dtype || array.swapped != a.swapped ||
            seen.is_read_only() != array.is_read_only())
            return fail(position_, "the view is " + array.text() +
                                       (array.read_only ? " read-only" : "") + ", need shape " +
                                       shape_text(shape));
        if (array.addresses() != addresses || !array.fits())
            return fail(position_, "the view has other elements: " + array.text());
        return put(op.to, array, seen);
    }
    if (made.storage() == from.tensor.storage()) return;
    if (!may_copy) return fail(position_, "the view is a copy");
    Prediction p;
    p.shape = shape;
    p.result = dtype;
    p.device = from.tensor.device();
    const bool conjugates = kind == ViewKind::conjugate_transpose;
    p.expect = [=] {
        std::vector<Expected> all;
        for (std::int64_t address : addresses) {
            Value v = a.read(address);
            if (conjugates) v.im = -v.im;
            all.push_back({v});
        }
        return all;
    };
    put_fresh(op, made, p);
}

Tensor Machine::call_view(const Op &op, ViewKind kind, const Tensor &t) {
    const auto number = [&](std::size_t i) { return op.numbers[i]; };
    const auto axis = [&](std::size_t i) { return static_cast<int>(op.numbers[i]); };
    switch (kind) {
    case ViewKind::transpose: return t.T();
    case ViewKind::conjugate_transpose: return t.H();
    case ViewKind::slice: return t.slice(axis(0), number(1), number(2));
    case ViewKind::split:
        return t.split(axis(0), number(1))[static_cast<std::size_t>(number(2) % number(1))];
    case ViewKind::flip: return t.flip(axis(0));
    case ViewKind::real: return t.real();
    case ViewKind::imag: return t.imag();
    case ViewKind::swap_axes: return t.swap_axes(axis(0), axis(1));
    case ViewKind::permute_axes:
        return t.permute_axes(std::vector<int>(op.numbers.begin(), op.numbers.end()));
    case ViewKind::reverse_axes: return t.reverse_axes();
    case ViewKind::reverse_axes2: return t.reverse_axes2();
    case ViewKind::diag: return t.diag(number(0));
    case ViewKind::unsqueeze: return t.unsqueeze(axis(0));
    case ViewKind::squeeze: return t.squeeze();
    case ViewKind::squeeze_axis: return t.squeeze(axis(0));
    case ViewKind::reshape: return t.reshape(dims(op.numbers));
    case ViewKind::flatten: return t.flatten(orders[number(0)]);
    case ViewKind::broadcast_to: return t.broadcast_to(dims(op.numbers), {.align_left = op.flag});
    case ViewKind::view_as: return t.view_as(op.dtype);
    case ViewKind::as_contiguous:
        return t.as_contiguous(op.flag ? Atoll::Order::C : Atoll::Order::F);
    default: return t.shallow_copy();
    }
}

// A real tensor's imaginary part.
void Machine::imaginary_zeros(const Op &op, const Slot &from) {
    Tensor made;
    if (!attempt({}, [&] { made = from.tensor.imag(); })) return;
    auto memory = std::make_shared<Memory>();
    memory->bytes.resize(static_cast<std::size_t>(made.storage().bytes()));
    memory->boolean = from.array.memory->boolean;
    const Array array = array_of(made, memory);
    if (array.shape != from.array.shape || array.dtype != from.array.dtype || !array.read_only ||
        !array.fits())
        return fail(position_, "the imaginary part is " + array.text() +
                                   (array.read_only ? "" : " not read-only"));
    put(op.to, array, made);
}

// ---- indexing ----------------------------------------------------------------------------------

void Machine::make_elements(const Op &op, const std::vector<IndexPart> &parts,
                            Elements &made) const {
    const auto tensor = [&](const Numbers &values, DType dtype, const Numbers &shape) {
        made.tensors.push_back(Atoll::vector(values, {Atoll::int64, placement(op, dtype).device})
                                   .cast(dtype)
                                   .reshape(dims(shape)));
        made.list.emplace_back(made.tensors.back());
    };
    for (const IndexPart &part : parts) {
        const Numbers flat{static_cast<std::int64_t>(part.list.size())};
        switch (part.kind) {
        case IndexPart::Kind::integer: made.list.emplace_back(part.integer); break;
        case IndexPart::Kind::range: made.list.emplace_back(part.range); break;
        case IndexPart::Kind::all: made.list.emplace_back(Atoll::all_); break;
        case IndexPart::Kind::ellipsis: made.list.emplace_back(Atoll::ellipsis); break;
        case IndexPart::Kind::newaxis: made.list.emplace_back(Atoll::newaxis); break;
        case IndexPart::Kind::positions: tensor(part.list, part.dtype, flat); break;
        case IndexPart::Kind::tuples: tensor(part.list, part.dtype, part.shape); break;
        case IndexPart::Kind::mask: tensor(part.list, Atoll::bool_, part.shape); break;
        }
    }
}

Atoll::Index Machine::make_index(const Op &op, const Elements &elements, const Tensor &t) const {
    const Atoll::Index index(elements.list);
    switch (op.variant) {
    case 1: return index.bind(t.shape());
    case 2: return index.bind(t);
    case 3: return index.bind(t.shape()).to(t.device());
    case 4: {
        Elements next;
        make_elements(op, op.next, next);
        return index.bind(t.shape()).then(Atoll::Index(next.list));
    }
    default: return index;
    }
}

void Machine::index_get(const Op &op) {
    const Slot from = in(op);
    const Selection selected(from.array.shape, op.index, op.next);
    if (count_of(selected.shape) > 400 || selected.shape.size() > 7) return;
    Tensor made;
    if (!attempt(selected.errors, [&] {
            Elements elements;
            make_elements(op, op.index, elements);
            if (op.variant == 0)
                made = from.tensor.index(elements.list);
            else
                made = Atoll::Selection(from.tensor, make_index(op, elements, from.tensor)).get();
        }))
        return;
    const Numbers addresses = selected.addresses(from.array);
    if (selected.view) {
        Array array = array_of(made, from.array.memory);
        array.read_only = from.array.read_only;
        if (!(made.storage() == from.tensor.storage()) || array.shape != selected.shape ||
            array.addresses() != addresses || made.is_read_only() != array.is_read_only() ||
            array.swapped != from.array.swapped || !array.fits())
            return fail(position_, "the view is " + array.text() + ", need shape " +
                                       shape_text(selected.shape));
        return put(op.to, array, made.shallow_copy());
    }
    Prediction p;
    p.shape = selected.shape;
    p.result = from.array.dtype;
    p.device = from.tensor.device();
    p.expect = [=] {
        std::vector<Expected> all;
        for (std::int64_t address : addresses) all.push_back({from.array.read(address)});
        return all;
    };
    put_fresh(op, made, p);
}

// Errors of writing to a selection.
void Machine::selection_errors(const Array &to, const Selection &selected,
                               std::set<Status> &errors) {
    errors.insert(selected.errors.begin(), selected.errors.end());
    if (to.is_read_only()) errors.insert(Status::read_only);
    if (!selected.view) {
        if (to.overlaps_itself()) errors.insert(Status::invalid_argument);
    } else if (selected.errors.empty()) {
        Numbers starts = selected.addresses(to);
        std::sort(starts.begin(), starts.end());
        for (std::size_t i = 1; i < starts.size(); ++i)
            if (starts[i] - starts[i - 1] < to.itemsize()) errors.insert(Status::invalid_argument);
    }
}

void Machine::index_set(const Op &op) {
    const Slot to = *slots_[op.to];
    const Selection selected(to.array.shape, op.index, op.next);
    if (count_of(selected.shape) > 400 || selected.shape.size() > 7) return;
    std::set<Status> errors;
    selection_errors(to.array, selected, errors);
    const std::vector<Input> operands = inputs(op, 1);
    const bool tensor = operands[0].array.has_value();
    if (tensor && !broadcasts_to(operands[0].array->shape, selected.shape))
        errors.insert(Status::invalid_argument);
    if (!tensor && op.scalars[0].overflows(to.array.dtype)) errors.insert(Status::out_of_range);
    if (!attempt(errors, [&] {
            Elements elements;
            make_elements(op, op.index, elements);
            Atoll::Selection target(to.tensor, make_index(op, elements, to.tensor));
            if (tensor)
                target = in(op).tensor;
            else
                target = op.scalars[0];
        }))
        return;
    const int natural = id(tensor ? operands[0].array->dtype : to.array.dtype);
    record(to.tensor, to.array, selected.addresses(to.array), natural, is_floating(DType(natural)),
           false, [=] {
               std::vector<Expected> all;
               if (tensor)
                   for (const Value &v : operands[0].array->values_over(selected.shape))
                       all.push_back({v});
               else
                   all.assign(static_cast<std::size_t>(count_of(selected.shape)),
                              {oracle::convert(value_of(op.scalars[0]), natural)});
               return all;
           });
}

void Machine::index_in_place(const Op &op) {
    const Slot to = *slots_[op.to];
    const Selection selected(to.array.shape, op.index, op.next);
    if (count_of(selected.shape) > 400 || selected.shape.size() > 7) return;
    std::vector<Input> operands = inputs(op, 2);
    operands[0].array = to.array;
    const Rule rule = rule_of(op.function, operands);
    std::set<Status> errors = rule.errors;
    selection_errors(to.array, selected, errors);
    if (operands[1].array && !broadcasts_to(operands[1].array->shape, selected.shape))
        errors.insert(Status::invalid_argument);
    if (errors.empty() && counts_matter(op.function, rule.compute, operands[1])) {
        settle();
        if (!wrong_.empty()) return;
        if (negative_counts(rule.compute, operands[1], selected.shape))
            errors.insert(Status::domain);
    }
    if (!attempt(errors, [&] {
            Elements elements;
            make_elements(op, op.index, elements);
            Atoll::Selection target(to.tensor, make_index(op, elements, to.tensor));
            if (op.in[1] >= 0)
                apply_operator(op.function, target, in(op, 1).tensor);
            else
                apply_operator(op.function, target, op.scalars[1]);
        }))
        return;
    const Numbers addresses = selected.addresses(to.array);
    record(to.tensor, to.array, addresses, id(rule.result), is_floating(rule.compute), false, [=] {
        // The picked elements as a tensor of their own.
        Array picked = to.array;
        picked.memory = std::make_shared<Memory>();
        picked.shape = selected.shape, picked.strides.clear();
        picked.offset = 0;
        std::int64_t stride = picked.itemsize();
        for (std::int64_t n : picked.shape) picked.strides.push_back(stride), stride *= n;
        for (std::int64_t address : addresses)
            picked.memory->bytes.insert(
                picked.memory->bytes.end(), to.array.memory->bytes.begin() + address,
                to.array.memory->bytes.begin() + address + picked.itemsize());
        std::vector<Input> seen = operands;
        seen[0].array = picked;
        return interpreter::elementwise(op.function, rule.compute, seen, picked.shape);
    });
}

} // namespace interpreter
