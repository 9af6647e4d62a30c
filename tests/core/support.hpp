// What the core's tests share: devices, and tensors of any layout whose every byte is known. Values
// go to and from a device as raw bytes, so the copy kernels under test have no part in checking.
#pragma once

#include "../oracle/operand.h"
#include "any_output.hpp"
#include "atoll/atoll.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace support {

using oracle::Random;
using oracle::Shape;
using oracle::Value;

// The file of a plugin with the device type `cuda` that is to be tested as well, or null.
inline const char *gpu_plugin() { return std::getenv("ATOLL_TEST_GPU"); }

inline void load_devices() {
    static const bool loaded = [] {
        for (const char *plugin : {"cpu", "dummy", "dummy_min"}) Atoll::load_plugin(plugin);
        if (gpu_plugin()) Atoll::load_plugin(gpu_plugin());
        return true;
    }();
    (void)loaded;
}
// The cpu, the simulated accelerator, the same with kernels that declare no capabilities, and a GPU
// if there is a plugin for it.
inline std::vector<Atoll::Device> all_devices() {
    load_devices();
    std::vector<Atoll::Device> devices{Atoll::device("cpu"), Atoll::device("dummy:0"),
                                       Atoll::device("dummy_min:0")};
    if (gpu_plugin()) devices.push_back(Atoll::device("cuda:0"));
    return devices;
}
inline Atoll::Device cpu() {
    load_devices();
    return Atoll::device("cpu");
}

inline Atoll::Dims dims(const Shape &shape) { return {shape.data(), shape.size()}; }
inline Shape shape_of(const Atoll::Dims &dims) { return {dims.begin(), dims.end()}; }
inline int id(Atoll::DType dtype) { return static_cast<int>(dtype); }

// All bytes of the tensor's storage.
inline std::vector<char> bytes_of(const Atoll::Tensor &tensor) {
    const Atoll::Storage storage = tensor.storage();
    std::vector<char> bytes(static_cast<std::size_t>(storage.bytes()));
    Atoll::Tensor(storage, 0, {storage.bytes()}, {1}, Atoll::uint8)
        .read(bytes.data(), Atoll::uint8);
    return bytes;
}

// All elements in column-major order.
inline std::vector<Value> values_of(const Atoll::Tensor &tensor) {
    const std::vector<char> bytes = bytes_of(tensor);
    std::vector<Value> values;
    oracle::each(shape_of(tensor.shape()), [&](const Shape &index) {
        std::int64_t at = tensor.offset();
        for (std::size_t axis = 0; axis < index.size(); ++axis)
            at += index[axis] * tensor.strides()[static_cast<int>(axis)];
        values.push_back(
            oracle::read(bytes.data() + at, id(tensor.dtype()), tensor.is_byteswapped()));
    });
    return values;
}

// A tensor on `device` with the memory of `operand`, gaps included.
inline Atoll::Tensor upload(const oracle::Operand &operand, Atoll::Device device) {
    const Atoll::Tensor bytes = Atoll::from_values(operand.memory.data(), Atoll::uint8,
                                                   static_cast<std::int64_t>(operand.memory.size()),
                                                   {Atoll::uint8, device});
    Atoll::Tensor tensor(bytes.storage(), operand.start, dims(operand.shape), dims(operand.strides),
                         static_cast<Atoll::DType>(operand.dtype));
    tensor.set_byteswapped(operand.swapped);
    return tensor;
}

// `varies` false on an axis: zero stride.
inline oracle::Operand operand(int dtype, const Shape &shape,
                               oracle::Layout layout = oracle::Layout::dense,
                               bool swapped = false) {
    return {dtype, swapped, shape, std::vector<bool>(shape.size(), true), layout};
}

// A dense tensor of small different integers, by its shape.
inline Atoll::Tensor counting(const Shape &shape, Atoll::DType dtype, Atoll::Device device) {
    return Atoll::arange(oracle::elements(shape), {dtype, device}).reshape(dims(shape));
}

// The text of the Error that `body` throws; fails the test if there is none.
template <class Body> std::string error_text(Body &&body) {
    try {
        body();
    } catch (const Atoll::Error &error) {
        return error.what();
    }
    FAIL_CHECK("no error");
    return {};
}
template <class Body> Atoll::Status error_status(Body &&body) {
    try {
        body();
    } catch (const Atoll::Error &error) {
        return error.status();
    }
    return Atoll::Status::ok;
}
inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace support
