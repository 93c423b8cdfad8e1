/* mg_kernel.c -- the CPU's inner loops of multigrid in both precisions, as a table for one level.
 */
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/solvers/multigrid/multigrid.h"

#define MG_NAME(name) SEL_OF_REAL(name)

/* The cells of a colour do not depend on each other, nor do those of a row in other loops. */
#if defined(__clang__) /* which does not make vectors of these loops, and would say so */
#define MG_INDEPENDENT
#else
#define MG_INDEPENDENT SEL_INDEPENDENT
#endif

/* Calls what was compiled for bodies that are even or not, in 2-D or 3-D. */
#define MG_CALL(m, function, ...)                                                   \
    ((m)->box.even        ? (m)->box.dims == 3 ? function(true, true, __VA_ARGS__)  \
                                               : function(true, false, __VA_ARGS__) \
            : (m)->box.dims == 3 ? function(false, true, __VA_ARGS__)               \
                          : function(false, false, __VA_ARGS__))

enum { MG_TILE = 512 /* cells */, LANES = 8 };

/* ---- levels ---- */

#define REAL float
#include "engine/solvers/multigrid/mg_loops.h"
#undef REAL

#define REAL double
#include "engine/solvers/multigrid/mg_loops.h"
#undef REAL

/* ---- the finest level: solutions in double precision ---- */

/* Where a row of the level's own arrays begins. */
SEL_INLINE int64_t row_at(const mg *m, int64_t y, int64_t z) {
    return y * m->level[0].stride[1] + z * m->level[0].stride[2];
}

/* A row of A u, or of F - A u where there is F, to `to`; that of u with its neighbours along x
 * stands in `here`. */
SEL_INLINE void do_product(bool even, bool deep, const row_double *r, int64_t n, const double *here,
                           const double *F, double *restrict to) {
    MG_INDEPENDENT
    for (int64_t x = 0; x < n; x++) {
        double diagonal;
        const double sum = around_double(even, deep, r, here, x, &diagonal);
        to[x] = F ? F[x] + (sum - diagonal * here[x]) : diagonal * here[x] - sum;
    }
}

/* A row of A u or F - A u by the tables of the finest level; u goes to `here`. */
SEL_INLINE void mg_kernel_product(const mg *m, mg_vector u, int64_t y, int64_t z, const double *F,
                                  double *here, double *to) {
    const int64_t of[3] = {0, y, z}, n = m->box.n[0];
    const double *row = u.v + y * u.stride[1] + z * u.stride[2];
    mg_level v = m->level[0];
    for (int a = 0; a < 3; a++) {
        v.table[a][MG_LOW] = m->low[a];
        v.table[a][MG_HIGH] = m->high[a];
        v.table[a][MG_MIDDLE] = m->middle[a];
    }
    row_double r = row_of_double(m, &v, y, z);
    for (int k = 0; k < 2 * (m->box.dims - 1); k++) {
        const int a = 1 + k / 2;
        const int64_t next = of[a] + (k % 2 ? 1 : -1), image = mg_image(next, v.n[a]);
        const bool ends = image != next && !(m->box.periodic >> a & 1u); /* conducts nothing */
        r.beside[k] = row + (ends ? 0 : (v.sides[a] ? next : image) - of[a]) * u.stride[a];
    }
    memcpy(here, row, (size_t)n * sizeof *here);
    here[-1] = row[n - 1];
    here[n] = row[0];
    MG_CALL(m, do_product, &r, n, here, F, to);
}

/* The weights of cells in sums: the part of their volume that is inside, 0 where e is not sought;
 * rows of bodies that are not even have been multiplied by it. */
SEL_INLINE void weigh(const mg *m, int64_t y, int64_t z, double *w) {
    const int64_t *of = m->level[0].n;
    const double rows = m->part[1][mg_image(y, of[1])] * m->part[2][mg_image(z, of[2])];
    const double *d = m->box.even ? NULL : (const double *)m->level[0].d + row_at(m, y, z);
    for (int64_t x = 0; x < m->box.n[0] && d; x++) {
        w[x] = d[x] > 0;
    }
    for (int64_t x = 0; x < m->box.n[0] && !d; x++) {
        w[x] = m->part[0][x] * rows;
    }
}

/* The sum of w a b, in the order of lanes that vectors have; b: NULL for 1. */
SEL_INLINE double mg_kernel_sum_of(const double *w, const double *a, const double *b, int64_t n) {
    double lane[LANES] = {0};
    int64_t x = 0;
    for (; x + LANES <= n; x += LANES) {
        for (int k = 0; k < LANES; k++) {
            lane[k] += w[x + k] * a[x + k] * (b ? b[x + k] : 1);
        }
    }
    for (; x < n; x++) {
        lane[x % LANES] += w[x] * a[x] * (b ? b[x] : 1);
    }
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            lane[k] += lane[k + half];
        }
    }
    return lane[0];
}

#define REAL float
#include "engine/solvers/multigrid/mg_outer.h"
#undef REAL

#define REAL double
#include "engine/solvers/multigrid/mg_outer.h"

#define TABLE SEL_OF_LEVEL(mg_loops)
#define ENTRIES(type)                                                                       \
    {                                                                                       \
        relax_##type, take_residual_##type, correct_##type, residual_##type, direct_##type, \
            apply_##type, dot_##type, divide_##type, add_##type                             \
    }
extern const mg_loops TABLE[2];
const mg_loops TABLE[2] = {ENTRIES(double), ENTRIES(float)}; /* [single] */
