/* aqua_terms.c -- what varies in time and place in sel.aqua and is evaluated by kernels: rain,
 * infiltration, levels.
 */
#include <math.h>
#include <stdlib.h>
#include "cuda/aqua_state.h"
#include "engine/aqua/aqua_ghosts.h"

/* ---- which ---- */

static void take_supply(aqua_cuda *state, const aqua_amount *amount, int number,
                        aqua_supply *supply) {
    aqua_gpu_spread *to = &supply->device;
    to->by_term = amount->spread == AQUA_FIELD &&
                  sel_quantity_depends(amount->quantity) & SEL_ON_T &&
                  cuda_terms_take(&state->terms, amount->quantity, CUDA_WARP, &to->term) &&
                  aqua_gpu_spread_fits(&to->term);
    to->term.number = number;
}

/* The law of a region whose ghosts have a level that varies in time. */
static const aqua_law_level *moving_level(const aqua_plan *plan, int region) {
    const aqua_law_level *law = aqua_level_of(plan->base.domain, region);
    const bool there = plan->ghosts.first[region] < plan->ghosts.first[region + 1];
    return law && there && sel_quantity_depends(&law->z) & SEL_ON_T ? law : NULL;
}

/* All of them, or none. */
static void take_levels(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        const aqua_law_level *law = moving_level(plan, r);
        aqua_gpu_level *to = &state->level[state->level_count];
        if (!law) {
            continue;
        }
        if (!cuda_terms_take(&state->terms, &law->z, CUDA_WARP, &to->term)) {
            state->level_count = 0;
            return;
        }
        to->term.number = AQUA_TERM_LEVEL + r;
        state->level_region[state->level_count++] = r;
    }
}

void aqua_cuda_list_terms(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    const size_t regions = (size_t)plan->base.domain->region_count + 1;
    sel_arrays *arrays = &state->all.base.arrays;
    state->level = calloc(regions, sizeof *state->level);
    state->level_region = calloc(regions, sizeof *state->level_region);
    if (!state->level || !state->level_region ||
        !cuda_terms_open(&state->terms, plan->base.domain)) {
        arrays->failed = true;
        return;
    }
    take_supply(state, &state->all.rain, AQUA_TERM_RAIN, &state->pour);
    take_supply(state, &state->all.soil, AQUA_TERM_SOIL, &state->soak);
    take_levels(state);
    cuda_terms_list(&state->terms, arrays);
    SEL_ADD(arrays, state, ghost_x, state->level_count ? plan->ghosts.count : 0, 0);
    SEL_ADD(arrays, state, ghost_y, state->level_count ? plan->ghosts.count : 0, 0);
}

void aqua_cuda_close_terms(aqua_cuda *state) {
    cuda_terms_close(&state->terms);
    free(state->level);
    free(state->level_region);
}

/* ---- the start ---- */

static sel_status try_supply(const aqua_cuda *state, const aqua_amount *amount,
                             const aqua_supply *supply, sel_error *error) {
    return supply->device.by_term ? amount->evaluate(state->all.plan, 0, state->all.field, error)
                                  : SEL_OK;
}

static void describe_supply(const aqua_cuda *state, aqua_supply *supply) {
    aqua_gpu_spread *to = &supply->device;
    to->terms = cuda_terms_see(&state->terms);
    to->grid = state->all.plan->base.domain->grid;
    to->unit = aqua_rate_unit(state->all.plan);
    to->most = state->all.store.most_rain;
}

static sel_status try_levels(const aqua_cuda *state, sel_error *error) {
    return state->level_count ? aqua_levels(state->all.plan, 0, AQUA_ALWAYS, state->all.z, error)
                              : SEL_OK;
}

static void describe_level(const aqua_cuda *state, int region, aqua_gpu_level *to) {
    const aqua_plan *plan = state->all.plan;
    const int64_t first = plan->ghosts.first[region];
    to->count = (uint32_t)(plan->ghosts.first[region + 1] - first);
    to->x = state->ghost_x + first;
    to->y = state->ghost_y + first;
    to->ground = state->ghosts.ground + first;
    to->z = (double *)state->levels.device + first;
    to->per_metre = state->all.store.per_metre;
    to->limit = plan->bits ? state->all.store.limit : HUGE_VAL;
    to->dt = plan->base.domain->grid.dt;
    to->terms = cuda_terms_see(&state->terms);
}

sel_status aqua_cuda_start_terms(aqua_cuda *state, sel_error *error) {
    const aqua_ghosts *ghosts = &state->all.plan->ghosts;
    const uint64_t bytes = (uint64_t)ghosts->count * sizeof(double);
    sel_status status = try_supply(state, &state->all.rain, &state->pour, error);
    status = status ? status : try_supply(state, &state->all.soil, &state->soak, error);
    status = status ? status : try_levels(state, error);
    status = status ? status : cuda_terms_start(&state->terms, error);
    if (!status && state->ghost_x) {
        status = cuda_send(state->ghost_x, ghosts->x, bytes, error);
        status = status ? status : cuda_send(state->ghost_y, ghosts->y, bytes, error);
    }
    describe_supply(state, &state->pour);
    describe_supply(state, &state->soak);
    for (int k = 0; k < state->level_count; k++) {
        describe_level(state, state->level_region[k], &state->level[k]);
    }
    return status;
}

/* ---- steps ---- */

sel_status aqua_cuda_rise(const aqua_cuda *state, int64_t step, sel_error *error) {
    const cuda_queue *queue = state->all.base.queue;
    for (int k = 0; k < state->level_count; k++) {
        CUDA_TRY(aqua_gpu_rise(&state->level[k], cuda_queue_clock(queue, step), queue->stream));
    }
    return SEL_OK;
}

/* The place of a fault, and what has no value there. */
static sel_status unknown(const aqua_cuda *state, const cuda_term_fault *fault, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const bool rain = fault->number == AQUA_TERM_RAIN;
    double x = sel_centre(grid, 0, (double)(fault->place % grid->n[0]));
    double y = sel_centre(grid, 1, (double)(fault->place / grid->n[0]));
    sel_places at = {.n = 1,
                     .x = &x,
                     .y = &y,
                     .t = aqua_time_of_amounts(plan, fault->step),
                     .controls = plan->base.domain->control_values};
    if (fault->number < AQUA_TERM_LEVEL) {
        return cuda_term_unknown(rain ? &plan->params->rain : &plan->params->infiltration,
                                 rain ? "rain" : "infiltration", &at, error);
    }
    const int region = fault->number - AQUA_TERM_LEVEL;
    x = plan->ghosts.x[plan->ghosts.first[region] + fault->place];
    y = plan->ghosts.y[plan->ghosts.first[region] + fault->place];
    at.t = (double)fault->step * grid->dt;
    return cuda_term_unknown(&moving_level(plan, region)->z, "law.level", &at, error);
}

/* The host evaluates the step in the order of the CPU backend: its first error is told. */
sel_status aqua_cuda_check_terms(const aqua_cuda *state, int64_t step, sel_error *error) {
    const aqua_state *all = &state->all;
    cuda_term_fault fault;
    sel_status status = SEL_OK;
    if (!cuda_terms_failed(&state->terms, step, &fault)) {
        return SEL_OK;
    }
    if (state->pour.device.by_term) {
        status = all->rain.evaluate(all->plan, fault.step, all->field, error);
    }
    if (!status && state->soak.device.by_term) {
        status = all->soil.evaluate(all->plan, fault.step, all->field, error);
    }
    if (!status && state->level_count) {
        status = aqua_levels(all->plan, (double)fault.step, SEL_ON_T, all->z, error);
    }
    return status ? status : unknown(state, &fault, error);
}
