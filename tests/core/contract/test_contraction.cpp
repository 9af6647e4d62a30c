// Contractions by labels through the whole library: random ones against the definition, plans,
// paths, and what is refused. einsum() and the products with names of their own are compared with
// NumPy's in tests/compositions.
#include "../call/call_recorder.hpp"
#include "../exact_products.hpp"
#include "../views.hpp"
#include "atoll/format.hpp"

#include <malloc.h>
#include <map>
#include <optional>
#include <thread>

using namespace Atoll;
using namespace support;

namespace {

// --- random contractions -------------------------------------------------------------------------

using Label = std::int64_t;

struct Term {
    std::vector<Label> labels;
    oracle::Operand operand;
};

// d = alpha op(a) op(b) + beta op(c), summed over what d lacks, by the definition.
struct Case {
    std::map<Label, std::int64_t> extents;
    Term a, b, c, d;
    bool c_is_d, conj_a, conj_b, conj_c;
    int T;
    Value alpha, beta;

    std::string text() const {
        std::string words = fmt::format("T {} alpha {} beta {}", name(static_cast<DType>(T)),
                                        oracle::text(alpha), oracle::text(beta));
        for (const auto &[role, term] : {std::pair{"a", &a}, {"b", &b}, {"c", &c}, {"d", &d}})
            words += fmt::format("\n  {} [{}] {}", role, fmt::join(term->labels, " "),
                                 term->operand.text());
        return words + fmt::format("\n  c is d {}, conj {} {} {}", c_is_d, conj_a, conj_b, conj_c);
    }
};

Shape shape_of(const std::vector<Label> &labels, const std::map<Label, std::int64_t> &extents) {
    Shape shape;
    for (const Label label : labels) shape.push_back(extents.at(label));
    return shape;
}

Shape index_of(const std::vector<Label> &labels, const std::map<Label, std::int64_t> &at) {
    Shape index;
    for (const Label label : labels) index.push_back(at.at(label));
    return index;
}

Value element(const Term &term, const std::map<Label, std::int64_t> &at, bool conjugate, int T) {
    Value value = oracle::convert(term.operand.get(index_of(term.labels, at)), T);
    if (conjugate) value.im = -value.im;
    return value;
}

// Sets `at` to each point of the labels in turn.
template <class Body> void each_point(const std::vector<Label> &labels,
                                      const std::map<Label, std::int64_t> &extents,
                                      std::map<Label, std::int64_t> &at, const Body &body) {
    oracle::each(shape_of(labels, extents), [&](const Shape &index) {
        for (std::size_t i = 0; i < labels.size(); ++i) at[labels[i]] = index[i];
        body();
    });
}

class Drawing {
public:
    explicit Drawing(Random &random) : random_(random) {}

    Case draw() {
        const int labels = static_cast<int>(random_() % 7);
        for (int i = 0; i < labels; ++i)
            extents_[names_[i]] =
                random_() % 12 == 0 ? 0 : static_cast<std::int64_t>(1 + random_() % 3);
        std::vector<Label> a, b, d;
        for (const auto &[label, extent] : extents_) {
            const std::uint64_t in = random_() % 12;
            if (in < 9 && in != 4) a.push_back(label);
            if (in >= 4 && in != 8) b.push_back(label);
            // in a and b: 5, 6, 7; a alone: 0 to 3, 8; b alone: 4, 9 to 11
            if (in == 5 || in == 0 || in == 1 || in == 2 || in == 9 || in == 10) d.push_back(label);
        }
        for (auto *list : {&a, &b})
            if (!list->empty() && random_() % 6 == 0) list->push_back(pick(*list));
        std::vector<Label> c = d;
        if (!d.empty() && random_() % 8 == 0) {
            d.push_back(pick(d)); // a diagonal
            c = d;
        }
        for (auto *list : {&a, &b, &c, &d}) std::shuffle(list->begin(), list->end(), random_);
        const int dtype_a = id(views::random_dtype(random_)),
                  dtype_b = random_() % 2 ? dtype_a : id(views::random_dtype(random_));
        DType T = promote(static_cast<DType>(dtype_a), static_cast<DType>(dtype_b));
        const bool adds = random_() % 2, c_is_d = random_() % 2;
        const int dtype_d = random_() % 3 ? id(T) : id(views::random_dtype(random_)),
                  dtype_c = c_is_d          ? dtype_d
                            : random_() % 2 ? id(T)
                                            : id(views::random_dtype(random_));
        if (adds) T = promote(T, static_cast<DType>(dtype_c));
        whole_ = !is_floating(T);
        Term term_d{d, output(dtype_d, d)};
        Case drawn{extents_,
                   {a, input(dtype_a, a)},
                   {b, input(dtype_b, b)},
                   c_is_d ? term_d : Term{c, input(dtype_c, c)},
                   term_d,
                   c_is_d,
                   random_() % 4 == 0,
                   random_() % 4 == 0,
                   random_() % 4 == 0,
                   id(T),
                   factor(id(T)),
                   adds ? factor(id(T)) : oracle::convert(Value::of(__int128{0}), id(T))};
        return drawn;
    }

private:
    Label pick(const std::vector<Label> &from) { return from[random_() % from.size()]; }
    oracle::Operand fill(oracle::Operand operand) {
        // Integers beside floats must be exact there.
        oracle::each(operand.shape, [&](const Shape &i) {
            const int like = whole_ ? operand.dtype : int{ATOLL_DTYPE_COMPLEX128};
            operand.set(i, oracle::convert(small(like, random_), operand.dtype));
        });
        return operand;
    }
    oracle::Operand input(int dtype, const std::vector<Label> &labels) {
        return fill(
            operand(dtype, shape(labels), oracle::layouts[random_() % 6], random_() % 4 == 0));
    }
    oracle::Operand output(int dtype, const std::vector<Label> &labels) {
        return fill(
            operand(dtype, shape(labels), oracle::layouts[random_() % 5], random_() % 4 == 0));
    }
    Shape shape(const std::vector<Label> &labels) const { return shape_of(labels, extents_); }
    Value factor(int T) {
        if (T == ATOLL_DTYPE_BOOL || random_() % 2)
            return oracle::convert(Value::of(static_cast<__int128>(random_() % 2)), T);
        const auto one = [&] { return static_cast<long double>(random_() % 4); };
        return oracle::convert(Value::of(one(), one()), T);
    }

    static constexpr Label names_[] = {-7, 0, 3, 'a', 'b', 1000, INT64_MAX};
    Random &random_;
    std::map<Label, std::int64_t> extents_;
    bool whole_ = false; // T is integer
};

Scalar scalar(const Value &value, int T) {
    const auto dtype = static_cast<DType>(T);
    if (value.integer) return Scalar(Scalar(static_cast<std::int64_t>(value.i)), dtype);
    if (is_complex(dtype))
        return Scalar(Scalar(std::complex<double>(static_cast<double>(value.re),
                                                  static_cast<double>(value.im))),
                      dtype);
    return Scalar(Scalar(static_cast<double>(value.re)), dtype);
}

// Runs the case on a device in one of the ways to call it; describes the first wrong element.
std::string run(const Case &it, const Device &device, Random &random) {
    const auto T = static_cast<DType>(it.T);
    const Tensor a = upload(it.a.operand, device), b = upload(it.b.operand, device),
                 d = upload(it.d.operand, device), c = it.c_is_d ? d : upload(it.c.operand, device);
    const ContractOptions options{
        .conj_a = it.conj_a, .conj_b = it.conj_b, .conj_c = it.conj_c, .dtype = T};
    const Scalar alpha = scalar(it.alpha, it.T), beta = scalar(it.beta, it.T);
    const ScopedSettings lossy([](Settings &s) { s.lossy = Lossy::allow; });
    if (it.c_is_d && random() % 2) {
        contract(alpha, a, it.a.labels, b, it.b.labels, beta, d, it.d.labels, options);
    } else {
        const Contraction plan({a, it.a.labels}, {b, it.b.labels}, {c, it.c.labels},
                               {d, it.d.labels}, options);
        plan.run(alpha, a, b, beta, c, d);
    }

    std::string wrong;
    const std::vector<char> memory = bytes_of(d);
    oracle::Operand got = it.d.operand, expected = it.d.operand;
    std::copy(memory.begin(), memory.end(), got.memory.begin());
    std::vector<Label> kept, summed;
    for (const auto &[label, extent] : it.extents)
        (std::count(it.d.labels.begin(), it.d.labels.end(), label) ? kept : summed)
            .push_back(label);
    std::map<Label, std::int64_t> at;
    each_point(kept, it.extents, at, [&] {
        Value total = oracle::convert(Value::of(__int128{0}), it.T);
        if (it.alpha.truth())
            each_point(summed, it.extents, at, [&] {
                total = plus(total,
                             times(element(it.a, at, it.conj_a, it.T),
                                   element(it.b, at, it.conj_b, it.T), it.T),
                             it.T);
            });
        total = times(it.alpha, total, it.T);
        if (it.beta.truth())
            total = plus(total, times(it.beta, element(it.c, at, it.conj_c, it.T), it.T), it.T);
        const Shape index = index_of(it.d.labels, at);
        const int to = it.d.operand.dtype;
        Value value = got.get(index), want = oracle::convert(oracle::convert(total, it.T), to),
              direct = oracle::convert(total, to);
        expected.set(index, value);
        for (Value *v : {&want, &direct, &value}) { // the sign of 0 depends on the order of sums
            if (v->re == 0) v->re = 0;
            if (v->im == 0) v->im = 0;
        }
        if (wrong.empty() && !oracle::same(value, want, to, 0) &&
            !oracle::same(value, direct, to, 0))
            wrong = fmt::format("at ({}) gave {}, expected {}", fmt::join(index, ", "),
                                oracle::text(value), oracle::text(want));
    });
    if (wrong.empty() && expected.memory != got.memory) wrong = "wrote beside the result";
    return wrong;
}

} // namespace

TEST_CASE("random contractions give what the definition says, by calls that keep their promises") {
    const std::int64_t cases = random_tests::cases(6'000);
    const auto seed = random_tests::seed(7);
    const std::vector<Device> devices = all_devices();
    calls::Recorder recorder({"cpu", "dummy", "dummy_min"});
    int failures = 0;
    for (std::int64_t i = 0; i < cases && failures < 5; ++i) {
        Random random(seed * 1'000'003 + static_cast<std::uint64_t>(i));
        const Case drawn = Drawing(random).draw();
        const Device &device = devices[random() % devices.size()];
        recorder.begin_operation(std::to_string(i));
        std::string wrong;
        try {
            wrong = run(drawn, device, random);
        } catch (const std::exception &error) {
            wrong = error.what();
        }
        for (const std::string &broken : recorder.take_broken()) wrong += "\n" + broken;
        CHECK_MESSAGE(wrong.empty(), "case ", i, " on ", device.name(), ": ", wrong, "\n",
                      drawn.text());
        failures += !wrong.empty();
    }
    CHECK(recorder.call_count() > cases / 2);
}

TEST_CASE("halves are summed in float32") {
    for (const Device &device : all_devices()) {
        // 2,050 elements of 1 + 2^-10 make 2,052 in float16, and at most 2,048 summed there.
        const Tensor a = ones({2}, {float16, device}),
                     b = full({2050}, 1.0009765625, {float16, device});
        const Tensor one = ones({1}, {float16, device}), out = zeros({2}, {float16, device});
        // No operand is cast but by the contraction itself.
        const ScopedSettings strict([](Settings &s) { s.auto_cast = s.auto_broadcast = false; });
        for (const Tensor &sums :
             {einsum("i,j->i", {a, b}), einsum("j,i->i", {b, a}), einsum("i,j,k->i", {a, b, one}),
              einsum("i,j,k->i", {a, b, one}, out), contract(a, "i", b, "j", "i")}) {
            CHECK(sums.dtype() == float16);
            CHECK(sums.to_doubles() == std::vector<double>{2052, 2052});
        }
        CHECK(einsum("j->", {b}).item().to_double() == 2052);
    }
}

TEST_CASE("alpha = 0 reads no factor and beta = 0 no summand") {
    const double nan = std::nan("");
    for (const Device &device : all_devices()) {
        const Tensor bad = full({2, 2}, nan, {float64, device}),
                     good = full({2, 2}, 3, {float64, device});
        const auto only = [](const Tensor &tensor, double value) {
            return tensor.to_doubles() == std::vector<double>(4, value);
        };
        Tensor c = good.clone();
        contract(0, bad, "ik", good, "kj", 2, c, "ij");
        CHECK(only(c, 6));
        contract(0, bad, "ik", bad, "kj", 0, c, "ij");
        CHECK(only(c, 0));
        c = bad.clone();
        contract(1, good, "ik", good, "kj", 0, c, "ij");
        CHECK(only(c, 18));
    }
}

TEST_CASE("with alpha = 0 a summand is computed in the same dtype as with other factors") {
    for (const char *where : {"cpu", "dummy:0"}) {
        const Device on = device(where);
        CAPTURE(where);
        struct Case {
            DType dtype, factors, of_c;
            double beta;
        };
        for (const auto &[T, factors, of_c, beta] :
             {Case{uint64, uint64, int64, 1}, Case{uint64, uint64, int16, 1},
              Case{float16, float16, float64, 1000}, Case{float16, float32, float64, 2},
              Case{float32, float32, complex64, 1}}) {
            const Tensor zero = zeros({3}, {factors, on});
            Tensor c = vector({-3.0, 200.0, 1.0 / 3}, {of_c, on});
            if (of_c == int64) c(0).fill(9007199254740993);
            if (of_c == complex64) c(0).fill(Scalar(std::complex<double>(1, 2)));
            const Tensor with = c.clone(), without = c.clone();
            const ContractOptions options{.dtype = T};
            contract(1, zero, "i", zero, "i", beta, with, "i", options);
            contract(0, zero, "i", zero, "i", beta, without, "i", options);
            CHECK(all(equal(with, without)).item<bool>());
        }
    }
}

TEST_CASE("einsum gives its result on the device of the first operand, in the common dtype") {
    const Tensor here = ones({2, 2}, {float64, device("cpu")}), there = here.to(device("dummy:0"));
    CHECK(einsum("ij,jk", {here, there}).device() == here.device());
    CHECK(einsum("ij,jk,kl", {here, here, there}).device() == here.device());
    CHECK(einsum("ij,jk,kl", {there, here, here}).device() == there.device());
    CHECK(einsum("ij,jk,kl,lm", {here, there, there, there}).device() == here.device());
    // Integers wrap before they become those of a wider output.
    const Tensor bytes = vector<std::uint8_t>({200, 100}), one = ones({}, {uint8});
    for (const DType to : {uint8, int64, float32}) {
        const Tensor out = zeros({}, {to});
        CHECK(einsum("i->", {bytes}, out).item<int>() == 44);
        CHECK(einsum("i,->", {bytes, one}, out).item<int>() == 44);
    }
}

TEST_CASE("a plan runs on other tensors of the same layout, from several threads") {
    const Tensor a = counting({3, 4}, float64, cpu()), b = counting({4, 5}, float64, cpu());
    const Tensor expected = matmul(a, b);
    const Tensor like = zeros({3, 5}, {float64, cpu()});
    const Contraction plan({a, "ik"}, {b, "kj"}, {like, "ij"});
    CHECK(plan.dtype() == float64);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            for (int round = 0; round < 200; ++round) {
                const Tensor d = zeros({3, 5}, {float64, cpu()});
                plan.run(thread + 1, a, b, 0, {}, d);
                wrong += d.to_doubles() != (expected * (thread + 1)).to_doubles();
            }
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(error_text([&] { plan.run(b, b, like); }) ==
          "[contraction] a is float64 (4, 5) with strides (8, 32), but float64 (3, 4) with strides "
          "(8, 24) was planned; plan another contraction for it");
    CHECK(contains(error_text([&] { plan.run(a, b, like.cast(float32)); }), "d is float32"));
    CHECK(contains(error_text([&] { plan.run(1, a, b, 1, like, like); }), "no c was planned"));
    CHECK(contains(error_text([&] { plan.run(std::complex<double>(0, 1), a, b, 0, {}, like); }),
                   "does not fit float64"));
}

TEST_CASE("axes that only an unread summand keeps apart are merged") {
    calls::Recorder recorder({"cpu"});
    const Tensor a = counting({2, 3, 4}, float64, cpu()), b = counting({4, 5}, float64, cpu());
    const Tensor d = zeros({2, 3, 5}, {float64, cpu()}),
                 c = zeros({3, 2, 5}, {float64, cpu()}).permute_axes({1, 0, 2});
    const Contraction plan({a, "ijk"}, {b, "kl"}, {c, "ijl"}, {d, "ijl"});
    recorder.begin_operation("beta = 0");
    plan.run(1, a, b, 0, c, d);
    CHECK(recorder.take_broken().empty());
    CHECK(d.to_doubles() == tensordot(a, b, 1).to_doubles());
}

TEST_CASE("a plan judges layouts by its dtype, whatever its memory held before") {
    // The implementation takes dense operands only, not one that repeats an element.
    load_devices();
    const Device device = Atoll::device("dummy_min:0");
    calls::Recorder recorder({"dummy_min"});
    const Tensor stored = tensor({1, 2}, {float32, device});
    const Tensor repeated(stored.storage(), 0, {2}, {0}, float32);
    for (const int fill : {1, 85, 170, 255}) {
        mallopt(M_PERTURB, fill);
        recorder.begin_operation(std::to_string(fill));
        const Tensor result = zeros({}, {float32, device});
        const Contraction plan({repeated, "k"}, {repeated, "k"}, {result, ""});
        plan.run(3, repeated, repeated, 0, {}, result);
        CHECK(result.item().to_double() == 6);
        CHECK(recorder.take_broken().empty());
    }
    mallopt(M_PERTURB, 0);
}

TEST_CASE("an analysis that is kept serves only operands of its layout") {
    const Tensor a = counting({3, 3}, float32, cpu());
    for (const Tensor &operand : {a, a.T(), a.cast(int8), Tensor(a.slice(0, 0, 2)), a}) {
        const Tensor expected = matmul(operand, operand.T());
        for (int round = 0; round < 2; ++round) {
            const Tensor product = einsum("ij,kj->ik", {operand, operand});
            CHECK(product.dtype() == operand.dtype());
            CHECK(product.to_doubles() == expected.to_doubles());
        }
    }
    einsum("ij,jk", {a, a.cast(int32)});
    const ScopedSettings strict([](Settings &s) { s.auto_cast = s.auto_broadcast = false; });
    CHECK(contains(error_text([&] {
                       einsum("ij,jk", {a, a.cast(int32)});
                   }),
                   "got operand 0 of float32 on cpu and operand 1 of int32 on cpu with automatic "
                   "casting off"));
    CHECK(contains(error_text([&] {
                       einsum("i...,i...->...", {a, ones({3, 1}, {float32, cpu()})});
                   }),
                   "automatic broadcasting off"));
}

TEST_CASE("a handler of the log may call einsum while einsum runs") {
    const char *const text = "ij,jk,kl->il";
    const Tensor a = counting({3, 3}, int8, cpu()), b = a.cast(float64);
    const std::vector<double> expected = einsum(text, {b, b, b}).to_doubles();
    bool called = false;
    mallopt(M_PERTURB, 85); // a plan that is freed too early does not go unnoticed
    set_log_level("debug");
    set_log_handler([&](int, std::string_view) { // other dtypes: the same place in the cache
        if (!std::exchange(called, true)) CHECK(einsum(text, {b, a, b}).to_doubles() == expected);
    });
    CHECK(einsum(text, {a, b, a}).to_doubles() == expected);
    CHECK(called);
    set_log_handler({});
    set_log_level("warn");
    mallopt(M_PERTURB, 0);
}

TEST_CASE("orders of products are as cheap as opt_einsum's") {
    // The costs are those of `optimize="optimal"` in opt_einsum 3.4.0.
    const struct {
        const char *text, *extents;
        double operations;
    } networks[] = {
        {"ij,jk,kl", "i10 j30 k5 l60", 9000},
        {"ab,bc,cd,de", "a40 b20 c30 d10 e30", 52000},
        {"ab,bc,cd,de,ef,fg", "a30 b35 c15 d5 e10 f20 g25", 30250},
        {"pi,qj,ijkl,rk,sl->pqrs", "i10 j10 k10 l10 p8 q8 r8 s8", 472320},
        {"ea,fb,abcd,gc,hd->efgh", "a10 b10 c10 d10 e10 f10 g10 h10", 800000},
        {"abc,ai,bj,ck->ijk", "a12 b12 c12 i6 j6 k6", 36288},
        {"bdik,acaj,ikab,ajac,ikbd->", "a4 b5 c6 d7 i3 j4 k5", 1850},
        {"ab,ab,c->c", "a9 b8 c7", 151},
        {"abjk,acdl,klbd,jecd->e", "a4 b5 c6 d3 e7 j4 k5 l2", 6960},
        {"ij,ij,ij->", "i20 j30", 1800},
        {"i,j,k,l->ijkl", "i3 j4 k5 l6", 398},
        {"ijk,jkl,lmn,mno->io", "i8 j7 k6 l5 m4 n3 o2", 2424},
        {"abc,bdf,cef,deg->ag", "a4 b5 c6 d7 e3 f4 g5", 7080},
        {"ai,bi,ci,di->abcd", "a6 b5 c4 d3 i10", 7580},
        {"ab,bc,ca->", "a50 b40 c30", 122400},
        {"dba,ca,dcb->", "a12 b13 c14 d15", 65856},
        {"efbc,eckl,bdkm,fdlm->", "b3 c4 d5 e6 f3 k4 l5 m6", 19800},
        {"ijm,ibqp,jpq,bm->", "b3 i6 j5 m4 p8 q7", 10824},
        {"abcd,efgh,aebf,cgdh->", "a3 b3 c3 d3 e4 f4 g4 h4", 7362},
        {"akb,blc,cmd,dna->klmn", "a5 b6 c7 d8 k2 l2 m2 n2", 5040},
        {"adb,bec,cfa->def", "a10 b11 c12 d3 e3 f3", 29700},
        {"aib,bjc,ckd,eif,fjg,gkh->dhae", "a4 b5 c6 d3 e4 f5 g6 h3 i2 j2 k2", 5664},
        {"ia,ja,ka,la,ma->ijklm", "a20 i4 j4 k4 l4 m4", 42880},
        {"abx,bcy,cdz,xyz->ad", "a7 b6 c5 d4 x3 y4 z5", 6288},
        {"ab,cd,ef,abcdef->", "a4 b4 c4 d4 e4 f4", 8480},
        {"xab,yab,xcd,ycd->xy", "a5 b6 c7 d3 x8 y9", 7416},
        {"abi,acj,bck,ijk->", "a9 b8 c7 i3 j4 k5", 18936},
        {"ab,bc,cd,de,ef,fg,gh", "a5 b40 c3 d25 e7 f30 g2 h20", 3500},
        {"aijk,bijl,cikl,djkl->abcd", "a2 b3 c4 d5 i6 j7 k8 l9", 284256},
        {"mij,nik,oil,pjk,qjl,rkl->mnopqr", "i6 j5 k4 l3 m2 n2 o2 p2 q2 r2", 11664},
    };
    for (const auto &network : networks) {
        std::map<char, std::int64_t> extents;
        std::istringstream words(network.extents);
        for (std::string word; words >> word;) extents[word[0]] = std::stoll(word.substr(1));
        std::vector<Tensor> operands;
        std::istringstream terms(
            std::string(network.text).substr(0, std::string(network.text).find("->")));
        for (std::string term; std::getline(terms, term, ',');) {
            Dims shape;
            for (const char letter : term) shape.push_back(extents.at(letter));
            operands.push_back(zeros(shape, {int8, cpu()}));
        }
        CAPTURE(network.text);
        const EinsumPath path = einsum_path(network.text, operands);
        CHECK(path.operations == network.operations);
        CHECK(path.steps.size() == operands.size() - 1);
    }
    // A chain of more operands than are searched exactly: from the small end.
    std::vector<Tensor> chain(14, zeros({30, 30}, {int8, cpu()}));
    chain.back() = zeros({30, 1}, {int8, cpu()});
    CHECK(einsum_path("ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn,no", chain).operations ==
          13 * 2 * 30 * 30);
}

TEST_CASE("a path is shown, and respects a limit of memory") {
    const Tensor a = zeros({10, 2}, {float64, cpu()}), b = zeros({2, 10}, {float64, cpu()}),
                 c = zeros({10, 3}, {float64, cpu()});
    CHECK(to_string(einsum_path("ij,jk,kl", {a, b, c})) ==
          "  1   2  jk,kl->jl                               120 operations          6 elements\n"
          "  0   1  ij,jl->il                               120 operations         30 elements\n"
          "240 operations, 1.8e+03 in one loop; largest product 30 elements");
    const EinsumOptions tight{.memory_limit = 47};
    CHECK(error_status([&] { einsum("ij,jk,kl", {a, b, c}, {}, tight); }) == Status::out_of_memory);
    CHECK(error_text([&] {
              einsum("ij,jk,kl", {a, b, c}, {}, tight);
          }) ==
          "[einsum] no order of products keeps every intermediate result within 47 bytes; raise "
          "EinsumOptions::memory_limit");
    CHECK(einsum("ij,jk,kl", {a, b, c}, {}, {.memory_limit = 48}).shape() == Dims{10, 3});
}

TEST_CASE(
    "a path that costs more than a double holds is refused, one over an extent of 0 is free") {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const Storage one = zeros({1}, {int8, cpu()}).storage();
    std::vector<Tensor> many(20, Tensor(one, 0, {huge}, {0}, int8));
    const char *const text = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t";
    for (const EinsumOptions &options : {EinsumOptions{}, EinsumOptions{.memory_limit = 1000}}) {
        CHECK(error_status([&] { einsum_path(text, many, options); }) == Status::overflow);
        CHECK(error_status([&] { einsum(text, many, {}, options); }) == Status::overflow);
    }
    many.back() = zeros({0}, {int8, cpu()});
    const EinsumPath path = einsum_path(text, many);
    CHECK(path.operations == 0);
    CHECK(path.direct_operations == 0);
}

TEST_CASE("texts of einsum that do not fit are refused with what does not") {
    const Tensor a = zeros({2, 3}, {float64, cpu()}), b = zeros({3, 4}, {float64, cpu()});
    const auto refused = [&](const char *text, const std::vector<Tensor> &operands, Out out = {}) {
        return error_text([&] { einsum(text, operands, out); });
    };
    CHECK(refused("ij,jk", {a}) == "[einsum] \"ij,jk\" has 2 terms, got 1 tensor");
    CHECK(refused("ij", {a, b}) == "[einsum] \"ij\" has 1 term, got 2 tensors");
    CHECK(
        refused("ij,ik", {a, b}) ==
        "[einsum] \"ij,ik\" needs one extent of i: operand 0 (2, 3) has 2, operand 1 (3, 4) has 3");
    CHECK(refused("ii", {a}) ==
          "[einsum] \"ii\" needs one extent of i: operand 0 (2, 3) has 2, operand 0 (2, 3) has 3");
    CHECK(refused("ijk,jk", {a, b}) ==
          "[einsum] \"ijk,jk\" has 3 labels for operand 0 (2, 3), which has 2 axes");
    CHECK(refused("i,jk", {a, b}) ==
          "[einsum] \"i,jk\" has 1 label for operand 0 (2, 3), which has 2 axes");
    CHECK(refused("ij,jk->il", {a, b}) ==
          "[einsum] \"ij,jk->il\" has l in the result, but in no operand");
    CHECK(refused("ij,jk->ii", {a, b}) == "[einsum] \"ij,jk->ii\" has i twice in the result");
    CHECK(refused("i1,1k", {a, b}) ==
          "[einsum] \"i1,1k\" has '1' in a term; terms have letters and one ...");
    CHECK(contains(refused("i.j,jk", {a, b}), "has '.' in a term"));
    CHECK(contains(refused("......,jk", {a, b}), "has '.' in a term"));
    CHECK(contains(refused("ij->j->k", {a}), "has '-' in a term"));
    CHECK(contains(refused("i\x1b[2J,jk", {a, b}), "\\x1b"));
    CHECK(refused("i...->i", {a}) ==
          "[einsum] \"i...->i\" has no ... in the result for an axis of the operands");
    CHECK(refused("ij->ij...", {a}) ==
          "[einsum] \"ij->ij...\" has ... in the result, but in no operand");
    CHECK(refused("i...,i...->...", {a, zeros({2, 4}, {float64, cpu()})}) ==
          "[einsum] \"i...,i...->...\" needs one extent of axis 0 of ...: operand 0 (2, 3) has 3, "
          "operand 1 (2, 4) has 4");
    CHECK(refused("ij,jk", {a, b}, a) == "[einsum] out (2, 3) needs shape (2, 4)");
    CHECK(refused("ij,jk", {a, Tensor()}).find("undefined") != std::string::npos);
    CHECK(refused("", {}) == "[einsum] got no tensor, need at least one");
    Tensor once(zeros({1}, {float64, cpu()}).storage(), 0, {2, 4}, {0, 0}, float64);
    CHECK(contains(refused("ij,jk", {a, b}, once), "out"));
    const Tensor integers = zeros({2, 4}, {int32, cpu()});
    CHECK(
        contains(refused("ij,jk", {a, b}, integers), "[einsum] out is int32, the result float64"));
    CHECK(integers.to_doubles() == std::vector<double>(8, 0));
    CHECK(einsum(" i j , j k -> i k ", {a, b}).shape() == Dims{2, 4});
}

TEST_CASE("labels that do not fit are refused with operand, label and extents") {
    const Tensor a = zeros({2, 3}, {float64, cpu()}), b = zeros({3, 4}, {float64, cpu()}),
                 c = ones({2, 4}, {float64, cpu()});
    const auto refused = [&](const Labels &x, const Labels &y, const Labels &z) {
        return error_text([&] { contract(1, a, x, b, y, 1, c, z); });
    };
    CHECK(refused("ik", "jk", "ij") == "[contract] b (3, 4) labelled \"jk\" needs k = 3 on axis 1, "
                                       "as a (2, 3) labelled \"ik\" has");
    CHECK(refused({1, 2}, {3, 2}, {1, 3}) == "[contract] b (3, 4) labelled [3, 2] needs 2 = 3 on "
                                             "axis 1, as a (2, 3) labelled [1, 2] has");
    CHECK(refused("ii", "jk", "ij") ==
          "[contract] a (2, 3) labelled \"ii\" needs i = 2 on axis 1, as another of its axes has");
    CHECK(refused("ijk", "jk", "ij") == "[contract] a (2, 3) needs 2 labels, got \"ijk\"");
    CHECK(
        refused("ik", "kj", "xj") ==
        "[contract] c (2, 4) labelled \"xj\" needs labels of the factors; x is in neither a (2, 3) "
        "labelled \"ik\" nor b (3, 4) labelled \"kj\"");
    CHECK(refused("ik", "kj", "kj") == "[contract] c (2, 4) labelled \"kj\" needs k = 3 on axis 0, "
                                       "as a (2, 3) labelled \"ik\" has");
    CHECK(error_text([&] { Labels("i1"); }) ==
          "[labels] got \"i1\", need letters a to z and A to Z, or numbers in braces");
    CHECK(error_text([&] { contract(a, "ik", b, "kj", "ii"); }) ==
          "[contract] out labelled \"ii\" has i twice; give a result to write its diagonal");
    const Tensor once(c.storage(), 0, {2, 4}, {8, 8}, float64);
    CHECK(error_text([&] { contract(a, "ik", b, "kj", "ij", once); }) ==
          "[contract] out (2, 4) labelled \"ij\" with strides (8, 8) overlaps itself in memory; "
          "results need memory of their own");
    CHECK(contains(error_text([&] {
                       Contraction({a, "ik"}, {b, "kj"}, {c, "ij"}, {c, "ix"});
                   }),
                   "j is only in one of them"));
    CHECK(contains(error_text([&] {
                       ContractionOperand(float64, {INT64_MAX / 4, 8}, {8, 8}, "ij");
                   }),
                   "63 bits"));
    Tensor(c).set_read_only(true);
    CHECK(contains(refused("ik", "kj", "ij"), "read-only"));
    CHECK(c.to_doubles() == std::vector<double>(8, 1));
}

TEST_CASE("a dtype that does not exist and a factor that the dtype cannot hold are refused") {
    const Tensor a = ones({2, 2}, {float64, cpu()}), c = full({2, 2}, 5, {float64, cpu()});
    const auto unknown = static_cast<DType>(77);
    CHECK(contains(error_text([&] { ContractionOperand(unknown, {2}, {8}, "i"); }), "77"));
    CHECK(contains(error_text([&] { ContractionOperand(DType::none, {2}, {8}, "i"); }), "dtype"));
    CHECK(contains(error_text([&] { contract(a, "ik", a, "kj", "ij", {}, {.dtype = unknown}); }),
                   "77"));
    const auto with_factors = [&](Scalar alpha, Scalar beta, DType dtype) {
        return error_text(
            [&] { contract(alpha, a, "ik", a, "kj", beta, c, "ij", {.dtype = dtype}); });
    };
    const std::complex<double> i(0, 1);
    CHECK(with_factors(i, 0, float64) ==
          "[contract] alpha = 0 + 1j does not fit float64, in which it is computed; give another "
          "ContractOptions::dtype");
    CHECK(contains(with_factors(1, i, float64), "beta = 0 + 1j does not fit float64"));
    CHECK(contains(with_factors(0.5, 1, int64), "alpha = 0.5 does not fit int64"));
    CHECK(contains(with_factors(2, 0, bool_), "alpha = 2 does not fit bool"));
    CHECK(c.to_doubles() == std::vector<double>(4, 5));
}

TEST_CASE("strides along which nothing moves may be any number, also under a repeated label") {
    constexpr std::int64_t huge = INT64_MAX / 2 + 1;
    const Tensor b = counting({3}, float64, cpu()), d = zeros({3}, {float64, cpu()});
    const Tensor a(full({1}, 2, {float64, cpu()}).storage(), 0, {1, 1}, {huge, huge}, float64);
    const Contraction plan({float64, {1, 1}, {huge, huge}, "ii"}, {b, "j"}, {d, "j"});
    for (const Tensor &product : {contract(a, "ii", b, "j", "j"), einsum("ii,j", {a, b})})
        CHECK(product.to_doubles() == (2 * b).to_doubles());
}
