// Find, compress, gather and scatter against the oracle: dtypes, layouts, byte orders, repeated
// offsets, and operands large enough to be cut up.
#include "check.h"

#include <numeric>

using namespace oracle;

namespace {

const Shape shapes[] = {{1},      {7},        {130},        {5, 4},
                        {33, 12}, {3, 2, 11}, {2, 3, 4, 5}, {2, 3, 2, 3, 2}};

void check_find(int dtype, Operand &in, int to, bool swap, Layout layout, Random &random) {
    std::vector<Value> elements;
    each(in.shape, [&](const Shape &index) { elements.push_back(in.get(index)); });
    const std::vector<std::int64_t> want = find(ATOLL_FN_find, dtype, elements);
    const Shape places = {static_cast<std::int64_t>(want.size())};
    if (want.empty()) return; // never called: nothing to write
    Operand out(to, swap, places, {true}, layout);
    fill(out, random, false);
    const std::vector<char> before = out.memory;
    // The input's axes, then that of the results.
    Shape shape = in.shape, from = in.strides, to_places(in.shape.size(), 0);
    shape.push_back(places[0]);
    from.push_back(0);
    to_places.push_back(out.strides[0]);
    const std::string what = std::string("find computed in ") + facts[dtype].name + ", out " +
                             out.text() + ", in " + in.text();
    INFO(what);
    atoll_operand target = out.c(), source = in.c();
    target.strides = to_places.data();
    source.strides = from.data();
    compute(
        out, {&in},
        [&] {
            return call(ATOLL_FN_find, dtype, shape, shape.size(), {target, source});
        },
        [&] {
            Findings findings;
            for (std::int64_t k = 0; k < places[0]; ++k)
                findings.check({Value::of(__int128{want[static_cast<std::size_t>(k)]})},
                               out.get({k}), ATOLL_DTYPE_INT64, to, " (" + std::to_string(k) + ")");
            findings.report(what);
            CHECK(out.rest_is(before));
        });
}

} // namespace

TEST_CASE("find gives column-major positions on every dtype and layout") {
    Random random = sequence(43);
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (Layout layout : layouts)
            for (int variant = 0; variant < 8; ++variant) {
                const Shape &shape = shapes[random() % std::size(shapes)];
                Operand in(variant & 2 ? any_dtype(random) : dtype, variant & 1, shape,
                           all_axes(shape), layout);
                each(shape, [&](const Shape &index) {
                    const bool rare = variant & 4;
                    Value v = rare && random() % 20 ? convert(Value::of(__int128{0}), in.dtype)
                                                    : random_value(in.dtype, random, true);
                    in.set(index, v);
                });
                const Layout to = layout == Layout::broadcast || layout == Layout::permuted
                                      ? Layout::dense
                                      : layout;
                check_find(dtype, in, variant & 2 ? any_dtype(random) : int{ATOLL_DTYPE_INT64},
                           variant & 1, random() % 2 ? to : Layout::dense, random);
            }
}

TEST_CASE("find cuts large operands up without losing the order") {
    Random random = sequence(47);
    for (const Shape &shape : {Shape{100003}, Shape{300, 300}, Shape{3, 30000}, Shape{30000, 3}})
        for (Layout layout : {Layout::dense, Layout::permuted, Layout::reversed})
            for (int dtype : {int{ATOLL_DTYPE_BOOL}, int{ATOLL_DTYPE_FLOAT32}}) {
                Operand in(dtype, false, shape, all_axes(shape), layout);
                each(shape, [&](const Shape &index) {
                    in.set(index, convert(Value::of(__int128{random() % 3 == 0}), dtype));
                });
                check_find(dtype, in, ATOLL_DTYPE_INT64, false, Layout::dense, random);
            }
}

namespace {

// `share` of the mask is true.
void check_compress(int dtype, Operand &in, double share, int to, bool swap, Layout layout,
                    Random &random) {
    Operand mask(random() % 4 ? int{ATOLL_DTYPE_BOOL} : any_dtype(random), random() % 2, in.shape,
                 all_axes(in.shape), layouts[random() % std::size(layouts)]);
    const auto limit = static_cast<std::uint64_t>(share * 4096);
    each(in.shape, [&](const Shape &index) { // operands may hold an element several times
        mask.set(index, convert(Value::of(__int128{random() % 4096 < limit}), mask.dtype));
    });
    std::vector<Value> wanted;
    each(in.shape, [&](const Shape &index) {
        if (mask.get(index).truth()) wanted.push_back(convert(in.get(index), dtype));
    });
    if (wanted.empty()) return; // never called: nothing to write
    const Shape places = {static_cast<std::int64_t>(wanted.size())};
    Operand out(to, swap, places, {true}, layout);
    fill(out, random, false);
    const std::vector<char> before = out.memory;
    // The axes of both inputs, then that of the results.
    Shape shape = in.shape, out_strides(in.shape.size(), 0), in_strides = in.strides,
          mask_strides = mask.strides;
    shape.push_back(places[0]);
    out_strides.push_back(out.strides[0]);
    in_strides.push_back(0);
    mask_strides.push_back(0);
    const std::string what = std::string("compress in ") + facts[dtype].name + ", out " +
                             out.text() + ", in " + in.text() + ", mask " + mask.text();
    INFO(what);
    atoll_operand target = out.c(), source = in.c(), which = mask.c();
    target.strides = out_strides.data();
    source.strides = in_strides.data();
    which.strides = mask_strides.data();
    compute(
        out, {&in, &mask},
        [&] {
            return call(ATOLL_FN_compress, dtype, shape, shape.size(), {target, source, which});
        },
        [&] {
            Findings findings;
            for (std::int64_t k = 0; k < places[0]; ++k)
                findings.check({wanted[static_cast<std::size_t>(k)]}, out.get({k}), dtype, to,
                               " (" + std::to_string(k) + ")");
            findings.report(what);
            CHECK(out.rest_is(before));
        });
}

} // namespace

TEST_CASE("compress takes the elements under a mask on every dtype and layout") {
    Random random = sequence(53);
    const double shares[] = {0.002, 0.02, 0.1, 0.5, 0.95, 1};
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (Layout layout : layouts)
            for (int variant = 0; variant < 8; ++variant) {
                const Shape &shape = shapes[random() % std::size(shapes)];
                Operand in(variant & 2 ? any_dtype(random) : dtype, variant & 1, shape,
                           all_axes(shape), layout);
                fill(in, random, false);
                const Layout to = layout == Layout::broadcast || layout == Layout::permuted
                                      ? Layout::dense
                                      : layout;
                check_compress(dtype, in, shares[random() % std::size(shares)],
                               variant & 2 ? any_dtype(random) : dtype, random() % 2,
                               random() % 2 ? to : Layout::dense, random);
            }
}

TEST_CASE("compress cuts large operands up without losing the order") {
    Random random = sequence(59);
    for (const Shape &shape : {Shape{100003}, Shape{300, 300}, Shape{3, 30000}, Shape{30000, 3}})
        for (Layout layout : {Layout::dense, Layout::permuted, Layout::reversed})
            for (int dtype :
                 {int{ATOLL_DTYPE_BOOL}, int{ATOLL_DTYPE_INT16}, int{ATOLL_DTYPE_FLOAT32},
                  int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_COMPLEX128}})
                for (double share : {0.003, 0.03, 0.4, 0.99}) {
                    Operand in(dtype, false, shape, all_axes(shape), layout);
                    fill(in, random, false);
                    check_compress(dtype, in, share, random() % 4 ? dtype : any_dtype(random),
                                   random() % 4 == 0,
                                   random() % 4 ? Layout::dense : Layout::strided, random);
                }
}

TEST_CASE("find and compress write nothing beyond a result that is too short") {
    Operand in(ATOLL_DTYPE_INT32, false, {70'000}, {true}, Layout::dense);
    Operand mask(ATOLL_DTYPE_BOOL, false, {70'000}, {true}, Layout::dense);
    each(in.shape, [&](const Shape &index) {
        in.set(index, Value::of(__int128{index[0] + 1}));
        mask.set(index, Value::of(__int128{1}));
    });
    for (const std::int64_t room : {1, 100, 40'000}) {
        const Shape shape = {70'000, room};
        const std::int64_t along[] = {4, 0}, bytes[] = {1, 0};
        const atoll_operand source = operand_at(in.memory.data() + in.offset({0}), along,
                                                ATOLL_DTYPE_INT32),
                            which = operand_at(mask.memory.data() + mask.offset({0}), bytes,
                                               ATOLL_DTYPE_BOOL);
        at_each_level([&] {
            std::vector<std::int64_t> at(static_cast<std::size_t>(room) + 600, -1);
            std::vector<std::int32_t> taken(at.size(), -1);
            const std::int64_t to_at[] = {0, 8}, to_taken[] = {0, 4};
            REQUIRE(call(ATOLL_FN_find, ATOLL_DTYPE_INT32, shape, 2,
                         {operand_at(at.data(), to_at, ATOLL_DTYPE_INT64), source}) ==
                    ATOLL_STATUS_OK);
            REQUIRE(call(ATOLL_FN_compress, ATOLL_DTYPE_INT32, shape, 2,
                         {operand_at(taken.data(), to_taken, ATOLL_DTYPE_INT32), source, which}) ==
                    ATOLL_STATUS_OK);
            CHECK(at[static_cast<std::size_t>(room) - 1] == room - 1);
            CHECK(taken[static_cast<std::size_t>(room) - 1] == room);
            CHECK(std::all_of(at.begin() + room, at.end(), [](auto x) { return x == -1; }));
            CHECK(std::all_of(taken.begin() + room, taken.end(), [](auto x) { return x == -1; }));
        });
    }
}

namespace {

// One call: `pool` is a vector into which the call's own strides (in elements) and the offsets
// (times the unit, in bytes) lead.
void check_moves(bool scatter, Operand &pool, Operand &ordered, Operand &offsets, std::int64_t unit,
                 const Shape &strides) {
    const Shape &shape = ordered.shape;
    const int dtype = pool.dtype;
    const std::int64_t step = pool.strides[0];
    Shape bytes;
    for (std::int64_t stride : strides) bytes.push_back(stride * step);
    std::vector<std::size_t> places;
    std::vector<Value> pool_values, values;
    each(shape, [&](const Shape &index) {
        std::int64_t place = static_cast<std::int64_t>(offsets.get(index).i) * unit / step;
        for (std::size_t axis = 0; axis < index.size(); ++axis)
            place += index[axis] * strides[axis];
        places.push_back(static_cast<std::size_t>(place));
        values.push_back(ordered.get(index));
    });
    each(pool.shape, [&](const Shape &index) { pool_values.push_back(pool.get(index)); });
    atoll_operand in_pool = pool.c();
    in_pool.strides = bytes.data();
    Operand &out = scatter ? pool : ordered;
    const std::vector<char> before = out.memory;
    const int function = scatter ? ATOLL_FN_scatter : ATOLL_FN_gather;
    std::string what = std::string(function_list[function].name) + " of " + facts[dtype].name +
                       ", pool " + pool.text() + ", elements " + ordered.text() + ", offsets " +
                       offsets.text() + ", unit " + std::to_string(unit) + ", own strides";
    for (std::int64_t stride : strides) what += ' ' + std::to_string(stride);
    INFO(what);
    const std::vector<atoll_operand> operands =
        scatter ? std::vector<atoll_operand>{in_pool, ordered.c(), offsets.c()}
                : std::vector<atoll_operand>{ordered.c(), in_pool, offsets.c()};
    // The default need not be there.
    std::vector<atoll_scalar> attributes;
    if (unit != 1) attributes = {scalar_of(Value::of(__int128{unit}), ATOLL_DTYPE_INT64)};
    if (scatter)
        for (std::size_t at = 0; at < places.size(); ++at) pool_values[places[at]] = values[at];
    compute(
        out, {&pool, &ordered, &offsets},
        [&] { return run(function, dtype, shape, operands, attributes); },
        [&] {
            Findings findings;
            std::size_t k = 0;
            each(out.shape, [&](const Shape &index) {
                findings.check({pool_values[scatter ? k : places[k]]}, out.get(index), dtype, dtype,
                               " (" + std::to_string(k) + ")");
                ++k;
            });
            findings.report(what);
            CHECK(out.rest_is(before));
        });
}

// A byte, or the step from one element to the next.
std::int64_t any_unit(const Operand &pool, Random &random) {
    return random() % 2 ? 1 : pool.strides[0];
}

void check_offsets(bool scatter, int dtype, bool swap, const Shape &shape, Layout layout,
                   Layout offsets_layout, bool moves, std::int64_t pool_size, Random &random,
                   bool by_elements = false) {
    // Large enough that moving along the first axis stays within it.
    moves = moves && !shape.empty();
    const Shape pool_shape = {pool_size + (moves ? shape[0] : 1) - 1};
    Operand pool(dtype, swap, pool_shape, {true},
                 layout == Layout::broadcast || layout == Layout::permuted ? Layout::dense
                                                                           : layout);
    Operand ordered(dtype, swap, shape, all_axes(shape),
                    !scatter && layout == Layout::broadcast ? Layout::dense : layout);
    Operand offsets(ATOLL_DTYPE_INT64, false, shape, all_axes(shape), offsets_layout);
    fill(pool, random, true);
    fill(ordered, random, true);
    const std::int64_t unit = by_elements ? pool.strides[0] : any_unit(pool, random);
    each(shape, [&](const Shape &index) {
        const auto k = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(pool_size));
        offsets.set(index, Value::of(__int128{k * (pool.strides[0] / unit)}));
    });
    Shape strides(shape.size(), 0);
    if (moves) strides[0] = 1;
    check_moves(scatter, pool, ordered, offsets, unit, strides);
}

// Whole rows, columns or blocks at a time: the offsets vary along some axes only, the call's own
// strides lead along the others. Blocks overlap or not.
void check_blocks(bool scatter, int dtype, const Shape &shape, Random &random) {
    std::vector<bool> indexed;
    Shape strides(shape.size(), 0);
    std::int64_t span = 1;
    const bool spread = random() % 3 == 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        indexed.push_back(random() % 2);
        if (indexed[axis]) continue;
        strides[axis] = random() % 6 ? span : 1;
        span += strides[axis] * (shape[axis] - 1);
        if (spread && random() % 2) span += 7;
    }
    const std::int64_t count = 20,
                       gap = random() % 3 ? span : 1 + static_cast<std::int64_t>(random() % 3);
    Operand pool(dtype, false, {span + count * gap}, {true},
                 random() % 2 ? Layout::reversed : Layout::dense);
    Operand ordered(dtype, false, shape, all_axes(shape),
                    random() % 2 ? Layout::permuted : Layout::dense);
    Operand offsets(ATOLL_DTYPE_INT64, false, shape, indexed, Layout::dense);
    fill(pool, random, true);
    fill(ordered, random, false);
    const std::int64_t unit = any_unit(pool, random);
    each(shape, [&](const Shape &index) {
        const auto k = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
        offsets.set(index, Value::of(__int128{k * gap * (pool.strides[0] / unit)}));
    });
    check_moves(scatter, pool, ordered, offsets, unit, strides);
}

} // namespace

TEST_CASE("gather and scatter move elements of every dtype, layout and byte order") {
    Random random = sequence(53);
    for (bool scatter : {false, true})
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
            for (Layout layout : layouts)
                for (int variant = 0; variant < 4; ++variant) {
                    const Shape &shape =
                        random() % 9 ? shapes[random() % std::size(shapes)] : Shape{};
                    // A small pool: many offsets are equal.
                    check_offsets(scatter, dtype, variant & 1, shape, layout,
                                  layouts[random() % std::size(layouts)], variant & 2,
                                  random() % 2 ? 5 : 1000, random);
                }
}

TEST_CASE("large gathers and scatters take the threads' path; the last of equal offsets stays") {
    Random random = sequence(59);
    for (bool scatter : {false, true})
        for (const Shape &shape : {Shape{100001}, Shape{300, 300}, Shape{30000, 3}})
            for (std::int64_t pool : {1000, 150000}) {
                const Layout layout = random() % 2 ? Layout::dense : Layout::permuted;
                const int dtype =
                    pool == 1000 ? int{ATOLL_DTYPE_FLOAT32} : int{ATOLL_DTYPE_COMPLEX128};
                check_offsets(scatter, dtype, false, shape, layout, layout, false, pool, random);
            }
}

TEST_CASE("elements far apart are moved at any pace; the last of equal offsets stays") {
    Random random = sequence(73);
    for (const std::int64_t paced : {0, 1 << 30}) {
        Atoll::kernels::LargeOperands lowest = level->large_operands();
        lowest.paced = paced;
        const Lowered lowered(lowest);
        for (bool scatter : {false, true})
            for (int dtype : {int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_COMPLEX128}})
                for (Layout layout : {Layout::dense, Layout::reversed, Layout::strided})
                    check_offsets(scatter, dtype, false, {100'001}, layout, Layout::dense, false,
                                  (6 << 20) / facts[dtype].size, random, true);
    }
}

TEST_CASE("gather and scatter move whole rows, columns and blocks, apart or overlapping") {
    Random random = sequence(61);
    const Shape some[] = {{60, 40},  {9, 30, 12}, {12, 9, 30}, {4, 5, 6, 20},
                          {1500, 3}, {3, 1500},   {8, 200},    {40, 2, 2, 3, 10}};
    for (bool scatter : {false, true})
        for (int trial = 0; trial < random_tests::cases(100); ++trial)
            check_blocks(scatter, trial % 2 ? any_dtype(random) : int{ATOLL_DTYPE_INT32},
                         some[random() % std::size(some)], random);
    for (int trial = 0; trial < 6; ++trial)
        check_blocks(true, ATOLL_DTYPE_INT64, trial % 2 ? Shape{400, 300} : Shape{2000, 50},
                     random);
    // More rows than a piece has.
    for (int trial = 0; trial < 40; ++trial)
        check_blocks(false, ATOLL_DTYPE_INT32, {7, 6000}, random);
}

TEST_CASE("what lies far apart is fetched ahead, and moved all the same") {
    Random random = sequence(67);
    const std::int64_t size = 4, pool_size = 1'300'000, count = 1100; // more than 4 MiB
    std::vector<std::int32_t> pool(pool_size);
    std::iota(pool.begin(), pool.end(), 0);
    for (std::int64_t length : {1, 6, 130, 700}) // elements of a row
        for (std::int64_t gap : {0, 3})          // after each row and each offset
            for (bool scatter : {false, true}) {
                const std::int64_t step = length + gap;
                std::vector<std::int32_t> rows(static_cast<std::size_t>(count * step), -1);
                std::vector<std::int64_t> offsets(static_cast<std::size_t>(count * (1 + gap)));
                const auto row_at = [&](std::int64_t k) { return rows.begin() + k * step; };
                const auto pool_at = [&](std::int64_t k) {
                    return pool.begin() + offsets[static_cast<std::size_t>(k * (1 + gap))];
                };
                for (std::int64_t &offset : offsets)
                    offset = static_cast<std::int64_t>(
                        random() % static_cast<std::uint64_t>(pool_size - length));
                if (scatter) std::iota(rows.begin(), rows.end(), -1'000'000);
                auto want_rows = rows, want_pool = pool;
                for (std::int64_t k = 0; k < count; ++k)
                    if (scatter)
                        std::copy_n(row_at(k), length,
                                    want_pool.begin() + (pool_at(k) - pool.begin()));
                    else
                        std::copy_n(pool_at(k), length,
                                    want_rows.begin() + (row_at(k) - rows.begin()));
                const std::int64_t row_strides[] = {size, size * step}, pool_strides[] = {size, 0},
                                   offset_strides[] = {0, 8 * (1 + gap)};
                const atoll_operand row =
                    operand_at(rows.data(), row_strides, ATOLL_DTYPE_INT32, 0);
                const atoll_operand in_pool =
                    operand_at(pool.data(), pool_strides, ATOLL_DTYPE_INT32, 0);
                const atoll_operand at =
                    operand_at(offsets.data(), offset_strides, ATOLL_DTYPE_INT64, 0);
                INFO(length, " elements, gap ", gap, scatter ? ", scattered" : ", gathered");
                CHECK(run(scatter ? ATOLL_FN_scatter : ATOLL_FN_gather, ATOLL_DTYPE_INT32,
                          {length, count},
                          scatter ? std::vector{in_pool, row, at} : std::vector{row, in_pool, at},
                          {scalar_of(Value::of(__int128{size}), ATOLL_DTYPE_INT64)}) ==
                      ATOLL_STATUS_OK);
                CHECK(rows == want_rows);
                CHECK(pool == want_pool);
            }
}

TEST_CASE("rows of bools are gathered and scattered as 0 or 1") {
    const Shape shape = {5, 30};
    Operand pool(ATOLL_DTYPE_BOOL, false, {40}, {true}, Layout::dense);
    Operand rows(ATOLL_DTYPE_BOOL, false, shape, all_axes(shape), Layout::dense);
    Operand offsets(ATOLL_DTYPE_INT64, false, shape, {false, true}, Layout::dense);
    for (std::int64_t k = 0; k < 40; ++k)
        pool.memory[static_cast<std::size_t>(pool.offset({k}))] = static_cast<char>(k % 3 * 2);
    for (std::int64_t k = 0; k < 30; ++k) offsets.set({0, k}, Value::of(__int128{k}));
    const std::int64_t along_rows[] = {1, 0};
    atoll_operand in = pool.c();
    in.strides = along_rows;
    compute(
        rows, {&pool, &offsets},
        [&] {
            return run(ATOLL_FN_gather, ATOLL_DTYPE_BOOL, shape, {rows.c(), in, offsets.c()}, {});
        },
        [&] {
            std::int64_t wrong = 0;
            each(shape, [&](const Shape &index) {
                const char is = rows.memory[static_cast<std::size_t>(rows.offset(index))];
                wrong += is != ((index[0] + index[1]) % 3 != 0);
            });
            CHECK(wrong == 0);
        });
    // The same rows, one of which follows the other.
    Operand bytes(ATOLL_DTYPE_BOOL, false, shape, all_axes(shape), Layout::dense);
    Operand out(ATOLL_DTYPE_BOOL, false, {150}, {true}, Layout::dense);
    each(shape, [&](const Shape &index) {
        bytes.memory[static_cast<std::size_t>(bytes.offset(index))] =
            static_cast<char>(index[1] % 3 * 2);
    });
    for (std::int64_t k = 0; k < 30; ++k) offsets.set({0, k}, Value::of(__int128{k * 5}));
    compute(
        out, {&bytes, &offsets},
        [&] {
            atoll_operand rows_of_out = out.c();
            rows_of_out.strides = along_rows;
            return run(ATOLL_FN_scatter, ATOLL_DTYPE_BOOL, shape,
                       {rows_of_out, bytes.c(), offsets.c()}, {});
        },
        [&] {
            std::int64_t wrong = 0;
            for (std::int64_t k = 0; k < 150; ++k)
                wrong += out.memory[static_cast<std::size_t>(out.offset({k}))] != (k / 5 % 3 != 0);
            CHECK(wrong == 0);
        });
}
