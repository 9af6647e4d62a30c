/* The module `fast_sqrt`: how a program asks the plugin of that name what it has done. */
#ifndef FAST_SQRT_H
#define FAST_SQRT_H

#define FAST_SQRT_VERSION 1

/* Ids are append-only, as in every module. */
enum fast_sqrt_function {
    /* -> calls (): int64: how many calls of core.sqrt the plugin has served in this process. */
    FAST_SQRT_count = 0
};

#endif
