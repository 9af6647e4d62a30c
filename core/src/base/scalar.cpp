// Conversions of scalars.
#include "atoll/scalar.hpp"

#include "atoll/error.hpp"
#include "base/elements.hpp"

#include <limits>

#include <fmt/format.h>

namespace Atoll {

namespace {
detail::Wide wide(const Scalar &scalar) {
    return detail::load_element(scalar.raw().value.bytes, scalar.dtype(), false);
}
} // namespace

Scalar Scalar::cast(DType dtype) const {
    if (dtype == DType::none)
        throw Error(Status::invalid_argument, "scalar", "got no dtype, need one");
    Scalar result(dtype, false);
    detail::store_element(result.raw_.value.bytes, dtype, wide(*this));
    return result;
}

bool Scalar::overflows(DType dtype) const {
    if (!is_integer(dtype)) return false;
    const detail::Wide value = wide(*this);
    const int bits = 8 * info(dtype).size;
    if (value.kind == Kind::signed_) {
        if (info(dtype).kind == Kind::unsigned_)
            return value.i < 0 || (bits < 64 && value.i >> bits != 0);
        return bits < 64 && (value.i >> (bits - 1) != 0 && value.i >> (bits - 1) != -1);
    }
    if (value.kind == Kind::unsigned_)
        return value.u >
               (~std::uint64_t{0} >> (64 - bits + (info(dtype).kind == Kind::signed_ ? 1 : 0)));
    return false;
}

Scalar::Scalar(Scalar value, DType dtype) : Scalar(value.cast(dtype)) {
    if (value.overflows(dtype))
        throw Error(Status::out_of_range, "scalar",
                    fmt::format("{} does not fit {}",
                                value.dtype() == uint64 ? fmt::to_string(value.raw_.value.u64)
                                                        : fmt::to_string(value.to_int()),
                                name(dtype)));
}

double Scalar::to_double() const {
    double value;
    detail::store_element(&value, float64, wide(*this));
    return value;
}

std::complex<double> Scalar::to_complex() const {
    std::complex<double> value;
    detail::store_element(&value, complex128, wide(*this));
    return value;
}

std::int64_t Scalar::to_int() const {
    std::int64_t value;
    detail::store_element(&value, int64, wide(*this));
    return value;
}

} // namespace Atoll
