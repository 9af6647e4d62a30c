/* Executors: where products are computed. */
#ifndef TAPP_EXECUTOR_H
#define TAPP_EXECUTOR_H

#include "error.h"
#include "util.h"

#include <stdint.h>

typedef intptr_t TAPP_executor;

/* On the device that the environment variable ATOLL_TAPP_DEVICE names ("cpu", "dummy:0"), without
 * it on "cpu"; attributes choose another, see tapp/atoll.h. Loads the plugin of that name, and once
 * those that ATOLL_TAPP_PLUGINS lists. Sets *exec to 0 if it fails. */
TAPP_EXPORT TAPP_error TAPP_create_executor(TAPP_executor *exec);
TAPP_EXPORT TAPP_error TAPP_destroy_executor(TAPP_executor exec);

#endif
