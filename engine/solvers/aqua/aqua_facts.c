/* aqua_facts.c -- the facts and warnings of `selenite check`. */
#include <math.h>
#include <stdio.h>
#include "engine/scene/survey.h"
#include "engine/solvers/aqua/aqua.h"

/* ---- rain ---- */

/* Rain below the weakest brings nothing within hours; above the strongest, hardly any was measured:
 * the record of a minute is about 2,000 mm/h. In mm/h. */
static const double weakest = 0.01, strongest = 1000;

static void warn_of_rain(const aqua_plan *plan, sel_error *warnings) {
    const sel_where where = sel_simulation_where(plan->base.simulation, "rain");
    const sel_quantity *rain = &plan->params->rain;
    sel_survey found;
    if (!sel_survey_run(&plan->base, rain, "rain", &found) ||
        (!sel_quantity_depends(rain) && found.largest == 0)) {
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

static void add_rain(const aqua_plan *plan, sel_facts *facts) {
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t steps = sel_stop_step(&plan->params->common);
    const double hours = (double)steps * grid->dt / 3600;
    const double area = (double)plan->base.domain->free_cells * grid->dx[0] * grid->dx[0];
    sel_survey found;
    if (!sel_survey_run(&plan->base, &plan->params->rain, "rain", &found)) {
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
    sel_terrain_facts(base, plan->ground, plan->lowest, facts);
    add_rain(plan, facts);
    for (int i = 0; i < plan->source_count && facts->count < SEL_MAX_FACTS - 1; i++) {
        const aqua_term *source = &plan->terms[AQUA_SUPPLIES + i];
        sel_fact_add(facts, "source", "%s: %lld cell%s", source->name, (long long)source->cells,
                     source->cells == 1 ? "" : "s");
    }
}

/* ---- warnings ---- */

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
    sel_terrain_warn(&plan->params->ground, base, warnings);
    warn_of_rain(plan, warnings);
}
