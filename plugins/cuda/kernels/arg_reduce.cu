// argmin and argmax: the position of the first smallest or largest element; NaN is both.
#include "kernels.hpp"
#include "reducers.cuh"

namespace Atoll::cuda {
namespace {

template <class V> struct Place : NothingLocal {
    using Key = decltype(plain(V{}));
    struct A {
        Key key;
        std::int64_t at; // -1: nothing yet
    };
    __device__ static A start(const Given &) { return {Key{}, -1}; }
    __device__ static A join(A a, A b, const Given &) {
        if (b.at < 0) return a;
        if (a.at < 0) return b;
        const bool a_nan = a.key != a.key, b_nan = b.key != b.key;
        if (a_nan != b_nan) return a_nan ? a : b;
        if (!a_nan && a.key != b.key) return a.key < b.key ? a : b;
        return a.at < b.at ? a : b;
    }
    __device__ static A take(A a, V x, const Given &given, std::int64_t at) {
        const Key key = plain(x);
        return join(a, {given.largest ? opposite(key) : key, at}, given);
    }
    __device__ static std::int64_t result(A a, const Given &) { return a.at; }
};
constexpr ReduceRow row = reduce_row<Place, ATOLL_FN_argmin>();
static_assert(compiled_dtypes(ATOLL_FN_argmin) == compiled_dtypes(ATOLL_FN_argmax));

} // namespace

void arg_reduce(State &state, atoll_call &call) {
    const Target target(state, call);
    Given given;
    given.largest = call.function == ATOLL_FN_argmax;
    reduce(target, call, given, *row[call.dtype]);
    target.enqueued();
}

} // namespace Atoll::cuda
