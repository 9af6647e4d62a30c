// Conversion: gather, byte order, casts, byte order, scatter, each step over one block in cache.
#include "convert.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

// Addresses are any: these types may stand anywhere.
struct __attribute__((packed)) Any8 {
    std::uint8_t value;
};
struct __attribute__((packed)) Any16 {
    std::uint16_t value;
};
struct __attribute__((packed)) Any32 {
    std::uint32_t value;
};
struct __attribute__((packed)) Any64 {
    std::uint64_t value;
};
struct __attribute__((packed)) Any128 {
    std::uint64_t low, high;
};

// Dense elements from every `step`-th one. Compilers make vectors of steps that they know.
template <int step, class T> void move_steps(std::int64_t n, char *out, const char *in) {
    typedef decltype(T::value) Any __attribute__((aligned(1)));
    Any *o = reinterpret_cast<Any *>(out);
    const Any *i = reinterpret_cast<const Any *>(in);
    ATOLL_INDEPENDENT
    for (std::int64_t k = 0; k < n; ++k) o[k] = i[k * step];
}

template <class T>
void move(std::int64_t n, char *out, std::int64_t os, const char *in, std::int64_t is) {
    constexpr std::int64_t size = sizeof(T);
    if (is == 0) {
        const T value = *reinterpret_cast<const T *>(in);
        if (os == size) {
            T *o = reinterpret_cast<T *>(out);
            for (std::int64_t k = 0; k < n; ++k) o[k] = value;
        } else {
            for (std::int64_t k = 0; k < n; ++k) *reinterpret_cast<T *>(out + k * os) = value;
        }
        return;
    }
    if (os == size) {
        if constexpr (size <= 8) {
            if (is == -size) return move_steps<-1, T>(n, out, in);
            if (is == 2 * size) return move_steps<2, T>(n, out, in);
            if (is == 3 * size && size < 8) return move_steps<3, T>(n, out, in);
            if (is == 4 * size && size < 8) return move_steps<4, T>(n, out, in);
        }
        T *o = reinterpret_cast<T *>(out);
        for (std::int64_t k = 0; k < n; ++k) o[k] = *reinterpret_cast<const T *>(in + k * is);
        return;
    }
    for (std::int64_t k = 0; k < n; ++k)
        *reinterpret_cast<T *>(out + k * os) = *reinterpret_cast<const T *>(in + k * is);
}

// Reverses the bytes of n parts of `size`; in and out may be the same and stand anywhere.
void swap_bytes(std::int64_t n, std::int64_t size, char *out, const char *in) {
    const auto run = [&]<class T>(T, auto reverse) {
        T *o = reinterpret_cast<T *>(out);
        const T *i = reinterpret_cast<const T *>(in);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) o[k].value = reverse(i[k].value);
    };
    if (size == 2) run(Any16{}, [](std::uint16_t x) { return __builtin_bswap16(x); });
    if (size == 4) run(Any32{}, [](std::uint32_t x) { return __builtin_bswap32(x); });
    if (size == 8) run(Any64{}, [](std::uint64_t x) { return __builtin_bswap64(x); });
}

bool aligned(const void *p, std::uint32_t to) {
    return (reinterpret_cast<std::uintptr_t>(p) & (to - 1)) == 0;
}

constexpr std::uint32_t wide_of_half(std::uint32_t dtype) {
    return widened(dtype) != dtype ? widened(dtype) : std::uint32_t{ATOLL_DTYPE_NONE};
}

} // namespace

void move_elements(std::int64_t n, std::int64_t size, char *out, std::int64_t out_stride,
                   const char *in, std::int64_t in_stride) {
    if (out_stride == size && in_stride == size) {
        if (out != in) std::memcpy(out, in, static_cast<std::size_t>(n * size));
        return;
    }
    switch (size) {
    case 1: return move<Any8>(n, out, out_stride, in, in_stride);
    case 2: return move<Any16>(n, out, out_stride, in, in_stride);
    case 4: return move<Any32>(n, out, out_stride, in, in_stride);
    case 8: return move<Any64>(n, out, out_stride, in, in_stride);
    default: return move<Any128>(n, out, out_stride, in, in_stride);
    }
}

void Chain::append(std::uint32_t to, std::uint32_t from) {
    if (to == from) return;
    if (const std::uint32_t wide = wide_of_half(from)) {
        push(cast_loop(wide, from), wide);
        from = wide;
        if (to == from) return;
    }
    const std::uint32_t wide = wide_of_half(to);
    if (!wide) return push(cast_loop(to, from), to);
    // Into a half: by way of float32 parts, rounded to odd unless exact.
    if (wide == ATOLL_DTYPE_FLOAT32 && kinds[from] == ATOLL_DTYPE_KIND_COMPLEX) {
        push(cast_loop(parts[from], from), parts[from]);
        from = parts[from];
    }
    if (wide == ATOLL_DTYPE_COMPLEX64 && kinds[from] != ATOLL_DTYPE_KIND_COMPLEX &&
        from != ATOLL_DTYPE_FLOAT32) {
        push(odd_loop(to, from), ATOLL_DTYPE_FLOAT32);
        from = ATOLL_DTYPE_FLOAT32;
    }
    if (from != wide) {
        const bool exact = from == ATOLL_DTYPE_FLOAT32;
        push(exact ? cast_loop(wide, from) : odd_loop(to, from), wide);
    }
    push(cast_loop(to, wide), to);
}

Conversion Conversion::settled() const {
    Conversion moves;
    moves.in_size_ = moves.out_size_ = out_size_;
    moves.in_align_ = moves.out_align_ = out_align_;
    return moves;
}

void Conversion::run(std::int64_t n, char *out, std::int64_t out_stride, const char *in,
                     std::int64_t in_stride) const {
    if (moves()) return move_elements(n, in_size_, out, out_stride, in, in_stride);
    if (in_stride == 0 && n > 1) {
        alignas(16) char one[16];
        run_block(1, one, out_size_, in, in_size_);
        return move_elements(n, out_size_, out, out_stride, one, 0);
    }
    for (std::int64_t k = 0; k < n; k += block_size)
        run_block(std::min(block_size, n - k), out + k * out_stride, out_stride, in + k * in_stride,
                  in_stride);
}

void Conversion::run_block(std::int64_t n, char *out, std::int64_t out_stride, const char *in,
                           std::int64_t in_stride) const {
    alignas(64) char scratch[2][block_size * 16];
    int next = 0;
    const bool in_dense = in_stride == in_size_;
    const bool out_dense = out_stride == out_size_;
    const bool out_direct = out_dense && aligned(out, out_align_);
    if (in_swap_) {
        // A copy that only reverses bytes goes straight through.
        char *to = chain_.count == 0 && out_dense ? out : scratch[next];
        if (in_dense) {
            swap_bytes(n * in_size_ / in_align_, in_align_, to, in);
        } else {
            move_elements(n, in_size_, to, in_size_, in, in_stride);
            swap_bytes(n * in_size_ / in_align_, in_align_, to, to);
        }
        if (to == out) return;
        in = to;
        next ^= 1;
    } else if (!in_dense || !aligned(in, in_align_)) {
        move_elements(n, in_size_, scratch[next], in_size_, in, in_stride);
        in = scratch[next];
        next ^= 1;
    }
    for (std::int32_t k = 0; k < chain_.count; ++k) {
        char *to = k + 1 == chain_.count && out_direct ? out : scratch[next];
        chain_.steps[k].run(n, to, in);
        in = to;
        next ^= 1;
    }
    if (out_swap_) {
        const std::int64_t parts = n * out_size_ / out_align_;
        if (out_dense) return swap_bytes(parts, out_align_, out, in);
        swap_bytes(parts, out_align_, scratch[next], in);
        in = scratch[next];
    }
    if (in != out) move_elements(n, out_size_, out, out_stride, in, out_size_);
}

void convert_rows(const Conversion &with, std::int64_t n, std::int64_t rows, char *to,
                  std::int64_t step, std::int64_t next, const char *from, std::int64_t from_step,
                  std::int64_t from_next) {
    if (next == n * step && from_next == n * from_step)
        return with.run(n * rows, to, step, from, from_step);
    for (std::int64_t row = 0; row < rows; ++row)
        with.run(n, to + row * next, step, from + row * from_next, from_step);
}

} // namespace Atoll::kernels
