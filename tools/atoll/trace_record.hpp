// The fields of a record of a timeline file and the words after it.
#pragma once

#include "timeline_format.hpp"

#include <bit>

namespace Atoll::tracing::timeline {

inline const std::uint64_t *words_of(const Record &record) {
    return reinterpret_cast<const std::uint64_t *>(&record + 1);
}
// The number of words between the record and the word of this flag.
inline unsigned words_before(const Record &record, unsigned flag) {
    return static_cast<unsigned>(std::popcount(record.flags & flags_with_word & (flag - 1)));
}
inline unsigned announced_words(const Record &record) {
    return words_before(record, flags_with_word + 1);
}
// The word that this flag announces, or 0 without it.
inline std::uint64_t word_of(const Record &record, RecordFlag flag) {
    return record.flags & flag ? words_of(record)[words_before(record, flag)] : 0;
}
inline Details details_of(const Record &record) {
    return record.flags & flag_details ? std::bit_cast<Details>(word_of(record, flag_details))
                                       : Details{};
}
inline std::uint64_t end_of(const Record &record) {
    return record.start + (record.flags & flag_long ? word_of(record, flag_long) : record.ticks);
}

} // namespace Atoll::tracing::timeline
