/* aqua_terms.c -- what is evaluated before a step: rain, infiltration, the discharges of sources
 * and the levels of regions; where sources bring water, and how much cells get in a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua_state.h"

static const double mm_per_hour = 1e-3 / 3600; /* m/s */

/* ---- sources ---- */

/* Lists the free cells of a source: of its shape, or the one that has its point. */
static sel_status aqua_terms_list_cells(aqua_plan *plan, aqua_term *term, const aqua_source *source,
                                        sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0], cells = sel_grid_cells(&domain->grid);
    char what[64];
    const sel_spot spot = {what, term->where, &source->at, source->where};
    uint8_t *in = calloc((size_t)cells, 1);
    snprintf(what, sizeof what, "source %s", term->name);
    sel_status status =
        in ? sel_domain_find(domain, &spot, plan->base.threads, in, &term->cells, error)
           : sel_fail_memory(error, "the sources", (size_t)cells);
    const size_t bytes = (size_t)(plan->source_cell_count + term->cells) * sizeof(aqua_source_cell);
    aqua_source_cell *listed = status ? NULL : realloc(plan->source_cells, bytes);
    if (!status && !listed) {
        status = sel_fail_memory(error, "the sources", bytes);
    }
    plan->source_cells = listed ? listed : plan->source_cells;
    for (int64_t i = 0, k = 0; i < cells && !status; i++) {
        if (in[i]) {
            term->first_cell = k == 0 ? i : term->first_cell;
            listed[plan->source_cell_count++] = (aqua_source_cell){
                aqua_index(&plan->layout, i % nx, i / nx), (uint32_t)(term->first - AQUA_SUPPLIES),
                (uint32_t)k++, (uint32_t)term->cells};
        }
    }
    free(in);
    return status;
}

static int aqua_terms_compare_cells(const void *a, const void *b) {
    const aqua_source_cell *one = a, *other = b;
    return one->at != other->at ? (one->at > other->at ? 1 : -1)
                                : (one->source > other->source) - (one->source < other->source);
}

/* ---- the terms ---- */

static aqua_term *aqua_terms_add_term(aqua_plan *plan, aqua_kind kind, const sel_quantity *quantity,
                                      sel_where where, const char *what, const char *name,
                                      const char *end) {
    const unsigned depends = sel_quantity_depends(quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
    aqua_term *term = &plan->terms[plan->term_count];
    *term = (aqua_term){.kind = kind, .quantity = quantity, .where = where, .count = 1};
    snprintf(term->name, sizeof term->name, "%s", name);
    snprintf(term->what, sizeof term->what, "%s%s%s", what, name, end);
    term->first = plan->term_count++;
    plan->base.depends |= depends;
    plan->levels_depend |= kind == AQUA_STAGE ? depends : 0;
    return term;
}

static void add_rate(aqua_plan *plan, const char *name, const sel_quantity *rate) {
    const bool field = sel_quantity_depends(rate) & SEL_ON_PLACE;
    const aqua_kind kind = field ? AQUA_FIELD : AQUA_UNIFORM;
    aqua_terms_add_term(plan, sel_quantity_given(rate) ? kind : AQUA_NOTHING, rate,
                        sel_simulation_where(plan->base.simulation, name), "", name, "");
}

sel_status aqua_terms_create(aqua_plan *plan, sel_error *error) {
    const sel_list *sources = &plan->params->sources;
    const sel_domain *domain = plan->base.domain;
    const int amounts = AQUA_SUPPLIES + sources->n;
    const size_t bytes = (size_t)(amounts + domain->region_count) * sizeof *plan->terms;
    sel_status status = SEL_OK;
    char text[32];
    plan->terms = malloc(bytes);
    if (!plan->terms) {
        return sel_fail_memory(error, "the terms", bytes);
    }
    add_rate(plan, "rain", &plan->params->rain);
    add_rate(plan, "infiltration", &plan->params->infiltration);
    while (plan->source_count < sources->n) {
        const aqua_source *source = (const aqua_source *)sources->v + plan->source_count++;
        snprintf(text, sizeof text, "%d", plan->source_count);
        aqua_term *term =
            aqua_terms_add_term(plan, AQUA_DISCHARGE, &source->discharge, source->place,
                                "discharge of source ", source->name ? source->name : text, "");
        const sel_status listed = aqua_terms_list_cells(plan, term, source, error);
        status = status ? status : listed;
    }
    if (plan->source_cells) {
        qsort(plan->source_cells, (size_t)plan->source_cell_count, sizeof *plan->source_cells,
              aqua_terms_compare_cells);
    }
    for (int r = 1; r <= domain->region_count; r++) {
        const aqua_law_level *law = aqua_level_of(domain, r);
        const int64_t *first = &plan->ghosts.first[r];
        if (law && first[0] < first[1]) {
            aqua_term *term =
                aqua_terms_add_term(plan, AQUA_STAGE, &law->z, domain->regions[r - 1].law.where,
                                    "law.level of region '", sel_region_name(domain, r, text), "'");
            term->region = r;
            term->first = amounts + first[0];
            term->count = first[1] - first[0];
        }
    }
    return status;
}

double aqua_unit_of(const aqua_plan *plan, aqua_kind kind) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double per_metre = aqua_store_of(plan).per_metre;
    return kind <= AQUA_FIELD ? mm_per_hour * grid->dt * per_metre
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
                       sel_region_name(plan->base.domain, term->region, text), z, t, z - ground,
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
    if (term->kind == AQUA_FIELD) {
        sel_place_text(&at, 0, place, sizeof place);
    }
    return sel_fail_at(error, term->where, "%s is negative, %g, at %s%s", term->what, amount, place,
                       term->kind == AQUA_DISCHARGE ? ": sources only bring water" : "");
}

sel_status aqua_evaluate_term(const aqua_plan *plan, const aqua_term *term, double step,
                              const sel_rows_range *rows, double *to, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_ghosts *ghosts = &plan->ghosts;
    const aqua_store store = aqua_store_of(plan);
    const bool field = term->kind == AQUA_FIELD, level = term->kind == AQUA_STAGE;
    const double t = (step + (level ? 0 : 0.5)) * domain->grid.dt;
    const double unit = aqua_unit_of(plan, term->kind);
    const double most = term->kind <= AQUA_FIELD ? store.most_rain : HUGE_VAL;
    const int64_t ghost = level ? ghosts->first[term->region] : 0;
    const double *x = level ? ghosts->x + ghost : domain->grid.origin;
    const double *y = level ? ghosts->y + ghost : domain->grid.origin + 1;
    const bool same = !(sel_quantity_depends(term->quantity) & SEL_ON_PLACE);
    const sel_rows_range all = {0, domain->grid.n[1]}, *of = rows ? rows : &all;
    const int64_t nx = domain->grid.n[0];
    const int64_t count = field ? (of->end - of->first) * nx : term->count;
    const sel_evaluation asked = {
        .quantity = term->quantity, .what = term->what, .t = t, .first = of->first, .end = of->end};
    const sel_places at = sel_domain_at(domain, same ? 1 : count, x, y, NULL, t);
    sel_status status = field ? sel_domain_evaluate(domain, &asked, plan->base.threads, to, error)
                              : sel_quantity_eval(term->quantity, term->what, &at, to, error);
    for (int64_t i = 0; i < count && !status; i++) {
        const double value = level && same ? to[0] : to[i];
        to[i] = value;
        if (level) {
            /* Before the quantum is chosen any level will do. */
            const double ground = ghosts->v[ghost + i].ground;
            const bool fits =
                !plan->bits || aqua_level_fits(value, ground, store.per_metre, store.limit);
            status = fits ? SEL_OK : refuse_level(plan, term, value, ground, t, error);
        } else if (!aqua_rate_fits(value, unit, most, &to[i])) {
            status = refuse_amount(plan, term, field ? of->first * nx + i : i, value, t, error);
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
    const double t = ((double)step + 0.5) * domain->grid.dt;
    const sel_places at = sel_domain_at(domain, 1, centre, centre + 1, NULL, t);
    for (int k = 0; k < plan->term_count && values; k++) {
        const aqua_term *term = &plan->terms[k];
        const bool varies = sel_quantity_depends(term->quantity) & SEL_ON_T;
        if (varies || term->kind == AQUA_DISCHARGE) {
            sel_status one =
                term->kind <= AQUA_FIELD
                    ? sel_quantity_eval(term->quantity, term->what, &at, values, error)
                    : aqua_evaluate_term(plan, term, (double)step, NULL, values, error);
            status = status ? status : one;
        }
    }
    free(values);
    return status;
}

/* ---- the step to come ---- */

sel_status aqua_rates(aqua_state *state, int k, void *to, sel_error *error) {
    const sel_rows_range own = sel_own_planes(&state->base);
    const int64_t nx = state->plan->layout.nx, cells = (own.end - own.first) * nx;
    const sel_status status = aqua_evaluate_term(
        state->plan, &state->plan->terms[k], (double)state->base.step, &own, state->field, error);
#pragma omp parallel for schedule(static) num_threads(state->base.threads) if (!status)
    for (int64_t i = 0; i < (status ? 0 : cells); i++) {
        sel_put(to, state->real, own.first * nx + i, state->field[i]);
    }
    return status;
}

/* A source that alone brings more than a cell can hold is refused before the step changes any depth
 * (but not yet when the state is made). */
sel_status aqua_evaluate(sel_state *base, unsigned due, sel_error *error) {
    aqua_state *state = (aqua_state *)base;
    const aqua_plan *plan = state->plan;
    sel_status status = SEL_OK;
    for (int k = 0; k < plan->term_count && !status; k++) {
        const aqua_term *term = &plan->terms[k];
        double *to = state->values + term->first;
        if (term->kind != AQUA_NOTHING &&
            (sel_quantity_depends(term->quantity) | SEL_ALWAYS) & due) {
            status = term->kind != AQUA_FIELD
                         ? aqua_evaluate_term(plan, term, (double)base->step, NULL, to, error)
                     : state->give ? state->give(state, k, due, error)
                                   : aqua_rates(state, k, state->rate[k], error);
        }
        if (!status && term->kind == AQUA_DISCHARGE && !(due & SEL_ALWAYS) &&
            *to / (double)term->cells > state->store.limit) {
            status = aqua_too_deep(plan, base->step, term->first_cell, error);
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
        const int64_t cells = plan->terms[k].cells, odd = whole ? (int64_t)units % cells : 0;
        const double each = (units - (double)odd) / (double)cells;
        int64_t *turn = &state->inflow_turn[k - AQUA_SUPPLIES];
        *doses++ = (aqua_dose){each, (uint32_t)odd, (uint32_t)*turn};
        *turn = (*turn + odd) % cells;
        sel_total_more(&state->totals[k], whole, each * (double)cells + (double)odd);
    }
}
