/* aqua_facts.c -- the facts and warnings of `selenite check`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/base/file.h"
#include "engine/solvers/aqua/aqua.h"

/* ---- how much rain a run brings, known before it starts: summed up, or sampled ---- */

/* Rain below the weakest brings nothing within hours; above the strongest, hardly any was measured:
 * the record of a minute is about 2,000 mm/h. In mm/h. */
static const double weakest = 0.01, strongest = 1000;

/* Steps that are summed one by one; times of a sample, all its values, and places that are tried
 * for one that is free. */
enum { MOST_STEPS = 1000000, SAMPLED_TIMES = 320, SAMPLED = 100000, TRIES = 64 };

/* Values of a rate, mm/h. */
typedef struct rate {
    double sum, largest;
    int64_t count;
    bool estimate; /* they are a sample */
} rate;

/* Free cells, `wanted` if so many are met: their places in x and y, how many. *k goes on along a
 * sequence that fills the plane evenly (Roberts 2018: powers of the plastic number). */
static int64_t sample_places(const sel_domain *domain, int64_t wanted, int64_t *k, double *x,
                             double *y) {
    const sel_grid *grid = &domain->grid;
    int64_t n = 0;
    for (int64_t tries = 0; n < wanted && tries < TRIES * wanted; tries++, ++*k) {
        const double u = fmod(0.5 + 0.7548776662466927 * (double)*k, 1);
        const double v = fmod(0.5 + 0.5698402909980532 * (double)*k, 1);
        const int64_t column = (int64_t)(u * (double)grid->n[0]);
        const int64_t row = (int64_t)(v * (double)grid->n[1]);
        if (domain->cell[row * grid->n[0] + column] == 0) {
            x[n] = sel_centre(grid, 0, (double)column);
            y[n++] = sel_centre(grid, 1, (double)row);
        }
    }
    return n;
}

/* At all steps, or at some at even distances; at places that change from step to step, or at the
 * origin if rain is the same everywhere. */
static sel_status sample(const aqua_plan *plan, const sel_quantity *rain, int64_t steps,
                         rate *found) {
    const sel_domain *domain = plan->base.domain;
    const bool place = sel_quantity_depends(rain) & SEL_ON_PLACE;
    const int64_t most = place ? SAMPLED_TIMES : MOST_STEPS;
    const int64_t all = sel_quantity_depends(rain) & SEL_ON_T ? steps : 1;
    const int64_t times = all < most ? all : most, wanted = place ? SAMPLED / times : 1;
    double *x = malloc(3 * (size_t)wanted * sizeof *x), *y = x + wanted, *value = y + wanted;
    sel_status status = x ? SEL_OK : SEL_NO_DEVICE;
    int64_t next = 0;
    for (int64_t k = 0; k < times && !status; k++) {
        const double middle = ((double)k + 0.5) / (double)times * (double)all;
        const double t = aqua_time_of_amounts(plan, times == all ? k : (int64_t)middle);
        x[0] = domain->grid.origin[0];
        y[0] = domain->grid.origin[1];
        const int64_t n = place ? sample_places(domain, wanted, &next, x, y) : 1;
        const sel_places at = sel_domain_at(domain, n, x, y, NULL, t);
        status = n ? sel_quantity_eval(rain, "rain", &at, value, NULL) : SEL_OK;
        for (int64_t i = 0; i < n && !status; i++) {
            found->sum += value[i];
            found->largest = fmax(found->largest, value[i]);
        }
        found->count += n;
    }
    found->estimate = place || times < all;
    free(x);
    return status;
}

/* Rain that depends on time or on place alone is summed up step by step or cell by cell, other rain
 * is sampled. With the controls as they are at the start. False where there is no rain, or it has
 * no value somewhere. */
static bool measure_rain(const aqua_plan *plan, rate *found) {
    const sel_quantity *rain = &plan->params->rain;
    const unsigned depends = sel_quantity_depends(rain);
    const int64_t steps = sel_stop_step(&plan->params->common);
    *found = (rate){0};
    if (!sel_quantity_given(rain) || steps < 1 || (steps == INT64_MAX && (depends & SEL_ON_T))) {
        return false;
    }
    if (depends & SEL_ON_PLACE && !(depends & SEL_ON_T)) {
        found->count = plan->base.domain->free_cells;
        return !aqua_sum_cells(plan, rain, "rain", aqua_time_of_amounts(plan, 0), &found->sum,
                               &found->largest, NULL);
    }
    return !sample(plan, rain, steps, found) && found->count > 0;
}

static void warn_of_rain(const aqua_plan *plan, sel_error *warnings) {
    const sel_where where = sel_simulation_where(plan->base.simulation, "rain");
    rate found;
    bool constant = !sel_quantity_depends(&plan->params->rain);
    if (!measure_rain(plan, &found) || (constant && found.largest == 0)) {
        return;
    }
    if (found.largest < weakest) {
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

/* ---- facts ---- */

/* Above this alpha a pit of one cell may be filled beyond its rim. */
static const double most_without_overshoot = 2.0 / 9;

static void add_alpha(const aqua_plan *plan, sel_facts *facts) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double alpha = plan->largest_alpha;
    if (plan->alpha) {
        sel_fact_add(facts, "alpha", "%.4g to %.4g", plan->smallest_alpha, alpha);
    } else {
        sel_fact_add(facts, "alpha", "%.6g", alpha);
    }
    sel_fact_add(facts, "speed on a slope", "%.4g m/s (alpha dx/dt%s)",
                 alpha * grid->dx[0] / grid->dt,
                 alpha > most_without_overshoot ? "; above 2/9 pits of one cell overshoot" : "");
}

static void add_store(const aqua_plan *plan, sel_facts *facts) {
    const aqua_store store = aqua_store_of(plan);
    if (!store.whole) {
        sel_fact_add(facts, "depths", "f64, mass to round-off");
        return;
    }
    sel_fact_add(facts, "depths", "in quanta of 2^-%d m = %.3g m, mass exact", plan->bits,
                 1 / store.per_metre);
    sel_fact_add(facts, "largest depth", "%.4g m; more is an error (expected: %.4g m)",
                 store.limit / store.per_metre, plan->deepest);
    sel_fact_add(facts, "thinnest moving film", "about %.3g m (3 quanta / alpha)",
                 3 / (plan->smallest_alpha * store.per_metre));
}

static void add_terrain(const aqua_plan *plan, sel_facts *facts) {
    sel_terrain terrain;
    if (!sel_terrain_measure(plan->base.domain, plan->ground, plan->base.threads, &terrain)) {
        return;
    }
    sel_fact_add(facts, "ground", "%.6g to %.6g m", plan->lowest, terrain.highest);
    sel_fact_add(facts, "slope", "mean %.3g, largest %.3g", terrain.mean_slope,
                 terrain.largest_slope);
    if (terrain.pits) {
        sel_fact_add(facts, "pits of one cell", "%lld, the deepest %.3g m", (long long)terrain.pits,
                     terrain.deepest_pit);
    } else {
        sel_fact_add(facts, "pits of one cell", "0 (no cell lies below all its neighbours)");
    }
}

static void add_rain(const aqua_plan *plan, sel_facts *facts) {
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t steps = sel_stop_step(&plan->params->common);
    const double hours = (double)steps * grid->dt / 3600;
    const double area = (double)plan->base.domain->free_cells * grid->dx[0] * grid->dx[0];
    rate found;
    if (!measure_rain(plan, &found)) {
        return; /* there is none, or the run tells why it has no value */
    }
    const double mean = found.sum / (double)found.count;
    char estimate[48] = "";
    if (found.estimate) {
        snprintf(estimate, sizeof estimate, " (estimate of %lld samples)", (long long)found.count);
    }
    if (steps == INT64_MAX) {
        sel_fact_add(facts, "rain", "%.6g mm/h on average%s", mean, estimate);
    } else {
        sel_fact_add(facts, "rain", "%s%s%.6g mm = %.6g m3%s",
                     sel_may_end_early(&plan->params->common) ? "at most " : "",
                     found.estimate ? "about " : "", mean * hours, mean * hours / 1000 * area,
                     estimate);
    }
    sel_fact_add(facts, "largest rate of rain", "%.4g mm/h", found.largest);
}

void aqua_facts(const sel_plan *base, sel_facts *facts) {
    const aqua_plan *plan = (const aqua_plan *)base;
    sel_fact_add(facts, "equilibrium", "%s, %s", aqua_equilibrium_names[plan->params->equilibrium],
                 aqua_scheme_names[plan->params->scheme]);
    add_alpha(plan, facts);
    add_store(plan, facts);
    add_terrain(plan, facts);
    add_rain(plan, facts);
    for (int i = 0; i < plan->source_count && facts->count < SEL_MAX_FACTS - 1; i++) {
        const aqua_term *source = &plan->terms[AQUA_SUPPLIES + i];
        sel_fact_add(facts, "source", "%s: %lld cell%s", source->name, (long long)source->cells,
                     source->cells == 1 ? "" : "s");
    }
}

/* ---- warnings ---- */

/* Of a raster that looks like one in degrees, where nothing says what its coordinates are. */
static void warn_of_degrees(const aqua_plan *plan, sel_error *warnings) {
    const sel_raster *raster = sel_terrain_raster(&plan->params->ground);
    char warp[SEL_WARP_ROOM];
    if (raster && raster->file && plan->base.domain->grid.dx[0] == raster->dx &&
        sel_map_looks_like_degrees(raster)) {
        sel_fail_at(
            warnings, sel_simulation_where(plan->base.simulation, "ground"),
            "ground: %s lies at %.6g to %.6g by %.6g to %.6g with cells of %.6g and does not "
            "name its map: this looks like degrees, and is taken as metres. If it is in "
            "degrees: %s",
            sel_file_name(raster->file->path), raster->origin[0],
            raster->origin[0] + (double)raster->n[0] * raster->dx, raster->origin[1],
            raster->origin[1] + (double)raster->n[1] * raster->dx, raster->dx,
            sel_map_warp(raster, false, warp));
    }
}

/* Above this alpha potential energy may rise in a step. */
static const double most_without_rise = 4.0 / 9;

void aqua_warn(const sel_plan *base, sel_error *warnings) {
    const aqua_plan *plan = (const aqua_plan *)base;
    if (plan->largest_alpha > most_without_rise) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "alpha %.4g: above 4/9 the energy of the water may rise and levels swing; take "
                 "less",
                 plan->largest_alpha);
    }
    warn_of_degrees(plan, warnings);
    warn_of_rain(plan, warnings);
}
