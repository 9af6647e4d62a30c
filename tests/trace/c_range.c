/* A range opened in C: the header and the functions work without C++. */
#include "atoll/range.h"

void in_range_of_c(const char *name, void (*body)(void)) {
    atoll_range_push(name);
    body();
    atoll_range_pop();
}
