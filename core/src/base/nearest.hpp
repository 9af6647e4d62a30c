// The word that a misspelt one was meant to be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace Atoll::detail {

// Letters to insert, remove, replace or exchange with their neighbour to make one word the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(last, row);
    }
    return last[b.size()];
}

// The nearest of the known words, if it differs in a third of its letters at most; else "".
inline std::string nearest(std::string_view word, const std::vector<std::string> &known) {
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string &candidate : known)
        if (const std::size_t distance = edit_distance(word, candidate); distance < least)
            least = distance, best = candidate;
    return best;
}

// "; did you mean 'dummy'?", or "" where no known word is near.
inline std::string suggestion(std::string_view word, const std::vector<std::string> &known) {
    const std::string best = nearest(word, known);
    return best.empty() ? "" : "; did you mean '" + best + "'?";
}

} // namespace Atoll::detail
