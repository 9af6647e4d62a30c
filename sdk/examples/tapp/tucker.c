/* Tucker decomposition of a tensor X with three modes: a core G and matrices U1, U2, U3 with
 * orthonormal columns such that
 *
 *   X[i,j,k] is about sum over p, q, r of G[p,q,r] U1[i,p] U2[j,q] U3[k,r]
 *
 * by higher-order orthogonal iteration (L. De Lathauwer, B. De Moor, J. Vandewalle, "On the best
 * rank-1 and rank-(R1,R2,...,RN) approximation of higher-order tensors", SIAM Journal on Matrix
 * Analysis and Applications 21, 2000). All products of tensors go through TAPP; the eigenvectors of
 * the small symmetric matrices come from Jacobi's method, below.
 *
 * The data are a tensor of known ranks, alone and with noise. Without noise the decomposition must
 * be exact, with noise at least as good as the tensor that the noise was added to.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapp.h>

enum { modes = 3, longest = 20 };
static const int64_t shape[modes] = {20, 15, 12}, ranks[modes] = {4, 3, 2};

static TAPP_executor executor;

static void require(TAPP_error error) {
    char text[500];
    if (TAPP_check_success(error)) return;
    TAPP_explain_error(error, sizeof text, text);
    fprintf(stderr, "error %d: %s\n", error, text);
    exit(1);
}

/* Dense, the first index fastest. */
typedef struct {
    int rank;
    int64_t extents[modes];
    double values[20 * 15 * 12];
} Tensor;

static int64_t size_of(const Tensor *tensor) {
    int64_t size = 1;
    for (int i = 0; i < tensor->rank; ++i) size *= tensor->extents[i];
    return size;
}

/* An index is a letter. */
static TAPP_tensor_info describe(const Tensor *tensor, const char *letters, int64_t *indices) {
    int64_t strides[modes] = {1};
    for (int i = 0; i < tensor->rank; ++i) {
        indices[i] = letters[i];
        if (i > 0) strides[i] = strides[i - 1] * tensor->extents[i - 1];
    }
    TAPP_tensor_info info;
    require(TAPP_create_tensor_info(&info, TAPP_F64, tensor->rank, tensor->extents, strides));
    return info;
}

/* d = a b + beta d, with the extents that d has. */
static void multiply(const Tensor *a, const char *of_a, const Tensor *b, const char *of_b,
                     double beta, Tensor *d, const char *of_d) {
    int64_t idx_a[modes], idx_b[modes], idx_d[modes];
    const TAPP_tensor_info info_a = describe(a, of_a, idx_a), info_b = describe(b, of_b, idx_b),
                           info_d = describe(d, of_d, idx_d);
    TAPP_tensor_product plan;
    const double one = 1;
    require(TAPP_create_tensor_product(&plan, 0, TAPP_IDENTITY, info_a, idx_a, TAPP_IDENTITY,
                                       info_b, idx_b, TAPP_IDENTITY, info_d, idx_d, TAPP_IDENTITY,
                                       info_d, idx_d, TAPP_DEFAULT_PREC));
    require(TAPP_execute_product(plan, executor, NULL, &one, a->values, b->values, &beta, d->values,
                                 d->values));
    require(TAPP_destroy_tensor_product(plan));
    require(TAPP_destroy_tensor_info(info_a));
    require(TAPP_destroy_tensor_info(info_b));
    require(TAPP_destroy_tensor_info(info_d));
}

static double squared_norm(const Tensor *tensor) {
    const char letters[] = "ijk";
    Tensor square = {0};
    multiply(tensor, letters, tensor, letters, 0, &square, "");
    return square.values[0];
}

/* Along a mode: the result has the rank of U there if `transposed`, else the extent of X. */
static Tensor mode_product(const Tensor *x, const Tensor *u, int mode, int transposed) {
    char of_x[] = "ijk", of_d[] = "ijk", of_u[3] = {0};
    of_d[mode] = 'n';
    of_u[0] = transposed ? of_x[mode] : 'n';
    of_u[1] = transposed ? 'n' : of_x[mode];
    Tensor d = *x;
    d.extents[mode] = u->extents[transposed ? 1 : 0];
    multiply(x, of_x, u, of_u, 0, &d, of_d);
    return d;
}

/* Diagonalises a symmetric matrix s (n by n) by rotations; the columns of v become its eigenvectors
 * (G. Golub, C. Van Loan, "Matrix Computations", section 8.5). */
static void jacobi(int n, double s[][longest], double v[][longest]) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) v[i][j] = i == j;
    for (int sweep = 0; sweep < 30; ++sweep) {
        double beside = 0, diagonal = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) *(i == j ? &diagonal : &beside) += s[i][j] * s[i][j];
        if (beside <= 1e-32 * diagonal) return;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                if (s[p][q] == 0) continue;
                const double tau = (s[q][q] - s[p][p]) / (2 * s[p][q]);
                const double t = copysign(1, tau) / (fabs(tau) + sqrt(1 + tau * tau));
                const double c = 1 / sqrt(1 + t * t), sine = c * t;
                for (int i = 0; i < n; ++i) {
                    const double x = s[i][p], y = s[i][q];
                    s[i][p] = c * x - sine * y;
                    s[i][q] = sine * x + c * y;
                }
                for (int i = 0; i < n; ++i) {
                    const double x = s[p][i], y = s[q][i];
                    s[p][i] = c * x - sine * y;
                    s[q][i] = sine * x + c * y;
                }
                for (int i = 0; i < n; ++i) {
                    const double x = v[i][p], y = v[i][q];
                    v[i][p] = c * x - sine * y;
                    v[i][q] = sine * x + c * y;
                }
            }
    }
}

/* The leading left singular vectors of x unfolded along a mode: eigenvectors of x times its
 * transpose for the largest eigenvalues. */
static Tensor leading_vectors(const Tensor *x, int mode) {
    const int n = (int)shape[mode], count = (int)ranks[mode];
    char left[] = "ijk", right[] = "ijk", of_gram[3] = {left[mode], 'n', 0};
    right[mode] = 'n';
    Tensor gram = {2, {n, n}, {0}}, u = {2, {n, count}, {0}};
    multiply(x, left, x, right, 0, &gram, of_gram);
    static double s[longest][longest], v[longest][longest];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) s[i][j] = (gram.values[i + n * j] + gram.values[j + n * i]) / 2;
    jacobi(n, s, v);
    int taken[longest] = {0};
    for (int r = 0; r < count; ++r) {
        int best = -1;
        for (int j = 0; j < n; ++j)
            if (!taken[j] && (best < 0 || s[j][j] > s[best][best])) best = j;
        taken[best] = 1;
        for (int i = 0; i < n; ++i) u.values[i + n * r] = v[i][best];
    }
    return u;
}

typedef struct {
    Tensor core, factors[modes];
} Tucker;

static void decompose(const Tensor *x, Tucker *to) {
    for (int mode = 0; mode < modes; ++mode) to->factors[mode] = leading_vectors(x, mode);
    double before = -1;
    for (int iteration = 0; iteration < 50; ++iteration) {
        for (int mode = 0; mode < modes; ++mode) {
            Tensor y = *x;
            for (int other = 0; other < modes; ++other)
                if (other != mode) y = mode_product(&y, &to->factors[other], other, 1);
            to->factors[mode] = leading_vectors(&y, mode);
            if (mode == modes - 1) to->core = mode_product(&y, &to->factors[mode], mode, 1);
        }
        /* The squared norm of the core grows until nothing is left to gain. */
        const double now = squared_norm(&to->core);
        if (now - before <= 1e-14 * now) return;
        before = now;
    }
}

static Tensor compose(const Tucker *from) {
    Tensor x = from->core;
    for (int mode = 0; mode < modes; ++mode) x = mode_product(&x, &from->factors[mode], mode, 0);
    return x;
}

/* |x - y| / |y| */
static double distance(const Tensor *x, const Tensor *y) {
    Tensor difference = *x;
    for (int64_t i = 0; i < size_of(x); ++i) difference.values[i] -= y->values[i];
    return sqrt(squared_norm(&difference) / squared_norm(y));
}

/* |U'U - I| */
static double orthogonality(const Tensor *u) {
    const int n = (int)u->extents[1];
    Tensor product = {2, {n, n}, {0}};
    for (int i = 0; i < n; ++i) product.values[i + n * i] = 1;
    multiply(u, "ip", u, "iq", -1, &product, "pq"); /* U'U - I, in place */
    double sum = 0;
    for (int i = 0; i < n * n; ++i) sum += product.values[i] * product.values[i];
    return sqrt(sum);
}

/* Between -1 and 1, always the same sequence. */
static double next_number(void) {
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 23) - 1;
}
static void fill(Tensor *tensor) {
    for (int64_t i = 0; i < size_of(tensor); ++i) tensor->values[i] = next_number();
}

int main(void) {
    static Tucker made, found;
    static Tensor clean, noisy, noise, result;
    int wrong = 0;
    require(TAPP_create_executor(&executor));
    made.core.rank = modes;
    memcpy(made.core.extents, ranks, sizeof ranks);
    fill(&made.core);
    for (int mode = 0; mode < modes; ++mode) {
        made.factors[mode].rank = 2;
        made.factors[mode].extents[0] = shape[mode];
        made.factors[mode].extents[1] = ranks[mode];
        fill(&made.factors[mode]);
    }
    noisy = noise = clean = compose(&made);
    fill(&noise);
    const double level = 1e-3 * sqrt(squared_norm(&clean) / squared_norm(&noise));
    for (int64_t i = 0; i < size_of(&noisy); ++i) noisy.values[i] += level * noise.values[i];

    for (int with_noise = 0; with_noise < 2; ++with_noise) {
        const Tensor *const x = with_noise ? &noisy : &clean;
        decompose(x, &found);
        result = compose(&found);
        const double error = distance(&result, x), limit = with_noise ? distance(&clean, x) : 1e-12;
        /* Projections: |X|^2 = |G|^2 + |X - approximation|^2. */
        const double rest = sqrt(fabs(1 - squared_norm(&found.core) / squared_norm(x)));
        double worst = 0;
        for (int mode = 0; mode < modes; ++mode)
            worst = fmax(worst, orthogonality(&found.factors[mode]));
        printf(
            "%s: (%d, %d, %d) to (%d, %d, %d), relative error %.3e, at most %.3e; |U'U - I| %.1e\n",
            with_noise ? "with noise" : "exact     ", (int)shape[0], (int)shape[1], (int)shape[2],
            (int)ranks[0], (int)ranks[1], (int)ranks[2], error, limit, worst);
        if (!(error <= limit && worst < 1e-12 && fabs(rest - error) < 1e-7)) wrong = 1;
    }
    require(TAPP_destroy_executor(executor));
    if (wrong) return 1;
    printf("all is as it must be\n");
    return 0;
}
