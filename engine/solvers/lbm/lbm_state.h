/* lbm_state.h -- the state of a flow on any backend, and its results in the user's units.
 */
#ifndef LBM_STATE_H
#define LBM_STATE_H

#include "engine/solvers/lbm/lbm_terms.h"
#include "engine/core/state.h"
#include "engine/solvers/lbm/lbm_field.h"
#include "engine/solvers/lbm/lbm_wall.h"
#include "engine/core/vicinity.h"

typedef struct lbm_state {
    sel_state base;
    const lbm_plan *plan;
    void *f[2]; /* two copies of the populations, or moments; base.field[0].present: which is now */
    /* An acceleration that varies in space, in the run's precision, at the cells of the patch and
     * of the rows beside it; NULL: it is uniform. */
    void *acceleration_field;
    sel_layout acceleration_layout;
    sel_vicinity vicinity; /* its rows */
    sel_sites sites;       /* the links, */
    int64_t openings;      /* the cells with wet faces, */
    sel_sites sponge;      /* and those of the sponge, of this rank */
    /* See lbm_values, one after the other for `copies` steps. link_velocity: with forces on walls
     * that move; else NULL. */
    double *link_add, *link_velocity, *open_value;
    int64_t copies;

    /* What the last observed step has shown; NULL: not wanted. */
    /* [2][links] populations that left along each link, and that entered; with forces [3][links]:
     * also the sum of both in the step before. */
    void *links;
    void *link_gain;    /* [links] with link_velocity: entered less left in the step before */
    int64_t links_step; /* that of `links`; whether it has the step before, too */
    uint8_t links_follow;
    double *strain[LBM_STRAIN_FIELDS]; /* from LBM_STRAIN_RATE on; NULL: not wanted */
    sel_layout strain_layout;   /* of the patch; with fields of walls also of the cells around it */
    sel_vicinity stress_beside; /* its rows */
    lbm_wall *walls;            /* beside each boundary cell; NULL: no field of walls is wanted */
    bool walls_known;           /* they have been found */

    /* Of closed regions (lbm_closed.h), in LBM_GAIN_UNIT. gain: by cell, stored at its first link,
     * what it has gained since the last return; owed: [regions] what they are owed; returned: the
     * mass that all have got back, lattice units. NULL: there are no such regions. */
    int64_t *gain, *owed;
    double *returned;

    /* Balance of mass, lattice units. */
    double *link_flow; /* [links] out of the domain since balance_step, of shared links in the first
                          entry; NULL: not wanted */
    int64_t *sponge_gain; /* by cell of the sponge: the mass that it has gained since step 0, in
                             LBM_GAIN_UNIT; NULL: not wanted */
    double *out, *rate;   /* [regions + 1] through each since step 0, and per step, on the host */
    int64_t balance_step;
    double first_mass;
} lbm_state;

/* Finds the links, openings and cells of the sponge of this rank, before lbm_list. */
void lbm_count_sites(lbm_state *state);

/* Lists these arrays. `populations`: their layout and halo; `acceleration`: the layout of an
 * acceleration that varies in space, in the patch of this rank. */
void lbm_list(lbm_state *state, const sel_field *populations, const sel_layout *acceleration);

/* sel_input_cells_of: of an acceleration that varies in space. */
sel_input_cells lbm_acceleration_cells(const sel_state *state, const sel_input *input);

/* Before the step to `step` is observed: whether `links` are those of the step before it, which are
 * then kept. Notes that they will be those of `step`. The first step has none before it: step 0
 * shows the step to come. */
bool lbm_links_turn(lbm_state *state, int64_t step);

/* Finds the walls when they are first asked for (lbm_wall.c). All ranks must call it. */
sel_status lbm_find_walls(lbm_state *state, sel_error *error);

/* The exchange of the stress with other ranks, before fields of walls are read. */
static inline sel_exchange lbm_stress_exchange(void) {
    return (sel_exchange){.field = 1, .depth = 1, .way = SEL_FETCH_ALL};
}

/* Whether forces need the velocity of walls: some wall moves. */
bool lbm_wants_velocity(const lbm_plan *plan);

/* Whether observed steps store a field of the strain. */
bool lbm_has_strain(const lbm_state *state);

lbm_units lbm_units_of(const lbm_plan *plan);

/* The mass of all free cells, from the sum of the density's deviations; lattice units. */
static inline double lbm_mass(const lbm_state *state, double deviation) {
    return (double)state->plan->base.domain->free_cells + deviation;
}

/* Adds the mass that left through each region in `steps` steps, carried[region] from 1 on, to the
 * totals. */
void lbm_add_outflow(lbm_state *state, const double *carried, int64_t steps);

/* Fills the terms of a SEL_BALANCE request, exact to round-off:
 *   mass         of all free cells; per unit depth in 2-D
 *   out_REGION   what has left through each region since step 0: what its links carried out less
 *                what they brought in; for the regions that let mass through
 *   rate_REGION  out_REGION per time, since the last balance at an earlier step
 *   acceleration of the drive; with a drive
 *   returned     what closed regions have got back since step 0 of what interpolated walls took
 *   sponge       what the sponge has brought since step 0; with a sponge
 *   error        mass + sum of out - returned - sponge - mass at step 0
 * sponge: in LBM_GAIN_UNIT, of this rank's cells. All ranks must call it. */
void lbm_balance_terms(const lbm_state *state, double mass, double returned, int64_t sponge,
                       sel_request *request);

/* Answers a SEL_MONITOR from the largest speed squared and the smallest density deviation. */
void lbm_watched_answer(const sel_plan *base, sel_request *request);

/* The centre of a SEL_FORCE request in cells: cell (i, j, k) lies at {i, j, k}. Zero for SEL_FLUX.
 */
void lbm_links_centre(const lbm_plan *plan, const sel_request *request, double centre[3]);

/* Answers SEL_FORCE and SEL_FLUX from what the links of the region carried in a step, lattice
 * units. */
void lbm_links_answer(const lbm_plan *plan, const lbm_carried *carried, sel_request *request);

#endif
