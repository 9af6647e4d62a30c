/* A program for TAPP as written for any implementation: it includes tapp.h alone, gives a handle
 * that was never created, and asks for no attribute. Results are compared with plain loops. */
#include "check.h"
#include "tapp.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

static TAPP_executor exec;

/* D[a,b,c] = sum over d, e of A[c,d,a,e] B[e,b,d]: transposed tensors of three and four modes. */
static void contraction(void) {
    enum { na = 4, nb = 3, nc = 2, nd = 5, ne = 2 };
    int64_t extents_A[] = {nc, nd, na, ne}, strides_A[] = {1, nc, nc * nd, nc * nd * na};
    int64_t extents_B[] = {ne, nb, nd}, strides_B[] = {nb * nd, nd, 1};
    int64_t extents_D[] = {na, nb, nc}, strides_D[] = {1, na, na * nb};
    int64_t idx_A[] = {'c', 'd', 'a', 'e'}, idx_B[] = {'e', 'b', 'd'}, idx_D[] = {'a', 'b', 'c'};
    float A[nc * nd * na * ne], B[ne * nb * nd], C[na * nb * nc], D[na * nb * nc];
    for (int i = 0; i < nc * nd * na * ne; ++i) A[i] = (float)(i % 5 - 2);
    for (int i = 0; i < ne * nb * nd; ++i) B[i] = (float)(i % 7 - 3);
    for (int i = 0; i < na * nb * nc; ++i) C[i] = (float)i, D[i] = -1;

    TAPP_tensor_info info_A, info_B, info_C, info_D;
    TAPP_create_tensor_info(&info_A, TAPP_F32, 4, extents_A, strides_A);
    TAPP_create_tensor_info(&info_B, TAPP_F32, 3, extents_B, strides_B);
    TAPP_create_tensor_info(&info_C, TAPP_F32, 3, extents_D, strides_D);
    TAPP_create_tensor_info(&info_D, TAPP_F32, 3, extents_D, strides_D);
    TAPP_handle handle = 0x5ca1ab1e;
    TAPP_tensor_product plan;
    TAPP_error error = TAPP_create_tensor_product(
        &plan, handle, TAPP_IDENTITY, info_A, idx_A, TAPP_IDENTITY, info_B, idx_B, TAPP_IDENTITY,
        info_C, idx_D, TAPP_IDENTITY, info_D, idx_D, TAPP_DEFAULT_PREC);
    CHECK(TAPP_check_success(error));
    TAPP_status status;
    float alpha = 2, beta = -1;
    error = TAPP_execute_product(plan, exec, &status, &alpha, A, B, &beta, C, D);
    if (!TAPP_check_success(error)) {
        size_t length = TAPP_explain_error(error, 0, NULL);
        char *message = malloc(length + 1);
        TAPP_explain_error(error, length + 1, message);
        printf("%s\n", message);
        free(message);
    }
    CHECK(TAPP_check_success(error));
    for (int a = 0; a < na; ++a)
        for (int b = 0; b < nb; ++b)
            for (int c = 0; c < nc; ++c) {
                float sum = 0;
                for (int d = 0; d < nd; ++d)
                    for (int e = 0; e < ne; ++e)
                        sum += A[c + nc * (d + nd * (a + na * e))] * B[d + nd * (b + nb * e)];
                const int at = a + na * (b + nb * c);
                CHECK(D[at] == alpha * sum + beta * C[at]);
            }
    TAPP_destroy_tensor_product(plan);
    TAPP_destroy_tensor_info(info_A);
    TAPP_destroy_tensor_info(info_B);
    TAPP_destroy_tensor_info(info_C);
    TAPP_destroy_tensor_info(info_D);
}

/* D[i] = conj(sum over j of conj(A[i,j]) v[j]) in place; alpha is given by its real part alone,
 * with zeros behind it. */
static void complex_numbers(void) {
    enum { ni = 3, nj = 4 };
    int64_t extents_A[] = {ni, nj}, strides_A[] = {nj, 1}, extents_v[] = {nj}, extents_D[] = {ni};
    int64_t one[] = {1}, idx_A[] = {1, 2}, idx_v[] = {2}, idx_D[] = {1};
    double complex A[ni * nj], v[nj], D[ni], wanted[ni];
    for (int i = 0; i < ni * nj; ++i) A[i] = i - 4 + (i % 3) * I;
    for (int j = 0; j < nj; ++j) v[j] = 1 - j * I;
    double alpha[2] = {3, 0};
    double complex beta = 1 + 2 * I;
    for (int i = 0; i < ni; ++i) {
        D[i] = i + I;
        double complex sum = 0;
        for (int j = 0; j < nj; ++j) sum += conj(A[i * nj + j]) * v[j];
        wanted[i] = conj(alpha[0] * sum + beta * D[i]);
    }
    TAPP_tensor_info info_A, info_v, info_D;
    TAPP_create_tensor_info(&info_A, TAPP_C64, 2, extents_A, strides_A);
    TAPP_create_tensor_info(&info_v, TAPP_C64, 1, extents_v, one);
    TAPP_create_tensor_info(&info_D, TAPP_C64, 1, extents_D, one);
    TAPP_tensor_product plan;
    CHECK_CODE(0, TAPP_create_tensor_product(&plan, 0, TAPP_CONJUGATE, info_A, idx_A, TAPP_IDENTITY,
                                             info_v, idx_v, TAPP_IDENTITY, info_D, idx_D,
                                             TAPP_CONJUGATE, info_D, idx_D, TAPP_DEFAULT_PREC));
    CHECK_CODE(0, TAPP_execute_product(plan, exec, NULL, alpha, A, v, &beta, D, D));
    for (int i = 0; i < ni; ++i) CHECK(D[i] == wanted[i]);
    TAPP_destroy_tensor_product(plan);
    TAPP_destroy_tensor_info(info_A);
    TAPP_destroy_tensor_info(info_v);
    TAPP_destroy_tensor_info(info_D);
}

/* Only the execution's code is looked at. */
static void late_look(void) {
    int64_t extents[] = {2}, other[] = {3}, one[] = {1}, i[] = {0};
    double x[3] = {1, 2, 3}, alpha = 1, beta = 0;
    TAPP_tensor_info info, longer;
    TAPP_create_tensor_info(&info, TAPP_F64, 1, extents, one);
    TAPP_create_tensor_info(&longer, TAPP_F64, 1, other, one);
    TAPP_tensor_product plan;
    TAPP_create_tensor_product(&plan, 0, 0, info, i, 0, longer, i, 0, info, i, 0, info, i, -1);
    CHECK_CODE(1, TAPP_execute_product(plan, exec, NULL, &alpha, x, x, &beta, NULL, x));
    TAPP_destroy_tensor_product(plan);
    TAPP_destroy_tensor_info(info);
    TAPP_destroy_tensor_info(longer);
}

int main(void) {
    TAPP_create_executor(&exec);
    contraction();
    complex_numbers();
    late_look();
    TAPP_destroy_executor(exec);
    return checked();
}
