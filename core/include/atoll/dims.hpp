// Dims: the extents or the byte strides of a tensor; short lists are stored inline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

namespace Atoll {

// A vector of int64 with value semantics. Needs no allocation for up to `inline_capacity` axes.
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
    // Returns `count` copies of `value`.
    static Dims filled(int count, std::int64_t value) {
        Dims dims;
        dims.resize(count);
        std::fill_n(dims.data(), count, value);
        return dims;
    }
    Dims(const Dims &other) {
        if (other.capacity_ > inline_capacity) [[unlikely]]
            copy(other);
        else
            take_inline(other);
    }
    Dims(Dims &&other) noexcept { take(other); }
    Dims &operator=(const Dims &other) {
        if (this == &other) return *this;
        if (std::max(capacity_, other.capacity_) > inline_capacity) [[unlikely]]
            copy(other);
        else
            take_inline(other);
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
        if (size > capacity_) [[unlikely]]
            grow(size);
        size_ = size;
    }
    void push_back(std::int64_t value) {
        if (size_ == capacity_) [[unlikely]]
            grow(2 * capacity_);
        data()[size_++] = value;
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
        if (a.size_ != b.size_) return false;
        // Not std::equal: a call of memcmp costs more than this loop.
        const std::int64_t *x = a.data(), *y = b.data();
        for (int i = 0; i < a.size_; ++i)
            if (x[i] != y[i]) return false;
        return true;
    }

private:
    // Apart, as is copy(), so that short lists need no stack frame.
    [[gnu::noinline]] void grow(int capacity) {
        auto *grown = new std::int64_t[static_cast<std::size_t>(capacity)];
        std::copy_n(data(), size_, grown);
        release();
        heap_ = grown;
        capacity_ = capacity;
    }
    void release() noexcept {
        if (capacity_ > inline_capacity) delete[] heap_;
        capacity_ = inline_capacity;
    }
    [[gnu::noinline]] void copy(const Dims &other) {
        resize(other.size_);
        std::copy_n(other.data(), size_, data());
    }
    // Copies the whole buffer, used or not: a fixed size needs a few moves and no call.
    void take_inline(const Dims &other) noexcept {
        size_ = other.size_;
        std::memcpy(inline_, other.inline_, sizeof inline_);
    }
    void take(Dims &other) noexcept {
        take_inline(other); // this also copies the pointer
        capacity_ = other.capacity_;
        other.capacity_ = inline_capacity;
        other.size_ = 0;
    }

    std::int32_t size_ = 0;
    std::int32_t capacity_ = inline_capacity;
    union {
        std::int64_t inline_[inline_capacity]{};
        std::int64_t *heap_;
    };
};

} // namespace Atoll
