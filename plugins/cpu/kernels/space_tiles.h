// A space cut into tiles along its first two axes, and what is fetched before its tile is reached.
#pragma once

#include "fetch.h"
#include "space.h"

#include <algorithm>

namespace Atoll::kernels {

// The tiles from one on, of at most `rows` by `columns` elements along axes 0 and 1. `across`:
// those beside each other follow each other, so that what is fetched with the cache lines of one is
// used soon; otherwise those below each other.
class SpaceTiles {
public:
    struct Tile {
        char *data[max_operands]; // of the first element
        std::int64_t height, width;
        bool is_first; // along axis 0
    };

    SpaceTiles(const Space &space, std::int64_t rows, std::int64_t columns, bool across,
               std::int64_t first)
        : space_(space), rows_(rows), columns_(columns), across_(across),
          down_count_((space.shape[0] + rows - 1) / rows),
          across_count_((space.shape[1] + columns - 1) / columns), at_(first % of_matrix()),
          matrix_(space, first / of_matrix(), 2) {}

    std::int64_t count() const { return of_matrix() * (space_.outer() / space_.shape[1]); }
    Tile next() {
        const std::int64_t down = across_ ? at_ / across_count_ : at_ % down_count_,
                           across = across_ ? at_ % across_count_ : at_ / down_count_,
                           i = down * rows_, j = across * columns_;
        Tile tile;
        for (int k = 0; k < space_.operands; ++k)
            tile.data[k] = matrix_.data[k] + i * space_.strides[k][0] + j * space_.strides[k][1];
        tile.height = std::min(rows_, space_.shape[0] - i);
        tile.width = std::min(columns_, space_.shape[1] - j);
        tile.is_first = down == 0;
        if (++at_ == of_matrix()) {
            at_ = 0;
            matrix_.next();
        }
        return tile;
    }

private:
    std::int64_t of_matrix() const { return down_count_ * across_count_; }

    const Space &space_;
    const std::int64_t rows_, columns_;
    const bool across_;
    const std::int64_t down_count_, across_count_;
    std::int64_t at_;
    Rows matrix_;
};

// Inputs of a tile that are fetched while another one is computed: the processor does not fetch
// short runs that are far apart itself.
class FetchedInputs {
public:
    // `count` runs of so many bytes, of which fetch() takes a part in `parts`.
    void add(const char *data, std::int64_t step, std::int64_t count, std::int64_t bytes,
             std::int64_t parts) {
        inputs_[size_++] = {data, step, count, bytes, (count + parts - 1) / parts};
    }
    void fetch() {
        for (Input *of = inputs_; of < inputs_ + size_; ++of)
            for (std::int64_t run = std::min(of->part, of->count); run > 0; --run) {
                for (std::int64_t at = 0; at < of->bytes; at += 64) kernels::fetch(of->data + at);
                of->data += of->step;
                --of->count;
            }
    }

private:
    struct Input {
        const char *data;
        std::int64_t step, count, bytes, part;
    };
    int size_ = 0;
    Input inputs_[max_operands];
};

} // namespace Atoll::kernels
