/* heat_loops.h -- one step of a row of cells in one precision; included by heat_kernel.c. */
#include "engine/solvers/heat/heat_step.h"

/* The arrays of a row, at its cell 0: T (here), T of the neighbours (near) and the conductances to
 * them (g), m and q, T' (to). end: T' of the first and the last cell. */
typedef struct HEAT_NAME(row_of) {
    REAL r[3], end[2], *to;
    const REAL *here, *near[6], *g[6], *m, *q;
} HEAT_NAME(row_of);

/* T' of cell x. */
SEL_INLINE REAL HEAT_NAME(one)(int kind, int dims, const HEAT_NAME(row_of) * w, int64_t x) {
    const bool varied = kind == HEAT_VARIED;
    REAL t[6], g[6];
    for (int k = 0; k < 2 * dims; k++) {
        t[k] = w->near[k][x];
        g[k] = varied ? w->g[k][x] : 0;
    }
    return HEAT_NAME(heat_next)(kind, dims, w->r, w->here[x], t, g, varied ? w->m[x] : 0,
                                varied ? w->q[x] : 0);
}

/* T' of n cells from x on. */
SEL_INLINE void HEAT_NAME(some)(int kind, int dims, const HEAT_NAME(row_of) * w, int64_t x,
                                int64_t n, REAL *to) {
    SEL_INDEPENDENT for (int64_t k = 0; k < n; k++) {
        to[k] = HEAT_NAME(one)(kind, dims, w, x + k);
    }
}

/* Cells per streaming store. A shorter loop would be unrolled instead of vectorized. */
enum { HEAT_NAME(PIECE) = 256 / sizeof(REAL) };

/* Computes a piece of a row of nx cells and stores it past the caches; the row's ends are known. */
SEL_INLINE void HEAT_NAME(stream)(int kind, int dims, const HEAT_NAME(row_of) * w, int64_t x,
                                  int64_t nx) {
    enum { PIECE = HEAT_NAME(PIECE), LINE = 64 / sizeof(REAL), AHEAD = 48 * LINE };
    _Alignas(64) REAL piece[PIECE];
    HEAT_NAME(some)(kind, dims, w, x, PIECE, piece);
    piece[0] = x == 0 ? w->end[0] : piece[0];
    piece[PIECE - 1] = x + PIECE == nx ? w->end[1] : piece[PIECE - 1];
    for (int k = 0; k < PIECE; k += LINE) {
        sel_stream_line(w->to + x + k, piece + k);
        __builtin_prefetch(w->near[2 * dims - 1] + x + k + AHEAD);
    }
}

SEL_INLINE void HEAT_NAME(do_row)(const heat_view *v, int kind, int dims, int64_t y, int64_t z) {
    const int64_t at[3] = {0, y, z}, nx = v->n[0];
    const int64_t first = heat_place(v->stride, at), of = heat_place(v->apart, at);
    const REAL *here = (const REAL *)v->from + first;
    HEAT_NAME(row_of) w = {.to = (REAL *)v->to + first, .here = here};
    int64_t x = 0;
    for (int k = 0; k < 2 * dims; k++) {
        w.r[k / 2] = (REAL)v->r[k / 2];
        w.near[k] = here + heat_beside(v, k / 2, at[k / 2], k % 2);
        if (kind == HEAT_VARIED) {
            w.g[k] = (const REAL *)v->g[k / 2] + of + (k % 2 ? v->apart[k / 2] : 0);
            w.m = (const REAL *)v->m + of;
            w.q = (const REAL *)v->q + of;
        }
    }
    for (int k = 0; k < 2; k++) { /* the neighbours of the ends along x are not beside them */
        w.near[0] = here + heat_beside(v, 0, k * (nx - 1), 0);
        w.near[1] = here + heat_beside(v, 0, k * (nx - 1), 1);
        w.end[k] = HEAT_NAME(one)(kind, dims, &w, k * (nx - 1));
    }
    w.near[0] = here - 1;
    w.near[1] = here + 1;
    for (; v->streams && x + HEAT_NAME(PIECE) <= nx; x += HEAT_NAME(PIECE)) {
        HEAT_NAME(stream)(kind, dims, &w, x, nx);
    }
    HEAT_NAME(some)(kind, dims, &w, x, nx - x, w.to + x);
    if (x < nx) { /* else stream() has stored the ends, and their lines are in no cache */
        w.to[x > 0 ? nx - 1 : 0] = w.end[x > 0];
        w.to[nx - 1] = w.end[1];
    }
}

SEL_INLINE void HEAT_NAME(row_of_kind)(const heat_view *v, int kind, int64_t y, int64_t z) {
    v->dims == 3 ? HEAT_NAME(do_row)(v, kind, 3, y, z) : HEAT_NAME(do_row)(v, kind, 2, y, z);
}

static void HEAT_NAME(row)(const heat_view *v, int64_t y, int64_t z) {
    v->kind == HEAT_EVEN     ? HEAT_NAME(row_of_kind)(v, HEAT_EVEN, y, z)
    : v->kind == HEAT_UNEVEN ? HEAT_NAME(row_of_kind)(v, HEAT_UNEVEN, y, z)
                             : HEAT_NAME(row_of_kind)(v, HEAT_VARIED, y, z);
}

static void HEAT_NAME(touch)(const heat_view *v, int64_t i, double b, double s) {
    REAL *to = (REAL *)v->to + i;
    *to = HEAT_NAME(heat_touched)(((const REAL *)v->from)[i], *to, (REAL)b, (REAL)s);
}
