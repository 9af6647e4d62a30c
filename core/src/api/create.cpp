// Making tensors.
#include "atoll/create.hpp"

#include "atoll/operations.hpp"
#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "call/copy.hpp"
#include "call/parts.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

struct Place {
    DType dtype;
    DeviceRecord *device;
    Ref<StreamImpl> stream;
    Tensor make(const Dims &shape, Order order = Order::F) const {
        return make_tensor(shape, dtype, device, stream, order);
    }
};

// Fills in what the caller left out. `dtype`: none means the default dtype.
Place resolve(const Placement &where, DType dtype, std::string_view op) {
    Place place{where.dtype != DType::none ? where.dtype : dtype, where.device.record(), {}};
    if (place.dtype == DType::none) place.dtype = current_settings().default_dtype;
    if (place.dtype == DType::none)
        throw Error(Status::invalid_argument, op,
                    "needs a dtype: none was given and Settings::default_dtype is unset");
    require_dtype(place.dtype, op);
    if (!place.device)
        place.device = (where.stream ? where.stream.device() : default_device()).record();
    if (where.stream) place.stream = checked_stream(where.stream, *place.device, op, "not");
    return place;
}

// The dtype of several values: what their dtypes promote to; integers and bools adapt to floats.
DType common_dtype(std::span<const Scalar> values) {
    const bool floats = std::any_of(values.begin(), values.end(), [](const Scalar &value) {
        return is_floating(value.value_dtype());
    });
    DType common = DType::none;
    for (const Scalar &value : values) {
        const DType own = value.value_dtype();
        if (floats && !is_floating(own) && value.is_weak()) continue;
        common = common == DType::none ? own : promote(common, own);
    }
    return common;
}

bool is_integral(const Scalar &value) {
    return is_integer(value.dtype()) || value.dtype() == bool_;
}

// In what a plugin computes steps for a dtype: int64, uint64, float64 or complex128.
DType step_dtype(DType dtype) {
    if (is_complex(dtype)) return complex128;
    if (is_real_float(dtype)) return float64;
    return info(dtype).kind == Kind::unsigned_ ? uint64 : int64;
}

__int128 exact_integer(const Scalar &value) {
    if (value.dtype() == uint64) return value.raw().value.u64;
    return value.to_int();
}

// A real number where it is one.
Scalar number(std::complex<double> x) { return x.imag() == 0 ? Scalar(x.real()) : Scalar(x); }

[[noreturn]] void refuse_element(const Scalar &element, DType dtype, std::string_view op) {
    throw_error(Status::out_of_range, op, "got the element {}, which does not fit {}",
                to_string(element), name(dtype));
}
// Throws unless an integer dtype (or bool) can hold the element of a range.
template <class Number> void require_fit(Number value, DType dtype, std::string_view op) {
    const bool is_signed = info(dtype).kind == Kind::signed_;
    const int bits = dtype == bool_ ? 1 : 8 * info(dtype).size - (is_signed ? 1 : 0);
    const Number end = static_cast<Number>(__int128{1} << bits);
    if (value >= end || !(value >= (is_signed ? -end : Number{0})))
        refuse_element(static_cast<double>(value), dtype, op);
}
// The same for any dtype: integers hold the truncated element, and of others finite ones stay so.
void require_element(const Scalar &element, DType dtype, std::string_view op) {
    if (is_floating(dtype)) {
        if (element.overflows(dtype)) refuse_element(element, dtype, op);
    } else if (is_integral(element)) {
        require_fit(exact_integer(element), dtype, op);
    } else {
        require_fit(std::trunc(element.to_double()), dtype, op);
    }
}

Tensor filled(const Dims &shape, const Scalar &value, const Placement &where, DType dtype,
              std::string_view op) {
    const ReadSection section;
    return resolve(where, dtype, op).make(shape).fill(value);
}

// Appends the numbers of nested lists with these extents, outermost first; the innermost run
// fastest.
void collect(const Nested &lists, const Dims &extents, int depth, std::vector<Scalar> &values) {
    const auto fail = [&](const std::string &got) {
        throw_error(Status::invalid_argument, "tensor",
                    "got {} at depth {} of nested lists, need lists of equal lengths", got, depth);
    };
    if (!lists.is_list()) {
        if (depth != extents.size()) fail("a number beside a list");
        return values.push_back(lists.value());
    }
    if (depth == extents.size()) fail("a list beside a number");
    if (const std::size_t length = lists.items().size();
        extents[depth] != static_cast<std::int64_t>(length))
        fail(fmt::format("lists of {} and {} items", extents[depth], length));
    for (const Nested &item : lists.items()) collect(item, extents, depth + 1, values);
}

} // namespace

Tensor empty(const Dims &shape, const Placement &where, Order order) {
    const ReadSection section;
    require_one_of(order, {Order::F, Order::C, Order::R}, "order", "F, C or R", "empty");
    return resolve(where, DType::none, "empty").make(shape, order);
}

Tensor empty_strided(const Dims &shape, const Dims &strides_bytes, const Placement &where) {
    const ReadSection section;
    Place place = resolve(where, DType::none, "empty_strided");
    const ByteRange range =
        checked_range(shape, strides_bytes, size_of(place.dtype), "empty_strided");
    const std::int64_t bytes = range.end - range.begin;
    Ref<StorageImpl> storage =
        make_storage(bytes, place.device, place.dtype, std::move(place.stream));
    Dims strides = strides_bytes;
    bound_unused_strides(shape, strides, size_of(place.dtype));
    return make_view(std::move(storage), -range.begin, shape, strides, place.dtype, 0);
}

Tensor full(const Dims &shape, const Scalar &value, const Placement &where) {
    return filled(shape, value, where, value.value_dtype(), "full");
}
Tensor zeros(const Dims &shape, const Placement &where) {
    return filled(shape, false, where, DType::none, "zeros");
}
Tensor ones(const Dims &shape, const Placement &where) {
    return filled(shape, true, where, DType::none, "ones");
}

Tensor empty_like(const Tensor &like) {
    const ReadSection section;
    const TensorImpl &t = detail::impl(like);
    return make_tensor(t.shape, t.dtype, t.device(), t.storage->stream);
}
Tensor full_like(const Tensor &like, const Scalar &value) { return empty_like(like).fill(value); }
Tensor zeros_like(const Tensor &like) { return full_like(like, false); }
Tensor ones_like(const Tensor &like) { return full_like(like, true); }

Tensor eye(std::int64_t rows, std::optional<std::int64_t> cols, std::int64_t k,
           const Placement &where) {
    const ReadSection section;
    const Tensor result = zeros({rows, cols.value_or(rows)}, where);
    if (k > -rows && k < cols.value_or(rows)) result.diag(k).fill(true);
    return result;
}

Tensor diag(const Tensor &vector, std::int64_t k) {
    const ReadSection section;
    const TensorImpl &v = detail::impl(vector);
    if (v.shape.size() != 1)
        throw_error(Status::invalid_argument, "diag", "got shape {}, need a vector",
                    shape_text(v.shape));
    std::int64_t n = 0;
    if (__builtin_add_overflow(v.shape[0], k < 0 ? -static_cast<__int128>(k) : k, &n))
        throw_error(Status::overflow, "diag",
                    "got {} elements and diagonal {}: more rows than fit 63 bits", v.shape[0], k);
    const Tensor result = zeros({n, n}, {v.dtype, Device(v.device())});
    result.diag(k).assign(vector);
    return result;
}

namespace {

// `own`: the dtype of the values.
// Fills the vector for a maker of tensors, which a missing kernel's error names.
void write_steps(const char *maker, const Tensor &vector, const Scalar &start, const Scalar &step,
                 const Scalar *last = nullptr) {
    try {
        steps_part(vector, start, step, last, {});
    } catch (const Error &e) {
        if (e.status() != Status::not_supported) throw;
        throw Error(e.status(), maker,
                    fmt::format("needs core.steps, which is not implemented for {} here; make the "
                                "values on another device and move them with Tensor::to",
                                name(vector.dtype())),
                    e.device(), e.plugin());
    }
}

Tensor make_range(const Scalar &start, const Scalar &stop, const Scalar &step, DType own,
                  const Placement &where) {
    const ReadSection section;
    const bool integral = is_integral(start) && is_integral(stop) && is_integral(step);
    const Place place = resolve(where, own, "arange");
    std::int64_t count = 0;
    if (integral) {
        const __int128 from = exact_integer(start), to = exact_integer(stop),
                       by = exact_integer(step);
        if (by == 0) throw Error(Status::invalid_argument, "arange", "got a step of 0");
        const __int128 n = by > 0 ? (to - from + by - 1) / by : (from - to - by - 1) / -by;
        if (n > std::numeric_limits<std::int64_t>::max())
            throw Error(Status::overflow, "arange", "more elements than fit 63 bits");
        count = static_cast<std::int64_t>(std::max<__int128>(n, 0));
    } else {
        const double n = std::ceil((stop.to_double() - start.to_double()) / step.to_double());
        if (!std::isfinite(n) || n >= 0x1p63)
            throw_error(Status::invalid_argument, "arange",
                        "got start {}, stop {}, step {}: no finite number of elements",
                        start.to_double(), stop.to_double(), step.to_double());
        count = static_cast<std::int64_t>(std::max(n, 0.0));
    }
    const DType dtype = place.dtype;
    const Tensor result = place.make({count});
    if (count == 0) return result;
    require_element(start, dtype, "arange");
    if (!integral && !is_floating(dtype)) {
        const Tensor floats = arange(start, stop, step, {float64, Device(result.device())});
        require_element(floats(-1).item(), dtype, "arange");
        copy_elements(*result.impl(), *floats.impl(), {});
        return result;
    }
    const DType wide = step_dtype(dtype);
    if (integral && is_integer(dtype))
        require_fit(exact_integer(start) + exact_integer(step) * (count - 1), dtype, "arange");
    else
        require_element(
            number(start.to_complex() + step.to_complex() * static_cast<double>(count - 1)), dtype,
            "arange");
    write_steps("arange", result, start.cast(wide), step.cast(wide));
    return result;
}

} // namespace

Tensor arange(Scalar start, Scalar stop, Scalar step, const Placement &where) {
    const Scalar given[] = {start, stop, step};
    // A step that is left out is an int, and adapts.
    const bool adapts = is_integral(step) && is_integer(stop.value_dtype());
    return make_range(start, stop, step, common_dtype(std::span(given, adapts ? 2 : 3)), where);
}

Tensor arange(Scalar stop, const Placement &where) {
    return make_range(0, stop, 1, stop.value_dtype(), where);
}

Tensor linspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options,
                const Placement &where) {
    const ReadSection section;
    const Scalar given[] = {start, stop};
    const DType own = common_dtype(given);
    const Place place = resolve(where, is_floating(own) ? own : float64, "linspace");
    if (count < 0)
        throw_error(Status::invalid_argument, "linspace", "got {} elements, need 0 or more", count);
    const DType dtype = place.dtype;
    const Tensor result = place.make({count});
    if (count == 0) return result;
    const std::complex<double> a = start.to_complex(), b = stop.to_complex();
    const bool ends_at_stop = options.endpoint && count > 1;
    const double intervals = static_cast<double>(options.endpoint ? count - 1 : count);
    const std::complex<double> step = intervals > 0 ? (b - a) / intervals : b - a;
    require_element(start, dtype, "linspace");
    require_element(ends_at_stop ? stop : number(a + step * static_cast<double>(count - 1)), dtype,
                    "linspace");
    const auto is_finite = [](std::complex<double> x) {
        return std::isfinite(x.real()) && std::isfinite(x.imag());
    };
    if (!is_finite(step) && is_finite(a) && is_finite(b)) {
        // The distance is beyond float64, though all values are within: in two halves.
        const Placement wide{float64, Device(result.device())};
        const Tensor t = linspace(0, 1, count, options, wide);
        const Tensor values = multiply(t, number(b)) + multiply(subtract(1, t), number(a));
        copy_elements(*result.impl(), *values.impl(), {});
        return result;
    }
    // Integers get the truncated values of the floating-point steps, as in NumPy.
    const Tensor floats =
        is_floating(dtype) ? result : empty({count}, {float64, Device(result.device())});
    const DType wide = step_dtype(floats.dtype());
    const Scalar last = Scalar(b).cast(wide);
    write_steps("linspace", floats, Scalar(a).cast(wide), Scalar(step).cast(wide),
                ends_at_stop ? &last : nullptr);
    if (floats.impl() != result.impl()) {
        copy_elements(*result.impl(), *floats.impl(), {});
        // float64 does not hold every int64.
        if (is_integral(start)) result(0).fill(start.cast(dtype));
        if (ends_at_stop && is_integral(stop)) result(-1).fill(stop.cast(dtype));
    }
    return result;
}

Tensor from_values(const void *values, DType dtype, std::int64_t count, const Placement &where) {
    const ReadSection section;
    const Place place = resolve(where, dtype, "vector");
    const std::int64_t bytes = checked_bytes({count}, size_of(dtype), "vector");
    const Tensor result = make_tensor({count}, dtype, place.device, place.stream);
    if (bytes > 0) {
        if (place.device->type->host_memory() && place.device->type->is_inline())
            std::memcpy(result.data(), values, static_cast<std::size_t>(bytes));
        else
            transfer(home_of(*result.impl()->storage), ATOLL_TRANSFER_HOST_TO_DEVICE, result.data(),
                     values, bytes);
    }
    return result.ensure(place.dtype);
}

Tensor tensor(const Nested &lists, const Placement &where) {
    const ReadSection section;
    Dims nesting; // outermost first
    for (const Nested *at = &lists; at->is_list(); at = &at->items().front()) {
        nesting.push_back(static_cast<std::int64_t>(at->items().size()));
        if (at->items().empty()) break;
    }
    std::vector<Scalar> values;
    collect(lists, nesting, 0, values);
    const Place place = resolve(where, common_dtype(values), "tensor");
    const std::int64_t itemsize = size_of(place.dtype);
    std::vector<char> bytes(values.size() * static_cast<std::size_t>(itemsize));
    char *at = bytes.data();
    for (const Scalar &value : values) {
        if (value.overflows(place.dtype))
            throw_error(Status::out_of_range, "tensor", "got {}, which does not fit {}",
                        to_string(value), name(place.dtype));
        const Scalar own = value.cast(place.dtype);
        std::memcpy(at, own.raw().value.bytes, static_cast<std::size_t>(itemsize));
        at += itemsize;
    }
    // The values lie with the innermost list fastest: column-major with the nesting reversed.
    Dims shape = nesting;
    std::reverse(shape.begin(), shape.end());
    Placement placed = where;
    placed.dtype = place.dtype;
    return from_values(bytes.data(), place.dtype, static_cast<std::int64_t>(values.size()), placed)
        .reshape(shape)
        .reverse_axes()
        .as_contiguous();
}

Tensor from_memory(void *data, const Dims &shape, const Dims &strides_bytes, DType dtype,
                   Device host, std::function<void()> deleter) {
    if (!host || !host.is_host_memory())
        throw_error(Status::invalid_argument, "from_memory",
                    "got {}, need a device with host memory (for memory of another "
                    "device see Storage::borrow)",
                    host ? host.name() : "no device");
    require_dtype(dtype, "from_memory");
    const ByteRange range = checked_range(shape, strides_bytes, size_of(dtype), "from_memory");
    const Storage storage = Storage::borrow(static_cast<char *>(data) + range.begin,
                                            range.end - range.begin, host, dtype, {});
    Tensor result(storage, -range.begin, shape, strides_bytes, dtype);
    // Last: what throws leaves the memory to the caller.
    if (deleter)
        storage.impl()->deleter = std::make_unique<std::function<void()>>(std::move(deleter));
    return result;
}

} // namespace Atoll
