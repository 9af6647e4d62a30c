/* Descriptions of tensors: type, extents, strides. */
#ifndef TAPP_TENSOR_H
#define TAPP_TENSOR_H

#include "datatype.h"
#include "error.h"
#include "util.h"

#include <stdint.h>

typedef intptr_t TAPP_tensor_info;

/* Strides are in elements, between neighbours along a mode; a tensor's address is that of element
 * (0, ..., 0). Those of inputs may be negative or 0; those of modes of extent 1, and all of a
 * tensor without elements, may be any numbers. Without modes the tensor is a number, and both
 * arrays may be NULL. */
TAPP_EXPORT TAPP_error TAPP_create_tensor_info(TAPP_tensor_info *info, TAPP_datatype type,
                                               int nmode, const int64_t *extents,
                                               const int64_t *strides);
/* Products that were made with it stay as they are, here and below. */
TAPP_EXPORT TAPP_error TAPP_destroy_tensor_info(TAPP_tensor_info info);

/* -1 if `info` is no tensor info. */
TAPP_EXPORT int TAPP_get_nmodes(TAPP_tensor_info info);
/* Further modes get extent 1 and stride 0. */
TAPP_EXPORT TAPP_error TAPP_set_nmodes(TAPP_tensor_info info, int nmodes);

/* Arrays of TAPP_get_nmodes(info) numbers. Nothing is written if `info` is no tensor info. */
TAPP_EXPORT void TAPP_get_extents(TAPP_tensor_info info, int64_t *extents);
TAPP_EXPORT TAPP_error TAPP_set_extents(TAPP_tensor_info info, const int64_t *extents);
TAPP_EXPORT void TAPP_get_strides(TAPP_tensor_info info, int64_t *strides);
TAPP_EXPORT TAPP_error TAPP_set_strides(TAPP_tensor_info info, const int64_t *strides);

#endif
