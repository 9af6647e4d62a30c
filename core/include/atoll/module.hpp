// Modules: named, versioned lists of functions, and how to call those that have no C++ declaration.
#pragma once

#include "atoll/functions.hpp"
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

// An attribute by its name: a number or bool, a word, or a list of integers.
struct NamedAttribute {
    std::string name;
    std::variant<Scalar, std::string, std::vector<std::int64_t>> value;
};

// What a call of a function by its signature may be given besides its inputs.
struct CallOptions {
    std::vector<NamedAttribute> attributes = {};
    std::vector<Tensor> out = {};          // in the order of the results; undefined: to be made
    std::vector<std::string> without = {}; // optional results that are not wanted
    Axes axes = {};                        // where the function says `axes all` or `axes named`
    bool keepdims = false;
    DType dtype = DType::none; // T, where the inputs do not make it or should not
    Device device = {};        // where to compute, likewise
    // Extents that stand in results only, where the function does not say what they are.
    std::vector<std::pair<std::string, std::int64_t>> extents = {};
};

struct FunctionSupport {
    std::string device_type;
    std::string plugin;        // whose implementation is outermost, for the first dtype
    std::vector<DType> dtypes; // compute dtypes; empty for functions with one slot
};

// A function of any module. Valid until its module retires; then calls throw.
class Function {
public:
    // "core.add", "linalg.solve". Throws Error (not_found).
    explicit Function(std::string_view name);
    std::string_view name() const;
    std::string_view doc() const;
    std::vector<FunctionSupport> support() const;

    // "a (n, n), b (n, k?) -> x (n, k?)"; empty for the module `device`.
    std::string_view signature() const;
    // By its signature: operands have names, core axes come first or are named, loop axes
    // broadcast. Inputs in the order of the signature; an undefined tensor is an optional one that
    // is not given. Returns the results in order, undefined ones for those in `without`. Throws
    // Error that names operands and axes.
    std::vector<Tensor> operator()(std::initializer_list<Operand> inputs,
                                   const CallOptions &options = {}) const;

    // The same for functions whose result is an object.
    Object make(std::initializer_list<Operand> inputs, const CallOptions &options = {}) const;

private:
    friend class Module;
    explicit Function(const detail::FunctionRecord *record) : record_(record) {}
    std::vector<Tensor> call(std::initializer_list<Operand> inputs,
                             const CallOptions &options) const;
    const detail::FunctionRecord *record_;
};

// A named, versioned list of functions. A handle that stays valid; after its plugin has retired the
// functions throw.
class Module {
public:
    // Throws Error (not_found) that lists the modules.
    explicit Module(std::string_view name);
    const std::string &name() const;
    std::uint32_t version() const;
    std::string plugin() const; // that defines it; empty for core and device
    std::vector<Function> functions() const;
    Function function(std::string_view name) const; // throws Error (not_found)

private:
    friend std::vector<Module> modules();
    explicit Module(detail::ModuleRecord *record) : record_(record) {}
    detail::ModuleRecord *record_;
};

// Those whose interface is loaded.
std::vector<Module> modules();

} // namespace Atoll
