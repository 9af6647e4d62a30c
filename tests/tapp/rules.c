/* TAPP's rules one by one, as a program in C sees them: values, functions, checks and their order,
 * what may be NULL, statuses, attributes. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "check.h"
#include "tapp.h"
#include "tapp/atoll.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The interface's values and signatures, as the working group publishes them. */
_Static_assert(TAPP_F32 == 0 && TAPP_F64 == 1 && TAPP_C32 == 2 && TAPP_C64 == 3, "types");
_Static_assert(TAPP_F16 == 4 && TAPP_BF16 == 5, "types");
_Static_assert(TAPP_FLOAT == 0 && TAPP_DOUBLE == 1 && TAPP_SCOMPLEX == 2 && TAPP_DCOMPLEX == 3,
               "aliases");
_Static_assert(TAPP_DEFAULT_PREC == -1 && TAPP_F32F32_ACCUM_F32 == 0 &&
                   TAPP_F64F64_ACCUM_F64 == 1 && TAPP_F16F16_ACCUM_F16 == 4 &&
                   TAPP_F16F16_ACCUM_F32 == 5 && TAPP_BF16BF16_ACCUM_F32 == 6,
               "precisions");
_Static_assert(TAPP_IDENTITY == 0 && TAPP_CONJUGATE == 1, "operations");
_Static_assert(sizeof(TAPP_handle) == sizeof(void *) && sizeof(TAPP_error) == sizeof(int), "sizes");

static TAPP_error (*const create_product)(TAPP_tensor_product *, TAPP_handle, int, intptr_t,
                                          const int64_t *, int, intptr_t, const int64_t *, int,
                                          intptr_t, const int64_t *, int, intptr_t, const int64_t *,
                                          int) = TAPP_create_tensor_product;
static TAPP_error (*const execute)(intptr_t, intptr_t, intptr_t *, const void *, const void *,
                                   const void *, const void *, const void *,
                                   void *) = TAPP_execute_product;
static TAPP_error (*const execute_batched)(intptr_t, intptr_t, intptr_t *, int, const void *,
                                           const void **, const void **, const void *,
                                           const void **, void **) = TAPP_execute_batched_product;
static TAPP_error (*const create_info)(intptr_t *, int, int, const int64_t *,
                                       const int64_t *) = TAPP_create_tensor_info;
static size_t (*const explain)(int, size_t, char *) = TAPP_explain_error;
static bool (*const success)(int) = TAPP_check_success;
static int (*const get_nmodes)(intptr_t) = TAPP_get_nmodes;
static void (*const get_extents)(intptr_t, int64_t *) = TAPP_get_extents;
static void (*const get_strides)(intptr_t, int64_t *) = TAPP_get_strides;

static const double one = 1, two = 2, zero = 0;
static TAPP_executor exec;

/* A tensor by its lists; -1 ends extents. */
typedef struct {
    int modes;
    int64_t indices[4], extents[4], strides[4];
} Shape;

static TAPP_tensor_info describe(TAPP_datatype type, const Shape *shape) {
    TAPP_tensor_info info = 0;
    CHECK_CODE(0,
               TAPP_create_tensor_info(&info, type, shape->modes, shape->extents, shape->strides));
    return info;
}

/* Plans, compares the code, and that execution says the same. */
static void check_plan(TAPP_error expected, const Shape *a, const Shape *b, const Shape *c,
                       const Shape *d) {
    TAPP_tensor_info infos[] = {describe(TAPP_F64, a), describe(TAPP_F64, b), describe(TAPP_F64, c),
                                describe(TAPP_F64, d)};
    TAPP_tensor_product plan = 0;
    const TAPP_handle never_created = (TAPP_handle)&plan;
    TAPP_error code =
        create_product(&plan, never_created, 0, infos[0], a->indices, 0, infos[1], b->indices, 0,
                       infos[2], c->indices, 0, infos[3], d->indices, TAPP_DEFAULT_PREC);
    CHECK_CODE(expected, code);
    CHECK(plan != 0);
    char text[400], general[400];
    CHECK(explain(code, sizeof text, text) > 0);
    for (int i = 0; i < 4; ++i) CHECK_CODE(0, TAPP_destroy_tensor_info(infos[i]));
    if (expected) {
        double memory[256] = {0};
        memory[0] = 7;
        CHECK_CODE(expected, execute(plan, exec, NULL, &one, memory, memory, &zero, NULL, memory));
        CHECK(memory[0] == 7);
        CHECK(explain(code, sizeof general, general) > 0 && strcmp(general, text) == 0);
        /* Even where more is wrong. */
        CHECK_CODE(expected, execute(plan, 0, NULL, &one, memory, memory, &one, NULL, memory));
    }
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_tensor_product(plan));
}

/* Labels of matrices ij, jk, ik with extents 2, 3, 4; each case breaks them in one or more ways. */
static void codes_of_products(void) {
    const Shape a = {2, {'i', 'j'}, {2, 3}, {1, 2}}, b = {2, {'j', 'k'}, {3, 4}, {1, 3}},
                d = {2, {'i', 'k'}, {2, 4}, {1, 2}};
    check_plan(0, &a, &b, &d, &d);
    Shape x, y, z;

    x = d, x.indices[1] = 'x';
    check_plan(4, &a, &b, &x, &x);
    x.extents[0] = 9; /* 4 before 2 */
    check_plan(4, &a, &b, &x, &x);

    x = (Shape){3, {'i', 'j', 'i'}, {2, 3, 3}, {1, 2, 6}};
    check_plan(9, &x, &b, &d, &d);
    y = (Shape){3, {'j', 'k', 'k'}, {3, 4, 5}, {1, 3, 12}};
    check_plan(10, &a, &y, &d, &d);
    check_plan(9, &x, &y, &d, &d); /* 9 before 10 */
    z = (Shape){3, {'i', 'k', 'k'}, {2, 4, 5}, {1, 2, 8}};
    check_plan(11, &a, &b, &z, &z);
    check_plan(10, &a, &y, &z, &z); /* 10 before 11 */

    x = a, x.extents[1] = 5;
    check_plan(1, &x, &b, &d, &d);
    check_plan(11, &x, &b, &z, &z); /* 11 before 1 */
    y = d, y.extents[0] = 3;
    check_plan(2, &a, &b, &y, &y);
    check_plan(1, &x, &b, &y, &y); /* 1 before 2 */
    z = d, z.extents[1] = 3;
    check_plan(3, &a, &b, &z, &z);
    z.extents[0] = 3;
    check_plan(2, &a, &b, &z, &z); /* 2 before 3 */

    x = (Shape){1, {'i'}, {2}, {1}};
    check_plan(5, &a, &b, &x, &d);
    z = d, z.extents[1] = 3;
    check_plan(3, &a, &b, &x, &z); /* 3 before 5 */
    x = (Shape){2, {'k', 'i'}, {4, 2}, {1, 4}};
    check_plan(6, &a, &b, &x, &d);
    x = d, x.extents[1] = 5;
    check_plan(7, &a, &b, &x, &d);
    x.indices[0] = 'j'; /* 6 before 7 */
    check_plan(6, &a, &b, &x, &d);

    z = d, z.strides[1] = 1;
    check_plan(8, &a, &b, &d, &z);
    check_plan(7, &a, &b, (x = d, x.extents[1] = 5, &x), &z); /* 7 before 8 */
    z.strides[1] = 0;
    check_plan(8, &a, &b, &d, &z);
    /* Interleaved, but no two elements are one: 2i + 3k for i < 2, k < 4. */
    z.strides[0] = 2, z.strides[1] = 3;
    check_plan(0, &a, &b, &d, &z);
    /* 3i + 3k meets at (1, 0) and (0, 1). */
    z.strides[0] = 3;
    check_plan(8, &a, &b, &d, &z);
    z.strides[0] = -1, z.strides[1] = -2;
    check_plan(0, &a, &b, &d, &z);
    /* An empty D has no elements to overlap. */
    x = a, x.extents[0] = 0, y = d, y.extents[0] = 0, y.strides[1] = 0;
    check_plan(0, &x, &b, &y, &y);
    /* The only written elements of D_ii are i (1 + 1), i (1 - 1). */
    x = (Shape){2, {'i', 'i'}, {2, 2}, {1, 1}};
    check_plan(0, &a, &b, &x, &x);
    x.strides[1] = -1;
    check_plan(8, &a, &b, &x, &x);
    /* Strides that lead nowhere are any numbers. */
    x = a, x.extents[0] = 1, x.strides[0] = INT64_MAX;
    y = d, y.extents[0] = 1, y.strides[0] = INT64_MIN;
    check_plan(0, &x, &b, &y, &y);
    x.extents[0] = y.extents[0] = 0, y.strides[1] = INT64_MAX;
    check_plan(0, &x, &b, &y, &y);
    /* C may overlap itself, A and B too. */
    x = d, x.strides[0] = x.strides[1] = 0;
    check_plan(0, &a, &b, &x, &d);

    /* Beyond 63 bits. */
    x = a, x.strides[0] = INT64_MAX;
    check_plan(TAPP_ATOLL_OVERFLOW, &x, &b, &d, &d);
    x = (Shape){3, {'i', 'j', 'm'}, {2, 3, INT64_MAX / 4}, {1, 2, 0}};
    check_plan(TAPP_ATOLL_OVERFLOW, &x, &b, &d, &d);
    /* Any number is an index. */
    x = a, y = b, z = d;
    x.indices[0] = z.indices[0] = INT64_MIN, x.indices[1] = y.indices[0] = -1,
    y.indices[1] = z.indices[1] = INT64_MAX;
    check_plan(0, &x, &y, &z, &z);
}

static void too_many_indices(void) {
    int64_t extents[65], strides[65], indices[65], extent = 2, stride = 0, other[65];
    const int64_t same[65] = {0};
    TAPP_tensor_info number, many;
    TAPP_tensor_product plan;
    for (int i = 0; i < 65; ++i) extents[i] = 1, strides[i] = 0, indices[i] = other[i] = i;
    other[0] = 99;
    CHECK_CODE(0, create_info(&number, TAPP_F64, 0, NULL, NULL));
    CHECK_CODE(0, create_info(&many, TAPP_F64, 65, extents, strides));
    CHECK_CODE(TAPP_ATOLL_TOO_MANY_INDICES,
               create_product(&plan, 0, 0, many, indices, 0, number, NULL, 0, number, NULL, 0,
                              number, NULL, -1));
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(TAPP_ATOLL_TOO_MANY_INDICES,
               create_product(&plan, 0, 0, many, indices, 0, number, NULL, 0, many, other, 0, many,
                              indices, -1)); /* before 6 and 8 */
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    /* Modes are as many as there may be. */
    double a = 3, b = 5, d = -1;
    CHECK_CODE(0, create_product(&plan, 0, 0, many, same, 0, number, NULL, 0, many, same, 0, many,
                                 same, -1));
    CHECK_CODE(0, execute(plan, exec, NULL, &two, &a, &b, &zero, NULL, &d));
    CHECK(d == 30);
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(0, TAPP_set_nmodes(many, 64));
    CHECK_CODE(0, create_product(&plan, 0, 0, many, indices, 0, number, NULL, 0, number, NULL, 0,
                                 number, NULL, -1));
    d = -1;
    CHECK_CODE(0, execute(plan, exec, NULL, &two, &a, &b, &zero, NULL, &d));
    CHECK(d == 30);
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    /* Each tensor has less, together they have more. */
    for (int i = 0; i < 40; ++i) extents[i] = extent, strides[i] = stride, other[i] = 100 + i;
    CHECK_CODE(0, TAPP_set_nmodes(many, 40));
    CHECK_CODE(0, TAPP_set_extents(many, extents));
    CHECK_CODE(TAPP_ATOLL_TOO_MANY_INDICES,
               create_product(&plan, 0, 0, many, indices, 0, many, other, 0, number, NULL, 0,
                              number, NULL, -1));
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(0, TAPP_destroy_tensor_info(many));
    CHECK_CODE(0, TAPP_destroy_tensor_info(number));
}

static void tensor_infos(void) {
    TAPP_tensor_info info = 5;
    const int64_t extents[] = {2, 3}, strides[] = {-1, 4}, negative[] = {2, -1};
    int64_t got[3] = {99, 99, 99};
    CHECK_CODE(14, create_info(&info, TAPP_F64, -1, extents, strides));
    CHECK(info == 0);
    CHECK_CODE(15, create_info(&info, TAPP_F64, 2, negative, strides));
    CHECK_CODE(TAPP_ATOLL_BAD_DATATYPE, create_info(&info, -1, 2, extents, strides));
    CHECK_CODE(TAPP_ATOLL_BAD_DATATYPE, create_info(&info, 6, 2, extents, strides));
    CHECK_CODE(TAPP_ATOLL_BAD_DATATYPE, create_info(&info, 0xfff, 2, extents, strides));
    CHECK_CODE(TAPP_ATOLL_BAD_DATATYPE, create_info(&info, 0x1000, 2, extents, strides));
    CHECK_CODE(TAPP_ATOLL_BAD_DATATYPE, create_info(&info, 0x1011, 2, extents, strides));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, create_info(&info, TAPP_F64, 2, NULL, strides));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, create_info(&info, TAPP_F64, 2, extents, NULL));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, create_info(NULL, TAPP_F64, 2, extents, strides));
    CHECK_CODE(0, create_info(&info, TAPP_F64, 2, extents, strides));
    CHECK(get_nmodes(info) == 2);
    get_extents(info, got);
    CHECK(got[0] == 2 && got[1] == 3 && got[2] == 99);
    get_strides(info, got);
    CHECK(got[0] == -1 && got[1] == 4 && got[2] == 99);
    CHECK_CODE(15, TAPP_set_extents(info, negative));
    get_extents(info, got);
    CHECK(got[0] == 2 && got[1] == 3);
    CHECK_CODE(0, TAPP_set_extents(info, (const int64_t[]){7, 0}));
    CHECK_CODE(0, TAPP_set_strides(info, (const int64_t[]){0, -8}));
    CHECK_CODE(14, TAPP_set_nmodes(info, -2));
    CHECK_CODE(0, TAPP_set_nmodes(info, 3));
    CHECK(get_nmodes(info) == 3);
    get_extents(info, got);
    CHECK(got[0] == 7 && got[1] == 0 && got[2] == 1);
    get_strides(info, got);
    CHECK(got[0] == 0 && got[1] == -8 && got[2] == 0);
    CHECK_CODE(0, TAPP_set_nmodes(info, 1));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, TAPP_set_extents(info, NULL));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, TAPP_set_strides(info, NULL));
    get_extents(info, NULL);
    CHECK_CODE(0, TAPP_set_nmodes(info, 0));
    CHECK_CODE(0, TAPP_set_extents(info, NULL));
    CHECK_CODE(0, TAPP_destroy_tensor_info(info));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_tensor_info(info));
    CHECK(get_nmodes(info) == -1);
    got[0] = 42;
    get_extents(info, got);
    get_strides(info, got);
    CHECK(got[0] == 42);
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_set_nmodes(info, 1));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_set_extents(0, got));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_set_strides((TAPP_tensor_info)got, got));
}

static void wrong_arguments(void) {
    TAPP_tensor_info number, vector;
    TAPP_tensor_product plan;
    double a = 3, b = 5, c = 7, d = -1;
    CHECK_CODE(0, create_info(&number, TAPP_F64, 0, NULL, NULL));
    CHECK_CODE(0, create_info(&vector, TAPP_F64, 1, (const int64_t[]){2}, (const int64_t[]){1}));
#define PLAN(op, info, prec)                                                                       \
    create_product(&plan, 0, op, info, NULL, 0, number, NULL, 0, number, NULL, 0, number, NULL,    \
                   prec)
    const struct {
        TAPP_error code, got;
    } cases[] = {
        {TAPP_ATOLL_BAD_OPERATION, PLAN(2, number, -1)},
        {TAPP_ATOLL_BAD_PRECISION, PLAN(0, number, 2)},
        {TAPP_ATOLL_BAD_PRECISION, PLAN(0, number, -2)},
        {TAPP_ATOLL_BAD_OBJECT, PLAN(0, 0, -1)},
        {TAPP_ATOLL_BAD_OBJECT, PLAN(0, exec, -1)},
        {TAPP_ATOLL_BAD_OBJECT, PLAN(0, (TAPP_tensor_info)&a, -1)},
        {TAPP_ATOLL_NULL_ARGUMENT, PLAN(0, vector, -1)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        CHECK_CODE(cases[i].code, cases[i].got);
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, execute(plan, exec, NULL, &one, &a, &b, &zero, &c, &d));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, create_product(NULL, 0, 0, number, NULL, 0, number, NULL,
                                                        0, number, NULL, 0, number, NULL, -1));
    const TAPP_prectype precisions[] = {TAPP_DEFAULT_PREC,     TAPP_F32F32_ACCUM_F32,
                                        TAPP_F64F64_ACCUM_F64, TAPP_F16F16_ACCUM_F16,
                                        TAPP_F16F16_ACCUM_F32, TAPP_BF16BF16_ACCUM_F32};
    for (int i = 0; i < 6; ++i) {
        CHECK_CODE(0, PLAN(1, number, precisions[i]));
        CHECK_CODE(0, execute(plan, exec, NULL, &two, &a, &b, &one, &c, &d));
        CHECK(d == 37);
        if (i < 5) CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    }
    d = -1;
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, execute(plan, exec, NULL, NULL, &a, &b, &zero, &c, &d));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, execute(plan, exec, NULL, &one, &a, &b, NULL, &c, &d));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, execute(plan, exec, NULL, &one, NULL, &b, &one, &c, &d));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, execute(plan, exec, NULL, &one, &a, NULL, &one, &c, &d));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, execute(plan, exec, NULL, &one, &a, &b, &one, &c, NULL));
    CHECK_CODE(12, execute(plan, exec, NULL, &one, &a, &b, &one, NULL, &d));
    CHECK_CODE(12, execute(plan, 0, NULL, &one, &a, &b, &one, NULL, &d)); /* 12 before 33 */
    CHECK_CODE(33, execute(plan, 0, NULL, &one, &a, &b, &zero, NULL, &d));
    CHECK_CODE(33, execute(plan, 0, NULL, &one, NULL, &b, &zero, NULL, &d));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, execute(plan, plan, NULL, &one, &a, &b, &zero, NULL, &d));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, execute(0, exec, NULL, &one, &a, &b, &zero, NULL, &d));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, execute(exec, exec, NULL, &one, &a, &b, &zero, NULL, &d));
    CHECK(d == -1);
    CHECK_CODE(0, execute(plan, exec, NULL, &one, &a, &b, &zero, NULL, &d));
    CHECK(d == 15);
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(0, TAPP_destroy_tensor_info(number));
    CHECK_CODE(0, TAPP_destroy_tensor_info(vector));
}

/* C is not read if beta is 0; a changed tensor info does not change the plan; C may be D. */
static void reading_and_writing(void) {
    const Shape a = {2, {1, 2}, {2, 2}, {1, 2}}, d = {1, {1}, {2}, {2}};
    const Shape v = {1, {2}, {2}, {1}};
    TAPP_tensor_info info_a = describe(TAPP_F64, &a), info_b = describe(TAPP_F64, &v),
                     info_d = describe(TAPP_F64, &d);
    TAPP_tensor_product plan;
    CHECK_CODE(0, create_product(&plan, 12345, 0, info_a, a.indices, 0, info_b, v.indices, 0,
                                 info_d, d.indices, 0, info_d, d.indices, -1));
    CHECK_CODE(0, TAPP_set_nmodes(info_a, 0));
    CHECK_CODE(0, TAPP_set_extents(info_d, (const int64_t[]){50}));
    CHECK_CODE(0, TAPP_destroy_tensor_info(info_b));
    const double A[] = {1, 2, 3, 4}, B[] = {10, 100};
    double C[] = {NAN, -1, NAN}, D[] = {-1, -2, -3};
    CHECK_CODE(0, execute(plan, exec, NULL, &one, A, B, &zero, C, D));
    CHECK(D[0] == 310 && D[1] == -2 && D[2] == 420);
    CHECK_CODE(0, execute(plan, exec, NULL, &two, A, B, &two, D, D));
    CHECK(D[0] == 1240 && D[1] == -2 && D[2] == 1680);
    CHECK_CODE(0, execute(plan, exec, NULL, &one, A, B, &zero, TAPP_IN_PLACE, D));
    CHECK(D[0] == 310 && D[1] == -2 && D[2] == 420);
    CHECK_CODE(0, execute(plan, exec, NULL, &one, A, B, &one, C, D));
    CHECK(isnan(D[0]) && D[1] == -2 && isnan(D[2]));
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(0, TAPP_destroy_tensor_info(info_a));
    CHECK_CODE(0, TAPP_destroy_tensor_info(info_d));
}

/* Extent 0: a contracted one leaves beta C, a free one nothing to write. */
static void empty_extents(void) {
    for (int contracted = 0; contracted < 2; ++contracted) {
        const Shape a = {2, {1, 2}, {contracted ? 2 : 0, contracted ? 0 : 2}, {1, 2}};
        const Shape b = {1, {2}, {a.extents[1]}, {1}}, d = {1, {1}, {a.extents[0]}, {1}};
        TAPP_tensor_info info_a = describe(TAPP_C64, &a), info_b = describe(TAPP_C64, &b),
                         info_d = describe(TAPP_C64, &d);
        TAPP_tensor_product plan;
        TAPP_status status;
        const double alpha[] = {1, 0}, beta[] = {0, 2}, none[] = {0, 0};
        double C[] = {3, 4, 5, 6}, D[] = {-1, -1, -1, -1};
        CHECK_CODE(0, create_product(&plan, 0, 0, info_a, a.indices, 0, info_b, b.indices, 0,
                                     info_d, d.indices, TAPP_CONJUGATE, info_d, d.indices, -1));
        CHECK_CODE(0, execute(plan, exec, &status, alpha, NULL, contracted ? NULL : C, beta, C,
                              contracted ? D : NULL));
        void *operations = &plan;
        CHECK_CODE(0, TAPP_attr_get(status, TAPP_ATOLL_OPERATIONS, &operations));
        CHECK((intptr_t)operations == 0);
        /* conj(2i (3 + 4i)) = -8 - 6i */
        if (contracted) CHECK(D[0] == -8 && D[1] == -6 && D[2] == -12 && D[3] == -10);
        CHECK_CODE(0, execute(plan, exec, NULL, alpha, NULL, C, none, NULL, D));
        if (contracted) CHECK(D[0] == 0 && D[1] == 0 && D[2] == 0 && D[3] == 0);
        if (!contracted) CHECK(D[0] == -1 && D[3] == -1);
        CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
        CHECK_CODE(0, TAPP_destroy_tensor_info(info_a));
        CHECK_CODE(0, TAPP_destroy_tensor_info(info_b));
        CHECK_CODE(0, TAPP_destroy_tensor_info(info_d));
    }
}

static void explanations(void) {
    const TAPP_error codes[] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                                11,   12,   13,   14,   15,   33,   1001, 1002, 1003, 1004, 1005,
                                1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016,
                                1100, 1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108, 1109};
    enum { count = sizeof codes / sizeof *codes, length = 200 };
    static char texts[count][length], unknown[length], text[length];
    TAPP_destroy_executor(0); /* so that no code here is the latest but one */
    for (int i = 0; i < count; ++i) {
        CHECK(success(codes[i]) == (codes[i] == 0));
        const size_t whole = explain(codes[i], 0, NULL);
        CHECK(whole > 5 && whole < length);
        CHECK(explain(codes[i], length, texts[i]) == whole && strlen(texts[i]) == whole);
        CHECK(!strstr(texts[i], "no error code"));
        for (int j = 0; j < i; ++j) CHECK(strcmp(texts[i], texts[j]) != 0);
    }
    CHECK(explain(1000, length, unknown) > 0 && strstr(unknown, "1000 is no error code"));
    CHECK(explain(-5, length, unknown) > 0 && strstr(unknown, "-5 is no error code"));
    CHECK(explain(INT_MIN, length, unknown) > 0 && strstr(unknown, "-2147483648 is no error code"));
    CHECK(explain(INT_MAX, length, unknown) > 0 && strstr(unknown, "2147483647 is no error code"));
    /* The text and its NUL fit exactly, or are cut. */
    const size_t whole = strlen(texts[1]);
    memset(text, '#', sizeof text);
    CHECK(explain(1, whole + 1, text) == whole && strcmp(text, texts[1]) == 0 &&
          text[whole + 1] == '#');
    memset(text, '#', sizeof text);
    CHECK(explain(1, whole, text) == whole - 1 && strlen(text) == whole - 1 && text[whole] == '#');
    CHECK(explain(1, 1, text) == 0 && text[0] == '\0');
    CHECK(strncmp(texts[1], "success", 7) != 0 && strcmp(texts[0], "success") == 0);
    /* About the call, if the code is that of the latest failure. */
    TAPP_tensor_info info;
    CHECK_CODE(15, create_info(&info, TAPP_F64, 1, (const int64_t[]){-77}, (const int64_t[]){1}));
    CHECK(explain(15, length, text) > 0 && strstr(text, "-77"));
    CHECK(explain(14, length, text) > 0 && !strstr(text, "-77"));
}

/* Attributes that could not be read are null. */
static int is_text(const void *value, const char *text) {
    return value && strcmp(value, text) == 0;
}

static void statuses(void) {
    enum { kept = 1024, length = 300 };
    TAPP_tensor_info info;
    TAPP_tensor_product plan;
    TAPP_status status = 0, first = 0, same = 0;
    void *value = NULL;
    char text[length];
    const int64_t extents[] = {3, 5}, strides[] = {1, 3}, ij[] = {1, 2};
    double A[15] = {1}, D[15];
    CHECK_CODE(0, create_info(&info, TAPP_F64, 2, extents, strides));
    CHECK_CODE(0, create_product(&plan, 0, 0, info, ij, 0, info, ij, 0, info, ij, 0, info, ij, -1));
    CHECK_CODE(0, execute(plan, exec, &first, &one, A, A, &zero, NULL, D));
    CHECK(first < 0);
    CHECK_CODE(0, TAPP_attr_get(first, TAPP_ATOLL_DEVICE, &value));
    const char *const wanted = getenv("ATOLL_TAPP_DEVICE");
    const char *const name = wanted && *wanted ? wanted : "cpu";
    /* The only device of a type goes by the type's name, without ":0". */
    const size_t type = strcspn(name, ":");
    CHECK(is_text(value, name) || (strcmp(name + type, ":0") == 0 && value &&
                                   strlen(value) == type && strncmp(value, name, type) == 0));
    CHECK_CODE(0, TAPP_attr_get(first, TAPP_ATOLL_NANOSECONDS, &value));
    CHECK((intptr_t)value > 0);
    CHECK_CODE(0, TAPP_attr_get(first, TAPP_ATOLL_OPERATIONS, &value));
    CHECK((intptr_t)value == 30);
    CHECK_CODE(0, TAPP_attr_get(first, TAPP_ATOLL_ERROR, &value));
    CHECK((intptr_t)value == 0);
    CHECK_CODE(12, execute(plan, exec, &status, &one, A, A, &one, NULL, D));
    CHECK_CODE(0, TAPP_attr_get(status, TAPP_ATOLL_ERROR, &value));
    CHECK((intptr_t)value == 12 && status != first);
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_get(first, TAPP_ATOLL_MEMORY, &value));
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_get(first, 0, &value));
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_set(first, TAPP_ATOLL_DEVICE, "cpu"));
    CHECK(explain(TAPP_ATOLL_BAD_KEY, length, text) > 0 && strstr(text, "only be read"));
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_clear(first, TAPP_ATOLL_ERROR));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, TAPP_attr_get(first, TAPP_ATOLL_ERROR, NULL));
    CHECK_CODE(0, TAPP_destroy_status(status));
    CHECK_CODE(TAPP_ATOLL_EXPIRED_STATUS, TAPP_destroy_status(status));
    CHECK_CODE(TAPP_ATOLL_EXPIRED_STATUS, TAPP_attr_get(status, TAPP_ATOLL_ERROR, &value));
    /* The latest 1,024, of which two are there. */
    for (int i = 0; i < kept - 2; ++i)
        CHECK_CODE(33, execute(plan, 0, &same, &one, A, A, &zero, NULL, D));
    CHECK_CODE(0, TAPP_attr_get(first, TAPP_ATOLL_ERROR, &value));
    CHECK_CODE(33, execute(plan, 0, &same, &one, A, A, &zero, NULL, D));
    CHECK_CODE(TAPP_ATOLL_EXPIRED_STATUS, TAPP_attr_get(first, TAPP_ATOLL_ERROR, &value));
    CHECK_CODE(0, TAPP_attr_get(same, TAPP_ATOLL_ERROR, &value));
    CHECK((intptr_t)value == 33);
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_status(same - 1));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_status(0));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_status(INTPTR_MIN));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_status((TAPP_status)&same));
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(0, TAPP_destroy_tensor_info(info));
}

static void attributes(void) {
    TAPP_executor other;
    TAPP_handle handle;
    void *value = NULL;
    char text[300];
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, TAPP_create_executor(NULL));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, TAPP_create_handle(NULL));
    CHECK_CODE(0, TAPP_create_executor(&other));
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_MEMORY, &value));
    CHECK(is_text(value, "host"));
    CHECK_CODE(0, TAPP_attr_set(other, TAPP_ATOLL_MEMORY, "device"));
    CHECK_CODE(TAPP_ATOLL_BAD_VALUE, TAPP_attr_set(other, TAPP_ATOLL_MEMORY, "elsewhere"));
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_MEMORY, &value));
    CHECK(is_text(value, "device"));
    CHECK_CODE(0, TAPP_attr_clear(other, TAPP_ATOLL_MEMORY));
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_MEMORY, &value));
    CHECK(is_text(value, "host"));
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_DEVICE, &value));
    const char *const before = value;
    CHECK_CODE(TAPP_ATOLL_NOT_FOUND, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, "abacus:0"));
    CHECK_CODE(TAPP_ATOLL_NOT_FOUND, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, "./evil.so"));
    CHECK_CODE(TAPP_ATOLL_NOT_FOUND, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, ""));
    CHECK_CODE(TAPP_ATOLL_NOT_FOUND, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, "cpu:7"));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, NULL));
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_DEVICE, &value));
    CHECK(value == before);
    CHECK_CODE(0, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, "dummy:0"));
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_DEVICE, &value));
    CHECK(is_text(value, "dummy:0"));
    /* The environment counts when an executor is made. */
    CHECK(setenv("ATOLL_TAPP_DEVICE", "abacus:0", 1) == 0);
    CHECK_CODE(0, TAPP_attr_clear(other, TAPP_ATOLL_DEVICE));
    CHECK(setenv("ATOLL_TAPP_DEVICE", before, 1) == 0);
    CHECK_CODE(0, TAPP_attr_get(other, TAPP_ATOLL_DEVICE, &value));
    CHECK(value == before);
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_set(other, 1, "cpu"));
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_get(other, TAPP_ATOLL_NANOSECONDS, &value));
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_clear(other, -1));
    CHECK_CODE(0, TAPP_destroy_executor(other));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_executor(other));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_attr_set(other, TAPP_ATOLL_DEVICE, "cpu"));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_attr_get(0, TAPP_ATOLL_DEVICE, &value));
    CHECK(explain(TAPP_ATOLL_BAD_OBJECT, sizeof text, text) > 0 &&
          strstr(text, "an executor, a status or a handle"));
    CHECK_CODE(0, TAPP_create_handle(&handle));
    CHECK_CODE(0, TAPP_attr_get(handle, TAPP_ATOLL_VERSION, &value));
    CHECK(strchr(value, '.') != NULL);
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_get(handle, TAPP_ATOLL_DEVICE, &value));
    CHECK_CODE(TAPP_ATOLL_BAD_KEY, TAPP_attr_set(handle, TAPP_ATOLL_VERSION, "2"));
    CHECK_CODE(0, TAPP_destroy_handle(handle));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_handle(handle));
    CHECK_CODE(TAPP_ATOLL_BAD_OBJECT, TAPP_destroy_handle(0));
}

static void batches(void) {
    TAPP_tensor_info vector, number;
    TAPP_tensor_product plan;
    TAPP_status status;
    void *value;
    const int64_t extent[] = {2}, stride[] = {1}, i[] = {7};
    const double A[] = {1, 2, 3, 4, 5, 6}, B[] = {1, 10};
    double C[] = {100, 200, 300}, D[] = {-1, -1, -1};
    const void *a[] = {A, A + 2, A + 4}, *b[] = {B, B, B}, *c[] = {C, C + 1, C + 2};
    void *d[] = {D, D + 1, D + 2};
    CHECK_CODE(0, create_info(&vector, TAPP_F64, 1, extent, stride));
    CHECK_CODE(0, create_info(&number, TAPP_F64, 0, NULL, NULL));
    CHECK_CODE(0, create_product(&plan, 0, 0, vector, i, 0, vector, i, 0, number, NULL, 0, number,
                                 NULL, -1));
    CHECK_CODE(0, execute_batched(plan, exec, &status, 3, &one, a, b, &one, c, d));
    CHECK(D[0] == 121 && D[1] == 243 && D[2] == 365);
    CHECK_CODE(0, TAPP_attr_get(status, TAPP_ATOLL_OPERATIONS, &value));
    CHECK((intptr_t)value == 12);
    CHECK_CODE(0, execute_batched(plan, exec, NULL, 3, &one, a, b, &zero, NULL, d));
    CHECK(D[0] == 21 && D[1] == 43 && D[2] == 65);
    /* Not equally far, one of them in place. */
    a[1] = A;
    c[1] = D + 1;
    CHECK_CODE(0, execute_batched(plan, exec, NULL, 3, &two, a, b, &one, c, d));
    CHECK(D[0] == 142 && D[1] == 85 && D[2] == 430);
    const double before[] = {D[0], D[1], D[2]};
    CHECK_CODE(0, execute_batched(plan, exec, NULL, 0, &one, NULL, NULL, &one, NULL, NULL));
    CHECK_CODE(TAPP_ATOLL_BAD_COUNT,
               execute_batched(plan, exec, NULL, -1, &one, a, b, &zero, NULL, d));
    CHECK_CODE(12, execute_batched(plan, exec, NULL, 3, &one, a, b, &one, NULL, d));
    c[2] = NULL;
    CHECK_CODE(12, execute_batched(plan, exec, NULL, 3, &one, a, b, &one, c, d));
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT,
               execute_batched(plan, exec, NULL, 3, &one, NULL, b, &zero, c, d));
    b[2] = NULL;
    CHECK_CODE(TAPP_ATOLL_NULL_ARGUMENT,
               execute_batched(plan, exec, NULL, 3, &one, a, b, &zero, c, d));
    CHECK_CODE(33, execute_batched(plan, 0, NULL, 3, &one, a, b, &zero, c, d));
    CHECK(memcmp(before, D, sizeof D) == 0);
    CHECK_CODE(0, execute_batched(plan, exec, NULL, 2, &one, a, b, &zero, c, d));
    CHECK(D[0] == 21 && D[1] == 21 && D[2] == before[2]);
    CHECK_CODE(0, TAPP_destroy_tensor_product(plan));
    CHECK_CODE(0, TAPP_destroy_tensor_info(vector));
    CHECK_CODE(0, TAPP_destroy_tensor_info(number));
}

int main(void) {
    CHECK_CODE(0, TAPP_create_executor(&exec));
    CHECK(TAPP_IN_PLACE == NULL);
    codes_of_products();
    too_many_indices();
    tensor_infos();
    wrong_arguments();
    reading_and_writing();
    empty_extents();
    explanations();
    statuses();
    attributes();
    batches();
    CHECK_CODE(0, TAPP_destroy_executor(exec));
    return checked();
}
