// Sequences: start, start + step, start + 2 step and so on.
#include "kernels.hpp"
#include "map.cuh"

#include <cstring>

namespace Atoll::cuda {
namespace {

template <class T> struct Steps {
    using Sum = kernels::Wrapping<T>; // integers wrap
    Space<1> space;
    Access access;
    T start, step, last;
    std::int64_t first, last_place; // of element 0 of this space; where `last` stands, or -1
    __device__ void operator()(std::uint32_t i) const {
        char *at[1];
        space.locate(i, at);
        const std::int64_t place = first + i;
        T value = last;
        if (place == last_place)
            ;
        else if constexpr (kernels::is_complex<T>)
            value = {start.re + static_cast<double>(place) * step.re,
                     start.im + static_cast<double>(place) * step.im};
        else
            value = static_cast<T>(kernels::functor::add::apply(
                static_cast<Sum>(start), kernels::functor::multiply::apply(
                                             static_cast<Sum>(place), static_cast<Sum>(step))));
        store(at[0], access, number_of(value));
    }
};

template <class T> void fill_steps(const Target &target, const atoll_call &call) {
    const auto attribute = [&](int k) {
        T value;
        std::memcpy(&value, call.attributes[k].value.bytes, sizeof value);
        return value;
    };
    const bool has_last = call.attributes[2].dtype != ATOLL_VALUE_ABSENT;
    const atoll_operand &out = call.operands[0];
    Steps<T> work{{},
                  access_of(call.rank, out),
                  attribute(0),
                  attribute(1),
                  has_last ? attribute(2) : T{},
                  0,
                  has_last ? call.shape[0] - 1 : -1};
    for_each_space(extents_of<1>(call.rank, call.shape, call.operands), [&](const Space<1> &space) {
        work.space = space;
        enqueue(target, work);
        work.first += space.count;
    });
}

} // namespace

void steps(State &state, atoll_call &call) {
    const Target target(state, call);
    switch (call.attributes[0].dtype) {
    // The same sums, but the sign counts where they become floats.
    case ATOLL_DTYPE_INT64: fill_steps<std::int64_t>(target, call); break;
    case ATOLL_DTYPE_UINT64: fill_steps<std::uint64_t>(target, call); break;
    case ATOLL_DTYPE_FLOAT64: fill_steps<double>(target, call); break;
    default: fill_steps<Complex<double>>(target, call);
    }
    target.enqueued();
}

} // namespace Atoll::cuda
