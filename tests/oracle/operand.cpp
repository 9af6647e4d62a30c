#include "operand.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {

Operand::Operand(int dtype, bool swapped, const Shape &shape, const std::vector<bool> &varies,
                 Layout layout)
    : dtype(dtype), swapped(swapped), shape(shape), strides(shape.size(), 0) {
    const std::int64_t size = facts[dtype].size;
    std::int64_t next = size * (layout == Layout::strided ? 3 : 1);
    std::int64_t low = 0;
    const std::size_t rank = shape.size();
    for (std::size_t step = 0; step < rank; ++step) {
        const std::size_t axis = layout == Layout::permuted ? rank - 1 - step : step;
        if (!varies[axis]) continue;
        if (layout == Layout::broadcast && step == 0) continue;
        const bool back = layout == Layout::reversed;
        strides[axis] = back ? -next : next;
        if (back) low -= next * (shape[axis] - 1);
        next *= shape[axis];
        if (layout == Layout::strided) next += size * 2;
    }
    memory.assign(static_cast<std::size_t>(next + 3 * 64), '\x5a');
    // The vector's own alignment is 16 at least. Complex numbers start at a multiple of the
    // size of their parts only, as their natural alignment is that.
    const std::int64_t part = facts[facts[dtype].part].size;
    start = 64 - low + (layout == Layout::unaligned ? 1 : part % size);
}

std::int64_t Operand::offset(const Shape &index) const {
    std::int64_t at = start;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * strides[axis];
    if (at < 0 || at + facts[dtype].size > static_cast<std::int64_t>(memory.size()))
        throw std::out_of_range("an element outside of the memory of " + text());
    return at;
}

Value Operand::get(const Shape &index) const {
    return read(memory.data() + offset(index), dtype, swapped);
}

void Operand::set(const Shape &index, const Value &v) {
    write(memory.data() + offset(index), dtype, swapped, v);
}

atoll_operand Operand::c() {
    const bool scalar =
        std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s == 0; });
    const int flags =
        (swapped ? ATOLL_OPERAND_SWAPPED : 0) | (flag_scalar && scalar ? ATOLL_OPERAND_SCALAR : 0);
    return operand_at(memory.data() + start, strides.data(), dtype, flags);
}

std::string Operand::text() const {
    std::string t = std::string(facts[dtype].name) + (swapped ? " swapped (" : " (");
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        t += (axis ? "," : "") + std::to_string(shape[axis]) + ':' + std::to_string(strides[axis]);
    return t + ")";
}

bool Operand::rest_is(const std::vector<char> &before) const {
    std::vector<char> mine = memory, theirs = before;
    each(shape, [&](const Shape &index) {
        for (std::vector<char> *m : {&mine, &theirs})
            std::fill_n(m->begin() + offset(index), facts[dtype].size, '\0');
    });
    return mine == theirs;
}

Value random_value(int dtype, Random &random, bool specials) {
    const auto small = static_cast<std::int64_t>(random() % 21) - 10;
    if (dtype == ATOLL_DTYPE_BOOL) return Value::of(__int128{random() % 2});
    if (is_integer(dtype))
        return Value::of(wrap(
            random() % 3 ? static_cast<__int128>(small) : static_cast<__int128>(random()), dtype));
    const auto part = [&]() -> long double {
        switch (random() % (specials ? 12 : 6)) {
        case 0: return small;
        case 6: return NAN;
        case 7: return INFINITY;
        case 8: return -0.0L;
        case 9: return 1e-7L * small;
        case 10: return 1e19L * small;
        default:
            return std::ldexp(static_cast<long double>(static_cast<std::int64_t>(random())),
                              -62 + static_cast<int>(random() % 6));
        }
    };
    return convert(Value::of(part(), is_complex(dtype) ? part() : 0.0L), dtype);
}

void fill(Operand &operand, Random &random, bool specials) {
    each(operand.shape, [&](const Shape &index) {
        operand.set(index, random_value(operand.dtype, random, specials));
    });
}

std::vector<Value> special_values(int dtype) {
    std::vector<Value> values;
    const auto add = [&](long double x) {
        values.push_back(convert(Value::of(x, 0.0L), dtype));
        values.push_back(convert(Value::of(-x, 0.0L), dtype));
    };
    if (dtype == ATOLL_DTYPE_BOOL) return {Value::of(__int128{0}), Value::of(__int128{1})};
    if (is_integer(dtype)) {
        const int bits = 8 * facts[dtype].size;
        const __int128 half = __int128{1} << (bits - 1);
        for (const __int128 x :
             {__int128{0}, __int128{1}, __int128{2}, __int128{3}, __int128{7}, __int128{10},
              __int128{bits - 1}, __int128{bits}, __int128{bits + 1}, __int128{100}, half, half - 1,
              half + 1, half / 2, half - 5})
            for (const __int128 y : {x, -x}) values.push_back(Value::of(wrap(y, dtype)));
        return values;
    }
    const int part = facts[dtype].part;
    const long double smallest = ulp(0, part), epsilon_ = epsilon(part);
    const int top = part == ATOLL_DTYPE_FLOAT16 ? 16 : part == ATOLL_DTYPE_FLOAT64 ? 1024 : 128;
    const long double largest = std::ldexp(1 - epsilon_ / 2, top);
    for (const long double x : {static_cast<long double>(NAN),
                                static_cast<long double>(INFINITY),
                                0.0L,
                                smallest,
                                smallest / epsilon_,
                                largest,
                                largest / 4,
                                1.0L,
                                1 + epsilon_,
                                1 - epsilon_ / 2,
                                0.5L,
                                1.5L,
                                2.0L,
                                2.5L,
                                3.0L,
                                0.1L,
                                0.785398163397448309616L,
                                1.57079632679489661923L,
                                3.14159265358979323846L,
                                10.0L,
                                20.25L,
                                88.5L,
                                1e-3L,
                                1e-6L,
                                1e4L})
        add(x);
    return values;
}

} // namespace oracle
