/* Handles: the library as an object. It has no state: products may be made with any value. */
#ifndef TAPP_HANDLE_H
#define TAPP_HANDLE_H

#include "error.h"
#include "util.h"

#include <stdint.h>

typedef intptr_t TAPP_handle;

TAPP_EXPORT TAPP_error TAPP_create_handle(TAPP_handle *handle);
TAPP_EXPORT TAPP_error TAPP_destroy_handle(TAPP_handle handle);

#endif
