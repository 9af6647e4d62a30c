// What the machine does for tensors that are made and for the functions of the list.
#include "../by_id.hpp"
#include "machine.hpp"

namespace interpreter {

// ---- making tensors ----------------------------------------------------------------------------

void Machine::create(const Op &op) {
    auto memory = std::make_shared<Memory>();
    memory->bytes = op.bytes;
    memory->boolean = op.layout.dtype == Atoll::bool_;
    const auto count = static_cast<std::int64_t>(op.bytes.size());
    Tensor tensor;
    if (!attempt({}, [&] {
            const Tensor bytes = Atoll::from_values(op.bytes.data(), Atoll::uint8, count,
                                                    placement(op, Atoll::uint8));
            tensor = op.layout.on(bytes.storage());
        }))
        return;
    put(op.to, array_of(tensor, memory), tensor);
}

void Machine::overlay(const Op &op) {
    const Slot from = in(op);
    Array array = from.array;
    static_cast<View &>(array) = op.layout;
    array.read_only = false;
    if (from.array.memory->boolean != (op.layout.dtype == Atoll::bool_)) return;
    std::set<Status> errors;
    if (!array.fits()) errors.insert(Status::out_of_range);
    Tensor tensor;
    if (attempt(errors, [&] { tensor = op.layout.on(from.tensor.storage()); }))
        put(op.to, array_of(tensor, array.memory), tensor);
}

void Machine::constant(const Op &op) {
    Prediction p;
    p.shape = op.numbers;
    p.result = op.dtype;
    const Atoll::Placement where = placement(op, op.dtype);
    p.device = where.device;
    Value value = Value::of(__int128{op.variant == 1});
    if (op.variant == 2) value = value_of(op.scalars[0]);
    const Numbers shape = op.numbers;
    const bool identity = op.variant == 3;
    const std::int64_t k = op.flag ? 1 : 0;
    p.expect = [=] {
        std::vector<Expected> all;
        each(shape, [&](const Numbers &index) {
            const Value v = identity ? Value::of(__int128{index[1] - index[0] == k}) : value;
            all.push_back({oracle::convert(v, id(op.dtype))});
        });
        return all;
    };
    if (identity && shape.size() != 2) return;
    if (op.variant == 2 && op.scalars[0].overflows(op.dtype)) p.errors = {Status::out_of_range};
    perform(op, p, [&](Atoll::Out) -> Tensor {
        switch (op.variant) {
        case 0: return Atoll::zeros(dims(shape), where);
        case 1: return Atoll::ones(dims(shape), where);
        case 2: return Atoll::full(dims(shape), op.scalars[0], where);
        default: return Atoll::eye(shape[0], shape[1], k, where);
        }
    });
}

// arange of small integers, or linspace.
void Machine::steps(const Op &op) {
    const std::int64_t start = op.numbers[0], step = op.numbers[1], n = op.numbers[2];
    const bool range = op.variant == 0;
    Prediction p;
    p.shape = {n};
    p.result = op.dtype;
    const Atoll::Placement where = placement(op, op.dtype);
    p.device = where.device;
    p.floats = true;
    const std::int64_t stop = start + step * (range ? n : std::max<std::int64_t>(n, 2));
    p.expect = [=] {
        std::vector<Expected> all;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t parts = op.flag ? n - 1 : n;
            const long double x = range
                                      ? static_cast<long double>(start + i * step)
                                      : static_cast<long double>(start) +
                                            (parts ? static_cast<long double>((stop - start) * i) /
                                                         static_cast<long double>(parts)
                                                   : 0.0L);
            Expected e{Value::of(x, 0.0L)};
            if (!range) {
                const long double size = static_cast<long double>(stop + 1);
                const int part = oracle::compute_part(
                    is_floating(op.dtype) ? id(op.dtype) : int{ATOLL_DTYPE_FLOAT64});
                e.tolerance = 4 * size * oracle::epsilon(part);
                e.zeros = false;
            }
            all.push_back(e);
        }
        return all;
    };
    const int natural = range || is_floating(op.dtype) ? id(op.dtype) : int{ATOLL_DTYPE_FLOAT64};
    Tensor made;
    if (!attempt({}, [&] {
            made = range ? Atoll::arange(start, stop, step, where)
                         : Atoll::linspace(start, stop, n, {.endpoint = op.flag}, where);
        }))
        return;
    auto memory = std::make_shared<Memory>();
    memory->bytes.resize(static_cast<std::size_t>(made.storage().bytes()));
    const Array array = array_of(made, memory);
    if (array.shape != p.shape || array.dtype != op.dtype)
        return fail(position_, "the result is " + array.text());
    record(made, array, array.addresses(), natural, true, true, p.expect);
    put(op.to, array, made);
}

void Machine::join(const Op &op) {
    std::vector<Tensor> tensors;
    std::vector<Array> arrays;
    for (int s : op.in) {
        if (s < 0) continue;
        tensors.push_back(slots_[s]->tensor);
        arrays.push_back(slots_[s]->array);
    }
    if (arrays.empty()) return;
    const bool stacked = op.variant == 1;
    const auto axis = static_cast<std::size_t>(op.numbers[0]);
    Prediction p;
    p.shape = arrays[0].shape;
    if (axis >= p.shape.size() + (stacked ? 1 : 0)) return;
    if (stacked)
        p.shape.insert(p.shape.begin() + op.numbers[0], 0);
    else
        p.shape[axis] = 0;
    p.result = arrays[0].dtype;
    p.device = tensors[0].device();
    for (const Array &a : arrays) {
        Numbers own = a.shape;
        if (own.size() != arrays[0].shape.size()) return;
        if (stacked) own.insert(own.begin() + op.numbers[0], 1);
        for (std::size_t i = 0; i < own.size(); ++i)
            if (i != axis && own[i] != p.shape[i]) p.errors.insert(Status::invalid_argument);
        p.shape[axis] += own[axis];
        p.result = promote(p.result, a.dtype);
    }
    p.expect = [=] {
        std::vector<Expected> all;
        each(p.shape, [&](Numbers index) {
            std::size_t which = 0;
            if (stacked) {
                which = static_cast<std::size_t>(index[axis]);
                index.erase(index.begin() + op.numbers[0]);
            } else {
                while (index[axis] >= arrays[which].shape[axis])
                    index[axis] -= arrays[which++].shape[axis];
            }
            all.push_back(
                {oracle::convert(arrays[which].read(arrays[which].at(index)), id(p.result))});
        });
        return all;
    };
    perform(op, p, [&](Atoll::Out) {
        return stacked ? Atoll::stack(tensors, static_cast<int>(axis))
                       : Atoll::concatenate(tensors, static_cast<int>(axis));
    });
}

// ---- functions ---------------------------------------------------------------------------------

void Machine::elementwise(const Op &op, int count) {
    const std::vector<Input> operands = inputs(op, count);
    const Rule rule = rule_of(op.function, operands);
    Prediction p;
    p.errors = rule.errors;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    bool first = true;
    for (int i = 0; i < count; ++i) {
        if (!operands[static_cast<std::size_t>(i)].array) continue;
        const Numbers &own = operands[static_cast<std::size_t>(i)].array->shape;
        if (op.given) {
            p.shape = slots_[op.to]->array.shape;
            if (!broadcasts_to(own, p.shape)) p.errors.insert(Status::invalid_argument);
        } else if (!broadcast(p.shape, own)) {
            p.errors.insert(Status::invalid_argument);
        }
        if (first) p.device = in(op, i).tensor.device();
        first = false;
    }
    if (first) return;
    if (rule.errors.empty() && count == 2 &&
        counts_matter(op.function, rule.compute, operands[1])) {
        settle(); // the library waits, too
        if (!wrong_.empty()) return;
        if (negative_counts(rule.compute, operands[1], p.shape)) p.errors.insert(Status::domain);
    }
    const int function = op.function;
    p.expect = [=] { return interpreter::elementwise(function, rule.compute, operands, p.shape); };
    perform(op, p, [&](Atoll::Out out) -> Tensor {
        std::optional<Atoll::Operand> x[3];
        for (int i = 0; i < count; ++i)
            if (op.in[i] >= 0)
                x[i].emplace(in(op, i).tensor);
            else
                x[i].emplace(op.scalars[i]);
        if (op.kind == Kind::in_place) {
            Tensor to = slots_[op.to]->tensor;
            apply_operator(op.function, to, *x[1]);
            return to;
        }
        switch (count) {
        case 1: return by_id::unary(function, *x[0], out);
        case 2: return by_id::binary(function, *x[0], *x[1], out);
        default: return by_id::ternary(function, *x[0], *x[1], *x[2], out);
        }
    });
}

void Machine::reduce(const Op &op) {
    const Slot from = in(op);
    const std::size_t rank = from.array.shape.size();
    std::vector<bool> axes(rank, op.variant == 0); // variant 0: all
    Atoll::Axes list;
    list.given = op.variant != 0;
    for (std::int64_t axis : op.numbers) {
        if (op.variant == 0) break;
        const std::int64_t own = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
        if (own < 0 || own >= static_cast<std::int64_t>(rank) ||
            axes[static_cast<std::size_t>(own)])
            continue;
        axes[static_cast<std::size_t>(own)] = true;
        list.list.push_back(static_cast<int>(axis));
    }
    std::vector<Scalar> attributes;
    if (oracle::has_number(op.function)) attributes.push_back(op.scalars[0]);
    if (oracle::can_skip_nan(op.function)) attributes.push_back(op.scalars[1]);
    const Rule rule = rule_of(op.function, from.array.dtype);
    Prediction p;
    p.errors = rule.errors;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    p.device = from.tensor.device();
    std::int64_t reduced_count = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        if (axes[i]) reduced_count *= from.array.shape[i];
        if (!axes[i] || op.flag) p.shape.push_back(axes[i] ? 1 : from.array.shape[i]);
    }
    if (reduced_count == 0 && needs_elements(op.function))
        p.errors.insert(Status::invalid_argument);
    const int function = op.function;
    const Value x = value_of(op.scalars[0]);
    const bool skip_nan = op.scalars[1].to_int() != 0;
    p.expect = [=] { return reduced(function, rule.compute, from.array, axes, x, skip_nan); };
    perform(op, p, [&](Atoll::Out out) {
        return by_id::reduce(function, from.tensor, list, op.flag, out, attributes);
    });
}

void Machine::scan(const Op &op) {
    const Slot from = in(op);
    const auto rank = static_cast<std::int64_t>(from.array.shape.size());
    std::optional<int> axis;
    if (op.variant) axis = static_cast<int>(op.numbers[0]);
    const Rule rule = rule_of(op.function, from.array.dtype);
    Prediction p;
    p.errors = rule.errors;
    if (!axis && rank > 1) p.errors.insert(Status::invalid_argument);
    if (axis && *axis >= rank) p.errors.insert(Status::out_of_range);
    p.shape = from.array.shape;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    p.device = from.tensor.device();
    const auto own = static_cast<std::size_t>(axis.value_or(0));
    p.expect = [=] { return scanned(op.function, rule.compute, from.array, own); };
    perform(op, p,
            [&](Atoll::Out out) { return by_id::scan(op.function, from.tensor, axis, out); });
}

void Machine::sort(const Op &op) {
    const Slot from = in(op);
    const std::int64_t axis = op.numbers[0];
    const Rule rule = rule_of(op.function, from.array.dtype);
    Prediction p;
    p.errors = rule.errors;
    if (axis >= static_cast<std::int64_t>(from.array.shape.size()))
        p.errors.insert(Status::out_of_range);
    p.shape = from.array.shape;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    p.device = from.tensor.device();
    p.expect = [=] {
        return sorted(op.function, rule.compute, from.array, static_cast<std::size_t>(axis),
                      op.flag);
    };
    perform(op, p, [&](Atoll::Out out) {
        return by_id::sort(op.function, from.tensor, static_cast<int>(axis), op.flag, out);
    });
}

// In the second operand's elements, sorted by the library.
void Machine::search(const Op &op) {
    const std::vector<Input> operands = inputs(op, 2);
    const Slot table = in(op, 1);
    const Rule rule = rule_of(op.function, operands);
    Prediction p;
    p.errors = rule.errors;
    if (operands[0].array) p.shape = operands[0].array->shape;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    p.device = op.in[0] >= 0 ? in(op, 0).tensor.device() : table.tensor.device();
    p.expect = [=] {
        const int own = id(table.array.dtype);
        const std::vector<Value> list =
            oracle::sort(ATOLL_FN_sort, own, table.array.values(), false);
        const std::vector<Value> values = operands[0].array
                                              ? operands[0].array->values()
                                              : std::vector<Value>{value_of(operands[0].scalar)};
        std::vector<Expected> all;
        for (const Value &v : values)
            all.push_back({Value::of(
                __int128{oracle::search(op.function, id(rule.compute), v, list, op.flag)})});
        return all;
    };
    perform(op, p, [&](Atoll::Out out) {
        const Tensor list = Atoll::sort(table.tensor.flatten(), 0);
        if (op.in[0] >= 0) return by_id::search(op.function, in(op, 0).tensor, list, op.flag, out);
        return by_id::search(op.function, op.scalars[0], list, op.flag, out);
    });
}

void Machine::find(const Op &op) {
    const Slot from = in(op);
    settle(); // how many there are decides the shape
    if (!wrong_.empty()) return;
    const auto found = oracle::find(ATOLL_FN_find, id(from.array.dtype), from.array.values());
    const auto rank = static_cast<std::int64_t>(from.array.shape.size());
    const auto count = static_cast<std::int64_t>(found.size());
    const bool coordinates = op.variant == 1;
    Prediction p;
    p.shape = coordinates ? Numbers{rank, count} : Numbers{count};
    p.result = Atoll::int64;
    p.device = from.tensor.device();
    p.expect = [=] {
        std::vector<Expected> all;
        for (std::int64_t position : found) {
            if (!coordinates) all.push_back({Value::of(__int128{position})});
            for (std::int64_t axis = 0; coordinates && axis < rank; ++axis) {
                const std::int64_t n = from.array.shape[static_cast<std::size_t>(axis)];
                all.push_back({Value::of(__int128{position % n})});
                position /= n;
            }
        }
        return all;
    };
    perform(op, p, [&](Atoll::Out) {
        return coordinates ? Atoll::nonzero(from.tensor) : Atoll::find(from.tensor);
    });
}

void Machine::compress(const Op &op) {
    const Slot from = in(op, 0), mask = in(op, 1);
    settle(); // how many are true decides the shape
    if (!wrong_.empty()) return;
    const std::vector<std::int64_t> found =
        oracle::find(ATOLL_FN_find, id(mask.array.dtype), mask.array.values());
    Prediction p;
    if (from.array.shape != mask.array.shape) p.errors = {Status::invalid_argument};
    p.shape = {static_cast<std::int64_t>(found.size())};
    p.result = from.array.dtype;
    p.device = from.tensor.device();
    p.expect = [=] {
        const std::vector<Value> values = from.array.values();
        std::vector<Expected> all;
        for (std::int64_t position : found)
            all.push_back({values[static_cast<std::size_t>(position)]});
        return all;
    };
    perform(op, p, [&](Atoll::Out) { return Atoll::compress(from.tensor, mask.tensor); });
}

void Machine::matmul(const Op &op) {
    const std::vector<Input> operands = inputs(op, 2);
    Product product;
    product.a = *operands[0].array, product.b = *operands[1].array;
    Array &a = product.a, &b = product.b;
    const Slot left = in(op, 0), right = in(op, 1);
    Prediction p;
    p.device = left.tensor.device();
    const auto call = [&](Atoll::Out out) { return Atoll::matmul(left.tensor, right.tensor, out); };
    if (scales(a) || scales(b)) {
        // A single element takes the other's shape, whatever its rank.
        const auto single = [](Array &x, const Array &y) {
            if (x.size() != 1 || x.shape.size() <= y.shape.size()) return false;
            x.shape.clear(), x.strides.clear();
            return true;
        };
        single(a, b) || single(b, a);
        const std::vector<Input> seen{{a, {}}, {b, {}}};
        const Rule rule = rule_of(ATOLL_FN_multiply, seen);
        p.errors = rule.errors;
        p.result = rule.result;
        p.floats = is_floating(rule.compute);
        if (op.given) {
            p.shape = slots_[op.to]->array.shape;
            for (const Array *x : {&a, &b})
                if (!broadcasts_to(x->shape, p.shape)) p.errors.insert(Status::invalid_argument);
        } else if (!broadcast(p.shape, a.shape) || !broadcast(p.shape, b.shape)) {
            p.errors.insert(Status::invalid_argument);
        }
        p.expect = [=] {
            return interpreter::elementwise(ATOLL_FN_multiply, rule.compute, seen, p.shape);
        };
        return perform(op, p, call);
    }
    const Rule rule = rule_of(ATOLL_FN_matmul, operands);
    product.compute = rule.compute;
    p.errors = rule.errors;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    if (!product.shape(p.shape)) p.errors.insert(Status::invalid_argument);
    p.expect = [=] { return product.elements(p.shape, {}); };
    perform(op, p, call);
}

void Machine::gemm(const Op &op) {
    std::vector<Input> operands = inputs(op, 2);
    Product product;
    product.a = *operands[0].array, product.b = *operands[1].array;
    constexpr Atoll::Op ops[] = {Atoll::Op::N, Atoll::Op::T, Atoll::Op::C};
    product.op_a = ops[op.numbers[0]];
    product.op_b = ops[op.numbers[1]];
    product.alpha = static_cast<int>(op.numbers[2]);
    product.beta = static_cast<int>(op.numbers[3]);
    const Slot to = *slots_[op.to];
    DType all = promote(product.a.dtype, product.b.dtype);
    if (product.beta) {
        all = promote(all, to.array.dtype);
        operands.push_back({to.array, {}});
    }
    // 0 and 1 are bools among bools.
    if (all != Atoll::bool_ || product.alpha > 1 || product.beta > 1)
        operands.push_back({{}, Scalar(2)});
    const Rule rule = rule_of(ATOLL_FN_matmul, operands);
    product.compute = rule.compute;
    const Slot left = in(op, 0), right = in(op, 1);
    // With another dtype C would be rounded twice.
    if (product.beta && to.array.dtype != rule.compute) return;
    if (product.a.shape.size() > 3 || product.b.shape.size() > 3) return;
    Prediction p;
    p.errors = rule.errors;
    p.result = rule.result;
    p.floats = is_floating(rule.compute);
    if (!product.shape(p.shape)) p.errors.insert(Status::invalid_argument);
    const Array old = to.array;
    p.expect = [=] { return product.elements(p.shape, old.values()); };
    perform(op, p, [&](Atoll::Out) {
        return Atoll::gemm(product.alpha, left.tensor, product.op_a, right.tensor, product.op_b,
                           product.beta, to.tensor);
    });
}

} // namespace interpreter
