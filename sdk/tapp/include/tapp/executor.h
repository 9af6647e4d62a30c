/* Executors: where products are computed. */
#ifndef TAPP_EXECUTOR_H
#define TAPP_EXECUTOR_H

#include "error.h"
#include "util.h"

#include <stdint.h>

typedef intptr_t TAPP_executor;

/* On the device that the environment variable ATOLL_TAPP_DEVICE names ("cpu", "dummy:0"), without
 * it on "cpu"; attributes choose another, see tapp/atoll.h. Loads the plugin of that name, and once
 * those that ATOLL_TAPP_PLUGINS lists. Sets *exec to 0 if it fails.
 *
 * The library keeps the streams of executions that copy tensors to a device, for later ones, also
 * when the executor is destroyed. From then on the plugin of that device is busy for
 * Atoll::retire_plugin, should the program use Atoll's C++ interface, too. */
TAPP_EXPORT TAPP_error TAPP_create_executor(TAPP_executor *exec);
TAPP_EXPORT TAPP_error TAPP_destroy_executor(TAPP_executor exec);

#endif
