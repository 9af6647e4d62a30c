// Execution of products: in the caller's memory, or with copies on a device of memory of its own.
#include "product.hpp"

#include <algorithm>
#include <atoll/operations.hpp>
#include <atoll/settings.hpp>
#include <atoll/storage.hpp>

namespace Atoll::Tapp {

namespace {

// What TAPP allows: any types, and complex results in real tensors.
void allow_conversions(Settings &settings) {
    settings.auto_cast = settings.auto_broadcast = true;
    settings.lossy = Lossy::allow;
    settings.compute_mode = ComputeMode::standard;
}

// A stream for one execution, which waits for it however it ends.
class OwnStream {
public:
    explicit OwnStream(Place &place) : place_(place), stream_(place.take_stream()) {}
    ~OwnStream() {
        try {
            if (!idle_) stream_.synchronize();
            place_.give_back(stream_);
        } catch (...) { // the error that ended the execution counts
        }
    }
    OwnStream(const OwnStream &) = delete;
    OwnStream &operator=(const OwnStream &) = delete;

    const Stream &get() const { return stream_; }
    void synchronize() {
        stream_.synchronize();
        idle_ = true;
    }

private:
    Place &place_;
    Stream stream_;
    bool idle_ = false;
};

} // namespace

Product::Product(std::vector<ContractionOperand> operands, const ContractOptions &options)
    : operands_(std::move(operands)), options_(options),
      contraction_(operand(A), operand(B), operand(C), operand(D), options) {
    for (const Role role : {A, B, C, D}) {
        const ContractionOperand &of = operand(role);
        Range &range = ranges_[role];
        stored_[role] = of.shape();
        empty_[role] = std::ranges::count(of.shape(), 0) > 0;
        if (empty_[role]) continue; // its strides are any numbers
        for (int axis = 0; axis < of.shape().size(); ++axis) {
            const std::int64_t reach = of.strides()[axis] * (of.shape()[axis] - 1);
            (reach < 0 ? range.begin : range.end) += reach;
            if (of.strides()[axis] == 0) stored_[role][axis] = 1;
        }
        range.end += size_of(of.dtype());
    }
}

Tensor Product::wrap(Role role, void *address, Device device, const Dims &shape) const {
    const ContractionOperand &of = operand(role);
    const Range &range = ranges_[role];
    const Storage storage =
        Storage::borrow(empty_[role] ? nullptr : static_cast<char *>(address) + range.begin,
                        range.end - range.begin, device, of.dtype(), {});
    return Tensor(storage, -range.begin, shape, of.strides(), of.dtype());
}

Tensor Product::upload(Role role, void *address, const Placement &where) const {
    const Tensor copy = Atoll::empty(stored_[role], where);
    copy.shallow_copy().assign(wrap(role, address, host_device(), stored_[role]));
    return stored_[role] == operand(role).shape() ? copy : copy.broadcast_to(operand(role).shape());
}

void Product::run(const Target &target, const Scalar &alpha, const Scalar &beta,
                  const Addresses &addresses) const {
    const ScopedSettings scope(allow_conversions);
    if (target.device_memory || target.place->device().is_host_memory())
        run_there(target, alpha, beta, addresses);
    else
        run_with_copies(*target.place, alpha, beta, addresses);
}

void Product::run_there(const Target &target, const Scalar &alpha, const Scalar &beta,
                        const Addresses &addresses) const {
    const Device device = target.place->device();
    const auto tensor = [&](Role role) {
        return wrap(role, addresses.at[role], device, operand(role).shape());
    };
    const auto compute = [&] {
        contraction_.run(alpha, tensor(A), tensor(B), beta, addresses.at[C] ? tensor(C) : Tensor(),
                         tensor(D));
    };
    if (device.is_inline()) return compute();
    const std::lock_guard lock(target.place->default_stream_mutex());
    try {
        compute();
    } catch (...) {
        try {
            device.synchronize();
        } catch (...) { // the first error counts
        }
        throw;
    }
    device.synchronize();
}

void Product::run_with_copies(Place &place, const Scalar &alpha, const Scalar &beta,
                              const Addresses &addresses) const {
    OwnStream stream(place);
    const auto where = [&](Role role) {
        return Placement(operand(role).dtype(), place.device(), stream.get());
    };
    const bool adds = beta.to_complex() != std::complex<double>(0);
    Tensor tensors[roles];
    tensors[A] = upload(A, addresses.at[A], where(A));
    tensors[B] = upload(B, addresses.at[B], where(B));
    // The plan needs the layout of C.
    tensors[C] = adds ? upload(C, addresses.at[C], where(C)) : Atoll::empty(stored_[C], where(C));
    tensors[D] = Atoll::empty(operand(D).shape(), where(D));
    if (!adds && stored_[C] != operand(C).shape())
        tensors[C] = tensors[C].broadcast_to(operand(C).shape());
    copied_contraction(tensors).run(alpha, tensors[A], tensors[B], beta, tensors[C], tensors[D]);
    stream.synchronize();
    wrap(D, addresses.at[D], host_device(), operand(D).shape()).assign(tensors[D]);
    stream.synchronize();
}

Contraction Product::copied_contraction(const Tensor *tensors) const {
    const std::lock_guard lock(mutex_);
    if (!copied_) {
        const auto like = [&](Role role) {
            return ContractionOperand(tensors[role], operand(role).labels());
        };
        copied_.emplace(like(A), like(B), like(C), like(D), options_);
    }
    return *copied_;
}

} // namespace Atoll::Tapp
