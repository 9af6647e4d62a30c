// T and the device of a call, from its inputs.
#pragma once

#include "atoll/type_rules.hpp"
#include "call/context.hpp"
#include "objects/layout.hpp"

#include <span>

namespace Atoll::detail {

using Inputs = std::span<const Operand *const>; // null: absent

inline bool is_weak(const Operand &x) { return !x.tensor() && x.scalar().is_weak(); }
inline DType dtype_of(const Operand &x) {
    return x.tensor() ? impl(*x.tensor()).dtype : x.scalar().dtype();
}

// T: what the context asks for, or by the function's rule from the inputs without a type of their
// own; weak scalars count by kind (NEP 50). Throws where automatic casting is off and dtypes
// differ, and where the function's domain does not hold T.
DType decide_T(const FunctionRecord &function, Inputs inputs, const Context &context);

// The dtype that an operand has by the signature; none where it may have any.
inline DType natural_dtype(const sdk::OperandSpec &spec, DType T) {
    return static_cast<DType>(sdk::dtype_of_operand(spec, static_cast<std::uint32_t>(T)));
}

// What sums and factors of T are kept in.
inline DType accumulator(DType T) {
    return static_cast<DType>(sdk::accumulator_of(static_cast<std::uint32_t>(T)));
}

// Where the call runs: what the context asks for, or the device of the first tensor, or the default
// device.
DeviceRecord *decide_device(const FunctionRecord &function, Inputs inputs, const Context &context);

// Throws when automatic casting is off and a result of this dtype and device differs from the
// tensor that it goes to.
void require_auto_cast(const TensorImpl &to, std::string_view to_name, DType dtype,
                       const DeviceRecord *device, std::string_view op, const Context &context);
// The same for the output of a function, which also has to hold the kind of the result: see Lossy.
void require_output_dtype(const TensorImpl &out, std::string_view out_name, DType result,
                          const DeviceRecord *device, std::string_view op, const Context &context);

} // namespace Atoll::detail
