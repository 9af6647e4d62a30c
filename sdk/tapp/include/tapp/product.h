/* Products of tensors: planned once, executed any number of times. */
#ifndef TAPP_PRODUCT_H
#define TAPP_PRODUCT_H

#include "datatype.h"
#include "error.h"
#include "executor.h"
#include "handle.h"
#include "status.h"
#include "tensor.h"
#include "util.h"

#include <stddef.h>
#include <stdint.h>

typedef int TAPP_element_op;
enum { TAPP_IDENTITY = 0, TAPP_CONJUGATE = 1 /* of a complex number; the identity for others */ };

#define TAPP_IN_PLACE NULL

typedef intptr_t TAPP_tensor_product;

/* idx_X has an index, any number, for each mode of X. Modes with equal indices run together: an
 * index that D lacks is summed over (in A or B alone: over that tensor first), one that stands
 * twice in a tensor selects its diagonal; of D, only the diagonal is written then. C has the modes
 * of D in the same order; its strides and type may differ. At most 64 indices.
 *
 * A product that cannot be is returned all the same: TAPP_execute_product gives the same error.
 * *plan is 0 only if there is no memory for it. `handle` may be any value. */
TAPP_EXPORT TAPP_error TAPP_create_tensor_product(
    TAPP_tensor_product *plan, TAPP_handle handle, TAPP_element_op op_A, TAPP_tensor_info A,
    const int64_t *idx_A, TAPP_element_op op_B, TAPP_tensor_info B, const int64_t *idx_B,
    TAPP_element_op op_C, TAPP_tensor_info C, const int64_t *idx_C, TAPP_element_op op_D,
    TAPP_tensor_info D, const int64_t *idx_D, TAPP_prectype prec);
TAPP_EXPORT TAPP_error TAPP_destroy_tensor_product(TAPP_tensor_product plan);

/* alpha and beta point to numbers of D's type. C may be NULL if beta is 0, and is not read then. C
 * may be D; A, B and C may overlap D in any way. A, B and D may be NULL if they or D have no
 * elements. Complex results are stored in a real D without their imaginary part.
 *
 * Returns when D is there. If `status` is not NULL, *status tells about the execution, also about a
 * failed one. An error in an argument leaves D as it was. */
TAPP_EXPORT TAPP_error TAPP_execute_product(TAPP_tensor_product plan, TAPP_executor exec,
                                            TAPP_status *status, const void *alpha, const void *A,
                                            const void *B, const void *beta, const void *C,
                                            void *D);

/* The same product of num_batches sets of tensors. The sets must not depend on each other: no D[i]
 * may overlap a tensor of another set. Faster if the addresses of each tensor are equally spaced.
 * The array C may be NULL where its elements may. */
TAPP_EXPORT TAPP_error TAPP_execute_batched_product(TAPP_tensor_product plan, TAPP_executor exec,
                                                    TAPP_status *status, int num_batches,
                                                    const void *alpha, const void **A,
                                                    const void **B, const void *beta,
                                                    const void **C, void **D);

#endif
