// Reductions and the matrix product.
#include "elements.hpp"
#include "kernels.hpp"

#include <vector>

namespace Dummy {

namespace {

// For each kept index: an accumulator sees all elements, its result is stored.
template <std::uint16_t function, template <class> class Accumulator>
void reduce(const atoll_call &call) {
    const auto kept = Atoll::sdk::params<atoll_reduce_params>(call).kept;
    with_dtype<Facts<function>::domain, Facts<function>::rule>(
        call.dtype, [&](auto element, auto result) {
            for_each(call, 0, kept, first_elements(call), [&](Pointers row) {
                Accumulator<typename decltype(element)::Value> accumulator;
                for_each(call, kept, call.rank, row,
                         [&](Pointers at) { accumulator.add(element.load(at[1])); });
                using Result = typename decltype(result)::Value;
                result.store(row[0], static_cast<Result>(accumulator.result()));
            });
        });
}

// Pairwise: like a binary counter, where digit k holds the sum of 2^k consecutive elements. So
// every element takes part in at most log2(n) roundings.
template <class V> class Sum {
public:
    void add(V value) {
        std::size_t digit = 0;
        for (std::uint64_t carry = count_++; carry & 1; carry >>= 1)
            value = plus(digits_[digit++], value);
        digits_[digit] = value;
    }
    V result() const {
        V total{};
        for (std::size_t digit = 0; digit < 64; ++digit)
            if (count_ >> digit & 1) total = plus(digits_[digit], total);
        return total;
    }

private:
    V digits_[64]; // those of the bits set in count_ are in use
    std::uint64_t count_ = 0;
};

template <class V> struct Product {
    V value{1};
    void add(V next) { value = times(value, next); }
    V result() const { return value; }
};

// The first element, replaced by every one that is `better`; the first NaN stays.
template <class V, class Better> struct Best {
    V value{};
    bool empty = true;
    void add(V next) {
        if (empty || (value == value && (next != next || Better()(next, value)))) value = next;
        empty = false;
    }
    V result() const { return value; }
};
template <class V> using Least = Best<V, std::less<V>>;
template <class V> using Greatest = Best<V, std::greater<V>>;

// The wider exponent of long double makes scaling needless.
template <class V> struct Norm {
    static_assert(std::numeric_limits<long double>::max_exponent > 2 * 1024 + 64);
    long double sum = 0;
    void add(V next) {
        const long double re = std::real(next), im = std::imag(next);
        sum += re * re + im * im;
    }
    long double result() const { return std::sqrt(sum); }
};

template <class V> struct Any {
    bool value = false;
    void add(V next) { value = value || nonzero(next); }
    bool result() const { return value; }
};

template <class V> struct All {
    bool value = true;
    void add(V next) { value = value && nonzero(next); }
    bool result() const { return value; }
};

} // namespace

namespace Kernels {

void sum(const atoll_call &call) { reduce<ATOLL_FN_sum, Sum>(call); }
void prod(const atoll_call &call) { reduce<ATOLL_FN_prod, Product>(call); }
void min(const atoll_call &call) { reduce<ATOLL_FN_min, Least>(call); }
void max(const atoll_call &call) { reduce<ATOLL_FN_max, Greatest>(call); }
void norm2(const atoll_call &call) { reduce<ATOLL_FN_norm2, Norm>(call); }
void any(const atoll_call &call) { reduce<ATOLL_FN_any, Any>(call); }
void all(const atoll_call &call) { reduce<ATOLL_FN_all, All>(call); }

// Axes are (m, n, k, stack…); out has stride 0 along k.
void matmul(const atoll_call &call) {
    const auto &params = Atoll::sdk::params<atoll_matmul_params>(call);
    const std::int64_t inner = call.shape[2];
    const std::int64_t a_step = call.operands[1].strides[2], b_step = call.operands[2].strides[2];
    const bool conj_a = params.conj & 1, conj_b = params.conj & 2;

    with_dtype<ATOLL_DOMAIN_ALL>(call.dtype, [&](auto element, auto) {
        using Value = typename decltype(element)::Value;
        // alpha and beta are in the type that the arithmetic is done in.
        const auto factor = [](const atoll_scalar &scalar) {
            const char *bytes = reinterpret_cast<const char *>(scalar.value.bytes);
            if constexpr (std::is_same_v<Value, bool>)
                return *bytes != 0;
            else
                return Plain<Value>::load(bytes);
        };
        const Value alpha = factor(params.alpha), beta = factor(params.beta);
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

} // namespace Kernels

} // namespace Dummy
