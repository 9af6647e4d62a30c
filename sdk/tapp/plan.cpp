// Planned products: checks in the order that the interface gives them, and layouts in bytes.
#include "plan.hpp"

#include <algorithm>
#include <atoll/error.hpp>
#include <limits>

namespace Atoll::Tapp {

namespace {

constexpr const char *names[roles] = {"A", "B", "C", "D"};
constexpr int max_indices = 64;

using Indices = std::vector<std::int64_t>;

bool contains(const Indices &indices, std::int64_t index) {
    return std::ranges::find(indices, index) != indices.end();
}

// The extent of the first mode with the index.
std::optional<std::int64_t> extent_of(const Term &term, std::int64_t index) {
    const auto found = std::ranges::find(term.indices, index);
    if (found == term.indices.end()) return {};
    return term.info.extents[static_cast<std::size_t>(found - term.indices.begin())];
}

class Checks {
public:
    explicit Checks(const Term (&terms)[roles]) : terms_(terms) {}

    void run() const {
        check_result();
        check_within(A, 9);
        check_within(B, 10);
        check_within(D, 11);
        check_between(A, B, 1);
        check_between(A, D, 2);
        check_between(B, D, 3);
        check_summand();
    }

private:
    void check_result() const {
        for (const std::int64_t index : terms_[D].indices)
            if (!contains(terms_[A].indices, index) && !contains(terms_[B].indices, index))
                fail(4, "index {} of D is in neither A nor B", index);
    }
    void check_within(Role role, TAPP_error code) const {
        const Term &term = terms_[role];
        for (std::size_t mode = 0; mode < term.indices.size(); ++mode) {
            const std::int64_t first = *extent_of(term, term.indices[mode]);
            if (first != term.info.extents[mode])
                fail(code, "index {} of {} has extent {} and, on mode {}, {}", term.indices[mode],
                     names[role], first, mode, term.info.extents[mode]);
        }
    }
    void check_between(Role x, Role y, TAPP_error code) const {
        for (const std::int64_t index : terms_[x].indices) {
            const std::int64_t in_x = *extent_of(terms_[x], index);
            if (const auto in_y = extent_of(terms_[y], index); in_y && *in_y != in_x)
                fail(code, "index {} has extent {} in {} and {} in {}", index, in_x, names[x],
                     *in_y, names[y]);
        }
    }
    void check_summand() const {
        const Term &c = terms_[C], &d = terms_[D];
        if (c.indices.size() != d.indices.size())
            fail(5, "C has {} modes, D {}", c.indices.size(), d.indices.size());
        for (std::size_t mode = 0; mode < d.indices.size(); ++mode)
            if (c.indices[mode] != d.indices[mode])
                fail(6, "mode {} has index {} in C and {} in D", mode, c.indices[mode],
                     d.indices[mode]);
        for (std::size_t mode = 0; mode < d.indices.size(); ++mode)
            if (c.info.extents[mode] != d.info.extents[mode])
                fail(7, "index {} has extent {} in C and {} in D", d.indices[mode],
                     c.info.extents[mode], d.info.extents[mode]);
    }

    const Term (&terms_)[roles];
};

std::int64_t stride_in_bytes(const Term &term, std::size_t mode, const char *name) {
    std::int64_t bytes;
    if (__builtin_mul_overflow(term.info.strides[mode], size_of(term.info.dtype), &bytes))
        fail(TAPP_ATOLL_OVERFLOW, "a stride of {} elements of {} is beyond 63 bits in bytes",
             term.info.strides[mode], name);
    return bytes;
}

// The operand with one axis for each index, labelled by the positions of the indices in `all`. A
// diagonal is an axis whose stride is the sum. Strides that are never walked, which may be any
// numbers, are 0.
ContractionOperand lay_out(const Term &term, const Indices &all, const char *name) {
    Indices extents, strides, labels;
    const bool empty = contains(term.info.extents, 0);
    for (std::size_t mode = 0; mode < term.indices.size(); ++mode) {
        const std::int64_t label = std::ranges::find(all, term.indices[mode]) - all.begin(),
                           extent = term.info.extents[mode],
                           stride = empty || extent == 1 ? 0 : stride_in_bytes(term, mode, name);
        const auto known = std::ranges::find(labels, label);
        if (known == labels.end()) {
            extents.push_back(extent);
            strides.push_back(stride);
            labels.push_back(label);
            continue;
        }
        std::int64_t &sum = strides[static_cast<std::size_t>(known - labels.begin())];
        if (__builtin_add_overflow(sum, stride, &sum))
            fail(TAPP_ATOLL_OVERFLOW, "the strides of index {} of {} are beyond 63 bits in bytes",
                 term.indices[mode], name);
    }
    return {term.info.dtype, Dims(extents), Dims(strides), Labels(labels)};
}

// Contraction tells, of a result that is the sum of one input.
void check_overlap(const TensorInfo &info, const ContractionOperand &d) {
    const ContractionOperand input(d.dtype(), d.shape(), Dims::filled(d.shape().size(), 0),
                                   d.labels()),
        one(d.dtype(), {}, {}, {});
    try {
        Contraction(input, one, d);
    } catch (const Error &error) {
        if (error.status() != Status::invalid_argument) throw;
        fail(8,
             "elements of D with extents {} and strides {} share memory, or it takes too long to "
             "find out",
             to_string(Dims(info.extents)), to_string(Dims(info.strides)));
    }
}

// The common type of the tensors. Signed integers and uint64, which promote to float64, are
// computed modulo 2^64: float64 would lose low bits.
DType common_type(const Term (&terms)[roles]) {
    DType common = DType::bool_;
    bool any_floating = false;
    for (const Term &term : terms) {
        common = promote(common, term.info.dtype);
        any_floating = any_floating || is_floating(term.info.dtype);
    }
    return any_floating || !is_floating(common) ? common : uint64;
}

// What the precision asks for besides the types of the tensors.
DType at_least(TAPP_prectype precision, DType common) {
    switch (precision) {
    case TAPP_F32F32_ACCUM_F32: return promote(common, float32);
    case TAPP_F64F64_ACCUM_F64: return promote(common, float64);
    case TAPP_DEFAULT_PREC:
    case TAPP_F16F16_ACCUM_F16:
    case TAPP_F16F16_ACCUM_F32:
    case TAPP_BF16BF16_ACCUM_F32: return common; // halves accumulate in float32 anyway
    default: fail(TAPP_ATOLL_BAD_PRECISION, "{} is no precision; see tapp/datatype.h", precision);
    }
}

std::int64_t saturating_product(std::int64_t x, std::int64_t y) {
    std::int64_t product;
    const bool overflows = __builtin_mul_overflow(x, y, &product);
    return overflows ? std::numeric_limits<std::int64_t>::max() : product;
}

} // namespace

Plan::Plan(const Term (&terms)[roles], TAPP_prectype precision) {
    options_.dtype = at_least(precision, common_type(terms));
    Indices all;
    bool nothing = false;
    std::int64_t points = 2;
    for (const Role role : {A, B})
        for (const std::int64_t index : terms[role].indices)
            if (!contains(all, index)) {
                const std::int64_t extent = *extent_of(terms[role], index);
                all.push_back(index);
                nothing = nothing || extent == 0;
                points = saturating_product(points, extent);
            }
    if (all.size() > max_indices)
        fail(TAPP_ATOLL_TOO_MANY_INDICES, "the product has {} indices, at most {} are possible",
             all.size(), max_indices);
    Checks(terms).run();
    operations_ = nothing ? 0 : points;
    index_count_ = static_cast<int>(all.size());

    // The conjugate of a sum of products is that of the conjugates.
    const bool whole = terms[D].conjugate;
    options_.conj_a = terms[A].conjugate != whole;
    options_.conj_b = terms[B].conjugate != whole;
    options_.conj_c = terms[C].conjugate != whole;
    conjugates_factors_ = whole && is_complex(terms[D].info.dtype);
    ContractionOperand result = lay_out(terms[D], all, names[D]);
    check_overlap(terms[D].info, result);
    std::vector<ContractionOperand> operands;
    for (const Role role : {A, B, C}) operands.push_back(lay_out(terms[role], all, names[role]));
    operands.push_back(std::move(result));
    product_.emplace(std::move(operands), options_);
}

Scalar Plan::factor(const Scalar &given) const {
    if (conjugates_factors_) return std::conj(given.to_complex());
    // Contractions refuse negative factors of unsigned products.
    return options_.dtype == uint64 ? given.cast(uint64) : given;
}

std::shared_ptr<const Product> Plan::batch(std::int64_t count,
                                           const std::int64_t (&spacing)[roles]) const {
    constexpr std::size_t kept = 8;
    {
        const std::lock_guard lock(mutex_);
        for (const Batch &known : batches_)
            if (known.count == count && std::ranges::equal(known.spacing, spacing))
                return known.product;
    }
    Batch made{count, {}, make_batch(count, spacing)};
    std::ranges::copy(spacing, made.spacing);
    const std::lock_guard lock(mutex_);
    if (batches_.size() == kept) batches_.erase(batches_.begin());
    batches_.push_back(made);
    return made.product;
}

std::shared_ptr<const Product> Plan::make_batch(std::int64_t count,
                                                const std::int64_t (&spacing)[roles]) const {
    if (index_count_ == max_indices) return nullptr;
    std::vector<ContractionOperand> operands;
    for (const Role role : {A, B, C, D}) {
        ContractionOperand operand = product().operand(role);
        // A shared factor lacks the index: then the other one is larger, which is faster than as
        // many products. One of them must have it.
        if ((role == A || role == B) && spacing[role] == 0 && spacing[role == A ? B : A] != 0) {
            operands.push_back(std::move(operand));
            continue;
        }
        std::vector<std::int64_t> labels;
        for (int axis = 0; axis < operand.labels().size(); ++axis)
            labels.push_back(operand.labels()[axis]);
        labels.push_back(index_count_);
        Dims shape = operand.shape(), strides = operand.strides();
        shape.push_back(count);
        strides.push_back(spacing[role]);
        operands.emplace_back(operand.dtype(), shape, strides, Labels(labels));
    }
    try {
        return std::make_shared<const Product>(std::move(operands), options_);
    } catch (const Error &) { // sets that overlap, or sizes beyond 63 bits
        return nullptr;
    }
}

Table<Plan> &plans() {
    static auto *const table = new Table<Plan>("a product");
    return *table;
}

namespace {

bool conjugates(TAPP_element_op op, const char *name) {
    if (op == TAPP_IDENTITY) return false;
    if (op == TAPP_CONJUGATE) return true;
    fail(TAPP_ATOLL_BAD_OPERATION, "operation {} of {} is neither TAPP_IDENTITY nor TAPP_CONJUGATE",
         op, name);
}

Term term(const char *name, TAPP_element_op op, TAPP_tensor_info info, const std::int64_t *idx) {
    Term made{tensor_info(info, name), {}, conjugates(op, name)};
    const std::size_t modes = made.info.extents.size();
    if (modes > 0 && !idx)
        fail(TAPP_ATOLL_NULL_ARGUMENT, "idx_{} is NULL, but {} has {} modes", name, name, modes);
    made.indices.assign(idx, idx + modes);
    return made;
}

} // namespace

} // namespace Atoll::Tapp

using namespace Atoll::Tapp;

TAPP_error TAPP_create_tensor_product(TAPP_tensor_product *plan, TAPP_handle, TAPP_element_op op_A,
                                      TAPP_tensor_info A_info, const std::int64_t *idx_A,
                                      TAPP_element_op op_B, TAPP_tensor_info B_info,
                                      const std::int64_t *idx_B, TAPP_element_op op_C,
                                      TAPP_tensor_info C_info, const std::int64_t *idx_C,
                                      TAPP_element_op op_D, TAPP_tensor_info D_info,
                                      const std::int64_t *idx_D, TAPP_prectype prec) {
    return guarded([&] {
        require_memory(plan, "plan");
        *plan = 0;
        try {
            const Term terms[roles] = {
                term("A", op_A, A_info, idx_A), term("B", op_B, B_info, idx_B),
                term("C", op_C, C_info, idx_C), term("D", op_D, D_info, idx_D)};
            *plan = plans().add(std::make_shared<Plan>(terms, prec));
        } catch (...) {
            const Failure failure = failure_of(std::current_exception());
            *plan = plans().add(std::make_shared<Plan>(failure));
            throw failure;
        }
    });
}

TAPP_error TAPP_destroy_tensor_product(TAPP_tensor_product plan) {
    return guarded([&] { plans().remove(plan, "plan"); });
}
