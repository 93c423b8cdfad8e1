/* aqua_amounts.c -- what the host evaluates for the CUDA backend of sel.aqua while steps run.
 *
 * Amounts that are the same for all cells go in tables of many steps at once, so that steps
 * recorded in a graph find theirs. Fields and levels that vary in time are sent step by step. All
 * by pinned buffers that take turns; nothing waits for a step.
 */
#include <string.h>
#include "cuda/aqua_state.h"

static bool is_due(const sel_quantity *q, unsigned due) {
    return (sel_quantity_depends(q) | AQUA_ALWAYS) & due;
}

/* ---- fields and levels ---- */

static sel_status send_rates(aqua_cuda *state, aqua_supply *supply, unsigned due,
                             sel_error *error) {
    void *pinned;
    if (supply->spread != AQUA_FIELD || !is_due(supply->quantity, due)) {
        return SEL_OK;
    }
    sel_status status = supply->evaluate(state->plan, state->base.step, state->field, error);
    status = status ? status : cuda_feed_next(&supply->rates, &pinned, error);
    if (status) {
        return status;
    }
    if (state->store.whole) {
        for (int64_t i = 0; i < aqua_cuda_cells(state); i++) {
            ((float *)pinned)[i] = (float)state->field[i];
        }
    } else {
        memcpy(pinned, state->field, (size_t)aqua_cuda_cells(state) * sizeof *state->field);
    }
    return cuda_feed_send(&supply->rates, state->base.queue->stream, error);
}

/* Ghosts get their level in both copies of the depths, since the flow leaves those beyond the grid
 * alone. */
static sel_status send_levels(aqua_cuda *state, unsigned due, sel_error *error) {
    cudaStream_t stream = state->base.queue->stream;
    const bool moves = aqua_levels_depend(state->plan) != 0;
    void *pinned;
    if (state->ghosts.count == 0 || !((aqua_levels_depend(state->plan) | AQUA_ALWAYS) & due)) {
        return SEL_OK;
    }
    sel_status status = aqua_levels(state->plan, (double)state->base.step, due, state->z, error);
    status = status ? status : cuda_feed_next(&state->levels, &pinned, error);
    if (status) {
        return status;
    }
    memcpy(pinned, state->z, state->ghosts.count * sizeof *state->z);
    status = cuda_feed_send(&state->levels, stream, error);
    if (status) {
        return status;
    }
    for (int k = 0; k < 2; k++) {
        CUDA_TRY(aqua_gpu_settle(&state->pattern.layout, &state->ghosts, state->store.whole,
                                 moves && k == 0 ? state->bed : NULL, state->water[k],
                                 state->marks[k], stream));
    }
    if (moves) {
        CUDA_TRY(aqua_gpu_wrap(&state->pattern.layout, state->periodic, (int)state->size,
                               state->bed, stream));
    }
    return SEL_OK;
}

/* ---- amounts that are the same for all cells ---- */

static sel_status evaluate_uniform(const aqua_cuda *state, aqua_supply *supply, int64_t step,
                                   unsigned due, sel_error *error) {
    return supply->spread == AQUA_UNIFORM && is_due(supply->quantity, due)
               ? supply->evaluate(state->plan, step, &supply->uniform, error)
               : SEL_OK;
}

static sel_status evaluate_amounts(aqua_cuda *state, int64_t step, unsigned due, sel_error *error) {
    const aqua_plan *plan = state->plan;
    sel_status status = evaluate_uniform(state, &state->rain, step, due, error);
    status = status ? status : evaluate_uniform(state, &state->soil, step, due, error);
    for (int i = 0; i < plan->inflow_count && !status; i++) {
        if (is_due(&plan->inflows[i].source->discharge, due)) {
            status = aqua_discharge(plan, i, step, &state->inflow_units[i], error);
        }
    }
    return status;
}

/* A source that alone brings more than a cell may hold. */
static sel_status check_sources(const aqua_cuda *state, int64_t step, sel_error *error) {
    const aqua_plan *plan = state->plan;
    for (int i = 0; i < plan->inflow_count && state->store.whole; i++) {
        const aqua_inflow *inflow = &plan->inflows[i];
        if (state->inflow_units[i] / (double)inflow->count > state->store.limit) {
            return aqua_too_deep(plan, step, aqua_cuda_cell_number(&plan->layout, inflow->at[0]),
                                 error);
        }
    }
    return SEL_OK;
}

static sel_status find_all(aqua_cuda *state, int64_t step, unsigned due, sel_error *error) {
    sel_status status = evaluate_amounts(state, step, due, error);
    return status ? status : check_sources(state, step, error);
}

sel_status aqua_cuda_prepare(aqua_cuda *state, unsigned due, sel_error *error) {
    sel_status status = send_rates(state, &state->rain, due, error);
    status = status ? status : send_rates(state, &state->soil, due, error);
    status = status ? status : find_all(state, state->base.step, due, error);
    return status ? status : send_levels(state, due, error);
}

/* Whole quanta of a step; the rest is carried. */
static double take_uniform(const aqua_cuda *state, aqua_supply *supply) {
    return state->store.whole ? (double)aqua_whole(supply->uniform, &supply->carry)
                              : supply->uniform;
}

static aqua_gpu_dose find_dose(aqua_cuda *state, int source) {
    const aqua_inflow *inflow = &state->plan->inflows[source];
    const double units = state->inflow_units[source], cells = (double)inflow->count;
    int64_t *turn = &state->inflow_turn[source];
    if (!state->store.whole) {
        sel_total_more(&state->inflow[source], false, units / cells * cells);
        return (aqua_gpu_dose){.each = units / cells};
    }
    const int64_t whole = aqua_whole(units, &state->inflow_carry[source]);
    const int64_t odd = whole % inflow->count;
    const aqua_gpu_dose dose = {
        .each = (double)(whole / inflow->count), .odd = (uint32_t)odd, .turn = (uint32_t)*turn};
    *turn = (*turn + odd) % inflow->count;
    sel_total_more(&state->inflow[source], true, (double)whole);
    return dose;
}

/* The amounts of one step into its place in the tables. */
static void take_amounts(aqua_cuda *state, int64_t step, void *tables) {
    const aqua_plan *plan = state->plan;
    const int64_t place = step % CUDA_STEPS;
    double *rain = tables, *soil = rain + CUDA_STEPS;
    aqua_gpu_dose *doses = (aqua_gpu_dose *)(soil + CUDA_STEPS) + place * plan->inflow_count;
    if (plan->rain == AQUA_UNIFORM) {
        rain[place] = take_uniform(state, &state->rain);
        sel_total_more(&state->rained, state->store.whole,
                       rain[place] * (double)plan->base.domain->free_cells);
    }
    if (plan->infiltration == AQUA_UNIFORM) {
        soil[place] = take_uniform(state, &state->soil);
    }
    for (int i = 0; i < plan->inflow_count; i++) {
        doses[i] = find_dose(state, i);
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
        const int64_t step = state->base.step + k;
        if (k > 0 && find_all(state, step, SEL_ON_T, NULL)) {
            *count = k; /* it fails again, and is told, as the first of the next call */
            break;
        }
        take_amounts(state, step, tables);
    }
    return cuda_feed_send(&state->amounts, state->base.queue->stream, error);
}
