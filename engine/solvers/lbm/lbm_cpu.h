/* lbm_cpu.h -- the CPU backend: its state, and its inner loops as one table per processor level. */
#ifndef LBM_CPU_H
#define LBM_CPU_H

#include "engine/solvers/lbm/lbm_state.h"
#include "engine/core/cpu.h"

/* ---- loops ---- */

/* Where populations are: f[i][z][y][x] at i * plane + z * slice + y * pitch + x for -1 <= x <= nx,
 * -1 <= y <= ny and in 3-D -1 <= z <= nz, in numbers of the run's precision; x = -1, which begins a
 * cache line, and x = nx are the halo of the row. Rows of cells are numbered y + ny z. */
typedef struct lbm_layout {
    int64_t nx, ny, nz, pitch, slice, plane;
} lbm_layout;

/* The offset of the first cell of a row. */
static inline int64_t lbm_row_offset(const lbm_layout *layout, int64_t row) {
    return row / layout->ny * layout->slice + row % layout->ny * layout->pitch;
}

/* The body force of a step, which selects the loop over its cells. */
typedef enum lbm_forcing {
    LBM_NO_FORCE,
    LBM_UNIFORM_FORCE,
    LBM_FORCE_FIELD,
    LBM_FORCINGS
} lbm_forcing;

/* What an observed step stores of its populations before collision, and where; NULL: not wanted. */
typedef struct lbm_observed {
    void *links, *link_gain; /* as in lbm_state */
    bool links_follow;
    bool strains;          /* any of */
    double *const *strain; /* as lbm_state.strain, at cell (0, 0, 0) */
    const sel_layout *strain_layout;
    lbm_units units;
} lbm_observed;

/* A row of cells and its neighbours. */
enum { LBM_HERE, LBM_BELOW_Y, LBM_ABOVE_Y, LBM_BELOW_Z, LBM_ABOVE_Z, LBM_AROUND };

/* Populations that a thread makes of stored moments (lbm_scatter.h). */
typedef struct lbm_scratch {
    void *room;
    int64_t row; /* for which it was used last; -2: none */
} lbm_scratch;

/* One step from one copy of the cells' components, populations or moments, to the other. */
typedef struct lbm_step {
    lbm_layout layout;
    const void *from; /* the cell (0, 0) of component 0 */
    void *to;
    bool moments; /* are stored */
    int components;
    lbm_scratch *scratch; /* of the thread, for moments */
    bool streams;         /* store past the caches: for grids that they do not hold */
    bool wraps;           /* periodic in x, with rows of more than a cache line */
    int collision;
    lbm_forcing forcing;
    const lbm_numbers *numbers;
    const double *acceleration, *acceleration_before; /* uniform: of this step and the one before */
    const void *acceleration_field;                   /* in the run's precision */
    const sel_layout *acceleration_layout;            /* of this field */
    const lbm_boundary *boundary;
    const double *link_add, *open_value; /* see lbm_values */
    int64_t *gain;                       /* adds up what closed regions gain, or NULL */
    double *link_flow;                   /* adds up the mass that leaves by each link, or NULL */
    const lbm_sponge *sponge;
    int64_t *sponge_gain; /* adds up what its cells gain, or NULL */
    lbm_observed observed;
} lbm_step;

/* Whether the sweep also stores x = -1 and x = nx of a row, which spares reading its ends again:
 * where all cells are free and none is a boundary cell. */
static inline bool lbm_row_wraps(const lbm_step *step, int64_t row) {
    const lbm_boundary *boundary = step->boundary;
    const lbm_span *span = &boundary->spans[boundary->row_spans[row]];
    return step->wraps && boundary->row_cells[row] == boundary->row_cells[row + 1] &&
           boundary->row_spans[row + 1] - boundary->row_spans[row] == 1 && span->x0 == 0 &&
           span->x1 == step->layout.nx;
}

/* The loops for one lattice and precision. */
typedef struct lbm_loops {
    /* Streams, closes and collides the free cells of a row, and stores what is observed. [1] of the
     * storages: of moments; last [1]: with Smagorinsky's model. */
    void (*sweep[2][LBM_COLLISIONS][LBM_FORCINGS][2])(const lbm_step *step, int64_t row);
    /* Brings the cells of the sponge in a row nearer to what it holds, after the sweep. */
    void (*sponge)(const lbm_step *step, int64_t row);
    /* Density deviation and momentum per density of x0 <= x < x1 from stored components, lattice
     * units: to[0][x - x0], and the components at to + stride, to + 2 stride, ... */
    void (*read)(const lbm_layout *layout, bool moments, const void *f, int64_t row, int64_t x0,
                 int64_t x1, double *to, int64_t stride);
    /* Stores the components of one cell. */
    void (*write)(const lbm_layout *layout, int components, void *f, int64_t x, int64_t row,
                  const double *values);
    /* The stored components of a cell of a smooth flow, in f64. */
    void (*start)(double drho, const double *u, const double *strain, double tau, const double *a,
                  int collision, bool moments, double *values);
} lbm_loops;

/* The loops of a plan's lattice and precision at the levels that this processor can run, best
 * first; NULL after the last (sel_level, engine/base/hardware.h). */
const lbm_loops *lbm_loops_usable(const lbm_plan *plan, int index);

/* ---- the state ---- */

enum {
    LBM_ROWS = 4 * LBM_AROUND + 6
}; /* of scratch per thread: moments of a window, and a field */

typedef struct lbm_cpu {
    lbm_state all; /* f: cell (0, 0) of direction 0 */
    const lbm_loops *loops;
    const lbm_lattice *lattice;
    lbm_layout layout; /* of the rank's patch with its halo */
    bool streams;      /* the populations are larger than the caches: store past them */
    double *rows;      /* per thread LBM_ROWS rows of numbers */
    void *scratch;     /* per thread scratch_bytes, for stored moments; NULL: populations are */
    int64_t scratch_bytes;

    lbm_forcing forcing;
    double *acceleration;        /* [3] uniform, lattice units: of the last collision */
    double *acceleration_before; /* [3] of the collision before that one */
} lbm_cpu;

/* The populations of the present step. */
static inline void *lbm_now(const lbm_cpu *state) {
    return state->all.f[state->all.base.field[0].present];
}

/* The acceleration of the last collision at cell x of a row of the patch or beside it, lattice
 * units. */
void lbm_acceleration_at(const lbm_cpu *state, int64_t x, int64_t row, double value[3]);

/* Copies the ends of a row to its halo, unless they are there already, and a row at the domain's
 * end to the halo rows, where these axes are periodic. */
void lbm_fill_halo(const lbm_cpu *state, void *f, int64_t row, bool ends);

/* The step from `step` to step + 1 of the rank's patch. */
lbm_step lbm_describe_step(const lbm_cpu *state, int64_t step);

/* Returns to closed regions what interpolated walls owe them, before the step from state->step on
 * (lbm_closed.h). All ranks must call it. */
void lbm_return_mass(lbm_cpu *state);

/* Sets the populations of step 0. */
sel_status lbm_set_initial(lbm_cpu *state, sel_error *error);

/* The sum of the density's deviation from rest over the free cells. */
double lbm_deviation(lbm_cpu *state);

/* Fills the strain of step 0, from differences of the velocity. */
void lbm_initial_strain(const lbm_cpu *state);

/* sel_cpu.look */
int lbm_cpu_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                  const double **values);
void lbm_cpu_main(const sel_state *base, int64_t row, sel_main_row *main);
sel_status lbm_cpu_other(sel_state *base, sel_request *request, sel_error *error);

#endif
