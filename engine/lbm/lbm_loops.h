/* lbm_loops.h -- the CPU's inner loops for one precision: bulk rows, boundary cells, reading.
 *
 * Included by lbm_cpu_kernel.c once per precision, with REAL, LBM_SQRT, LBM_NAME and SEL_INLINE as
 * in engine/physics/lbm_collision.h. A step pulls: g_i(x, n+1) = collide(g_i(x - e_i, n)). The two
 * copies of the populations take turns, so every cell may be computed in any order, and twice.
 */
#include "engine/physics/lbm_collision.h"
#include "engine/physics/lbm_closure.h"

/* The rates of all cells. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(common_rates)(const lbm_step *step) {
    return (LBM_NAME(lbm_rates)){(REAL)step->omega_even,
                                 (REAL)step->omega_odd,
                                 (REAL)step->acceleration[0],
                                 (REAL)step->acceleration[1],
                                 (REAL)step->tau,
                                 (REAL)step->magic,
                                 (REAL)step->eddy};
}

/* The rates of cell (x, y). */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(rates)(const lbm_step *step, int64_t x, int64_t y) {
    LBM_NAME(lbm_rates) rates = LBM_NAME(common_rates)(step);
    if (step->forcing == LBM_FORCE_FIELD) {
        const lbm_layout *layout = &step->layout;
        const REAL *ax = (const REAL *)step->acceleration_field + y * layout->nx + x;
        rates.ax = ax[0];
        rates.ay = ax[layout->nx * layout->ny];
    }
    return rates;
}

/* Rows of direction i: from##i[x] is what streams to cell x of row y. */
#define SOURCE(i, ex, ey, opposite, weight) \
    const REAL *from##i =                   \
        (const REAL *)step->from + i * layout->plane + (y - (ey)) * layout->pitch - (ex);

/* Cells x0 <= x < x1 of a row, stored for direction i at to[i * plane + x - x0]. */
SEL_INLINE void LBM_NAME(cells)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1, REAL *to,
                                int64_t plane, int collision, lbm_forcing forcing, bool eddies) {
    const lbm_layout *layout = &step->layout;
    const REAL *ax = NULL, *ay = NULL;
    if (forcing == LBM_FORCE_FIELD) {
        ax = (const REAL *)step->acceleration_field + y * layout->nx;
        ay = ax + layout->nx * layout->ny;
    }
    const LBM_NAME(lbm_rates) common = LBM_NAME(common_rates)(step);
    D2Q9(SOURCE)
#define TARGET(i, ex, ey, opposite, weight) REAL *to##i = to + i * plane;
    D2Q9(TARGET)
#undef TARGET
    LBM_INDEPENDENT
    for (int64_t x = x0; x < x1; x++) {
        LBM_NAME(lbm_rates) rates = common;
        REAL g[D2Q9_COUNT];
        if (forcing == LBM_FORCE_FIELD) {
            rates.ax = ax[x];
            rates.ay = ay[x];
        }
#define LOAD(i, ex, ey, opposite, weight) g[i] = from##i[x];
        D2Q9(LOAD)
#undef LOAD
        LBM_NAME(lbm_collide)(g, &rates, collision, forcing != LBM_NO_FORCE, eddies);
#define STORE(i, ex, ey, opposite, weight) to##i[x - x0] = g[i];
        D2Q9(STORE)
#undef STORE
    }
}

/* Cells x0 <= x < x1 straight to their places. */
SEL_INLINE void LBM_NAME(store_cells)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1,
                                      int collision, lbm_forcing forcing, bool eddies) {
    REAL *row = (REAL *)step->to + y * step->layout.pitch;
    LBM_NAME(cells)
    (step, y, x0, x1, row + x0, step->layout.plane, collision, forcing, eddies);
}

/* The same past the caches, in pieces by way of a buffer. */
SEL_INLINE void LBM_NAME(stream_cells)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1,
                                       int collision, lbm_forcing forcing, bool eddies) {
    enum { PIECE = 2048 / sizeof(REAL) };
    REAL buffer[D2Q9_COUNT * PIECE] __attribute__((aligned(64)));
    REAL *row = (REAL *)step->to + y * step->layout.pitch;
    for (int64_t x = x0, end; x < x1; x = end) {
        end = x + PIECE < x1 ? x + PIECE : x1;
        LBM_NAME(cells)(step, y, x, end, buffer, PIECE, collision, forcing, eddies);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            sel_stream(row + i * step->layout.plane + x, buffer + i * PIECE,
                       (size_t)(end - x) * sizeof(REAL));
        }
    }
}

/* The ends of a span are needed again at once, for boundary cells and halos: they stay in the
 * cache. What is streamed begins and ends on cache lines. */
SEL_INLINE void LBM_NAME(bulk)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1,
                               int collision, lbm_forcing forcing, bool eddies) {
    enum { CACHE_LINE = 64 / sizeof(REAL) };
    int64_t first = (x0 / CACHE_LINE + 1) * CACHE_LINE, last = (x1 - 1) / CACHE_LINE * CACHE_LINE;
    if (!step->streams || first >= last) {
        LBM_NAME(store_cells)(step, y, x0, x1, collision, forcing, eddies);
        return;
    }
    LBM_NAME(store_cells)(step, y, x0, first, collision, forcing, eddies);
    LBM_NAME(stream_cells)(step, y, first, last, collision, forcing, eddies);
    LBM_NAME(store_cells)(step, y, last, x1, collision, forcing, eddies);
}

/* What arrives at a boundary cell before its wet faces are closed. own[i] is what the cell itself
 * sent along i. */
SEL_INLINE void LBM_NAME(arrivals)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t y,
                                   REAL own[D2Q9_COUNT], REAL g[D2Q9_COUNT]) {
    const lbm_layout *layout = &step->layout;
    const int64_t x = cell->x;
    int64_t link = cell->first_link;
    D2Q9(SOURCE)
#define OWN(i, ex, ey, opposite, weight) own[i] = from##i[x + (ey)*layout->pitch + (ex)];
    D2Q9(OWN)
#undef OWN
    g[0] = own[0];
#define ARRIVE(i, ex, ey, opposite, weight)                \
    if (cell->bounced >> i & 1u) {                         \
        g[i] = own[opposite] + (REAL)step->link_add[link]; \
    } else if (cell->links >> i & 1u) {                    \
        g[i] = (REAL)0;                                    \
    } else if (i > 0) {                                    \
        g[i] = from##i[x];                                 \
    }                                                      \
    link += cell->links >> i & 1u;
    D2Q9(ARRIVE)
#undef ARRIVE
    if (cell->mirrored_x | cell->mirrored_y) {
        const REAL *here = (const REAL *)step->from + y * layout->pitch + x;
#define MIRROR(i, ex, ey, mirrored_x_of, mirrored_y_of)                  \
    if (cell->mirrored_x >> i & 1u) {                                    \
        g[i] = here[mirrored_x_of * layout->plane - (ey)*layout->pitch]; \
    } else if (cell->mirrored_y >> i & 1u) {                             \
        g[i] = here[mirrored_y_of * layout->plane - (ex)];               \
    }
        D2Q9_DIAGONALS(MIRROR)
#undef MIRROR
    }
}

/* The cell (x, y) at the start of the step, from its populations after collision. */
SEL_INLINE LBM_NAME(lbm_cell) LBM_NAME(before)(const lbm_step *step, int64_t x, int64_t y,
                                               const LBM_NAME(lbm_rates) * rates) {
    const lbm_layout *layout = &step->layout;
    const REAL *from = (const REAL *)step->from + y * layout->pitch + x;
    REAL f[D2Q9_COUNT];
    for (int i = 0; i < D2Q9_COUNT; i++) {
        f[i] = from[i * layout->plane];
    }
    const REAL drho = D2Q9_SUM(f), per_rho = (REAL)1 / ((REAL)1 + drho);
    return (LBM_NAME(lbm_cell)){drho, D2Q9_SUM_X(f) * per_rho - (REAL)0.5 * rates->ax,
                                D2Q9_SUM_Y(f) * per_rho - (REAL)0.5 * rates->ay};
}

/* The next cell from (x, y) inwards of `face`, at most at the grid's end. */
SEL_INLINE void LBM_NAME(inwards)(const lbm_layout *layout, int face, int64_t *x, int64_t *y) {
    int64_t *at = face < 2 ? x : y, last = (face < 2 ? layout->nx : layout->ny) - 1;
    if (face % 2 == 0 && *at < last) {
        ++*at;
    } else if (face % 2 == 1 && *at > 0) {
        --*at;
    }
}

SEL_INLINE void LBM_NAME(close_outflow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                        int64_t y, const LBM_NAME(lbm_rates) * rates,
                                        REAL g[D2Q9_COUNT]) {
    int64_t inner_x = cell->x, inner_y = y;
    LBM_NAME(inwards)(&step->layout, cell->face, &inner_x, &inner_y);
    const LBM_NAME(lbm_cell) here = LBM_NAME(before)(step, cell->x, y, rates);
    const LBM_NAME(lbm_cell) inward = LBM_NAME(before)(step, inner_x, inner_y, rates);
    LBM_NAME(lbm_close_outflow)
    (g, cell->face, &here, &inward, -(REAL)0.5 * rates->ax, -(REAL)0.5 * rates->ay);
}

SEL_INLINE void LBM_NAME(close_corner)(const lbm_step *step, const lbm_boundary_cell *cell,
                                       int64_t y, const LBM_NAME(lbm_rates) * rates,
                                       const double *value, REAL g[D2Q9_COUNT]) {
    int64_t inner_x = cell->x, inner_y = y;
    LBM_NAME(inwards)(&step->layout, cell->face, &inner_x, &inner_y);
    LBM_NAME(inwards)(&step->layout, cell->other_face, &inner_x, &inner_y);
    LBM_NAME(lbm_cell) at = LBM_NAME(before)(step, inner_x, inner_y, rates);
    if (cell->velocity_region) {
        at.ux = (REAL)value[0];
        at.uy = (REAL)value[1];
    }
    if (cell->density_region) {
        at.drho = (REAL)value[2];
    }
    LBM_NAME(lbm_close_corner)
    (g, cell->face, cell->other_face, at.drho, at.ux - (REAL)0.5 * rates->ax,
     at.uy - (REAL)0.5 * rates->ay);
}

/* Fills what comes through the cell's wet faces. The laws give the fluid's velocity u; the
 * momentum of populations before collision is rho (u - a/2). */
SEL_INLINE void LBM_NAME(close)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t y,
                                const LBM_NAME(lbm_rates) * rates, REAL g[D2Q9_COUNT]) {
    const double *value = step->open_value + LBM_OPEN_VALUES * cell->opening_index;
    const REAL shift_x = (REAL)0.5 * rates->ax, shift_y = (REAL)0.5 * rates->ay;
    switch (cell->opening) {
    case LBM_OPEN_VELOCITY:
        LBM_NAME(lbm_close_velocity)
        (g, cell->face, (REAL)value[0] - shift_x, (REAL)value[1] - shift_y);
        break;
    case LBM_OPEN_PRESSURE:
        LBM_NAME(lbm_close_density)(g, cell->face, (REAL)value[2], -shift_x, -shift_y);
        break;
    case LBM_OPEN_OUTFLOW:
        LBM_NAME(close_outflow)(step, cell, y, rates, g);
        break;
    case LBM_OPEN_CORNER:
        LBM_NAME(close_corner)(step, cell, y, rates, value, g);
        break;
    case LBM_CLOSED:
        break;
    }
}

SEL_INLINE void LBM_NAME(count_flow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                     const REAL own[D2Q9_COUNT], const REAL g[D2Q9_COUNT]) {
    int64_t link = cell->first_link;
#define FLOW(i, ex, ey, opposite, weight)                                \
    if (cell->links >> i & 1u) {                                         \
        step->link_flow[link++] += (double)own[opposite] - (double)g[i]; \
    }
    D2Q9(FLOW)
#undef FLOW
}

static void LBM_NAME(edge)(const lbm_step *step, int64_t y) {
    const lbm_layout *layout = &step->layout;
    const lbm_boundary *boundary = step->boundary;
    REAL *row = (REAL *)step->to + y * layout->pitch;
    for (int64_t c = boundary->row_cells[y]; c < boundary->row_cells[y + 1]; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, y);
        REAL own[D2Q9_COUNT], g[D2Q9_COUNT];
        LBM_NAME(arrivals)(step, cell, y, own, g);
        LBM_NAME(close)(step, cell, y, &rates, g);
        if (step->link_flow) {
            LBM_NAME(count_flow)(step, cell, own, g);
        }
        LBM_NAME(lbm_collide)
        (g, &rates, step->collision, step->forcing != LBM_NO_FORCE, step->eddy > 0);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            row[i * layout->plane + cell->x] = g[i];
        }
    }
}

static void LBM_NAME(arrive)(const lbm_step *step, int64_t y, const lbm_boundary_cell *cell,
                             double own[D2Q9_COUNT], double g[D2Q9_COUNT]) {
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, y);
    REAL sent[D2Q9_COUNT], come[D2Q9_COUNT];
    LBM_NAME(arrivals)(step, cell, y, sent, come);
    LBM_NAME(close)(step, cell, y, &rates, come);
    for (int i = 0; i < D2Q9_COUNT; i++) {
        own[i] = (double)sent[i];
        g[i] = (double)come[i];
    }
}

static void LBM_NAME(pull)(const lbm_step *step, int64_t x, int64_t y, double g[D2Q9_COUNT]) {
    const lbm_layout *layout = &step->layout;
    D2Q9(SOURCE)
#define LOAD(i, ex, ey, opposite, weight) g[i] = (double)from##i[x];
    D2Q9(LOAD)
#undef LOAD
}

#undef SOURCE

/* The momentum of stored populations, after collision, is rho u + F/2. */
static void LBM_NAME(read)(const lbm_layout *layout, const void *f, int64_t y, int64_t x0,
                           int64_t x1, double *drho, double *ux, double *uy) {
#define ROW(i, ex, ey, opposite, weight) \
    const REAL *row##i = (const REAL *)f + i * layout->plane + y * layout->pitch;
    D2Q9(ROW)
#undef ROW
    LBM_INDEPENDENT
    for (int64_t x = x0; x < x1; x++) {
        double g[D2Q9_COUNT];
#define LOAD(i, ex, ey, opposite, weight) g[i] = (double)row##i[x];
        D2Q9(LOAD)
#undef LOAD
        const double deviation = D2Q9_SUM(g), rho = 1.0 + deviation;
        drho[x - x0] = deviation;
        ux[x - x0] = D2Q9_SUM_X(g) / rho;
        uy[x - x0] = D2Q9_SUM_Y(g) / rho;
    }
}

static void LBM_NAME(write)(const lbm_layout *layout, void *f, int64_t x, int64_t y,
                            const double g[D2Q9_COUNT]) {
    REAL *to = (REAL *)f + y * layout->pitch + x;
    for (int i = 0; i < D2Q9_COUNT; i++) {
        to[i * layout->plane] = (REAL)g[i];
    }
}

/* The variants of the table: constants for each, so that loops have no branches. */
#define VARIANT(name, COLLISION, FORCING, EDDIES)                                                \
    static void LBM_NAME(bulk_##name)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1) { \
        LBM_NAME(bulk)(step, y, x0, x1, COLLISION, FORCING, EDDIES);                             \
    }
#define VARIANTS(name, COLLISION)                                  \
    VARIANT(name, COLLISION, LBM_NO_FORCE, false)                  \
    VARIANT(name##_force, COLLISION, LBM_UNIFORM_FORCE, false)     \
    VARIANT(name##_field, COLLISION, LBM_FORCE_FIELD, false)       \
    VARIANT(name##_eddy, COLLISION, LBM_NO_FORCE, true)            \
    VARIANT(name##_force_eddy, COLLISION, LBM_UNIFORM_FORCE, true) \
    VARIANT(name##_field_eddy, COLLISION, LBM_FORCE_FIELD, true)
VARIANTS(trt, LBM_TRT)
VARIANTS(bgk, LBM_BGK)
VARIANTS(regularized, LBM_REGULARIZED)
#undef VARIANTS
#undef VARIANT
