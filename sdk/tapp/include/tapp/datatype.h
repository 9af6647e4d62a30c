/* Types of elements, and precisions to compute in. */
#ifndef TAPP_DATATYPE_H
#define TAPP_DATATYPE_H

#include "util.h"

/* From 0x1000 on: this library's own, see tapp/atoll.h. */
typedef int TAPP_datatype;
enum {
    TAPP_F32 = 0,  /* IEEE 754 binary32 */
    TAPP_F64 = 1,  /* IEEE 754 binary64 */
    TAPP_C32 = 2,  /* two binary32: real part, imaginary part; 8 bytes */
    TAPP_C64 = 3,  /* two binary64; 16 bytes */
    TAPP_F16 = 4,  /* IEEE 754 binary16 */
    TAPP_BF16 = 5, /* bfloat16: the upper half of a binary32 */

    TAPP_FLOAT = TAPP_F32,
    TAPP_DOUBLE = TAPP_F64,
    TAPP_SCOMPLEX = TAPP_C32,
    TAPP_DCOMPLEX = TAPP_C64
};

/* TAPP_xy_ACCUM_z: x and y are what the factors are before they are multiplied, z what products
 * are added in. This library computes in the common type of the four tensors, or in more if the
 * precision asks for it; halves are always added in binary32. Integers alone are computed in
 * integers, modulo 2^bits; signed ones with 64-bit unsigned ones modulo 2^64. */
typedef int TAPP_prectype;
enum {
    TAPP_DEFAULT_PREC = -1,
    TAPP_F32F32_ACCUM_F32 = 0,
    TAPP_F64F64_ACCUM_F64 = 1,
    TAPP_F16F16_ACCUM_F16 = 4,
    TAPP_F16F16_ACCUM_F32 = 5,
    TAPP_BF16BF16_ACCUM_F32 = 6
};

#endif
