// Text of tensors and scalars, in the layout of the Ocean paper's figure 2(d).
#include "atoll/format.hpp"

#include "atoll/create.hpp"
#include "objects/layout.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>

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

// Fewest decimals, up to the limit, that show every element as well as the limit would.
NumberStyle choose_style(const std::vector<Scalar> &values, int limit) {
    NumberStyle style;
    if (!is_floating(values[0].dtype())) return style;
    std::vector<double> parts; // without signs
    for (const Scalar &value : values)
        for (double part : {value.to_complex().real(), value.to_complex().imag()})
            if (std::isfinite(part)) parts.push_back(std::abs(part));
    for (double x : parts) style.scientific |= x > 0 && (x < 1e-4 || x >= 1e5);
    for (double x : parts) {
        const std::string text = real_text(x, {limit, style.scientific});
        const std::size_t dot = text.find('.');
        if (dot == std::string::npos) continue;
        std::size_t end = style.scientific ? text.find('e') : text.size();
        while (text[end - 1] == '0') --end;
        style.decimals = std::max(style.decimals, static_cast<int>(end - dot) - 1);
    }
    return style;
}

// The positions shown along an axis: all, or the edges with -1 for the gap.
std::vector<std::int64_t> shown_positions(std::int64_t extent, bool abbreviate, std::int64_t edge) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < extent; ++i) {
        if (abbreviate && extent > 2 * edge + 1 && i == edge) {
            positions.push_back(-1);
            i = extent - edge;
        }
        positions.push_back(i);
    }
    return positions;
}

std::string footer(const TensorImpl &t) {
    std::string flags;
    if (t.swapped()) flags += "byteswapped";
    if (t.read_only()) flags += flags.empty() ? "read-only" : ", read-only";
    if (!flags.empty()) flags = " (" + flags + ")";
    std::string size;
    for (std::int64_t extent : t.shape)
        size += fmt::format("{}{}", size.empty() ? "" : "x", extent);
    return fmt::format("<tensor.{} of size {} on {}{}>", name(t.dtype), size, t.device()->name,
                       flags);
}

// Fetches the elements that are shown, each with its column-major position among the shown ones.
class Picture {
public:
    Picture(const Tensor &tensor, const PrintSettings &print) : print_(print) {
        const TensorImpl &t = *tensor.impl();
        const bool abbreviate = t.size() > print.threshold;
        for (int axis = 0; axis < t.shape.size(); ++axis) {
            positions_.push_back(shown_positions(t.shape[axis], abbreviate, print.edge));
            if (gap(positions_.back())) width_ = 3; // of the dots
        }
        std::vector<std::size_t> at(positions_.size(), 0);
        values_.resize(shown_count());
        fetch(tensor, 0, at);
        style_ = choose_style(values_, print.decimals);
        std::size_t imag_width = 0;
        if (is_complex(t.dtype))
            for (const Scalar &value : values_)
                imag_width = std::max(
                    imag_width, real_text(std::abs(value.to_complex().imag()), style_).size());
        for (const Scalar &value : values_) {
            texts_.push_back(element_text(value, style_, imag_width));
            // As in the figure, floats keep a place for a sign.
            const bool room = is_floating(t.dtype) && texts_.back()[0] != '-';
            width_ = std::max(width_, texts_.back().size() + (room ? 1 : 0));
        }
    }

    std::string body() {
        const std::size_t rank = positions_.size();
        if (rank == 1) return vector_block();
        std::string out;
        std::vector<std::size_t> outer(rank, 0); // over axes 2…
        for (;;) {
            out += block(outer);
            std::size_t axis = 2;
            while (axis < rank && ++outer[axis] == positions_[axis].size()) outer[axis++] = 0;
            if (axis >= rank) return out;
        }
    }

private:
    // True iff positions are left out: behind the leading edge.
    bool gap(const std::vector<std::int64_t> &own) const {
        const auto edge = static_cast<std::size_t>(print_.edge);
        return edge < own.size() && own[edge] < 0;
    }
    std::size_t shown_count() const {
        std::size_t count = 1;
        for (const auto &own : positions_) count *= own.size() - (gap(own) ? 1 : 0);
        return count;
    }
    // Reads the blocks that the gaps leave, and nothing between them. `part` has been cut along the
    // axes before `axis`; `at`: where its first element is in positions_.
    void fetch(const Tensor &part, std::size_t axis, std::vector<std::size_t> &at) {
        const TensorImpl &t = *part.impl();
        if (axis < positions_.size()) {
            if (!gap(positions_[axis])) return fetch(part, axis + 1, at);
            const int own = static_cast<int>(axis);
            const auto edge = static_cast<std::size_t>(print_.edge);
            fetch(part.slice(own, 0, print_.edge), axis + 1, at);
            at[axis] = edge + 1;
            fetch(part.slice(own, t.shape[own] - print_.edge, t.shape[own]), axis + 1, at);
            at[axis] = 0;
            return;
        }
        const std::int64_t itemsize = size_of(t.dtype);
        std::vector<char> bytes(static_cast<std::size_t>(t.size() * itemsize));
        part.read(bytes.data(), t.dtype);
        std::vector<std::size_t> place = at;
        for (std::int64_t i = 0; i < t.size(); ++i) {
            atoll_scalar raw{static_cast<std::uint32_t>(t.dtype), 0, 0, {}};
            std::memcpy(raw.value.bytes, bytes.data() + i * itemsize,
                        static_cast<std::size_t>(itemsize));
            values_[element(place)] = Scalar(raw);
            for (std::size_t k = 0; k < place.size(); ++k) {
                if (++place[k] < at[k] + static_cast<std::size_t>(t.shape[static_cast<int>(k)]))
                    break;
                place[k] = at[k];
            }
        }
    }

    // Number of the element among those fetched, from positions in positions_; gaps do not count.
    std::size_t element(const std::vector<std::size_t> &at) const {
        std::size_t index = 0, stride = 1;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            const auto &own = positions_[axis];
            const bool cut = gap(own);
            index +=
                (at[axis] - (cut && static_cast<std::size_t>(print_.edge) < at[axis])) * stride;
            stride *= own.size() - cut;
        }
        return index;
    }

    void append(std::string &row, std::string_view text) const {
        row += fmt::format(" {:>{}}", text, width_);
    }

    std::size_t columns_per_line() const {
        return std::max<std::size_t>(1, static_cast<std::size_t>(print_.width) / (width_ + 1));
    }

    std::string vector_block() {
        std::string out, row;
        std::size_t in_row = 0;
        for (std::size_t i = 0; i < positions_[0].size(); ++i) {
            if (in_row++ == columns_per_line()) {
                out += row + "\n";
                row.clear();
                in_row = 1;
            }
            append(row, positions_[0][i] < 0 ? "..." : texts_[element({i})]);
        }
        return "(:)\n" + out + row + "\n";
    }

    std::string block(std::vector<std::size_t> at) {
        std::string header = "(:,:";
        bool gap = false;
        for (std::size_t axis = 2; axis < at.size(); ++axis) {
            const std::int64_t position = positions_[axis][at[axis]];
            gap = gap || position < 0;
            header += position < 0 ? ",..." : fmt::format(",{}", position);
        }
        std::string out = header + ")\n";
        if (gap) return out + " ...\n";
        const std::size_t columns = positions_[1].size(), step = columns_per_line();
        for (std::size_t first = 0; first < columns; first += step) {
            const std::size_t last = std::min(columns, first + step);
            if (columns > step) out += columns_header(first, last - 1);
            for (std::size_t i = 0; i < positions_[0].size(); ++i) {
                std::string row;
                for (std::size_t j = first; j < last; ++j) {
                    if (positions_[0][i] < 0 || positions_[1][j] < 0) {
                        append(row, "...");
                        continue;
                    }
                    at[0] = i;
                    at[1] = j;
                    append(row, texts_[element(at)]);
                }
                out += row + "\n";
            }
        }
        return out;
    }

    // Named by what is shown: a gap at either end of the line does not count.
    std::string columns_header(std::size_t first, std::size_t last) const {
        const std::vector<std::int64_t> &columns = positions_[1];
        if (columns[first] < 0 && first < last) ++first;
        if (columns[last] < 0 && first < last) --last;
        if (columns[first] < 0) return " columns ...\n";
        return first == last ? fmt::format(" column {}\n", columns[first])
                             : fmt::format(" columns {} to {}\n", columns[first], columns[last]);
    }

    PrintSettings print_;
    std::vector<std::vector<std::int64_t>> positions_;
    std::vector<Scalar> values_;
    std::vector<std::string> texts_;
    NumberStyle style_;
    std::size_t width_ = 0;
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
    safe.decimals = std::clamp(safe.decimals, 0, 40);
    safe.edge = std::max(safe.edge, 1);
    safe.width = std::max(safe.width, 1);
    return Picture(tensor, safe).body() + footer(t);
}

std::string to_string(const Scalar &scalar) {
    if (is_real_float(scalar.dtype())) {
        // Six significant digits, as in the figure: 8.81018e-15.
        const double x = scalar.to_double();
        return std::isnan(x) ? "nan" : fmt::format("{:.6g}", x);
    }
    return element_text(scalar, choose_style({scalar}, current_settings().print.decimals));
}

std::ostream &operator<<(std::ostream &stream, const Tensor &tensor) {
    return stream << to_string(tensor);
}
std::ostream &operator<<(std::ostream &stream, const Scalar &scalar) {
    return stream << to_string(scalar);
}

} // namespace Atoll
