/* Error codes.
 *
 *    0  success
 *    1  A and B have an index with two extents     2  A and D have     3  B and D have
 *    4  an index of D is in neither A nor B
 *    5  C has another number of modes than D       6  another index    7  another extent
 *    8  elements of D share memory, or it takes too long to find out
 *    9  A has an index with two extents           10  B has           11  D has
 *   12  C is NULL, but beta is not 0
 *   13  not used
 *   14  a negative number of modes                15  a negative extent
 *   33  there is no executor
 *
 * A product is checked in this order: TAPP_ATOLL_TOO_MANY_INDICES, 4, 9, 10, 11, 1, 2, 3, 5, 6, 7,
 * 8, then on execution 12, 33. Codes from 1000 on are this library's own: tapp/atoll.h.
 */
#ifndef TAPP_ERROR_H
#define TAPP_ERROR_H

#include "util.h"

#include <stdbool.h>
#include <stddef.h>

typedef int TAPP_error;

TAPP_EXPORT bool TAPP_check_success(TAPP_error error);

/* Writes a sentence on the error to `message`, shortened to maxlen - 1 characters, and a NUL.
 * Returns the number of characters written, without the NUL. With maxlen == 0 nothing is written,
 * and the length of the whole text is returned.
 *
 * If `error` is what the calling thread's latest failed call returned, the text is about that call:
 * it names the tensor, the index and the extents. Otherwise it says what the code means. */
TAPP_EXPORT size_t TAPP_explain_error(TAPP_error error, size_t maxlen, char *message);

#endif
