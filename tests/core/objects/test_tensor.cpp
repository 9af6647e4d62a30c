// Tensors: shape functions against an oracle of element numbers, flags, clones, reading.
#include "../model.hpp"

using namespace Atoll;
using namespace support;

namespace {

// Below n.
std::int64_t pick(Random &random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

// Runs body(tensor, its model) on random tensors of ranks [low, high].
template <class Body> void on_random(std::uint64_t seed, int low, int high, Body &&body) {
    Random random(seed);
    for (int trial = 0; trial < 300; ++trial) {
        const Tensor tensor =
            random_view(random, low + static_cast<int>(pick(random, high - low + 1)), cpu());
        const Model model = model_of(tensor);
        std::string text;
        for (int i = 0; i < tensor.rank(); ++i)
            text +=
                std::to_string(tensor.extent(i)) + "(" + std::to_string(tensor.strides()[i]) + ") ";
        CAPTURE(text);
        body(tensor, model, random);
    }
}

bool shares(const Tensor &a, const Tensor &b) { return a.storage() == b.storage(); }

// Byte offsets of all elements, column-major.
std::vector<std::int64_t> offsets_of(const Tensor &tensor) {
    std::vector<std::int64_t> offsets;
    oracle::each(shape_of(tensor.shape()), [&](const Shape &index) {
        std::int64_t at = tensor.offset();
        for (int i = 0; i < tensor.rank(); ++i)
            at += index[static_cast<std::size_t>(i)] * tensor.strides()[i];
        offsets.push_back(at);
    });
    return offsets;
}

// Whether some strides lay `shape` over exactly these offsets: they must be affine in the index.
bool viewable(const std::vector<std::int64_t> &offsets, const Shape &shape) {
    if (offsets.empty()) return true;
    Shape strides(shape.size(), 0);
    std::int64_t step = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] > 1) strides[axis] = offsets[static_cast<std::size_t>(step)] - offsets[0];
        step *= shape[axis];
    }
    bool affine = true;
    std::size_t k = 0;
    oracle::each(shape, [&](const Shape &index) {
        std::int64_t at = offsets[0];
        for (std::size_t axis = 0; axis < shape.size(); ++axis) at += index[axis] * strides[axis];
        affine = affine && at == offsets[k++];
    });
    return affine;
}

// All factorisations of a count in order, as candidate shapes.
Shape random_shape(std::int64_t count, Random &random) {
    Shape shape;
    while (count > 1 && shape.size() < 5) {
        std::vector<std::int64_t> divisors;
        for (std::int64_t d = 1; d <= count; ++d)
            if (count % d == 0) divisors.push_back(d);
        shape.push_back(divisors[static_cast<std::size_t>(pick(random, std::ssize(divisors)))]);
        count /= shape.back();
    }
    if (count != 1) shape.push_back(count);
    return shape;
}

// Every function that makes a view of a matrix of any rank >= 2.
std::vector<Tensor> every_view(const Tensor &t) {
    std::vector<Tensor> views = {t.T(),
                                 t.reshape({t.size()}),
                                 t.flatten(),
                                 t.flatten(Order::K),
                                 t.squeeze(),
                                 t.unsqueeze(0),
                                 t.unsqueeze(0).squeeze(0),
                                 t.swap_axes(0, 1),
                                 t.permute_axes({1, 0}),
                                 t.reverse_axes(),
                                 t.reverse_axes2(),
                                 t.flip(0),
                                 t.broadcast_to(t.shape()),
                                 t.diag(),
                                 t.real(),
                                 t.imag(),
                                 t.slice(0, 0, 1),
                                 t.split(0, 1)[0],
                                 t.shallow_copy(),
                                 t.view_as(t.dtype()),
                                 t(0),
                                 t(all_, range(0, 1)),
                                 t(newaxis, ellipsis)};
    return views;
}

} // namespace

// --- shape functions -----------------------------------------------------------------------------

TEST_CASE("T exchanges the first two axes and is its own inverse") {
    on_random(1, 0, 4, [](const Tensor &t, const Model &m, Random &) {
        const Tensor r = t.T();
        CHECK(shares(r, t));
        Shape shape = m.shape;
        if (shape.size() == 1) shape.push_back(1);
        if (shape.size() >= 2) std::swap(shape[0], shape[1]);
        CHECK(model_of(r) == m.map(shape, [&](Shape index) {
            if (index.size() >= 2) std::swap(index[0], index[1]);
            index.resize(m.shape.size());
            return index;
        }));
        if (t.rank() == 1)
            CHECK(model_of(r.T()).numbers == m.numbers);
        else
            CHECK(model_of(r.T()) == m); // twice is nothing
    });
    const Tensor v = arange(4, {cpu()});
    CHECK(v.T().shape() == Dims{1, 4});
    CHECK(v.T().T().shape() == Dims{4, 1});
    CHECK(zeros({1}, {cpu()}).T().shape() == Dims{1, 1});
    CHECK(zeros({1, 1}, {cpu()}).T().shape() == Dims{1, 1});
    CHECK(zeros({1, 1, 1}, {cpu()}).T().shape() == Dims{1, 1, 1});
    CHECK(zeros({1, 3}, {cpu()}).T().shape() == Dims{3, 1});
    CHECK(zeros({3, 1}, {cpu()}).T().shape() == Dims{1, 3});
}

TEST_CASE("H conjugates, and is a view only of real tensors") {
    for (const Device device : all_devices()) {
        const std::complex<double> values[] = {{1, 2}, {3, -4}, {5, 0}, {0, -6}, {7, 7}, {8, -8}};
        const Tensor z =
            vector(std::span<const std::complex<double>>(values), {device}).reshape({2, 3});
        const Tensor h = z.H();
        CHECK(h.shape() == Dims{3, 2});
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 3; ++j)
                CHECK(h(j, i).item().to_complex() == std::conj(values[i + 2 * j]));
        CHECK(!shares(h, z));
        const Tensor r = zeros({2, 3}, {float32, device});
        CHECK(shares(r.H(), r));
    }
}

TEST_CASE("reshape is column-major, and a view exactly where strides allow it") {
    int views = 0, copies = 0;
    on_random(2, 0, 4, [&](const Tensor &t, const Model &m, Random &random) {
        if (t.size() == 0) return;
        for (int trial = 0; trial < 4; ++trial) {
            const Shape shape = random_shape(t.size(), random);
            Dims asked = dims(shape);
            if (!shape.empty() && trial % 2)
                asked[static_cast<int>(pick(random, std::ssize(shape)))] = -1;
            const Tensor r = t.reshape(asked);
            CHECK(model_of(r) == Model{shape, m.numbers});
            CHECK(shares(r, t) == viewable(offsets_of(t), shape));
            ++(shares(r, t) ? views : copies);
        }
    });
    CHECK(views > 100);
    CHECK(copies > 100);
    const Tensor t = arange(6, {cpu()});
    for (const Dims &bad :
         {Dims{4}, Dims{-1, -1}, Dims{4, -1}, Dims{-2, 3}, Dims{}, Dims{0, -1}, Dims{-1, 0}})
        CHECK(error_status([&] { (void)t.reshape(bad); }) == Status::invalid_argument);
    CHECK(arange(0, {cpu()}).reshape({3, 0}).shape() == Dims{3, 0});
    CHECK(arange(0, {cpu()}).reshape({3, -1}).shape() == Dims{3, 0});
}

TEST_CASE("flatten goes in column-major, row-major, memory or the tensor's own order") {
    on_random(3, 0, 4, [](const Tensor &t, const Model &m, Random &) {
        CHECK(model_of(t.flatten()) == Model{{t.size()}, m.numbers});
        const Tensor reversed = t.reverse_axes();
        CHECK(model_of(t.flatten(Order::C)) == Model{{t.size()}, model_of(reversed).numbers});
        const bool c = t.is_contiguous(Order::C) && !t.is_contiguous(Order::F);
        CHECK(model_of(t.flatten(Order::A)) == model_of(t.flatten(c ? Order::C : Order::F)));
        const Tensor k = t.flatten(Order::K);
        CHECK(k.size() == t.size());
        auto sorted = m.numbers, kept = model_of(k).numbers;
        std::sort(sorted.begin(), sorted.end());
        std::sort(kept.begin(), kept.end());
        CHECK(sorted == kept);
    });
    const Tensor row_major = arange(6, {cpu()}).reshape({3, 2}).T();
    CHECK(shares(row_major.flatten(Order::K), row_major));
    CHECK(row_major.flatten(Order::K).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
    CHECK(row_major.flatten(Order::A).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("axes are squeezed, inserted, swapped, permuted, reversed and flipped") {
    on_random(4, 0, 4, [](const Tensor &t, const Model &m, Random &random) {
        const auto rank = static_cast<std::int64_t>(m.shape.size());
        Shape squeezed;
        for (std::int64_t extent : m.shape)
            if (extent != 1) squeezed.push_back(extent);
        CHECK(model_of(t.squeeze()) == Model{squeezed, m.numbers});
        CHECK(shares(t.squeeze(), t));

        const auto at = static_cast<int>(pick(random, rank + 1));
        Shape raised = m.shape;
        raised.insert(raised.begin() + at, 1);
        CHECK(model_of(t.unsqueeze(at)) == Model{raised, m.numbers});
        CHECK(model_of(t.unsqueeze(at - static_cast<int>(rank) - 1)) == Model{raised, m.numbers});
        CHECK(model_of(t.unsqueeze(at).squeeze(at)) == m);

        std::vector<int> axes(m.shape.size());
        std::iota(axes.begin(), axes.end(), 0);
        std::shuffle(axes.begin(), axes.end(), random);
        Shape permuted(m.shape.size());
        for (std::size_t i = 0; i < axes.size(); ++i)
            permuted[i] = m.shape[static_cast<std::size_t>(axes[i])];
        const auto back = [&](const Shape &index) {
            Shape source(index.size());
            for (std::size_t i = 0; i < axes.size(); ++i)
                source[static_cast<std::size_t>(axes[i])] = index[i];
            return source;
        };
        std::vector<int> named = axes;
        for (int &axis : named)
            if (random() % 2) axis -= static_cast<int>(rank);
        CHECK(model_of(t.permute_axes(named)) == m.map(permuted, back));

        Shape turned(m.shape.rbegin(), m.shape.rend());
        CHECK(model_of(t.reverse_axes()) ==
              m.map(turned, [](const Shape &i) { return Shape(i.rbegin(), i.rend()); }));
        if (rank >= 2) {
            std::swap(turned[0], turned[1]);
            CHECK(model_of(t.reverse_axes2()) == m.map(turned, [](Shape i) {
                std::swap(i[0], i[1]);
                return Shape(i.rbegin(), i.rend());
            }));
        }
        if (rank == 0) return;
        const auto axis = static_cast<std::size_t>(pick(random, rank));
        CHECK(model_of(t.flip(static_cast<int>(axis) - static_cast<int>(rank))) ==
              m.map(m.shape, [&](Shape i) {
                  i[axis] = m.shape[axis] - 1 - i[axis];
                  return i;
              }));
        const auto other = static_cast<std::size_t>(pick(random, rank));
        Shape swapped = m.shape;
        std::swap(swapped[axis], swapped[other]);
        CHECK(model_of(t.swap_axes(static_cast<int>(axis), static_cast<int>(other))) ==
              m.map(swapped, [&](Shape i) {
                  std::swap(i[axis], i[other]);
                  return i;
              }));
    });
    const Tensor t = zeros({2, 3}, {cpu()});
    CHECK_THROWS_AS((void)t.squeeze(0), Error);
    CHECK_THROWS_AS((void)t.squeeze(2), Error);
    CHECK_THROWS_AS((void)t.unsqueeze(3), Error);
    CHECK_THROWS_AS((void)t.swap_axes(0, 2), Error);
    CHECK_THROWS_AS((void)t.permute_axes({0, 0}), Error);
    CHECK_THROWS_AS((void)t.permute_axes({0, -2}), Error);
    CHECK_THROWS_AS((void)t.permute_axes({0}), Error);
    CHECK_THROWS_AS((void)t.flip(-3), Error);
}

TEST_CASE("broadcast_to stretches unit axes, aligned at the first or the last axis") {
    on_random(5, 0, 3, [](const Tensor &t, const Model &m, Random &random) {
        for (bool left : {true, false}) {
            Shape shape = m.shape;
            for (std::int64_t &extent : shape)
                if (extent == 1) extent = 1 + pick(random, 3);
            const auto more = static_cast<std::size_t>(pick(random, 3));
            for (std::size_t i = 0; i < more; ++i)
                shape.insert(left ? shape.end() : shape.begin(), 1 + pick(random, 3));
            const Tensor r = t.broadcast_to(dims(shape), {.align_left = left});
            CHECK(shares(r, t));
            CHECK(r.is_read_only() == (shape != m.shape));
            CHECK(model_of(r) == m.map(shape, [&](Shape i) {
                if (!left) i.erase(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(more));
                i.resize(m.shape.size());
                for (std::size_t a = 0; a < i.size(); ++a)
                    if (m.shape[a] == 1) i[a] = 0;
                return i;
            }));
        }
    });
    const Tensor t = zeros({2, 3}, {cpu()});
    CHECK_THROWS_AS((void)t.broadcast_to({3, 3}), Error);
    CHECK_THROWS_AS((void)t.broadcast_to({2}), Error);
    CHECK_THROWS_AS((void)t.broadcast_to({4, 2, 3}), Error);
    CHECK_NOTHROW((void)t.broadcast_to({4, 2, 3}, {.align_left = false}));
    CHECK_THROWS_AS((void)t.broadcast_to({2, 3, 4}, {.align_left = false}), Error);
}

TEST_CASE("a diagonal is a view that can be written through") {
    on_random(6, 2, 4, [](const Tensor &t, const Model &m, Random &) {
        for (std::int64_t k = -m.shape[0]; k <= m.shape[1]; ++k) {
            std::int64_t n = 0;
            for (std::int64_t i = 0; i < m.shape[0]; ++i) n += i + k >= 0 && i + k < m.shape[1];
            Shape shape = m.shape;
            shape.erase(shape.begin());
            shape[0] = n;
            const Tensor r = t.diag(k);
            CHECK(shares(r, t));
            CHECK(model_of(r) == m.map(shape, [&](Shape i) {
                const std::int64_t at = i[0];
                i[0] = at + std::max<std::int64_t>(k, 0);
                i.insert(i.begin(), at + std::max<std::int64_t>(-k, 0));
                return i;
            }));
        }
        CHECK_THROWS_AS((void)t.diag(m.shape[1] + 1), Error);
    });
    const Tensor t = zeros({3, 3}, {int64, cpu()});
    t.diag() += 1;
    CHECK(model_of(t) == model_of(eye(3, 3, 0, {int64, cpu()})));
    CHECK_THROWS_AS((void)zeros({3}, {cpu()}).diag(), Error);
}

TEST_CASE("real and imag are views of the parts; imag of reals is read-only zeros") {
    for (const Device device : all_devices())
        for (DType dtype : {complex32, complex64, complex128}) {
            const Tensor z = full({2, 3}, std::complex<double>(3, 4), {dtype, device});
            CHECK(z.real().dtype() == info(dtype).part);
            z.imag() += 1;
            z.real().assign(7);
            for (const Value &v : values_of(z)) CHECK((v.re == 7 && v.im == 5));
        }
    const Tensor r = ones({2, 3}, {float32, cpu()});
    CHECK(shares(r.real(), r));
    CHECK(r.imag().shape() == r.shape());
    CHECK(r.imag().strides() == Dims{0, 0});
    CHECK(r.imag().is_read_only());
    CHECK(r.imag().to_doubles() == std::vector<double>(6, 0.0));
    CHECK_THROWS_AS(r.imag().fill(1), Error);
}

TEST_CASE("slice and split cut views; concatenate and stack put copies together") {
    on_random(7, 1, 4, [](const Tensor &t, const Model &m, Random &random) {
        const auto axis = static_cast<std::size_t>(pick(random, std::ssize(m.shape)));
        const int a = static_cast<int>(axis);
        const std::int64_t n = m.shape[axis];
        const std::int64_t begin = pick(random, n + 1), end = begin + pick(random, n - begin + 1);
        Shape shape = m.shape;
        shape[axis] = end - begin;
        const Model cut = m.map(shape, [&](Shape i) {
            i[axis] += begin;
            return i;
        });
        CHECK(shares(t.slice(a, begin, end), t));
        CHECK(model_of(t.slice(a, begin, end)) == cut);
        if (begin < n && end < n && end > 0)
            CHECK(model_of(t.slice(a - t.rank(), begin - n, end - n)) == cut);
        CHECK_THROWS_AS((void)t.slice(a, 0, n + 1), Error);
        const Tensor pieces[] = {t.slice(a, 0, begin), t.slice(a, begin, end), t.slice(a, end, n)};
        CHECK(model_of(concatenate(pieces, a)) == m);
        if (n > 0) {
            CHECK(model_of(concatenate(t.split(a, n), a)) == m);
            std::vector<Tensor> layers;
            for (std::int64_t i = 0; i < n; ++i) layers.push_back(t.slice(a, i, i + 1).squeeze(a));
            CHECK(model_of(stack(layers, a)) == m);
        }
        if (n > 0) CHECK_THROWS_AS((void)t.split(a, n + 1), Error);
        CHECK_THROWS_AS((void)t.split(a, 0), Error);
    });
    const Tensor mixed[] = {ones({2}, {int8, cpu()}), full({1}, 2.5, {float32, cpu()})};
    const Tensor joined = concatenate(mixed, 0);
    CHECK(joined.dtype() == float32);
    CHECK(joined.to_doubles() == std::vector<double>{1, 1, 2.5});
    const Tensor unequal[] = {ones({2, 2}, {cpu()}), ones({2, 3}, {cpu()})};
    CHECK(error_status([&] {
              stack({counting({2}, int8, cpu()), counting({3}, int8, cpu())}, 0);
          }) == Status::invalid_argument);
    CHECK(contains(error_text([] { stack(std::span<const Tensor>(), 0); }), "stack"));
    CHECK_THROWS_AS(concatenate(unequal, 0), Error);
    CHECK(concatenate(unequal, 1).shape() == Dims{2, 5});
    CHECK(contains(error_text([&] { stack(unequal, 0); }), "(2, 3)"));
    CHECK_THROWS_AS(concatenate({}, 0), Error);
    CHECK_THROWS_AS(stack({}, 0), Error);
}

// --- flags, copies, reading ----------------------------------------------------------------------

TEST_CASE("read-only and byte order never drop out of a view") {
    for (const Device device : all_devices()) {
        Tensor t = counting({3, 3}, complex64, device);
        t.byteswap();
        CHECK(t.is_byteswapped());
        const std::vector<double> before = t.to_doubles();
        for (bool through_storage : {false, true}) {
            Tensor original = through_storage ? t : t.shallow_copy();
            Storage storage = original.storage();
            if (through_storage)
                storage.set_read_only();
            else
                original.set_read_only();
            int number = 0;
            for (Tensor view : every_view(original)) {
                CAPTURE(number++);
                CHECK(view.is_read_only());
                CHECK(view.is_byteswapped());
                CHECK_THROWS_AS(view.fill(1), Error);
                CHECK_THROWS_AS(view += 1, Error);
                CHECK_THROWS_AS(view.byteswap(), Error);
                CHECK_THROWS_AS(view.assign(0), Error);
            }
            CHECK(t.to_doubles() == before);
            if (through_storage) storage.set_read_only(false);
        }
        CHECK(!t.is_read_only());
        for (const Tensor &copy : {t.clone(), t.replicate(), t.cast(t.dtype()), t + 0})
            CHECK(!copy.is_read_only());
    }
}

TEST_CASE("flags of one tensor object do not leak into others on the same data") {
    Tensor t = arange(4, {float32, cpu()});
    Tensor view = t.shallow_copy(), same = t;
    view.set_read_only();
    CHECK(!t.is_read_only());
    same.set_read_only();
    CHECK(t.is_read_only()); // a handle shares the object
    t.set_read_only(false);
    CHECK(view.is_read_only());
    CHECK_NOTHROW(t.fill(1));
}

TEST_CASE("the byte order is the tensor's flag XOR the storage's") {
    for (const Device device : all_devices()) {
        Tensor t = vector<std::int32_t>({1, 256, -2}, {device});
        Storage storage = t.storage();
        storage.set_byteswapped(true);
        CHECK(t.is_byteswapped());
        CHECK(t.to_vector<std::int32_t>()[0] == 1 << 24);
        t.set_byteswapped(false);
        CHECK(!t.is_byteswapped());
        CHECK(t.to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 256, -2});
        storage.set_byteswapped(false);
        CHECK(t.is_byteswapped());
        t.byteswap(); // flag and data: the values stay what they were
        CHECK(!t.is_byteswapped());
        CHECK(t.to_vector<std::int32_t>()[0] == 1 << 24);
    }
}

TEST_CASE("a clone keeps layout, zero strides and byte order") {
    on_random(8, 0, 4, [](const Tensor &t, const Model &m, Random &random) {
        if (random() % 2 && !t.is_self_overlapping()) Tensor(t).byteswap();
        const Tensor c = t.clone();
        CHECK(model_of(c) == m);
        CHECK(!shares(c, t));
        CHECK(c.is_byteswapped() == t.is_byteswapped());
        for (int i = 0; i < t.rank(); ++i) {
            if (t.extent(i) <= 1) continue;
            CHECK((c.strides()[i] < 0) == (t.strides()[i] < 0));
            CHECK((c.strides()[i] == 0) == (t.strides()[i] == 0));
            for (int j = 0; j < t.rank(); ++j)
                if (t.extent(j) > 1 && std::abs(t.strides()[i]) < std::abs(t.strides()[j]))
                    CHECK(std::abs(c.strides()[i]) <= std::abs(c.strides()[j]));
        }
        CHECK(model_of(t.clone(device("dummy:1"))) == m);
        CHECK(!t.clone(device("dummy:1")).is_byteswapped());
        CHECK(model_of(t.replicate()) == m);
        CHECK(t.replicate().is_contiguous(Order::F));
        CHECK(!t.replicate().is_byteswapped());
        CHECK(model_of(t.as_contiguous(Order::C)) == m);
        CHECK(t.as_contiguous(Order::C).is_contiguous(Order::C));
    });
    const Tensor dense = zeros({2, 3}, {cpu()});
    CHECK(shares(dense.as_contiguous(), dense));
    CHECK(!shares(dense.clone(), dense));
    CHECK(shares(dense.ensure(float32), dense));
    CHECK(!shares(dense.cast(float32), dense));
    CHECK(dense.cast(int8).dtype() == int8);
    CHECK(dense.to(device("dummy:0")).device() == device("dummy:0"));
}

TEST_CASE("a detached tensor has data of its own, and keeps its layout and flags") {
    for (const Device device : all_devices()) {
        Tensor whole = counting({2, 3}, int32, device);
        Tensor view = whole.T(), other = whole.shallow_copy();
        const Tensor same = view; // another handle on the same tensor
        view.set_read_only();
        const Dims strides = view.strides();
        view.detach();
        CHECK(view.strides() == strides);
        CHECK(view.is_read_only());
        CHECK(same.storage() == view.storage());
        CHECK(!(view.storage() == whole.storage()));
        whole.fill(9);
        CHECK(other.to_doubles() == std::vector<double>(6, 9));
        CHECK(view.to_doubles() == std::vector<double>{0, 2, 4, 1, 3, 5});
        CHECK(counting({3, 1}, int32, device).broadcast_like(whole.T()).shape() == Dims{3, 2});
    }
}

TEST_CASE("the truth of a tensor is that of its only element") {
    for (const Device device : all_devices()) {
        CHECK(static_cast<bool>(ones({1, 1}, {float16, device})));
        CHECK(!zeros({}, {complex64, device}));
        CHECK(static_cast<bool>(full({1}, std::complex<double>(0, 1), {complex64, device})));
        CHECK_THROWS_AS(static_cast<bool>(ones({2}, {bool_, device})), Error);
    }
    CHECK_THROWS_AS(static_cast<bool>(Tensor()), Error);
    CHECK(!Tensor().is_defined());
}

TEST_CASE("dealloc leaves an empty tensor that still knows its dtype and device") {
    for (const Device device : all_devices()) {
        Tensor t = zeros({3, 4}, {float64, device}), handle = t;
        t.dealloc();
        CHECK(handle.size() == 0);
        CHECK(handle.shape() == Dims{0});
        CHECK(handle.dtype() == float64);
        CHECK(handle.device() == device);
        CHECK(handle.to_doubles().empty());
        CHECK(add(handle, 1).size() == 0);
        CHECK(exp(handle).shape() == Dims{0});
        CHECK(equal(t, handle).shape() == Dims{0});
        CHECK(sort(handle).shape() == Dims{0});
        CHECK(sum(handle).to_doubles() == std::vector<double>{0});
        CHECK_THROWS_AS(max(handle), Error);
        CHECK_THROWS_AS(add(handle, zeros({12}, {float64, device})), Error);
        CHECK_NOTHROW(t.dealloc());
    }
}

TEST_CASE("dealloc frees the data at once for all that share the storage by the handle") {
    double data[2] = {};
    int deleted = 0;
    Tensor t = from_memory(data, {2}, {8}, float64, cpu(), [&] { ++deleted; });
    const Tensor same = t;
    t.dealloc();
    CHECK(deleted == 1);
    CHECK(same.size() == 0);
}

TEST_CASE("item and read give values of any layout on any device") {
    for (const Device device : all_devices()) {
        CHECK(full({1, 1, 1}, 3, {int16, device}).item().to_int() == 3);
        CHECK(full({}, 2.5, {bfloat16, device}).item().to_double() == 2.5);
        const Scalar z = full({1}, std::complex<double>(1, -2), {complex32, device}).item();
        CHECK(z.dtype() == complex32);
        CHECK(z.to_complex() == std::complex<double>(1, -2));
        CHECK(!z.is_weak());
        CHECK(contains(error_text([&] { (void)zeros({2}, {device}).item(); }), "2"));
        CHECK_THROWS_AS((void)zeros({0}, {device}).item(), Error);
        Random random(9);
        for (int trial = 0; trial < 60; ++trial) {
            const Tensor t = random_view(random, static_cast<int>(pick(random, 4)), device);
            std::vector<float> floats(static_cast<std::size_t>(t.size()));
            t.read(floats.data(), float32);
            const Model m = model_of(t);
            CHECK(t.to_vector<std::int64_t>() == m.numbers);
            CHECK(std::equal(floats.begin(), floats.end(), m.numbers.begin(), m.numbers.end(),
                             [](float a, std::int64_t b) { return a == static_cast<float>(b); }));
        }
    }
}

TEST_CASE("views of nothing stay inside their storage") {
    const Tensor e = zeros({0, 5}, {float32, cpu()}), w = zeros({5, 0}, {float32, cpu()});
    for (const Tensor &view : std::initializer_list<Tensor>{
             e.flip(1), e.slice(1, 2, 5), e(all_, 3), e.diag(4), e(all_, range(4, {}, -1)), w(3),
             w.flip(0), w(range(2, {})), w.split(0, 5)[4], e.T().flip(0),
             zeros({3}, {cpu()})(range(3, {}))}) {
        CHECK(view.size() == 0);
        CHECK(view.offset() >= 0);
        CHECK(view.offset() <= view.storage().bytes());
        CHECK_NOTHROW((void)view.clone());
    }
}

TEST_CASE("no dtype is no dtype to convert to") {
    for (const Device device : all_devices()) {
        const Tensor t = ones({2}, {float32, device});
        char bytes[8];
        CHECK_THROWS_AS((void)t.cast(DType::none), Error);
        CHECK_THROWS_AS((void)t.view_as(DType::none), Error);
        CHECK_THROWS_AS(t.read(bytes, DType::none), Error);
        CHECK_THROWS_AS(from_values(bytes, DType::none, 2, {device}), Error);
        CHECK_THROWS_AS(add(t, Scalar(1).cast(DType::none)), Error);
    }
}

TEST_CASE("an undefined tensor is refused by every use") {
    Tensor nothing;
    CHECK(!nothing.is_defined());
    CHECK_THROWS_AS((void)nothing.rank(), Error);
    CHECK_THROWS_AS((void)nothing.T(), Error);
    CHECK_THROWS_AS(nothing.fill(1), Error);
    CHECK_THROWS_AS(add(nothing, 1), Error);
    CHECK_THROWS_AS(sum(nothing), Error);
    CHECK_THROWS_AS(matmul(nothing, nothing), Error);
    CHECK_THROWS_AS(zeros({2}, {cpu()}).assign(nothing), Error);
    CHECK_THROWS_AS((void)nothing.clone(), Error);
}

TEST_CASE("the shape of a temporary outlives it") {
    std::int64_t product = 1;
    for (const std::int64_t extent : ones({2, 3}, {float32, cpu()}).T().shape()) product *= extent;
    CHECK(product == 6);
}

TEST_CASE("strides of axes that are never walked may be anything") {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
    const Storage storage(64, cpu(), float32);
    CHECK(Tensor(storage, 0, {1}, {least}, float32).flip(0).size() == 1);
    const Tensor empty_one(storage, 0, {0, 5}, {1, most}, float32);
    CHECK(empty_one.flip(1).unsqueeze(2)(all_, 3).size() == 0);
    CHECK(Tensor(storage, 0, {1, 1}, {most, most}, float32).diag().size() == 1);
}

TEST_CASE("the deleter of a tensor let go may use the library's registry") {
    float data[2] = {};
    bool ran = false;
    Tensor t = from_memory(data, {2}, {4}, float32, cpu(), [&] {
        load_plugin("cpu");
        ran = true;
    });
    t.dealloc();
    CHECK(ran);
    CHECK(t.size() == 0);
}
