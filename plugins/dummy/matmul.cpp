// The matrix product.
#include "elements.hpp"
#include "kernels.hpp"

namespace Dummy::Kernels {

// Axes are m…, k…, n…, loop…; operands d, a, b, c.
void matmul(const atoll_call &call) {
    const std::uint32_t k_begin = call.axes[0], k_end = k_begin + call.axes[1];
    const bool has_c = !(call.operands[3].flags & ATOLL_OPERAND_ABSENT);
    const bool conj_a = Atoll::sdk::flag(call, 2), conj_b = Atoll::sdk::flag(call, 3);

    with_dtype<ATOLL_DOMAIN_ALL>(call.dtype, [&](auto element, auto) {
        using Value = typename decltype(element)::Value;
        const Value alpha = number<Value>(call.attributes[0]);
        const Value beta = has_c ? number<Value>(call.attributes[1]) : Value{};
        // A factor of one must not turn infinities into NaN, as a complex product would.
        const auto scaled = [](Value by, Value value) {
            return by == Value{1} ? value : times(by, value);
        };

        const auto one_element = [&](Pointers d) {
            Value total{};
            for_each(call, k_begin, k_end, d, [&](Pointers at) {
                const Value a = element.load(at[1]), b = element.load(at[2]);
                total = plus(total, times(conj_a ? conjugate(a) : a, conj_b ? conjugate(b) : b));
            });
            total = scaled(alpha, total);
            if (nonzero(beta)) total = plus(total, scaled(beta, element.load(d[3])));
            element.store(d[0], total);
        };
        for_each(call, k_end, call.rank, first_elements(call),
                 [&](Pointers column) { for_each(call, 0, k_begin, column, one_element); });
    });
}

} // namespace Dummy::Kernels
