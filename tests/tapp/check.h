/* Assertions of programs in C: each is counted, those that do not hold are printed. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int checks, failures;

#define CHECK(condition) check((condition) ? 1 : 0, __FILE__, __LINE__, #condition)
#define CHECK_CODE(expected, call) check_code(expected, call, __FILE__, __LINE__, #call)

static inline void check(int holds, const char *file, int line, const char *text) {
    ++checks;
    if (holds) return;
    ++failures;
    printf("%s:%d: does not hold: %s\n", file, line, text);
}
static inline void check_code(int expected, int code, const char *file, int line,
                              const char *text) {
    ++checks;
    if (code == expected) return;
    ++failures;
    printf("%s:%d: %d instead of %d: %s\n", file, line, code, expected, text);
}
static inline int checked(void) {
    printf("%d checks, %d failures\n", checks, failures);
    return failures > 0 || checks == 0;
}

#endif
