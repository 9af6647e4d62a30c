// Strided views of a byte array, for tests that compare the library with a model of memory.
#pragma once

#include "../oracle/oracle.h"
#include "../random_tests.hpp"
#include "atoll/atoll.hpp"
#include "function_facts.hpp"

#include <random>
#include <sstream>
#include <vector>

namespace views {

using Numbers = std::vector<std::int64_t>;
using Random = std::mt19937_64;

inline std::int64_t below(Random &random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}
inline bool chance(Random &random, int percent) { return below(random, 100) < percent; }

inline int id(Atoll::DType dtype) { return static_cast<int>(dtype); }
inline Atoll::Dims dims(const Numbers &numbers) {
    return Atoll::Dims(numbers.data(), numbers.size());
}

// The compute dtype of a function whose inputs meet in `common`.
inline Atoll::DType compute_dtype(int function, Atoll::DType common) {
    const auto T = Atoll::sdk::make_T(static_cast<std::uint32_t>(functions[function].rule),
                                      static_cast<std::uint32_t>(common));
    return static_cast<Atoll::DType>(T);
}
inline bool in_domain(int function, Atoll::DType compute) {
    return functions[function].domain >> id(compute) & 1;
}

struct View {
    Atoll::DType dtype = Atoll::uint8;
    bool swapped = false;
    Numbers shape, strides; // bytes
    std::int64_t offset = 0;

    std::int64_t itemsize() const { return Atoll::size_of(dtype); }
    std::int64_t size() const {
        std::int64_t n = 1;
        for (std::int64_t extent : shape) n *= extent;
        return n;
    }
    // The bytes used are [low, high).
    void range(std::int64_t &low, std::int64_t &high) const {
        low = offset, high = offset + (size() ? itemsize() : 0);
        for (std::size_t i = 0; i < shape.size() && size(); ++i)
            (strides[i] < 0 ? low : high) += strides[i] * (shape[i] - 1);
    }
    // Where the element lies that `index` of a larger shape meets by broadcasting.
    std::int64_t at(const Numbers &index) const {
        std::int64_t byte = offset;
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (shape[i] != 1) byte += index[i] * strides[i];
        return byte;
    }
    oracle::Value read(const std::vector<char> &memory, const Numbers &index) const {
        return oracle::read(memory.data() + at(index), id(dtype), swapped);
    }
    Atoll::Tensor on(const Atoll::Storage &storage) const {
        Atoll::Tensor tensor(storage, offset, dims(shape), dims(strides), dtype);
        tensor.set_byteswapped(swapped);
        return tensor;
    }
    std::string text() const {
        std::ostringstream out;
        out << Atoll::name(dtype) << (swapped ? " swapped" : "") << " shape (";
        for (std::int64_t n : shape) out << n << ',';
        out << ") strides (";
        for (std::int64_t n : strides) out << n << ',';
        out << ") offset " << offset;
        return out.str();
    }
};

// Calls body(index) for every index, first axis fastest.
template <class Body> void each(const Numbers &shape, const Body &body) {
    std::int64_t n = 1;
    for (std::int64_t extent : shape) n *= extent;
    Numbers index(shape.size(), 0);
    for (; n > 0; --n) {
        body(index);
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
}

inline Atoll::DType random_dtype(Random &random) {
    return static_cast<Atoll::DType>(1 + below(random, ATOLL_DTYPE_COUNT - 1));
}

} // namespace views
