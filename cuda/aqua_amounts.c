/* aqua_amounts.c -- what the host evaluates for the CUDA backend of sel.aqua while steps run.
 *
 * Amounts that are the same for all cells go in tables of many steps at once, so that steps
 * recorded in a graph find theirs. Of fields and levels that vary in time only those that Lua alone
 * can evaluate are sent step by step; the others are terms (aqua_terms.c). All by pinned buffers
 * that take turns; nothing waits for a step.
 */
#include <string.h>
#include "cuda/aqua_state.h"

/* ---- fields and levels ---- */

static sel_status send_rates(aqua_cuda *state, const aqua_amount *amount, aqua_supply *supply,
                             unsigned due, sel_error *error) {
    cuda_feed *rates = &supply->rates;
    void *pinned;
    if (supply->device.by_term || !aqua_rates_are_due(amount, due)) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(rates, &pinned, error);
    status = status ? status : aqua_rates(&state->all, amount, pinned, error);
    return status ? status : cuda_feed_send(rates, state->all.base.queue->stream, error);
}

/* Ghosts get their level in both copies of the depths, since the flow leaves those beyond the grid
 * alone. */
static sel_status send_levels(aqua_cuda *state, unsigned due, sel_error *error) {
    cudaStream_t stream = state->all.base.queue->stream;
    const unsigned depends = aqua_levels_depend(state->all.plan);
    const bool moves = depends != 0;
    const unsigned here = state->level_count ? depends & ~(unsigned)SEL_ON_T : depends;
    void *pinned;
    if (state->ghosts.count == 0 || !((here | AQUA_ALWAYS) & due)) {
        return SEL_OK;
    }
    sel_status status =
        aqua_levels(state->all.plan, (double)state->all.base.step, due, state->all.z, error);
    status = status ? status : cuda_feed_next(&state->levels, &pinned, error);
    if (status) {
        return status;
    }
    memcpy(pinned, state->all.z, state->ghosts.count * sizeof *state->all.z);
    status = cuda_feed_send(&state->levels, stream, error);
    if (status) {
        return status;
    }
    for (int k = 0; k < 2; k++) {
        CUDA_TRY(aqua_gpu_settle(&state->pattern.layout, &state->ghosts, state->all.store.whole,
                                 moves && k == 0 ? state->all.bed : NULL, state->all.water[k],
                                 state->marks[k], stream));
    }
    if (moves) {
        CUDA_TRY(aqua_gpu_wrap(&state->pattern.layout, state->periodic, (int)state->all.size,
                               state->all.bed, stream));
    }
    return SEL_OK;
}

/* ---- amounts that are the same for all cells ---- */

sel_status aqua_cuda_prepare(aqua_cuda *state, unsigned due, sel_error *error) {
    aqua_state *all = &state->all;
    sel_status status = due & SEL_ON_CONTROLS
                            ? cuda_terms_set_controls(&state->terms, all->base.controls,
                                                      all->base.queue->stream, error)
                            : SEL_OK;
    status = status ? status : send_rates(state, &all->rain, &state->pour, due, error);
    status = status ? status : send_rates(state, &all->soil, &state->soak, due, error);
    status = status ? status : aqua_evaluate(all, all->base.step, due, error);
    return status ? status : send_levels(state, due, error);
}

/* The amounts of one step into its place in the tables. */
static void take_amounts(aqua_cuda *state, int64_t step, void *tables) {
    const aqua_plan *plan = state->all.plan;
    const int64_t place = step % CUDA_STEPS;
    double *rain = tables, *soil = rain + CUDA_STEPS;
    aqua_dose *doses = (aqua_dose *)(soil + CUDA_STEPS) + place * plan->inflow_count;
    if (plan->rain == AQUA_UNIFORM) {
        rain[place] = aqua_take(&state->all, &state->all.rain);
        sel_total_more(&state->all.rained, state->all.store.whole,
                       rain[place] * (double)plan->base.domain->free_cells);
    }
    if (plan->infiltration == AQUA_UNIFORM) {
        soil[place] = aqua_take(&state->all, &state->all.soil);
    }
    for (int i = 0; i < plan->inflow_count; i++) {
        doses[i] = aqua_take_dose(&state->all, i);
    }
}

sel_status aqua_cuda_amounts(aqua_cuda *state, int64_t *count, sel_error *error) {
    void *tables;
    if (state->amounts.turns == 0) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(&state->amounts, &tables, error);
    if (status) {
        return status;
    }
    for (int64_t k = 0; k < *count; k++) {
        const int64_t step = state->all.base.step + k;
        if (k > 0 && aqua_evaluate(&state->all, step, SEL_ON_T, NULL)) {
            *count = k; /* it fails again, and is told, as the first of the next call */
            break;
        }
        take_amounts(state, step, tables);
    }
    return cuda_feed_send(&state->amounts, state->all.base.queue->stream, error);
}
