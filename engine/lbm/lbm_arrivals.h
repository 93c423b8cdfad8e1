/* lbm_arrivals.h -- what comes to a cell in a step: pulled from its neighbours, bounced back,
 * mirrored, found by closures.
 *
 * Included by lbm_loops.h, with the same macros.
 */
#include "engine/physics/lbm_collision.h"
#include "engine/physics/lbm_closure.h"

/* Where the cells of a row find what comes to them. */
typedef struct LBM_NAME(lbm_source) {
    const REAL *from;                  /* the first cell, direction 0 */
    int64_t plane, slice, pitch, cell; /* from there to the next direction, and along z, y, x */
} LBM_NAME(lbm_source);

/* The cells from x on pull from their neighbours. */
SEL_INLINE LBM_NAME(lbm_source) LBM_NAME(pulled)(const lbm_step *step, int64_t row, int64_t x) {
    const lbm_layout *layout = &step->layout;
    return (LBM_NAME(lbm_source)){.from =
                                      (const REAL *)step->from + lbm_row_offset(layout, row) + x,
                                  .plane = layout->plane,
                                  .slice = layout->slice,
                                  .pitch = layout->pitch,
                                  .cell = 1};
}

/* from##i[k] is what comes along direction i to the cell k of `source`. */
#define SOURCE(i, ex, ey, ez, opposite, weight)            \
    const REAL *from##i = source.from + i * source.plane - \
                          ((ez)*source.slice + (ey)*source.pitch + (ex)*source.cell);

/* The rates of all cells. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(common_rates)(const lbm_step *step) {
    LBM_NAME(lbm_rates)
    rates = {.omega_even = (REAL)step->omega_even,
             .omega_odd = (REAL)step->omega_odd,
             .tau = (REAL)step->tau,
             .magic = (REAL)step->magic,
             .eddy = (REAL)step->eddy};
#define UNIFORM(axis, sum) rates.a[axis] = (REAL)step->acceleration[axis];
    LBM_AXES(UNIFORM)
#undef UNIFORM
    return rates;
}

/* The rates of cell x of a row. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(rates)(const lbm_step *step, int64_t x, int64_t row) {
    LBM_NAME(lbm_rates) rates = LBM_NAME(common_rates)(step);
    if (step->forcing == LBM_FORCE_FIELD) {
        const lbm_layout *layout = &step->layout;
        const REAL *a = (const REAL *)step->acceleration_field + row * layout->nx + x;
#define HERE(axis, sum) rates.a[axis] = a[axis * (layout->nx * layout->ny * layout->nz)];
        LBM_AXES(HERE)
#undef HERE
    }
    return rates;
}

/* Cell x of a row at the start of the step, from its populations after collision. A field of
 * acceleration is that of this step, so in time it is half a step's change ahead. */
SEL_INLINE LBM_NAME(lbm_cell) LBM_NAME(before)(const lbm_step *step, int64_t x, int64_t row) {
    const lbm_layout *layout = &step->layout;
    const REAL *from = (const REAL *)step->from + lbm_row_offset(layout, row) + x;
    LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, x, row);
    LBM_NAME(lbm_cell) cell;
    REAL f[LBM_Q];
    if (step->forcing != LBM_FORCE_FIELD) {
#define UNIFORM(axis, sum) rates.a[axis] = (REAL)step->acceleration_before[axis];
        LBM_AXES(UNIFORM)
#undef UNIFORM
    }
    for (int i = 0; i < LBM_Q; i++) {
        f[i] = from[i * layout->plane];
    }
    cell.drho = LBM_SUM(f);
    const REAL per_rho = (REAL)1 / ((REAL)1 + cell.drho);
#define VELOCITY(axis, sum) cell.u[axis] = sum(f) * per_rho - (REAL)0.5 * rates.a[axis];
    LBM_AXES(VELOCITY)
#undef VELOCITY
    return cell;
}

/* The next cell along the inward normals, at most at the grid's end and at solids, as it was before
 * the step. */
SEL_INLINE LBM_NAME(lbm_cell)
    LBM_NAME(inward)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row) {
    const lbm_layout *layout = &step->layout;
    const int64_t n[3] = {layout->nx, layout->ny, layout->nz};
    int64_t at[3] = {cell->x, row % layout->ny, row / layout->ny};
    for (int a = 0; a < 3; a++) {
        const int64_t next = at[a] + cell->normal[a];
        at[a] = next >= 0 && next < n[a] && !cell->inward_solid ? next : at[a];
    }
    return LBM_NAME(before)(step, at[0], at[1] + layout->ny * at[2]);
}

/* Fills what comes through the wet faces of a cell that has some. The laws give the fluid's
 * velocity u; the momentum of populations before collision is rho (u - a/2). */
SEL_INLINE void LBM_NAME(close)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                                const LBM_NAME(lbm_rates) * rates, REAL g[LBM_Q]) {
    const double *value = step->open_value + LBM_OPEN_VALUES * cell->opening_index;
    const REAL drho = (REAL)value[3];
    REAL u[LBM_DIMS], shift[LBM_DIMS];
    int n[LBM_DIMS];
#define GIVEN(axis, sum)                       \
    n[axis] = cell->normal[axis];              \
    shift[axis] = -(REAL)0.5 * rates->a[axis]; \
    u[axis] = (REAL)value[axis] + shift[axis];
    LBM_AXES(GIVEN)
#undef GIVEN
    if (cell->opening == LBM_OPEN_VELOCITY) {
        LBM_NAME(lbm_close_velocity)(g, n, u);
        return;
    }
    if (cell->opening == LBM_OPEN_PRESSURE) {
        LBM_NAME(lbm_close_density)(g, n, drho, shift);
        return;
    }
    LBM_NAME(lbm_cell) inward = LBM_NAME(inward)(step, cell, row);
    if (cell->opening == LBM_OPEN_OUTFLOW) {
        const LBM_NAME(lbm_cell) here = LBM_NAME(before)(step, cell->x, row);
        LBM_NAME(lbm_close_outflow)(g, n, &here, &inward, (REAL)cell->keep, shift);
        return;
    }
#define CHOOSE(axis, sum) u[axis] = cell->velocity_region ? u[axis] : inward.u[axis] + shift[axis];
    LBM_AXES(CHOOSE)
#undef CHOOSE
    LBM_NAME(lbm_close)(g, n, cell->density_region ? drho : inward.drho, u);
}

/* Adds up what the links of a cell carry out of the domain; `here` is the cell before the step. */
SEL_INLINE void LBM_NAME(count_flow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                     const REAL *here, const REAL *g, int64_t stride) {
    int64_t link = cell->first_link;
#define FLOW(i, ex, ey, ez, opposite, weight)                                    \
    if (cell->links >> i & 1u) {                                                 \
        step->link_flow[link++] +=                                               \
            (double)here[opposite * step->layout.plane] - (double)g[i * stride]; \
    }
    LBM_DIRECTIONS(FLOW)
#undef FLOW
}

/* What came across slip faces: what the cell beside this one sent along the mirrored direction. */
SEL_INLINE void LBM_NAME(mirror)(const lbm_layout *layout, const lbm_boundary_cell *cell,
                                 const REAL *here, REAL *g, int64_t stride) {
    const int64_t along[3] = {1, layout->pitch, layout->slice};
#define MIRROR(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z)                                 \
    {                                                                                             \
        static const int mirrored[3] = {mirrored_x, mirrored_y, mirrored_z}, e[3] = {ex, ey, ez}; \
        for (int a = 0; a < LBM_DIMS; a++) {                                                      \
            if (cell->mirrored[a] >> i & 1u) {                                                    \
                const int64_t away =                                                              \
                    ((ez)*layout->slice + (ey)*layout->pitch + (ex)) - e[a] * along[a];           \
                g[i * stride] = here[mirrored[a] * layout->plane - away];                         \
            }                                                                                     \
        }                                                                                         \
    }
    LBM_DIAGONALS(MIRROR)
#undef MIRROR
}

/* Puts in its place what comes to a boundary cell by links: g[i * stride] for direction i, where
 * what is pulled is already. What the links of the next row will need, mostly the same, is asked
 * for. */
SEL_INLINE void LBM_NAME(meet)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                               REAL *g, int64_t stride) {
    const lbm_layout *layout = &step->layout;
    const REAL *here = (const REAL *)step->from + lbm_row_offset(layout, row) + cell->x;
    int64_t link = cell->first_link;
#define BOUNCE(i, ex, ey, ez, opposite, weight)                                 \
    if (cell->links >> i & 1u) {                                                \
        const REAL *sent = here + opposite * layout->plane;                     \
        const bool bounced = cell->bounced >> i & 1u;                           \
        g[i * stride] = bounced ? *sent + (REAL)step->link_add[link] : (REAL)0; \
        __builtin_prefetch(sent + layout->pitch);                               \
        link++;                                                                 \
    }
    LBM_DIRECTIONS(BOUNCE)
#undef BOUNCE
    if (cell->mirrored[0] | cell->mirrored[1] | cell->mirrored[2]) {
        LBM_NAME(mirror)(layout, cell, here, g, stride);
    }
    if (cell->opening != LBM_CLOSED) {
        const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, row);
        REAL all[LBM_Q];
        for (int i = 0; i < LBM_Q; i++) {
            all[i] = g[i * stride];
        }
        LBM_NAME(close)(step, cell, row, &rates, all);
        for (int i = 0; i < LBM_Q; i++) {
            g[i * stride] = all[i];
        }
    }
}

static void LBM_NAME(pull)(const lbm_step *step, int64_t x, int64_t row, double *g) {
    const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, x);
    LBM_DIRECTIONS(SOURCE)
#define LOAD(i, ex, ey, ez, opposite, weight) g[i] = (double)*from##i;
    LBM_DIRECTIONS(LOAD)
#undef LOAD
}

static void LBM_NAME(arrive)(const lbm_step *step, int64_t row, const lbm_boundary_cell *cell,
                             double *own, double *g) {
    const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, cell->x);
    REAL come[LBM_Q];
    LBM_DIRECTIONS(SOURCE)
#define LOAD(i, ex, ey, ez, opposite, weight) come[i] = *from##i;
    LBM_DIRECTIONS(LOAD)
#undef LOAD
    LBM_NAME(meet)(step, cell, row, come, 1);
    for (int i = 0; i < LBM_Q; i++) {
        own[i] = (double)source.from[i * source.plane];
        g[i] = (double)come[i];
    }
}
