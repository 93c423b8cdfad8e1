/* aqua_loops.h -- the CPU's loops for one store: flow, rain and infiltration, by rows.
 *
 * Re-includable; see aqua_kernel.c. An edge is computed once, from its lower or left end; the cell
 * at the other end sees it with the opposite sign. flow_tile computes a tile of columns row by row.
 * It keeps three rows of edges (head, root, difference of beds) and three rows of factors, row y in
 * slot (y + 3) % 3. The iteration of row y:
 *
 *    3 1 2        y + 1   o---o---o
 *     \|/                 | X | X |   edges of row y: along it and up to row y + 1
 *      o-0        y       o---o---o   then factors of row y, from the edges of rows y and y - 1
 *                         | X | X |
 *                 y - 1   o---o---o   then new depths of row y - 1, from the edges of rows y - 1
 *                         | X | X |   and y - 2 and the factors of rows y - 2, y - 1 and y
 *                 y - 2   o---o---o
 */
#include "engine/solvers/aqua/aqua_step.h"

#define EDGES AQUA_NAME(aqua_row_edges)
#define SCRATCH AQUA_NAME(aqua_scratch)

/* Cell x stands at index x - x0 + 2. */
typedef struct EDGES {
    REAL head[4][ROOM], root[4][ROOM], fall[4][ROOM];
} EDGES;

typedef struct SCRATCH {
    EDGES edges[3];
    REAL factor[3][ROOM], cut[3][ROOM], alpha[ROOM]; /* alpha: a row of the uniform alpha */
    AQUA_WATER most;                                 /* the greatest new depth */
} SCRATCH;

/* The values of the eight edges of the cell at index i, in the order of AQUA_NEIGHBOURS. `own`: the
 * edges of its row; `low`: those of the row below, which the cell sees from their other end. */
#define AROUND(v, own, low, i)                                                                \
    {                                                                                         \
        v[0] = (own)[0][i], v[1] = -(own)[0][(i)-1], v[2] = (own)[1][i], v[3] = -(low)[1][i], \
        v[4] = (own)[2][i], v[5] = -(low)[2][(i)-1], v[6] = (own)[3][i],                      \
        v[7] = -(low)[3][(i) + 1];                                                            \
    }

/* The edges first <= i < last of one direction of a row; `apart`: the offset of their other end. */
SEL_INLINE void AQUA_NAME(edge_line)(const REAL *bed, const AQUA_WATER *water, int64_t apart,
                                     REAL least, int64_t first, int64_t last, EDGES *e, int slot) {
    REAL *head = e->head[slot], *root = e->root[slot], *fall = e->fall[slot];
    SEL_INDEPENDENT
    for (int64_t i = first; i < last; i++) {
        const REAL d = AQUA_NAME(aqua_head)(bed[i], bed[i + apart], water[i], water[i + apart]);
        fall[i] = bed[i] - bed[i + apart];
        head[i] = d;
        root[i] = AQUA_NAME(aqua_root)(d, least);
    }
}

/* The edges of row y from the cells x0 - 2 to x0 + n + 1: along the row and to the row above. */
static void AQUA_NAME(edge_row)(const aqua_step *step, int64_t x0, int64_t n, int64_t y, EDGES *e) {
    const int64_t at = aqua_index(&step->layout, x0 - 2, y), pitch = step->layout.pitch;
    const REAL *bed = (const REAL *)step->bed + at, least = (REAL)step->least;
    const AQUA_WATER *water = (const AQUA_WATER *)step->from + at;
    AQUA_NAME(edge_line)(bed, water, 1, least, 0, n + 3, e, 0);
    AQUA_NAME(edge_line)(bed, water, pitch, least, 0, n + 4, e, 1);
    AQUA_NAME(edge_line)(bed, water, pitch + 1, least, 0, n + 3, e, 2);
    AQUA_NAME(edge_line)(bed, water, pitch - 1, least, 1, n + 4, e, 3);
}

/* Factors and cuts of the cells with index first <= i < last of row y, whose index 0 is element
 * `at`. With `looks` returns whether fill would drop a bed. */
SEL_INLINE int AQUA_NAME(factors_by)(const aqua_step *step, int64_t at, int64_t y, SCRATCH *s,
                                     int64_t first, int64_t last, int equilibrium, bool looks) {
    const int slot = (int)((y + 3) % 3), before = (int)((y + 2) % 3);
    const EDGES *own = &s->edges[slot], *low = &s->edges[before];
    const AQUA_WATER *water = (const AQUA_WATER *)step->from + at;
    const REAL *alpha = step->alphas ? (const REAL *)step->alphas + at : s->alpha;
    const REAL least = (REAL)step->least;
    REAL *factor = s->factor[slot], *cuts = s->cut[slot];
    int drops = 0;
    SEL_INDEPENDENT
    for (int64_t i = first; i < last; i++) {
        REAL head[AQUA_AROUND], root[AQUA_AROUND], fall[AQUA_AROUND], cut;
        int dropped = 0;
        AROUND(head, own->head, low->head, i)
        AROUND(root, own->root, low->root, i)
        AROUND(fall, own->fall, low->fall, i)
        factor[i] = AQUA_NAME(aqua_share)(equilibrium, alpha[i], least, water[i], head, root, fall,
                                          &cut, looks ? &dropped : NULL);
        if (equilibrium == AQUA_MINDIFF) {
            cuts[i] = cut;
        }
        drops |= dropped;
    }
    return drops;
}

/* Factors of the cells x0 - 1 to x0 + n of row y, from the edges of rows y and y - 1. Fill is the
 * mean where no bed is dropped, so most pieces of a row need no sorting. */
static void AQUA_NAME(factor_row)(const aqua_step *step, int64_t x0, int64_t n, int64_t y,
                                  SCRATCH *s) {
    const int64_t at = aqua_index(&step->layout, x0 - 2, y), last = n + 3;
    if (step->equilibrium == AQUA_MEAN) {
        AQUA_NAME(factors_by)(step, at, y, s, 1, last, AQUA_MEAN, false);
    } else if (step->equilibrium == AQUA_MINDIFF) {
        AQUA_NAME(factors_by)(step, at, y, s, 1, last, AQUA_MINDIFF, false);
    }
    for (int64_t i = 1; i < last && step->equilibrium == AQUA_FILL; i += PIECE) {
        const int64_t end = i + PIECE < last ? i + PIECE : last;
        if (AQUA_NAME(factors_by)(step, at, y, s, i, end, AQUA_MEAN, true)) {
            AQUA_NAME(factors_by)(step, at, y, s, i, end, AQUA_FILL, false);
        }
    }
}

/* New depths of the cells x0 to x0 + n - 1 of row y. `cuts`: mindiff; `sent`: by aqua_after_sent.
 */
SEL_INLINE void AQUA_NAME(after_row)(const aqua_step *step, int64_t x0, int64_t n, int64_t y,
                                     const SCRATCH *s, bool cuts, bool sent) {
    const int64_t at = aqua_index(&step->layout, x0 - 2, y);
    const int slot = (int)((y + 3) % 3), before = (int)((y + 2) % 3), next = (int)((y + 1) % 3);
    const REAL(*own)[ROOM] = s->edges[slot].root, (*low)[ROOM] = s->edges[before].root;
    const REAL *f[3] = {s->factor[before], s->factor[slot], s->factor[next]};
    const REAL *c[3] = {s->cut[before], s->cut[slot], s->cut[next]};
    const AQUA_WATER *water = (const AQUA_WATER *)step->from + at;
    AQUA_WATER *to = (AQUA_WATER *)step->to + at;
    SEL_INDEPENDENT
    for (int64_t i = 2; i < n + 2; i++) {
        REAL root[AQUA_AROUND];
        AQUA_WATER out[AQUA_AROUND];
        AROUND(root, own, low, i)
#define FLUX(k, dx, dy)                                                                    \
    out[k] = cuts ? AQUA_NAME(aqua_flux_cut)(root[k], f[1][i], c[1][i], f[1 + dy][i + dx], \
                                             c[1 + dy][i + dx])                            \
                  : AQUA_NAME(aqua_flux)(root[k], f[1][i], f[1 + dy][i + dx]);
        AQUA_NEIGHBOURS(FLUX)
#undef FLUX
        to[i] = sent ? AQUA_NAME(aqua_after_sent)(water[i], out, (int)((y + 1) % 3))
                     : AQUA_NAME(aqua_after)(water[i], out);
    }
}

static void AQUA_NAME(after)(const aqua_step *step, int64_t x0, int64_t n, int64_t y,
                             const SCRATCH *s) {
    const bool cuts = step->equilibrium == AQUA_MINDIFF;
    cuts         ? step->sent ? AQUA_NAME(after_row)(step, x0, n, y, s, true, true)
                              : AQUA_NAME(after_row)(step, x0, n, y, s, true, false)
            : step->sent ? AQUA_NAME(after_row)(step, x0, n, y, s, false, true)
                 : AQUA_NAME(after_row)(step, x0, n, y, s, false, false);
}

/* The greatest of n depths and `most`. Only whole quanta have a limit: other depths are not read.
 */
static __attribute__((noinline)) AQUA_WATER AQUA_NAME(greatest)(const AQUA_WATER *water, int64_t n,
                                                                AQUA_WATER most) {
    for (int64_t i = 0; (AQUA_WATER)0.5 == (AQUA_WATER)0 && i < n; i++) {
        most = water[i] > most ? water[i] : most;
    }
    return most;
}

/* Computes the rows y0 <= y < y1 of a tile of columns, marching up the rows. */
static void AQUA_NAME(flow_tile)(const aqua_step *step, int64_t x0, int64_t n, int64_t y0,
                                 int64_t y1, SCRATCH *s) {
    for (int64_t y = y0 - 2; y <= y1; y++) {
        AQUA_NAME(edge_row)(step, x0, n, y, &s->edges[(y + 3) % 3]);
        if (y > y0 - 2) {
            AQUA_NAME(factor_row)(step, x0, n, y, s);
        }
        if (y > y0) {
            /* Now the edges of rows y - 1 and y - 2 and the factors of rows y - 2 to y are known.
             */
            const AQUA_WATER *to = step->to;
            AQUA_NAME(after)(step, x0, n, y - 1, s);
            s->most = AQUA_NAME(greatest)(to + aqua_index(&step->layout, x0, y - 1), n, s->most);
        }
    }
}

/* Whether the rows y0 <= y < y1 of a tile stay dry: neither they nor the two cells around them have
 * water. */
static bool AQUA_NAME(stays_dry)(const aqua_step *step, int64_t x0, int64_t n, int64_t y0,
                                 int64_t y1) {
    int wet = 0;
    for (int64_t y = y0 - 2; y < y1 + 2 && !wet; y++) {
        const AQUA_WATER *water =
            (const AQUA_WATER *)step->from + aqua_index(&step->layout, x0 - 2, y);
        for (int64_t i = 0; i < n + 4; i++) {
            wet |= water[i] > (AQUA_WATER)0;
        }
    }
    return !wet;
}

/* Computes the rows y0 <= y < y1 of a tile by bands: bands that stay dry are set to 0, runs of
 * other bands are computed together. */
static void AQUA_NAME(flow_bands)(const aqua_step *step, int64_t x0, int64_t n, int64_t y0,
                                  int64_t y1, SCRATCH *s) {
    AQUA_WATER *to = step->to;
    int64_t wet = y0; /* the rows wet <= row < y must still be computed */
    for (int64_t y = y0, end; y < y1; y = end) {
        end = y1 - y < BAND ? y1 : y + BAND;
        const bool dry = AQUA_NAME(stays_dry)(step, x0, n, y, end);
        const int64_t behind = dry ? y : end;
        if ((dry || end == y1) && wet < behind) {
            AQUA_NAME(flow_tile)(step, x0, n, wet, behind, s);
        }
        for (int64_t row = y; row < end && dry; row++) {
            memset(to + aqua_index(&step->layout, x0, row), 0, (size_t)n * sizeof *to);
        }
        wet = dry ? end : wet;
    }
}

static double AQUA_NAME(aqua_flow)(const aqua_step *step, int64_t y0, int64_t y1, void *scratch) {
    SCRATCH *s = scratch;
    s->most = 0;
    for (int i = 0; i < ROOM; i++) {
        s->alpha[i] = (REAL)step->alpha;
    }
    for (int64_t x0 = 0; x0 < step->layout.nx; x0 += TILE) {
        const int64_t left = step->layout.nx - x0;
        AQUA_NAME(flow_bands)(step, x0, left < TILE ? left : TILE, y0, y1, s);
    }
    return (double)s->most;
}

static double AQUA_NAME(aqua_flux_of)(const aqua_step *step, const aqua_edge *edge) {
    return (double)AQUA_NAME(aqua_edge_flux)(edge, step->equilibrium, step->alphas,
                                             (REAL)step->alpha, (REAL)step->least, step->bed,
                                             step->from, (int)step->layout.pitch);
}

/* ---- rain, infiltration, maxima ---- */

/* Adds rain to the n cells of a row, or takes infiltration (`takes`) as far as there is water:
 * `each` units per cell or, with `rate`, units by cell whose fractions are carried. Returns the
 * sum. */
SEL_INLINE double AQUA_NAME(supply_row)(AQUA_WATER *w, int64_t n, const uint8_t *solid,
                                        AQUA_WATER each, const REAL *rate, REAL *carry,
                                        bool takes) {
    double sum = 0;
    int64_t cells = 0;
    for (int64_t x = 0; x < n; x++) {
        const AQUA_WATER due = solid[x] ? (AQUA_WATER)0
                               : rate   ? AQUA_NAME(aqua_part)(rate[x], &carry[x])
                                        : each;
        const AQUA_WATER moves = takes && w[x] < due ? w[x] : due;
        w[x] = takes ? w[x] - moves : w[x] + moves;
        sum += rate || takes ? (double)moves : 0;
        cells += solid[x] == 0;
    }
    return rate || takes ? sum : (double)each * (double)cells;
}

static double AQUA_NAME(aqua_supply)(void *water, int64_t n, const uint8_t *solid, double amount,
                                     const void *rate, void *carry, bool takes) {
    const AQUA_WATER each = (AQUA_WATER)amount;
    return rate    ? AQUA_NAME(supply_row)(water, n, solid, 0, rate, carry, takes)
           : takes ? AQUA_NAME(supply_row)(water, n, solid, each, NULL, NULL, true)
                   : AQUA_NAME(supply_row)(water, n, solid, each, NULL, NULL, false);
}

/* Updates the greatest depths so far (most) and the steps of arrival (first < 0: not yet) of n
 * cells; NULL: not wanted. */
static void AQUA_NAME(aqua_watch)(const void *water, int64_t n, void *most, int32_t *first,
                                  double arrival, int32_t step) {
    const AQUA_WATER *w = water;
    AQUA_WATER *greatest = most;
    for (int64_t x = 0; greatest && x < n; x++) {
        greatest[x] = w[x] <= greatest[x] ? greatest[x] : w[x]; /* NaN too */
    }
    for (int64_t x = 0; first && x < n; x++) {
        first[x] = first[x] < 0 && (double)w[x] >= arrival ? step : first[x];
    }
}

#undef AROUND
#undef EDGES
#undef SCRATCH
