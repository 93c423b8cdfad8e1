/* lbm_kernel.h -- the inner loops of the CPU backend, as one table per processor level. */
#ifndef LBM_KERNEL_H
#define LBM_KERNEL_H

#include "engine/lbm/lbm.h"

/* Where populations are: f[i][y][x] at i * plane + y * pitch + x for -1 <= x <= nx, -1 <= y <= ny,
 * in numbers of the run's precision; x = -1 and x = nx are the halo of the row. */
typedef struct lbm_layout {
    int64_t nx, ny, pitch, plane;
} lbm_layout;

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
    int collision;
    lbm_forcing forcing;
    double omega_even, omega_odd, tau, magic, eddy;
    double acceleration[2];
    const void *acceleration_field; /* [2][ny][nx] in the run's precision */
    const lbm_boundary *boundary;
    const double *link_add, *open_value; /* see lbm_batches_apply */
    double *link_flow;                   /* adds up the mass that leaves by each link, or NULL */
} lbm_step;

/* Streams and collides the cells x0 <= x < x1 of a row as if all their neighbours were fluid. */
typedef void (*lbm_bulk)(const lbm_step *step, int64_t y, int64_t x0, int64_t x1);
/* Streams, closes and collides the boundary cells of a row; overwrites what lbm_bulk stored. */
typedef void (*lbm_edge)(const lbm_step *step, int64_t y);
/* Density deviation and momentum per density of x0 <= x < x1 from stored populations, lattice
 * units. */
typedef void (*lbm_read)(const lbm_layout *layout, const void *f, int64_t y, int64_t x0, int64_t x1,
                         double *drho, double *ux, double *uy);
/* Stores the populations g of one cell. */
typedef void (*lbm_write)(const lbm_layout *layout, void *f, int64_t x, int64_t y,
                          const double g[9]);

/* What came in the step to a free cell that is no boundary cell, before it is collided. */
typedef void (*lbm_pull)(const lbm_step *step, int64_t x, int64_t y, double g[9]);
/* What a boundary cell sent along each direction in the step, and what came, closed, before it is
 * collided. */
typedef void (*lbm_arrive)(const lbm_step *step, int64_t y, const lbm_boundary_cell *cell,
                           double own[9], double g[9]);

/* The loops for one precision; [collision][forcing][1 with Smagorinsky's model]. */
typedef struct lbm_loops {
    lbm_bulk bulk[LBM_COLLISIONS][LBM_FORCINGS][2];
    lbm_edge edge;
    lbm_read read;
    lbm_write write;
    lbm_pull pull;
    lbm_arrive arrive;
} lbm_loops;

typedef struct lbm_kernels {
    const char *level;  /* "x86-64-v3" */
    lbm_loops loops[2]; /* SEL_F32, SEL_F64 */
} lbm_kernels;

/* The tables that this processor can run, best first; NULL after the last. The results are the
 * same to the last bit. */
const lbm_kernels *lbm_kernels_usable(int index);

#endif
