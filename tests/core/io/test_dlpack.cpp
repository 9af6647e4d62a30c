// DLPack: what is exported as other libraries read it, and what they hand over as tensors. The
// structs are an application's own, as its dlpack.h would define them beside our header.
#include "../support.hpp"
#include "../views.hpp"
#include "atoll/dlpack.hpp"

#include <atomic>
#include <limits>
#include <memory>
#include <thread>

struct DLPackVersion {
    std::uint32_t major, minor;
};
struct DLDevice {
    std::int32_t device_type, device_id;
};
struct DLDataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void *data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t *shape, *strides;
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(DLManagedTensor *);
};
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(DLManagedTensorVersioned *);
    std::uint64_t flags;
    DLTensor dl_tensor;
};

using namespace Atoll;
using namespace support;

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

// What DLPack's documentation says of each dtype; code 3 is "opaque".
struct TypeCode {
    DType dtype;
    int code, bits;
};
constexpr TypeCode type_codes[] = {
    {bool_, 6, 8},    {int8, 0, 8},       {int16, 0, 16},     {int32, 0, 32},
    {int64, 0, 64},   {uint8, 1, 8},      {uint16, 1, 16},    {uint32, 1, 32},
    {uint64, 1, 64},  {float16, 2, 16},   {bfloat16, 4, 16},  {float32, 2, 32},
    {float64, 2, 64}, {complex32, 5, 32}, {complex64, 5, 64}, {complex128, 5, 128},
};

// A producer: an array of bytes, shape and strides of its own, and a count of its deleter's calls.
template <class Managed> struct Producer {
    Managed managed{};
    std::vector<std::int64_t> shape, strides;
    std::vector<char> memory = std::vector<char>(1024);
    int deleted = 0;

    explicit Producer(std::vector<std::int64_t> extents = {2, 3},
                      std::vector<std::int64_t> element_strides = {3, 1})
        : shape(std::move(extents)), strides(std::move(element_strides)) {
        for (std::size_t i = 0; i < memory.size() / 4; ++i) {
            const auto value = static_cast<float>(i);
            std::memcpy(memory.data() + 4 * i, &value, 4);
        }
        DLTensor &array = managed.dl_tensor;
        array = {memory.data(),
                 {1, 0},
                 static_cast<std::int32_t>(shape.size()),
                 {2, 32, 1},
                 shape.data(),
                 strides.data(),
                 0};
        managed.manager_ctx = this;
        managed.deleter = [](Managed *self) {
            ++static_cast<Producer *>(self->manager_ctx)->deleted;
        };
        if constexpr (requires { managed.version; }) managed.version = {1, 3};
    }
    Producer(const Producer &) = delete;
    Producer &operator=(const Producer &) = delete;
    DLTensor &array() { return managed.dl_tensor; }
};
using Versioned = Producer<DLManagedTensorVersioned>;
using Unversioned = Producer<DLManagedTensor>;

template <class Managed> struct Delete {
    void operator()(Managed *managed) const { managed->deleter(managed); }
};
using Exported = std::unique_ptr<DLManagedTensorVersioned, Delete<DLManagedTensorVersioned>>;
using ExportedUnversioned = std::unique_ptr<DLManagedTensor, Delete<DLManagedTensor>>;

} // namespace

TEST_CASE("tensors of every dtype and layout come back from DLPack as they were") {
    for (const Device device : all_devices())
        for (const TypeCode &type : type_codes) {
            if (type.dtype == complex32) continue;
            for (const oracle::Layout layout : oracle::layouts)
                for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{4, 1, 3}}) {
                    oracle::Operand source = operand(id(type.dtype), shape, layout);
                    Random random(1);
                    oracle::each(shape, [&](const Shape &at) {
                        source.set(at, Value::of(static_cast<std::int64_t>(random() % 2)));
                    });
                    const Tensor t = upload(source, device);
                    const bool aligned =
                        layout != oracle::Layout::unaligned || info(type.dtype).alignment == 1;
                    if (!aligned) {
                        CHECK(contains(error_text([&] { (void)to_dlpack(t); }), "clone()"));
                        continue;
                    }
                    DLManagedTensorVersioned *managed = to_dlpack(t);
                    const DLTensor &array = managed->dl_tensor;
                    CHECK(managed->version.major == 1);
                    CHECK(managed->flags == 0);
                    CHECK(array.data == t.data());
                    CHECK(array.byte_offset == 0);
                    CHECK(array.ndim == t.rank());
                    CHECK(int(array.dtype.code) == type.code);
                    CHECK(int(array.dtype.bits) == type.bits);
                    CHECK(array.dtype.lanes == 1);
                    for (int axis = 0; axis < t.rank(); ++axis) {
                        CHECK(array.shape[axis] == t.shape()[axis]);
                        CHECK(array.strides[axis] * size_of(type.dtype) == t.strides()[axis]);
                    }
                    const std::vector<Value> expected = values_of(t);
                    const Tensor back = from_dlpack(managed, {.device_type = device.type()});
                    CHECK(back.dtype() == t.dtype());
                    CHECK(back.device() == device);
                    CHECK(back.data() == t.data());
                    CHECK(back.shape() == t.shape());
                    CHECK(back.strides() == t.strides());
                    CHECK(!back.is_read_only());
                    const std::vector<Value> got = values_of(back);
                    REQUIRE(got.size() == expected.size());
                    for (std::size_t i = 0; i < got.size(); ++i)
                        CHECK(oracle::same(got[i], expected[i], id(type.dtype), 0));
                }
        }
}

TEST_CASE("devices have their DLPack codes, and device memory its index") {
    load_devices();
    const DlpackDevice host{1, 0}, first{12, 0}, second{12, 1};
    CHECK(dlpack_device(zeros({2}, {float32, cpu()})) == host);
    CHECK(dlpack_device(zeros({2}, {float32, Atoll::device("dummy:0")})) == first);
    const Tensor t = arange(6, {float32, Atoll::device("dummy:1")});
    CHECK(dlpack_device(t) == second);
    const Tensor back = from_dlpack(to_dlpack(t), {.device_type = "dummy"});
    CHECK(back.device() == Atoll::device("dummy:1"));
    CHECK(back.to_doubles() == std::vector<double>{0, 1, 2, 3, 4, 5});
    // A stream says the device type too, and becomes the tensor's.
    const Stream stream = Atoll::device("dummy:1").new_stream();
    const Tensor streamed = from_dlpack(to_dlpack(t), {.stream = stream});
    CHECK(streamed.stream() == stream);
    CHECK((streamed + 1).to_doubles() == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("an exported struct keeps the memory until its deleter runs, whatever becomes of the "
          "tensor") {
    float data[6] = {0, 1, 2, 3, 4, 5};
    for (const bool versioned : {true, false}) {
        int deleted = 0;
        Tensor t = from_memory(data, {2, 3}, {4, 8}, float32, cpu(), [&] { ++deleted; });
        Exported exported;
        ExportedUnversioned unversioned;
        if (versioned)
            exported.reset(to_dlpack(t));
        else
            unversioned.reset(to_dlpack_unversioned(t));
        const DLTensor &array = versioned ? exported->dl_tensor : unversioned->dl_tensor;
        t(0, 1) = Tensor(full({}, 20, {float32, cpu()})); // seen by the consumer
        t.dealloc();
        t = Tensor();
        CHECK(deleted == 0);
        CHECK(array.ndim == 2);
        CHECK(static_cast<float *>(array.data)[array.strides[1]] == 20);
        std::thread([&] { exported.reset(), unversioned.reset(); }).join();
        CHECK(deleted == 1);
        data[2] = 2;
    }
}

TEST_CASE("read-only is carried both ways, and refused where the struct cannot say it") {
    const Tensor t = arange(4, {float32, cpu()});
    Tensor view = t.shallow_copy();
    view.set_read_only();
    CHECK(Exported(to_dlpack(t))->flags == 0);
    DLManagedTensorVersioned *managed = to_dlpack(view);
    CHECK(managed->flags == 1);
    Tensor back = from_dlpack(managed);
    CHECK(back.is_read_only());
    CHECK(back(0).is_read_only());
    CHECK(error_status([&] { back.fill(1); }) == Status::read_only);
    CHECK(!t.is_read_only());
    CHECK(error_status([&] { (void)to_dlpack_unversioned(view); }) == Status::read_only);
    CHECK(contains(error_text([&] { (void)to_dlpack_unversioned(view); }), "to_dlpack"));
    CHECK(Exported(to_dlpack(t.broadcast_to({4, 3})))->flags == 1);
    // Flags that are not known, and "is a copy", change nothing.
    Versioned copied;
    copied.managed.flags = ~std::uint64_t{1};
    CHECK(!from_dlpack(&copied.managed).is_read_only());
}

TEST_CASE("what DLPack cannot express is refused with the copy that helps") {
    load_devices();
    const auto text = [](const Tensor &t) { return error_text([&] { (void)to_dlpack(t); }); };
    CHECK(contains(text(zeros({2}, {complex32, cpu()})), "complex64"));
    CHECK(error_status([] {
              (void)to_dlpack(zeros({2}, {complex32, cpu()}));
          }) == Status::not_supported);
    Tensor swapped = arange(4, {int32, cpu()});
    swapped.byteswap();
    CHECK(contains(text(swapped), "byteswap()"));
    CHECK(from_dlpack(to_dlpack(swapped.replicate())).to_doubles() ==
          std::vector<double>{0, 1, 2, 3});
    swapped.byteswap();
    CHECK(Exported(to_dlpack(swapped)));
    Tensor bytes = arange(4, {uint8, cpu()});
    bytes.set_byteswapped(true); // means nothing for single bytes
    CHECK(Exported(to_dlpack(bytes)));
    alignas(8) char memory[64] = {};
    const Tensor odd = from_memory(memory, {3}, {6}, float32, cpu());
    CHECK(contains(text(odd), "stride of 6 bytes"));
    CHECK(contains(text(odd), "clone()"));
    CHECK(Exported(to_dlpack(odd.clone())));
    // Strides that are never walked do not matter.
    CHECK(Exported(to_dlpack(from_memory(memory, {1, 3}, {6, 4}, float32, cpu()))));
    CHECK(Exported(to_dlpack(from_memory(memory, {0, 3}, {6, 5}, float32, cpu()))));
    CHECK(contains(text(from_memory(memory + 2, {3}, {4}, float32, cpu())), "not aligned"));
    CHECK_THROWS_AS((void)to_dlpack(Tensor()), Error);
    // The parts of complex numbers: strides of two floats.
    const Tensor imag = full({3}, std::complex<double>(1, 2), {complex64, cpu()}).imag();
    CHECK(from_dlpack(to_dlpack(imag)).to_doubles() == std::vector<double>{2, 2, 2});
}

TEST_CASE("empty tensors and scalars are exported and imported") {
    for (const Device device : all_devices()) {
        const Tensor none = zeros({3, 0, 2}, {int32, device});
        DLManagedTensorVersioned *managed = to_dlpack(none);
        CHECK(managed->dl_tensor.data == nullptr);
        CHECK(managed->dl_tensor.strides != nullptr);
        const Tensor back = from_dlpack(managed, {.device_type = device.type()});
        CHECK(back.shape() == Dims{3, 0, 2});
        CHECK(back.device() == device);
        const Tensor one = full({}, 7, {int32, device});
        CHECK(from_dlpack(to_dlpack(one), {.device_type = device.type()}).item().to_int() == 7);
    }
    load_devices();
    Versioned scalar({}, {});
    scalar.array().shape = nullptr;
    scalar.array().strides = nullptr;
    CHECK(from_dlpack(&scalar.managed).rank() == 0);
    CHECK(scalar.deleted == 1);
    Versioned empty({0, 4}, {});
    empty.array().data = nullptr;
    empty.array().strides = nullptr;
    empty.array().byte_offset = ~std::uint64_t{0};
    {
        const Tensor imported = from_dlpack(&empty.managed);
        CHECK(imported.shape() == Dims{0, 4});
        CHECK(imported.data() == nullptr);
    }
    CHECK(empty.deleted == 1);
}

TEST_CASE("imported memory is used in place, with any strides and byte offset") {
    load_devices();
    Versioned row_major;
    row_major.array().strides = nullptr;
    {
        const Tensor t = from_dlpack(&row_major.managed);
        CHECK(t.to_doubles() == std::vector<double>{0, 3, 1, 4, 2, 5});
        t(1, 2) = Tensor(full({}, 50, {float32, cpu()}));
        float value;
        std::memcpy(&value, row_major.memory.data() + 20, 4);
        CHECK(value == 50);
        CHECK(row_major.deleted == 0);
        const Tensor view = t(0);
        CHECK(view.device() == cpu());
    }
    CHECK(row_major.deleted == 1);
    Versioned backwards({2, 3}, {-3, -1});
    backwards.array().byte_offset = 40;
    CHECK(from_dlpack(&backwards.managed).to_doubles() == std::vector<double>{10, 7, 9, 6, 8, 5});
    Versioned broadcast({2, 3}, {0, 2});
    CHECK(from_dlpack(&broadcast.managed).to_doubles() == std::vector<double>{0, 0, 2, 2, 4, 4});
    Versioned unaligned({2}, {1});
    std::memmove(unaligned.memory.data() + 1, unaligned.memory.data(), 100);
    unaligned.array().byte_offset = 1;
    CHECK((from_dlpack(&unaligned.managed) + 1).to_doubles() == std::vector<double>{1, 2});
    Versioned wild({2, 1}, {1, huge}); // a stride that is never walked
    CHECK(from_dlpack(&wild.managed).to_doubles() == std::vector<double>{0, 1});
    Unversioned old;
    CHECK(from_dlpack(&old.managed).to_doubles() == std::vector<double>{0, 3, 1, 4, 2, 5});
    CHECK(old.deleted == 1);
    Versioned undeletable;
    undeletable.managed.deleter = nullptr;
    CHECK(from_dlpack(&undeletable.managed).size() == 6);
    // 32-bit complex numbers, as some write them, and pinned host memory of whatever GPU.
    Versioned half({2}, {1});
    half.array().dtype = {5, 32, 1};
    half.array().device = {3, 5};
    const Tensor imported = from_dlpack(&half.managed);
    CHECK(imported.dtype() == complex32);
    CHECK(imported.device() == cpu());
}

TEST_CASE("the memory goes back to the producer after an asynchronous device has used it") {
    load_devices();
    const Device dummy = Atoll::device("dummy:0");
    const Tensor source = arange(1000, {float64, dummy});
    std::atomic<int> deleted{0};
    Storage lent = Storage::borrow(source.data(), 8000, dummy, float64, [&] { ++deleted; });
    DLManagedTensorVersioned *managed = to_dlpack(Tensor(lent, 0, {1000}, {8}, float64));
    lent = Storage();
    Tensor sum;
    {
        const Tensor t = from_dlpack(managed, {.device_type = "dummy"});
        CHECK(deleted == 0);
        sum = t + t;
    }
    CHECK(deleted == 1);
    CHECK(sum(999).item().to_double() == 1998);
}

TEST_CASE("every refused import gives the struct back once") {
    load_devices();
    struct Refusal {
        const char *what;
        void (*spoil)(Versioned &);
        Status status;
        const char *says;
    };
    const Refusal refusals[] = {
        {"a later major version",
         [](Versioned &p) {
             p.managed.version = {2, 0};
             p.array().ndim = -5; // must not be looked at
         },
         Status::incompatible, "2.0"},
        {"an earlier one",
         [](Versioned &p) {
             p.managed.version = {0, 8};
         },
         Status::incompatible, "0.8"},
        {"negative ndim", [](Versioned &p) { p.array().ndim = -1; }, Status::invalid_argument,
         "-1 axes"},
        {"too many axes", [](Versioned &p) { p.array().ndim = 65; }, Status::invalid_argument,
         "65 axes"},
        {"no shape", [](Versioned &p) { p.array().shape = nullptr; }, Status::invalid_argument,
         "extents"},
        {"a negative extent", [](Versioned &p) { p.shape[0] = -2; }, Status::invalid_argument,
         "-2"},
        {"a huge shape", [](Versioned &p) { p.shape[0] = p.shape[1] = huge; }, Status::overflow,
         "63 bits"},
        {"a huge stride", [](Versioned &p) { p.strides[0] = huge; }, Status::overflow, "axis 0"},
        {"a stride out of the address space", [](Versioned &p) { p.strides[0] = huge / 4; },
         Status::overflow, "address space"},
        {"a stride below address 0", [](Versioned &p) { p.strides[0] = -(huge / 4); },
         Status::overflow, "address space"},
        {"a huge byte offset", [](Versioned &p) { p.array().byte_offset = ~std::uint64_t{0}; },
         Status::overflow, "offset"},
        {"no data", [](Versioned &p) { p.array().data = nullptr; }, Status::invalid_argument,
         "NULL"},
        {"lanes", [](Versioned &p) { p.array().dtype.lanes = 4; }, Status::not_supported, "4 lane"},
        {"no lanes", [](Versioned &p) { p.array().dtype.lanes = 0; }, Status::not_supported,
         "0 lane"},
        {"opaque handles",
         [](Versioned &p) {
             p.array().dtype = {3, 64, 1};
         },
         Status::not_supported, "code 3"},
        {"no dtype",
         [](Versioned &p) {
             p.array().dtype = {3, 0, 1};
         },
         Status::not_supported, "0 bits"},
        {"a wide float",
         [](Versioned &p) {
             p.array().dtype = {2, 128, 1};
         },
         Status::not_supported, "128 bits"},
        {"8-bit floats",
         [](Versioned &p) {
             p.array().dtype = {8, 8, 1};
         },
         Status::not_supported, "code 8"},
        {"a device whose plugin is not loaded",
         [](Versioned &p) {
             p.array().device = {2, 0};
         },
         Status::not_found, "load its plugin"},
        {"an extension device of nobody",
         [](Versioned &p) {
             p.array().device = {12, 0};
         },
         Status::invalid_argument, "device_type"},
        {"a handle, not an address",
         [](Versioned &p) {
             p.array().device = {7, 0};
         },
         Status::not_found, "device_type"},
        {"an unknown device",
         [](Versioned &p) {
             p.array().device = {-3, 0};
         },
         Status::not_found, "device_type"},
    };
    for (const Refusal &refusal : refusals) {
        CAPTURE(std::string(refusal.what));
        Versioned producer;
        refusal.spoil(producer);
        try {
            from_dlpack(&producer.managed);
            FAIL_CHECK("no error");
        } catch (const Error &error) {
            CHECK(error.status() == refusal.status);
            CHECK_MESSAGE(contains(error.what(), refusal.says), std::string(error.what()));
        }
        CHECK(producer.deleted == 1);
    }
    const auto refused = [](DLDevice device, const DlpackImport &options) {
        Versioned producer;
        producer.array().device = device;
        const Status status = error_status([&] { from_dlpack(&producer.managed, options); });
        CHECK(producer.deleted == 1);
        return status;
    };
    CHECK(refused({12, 9}, {.device_type = "dummy"}) == Status::not_found);
    CHECK(refused({12, -1}, {.device_type = "dummy"}) == Status::not_found);
    CHECK(refused({12, 0}, {.device_type = "nobody"}) == Status::not_found);
    // Host memory is no accelerator's, nor a GPU's the host's.
    CHECK(refused({1, 0}, {.device_type = "dummy"}) == Status::invalid_argument);
    CHECK(refused({2, 0}, {.device_type = "cpu"}) == Status::invalid_argument);
    CHECK(refused({1, 0}, {.stream = Atoll::device("dummy:0").new_stream()}) ==
          Status::invalid_argument);
    CHECK_THROWS_AS(from_dlpack(static_cast<DLManagedTensor *>(nullptr)), Error);
    Unversioned old;
    old.array().dtype.lanes = 2;
    CHECK_THROWS_AS(from_dlpack(&old.managed), Error);
    CHECK(old.deleted == 1);
}

TEST_CASE("export waits for the device unless told otherwise") {
    load_devices();
    static std::atomic<int> waits;
    const InterposerHandle handle = push_interposer(
        "device.stream_synchronize@dummy",
        [](const atoll_link *self, atoll_call *call) {
            ++waits;
            return self->next->fn(self->next, call);
        },
        nullptr);
    const Tensor t = arange(6, {float32, Atoll::device("dummy:0")});
    waits = 0;
    const Exported waited(to_dlpack(t));
    CHECK(waits == 1);
    const Exported at_once(to_dlpack(t, {.synchronize = false}));
    CHECK(waits == 1);
    pop_interposer(handle);
}
