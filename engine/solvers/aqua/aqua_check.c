/* aqua_check.c -- what `check` warns of in sel.aqua before a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/scene/solver.h"
#include "engine/solvers/aqua/aqua.h"
#include "engine/values/series.h"

/* ---- rates of rain ---- */

/* Rain below the weakest brings nothing within hours; above the strongest, hardly any was measured:
 * the record of a minute is about 2,000 mm/h. In mm/h. */
static const double weakest = 0.01, strongest = 1000;

/* Whether a series has strong enough values during the run, though no step takes one of them: then
 * its times are the matter (sel_series_warn). */
static bool falls_between_steps(const aqua_plan *plan, const sel_quantity *rain) {
    const sel_lookup *lookup = sel_lookup_of(rain);
    const int64_t steps = sel_stop_step(plan->base.simulation->params);
    const double end = steps == INT64_MAX ? HUGE_VAL : (double)steps * plan->base.domain->grid.dt;
    const sel_series *s = lookup && lookup->kind == SEL_LOOKUP_SERIES ? lookup->data : NULL;
    bool falls = false;
    for (int64_t i = 0; s && i < s->rule.n; i++) {
        falls = falls || (s->value[i] >= weakest && s->t[i] >= 0 && s->t[i] < end);
    }
    return falls;
}

static void warn_of_rain(const aqua_plan *plan, sel_error *warnings) {
    const sel_where where = sel_simulation_where(plan->base.simulation, "rain");
    const sel_quantity *rain = &plan->params->rain;
    sel_survey found;
    if (!sel_survey_run(&plan->base, rain, "rain", &found) ||
        (!sel_quantity_depends(rain) && found.largest == 0)) {
        return;
    }
    if (found.largest < weakest && !falls_between_steps(plan, rain)) {
        sel_fail_at(warnings, where,
                    "rain is at most %.3g mm/h in this run, less than %g mm/h: rain is given in "
                    "mm/h; of m/s multiply by 3.6e6, and mind that series take seconds",
                    found.largest, weakest);
    } else if (found.largest > strongest) {
        sel_fail_at(warnings, where,
                    "rain reaches %.6g mm/h in this run, more than %g mm/h: rain is given in mm/h; "
                    "of mm a day divide by 24, of mm in a step of %g s multiply by 3600 / %g",
                    found.largest, strongest, plan->base.domain->grid.dt,
                    plan->base.domain->grid.dt);
    }
}

/* ---- more water than a film carries ----
 *
 * On a slope S a film, no deeper than 3/4 S dx, carries at most D S per width, D = 3/4 alpha
 * dx^2/dt. Deeper water only diffuses: a discharge q per width needs a slope q/D of its surface.
 * Where that is steeper than the ground, water piles up to (q/D - S) L at the distance L from where
 * it leaves.
 */

/* m; less is a film on flat ground. */
static const double least_depth = 0.01;

/* Heights of all ghosts: beds of open ones, levels at the start. NaN: unknown. */
static double *list_heights(const aqua_plan *plan) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    double *height = malloc(((size_t)ghosts->count + 1) * sizeof *height);
    for (int64_t k = 0; height && k < ghosts->count; k++) {
        height[k] = ghosts->v[k].level ? (double)NAN : ghosts->v[k].ground;
    }
    for (int k = 0; height && k < plan->inputs.count; k++) {
        const sel_input *input = &plan->inputs.v[k];
        const int64_t levels = input->region ? aqua_values_of(input) : 0;
        double *z = height + input->first;
        const bool fails =
            levels > 0 && sel_input_evaluate(&plan->inputs, input, 0, 0, levels, z, NULL);
        for (int64_t i = 0; i < input->count && (fails || levels == 1); i++) {
            z[i] = fails ? (double)NAN : z[0];
        }
    }
    return height;
}

/* The way from a place to the nearest ghost, of one in `stride`; fall: the height there. */
static aqua_way find_way(const aqua_plan *plan, const double *height, double x, double y,
                         int64_t stride) {
    const sel_grid *grid = &plan->base.domain->grid;
    aqua_way found = {.length = HUGE_VAL};
    double square = HUGE_VAL;
    for (int64_t k = 0; k < plan->ghosts.count; k += stride) {
        const int64_t at = plan->ghosts.v[k].at;
        const double dx = sel_centre(grid, 0, (double)aqua_column(&plan->layout, at)) - x;
        const double dy = sel_centre(grid, 1, (double)aqua_row(&plan->layout, at)) - y;
        if (dx * dx + dy * dy < square && !isnan(height[k])) {
            square = dx * dx + dy * dy;
            found = (aqua_way){.length = sqrt(square), .along = {dx, dy}, .fall = height[k]};
        }
    }
    return found;
}

/* Whether this rank knows the ground of a row. */
static bool is_own_row(const aqua_plan *plan, int64_t y) {
    const sel_rows_range own = sel_domain_own(plan->base.domain);
    return y >= own.first && y < own.end;
}

/* From the middle of a source, at its highest ground. */
static aqua_way way_of_source(const aqua_plan *plan, const double *height, int s) {
    const sel_domain *domain = plan->base.domain;
    int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {-1, -1};
    double sum[2] = {0, 0}, ground = -HUGE_VAL, cells = 0;
    for (int64_t k = 0; k < plan->source_cell_count; k++) {
        const aqua_source_cell *cell = &plan->source_cells[k];
        const int64_t at[2] = {aqua_column(&plan->layout, cell->at),
                               aqua_row(&plan->layout, cell->at)};
        for (int a = 0; a < 2 && cell->source == (uint32_t)s; a++, cells += 0.5) {
            low[a] = at[a] < low[a] ? at[a] : low[a];
            high[a] = at[a] > high[a] ? at[a] : high[a];
            sum[a] += sel_centre(&domain->grid, a, (double)at[a]);
        }
        if (cell->source == (uint32_t)s && is_own_row(plan, at[1])) {
            ground = fmax(ground, plan->ground[at[1] * domain->grid.n[0] + at[0]]);
        }
    }
    ground = sel_domain_largest(domain, ground);
    aqua_way way = cells > 0 ? find_way(plan, height, sum[0] / cells, sum[1] / cells, 1)
                             : (aqua_way){.length = HUGE_VAL};
    const int across = fabs(way.along[0]) >= fabs(way.along[1]);
    way.width = (double)(high[across] - low[across] + 1) * domain->grid.dx[0];
    way.fall = ground - way.fall;
    return way;
}

/* Of rain that from the free cell that is farthest from where water leaves; cells and ghosts are
 * sampled. */
static aqua_way way_of_rain(const aqua_plan *plan, const double *height) {
    enum { SAMPLES = 64, MOST_GHOSTS = 1000 };
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const int64_t nx = grid->n[0], ny = grid->n[1], stride = plan->ghosts.count / MOST_GHOSTS + 1;
    const int64_t fewer[2] = {nx < SAMPLES ? nx : SAMPLES, ny < SAMPLES ? ny : SAMPLES};
    aqua_way farthest = {.length = 0};
    int64_t cell = -1;
    for (int64_t k = 0; k < fewer[0] * fewer[1]; k++) {
        const int64_t i = k % fewer[0], j = k / fewer[0];
        const int64_t x = fewer[0] > 1 ? i * (nx - 1) / (fewer[0] - 1) : 0;
        const int64_t y = fewer[1] > 1 ? j * (ny - 1) / (fewer[1] - 1) : 0;
        if (domain->cell[y * nx + x]) {
            continue;
        }
        const aqua_way way = find_way(plan, height, sel_centre(grid, 0, (double)x),
                                      sel_centre(grid, 1, (double)y), stride);
        if (way.length < HUGE_VAL && way.length > farthest.length) {
            farthest = way;
            cell = y * nx + x;
        }
    }
    const bool mine = cell >= 0 && is_own_row(plan, cell / nx);
    const double ground = sel_domain_largest(domain, mine ? plan->ground[cell] : -HUGE_VAL);
    farthest.fall = ground - farthest.fall;
    return farthest;
}

sel_status aqua_ways_create(aqua_plan *plan, sel_error *error) {
    const bool rains = sel_quantity_given(&plan->params->rain);
    const size_t bytes = ((size_t)plan->source_count + 1) * sizeof *plan->ways;
    double *height = list_heights(plan);
    plan->ways = calloc(1, bytes);
    sel_error own = {.status = SEL_OK};
    sel_status status = plan->ways && height ? SEL_OK : sel_fail_memory(&own, "the ways", bytes);
    status = sel_domain_agree(plan->base.domain, status, &own, error);
    for (int s = 0; s <= plan->source_count && !status && plan->ghosts.count > 0; s++) {
        if (s < plan->source_count) {
            plan->ways[s] = way_of_source(plan, height, s);
        } else if (rains) {
            plan->ways[s] = way_of_rain(plan, height);
        }
    }
    free(height);
    return status;
}

/* The mean of a quantity over the run; 0: none is given, or it is not known. */
static double mean_over_run(const aqua_plan *plan, const sel_quantity *quantity, const char *what) {
    sel_survey found;
    const bool known = sel_survey_run(&plan->base, quantity, what, &found) && found.count > 0;
    return known ? found.sum / (double)found.count : 0;
}

/* Warns where q m2/s are more than a film carries on a way. Water that enters on a width of some m
 * spreads to both sides at 45 degrees, up to the width of the domain; 0: on all of it. */
static void warn_of_discharge(const aqua_plan *plan, const aqua_way *way, double q,
                              const char *what, sel_where where, sel_error *warnings) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double D = 0.75 * plan->largest_alpha * grid->dx[0] * grid->dx[0] / grid->dt;
    const double L = way->length, S = way->fall / L, width = way->width;
    const int across = fabs(way->along[0]) >= fabs(way->along[1]);
    const double whole = (double)grid->n[across] * grid->dx[0];
    double narrowed =
        L; /* each part by the width at the beginning over that which water has there */
    if (width > 0 && width < whole) {
        const double spread = fmin(L, (whole - width) / 2);
        narrowed = width / 2 * log1p(2 * spread / width) + (L - spread) * width / whole;
    }
    const double depth = q / D * narrowed - way->fall;
    if (S < 0 || !(depth > least_depth) || !(q > D * S)) {
        return;
    }
    sel_fail_at(
        warnings, where,
        "%s brings %.3g m3/s per metre of width, and down a slope of %.3g a film carries at "
        "most %.3g (3/4 alpha dx^2/dt times the slope): deeper water only diffuses, and "
        "this would stand about %.3g m deep in the end (after %.3g h); sel.aqua is for "
        "films and hollows, scenarios/flood.lua has roughness and deep water",
        what, q, S, D * S, depth, L * L / D / 3600);
}

/* What the soil takes of rain does not flow. */
static void warn_of_deep_water(const aqua_plan *plan, sel_error *warnings) {
    char what[96];
    for (int s = 0; s <= plan->source_count; s++) {
        const aqua_way *way = &plan->ways[s];
        if (!(way->length > 0 && way->length < HUGE_VAL)) {
            continue;
        }
        if (s < plan->source_count) {
            const aqua_inlet *inlet = &plan->inlets[s];
            const aqua_source *source = (const aqua_source *)plan->params->sources.v + s;
            char label[96];
            snprintf(label, sizeof label, "discharge of source %s", inlet->name);
            const double discharge = mean_over_run(plan, &source->discharge, label);
            snprintf(what, sizeof what, "source %s", inlet->name);
            warn_of_discharge(plan, way, discharge / way->width, what, inlet->where, warnings);
            continue;
        }
        const double net = mean_over_run(plan, &plan->params->rain, "rain") -
                           mean_over_run(plan, &plan->params->infiltration, "infiltration");
        snprintf(what, sizeof what, "rain of %.3g mm/h on a way of %.4g m", net, way->length);
        warn_of_discharge(plan, way, net * 1e-3 / 3600 * way->length, what,
                          sel_simulation_where(plan->base.simulation, "rain"), warnings);
    }
}

/* ---- all ---- */

void aqua_warn(const sel_plan *base, sel_error *warnings) {
    const aqua_plan *plan = (const aqua_plan *)base;
    if (plan->largest_alpha > 4.0 / 9) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "alpha %.4g: above 4/9 the energy of the water may rise and levels swing; take "
                 "less",
                 plan->largest_alpha);
    }
    sel_terrain_warn(&plan->params->ground, base, warnings);
    warn_of_rain(plan, warnings);
    warn_of_deep_water(plan, warnings);
}
