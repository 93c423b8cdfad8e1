/* domain.h -- a simulation's regions painted onto its cells and face sites. */
#ifndef SEL_DOMAIN_H
#define SEL_DOMAIN_H

#include "engine/base/ranks.h"
#include "engine/scene/simulation.h"

enum { SEL_REGION_NUMBERS = 256 };

/* A region without effect: other regions own all that it painted, or the cells behind its sites are
 * solid. */
typedef struct sel_lost_region {
    int number;
    bool painted_over;
    char *text; /* "all 32 sites of 'inlet' are painted over by 'walls' (channel.lua:12)" */
} sel_lost_region;

/* Rows of cells first <= row < end, y + ny z. */
typedef struct sel_rows_range {
    int64_t first, end;
} sel_rows_range;

/* Number k of some rows, with those that lie together behind it, at most `most`. */
sel_rows_range sel_rows_together(const sel_rows *rows, int64_t k, int64_t most);

/* How ranks share out a grid: each has planes of the slowest axis and, in 3-D, all rows (y) of
 * these or some. Rank r is number r / across along the slowest axis and r % across along y. */
typedef struct sel_cut {
    int across, along;
    bool wraps[2];                     /* y, the slowest axis: it is periodic */
    int64_t row[SEL_MOST_RANKS + 1];   /* of a plane, the first of each across, and the end */
    int64_t plane[SEL_MOST_RANKS + 1]; /* the first of each along, and the end */
} sel_cut;
sel_rows sel_cut_rows(const sel_cut *cut, int rank);

/* Region numbers are 1-based: 0 is the interior (cells) or unpainted (face sites). */
typedef struct sel_domain {
    sel_grid grid;
    uint8_t *cell;            /* [nz][ny][nx] region of the volume law, 0: free */
    uint8_t *painted;         /* the same, also where a law leaves cells free; NULL: none does */
    uint8_t *face[SEL_FACES]; /* [sites] region of the face's law; NULL on periodic axes */
    int64_t free_cells;       /* cells with cell[] == 0 */
    sel_region *regions;      /* the scenario's; behind them "nodata" where the data have gaps */
    int region_count;
    int nodata; /* the number of that region; 0: there is none */
    int lost_count;
    sel_lost_region lost[SEL_REGION_NUMBERS];
    double *control_values; /* by index of the simulation's controls */
    int control_count;
    /* Who paints and evaluates it, rank r the rows first_row[r] <= row < first_row[r + 1], which
     * are some of the planes `kept` that it needs; NULL: this process does all of it. */
    const sel_ranks *ranks;
    int64_t first_row[SEL_MOST_RANKS + 1];
    sel_rows_range kept;
} sel_domain;

/* Paints all regions. Mistakes (a shape that paints nothing, a periodic face painted, a face site
 * that nothing painted, a law where it may not sit, more than 255 regions) are all reported. Of
 * several ranks (NULL: one) each paints a part, and all get the whole. */
sel_status sel_domain_create(const sel_simulation *simulation, const sel_ranks *ranks,
                             sel_domain **domain, sel_error *error);
void sel_domain_destroy(sel_domain *domain);

/* The region that painted each cell, be it solid or free. */
static inline const uint8_t *sel_domain_painted(const sel_domain *domain) {
    return domain->painted ? domain->painted : domain->cell;
}

/* ---- of several ranks (domain_ranks.c): all call these together ---- */

/* As ranks share out the grid (NULL: as many planes each); those that have rows of the same planes
 * share these out anew. Of one rank, NULL, and where there are more ranks than planes, each has
 * all. */
void sel_domain_divide(sel_domain *domain, const sel_ranks *ranks, const sel_cut *cut);

/* The rows of this rank, and how many ranks there are. */
sel_rows_range sel_domain_own(const sel_domain *domain);
int sel_domain_ranks(const sel_domain *domain);

/* What one rank has found in its rows is so for all: `own` of the first that failed is appended to
 * the error, as one rank would have found it. */
sel_status sel_domain_agree(const sel_domain *domain, sel_status status, sel_error *own,
                            sel_error *error);

/* All get all of an array of so many bytes per row, of which each has its rows; the bytes of each,
 * all[ranks][bytes]; the sum and the largest of all. */
void sel_domain_share(const sel_domain *domain, void *of_rows, size_t bytes);
void sel_domain_gather(const sel_domain *domain, const void *own, size_t bytes, void *all);
int64_t sel_domain_total(const sel_domain *domain, int64_t count);
double sel_domain_largest(const sel_domain *domain, double value);

/* `count` numbers, `apart` bytes from each other, each of which one rank knows, and others have 0
 * for it, become those of all. */
void sel_domain_merge(const sel_domain *domain, double *v, int64_t count, size_t apart);

/* ---- places ---- */

/* The number of the free cell at (x, y) of a plane with periodic axes wrapped; -1: there is none.
 */
int64_t sel_free_cell(const sel_domain *domain, int64_t x, int64_t y);

/* What values depend on that are to be evaluated again before the next step: SEL_ON_T, with
 * SEL_ON_CONTROLS when controls differ from those in `kept` [control_count], which is updated. */
unsigned sel_domain_due(const sel_domain *domain, double *kept);

/* Centres of the cells of rows first <= row < end (row = y + ny z) whose regions are wanted (NULL:
 * all), one behind the other; returns how many. */
int64_t sel_domain_places(const sel_domain *domain, int64_t first, int64_t end,
                          const bool wanted[SEL_REGION_NUMBERS], double *x, double *y, double *z);

/* Places of the domain, user's units, at the time t, with the present controls; z is left out in
 * 2-D. */
sel_places sel_domain_at(const sel_domain *domain, int64_t n, const double *x, const double *y,
                         const double *z, double t);

/* A quantity that is to be evaluated at the centres of cells. */
typedef struct sel_evaluation {
    const sel_quantity *quantity;
    const char *what; /* for messages */
    double t;
    const sel_random *random; /* of sel.random; NULL: it may not be called */
    const bool *wanted; /* [SEL_REGION_NUMBERS], by the region of a cell; NULL: free cells only */
    bool gaps; /* of one component: NaN where it reads a raster without data; else that fails */
    int64_t first, end; /* rows first <= row < end, y + ny z; end == 0: all */
    int64_t apart;      /* numbers from a row of `to` to the next; 0: components nx */
} sel_evaluation;

/* Evaluates it, some rows at a time by each thread: component c of cell x at
 * to[(row - first) apart + c nx + x]; 0 in cells that are not wanted. */
sel_status sel_domain_evaluate(const sel_domain *domain, const sel_evaluation *asked, int threads,
                               double *to, sel_error *error);

/* The same in rows 0 to ny nz, in memory to be freed by the caller, also after a failure. Of
 * several ranks each evaluates the planes that it needs and some beside them, and no memory is
 * taken for others: `first`, `end` and `apart` are not to be given. */
sel_status sel_domain_numbers(const sel_domain *domain, sel_evaluation asked, int threads,
                              double **numbers, sel_error *error);

/* Name of a region for columns and messages: its own, or "region_K". `text` holds the latter. */
const char *sel_region_name(const sel_domain *domain, int number, char text[32]);

/* Why region `number` has no effect, in words; NULL: it has one. */
const char *sel_domain_lost(const sel_domain *domain, int number);

/* Appends a line for each region without effect. */
void sel_domain_warn(const sel_domain *domain, sel_error *warnings);

/* ---- construction (regions.c) ---- */

/* Allocates the maps of cells and faces, unpainted, for the grid of the domain. */
sel_status sel_domain_allocate(sel_domain *domain, sel_error *error);
void sel_domain_free_maps(sel_domain *domain);

/* Paints region `number`, whose name, shape and law are checked. */
sel_status sel_domain_paint(sel_domain *domain, const struct sel_solver *solver, int number,
                            int threads, sel_error *error);

/* Where a script places something in free cells: in those of a shape, or in one. */
typedef struct sel_spot {
    const char *what; /* "source brook" */
    sel_where where;  /* in the script */
    const sel_point *point;
    const struct sel_shape *shape; /* NULL: the cell that has the point */
} sel_spot;

/* Sets in[cell] = 1 there, and counts these cells; fails if there is none. */
sel_status sel_domain_find(const sel_domain *domain, const sel_spot *spot, int threads, uint8_t *in,
                           int64_t *count, sel_error *error);

/* Lists in domain->lost the regions that painted something but own no cell and no site with a free
 * cell behind it. */
sel_status sel_domain_find_lost(sel_domain *domain, const struct sel_solver *solver, int threads,
                                sel_error *error);

/* ---- the marks of cells in .vti files ---- */

typedef struct sel_cell_marks {
    uint8_t *cell_type; /* the region that made the cell solid or fixes its value; 0: it is free */
    uint8_t *solid;     /* 1 there, else 0 */
    uint8_t *boundary;  /* of a free cell at a face: the face's region, the later of several; 0 */
} sel_cell_marks;

/* Fills the marks of the cells of `box`. */
void sel_domain_cells(const sel_domain *domain, const sel_box *box, const sel_cell_marks *to);

/* ---- counts of cells by regions ---- */

/* Free cells that touch the same faces of the domain, at sites of the same regions. */
typedef struct sel_cell_kind {
    uint8_t region[SEL_FACES]; /* of the sites; 0: these cells do not touch the face */
    int axes;                  /* whose faces they touch: 0 inside, ... 3 in a corner of a box */
    int place;                 /* a number for each face, edge and corner */
    int64_t cells;
} sel_cell_kind;

typedef struct sel_census {
    int64_t cells[SEL_REGION_NUMBERS];            /* by region; 0: free */
    int64_t sites[SEL_FACES][SEL_REGION_NUMBERS]; /* by region; none on periodic axes */
    int count;
    sel_cell_kind *kinds; /* by the number of axes, then by place */
} sel_census;

/* Fails for want of memory only. Freed with sel_census_free, also after a failure. */
sel_status sel_census_take(const sel_domain *domain, sel_census *census, sel_error *error);
void sel_census_free(sel_census *census);

#endif
