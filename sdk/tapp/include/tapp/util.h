/* The linkage of the interface's functions. */
#ifndef TAPP_UTIL_H
#define TAPP_UTIL_H

#ifdef __cplusplus
#define TAPP_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TAPP_EXPORT __attribute__((visibility("default")))
#endif

#endif
