/* lbm_scatter.h -- populations from stored moments on the CPU, row by row, in scratch of a thread.
 *
 * Re-includable behind lbm_collision.h, with the same macros. A thread computes rows of cells in
 * the order of y. Row y pulls direction i from row y - ey of plane z - ez, so when the thread comes
 * to row y it makes populations of the moments of the rows y + 1 of three planes, and stores them
 * where they are pulled:
 *
 *     moments                           scratch: three rows of populations, in turns
 *     row y + 1 of plane z - 1   ez = 1     ----\    row y      (ey = -1)   then complete
 *     row y + 1 of plane z       ez = 0     ------>   row y + 1  (ey =  0)
 *     row y + 1 of plane z + 1   ez = -1    ----/    row y + 2  (ey =  1)
 *
 * Each population is made once, and the moments of a row are read for three planes, from the cache.
 * The hybrid operator also needs the velocities of the rows about a row, which are kept alike.
 */
#include "engine/solvers/lbm/lbm_cpu.h"

/* The velocities of a row and the rows about it at the start of the step: component a of cell k of
 * the row below along y at row[LBM_BELOW_Y][a * plane + k], and so on. */
typedef struct LBM_NAME(lbm_around) {
    const REAL *row[LBM_AROUND];
    int64_t plane;
} LBM_NAME(lbm_around);

/* The populations that the cells of a row gather. */
typedef struct LBM_NAME(lbm_source) {
    const REAL *from;                  /* the first cell, direction 0 */
    int64_t plane, slice, pitch, cell; /* strides: of the directions, along z, y and x */
    LBM_NAME(lbm_around) around;       /* from the first cell on; for the hybrid operator */
} LBM_NAME(lbm_source);

/* Numbers of a row in scratch; a line before and behind those of the row with its halo. */
SEL_INLINE int64_t LBM_NAME(scratch_pitch)(const lbm_step *step) {
    enum { LINE = 64 / sizeof(REAL) };
    return (step->layout.nx + 2 + LINE - 1) / LINE * LINE + 2 * LINE;
}

/* The cell x = 0 of the populations that row y gathers, direction 0. */
SEL_INLINE REAL *LBM_NAME(scratch_row)(const lbm_step *step, int64_t y) {
    const int64_t pitch = LBM_NAME(scratch_pitch)(step);
    return (REAL *)step->scratch->room + (y + 3) % 3 * LBM_Q * pitch + 64 / (int64_t)sizeof(REAL);
}

/* The same of the velocities of row y in plane z + dz. */
SEL_INLINE REAL *LBM_NAME(scratch_velocity)(const lbm_step *step, int64_t y, int dz) {
    const int64_t pitch = LBM_NAME(scratch_pitch)(step);
    return (REAL *)step->scratch->room + 3 * LBM_Q * pitch +
           ((dz + 1) * 3 + (y + 3) % 3) * LBM_DIMS * pitch + 64 / (int64_t)sizeof(REAL);
}

/* Makes populations of the moments of row y in plane z + dz, those with ez = -dz, which move to the
 * rows that are computed. */
SEL_INLINE void LBM_NAME(scatter_row)(const lbm_step *step, int64_t row, int64_t y, int dz,
                                      bool recursive) {
    const lbm_layout *layout = &step->layout;
    const int64_t plane = layout->plane, pitch = LBM_NAME(scratch_pitch)(step);
    const int64_t there = row / layout->ny * layout->slice + y * layout->pitch + dz * layout->slice;
    const REAL *from = (const REAL *)step->from + there;
    REAL *below = LBM_NAME(scratch_row)(step, y - 1), *here = LBM_NAME(scratch_row)(step, y);
    REAL *above = LBM_NAME(scratch_row)(step, y + 1);
    REAL *velocity = LBM_NAME(scratch_velocity)(step, y, dz);
    const int64_t last = step->collision == LBM_HYBRID ? layout->nx : -2;
    SEL_INDEPENDENT
    for (int64_t k = -1; k <= layout->nx; k++) {
        const LBM_NAME(lbm_cell_moments) m = LBM_NAME(lbm_get_moments)(from + k, plane);
        REAL g[LBM_Q];
        LBM_NAME(lbm_of_moments)(&m, recursive, g);
#define SCATTER(i, ex, ey, ez, opposite, weight)                            \
    if ((ez) == -dz) {                                                      \
        ((ey) > 0 ? above : (ey) < 0 ? below : here)[i * pitch + k] = g[i]; \
    }
        LBM_DIRECTIONS(SCATTER)
#undef SCATTER
    }
    SEL_INDEPENDENT
    for (int64_t k = -1; k <= last; k++) {
        const REAL per_rho = (REAL)1 / ((REAL)1 + from[k]);
#define VELOCITY(axis, sum) velocity[axis * pitch + k] = from[(1 + axis) * plane + k] * per_rho;
        LBM_AXES(VELOCITY)
#undef VELOCITY
    }
}

__attribute__((noinline, unused)) static void LBM_NAME(scatter_planes)(const lbm_step *step,
                                                                       int64_t row, int64_t y) {
    LBM_NAME(scatter_row)(step, row, y, 0, false);
    if (LBM_DIMS == 3) {
        LBM_NAME(scatter_row)(step, row, y, -1, false);
        LBM_NAME(scatter_row)(step, row, y, 1, false);
    }
}

__attribute__((noinline, unused)) static void
LBM_NAME(scatter_planes_recursive)(const lbm_step *step, int64_t row, int64_t y) {
    LBM_NAME(scatter_row)(step, row, y, 0, true);
    if (LBM_DIMS == 3) {
        LBM_NAME(scatter_row)(step, row, y, -1, true);
        LBM_NAME(scatter_row)(step, row, y, 1, true);
    }
}

/* Makes all populations that a row gathers; those of the row before it may be there. */
SEL_INLINE void LBM_NAME(scatter_around)(const lbm_step *step, int64_t row) {
    const int64_t y = row % step->layout.ny;
    const bool follows = step->scratch->row == row - 1 && y > 0;
    for (int64_t at = follows ? y + 1 : y - 1; at <= y + 1; at++) {
        if (LBM_NAME(lbm_is_recursive)(step->collision)) {
            LBM_NAME(scatter_planes_recursive)(step, row, at);
        } else {
            LBM_NAME(scatter_planes)(step, row, at);
        }
    }
    step->scratch->row = row;
}

/* The source of the cells from x on of the row for which scatter_around has been called. */
SEL_INLINE LBM_NAME(lbm_source) LBM_NAME(scattered)(const lbm_step *step, int64_t row, int64_t x) {
    const int64_t y = row % step->layout.ny, pitch = LBM_NAME(scratch_pitch)(step);
    const REAL *here = LBM_NAME(scratch_velocity)(step, y, 0) + x;
    return (LBM_NAME(lbm_source)){
        .from = LBM_NAME(scratch_row)(step, y) + x,
        .plane = pitch,
        .cell = 1,
        .around = {.row = {[LBM_HERE] = here,
                           [LBM_BELOW_Y] = LBM_NAME(scratch_velocity)(step, y - 1, 0) + x,
                           [LBM_ABOVE_Y] = LBM_NAME(scratch_velocity)(step, y + 1, 0) + x,
                           [LBM_BELOW_Z] = LBM_NAME(scratch_velocity)(step, y, -1) + x,
                           [LBM_ABOVE_Z] = LBM_NAME(scratch_velocity)(step, y, 1) + x},
                   .plane = pitch}};
}

/* The differences of the velocities around cell k. */
SEL_INLINE void LBM_NAME(differences_between)(const LBM_NAME(lbm_around) * around, int64_t k,
                                              REAL to[LBM_DIFFERENCES]) {
    const int64_t plane = around->plane;
#define BETWEEN(a, b)                                                                          \
    ((b) == 0                                                                                  \
         ? around->row[LBM_HERE][(a)*plane + k + 1] - around->row[LBM_HERE][(a)*plane + k - 1] \
     : (b) == 1                                                                                \
         ? around->row[LBM_ABOVE_Y][(a)*plane + k] - around->row[LBM_BELOW_Y][(a)*plane + k]   \
         : around->row[LBM_ABOVE_Z][(a)*plane + k] - around->row[LBM_BELOW_Z][(a)*plane + k])
#define STRAIN(part, a, b, sum) \
    to[part] =                  \
        (REAL)(a == b ? 0.5 : 0.25) * (a == b ? BETWEEN(a, a) : BETWEEN(a, b) + BETWEEN(b, a));
    LBM_TENSOR(STRAIN)
#undef STRAIN
#undef BETWEEN
#define PRODUCT(at, a, b, x) (around->row[at][(a)*plane + (x)] * around->row[at][(b)*plane + (x)])
#define FLUX(part, a, b, along)                                                            \
    to[LBM_PARTS + (part)] =                                                               \
        ((along) == 0   ? PRODUCT(LBM_HERE, a, b, k + 1) + PRODUCT(LBM_HERE, a, b, k - 1)  \
         : (along) == 1 ? PRODUCT(LBM_ABOVE_Y, a, b, k) + PRODUCT(LBM_BELOW_Y, a, b, k)    \
                        : PRODUCT(LBM_ABOVE_Z, a, b, k) + PRODUCT(LBM_BELOW_Z, a, b, k)) - \
        2 * PRODUCT(LBM_HERE, a, b, k);
    LBM_FLUXES(FLUX)
#undef FLUX
#undef PRODUCT
}
