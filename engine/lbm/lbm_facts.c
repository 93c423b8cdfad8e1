/* lbm_facts.c -- what `selenite check` tells of a flow. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/lbm/lbm.h"

static sel_fact *add_fact(sel_fact facts[], int *count, const char *name) {
    sel_fact *fact = &facts[(*count)++];
    fact->name = name;
    fact->text[0] = '\0';
    return fact;
}

static void add_number(sel_fact facts[], int *count, const char *name, double lattice,
                       double unit) {
    sel_fact *fact = add_fact(facts, count, name);
    fact->user = lattice * unit;
    fact->lattice = lattice;
}

/* What lattice and user count differently, beside lengths and velocities. */
static void add_units(const lbm_plan *plan, sel_fact facts[], int *count) {
    const lbm_numbers *numbers = &plan->numbers;
    const double dx = plan->params->common.dx;
    const double velocity = lbm_largest_velocity(plan) / numbers->velocity_unit;
    add_number(facts, count, "viscosity nu", numbers->nu, numbers->velocity_unit * dx);
    add_number(facts, count, "density", 1, numbers->density_unit);
    if (velocity > 0) {
        add_number(facts, count, "largest velocity given", velocity, numbers->velocity_unit);
        add_number(facts, count, "its dynamic pressure", 0.5 * velocity * velocity,
                   3 * numbers->pressure_unit);
    }
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
    sel_fact *cell = add_fact(facts, count, "Reynolds number of a cell");
    snprintf(cell->text, sizeof cell->text, "%.3g", velocity / numbers->nu);
}

/* Without friction, from rest: sqrt(2 dp / rho). */
static void add_pressure_facts(const lbm_plan *plan, sel_fact facts[], int *count) {
    const lbm_numbers *numbers = &plan->numbers;
    double lowest, highest;
    lbm_pressure_range(plan, &lowest, &highest);
    double velocity = sqrt(2 * (highest - lowest) / numbers->density_unit) / numbers->velocity_unit;
    if (velocity > 0) {
        sel_fact *mach = add_fact(facts, count, "Mach number by pressures");
        snprintf(mach->text, sizeof mach->text,
                 "at most %.3g (frictionless from rest: velocity %.3g in lattice units)",
                 velocity * sqrt(3), velocity);
    }
}

static void add_sound_facts(const lbm_plan *plan, sel_fact facts[], int *count) {
    double period = lbm_sound_period(plan);
    if (period > 0) {
        sel_fact *sound = add_fact(facts, count, "slowest sound");
        snprintf(sound->text, sizeof sound->text, "period 4 L / c_s = %.4g (%.0f steps)",
                 period * plan->params->common.dt, ceil(period));
    }
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

/* Along the axis that the flow passes from face to face, or the longest one. */
static double domain_length(const sel_domain *domain) {
    const sel_grid *grid = &domain->grid;
    int64_t longest = 0;
    for (int a = 0; a < grid->dims; a++) {
        if (has_opening(domain, 2 * a) && has_opening(domain, 2 * a + 1)) {
            return (double)grid->n[a] * grid->dx;
        }
        longest = grid->n[a] > longest ? grid->n[a] : longest;
    }
    return (double)longest * grid->dx;
}

static void add_reference_facts(const lbm_plan *plan, sel_fact facts[], int *count) {
    const sel_common *common = &plan->params->common;
    double length = common->reference.length, velocity = common->reference.velocity;
    if (isnan(length) || isnan(velocity)) {
        return;
    }
    sel_fact *reynolds = add_fact(facts, count, "Reynolds number");
    snprintf(reynolds->text, sizeof reynolds->text, "%.4g",
             velocity * length / lbm_viscosity(plan));
    sel_fact *through = add_fact(facts, count, "flow-through time");
    double time = domain_length(plan->base.domain) / velocity;
    snprintf(through->text, sizeof through->text, "%.4g (%.0f steps)", time,
             ceil(time / common->dt));
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

/* Six digits, or as many as tell it from 1/2, which it must be above. */
static void tau_text(double tau, char *text, size_t size) {
    int digits = 6;
    do {
        snprintf(text, size, "%.*g", digits++, tau);
    } while (strcmp(text, "0.5") == 0 && digits <= 17);
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
    tau_text(numbers->tau, fact->text, sizeof fact->text);
    fact = add_fact(facts, &count, "nu in lattice units");
    snprintf(fact->text, sizeof fact->text, "%.6g", numbers->nu);
    add_velocity_facts(plan, facts, &count);
    add_pressure_facts(plan, facts, &count);
    add_reference_facts(plan, facts, &count);
    add_opening_facts(plan, facts, &count);
    add_sound_facts(plan, facts, &count);
    add_units(plan, facts, &count);
    return count;
}
