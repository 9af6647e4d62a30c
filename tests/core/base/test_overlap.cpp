// The overlap solver against brute force, on hard instances and on numbers near the limits.
#include "base/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace Atoll::detail;

namespace {

constexpr std::int64_t plenty = 1'000'000'000;

const void *address(std::uint64_t value) { return reinterpret_cast<const void *>(value); }

// A strided view that owns its shape and strides.
struct View {
    std::uint64_t data = 0;
    std::vector<std::int64_t> shape, strides;
    std::int64_t itemsize = 1;

    StridedExtent extent() const {
        return {address(data), static_cast<int>(shape.size()), shape.data(), strides.data(),
                itemsize};
    }
    // Addresses of all elements, in column-major order.
    std::vector<std::int64_t> elements() const {
        std::vector<std::int64_t> result{static_cast<std::int64_t>(data)};
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const std::vector<std::int64_t> before = result;
            result.clear();
            for (std::int64_t i = 0; i < shape[axis]; ++i)
                for (const std::int64_t at : before) result.push_back(at + i * strides[axis]);
        }
        return result;
    }
};

Overlap overlap(const View &a, const View &b, std::int64_t max_work = plenty) {
    return memory_overlap(a.extent(), b.extent(), max_work);
}
Overlap overlap(const View &a, std::int64_t max_work = plenty) {
    return self_overlap(a.extent(), max_work);
}

// The oracles touch every byte.
class Bytes {
public:
    // False if one of the bytes was there before.
    bool insert(const View &view) {
        bool fresh = true;
        for (const std::int64_t at : view.elements())
            for (std::int64_t byte = at; byte < at + view.itemsize; ++byte)
                fresh &= bytes_.insert(byte).second;
        return fresh;
    }
    bool touches(const View &view) const {
        for (const std::int64_t at : view.elements())
            for (std::int64_t byte = at; byte < at + view.itemsize; ++byte)
                if (bytes_.count(byte)) return true;
        return false;
    }

private:
    std::set<std::int64_t> bytes_;
};

struct Random {
    std::mt19937_64 engine{20240607};
    std::int64_t operator()(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
    }
    // Small views near one address. `unit`: the granularity of strides; often the itemsize, since
    // that is where "no" hides between the elements of the other view.
    View view(std::int64_t unit, std::int64_t max_stride) {
        View result;
        static constexpr std::array<std::int64_t, 6> itemsizes{1, 2, 3, 4, 8, 16};
        const int rank = static_cast<int>((*this)(0, 4));
        result.itemsize = itemsizes[(*this)(0, itemsizes.size() - 1)];
        result.data = 1 << 20;
        for (int axis = 0; axis < rank; ++axis) {
            result.shape.push_back((*this)(0, 30) == 0 ? 0 : (*this)(1, rank > 2 ? 3 : 6));
            result.strides.push_back(unit * (*this)(-max_stride, max_stride));
        }
        return result;
    }
};

} // namespace

TEST_CASE("memory overlap agrees with brute force on random views") {
    Random random;
    int count[2] = {0, 0}, solved = 0;
    for (int i = 0; i < 150'000; ++i) {
        const std::int64_t unit = std::array<std::int64_t, 4>{1, 2, 4, 8}[random(0, 3)];
        const std::int64_t max_stride = random(1, 40);
        const View a = random.view(unit, max_stride);
        View b = random.view(unit, max_stride);
        b.data += (random(0, 1) ? 1 : unit) * random(-60, 60);
        Bytes bytes;
        bytes.insert(a);
        const bool expected = bytes.touches(b);
        const Overlap got = overlap(a, b);
        // The range test hides the solver where it can; ask the solver too.
        const Overlap exact = solve_memory_overlap(a.extent(), b.extent(), plenty);
        ++count[expected];
        solved += overlap(a, b, 0) != Overlap::too_hard;
        if (got != (expected ? Overlap::yes : Overlap::no) || exact != got) {
            CAPTURE(i);
            CAPTURE(a.shape.size());
            CAPTURE(b.shape.size());
            REQUIRE(got == (expected ? Overlap::yes : Overlap::no));
            REQUIRE(exact == got);
        }
    }
    // Both answers must be well represented, and most must need no search, for this to mean much.
    CHECK(count[0] > 30'000);
    CHECK(count[1] > 30'000);
    CHECK(solved > 75'000);
}

TEST_CASE("overlap is symmetric and a smaller work limit never gives another answer") {
    Random random;
    for (int i = 0; i < 30'000; ++i) {
        const View a = random.view(1, 50);
        View b = random.view(1, 50);
        b.data += random(-100, 100);
        const Overlap full = overlap(a, b);
        const Overlap reversed = overlap(b, a);
        const Overlap little = overlap(a, b, random(0, 3));
        if (reversed != full || (little != full && little != Overlap::too_hard)) {
            CAPTURE(i);
            REQUIRE(reversed == full);
            REQUIRE((little == full || little == Overlap::too_hard));
        }
    }
    CHECK(overlap(random.view(1, 0), random.view(1, 0)) != Overlap::too_hard);
}

TEST_CASE("self overlap agrees with brute force on random views") {
    Random random;
    int count[2] = {0, 0};
    for (int i = 0; i < 150'000; ++i) {
        const View a =
            random.view(std::array<std::int64_t, 3>{1, 4, 8}[random(0, 2)], random(1, 100));
        Bytes bytes;
        const bool expected = !bytes.insert(a);
        ++count[expected];
        const Overlap got = overlap(a), exact = solve_self_overlap(a.extent(), plenty);
        if (got != (expected ? Overlap::yes : Overlap::no) || exact != got) {
            CAPTURE(i);
            REQUIRE(got == (expected ? Overlap::yes : Overlap::no));
            REQUIRE(exact == got);
        }
    }
    CHECK(count[0] > 25'000);
    CHECK(count[1] > 25'000);
}

TEST_CASE("empty views overlap nothing") {
    const View empty{64, {3, 0, 2}, {8, 0, 16}, 8}, full{64, {3}, {8}, 8}, scalar{64, {}, {}, 8};
    CHECK(overlap(empty, full) == Overlap::no);
    CHECK(overlap(full, empty) == Overlap::no);
    CHECK(overlap(empty, empty) == Overlap::no);
    CHECK(overlap(empty) == Overlap::no);
    CHECK(overlap(scalar, full) == Overlap::yes);
    CHECK(overlap(scalar) == Overlap::no);
}

TEST_CASE("even and odd elements do not overlap, whatever the work limit") {
    for (const std::int64_t n : {10, 1000, 1'000'000'000}) {
        const View even{4096, {n}, {16}, 8}, odd{4104, {n}, {16}, 8};
        CHECK(overlap(even, odd, 0) == Overlap::no);
        CHECK(overlap(even, even, 0) == Overlap::yes);
    }
    // Real and imaginary parts of a column-major matrix of complex numbers, the latter transposed.
    const View real{4096, {500, 700}, {16, 8000}, 8}, imag{4104, {700, 500}, {8000, 16}, 8};
    CHECK(overlap(real, imag, 0) == Overlap::no);
}

TEST_CASE("two strides are decided by Euclid's algorithm, without a search") {
    // 1000003 i = 999983 j + 1 has its first solution far out: beyond n, then within.
    const std::int64_t p = 1'000'003, q = 999'983;
    std::int64_t first = 0;
    while ((p * ++first) % q != 1) {
    }
    const View a{1 << 30, {first}, {p}, 1}, a_longer{1 << 30, {first + 1}, {p}, 1};
    const View b{(1 << 30) + 1, {2'000'000}, {q}, 1};
    CHECK(overlap(a, b, 2) == Overlap::no);
    CHECK(overlap(a_longer, b, 2) == Overlap::yes);
}

TEST_CASE("dense, broadcast and diagonal layouts need almost no work") {
    const View matrix{4096, {100, 200}, {8, 800}, 8};
    CHECK(overlap(matrix, 10) == Overlap::no);
    CHECK(overlap(View{4096, {100, 200}, {8, 0}, 8}, 0) == Overlap::yes);
    CHECK(overlap(View{4096, {100, 1}, {8, 0}, 8}, 10) == Overlap::no);
    CHECK(overlap(View{4096, {100}, {7}, 8}, 10) == Overlap::yes);
    CHECK(overlap(View{4096, {98, 3}, {8, 8}, 8}, 10) == Overlap::yes); // sliding window
    CHECK(overlap(View{4096 + 99 * 8, {100, 200}, {-8, 800}, 8}, 10) == Overlap::no);
    const View diagonal{4096, {100}, {808}, 8}, above{4096 + 800, {99}, {808}, 8};
    CHECK(overlap(diagonal, above, 10) == Overlap::no);
    CHECK(overlap(diagonal, matrix, 10) == Overlap::yes);
}

namespace {

// A view whose element addresses are the subset sums of `strides`: the worst case.
View subset_sums(std::uint64_t data, std::vector<std::int64_t> strides) {
    return {data, std::vector<std::int64_t>(strides.size(), 2), std::move(strides), 1};
}

// Is target a subset sum? By sorting the sums of either half: independent of the solver.
bool has_subset_sum(const std::vector<std::int64_t> &strides, std::int64_t target) {
    const std::size_t half = strides.size() / 2;
    std::vector<std::int64_t> left =
        subset_sums(0, {strides.begin(), strides.begin() + half}).elements();
    const std::vector<std::int64_t> right =
        subset_sums(0, {strides.begin() + half, strides.end()}).elements();
    std::sort(left.begin(), left.end());
    return std::any_of(right.begin(), right.end(), [&](std::int64_t sum) {
        return std::binary_search(left.begin(), left.end(), target - sum);
    });
}

} // namespace

TEST_CASE("hard instances stop at the work limit and are right without it") {
    Random random;
    int limited = 0, count[2] = {0, 0};
    for (int i = 0; i < 60; ++i) {
        std::vector<std::int64_t> strides(18);
        for (std::int64_t &stride : strides) stride = random(1 << 19, 1 << 20);
        std::int64_t target = 0;
        for (const std::int64_t stride : strides) target += random(0, 1) * stride;
        if (random(0, 1)) target += random(1, 1000);
        const View sums = subset_sums(1 << 30, strides),
                   point = subset_sums((1 << 30) + target, {});
        const bool expected = has_subset_sum(strides, target);
        ++count[expected];
        CHECK(overlap(sums, point) == (expected ? Overlap::yes : Overlap::no));
        const Overlap little = overlap(sums, point, 20);
        CHECK((little == Overlap::too_hard || (little == Overlap::yes && expected)));
        limited += little == Overlap::too_hard;
    }
    CHECK(count[0] > 10);
    CHECK(count[1] > 10);
    CHECK(limited > 40);
}

TEST_CASE("hard self overlap stops at the work limit and is right without it") {
    // Powers modulo a prime: neither bounds nor divisibility say anything about them.
    std::vector<std::int64_t> strides;
    std::int64_t value = 1;
    for (int i = 0; i < 14; ++i) strides.push_back(value = value * 1'234'577 % 16'777'213);
    const View view = subset_sums(1 << 30, strides);
    std::vector<std::int64_t> all = view.elements();
    std::sort(all.begin(), all.end());
    const bool expected = std::adjacent_find(all.begin(), all.end()) != all.end();
    CHECK(overlap(view) == (expected ? Overlap::yes : Overlap::no));
    CHECK(overlap(view, 3) == Overlap::too_hard);
}

TEST_CASE("numbers near the 63-bit limit") {
    const std::int64_t big = std::int64_t(1) << 62;
    const auto at = [&](std::int64_t offset) { return static_cast<std::uint64_t>(big + offset); };
    // Two elements 2^62 apart, against one between or on them.
    const View far{at(0), {2}, {-big + 1}, 1};
    CHECK(overlap(far, View{at(0), {}, {}, 1}) == Overlap::yes);
    CHECK(overlap(far, View{1, {}, {}, 1}) == Overlap::yes);
    CHECK(overlap(far, View{2, {}, {}, 1}) == Overlap::no);
    CHECK(overlap(far, View{at(-1), {}, {}, 1}) == Overlap::no);
    CHECK(overlap(far) == Overlap::no);
    // Ranges that end exactly at the limit, and beyond it.
    const std::int64_t top = INT64_MAX;
    CHECK(overlap(View{at(0), {2}, {big - 2}, 2},
                  View{static_cast<std::uint64_t>(top - 1), {}, {}, 1}) == Overlap::yes);
    CHECK(overlap(View{at(0), {3}, {big}, 1}, View{at(1), {3}, {big}, 1}) == Overlap::no);
    CHECK(overlap(View{at(0), {3}, {big}, 2}, View{at(1), {3}, {big}, 1}) == Overlap::yes);
    // Device addresses may have the top bit set.
    const std::uint64_t high = std::uint64_t(1) << 63;
    CHECK(overlap(View{high, {4}, {2}, 1}, View{high + 1, {4}, {2}, 1}) == Overlap::no);
    CHECK(overlap(View{high, {4}, {2}, 1}, View{high + 6, {4}, {2}, 1}) == Overlap::yes);
    // Large coprime strides with large extents: 3^39 and 2^61 - 1.
    const std::int64_t p = 4'052'555'153'018'976'267, q = 2'305'843'009'213'693'951;
    CHECK(overlap(View{at(0), {q}, {p}, 1}, View{at(1), {p}, {q}, 1}) != Overlap::no);
    CHECK(overlap(View{0, {2}, {p}, 1}, View{1, {2}, {q}, 1}) == Overlap::no);
    CHECK(overlap(View{at(0), {2, 2, 2}, {p, q, p - q}, 1}) == Overlap::yes);
    CHECK(overlap(View{at(0), {2, 2, 2}, {p, q, p - q + 1}, 1}) == Overlap::no);
    CHECK(overlap(View{at(0), {2, 2, 2}, {p, q, p - q + 1}, 2}) == Overlap::yes);
}

TEST_CASE("sizes beyond any memory are too hard, not wrong") {
    const std::vector<std::int64_t> shape(64, INT64_MAX), strides(64, INT64_MIN);
    const View monster{1, shape, strides, 1};
    CHECK(overlap(monster, monster) == Overlap::too_hard);
    CHECK(overlap(monster) != Overlap::no);
    const View huge{1, {INT64_MAX / 4}, {INT64_MAX}, 16};
    CHECK(overlap(huge) == Overlap::no);
    CHECK(overlap(huge, View{0, {1}, {1}, 1}) != Overlap::yes);
}

TEST_CASE("rank 64 works") {
    // A cube of extents 2 whose strides are powers of two up to 2^40, then unit axes.
    View cube{1 << 20, std::vector<std::int64_t>(64, 1), std::vector<std::int64_t>(64, 0), 1};
    for (int axis = 0; axis < 40; ++axis) {
        cube.shape[axis] = 2;
        cube.strides[axis] = std::int64_t(1) << (40 - axis);
    }
    View other = cube;
    ++other.data;
    CHECK(overlap(cube, 100) == Overlap::no);
    CHECK(overlap(cube, other, 100) == Overlap::no);
    ++other.data;
    CHECK(overlap(cube, other, 100) == Overlap::yes);
}
