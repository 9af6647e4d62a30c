// clang-format off
// The functions of the module linalg, generated from its plugin by `atoll header`.
//
// The plugin has to be loaded before the first call: Atoll::load_plugin. Calls check arguments,
// convert dtypes, broadcast and resolve overlap as those of atoll/functions.hpp do, and throw
// Atoll::Error.
#pragma once

#include <atoll/atoll.hpp>

namespace linalg {

namespace detail = Atoll::detail;
using Atoll::Axes, Atoll::Device, Atoll::DType, Atoll::Object, Atoll::Operand, Atoll::Out,
    Atoll::Scalar, Atoll::Tensor;

struct SolveResult {
    Tensor x = {};
    Tensor info = {};
};
// x with a x = b; info: the first pivot that is zero, from 1, or 0.
//
// Signature: a (n, n), b (n, k?) -> x (n, k?), info (): int32. The named axes come first; all
// further axes broadcast. T is the common dtype of a and b, float64 for bool and integers (float32
// or float64); x has dtype T and info has dtype int32.
//   auto [x, info] = linalg::solve(a, b);
inline SolveResult solve(const Tensor &a, const Tensor &b, const SolveResult &out = {}) {
    static const Atoll::Function function("linalg.solve");
    Tensor results[2];
    detail::call_function(function, {detail::operand(a), detail::operand(b)},
        {.out = {out.x, out.info}}, results);
    return {std::move(results[0]), std::move(results[1])};
}

enum class QrMode { reduced, complete };
struct QrOptions {
    QrMode mode = QrMode::reduced;
    bool q = true; // false: it is not computed
};
struct QrResult {
    Tensor q = {};
    Tensor r = {};
};
// a = q r with orthonormal columns of q and r upper triangular.
//
// Signature: a (m, n) -> q (m, r)?, r (r, n). The named axes come first; all further axes
// broadcast. T is the dtype of a, float64 for bool and integers (float32 or float64); q has dtype T
// and r has dtype T.
//   auto [q, r] = linalg::qr(a, {.mode = linalg::QrMode::complete});
inline QrResult qr(const Tensor &a, const QrOptions &options = {}, const QrResult &out = {}) {
    static const Atoll::Function function("linalg.qr");
    Tensor results[2];
    detail::call_function(function, {detail::operand(a)},
        {.attributes = {options.mode},
         .out = {out.q, out.r},
         .without = (options.q ? 0u : 1u)}, results);
    return {std::move(results[0]), std::move(results[1])};
}

struct DctOptions {
    std::optional<std::int64_t> length = {}; // 1 or more
};
// cosine transform of type II along an axis, cut or padded to `length`.
//
// Signature: a (n) -> b (k). Along `axis`, which may be left out for rank 1 and 0. T is the dtype
// of a, float64 for bool and integers (float32 or float64); b has dtype T.
//   Tensor b = linalg::dct(a, 0, {.length = 1});
inline Tensor dct(const Tensor &a, std::optional<int> axis = {}, const DctOptions &options = {}, Out out = {}) {
    static const Atoll::Function function("linalg.dct");
    Tensor results[1];
    detail::call_function(function, {detail::operand(a)},
        {.attributes = {options.length},
         .axes = axis,
         .out = {out}}, results);
    return std::move(results[0]);
}

struct SmoothOptions {
    Scalar rate = 0.5;
};
// b[i] = a[i] + rate * b[i - 1] along an axis.
//
// Signature: a (n) -> b (n). Along `axis`, which may be left out for rank 1 and 0. T is the dtype
// of a, float64 for bool and integers (float32 or float64); b has dtype T.
//   Tensor b = linalg::smooth(a, 0, {.rate = 1});
inline Tensor smooth(const Tensor &a, std::optional<int> axis = {}, const SmoothOptions &options = {}, Out out = {}) {
    static const Atoll::Function function("linalg.smooth");
    Tensor results[1];
    detail::call_function(function, {detail::operand(a)},
        {.attributes = {options.rate},
         .axes = axis,
         .out = {out}}, results);
    return std::move(results[0]);
}

struct GeneratorOptions {
    std::int64_t seed = 1;
};
// the state of a generator of random numbers.
//
// Signature: -> state: object.
//   Object state = linalg::generator(device, {.seed = 1});
inline Object generator(const Device &device, const GeneratorOptions &options = {}) {
    static const Atoll::Function function("linalg.generator");
    return detail::call_object(function, {},
        {.attributes = {options.seed},
         .device = device});
}

// the generator's next n numbers, evenly spread over [0, 1).
//
// Signature: state: object& -> a (n). The named axes come first; all further axes broadcast. T is
// given as `dtype` (float32 or float64); a has dtype T.
//   Tensor a = linalg::uniform(state, 4, Atoll::float64);
inline Tensor uniform(const Object &state, std::int64_t n, DType dtype, Out out = {}) {
    static const Atoll::Function function("linalg.uniform");
    Tensor results[1];
    detail::call_function(function, {detail::operand(state)},
        {.out = {out},
         .extents = {n},
         .dtype = dtype}, results);
    return std::move(results[0]);
}

} // namespace linalg
