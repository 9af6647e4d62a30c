// Modules that the plugin defines, and interposers that it offers.
#include "calls.hpp"
#include "probe.hpp"
#include "suites.hpp"

#include <algorithm>
#include <bit>

namespace Atoll::conformance {

namespace {

// ---- modules ------------------------------------------------------------------------------------

void interface_is_there(const std::string &module) {
    const Module own(module);
    if (own.functions().empty()) fail("defines no function");
    for (const Function &f : own.functions())
        if (f.doc().empty()) fail("{} has no doc text; users see it in `atoll info`", f.name());
}

// Implemented, or an error that names the function.
void callable_or_named(const FunctionFacts &f, const std::string &device_type) {
    const Function function(f.name);
    const auto support = function.support();
    const auto here = std::find_if(support.begin(), support.end(), [&](const FunctionSupport &s) {
        return s.device_type == device_type;
    });
    if (here != support.end()) {
        const auto links = chain(f.name, device_type,
                                 here->dtypes.empty() ? "" : Atoll::name(here->dtypes.front()));
        if (links.empty() || links.front().find("stub") == 0)
            fail("is declared for this device, but its chain has no implementation");
        return; // its results are checked with the implementation
    }
    if (!callable(f)) skip("the kit cannot create its operands");
    // The lowest dtype; none: of a function without a compute dtype.
    const auto dtype = static_cast<DType>(f.domain ? std::countr_zero(f.domain) : 0);
    require_refused(f, dtype, Target::device_of(device_type));
}

// ---- interposers --------------------------------------------------------------------------------

// Copies, arithmetic, reductions and products on every device.
std::vector<double> workload() {
    std::vector<double> numbers;
    const auto keep = [&](const Tensor &t) {
        for (const double number : t.to_doubles()) numbers.push_back(number);
    };
    for (const Device &where : devices()) {
        const Tensor a = arange(1, 13, 1, {float64, where}).reshape({3, 4});
        const Tensor b = full({4, 3}, 0.5, {float32, where});
        keep(a + b.T());
        keep(matmul(a, b));
        keep(sqrt(a));
        keep(sum(a, 0));
        keep(a.cast(int16));
        keep(sort(a, 1, {.descending = true}));
        keep(a(nonzero(a > 6.0)));
    }
    return numbers;
}

void passes_through(const std::string &name, const char *target) {
    const std::vector<double> want = workload();
    const Pushed pushed(target, name);
    const std::vector<double> got = workload();
    if (got != want)
        fail("other results while it is pushed over {}; pass every call on unchanged with "
             "self->next->fn(self->next, call) and return its status",
             target);
}

void passes_errors(const std::string &name) {
    const auto status = [] {
        try {
            const Storage storage(std::int64_t{1} << 60, devices().front());
        } catch (const Error &e) {
            return e.status();
        }
        return Status::ok;
    };
    const Status want = status();
    const Pushed pushed("*", name);
    if (status() != want)
        fail("a failing call has another status under it; return what the next link "
             "returned");
}

void reports(const std::string &name, bool has_report) {
    const Pushed pushed("*", name);
    workload();
    const std::string text = interposer_report(pushed.handle);
    if (has_report && text.empty())
        fail("has a report function, but reports nothing after a few dozen calls");
}

void pushes_and_pops(const std::string &name) {
    const std::vector<double> want = workload();
    for (int round = 0; round < 20; ++round) {
        const Pushed outer("*", name), inner("core.*", name);
        if (round % 7 == 0 && workload() != want)
            fail("other results when it is pushed twice; keep state in the context that create "
                 "makes");
    }
    if (!interposers().empty()) fail("stays in the chain after its pop");
    if (workload() != want) fail("other results after its last pop");
}

} // namespace

void add_module_checks(Checks &checks, const Target &target) {
    for (const auto *decl : modules_of(*target.descriptor)) {
        const std::string module = decl->name;
        checks.push_back(
            {"modules", module, "", "interface", [module] { interface_is_there(module); }});
        std::vector<std::string> types;
        for (const Device &device : devices())
            if (device.index() == 0) types.emplace_back(device.type());
        for (std::uint32_t i = 0; i < decl->function_count; ++i) {
            const FunctionFacts facts = facts_of(*decl, i);
            for (const std::string &type : types)
                checks.push_back({"modules", facts.name + "@" + type, "", "callable or named",
                                  [facts, type] { callable_or_named(facts, type); }});
        }
    }
}

void add_interposer_checks(Checks &checks, const Target &target) {
    for (const auto *interposer : interposers_of(*target.descriptor)) {
        const std::string name = interposer->name;
        const bool has_report = interposer->report != nullptr;
        const auto add = [&](const std::string &variant, std::function<void()> body) {
            checks.push_back({"interposers", name, "", variant, [body = std::move(body)] {
                                  if (devices().empty())
                                      fail("there is no device to wrap: put the plugin cpu on the "
                                           "search path (ATOLL_PLUGIN_PATH)");
                                  body();
                              }});
        };
        for (const char *over : {"*", "core.*", "device.*", "core.add", "core.copy", "core.sum"})
            add(std::string("passes calls on, over ") + over,
                [name, over] { passes_through(name, over); });
        add("passes errors on", [name] { passes_errors(name); });
        add("reports", [name, has_report] { reports(name, has_report); });
        add("pushed and popped many times", [name] { pushes_and_pops(name); });
    }
}

} // namespace Atoll::conformance
