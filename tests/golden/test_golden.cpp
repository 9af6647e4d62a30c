// Every function against NumPy: the golden cases on every device, in every layout, with every kind
// of result. ATOLL_GOLDEN names the file of cases. ATOLL_TEST_GOLDEN=all: every case with every
// layout and kind of result; ATOLL_TEST_FUNCTION: that function only.
#include "../core/by_id.hpp"
#include "../core/support.hpp"
#include "../random_tests.hpp"
#include "golden.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <set>

using namespace Atoll;
using support::Shape;

namespace {

const golden::File &file() {
    static const golden::File file([] {
        const char *path = std::getenv("ATOLL_GOLDEN");
        if (!path) throw std::runtime_error("ATOLL_GOLDEN names no file");
        return path;
    }());
    return file;
}

int id_of(const std::string &name) {
    for (int f = 0; f < ATOLL_FN_COUNT; ++f)
        if (functions[f].name == name) return f;
    return -1;
}

enum class Arrange {
    dense,
    reversed,
    strided,
    permuted,
    unaligned,
    swapped,
    broadcast,
    rank0,
    empty
};
constexpr const char *arrange_names[] = {"dense",   "reversed",  "strided", "permuted", "unaligned",
                                         "swapped", "broadcast", "rank 0",  "empty"};
constexpr int arrange_count = static_cast<int>(std::size(arrange_names));
enum class Result { fresh, given, other_dtype, in_place };
constexpr const char *result_names[] = {"a new result", "a given result",
                                        "a result of another dtype", "the result in place"};
constexpr int result_count = static_cast<int>(std::size(result_names));

oracle::Layout layout_of(Arrange arrange) {
    switch (arrange) {
    case Arrange::reversed: return oracle::Layout::reversed;
    case Arrange::strided: return oracle::Layout::strided;
    case Arrange::permuted: return oracle::Layout::permuted;
    case Arrange::unaligned: return oracle::Layout::unaligned;
    default: return oracle::Layout::dense;
    }
}

struct Bound {
    double ulps;
    bool by_modulus;
};

// Golden running sums and products of float64 have the rounding errors of one order of operations,
// and a GPU, which takes another, is held to none of them: these are in more digits.
bool is_scan_of_doubles(const golden::Case &c, int dtype) {
    return dtype == ATOLL_DTYPE_FLOAT64 && (c.name == "cumsum" || c.name == "cumprod");
}
double scanned(const golden::Case &c, std::int64_t position) {
    const golden::Array &input = *c.inputs[0];
    const int rank = static_cast<int>(input.shape.size());
    const int axis = !c.axes_given ? 0 : c.axes[0] < 0 ? c.axes[0] + rank : c.axes[0];
    std::int64_t step = 1;
    for (int before = 0; before < axis; ++before)
        step *= input.shape[static_cast<std::size_t>(before)];
    const std::int64_t last = position / step % input.shape[static_cast<std::size_t>(axis)];
    long double total = 0;
    for (std::int64_t k = 0; k <= last; ++k) {
        const oracle::Value x = oracle::read(input.at(position + (k - last) * step), input.dtype);
        total = k == 0 ? x.real() : c.name == "cumsum" ? total + x.real() : total * x.real();
    }
    return static_cast<double>(total);
}

// What a GPU, which has no type wider than double, is held to: Note [Complex accuracy on devices],
// and one unit for scans.
Bound bound_on_gpu(const golden::Case &c, int dtype, const std::vector<oracle::Value> &inputs) {
    const Bound bound{c.ulps, c.by_modulus};
    if (is_scan_of_doubles(c, dtype)) return {1, false};
    // The moduli are as good as those that abs gives.
    if (dtype == ATOLL_DTYPE_COMPLEX128 && (c.name == "min_abs" || c.name == "max_abs"))
        return {1, false};
    if (dtype != ATOLL_DTYPE_COMPLEX128 || c.ulps == 0) return bound;
    if (c.name != "pow" || inputs.size() < 2) return {std::max(c.ulps, 8.0), true};
    const auto number = [](const oracle::Value &x) {
        return x.integer ? std::complex<long double>(x.real())
                         : std::complex<long double>(x.re, x.im);
    };
    const auto a = number(inputs[0]), b = number(inputs[1]);
    // The error of the exponent b log a; or, for a small integer, that of each product.
    const long double exponent = a == 0.0L ? 0 : std::abs(b) * std::abs(std::log(a));
    const long double products = std::abs(b) <= 100 ? std::abs(b) : 0;
    const long double ulps = 8 + 4 * exponent + 2 * products;
    return {std::isfinite(ulps) ? static_cast<double>(ulps) : c.ulps, true};
}

// Which elements of a golden array stand where in a tensor.
struct Pick {
    Shape shape;
    std::vector<std::int64_t> positions; // column-major over the shape
    bool last_axis_varies = true;        // else: zero stride
};
Pick whole(const golden::Array &array) {
    Pick pick{array.shape, {}};
    for (std::int64_t k = 0; k < array.size(); ++k) pick.positions.push_back(k);
    return pick;
}
// `array` brought to `shape`, first axes aligned.
Pick expanded(const golden::Array &array, const Shape &shape) {
    Pick pick{shape, {}};
    oracle::each(shape, [&](const Shape &index) {
        std::int64_t position = 0, stride = 1;
        for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
            if (array.shape[axis] != 1) position += index[axis] * stride;
            stride *= array.shape[axis];
        }
        pick.positions.push_back(position);
    });
    return pick;
}
Pick chosen(const Pick &from, const Shape &shape, std::int64_t first, std::int64_t step) {
    Pick pick{shape, {}};
    for (std::int64_t k = 0, n = oracle::elements(shape); k < n; ++k)
        pick.positions.push_back(from.positions[static_cast<std::size_t>(first + k * step)]);
    return pick;
}
Pick without_first_axis(const Pick &from) {
    Pick pick{from.shape, {}};
    if (!pick.shape.empty()) pick.shape[0] = 0;
    return pick;
}

oracle::Operand laid_out(const golden::Array &array, const Pick &pick, Arrange arrange) {
    std::vector<bool> varies(pick.shape.size(), true);
    if (!pick.last_axis_varies) varies.back() = false;
    oracle::Operand operand(array.dtype, arrange == Arrange::swapped, pick.shape, varies,
                            layout_of(arrange));
    std::size_t k = 0;
    oracle::each(pick.shape, [&](const Shape &index) {
        char *to = operand.memory.data() + operand.offset(index);
        std::memcpy(to, array.at(pick.positions[k++]),
                    static_cast<std::size_t>(oracle::facts[array.dtype].size));
        if (operand.swapped) oracle::reverse_parts(to, array.dtype);
    });
    return operand;
}

Scalar scalar(const atoll_scalar &raw) {
    switch (raw.dtype) {
    case ATOLL_DTYPE_BOOL: return raw.value.bytes[0] != 0;
    case ATOLL_DTYPE_INT64: return raw.value.i64;
    case ATOLL_DTYPE_FLOAT64: return raw.value.f64[0];
    default: return {raw.value.f64[0]};
    }
}

Tensor call(const golden::Case &c, int function, const std::vector<Tensor> &in, Out out) {
    std::vector<Scalar> numbers;
    for (const atoll_scalar &x : c.numbers) numbers.push_back(scalar(x));
    if (c.name == "concatenate") return concatenate(in, c.axes.at(0));
    if (c.name == "stack") return stack(in, c.axes.at(0));
    const auto placement = [&] { return Placement(in[0].dtype(), in[0].device()); };
    if (c.name == "arange")
        return numbers.size() == 2
                   ? arange(numbers[0], numbers[1], 1, placement())
                   : arange(numbers.at(0), numbers.at(1), numbers.at(2), placement());
    if (c.name == "linspace")
        return linspace(numbers.at(0), numbers.at(1), numbers.at(2).to_int(), {.endpoint = c.flag},
                        placement());
    Axes axes;
    axes.given = c.axes_given;
    axes.list = c.axes;
    const std::optional<int> axis = c.axes_given ? std::optional(c.axes.at(0)) : std::nullopt;
    switch (functions[function].form) {
    case Form::unary: return by_id::unary(function, in[0], out);
    case Form::binary:
        if (numbers.empty()) return by_id::binary(function, in[0], in[1], out);
        return c.flag ? by_id::binary(function, numbers[0], in[0], out)
                      : by_id::binary(function, in[0], numbers[0], out);
    case Form::ternary: return by_id::ternary(function, in[0], in[1], in[2], out);
    case Form::reduce:
    case Form::arg_reduce:
    case Form::reduce_one: return by_id::reduce(function, in[0], axes, c.flag, out, numbers);
    case Form::scan: return by_id::scan(function, in[0], axis, out);
    case Form::sort: return by_id::sort(function, in[0], axis.value(), c.flag, out);
    case Form::search: return by_id::search(function, in[0], in[1], c.flag, out);
    case Form::find: return Atoll::find(in[0], out);
    case Form::compress: return compress(in[0], in[1], out);
    case Form::product: return matmul(in[0], in[1], out);
    case Form::gather: {
        const std::vector<IndexElement> index(in.begin() + 1, in.end());
        return in[0].index(index);
    }
    case Form::scatter: {
        const std::vector<IndexElement> index(in.begin() + 2, in.end());
        Selection(in[0], Index(index)) = in[1];
        return in[0];
    }
    case Form::fill: return Tensor(in[0]).fill(numbers.at(0));
    case Form::copy:
        if (!out.get()) return in[0].cast(static_cast<DType>(c.result->dtype));
        copy(*out.get(), in[0]);
        return *out.get();
    default: throw std::runtime_error("a form that the test does not know");
    }
}

// One case in one arrangement on one device.
struct Trial {
    const golden::Case &c;
    int function; // -1: not of the list
    Device device;
    Arrange arrange = Arrange::dense;
    Result kind = Result::fresh;
    std::uint64_t turn = 0; // picks elements, the other dtype, the given result's layout

    std::optional<Form> form() const {
        if (function < 0) return {};
        return functions[function].form;
    }
    bool elementwise() const {
        return form() == Form::unary || form() == Form::binary || form() == Form::ternary;
    }
    // The result is the first operand.
    bool writes_first() const { return form() == Form::fill || form() == Form::scatter; }
    bool applies() const {
        const bool odd =
            arrange == Arrange::broadcast || arrange == Arrange::rank0 || arrange == Arrange::empty;
        if (odd && (!elementwise() || c.fails)) return false;
        if (writes_first()) return kind == Result::in_place;
        if (kind == Result::fresh) return true;
        if (c.fails || function < 0 || form() == Form::gather) return false;
        if (kind == Result::other_dtype) return form() != Form::copy;
        if (kind == Result::in_place)
            return arrange != Arrange::broadcast &&
                   (elementwise() || form() == Form::scan || form() == Form::sort);
        return true;
    }

    // What the tensors hold; the last pick is the result's.
    std::vector<Pick> picks() const {
        std::vector<Pick> picks;
        if (!elementwise() || c.fails) {
            for (const golden::Array *input : c.inputs) picks.push_back(whole(*input));
            if (!c.fails) picks.push_back(whole(*c.result));
            return picks;
        }
        for (const golden::Array *input : c.inputs)
            picks.push_back(arrange == Arrange::broadcast ? whole(*input)
                                                          : expanded(*input, c.result->shape));
        picks.push_back(whole(*c.result));
        const auto all = c.result->size();
        const bool plain = arrange == Arrange::dense && kind == Result::fresh;
        for (Pick &pick : picks) {
            if (plain) break;
            if (arrange == Arrange::empty) {
                pick = without_first_axis(pick);
            } else if (arrange == Arrange::rank0) {
                pick = chosen(pick, {}, static_cast<std::int64_t>(turn) * 7919 % all, 1);
            } else if (c.inputs.size() == 1 && all > 1) {
                // Some of the vector, as a matrix.
                const std::int64_t step = std::max<std::int64_t>(all / 1024, 1);
                const std::int64_t columns = all / step / 2;
                pick = chosen(pick, {2, columns}, static_cast<std::int64_t>(turn) % step, step);
                if (arrange != Arrange::broadcast) continue;
                pick = chosen(pick, {2 * columns}, 0, 1);
                const std::vector<std::int64_t> once = pick.positions;
                pick.shape.push_back(3);
                for (int i = 0; i < 2; ++i)
                    pick.positions.insert(pick.positions.end(), once.begin(), once.end());
                pick.last_axis_varies = &pick == &picks.back();
            }
        }
        return picks;
    }

    std::string where(const std::vector<Pick> &picks) const {
        std::string text = "core." + c.name + "(";
        for (const golden::Array *input : c.inputs)
            text += std::string(oracle::facts[input->dtype].name) +
                    (input == c.inputs.back() ? "" : ", ");
        text += ") on " + device.name() + ", " + arrange_names[static_cast<int>(arrange)] + ", " +
                result_names[static_cast<int>(kind)];
        text += ", shape (";
        for (std::int64_t n : picks.at(0).shape) text += std::to_string(n) + ",";
        text += ")";
        if (c.axes_given) {
            text += ", axes";
            for (int axis : c.axes) text += " " + std::to_string(axis);
        }
        for (const atoll_scalar &x : c.numbers)
            text += ", number " + golden::text(reinterpret_cast<const char *>(x.value.bytes),
                                               static_cast<int>(x.dtype));
        return text + (c.flag ? ", flag" : "");
    }

    // Empty if all is right.
    std::string run() const {
        const std::vector<Pick> picks = this->picks();
        std::vector<oracle::Operand> operands;
        std::vector<Tensor> in;
        for (std::size_t i = 0; i < c.inputs.size(); ++i) {
            operands.push_back(laid_out(*c.inputs[i], picks[i], arrange));
            in.push_back(support::upload(operands.back(), device));
        }
        if (c.fails) {
            try {
                call(c, function, in, {});
            } catch (const Error &) {
                return {};
            }
            return where(picks) + ": an error was expected, there was none";
        }
        const Pick &pick = picks.back();
        const int natural = c.result->dtype;
        int dtype = natural;
        if (kind == Result::other_dtype)
            dtype = 1 + static_cast<int>(turn % (ATOLL_DTYPE_COUNT - 1));
        if (kind == Result::in_place) dtype = c.inputs[0]->dtype;
        const Arrange out_arrange = static_cast<Arrange>(turn / 3 % 6);
        const oracle::Operand out =
            kind == Result::in_place
                ? operands[0]
                : oracle::Operand(dtype, out_arrange == Arrange::swapped, pick.shape,
                                  std::vector<bool>(pick.shape.size(), true),
                                  layout_of(out_arrange));
        Tensor destination, result;
        try {
            if (kind == Result::in_place)
                destination = in[0];
            else if (kind != Result::fresh)
                destination = support::upload(out, device);
            result = kind == Result::fresh ? call(c, function, in, {})
                                           : call(c, function, in, destination);
        } catch (const Error &error) {
            return where(picks) + ": " + error.what();
        }
        if (kind != Result::fresh && result.impl() != destination.impl())
            return where(picks) + ": another tensor came back";
        if (support::id(result.dtype()) != dtype)
            return where(picks) + ": the dtype is " + std::string(name(result.dtype())) +
                   ", expected " + oracle::facts[dtype].name;
        if (support::shape_of(result.shape()) != pick.shape) {
            std::string text = where(picks) + ": the shape is (";
            for (std::int64_t n : result.shape()) text += std::to_string(n) + ",";
            text += "), expected (";
            for (std::int64_t n : pick.shape) text += std::to_string(n) + ",";
            return text + ")";
        }
        if (kind == Result::fresh && (result.device() != device || result.is_byteswapped()))
            return where(picks) + ": the device or the byte order is wrong";
        return compare(picks, result, kind == Result::fresh ? nullptr : &out);
    }

    std::string compare(const std::vector<Pick> &picks, const Tensor &result,
                        const oracle::Operand *given) const {
        const std::vector<char> bytes = support::bytes_of(result);
        if (given) {
            oracle::Operand after = *given;
            after.memory = bytes;
            if (!after.rest_is(given->memory))
                return where(picks) + ": bytes between the elements were written";
        }
        const Pick &pick = picks.back();
        const int dtype = support::id(result.dtype()), natural = c.result->dtype;
        const auto size = static_cast<std::size_t>(oracle::facts[dtype].size);
        const Dims strides = result.strides();
        const std::int64_t start = result.offset();
        const bool swapped = result.is_byteswapped();
        std::string wrong;
        std::size_t k = 0, count = 0;
        oracle::each(pick.shape, [&](const Shape &index) {
            std::int64_t at = start;
            for (std::size_t axis = 0; axis < index.size(); ++axis)
                at += index[axis] * strides[static_cast<int>(axis)];
            const std::int64_t position = pick.positions[k];
            const bool is_gpu = device.type() == "cuda";
            const char *want = c.result->at(position);
            double exact = 0;
            if (is_gpu && is_scan_of_doubles(c, natural)) {
                exact = scanned(c, position);
                want = reinterpret_cast<const char *>(&exact);
            }
            char got[16];
            std::memcpy(got, bytes.data() + at, size);
            if (swapped) oracle::reverse_parts(got, dtype);
            if (dtype == natural && std::memcmp(got, want, size) == 0) {
                ++k;
                return;
            }
            const unsigned mask =
                !c.mask
                    ? 0u
                    : static_cast<unsigned char>(*c.mask->at(c.mask->size() == 1 ? 0 : position));
            Bound bound{c.ulps, c.by_modulus};
            if (is_gpu) {
                std::vector<oracle::Value> values;
                for (std::size_t i = 0; i < c.inputs.size(); ++i)
                    if (picks[i].positions.size() == pick.positions.size())
                        values.push_back(oracle::read(c.inputs[i]->at(picks[i].positions[k]),
                                                      c.inputs[i]->dtype));
                bound = bound_on_gpu(c, natural, values);
            }
            if (!golden::agrees(oracle::read(got, dtype), oracle::read(want, natural), natural,
                                dtype, bound.ulps, bound.by_modulus, mask) &&
                ++count == 1) {
                wrong = "element " + std::to_string(k) + " of";
                for (std::size_t i = 0; i < c.inputs.size(); ++i)
                    if (picks[i].positions.size() == pick.positions.size())
                        wrong += " " + golden::text(c.inputs[i]->at(picks[i].positions[k]),
                                                    c.inputs[i]->dtype);
                    else if (c.inputs[i]->size() <= 8)
                        for (std::int64_t p = 0; p < c.inputs[i]->size(); ++p)
                            wrong += " " + golden::text(c.inputs[i]->at(p), c.inputs[i]->dtype);
                wrong +=
                    " is " + golden::text(got, dtype) + ", expected " + golden::text(want, natural);
                if (natural != dtype) wrong += std::string(" as ") + oracle::facts[dtype].name;
            }
            ++k;
        });
        if (count == 0) return {};
        return where(picks) + ": " + wrong + " (" + std::to_string(count) + " wrong elements)";
    }
};

// Runs trials and tells of the first few failures of each function.
class Runner {
public:
    void run(const Trial &trial) {
        const char *only = std::getenv("ATOLL_TEST_FUNCTION");
        if (only && trial.c.name != only) return;
        ++trials;
        const std::string wrong = trial.run();
        if (wrong.empty()) return;
        const int failures = ++failures_[trial.c.name];
        static const char *more = std::getenv("ATOLL_TEST_GOLDEN");
        if (failures <= (more ? 40 : 3)) FAIL_CHECK(wrong);
    }
    ~Runner() {
        for (const auto &entry : failures_)
            MESSAGE(std::string(entry.first) << ": " << entry.second << " cases failed");
    }
    int trials = 0;

private:
    const AnyOutput any_output_;
    std::map<std::string, int> failures_;
};

bool everything() {
    const char *text = std::getenv("ATOLL_TEST_GOLDEN");
    return text && std::string(text) == "all";
}

void run_plainly(Device device, std::size_t step) {
    step *= random_tests::one_of();
    Runner runner;
    std::size_t k = 0;
    for (const golden::Case &c : file().cases)
        if (k++ % step == 0) {
            Trial trial{c, id_of(c.name), device};
            if (trial.writes_first()) trial.kind = Result::in_place;
            runner.run(trial);
        }
    CHECK(runner.trials > 0);
}

// Every case in some arrangements, so that every function meets all that apply to it.
void run_arranged(Device device, std::uint64_t step) {
    step *= random_tests::one_of();
    Runner runner;
    std::map<std::string, std::uint64_t> turns;
    std::map<std::string, std::set<int>> met;
    for (const golden::Case &c : file().cases) {
        Trial trial{c, id_of(c.name), device};
        std::vector<int> combinations;
        for (int i = 0; i < arrange_count * result_count; ++i) {
            trial.arrange = static_cast<Arrange>(i % arrange_count);
            trial.kind = static_cast<Result>(i / arrange_count);
            if (trial.applies()) combinations.push_back(i);
        }
        // Functions of few cases meet more arrangements with each.
        std::size_t count = trial.form() == Form::unary ? 7 : trial.elementwise() ? 2 : 1;
        if (everything()) count = combinations.size();
        std::uint64_t failing = 0; // these meet few arrangements, and take nobody's turn
        std::uint64_t &turn = c.fails ? failing : turns[c.name];
        if (c.fails) count = 1;
        for (std::size_t i = 0; i < count; ++i, ++turn) {
            if (turn % step != 0) continue;
            // Co-prime to the number of combinations, so that all come by.
            const int at = combinations[turn / step * 11 % combinations.size()];
            trial.arrange = static_cast<Arrange>(at % arrange_count);
            trial.kind = static_cast<Result>(at / arrange_count);
            trial.turn = turn;
            if (trial.elementwise() && !c.fails) met[c.name].insert(at);
            runner.run(trial);
        }
    }
    CHECK(runner.trials > 0);
    if (step > 1) return;
    for (const auto &entry : met) {
        CAPTURE(entry.first);
        // All but results in place of operands that are broadcast.
        CHECK(entry.second.size() == std::size_t{arrange_count * result_count - 1});
    }
}

} // namespace

TEST_CASE("every function of the list has golden cases") {
    std::set<std::string> named;
    for (const golden::Case &c : file().cases) named.insert(c.name);
    for (const FunctionFacts &f : functions) {
        CAPTURE(std::string(f.name));
        CHECK(named.count(f.form == Form::steps ? "arange" : f.name) == 1);
    }
}

TEST_CASE("every function gives NumPy's values on the cpu") { run_plainly(support::cpu(), 1); }

TEST_CASE("every function gives NumPy's values on the simulated accelerator") {
    support::load_devices();
    run_plainly(device("dummy:0"), 1);
}

TEST_CASE("every function gives NumPy's values on a GPU") {
    if (!support::gpu_plugin()) return;
    support::load_devices();
    run_plainly(device("cuda:0"), everything() ? 1 : 3);
}

TEST_CASE("functions give NumPy's values through kernels without any capability") {
    support::load_devices();
    run_plainly(device("dummy_min:0"), 7);
}

TEST_CASE("layouts and kinds of results do not change values on the cpu") {
    run_arranged(support::cpu(), 1);
}

TEST_CASE("layouts and kinds of results do not change values on the simulated accelerator") {
    support::load_devices();
    run_arranged(device("dummy:0"), 1);
    run_arranged(device("dummy_min:0"), 5);
}
