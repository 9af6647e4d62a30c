/* A replacement of core.add (int32, float64), and of core.sum, matmul and sort (float64) on
 * the cpu that conforms; each macro breaks it in one way. */
#define _POSIX_C_SOURCE 200809L
#include "atoll/plugin.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef NOTE_NAME
#define NOTE_NAME "override_add"
#endif
#ifndef NOTE_KINDS
#define NOTE_KINDS ATOLL_CONTAINS_IMPLS
#endif
#ifndef PRIORITY
#define PRIORITY 10
#endif
ATOLL_PLUGIN_NOTE(NOTE_NAME, NOTE_KINDS, 0);

#ifdef SECOND_SYMBOL
ATOLL_EXPORT int add_elements(void);
int add_elements(void) { return 1; }
#endif

static double read_element(const char *at, int dtype, int swapped) {
    char bytes[8];
    const int size = dtype == ATOLL_DTYPE_INT32 ? 4 : 8;
    for (int i = 0; i < size; ++i) bytes[i] = at[swapped ? size - 1 - i : i];
    if (dtype == ATOLL_DTYPE_INT32) {
        int32_t x;
        memcpy(&x, bytes, 4);
        return x;
    }
    double x;
    memcpy(&x, bytes, 8);
    return x;
}

static void write_element(char *at, int dtype, int swapped, double value) {
    char bytes[8];
    const int size = dtype == ATOLL_DTYPE_INT32 ? 4 : 8;
    if (dtype == ATOLL_DTYPE_INT32) {
        const int32_t x = (int32_t)(int64_t)value; /* wraps */
        memcpy(bytes, &x, 4);
    } else {
        memcpy(bytes, &value, 8);
    }
    for (int i = 0; i < size; ++i) at[i] = bytes[swapped ? size - 1 - i : i];
}

#ifdef GLOBAL_SCRATCH
static double scratch[1 << 20];
#endif

static int64_t count_of(const atoll_call *call) {
    int64_t n = 1;
    for (uint32_t axis = 0; axis < call->rank; ++axis) n *= call->shape[axis];
#ifdef READS_SHAPE_AT_RANK_0
    if (call->rank == 0) n = call->shape[0];
#endif
    return n;
}

/* Address of the k-th element. */
static char *element(const atoll_call *call, int operand, int64_t k) {
    const atoll_operand *o = &call->operands[operand];
    char *at = o->data;
#ifdef IGNORES_STRIDES
    return at + k * (o->dtype == ATOLL_DTYPE_INT32 ? 4 : 8);
#endif
    if (call->rank == 0) return at + k * (o->dtype == ATOLL_DTYPE_INT32 ? 4 : 8);
    for (uint32_t axis = 0; axis < call->rank; ++axis) {
        at += k % call->shape[axis] * o->strides[axis];
        k /= call->shape[axis];
    }
    return at;
}

static int swapped(const atoll_call *call, int operand) {
#ifdef IGNORES_SWAPPED
    (void)call, (void)operand;
    return 0;
#else
#ifdef SWAPPED_AS_FIRST
    operand = 1;
#endif
#ifdef SWAPPED_AS_OUTPUT
    if (operand == 2) operand = 0;
#endif
    return call->operands[operand].flags & ATOLL_OPERAND_SWAPPED;
#endif
}

static int32_t add(const atoll_link *self, atoll_call *call) {
    (void)self;
#ifdef CLAIMS_DTYPE
    if (call->dtype == ATOLL_DTYPE_INT32) return ATOLL_STATUS_NOT_SUPPORTED;
#endif
#ifdef DOES_NOTHING
    if (call->dtype == ATOLL_DTYPE_FLOAT64) return ATOLL_STATUS_OK;
#endif
#ifdef WANTS_EXACT_SIZE
    if (call->struct_size != sizeof(atoll_call)) return ATOLL_STATUS_INVALID_ARGUMENT;
#endif
#ifdef BAD_STATUS
    return 4711;
#endif
#ifdef REFUSES_NEWER_CALL
    if (call->struct_size > sizeof *call && *(const uint64_t *)(call + 1))
        return ATOLL_STATUS_NOT_SUPPORTED;
#endif
    int64_t n = count_of(call);
#ifdef FORGETS_RANK_3
    if (call->rank > 2) n -= 1;
#endif
#ifdef FORGETS_RANK_9
    if (call->rank > 8) n -= 1;
#endif
#ifdef OVERRUNS_WHOLE_BLOCKS
    if (call->rank == 1 && n > 100 && n % 64 == 0)
        write_element(element(call, 0, n - 1) + call->operands[0].strides[0], call->dtype,
                      swapped(call, 0), 0);
#endif
#if defined(READS_BEHIND) || defined(READS_BEFORE)
    if (call->rank == 1 && call->operands[1].strides[0] > 0 &&
        !(call->operands[1].flags & ATOLL_OPERAND_SCALAR)) {
#ifdef READS_BEHIND
        const char *outside = element(call, 1, n - 1) + call->operands[1].strides[0];
#else
        const char *outside = element(call, 1, 0) - call->operands[1].strides[0];
#endif
        volatile double read = read_element(outside, call->dtype, 0);
        (void)read;
    }
#endif
#ifdef WRONG_FOR_ONE_TENSOR
    if (call->operands[1].data == call->operands[2].data) n -= 1;
#endif
#ifdef COPIES_FIRST
    for (int64_t k = 0; k < n; ++k) /* the addend may be the same memory */
        write_element(element(call, 0, k), call->dtype, swapped(call, 0),
                      read_element(element(call, 1, k), call->dtype, swapped(call, 1)));
#endif
#ifdef SCRIBBLES
    if (call->rank == 1) call->operands[1].strides = call->operands[0].strides;
#endif
#ifdef FORGETS_REMAINDER
    if (n % 8 > 4) n -= 1; /* of vectors of 8, after those of 4 */
#endif
#ifdef FORGETS_LAST_SHARE
    if (n > 10000) n -= n % 4; /* of four threads */
#endif
#ifdef FORKS
    if (call->rank == 0 && fork() == 0) sleep(60), _exit(0);
#endif
#ifdef PRINTS_BYTES
    if (call->rank == 0) {
        if (write(STDERR_FILENO, "\xc3\xff\x1b[31m\xed\xa0\x80", 10) > 0) kill(getpid(), SIGKILL);
    }
#endif
#ifdef LEAKS
    void *volatile lost = malloc((size_t)n * 8);
    (void)lost;
#endif
    for (int64_t k = 0; k < n; ++k) {
        double sum = read_element(element(call, 1, k), call->dtype, swapped(call, 1)) +
                     read_element(element(call, 2, k), call->dtype, swapped(call, 2));
#ifdef WORKS_IN_FLOAT
        if (call->dtype == ATOLL_DTYPE_FLOAT64) sum = (float)sum;
#endif
#ifdef WRONG_INT32
        if (call->dtype == ATOLL_DTYPE_INT32) sum += 1;
#endif
#ifdef CRASHES
        if (call->rank > 0 && call->operands[1].strides[call->rank - 1] == 0)
            *(volatile int *)0 = 1;
#endif
#ifdef HANGS
        while (call->dtype == ATOLL_DTYPE_INT32 && call->rank > 0 &&
               call->operands[1].strides[call->rank - 1] == 0)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
#endif
#ifdef EXITS
        if (call->rank > 0 && call->operands[1].strides[call->rank - 1] == 0) _exit(3);
#endif
#ifdef WRITES_INPUT
        if (k == 1 && !(call->operands[2].flags & ATOLL_OPERAND_SCALAR))
            write_element(element(call, 2, k), call->dtype, swapped(call, 2), 0);
#endif
#ifdef GLOBAL_SCRATCH
        scratch[k] = sum;
    }
    if (n > 100) nanosleep(&(struct timespec){0, 200000}, NULL);
    for (int64_t k = 0; k < n; ++k) {
        const double sum = scratch[k];
#endif
        write_element(element(call, 0, k), call->dtype, swapped(call, 0), sum);
    }
#ifdef OFF_BY_ONE
    if (call->rank == 1)
        write_element(element(call, 0, n - 1) + call->operands[0].strides[0], call->dtype,
                      swapped(call, 0), 0);
#endif
    return ATOLL_STATUS_OK;
}

/* Declared without capabilities: one dense vector at a time. */
static int32_t sum(const atoll_link *self, atoll_call *call) {
    (void)self;
#ifdef READS_RESERVED
    if (call->reserved[0] || call->operands[0].reserved[0]) return ATOLL_STATUS_INVALID_ARGUMENT;
#endif
    const double *in = call->operands[1].data;
    double total = 0;
    for (int64_t i = 0; i < call->shape[0]; ++i) total += in[i];
#ifdef SUM_FORGETS_BLOCKS
    if (call->shape[0] == 1024) total -= in[1023];
#endif
    *(double *)call->operands[0].data = total;
    return ATOLL_STATUS_OK;
}

/* Without capabilities: (m, k, n), one matrix at a time. */
static int32_t matmul(const atoll_link *self, atoll_call *call) {
    (void)self;
    const double alpha = call->attributes[0].value.f64[0], beta = call->attributes[1].value.f64[0];
    const atoll_operand *d = &call->operands[0], *a = d + 1, *b = d + 2, *c = d + 3;
    const int absent = c->flags & ATOLL_OPERAND_ABSENT;
    for (int64_t i = 0; i < call->shape[0]; ++i)
        for (int64_t j = 0; j < call->shape[2]; ++j) {
            double *out = (double *)((char *)d->data + i * d->strides[0] + j * d->strides[2]);
            const double *addend =
                absent ? out
                       : (const double *)((char *)c->data + i * c->strides[0] + j * c->strides[2]);
            double total = 0;
            for (int64_t k = 0; k < call->shape[1]; ++k)
                total +=
                    *(const double *)((char *)a->data + i * a->strides[0] + k * a->strides[1]) *
                    *(const double *)((char *)b->data + k * b->strides[1] + j * b->strides[2]);
#ifdef IGNORES_ALPHA
            total /= alpha;
#endif
#ifdef IGNORES_ALPHA_AT_BETA_1
            if (beta == 1 && !absent) total /= alpha;
#endif
#ifdef WRONG_FOR_ONE_ROW
            if (call->shape[0] == 1 && call->shape[1] > 1) total = 0;
#endif
#ifdef WRONG_FOR_ONE_TERM
            if (call->shape[1] == 1 && call->shape[0] > 1) total = 0;
#endif
#ifdef WRONG_FOR_ONE_COLUMN
            if (call->shape[2] == 1 && call->shape[0] > 1) total = 0;
#endif
#ifdef READS_OUT_AT_BETA_0
            *out = alpha * total + beta * *addend;
#else
            *out = alpha * total + (beta == 0 || absent ? 0 : beta * *addend);
#endif
        }
    return ATOLL_STATUS_OK;
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    if (a != a || b != b) return (a != a) - (b != b); /* NaN is last */
    return (a > b) - (a < b);
}
static int descending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return a != a || b != b ? ascending(left, right) : ascending(right, left);
}

/* Without capabilities: one dense vector at a time; both may be the same. */
static int32_t sort(const atoll_link *self, atoll_call *call) {
    (void)self;
    int down = call->attributes[0].value.bytes[0];
#ifdef IGNORES_DESCENDING
    down = 0;
#endif
    const size_t count = (size_t)call->shape[0];
    memmove(call->operands[0].data, call->operands[1].data, count * sizeof(double));
    qsort(call->operands[0].data, count, sizeof(double), down ? descending : ascending);
    return ATOLL_STATUS_OK;
}

static const atoll_function_decl functions[] = {
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_add,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_INT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .caps = ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES |
             ATOLL_CAP_SWAPPED | ATOLL_CAP_UNALIGNED,
     .fn = add},
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_sum,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = sum},
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_matmul,
     .attributes = 4,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = matmul,
     .inputs = 3},
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_sort,
     .attributes = 1,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = sort},
};
static const atoll_impl_decl impl = {
    .struct_size = sizeof(atoll_impl_decl),
    .priority = PRIORITY,
    .module = "core",
    .device_type = "cpu",
    .function_size = sizeof(atoll_function_decl),
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};

static int state;
#ifdef RELOAD_BROKEN
static int loaded_before;
#endif
static int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    (void)host, (void)error;
    *plugin = &state;
#ifdef RELOAD_BROKEN
    if (loaded_before++)
        return host->set_error(error, ATOLL_STATUS_INTERNAL, 0,
                               "the library is initialised already");
#endif
    return ATOLL_STATUS_OK;
}
static int32_t unload(void *plugin, atoll_error *error) {
    (void)plugin, (void)error;
    return ATOLL_STATUS_OK;
}

static const atoll_impl_decl *const impls[] = {&impl};
static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = "override_add",
    .version = "1.0",
    .vendor = "Atoll",
    .license = "Apache-2.0",
    .description = "for tests of the conformance kit",
    .impls = impls,
    .impl_count = 1,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
#ifdef RANDOM_QUERY
    static atoll_plugin other;
    static int calls;
    other = plugin;
    other.version = calls++ % 2 ? "1.0" : "1.1";
    return &other;
#endif
#ifdef REFUSES_NEWER_HOST
    if (host->struct_size != sizeof *host) return NULL;
#endif
    return &plugin;
}
