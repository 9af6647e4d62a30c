// Products of any number of tensors in Einstein's notation.
#include "base/throw_error.hpp"
#include "call/broadcast.hpp"
#include "call/copy.hpp"
#include "contract/notation.hpp"
#include "contract/pair.hpp"
#include "contract/path.hpp"
#include "contract/sum_axes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace Atoll {

using namespace detail;

namespace {

using LabelList = std::vector<std::int64_t>;

// An operand or intermediate product without the axes that broadcast.
struct Part {
    DType dtype;
    Dims shape, strides;
    LabelList labels;

    ContractionOperand operand() const { return {dtype, shape, strides, Labels(labels)}; }
};

// Throws where automatic casting is off and the operands differ in dtype or device.
DType common_dtype(std::span<const Tensor> operands) {
    const TensorImpl &first = impl(operands[0]);
    DType common = first.dtype;
    for (std::size_t i = 1; i < operands.size(); ++i) {
        const TensorImpl &own = impl(operands[i]);
        if ((own.dtype != first.dtype || own.device() != first.device()) &&
            !current_settings().auto_cast)
            throw_error(Status::invalid_argument, "einsum",
                        "got operand 0 of {} on {} and operand {} of {} on {} with automatic "
                        "casting off; cast or move one of them, or set Settings::auto_cast",
                        name(first.dtype), first.device()->name, i, name(own.dtype),
                        own.device()->name);
        common = promote(common, own.dtype);
    }
    return common;
}

void require_auto_broadcast(const Notation &notation, std::span<const Tensor> operands) {
    if (current_settings().auto_broadcast) return;
    const auto dots = [&](std::size_t i) { // extents of the axes of ...
        Dims extents;
        for (std::size_t axis = 0; axis < notation.operands[i].size(); ++axis)
            if (notation.operands[i][axis] < 'A')
                extents.push_back(operands[i].shape()[static_cast<int>(axis)]);
        return extents;
    };
    for (std::size_t i = 1; i < operands.size(); ++i)
        if (!(dots(i) == dots(0)))
            refuse_auto_broadcast({"operand 0", operands[0].shape()},
                                  {fmt::format("operand {}", i), operands[i].shape()}, "einsum");
}

// The text of one product, for people.
std::string product_text(const LabelList &a, const LabelList &b, const LabelList &product) {
    return fmt::format("{},{}->{}", notation_text(a), notation_text(b), notation_text(product));
}

// Removes the factors of a step from the list.
template <class T, class Step> std::pair<T, T> take_pair(std::vector<T> &list, const Step &step) {
    std::pair<T, T> factors{std::move(list[static_cast<std::size_t>(step.left)]),
                            std::move(list[static_cast<std::size_t>(step.right)])};
    list.erase(list.begin() + step.right);
    list.erase(list.begin() + step.left);
    return factors;
}

// The labels as numbers from 0, and the order of products.
class ProductOrder {
public:
    ProductOrder(const Notation &notation, std::span<const Tensor> operands, DType T,
                 const EinsumOptions &options)
        : notation_(notation) {
        for (std::size_t i = 0; i < operands.size(); ++i) {
            LabelSet set;
            for (std::size_t axis = 0; axis < notation.operands[i].size(); ++axis) {
                const std::int64_t extent = operands[i].shape()[static_cast<int>(axis)];
                const std::size_t at = number(notation.operands[i][axis]);
                set.set(at);
                network_.extents[at] = std::max(network_.extents[at], static_cast<double>(extent));
            }
            network_.operands.push_back(set);
        }
        for (const std::int64_t label : notation.result) network_.result.set(number(label));
        std::optional<double> largest;
        if (options.memory_limit)
            largest = static_cast<double>(*options.memory_limit) /
                      static_cast<double>(size_of(accumulator(T)));
        if (operands.size() < 2) return;
        auto steps = find_path(network_, largest);
        if (!steps && (!largest || !find_path(network_, {})))
            throw_error(Status::overflow, "einsum",
                        "every order of products takes more operations than a double can count");
        if (!steps)
            throw_error(Status::out_of_memory, "einsum",
                        "no order of products keeps every intermediate result within {} bytes; "
                        "raise EinsumOptions::memory_limit",
                        *options.memory_limit);
        steps_ = std::move(*steps);
    }

    const std::vector<PathStep> &steps() const { return steps_; }
    // The labels of a product, in the order in which its factors have them; those of the result as
    // given.
    LabelList product(const PathStep &step, const LabelList &a, const LabelList &b) const {
        if (&step == &steps_.back()) return notation_.result;
        LabelList labels;
        for (const LabelList *from : {&a, &b})
            for (const std::int64_t label : *from)
                if (step.product[numbers_.at(label)] && !std::ranges::count(labels, label))
                    labels.push_back(label);
        return labels;
    }
    // Of one loop over all labels: a multiplication per further operand, and an addition.
    double direct_operations() const {
        LabelSet all;
        for (const LabelSet &labels : network_.operands) all |= labels;
        const auto factors = static_cast<double>(network_.operands.size());
        return span_of(network_, all) *
               (std::max(factors - 1, 1.0) + (all == network_.result ? 0 : 1));
    }

private:
    std::size_t number(std::int64_t label) {
        const auto [it, added] = numbers_.try_emplace(label, numbers_.size());
        if (numbers_.size() > max_path_labels)
            throw_error(Status::not_supported, "einsum", "needs more than {} labels",
                        max_path_labels);
        if (added) network_.extents.push_back(0);
        return it->second;
    }

    const Notation &notation_;
    Network network_;
    std::map<std::int64_t, std::size_t> numbers_;
    std::vector<PathStep> steps_;
};

// The analysis of a text for operands of certain layouts.
class EinsumPlan {
public:
    EinsumPlan(std::string_view text, std::span<const Tensor> operands, const Tensor *out,
               const EinsumOptions &options) {
        const Notation notation = parse_notation(text, operands);
        require_auto_broadcast(notation, operands);
        T_ = common_dtype(operands);
        std::vector<Part> parts;
        for (std::size_t i = 0; i < operands.size(); ++i)
            parts.push_back(part_of(notation, operands, i));
        if (out) require_result_shape(notation, operands, *out);
        if (operands.size() == 1)
            plan_single(notation, parts[0]);
        else
            plan_products(notation, operands, std::move(parts), out, options);
    }

    Tensor run(std::span<const Tensor> operands, const Tensor *out) const {
        if (steps_.size() == 1)
            return steps_[0].pair->run(1, operands[0], operands[1], 0, nullptr, out);
        return steps_.empty() ? run_single(operands[0], out) : run_steps(operands, out);
    }

private:
    struct Step {
        int left, right;
        std::unique_ptr<PairContraction> pair;
    };

    Tensor run_steps(std::span<const Tensor> operands, const Tensor *out) const {
        std::vector<Tensor> list(operands.begin(), operands.end());
        for (const Step &step : steps_) {
            const bool last = list.size() == 2;
            const auto [a, b] = take_pair(list, step);
            // On the device of the first operand, wherever those of this step are.
            list.push_back(step.pair->run(1, a, b, 0, nullptr, last ? out : nullptr, &operands[0]));
        }
        return list[0];
    }

    void plan_products(const Notation &notation, std::span<const Tensor> operands,
                       std::vector<Part> parts, const Tensor *out, const EinsumOptions &options) {
        const ProductOrder order(notation, operands, T_, options);
        for (const PathStep &step : order.steps()) {
            const auto [a, b] = take_pair(parts, step);
            const bool last = parts.empty();
            // Products between are not rounded to halves. Real ones remain real.
            const DType wide = accumulator(T_);
            const bool complex = is_complex(a.dtype) || is_complex(b.dtype);
            const DType between = is_complex(wide) && !complex ? info(wide).part : wide;
            const DType dtype = operands.size() == 2 ? T_ : last ? wide : between;
            const DType result = last ? T_ : between;
            Part product{result, {}, {}, order.product(step, a.labels, b.labels)};
            const bool made = !last || !out;
            if (!made) {
                product.dtype = out->impl()->dtype;
                product.shape = out->impl()->shape;
                product.strides = out->impl()->strides;
            }
            steps_.push_back(
                {step.left, step.right,
                 std::make_unique<PairContraction>(
                     PairContraction::Caller{"einsum", "out", result}, a.operand(), b.operand(),
                     nullptr, product.operand(), made, dtype, ContractOptions{.dtype = dtype})});
            const ContractionOperand &laid = steps_.back().pair->operand(PairContraction::d);
            product.shape = laid.shape();
            product.strides = laid.strides();
            parts.push_back(std::move(product));
        }
    }

    static Part part_of(const Notation &notation, std::span<const Tensor> operands, std::size_t i) {
        const TensorImpl &t = *operands[i].impl();
        Part part{t.dtype, {}, {}, {}};
        for (int axis = 0; axis < t.shape.size(); ++axis) {
            const auto at = static_cast<std::size_t>(axis);
            if (notation.broadcast[i][at]) continue;
            part.shape.push_back(t.shape[axis]);
            part.strides.push_back(t.strides[axis]);
            part.labels.push_back(notation.operands[i][at]);
        }
        return part;
    }
    void require_result_shape(const Notation &notation, std::span<const Tensor> operands,
                              const Tensor &out) {
        Dims shape;
        for (const std::int64_t label : notation.result)
            shape.push_back(extent(notation, operands, label));
        if (!(impl(out).shape == shape))
            throw_error(Status::invalid_argument, "einsum", "{} needs shape {}",
                        shape_text("out", impl(out).shape), shape_text(shape));
        check_output(*out.impl(), "out", "einsum");
    }
    static std::int64_t extent(const Notation &notation, std::span<const Tensor> operands,
                               std::int64_t label) {
        std::int64_t found = 1;
        for (std::size_t i = 0; i < operands.size(); ++i)
            for (std::size_t axis = 0; axis < notation.operands[i].size(); ++axis)
                if (notation.operands[i][axis] == label && !notation.broadcast[i][axis])
                    found = operands[i].shape()[static_cast<int>(axis)];
        return found;
    }

    // One operand: its diagonal, summed or copied.
    void plan_single(const Notation &notation, const Part &part) {
        LabelList labels = notation.result;
        result_axes_ = static_cast<int>(labels.size());
        for (const std::int64_t label : part.labels)
            if (!std::ranges::count(labels, label)) labels.push_back(label);
        for (const std::int64_t label : labels) {
            std::int64_t extent = 1, stride = 0;
            for (std::size_t axis = 0; axis < part.labels.size(); ++axis) {
                if (part.labels[axis] != label) continue;
                extent = part.shape[static_cast<int>(axis)];
                stride += part.strides[static_cast<int>(axis)];
            }
            shape_.push_back(extent);
            strides_.push_back(stride);
        }
    }
    Tensor run_single(const Tensor &operand, const Tensor *out) const {
        const TensorImpl &t = *operand.impl();
        const Tensor view = make_view(t, t.offset, shape_, strides_);
        const FunctionRecord &sum = sum_function(T_);
        if (out) require_output_dtype(*out->impl(), "out", T_, t.device(), "einsum", {});
        const Context parts = Context{}.for_parts_of(sum);
        if (result_axes_ == shape_.size()) {
            if (!out) return cast_elements(*view.impl(), T_, t.device(), parts);
            copy_elements(*out->impl(), *view.impl(), parts);
            return *out;
        }
        if (out && out->dtype() == T_) return sum_axes(sum, view, result_axes_, out, parts);
        // Integers wrap, and halves are rounded, before they become the output's.
        const Dims shape(shape_.data(), static_cast<std::size_t>(result_axes_));
        const Tensor made = make_tensor(shape, T_, t.device(), t.storage->stream);
        sum_axes(sum, view, result_axes_, &made, parts);
        if (!out) return made;
        copy_elements(*out->impl(), *made.impl(), parts);
        return *out;
    }

    DType T_ = DType::none;
    std::vector<Step> steps_;
    Dims shape_, strides_; // of a single operand: the result's axes, then those that are summed
    int result_axes_ = 0;
};

// The plans of this thread, found again by text and layouts.
class EinsumPlanCache {
public:
    Tensor run(std::string_view text, std::span<const Tensor> operands, const Tensor *out,
               const EinsumOptions &options) {
        Entry &entry = entries_[hash(text, operands) % entries_.size()];
        if (!entry.plan || !matches(entry, text, operands, out, options))
            entry = analysed(text, operands, out, options);
        // Taken out while it runs: a handler of warnings or of the log may call einsum() and
        // replace the entry.
        struct Loan {
            Entry &entry;
            std::unique_ptr<const EinsumPlan> plan = std::move(entry.plan);
            ~Loan() {
                if (!entry.plan) entry.plan = std::move(plan);
            }
        } const loan{entry};
        return loan.plan->run(operands, out);
    }

private:
    struct Layout {
        DType dtype;
        Dims shape, strides;
    };
    struct Entry {
        std::string text;
        std::vector<Layout> layouts; // of the operands and, if given, `out`
        bool has_out = false;
        std::optional<std::int64_t> memory_limit;
        std::unique_ptr<const EinsumPlan> plan; // null while it runs
    };

    static Entry analysed(std::string_view text, std::span<const Tensor> operands,
                          const Tensor *out, const EinsumOptions &options) {
        Entry made{std::string(text),
                   {},
                   out != nullptr,
                   options.memory_limit,
                   std::make_unique<const EinsumPlan>(text, operands, out, options)};
        for (const Tensor &operand : operands) made.layouts.push_back(layout(*operand.impl()));
        if (out) made.layouts.push_back(layout(*out->impl()));
        return made;
    }
    static Layout layout(const TensorImpl &t) { return {t.dtype, t.shape, t.strides}; }
    static bool matches(const Layout &known, const TensorImpl &t) {
        return known.dtype == t.dtype && known.shape == t.shape && known.strides == t.strides;
    }
    static bool matches(const Entry &entry, std::string_view text, std::span<const Tensor> operands,
                        const Tensor *out, const EinsumOptions &options) {
        if (entry.text != text || entry.has_out != (out != nullptr) ||
            entry.layouts.size() != operands.size() + entry.has_out ||
            entry.memory_limit != options.memory_limit)
            return false;
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (!matches(entry.layouts[i], *operands[i].impl())) return false;
        return !out || matches(entry.layouts.back(), *out->impl());
    }
    static std::size_t hash(std::string_view text, std::span<const Tensor> operands) {
        std::size_t value = std::hash<std::string_view>()(text);
        for (const Tensor &operand : operands)
            for (const std::int64_t extent : operand.impl()->shape)
                value = value * 31 + static_cast<std::size_t>(extent);
        return value ^ value >> 7;
    }

    std::array<Entry, 32> entries_;
};

void require_operands(std::span<const Tensor> operands) {
    if (operands.empty())
        throw_error(Status::invalid_argument, "einsum", "got no tensor, need at least one");
    for (const Tensor &operand : operands) impl(operand);
}

} // namespace

Tensor einsum(std::string_view text, std::span<const Tensor> operands, Out out,
              const EinsumOptions &options) {
    require_operands(operands);
    if (out.get()) impl(*out.get());
    const ReadSection section;
    // Analysed anew where settings may refuse what was analysed under others.
    if (const Settings &settings = current_settings();
        !settings.auto_cast || !settings.auto_broadcast)
        return EinsumPlan(text, operands, out.get(), options).run(operands, out.get());
    // On the heap: programs that open the library later have little room for its thread-locals.
    static thread_local std::unique_ptr<EinsumPlanCache> cache;
    if (!cache) cache = std::make_unique<EinsumPlanCache>();
    return cache->run(text, operands, out.get(), options);
}

EinsumPath einsum_path(std::string_view text, std::span<const Tensor> operands,
                       const EinsumOptions &options) {
    require_operands(operands);
    const Notation notation = parse_notation(text, operands);
    const ProductOrder order(notation, operands, common_dtype(operands), options);
    EinsumPath path;
    path.direct_operations = order.direct_operations();
    std::vector<LabelList> labels = notation.operands;
    for (const PathStep &step : order.steps()) {
        const auto [a, b] = take_pair(labels, step);
        labels.push_back(order.product(step, a, b));
        path.steps.push_back({step.left, step.right, product_text(a, b, labels.back()),
                              step.operations, step.elements});
        path.operations += step.operations;
        path.largest = std::max(path.largest, step.elements);
    }
    return path;
}

std::string to_string(const EinsumPath &path) {
    std::string text;
    for (const EinsumPath::Step &step : path.steps)
        text += fmt::format("{:>3} {:>3}  {:<32} {:>10.3g} operations {:>10.3g} elements\n",
                            step.left, step.right, step.text, step.operations, step.elements);
    return text + fmt::format("{:.3g} operations, {:.3g} in one loop; largest product {:.3g} "
                              "elements",
                              path.operations, path.direct_operations, path.largest);
}

} // namespace Atoll
