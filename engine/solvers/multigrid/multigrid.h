/* multigrid.h -- geometric multigrid: A e = f for A = -div(k grad) + mass on the cells or nodes of
 * a box, with surfaces, solids and coefficients that vary.
 *
 * A level is a grid; the next one has half the cells along the axes along which neighbours are
 * coupled most, down to a single cell. A cycle smooths by red-black Gauss-Seidel, takes the
 * residual to the next level, solves there by the same means, and adds the correction by linear
 * interpolation (A. Brandt, Math. Comp. 31, 1977). Unknowns are corrections: e is 0 beyond fixed
 * surfaces, whose values stand in f.
 *
 * Bodies that jump (coefficients of neighbours differ by more than MG_JUMP) need a cycle that is a
 * symmetric positive definite preconditioner of conjugate gradients: corrections are constant on
 * the cells of a coarser one, residuals are summed over them (transposes of each other), sweeps
 * after a correction go through the colours in the reverse order, without over-relaxation. Coarse
 * couplings are those of the faces, halved: constants overestimate the energy of smooth corrections
 * by 2 (D. Braess, Computing 55, 1995).
 *
 * Even bodies (one k per axis, no solids, one law per face) are tensor products: their coefficients
 * are tables along the axes. Others have a coefficient for each face of a cell. Rows of A are those
 * of the finite volumes, divided by the volume of even bodies' cells, or by that of a whole cell.
 */
#ifndef MULTIGRID_H
#define MULTIGRID_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/core/halo.h"
#include "engine/scene/grid.h"

enum { MG_MOST_LEVELS = 40 };
/* Cycles of a solution, unless a script says more; of bodies that jump. */
enum { MG_MOST_CYCLES = 100, MG_MOST_CYCLES_OF_JUMPS = 1000 };
/* Levels of at most MG_ALONE cells are computed by one thread, and by every rank rather than
 * divided: an exchange would take longer. MG_ALONE_ON_DEVICE: the same for ranks with devices. */
enum { MG_ALONE = 1 << 13 };
#ifndef MG_ALONE_ON_DEVICE
#define MG_ALONE_ON_DEVICE (1 << 21)
#endif
/* Over-relaxation of the smoother on levels of which all axes are halved: a cycle leaves half as
 * much of the residual as with 1 (I. Yavneh, SIAM J. Sci. Comput. 17, 1996). */
#define MG_OMEGA 1.16
/* Coefficients of neighbours that differ by more than this factor. */
#define MG_JUMP 30.0
/* A full cycle begins on the first level of at most MG_FEW cells. */
enum { MG_FEW = 64 * 64 };

/* Tables along an axis: couplings of cell i to i - 1 and i + 1, its part of the diagonal; weights
 * of the corrections of the coarser cell that it belongs to and of the other one beside it; and,
 * three for each coarser cell, of residuals of the cells 2 i - 1 ... 2 i + 1. */
enum { MG_LOW, MG_HIGH, MG_MIDDLE, MG_OWN, MG_OTHER, MG_RESIDUAL, MG_TABLES };

/* Pointers lead to cell (0, 0, 0). Around the cells is a halo of one: zero, or periodic images.
 *
 * Fine levels are divided as the grid is: a rank computes the cells (or nodes) of its patch. The
 * halo beyond an end beside another rank is MG_HALO planes and rows deep. Each sweep consumes one,
 * so that MG_HALO sweeps run per exchange. Coarse levels are replicated: every rank computes all of
 * their cells; of the finest of these it restricts the residual to its patch only. */
enum { MG_BELOW = 1, MG_ABOVE = 2 };
enum { MG_HALO = 6, MG_ALIGNED = 16 /* elements to which rows are aligned */ };
typedef struct mg_level {
    int64_t n[3], stride[3];
    int64_t first, elements; /* of the arrays: of cell (0, 0, 0), and all */
    int64_t lead;            /* elements of a plane before its cell (0, 0) */
    sel_patch own;
    bool divided;
    uint8_t sides[3]; /* by axis, MG_BELOW and MG_ABOVE: where other ranks have the cells beyond the
                         patch; 0: the level is not divided along the axis */
    int half[3];      /* 1: the next level has half the cells along the axis */
    double omega;     /* of sweeps: MG_OMEGA or 1 */
    void *e, *f, *before; /* before: e without the next level's corrections, if kept apart */
    void *table[3][MG_TABLES];
    void *g[3], *d; /* of bodies that are not even: of low faces, and the diagonal; 0: e is not
                       sought in this cell */
} mg_level;

/* What is solved. */
typedef struct mg_box {
    int dims;
    bool nodes, even;
    bool single;     /* cycles are in single precision */
    bool conjugate;  /* corrections are directions of conjugate gradients (mg_solve.h) */
    double contrast; /* the largest ratio of coefficients of neighbours */
    unsigned periodic;
    int64_t n[3];
    double dx[3];
    /* Of even bodies: */
    double k[3], mass;
    double h[SEL_FACES]; /* conductance from outside to the face: infinite on fixed ones */
} mg_box;

typedef struct mg {
    mg_box box;
    int count;
    mg_level level[MG_MOST_LEVELS];
    const sel_ranks *ranks;
    sel_decomposition decomposition; /* of the first level that is not divided */
    /* Memory of all levels. */
    void *e, *f, *before, *tables, *g[3], *d;
    /* The finest level's in double precision, for residuals: [n]; and `part`, that of a cell's
     * volume inside, 0 where e is not sought. */
    double *low[3], *high[3], *middle[3], *part[3];
    double *outer;   /* their memory */
    double *scratch; /* on the processor, mg_scratch of each thread */
    double norm;     /* the largest sum of the magnitudes of a row of A */
} mg;

static inline bool mg_jumps(const mg_box *box) {
    return box->contrast > MG_JUMP;
}

static inline int64_t mg_most_cycles(const mg_box *box) {
    return mg_jumps(box) ? MG_MOST_CYCLES_OF_JUMPS : MG_MOST_CYCLES;
}

/* Describes the levels of a box and lists their arrays, without memory. threads: those of cycles on
 * the CPU; 0: cycles run on a device. */
void mg_list(mg *m, const mg_box *box, int threads, sel_arrays *arrays);

/* Coefficients of a body that is not even, in rows of cells: K of the low face of a cell, in whole
 * cells' volumes, and conductances to surfaces, of which those that are `far` double their
 * resistance with the distance. seeks: e is sought in this cell. */
typedef struct mg_cell {
    double K[3], near, far;
    bool seeks;
} mg_cell;
typedef void mg_describe(const void *data, int64_t cell, mg_cell *to);

/* Fills the tables and coefficients, wherever the arrays are, when these have been allocated. */
sel_status mg_start(mg *m, const sel_arrays *arrays, mg_describe *describe, const void *data,
                    int threads, sel_error *error);

/* ---- planes of ranks ---- */

/* Divides the levels as `arrays` are, or none. A device does not exchange planes within sweeps:
 * levels on which two planes of one colour are neighbours (mg_meets) are not divided there. Each
 * rank must have MG_HALO planes of the first level, and rows where these are divided. */
void mg_divide(mg *m, const sel_arrays *arrays, bool device);

/* On a device the rows of a rank begin at a multiple of MG_DEVICE_ROWS, its planes at one of
 * mg_device_planes: a partial sum is of that many. */
enum { MG_DEVICE_ROWS = 8 };
static inline int mg_device_planes(const int64_t n[3]) {
    const bool large = n[0] * n[1] * n[2] > 1 << 22, tall = n[1] >= 1 << 18 || n[2] >= 1 << 18;
    return large || tall ? 32 : 4;
}

/* Sends what ranks have computed in their own cells to the others. Of a divided level these are
 * `planes` planes or rows at each end; of the first replicated level, all. `array` points to cell
 * (0, 0, 0). */
void mg_spread(const mg *m, int level, void *array, int size, int planes);
/* The halo of a divided level along an axis, `depth` cells deep. */
sel_halo mg_level_halo(const mg *m, const mg_level *v, int axis, void *array, int size, int depth);
/* The parts of ranks of the first level that is not divided, where they lie in an array (that
 * leads to cell (0, 0, 0)) or, of boxes, one behind the other: where each ends, in bytes; and its
 * planes, which have `width` bytes each, `apart` bytes from one another. */
void mg_ends_of_ranks(const mg *m, const mg_level *v, int size, size_t *end);
typedef struct mg_part {
    void *at;
    size_t width, apart;
    int64_t planes;
} mg_part;
mg_part mg_part_of(const mg *m, const mg_level *v, int rank, void *array, int size);

/* The cells of a level that this rank computes, with `more` cells of each neighbouring rank. */
static inline sel_patch mg_patch(const mg_level *v, int more) {
    sel_patch patch;
    for (int a = 0; a < 3; a++) {
        patch.lo[a] = v->divided ? v->own.lo[a] - (v->sides[a] & MG_BELOW ? more : 0) : 0;
        patch.hi[a] = v->divided ? v->own.hi[a] + (v->sides[a] & MG_ABOVE ? more : 0) : v->n[a];
    }
    return patch;
}

/* Whether the first and the last cell along a divided axis, which are neighbours, are of one
 * colour. */
static inline bool mg_meets(const mg *m, const mg_level *v) {
    bool meet = false;
    for (int a = 0; a < m->box.dims; a++) {
        meet = meet || (v->sides[a] && m->box.periodic >> a & 1u && v->n[a] % 2);
    }
    return meet;
}

/* Bytes that a rank sends and receives for a cycle, or for a sweep. */
uint64_t mg_halo_bytes(const mg *m, bool cycle);

/* The plane or row of n of which i is one, or an image beyond an end. */
static inline int64_t mg_image(int64_t i, int64_t n) {
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* ---- on the processor ---- */

/* e = about A^-1 f: a V-cycle with two sweeps before and after each correction; `full`: a full
 * multigrid cycle, which begins on a coarse level. f is kept on the finest level. */
void mg_cycle(const mg *m, bool full, int threads);

/* e = what a red-black sweep makes of 0. */
void mg_sweep(const mg *m, double omega, int threads);

/* A vector of the finest level in double precision, without a halo but for a plane or row of each
 * rank beside: cell (x, y, z) is element x + y stride[1] + z stride[2]. */
typedef struct mg_vector {
    double *v;
    const int64_t *stride;
} mg_vector;

/* Work on rows of cells of a level in passes. Each pass follows the one before at a distance of a
 * row (in 3-D a plane), and so finds what it reads in the cache: its neighbours, the last pass up
 * to three rows behind. The last pass is done in `more` planes and rows beyond this rank's own, the
 * one before in one more, and so on. wraps: passes change e, whose periodic images follow. */
typedef void mg_work(void *data, int pass, int64_t y, int64_t z, double *scratch);
void mg_pass(const mg *m, int level, int count, int more, bool wraps, mg_work *work, void *data,
             int threads);

/* Work on rows. */
typedef struct mg_loops {
    void (*relax)(const mg *m, int level, int colour, double omega, int64_t y, int64_t z);
    void (*take_residual)(const mg *m, int level, int64_t y, int64_t z, void *scratch);
    void (*correct)(const mg *m, int level, int64_t y, int64_t z, void *scratch);
    /* f = F - A u, 0 where e is not sought. sums: of squares of f and u (of bodies that jump, of u
     * times the diagonal), and of u, by volume. */
    void (*residual)(const mg *m, mg_vector u, const double *F, int64_t y, int64_t z,
                     double *scratch, double sums[3]);
    /* p = e + beta p in a row, and q = A p in another. sums: p q and p f. */
    void (*direct)(const mg *m, mg_vector p, double beta, int64_t y, int64_t z);
    void (*apply)(const mg *m, mg_vector p, double *q, int64_t y, int64_t z, double *scratch,
                  double sums[2]);
    /* The sum of e q. */
    double (*dot)(const mg *m, const double *q, int64_t y, int64_t z, double *scratch);
    /* e = f over the diagonal. */
    void (*divide)(const mg *m, int64_t y, int64_t z);
    /* to = u + alpha e - shift, or with p instead of e; where e is sought. */
    void (*add)(const mg *m, mg_vector u, const double *p, double alpha, double shift, double *to,
                int64_t y, int64_t z, double *scratch);
} mg_loops;

const mg_loops *mg_loops_of(const mg *m);

static inline bool mg_is_coarse(const mg *m, int level) {
    const int64_t *n = m->level[level].n;
    return n[0] * n[1] * n[2] <= MG_FEW;
}

/* Doubles of scratch for a thread. */
static inline int64_t mg_scratch(const mg *m) {
    return 3 * (m->box.n[0] + 4);
}

#endif
