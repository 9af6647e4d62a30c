// The loops over vectors of halves.
#include "half_loops.h"

#include "functors/arithmetic.h"
#include "vector_halves.h"

#include <algorithm>
#include <cstring>

namespace Atoll::kernels {

namespace {

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

} // namespace

Loop sign_loop(std::uint32_t function, std::uint32_t dtype) {
    if (dtype != ATOLL_DTYPE_FLOAT16 && dtype != ATOLL_DTYPE_BFLOAT16) return nullptr;
    switch (function) {
    case ATOLL_FN_negative: return &unary_loop<Negative, Half>;
    case ATOLL_FN_abs: return &unary_loop<Absolute, Half>;
    case ATOLL_FN_copysign: return &binary_loop<WithSign, Half>;
    default: return nullptr;
    }
}

#if defined(__F16C__)

namespace {

using namespace vector_halves;

// The elements of an input in vectors; the last ones, and one value, are copied to a block first.
class Input {
public:
    Input(const char *data, std::int64_t stride) : data_(at<const Half>(const_cast<char *>(data))) {
        if (stride) return;
        Half same[at_once];
        std::fill_n(same, at_once, *data_);
        value_ = widened(vector_halves::load<Halves>(same));
        varies_ = false;
    }
    bool varies() const { return varies_; }
    Floats value() const { return value_; }
    Floats whole(std::int64_t k) const { return widened(vector_halves::load<Halves>(data_ + k)); }
    Floats rest(std::int64_t k, std::int64_t count) const {
        if (!varies_) return value_;
        Half few[at_once] = {};
        std::memcpy(few, data_ + k, static_cast<std::size_t>(count) * sizeof(Half));
        return widened(vector_halves::load<Halves>(few));
    }

private:
    const Half *data_;
    Floats value_{};
    bool varies_ = true;
};

template <class F> void loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    Half *const out = at<Half>(data[0]);
    const Input a(data[1], strides[1]), b(data[2], strides[2]);
    std::int64_t k = 0;
    const auto whole = [&](auto &&x, auto &&y) {
        for (; k + at_once <= n; k += at_once)
            vector_halves::store(out + k, rounded(F::apply(x(k), y(k))));
    };
    const auto each = [](const Input &in) {
        return [in](std::int64_t at) { return in.whole(at); };
    };
    const auto same = [](const Input &in) { return [in](std::int64_t) { return in.value(); }; };
    if (!a.varies())
        b.varies() ? whole(same(a), each(b)) : whole(same(a), same(b));
    else
        b.varies() ? whole(each(a), each(b)) : whole(each(a), same(b));
    if (k == n) return;
    Half few[at_once];
    vector_halves::store(few, rounded(F::apply(a.rest(k, n - k), b.rest(k, n - k))));
    std::memcpy(out + k, few, static_cast<std::size_t>(n - k) * sizeof(Half));
}

} // namespace

Loop half_loop(std::uint32_t function) {
    switch (function) {
    case ATOLL_FN_add: return &loop<functor::add>;
    case ATOLL_FN_subtract: return &loop<functor::subtract>;
    case ATOLL_FN_multiply: return &loop<functor::multiply>;
    case ATOLL_FN_divide: return &loop<functor::divide>;
    default: return nullptr;
    }
}

#else

Loop half_loop(std::uint32_t) { return nullptr; }

#endif

} // namespace Atoll::kernels
