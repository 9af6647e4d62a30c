// Conversion of runs of elements between dtypes, byte orders and strides, block by block.
#pragma once

#include "types.h"

#include <initializer_list>

namespace Atoll::kernels {

// `n` contiguous aligned elements of one dtype into another; in and out do not overlap, or start at
// the same address and have the same size.
using CastLoop = void (*)(std::int64_t n, char *out, const char *in);

// Casts between the dtypes that are computed in; the halves only to and from their widened dtype.
// Null where from == to and for pairs that take several steps.
CastLoop cast_loop(std::uint32_t to, std::uint32_t from);
// Into float32 or complex64, rounding to odd, so that rounding once more to the half `to` gives
// what one rounding gives; an ordinary cast where that is exact anyway.
CastLoop odd_loop(std::uint32_t to, std::uint32_t from);

// Elements of `size` bytes moved between any strides (bytes) and addresses; zero in_stride repeats.
void move_elements(std::int64_t n, std::int64_t size, char *out, std::int64_t out_stride,
                   const char *in, std::int64_t in_stride);

// The steps from one dtype to another; at most one row of the table per step.
struct Chain {
    struct Step {
        CastLoop run;
        std::uint8_t size; // of the result's elements, in bytes
    };
    Step steps[8];
    std::int32_t count = 0;

    void append(std::uint32_t to, std::uint32_t from);

private:
    void push(CastLoop run, std::uint32_t dtype) { steps[count++] = {run, sizes[dtype]}; }
};

// How the elements of one operand become those of another one.
class Conversion {
public:
    Conversion() = default;
    // From the first dtype of `path` by way of each of the others to the last one, every step
    // rounded to what it is; equal neighbours cost nothing.
    Conversion(std::initializer_list<std::uint32_t> path, bool in_swapped, bool out_swapped) {
        const std::uint32_t *step = path.begin();
        const std::uint32_t from = *step, to = *(path.end() - 1);
        for (; step + 1 != path.end(); ++step)
            if (step[1] != step[0]) chain_.append(step[1], step[0]);
        in_size_ = sizes[from];
        out_size_ = sizes[to];
        in_align_ = static_cast<std::uint8_t>(alignment_of(from));
        out_align_ = static_cast<std::uint8_t>(alignment_of(to));
        in_swap_ = in_swapped && in_align_ > 1;
        out_swap_ = out_swapped && out_align_ > 1;
        if (chain_.count == 0 && in_swap_ && out_swap_) in_swap_ = out_swap_ = false;
    }

    // Nothing to do but to move bytes.
    bool moves() const { return chain_.count == 0 && !in_swap_ && !out_swap_; }
    // The conversion of what this one gives to itself.
    Conversion settled() const;
    std::int64_t in_size() const { return in_size_; }
    std::int64_t out_size() const { return out_size_; }
    std::uint32_t in_alignment() const { return in_align_; }
    std::uint32_t out_alignment() const { return out_align_; }

    // `n` elements, strides in bytes; in and out are apart or the very same elements.
    void run(std::int64_t n, char *out, std::int64_t out_stride, const char *in,
             std::int64_t in_stride) const;

private:
    void run_block(std::int64_t n, char *out, std::int64_t out_stride, const char *in,
                   std::int64_t in_stride) const;

    Chain chain_;
    std::uint8_t in_size_ = 0, out_size_ = 0;
    std::uint8_t in_align_ = 1, out_align_ = 1; // of one part
    bool in_swap_ = false, out_swap_ = false;
};

// `rows` rows of n elements, each of which begins `next` bytes after another, converted to others.
void convert_rows(const Conversion &with, std::int64_t n, std::int64_t rows, char *to,
                  std::int64_t step, std::int64_t next, const char *from, std::int64_t from_step,
                  std::int64_t from_next);

} // namespace Atoll::kernels
