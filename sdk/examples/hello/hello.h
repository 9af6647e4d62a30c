/* Ids of the module `hello`, for C11 and C++. */
#ifndef HELLO_H
#define HELLO_H

#define HELLO_VERSION 1

/* Ids are append-only, as in every module. */
enum hello_function { HELLO_scale_add = 0, HELLO_calls = 1 };

#endif
