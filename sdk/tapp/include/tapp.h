/* TAPP, a C interface for products of tensors, version 0.5 of the interface, as libtapp-atoll
 * implements it: names, types and values are those of the working group's headers.
 *
 *   D = op_D(alpha op_A(A) op_B(B) + beta op_C(C)), summed over each index that D lacks
 *
 * What the standard leaves to implementations is described here and in tapp/atoll.h. C99 or C++.
 * All functions may be called from several threads; an object may be used by several threads at
 * once, also while another thread destroys it. Values that are no objects of the library, among
 * them NULL and objects that were destroyed, are refused with an error.
 */
#ifndef TAPP_H
#define TAPP_H

#include "tapp/attributes.h"
#include "tapp/datatype.h"
#include "tapp/error.h"
#include "tapp/executor.h"
#include "tapp/handle.h"
#include "tapp/product.h"
#include "tapp/status.h"
#include "tapp/tensor.h"
#include "tapp/util.h"

#endif
