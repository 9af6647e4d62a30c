// The matrix product.
#include "elements.hpp"
#include "kernels.hpp"

namespace Dummy::Kernels {

// Axes are (m, n, k, stack…); out has stride 0 along k.
void matmul(const atoll_call &call) {
    const auto &params = Atoll::sdk::params<atoll_matmul_params>(call);
    const std::int64_t inner = call.shape[2];
    const std::int64_t a_step = call.operands[1].strides[2], b_step = call.operands[2].strides[2];
    const bool conj_a = params.conj & 1, conj_b = params.conj & 2;

    with_dtype<ATOLL_DOMAIN_ALL>(call.dtype, [&](auto element, auto) {
        using Value = typename decltype(element)::Value;
        const Value alpha = number<Value>(params.alpha), beta = number<Value>(params.beta);
        // A factor of one must not turn infinities into NaN, as a complex product would.
        const auto scaled = [](Value by, Value value) {
            return by == Value{1} ? value : times(by, value);
        };

        const auto one_element = [&](Pointers at) {
            Value total{};
            for (std::int64_t k = 0; k < inner; ++k) {
                const Value a = element.load(at[1] + k * a_step);
                const Value b = element.load(at[2] + k * b_step);
                total = plus(total, times(conj_a ? conjugate(a) : a, conj_b ? conjugate(b) : b));
            }
            total = scaled(alpha, total);
            if (nonzero(beta)) total = plus(total, scaled(beta, element.load(at[0])));
            element.store(at[0], total);
        };
        for_each(call, 0, 2, first_elements(call),
                 [&](Pointers matrix) { for_each(call, 3, call.rank, matrix, one_element); });
    });
}

} // namespace Dummy::Kernels
