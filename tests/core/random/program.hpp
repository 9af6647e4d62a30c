// A program of tensor operations as data, and how it reads.
#pragma once

#include "interpreter.hpp"

namespace interpreter {

using Atoll::Tensor;

enum class Kind {
    create,
    overlay,
    view,
    unary,
    binary,
    ternary,
    in_place,
    reduce,
    scan,
    sort,
    search,
    find,
    compress,
    matmul,
    gemm,
    copy,
    assign,
    fill,
    index_get,
    index_set,
    index_in_place,
    join,
    steps,
    constant,
    byteswap,
    flags,
    detach,
    dealloc,
    synchronize,
    check
};

enum class ViewKind {
    transpose,
    conjugate_transpose,
    slice,
    flip,
    real,
    imag,
    swap_axes,
    permute_axes,
    reverse_axes,
    reverse_axes2,
    diag,
    unsqueeze,
    squeeze,
    squeeze_axis,
    reshape,
    flatten,
    broadcast_to,
    split,
    view_as,
    shallow_copy,
    as_contiguous,
    count
};
inline constexpr const char *view_names[] = {"T",
                                             "H",
                                             "slice",
                                             "flip",
                                             "real",
                                             "imag",
                                             "swap_axes",
                                             "permute_axes",
                                             "reverse_axes",
                                             "reverse_axes2",
                                             "diag",
                                             "unsqueeze",
                                             "squeeze",
                                             "squeeze",
                                             "reshape",
                                             "flatten",
                                             "broadcast_to",
                                             "split",
                                             "view_as",
                                             "shallow_copy",
                                             "as_contiguous"};
inline constexpr Atoll::Order orders[] = {Atoll::Order::F, Atoll::Order::C, Atoll::Order::A,
                                          Atoll::Order::K, Atoll::Order::R};

constexpr int slot_count = 10, place_count = 5;

struct Op {
    Kind kind = Kind::check;
    int function = 0;
    int to = 0;               // slot of the result
    int in[3] = {-1, -1, -1}; // slots of the operands; -1: a number
    Scalar scalars[3];        // those numbers, or those of a reduction
    bool given = false;       // the result goes into the tensor that `to` holds
    int variant = 0;          // which of several ways
    bool flag = false;        // keepdims, descending, right, …
    Numbers numbers{};        // axes, extents, …
    DType dtype = DType::none;
    int place = 0;
    std::vector<IndexPart> index{};
    std::vector<IndexPart> next{}; // an index into the result of that one
    bool watched = false;          // compared on its own, whatever it is
    View layout{};                 // create, overlay
    std::vector<char> bytes{};     // create
};

// ---- as text
// -------------------------------------------------------------------------------------

inline std::string text_of(const Scalar &scalar) {
    const std::string value = oracle::text(value_of(scalar));
    return scalar.is_weak() ? value
                            : "Scalar(" + value + ", " + std::string(name(scalar.dtype())) + ")";
}
inline std::string text_of(const Numbers &numbers) {
    std::string text;
    for (std::int64_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return text;
}
inline std::string text_of(const IndexPart &part) {
    const auto end = [](const std::optional<std::int64_t> &i) {
        return i ? std::to_string(*i) : "";
    };
    switch (part.kind) {
    case IndexPart::Kind::integer: return std::to_string(part.integer);
    case IndexPart::Kind::range:
        return end(part.range.start) + ":" + end(part.range.stop) + ":" +
               std::to_string(part.range.step);
    case IndexPart::Kind::all: return "all_";
    case IndexPart::Kind::ellipsis: return "ellipsis";
    case IndexPart::Kind::newaxis: return "newaxis";
    case IndexPart::Kind::positions:
        return std::string(name(part.dtype)) + " {" + text_of(part.list) + "}";
    case IndexPart::Kind::tuples:
        return "coordinates (" + text_of(part.shape) + ") " + std::string(name(part.dtype)) + " {" +
               text_of(part.list) + "}";
    default: return "mask (" + text_of(part.shape) + ") {" + text_of(part.list) + "}";
    }
}

inline std::string describe(const Op &op) {
    std::ostringstream out;
    const auto t = [](int slot) { return "t" + std::to_string(slot); };
    const auto operand = [&](int i) {
        return op.in[i] >= 0 ? t(op.in[i]) : text_of(op.scalars[i]);
    };
    const auto index = [&] {
        std::string text;
        for (const IndexPart &part : op.index) text += (text.empty() ? "" : ", ") + text_of(part);
        if (op.variant == 4) text += ").then(";
        for (const IndexPart &part : op.next) text += text_of(part) + ", ";
        constexpr const char *ways[] = {"", " bound to the shape", " bound to the tensor",
                                        " bound and moved", ""};
        return "(" + text + ")" + ways[op.variant];
    };
    const std::string into = op.given ? ", out = " + t(op.to) : "";
    const std::string place = " at place " + std::to_string(op.place);
    const std::string dtype(name(op.dtype));
    const char *function = functions[op.function].name;
    constexpr const char *operators[] = {"+=", "-=", "*=", "/="};
    const auto symbol = [&]() -> std::string {
        if (op.function >= ATOLL_FN_add && op.function <= ATOLL_FN_divide)
            return operators[op.function - ATOLL_FN_add];
        return std::string(function) + "=";
    };
    const bool makes = op.kind != Kind::in_place && op.kind != Kind::assign &&
                       op.kind != Kind::fill && op.kind != Kind::index_set &&
                       op.kind != Kind::index_in_place && op.kind != Kind::byteswap &&
                       op.kind < Kind::flags && !op.given;
    if (makes) out << t(op.to) << " = ";
    switch (op.kind) {
    case Kind::create: {
        out << "new " << op.layout.text() << place << " {";
        const char *separator = "";
        each(op.layout.shape, [&](const Numbers &at) {
            const Value v = op.layout.read(op.bytes, at);
            out << separator << oracle::text(v);
            separator = is_complex(op.layout.dtype) ? "; " : ", ";
        });
        out << '}';
        break;
    }
    case Kind::overlay:
        out << "over the storage of " << t(op.in[0]) << ": " << op.layout.text();
        break;
    case Kind::view:
        out << t(op.in[0]) << '.' << view_names[op.variant] << '(' << text_of(op.numbers) << ')';
        if (op.variant == static_cast<int>(ViewKind::view_as)) out << ' ' << dtype;
        if (op.flag) out << " (other order)";
        break;
    case Kind::unary: out << function << '(' << operand(0) << into << ')'; break;
    case Kind::binary:
    case Kind::matmul:
        out << function << '(' << operand(0) << ", " << operand(1) << into << ')';
        break;
    case Kind::ternary:
        out << function << '(' << operand(0) << ", " << operand(1) << ", " << operand(2) << into
            << ')';
        break;
    case Kind::in_place: out << t(op.to) << ' ' << symbol() << ' ' << operand(1); break;
    case Kind::reduce: {
        const Form form = functions[op.function].form;
        out << function << '(' << t(op.in[0]);
        if (form == Form::reduce_one) out << ", " << text_of(op.scalars[0]);
        if (op.scalars[1].to_int()) out << ", skip_nan";
        if (op.variant) out << ", axes {" << text_of(op.numbers) << '}';
        out << (op.flag ? ", keepdims" : "") << into << ')';
        break;
    }
    case Kind::scan:
        out << function << '(' << t(op.in[0]);
        if (op.variant) out << ", " << op.numbers[0];
        out << into << ')';
        break;
    case Kind::sort:
        out << function << '(' << t(op.in[0]) << ", " << op.numbers[0]
            << (op.flag ? ", descending" : "") << into << ')';
        break;
    case Kind::search:
        out << function << '(' << operand(0) << ", sort(" << t(op.in[1]) << ".flatten(), 0)"
            << (op.flag ? ", right" : "") << into << ')';
        break;
    case Kind::find: out << (op.variant ? "nonzero(" : "find(") << t(op.in[0]) << ')'; break;
    case Kind::compress: out << "compress(" << t(op.in[0]) << ", " << t(op.in[1]) << ')'; break;
    case Kind::gemm: {
        constexpr char ops[] = "NTC";
        out << "gemm(" << op.numbers[2] << ", " << t(op.in[0]) << ", " << ops[op.numbers[0]] << ", "
            << t(op.in[1]) << ", " << ops[op.numbers[1]] << ", " << op.numbers[3] << ", "
            << t(op.to) << ')';
        break;
    }
    case Kind::copy: {
        constexpr const char *ways[] = {
            "clone",         "clone to place", "replicate",         "cast",
            "cast to place", "ensure",         "assigned to empty", "to place"};
        out << t(op.in[0]) << '.' << ways[op.variant] << '(' << dtype << place << ')';
        break;
    }
    case Kind::assign: out << t(op.to) << ".assign(" << operand(0) << ')'; break;
    case Kind::fill: out << t(op.to) << ".fill(" << operand(0) << ')'; break;
    case Kind::index_get: out << t(op.in[0]) << index(); break;
    case Kind::index_set: out << t(op.to) << index() << " = " << operand(0); break;
    case Kind::index_in_place:
        out << t(op.to) << index() << ' ' << symbol() << ' ' << operand(1);
        break;
    case Kind::join:
        out << (op.variant ? "stack({" : "concatenate({");
        for (int s : op.in)
            if (s >= 0) out << t(s) << ' ';
        out << "}, " << op.numbers[0] << ')';
        break;
    case Kind::steps:
        out << (op.variant ? "linspace" : "arange") << " from, step, count " << text_of(op.numbers)
            << ' ' << dtype << place << (op.flag ? " with endpoint" : "");
        break;
    case Kind::constant: {
        constexpr const char *names[] = {"zeros", "ones", "full", "eye"};
        out << names[op.variant] << "({" << text_of(op.numbers) << '}';
        if (op.variant == 2) out << ", " << operand(0);
        if (op.variant == 3) out << ", k = " << op.flag;
        out << ", " << dtype << place << ')';
        break;
    }
    case Kind::byteswap: out << t(op.to) << ".byteswap()"; break;
    case Kind::flags: {
        constexpr const char *ways[] = {".set_read_only(", ".set_byteswapped(",
                                        ".storage().set_read_only(",
                                        ".storage(): the other byte order ("};
        out << t(op.to) << ways[op.variant] << op.flag << ')';
        break;
    }
    case Kind::detach: out << t(op.to) << ".detach()"; break;
    case Kind::dealloc: out << t(op.to) << ".dealloc()"; break;
    case Kind::synchronize: {
        constexpr const char *ways[] = {".stream().synchronize()", ".stream().wait(record of ",
                                        ": synchronize with a record of ",
                                        ": nothing waits (nor for "};
        out << t(op.in[0]) << ways[op.variant];
        if (op.variant) out << t(op.in[1]) << ')';
        break;
    }
    case Kind::check: out << "read " << t(op.in[0]) << " as " << dtype; break;
    }
    return out.str();
}

} // namespace interpreter
