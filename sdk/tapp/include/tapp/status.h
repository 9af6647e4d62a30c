/* Statuses: what an execution did. Attributes tell: see tapp/atoll.h.
 *
 * The library keeps the latest 1,024 of the process, so that programs may leave them undestroyed;
 * asking an older one is an error.
 */
#ifndef TAPP_STATUS_H
#define TAPP_STATUS_H

#include "error.h"
#include "util.h"

#include <stdint.h>

typedef intptr_t TAPP_status;

TAPP_EXPORT TAPP_error TAPP_destroy_status(TAPP_status status);

#endif
