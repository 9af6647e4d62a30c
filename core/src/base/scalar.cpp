// Conversions of scalars.
#include "atoll/scalar.hpp"

#include "atoll/convert.hpp"
#include "atoll/error.hpp"
#include "base/enums.hpp"

#include <fmt/format.h>

namespace Atoll {

namespace {

template <class Body> void with_type(DType dtype, const Body &body) {
    sdk::with_type<ATOLL_DOMAIN_ALL>(static_cast<std::uint32_t>(dtype), body);
}

// Converted by the rules of cast.
template <class T> T value_as(const Scalar &scalar) {
    T value{};
    with_type(scalar.dtype(), [&]<class From>(std::type_identity<From>) {
        const auto *bytes = reinterpret_cast<const char *>(scalar.raw().value.bytes);
        value = sdk::convert<T>(sdk::detail::load<From>(bytes, false));
    });
    return value;
}

} // namespace

Scalar Scalar::cast(DType dtype) const {
    detail::require_dtype(dtype, "scalar");
    Scalar result(dtype, false);
    with_type(dtype, [&]<class To>(std::type_identity<To>) {
        const To value = value_as<To>(*this);
        std::memcpy(result.raw_.value.bytes, &value, sizeof value);
    });
    return result;
}

bool Scalar::overflows(DType dtype) const {
    if (!is_integer(dtype) || is_floating(this->dtype())) return false;
    const bool into_signed = info(dtype).kind == Kind::signed_;
    const int bits = 8 * info(dtype).size - (into_signed ? 1 : 0); // of magnitude
    const auto value = value_as<std::uint64_t>(*this);
    if (info(this->dtype()).kind == Kind::signed_ && static_cast<std::int64_t>(value) < 0)
        return !into_signed || static_cast<std::int64_t>(value) >> bits != -1;
    return bits < 64 && value >> bits != 0;
}

Scalar::Scalar(Scalar value, DType dtype) : Scalar(value.cast(dtype)) {
    if (value.overflows(dtype))
        throw Error(Status::out_of_range, "scalar",
                    fmt::format("{} does not fit {}",
                                value.dtype() == uint64 ? fmt::to_string(value.raw_.value.u64)
                                                        : fmt::to_string(value.to_int()),
                                name(dtype)));
}

double Scalar::to_double() const { return value_as<double>(*this); }
std::complex<double> Scalar::to_complex() const { return value_as<std::complex<double>>(*this); }
std::int64_t Scalar::to_int() const { return value_as<std::int64_t>(*this); }

} // namespace Atoll
