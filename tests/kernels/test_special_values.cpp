// Element-wise kernels at the values that matter: zeros with their signs, infinities, NaN, the ends
// of the range, subnormals, branch cuts; integers at their ends, by zero, shifted past the width.
#include "check.h"

using namespace oracle;

namespace {

// All values of a dtype that matter; of complex dtypes every pair of parts.
std::vector<Value> grid(int dtype, std::size_t stride) {
    const std::vector<Value> parts = special_values(dtype);
    if (!is_complex(dtype)) return parts;
    std::vector<Value> values;
    for (std::size_t k = 0; k < parts.size(); k += stride)
        for (std::size_t l = 0; l < parts.size(); l += stride)
            values.push_back(Value::of(parts[k].re, parts[l].re));
    return values;
}

// Every combination of the values of all arguments, the first one fastest.
void check_grid(const Function &f, int dtype, const std::vector<Value> &values,
                const std::string &note = {}) {
    const int inputs = f.signature.input_count();
    Shape shape(static_cast<std::size_t>(inputs), static_cast<std::int64_t>(values.size()));
    std::vector<Operand> in;
    for (int k = 0; k < inputs; ++k) {
        const int own = f.id == ATOLL_FN_where && k == 0 ? int{ATOLL_DTYPE_BOOL} : dtype;
        in.emplace_back(own, false, shape, all_axes(shape), Layout::dense);
        each(shape, [&](const Shape &index) {
            in.back().set(
                index,
                convert(values[static_cast<std::size_t>(index[static_cast<std::size_t>(k)])], own));
        });
    }
    Operand out(result_dtype(f.id, dtype), false, shape, all_axes(shape), Layout::dense);
    std::vector<Operand *> pointers;
    for (Operand &operand : in) pointers.push_back(&operand);
    check_elementwise(f, dtype, out, pointers, note);
}

} // namespace

TEST_CASE("unary kernels are right at special values") {
    for (const Function &f : function_list)
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
            if (has_inputs<1>(f) && (f.domain >> dtype & 1)) check_grid(f, dtype, grid(dtype, 1));
}

TEST_CASE("binary and ternary kernels are right at special values") {
    for (const Function &f : function_list)
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(f.domain >> dtype & 1)) continue;
            if (has_inputs<2>(f)) check_grid(f, dtype, grid(dtype, 5));
            if (!has_inputs<3>(f)) continue;
            std::vector<Value> some;
            for (const Value &v : grid(dtype, 17))
                if (some.size() < 30) some.push_back(v);
            check_grid(f, dtype, some);
        }
}

TEST_CASE("clip is right between every two numbers") {
    const Function &clip = function_list[ATOLL_FN_clip];
    const Shape shape = {500};
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
        if (!(clip.domain >> dtype & 1)) continue;
        const std::vector<Value> values = grid(dtype, 1);
        Operand x(dtype, false, shape, all_axes(shape), Layout::dense),
            low(dtype, false, shape, {false}, Layout::dense), high = low, out = x;
        each(shape, [&](const Shape &index) {
            x.set(index, values[static_cast<std::size_t>(index[0]) % values.size()]);
        });
        for (std::size_t k = 0; k < values.size(); k += k < 8 ? 1 : 5) // NaN, infinities and zeros
            for (std::size_t l = 0; l < values.size(); l += l < 8 ? 1 : 5) {
                low.set({0}, values[k]);
                high.set({0}, values[l]);
                check_elementwise(clip, dtype, out, {&x, &low, &high});
            }
    }
}

TEST_CASE("powers of a row by one number are right") {
    const Function &pow = function_list[ATOLL_FN_pow];
    const Shape shape = {500};
    for (const int dtype : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_FLOAT32},
                            int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX64}}) {
        const std::vector<Value> values = grid(dtype, 5);
        Operand x(dtype, false, shape, all_axes(shape), Layout::dense),
            out = x, exponent(dtype, false, shape, {false}, Layout::dense);
        each(shape, [&](const Shape &index) {
            x.set(index, values[static_cast<std::size_t>(index[0]) % values.size()]);
        });
        for (const long double power : {2.0L, 0.5L, -0.5L, 3.0L, -1.0L, -2.0L, 0.0L}) {
            exponent.set({0}, convert(Value::of(power, 0.0L), dtype));
            check_elementwise(pow, dtype, out, {&x, &exponent});
        }
    }
}

TEST_CASE("every half gives what float32 gives, rounded once") {
#if defined(__SANITIZE_ADDRESS__) // an oracle that is ten times as slow
    constexpr std::int64_t step = 5;
#else
    constexpr std::int64_t step = 1;
#endif
    const Shape shape = {65536 / step};
    for (int half : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}}) {
        Operand in(half, false, shape, {true}, Layout::dense);
        for (std::int64_t k = 0; k < shape[0]; ++k) {
            const auto bits = static_cast<std::uint16_t>(k * step);
            std::memcpy(in.memory.data() + in.start + 2 * k, &bits, 2);
        }
        for (const Function &f : function_list) {
            if (!has_inputs<1>(f) || !(f.domain >> half & 1)) continue;
            Operand out(result_dtype(f.id, half), false, shape, {true}, Layout::dense);
            check_elementwise(f, half, out, {&in});
        }
    }
}

// Those about halfway between two numbers of the half: rounded to a float first, some would be
// halfway.
TEST_CASE("integers become halves by one rounding") {
    for (int dtype : {int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_UINT32}, int{ATOLL_DTYPE_INT64},
                      int{ATOLL_DTYPE_UINT64}}) {
        const bool is_signed = dtype == ATOLL_DTYPE_INT32 || dtype == ATOLL_DTYPE_INT64;
        const int bits = static_cast<int>(8 * facts[dtype].size) - (is_signed ? 1 : 0);
        for (int half : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}}) {
            const int digits = half == ATOLL_DTYPE_FLOAT16 ? 11 : 8;
            std::vector<std::uint64_t> numbers;
            for (int exponent = digits + 1; exponent < bits; ++exponent)
                for (std::uint64_t fraction : {0u, 1u, 2u, 0x55u, 0x7eu, 0x7fu})
                    for (int away : {-2, -1, 0, 1, 2}) {
                        const std::uint64_t one = std::uint64_t{1} << exponent,
                                            last = one >> (digits - 1);
                        const std::uint64_t number =
                            one + fraction * last + last / 2 + static_cast<std::uint64_t>(away);
                        numbers.push_back(number);
                        if (is_signed) numbers.push_back(0 - number);
                    }
            const Shape shape = {static_cast<std::int64_t>(numbers.size())};
            Operand in(dtype, false, shape, {true}, Layout::dense);
            for (std::size_t k = 0; k < numbers.size(); ++k)
                std::memcpy(in.memory.data() + in.start + k * facts[dtype].size, &numbers[k],
                            facts[dtype].size);
            Operand out(half, false, shape, {true}, Layout::dense);
            check_elementwise(function_list[ATOLL_FN_copy], dtype, out, {&in});
        }
    }
}

TEST_CASE("random reals over the whole range") {
    Random random = sequence(29);
    const Shape shape = {3000};
    for (const Function &f : function_list) {
        if (!is_elementwise(f)) continue;
        for (int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64},
                          int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}}) {
            if (!(f.domain >> dtype & 1)) continue;
            const int range = facts[dtype].part == ATOLL_DTYPE_FLOAT32 ? 148 : 1070;
            std::vector<Operand> in;
            for (int k = 0; k < f.signature.input_count(); ++k) {
                in.emplace_back(f.id == ATOLL_FN_where && k == 0 ? int{ATOLL_DTYPE_BOOL} : dtype,
                                false, shape, all_axes(shape), Layout::dense);
                const auto part = [&] {
                    const int spread = random() % 2 ? range : 6;
                    const long double x = std::ldexp(
                        1 + static_cast<long double>(random()) / 0x1p64L,
                        static_cast<int>(random() % static_cast<std::uint64_t>(2 * spread)) -
                            spread);
                    return random() % 2 ? x : -x;
                };
                each(shape, [&](const Shape &index) {
                    in.back().set(index, convert(Value::of(part(), part()), in.back().dtype));
                });
            }
            Operand out(result_dtype(f.id, dtype), false, shape, all_axes(shape), Layout::dense);
            std::vector<Operand *> pointers;
            for (Operand &operand : in) pointers.push_back(&operand);
            check_elementwise(f, dtype, out, pointers);
        }
    }
}

// Pairs of which the first is about a whole multiple of the second one: of quotients of every size
// up to where not all whole numbers are floats, and beyond.
TEST_CASE("functions of two floats are right at every ratio and in every layout") {
    Random random = sequence(31);
    const auto below = [&](int n) {
        return static_cast<int>(random() % static_cast<std::uint64_t>(n));
    };
    const Shape shape = {1403};
    for (int dtype : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}, int{ATOLL_DTYPE_FLOAT32},
                      int{ATOLL_DTYPE_FLOAT64}}) {
        const bool wide = dtype == ATOLL_DTYPE_FLOAT64;
        const int digits = wide ? 53 : 24, range = wide ? 1070 : 148;
        const auto number = [&](int exponent) {
            const long double x = std::ldexp(1 + static_cast<long double>(random()) / 0x1p64L,
                                             std::clamp(exponent, -range, range));
            return convert(Value::of(random() % 2 ? x : -x, 0.0L), dtype);
        };
        const auto any = [&] {
            return number(random() % 2 ? below(40) - 20 : below(2 * range) - range);
        };
        const auto multiple = [&](const Value &of) {
            const auto whole = std::trunc(std::ldexp(
                1 + static_cast<long double>(random()) / 0x1p64L, below(digits + 3) - 1));
            const Value nearest = convert(Value::of(of.re * whole, 0.0L), dtype);
            // That, or one of its neighbours.
            const long double beside = nearest.re * (below(3) - 1) * std::ldexp(0.6L, 1 - digits);
            return convert(Value::of(nearest.re + beside, 0.0L), dtype);
        };
        for (const int function :
             {int{ATOLL_FN_fmod}, int{ATOLL_FN_remainder}, int{ATOLL_FN_floor_divide},
              int{ATOLL_FN_atan2}, int{ATOLL_FN_hypot}})
            for (const Layout layout : layouts)
                for (int variant = 0; variant < 5; ++variant) {
                    if (layout == Layout::broadcast) continue;
                    const bool one_a = variant == 1, one_b = variant == 2;
                    Operand a(dtype, false, shape, {!one_a}, layout),
                        b(dtype, false, shape, {!one_b}, layout),
                        out(dtype, false, shape, {true}, layout);
                    Operand &first = variant == 3 ? out : a, &second = variant == 4 ? out : b;
                    Operand &base = one_a ? first : second, &other = one_a ? second : first;
                    each(shape, [&](const Shape &index) {
                        if (index[0] == 0 || !(one_a || one_b)) base.set(index, any());
                        other.set(index, random() % 4 ? multiple(base.get(index)) : any());
                    });
                    check_elementwise(function_list[function], dtype, out, {&first, &second});
                }
    }
}

TEST_CASE("complex quotients and roots keep their range and branches") {
    const auto result = [](int function, std::complex<double> a, std::complex<double> b) {
        std::complex<double> out;
        const std::int64_t stride = 16;
        REQUIRE(run(function, ATOLL_DTYPE_COMPLEX128, {1},
                    {operand_at(&out, &stride, ATOLL_DTYPE_COMPLEX128),
                     operand_at(&a, &stride, ATOLL_DTYPE_COMPLEX128),
                     operand_at(&b, &stride, ATOLL_DTYPE_COMPLEX128)}) == ATOLL_STATUS_OK);
        return out;
    };
    using Number = std::complex<double>;
    at_each_level([&] {
        CHECK(result(ATOLL_FN_divide, {1e300, 1e300}, {1e300, 1e300}) == Number(1, 0));
        CHECK(result(ATOLL_FN_reciprocal, {0, 1e300}, {}) == Number(0, -1e-300));
        CHECK(result(ATOLL_FN_sqrt, {-4, 0.0}, {}) == Number(0, 2));
        CHECK(result(ATOLL_FN_sqrt, {-4, -0.0}, {}) == Number(0, -2));
        CHECK(std::isinf(result(ATOLL_FN_divide, {1, 0}, {0, 0}).real()));
        CHECK(result(ATOLL_FN_sign, {3e200, 4e200}, {}) == Number(0.6, 0.8));
        CHECK(result(ATOLL_FN_pow, {0, 0}, {0, 0}) == Number(1, 0));
    });
}

TEST_CASE("complex powers keep the signs of zeros, and those of real numbers are real") {
    using Number = std::complex<double>;
    struct Case {
        Number base, exponent;
        double im; // a zero
    };
    const Case cases[] = {
        {{2, 0.0}, {0.3, 0}, 0.0},     {{2, -0.0}, {0.3, 0}, -0.0},   {{2, 0.0}, {-0.3, 0}, -0.0},
        {{-2, 0.0}, {3, 0}, 0.0},      {{-2, 0.0}, {2, 0}, -0.0},     {{-2, -0.0}, {-3, 0}, 0.0},
        {{-0.5, 0.0}, {201, 0}, 0.0},  {{-0.5, 0.0}, {202, 0}, -0.0}, {{0, 1}, {-0.0, -101}, -0.0},
        {{0, 1}, {-0.0, -0.25}, -0.0}, {{0, -1}, {0.0, -0.25}, -0.0}, {{0, -1}, {0.0, 0.25}, 0.0}};
    const std::int64_t stride = 16;
    at_each_level([&] {
        for (Case c : cases) {
            CAPTURE(c.base);
            CAPTURE(c.exponent);
            Number out;
            REQUIRE(run(ATOLL_FN_pow, ATOLL_DTYPE_COMPLEX128, {1},
                        {operand_at(&out, &stride, ATOLL_DTYPE_COMPLEX128),
                         operand_at(&c.base, &stride, ATOLL_DTYPE_COMPLEX128),
                         operand_at(&c.exponent, &stride, ATOLL_DTYPE_COMPLEX128)}) ==
                    ATOLL_STATUS_OK);
            CHECK(out.imag() == 0);
            CHECK(std::signbit(out.imag()) == std::signbit(c.im));
            if (c.base.imag() != 0) continue;
            const double want = std::pow(c.base.real(), c.exponent.real());
            CHECK(std::fabs(out.real() - want) <= 4e-16 * std::fabs(want));
        }
    });
}

TEST_CASE("complex quotients are right over the whole range of floats") {
    Random random = sequence(13);
    for (int dtype : {int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (int function : {int{ATOLL_FN_divide}, int{ATOLL_FN_reciprocal}}) {
            const bool single = dtype == ATOLL_DTYPE_COMPLEX64;
            const Shape shape = {5000};
            std::vector<Operand> in(function == ATOLL_FN_divide ? 2 : 1,
                                    Operand(dtype, false, shape, {true}, Layout::dense));
            for (Operand &operand : in)
                each(shape, [&](const Shape &index) {
                    // Subnormal numbers up to the largest, parts of like size or of any.
                    const int low = single ? -149 : -1074, high = single ? 127 : 1023;
                    const int size =
                        low +
                        static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
                    const auto part = [&] {
                        const int less = random() % 2 ? 0 : static_cast<int>(random() % 60);
                        const auto significand =
                            static_cast<long double>(random() >> 11) * 0x1p-53L;
                        return std::ldexp((random() % 2 ? 1 : -1) * (0.5L + significand / 2),
                                          size - less + 1);
                    };
                    operand.set(index, convert(Value::of(part(), part()), dtype));
                });
            Operand out(dtype, false, shape, {true}, Layout::dense);
            std::vector<Operand *> pointers;
            for (Operand &operand : in) pointers.push_back(&operand);
            check_elementwise(function_list[function], dtype, out, pointers);
        }
}

// The roots of these lie as near to the middle between two doubles as roots can: x = m^2 - r for an
// m of 54 bits, of which r are the last digits in m^2.
TEST_CASE("square roots of doubles are rounded correctly") {
    std::vector<double> x = {1 - 0x1p-53, 1 + 0x1p-52, 4 - 0x1p-51, 0x1p-1022, 0x1p1023, 0x1p-900};
    for (std::int64_t r = 1 - 8 * 5000; r < 8 * 5000; r += 8) {
        unsigned __int128 root = 1; // of r, modulo 2^55
        for (int digit = 3; digit < 55; ++digit)
            if ((root * root - static_cast<unsigned __int128>(r)) >> digit & 1)
                root += static_cast<unsigned __int128>(1) << (digit - 1);
        constexpr std::uint64_t half = std::uint64_t{1} << 53;
        for (const std::uint64_t m :
             {static_cast<std::uint64_t>(root), -static_cast<std::uint64_t>(root)}) {
            const auto all = static_cast<__int128>(half | m % half);
            x.push_back(std::ldexp(static_cast<double>(all * all - r), -106));
        }
    }
    // Neighbours have the same range, as some ranges may be treated apart.
    const std::size_t count = x.size();
    for (const int power : {-1000, 910})
        for (std::size_t k = 0; k < count; ++k) x.push_back(std::ldexp(x[k], power));
    std::vector<double> roots(x.size());
    const std::int64_t stride = 8;
    at_each_level([&] {
        REQUIRE(run(ATOLL_FN_sqrt, ATOLL_DTYPE_FLOAT64, {static_cast<std::int64_t>(x.size())},
                    {operand_at(roots.data(), &stride, ATOLL_DTYPE_FLOAT64),
                     operand_at(x.data(), &stride, ATOLL_DTYPE_FLOAT64)}) == ATOLL_STATUS_OK);
        std::int64_t wrong = 0;
        for (std::size_t k = 0; k < x.size(); ++k) wrong += roots[k] != std::sqrt(x[k]);
        CHECK(wrong == 0);
    });
}

TEST_CASE("a complex result does not depend on where the element stands") {
    Random random = sequence(17);
    constexpr std::size_t count = 203;
    std::vector<std::complex<double>> a(count), b(count), all(count), other(count);
    for (auto *numbers : {&a, &b})
        for (auto &z : *numbers) {
            const auto part = [&] {
                return std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5,
                                  static_cast<int>(random() % 4));
            };
            z = {part(), part()};
        }
    const std::int64_t stride = 16;
    for (int function : {int{ATOLL_FN_divide}, int{ATOLL_FN_multiply}, int{ATOLL_FN_reciprocal},
                         int{ATOLL_FN_square}}) {
        const auto apply = [&](std::size_t first, std::size_t n,
                               std::vector<std::complex<double>> &out) {
            std::vector<atoll_operand> operands = {
                operand_at(&out[first], &stride, ATOLL_DTYPE_COMPLEX128),
                operand_at(&a[first], &stride, ATOLL_DTYPE_COMPLEX128),
                operand_at(&b[first], &stride, ATOLL_DTYPE_COMPLEX128)};
            if (has_inputs<1>(function_list[function])) operands.pop_back();
            REQUIRE(run(function, ATOLL_DTYPE_COMPLEX128, {static_cast<std::int64_t>(n)},
                        operands) == ATOLL_STATUS_OK);
        };
        CAPTURE(function);
        at_each_level([&] {
            apply(0, count, all);
            for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{3},
                                            std::size_t{7}, std::size_t{64}}) {
                for (std::size_t first = 0; first < count; first += piece)
                    apply(first, std::min(piece, count - first), other);
                CAPTURE(piece);
                CHECK(std::memcmp(all.data(), other.data(), count * sizeof all[0]) == 0);
            }
        });
    }
}

TEST_CASE_TEMPLATE("a real result does not depend on what stands beside the element", T, float,
                   double) {
    constexpr auto dtype =
        static_cast<std::uint16_t>(sizeof(T) == 4 ? ATOLL_DTYPE_FLOAT32 : ATOLL_DTYPE_FLOAT64);
    using Limits = std::numeric_limits<T>;
    // Where results begin to overflow, to underflow or to be subnormal, and where arguments do.
    std::vector<T> x = {Limits::min(),
                        std::nextafter(Limits::min(), T(1)),
                        Limits::max(),
                        1,
                        -Limits::min(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        0,
                        -T(0)};
    for (const double part : {0.9, 0.6, 0.4, 1e-3})
        x.push_back(Limits::min() * static_cast<T>(part));
    Random random = sequence(23);
    for (const double border :
         {37.0, 38.0, 44.0, 87.0, 88.0, 103.0, 307.0, 308.0, 323.0, 708.0, 709.0, 745.0})
        for (const double sign : {1.0, -1.0})
            for (int i = 0; i < 8; ++i)
                x.push_back(static_cast<T>(
                    sign * (border + static_cast<double>(random() >> 11) * 0x1p-53)));
    while (x.size() < 512)
        x.push_back(static_cast<T>(std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53,
                                              static_cast<int>(random() % 16) - 8)));
    constexpr T others[] = {T(0),
                            -T(0),
                            T(-1),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::denorm_min(),
                            Limits::max()};
    // Second arguments are other elements of the same.
    const auto with_others = [&](const std::vector<T> &values, std::size_t first) {
        std::vector<T> mixed;
        for (const T value : values) {
            mixed.push_back(value);
            mixed.push_back(others[(first + mixed.size() / 2) % std::size(others)]);
        }
        return mixed;
    };
    std::vector<T> y;
    for (std::size_t k = 0; k < x.size(); ++k) y.push_back(x[(5 * k + 3) % x.size()]);
    std::vector<T> mixed_x = with_others(x, 0), mixed_y = with_others(y, 3);
    const std::int64_t stride = sizeof(T);
    std::vector<T> alone(x.size()), together(mixed_x.size());
    for (const Function &f : function_list) {
        if (!(has_inputs<1>(f) || has_inputs<2>(f)) || !(f.domain >> dtype & 1) ||
            result_dtype(f.id, dtype) != dtype)
            continue;
        CAPTURE(f.name);
        at_each_level([&] {
            const auto apply = [&](T *to, T *a, T *b, std::size_t n) {
                std::vector<atoll_operand> operands = {operand_at(to, &stride, dtype),
                                                       operand_at(a, &stride, dtype)};
                if (has_inputs<2>(f)) operands.push_back(operand_at(b, &stride, dtype));
                REQUIRE(run(f.id, dtype, {static_cast<std::int64_t>(n)}, operands) ==
                        ATOLL_STATUS_OK);
            };
            for (std::size_t k = 0; k < x.size(); ++k) apply(&alone[k], &x[k], &y[k], 1);
            apply(together.data(), mixed_x.data(), mixed_y.data(), mixed_x.size());
            std::size_t different = 0;
            for (std::size_t k = 0; k < x.size(); ++k)
                different += std::memcmp(&alone[k], &together[2 * k], sizeof(T)) != 0;
            CHECK(different == 0);
        });
    }
}
