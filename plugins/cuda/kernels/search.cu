// searchsorted: by bisection, one thread per value. The order is that of sort.
#include "functors/order.h"
#include "kernels.hpp"
#include "rows.cuh"

namespace Atoll::cuda {
namespace {

template <class S> struct Search {
    Space<3> space; // the position, the value, the vector
    Row<std::int64_t> out;
    Row<S> value, sorted;
    std::uint32_t length;
    bool right;
    __device__ void operator()(std::uint32_t i) const {
        char *at[3];
        space.locate(i, at);
        const auto x = value_of(value.read(at[1], 0));
        std::uint32_t low = 0, high = length;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            const auto y = value_of(sorted.read(at[2], middle));
            if (right ? !kernels::is_before(x, y) : kernels::is_before(y, x))
                low = middle + 1;
            else
                high = middle;
        }
        out.write(at[0], 0, low);
    }
};

template <std::uint32_t dtype> void search_call(const Target &target, const atoll_call &call) {
    using S = Stored<dtype>;
    Search<S> work{{},
                   row_of<std::int64_t>(call, 0, ATOLL_DTYPE_INT64),
                   row_of<S>(call, 1, dtype),
                   row_of<S>(call, 2, dtype),
                   row_length(call),
                   sdk::flag(call, 0)};
    for_each_space(rows_of<3>(call), [&](const Space<3> &space) {
        work.space = space;
        enqueue(target, work);
    });
}

constexpr auto table =
    launchers_of<ATOLL_FN_searchsorted>([](auto dtype) { return &search_call<dtype()>; });

} // namespace

void search(State &state, atoll_call &call) {
    const Target target(state, call);
    table[call.dtype](target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
