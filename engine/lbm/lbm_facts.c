/* lbm_facts.c -- what `selenite check` tells of a flow, and what it warns of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/lbm/lbm.h"

/* |u| in lattice units above which the error of compressibility, of order Ma^2, passes 10 %. */
static const double fastest = 0.2;
/* Reynolds number of a cell above which the collisions are seldom stable. */
static const double largest_cell_reynolds = 20;

static sel_fact *add_fact(sel_fact facts[], int *count, const char *name) {
    sel_fact *fact = &facts[(*count)++];
    fact->name = name;
    fact->text[0] = fact->warning[0] = '\0';
    return fact;
}

/* The largest magnitude of n vectors or numbers, by component. */
static double largest_of(const double *value, int64_t n, int components) {
    double largest = 0;
    for (int64_t k = 0; k < n; k++) {
        double square = 0;
        for (int c = 0; c < components; c++) {
            square += value[c * n + k] * value[c * n + k];
        }
        largest = fmax(largest, sqrt(square));
    }
    return largest;
}

/* The largest velocity that the laws give, at the start and at times spread over the run: a law
 * that starts from rest shows its size only later. A law that fails counts as zero: the run
 * itself will report it. */
static double largest_law(const lbm_plan *plan) {
    const lbm_batches *batches = &plan->boundary.batches;
    double *values = malloc((3 * (size_t)batches->largest + 1) * sizeof *values), largest = 0;
    bool by_time;
    int64_t last_step = sel_stop_step(&plan->params->common, &by_time);
    double end = last_step == INT64_MAX ? 0 : (double)last_step;
    const int samples = 16;
    for (int k = 0; values && k < batches->count; k++) {
        const lbm_batch *batch = &batches->v[k];
        int last = batch->depends & SEL_ON_T && end > 0 ? samples : 0;
        for (int s = 0; s <= last && batch->quantity->components > 1; s++) {
            if (!lbm_batch_evaluate(batch, plan->base.domain, end * s / samples, values, NULL)) {
                largest =
                    fmax(largest, largest_of(values, batch->count, batch->quantity->components));
            }
        }
    }
    free(values);
    return largest;
}

/* The largest velocity that the scenario shows before it is run, user's units. */
double lbm_largest_velocity(const lbm_plan *plan) {
    double reference = plan->params->common.reference.velocity;
    return fmax(largest_law(plan), isnan(reference) ? 0 : reference);
}

static void add_velocity_facts(const lbm_plan *plan, sel_fact facts[], int *count) {
    const lbm_numbers *numbers = &plan->numbers;
    double velocity = lbm_largest_velocity(plan) / numbers->velocity_unit;
    if (!(velocity > 0)) {
        return;
    }
    sel_fact *mach = add_fact(facts, count, "Mach number");
    snprintf(mach->text, sizeof mach->text, "%.3g (velocity %.3g in lattice units)",
             velocity * sqrt(3), velocity);
    if (velocity > fastest) {
        snprintf(mach->warning, sizeof mach->warning,
                 "the velocity should stay below 0.1 in lattice units (errors grow as Mach^2); "
                 "reduce dt, or in lattice units the velocity and nu together");
    }
    sel_fact *cell = add_fact(facts, count, "Reynolds number of a cell");
    snprintf(cell->text, sizeof cell->text, "%.3g", velocity / numbers->nu);
    if (velocity / numbers->nu > largest_cell_reynolds) {
        snprintf(cell->warning, sizeof cell->warning,
                 "above %g the flow is seldom stable; use more cells, or a larger viscosity",
                 largest_cell_reynolds);
    }
}

static void add_reference_facts(const lbm_plan *plan, sel_fact facts[], int *count) {
    const sel_common *common = &plan->params->common;
    double length = common->reference.length, velocity = common->reference.velocity;
    if (isnan(length) || isnan(velocity)) {
        return;
    }
    double nu = plan->numbers.nu * common->dx * common->dx / common->dt;
    sel_fact *reynolds = add_fact(facts, count, "Reynolds number");
    snprintf(reynolds->text, sizeof reynolds->text, "%.4g", velocity * length / nu);
    sel_fact *through = add_fact(facts, count, "flow-through time");
    snprintf(through->text, sizeof through->text, "%.4g (%.0f steps)", length / velocity,
             ceil(length / velocity / common->dt));
}

static bool has_opening(const sel_domain *domain, int face) {
    for (int64_t s = 0; domain->face[face] && s < sel_face_sites(&domain->grid, face); s++) {
        int region = domain->face[face][s];
        if (region && lbm_region_is_wet(&domain->regions[region - 1])) {
            return true;
        }
    }
    return false;
}

/* Wet faces hold at cell centres, so a channel is one cell shorter than its size says. */
static void add_opening_facts(const lbm_plan *plan, sel_fact facts[], int *count) {
    const sel_domain *domain = plan->base.domain;
    static const char *const names[] = {"open faces x", "open faces y", "open faces z"};
    for (int a = 0; a < domain->grid.dims; a++) {
        if (has_opening(domain, 2 * a) && has_opening(domain, 2 * a + 1)) {
            sel_fact *fact = add_fact(facts, count, names[a]);
            snprintf(fact->text, sizeof fact->text,
                     "%.6g apart: they lie at the centres of the first cells",
                     (double)(domain->grid.n[a] - 1) * domain->grid.dx);
        }
    }
}

int lbm_facts(const sel_plan *base, sel_fact facts[SEL_MAX_FACTS]) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const lbm_numbers *numbers = &plan->numbers;
    int count = 0;
    sel_fact *fact = add_fact(facts, &count, "collision");
    snprintf(fact->text, sizeof fact->text, "%s on %s",
             lbm_collision_names[plan->params->collision],
             lbm_lattice_names[plan->params->lattice]);
    fact = add_fact(facts, &count, "tau");
    snprintf(fact->text, sizeof fact->text, "%.6g", numbers->tau);
    if (numbers->tau > 2) {
        snprintf(fact->warning, sizeof fact->warning,
                 "above 2 the lattice relaxes too slowly to follow the flow; use fewer cells, a "
                 "smaller dt/dx^2 or a smaller viscosity");
    }
    fact = add_fact(facts, &count, "nu in lattice units");
    snprintf(fact->text, sizeof fact->text, "%.6g", numbers->nu);
    add_velocity_facts(plan, facts, &count);
    add_reference_facts(plan, facts, &count);
    add_opening_facts(plan, facts, &count);
    return count;
}
