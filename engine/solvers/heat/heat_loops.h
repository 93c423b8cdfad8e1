/* heat_loops.h -- a row of cells in one step, in one precision; included by heat_kernel.c. */
#include "engine/physics/heat.h"

/* T' of cell x of a row: low and high lead to its neighbours along x. */
SEL_INLINE REAL HEAT_NAME(one)(int kind, int dims, const REAL r[3], const REAL *const row[5],
                               const REAL *const g[6], const REAL *m, const REAL *q, int64_t x,
                               int64_t low, int64_t high) {
    const bool varied = kind == HEAT_VARIED, deep = dims == 3;
    const HEAT_NAME(heat_around)
        t = {row[0][x], row[0][x + low],      row[0][x + high],    row[1][x],
             row[2][x], deep ? row[3][x] : 0, deep ? row[4][x] : 0};
    const HEAT_NAME(heat_around) c = {0,
                                      varied ? g[0][x] : 0,
                                      varied ? g[1][x] : 0,
                                      varied ? g[2][x] : 0,
                                      varied ? g[3][x] : 0,
                                      varied && deep ? g[4][x] : 0,
                                      varied && deep ? g[5][x] : 0};
    return HEAT_NAME(heat_next)(kind, dims, r, &t, &c, varied ? m[x] : 0, varied ? q[x] : 0);
}

SEL_INLINE void HEAT_NAME(do_row)(const heat_view *v, int kind, int dims, int64_t y, int64_t z) {
    enum { LINE = 64 / sizeof(REAL), AHEAD = 1024 / sizeof(REAL) };
    const REAL r[3] = {(REAL)v->r[0], (REAL)v->r[1], (REAL)v->r[2]};
    const int64_t at[3] = {0, y, z}, nx = v->n[0];
    const int64_t first = heat_place(v->stride, at), of = heat_place(v->apart, at);
    const REAL *from = (const REAL *)v->from + first;
    const REAL *const row[5] = {from, from + heat_beside(v, 1, y, 0),
                                from + heat_beside(v, 1, y, 1),
                                dims == 3 ? from + heat_beside(v, 2, z, 0) : NULL,
                                dims == 3 ? from + heat_beside(v, 2, z, 1) : NULL};
    const REAL *g[6] = {NULL}, *m = NULL, *q = NULL;
    for (int k = 0; k < 2 * dims && kind == HEAT_VARIED; k++) {
        g[k] = (const REAL *)v->g[k / 2] + of + (k % 2 ? v->apart[k / 2] : 0);
        m = (const REAL *)v->m + of;
        q = (const REAL *)v->q + of;
    }
    REAL *to = (REAL *)v->to + first;
    const bool streams = v->streams && nx > 2 * LINE;
    const int64_t before = streams ? LINE : nx - 1;
    int64_t x = LINE;
    to[0] = HEAT_NAME(one)(kind, dims, r, row, g, m, q, 0, heat_beside(v, 0, 0, 0),
                           heat_beside(v, 0, 0, 1));
    HEAT_INDEPENDENT
    for (int64_t k = 1; k < before; k++) {
        to[k] = HEAT_NAME(one)(kind, dims, r, row, g, m, q, k, -1, 1);
    }
    for (; streams && x + LINE < nx; x += LINE) { /* past the caches, line by line */
        _Alignas(64) REAL line[LINE];
        __builtin_prefetch(row[2 * dims - 2] + x + AHEAD);
        for (int k = 0; k < LINE; k++) {
            line[k] = HEAT_NAME(one)(kind, dims, r, row, g, m, q, x + k, -1, 1);
        }
        sel_stream_line(to + x, line);
    }
    for (int64_t k = streams ? x : nx; k < nx - 1; k++) {
        to[k] = HEAT_NAME(one)(kind, dims, r, row, g, m, q, k, -1, 1);
    }
    to[nx - 1] = HEAT_NAME(one)(kind, dims, r, row, g, m, q, nx - 1, heat_beside(v, 0, nx - 1, 0),
                                heat_beside(v, 0, nx - 1, 1));
    if (streams) {
        sel_stream_end();
    }
}

static void HEAT_NAME(row)(const heat_view *v, int64_t y, int64_t z) {
    const bool deep = v->dims == 3;
    if (v->kind == HEAT_EVEN) {
        deep ? HEAT_NAME(do_row)(v, HEAT_EVEN, 3, y, z) : HEAT_NAME(do_row)(v, HEAT_EVEN, 2, y, z);
    } else if (v->kind == HEAT_UNEVEN) {
        deep ? HEAT_NAME(do_row)(v, HEAT_UNEVEN, 3, y, z)
             : HEAT_NAME(do_row)(v, HEAT_UNEVEN, 2, y, z);
    } else {
        deep ? HEAT_NAME(do_row)(v, HEAT_VARIED, 3, y, z)
             : HEAT_NAME(do_row)(v, HEAT_VARIED, 2, y, z);
    }
}

/* Cell i of a surface, whose neighbours have been gathered. */
static void HEAT_NAME(touch)(const heat_view *v, int64_t i, double b, double s) {
    REAL *to = (REAL *)v->to + i;
    *to = HEAT_NAME(heat_touched)(((const REAL *)v->from)[i], *to, (REAL)b, (REAL)s);
}
