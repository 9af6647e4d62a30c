// Runs the stages of a call.
#include "call/pipeline.hpp"

#include "call/attributes.hpp"
#include "call/copy.hpp"
#include "call/domain.hpp"
#include "call/factors.hpp"
#include "call/materialise.hpp"
#include "call/taken_apart.hpp"
#include "call/temporary.hpp"
#include "call/uniform.hpp"
#include "objects/object.hpp"
#include "runtime/log.hpp"

namespace Atoll::detail {

namespace {

// The stream of the first output that is given on the device, or of the first input there.
const Ref<StreamImpl> &stream_of(const Checked &call) {
    for (int o = 0; o < call.function->signature.operand_count; ++o)
        if (call.tensor[o] && call.tensor[o]->device() == call.device)
            return call.tensor[o]->storage->stream;
    static const Ref<StreamImpl> default_stream;
    return default_stream;
}

class Call {
public:
    Call(const FunctionRecord &function, const Arguments &arguments, const Context &context)
        : f_(function), s_(function.signature), given_(arguments), context_(context) {}

    void run(Tensor *results) {
        check(f_, given_, context_, call_);
        const bool exact = s_.exact && compares_beyond(given_.inputs, call_.T);
        stream_ = stream_of(call_);
        const Route route(f_, call_.device, call_.T, stream_, context_);
        if (s_.counts >= 0 && !call_.empty && !route.takes(ATOLL_CAP_REPORTS_RANGE))
            require_counts(f_, given_.inputs, call_.T, parts().because(ATOLL_REASON_RANGE));
        if (exact && !route.takes(ATOLL_CAP_MIXED_INPUTS))
            return compare_apart(call_, given_.inputs, results[0],
                                 parts().because(ATOLL_REASON_DTYPE));
        if (!route.knows_all()) [[unlikely]]
            if (const std::string unknown = unknown_argument(route); !unknown.empty()) {
                if (!is_product(f_))
                    throw Error(Status::not_supported, f_.full_name,
                                fmt::format("the implementation of plugin {} does not know {}; "
                                            "leave it out, or load a plugin that does",
                                            route.plugin(), unknown),
                                call_.device->name);
                if (!call_.empty)
                    return multiply_apart(call_, given_, results[0],
                                          parts().because(ATOLL_REASON_ARGUMENT));
            }
        if (s_.takes_objects) [[unlikely]]
            require_own_objects(route);
        if (call_.empty) [[unlikely]] {
            if (s_.makes_objects)
                throw Error(Status::invalid_argument, f_.full_name,
                            "got no elements to make an object of");
            make_outputs(results);
            return fill_identity(results);
        }
        make_plan(call_, route.caps(), exact, plan_);
        make_outputs(results);
        Tensor *const objects = s_.makes_objects ? results : nullptr;
        if (logs(ATOLL_LOG_DEBUG)) [[unlikely]]
            log_message(ATOLL_LOG_DEBUG, text(plan_));
        lay();
        if (!plan_.copies) {
            merge(space_, s_);
            if (route.takes_layout(space_) && !loops_apart(route)) [[likely]]
                return route.send(space_, given_.attributes, objects);
            lay();
        }
        run_with_copies(route, objects);
    }

private:
    Context parts() const { return context_.for_parts_of(f_); }

    // An implementation knows only the objects of its own plugin.
    void require_own_objects(const Route &route) const {
        for (int o = s_.output_count; o < s_.operand_count; ++o) {
            if (!call_.tensor[o] || !is_object(*call_.tensor[o])) continue;
            const ObjectFacts facts = facts_of(object_of(*call_.tensor[o]));
            if (facts.owner->name != route.plugin())
                throw Error(Status::invalid_argument, f_.full_name,
                            fmt::format("{} is a {} of plugin {}, the implementation is of plugin "
                                        "{}: make one with that",
                                        s_.operand(o).name, facts.type, facts.owner->name,
                                        route.plugin()),
                            call_.device->name);
        }
    }
    void make_outputs(Tensor *results) {
        for (int o = 0; o < s_.output_count; ++o) {
            made_[o] = !call_.tensor[o];
            if (!made_[o] || (given_.unwanted >> o & 1) || s_.operand(o).is_object()) continue;
            const DType natural = natural_dtype(s_.operand(o), call_.T);
            const DType dtype = natural == DType::none ? call_.T : natural;
            const Dims shape = call_.output_shape(o);
            if (given_.temporary)
                results[o] = taken_over(*given_.temporary, shape, dtype, call_.device, stream_);
            if (!results[o].impl())
                results[o] =
                    make_tensor(shape, dtype, call_.device, stream_, Order::F, context_.cause);
            call_.tensor[o] = results[o].impl();
            plan_.operand[o].dtype = dtype;
        }
    }

    // The outputs over no elements; check() requires that there is an identity.
    void fill_identity(const Tensor *results) {
        constexpr int adds_to = 3; // c of a product
        if (is_product(f_) && call_.tensor[adds_to]) {
            const Scalar beta(given_.attributes[product_beta]);
            Context own = parts();
            own.device = call_.device;
            const Tensor *const c = given_.inputs[adds_to - s_.output_count]->tensor();
            return scale_into(made_[0] ? results[0] : *given_.outputs[0],
                              is_zero(beta) ? nullptr : c, beta, call_.T, own);
        }
        for (int o = 0; o < s_.output_count; ++o)
            if (call_.tensor[o] && !s_.operand(o).updated)
                fill_elements(*call_.tensor[o], o == s_.status ? 0 : s_.identity, parts());
    }

    // Names an argument that the implementation does not know; "": none.
    std::string unknown_argument(const Route &route) const {
        for (int i = route.known_inputs(); i < s_.input_count(); ++i)
            if (const int o = s_.output_count + i;
                s_.input(i).optional && (call_.tensor[o] || call_.scalar[o]))
                return fmt::format("the operand {}", s_.input(i).name);
        for (int i = route.known_attributes(); i < s_.attribute_count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            if (!s_.attributes[at].required && !is_default(f_, i, given_.attributes[at], call_.T))
                return fmt::format("the attribute {}", s_.attributes[at].name);
        }
        return {};
    }

    // The operands over the call's axes, not merged.
    void lay() {
        space_.rank = call_.rank;
        space_.core = call_.core;
        std::copy_n(call_.slot_axes, s_.slot_count, space_.slot_axes);
        std::copy_n(call_.shape, call_.rank, space_.shape);
        space_.count = 0;
        for (int o = 0; o < s_.operand_count; ++o) {
            if (call_.tensor[o]) {
                call_.lay(o, space_);
            } else if (call_.scalar[o]) {
                scalars_[o] = call_.scalar[o]->cast(plan_.operand[o].dtype).raw();
                space_.add_scalar(scalars_[o].value.bytes, plan_.operand[o].dtype);
                space_.operands[o].lies = plan_.operand[o].needs != 0;
            } else {
                space_.add_scalar(nullptr, DType::none); // absent
            }
        }
    }

    // Whether the implementation takes one element of the loop at a time: it takes no loops, or its
    // max_rank leaves no axis for the loop.
    bool loops_apart(const Route &route) const {
        return space_.core > 0 && space_.rank > space_.core &&
               (!route.takes(ATOLL_CAP_LOOPS) || route.max_rank() <= s_.slot_count);
    }

    void run_with_copies(const Route &route, Tensor *objects) {
        const Context own_parts = parts();
        Materialiser copies(plan_, route, space_, stream_, own_parts);
        copies.plan_layouts();
        // A given output is written as a whole, or not at all.
        if (loops_apart(route)) {
            if (s_.makes_objects)
                throw Error(Status::not_supported, f_.full_name,
                            fmt::format("makes one {}, but the implementation of plugin {} takes "
                                        "one element of the loop at a time; give it operands "
                                        "without loop axes",
                                        s_.operand(0).name, route.plugin()),
                            call_.device->name);
            for (int o = 0; o < s_.output_count; ++o)
                if (!made_[o] && !plan_.operand[o].needs)
                    replace_output(plan_, o, ATOLL_REASON_LOOPS);
            copies.plan_layouts();
        }
        copies.copy();
        merge(space_, s_);
        if (loops_apart(route))
            route.send_parts(space_, space_.core, given_.attributes);
        else
            route.send(space_, given_.attributes, objects);
        copies.finish();
    }

    const FunctionRecord &f_;
    const sdk::Signature &s_;
    const Arguments &given_;
    const Context &context_;
    Checked call_;
    Plan plan_;
    Space space_;
    Ref<StreamImpl> stream_;
    bool made_[max_operands];
    alignas(16) atoll_scalar scalars_[max_operands];
};

} // namespace

void run(const FunctionRecord &function, const Arguments &arguments, Tensor *results,
         const Context &context) {
    const ReadSection section;
    if (function.signature.domain != sdk::MathDomain::all) [[unlikely]] {
        const Tensor *out = arguments.outputs.empty() ? nullptr : arguments.outputs[0];
        const ComputeMode mode = arguments.mode.value_or(context.settings().compute_mode);
        Context own = context;
        own.dtype = dtype_for_domain(function, arguments.inputs, out, mode, context);
        return Call(function, arguments, own).run(results);
    }
    Call(function, arguments, context).run(results);
}

Tensor run_one(const FunctionRecord &function, const Arguments &arguments, const Context &context) {
    Tensor result;
    run(function, arguments, &result, context);
    if (!arguments.outputs.empty() && arguments.outputs[0]) return *arguments.outputs[0];
    return result;
}

} // namespace Atoll::detail
