/* aqua_state.h -- what a state of sel.aqua is on any backend, and what its host does for a step. */
#ifndef AQUA_STATE_H
#define AQUA_STATE_H

#include "engine/solvers/aqua/aqua.h"
#include "engine/core/collectives.h"
#include "engine/base/sums.h"

typedef struct aqua_state {
    sel_state base;
    const aqua_plan *plan;
    aqua_store store;
    sel_type real;      /* of beds, alphas, rates */
    int64_t size;       /* bytes of a number */
    void *bed, *alphas; /* alphas: NULL when alpha is the same everywhere */
    void *water[2];     /* the depths: field 0 */
    void *most;         /* [ny][nx] greatest depths; NULL: nobody asks */
    int32_t *arrived;   /* [ny][nx] steps of arrival, -1: not yet; NULL: nobody asks */
    /* Of rain and infiltration where they are fields: units per step, and the part of a quantum
     * left over, [ny][nx] in the type of beds. */
    void *rate[AQUA_SUPPLIES], *owed[AQUA_SUPPLIES];
    /* On the host. */
    double *values; /* units per step of rain, infiltration and sources; then the ghosts' levels */
    double *carry;  /* of rain, infiltration and sources: the part of a quantum left over; */
    int64_t *inflow_turn; /* of each source: the cell that gets the next odd one */
    /* The totals of the balance since step 0, in units of the store: rain, infiltration, what each
     * source has brought, what has left into the ghosts of each region (from 0 on). */
    sel_total *totals;
    /* The edges whose fluxes requests may ask for, those of ghosts and the plan's links; and these
     * fluxes in the last observed step. */
    aqua_edge *edges;
    double *shown; /* units of the store; NULL: nobody asks */
    int64_t edge_count;
    double first_volume; /* at step 0, units */
    /* Of the CPU. */
    double *amounts; /* of a step (aqua_take) */
    double *flux;    /* of the edges of ghosts, in a step; NULL: there is no balance */
    const struct aqua_loops *loops;
    uint8_t *scratch; /* of the flow, for each thread */
} aqua_state;

/* Whether a run may ask for a field: depths and arrivals are watched from step 0 on. */
static inline bool aqua_wants(const aqua_plan *plan, int field) {
    return plan->base.wants_fields >> field & 1u;
}

/* Lists the arrays but those of the CPU. Arrays with a frame have room for `before` numbers in
 * front and `behind` numbers at the end. */
void aqua_list(aqua_state *state, int64_t before, int64_t behind);

/* Sets beds, alphas, edges, and the depths of step 0; but for ghosts, and the depths beyond
 * periodic axes. Fails where a quantity does. */
sel_status aqua_start(aqua_state *state, sel_error *error);

/* How fields of rain and infiltration are kept, and all other inputs. */
sel_input_cells aqua_cells(const sel_state *base, const sel_input *input);
sel_input_store aqua_keep_values;

/* Evaluates all inputs for the step to come. */
sel_status aqua_start_inputs(aqua_state *state, sel_error *error);

/* A source that varies by what is `due`, and alone brings more than a cell can hold, is refused
 * before the step changes any depth: sel_cpu.terms. */
sel_status aqua_refuse_inflow(sel_state *base, unsigned due, sel_error *error);

/* The amounts of a step, of whole quanta with the carry of the steps before: those of rain and
 * infiltration that are uniform, and the aqua_dose of each source, which is added to the totals. */
void aqua_take(aqua_state *state, double *amounts);
static inline int64_t aqua_amount_count(const aqua_plan *plan) {
    return AQUA_SUPPLIES + plan->source_count * (int64_t)(sizeof(aqua_dose) / sizeof(double));
}

/* Parts of a total that kernels add up: rows of rain that is a field (the host adds up other rain)
 * and of infiltration, and the edges of each region if a balance is wanted. */
int64_t aqua_parts_of(const aqua_plan *plan, int64_t total);
/* Joins the parts of each total that has any; or the inverse, all of it in its first part. */
void aqua_join_parts(const aqua_plan *plan, sel_total *parts, sel_total *totals, bool inverse);

/* Answers a SEL_BALANCE from the totals and the present volume, units of the store. */
void aqua_answer_balance(const aqua_state *state, const sel_total *totals, double volume,
                         sel_request *request);

/* The rows of cells to which edge e, and part k of all totals, belong. */
int64_t aqua_row_of_edge(const sel_state *base, int64_t e);
int64_t aqua_row_of_part(const sel_state *base, int64_t k);

/* The edges of a SEL_FLUX: sets the first, returns how many. */
int64_t aqua_flux_edges(const aqua_plan *plan, const sel_request *request, int64_t *first);
/* Answers it by their fluxes, units of the store. */
void aqua_answer_flux(const aqua_state *state, const double *shown, int64_t count,
                      sel_request *request);

/* m3 of one unit of depth in a cell. */
static inline double aqua_volume_unit(const aqua_state *state) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return grid->dx[0] * grid->dx[0] / state->store.per_metre;
}

/* The number of the total of a region, and of all totals. */
static inline int64_t aqua_total_of(const aqua_plan *plan, int region) {
    return AQUA_SUPPLIES + plan->source_count + region;
}
static inline int64_t aqua_total_count(const aqua_plan *plan) {
    return aqua_total_of(plan, plan->base.domain->region_count + 1);
}

/* The levels of the ghosts, m. */
static inline double *aqua_levels(const aqua_state *state) {
    return state->values + aqua_level_number(state->plan);
}

/* ---- the inner loops of the CPU backend, a table for each processor level ---- */

/* The flow of a step, from one copy of the depths to the other. Beds, depths and alphas are in the
 * layout and the types of the store. */
typedef struct aqua_step {
    aqua_layout layout;
    const void *bed, *from;
    void *to;
    const void *alphas; /* NULL: it is `alpha` everywhere */
    double alpha, least;
    int equilibrium;
    bool sent; /* aqua_after_sent; of whole quanta that is the same */
} aqua_step;

/* Amounts are in units of the store. A solid cell is one whose byte is not 0. Sums over a row are
 * exact for whole quanta. */
typedef struct aqua_loops {
    size_t scratch; /* bytes that flow() needs, whole lines of a cache */
    /* Rows y0 <= y < y1; returns the greatest depth, in whole quanta: 0 in f64. */
    double (*flow)(const aqua_step *step, int64_t y0, int64_t y1, void *scratch);
    /* In these `water` is a row of n cells. Rain adds an amount to each free cell, infiltration
     * takes it, no more than there is. With rate [n] each cell has its own, and in carry [n] the
     * part of a quantum left over. Returns the sum. */
    double (*supply)(void *water, int64_t n, const uint8_t *solid, double amount, const void *rate,
                     void *carry, bool takes);
    /* Raises most[n] to the depths; sets first[n], where it is -1, to `step` if the depth reaches
     * `arrival`. NULL: not wanted. */
    void (*watch)(const void *water, int64_t n, void *most, int32_t *first, double arrival,
                  int32_t step);
    double (*edge)(const aqua_step *step, const aqua_edge *edge); /* the flux that it counts */
} aqua_loops;

/* The tables that this processor can run, [SEL_F32, SEL_F64], best first; NULL after the last
 * (sel_level, engine/base/hardware.h). */
const aqua_loops *aqua_loops_usable(int index);

#endif
