// A function of any signature, without a plugin: as far as the stages of a call before dispatch.
#pragma once

#include "atoll/module.hpp"
#include "atoll/signature_parser.hpp"
#include "call/attributes.hpp"
#include "call/check.hpp"

#include <vector>

namespace support {

class MadeFunction {
public:
    explicit MadeFunction(std::string signature, std::string properties = "",
                          atoll_infer_fn infer = nullptr) {
        record_.rule = ATOLL_RULE_COMMON;
        record_.domain = ATOLL_DOMAIN_ALL;
        record_.module = &module_;
        record_.full_name = "made.function";
        record_.texts = {std::move(signature), "", std::move(properties)};
        record_.signature =
            Atoll::sdk::parse_signature(record_.texts[0], record_.texts[1], record_.texts[2]);
        record_.infer = infer;
    }

    // The first stage of a call. The inputs must outlive the result.
    Atoll::detail::Checked check(std::initializer_list<Atoll::Operand> inputs,
                                 const Atoll::CallOptions &options = {}) const {
        const Atoll::sdk::Signature &s = record_.signature;
        std::vector<const Atoll::Operand *> given;
        for (const Atoll::Operand &input : inputs) {
            const bool absent = input.tensor() && !input.tensor()->is_defined();
            given.push_back(absent ? nullptr : &input);
        }
        std::vector<const Atoll::Tensor *> outputs;
        for (const Atoll::Tensor &out : options.out)
            outputs.push_back(out.is_defined() ? &out : nullptr);
        std::vector<std::int64_t> extents(ATOLL_MAX_SLOTS, -1);
        for (const auto &[name, extent] : options.extents)
            for (std::size_t i = 0; i < s.slot_count; ++i)
                if (s.slots[i].name == name) extents[i] = extent;
        Atoll::detail::Checked checked;
        Atoll::detail::check(record_,
                             {.inputs = given,
                              .outputs = outputs,
                              .axes = options.axes.list,
                              .axes_given = options.axes.given,
                              .keepdims = options.keepdims,
                              .extents = extents.data()},
                             {}, checked);
        return checked;
    }

    const Atoll::detail::FunctionRecord &record() const { return record_; }

private:
    Atoll::detail::ModuleRecord module_;
    Atoll::detail::FunctionRecord record_{};
};

} // namespace support
