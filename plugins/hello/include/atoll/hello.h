/* The module `hello`: an example of a third-party module. Ids, for C11 and C++.
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
    ATOLL_HELLO_scale_add = 0, /* a (), b () -> c (): 2 * a + b */
    /* -> calls (): int64: how many calls of the module its device has had, this one included. */
    ATOLL_HELLO_calls = 1
};

#ifdef __cplusplus
}
#endif
#endif
