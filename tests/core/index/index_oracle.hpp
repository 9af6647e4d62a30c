// The oracle for index expressions: what one means, as a list of coordinates made by plain loops
// over the definitions of its elements; and the same expression as the library takes it.
#pragma once

#include "../model.hpp"

#include <deque>

namespace index_oracle {

using namespace Atoll;
using namespace support;

// --- expressions ---------------------------------------------------------------------------------

struct Item;
using Items = std::vector<Item>;

// An element of an expression as the test knows it.
struct Item {
    enum class Kind { integer, range, all, ellipsis, newaxis, tensor, bound, unbound } kind;
    std::int64_t integer = 0;
    IndexRange range{};
    // Of an index tensor: elements in column-major order, and how they lie in memory.
    DType dtype = int64;
    Shape shape{}, values{};
    oracle::Layout layout = oracle::Layout::dense;
    bool swapped = false;
    // Of an index object: bound ones to `shape`.
    Items items{};
};

inline Item integer(std::int64_t i) { return {Item::Kind::integer, i}; }
inline Item slice(IndexRange r) { return {Item::Kind::range, 0, r}; }
inline Item plain(Item::Kind kind) { return {kind}; }
inline Item tensor_item(DType dtype, Shape shape, Shape values) {
    Item item{Item::Kind::tensor};
    item.dtype = dtype;
    item.shape = std::move(shape);
    item.values = std::move(values);
    return item;
}
inline Item positions(DType dtype, Shape values) {
    Shape shape{std::ssize(values)};
    return tensor_item(dtype, std::move(shape), std::move(values));
}
inline Item index_item(Item::Kind kind, Items items, Shape bound_to = {}) {
    Item item{kind};
    item.items = std::move(items);
    item.shape = std::move(bound_to);
    return item;
}

inline std::string text(const Shape &numbers) {
    std::string t = "{";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i) t += ',';
        t += std::to_string(numbers[i]);
    }
    return t + "}";
}
inline std::string text(const Items &items) {
    std::string t;
    for (const Item &item : items) {
        if (&item != &items.front()) t += ", ";
        switch (item.kind) {
        case Item::Kind::integer: t += std::to_string(item.integer); break;
        case Item::Kind::range:
            t += (item.range.start ? std::to_string(*item.range.start) : "") + ":" +
                 (item.range.stop ? std::to_string(*item.range.stop) : "") + ":" +
                 std::to_string(item.range.step);
            break;
        case Item::Kind::all: t += "all_"; break;
        case Item::Kind::ellipsis: t += "ellipsis"; break;
        case Item::Kind::newaxis: t += "newaxis"; break;
        case Item::Kind::tensor:
            t += std::string(name(item.dtype)) + text(item.values) + " of shape " +
                 text(item.shape) + " layout " + std::to_string(static_cast<int>(item.layout)) +
                 (item.swapped ? " swapped" : "");
            break;
        case Item::Kind::bound:
            t += "bound(" + text(item.items) + " to " + text(item.shape) + ")";
            break;
        case Item::Kind::unbound: t += "index(" + text(item.items) + ")"; break;
        }
    }
    return t;
}

// --- the oracle ----------------------------------------------------------------------------------

struct Fault {
    Status status;
};

// What an expression selects: for every element of the result, in column-major order, where it is.
struct Selected {
    Shape shape;
    std::vector<Shape> sources;
    bool view = true;

    std::size_t at(const Shape &index) const {
        std::int64_t position = 0, stride = 1;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            position += index[axis] * stride;
            stride *= shape[axis];
        }
        return static_cast<std::size_t>(position);
    }
};

// An index tensor's element, as its dtype holds it.
inline std::int64_t resolve(std::int64_t i, std::int64_t extent, DType dtype = int64) {
    if (dtype == uint64 && i < 0) throw Fault{Status::out_of_range};
    if (i < -extent || i >= extent) throw Fault{Status::out_of_range};
    return i < 0 ? i + extent : i;
}

// The positions of Python's slice, by walking (CPython reference, "Slicings").
inline Shape walk(const IndexRange &range, std::int64_t n) {
    const bool forward = range.step > 0;
    const auto clip = [&](std::int64_t i) {
        if (i < 0) i += n;
        if (i < 0) return forward ? std::int64_t{0} : std::int64_t{-1};
        if (i >= n) return forward ? n : n - 1;
        return i;
    };
    const std::int64_t first = range.start ? clip(*range.start) : forward ? 0 : n - 1;
    const std::int64_t end = range.stop ? clip(*range.stop) : forward ? n : -1;
    Shape result;
    for (__int128 i = first; forward ? i < end : i > end; i += range.step)
        result.push_back(static_cast<std::int64_t>(i));
    return result;
}

inline std::size_t axes_of(const Item &item) {
    switch (item.kind) {
    case Item::Kind::ellipsis:
    case Item::Kind::newaxis: return 0;
    case Item::Kind::bound: return item.shape.size();
    case Item::Kind::tensor:
        if (item.dtype == bool_) return item.shape.size();
        return item.shape.size() == 2 ? static_cast<std::size_t>(item.shape[0]) : 1;
    default: return 1;
    }
}

inline Selected select(const Items &items, const Shape &shape);

// One element of an expression alone, over the extents of the axes that it takes.
inline Selected select_one(const Item &item, const Shape &extents) {
    Selected part;
    const auto line = [&](const Shape &list) {
        part.shape = {std::ssize(list)};
        for (std::int64_t i : list) part.sources.push_back({i});
    };
    switch (item.kind) {
    case Item::Kind::integer: part.sources = {{resolve(item.integer, extents[0])}}; break;
    case Item::Kind::range: line(walk(item.range, extents[0])); break;
    case Item::Kind::all: line(walk({}, extents[0])); break;
    case Item::Kind::newaxis:
        part.shape = {1};
        part.sources = {{}};
        break;
    case Item::Kind::bound:
        if (extents != item.shape) throw Fault{Status::invalid_argument};
        return select(item.items, extents);
    case Item::Kind::tensor:
        if (item.dtype == bool_) {
            if (extents != item.shape) throw Fault{Status::invalid_argument};
            std::size_t at = 0;
            oracle::each(extents, [&](const Shape &index) {
                if (item.values[at++]) part.sources.push_back(index);
            });
            part.shape = {std::ssize(part.sources)};
        } else if (item.shape.empty()) {
            part.sources = {{resolve(item.values[0], extents[0], item.dtype)}};
            return part;
        } else {
            const std::size_t count = extents.size();
            if (count == 0) throw Fault{Status::invalid_argument};
            // The library looks at one axis after the other, too.
            part.sources.assign(item.values.size() / count, Shape(count));
            for (std::size_t axis = 0; axis < count; ++axis)
                for (std::size_t i = 0; i < part.sources.size(); ++i)
                    part.sources[i][axis] =
                        resolve(item.values[i * count + axis], extents[axis], item.dtype);
            part.shape = {item.shape.back()};
        }
        part.view = false;
        break;
    default: break;
    }
    return part;
}

inline void flatten(const Items &items, Items &out) {
    for (const Item &item : items) {
        if (item.kind == Item::Kind::unbound)
            flatten(item.items, out);
        else
            out.push_back(item);
    }
}

inline Selected select(const Items &given, const Shape &shape) {
    Items items;
    flatten(given, items);
    // A bound index alone must fit as a whole.
    if (items.size() == 1 && items[0].kind == Item::Kind::bound && items[0].shape != shape)
        throw Fault{Status::invalid_argument};
    std::size_t named = 0, ellipses = 0;
    for (const Item &item : items) {
        if (item.kind == Item::Kind::tensor &&
            (is_floating(item.dtype) || (item.dtype != bool_ && item.shape.size() > 2)))
            throw Fault{Status::invalid_argument};
        named += axes_of(item);
        ellipses += item.kind == Item::Kind::ellipsis;
    }
    if (ellipses > 1 || named > shape.size()) throw Fault{Status::invalid_argument};
    if (ellipses == 0) items.push_back(plain(Item::Kind::ellipsis));
    Selected result;
    result.sources = {{}};
    std::size_t axis = 0;
    const auto take = [&](const Item &item) {
        const std::size_t end = axis + axes_of(item);
        const Selected part =
            select_one(item, Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis),
                                   shape.begin() + static_cast<std::ptrdiff_t>(end)));
        axis = end;
        result.view &= part.view;
        result.shape.insert(result.shape.end(), part.shape.begin(), part.shape.end());
        std::vector<Shape> product;
        for (const Shape &later : part.sources)
            for (Shape source : result.sources) {
                source.insert(source.end(), later.begin(), later.end());
                product.push_back(std::move(source));
            }
        result.sources = std::move(product);
    };
    for (const Item &item : items) {
        if (item.kind == Item::Kind::ellipsis)
            for (std::size_t skip = shape.size() - named; skip > 0; --skip)
                take(plain(Item::Kind::all));
        else
            take(item);
    }
    return result;
}

// What `next` selects of what `first` selects.
inline Selected select_then(const Selected &first, const Selected &next) {
    Selected result{next.shape, {}, first.view && next.view};
    for (const Shape &source : next.sources)
        result.sources.push_back(first.sources[first.at(source)]);
    return result;
}

// --- from the test's words to the library's ------------------------------------------------------

// Elements refer to tensors and indices: those are kept here.
struct Built {
    std::deque<Tensor> tensors;
    std::deque<Index> indices;
    std::vector<IndexElement> elements;

    Built(const Items &items, Device device) {
        for (const Item &item : items) {
            switch (item.kind) {
            case Item::Kind::integer: elements.emplace_back(item.integer); break;
            case Item::Kind::range: elements.emplace_back(item.range); break;
            case Item::Kind::all: elements.emplace_back(all_); break;
            case Item::Kind::ellipsis: elements.emplace_back(ellipsis); break;
            case Item::Kind::newaxis: elements.emplace_back(newaxis); break;
            case Item::Kind::tensor: {
                oracle::Operand memory =
                    operand(id(item.dtype), item.shape, item.layout, item.swapped);
                std::size_t at = 0;
                oracle::each(item.shape, [&](const Shape &index) {
                    memory.set(index, oracle::convert(Value::of(__int128{item.values[at++]}),
                                                      id(item.dtype)));
                });
                elements.emplace_back(tensors.emplace_back(upload(memory, device)));
                break;
            }
            case Item::Kind::bound:
            case Item::Kind::unbound: {
                const Built inner(item.items, device);
                Index index(inner.elements);
                if (item.kind == Item::Kind::bound) index = index.bind(dims(item.shape));
                elements.emplace_back(indices.emplace_back(std::move(index)));
            }
            }
        }
    }
    bool basic() const { return tensors.empty() && indices.empty(); }
};

} // namespace index_oracle
