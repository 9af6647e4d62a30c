/* The covariance matrix of a table by Atoll's kernels alone: C arrays, no tensors, no runtime.
 *
 *   C = X'X / (rows - 1), where X is the table minus the mean of each column
 *
 * The table is row-major float32, as a file may hold it; all else is float64. The kernels convert
 * on the way, work on four threads that this program makes, and are compared with plain loops.
 */
#include <atoll/kernels.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 20000, columns = 12, threads = 4 };

static float table[rows][columns];
static double mean[columns], centred[rows][columns], covariance[columns][columns];

/* ---- threads: whatever the program has; here some are made for each call ---- */

typedef struct {
    atoll_kernel_body body;
    void *argument;
    int64_t begin, end;
} Part;

static void *run_part(void *part_) {
    const Part *part = part_;
    part->body(part->argument, part->begin, part->end);
    return NULL;
}

static void parallel_for(void *pool, int64_t count, int64_t grain, atoll_kernel_body body,
                         void *argument) {
    pthread_t ids[threads];
    Part parts[threads];
    int64_t most = count / grain, n = most < 1 ? 1 : most < threads ? most : threads;
    int *calls = pool;
    ++*calls;
    for (int64_t i = 0; i < n; ++i) {
        parts[i] = (Part){body, argument, count * i / n, count * (i + 1) / n};
        if (i > 0 && pthread_create(&ids[i], NULL, run_part, &parts[i]) != 0) exit(1);
    }
    run_part(&parts[0]);
    for (int64_t i = 1; i < n; ++i) pthread_join(ids[i], NULL);
}

/* ---- calls ---- */

static int shared_calls; /* those that the kernels divided among threads */

/* Runs a call on what all calls here have in common; ends the program with the reason if it fails.
 */
static void run(atoll_kernel_call call) {
    char error[300] = "";
    call.struct_size = sizeof call;
    call.dtype = ATOLL_DTYPE_FLOAT64;
    call.parallel_for = parallel_for;
    call.pool = &shared_calls;
    call.error = error;
    call.error_capacity = sizeof error;
    const int32_t status = atoll_kernel_run(&call);
    if (status == ATOLL_STATUS_OK) return;
    fprintf(stderr, "error %d: %s\n", (int)status, error);
    exit(1);
}

int main(void) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) table[i][j] = (float)(j + sin(i * (j + 1)));

    /* Strides in bytes, one per axis of the call; 0 where an operand does not vary. */
    const int64_t single = sizeof(float), number = sizeof(double), row = columns * sizeof(double);

    /* mean: a (n*) -> s (). Axes: the rows, which go, then the columns. */
    {
        const int64_t extents[] = {rows, columns};
        const int64_t of_mean[] = {0, number}, of_table[] = {columns * single, single};
        const atoll_kernel_operand operands[] = {{mean, of_mean, ATOLL_DTYPE_FLOAT64, 0},
                                                 {table, of_table, ATOLL_DTYPE_FLOAT32, 0}};
        run((atoll_kernel_call){.function = ATOLL_KERNEL_mean,
                                .rank = 2,
                                .extents = extents,
                                .operand_count = 2,
                                .operands = operands});
    }
    /* subtract: a (), b () -> c (). The means are the same in every row. */
    {
        const int64_t extents[] = {rows, columns};
        const int64_t of_centred[] = {row, number}, of_table[] = {columns * single, single},
                      of_mean[] = {0, number};
        const atoll_kernel_operand operands[] = {{centred, of_centred, ATOLL_DTYPE_FLOAT64, 0},
                                                 {table, of_table, ATOLL_DTYPE_FLOAT32, 0},
                                                 {mean, of_mean, ATOLL_DTYPE_FLOAT64, 0}};
        run((atoll_kernel_call){.function = ATOLL_KERNEL_subtract,
                                .rank = 2,
                                .extents = extents,
                                .operand_count = 3,
                                .operands = operands});
    }
    /* matmul: a (m*, k*), b (k*, n*), c (m*, n*)? -> d (m*, n*). Axes: m, k, n. The transpose is
     * the same memory with its strides exchanged; c is left out. */
    {
        const int64_t extents[] = {columns, rows, columns};
        const int64_t of_d[] = {number, 0, row}, of_a[] = {number, row, 0},
                      of_b[] = {0, row, number};
        const atoll_kernel_operand operands[] = {{covariance, of_d, ATOLL_DTYPE_FLOAT64, 0},
                                                 {centred, of_a, ATOLL_DTYPE_FLOAT64, 0},
                                                 {centred, of_b, ATOLL_DTYPE_FLOAT64, 0}};
        const atoll_scalar alpha = {.dtype = ATOLL_DTYPE_FLOAT64, .value.f64 = {1.0 / (rows - 1)}};
        run((atoll_kernel_call){.function = ATOLL_KERNEL_matmul,
                                .rank = 3,
                                .extents = extents,
                                .operand_count = 3,
                                .operands = operands,
                                .attribute_count = 1,
                                .attributes = &alpha});
    }

    double worst = 0;
    for (int p = 0; p < columns; ++p)
        for (int q = 0; q < columns; ++q) {
            double mean_p = 0, mean_q = 0, sum = 0;
            for (int i = 0; i < rows; ++i) mean_p += table[i][p], mean_q += table[i][q];
            mean_p /= rows, mean_q /= rows;
            for (int i = 0; i < rows; ++i) sum += (table[i][p] - mean_p) * (table[i][q] - mean_q);
            worst = fmax(worst, fabs(covariance[p][q] - sum / (rows - 1)));
        }
    printf("%s kernels, %d calls on several threads, the largest error is %.1e\n",
           atoll_kernel_level(), shared_calls, worst);
    if (!(worst < 1e-12) || shared_calls == 0) return 1;

    /* A wrong call is refused in words. */
    char error[300] = "";
    const atoll_kernel_call wrong = {.struct_size = sizeof wrong,
                                     .function = ATOLL_KERNEL_bitwise_and,
                                     .dtype = ATOLL_DTYPE_FLOAT64,
                                     .error = error,
                                     .error_capacity = sizeof error};
    if (atoll_kernel_run(&wrong) != ATOLL_STATUS_NOT_SUPPORTED) return 1;
    printf("refused: %s\n", error);
    printf("all is as it must be\n");
    return 0;
}
