// The loops of halves.
#include "half_loops.h"

#include "functors/arithmetic.h"
#include "functors/comparison.h"
#include "vector_halves.h"
#include "vector_operations.h"

#include <algorithm>
#include <cstring>

namespace Atoll::kernels {

namespace {

using namespace vector_halves;

using Half = std::uint16_t;
constexpr Half sign = 0x8000;

// See Note [Functors] for what a functor is; these are of the bits.
struct Negative {
    static Half apply(Half a) { return static_cast<Half>(a ^ sign); }
};
struct Absolute {
    static Half apply(Half a) { return static_cast<Half>(a & ~sign); }
};
struct WithSign {
    static Half apply(Half a, Half b) { return static_cast<Half>((a & ~sign) | (b & sign)); }
};
// And these of vectors, where the functor's own apply() does not take them.
struct Reciprocal {
    static Floats apply(Floats a) { return 1.0f / a; }
};
struct SquareRoot {
    static Floats apply(Floats a) { return vector_math::square_root(a); }
};
struct Truncated {
    static Floats apply(Floats a) { return vector_math::truncated(a); }
};
struct Nearest {
    static Floats apply(Floats a) { return vector_math::round_even(a); }
};
struct Floor {
    static Floats apply(Floats a) {
        const Floats whole = vector_math::truncated(a);
        return whole > a ? whole - 1.0f : whole;
    }
};
struct Ceiling {
    static Floats apply(Floats a) {
        const Floats whole = vector_math::truncated(a);
        return whole < a ? whole + 1.0f : whole; // -0 stays
    }
};

// An input, of which a vector is taken at a time.
template <class Format> class Input {
public:
    Input(const char *data, std::int64_t stride) : data_(data), stride_(stride) {
        if (stride == 0) value_ = Format::widened(load<Half>(data) + Halves{});
    }
    bool varies() const { return stride_ != 0; }
    bool is_dense() const { return stride_ == sizeof(Half); }
    Floats value() const { return value_; }
    Floats dense(std::int64_t k) const {
        return Format::widened(load_vector<Halves>(data_ + k * sizeof(Half)));
    }
    // `count` elements, of any input.
    Floats some(std::int64_t k, std::int64_t count) const {
        if (!varies()) return value_;
        Half few[at_once] = {};
        for (std::int64_t i = 0; i < count; ++i) few[i] = load<Half>(data_ + (k + i) * stride_);
        return Format::widened(load_vector<Halves>(few));
    }

private:
    const char *data_;
    std::int64_t stride_;
    Floats value_{};
};

// out[k] = of(k, count) for few elements, or those that are not dense.
template <class Format, class Of>
void by_parts(std::int64_t begin, std::int64_t n, char *out, std::int64_t stride, const Of &of) {
    for (std::int64_t k = begin; k < n; k += at_once) {
        const std::int64_t count = std::min(at_once, n - k);
        Half few[at_once];
        store_vector(few, Format::rounded(of(k, count)));
        for (std::int64_t i = 0; i < count; ++i) *at<Half>(out + (k + i) * stride) = few[i];
    }
}
// The elements of a dense result, of which of(k) is a vector, if there are enough for one; how many
// there are then. The last vector overlaps the one before, whose results may be its operands: it
// comes first.
template <class Format, class Of> std::int64_t by_vectors(std::int64_t n, char *out, const Of &of) {
    if (n < at_once) return 0;
    const Halves last = Format::rounded(of(n - at_once));
    for (std::int64_t k = 0; k + at_once <= n; k += at_once)
        store_vector(out + k * sizeof(Half), Format::rounded(of(k)));
    store_vector(out + (n - at_once) * sizeof(Half), last);
    return n;
}

template <class Format, class F>
void unary(std::int64_t n, char *const *data, const std::int64_t *strides) {
    const Input<Format> a(data[1], strides[1]);
    std::int64_t k = 0;
    if (strides[0] == sizeof(Half) && a.is_dense())
        k = by_vectors<Format>(n, data[0], [&](std::int64_t i) { return F::apply(a.dense(i)); });
    by_parts<Format>(k, n, data[0], strides[0], [&](std::int64_t i, std::int64_t count) {
        return F::apply(a.some(i, count));
    });
}
template <class Format, class F>
void binary(std::int64_t n, char *const *data, const std::int64_t *strides) {
    const Input<Format> a(data[1], strides[1]), b(data[2], strides[2]);
    char *const out = data[0];
    std::int64_t k = 0;
    if (strides[0] == sizeof(Half)) {
        if (a.is_dense() && b.is_dense())
            k = by_vectors<Format>(
                n, out, [&](std::int64_t i) { return F::apply(a.dense(i), b.dense(i)); });
        else if (a.is_dense() && !b.varies())
            k = by_vectors<Format>(n, out,
                                   [&](std::int64_t i) { return F::apply(a.dense(i), b.value()); });
        else if (!a.varies() && b.is_dense())
            k = by_vectors<Format>(n, out,
                                   [&](std::int64_t i) { return F::apply(a.value(), b.dense(i)); });
    }
    by_parts<Format>(k, n, out, strides[0], [&](std::int64_t i, std::int64_t count) {
        return F::apply(a.some(i, count), b.some(i, count));
    });
}

// What is computed in float32.
template <class Format> Loop loop_by(std::uint32_t function) {
    if constexpr (Format::has_vectors) {
        switch (function) {
        case ATOLL_FN_add: return &binary<Format, functor::add>;
        case ATOLL_FN_subtract: return &binary<Format, functor::subtract>;
        case ATOLL_FN_multiply: return &binary<Format, functor::multiply>;
        case ATOLL_FN_divide: return &binary<Format, functor::divide>;
        case ATOLL_FN_minimum: return &binary<Format, functor::minimum>;
        case ATOLL_FN_maximum: return &binary<Format, functor::maximum>;
        case ATOLL_FN_fmin: return &binary<Format, functor::fmin>;
        case ATOLL_FN_fmax: return &binary<Format, functor::fmax>;
        case ATOLL_FN_square: return &unary<Format, functor::square>;
        case ATOLL_FN_reciprocal: return &unary<Format, Reciprocal>;
        case ATOLL_FN_sqrt: return &unary<Format, SquareRoot>;
        case ATOLL_FN_floor: return &unary<Format, Floor>;
        case ATOLL_FN_ceil: return &unary<Format, Ceiling>;
        case ATOLL_FN_trunc: return &unary<Format, Truncated>;
        case ATOLL_FN_round: return &unary<Format, Nearest>;
        }
    }
    return nullptr;
}

} // namespace

Loop half_loop(std::uint32_t function, std::uint32_t dtype) {
    if (dtype != ATOLL_DTYPE_FLOAT16 && dtype != ATOLL_DTYPE_BFLOAT16) return nullptr;
    switch (function) {
    case ATOLL_FN_negative: return &unary_loop<Negative, Half>;
    case ATOLL_FN_abs: return &unary_loop<Absolute, Half>;
    case ATOLL_FN_copysign: return &binary_loop<WithSign, Half>;
    }
    return dtype == ATOLL_DTYPE_FLOAT16 ? loop_by<Float16>(function) : loop_by<Bfloat16>(function);
}

} // namespace Atoll::kernels
