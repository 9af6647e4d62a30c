// Values, conversions and comparisons of the oracle, which says element by element and slowly what
// kernels should give: values in __int128 and long double, rounding by one addition that rounds.
// Shares nothing with the kernels but the lists. The functions themselves are in elementwise.h,
// reduce.h and order.h.
#pragma once

#include "atoll/core_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace oracle {

struct Facts {
    const char *name;
    int size;
    int kind, part;
};
inline constexpr Facts facts[ATOLL_DTYPE_COUNT] = {
    {"none", 0, 0, 0},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    {name, size, ATOLL_DTYPE_KIND_##KIND, ATOLL_DTYPE_##PART},
#include "atoll/lists/dtypes.inc"
};
inline bool is_complex(int d) { return facts[d].kind == ATOLL_DTYPE_KIND_COMPLEX; }
inline bool is_real_float(int d) {
    return facts[d].kind == ATOLL_DTYPE_KIND_FLOAT || facts[d].kind == ATOLL_DTYPE_KIND_BRAIN;
}
inline bool is_integer(int d) {
    return facts[d].kind == ATOLL_DTYPE_KIND_SIGNED || facts[d].kind == ATOLL_DTYPE_KIND_UNSIGNED;
}

// An exact element of any dtype: an integer, or two real parts.
struct Value {
    bool integer = true;
    __int128 i = 0;
    long double re = 0, im = 0;

    static Value of(__int128 i) { return {true, i, 0, 0}; }
    static Value of(long double re, long double im) { return {false, 0, re, im}; }
    long double real() const { return integer ? static_cast<long double>(i) : re; }
    bool truth() const { return integer ? i != 0 : re != 0 || im != 0; }
};

__int128 wrap(__int128 x, int dtype);

template <class T> T raw(const char *p) {
    T x;
    std::memcpy(&x, p, sizeof x);
    return x;
}

long double round_part(long double x, int part);

Value convert(const Value &v, int to);

Value read(const char *p, int dtype, bool swapped = false);
// The other byte order.
void reverse_parts(char *p, int dtype);
// `v` is a value that the dtype holds.
void write(char *p, int dtype, bool swapped, const Value &v);

// The list of functions, by id.
using Function = Atoll::sdk::FunctionLine;
inline constexpr auto &function_list = Atoll::sdk::core_functions;

// Kinds of functions, by what their signatures say. copy is none of the element-wise ones: it has a
// kernel of its own.
constexpr bool is_elementwise(const Function &f) {
    return f.signature.elementwise() && f.signature.input_count() > 0 && f.id != ATOLL_FN_copy;
}
template <int inputs> constexpr bool has_inputs(const Function &f) {
    return is_elementwise(f) && f.signature.input_count() == inputs;
}
constexpr bool has_slot(const Function &f, int inputs, Atoll::sdk::AxisKind kind) {
    return f.signature.slot_count == 1 && f.signature.input_count() == inputs &&
           f.signature.slots[0].kind == kind;
}
constexpr bool is_reduction(const Function &f) {
    return has_slot(f, 1, Atoll::sdk::AxisKind::group);
}
constexpr bool is_sort(const Function &f) {
    return has_slot(f, 1, Atoll::sdk::AxisKind::one) && f.signature.attribute_count == 1;
}
constexpr bool is_scan(const Function &f) {
    return has_slot(f, 1, Atoll::sdk::AxisKind::one) && !is_sort(f);
}
constexpr bool is_search(const Function &f) { return has_slot(f, 2, Atoll::sdk::AxisKind::one); }
constexpr bool is_find(const Function &f) {
    return f.signature.slot_count == 2 && f.signature.input_count() == 1;
}

constexpr std::ptrdiff_t count_of(bool (*is_kind)(const Function &)) {
    return std::ranges::count_if(function_list, is_kind);
}

// The dtype of a function's result, from the compute dtype.
int result_dtype(int function, int dtype);

// The dtype of the parts that a dtype computes in.
int compute_part(int dtype);

// Whether every function of a kind has a line in a table, which is in the order of ids.
template <class Line, std::size_t n>
constexpr bool complete(const Line (&table)[n], bool (*is_kind)(const Function &)) {
    std::size_t k = 0;
    for (const Function &f : function_list)
        if (is_kind(f) && (k == n || table[k++].function != f.id)) return false;
    return k == n;
}
template <class Line, std::size_t n> const Line &line_of(const Line (&table)[n], int function) {
    for (const Line &line : table)
        if (line.function == function) return line;
    throw std::logic_error("the oracle has no function " + std::to_string(function) +
                           " of this kind");
}

// Spacing of a part dtype near 1.
long double epsilon(int dtype);

bool same_part(long double x, long double y, long double tolerance);
// Equal, or within `ulps` of the larger part, in `dtype`.
// `natural` is the dtype that was rounded to before the conversion to an integer.
bool same(const Value &x, const Value &y, int dtype, double ulps,
          int natural = ATOLL_DTYPE_FLOAT64);

// The spacing of a real dtype at x.
long double ulp(long double x, int part);

// What a function gives: a value that is exact, or one whose finite parts may be off by `tolerance`
// before they are rounded to the result dtype. Roundings and conversions are monotone, so the ends
// of that interval, rounded and converted, bound what is right, whatever the dtypes.
struct Expected {
    Value value;
    long double tolerance = 0;
    bool zeros = true; // a part of 0 is exactly 0; otherwise within the tolerance as any other
    bool signs = true; // the signs of zeros and infinities are said
    bool open = false; // nothing is said
};

// Whether `got`, an element of dtype `to`, is what `e`, a result of dtype `natural`, may become.
bool accepts(const Expected &e, const Value &got, int natural, int to);
Expected truth_of(bool x);
// The value itself, of the result dtype.
Value rounded(const Expected &e, int natural);

std::string text(const Value &v);
std::string text(const Expected &e);

} // namespace oracle
