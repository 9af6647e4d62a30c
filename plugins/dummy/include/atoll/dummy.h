/* The simulated accelerator's own API, for implementations of others that run on it: what a vendor
 * would get from a driver. Kinds of native handles (atoll_native_handle_params).
 *
 * Facts (atoll_facts_params): allocations, so far; taken_bytes, memory in use. */
#ifndef ATOLL_DUMMY_H
#define ATOLL_DUMMY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum atoll_dummy_handle {
    ATOLL_DUMMY_QUEUE = 1, /* an atoll_dummy_queue *: the stream */
    ATOLL_DUMMY_DEVICE = 2 /* the device's index */
};

typedef struct atoll_dummy_queue {
    /* Runs function(argument) on the stream's worker after all that was enqueued before, also where
     * that failed. Returns at once. Anything but 0 makes the work of `name` ("linalg.solve") fail
     * with that status (enum atoll_status), which the next synchronisation reports. */
    void (*enqueue)(struct atoll_dummy_queue *queue, const char *name,
                    int32_t (*function)(void *argument), void *argument);
    /* Where such a function finds the bytes behind an address of the device's memory. */
    void *(*address)(struct atoll_dummy_queue *queue, void *device_address);
} atoll_dummy_queue;

#ifdef __cplusplus
}
#endif
#endif
