// Random programs give the same on every device: tensors of any dtype, shape, layout and stream;
// all functions, views, assignments, casts and moves. What an asynchronous device computes is only
// right if the library ordered its streams, and latencies that come and go leave no order to luck.
//
// ATOLL_TEST_OPERATIONS sets the number of operations, ATOLL_TEST_SEED another sequence,
// ATOLL_TEST_CASE runs one program of it alone.
#include "views.hpp"

#include <doctest/doctest.h>

using namespace views;
using Atoll::DType;
using Atoll::Tensor;
using oracle::Value;

namespace {

// The same program runs in every world; tensors at the same index of the pools correspond.
struct World {
    std::string name;
    std::vector<Atoll::Placement> places; // without dtypes
    std::vector<Tensor> pool;
};

World world_of(const std::string &type) {
    Atoll::load(type);
    const Atoll::Device first = Atoll::device(type);
    const Atoll::Device second = type == "dummy" ? Atoll::device("dummy:1") : first;
    World world;
    world.name = type;
    world.places = {{DType::none, first},
                    {DType::none, first, first.new_stream()},
                    {DType::none, first, first.new_stream()},
                    {DType::none, second, second.new_stream()},
                    {DType::none, Atoll::device("cpu")}};
    return world;
}

// Elements in column-major order.
std::vector<Value> values_of(const Tensor &tensor, DType as) {
    const auto itemsize = static_cast<std::size_t>(Atoll::size_of(as));
    std::vector<char> bytes(static_cast<std::size_t>(tensor.size()) * itemsize);
    tensor.read(bytes.data(), as);
    std::vector<Value> values;
    for (std::size_t at = 0; at < bytes.size(); at += itemsize)
        values.push_back(oracle::read(bytes.data() + at, id(as)));
    return values;
}

class Program {
public:
    Program(std::vector<World> &worlds, std::uint64_t seed) : worlds_(worlds), random_(seed) {
        for (World &world : worlds_) world.pool.clear();
        shaky_ = chance(random_, 40);
    }
    ~Program() {
        Atoll::configure("dummy", "fault", "");
        for (World &world : worlds_) world.pool.clear();
    }

    // Returns what is wrong, with the program; empty if nothing is.
    std::string run(int operations) {
        for (int i = 0; i < 4; ++i) create();
        for (int i = 0; i < operations && wrong_.empty(); ++i) {
            if (shaky_)
                Atoll::configure("dummy", "fault", chance(random_, 25) ? "latency:300" : "");
            step();
        }
        for (std::size_t t = 0; t < worlds_[0].pool.size() && wrong_.empty(); ++t) compare(t);
        std::ostringstream out;
        if (!wrong_.empty()) out << wrong_ << "\nprogram:\n" << log_.str();
        return out.str();
    }
    int refused() const { return refused_; }

private:
    std::size_t any() { return static_cast<std::size_t>(below(random_, count())); }
    std::int64_t count() const { return static_cast<std::int64_t>(worlds_[0].pool.size()); }
    // As the first world has it: facts about shapes and dtypes are the same in all.
    const Tensor &fact(std::size_t t) const { return worlds_[0].pool[t]; }

    std::string tensor_text(std::size_t t) const {
        std::ostringstream out;
        out << '#' << t << ' ' << name(fact(t).dtype()) << '(';
        for (std::int64_t n : fact(t).shape()) out << n << ',';
        out << ')';
        return out.str();
    }

    // Runs body(world) in every world; all must agree on whether it is an error.
    template <class Body> bool everywhere(const Body &body) {
        Atoll::Status first = Atoll::Status::ok;
        std::string text;
        for (std::size_t w = 0; w < worlds_.size(); ++w) {
            Atoll::Status status = Atoll::Status::ok;
            std::string what;
            try {
                body(worlds_[w]);
            } catch (const Atoll::Error &error) {
                status = error.status();
                what = error.what();
            }
            if (w == 0)
                first = status, text = what;
            else if (status != first && wrong_.empty())
                wrong_ = worlds_[w].name + " gave '" + what + "' where " + worlds_[0].name +
                         " gave '" + text + "'";
        }
        if (first != Atoll::Status::ok) ++refused_, log_ << "    -> " << text << '\n';
        return first == Atoll::Status::ok && wrong_.empty();
    }

    // Where a new tensor goes: a new index, or in place of an old one, which frees that.
    std::size_t slot() { return count() < 10 ? static_cast<std::size_t>(count()) : any(); }
    // make(world) is the new tensor.
    template <class Make> bool put(std::size_t to, const Make &make) {
        std::vector<Tensor> made;
        const bool fine = everywhere([&](World &world) { made.push_back(make(world)); });
        if (!fine || made[0].size() > 4096) return false;
        for (std::size_t w = 0; w < worlds_.size(); ++w) {
            std::vector<Tensor> &pool = worlds_[w].pool;
            pool.resize(std::max(pool.size(), to + 1));
            pool[to] = made[w];
        }
        return true;
    }

    // ---- comparing ------------------------------------------------------------------------------

    void compare(std::size_t t) {
        const DType dtype = fact(t).dtype();
        const std::vector<Value> want = values_of(fact(t), dtype);
        for (std::size_t w = 1; w < worlds_.size(); ++w) {
            const std::vector<Value> got = values_of(worlds_[w].pool[t], dtype);
            for (std::size_t i = 0; i < want.size(); ++i) {
                if (oracle::same(got[i], want[i], id(dtype), 0)) continue;
                std::ostringstream out;
                out << tensor_text(t) << " element " << i << " is " << oracle::text(got[i])
                    << " on " << worlds_[w].name << ", " << oracle::text(want[i]) << " on "
                    << worlds_[0].name;
                wrong_ = out.str();
                return;
            }
        }
    }

    // Largest magnitude; infinite if the tensor has values that do not behave.
    static long double magnitude(const Tensor &tensor) {
        if (tensor.size() == 0) return 0;
        long double largest = 0;
        for (const Value &v : values_of(tensor, Atoll::complex128))
            for (const long double part : {v.re, v.im}) {
                const long double size = std::fabs(part);
                if (!(size == 0 || (size > 1e-3L && size < 1e3L)))
                    return std::numeric_limits<long double>::infinity();
                largest = std::max(largest, size);
            }
        return largest;
    }

    // After a function whose last digits are free: the results must be within `tolerance`, an
    // absolute one or, where it is negative, -tolerance relative to each element; then all worlds
    // go on with the first one's.
    void settle(std::size_t t, long double tolerance) {
        const Tensor &reference = fact(t);
        const DType dtype = reference.dtype();
        if (reference.size() == 0) return;
        const std::vector<Value> want = values_of(reference, Atoll::complex128);
        for (std::size_t w = 1; w < worlds_.size(); ++w) {
            const Tensor &tensor = worlds_[w].pool[t];
            const std::vector<Value> got = values_of(tensor, Atoll::complex128);
            for (std::size_t i = 0; i < want.size() && std::isfinite(tolerance); ++i) {
                if (dtype == Atoll::bool_) break; // a zero on one side only
                const long double size = std::max(std::fabs(want[i].re), std::fabs(want[i].im));
                const long double slack = (tolerance < 0 ? -tolerance * size : tolerance) +
                                          (is_integer(dtype) ? 1.0L : 1e-30L);
                // Close to the range of float16; a quotient by zero.
                const bool open =
                    size > 3e4L ||
                    (tolerance < 0 && !(std::isfinite(want[i].re) && std::isfinite(want[i].im)));
                if (open || (oracle::same_part(got[i].re, want[i].re, slack) &&
                             oracle::same_part(got[i].im, want[i].im, slack)))
                    continue;
                std::ostringstream out;
                out << tensor_text(t) << " element " << i << " is " << oracle::text(got[i])
                    << " on " << worlds_[w].name << ", " << oracle::text(want[i]) << " on "
                    << worlds_[0].name << ", tolerance " << static_cast<double>(slack);
                wrong_ = out.str();
                return;
            }
            tensor.assign(reference);
        }
    }

    static long double epsilon(DType natural, DType stored) {
        return std::max(oracle::epsilon(id(natural)), oracle::epsilon(id(stored)));
    }

    // ---- operations -----------------------------------------------------------------------------

    void step() {
        const std::int64_t kind = below(random_, 100);
        if (kind < 14) return create();
        if (kind < 40) return elementwise();
        if (kind < 52) return assign();
        if (kind < 68) return view();
        if (kind < 80) return move();
        if (kind < 85) return reduce();
        if (kind < 90) return product();
        if (kind < 96) return wait();
        compare(any());
    }

    void create() {
        Numbers shape(static_cast<std::size_t>(below(random_, 4)));
        std::int64_t n = 1;
        for (std::int64_t &extent : shape)
            n *= extent = chance(random_, 70) ? 3 : 1 + below(random_, 5);
        const DType dtype = random_dtype(random_);
        std::vector<char> bytes(static_cast<std::size_t>(n * Atoll::size_of(dtype)));
        for (std::int64_t i = 0; i < n; ++i) {
            const auto part = [&] { return static_cast<long double>(below(random_, 33) - 16) / 4; };
            const Value v = oracle::convert(Value::of(part(), part()), id(dtype));
            oracle::write(bytes.data() + i * Atoll::size_of(dtype), id(dtype), false, v);
        }
        const auto place = static_cast<std::size_t>(below(random_, 5));
        const std::size_t to = slot();
        log_ << "  #" << to << " = new at place " << place << '\n';
        put(to, [&](World &world) {
            Atoll::Placement where = world.places[place];
            where.dtype = dtype;
            return Atoll::from_values(bytes.data(), dtype, n, where).reshape(dims(shape));
        });
        log_ << "    " << tensor_text(to) << '\n';
    }

    // A tensor that broadcasts to t, if there is one among a few.
    std::size_t partner(std::size_t t, bool into) {
        std::size_t other = any();
        for (int tries = 0; tries < 6; ++tries, other = any()) {
            const Atoll::Dims &a = fact(t).shape(), &b = fact(other).shape();
            bool fits = !into || b.size() <= a.size();
            for (int i = 0; i < std::min(a.size(), b.size()); ++i)
                fits = fits && (a[i] == b[i] || b[i] == 1 || (!into && a[i] == 1));
            if (fits) return other;
        }
        return chance(random_, 90) ? t : other;
    }

    void elementwise() {
        const bool unary = chance(random_, 40);
        const int function = unary ? ATOLL_FN_negative + static_cast<int>(below(random_, 5))
                                   : ATOLL_FN_add + static_cast<int>(below(random_, 10));
        const std::size_t a = any();
        const bool given = chance(random_, 55);
        const std::size_t to = given ? partner(a, false) : slot();
        const std::size_t b = partner(given ? to : a, given);
        const bool scalar = !unary && chance(random_, 15);
        const Atoll::Scalar value =
            chance(random_, 50) ? Atoll::Scalar(below(random_, 4))
                                : Atoll::Scalar(0.5 * static_cast<double>(below(random_, 9)));
        log_ << "  #" << to << (given ? " := " : " = ") << functions[function].name << " #" << a;
        if (!unary)
            log_ << ' '
                 << (scalar ? "scalar " + std::to_string(value.to_double())
                            : '#' + std::to_string(b));
        log_ << '\n';
        DType common = fact(a).dtype();
        if (scalar)
            common = promote(common, value.dtype());
        else if (!unary)
            common = promote(common, fact(b).dtype());
        const DType compute = compute_dtype(function, common);
        const bool inexact =
            is_complex(compute) &&
            (function == ATOLL_FN_divide || function == ATOLL_FN_sqrt || function == ATOLL_FN_abs);
        long double relative = std::numeric_limits<long double>::infinity();
        if (inexact && std::isfinite(magnitude(fact(a))) &&
            (unary || scalar || std::isfinite(magnitude(fact(b)))))
            relative = -16 * epsilon(compute, given ? fact(to).dtype() : compute);
        const auto call = [&](World &world) {
            const Atoll::Operand left(world.pool[a]),
                right = scalar ? Atoll::Operand(value) : Atoll::Operand(world.pool[b]);
            const Atoll::Out out = given ? Atoll::Out(world.pool[to]) : Atoll::Out();
            return unary ? Atoll::detail::call_unary(function, left, out)
                         : Atoll::detail::call_binary(function, left, right, out);
        };
        const bool done = given ? everywhere([&](World &world) { call(world); }) : put(to, call);
        // A part may cancel where the other does not, and a real destination shows only one.
        if (done && inexact)
            settle(to, given && !is_complex(fact(to).dtype())
                           ? std::numeric_limits<long double>::infinity()
                           : relative);
    }

    void assign() {
        const std::size_t to = any(), from = partner(to, true);
        const std::int64_t kind = below(random_, 7);
        const auto value = static_cast<double>(below(random_, 5));
        log_ << "  #" << to
             << (kind == 0   ? " filled"
                 : kind == 1 ? " += #"
                 : kind == 2 ? " -= #"
                 : kind == 3 ? " *= #"
                             : " <- #")
             << from << '\n';
        everywhere([&](World &world) {
            const Tensor &target = world.pool[to], &source = world.pool[from];
            switch (kind) {
            case 0: target.assign(value); break;
            case 1: target += source; break;
            case 2: target -= source; break;
            case 3: target *= source; break;
            default: target.assign(source); break;
            }
        });
    }

    void view() {
        const std::size_t from = any();
        const int rank = fact(from).rank();
        const auto axis = [&] { return rank ? static_cast<int>(below(random_, rank)) : 0; };
        const std::int64_t kind = below(random_, 12);
        const int a = axis(), b = axis();
        const std::int64_t extent = rank ? fact(from).extent(a) : 1;
        const std::int64_t begin = extent ? below(random_, extent) : 0;
        const std::int64_t end = begin + below(random_, extent - begin + 1);
        const std::size_t to = slot();
        log_ << "  #" << to << " = view " << kind << " of #" << from << " axes " << a << ',' << b
             << " range " << begin << ',' << end << '\n';
        put(to, [&](World &world) -> Tensor {
            const Tensor &t = world.pool[from];
            switch (kind) {
            case 0: return t.T();
            case 1: return t.slice(a, begin, end);
            case 2: return t.flip(a);
            case 3: return t.real();
            case 4: return t.imag();
            case 5: return t.swap_axes(a, b);
            case 6: return t.diag();
            case 7: return t.unsqueeze(a);
            case 8: return t(Atoll::range(begin, {}, 2));
            case 9: return own(t.flatten(), t);
            case 10: return t(begin);
            default: {
                Atoll::Dims wider = t.shape();
                wider.push_back(2);
                return t.broadcast_to(wider);
            }
            }
        });
    }

    // What is a copy in one world and the tensor itself in another becomes a copy in all.
    static Tensor own(const Tensor &tensor, const Tensor &from) {
        return tensor.storage() == from.storage() ? tensor.replicate() : tensor;
    }

    // Copies of all kinds, between dtypes, devices, streams, layouts and byte orders.
    void move() {
        const std::size_t from = any();
        const auto place = static_cast<std::size_t>(below(random_, 5));
        const std::int64_t kind = below(random_, 8);
        const DType dtype = random_dtype(random_);
        const std::size_t to = slot();
        log_ << "  #" << to << " = copy " << kind << " of #" << from << " to place " << place
             << " as " << name(dtype) << '\n';
        put(to, [&](World &world) -> Tensor {
            // Copies keep zero strides on the same type of device only.
            const Tensor &original = world.pool[from];
            const Tensor t = original.is_self_overlapping() ? original.replicate() : original;
            const Atoll::Placement &where = world.places[place];
            switch (kind) {
            case 0: return t.clone();
            case 1: return t.clone().byteswap();
            case 2: return t.cast(dtype);
            case 3: return t.cast(dtype, where.device);
            case 4: return own(t.to(where.device), t);
            case 5: return t.replicate();
            case 6: return own(t.as_contiguous(Atoll::Order::C), t);
            default: {
                const Tensor copy = Atoll::empty(t.shape(), {dtype, where.device, where.stream});
                return copy.assign(t);
            }
            }
        });
    }

    void reduce() {
        const std::size_t from = any();
        const int function = ATOLL_FN_sum + static_cast<int>(below(random_, 7));
        Atoll::Axes axes;
        if (fact(from).rank() && chance(random_, 70))
            axes = Atoll::Axes(static_cast<int>(below(random_, fact(from).rank())));
        const bool keepdims = chance(random_, 30), given = chance(random_, 30);
        const std::size_t to = given ? any() : slot();
        log_ << "  #" << to << (given ? " := " : " = ") << functions[function].name << " #" << from
             << '\n';
        const DType compute = compute_dtype(function, fact(from).dtype());
        const bool inexact =
            is_floating(compute) && function != ATOLL_FN_any && function != ATOLL_FN_all;
        long double tolerance = std::numeric_limits<long double>::infinity();
        if (inexact && function != ATOLL_FN_prod) {
            const auto n = static_cast<long double>(fact(from).size());
            tolerance = 16 * (n + 4) * n * magnitude(fact(from)) *
                        epsilon(compute, given ? fact(to).dtype() : compute);
        }
        const auto call = [&](World &world) {
            return Atoll::detail::call_reduce(function, world.pool[from], axes, keepdims,
                                              given ? Atoll::Out(world.pool[to]) : Atoll::Out());
        };
        const bool done = given ? everywhere([&](World &world) { call(world); }) : put(to, call);
        if (done && inexact) settle(to, tolerance);
    }

    void product() {
        const std::size_t a = any();
        std::size_t b = any();
        for (int tries = 0; tries < 5; ++tries) {
            const Tensor &x = fact(a), &y = fact(b);
            if ((x.rank() > 1 ? x.extent(1) : 1) == (y.rank() > 0 ? y.extent(0) : 1)) break;
            b = any();
        }
        const bool given = chance(random_, 30);
        const std::size_t to = given ? any() : slot();
        log_ << "  #" << to << (given ? " := " : " = ") << "matmul #" << a << " #" << b << '\n';
        const DType compute = promote(fact(a).dtype(), fact(b).dtype());
        const bool inexact = is_floating(compute);
        long double tolerance = 0;
        if (inexact)
            tolerance = 600 * magnitude(fact(a)) * magnitude(fact(b)) *
                        epsilon(compute, given ? fact(to).dtype() : compute);
        if (std::isnan(tolerance)) tolerance = std::numeric_limits<long double>::infinity();
        const auto call = [&](World &world) {
            return Atoll::matmul(world.pool[a], world.pool[b],
                                 given ? Atoll::Out(world.pool[to]) : Atoll::Out());
        };
        const bool done = given ? everywhere([&](World &world) { call(world); }) : put(to, call);
        if (done && inexact) settle(to, tolerance);
    }

    // What a user does with streams; must change nothing.
    void wait() {
        const std::size_t a = any(), b = any();
        const std::int64_t kind = below(random_, 3);
        log_ << "  synchronisation " << kind << '\n';
        everywhere([&](World &world) {
            const Atoll::Stream one = world.pool[a].stream(), other = world.pool[b].stream();
            if (kind == 0) one.synchronize();
            if (kind == 1) one.wait(other.record());
            if (kind == 2) other.record().synchronize();
        });
    }

    std::vector<World> &worlds_;
    Random random_;
    bool shaky_;
    std::ostringstream log_;
    std::string wrong_;
    int refused_ = 0;
};

} // namespace

TEST_CASE("random programs give the same on cpu, dummy and a plugin without capabilities") {
    Atoll::load("cpu");
    {
        std::vector<World> worlds{world_of("cpu"), world_of("dummy"), world_of("dummy_min")};
        const auto seed = static_cast<std::uint64_t>(number_from_environment("ATOLL_TEST_SEED", 1));
        const std::int64_t only = number_from_environment("ATOLL_TEST_CASE", -1);
        constexpr int length = 50;
        const std::int64_t programs =
            number_from_environment("ATOLL_TEST_OPERATIONS", 20'000) / length;
        int failed = 0, refused = 0;
        for (std::int64_t i = only < 0 ? 0 : only; i < (only < 0 ? programs : only + 1); ++i) {
            Program program(worlds, (seed << 40) + static_cast<std::uint64_t>(i));
            const std::string wrong = program.run(length);
            refused += program.refused();
            CHECK_MESSAGE(wrong.empty(), "seed ", seed, ", program ", i, ": ", wrong);
            if (!wrong.empty() && ++failed == 3) break;
        }
        // Most operations are no errors, else this tests little.
        if (only < 0) CHECK(refused * 4 < programs * length);
    }
    // Nothing is left behind.
    CHECK_NOTHROW(Atoll::retire("dummy"));
    CHECK_NOTHROW(Atoll::retire("dummy_min"));
}
