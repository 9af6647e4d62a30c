// Copies: every dtype to every dtype on special values, layouts, byte orders, devices, fills, and
// copies of a tensor onto itself. The oracle converts by definition in long double and __int128.
#include "../support.hpp"

#include <cmath>

using namespace Atoll;
using namespace support;

namespace {

// Values at which some conversion turns: ends of integers, ties of every float, subnormals, …
std::vector<Value> special_values(int dtype) {
    std::vector<Value> raw;
    const __int128 one = 1;
    for (int bit : {0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64})
        for (int near : {-1, 0, 1})
            for (int sign : {1, -1}) raw.push_back(Value::of(sign * ((one << bit) + near)));
    const long double reals[] = {0.0L,
                                 0.5L,
                                 1.5L,
                                 2.5L,
                                 0.99L,
                                 127.9L,
                                 255.9L,
                                 65503.0L,
                                 65504.0L,
                                 65519.99L,
                                 65520.0L, // the end of float16
                                 1 + 0x1p-11L,
                                 1 + 0x1p-11L + 0x1p-40L,
                                 1 + 0x3p-11L, // its ties, and just beside
                                 1 + 0x1p-8L,
                                 1 + 0x1p-8L + 0x1p-40L,
                                 1 + 0x3p-8L, // those of bfloat16
                                 1 + 0x1p-24L,
                                 1 + 0x1p-24L + 0x1p-50L, // those of float32
                                 0x1p-14L,
                                 0x1p-24L,
                                 0x1p-25L,
                                 0x1.8p-24L,
                                 0x1.000001p-25L, // subnormals of float16
                                 0x1p-126L,
                                 0x1p-133L,
                                 0x1p-134L,
                                 0x1p-149L,
                                 0x1p-150L,
                                 0x1.8p-149L,
                                 0x1.fffffep127L,
                                 0x1.ffffffp127L,
                                 0x1.fep127L,
                                 0x1.ffp127L,
                                 1e300L,
                                 0x1p-1074L,
                                 0x1p-1022L,
                                 1e-5L,
                                 3e9L,
                                 1e19L,
                                 2e19L,
                                 INFINITY,
                                 NAN};
    for (long double x : reals)
        for (int sign : {1, -1}) raw.push_back(Value::of(sign * x, 0.0L));
    raw.push_back(Value::of(1.5L, -2.5L));
    raw.push_back(Value::of(0.0L, 1.0L)); // true, though its real part is 0
    raw.push_back(Value::of(NAN, INFINITY));
    raw.push_back(Value::of(-0.0L, -0.0L));
    std::vector<Value> values;
    for (const Value &v : raw) values.push_back(oracle::convert(v, dtype));
    return values;
}

oracle::Operand operand_of(int dtype, const std::vector<Value> &values,
                           oracle::Layout layout = oracle::Layout::dense, bool swapped = false) {
    oracle::Operand o = operand(dtype, {std::ssize(values)}, layout, swapped);
    for (std::int64_t i = 0; i < std::ssize(values); ++i)
        o.set({i}, values[static_cast<std::size_t>(i)]);
    return o;
}

// Whether `got` holds the conversions of `values`; the first that is wrong goes to `text`.
bool converted(const std::vector<Value> &got, const std::vector<Value> &values, int dtype,
               std::string &text) {
    if (got.size() != values.size()) return false;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const Value want = oracle::convert(values[i], dtype);
        if (oracle::same(got[i], want, dtype, 0)) continue;
        text = oracle::text(values[i]) + " became " + oracle::text(got[i]) + ", expected " +
               oracle::text(want);
        return false;
    }
    return true;
}

} // namespace

TEST_CASE("casts between all dtypes are right on special values, on every device") {
    for (const Device device : all_devices())
        for (int from = 1; from < ATOLL_DTYPE_COUNT; ++from) {
            const std::vector<Value> values = special_values(from);
            const Tensor source = upload(operand_of(from, values), device);
            const Tensor swapped =
                upload(operand_of(from, values, oracle::Layout::reversed, true), device);
            for (int to = 1; to < ATOLL_DTYPE_COUNT; ++to) {
                CAPTURE(device.name());
                CAPTURE(std::string(oracle::facts[from].name));
                CAPTURE(std::string(oracle::facts[to].name));
                std::string text;
                INFO(text);
                const Tensor cast = source.cast(static_cast<DType>(to));
                CHECK(cast.dtype() == static_cast<DType>(to));
                bool right = converted(values_of(cast), values, to, text);
                CHECK(right);
                right =
                    converted(values_of(swapped.cast(static_cast<DType>(to))), values, to, text);
                CHECK(right);
            }
        }
}

TEST_CASE("scalars convert like elements") {
    for (int from = 1; from < ATOLL_DTYPE_COUNT; ++from)
        for (const Value &v : special_values(from)) {
            atoll_scalar raw{};
            raw.dtype = static_cast<std::uint32_t>(from);
            oracle::write(reinterpret_cast<char *>(raw.value.bytes), from, false, v);
            for (int to = 1; to < ATOLL_DTYPE_COUNT; ++to) {
                const Scalar cast = Scalar(raw).cast(static_cast<DType>(to));
                const Value got =
                    oracle::read(reinterpret_cast<const char *>(cast.raw().value.bytes), to);
                CHECK(oracle::same(got, oracle::convert(v, to), to, 0));
            }
        }
}

TEST_CASE("copies between any two devices, layouts, dtypes and byte orders leave gaps alone") {
    Random random(31);
    load_devices();
    const Device on[] = {device("cpu"), device("dummy:0"), device("dummy:1"),
                         device("dummy_min:0")};
    const Shape shapes[] = {{}, {5}, {3, 4}, {2, 3, 4}, {1, 1}, {0, 3}, {2, 1, 3, 2}};
    for (const Device &to_device : on)
        for (const Device &from_device : on)
            for (int trial = 0; trial < 150; ++trial) {
                const Shape &shape = shapes[random() % std::size(shapes)];
                const int from = 1 + static_cast<int>(random() % 16),
                          to = 1 + static_cast<int>(random() % 16);
                oracle::Operand source =
                    operand(from, shape, oracle::layouts[random() % 6], random() % 2);
                oracle::Operand target =
                    operand(to, shape, oracle::layouts[random() % 5], random() % 2);
                oracle::fill(source, random, true);
                CAPTURE(to_device.name());
                CAPTURE(from_device.name());
                CAPTURE(std::string(oracle::facts[from].name));
                CAPTURE(std::string(oracle::facts[to].name));
                Tensor destination = upload(target, to_device);
                const std::vector<char> before = target.memory;
                destination.assign(upload(source, from_device));
                target.memory = bytes_of(destination);
                CHECK(target.rest_is(before));
                bool right = true;
                oracle::each(shape, [&](const Shape &index) {
                    right = right && oracle::same(target.get(index),
                                                  oracle::convert(source.get(index), to), to, 0);
                });
                CHECK(right);
            }
}

TEST_CASE("assignment broadcasts its source to the destination, never the other way") {
    for (const Device device : all_devices()) {
        Tensor t = zeros({2, 3, 2}, {int32, device});
        t.assign(counting({2, 3}, int32, device)); // first axes aligned
        CHECK(t.to_doubles() == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
        t.assign(counting({2}, int8, cpu()));
        CHECK(t.to_doubles() == std::vector<double>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
        t.assign(counting({1, 3, 1}, int32, device));
        CHECK(t.to_doubles() == std::vector<double>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
        CHECK_THROWS_AS(t.assign(zeros({3}, {device})), Error);
        CHECK_THROWS_AS(t.assign(zeros({2, 3, 2, 1, 2}, {device})), Error);
        CHECK_THROWS_AS(zeros({2}, {device}).assign(zeros({2, 3}, {device})), Error);
        CHECK_NOTHROW(t.assign(zeros({2, 3, 2, 1}, {device})));
    }
}

TEST_CASE("fill converts a number as a cast does, and refuses one that does not fit") {
    for (const Device device : all_devices())
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            CAPTURE(device.name());
            CAPTURE(name(dtype));
            for (bool swapped : {false, true})
                for (const Value &v : special_values(ATOLL_DTYPE_COMPLEX128)) {
                    if (std::isnan(v.im)) continue;
                    oracle::Operand o = operand(d, {2, 3}, oracle::Layout::strided, swapped);
                    Tensor t = upload(o, device);
                    const std::vector<char> before = o.memory;
                    const bool real = v.im == 0 && !std::signbit(v.im);
                    const Scalar number =
                        real ? Scalar(static_cast<double>(v.re))
                             : Scalar(std::complex<double>(static_cast<double>(v.re),
                                                           static_cast<double>(v.im)));
                    const Value stored = oracle::convert(v, d);
                    const bool finite = std::isfinite(v.re) && std::isfinite(v.im);
                    if (is_floating(dtype) && finite &&
                        !(std::isfinite(stored.re) && std::isfinite(stored.im))) {
                        CHECK(error_status([&] { t.fill(number); }) == Status::out_of_range);
                        CHECK(bytes_of(t) == before);
                        continue;
                    }
                    t.fill(number);
                    o.memory = bytes_of(t);
                    bool right = o.rest_is(before);
                    oracle::each(o.shape, [&](const Shape &index) {
                        right = right && oracle::same(o.get(index), stored, d, 0);
                    });
                    CHECK(right);
                }
            if (!is_integer(dtype)) continue;
            Tensor t = ones({2}, {dtype, device});
            const std::uint64_t beyond =
                size_of(dtype) == 8 ? ~std::uint64_t{0} : std::uint64_t{1} << (8 * size_of(dtype));
            const bool fits = dtype == uint64;
            CHECK((error_status([&] { t.fill(beyond); }) == Status::ok) == fits);
            if (!fits) {
                CHECK(t.to_doubles() == std::vector<double>{1, 1});
                CHECK(contains(error_text([&] { t.fill(beyond); }), std::string(name(dtype))));
            }
            if (info(dtype).kind == Kind::unsigned_)
                CHECK(error_status([&] { t(0) = -1; }) == Status::out_of_range);
        }
    // The one function that may write a tensor that overlaps itself.
    Tensor repeated = empty_strided({3, 2}, {0, 8}, {float64, cpu()});
    repeated.fill(4);
    CHECK(repeated.to_doubles() == std::vector<double>(6, 4.0));
    CHECK_THROWS_AS(repeated.assign(zeros({3, 2}, {cpu()})), Error);
    CHECK_THROWS_AS(zeros({2}, {cpu()}).broadcast_to({2, 3}).fill(1), Error);
}

TEST_CASE("a tensor is copied onto itself in any order rightly") {
    for (const Device device : all_devices()) {
        CAPTURE(device.name());
        Tensor a = counting({4, 4}, int64, device);
        const std::vector<double> before = a.to_doubles(), transposed = a.T().to_doubles();
        a.assign(a.T());
        CHECK(a.to_doubles() == transposed);
        a(ellipsis) = a.T();
        CHECK(a.to_doubles() == before);
        a.assign(a);
        CHECK(a.to_doubles() == before);
        a.assign(a.flip(0).flip(1));
        CHECK(a.flip(0).flip(1).to_doubles() == before);

        Tensor v = counting({8}, int32, device);
        v(range(1, {})) = v(range({}, -1));
        CHECK(v.to_doubles() == std::vector<double>{0, 0, 1, 2, 3, 4, 5, 6});
        v(range({}, -1)) = v(range(1, {}));
        CHECK(v.to_doubles() == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 6});
        v(range(0, {}, 2)) = v(range({}, {}, -2));
        CHECK(v.to_doubles() == std::vector<double>{6, 1, 5, 3, 3, 5, 1, 6});
        v.assign(v(3)); // broadcast from inside the destination
        CHECK(v.to_doubles() == std::vector<double>(8, 3.0));

        const Tensor z = full({3}, std::complex<double>(1, 2), {complex64, device});
        z.real().assign(z.imag());
        CHECK(z(0).item().to_complex() == std::complex<double>(2, 2));
        // The same bytes as another dtype, at other places.
        const Tensor words = counting({4}, int32, device);
        Tensor halves(words.storage(), 0, {4}, {2}, int16);
        const std::vector<double> expected = words.to_doubles();
        halves.assign(words);
        CHECK(halves.to_doubles() == expected);
    }
}

TEST_CASE("byteswap turns the bytes and the flag, so that the values stay") {
    Random random(32);
    for (const Device device : all_devices())
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d)
            for (oracle::Layout layout : oracle::layouts) {
                if (layout == oracle::Layout::broadcast) continue;
                CAPTURE(device.name());
                CAPTURE(std::string(oracle::facts[d].name));
                oracle::Operand o = operand(d, {2, 3}, layout);
                oracle::fill(o, random, false);
                Tensor t = upload(o, device);
                const std::vector<char> before = o.memory;
                t.byteswap();
                const bool has_order = oracle::facts[oracle::facts[d].part].size > 1;
                CHECK(t.is_byteswapped() == has_order);
                oracle::Operand turned = o;
                oracle::each(o.shape, [&](const Shape &i) {
                    oracle::reverse_parts(turned.memory.data() + o.offset(i), d);
                });
                CHECK(bytes_of(t) == turned.memory);
                t.byteswap();
                CHECK(!t.is_byteswapped());
                CHECK(bytes_of(t) == before);
            }
}

TEST_CASE("reads convert to any dtype, natively and column-major") {
    for (const Device device : all_devices())
        for (int from = 1; from < ATOLL_DTYPE_COUNT; ++from) {
            const std::vector<Value> values = special_values(from);
            const Tensor t =
                upload(operand_of(from, values, oracle::Layout::strided, true), device);
            std::vector<std::complex<double>> got(values.size());
            t.read(got.data(), complex128);
            for (std::size_t i = 0; i < got.size(); ++i)
                CHECK(oracle::same(Value::of(got[i].real(), got[i].imag()),
                                   oracle::convert(values[i], ATOLL_DTYPE_COMPLEX128),
                                   ATOLL_DTYPE_COMPLEX128, 0));
        }
}
