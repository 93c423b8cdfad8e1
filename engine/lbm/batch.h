/* batch.h -- the laws of a boundary, evaluated once or before each step, all places in one call. */
#ifndef LBM_BATCH_H
#define LBM_BATCH_H

#include "engine/solver.h"

struct lbm_boundary;
struct lbm_plan;

/* One region's quantity (a velocity, or a pressure when it has one component) at all the places
 * where it is needed. */
typedef struct lbm_batch {
    const sel_quantity *quantity;
    char what[160]; /* for messages */
    bool varies;    /* with time or controls: evaluated each step, else once */
    bool on_links;  /* else at cells of an open face */
    int64_t count;
    double *x, *y;     /* user's units */
    int64_t *target;   /* number of the link, or of the open cell */
    uint8_t *incoming; /* on links: the direction */
} lbm_batch;

typedef struct lbm_batches {
    int count;
    lbm_batch *v;
    int64_t largest; /* places */
    bool vary;       /* one of them does: an evaluation is due before each step */
} lbm_batches;

/* True when region `number` lets mass through: an open face or a moving wall. */
bool lbm_region_passes(const sel_domain *domain, int number);

/* Collects the places of each region whose law has a quantity: the middle of each link (moving
 * walls), or the centre of each cell (open faces). */
sel_status lbm_batches_create(const sel_domain *domain, const struct lbm_boundary *boundary,
                              lbm_batches *batches, sel_error *error);
void lbm_batches_free(lbm_batches *batches);

/* Evaluates one batch `steps` steps after time 0 into values[components][count], user's units. */
sel_status lbm_batch_evaluate(const lbm_batch *batch, const sel_domain *domain, double steps,
                              double *values, sel_error *error);

/* Evaluates, for the step from `step` to step + 1, all batches of a plan or only those that vary,
 * and stores in lattice units: link_add[links]           what a wall adds to a bounced population:
 * 6 w e.u, at density 1, half a step after `step` open_value[2 * openings]  velocity, or density
 * deviation and 0, a step after `step` scratch holds 2 * largest numbers. */
sel_status lbm_batches_apply(const struct lbm_plan *plan, int64_t step, bool all, double *scratch,
                             double *link_add, double *open_value, sel_error *error);

#endif
