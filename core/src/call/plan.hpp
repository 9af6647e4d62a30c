// The plan of one call: dtypes by the function's rule, materialisation of what the plugin does not
// take, stream order, dispatch. Shared by the families.
//
// Note [Materialisation]
// Temporaries are made on the call's stream and flagged as inserted for the function that needs
// them; their storages are freed in stream order, so nothing waits. Element needs (dtype, byte
// order, alignment, hazard with the output) come first and copy only what an operand really holds;
// layout needs (strides) come after merging and copy the broadcast operand.
#pragma once

#include "atoll/functions.hpp"
#include "call/iteration.hpp"
#include "runtime/dispatch.hpp"

#include <boost/container/static_vector.hpp>

namespace Atoll::detail {

struct Dtypes {
    DType compute, result;
};
// By the function's rule, from the promoted dtype of its inputs. Throws where the function's domain
// does not hold the compute dtype.
Dtypes apply_rule(const FunctionRecord &function, DType common);

// The dtype that the inputs meet in; weak scalars by kind (NEP 50). `given` is an output in place
// that takes part as a tensor, or none. Throws when automatic casting is off and dtypes differ.
DType common_dtype(const FunctionRecord &function, std::span<const Operand *const> inputs);

// Where inputs are computed on: the device of the first tensor, else the default device.
DeviceRecord *common_device(const FunctionRecord &function, std::span<const Operand *const> inputs);

// Throws when automatic casting is off and the two differ in dtype or device.
void require_auto_cast(const TensorImpl &to, const TensorImpl &from, std::string_view op);

// The same for a given destination and the result that goes there.
void require_auto_cast(const TensorImpl &to, DType dtype, const DeviceRecord *device,
                       std::string_view op);
// Throws when automatic broadcasting is off and the shapes differ.
void require_auto_broadcast(const Dims &a, const Dims &b, std::string_view op);

// Throws unless `out` may be written: defined, not read-only, not overlapping itself.
void check_output(const TensorImpl &out, std::string_view op);

class Plan {
public:
    // `stream` is the output's. The slot is loaded here; must be inside a ReadSection.
    Plan(const FunctionRecord &function, DeviceRecord *device, DType compute, DType result,
         Ref<StreamImpl> stream);

    bool takes(std::uint32_t cap) const { return (caps_ & cap) == cap; }

    // The input as the plugin takes it but for its layout: on the device, of a dtype and byte order
    // it takes, aligned, free of hazards with `output` (may be null).
    const TensorImpl &prepare_input(const TensorImpl &input, const TensorImpl *output) {
        return prepare_input(input, output, compute_);
    }
    // The same where the function wants another dtype than the compute dtype.
    const TensorImpl &prepare_input(const TensorImpl &input, const TensorImpl *output,
                                    DType natural);
    // `output` itself if the plugin can write it (but for layout), else a dense temporary.
    const TensorImpl &prepare_output(const TensorImpl &output);
    // A dense copy, broadcast to `shape`, with its axes in memory in the order of `axes` (fastest
    // first; null: column-major).
    const TensorImpl &expand(const TensorImpl &input, const Dims &shape,
                             const int *axes = nullptr) {
        return expand(input, shape, axes, takes(ATOLL_CAP_MIXED_INPUTS) ? input.dtype : compute_);
    }
    const TensorImpl &expand(const TensorImpl &input, const Dims &shape, const int *axes,
                             DType dtype);
    // A dense temporary that finish() copies to `output`; `axes` as above.
    const TensorImpl &replace_output(const TensorImpl &output, const int *axes = nullptr);
    // A one-element tensor on the device for a scalar that the plugin does not take.
    const TensorImpl &scalar_tensor(const Scalar &value, DType dtype);
    // Keeps a tensor alive until the call is enqueued.
    const TensorImpl &keep(Tensor tensor);

    // True iff every operand of the merged iteration has a layout that the plugin takes.
    bool takes_layout(const Iteration &iteration) const;
    // Orders streams, calls the plugin, and copies a replaced output to its destination.
    void run(Iteration &iteration, int output_count, const void *params);
    // The call alone, without the copy back.
    void call(Iteration &iteration, int output_count, const void *params);
    void finish();

    const FunctionRecord &function() const { return *function_; }
    DeviceRecord *device() const { return device_; }
    DType compute() const { return compute_; }
    void require_implemented();

private:
    bool takes_elements(const TensorImpl &tensor, DType natural, std::uint32_t mixed) const;

    const FunctionRecord *function_;
    DeviceRecord *device_;
    DType compute_, result_;
    Ref<StreamImpl> stream_;
    const Chain *chain_;
    std::uint32_t caps_;
    boost::container::static_vector<Tensor, 8> kept_; // nearly always empty
    const TensorImpl *output_ = nullptr, *replacement_ = nullptr;
};

// Copies elements on one device through its `copy`; shapes broadcast. Overlap must be harmless.
void copy_on_device(const TensorImpl &destination, const TensorImpl &source);
// The same between any two tensors: device, dtype, byte order and layout may differ; resolves
// overlap.
void copy_elements(const TensorImpl &destination, const TensorImpl &source);
// Sets every element; the value is converted as cast does.
void fill_elements(const TensorImpl &destination, const Scalar &value);

} // namespace Atoll::detail
