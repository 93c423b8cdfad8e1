/* aqua_facts.c -- what `selenite check` tells of a run-off. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/aqua/aqua_ground.h"
#include "engine/aqua/aqua_rain.h"

/* Above this alpha a pit of one cell may be filled beyond its rim. */
static const double most_without_overshoot = 2.0 / 9;

static sel_fact *add_fact(sel_fact facts[], int *count, const char *name) {
    sel_fact *fact = &facts[(*count)++];
    fact->name = name;
    fact->text[0] = '\0';
    return fact;
}

static void add_alpha(const aqua_plan *plan, sel_fact facts[], int *count) {
    sel_fact *fact = add_fact(facts, count, "alpha");
    const double alpha = plan->largest_alpha;
    if (plan->alpha) {
        snprintf(fact->text, sizeof fact->text, "%.4g to %.4g", plan->smallest_alpha, alpha);
    } else {
        snprintf(fact->text, sizeof fact->text, "%.6g", alpha);
    }
    const sel_grid *grid = &plan->base.domain->grid;
    fact = add_fact(facts, count, "speed on a slope");
    snprintf(fact->text, sizeof fact->text, "%.4g m/s (alpha dx/dt%s)", alpha * grid->dx / grid->dt,
             alpha > most_without_overshoot ? "; above 2/9 pits of one cell overshoot" : "");
}

static void add_store(const aqua_plan *plan, sel_fact facts[], int *count) {
    const aqua_store store = aqua_store_of(plan);
    sel_fact *fact = add_fact(facts, count, "depths");
    if (!store.whole) {
        snprintf(fact->text, sizeof fact->text, "f64, mass to round-off");
        return;
    }
    snprintf(fact->text, sizeof fact->text, "in quanta of 2^-%d m = %.3g m, mass exact", plan->bits,
             1 / store.per_metre);
    fact = add_fact(facts, count, "largest depth");
    snprintf(fact->text, sizeof fact->text, "%.4g m; more is an error (expected: %.4g m)",
             store.limit / store.per_metre, plan->deepest);
    fact = add_fact(facts, count, "thinnest moving film");
    snprintf(fact->text, sizeof fact->text, "about %.3g m (3 quanta / alpha)",
             3 / (plan->smallest_alpha * store.per_metre));
}

static void add_terrain(const aqua_plan *plan, sel_fact facts[], int *count) {
    aqua_terrain found, *terrain = &found;
    if (aqua_terrain_measure(plan, terrain, NULL)) {
        return; /* without memory for what is only told */
    }
    sel_fact *fact = add_fact(facts, count, "ground");
    snprintf(fact->text, sizeof fact->text, "%.6g to %.6g m", plan->lowest, terrain->highest);
    fact = add_fact(facts, count, "slope");
    snprintf(fact->text, sizeof fact->text, "mean %.3g, largest %.3g", terrain->mean_slope,
             terrain->largest_slope);
    fact = add_fact(facts, count, "pits of one cell");
    snprintf(fact->text, sizeof fact->text, "%lld%s", (long long)terrain->pits,
             terrain->pits ? "" : " (no cell lies below all its neighbours)");
    if (terrain->pits) {
        snprintf(fact->text, sizeof fact->text, "%lld, the deepest %.3g m",
                 (long long)terrain->pits, terrain->deepest_pit);
    }
}

static void add_rain(const aqua_plan *plan, sel_fact facts[], int *count) {
    aqua_rain_sum sum;
    if (!aqua_rain_measure(plan, &sum)) {
        return; /* there is none, or the run tells why it has no value */
    }
    sel_fact *fact = add_fact(facts, count, "rain");
    if (sum.endless) {
        snprintf(fact->text, sizeof fact->text, "%.6g mm/h on average", sum.mean);
    } else {
        const bool early = sel_may_end_early(&plan->params->common);
        snprintf(fact->text, sizeof fact->text, "%s%s%.6g mm = %.6g m3", early ? "at most " : "",
                 sum.samples ? "about " : "", sum.millimetres, sum.volume);
    }
    if (sum.samples) {
        const size_t used = strlen(fact->text);
        snprintf(fact->text + used, sizeof fact->text - used, " (estimate of %lld samples)",
                 (long long)sum.samples);
    }
    fact = add_fact(facts, count, "largest rate of rain");
    snprintf(fact->text, sizeof fact->text, "%.4g mm/h", sum.largest);
}

int aqua_facts(const sel_plan *base, sel_fact facts[SEL_MAX_FACTS]) {
    const aqua_plan *plan = (const aqua_plan *)base;
    int count = 0;
    sel_fact *fact = add_fact(facts, &count, "equilibrium");
    snprintf(fact->text, sizeof fact->text, "%s, %s",
             aqua_equilibrium_names[plan->params->equilibrium],
             aqua_scheme_names[plan->params->scheme]);
    add_alpha(plan, facts, &count);
    add_store(plan, facts, &count);
    add_terrain(plan, facts, &count);
    add_rain(plan, facts, &count);
    for (int i = 0; i < plan->inflow_count && count < SEL_MAX_FACTS - 1; i++) {
        fact = add_fact(facts, &count, "source");
        snprintf(fact->text, sizeof fact->text, "%s: %lld cell%s", plan->inflows[i].name,
                 (long long)plan->inflows[i].count, plan->inflows[i].count == 1 ? "" : "s");
    }
    return count;
}
