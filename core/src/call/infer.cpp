// Asking a function's own callback for extents.
#include "call/infer.hpp"

#include "base/error_buffer.hpp"
#include "call/check_part.hpp"
#include "runtime/dispatch.hpp"

#include <algorithm>

namespace Atoll::detail {

namespace {

class Inference : CheckPart {
public:
    using CheckPart::CheckPart;

    void run() {
        know_twins();
        if (std::find(c_.shape, c_.shape + c_.core, -1) == c_.shape + c_.core) return;
        if (f_.infer) {
            std::int64_t extents[max_axes];
            std::copy_n(c_.shape, c_.core, extents);
            ask(extents);
            for (int i = 0; i < c_.core; ++i) {
                if (c_.shape[i] >= 0 && extents[i] != c_.shape[i])
                    refuse(fmt::format("the function's infer changed {} = {} to {}; report it to "
                                       "its vendor",
                                       name_of(i), c_.shape[i], extents[i]),
                           Status::plugin_fault);
                c_.shape[i] = extents[i];
            }
            know_twins();
        }
        const auto unknown =
            std::find_if(c_.shape, c_.shape + c_.core, [](auto n) { return n < 0; });
        if (unknown == c_.shape + c_.core) return;
        const std::string_view axis = name_of(static_cast<int>(unknown - c_.shape));
        refuse(f_.infer ? fmt::format("the function's infer gave no extent of {}; report it to its "
                                      "vendor",
                                      axis)
                        : fmt::format("got no extent of {}, which only results have; give it with "
                                      "CallOptions::extents",
                                      axis));
    }

private:
    int begin(int s) const { // the first axis of a slot
        int axis = 0;
        for (int i = 0; i < s; ++i) axis += c_.slot_axes[i];
        return axis;
    }
    std::string_view name_of(int axis) const {
        int s = 0;
        while (begin(s + 1) <= axis) ++s;
        return slot(s).name;
    }
    // An axis of a result that is there twice has the extent of the first.
    void know_twins() {
        for (int s = 0; s < s_.slot_count; ++s)
            if (!slot(s).given && slot(s).twin >= 0)
                std::copy_n(c_.shape + begin(slot(s).twin), c_.slot_axes[s], c_.shape + begin(s));
    }
    void ask(std::int64_t *extents) const {
        ErrorBuffer error;
        atoll_infer question{sizeof question,
                             static_cast<std::uint16_t>(c_.T),
                             static_cast<std::uint16_t>(given_.attributes.size()),
                             given_.attributes.data(),
                             {},
                             extents};
        std::copy_n(c_.slot_axes, ATOLL_MAX_SLOTS, question.axes);
        const PluginRecord *owner = f_.module->owner;
        std::int32_t status = ATOLL_STATUS_OK;
        try {
            status = f_.infer(owner ? owner->ctx : nullptr, &question, error.get());
        } catch (...) {
            refuse(border_crossed("infer"), Status::plugin_fault);
        }
        if (status != ATOLL_STATUS_OK) refuse(error.words());
    }
};

} // namespace

void infer_extents(const FunctionRecord &function, const Arguments &arguments,
                   const Context &context, Checked &checked) {
    Inference(function, arguments, context, checked).run();
}

} // namespace Atoll::detail
