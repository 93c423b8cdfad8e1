/* aqua_amounts.c -- sources, rain and infiltration: where, and how much in a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua_state.h"

static const double mm_per_hour = 1e-3 / 3600; /* m/s */

/* ---- sources ---- */

/* The number of the cell that has a point; -1: it lies outside. */
static int64_t cell_of(const sel_grid *grid, const sel_point *point) {
    int64_t at[3] = {0};
    for (int a = 0; a < 2; a++) {
        const double cells = floor((point->v[a] - grid->origin[a]) / grid->dx[0]);
        if (!(cells >= 0 && cells < (double)grid->n[a])) {
            return -1;
        }
        at[a] = (int64_t)cells;
    }
    return sel_cell_number(grid, at);
}

/* The error of a source without a free cell. */
static sel_status refuse_place(const aqua_plan *plan, const aqua_inflow *inflow, int64_t cell,
                               sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_source *source = inflow->source;
    char extent[SEL_EXTENT_TEXT], text[32], cell_text[SEL_CELL_TEXT];
    sel_extent_text(&domain->grid, extent);
    if (source->where) {
        return sel_fail_at(error, source->place,
                           "source %s: its shape covers no free cell of the domain, %s; cells of "
                           "regions and without ground are not free",
                           inflow->name, extent);
    }
    if (cell < 0) {
        return sel_fail_at(error, source->place,
                           "source %s at { %.10g, %.10g } lies outside the domain, %s",
                           inflow->name, source->at.v[0], source->at.v[1], extent);
    }
    return sel_fail_at(error, source->place,
                       "source %s at { %.10g, %.10g }: its cell %s belongs to the region '%s' and "
                       "takes no water",
                       inflow->name, source->at.v[0], source->at.v[1],
                       sel_cell_text(&domain->grid, cell, cell_text),
                       sel_region_name(domain, domain->cell[cell], text));
}

/* Lists the free cells of a source: of its shape, or the one that has its point. */
static sel_status list_cells(const aqua_plan *plan, aqua_inflow *inflow, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_source *source = inflow->source;
    const int64_t nx = domain->grid.n[0], cells = sel_grid_cells(&domain->grid);
    const int64_t cell = source->where ? -1 : cell_of(&domain->grid, &source->at);
    uint8_t *in = calloc((size_t)cells, 1);
    sel_status status = in ? SEL_OK : sel_fail_memory(error, "the sources", (size_t)cells);
    if (!status && source->where) {
        status = sel_domain_cover(domain, source->where, plan->base.threads, in, error);
    } else if (!status && cell >= 0) {
        in[cell] = 1;
    }
    for (int64_t i = 0; i < cells && !status; i++) {
        in[i] = in[i] && domain->cell[i] == 0;
        inflow->count += in[i];
    }
    if (!status && inflow->count == 0) {
        status = refuse_place(plan, inflow, cell, error);
    }
    const size_t bytes = (size_t)inflow->count * sizeof *inflow->at;
    inflow->at = status ? NULL : malloc(bytes);
    if (!status && !inflow->at) {
        status = sel_fail_memory(error, "the sources", bytes);
    }
    for (int64_t i = 0, next = 0; i < cells && !status; i++) {
        if (in[i]) {
            inflow->at[next++] = aqua_index(&plan->layout, i % nx, i / nx);
        }
    }
    free(in);
    return status;
}

static aqua_supply supply_of(const char *name, const sel_quantity *rate) {
    const bool place = sel_quantity_depends(rate) & SEL_ON_PLACE;
    return (aqua_supply){name, rate,
                         !sel_quantity_given(rate) ? AQUA_NOTHING
                         : place                   ? AQUA_FIELD
                                                   : AQUA_UNIFORM};
}

sel_status aqua_inflows_create(aqua_plan *plan, sel_error *error) {
    const aqua_params *params = plan->params;
    const aqua_source *sources = params->sources.v;
    plan->supply[AQUA_RAIN] = supply_of("rain", &params->rain);
    plan->supply[AQUA_SOIL] = supply_of("infiltration", &params->infiltration);
    plan->inflow_count = params->sources.n;
    plan->inflows = calloc((size_t)params->sources.n + 1, sizeof *plan->inflows);
    if (!plan->inflows) {
        return sel_fail_memory(error, "the sources", sizeof *plan->inflows);
    }
    sel_status status = SEL_OK;
    char number[16];
    for (int i = 0; i < params->sources.n; i++) {
        aqua_inflow *inflow = &plan->inflows[i];
        inflow->source = &sources[i];
        snprintf(number, sizeof number, "%d", i + 1);
        snprintf(inflow->name, sizeof inflow->name, "%s",
                 sources[i].name ? sources[i].name : number);
        sel_status listed = list_cells(plan, inflow, error);
        status = status ? status : listed;
    }
    return status;
}

void aqua_inflows_free(aqua_plan *plan) {
    for (int i = 0; plan->inflows && i < plan->inflow_count; i++) {
        free(plan->inflows[i].at);
    }
    free(plan->inflows);
    plan->inflows = NULL;
}

/* ---- rates at a time ---- */

double aqua_time_of_amounts(const aqua_plan *plan, int64_t step) {
    return ((double)step + 0.5) * plan->base.domain->grid.dt;
}

double aqua_rate_unit(const aqua_plan *plan) {
    return mm_per_hour * plan->base.domain->grid.dt * aqua_store_of(plan).per_metre;
}

/* Of a field: in a cell. */
static sel_status refuse_rate(const aqua_plan *plan, const aqua_supply *supply, int64_t cell,
                              double rate, double t, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_where where = sel_simulation_where(plan->base.simulation, supply->name);
    double centre[3];
    char place[96];
    if (!(rate < 0)) {
        return sel_fail_at(error, where,
                           "%s brings %.3g m in a step at t=%g, too much for the depths of "
                           "precision \"f32\"; reduce dt, or give depth_limit",
                           supply->name, rate * mm_per_hour * domain->grid.dt, t);
    }
    sel_cell_centre(&domain->grid, cell, centre);
    const sel_places at = sel_domain_at(domain, 1, centre, centre + 1, NULL, t);
    snprintf(place, sizeof place, "t=%.10g", t);
    if (supply->spread == AQUA_FIELD) {
        sel_place_text(&at, 0, place, sizeof place);
    }
    return sel_fail_at(error, where, "%s is negative, %g, at %s", supply->name, rate, place);
}

sel_status aqua_rate(const aqua_plan *plan, const aqua_supply *supply, int64_t step, double *to,
                     sel_error *error) {
    const double t = aqua_time_of_amounts(plan, step);
    const double unit = aqua_rate_unit(plan), most = aqua_store_of(plan).most_rain;
    const int64_t count = aqua_value_count(plan, supply->rate);
    sel_status status = aqua_values(plan, supply->rate, supply->name, t, to, error);
    for (int64_t i = 0; i < count && !status; i++) {
        const double rate = to[i];
        if (!aqua_rate_fits(rate, unit, most, &to[i])) {
            status = refuse_rate(plan, supply, i, rate, t, error);
        }
    }
    return status;
}

sel_status aqua_discharge(const aqua_plan *plan, int inflow, int64_t step, double *units,
                          sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_inflow *from = &plan->inflows[inflow];
    const double t = aqua_time_of_amounts(plan, step);
    char what[80];
    snprintf(what, sizeof what, "discharge of source %s", from->name);
    sel_status status = aqua_values(plan, &from->source->discharge, what, t, units, error);
    if (!status && *units < 0) {
        return sel_fail_at(error, from->source->place,
                           "%s is negative, %g, at t=%.10g: sources only bring water", what, *units,
                           t);
    }
    *units *= grid->dt / (grid->dx[0] * grid->dx[0]) * aqua_store_of(plan).per_metre;
    return status;
}

/* ---- the amounts of the step to come ---- */

static bool is_due(const sel_quantity *q, unsigned due) {
    return (sel_quantity_depends(q) | AQUA_ALWAYS) & due;
}

/* A source that alone brings more than a cell can hold is refused before the step changes any depth
 * (but not yet when the state is made). */
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
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        const aqua_supply *supply = state->amount[k].supply;
        if (supply->spread == AQUA_UNIFORM && is_due(supply->rate, due)) {
            status = aqua_rate(state->plan, supply, step, &state->amount[k].uniform, error);
        }
    }
    for (int i = 0; i < state->plan->inflow_count && !status; i++) {
        status = evaluate_source(state, i, step, due, error);
    }
    return status;
}

bool aqua_rates_are_due(const aqua_amount *amount, unsigned due) {
    return amount->supply->spread == AQUA_FIELD && is_due(amount->supply->rate, due);
}

sel_status aqua_rates(aqua_state *state, const aqua_amount *amount, void *to, sel_error *error) {
    const bool whole = state->store.whole;
    const double *rate = state->field;
    sel_status status =
        aqua_rate(state->plan, amount->supply, state->base.step, state->field, error);
#pragma omp parallel for schedule(static) num_threads(state->base.threads) if (!status)
    for (int64_t i = 0; i < (status ? 0 : aqua_cells(state)); i++) {
        if (whole) {
            ((float *)to)[i] = (float)rate[i];
        } else {
            ((double *)to)[i] = rate[i];
        }
    }
    return status;
}

/* The whole quanta of amount + carry; the rest stays in *carry. */
static int64_t whole_of(double amount, double *carry) {
    const double sum = amount + *carry, whole = floor(sum);
    *carry = sum - whole;
    return (int64_t)whole;
}

double aqua_take(const aqua_state *state, aqua_amount *amount) {
    return state->store.whole ? (double)whole_of(amount->uniform, &amount->carry) : amount->uniform;
}

aqua_dose aqua_take_dose(aqua_state *state, int source) {
    const aqua_inflow *inflow = &state->plan->inflows[source];
    const double units = state->inflow_units[source], cells = (double)inflow->count;
    int64_t *turn = &state->inflow_turn[source];
    if (!state->store.whole) {
        const double each = units / cells;
        sel_total_more(&state->books.inflow[source], false, each * cells);
        return (aqua_dose){.each = each};
    }
    const int64_t whole = whole_of(units, &state->inflow_carry[source]);
    const int64_t odd = whole % inflow->count;
    const aqua_dose dose = {
        .each = (double)(whole / inflow->count), .odd = (uint32_t)odd, .turn = (uint32_t)*turn};
    *turn = (*turn + odd) % inflow->count;
    sel_total_more(&state->books.inflow[source], true, (double)whole);
    return dose;
}
