/* batch.h -- the laws of a boundary, evaluated once or before each step, all places in one call. */
#ifndef LBM_BATCH_H
#define LBM_BATCH_H

#include "engine/physics/lbm_method.h"
#include "engine/solver.h"

struct lbm_boundary;
struct lbm_plan;

/* One region's quantity (a velocity, or a pressure when it has one component) at all the places
 * where it is needed. */
typedef struct lbm_batch {
    const sel_quantity *quantity;
    char what[160];   /* for messages */
    unsigned depends; /* SEL_ON_T: evaluated before each step; SEL_ON_CONTROLS: when they change */
    bool on_links;    /* else at cells of wet faces */
    int64_t count;
    double *x, *y, *z; /* user's units; z NULL in 2-D */
    int64_t *target;   /* number of the link, or of the open cell */
    uint8_t *incoming; /* on links: the direction */
} lbm_batch;

typedef struct lbm_batches {
    int count;
    lbm_batch *v;
    int64_t largest;  /* places */
    unsigned depends; /* of any of them */
} lbm_batches;

/* True when the region's law makes the faces that it paints wet (see boundary.h). */
bool lbm_region_is_wet(const sel_region *region);

/* True when region `number` may let mass through: a wet face or a moving wall. */
bool lbm_region_passes(const sel_domain *domain, int number);

/* Collects the places of each region whose law has a quantity: the middle of each link (moving
 * walls), or the centre of each cell (wet faces). */
sel_status lbm_batches_create(const sel_domain *domain, const struct lbm_boundary *boundary,
                              lbm_batches *batches, sel_error *error);
void lbm_batches_free(lbm_batches *batches);

/* Evaluates one batch `steps` steps after time 0 into values[components][count], user's units. */
sel_status lbm_batch_evaluate(const lbm_batch *batch, const sel_domain *domain, double steps,
                              double *values, sel_error *error);

/* The steps after time 0 at which a batch holds in the step from `step` to step + 1. */
double lbm_batch_steps(const lbm_batch *batch, int64_t step);

enum { LBM_ALWAYS = 1 << 30 };

/* Evaluates, for the step from `step` to step + 1, the batches of a plan that depend on what is
 * `due`, a mask of SEL_ON_T and SEL_ON_CONTROLS; LBM_ALWAYS: all of them. Stores in lattice units
 *   link_add[links]              what a wall adds to a bounced population: 6 w e.u, at density 1,
 *                                half a step after `step`
 *   open_value[openings][4]      velocity (3 components) and density deviation, a step after `step`
 * scratch holds 3 * largest numbers. */
sel_status lbm_batches_apply(const struct lbm_plan *plan, int64_t step, unsigned due,
                             double *scratch, double *link_add, double *open_value,
                             sel_error *error);

#endif
