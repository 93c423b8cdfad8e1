/* aqua_inputs.c -- the inputs of run-off: rain, infiltration, the discharges of sources and the
 * levels of regions; where sources bring water, and how much cells get in a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"

static const double mm_per_hour = 1e-3 / 3600; /* m/s */

/* ---- sources ---- */

/* Lists the free cells of a source: of its shape, or the one that has its point. */
static sel_status inlet_list_cells(aqua_plan *plan, int number, sel_error *error) {
    const aqua_source *source = (const aqua_source *)plan->params->sources.v + number;
    aqua_inlet *inlet = &plan->inlets[number];
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0], cells = sel_grid_cells(&domain->grid);
    char what[64];
    const sel_spot spot = {what, inlet->where, &source->at, source->where};
    uint8_t *in = calloc((size_t)cells, 1);
    snprintf(what, sizeof what, "source %s", inlet->name);
    sel_status status =
        in ? sel_domain_find(domain, &spot, plan->base.threads, in, &inlet->cells, error)
           : sel_fail_memory(error, "the sources", (size_t)cells);
    const size_t bytes =
        (size_t)(plan->source_cell_count + inlet->cells) * sizeof(aqua_source_cell);
    aqua_source_cell *listed = status ? NULL : realloc(plan->source_cells, bytes);
    if (!status && !listed) {
        status = sel_fail_memory(error, "the sources", bytes);
    }
    plan->source_cells = listed ? listed : plan->source_cells;
    for (int64_t i = 0, k = 0; i < cells && !status; i++) {
        if (in[i]) {
            inlet->first_cell = k == 0 ? i : inlet->first_cell;
            listed[plan->source_cell_count++] =
                (aqua_source_cell){aqua_index(&plan->layout, i % nx, i / nx), (uint32_t)number,
                                   (uint32_t)k++, (uint32_t)inlet->cells};
        }
    }
    free(in);
    return status;
}

static int inlet_compare_cells(const void *a, const void *b) {
    const aqua_source_cell *one = a, *other = b;
    return one->at != other->at ? (one->at > other->at ? 1 : -1)
                                : (one->source > other->source) - (one->source < other->source);
}

/* ---- values that are refused ---- */

/* The error of a level that stands higher above its ground at the time t than the store allows. */
static sel_status refuse_level(const aqua_plan *plan, const sel_input *input, double z,
                               double ground, double t, sel_error *error) {
    const aqua_store store = aqua_store_of(plan);
    char text[32], advice[160] = "no quantum is coarser: precision = \"f64\"";
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice, "give depth_limit = %.3g, or precision = \"f64\"",
                 1.05 * (z - ground));
    }
    return sel_fail_at(error, plan->base.domain->regions[input->region - 1].law.where,
                       "law.level of region '%s': z = %.10g m at t=%.10g stands %.6g m above the "
                       "lowest ground there (%.6g m); depths in quanta of 2^-%d m hold %.4g m. If "
                       "the level is right, %s",
                       sel_region_name(plan->base.domain, input->region, text), z, t, z - ground,
                       ground, plan->bits, store.limit / store.per_metre, advice);
}

/* The error of a rate or discharge that is negative or, of rain, more than the store allows.
 * `cell`: of a field. */
static sel_status refuse_amount(const aqua_plan *plan, const sel_input *input, int64_t cell,
                                double amount, double t, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const int source = input->which - AQUA_SUPPLIES;
    const sel_where where = source < 0 ? sel_simulation_where(plan->base.simulation, input->what)
                                       : plan->inlets[source].where;
    double centre[3];
    char place[96];
    if (!(amount < 0)) {
        return sel_fail_at(error, where,
                           "%s brings %.3g m in a step at t=%g, too much for the depths of "
                           "precision \"f32\"; reduce dt, or give depth_limit",
                           input->what, amount * mm_per_hour * domain->grid.dt, t);
    }
    sel_cell_centre(&domain->grid, cell, centre);
    const sel_places at = sel_domain_at(domain, 1, centre, centre + 1, NULL, t);
    snprintf(place, sizeof place, "t=%.10g", t);
    if (input->kind == SEL_INPUT_IN_CELLS) {
        sel_place_text(&at, 0, place, sizeof place);
    }
    return sel_fail_at(error, where, "%s is negative, %g, at %s%s", input->what, amount, place,
                       source >= 0 ? ": sources only bring water" : "");
}

/* sel_inputs.check; before the quantum is chosen any level will do. */
static sel_status check_value(const sel_inputs *inputs, const sel_input *input, int64_t k,
                              int64_t step, double value, sel_error *error) {
    const aqua_plan *plan = inputs->of;
    const double t = sel_input_time(inputs, input, step);
    if (input->which == aqua_level_number(plan)) {
        const aqua_store store = aqua_store_of(plan);
        const double ground = plan->ghosts.v[input->first + k].ground;
        return !plan->bits || aqua_level_fits(value, ground, store.per_metre, store.limit)
                   ? SEL_OK
                   : refuse_level(plan, input, value, ground, t, error);
    }
    double units;
    return aqua_rate_fits(value, aqua_unit_of(plan, input->which), input->most, &units)
               ? SEL_OK
               : refuse_amount(plan, input, k, value, t, error);
}

/* ---- the list ---- */

double aqua_unit_of(const aqua_plan *plan, int which) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double per_metre = aqua_store_of(plan).per_metre;
    return which < AQUA_SUPPLIES ? mm_per_hour * grid->dt * per_metre
                                 : grid->dt / (grid->dx[0] * grid->dx[0]) * per_metre;
}

static bool varies_in_place(const sel_quantity *quantity) {
    return sel_quantity_depends(quantity) & SEL_ON_PLACE;
}

static sel_status list_input(aqua_plan *plan, const sel_input *input, sel_error *error) {
    return sel_inputs_add(&plan->inputs, input)
               ? SEL_OK
               : sel_fail_memory(error, "the inputs", sizeof *input);
}

/* Rain or infiltration, at the middle of a step. Fields that vary by controls only are sent: if one
 * fails, nothing of a step has been done. */
static sel_status list_supply(aqua_plan *plan, int k, const char *name, const sel_quantity *rate,
                              sel_error *error) {
    const bool field = varies_in_place(rate);
    sel_input input = sel_input_of(rate, field ? SEL_INPUT_IN_CELLS : SEL_INPUT_UNIFORM);
    if (!sel_quantity_given(rate)) {
        return SEL_OK;
    }
    snprintf(input.what, sizeof input.what, "%s", name);
    input.which = k;
    input.ahead = 0.5;
    input.least = 0;
    input.on_host = !field || !(sel_quantity_depends(rate) & SEL_ON_T);
    plan->supply[k] = plan->inputs.count;
    return list_input(plan, &input, error);
}

/* Refuses a source that is called as one before it: they would share a column. */
static sel_status inlet_check_name(const aqua_plan *plan, int s, sel_error *error) {
    const aqua_inlet *inlet = &plan->inlets[s];
    for (int k = 0; k < s; k++) {
        if (strcmp(plan->inlets[k].name, inlet->name) == 0) {
            return sel_fail_at(error, inlet->where,
                               "sources: two are called '%s' (numbers %d and %d; without a name "
                               "the number is the name); give each a name of its own",
                               inlet->name, k + 1, s + 1);
        }
    }
    return SEL_OK;
}

static sel_status list_sources(aqua_plan *plan, sel_error *error) {
    const sel_list *sources = &plan->params->sources;
    const size_t bytes = (size_t)(sources->n + 1) * sizeof *plan->inlets;
    sel_status status = SEL_OK;
    plan->inlets = calloc(1, bytes);
    if (!plan->inlets) {
        return sel_fail_memory(error, "the sources", bytes);
    }
    while (plan->source_count < sources->n) {
        const int s = plan->source_count++;
        const aqua_source *source = (const aqua_source *)sources->v + s;
        aqua_inlet *inlet = &plan->inlets[s];
        sel_input input = sel_input_of(&source->discharge, SEL_INPUT_UNIFORM);
        char text[32];
        snprintf(text, sizeof text, "%d", s + 1);
        const char *name = source->name ? source->name : text;
        snprintf(inlet->name, sizeof inlet->name, "%s", name);
        snprintf(input.what, sizeof input.what, "discharge of source %s", name);
        inlet->where = source->place;
        input.which = AQUA_SUPPLIES + s;
        input.ahead = 0.5;
        input.least = 0;
        input.on_host = true;
        const sel_status named = inlet_check_name(plan, s, error);
        const sel_status added = named ? named : list_input(plan, &input, error);
        const sel_status listed = added ? added : inlet_list_cells(plan, s, error);
        status = status ? status : listed;
    }
    if (plan->source_cells) {
        qsort(plan->source_cells, (size_t)plan->source_cell_count, sizeof *plan->source_cells,
              inlet_compare_cells);
    }
    return status;
}

/* The level of a region, at its ghosts: evaluated once if it does not vary in place. */
static sel_status list_level(aqua_plan *plan, int r, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_law_level *law = aqua_level_of(domain, r);
    const int64_t *first = &plan->ghosts.first[r];
    char text[32];
    if (!law || first[0] == first[1]) {
        return SEL_OK;
    }
    sel_input input =
        sel_input_of(&law->z, varies_in_place(&law->z) ? SEL_INPUT_AT_PLACES : SEL_INPUT_UNIFORM);
    snprintf(input.what, sizeof input.what, "law.level of region '%s'",
             sel_region_name(domain, r, text));
    input.region = r;
    input.which = aqua_level_number(plan);
    input.first = first[0];
    input.count = first[1] - first[0];
    input.on_host = true;
    plan->levels_depend |= sel_input_depends(&input);
    return list_input(plan, &input, error);
}

sel_status aqua_inputs_create(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    sel_inputs *inputs = &plan->inputs;
    *inputs = (sel_inputs){.domain = domain,
                           .places = plan->ghosts.count,
                           .place = {plan->ghosts.x, plan->ghosts.y},
                           .check = check_value,
                           .of = plan};
    plan->supply[AQUA_RAIN] = plan->supply[AQUA_SOIL] = -1;
    sel_status status = list_supply(plan, AQUA_RAIN, "rain", &plan->params->rain, error);
    status = status
                 ? status
                 : list_supply(plan, AQUA_SOIL, "infiltration", &plan->params->infiltration, error);
    status = status ? status : list_sources(plan, error);
    for (int r = 1; r <= domain->region_count; r++) {
        const sel_status listed = list_level(plan, r, error);
        status = status ? status : listed;
    }
    plan->base.inputs = inputs;
    plan->base.depends = inputs->depends;
    return status;
}

void aqua_inputs_bound(aqua_plan *plan) {
    const aqua_store store = aqua_store_of(plan);
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        if (plan->supply[k] >= 0) {
            plan->inputs.v[plan->supply[k]].most = store.most_rain;
        }
    }
}

sel_status aqua_ahead(const sel_plan *base, int64_t step, sel_error *error) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const sel_inputs *inputs = &plan->inputs;
    const sel_domain *domain = base->domain;
    const size_t bytes = (size_t)(plan->ghosts.count + 1) * sizeof(double);
    double centre[3], *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the levels", bytes);
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0];
    int64_t cell = own.first * nx; /* the first free one stands for all of a field */
    while (cell < own.end * nx - 1 && domain->cell[cell]) {
        cell++;
    }
    sel_cell_centre(&domain->grid, cell, centre);
    for (int k = 0; k < inputs->count && values; k++) {
        const sel_input *input = &inputs->v[k];
        const bool varies = sel_quantity_depends(input->quantity) & SEL_ON_T;
        const bool supplies = input->which < AQUA_SUPPLIES;
        const bool is_source = !supplies && input->which < aqua_level_number(plan);
        if (varies || is_source) {
            const sel_places at = sel_domain_at(domain, 1, centre, centre + 1, NULL,
                                                sel_input_time(inputs, input, step));
            const sel_status one =
                supplies ? sel_quantity_eval(input->quantity, input->what, &at, values, error)
                         : sel_input_evaluate(inputs, input, step, 0, aqua_values_of(input), values,
                                              error);
            status = status ? status : one;
        }
    }
    free(values);
    return status;
}

/* ---- the step to come ---- */

sel_input_cells aqua_cells(const sel_state *base, const sel_input *input) {
    const aqua_state *state = (const aqua_state *)base;
    return (sel_input_cells){.to = state->rate[input->which],
                             .type = state->real,
                             .layout = sel_state_own_layout(base, 1, 0),
                             .factor = aqua_unit_of(state->plan, input->which)};
}

void aqua_keep_values(void *to, const sel_inputs *inputs, const sel_input_values *values) {
    const aqua_state *state = to;
    const aqua_plan *plan = state->plan;
    const sel_input *input = values->input;
    const bool same = input->kind == SEL_INPUT_UNIFORM;
    double *v = state->values + input->which;
    (void)inputs;
    if (input->which < aqua_level_number(plan)) {
        *v = values->v[0] * aqua_unit_of(plan, input->which);
        return;
    }
    for (int64_t k = 0; k < (same ? input->count : values->count); k++) {
        v[values->first + k] = values->v[same ? 0 : k];
    }
}

sel_status aqua_start_inputs(aqua_state *state, sel_error *error) {
    const sel_inputs *inputs = &state->plan->inputs;
    const int64_t step = state->base.step;
    const size_t bytes = (size_t)(state->plan->ghosts.count + 1) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the levels", bytes);
    for (int k = 0; k < inputs->count && !status; k++) {
        const sel_input *input = &inputs->v[k];
        const int64_t count = aqua_values_of(input);
        const sel_input_values found = {input, input->first, count, step, values};
        if (input->kind == SEL_INPUT_IN_CELLS) {
            const sel_input_cells cells = aqua_cells(&state->base, input);
            status = sel_input_place(&state->base, input, step, &cells, error);
            continue;
        }
        status = sel_input_evaluate(inputs, input, step, 0, count, values, error);
        if (!status) {
            aqua_keep_values(state, inputs, &found);
        }
    }
    free(values);
    return status;
}

sel_status aqua_refuse_inflow(sel_state *base, unsigned due, sel_error *error) {
    const aqua_state *state = (const aqua_state *)base;
    const aqua_plan *plan = state->plan;
    sel_status status = SEL_OK;
    for (int k = 0; k < plan->inputs.count && !status; k++) {
        const sel_input *input = &plan->inputs.v[k];
        const int s = input->which - AQUA_SUPPLIES;
        if (s >= 0 && s < plan->source_count && sel_input_depends(input) & due &&
            state->values[input->which] / (double)plan->inlets[s].cells > state->store.limit) {
            status = aqua_too_deep(plan, base->step, plan->inlets[s].first_cell, error);
        }
    }
    return status;
}

void aqua_take(aqua_state *state, double *amounts) {
    const aqua_plan *plan = state->plan;
    const bool whole = state->store.whole;
    aqua_dose *doses = (aqua_dose *)(amounts + AQUA_SUPPLIES);
    for (int k = 0; k < AQUA_SUPPLIES + plan->source_count; k++) {
        const double due = state->values[k] + state->carry[k], units = whole ? floor(due) : due;
        state->carry[k] = due - units;
        if (k < AQUA_SUPPLIES) {
            amounts[k] = units;
            continue;
        }
        const int64_t cells = plan->inlets[k - AQUA_SUPPLIES].cells,
                      odd = whole ? (int64_t)units % cells : 0;
        const double each = (units - (double)odd) / (double)cells;
        int64_t *turn = &state->inflow_turn[k - AQUA_SUPPLIES];
        *doses++ = (aqua_dose){each, (uint32_t)odd, (uint32_t)*turn};
        *turn = (*turn + odd) % cells;
        sel_total_more(&state->totals[k], whole, each * (double)cells + (double)odd);
    }
}
