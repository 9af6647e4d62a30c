// Conversions of scalars.
#include "atoll/scalar.hpp"

#include "atoll/convert.hpp"
#include "base/enums.hpp"
#include "base/throw_error.hpp"

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

std::string text(const Scalar &scalar) {
    if (scalar.dtype() == uint64) return std::to_string(value_as<std::uint64_t>(scalar));
    if (is_integer(scalar.dtype())) return std::to_string(scalar.to_int());
    const std::complex<double> value = scalar.to_complex();
    return value.imag() == 0 ? fmt::format("{}", value.real())
                             : fmt::format("{}{:+}i", value.real(), value.imag());
}

} // namespace

Scalar Scalar::cast(DType dtype) const {
    detail::require_dtype(dtype, "scalar");
    atoll_scalar raw{static_cast<std::uint32_t>(dtype), 0, 0, {}};
    with_type(dtype, [&]<class To>(std::type_identity<To>) {
        const To value = value_as<To>(*this);
        std::memcpy(raw.value.bytes, &value, sizeof value);
    });
    return Scalar(raw);
}

bool Scalar::overflows(DType dtype) const {
    if (is_floating(dtype)) {
        const auto largest = [](std::complex<double> x) {
            return std::max(std::abs(x.real()), std::abs(x.imag()));
        };
        constexpr double fits_all = 65504; // float16's largest
        const double value = largest(to_complex());
        return value > fits_all && std::isfinite(value) &&
               std::isinf(largest(cast(dtype).to_complex()));
    }
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
        detail::throw_error(Status::out_of_range, "scalar", "{} does not fit {}", text(value),
                            name(dtype));
}

double Scalar::to_double() const { return value_as<double>(*this); }
std::complex<double> Scalar::to_complex() const { return value_as<std::complex<double>>(*this); }
std::int64_t Scalar::to_int() const { return value_as<std::int64_t>(*this); }

} // namespace Atoll
