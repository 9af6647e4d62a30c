// Text of tensors and scalars, in the layout of the Ocean paper's figure 2(d).
#include "atoll/format.hpp"

#include "base/enums.hpp"
#include "call/copy.hpp"
#include "objects/layout.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ostream>

#include <fmt/ranges.h>

namespace Atoll {

using namespace detail;

namespace {

// One tensor's way of writing numbers: decimals, and scientific or not, are the same for all
// elements.
struct NumberStyle {
    int decimals = 0;
    bool scientific = false;
};

std::string real_text(double value, const NumberStyle &style) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return style.scientific ? fmt::format("{:.{}e}", value, style.decimals)
                            : fmt::format("{:.{}f}", value, style.decimals);
}

// Imaginary parts are filled to `imag_width`, so that the parts stand below each other.
std::string element_text(const Scalar &value, const NumberStyle &style,
                         std::size_t imag_width = 0) {
    switch (info(value.dtype()).kind) {
    case Kind::bool_: return value.to_int() ? "True" : "False";
    case Kind::signed_: return fmt::to_string(value.to_int());
    case Kind::unsigned_: return fmt::to_string(value.cast(uint64).raw().value.u64);
    case Kind::complex: {
        const std::complex<double> z = value.to_complex();
        const bool negative = std::signbit(z.imag()) && !std::isnan(z.imag());
        return fmt::format("{} {} {:>{}}j", real_text(z.real(), style), negative ? '-' : '+',
                           real_text(negative ? -z.imag() : z.imag(), style), imag_width);
    }
    default: return real_text(value.to_double(), style);
    }
}

// The fewest decimal digits that read back as the same value of a dtype.
struct Shortest {
    int digits, exponent; // d.ddd * 10^exponent
    int decimals(bool scientific) const {
        return std::max(0, scientific ? digits - 1 : digits - 1 - exponent);
    }
};
Shortest shortest(double value, DType dtype) {
    char text[64];
    const char *end = text;
    const auto written = [&](auto... how) {
        end = std::to_chars(text, std::end(text), how...).ptr;
        const std::string_view all(text, end);
        const std::string_view mantissa = all.substr(0, all.find('e'));
        const auto digits = std::count_if(mantissa.begin(), mantissa.end(),
                                          [](char c) { return c >= '0' && c <= '9'; });
        return Shortest{static_cast<int>(digits),
                        std::stoi(std::string(all.substr(mantissa.size() + 1)))};
    };
    constexpr auto scientific = std::chars_format::scientific;
    if (dtype == float64) return written(value, scientific);
    if (dtype == float32) return written(static_cast<float>(value), scientific);
    Shortest found{};
    for (int decimals = 0; decimals < 5; ++decimals) {
        found = written(value, scientific, decimals);
        double back = 0;
        std::from_chars(text, end, back);
        if (Scalar(back).cast(dtype).to_double() == value) break;
    }
    return found;
}

NumberStyle choose_style(const std::vector<Scalar> &values, const PrintSettings &print) {
    NumberStyle style;
    const DType dtype = values[0].dtype(), part = info(dtype).part;
    if (!is_floating(dtype)) return style;
    std::vector<double> parts; // without signs
    for (const Scalar &value : values)
        for (double x : {value.to_complex().real(), value.to_complex().imag()})
            if (std::isfinite(x)) parts.push_back(std::abs(x));
    for (double x : parts)
        style.scientific |= !print.suppress_exponent && x > 0 && (x < 1e-4 || x >= 1e8);
    if (print.float_mode == FloatMode::fixed) style.decimals = print.decimals;
    if (print.float_mode == FloatMode::fixed) return style;
    for (double x : parts) {
        int decimals = shortest(x, part).decimals(style.scientific);
        if (print.float_mode == FloatMode::maxprec && decimals > print.decimals) {
            // Rounding may leave zeros at the end.
            const std::string text = real_text(x, {print.decimals, style.scientific});
            std::size_t end = std::min(text.find('e'), text.size());
            for (decimals = print.decimals; decimals > 0 && text[end - 1] == '0'; --end) --decimals;
        }
        style.decimals = std::max(style.decimals, decimals);
    }
    return style;
}

std::string footer(const TensorImpl &t) {
    std::string flags = t.swapped() ? "byteswapped" : "";
    if (t.read_only()) flags += flags.empty() ? "read-only" : ", read-only";
    if (!flags.empty()) flags = " (" + flags + ")";
    return fmt::format("<tensor.{} of size {} on {}{}>", name(t.dtype), fmt::join(t.shape, "x"),
                       t.device()->name, flags);
}

// What is shown along an axis, element by element: its position in the tensor, -1 for a gap, and
// its number among those that are fetched.
struct Slot {
    std::int64_t position;
    std::size_t number;
};
using Slots = std::vector<Slot>;

Slots shown_slots(std::int64_t extent, bool abbreviate, std::int64_t edge) {
    Slots slots;
    std::size_t number = 0;
    for (std::int64_t i = 0; i < extent; ++i) {
        if (abbreviate && extent > 2 * edge + 1 && i == edge) {
            slots.push_back({-1, 0});
            i = extent - edge;
        }
        slots.push_back({i, number++});
    }
    return slots;
}

// Copies the blocks that the gaps leave, and nothing between them, into a tensor that has just
// these. Both have been cut along the axes before `axis`.
void fetch(const Tensor &part, const Tensor &shown, int axis, const Context &context) {
    const TensorImpl &from = *part.impl(), &to = *shown.impl();
    while (axis < from.shape.size() && from.shape[axis] == to.shape[axis]) ++axis;
    if (axis == from.shape.size()) return copy_elements(to, from, context);
    const std::int64_t extent = from.shape[axis], edge = to.shape[axis] / 2;
    fetch(part.slice(axis, 0, edge), shown.slice(axis, 0, edge), axis + 1, context);
    fetch(part.slice(axis, extent - edge, extent), shown.slice(axis, edge, 2 * edge), axis + 1,
          context);
}

class Picture {
public:
    Picture(const Tensor &tensor, const PrintSettings &print) {
        const TensorImpl &t = *tensor.impl();
        const bool abbreviate = t.size() > print.threshold;
        Dims extents;
        for (const std::int64_t extent : t.shape) {
            axes_.push_back(shown_slots(extent, abbreviate, print.edge));
            extents.push_back(static_cast<std::int64_t>(axes_.back().back().number) + 1);
            if (extents.back() < extent) width_ = 3; // of the dots
        }
        const std::vector<Scalar> values = shown_values(tensor, extents);
        const NumberStyle style = choose_style(values, print);
        std::size_t imag_width = 0;
        if (is_complex(t.dtype))
            for (const Scalar &value : values)
                imag_width = std::max(imag_width,
                                      real_text(std::abs(value.to_complex().imag()), style).size());
        for (const Scalar &value : values) {
            texts_.push_back(element_text(value, style, imag_width));
            // As in the figure, floats keep a place for a sign.
            const bool room = is_floating(t.dtype) && texts_.back()[0] != '-';
            width_ = std::max(width_, texts_.back().size() + (room ? 1 : 0));
        }
        per_line_ = std::max<std::size_t>(1, static_cast<std::size_t>(print.width) / (width_ + 1));
        vector_ = axes_.size() == 1; // shown as a row
        if (vector_) axes_.insert(axes_.begin(), Slots{{0, 0}});
    }

    std::string body() const {
        std::string out;
        std::vector<std::size_t> at(axes_.size(), 0);
        for (std::size_t axis = 0; axis < axes_.size();) {
            out += block(at);
            for (axis = 2; axis < axes_.size() && ++at[axis] == axes_[axis].size(); ++axis)
                at[axis] = 0;
        }
        return out;
    }

private:
    // In column-major order.
    static std::vector<Scalar> shown_values(const Tensor &tensor, const Dims &extents) {
        const TensorImpl &t = *tensor.impl();
        Tensor shown = tensor;
        if (!(extents == t.shape)) {
            const Context parts =
                Context{}.for_parts_of(Registry::get().core_function(ATOLL_FN_copy));
            shown =
                make_tensor(extents, t.dtype, t.device(), t.storage->stream, Order::F, parts.cause);
            fetch(tensor, shown, 0, parts);
        }
        const auto itemsize = static_cast<std::size_t>(size_of(t.dtype));
        std::vector<char> bytes(static_cast<std::size_t>(shown.bytes()));
        shown.read(bytes.data(), t.dtype);
        std::vector<Scalar> values;
        for (std::size_t at = 0; at < bytes.size(); at += itemsize) {
            atoll_scalar raw{static_cast<std::uint32_t>(t.dtype), 0, 0, {}};
            std::memcpy(raw.value.bytes, bytes.data() + at, itemsize);
            values.push_back(Scalar(raw));
        }
        return values;
    }

    // The text at these slots.
    std::string_view text(const std::vector<std::size_t> &at) const {
        std::size_t index = 0, stride = 1;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            const Slot &slot = axes_[axis][at[axis]];
            if (slot.position < 0) return "...";
            index += slot.number * stride;
            stride *= axes_[axis].back().number + 1;
        }
        return texts_[index];
    }

    // Axes 0 and 1 where the others are at these slots.
    std::string block(std::vector<std::size_t> at) const {
        std::string out = vector_ ? "(:" : "(:,:";
        bool gap = false;
        for (std::size_t axis = 2; axis < at.size(); ++axis) {
            const std::int64_t position = axes_[axis][at[axis]].position;
            gap = gap || position < 0;
            out += position < 0 ? ",..." : fmt::format(",{}", position);
        }
        out += ")\n";
        if (gap) return out + " ...\n";
        const std::size_t columns = axes_[1].size();
        for (std::size_t first = 0; first < columns; first += per_line_) {
            const std::size_t end = std::min(columns, first + per_line_);
            if (columns > per_line_ && !vector_) out += columns_header(first, end - 1);
            for (at[0] = 0; at[0] < axes_[0].size(); ++at[0]) {
                for (at[1] = first; at[1] < end; ++at[1])
                    out += fmt::format(" {:>{}}", text(at), width_);
                out += "\n";
            }
        }
        return out;
    }

    // Named by what is shown: a gap at either end of the line does not count.
    std::string columns_header(std::size_t first, std::size_t last) const {
        const Slots &columns = axes_[1];
        if (columns[first].position < 0 && first < last) ++first;
        if (columns[last].position < 0 && first < last) --last;
        const std::int64_t from = columns[first].position, to = columns[last].position;
        if (from < 0) return " columns ...\n";
        return first == last ? fmt::format(" column {}\n", from)
                             : fmt::format(" columns {} to {}\n", from, to);
    }

    std::vector<Slots> axes_;
    std::vector<std::string> texts_; // of what is fetched, in column-major order
    std::size_t width_ = 0, per_line_ = 1;
    bool vector_ = false;
};

} // namespace

std::string to_string(const Tensor &tensor) { return to_string(tensor, current_settings().print); }

std::string to_string(const Tensor &tensor, const PrintSettings &print) {
    const ReadSection section;
    if (!tensor.is_defined()) return "<undefined tensor>";
    const TensorImpl &t = *tensor.impl();
    if (t.shape.empty()) return to_string(tensor.item());
    if (t.size() == 0) return footer(t);
    PrintSettings safe = print;
    require_one_of(safe.float_mode, {FloatMode::maxprec, FloatMode::fixed, FloatMode::unique},
                   "float mode", "maxprec, fixed or unique", "to_string");
    safe.decimals = std::clamp(safe.decimals, 0, 40);
    safe.edge = std::max(safe.edge, 1);
    safe.width = std::max(safe.width, 1);
    return Picture(tensor, safe).body() + footer(t);
}

std::string to_string(const Scalar &scalar) {
    NumberStyle style;
    const DType dtype = scalar.dtype();
    if (is_floating(dtype)) {
        const std::complex<double> z = scalar.to_complex();
        const double larger = std::max(std::abs(z.real()), std::abs(z.imag()));
        style.scientific = std::isfinite(larger) && larger > 0 && (larger < 1e-4 || larger >= 1e16);
        for (double x : {z.real(), z.imag()})
            if (std::isfinite(x))
                style.decimals = std::max(style.decimals,
                                          shortest(x, info(dtype).part).decimals(style.scientific));
    }
    return element_text(scalar, style);
}

std::string to_string(const Dims &dims) { return shape_text(dims); }
std::string to_string(DType dtype) { return std::string(name(dtype)); }
std::string to_string(const Device &device) { return device ? device.name() : "no device"; }
std::string to_string(Status status) { return std::string(name(status)); }

std::ostream &operator<<(std::ostream &stream, const Tensor &tensor) {
    return stream << to_string(tensor);
}
std::ostream &operator<<(std::ostream &stream, const Scalar &scalar) {
    return stream << to_string(scalar);
}
std::ostream &operator<<(std::ostream &stream, const Dims &dims) {
    return stream << to_string(dims);
}
std::ostream &operator<<(std::ostream &stream, DType dtype) { return stream << name(dtype); }
std::ostream &operator<<(std::ostream &stream, const Device &device) {
    return stream << to_string(device);
}
std::ostream &operator<<(std::ostream &stream, Status status) { return stream << name(status); }

} // namespace Atoll
