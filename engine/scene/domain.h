/* domain.h -- a simulation's regions painted onto its cells and face sites. */
#ifndef SEL_DOMAIN_H
#define SEL_DOMAIN_H

#include "engine/scene/patch.h"
#include "engine/scene/simulation.h"

enum { SEL_REGION_NUMBERS = 256 };

/* A region without effect: other regions own every place that it painted, or the cells behind its
 * face sites are solid. */
typedef struct sel_lost_region {
    int number;
    bool painted_over;
    char *text; /* "all 32 sites of 'inlet' are painted over by 'walls' (channel.lua:12)" */
} sel_lost_region;

/* Region numbers are 1-based: 0 is the interior (cells) or unpainted (face sites). */
typedef struct sel_domain {
    sel_grid grid;
    uint8_t *cell;            /* [nz][ny][nx] region that makes the cell solid; 0: free.
                                 After sel_domain_keep: of some cells only */
    uint8_t *painted;         /* [nz][ny][nx] region that painted the cell, be it solid or free;
                                 NULL: all painted cells are solid */
    uint8_t *face[SEL_FACES]; /* [sites] region of the face's law; NULL on periodic axes */
    int64_t free_cells;       /* cells with cell[] == 0 */
    int64_t *free_at[3];      /* [n] free cells with each index along y, z; NULL: not counted */
    bool computed[SEL_REGION_NUMBERS]; /* by region: its cells are free (sel_solver.solid) */
    sel_region *regions;               /* the scenario's; then "nodata", if the data have gaps */
    int region_count;
    int nodata; /* number of the region "nodata"; 0: there is none */
    int lost_count;
    sel_lost_region lost[SEL_REGION_NUMBERS];
    /* by index of the simulation's controls; then that of sel_solver.drive */
    double *control_values;
    int control_count;
    /* Painting and evaluation are divided: rank r does the rows first_row[r] <= row < first_row[r +
     * 1]. `kept`: the rows of the planes whose values this rank needs. NULL: this process does all
     * rows. */
    const sel_ranks *ranks;
    int64_t first_row[SEL_MOST_RANKS + 1];
    sel_rows_range kept;
    sel_decomposition decomposition; /* with ranks, once it is known */
} sel_domain;

/* Paints all regions. Mistakes (a shape that paints nothing, a periodic face painted, a face site
 * that nothing painted, a law where it may not sit, more than 255 regions) are all reported. With
 * ranks (NULL: one process) each rank paints a part, and every rank gets the whole map. */
sel_status sel_domain_create(const sel_simulation *simulation, const sel_ranks *ranks,
                             sel_domain **domain, sel_error *error);
void sel_domain_destroy(sel_domain *domain);

/* The region that painted each cell, be it solid or free. */
static inline const uint8_t *sel_domain_painted(const sel_domain *domain) {
    return domain->painted ? domain->painted : domain->cell;
}

/* ---- collectives (domain_ranks.c): every rank must call them ---- */

/* Divides the rows of the domain among the ranks as a decomposition does (NULL: equal numbers of
 * planes). Patches with the same planes divide the rows of these planes evenly. One rank, ranks ==
 * NULL and more ranks than planes: each rank has all rows. */
void sel_domain_divide(sel_domain *domain, const sel_ranks *ranks,
                       const sel_decomposition *decomposition);

/* Ends the use of cell[] and painted[] but in the cells of a patch and those that steps, laws and
 * outputs look at about it: reading elsewhere ends the process (sel_machine_withdraw). Numbers of
 * cells stay those of the whole grid. */
void sel_domain_keep(sel_domain *domain, const sel_patch *patch);

/* The rows of this rank; the number of ranks. */
sel_rows_range sel_domain_own(const sel_domain *domain);
int sel_domain_ranks(const sel_domain *domain);

/* If any rank failed, every rank returns the status of the lowest failing rank and appends the
 * error `own` of that rank to `error`. */
sel_status sel_domain_agree(const sel_domain *domain, sel_status status, sel_error *own,
                            sel_error *error);

/* Allgather: each rank contributes its rows (`bytes` per row); afterwards every rank has the whole
 * array. */
void sel_domain_share(const sel_domain *domain, void *of_rows, size_t bytes);

/* Allgather of `bytes` bytes per rank: all[ranks][bytes]. */
void sel_domain_gather(const sel_domain *domain, const void *own, size_t bytes, void *all);

/* All-reduce: the sum, and the maximum. */
int64_t sel_domain_total(const sel_domain *domain, int64_t count);
double sel_domain_largest(const sel_domain *domain, double value);

/* All-reduce of `count` doubles, `apart` bytes from one to the next: the nonzero value wins. At
 * most one rank may have a nonzero value for each of them. */
void sel_domain_merge(const sel_domain *domain, double *v, int64_t count, size_t apart);

/* ---- places ---- */

/* The number of the cell at (x, y) of a plane domain, with periodic axes wrapped. -1: the cell is
 * not free, or lies outside. */
int64_t sel_free_cell(const sel_domain *domain, int64_t x, int64_t y);

/* Which values must be evaluated before the next step: those with SEL_ON_T always, those with
 * SEL_ON_CONTROLS if the controls differ from kept[control_count], which is updated. */
unsigned sel_domain_due(const sel_domain *domain, double *kept);

/* Stores the centres of the cells in the rows first <= row < end whose region is wanted (NULL: all
 * cells), in the user's units. Returns their number. */
int64_t sel_domain_places(const sel_domain *domain, int64_t first, int64_t end,
                          const bool wanted[SEL_REGION_NUMBERS], double *x, double *y, double *z);

/* n places in the domain (user's units) at the time t with the present controls. z is ignored in
 * 2-D. */
sel_places sel_domain_at(const sel_domain *domain, int64_t n, const double *x, const double *y,
                         const double *z, double t);

/* The evaluation of a quantity at the centres of cells. */
typedef struct sel_evaluation {
    const sel_quantity *quantity;
    const char *what; /* for messages */
    double t;
    const sel_random *random; /* for sel.random; NULL: sel.random must not be called */
    const bool *wanted; /* [SEL_REGION_NUMBERS]: evaluate cells of the region; NULL: free cells */
    bool gaps; /* give NaN where a raster has no data (one component only); false: fail there */
    int64_t first, end; /* rows first <= row < end, y + ny z; end == 0: all rows */
    int64_t apart;      /* row stride of `to`, in numbers; 0: components nx */
} sel_evaluation;

/* How many rows to evaluate at a time where their values are then stored otherwise: enough for the
 * threads, and few beside the memory of a state. */
int64_t sel_domain_rows_at_once(const sel_domain *domain, int threads);

/* Evaluates a quantity in parallel. Component c of cell x is stored at
 * to[(row - first) apart + c nx + x]; cells that are not wanted get 0. */
sel_status sel_domain_evaluate(const sel_domain *domain, const sel_evaluation *asked, int threads,
                               double *to, sel_error *error);

/* Evaluates a quantity in an array of the whole grid, [nz][ny][components][nx], which the caller
 * frees, also after a failure. A rank evaluates only the planes that it needs and their halo, and
 * touches no other pages of the array. asked.first, end and apart must be 0. */
sel_status sel_domain_numbers(const sel_domain *domain, sel_evaluation asked, int threads,
                              double **numbers, sel_error *error);

/* The name of a region for columns and messages: as given, or "region_K" in `text`. */
const char *sel_region_name(const sel_domain *domain, int number, char text[32]);

/* Why region `number` has no effect, in words; NULL: it has an effect. */
const char *sel_domain_lost(const sel_domain *domain, int number);

/* Appends a line for each periodic face at which a region is cut: its shape, without functions,
 * reaches over the face, and no region paints all of its image. */
void sel_domain_warn_of_seams(const sel_domain *domain, sel_error *warnings);

/* Appends a line for each region without effect, those of sel_domain_warn_of_seams, and what meshes
 * are warned of. */
void sel_domain_warn(const sel_domain *domain, sel_error *warnings);

/* ---- construction (regions.c) ---- */

/* Allocates the maps of cells and faces, unpainted, for the grid of the domain. */
sel_status sel_domain_allocate(sel_domain *domain, sel_error *error);
void sel_domain_free_maps(sel_domain *domain);

/* Checks the shape and the law of region `number` and paints it. */
sel_status sel_domain_paint(sel_domain *domain, const struct sel_solver *solver, int number,
                            int threads, sel_error *error);

/* A place in a script: the free cells of a shape, or one free cell. */
typedef struct sel_spot {
    const char *what; /* "source brook" */
    sel_where where;  /* in the script */
    const sel_point *point;
    const struct sel_shape *shape; /* NULL: the cell that contains the point */
} sel_spot;

/* Sets in[cell] = 1 in the free cells of a spot and counts them; fails if there are none. */
sel_status sel_domain_find(const sel_domain *domain, const sel_spot *spot, int threads, uint8_t *in,
                           int64_t *count, sel_error *error);

/* Lists in domain->lost the regions that painted something but own no cell and no site with a free
 * cell behind it. */
sel_status sel_domain_find_lost(sel_domain *domain, const struct sel_solver *solver, int threads,
                                sel_error *error);

/* ---- the marks of cells in .vti files ---- */

typedef struct sel_cell_marks {
    uint8_t *cell_type; /* the region that makes the cell solid or fixes its value; 0: free */
    uint8_t *solid;     /* 1: solid */
    uint8_t *boundary;  /* of a free cell on faces of the domain: the last painted of their regions;
                           0: elsewhere */
} sel_cell_marks;

/* Fills the marks of the cells of `box`. */
void sel_domain_cells(const sel_domain *domain, const sel_box *box, const sel_cell_marks *to);

/* ---- counts of cells by regions ---- */

/* A kind of cells: the free cells that touch the same faces of the domain, at face sites of the
 * same regions. */
typedef struct sel_cell_kind {
    uint8_t region[SEL_FACES]; /* of the face sites; 0: these cells do not touch the face */
    int axes;                  /* 0: interior, 1: face, 2: edge, 3: corner of a box */
    int place;                 /* a number for each face, edge and corner, in base 3 by axis */
    int64_t cells;
} sel_cell_kind;

typedef struct sel_census {
    int64_t cells[SEL_REGION_NUMBERS];            /* by region; cells[0]: free cells */
    int64_t sites[SEL_FACES][SEL_REGION_NUMBERS]; /* by region; 0 on periodic axes */
    int count;
    sel_cell_kind *kinds; /* sorted by axes, then by place */
} sel_census;

/* Counts the cells. Fails only without memory. Freed with sel_census_free, also after a failure. */
sel_status sel_census_take(const sel_domain *domain, sel_census *census, sel_error *error);
void sel_census_free(sel_census *census);

#endif
