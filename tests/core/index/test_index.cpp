// Basic indexing, read and written, against an oracle that walks Python's rules one position at a
// time.
#include "index_oracle.hpp"

using namespace Atoll;
using namespace support;

namespace {

std::int64_t pick(Random &random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

IndexRange random_range(Random &random, std::int64_t n) {
    const auto end = [&]() -> std::optional<std::int64_t> {
        if (random() % 4 == 0) return std::nullopt;
        return pick(random, 4 * n + 7) - 2 * n - 3;
    };
    IndexRange range{end(), end(), 1 + pick(random, n + 2)};
    if (random() % 2) range.step = -range.step;
    return range;
}

// An expression, and for every axis of the result which source positions it walks.
struct Expression {
    std::vector<IndexElement> elements;
    // Per source axis: positions, and the result's axis that walks them (-1: one position).
    std::vector<std::vector<std::int64_t>> positions;
    std::vector<int> result_axis;
    Shape shape;
    std::string text;

    void axis(std::vector<std::int64_t> chosen, bool keeps) {
        result_axis.push_back(keeps ? static_cast<int>(shape.size()) : -1);
        if (keeps) shape.push_back(std::ssize(chosen));
        positions.push_back(std::move(chosen));
    }
    Shape source(const Shape &index) const {
        Shape at;
        for (std::size_t a = 0; a < positions.size(); ++a)
            at.push_back(positions[a][result_axis[a] < 0
                                          ? 0
                                          : static_cast<std::size_t>(
                                                index[static_cast<std::size_t>(result_axis[a])])]);
        return at;
    }
};

std::vector<std::int64_t> whole(std::int64_t n) {
    std::vector<std::int64_t> positions(static_cast<std::size_t>(n));
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
}

Expression random_expression(Random &random, const Shape &shape) {
    Expression e;
    const std::int64_t rank = std::ssize(shape);
    std::int64_t axis = 0;
    bool ellipsis_used = false;
    while (true) {
        if (random() % 6 == 0) {
            e.elements.emplace_back(newaxis);
            e.shape.push_back(1);
            e.text += "new ";
        }
        if (!ellipsis_used && random() % 5 == 0) {
            ellipsis_used = true;
            const std::int64_t skipped = pick(random, rank - axis + 1);
            // The elements after it must name exactly the axes that are left.
            e.elements.emplace_back(ellipsis);
            e.text += "... ";
            for (std::int64_t i = 0; i < skipped; ++i, ++axis)
                e.axis(whole(shape[static_cast<std::size_t>(axis)]), true);
        }
        if (axis == rank) break;
        if (!ellipsis_used && random() % 5 == 0) break; // the rest is implied
        const std::int64_t n = shape[static_cast<std::size_t>(axis++)];
        switch (random() % 4) {
        case 0:
            if (n > 0) {
                const std::int64_t i = pick(random, 2 * n) - n;
                e.elements.emplace_back(i);
                e.text += std::to_string(i) + " ";
                e.axis({i < 0 ? i + n : i}, false);
                break;
            }
            [[fallthrough]];
        case 1:
            e.elements.emplace_back(all_);
            e.text += ": ";
            e.axis(whole(n), true);
            break;
        default: {
            const IndexRange r = random_range(random, n);
            e.elements.emplace_back(r);
            e.text += (r.start ? std::to_string(*r.start) : "") + ":" +
                      (r.stop ? std::to_string(*r.stop) : "") + ":" + std::to_string(r.step) + " ";
            e.axis(index_oracle::walk(r, n), true);
        }
        }
    }
    for (; axis < rank; ++axis) e.axis(whole(shape[static_cast<std::size_t>(axis)]), true);
    return e;
}

} // namespace

TEST_CASE("every index expression selects what Python would") {
    Random random(21);
    for (int trial = 0; trial < 4000; ++trial) {
        const Tensor t = random_view(random, static_cast<int>(pick(random, 5)), cpu());
        const Model m = model_of(t);
        const Expression e = random_expression(random, m.shape);
        CAPTURE(trial);
        CAPTURE(e.text);
        const Tensor view = t.index(e.elements);
        CHECK(view.storage() == t.storage());
        CHECK(model_of(view) == m.map(e.shape, [&](const Shape &i) { return e.source(i); }));
    }
}

TEST_CASE("writing through an index changes the selected elements and no others") {
    Random random(22);
    for (const Device device : all_devices())
        for (int trial = 0; trial < 300; ++trial) {
            const Tensor t = random_view(random, static_cast<int>(pick(random, 5)), device);
            if (t.is_self_overlapping()) continue;
            const Model m = model_of(t);
            const Expression e = random_expression(random, m.shape);
            CAPTURE(e.text);
            Model expected = m;
            Shape strides;
            std::int64_t step = 1;
            for (std::int64_t extent : m.shape) {
                strides.push_back(step);
                step *= extent;
            }
            const auto target = [&](const Shape &index) -> std::int64_t & {
                const Shape at = e.source(index);
                std::int64_t position = 0;
                for (std::size_t a = 0; a < at.size(); ++a) position += at[a] * strides[a];
                return expected.numbers[static_cast<std::size_t>(position)];
            };
            std::vector<char> bytes = bytes_of(t);
            switch (trial % 3) {
            case 0:
                View(t.index(e.elements)) = Scalar(-5);
                oracle::each(e.shape, [&](const Shape &i) { target(i) = -5; });
                break;
            case 1: {
                const Tensor source = counting(e.shape, int64, device);
                View(t.index(e.elements)) = source;
                const Model s = model_of(source);
                oracle::each(e.shape, [&](const Shape &i) { target(i) = s.at(i); });
                break;
            }
            default:
                t.index(e.elements) += 1000;
                oracle::each(e.shape, [&](const Shape &i) { target(i) += 1000; });
            }
            CHECK(model_of(t) == expected);
            // Bytes that belong to no element of t stay as they were.
            std::vector<char> now = bytes_of(t);
            oracle::each(m.shape, [&](const Shape &index) {
                std::int64_t at = t.offset();
                for (std::size_t a = 0; a < index.size(); ++a)
                    at += index[a] * t.strides()[static_cast<int>(a)];
                std::fill_n(now.begin() + at, 8, '\0');
                std::fill_n(bytes.begin() + at, 8, '\0');
            });
            CHECK(now == bytes);
        }
}

TEST_CASE("ranges clip at both ends for every step, the extreme numbers included") {
    constexpr std::int64_t low = INT64_MIN, high = INT64_MAX;
    for (std::int64_t n : {0, 1, 5}) {
        const Tensor t = arange(n, {int64, cpu()});
        for (std::int64_t start :
             {low, low + 1, std::int64_t{-6}, std::int64_t{-5}, std::int64_t{-1}, std::int64_t{0},
              std::int64_t{4}, std::int64_t{5}, high - 1, high})
            for (std::int64_t stop : {low, std::int64_t{-6}, std::int64_t{-2}, std::int64_t{0},
                                      std::int64_t{3}, std::int64_t{5}, high})
                for (std::int64_t step : {low, low + 1, std::int64_t{-2}, std::int64_t{-1},
                                          std::int64_t{1}, std::int64_t{3}, high}) {
                    CAPTURE(start);
                    CAPTURE(stop);
                    CAPTURE(step);
                    const IndexRange r{start, stop, step};
                    CHECK(t(r).to_vector<std::int64_t>() == index_oracle::walk(r, n));
                    CHECK(t(range({}, stop, step)).to_vector<std::int64_t>() ==
                          index_oracle::walk({{}, stop, step}, n));
                    CHECK(t(range(start, {}, step)).to_vector<std::int64_t>() ==
                          index_oracle::walk({start, {}, step}, n));
                }
    }
}

TEST_CASE("what is out of range or too much is an error, and nothing is written") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({2, 3}, int64, device);
        const Model before = model_of(t);
        const auto status = [](auto &&body) { return error_status(body); };
        CHECK(status([&] { (void)t(2); }) == Status::out_of_range);
        CHECK(status([&] { (void)t(-3); }) == Status::out_of_range);
        CHECK(status([&] { (void)t(0, 3); }) == Status::out_of_range);
        CHECK(status([&] { (void)t(INT64_MIN); }) == Status::out_of_range);
        CHECK(status([&] { (void)t(0, 0, 0); }) == Status::invalid_argument);
        CHECK(status([&] { (void)t(ellipsis, ellipsis); }) == Status::invalid_argument);
        CHECK(status([&] { (void)t(range(0, 1, 0)); }) == Status::invalid_argument);
        CHECK(status([&] { (void)counting({0}, int64, device)(0); }) == Status::out_of_range);
        CHECK(status([&] { t(all_, 3) = 1; }) == Status::out_of_range);
        CHECK(status([&] {
                  t(all_, 0) = zeros({3}, {int64, device});
              }) == Status::invalid_argument);
        CHECK(status([&] { t(0) = zeros({2, 3}, {int64, device}); }) == Status::invalid_argument);
        CHECK(model_of(t) == before);
        const std::string text = error_text([&] { (void)t(1, -4); });
        CHECK(contains(text, "-4"));
        CHECK(contains(text, "axis 1"));
        CHECK(contains(text, "(2, 3)"));
        CHECK(contains(text, "-3 to 2"));
    }
}

TEST_CASE("assignment to a name rebinds it, assignment to an expression writes") {
    Tensor t = counting({3}, int64, cpu());
    const Tensor first = t, other = zeros({3}, {int64, cpu()});
    t = other;
    CHECK(model_of(first).numbers == std::vector<std::int64_t>{0, 1, 2});
    first(all_) = other;
    CHECK(model_of(first).numbers == std::vector<std::int64_t>{0, 0, 0});
    first(1) = 5;
    first(range(2, 3)) = 2.75; // converted as a cast does
    CHECK(model_of(first).numbers == std::vector<std::int64_t>{0, 5, 2});
    CHECK(model_of(t).numbers == std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("assignment broadcasts and converts dtype, device and byte order") {
    for (const Device device : all_devices()) {
        Tensor t = zeros({2, 3}, {float32, device});
        t.byteswap();
        t(all_, range(1, 3)) = vector<std::int16_t>({7, -7}, {cpu()});
        CHECK(t.to_doubles() == std::vector<double>{0, 0, 7, -7, 7, -7});
        t(0, all_) = vector<std::int64_t>({1, 2, 3}, {Atoll::device("dummy:1")});
        CHECK(t.to_doubles() == std::vector<double>{1, 0, 2, -7, 3, -7});
    }
}

TEST_CASE("an unsigned index below zero is out of range, not one from the end") {
    const Tensor t = arange(5, {float64, support::cpu()});
    CHECK_THROWS_AS(t(std::size_t{5} - 6), Error);
    CHECK_THROWS_AS(t(~std::uint64_t{0}), Error);
    CHECK(t(-1).item().to_double() == 4);
}
