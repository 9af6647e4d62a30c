// Creates, reads and guards operands.
#include "operands.hpp"

#include "atoll/half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace Atoll::conformance {

namespace {

constexpr std::int64_t guard = 128; // bytes before the first and behind the last element

// Bytes that tell their place apart from those near it.
std::vector<char> pattern(std::size_t size) {
    constexpr std::size_t period = 256;
    std::vector<char> bytes(size);
    for (std::size_t i = 0; i < std::min(size, period); ++i)
        bytes[i] = static_cast<char>(i * 37 + 0x5b);
    for (std::size_t done = period; done < size; done *= 2)
        std::memcpy(bytes.data() + done, bytes.data(), std::min(done, size - done));
    return bytes;
}

void reverse_parts(char *bytes, DType dtype) {
    const auto part = size_of(info(dtype).part);
    for (std::int64_t at = 0; at < size_of(dtype); at += part)
        std::reverse(bytes + at, bytes + at + part);
}

// Shows in the result of a function that reads it; no function returns a NaN of these bits.
void write_nan(char *bytes, DType dtype) {
    const auto part = static_cast<std::size_t>(size_of(info(dtype).part));
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_of(dtype)); ++i)
        bytes[i] = static_cast<char>(i % part + 1 == part ? 0x7f : 0xfd);
}

// Calls body(position, index) for every element in column-major order.
template <class Body> void each(const Shape &shape, Body &&body) {
    Shape index(shape.size(), 0);
    for (std::int64_t k = 0, n = count_of(shape); k < n; ++k) {
        body(static_cast<std::size_t>(k), index);
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
}

// Byte strides of a layout.
Shape strides_of(const Shape &shape, std::int64_t size, Layout layout, std::size_t seed) {
    const std::size_t rank = shape.size();
    const bool scattered = layout == Layout::scattered || layout == Layout::scattered_broadcast;
    Shape strides(rank, 0);
    std::vector<std::size_t> order(rank); // the axis of the smallest stride first
    std::iota(order.begin(), order.end(), 0);
    if (layout == Layout::transposed) std::reverse(order.begin(), order.end());
    std::minstd_rand random(static_cast<unsigned>(17 + 5 * seed + rank));
    for (std::size_t i = rank; scattered && i > 1; --i)
        std::swap(order[i - 1], order[random() % i]);
    std::int64_t next = layout == Layout::strided ? 3 * size : size;
    for (const std::size_t axis : order) {
        if (static_cast<int>(axis) == broadcast_axis(layout, rank)) continue;
        if (scattered) next += size * static_cast<std::int64_t>(random() % 3);
        const bool negative = layout == Layout::reversed || (scattered && random() % 2 == 1);
        strides[axis] = negative ? -next : next;
        next *= shape[axis];
        if (layout == Layout::strided) next += 2 * size;
    }
    return strides;
}

} // namespace

int broadcast_axis(Layout layout, std::size_t rank) {
    if (rank < 2) return -1;
    switch (layout) {
    case Layout::broadcast: return static_cast<int>(rank) - 1;
    case Layout::broadcast_first: return 0;
    case Layout::scattered_broadcast: return static_cast<int>(rank / 2);
    default: return -1;
    }
}

std::int64_t count_of(const Shape &shape) {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    return n;
}

Guarded lay_out(const Values &values, const Shape &shape, DType dtype, const Placement &where,
                Layout layout, bool swapped, std::size_t seed) {
    const std::int64_t size = size_of(dtype);
    const Shape strides = strides_of(shape, size, layout, seed);
    std::int64_t low = 0, high = size;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::int64_t reach = strides[axis] * (shape[axis] - 1);
        (reach < 0 ? low : high) += reach;
    }
    std::int64_t start = guard - low + (layout == Layout::unaligned ? 1 : 0);
    // Complex numbers are aligned to their parts, not to their size.
    const bool apart = layout == Layout::strided || layout == Layout::scattered;
    if (apart && is_complex(dtype)) start += size / 2;
    Guarded operand;
    operand.image = pattern(static_cast<std::size_t>(start + high + guard));
    operand.elements.resize(operand.image.size());
    each(shape, [&](std::size_t k, const Shape &index) {
        std::int64_t at = start;
        for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * strides[axis];
        const auto place = static_cast<std::size_t>(at);
        std::memset(operand.elements.data() + place, 1, static_cast<std::size_t>(size));
        char *const element = operand.image.data() + place;
        if (values.empty()) {
            if (is_floating(dtype)) write_nan(element, dtype);
        } else {
            const Scalar &own = values[k], value = own.dtype() == dtype ? own : own.cast(dtype);
            std::memcpy(element, value.raw().value.bytes, static_cast<std::size_t>(size));
        }
        // Every byte but 0 is true.
        if (dtype == bool_ && !values.empty() && *element != 0)
            *element = static_cast<char>(1 << k % 8);
        if (swapped) reverse_parts(element, dtype);
    });
    const Tensor bytes =
        from_values(operand.image.data(), uint8, static_cast<std::int64_t>(operand.image.size()),
                    {uint8, where.device, where.stream});
    operand.tensor = Tensor(bytes.storage(), start, dims_of(shape), dims_of(strides), dtype);
    if (swapped) operand.tensor.set_byteswapped(true);
    std::string axes;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        axes += fmt::format("{}{}:{}", axis ? ", " : "", shape[axis], strides[axis]);
    operand.what =
        fmt::format("{} (extent:stride {}){}{}", Atoll::name(dtype), shape.empty() ? "none" : axes,
                    layout == Layout::unaligned ? " unaligned" : "", swapped ? " swapped" : "");
    return operand;
}

std::vector<char> storage_bytes(const Tensor &tensor) {
    const Storage storage = tensor.storage();
    std::vector<char> bytes(static_cast<std::size_t>(storage.bytes()));
    if (!bytes.empty()) Tensor(storage, 0, {storage.bytes()}, {1}, uint8).read(bytes.data(), uint8);
    return bytes;
}

std::vector<char> Guarded::read() const { return storage_bytes(tensor); }

Values decode(const Tensor &tensor, const std::vector<char> &bytes, bool strict) {
    const DType dtype = tensor.dtype();
    const auto size = static_cast<std::size_t>(size_of(dtype));
    const Dims strides = tensor.strides();
    Values values;
    values.reserve(static_cast<std::size_t>(tensor.size()));
    each(Shape(tensor.shape().begin(), tensor.shape().end()), [&](std::size_t, const Shape &index) {
        std::int64_t at = tensor.offset();
        for (std::size_t axis = 0; axis < index.size(); ++axis)
            at += index[axis] * strides[static_cast<int>(axis)];
        atoll_scalar raw{};
        raw.dtype = static_cast<std::uint32_t>(dtype);
        std::memcpy(raw.value.bytes, bytes.data() + at, size);
        if (strict && dtype == bool_ && raw.value.bytes[0] > 1)
            fail("wrote the byte {} as a bool; write 0 or 1", raw.value.bytes[0]);
        if (dtype == bool_) raw.value.bytes[0] = raw.value.bytes[0] != 0;
        if (tensor.is_byteswapped())
            reverse_parts(reinterpret_cast<char *>(raw.value.bytes), dtype);
        values.emplace_back(raw);
    });
    return values;
}

Values values_of(const Tensor &tensor) { return decode(tensor, storage_bytes(tensor)); }

void require_guards(const Guarded &operand, const std::vector<char> &now, const char *which) {
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (operand.elements[i] || now[i] == operand.image[i]) continue;
        const auto &own = operand.elements;
        const auto first =
            static_cast<std::size_t>(std::find(own.begin(), own.end(), 1) - own.begin());
        const auto behind =
            static_cast<std::size_t>(std::find(own.rbegin(), own.rend(), 1) - own.rbegin());
        const std::size_t last = own.size() - 1 - behind;
        fail("wrote outside the destination: byte {} {} ({}, {}); write only the elements that "
             "call->shape and the strides specify",
             i < first  ? first - i
             : i > last ? i - last
                        : i - first,
             i < first  ? "before its first element"
             : i > last ? "behind its last element"
                        : "from its first element on, in a gap between elements",
             which, operand.what);
    }
}

void require_unchanged(const Guarded &operand, const char *which) {
    const std::vector<char> now = operand.read();
    if (now == operand.image) return;
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i] != operand.image[i])
            fail("wrote to its input: byte {} of the storage of {}, {}, has changed; inputs are "
                 "read-only",
                 i, which, operand.what);
}

Values broadcast_values(Values values, const Shape &shape, int axis) {
    if (axis < 0) return values;
    std::size_t step = 1; // elements from one to the next along the axis
    for (int i = 0; i < axis; ++i)
        step *= static_cast<std::size_t>(shape[static_cast<std::size_t>(i)]);
    const auto extent = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = values[k - k / step % extent * step];
    return values;
}

std::string text(const Scalar &value) {
    const DType dtype = value.dtype();
    if (dtype == bool_) return value.to_int() ? "true" : "false";
    if (dtype == uint64) return fmt::to_string(value.raw().value.u64);
    if (is_integer(dtype)) return fmt::to_string(value.to_int());
    if (is_complex(dtype)) {
        const auto z = value.to_complex();
        return fmt::format("{:.9g}{:+.9g}i", z.real(), z.imag());
    }
    const double x = value.to_double();
    return std::isnan(x) ? "NaN" : fmt::format("{:.9g}", x);
}

} // namespace Atoll::conformance
