// Inverse circular and hyperbolic functions of one complex number: see Note [Complex accuracy].
#include "complex_scalar.h"
#include "double_word.h"

namespace Atoll::kernels::complex_math {
namespace {

using vector_math::square_root;

// Of the heads; what the tails add is the first derivative.
double angle_of(N y, N x) {
    const double a = y.head[0], b = x.head[0], turn = b * y.tail[0] - a * x.tail[0];
    const double angle = std::atan2(a, b);
    return turn == 0 ? angle : angle + turn / (a * a + b * b);
}
double log_above_one(N x) { return std::log1p(x.head[0]) + x.tail[0] / (1 + x.head[0]); }

constexpr double far = 0x1p100, tiny = 0x1p-400; // where 1, and squares, do not count
constexpr double ln_2 = vector_math::Constants<double>::ln_2.head;

// As vector_math::arcs, of any finite number.
struct Arcs {
    double sine, cosine, area;
};
Arcs arcs(Z z) {
    const double a = std::fabs(z.re), b = std::fabs(z.im);
    if (std::fmax(a, b) > far) {
        const int twos = exponent_of(z);
        const Z near_one = scaled(z, -twos);
        return {std::atan2(a, b), std::atan2(b, z.re),
                std::log(std::hypot(near_one.re, near_one.im)) + (twos + 1) * ln_2};
    }
    const N xx = wide_product(a, a), yy = wide_product(b, b);
    const N x_rest = 1.0 - xx, g = x_rest - yy, h = x_rest + yy;
    const bool inner = g.head[0] >= 0;
    // Where the square vanishes g and h are 1 - x^2.
    const N m = b < tiny ? (a == 1 ? wide(2 * b) : inner ? g : -g) : square_root(g * g + yy * 4.0);
    const N g_sum = inner ? m + g : m - g;
    const N u = b < tiny && a == 1 ? m : inner ? yy * 4.0 / g_sum : g_sum;
    double area;
    N width;
    if (b < tiny && a < 1) {
        width = square_root(g);
        area = (wide(b) / width).head[0];
    } else {
        area = log_above_one(u + square_root(u * u + u * 2.0)) / 2;
        const bool right = h.head[0] >= 0;
        const N root = square_root((right ? m + h : m - h) * 0.5);
        width = right ? root : wide(a) / root;
        if (!right && b >= tiny) width = width * wide(b);
        if (!right && b < tiny) width = wide(width.head[0] * b); // may be subnormal
    }
    const N x = wide(z.re);
    return {angle_of(wide(a), width), angle_of(width, x), area};
}

} // namespace

Z asin(Z z) {
    if (!finite(z)) return from_c(__builtin_casin(to_c(z)));
    const Arcs all = arcs(z);
    return {std::copysign(all.sine, z.re), std::copysign(all.area, z.im)};
}

Z acos(Z z) {
    if (!finite(z)) return from_c(__builtin_cacos(to_c(z)));
    const Arcs all = arcs(z);
    return {all.cosine, std::copysign(all.area, -z.im)};
}

Z asinh(Z z) {
    if (!finite(z)) return from_c(__builtin_casinh(to_c(z)));
    const Arcs all = arcs({z.im, z.re});
    return {std::copysign(all.area, z.re), std::copysign(all.sine, z.im)};
}

Z acosh(Z z) {
    if (!finite(z)) return from_c(__builtin_cacosh(to_c(z)));
    const Arcs all = arcs(z);
    return {all.area, std::copysign(all.cosine, z.im)};
}

// As the vectors', of any number.
Z atanh(Z z) {
    const double a = std::fabs(z.re), b = std::fabs(z.im);
    if (!finite(z) || (a == 1 && b == 0)) return from_c(__builtin_catanh(to_c(z)));
    double size, turn;
    if (std::fmax(a, b) > far) { // 1 / z, but for the angle
        const double modulus = std::hypot(a * 0.5, b * 0.5);
        size = a / modulus * 0.5 / modulus * 0.5;
        turn = std::acos(0.0);
    } else if (a == 1 && b < tiny) { // log(4 / b^2) / 4
        size = (ln_2 - std::log(b)) / 2;
        turn = std::acos(0.0) / 2;
    } else {
        const N gap = 1.0 - wide(a), square = gap * gap + wide_product(b, b);
        const N rest = (1.0 - wide_product(a, a)) - wide_product(b, b);
        size = a < tiny ? a / square.head[0] : log_above_one(wide(4 * a) / square) / 4;
        turn = angle_of(wide(2 * b), rest) / 2;
    }
    return {std::copysign(size, z.re), std::copysign(turn, z.im)};
}

Z atan(Z z) {
    const Z turned = atanh({-z.im, z.re});
    return {turned.im, -turned.re};
}

} // namespace Atoll::kernels::complex_math
