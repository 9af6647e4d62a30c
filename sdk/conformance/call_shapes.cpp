// The axes of a call and their extents.
#include "call_parts.hpp"

#include <algorithm>
#include <functional>
#include <random>

namespace Atoll::conformance {

namespace {

using sdk::AxesOf, sdk::AxisKind;

constexpr std::int64_t small_extents[] = {5, 4, 2, 6, 3, 7, 8, 9};
constexpr std::int64_t wide_extents[] = {3, 5, 2, 4, 6, 7, 8, 9}; // the second above the first
constexpr std::int64_t long_extents[] = {40, 33, 19, 21, 17, 23, 18, 20};

// Of functions without core axes.
Shape matrix(Size size) {
    switch (size) {
    case Size::one: return {};
    case Size::large: return {4001, 3};
    case Size::huge: return {1'000'003};
    case Size::long_: return {257, 3};
    case Size::apart: return {4, 3, 2};
    case Size::many: return Shape(10, 2);
    default: return {4, 3};
    }
}

class Shaper {
public:
    Shaper(Call &call, const Recipe &recipe)
        : call_(call), s_(call.function.signature), size_(recipe.size), extent_(recipe.extent),
          // All axes of the tensor are core axes.
          whole_(s_.axes == AxesOf::all &&
                 (size_ == Size::one || size_ == Size::bare || s_.nonzero >= 0)) {}

    void run() {
        for (int i = 0; i < s_.input_count() && reference_ < 0; ++i)
            if (s_.input(i).axis_count > 0 && !input(i).absent) reference_ = i;
        const std::string seed = call_.function.name + word(call_.compute);
        random_.seed(static_cast<unsigned>(std::hash<std::string>()(seed)));
        for (std::size_t i = 0; i < s_.slot_count; ++i) slots_[i] = extents_of(i);
        set_loop();
        name_axes();
        int last = -1; // the last with core axes
        for (int i = 0; i < s_.input_count(); ++i)
            if (!core_of(s_.input(i)).empty() && !input(i).absent) last = i;
        for (int i = 0; i < s_.input_count(); ++i) {
            const bool alone = i == last && (size_ == Size::shared ||
                                             ((is_long() || size_ == Size::huge) && beside()));
            input(i).shape = arranged(core_of(s_.input(i)), alone ? Shape() : loop_);
        }
        for (std::size_t o = 0; o < s_.output_count; ++o)
            call_.outputs[o].shape = arranged(core_of(s_.operands[o]), loop_);
        count_terms();
    }

private:
    Call::Argument &input(int i) { return call_.inputs[static_cast<std::size_t>(i)]; }
    bool apart() const { return size_ == Size::apart || size_ == Size::any; }
    bool is_long() const { return size_ == Size::long_ || single() >= 0; }
    // The core axis with one element; -1: none.
    int single() const {
        return size_ >= Size::first_single
                   ? static_cast<int>(size_) - static_cast<int>(Size::first_single)
                   : -1;
    }
    bool named() const { return s_.axes != AxesOf::first && reference_ >= 0; }

    // One axis, or those of a group. Unknown: -1.
    Shape extents_of(std::size_t i) {
        const sdk::AxisSlot &slot = s_.slots[i];
        const bool group = slot.kind == AxisKind::group, one = size_ == Size::one;
        if (slot.opaque || (slot.kind == AxisKind::optional && size_ == Size::bare)) return {};
        if (named() && one && (slot.given || s_.axes == AxesOf::named)) return {};
        if (extent_ > 0 && slot.given && slot.kind != AxisKind::fixed) return {extent_};
        if (group && whole_ && slot.given) return matrix(size_);
        const std::size_t same = slot.twin >= 0 ? static_cast<std::size_t>(slot.twin) : i;
        std::int64_t n = size_ == Size::any ? wide_extents[same] : small_extents[same];
        if (slot.kind == AxisKind::fixed)
            n = slot.extent;
        else if (one || static_cast<int>(same) == single())
            n = 1;
        else if (size_ == Size::square)
            n = small_extents[0];
        else if (is_long())
            n = s_.slot_count == 1 ? 257 : long_extents[same];
        else if (size_ == Size::huge && call_.function.is_core() && !beside())
            n = s_.slot_count == 1 ? 1'000'003 : same == 0 ? 1031 : same == 1 ? 997 : 3;
        if (!slot.given) {
            n = call_.function.infers || static_cast<int>(i) == s_.nonzero_axis ? -1
                : one                                                           ? 1
                : is_long()                                                     ? 53
                : size_ == Size::huge                                           ? 1'000'003
                                                                                : 7;
            if (n > 0 && s_.is_free(static_cast<int>(i)))
                call_.options.extents.emplace_back(slot.name, n);
            return group ? Shape(core_of(s_.input(reference_)).size(), n) : Shape{n};
        }
        if (group && s_.axes == AxesOf::all && size_ == Size::apart) return {n, 2};
        if (group && s_.axes == AxesOf::all && size_ == Size::any) return {n, 2, 2};
        return {n};
    }

    // Whether an input has loop axes only.
    bool beside() const {
        if (has(call_.function, moves_elements)) return true;
        for (int i = 0; i < s_.input_count(); ++i)
            if (s_.input(i).axis_count == 0) return true;
        return s_.elementwise();
    }
    void set_loop() {
        const bool none =
            s_.input_count() == 0 || whole_ || size_ == Size::one || size_ == Size::bare;
        if (size_ == Size::one && has(call_.function, moves_elements))
            loop_ = {1}; // an axis to index
        else if (none && !s_.elementwise())
            loop_ = {};
        else if (size_ == Size::any)
            loop_ = any_axes(reference_ < 0 ? 3 : 2);
        else if (size_ == Size::many)
            loop_ = Shape(reference_ < 0 ? 10 : 9, 2);
        else if (size_ == Size::huge && beside() && !has(call_.function, moves_elements))
            loop_ = {50'021}; // a call for each element, where the plugin takes no loops
        else if (beside() && size_ != Size::apart)
            loop_ = matrix(size_);
        else if (size_ == Size::apart)
            loop_ = reference_ < 0 ? matrix(size_) : Shape{3, 2};
        else if (size_ == Size::huge && !call_.function.is_core())
            loop_ = {s_.slot_count == 1 ? 50'021 : 10'007};
        else
            loop_ = size_ == Size::huge ? Shape() : Shape{3};
    }
    // `fewest` to 3 more of them.
    Shape any_axes(std::size_t fewest) {
        Shape axes(fewest + random_() % 4);
        for (std::int64_t &extent : axes) extent = 2 + static_cast<std::int64_t>(random_() % 2);
        axes[random_() % axes.size()] = 5;
        return axes;
    }
    // The positions of the core axes, for `axes all` and `axes named`.
    void name_axes() {
        if (!named()) return;
        const std::size_t count = core_of(s_.input(reference_)).size();
        rank_ = count + loop_.size();
        for (std::size_t i = 0; i < count; ++i)
            places_.push_back(!apart() || whole_ ? i
                              : count == 1       ? std::size_t{1}
                                                 : std::min(2 * i, rank_ - count + i));
        if (whole_ || size_ == Size::one) return;
        call_.options.axes.given = true;
        for (const std::size_t place : places_)
            call_.options.axes.list.push_back(static_cast<int>(place));
    }

    Shape core_of(const sdk::OperandSpec &spec) const {
        Shape core;
        for (std::size_t i = 0; i < spec.axis_count; ++i)
            core.insert(core.end(), slots_[spec.axes[i]].begin(), slots_[spec.axes[i]].end());
        return core;
    }
    // Core axes first, or where the reference has them.
    Shape arranged(const Shape &core, const Shape &loop) const {
        Shape shape;
        std::size_t next_core = 0, next_loop = 0;
        for (std::size_t axis = 0; axis < rank_; ++axis)
            if (std::find(places_.begin(), places_.end(), axis) == places_.end()) {
                if (next_loop < loop.size()) shape.push_back(loop[next_loop++]);
            } else if (next_core < core.size()) {
                shape.push_back(core[next_core++]);
            }
        shape.insert(shape.end(), core.begin() + static_cast<long>(next_core), core.end());
        shape.insert(shape.end(), loop.begin() + static_cast<long>(next_loop), loop.end());
        return shape;
    }
    // The axes that the first output lacks, or else all core axes.
    void count_terms() {
        std::int64_t all = 1, gone = 1;
        bool reduces = false;
        for (std::size_t i = 0; i < s_.slot_count; ++i) {
            if (!s_.slots[i].given || s_.slots[i].twin >= 0) continue;
            const bool kept = s_.operand(0).has_axis(static_cast<int>(i));
            reduces |= !kept;
            all *= count_of(slots_[i]);
            gone *= kept ? 1 : count_of(slots_[i]);
        }
        call_.terms = reduces ? gone : all;
    }

    Call &call_;
    const sdk::Signature &s_;
    const Size size_;
    const std::int64_t extent_;
    const bool whole_;
    std::minstd_rand random_;
    int reference_ = -1; // the first input with core axes
    Shape slots_[ATOLL_MAX_SLOTS], loop_;
    std::size_t rank_ = 0;            // of the reference under `axes all` and `axes named`
    std::vector<std::size_t> places_; // of its core axes
};

} // namespace

void set_shapes(Call &call, const Recipe &recipe) { Shaper(call, recipe).run(); }

bool has_size(const FunctionFacts &function, Size size) {
    const sdk::Signature &s = function.signature;
    const bool moves = has(function, moves_elements);
    int required = 0;
    bool core = false;
    for (int i = 0; i < s.input_count() && !moves; ++i) {
        required += !s.input(i).optional;
        core |= s.input(i).axis_count > 0;
    }
    switch (size) {
    case Size::large: return s.elementwise();
    case Size::bare: return core && s.nonzero < 0;
    case Size::huge: return !s.elementwise();
    case Size::apart:
    case Size::any:
    case Size::many: return s.input_count() > 0 || s.elementwise();
    case Size::square: return s.input_count() > 1;
    case Size::first_single:
    case Size::second_single:
    case Size::third_single: {
        const auto axis =
            static_cast<std::size_t>(size) - static_cast<std::size_t>(Size::first_single);
        const auto is_free = [](const sdk::AxisSlot &slot) {
            return slot.given && slot.twin < 0 && slot.kind != AxisKind::fixed;
        };
        return core && axis < s.slot_count && is_free(s.slots[axis]) &&
               std::count_if(s.slots.begin(), s.slots.begin() + s.slot_count, is_free) > 1;
    }
    case Size::shared: return core && required > 1 && s.axes == AxesOf::first;
    default: return true;
    }
}

} // namespace Atoll::conformance
