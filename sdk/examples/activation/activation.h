/* The module `activation`: an example of a third party's module. Ids of its functions, C and C++.
 */
#ifndef ACTIVATION_H
#define ACTIVATION_H

#define ACTIVATION_VERSION 1

/* Ids are append-only, as in every module. */
enum activation_function {
    /* a () -> b (): 1 / (1 + exp(-a)). */
    ACTIVATION_sigmoid = 0,
    /* a (), b () -> c (): a, or 0 with probability b; from the device's generator. */
    ACTIVATION_dropout = 1
};

#endif
