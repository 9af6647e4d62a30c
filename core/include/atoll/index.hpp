// The elements of basic indexing: integers, ranges, all, ellipsis, newaxis.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

namespace Atoll {

struct All {};
struct Ellipsis {};
struct NewAxis {};
inline constexpr All all_;          // the whole axis
inline constexpr Ellipsis ellipsis; // as many whole axes as are left; at most once
inline constexpr NewAxis newaxis;   // an axis of extent 1

// start, start + step, … up to but excluding stop, clipped as in Python. Missing ends follow the
// sign of step.
struct Range {
    std::optional<std::int64_t> start, stop;
    std::int64_t step = 1;
};
constexpr Range range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop = {},
                      std::int64_t step = 1) {
    return {start, stop, step};
}

// One element of an index expression.
struct IndexElement {
    enum class Kind : std::uint8_t { integer, range, all, ellipsis, newaxis };
    // An unsigned one past int64 is out of range of every axis, not an index from the end.
    template <std::integral T>
    requires(!std::same_as<T, bool>) IndexElement(T i)
        : kind(Kind::integer),
          integer(std::in_range<std::int64_t>(i) ? static_cast<std::int64_t>(i) : INT64_MAX) {}
    IndexElement(Range r) : kind(Kind::range), range(r) {}
    IndexElement(All) : kind(Kind::all) {}
    IndexElement(Ellipsis) : kind(Kind::ellipsis) {}
    IndexElement(NewAxis) : kind(Kind::newaxis) {}

    Kind kind;
    std::int64_t integer = 0;
    Range range{};
};

} // namespace Atoll
