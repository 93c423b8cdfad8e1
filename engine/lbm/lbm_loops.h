/* lbm_loops.h -- the CPU's inner loops for one precision: bulk rows, boundary cells, reading.
 *
 * Included by lbm_cpu_kernel.c once per precision, with REAL, LBM_NAME and SEL_INLINE as in
 * engine/physics/lbm_collision.h. A step pulls: g_i(x, n+1) = collide(g_i(x - e_i, n)). The two
 * copies of the populations take turns, so every cell may be computed in any order, and twice.
 */
#include "engine/physics/lbm_collision.h"
#include "engine/physics/lbm_closure.h"

SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(rates)(const lbm_step *step) {
    return (LBM_NAME(lbm_rates)){(REAL)step->omega_even, (REAL)step->omega_odd,
                                 (REAL)step->acceleration[0], (REAL)step->acceleration[1]};
}

SEL_INLINE void LBM_NAME(collide)(REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                                  int collision, bool forced) {
    if (collision == LBM_TRT) {
        LBM_NAME(lbm_trt)(g, rates, forced);
    } else {
        LBM_NAME(lbm_bgk)(g, rates, forced);
    }
}

/* Rows of direction i: from##i[x] is what streams to cell x of row y, to##i[x] its new value. */
#define SOURCE(i, ex, ey, opposite, weight) \
    const REAL *from##i =                   \
        (const REAL *)step->from + i * layout->plane + (y - (ey)) * layout->pitch - (ex);
#define TARGET(i, ex, ey, opposite, weight) \
    REAL *to##i = (REAL *)step->to + i * layout->plane + y * layout->pitch;
#define STORE(i, ex, ey, opposite, weight) to##i[x] = g[i];

SEL_INLINE void LBM_NAME(bulk)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1,
                               int collision, bool forced) {
    const lbm_layout *layout = &step->layout;
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step);
    D2Q9(SOURCE)
    D2Q9(TARGET)
    LBM_INDEPENDENT
    for (int64_t x = x0; x < x1; x++) {
        REAL g[D2Q9_COUNT];
#define LOAD(i, ex, ey, opposite, weight) g[i] = from##i[x];
        D2Q9(LOAD)
#undef LOAD
        LBM_NAME(collide)(g, &rates, collision, forced);
        D2Q9(STORE)
    }
}

/* What arrives at a boundary cell before its open face is closed. own[i] is what the cell itself
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
#define ARRIVE(i, ex, ey, opposite, weight)                  \
    if (cell->bounced >> i & 1u) {                           \
        g[i] = own[opposite] + (REAL)step->link_add[link++]; \
    } else if (cell->open >> i & 1u) {                       \
        g[i] = (REAL)0;                                      \
        link++;                                              \
    } else if (i > 0) {                                      \
        g[i] = from##i[x];                                   \
    }
    D2Q9(ARRIVE)
#undef ARRIVE
}

/* Fills what comes through the cell's open face. The laws give the fluid's velocity u; the
 * momentum of populations before collision is rho (u - a/2). */
SEL_INLINE void LBM_NAME(close)(const lbm_step *step, const lbm_boundary_cell *cell,
                                const LBM_NAME(lbm_rates) * rates, REAL g[D2Q9_COUNT]) {
    const double *value = step->open_value + 2 * cell->opening_index;
    const REAL shift_x = (REAL)0.5 * rates->ax, shift_y = (REAL)0.5 * rates->ay;
    if (cell->opening == LBM_OPEN_VELOCITY) {
        LBM_NAME(lbm_close_velocity)
        (g, cell->face, (REAL)value[0] - shift_x, (REAL)value[1] - shift_y);
    } else {
        LBM_NAME(lbm_close_density)(g, cell->face, (REAL)value[0], -shift_x, -shift_y);
    }
}

SEL_INLINE void LBM_NAME(count_flow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                     const REAL own[D2Q9_COUNT], const REAL g[D2Q9_COUNT]) {
    int64_t link = cell->first_link;
#define FLOW(i, ex, ey, opposite, weight)                                \
    if ((cell->bounced | cell->open) >> i & 1u) {                        \
        step->link_flow[link++] += (double)own[opposite] - (double)g[i]; \
    }
    D2Q9(FLOW)
#undef FLOW
}

SEL_INLINE void LBM_NAME(edge)(const lbm_step *step, int64_t y, int collision, bool forced) {
    const lbm_layout *layout = &step->layout;
    const lbm_boundary *boundary = step->boundary;
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step);
    D2Q9(TARGET)
    for (int64_t c = boundary->row_cells[y]; c < boundary->row_cells[y + 1]; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        const int64_t x = cell->x;
        REAL own[D2Q9_COUNT], g[D2Q9_COUNT];
        LBM_NAME(arrivals)(step, cell, y, own, g);
        if (cell->open) {
            LBM_NAME(close)(step, cell, &rates, g);
        }
        if (step->link_flow) {
            LBM_NAME(count_flow)(step, cell, own, g);
        }
        LBM_NAME(collide)(g, &rates, collision, forced);
        D2Q9(STORE)
    }
}

static void LBM_NAME(arrive)(const lbm_step *step, int64_t y, const lbm_boundary_cell *cell,
                             double own[D2Q9_COUNT], double g[D2Q9_COUNT]) {
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step);
    REAL sent[D2Q9_COUNT], come[D2Q9_COUNT];
    LBM_NAME(arrivals)(step, cell, y, sent, come);
    if (cell->open) {
        LBM_NAME(close)(step, cell, &rates, come);
    }
    for (int i = 0; i < D2Q9_COUNT; i++) {
        own[i] = (double)sent[i];
        g[i] = (double)come[i];
    }
}

#undef SOURCE
#undef TARGET
#undef STORE

/* Stored populations are those after collision: their momentum is rho u + F/2. */
static void LBM_NAME(read)(const lbm_layout *layout, const void *f, const double acceleration[2],
                           int64_t y, int64_t x0, int64_t x1, double *drho, double *ux,
                           double *uy) {
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
        ux[x - x0] = D2Q9_SUM_X(g) / rho - 0.5 * acceleration[0];
        uy[x - x0] = D2Q9_SUM_Y(g) / rho - 0.5 * acceleration[1];
    }
}

static void LBM_NAME(write)(const lbm_layout *layout, void *f, int64_t x, int64_t y,
                            const double g[D2Q9_COUNT]) {
    REAL *to = (REAL *)f + y * layout->pitch + x;
    for (int i = 0; i < D2Q9_COUNT; i++) {
        to[i * layout->plane] = (REAL)g[i];
    }
}

/* The variants of the table: a constant collision and force for each, so that loops have no
 * branches. */
#define VARIANT(collision, COLLISION, force, FORCE)                                            \
    static void LBM_NAME(bulk_##collision##force)(const lbm_step *step, int64_t y, int64_t x0, \
                                                  int64_t x1) {                                \
        LBM_NAME(bulk)(step, y, x0, x1, COLLISION, FORCE);                                     \
    }                                                                                          \
    static void LBM_NAME(edge_##collision##force)(const lbm_step *step, int64_t y) {           \
        LBM_NAME(edge)(step, y, COLLISION, FORCE);                                             \
    }
VARIANT(trt, LBM_TRT, , false)
VARIANT(trt, LBM_TRT, _force, true)
VARIANT(bgk, LBM_BGK, , false)
VARIANT(bgk, LBM_BGK, _force, true)
#undef VARIANT
