// The two variants, line by line as in the figure: (a) by columns, (b) by rank-one updates.
#include "qr.hpp"

namespace Demo {

using namespace Atoll;

void qr_by_columns(const Tensor &Q, const Tensor &R) {
    const auto n = Q.extent(1);
    for (std::int64_t i = 0; i < n; ++i) {
        Tensor q = Q(all_, i); // a view: what is written to q is written to Q
        Tensor r = sqrt(q.T() * q);
        q /= r;
        R(i, i) = r;
        for (std::int64_t j = i + 1; j < n; ++j) {
            r = q.T() * Q(all_, j);
            Q(all_, j) -= q * r;
            R(i, j) = r;
        }
    }
}

void qr_by_updates(const Tensor &Q, const Tensor &R) {
    const auto n = Q.extent(1);
    for (std::int64_t i = 0; i < n; ++i) {
        Tensor q = Q(all_, i);
        Tensor r = sqrt(q.T() * q);
        q /= r;
        R(i, i) = r;
        if (i + 1 < n) {
            r = Q(all_, range(i + 1)).T() * q;
            Q(all_, range(i + 1)) -= q * r.T();
            R(i, range(i + 1)) = r;
        }
    }
}

} // namespace Demo
