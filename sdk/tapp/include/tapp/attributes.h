/* Attributes of objects; tapp/atoll.h lists those of this library. */
#ifndef TAPP_ATTRIBUTES_H
#define TAPP_ATTRIBUTES_H

#include "error.h"
#include "util.h"

#include <stdint.h>

/* Any object: an executor, a status, a handle. */
typedef intptr_t TAPP_attr;
/* Below 0x1000 and negative: the standard's, none so far. */
typedef int TAPP_key;

/* Texts are read, the library keeps a copy. */
TAPP_EXPORT TAPP_error TAPP_attr_set(TAPP_attr attr, TAPP_key key, void *value);
/* *value is the text, which lives as long as the process, or the number itself as an intptr_t. */
TAPP_EXPORT TAPP_error TAPP_attr_get(TAPP_attr attr, TAPP_key key, void **value);
/* Back to what it was when the object was made. */
TAPP_EXPORT TAPP_error TAPP_attr_clear(TAPP_attr attr, TAPP_key key);

#endif
