// Modules: named, versioned lists of functions, and calls of functions without a C++ declaration.
#pragma once

#include "atoll/detail/call.hpp"
#include "atoll/object.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace Atoll {

namespace detail {
struct FunctionRecord;
struct ModuleRecord;
} // namespace detail

// A named attribute: a number or bool, a word, or a list of integers.
struct NamedAttribute {
    std::string name;
    std::variant<Scalar, std::string, std::vector<std::int64_t>> value;
};

// Optional arguments of a call by signature.
struct CallOptions {
    std::vector<NamedAttribute> attributes = {};
    std::vector<Tensor> out = {};          // in the order of the results; undefined: create it
    std::vector<std::string> without = {}; // optional results to omit
    Axes axes = {};                        // for functions with `axes all` or `axes named`
    bool keepdims = false;
    DType dtype = DType::none; // T, if the inputs do not determine it, or to override it
    Device device = {};        // the device to compute on, likewise
    // Extents that occur only in results, if the function does not infer them.
    std::vector<std::pair<std::string, std::int64_t>> extents = {};
};

struct FunctionSupport {
    std::string device_type;
    std::string plugin;        // with the outermost implementation for the first dtype
    std::vector<DType> dtypes; // compute dtypes; empty for functions with one slot
};

// A function of any module. Calls throw after its module has retired.
class Function {
public:
    // Finds a function by name: "core.add", "linalg.solve". Throws Error (not_found).
    explicit Function(std::string_view name);
    std::string_view name() const;
    std::string_view doc() const;
    std::vector<FunctionSupport> support() const;

    // "a (n, n), b (n, k?) -> x (n, k?)"; empty for the module `device`.
    std::string_view signature() const;
    // Calls the function by its signature: operands have names, core axes come first or are named,
    // loop axes broadcast. Inputs are in the order of the signature; an undefined tensor stands for
    // an absent optional input. Returns the results in order, undefined tensors for those in
    // `without`. Throws Error that names operands and axes.
    std::vector<Tensor> operator()(std::initializer_list<Operand> inputs,
                                   const CallOptions &options = {}) const;

    // Likewise for functions whose result is an object.
    Object make(std::initializer_list<Operand> inputs, const CallOptions &options = {}) const;

private:
    friend class Module;
    friend void detail::call_function(const Function &, std::initializer_list<const Operand *>,
                                      const detail::CallDetails &, std::span<Tensor>);
    explicit Function(const detail::FunctionRecord *record) : record_(record) {}
    std::vector<Tensor> call(std::initializer_list<Operand> inputs,
                             const CallOptions &options) const;
    const detail::FunctionRecord *record_;
};

// A named, versioned list of functions. A handle that stays valid; its functions throw after its
// plugin has retired.
class Module {
public:
    // Throws Error (not_found) that lists the modules.
    explicit Module(std::string_view name);
    const std::string &name() const;
    std::uint32_t version() const;
    std::string plugin() const; // the defining plugin; empty for core and device
    std::vector<Function> functions() const;
    Function function(std::string_view name) const; // throws Error (not_found)

private:
    friend std::vector<Module> modules();
    explicit Module(detail::ModuleRecord *record) : record_(record) {}
    detail::ModuleRecord *record_;
};

// All modules whose interface is loaded.
std::vector<Module> modules();

} // namespace Atoll
