// Typed operands, element loops and conversions of the SDK, against values worked out by hand.
#include "atoll/convert.hpp"
#include "atoll/owned_call.hpp"

#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

namespace sdk = Atoll::sdk;

namespace {

// A call over `shape` whose operands lie in vectors of the test.
class Call {
public:
    explicit Call(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {}
    Call(const Call &) = delete;
    // Strides in elements.
    template <class T> Call &operand(T *first, std::vector<std::int64_t> strides) {
        for (std::int64_t &stride : strides) stride *= sizeof(T);
        return operand(first, sdk::dtype_of<T>, 0, std::move(strides));
    }
    // Strides in bytes.
    Call &operand(const void *first, std::uint32_t dtype, std::uint16_t flags,
                  std::vector<std::int64_t> strides) {
        strides_.push_back(std::move(strides));
        operands_.push_back({const_cast<void *>(first),
                             strides_.back().data(),
                             static_cast<std::uint16_t>(dtype),
                             flags,
                             0,
                             0,
                             nullptr,
                             {}});
        return *this;
    }
    operator const atoll_call &() {
        call_.struct_size = sizeof call_;
        call_.rank = static_cast<std::uint16_t>(shape_.size());
        call_.shape = shape_.data();
        call_.operands = operands_.data();
        call_.operand_count = static_cast<std::uint16_t>(operands_.size());
        return call_;
    }

private:
    std::vector<std::int64_t> shape_;
    std::deque<std::vector<std::int64_t>> strides_;
    std::vector<atoll_operand> operands_;
    atoll_call call_{};
};

std::vector<double> counting(std::size_t n) {
    std::vector<double> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0.0);
    return numbers;
}

std::string error_of(const auto &body) {
    try {
        body();
    } catch (const sdk::Error &error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("element loop visits every index once, the first axis fastest, with any strides") {
    // out is 2 x 3 x 2 in rows; a runs backwards along axis 0 and skips along axis 1; b is
    // broadcast along axes 1 and 2.
    const std::vector<double> a = counting(64), b = {100, 200};
    std::vector<double> out(12, -1);
    Call call({2, 3, 2});
    call.operand(out.data(), {6, 2, 1})
        .operand(a.data() + 20, {-1, 4, 17})
        .operand(b.data(), {1, 0, 0});
    std::vector<double> order;
    sdk::for_each<double, const double, const double>(
        call, [&](double &to, const double &x, const double &y) {
            to = x + y;
            order.push_back(x);
        });
    std::vector<double> expected;
    for (int k = 0; k < 2; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 2; ++i) {
                const double x = a[static_cast<std::size_t>(20 - i + 4 * j + 17 * k)];
                expected.push_back(x);
                CHECK(out[static_cast<std::size_t>(6 * i + 2 * j + k)] ==
                      x + b[static_cast<std::size_t>(i)]);
            }
    CHECK(order == expected);
}

TEST_CASE("element loop takes one element, dense vectors, and no element at all") {
    const std::vector<float> a = {1, 2, 3, 4};
    std::vector<float> out(4, 0);
    sdk::elementwise<float, float>(Call({}).operand(out.data(), {}).operand(a.data() + 2, {}),
                                   [](float x) { return x * 10; });
    CHECK(out == std::vector<float>{30, 0, 0, 0});
    sdk::elementwise<float, float>(Call({4}).operand(out.data(), {1}).operand(a.data(), {1}),
                                   [](float x) { return x * 10; });
    CHECK(out == std::vector<float>{10, 20, 30, 40});
    int visits = 0;
    sdk::for_each<float>(Call({3, 0}).operand(out.data(), {1, 3}), [&](float &) { ++visits; });
    CHECK(visits == 0);
}

TEST_CASE("a zero stride of the output accumulates, as a reduction wants it") {
    const std::vector<double> in = counting(6); // 2 x 3; axis 0 is kept
    std::vector<double> out = {0, 0};
    sdk::for_each<double, const double>(
        Call({2, 3}).operand(out.data(), {1, 0}).operand(in.data(), {1, 2}),
        [](double &sum, const double &x) { sum += x; });
    CHECK(out == std::vector<double>{0 + 2 + 4, 1 + 3 + 5});
}

TEST_CASE("16-bit floats are computed in float and stored rounded") {
    const std::vector<sdk::Float16> a = {sdk::Float16(1.5f), sdk::Float16(2049.0f)};
    const std::vector<sdk::BFloat16> b = {sdk::BFloat16(1.0f), sdk::BFloat16(257.0f)};
    CHECK(float(a[1]) == 2048); // ties to even, as the formats round
    CHECK(float(b[1]) == 256);
    std::vector<sdk::Float16> out(2);
    sdk::elementwise<sdk::Float16, sdk::Float16>(
        Call({2}).operand(out.data(), {1}).operand(a.data(), {1}), [](auto x) {
            static_assert(std::is_same_v<decltype(x), float>);
            return x / 3;
        });
    CHECK(out[0].bits == atoll_float_to_half(0.5f));
    CHECK(out[1].bits == atoll_float_to_half(2048.0f / 3));
    const std::vector<sdk::Complex32> z = {std::complex<float>(1, 2)};
    std::vector<sdk::Complex32> product(1);
    sdk::elementwise<sdk::Complex32, sdk::Complex32>(
        Call({}).operand(product.data(), {}).operand(z.data(), {}), [](auto x) { return x * x; });
    CHECK(std::complex<float>(product[0]) == std::complex<float>(-3, 4));
}

TEST_CASE("with_type hands over the type of each dtype of the domain and refuses the others") {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    sdk::with_type<ATOLL_DOMAIN_ALL>(id, [&]<class T>(std::type_identity<T>) {                     \
        CHECK(sdk::dtype_of<T> == id);                                                             \
        CHECK(sizeof(T) == size);                                                                  \
    });
#include "atoll/lists/dtypes.inc"
    const auto integers = [](std::uint32_t dtype) {
        sdk::with_type<ATOLL_DOMAIN_INTEGERS>(dtype, []<class T>(std::type_identity<T>) {});
    };
    CHECK(error_of([&] { integers(ATOLL_DTYPE_INT16); }) == "");
    CHECK(error_of([&] { integers(ATOLL_DTYPE_FLOAT32); }) == "no kernel for float32");
    CHECK(error_of([&] { integers(4711); }) == "no kernel for unknown");
}

TEST_CASE("an operand of another dtype, or one that is not there, is an error") {
    std::vector<double> data(4);
    Call call({2, 2});
    call.operand(data.data(), {1, 2});
    CHECK(error_of([&] { sdk::Operand<float>(call, 0); }) ==
          "operand 0 is float64, the kernel wants float32");
    CHECK(error_of([&] { sdk::Operand<double>(call, 1); }) ==
          "operand 1 is not there, the kernel wants float64");
    CHECK(error_of([&] { sdk::Operand<double>(call, 0).span(); }) ==
          "the kernel wants a dense vector");
    CHECK(error_of([&] { sdk::for_each<double, float>(call, [](double &, float &) {}); }) != "");
}

TEST_CASE("an operand is indexed along the axes of the iteration space") {
    // MATMUL: shape (m, n, k); out does not vary along k, a not along n, b not along m.
    const std::vector<double> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 2, 0, 1, 1};
    std::vector<double> out(4, 0);
    Call call({2, 2, 3});
    call.operand(out.data(), {1, 2, 0}).operand(a.data(), {1, 0, 2}).operand(b.data(), {0, 3, 1});
    const sdk::Operand<double> c(call, 0);
    const sdk::Operand<const double> left(call, 1), right(call, 2);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            for (int k = 0; k < 3; ++k) c(i, j) += left(i, 0, k) * right(0, j, k);
    CHECK(out == std::vector<double>{11, 14, 8, 10});
    CHECK(left.stride(2) == 16);
}

TEST_CASE("a function is found by name among the modules that are there") {
    atoll_host host{};
    host.find_function = [](const char *name, std::uint16_t *module, std::uint16_t *function) {
        if (std::string_view(name) != "acme.second") return std::int32_t{ATOLL_STATUS_NOT_FOUND};
        *module = 2, *function = 1;
        return std::int32_t{ATOLL_STATUS_OK};
    };
    const sdk::FunctionId found = sdk::find_function(host, "acme.second");
    CHECK(found.module == 2);
    CHECK(found.function == 1);
    CHECK(error_of([&] { sdk::find_function(host, "acme.third"); }) ==
          "there is no function acme.third");
}

TEST_CASE("floats are truncated and saturated to integers, integers wrap, NaN gives 0") {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    CHECK(sdk::convert<std::int8_t>(-3.99) == -3);
    CHECK(sdk::convert<std::int8_t>(127.5) == 127);
    CHECK(sdk::convert<std::int8_t>(128.0) == 127);
    CHECK(sdk::convert<std::int8_t>(-1e9) == -128);
    CHECK(sdk::convert<std::uint8_t>(-0.5) == 0);
    CHECK(sdk::convert<std::uint8_t>(-7.0) == 0);
    CHECK(sdk::convert<std::int64_t>(inf) == std::numeric_limits<std::int64_t>::max());
    CHECK(sdk::convert<std::uint64_t>(1.9e19) == std::numeric_limits<std::uint64_t>::max());
    CHECK(sdk::convert<std::int64_t>(-inf) == std::numeric_limits<std::int64_t>::min());
    CHECK(sdk::convert<std::int32_t>(nan) == 0);
    CHECK(sdk::convert<std::int32_t>(sdk::Float16(inf)) ==
          std::numeric_limits<std::int32_t>::max());
    CHECK(sdk::convert<std::int8_t>(std::int32_t{300}) == 44);
    CHECK(sdk::convert<std::uint16_t>(std::int32_t{-1}) == 65535);
    CHECK(sdk::convert<bool>(nan));
    CHECK(sdk::convert<bool>(std::complex<float>(0, 1)));
    CHECK(!sdk::convert<bool>(-0.0));
    CHECK(sdk::convert<std::int32_t>(true) == 1);
    CHECK(sdk::convert<std::int16_t>(std::complex<double>(-40000, 9)) == -32768);
    CHECK(sdk::convert<std::complex<double>>(std::int32_t{7}) == std::complex<double>(7, 0));
}

TEST_CASE("16-bit floats are rounded once, also from wider numbers") {
    // Just above the middle of two neighbours: by way of float it would become the middle.
    const double above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
    CHECK(sdk::convert<sdk::Float16>(above).bits == atoll_float_to_half(1) + 1);
    // By way of double it would become the middle of two bfloat16.
    const std::int64_t integer = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
    CHECK(float(sdk::convert<sdk::BFloat16>(integer)) == std::ldexp(1.0f + 1.0f / 128, 62));
    CHECK(float(sdk::convert<sdk::BFloat16>(-integer)) == -std::ldexp(1.0f + 1.0f / 128, 62));
    CHECK(float(sdk::convert<sdk::BFloat16>(integer - 1)) == std::ldexp(1.0f, 62));
    CHECK(float(sdk::convert<sdk::Float16>(1e6)) == std::numeric_limits<float>::infinity());
}

TEST_CASE("copy takes any strides, alignment, byte order and dtypes") {
    const std::vector<std::uint32_t> in = {0x0000803f, 0x00000040}; // 1.0f, 2.0f, swapped
    std::vector<char> bytes(8 * 2 + 1, 'x');
    Call call({2});
    call.operand(bytes.data() + 9, ATOLL_DTYPE_COMPLEX64, ATOLL_OPERAND_SWAPPED, {-8})
        .operand(in.data(), ATOLL_DTYPE_FLOAT32, ATOLL_OPERAND_SWAPPED, {4});
    sdk::copy(call);
    // Backwards, each part swapped, from an odd address.
    const std::vector<unsigned char> expected = {'x',  0x40, 0, 0, 0, 0, 0, 0, 0,
                                                 0x3f, 0x80, 0, 0, 0, 0, 0, 0};
    CHECK(std::equal(bytes.begin(), bytes.end(), expected.begin(),
                     [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; }));
}

TEST_CASE("one operand is walked, and read as another type") {
    const std::uint16_t in[] = {0x0100, 0x0200, 0x0300}; // 1, 2, 3, swapped
    float out[3];
    Call call({3});
    call.operand(out, {1}).operand(in + 2, ATOLL_DTYPE_INT16, ATOLL_OPERAND_SWAPPED, {-2});
    const sdk::Converted<float> a(call, 1);
    CHECK((a(0) == 3 && a(1) == 2 && a(2) == 1));
    std::vector<int> walked;
    sdk::for_each_of<const std::int16_t>(call, 1, [&](std::int16_t x) { walked.push_back(x); });
    CHECK(walked == std::vector<int>{0x0300, 0x0200, 0x0100}); // bytes as they are
    CHECK_THROWS_AS(sdk::for_each_of<const float>(call, 1, [](float) {}), sdk::Error);
    CHECK_THROWS_AS(sdk::for_each_of<const float>(call, 2, [](float) {}), sdk::Error);
}

TEST_CASE("an owned call outlives what it was made of") {
    auto shape = std::make_unique<std::int64_t>(3);
    auto strides = std::make_unique<std::int64_t>(4);
    auto scalar = std::make_unique<double>(2.5);
    auto list = std::make_unique<std::int64_t>(7);
    float out[3];
    std::vector<atoll_operand> operands = {
        {out, strides.get(), ATOLL_DTYPE_FLOAT32, 0, 0, 0, nullptr, {}},
        {scalar.get(),
         strides.get(),
         ATOLL_DTYPE_FLOAT64,
         ATOLL_OPERAND_SCALAR,
         0,
         0,
         nullptr,
         {}}};
    std::vector<atoll_scalar> attributes(1);
    attributes[0].dtype = ATOLL_VALUE_INTS;
    attributes[0].count = 1;
    attributes[0].value.ints = list.get();
    atoll_call call{};
    call.rank = 1;
    call.shape = shape.get();
    call.operands = operands.data();
    call.operand_count = 2;
    call.attributes = attributes.data();
    call.attribute_count = 1;
    const sdk::OwnedCall own(call);
    shape.reset();
    strides.reset();
    scalar.reset();
    list.reset();
    operands.clear();
    operands.shrink_to_fit();
    attributes.clear();
    attributes.shrink_to_fit();
    call = {};
    CHECK(own.call().shape[0] == 3);
    CHECK(own.call().operands[0].data == out);
    CHECK(own.call().operands[1].strides[0] == 4);
    CHECK(*static_cast<double *>(own.call().operands[1].data) == 2.5);
    CHECK(own.call().attributes[0].value.ints[0] == 7);
}
