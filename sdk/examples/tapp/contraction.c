/* A contraction of tensors with three and four modes through TAPP:
 *
 *   D[a,b,c] = alpha sum over d, e of A[c,d,a,e] B[e,b,d] + beta C[a,b,c]
 *
 * planned once, executed twice, and compared with loops. The device is what ATOLL_TAPP_DEVICE
 * names. What is not of TAPP but of this implementation comes from tapp/atoll.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tapp.h>
#include <tapp/atoll.h>

/* Ends the program with the library's explanation of an error. */
static void require(TAPP_error error) {
    char text[500];
    if (TAPP_check_success(error)) return;
    TAPP_explain_error(error, sizeof text, text);
    fprintf(stderr, "error %d: %s\n", error, text);
    exit(1);
}

enum { na = 12, nb = 10, nc = 8, nd = 9, ne = 7 };

static double A[nc * nd * na * ne], B[ne * nb * nd], C[na * nb * nc], D[na * nb * nc];

int main(void) {
    const int64_t extents_A[] = {nc, nd, na, ne}, strides_A[] = {1, nc, nc * nd, nc * nd * na};
    const int64_t extents_B[] = {ne, nb, nd}, strides_B[] = {nb * nd, nd, 1}; /* row-major */
    const int64_t extents_D[] = {na, nb, nc}, strides_D[] = {1, na, na * nb};
    const int64_t idx_A[] = {'c', 'd', 'a', 'e'}, idx_B[] = {'e', 'b', 'd'},
                  idx_D[] = {'a', 'b', 'c'};
    for (int i = 0; i < nc * nd * na * ne; ++i) A[i] = cos(i);
    for (int i = 0; i < ne * nb * nd; ++i) B[i] = sin(i);
    for (int i = 0; i < na * nb * nc; ++i) C[i] = 1;

    TAPP_handle handle;
    TAPP_executor executor;
    TAPP_tensor_info info_A, info_B, info_D;
    TAPP_tensor_product plan;
    TAPP_status status;
    require(TAPP_create_handle(&handle));
    require(TAPP_create_executor(&executor));
    require(TAPP_create_tensor_info(&info_A, TAPP_F64, 4, extents_A, strides_A));
    require(TAPP_create_tensor_info(&info_B, TAPP_F64, 3, extents_B, strides_B));
    require(TAPP_create_tensor_info(&info_D, TAPP_F64, 3, extents_D, strides_D));
    require(TAPP_create_tensor_product(&plan, handle, TAPP_IDENTITY, info_A, idx_A, TAPP_IDENTITY,
                                       info_B, idx_B, TAPP_IDENTITY, info_D, idx_D, TAPP_IDENTITY,
                                       info_D, idx_D, TAPP_DEFAULT_PREC));

    const double alpha = 2, beta = -1;
    double worst = 0;
    for (int run = 0; run < 2; ++run) {
        require(TAPP_execute_product(plan, executor, &status, &alpha, A, B, &beta, C, D));
        for (int a = 0; a < na; ++a)
            for (int b = 0; b < nb; ++b)
                for (int c = 0; c < nc; ++c) {
                    double sum = 0;
                    for (int d = 0; d < nd; ++d)
                        for (int e = 0; e < ne; ++e)
                            sum += A[c + nc * (d + nd * (a + na * e))] * B[d + nd * (b + nb * e)];
                    const int at = a + na * (b + nb * c);
                    worst = fmax(worst, fabs(D[at] - (alpha * sum + beta * C[at])));
                }
    }

    void *version, *device, *nanoseconds, *operations;
    require(TAPP_attr_get(handle, TAPP_ATOLL_VERSION, &version));
    require(TAPP_attr_get(status, TAPP_ATOLL_DEVICE, &device));
    require(TAPP_attr_get(status, TAPP_ATOLL_NANOSECONDS, &nanoseconds));
    require(TAPP_attr_get(status, TAPP_ATOLL_OPERATIONS, &operations));
    printf("Atoll %s on %s: %ld operations in %ld ns, the largest error is %.1e\n", (char *)version,
           (char *)device, (long)(intptr_t)operations, (long)(intptr_t)nanoseconds, worst);

    require(TAPP_destroy_status(status));
    require(TAPP_destroy_tensor_product(plan));
    require(TAPP_destroy_tensor_info(info_A));
    require(TAPP_destroy_tensor_info(info_B));
    require(TAPP_destroy_tensor_info(info_D));
    require(TAPP_destroy_executor(executor));
    require(TAPP_destroy_handle(handle));
    if (!(worst < 1e-12)) return 1;
    printf("all is as it must be\n");
    return 0;
}
