/* The module `fast_sqrt`: how a program asks the plugin of that name what it has done. */
#ifndef FAST_SQRT_H
#define FAST_SQRT_H

#include <stdint.h>

#define FAST_SQRT_VERSION 1

/* Ids are append-only, as in every module. */
enum fast_sqrt_function {
    /* CUSTOM, without operands; params is a fast_sqrt_count_params. */
    FAST_SQRT_count = 0
};

/* count writes to *calls how many calls of core.sqrt the plugin has served in this process, over
 * all its loads; it is there when the call returns. */
typedef struct fast_sqrt_count_params {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t *calls;
} fast_sqrt_count_params;

#endif
