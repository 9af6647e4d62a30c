/* Ranges name parts of a program, such as an epoch; the tracer shows them around the calls that are
 * made in them. For C and C++; the functions are in libatoll. In C++, see atoll/range.hpp.
 *
 * The ranges of a thread nest, and are its own. Thread-safe; never fails, blocks only as long as an
 * interposer that is told of ranges; without one, a call costs a load and a jump. */
#ifndef ATOLL_RANGE_H
#define ATOLL_RANGE_H

#ifdef __cplusplus
extern "C" {
#define ATOLL_RANGE_NOEXCEPT noexcept
#else
#define ATOLL_RANGE_NOEXCEPT
#endif

/* Begins a range of this thread. `name` is UTF-8 text, which is copied; NULL is the same as "". */
void atoll_range_push(const char *name) ATOLL_RANGE_NOEXCEPT;
/* Ends the newest range of this thread; without an open one it does nothing. */
void atoll_range_pop(void) ATOLL_RANGE_NOEXCEPT;

#undef ATOLL_RANGE_NOEXCEPT
#ifdef __cplusplus
}
#endif
#endif
