/* aqua_terms.c -- what is evaluated before a step: rain, infiltration, the discharges of sources
 * and the levels of regions; where sources bring water, and how much cells get in a step. */
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

/* Adds the free cells of a source: of its shape, or the one that has its point. */
static sel_status list_cells(aqua_plan *plan, uint32_t number, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    aqua_inflow *inflow = &plan->inflows[number];
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
    for (int64_t i = cells - 1; i >= 0 && !status; i--) {
        in[i] = in[i] && domain->cell[i] == 0;
        inflow->count += in[i];
        inflow->first = in[i] ? i : inflow->first;
    }
    if (!status && inflow->count == 0) {
        status = refuse_place(plan, inflow, cell, error);
    }
    const size_t bytes =
        (size_t)(plan->source_cell_count + inflow->count) * sizeof(aqua_source_cell);
    aqua_source_cell *listed = status ? NULL : realloc(plan->source_cells, bytes);
    if (!status && !listed) {
        status = sel_fail_memory(error, "the sources", bytes);
    }
    plan->source_cells = listed ? listed : plan->source_cells;
    for (int64_t i = 0, k = 0; i < cells && !status; i++) {
        if (in[i]) {
            listed[plan->source_cell_count++] =
                (aqua_source_cell){aqua_index(&plan->layout, i % nx, i / nx), number, (uint32_t)k++,
                                   (uint32_t)inflow->count};
        }
    }
    free(in);
    return status;
}

static int compare_cells(const void *a, const void *b) {
    const aqua_source_cell *one = a, *other = b;
    return one->at != other->at ? (one->at > other->at ? 1 : -1)
                                : (one->source > other->source) - (one->source < other->source);
}

sel_status aqua_sources_create(aqua_plan *plan, sel_error *error) {
    const int count = plan->params->sources.n;
    const aqua_source *sources = plan->params->sources.v;
    plan->inflows = calloc((size_t)count + 1, sizeof *plan->inflows);
    if (!plan->inflows) {
        return sel_fail_memory(error, "the sources", sizeof *plan->inflows);
    }
    sel_status status = SEL_OK;
    char number[16];
    for (plan->inflow_count = 0; plan->inflow_count < count; plan->inflow_count++) {
        const int i = plan->inflow_count;
        aqua_inflow *inflow = &plan->inflows[i];
        inflow->source = &sources[i];
        snprintf(number, sizeof number, "%d", i + 1);
        snprintf(inflow->name, sizeof inflow->name, "%s",
                 sources[i].name ? sources[i].name : number);
        sel_status listed = list_cells(plan, (uint32_t)i, error);
        status = status ? status : listed;
    }
    if (plan->source_cells) {
        qsort(plan->source_cells, (size_t)plan->source_cell_count, sizeof *plan->source_cells,
              compare_cells);
    }
    return status;
}

/* ---- the terms ---- */

static aqua_term *add_term(aqua_plan *plan, aqua_kind kind, const sel_quantity *quantity,
                           sel_where where) {
    const unsigned depends = sel_quantity_depends(quantity);
    aqua_term *term = &plan->terms[plan->term_count];
    *term = (aqua_term){
        .kind = kind, .spread = AQUA_UNIFORM, .quantity = quantity, .where = where, .count = 1};
    term->first = plan->term_count++;
    plan->depends |= depends & (SEL_ON_T | SEL_ON_CONTROLS);
    return term;
}

static void add_rate(aqua_plan *plan, const char *name, const sel_quantity *rate) {
    const sel_where where = sel_simulation_where(plan->base.simulation, name);
    aqua_term *term = add_term(plan, AQUA_RATE, rate, where);
    const bool field = sel_quantity_depends(rate) & SEL_ON_PLACE;
    term->spread = !sel_quantity_given(rate) ? AQUA_NOTHING : field ? AQUA_FIELD : AQUA_UNIFORM;
    snprintf(term->what, sizeof term->what, "%s", name);
}

sel_status aqua_terms_create(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const int amounts = AQUA_SUPPLIES + plan->inflow_count;
    const size_t bytes = (size_t)(amounts + domain->region_count) * sizeof *plan->terms;
    plan->terms = malloc(bytes);
    if (!plan->terms) {
        return sel_fail_memory(error, "the terms", bytes);
    }
    add_rate(plan, "rain", &plan->params->rain);
    add_rate(plan, "infiltration", &plan->params->infiltration);
    for (int i = 0; i < plan->inflow_count; i++) {
        const aqua_source *source = plan->inflows[i].source;
        aqua_term *term = add_term(plan, AQUA_DISCHARGE, &source->discharge, source->place);
        term->owner = i;
        snprintf(term->what, sizeof term->what, "discharge of source %s", plan->inflows[i].name);
    }
    const unsigned before = plan->depends;
    plan->depends = 0;
    for (int r = 1; r <= domain->region_count; r++) {
        const aqua_law_level *law = aqua_level_of(domain, r);
        const int64_t *first = &plan->ghosts.first[r];
        if (law && first[0] < first[1]) {
            char text[32];
            aqua_term *term = add_term(plan, AQUA_STAGE, &law->z, domain->regions[r - 1].law.where);
            term->owner = r;
            term->first = amounts + first[0];
            term->count = first[1] - first[0];
            snprintf(term->what, sizeof term->what, "law.level of region '%s'",
                     sel_region_name(domain, r, text));
        }
    }
    plan->levels_depend = plan->depends;
    plan->depends |= before;
    return SEL_OK;
}

double aqua_unit_of(const aqua_plan *plan, aqua_kind kind) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double per_metre = aqua_store_of(plan).per_metre;
    return kind == AQUA_RATE ? mm_per_hour * grid->dt * per_metre
                             : grid->dt / (grid->dx[0] * grid->dx[0]) * per_metre;
}

/* The error of a level that stands higher above its ground at the time t than the store allows. */
static sel_status refuse_level(const aqua_plan *plan, const aqua_term *term, double z,
                               double ground, double t, sel_error *error) {
    const aqua_store store = aqua_store_of(plan);
    char text[32], advice[160] = "no quantum is coarser: precision = \"f64\"";
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice, "give depth_limit = %.3g, or precision = \"f64\"",
                 1.05 * (z - ground));
    }
    return sel_fail_at(error, term->where,
                       "law.level of region '%s': z = %.10g m at t=%.10g stands %.6g m above the "
                       "lowest ground there (%.6g m); depths in quanta of 2^-%d m hold %.4g m. If "
                       "the level is right, %s",
                       sel_region_name(plan->base.domain, term->owner, text), z, t, z - ground,
                       ground, plan->bits, store.limit / store.per_metre, advice);
}

/* The error of a rate or discharge that is negative or, of rain, more than the store allows.
 * `cell`: of a field. */
static sel_status refuse_amount(const aqua_plan *plan, const aqua_term *term, int64_t cell,
                                double amount, double t, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    double centre[3];
    char place[96];
    if (!(amount < 0)) {
        return sel_fail_at(error, term->where,
                           "%s brings %.3g m in a step at t=%g, too much for the depths of "
                           "precision \"f32\"; reduce dt, or give depth_limit",
                           term->what, amount * mm_per_hour * domain->grid.dt, t);
    }
    sel_cell_centre(&domain->grid, cell, centre);
    const sel_places at = sel_domain_at(domain, 1, centre, centre + 1, NULL, t);
    snprintf(place, sizeof place, "t=%.10g", t);
    if (term->spread == AQUA_FIELD) {
        sel_place_text(&at, 0, place, sizeof place);
    }
    return sel_fail_at(error, term->where, "%s is negative, %g, at %s%s", term->what, amount, place,
                       term->kind == AQUA_DISCHARGE ? ": sources only bring water" : "");
}

sel_status aqua_evaluate_term(const aqua_plan *plan, const aqua_term *term, double step, double *to,
                              sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_ghosts *ghosts = &plan->ghosts;
    const aqua_store store = aqua_store_of(plan);
    const bool field = term->spread == AQUA_FIELD, level = term->kind == AQUA_STAGE;
    const double t = (step + (level ? 0 : 0.5)) * domain->grid.dt;
    const double unit = aqua_unit_of(plan, term->kind);
    const double most = term->kind == AQUA_RATE ? store.most_rain : HUGE_VAL;
    const int64_t ghost = level ? ghosts->first[term->owner] : 0;
    const double *x = level ? ghosts->x + ghost : domain->grid.origin;
    const double *y = level ? ghosts->y + ghost : domain->grid.origin + 1;
    const bool same = !(sel_quantity_depends(term->quantity) & SEL_ON_PLACE);
    const int64_t count = field ? sel_grid_cells(&domain->grid) : term->count;
    const sel_evaluation asked = {.quantity = term->quantity, .what = term->what, .t = t};
    const sel_places at = sel_domain_at(domain, same ? 1 : count, x, y, NULL, t);
    sel_status status = field ? sel_domain_evaluate(domain, &asked, plan->base.threads, to, error)
                              : sel_quantity_eval(term->quantity, term->what, &at, to, error);
    for (int64_t i = 0; i < count && level && !status; i++) {
        const double ground = ghosts->ground[ghost + i];
        to[i] = same ? to[0] : to[i];
        /* Before the quantum is chosen any level will do. */
        if (plan->bits && !aqua_level_fits(to[i], ground, store.per_metre, store.limit)) {
            status = refuse_level(plan, term, to[i], ground, t, error);
        }
    }
    for (int64_t i = 0; i < count && !level && !status; i++) {
        const double amount = to[i];
        if (!aqua_rate_fits(amount, unit, most, &to[i])) {
            status = refuse_amount(plan, term, i, amount, t, error);
        }
    }
    return status;
}

sel_status aqua_ahead(const sel_plan *base, int64_t step, sel_error *error) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const sel_domain *domain = base->domain;
    const size_t bytes = (size_t)(plan->ghosts.count + 1) * sizeof(double);
    double centre[3], *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the levels", bytes);
    int64_t cell = 0; /* the first free one stands for all of a field */
    while (domain->cell[cell]) {
        cell++;
    }
    sel_cell_centre(&domain->grid, cell, centre);
    const double t = aqua_time_of_amounts(plan, step);
    const sel_places at = sel_domain_at(domain, 1, centre, centre + 1, NULL, t);
    for (int k = 0; k < plan->term_count && values; k++) {
        const aqua_term *term = &plan->terms[k];
        const bool varies = sel_quantity_depends(term->quantity) & SEL_ON_T;
        if (varies || term->kind == AQUA_DISCHARGE) {
            sel_status one = term->kind == AQUA_RATE
                                 ? sel_quantity_eval(term->quantity, term->what, &at, values, error)
                                 : aqua_evaluate_term(plan, term, (double)step, values, error);
            status = status ? status : one;
        }
    }
    free(values);
    return status;
}

/* ---- the step to come ---- */

static bool is_due(const aqua_term *term, unsigned due) {
    return (sel_quantity_depends(term->quantity) | SEL_ALWAYS) & due;
}

bool aqua_rates_are_due(const aqua_state *state, int k, unsigned due) {
    const aqua_term *term = &state->plan->terms[k];
    return term->spread == AQUA_FIELD && is_due(term, due);
}

sel_status aqua_rates(aqua_state *state, int k, void *to, sel_error *error) {
    const bool whole = state->store.whole;
    const double *rate = state->field;
    sel_status status = aqua_evaluate_term(state->plan, &state->plan->terms[k],
                                           (double)state->base.step, state->field, error);
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

/* A source that alone brings more than a cell can hold is refused before the step changes any depth
 * (but not yet when the state is made). */
sel_status aqua_evaluate(aqua_state *state, int64_t step, unsigned due, sel_error *error) {
    const aqua_plan *plan = state->plan;
    sel_status status = SEL_OK;
    for (int k = 0; k < plan->term_count && !status; k++) {
        const aqua_term *term = &plan->terms[k];
        double *to = state->values + term->first;
        if (term->spread == AQUA_UNIFORM && is_due(term, due)) {
            status = aqua_evaluate_term(plan, term, (double)step, to, error);
        } else if (!state->base.arrays.memory && aqua_rates_are_due(state, k, due)) {
            status = aqua_rates(state, k, state->rate[k], error);
        }
        if (!status && term->kind == AQUA_DISCHARGE && !(due & SEL_ALWAYS)) {
            const aqua_inflow *inflow = &plan->inflows[term->owner];
            const bool deep = *to / (double)inflow->count > state->store.limit;
            status = deep ? aqua_too_deep(plan, step, inflow->first, error) : SEL_OK;
        }
    }
    return status;
}

double aqua_take(aqua_state *state, int k) {
    if (!state->store.whole) {
        return state->values[k];
    }
    const double sum = state->values[k] + state->carry[k], whole = floor(sum);
    state->carry[k] = sum - whole;
    return whole;
}

static aqua_dose take_dose(aqua_state *state, int source) {
    const int k = AQUA_SUPPLIES + source;
    const int64_t cells = state->plan->inflows[source].count;
    const double units = aqua_take(state, k);
    int64_t *turn = &state->inflow_turn[source];
    if (!state->store.whole) {
        const double each = units / (double)cells;
        sel_total_more(&state->totals[k], false, each * (double)cells);
        return (aqua_dose){.each = each};
    }
    const int64_t odd = (int64_t)units % cells, each = (int64_t)units / cells;
    const aqua_dose dose = {(double)each, (uint32_t)odd, (uint32_t)*turn};
    *turn = (*turn + odd) % cells;
    sel_total_more(&state->totals[k], true, units);
    return dose;
}

void aqua_take_doses(aqua_state *state, aqua_dose *doses) {
    for (int i = 0; i < state->plan->inflow_count; i++) {
        doses[i] = take_dose(state, i);
    }
}
