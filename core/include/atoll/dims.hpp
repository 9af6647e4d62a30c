// Dims: the extents or the byte strides of a tensor; short ones live inline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

namespace Atoll {

// A vector of int64 with value semantics. Up to `inline_capacity` axes without allocation.
class Dims {
public:
    static constexpr int inline_capacity = 5;

    Dims() noexcept {}
    Dims(std::initializer_list<std::int64_t> values) : Dims(values.begin(), values.size()) {}
    Dims(std::span<const std::int64_t> values) : Dims(values.data(), values.size()) {}
    Dims(const std::int64_t *values, std::size_t count) {
        resize(static_cast<int>(count));
        std::copy_n(values, count, data());
    }
    // `count` times `value`.
    static Dims filled(int count, std::int64_t value) {
        Dims dims;
        dims.resize(count);
        std::fill_n(dims.data(), count, value);
        return dims;
    }
    Dims(const Dims &other) : Dims(other.data(), static_cast<std::size_t>(other.size_)) {}
    Dims(Dims &&other) noexcept { take(other); }
    Dims &operator=(const Dims &other) {
        if (this != &other) {
            resize(other.size_);
            std::copy_n(other.data(), size_, data());
        }
        return *this;
    }
    Dims &operator=(Dims &&other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~Dims() { release(); }

    int size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    std::int64_t *data() noexcept { return capacity_ > inline_capacity ? heap_ : inline_; }
    const std::int64_t *data() const noexcept {
        return capacity_ > inline_capacity ? heap_ : inline_;
    }
    std::int64_t &operator[](int i) noexcept { return data()[i]; }
    std::int64_t operator[](int i) const noexcept { return data()[i]; }
    std::int64_t *begin() noexcept { return data(); }
    std::int64_t *end() noexcept { return data() + size_; }
    const std::int64_t *begin() const noexcept { return data(); }
    const std::int64_t *end() const noexcept { return data() + size_; }
    std::int64_t back() const noexcept { return data()[size_ - 1]; }
    operator std::span<const std::int64_t>() const noexcept {
        return {data(), static_cast<std::size_t>(size_)};
    }

    // New elements are uninitialised.
    void resize(int size) {
        if (size > capacity_) {
            auto *grown = new std::int64_t[static_cast<std::size_t>(size)];
            std::copy_n(data(), size_, grown);
            release();
            heap_ = grown;
            capacity_ = size;
        }
        size_ = size;
    }
    void push_back(std::int64_t value) {
        if (size_ == capacity_ && capacity_ < 2 * inline_capacity) reserve(2 * inline_capacity);
        resize(size_ + 1);
        data()[size_ - 1] = value;
    }
    void pop_back() noexcept { --size_; }
    void insert(int at, std::int64_t value) {
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
    }
    void erase(int at) {
        std::copy(begin() + at + 1, end(), begin() + at);
        --size_;
    }

    friend bool operator==(const Dims &a, const Dims &b) noexcept {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }

private:
    void reserve(int capacity) {
        const int size = size_;
        resize(capacity);
        size_ = size;
    }
    void release() noexcept {
        if (capacity_ > inline_capacity) delete[] heap_;
        capacity_ = inline_capacity;
    }
    void take(Dims &other) noexcept {
        size_ = other.size_;
        capacity_ = other.capacity_;
        if (capacity_ > inline_capacity)
            heap_ = other.heap_;
        else
            std::copy_n(other.inline_, size_, inline_);
        other.capacity_ = inline_capacity;
        other.size_ = 0;
    }

    std::int32_t size_ = 0;
    std::int32_t capacity_ = inline_capacity;
    union {
        std::int64_t inline_[inline_capacity];
        std::int64_t *heap_;
    };
};

} // namespace Atoll
