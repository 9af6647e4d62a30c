/* The module `hello`: an example of a third-party module. Ids and parameters, for C11 and C++.
 *
 * The interface (atoll-hello.so) and the implementations (atoll-hello-cpu.so, atoll-hello-dummy.so)
 * are separate plugins; they may be loaded in any order, and each device type is served once both
 * its plugin and the interface are there. */
#ifndef ATOLL_HELLO_H
#define ATOLL_HELLO_H

#include "atoll/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_HELLO_VERSION 1

/* Ids are append-only, as in every module. */
enum atoll_hello_function {
    /* BINARY, COMMON, NUMERIC: out = 2 * a + b. */
    ATOLL_HELLO_scale_add = 0,
    /* CUSTOM, without operands; params is an atoll_hello_greet_params. */
    ATOLL_HELLO_greet = 1
};

/* greet writes a greeting of call->device to `text`, which is the caller's, in host memory, with
 * room for `capacity` bytes: cut to fit, NUL-terminated, there when the call returns. */
typedef struct atoll_hello_greet_params {
    uint32_t struct_size;
    uint32_t capacity;
    char *text;
} atoll_hello_greet_params;

#ifdef __cplusplus
}
#endif
#endif
