// A call of any function, made from its signature, with arguments on which it makes sense, and what
// it should give.
#pragma once

#include "operands.hpp"
#include "target.hpp"

#include <string>
#include <vector>

namespace Atoll::conformance {

// Facts about some functions of core that their signatures do not contain.
enum Trait : unsigned {
    exact_values = 1,   // results are moved, selected or converted, never rounded
    moves_elements = 2, // through an index: only the front door knows the offsets
    multiplies_up = 4,  // over many elements: they are near 1
    needs_sorted = 8,   // the second input, along its first axis
    steep_at_zeros = 16 // near its zeros float64 is held to an absolute error only
};
bool has(const FunctionFacts &function, Trait trait);

// Which axes a call has. Core axes have different extents where they have different names.
enum class Size {
    small,
    long_,  // longer than vectors and shares of threads
    large,  // worth the while of several threads; functions without core axes only
    huge,   // a million elements, or thousands of small matrices; other functions
    one,    // one element
    bare,   // no loop; under `axes all` every axis of several is a core axis
    apart,  // several loop axes, core axes among them, that cannot be merged
    any,    // the same with 3 to 6 axes, which differ from function to function
    shared, // the last input with core axes has no loop axes, the others have
    square, // core axes of one extent, so that inputs may be one tensor
    many,   // more axes than short lists hold
    // As long_, but that core axis has one element.
    first_single,
    second_single,
    third_single,
};
bool has_size(const FunctionFacts &function, Size size);

// A choice of attributes and optional operands.
struct Setting {
    std::string name; // "descending", "p = 3", "with c"; empty: the default
    std::vector<NamedAttribute> attributes = {};
    std::vector<std::string_view> inputs = {}; // optional ones that are there
    std::vector<std::string> without = {};     // optional results that are not

    // Whether the host refused an attribute: not every value of one is valid.
    bool is_refused_by(const Error &error) const {
        return !attributes.empty() && error.status() == Status::invalid_argument;
    }
};
// Nothing; each optional input; each attribute with a value that is not its default, and all of
// them, beside all optional inputs; all attributes without optional inputs; without each optional
// output. Only what the implementation knows. gather and scatter: offsets in bytes, and positions.
std::vector<Setting> settings_of(const Declared &declared);

struct Recipe {
    Size size = Size::small;
    Setting setting = {};
    bool special = false; // NaN, infinities, zeros and the ends of integers are among the values
    Layout layout = Layout::dense; // of inputs: equal values along the axes that it repeats
    bool damped = false;           // no result leaves the range of float16
    std::size_t seed = 0;          // other values
    std::int64_t extent = 0;       // of the only core axis; 0: as `size` says
};

struct Call {
    FunctionFacts function;
    DType compute; // T
    struct Argument {
        DType dtype;
        Shape shape;
        Values values = {}; // of that dtype; of outputs: only where they are also read
        bool absent = false;
    };
    std::vector<Argument> inputs = {}, outputs = {}; // in the order of the signature
    CallOptions options = {};
    bool takes_out = true;  // the caller can pass tensors for the results
    std::int64_t terms = 1; // elements that one of a result is made of

    // Whether the shapes of all outputs are known: some functions infer them.
    bool settled() const;
};

// The arguments of a function for a T. `with_values`: without them it is good for looking at
// shapes.
Call make_call(const FunctionFacts &function, DType compute, const Recipe &recipe = {},
               bool with_values = true);
// An input in another dtype, which is promoted to T.
struct Mix {
    std::size_t input = 0;
    DType dtype = DType::none;
};
// Those of a call; unless `all`, one of each input.
std::vector<Mix> mixed_inputs(const Call &call, bool all);
void mix_input(Call &call, const Mix &mix);
// The inputs whose elements output 0 may overwrite.
std::vector<int> in_place_inputs(const Call &call);
// Two inputs that may be one tensor; none: {-1, -1}.
std::pair<int, int> equal_inputs(const Call &call);
// Gives both the same values, which suit both.
void share_values(Call &call, std::pair<int, int> inputs);

// Those whose operands this header can make.
bool callable(const FunctionFacts &function);

// The last input without core axes, if others give the shape; -1: none.
int scalar_input(const Call &call);

// Calls it through the public interface, on `device` if it has no inputs. `scalar`: passes
// scalar_input as a number.
std::vector<Tensor> invoke(const Call &call, const std::vector<Tensor> &inputs, Device device,
                           const std::vector<Tensor> &out = {}, bool scalar = false);

// An argument on a device; without a tensor where it is absent.
Guarded lay_out(const Call::Argument &argument, const Placement &where,
                Layout layout = Layout::dense, bool swapped = false, std::size_t seed = 0);

// A call with its operands on a device, each between guard zones.
struct Prepared {
    Call call;
    Device device;
    std::vector<Guarded> inputs, outputs; // without a tensor: absent

    enum class Swapped { none, all, first_input, outputs };
    struct Form {
        Layout inputs = Layout::dense, outputs = Layout::dense;
        Swapped swapped = Swapped::none;
        bool operator==(const Form &) const = default;
    };
    Prepared(Call call, const Placement &where, const Form &form);
    Prepared(Call own, const Placement &where) : Prepared(std::move(own), where, {}) {}
    // One with a usual T, as many checks want it.
    Prepared(const Declared &declared, const Recipe &recipe, const Placement &where = {});

    std::vector<Tensor> run(bool scalar = false) const;
    // All bytes of the results.
    std::vector<char> bytes() const;
};

// The expected results and their source.
struct Expected {
    std::vector<Values> values; // one per output
    std::vector<Shape> shapes;
    std::string source;

    void require() const; // throws Skipped where there is nothing
};
// From the reference device, wide for floats; by definition of functions that only move or convert
// elements. No source where there is neither.
Expected expect(const Target &target, const Call &call, const std::string &device_type);
// What it gives itself for contiguous operands.
Expected expect_of_itself(const Call &call, Device device);

// Throws Failed unless a call on a device that does not implement the function is an error 'not
// supported' that names the function.
void require_refused(const FunctionFacts &function, DType dtype, Device device);

} // namespace Atoll::conformance
