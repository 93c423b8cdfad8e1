/* aqua_state.c -- the arrays of sel.aqua, and what the host evaluates and books for a step. */
#include "engine/aqua/aqua_state.h"

static void list_amount(aqua_state *state, aqua_amount *amount, const char *const names[2],
                        sel_type real) {
    const sel_cells cells = aqua_unframed(&state->plan->layout);
    if (amount->spread == AQUA_FIELD) {
        sel_arrays_add_cells(&state->base.arrays, names[0], &amount->rate, real, &cells, 0);
        sel_arrays_add_cells(&state->base.arrays, names[1], &amount->owed, real, &cells, SEL_SAVED);
    }
}

static void list_cells(aqua_state *state, int64_t before, int64_t behind) {
    const aqua_plan *plan = state->plan;
    const uint32_t size = (uint32_t)state->size;
    const sel_type real = {'f', size}, depth = {state->store.whole ? 'i' : 'f', size};
    const sel_cells framed = aqua_framed(&plan->layout, before, behind);
    const sel_cells cells = aqua_unframed(&plan->layout);
    sel_arrays *arrays = &state->base.arrays;
    sel_arrays_add_cells(arrays, "bed", &state->bed, real, &framed, 0);
    sel_arrays_add_cells(arrays, "water0", &state->water[0], depth, &framed, SEL_SAVED);
    sel_arrays_add_cells(arrays, "water1", &state->water[1], depth, &framed, SEL_SAVED);
    if (plan->alpha) {
        sel_arrays_add_cells(arrays, "alphas", &state->alphas, real, &framed, 0);
    }
    if (plan->params->scheme == AQUA_SCATTER) {
        sel_arrays_add(arrays, "more", &state->more, depth, plan->layout.cells, 0);
        sel_arrays_add(arrays, "less", &state->less, depth, plan->layout.cells, 0);
    }
    if (aqua_wants_max(plan)) {
        sel_arrays_add_cells(arrays, "most", &state->most, depth, &cells, SEL_SAVED);
    }
    if (aqua_wants_arrival(plan)) {
        sel_arrays_add_cells(arrays, "arrived", &state->arrived, SEL_TYPE_OF(*state->arrived),
                             &cells, SEL_SAVED);
    }
    state->base.last = (sel_last){.type = depth, .components = 1, .scale = state->store.per_metre};
    list_amount(state, &state->rain, (const char *const[]){"rain", "rain_owed"}, real);
    list_amount(state, &state->soil, (const char *const[]){"soil", "soil_owed"}, real);
}

void aqua_list(aqua_state *state, int64_t before, int64_t behind) {
    const aqua_plan *plan = state->plan = (const aqua_plan *)state->base.plan;
    const aqua_params *params = plan->params;
    const int64_t sources = plan->inflow_count;
    const bool fields = plan->rain == AQUA_FIELD || plan->infiltration == AQUA_FIELD;
    const unsigned kept = SEL_SAVED | SEL_ON_HOST;
    sel_arrays *arrays = &state->base.arrays;
    state->store = aqua_store_of(plan);
    state->size = plan->base.precision == SEL_F32 ? 4 : 8;
    state->rain =
        (aqua_amount){.spread = plan->rain, .quantity = &params->rain, .evaluate = aqua_rain};
    state->soil = (aqua_amount){.spread = plan->infiltration,
                                .quantity = &params->infiltration,
                                .evaluate = aqua_infiltration};
    list_cells(state, before, behind);
    if (plan->base.wants_balance) {
        SEL_ADD(arrays, state, edges, aqua_all_edges(plan, NULL, state->first_edge), 0);
    }
    SEL_ADD(arrays, state, inflow_units, sources, SEL_ON_HOST);
    SEL_ADD(arrays, state, inflow_carry, sources, kept);
    SEL_ADD(arrays, state, inflow_turn, sources, kept);
    SEL_ADD(arrays, state, inflow, sources, kept);
    SEL_ADD(arrays, state, z, plan->ghosts.count, SEL_ON_HOST);
    SEL_ADD(arrays, state, field, fields ? aqua_cells(state) : 0, SEL_ON_HOST);
    SEL_ADD_VALUE(arrays, state, rain.carry);
    SEL_ADD_VALUE(arrays, state, soil.carry);
    SEL_ADD_VALUE(arrays, state, rained);
    SEL_ADD_VALUE(arrays, state, first_volume);
}

/* ---- amounts ---- */

static bool is_due(const sel_quantity *q, unsigned due) {
    return (sel_quantity_depends(q) | AQUA_ALWAYS) & due;
}

static sel_status evaluate_uniform(const aqua_state *state, aqua_amount *amount, int64_t step,
                                   unsigned due, sel_error *error) {
    return amount->spread == AQUA_UNIFORM && is_due(amount->quantity, due)
               ? amount->evaluate(state->plan, step, &amount->uniform, error)
               : SEL_OK;
}

/* A source that alone brings more than a cell may hold is refused before anything is poured, by the
 * step that would (not when the state is made). */
static sel_status evaluate_source(aqua_state *state, int source, int64_t step, unsigned due,
                                  sel_error *error) {
    const aqua_plan *plan = state->plan;
    const aqua_inflow *inflow = &plan->inflows[source];
    double *units = &state->inflow_units[source];
    sel_status status = is_due(&inflow->source->discharge, due)
                            ? aqua_discharge(plan, source, step, units, error)
                            : SEL_OK;
    const bool deep = state->store.whole && !(due & AQUA_ALWAYS) &&
                      *units / (double)inflow->count > state->store.limit;
    return status || !deep
               ? status
               : aqua_too_deep(plan, step, aqua_cell_number(&plan->layout, inflow->at[0]), error);
}

sel_status aqua_evaluate(aqua_state *state, int64_t step, unsigned due, sel_error *error) {
    sel_status status = evaluate_uniform(state, &state->rain, step, due, error);
    status = status ? status : evaluate_uniform(state, &state->soil, step, due, error);
    for (int i = 0; i < state->plan->inflow_count && !status; i++) {
        status = evaluate_source(state, i, step, due, error);
    }
    return status;
}

bool aqua_rates_are_due(const aqua_amount *amount, unsigned due) {
    return amount->spread == AQUA_FIELD && is_due(amount->quantity, due);
}

sel_status aqua_rates(aqua_state *state, const aqua_amount *amount, void *to, sel_error *error) {
    sel_status status = amount->evaluate(state->plan, state->base.step, state->field, error);
    if (status) {
        return status;
    }
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t i = 0; i < aqua_cells(state); i++) {
        if (state->store.whole) {
            ((float *)to)[i] = (float)state->field[i];
        } else {
            ((double *)to)[i] = state->field[i];
        }
    }
    return SEL_OK;
}

double aqua_take(const aqua_state *state, aqua_amount *amount) {
    return state->store.whole ? (double)aqua_whole(amount->uniform, &amount->carry)
                              : amount->uniform;
}

aqua_dose aqua_take_dose(aqua_state *state, int source) {
    const aqua_inflow *inflow = &state->plan->inflows[source];
    const double units = state->inflow_units[source], cells = (double)inflow->count;
    int64_t *turn = &state->inflow_turn[source];
    if (!state->store.whole) {
        const double each = units / cells;
        sel_total_more(&state->inflow[source], false, each * cells);
        return (aqua_dose){.each = each};
    }
    const int64_t whole = aqua_whole(units, &state->inflow_carry[source]);
    const int64_t odd = whole % inflow->count;
    const aqua_dose dose = {
        .each = (double)(whole / inflow->count), .odd = (uint32_t)odd, .turn = (uint32_t)*turn};
    *turn = (*turn + odd) % inflow->count;
    sel_total_more(&state->inflow[source], true, (double)whole);
    return dose;
}
