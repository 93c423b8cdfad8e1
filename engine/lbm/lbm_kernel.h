/* lbm_kernel.h -- the inner loops of the CPU backend, as one table per processor level. */
#ifndef LBM_KERNEL_H
#define LBM_KERNEL_H

#include "engine/lbm/lbm.h"

/* Where populations are: f[i][z][y][x] at i * plane + z * slice + y * pitch + x for -1 <= x <= nx,
 * -1 <= y <= ny and in 3-D -1 <= z <= nz, in numbers of the run's precision; x = -1, which begins a
 * cache line, and x = nx are the halo of the row. Rows of cells are numbered y + ny z. */
typedef struct lbm_layout {
    int64_t nx, ny, nz, pitch, slice, plane;
} lbm_layout;

/* Of the first cell of a row. */
static inline int64_t lbm_row_offset(const lbm_layout *layout, int64_t row) {
    return row / layout->ny * layout->slice + row % layout->ny * layout->pitch;
}

/* What a step does besides streaming: it picks the bulk loop. */
typedef enum lbm_forcing {
    LBM_NO_FORCE,
    LBM_UNIFORM_FORCE,
    LBM_FORCE_FIELD,
    LBM_FORCINGS
} lbm_forcing;

/* One step from one copy of the populations to the other. */
typedef struct lbm_step {
    lbm_layout layout;
    const void *from; /* the cell (0, 0) of direction 0 */
    void *to;
    bool streams; /* store past the caches: for grids that they do not hold */
    bool wraps;   /* periodic in x, with rows of more than a cache line */
    int collision;
    lbm_forcing forcing;
    double omega_even, omega_odd, tau, magic, eddy;
    double acceleration[3], acceleration_before[3]; /* uniform: of this step and the one before */
    const void *acceleration_field;                 /* [dims][nz][ny][nx] in the run's precision */
    const lbm_boundary *boundary;
    const double *link_add, *open_value; /* see lbm_batches_apply */
    double *link_flow;                   /* adds up the mass that leaves by each link, or NULL */
} lbm_step;

/* Whether the sweep leaves x = -1 and x = nx of the row as well, which spares reading the ends
 * again: where all cells are free and none is a boundary cell. */
static inline bool lbm_row_wraps(const lbm_step *step, int64_t row) {
    const lbm_boundary *boundary = step->boundary;
    const lbm_span *span = &boundary->spans[boundary->row_spans[row]];
    return step->wraps && boundary->row_cells[row] == boundary->row_cells[row + 1] &&
           boundary->row_spans[row + 1] - boundary->row_spans[row] == 1 && span->x0 == 0 &&
           span->x1 == step->layout.nx;
}

/* Streams, closes and collides the free cells of a row. */
typedef void (*lbm_sweep)(const lbm_step *step, int64_t row);
/* Density deviation and momentum per density of x0 <= x < x1 from stored populations, lattice
 * units: to[0][x - x0], and the components at to + stride, to + 2 stride, ... */
typedef void (*lbm_read)(const lbm_layout *layout, const void *f, int64_t row, int64_t x0,
                         int64_t x1, double *to, int64_t stride);
/* Stores the populations of one cell. */
typedef void (*lbm_write)(const lbm_layout *layout, void *f, int64_t x, int64_t row,
                          const double *g);

/* What came in the step to a free cell that is no boundary cell, before it is collided. */
typedef void (*lbm_pull)(const lbm_step *step, int64_t x, int64_t row, double *g);
/* What a boundary cell sent along each direction in the step, and what came, closed, before it is
 * collided. */
typedef void (*lbm_arrive)(const lbm_step *step, int64_t row, const lbm_boundary_cell *cell,
                           double *own, double *g);

/* What needs no loop: f64 functions of one cell, for initial states and fields. */
typedef struct lbm_cell_rules {
    /* stored populations of a smooth flow (see engine/physics/lbm_start.h) */
    void (*start)(double drho, const double *u, const double *strain, double tau, const double *a,
                  double *g);
    /* density deviation and velocity of populations before collision under the acceleration a */
    void (*moments)(const double *g, const double *a, double *drho, double *u);
    /* their non-equilibrium second moment; tau of the cell (Smagorinsky's, with eddy > 0) */
    double (*excess)(const double *g, const double *a, double tau, double eddy, double *q);
} lbm_cell_rules;

extern const lbm_cell_rules lbm_rules[LBM_LATTICES];

/* The loops for one lattice and precision; [collision][forcing][1 with Smagorinsky's model]. */
typedef struct lbm_loops {
    lbm_sweep sweep[LBM_COLLISIONS][LBM_FORCINGS][2];
    lbm_read read;
    lbm_write write;
    lbm_pull pull;
    lbm_arrive arrive;
} lbm_loops;

typedef struct lbm_kernels {
    const lbm_loops *loops[LBM_LATTICES]; /* [..][SEL_F32, SEL_F64] */
} lbm_kernels;

/* The tables that this processor can run, best first; NULL after the last (machine/levels.h). */
const lbm_kernels *lbm_kernels_usable(int index);

#endif
