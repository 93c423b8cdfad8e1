/* lbm_warnings.c -- what may be wrong with a flow although it can be run. */
#include <math.h>
#include "engine/lbm/lbm.h"

/* |u| in lattice units above which the error of compressibility, of order Ma^2, passes 10 %. */
static const double fastest = 0.2;
static const double largest_tau = 2;
/* Of what goes the other way, that counts as none: profiles end on zeros with round-off. */
static const double no_part = 1e-6;

/* Smagorinsky's model at the largest strain that cells can show, U / dx: nu + C^2 U dx. */
double lbm_cell_reynolds(const lbm_plan *plan, double velocity) {
    const double c = plan->numbers.eddy > 0 ? plan->params->smagorinsky : 0;
    return velocity / (plan->numbers.nu + c * c * velocity);
}

static void warn_of_speed(const lbm_plan *plan, sel_error *warnings) {
    const double velocity = lbm_largest_velocity(plan) / plan->numbers.velocity_unit;
    if (velocity > fastest) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "Mach number %.3g: the velocity, %.3g in lattice units, should stay below 0.1 "
                 "(errors grow as Mach^2); reduce dt, or in lattice units the velocity and nu "
                 "together",
                 velocity * sqrt(3), velocity);
    }
    const double cell = lbm_cell_reynolds(plan, velocity);
    if (cell > LBM_LARGEST_CELL_REYNOLDS) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "Reynolds number of a cell %.3g%s: above %g the flow is seldom stable; use more "
                 "cells, %s",
                 cell, plan->numbers.eddy > 0 ? " with the eddy viscosity of a shear U / dx" : "",
                 (double)LBM_LARGEST_CELL_REYNOLDS,
                 plan->numbers.eddy > 0 ? "a larger viscosity or a larger smagorinsky"
                                        : "or a larger viscosity");
    }
}

double lbm_largest_deviation(const lbm_plan *plan) {
    double lowest, highest;
    lbm_pressure_range(plan, &lowest, &highest);
    return (highest > -lowest ? highest : lowest) / plan->numbers.pressure_unit;
}

/* Who takes the density for the pressure writes 1 where 0 is meant. */
static void warn_of_pressure(const lbm_plan *plan, sel_error *warnings) {
    const double deviation = lbm_largest_deviation(plan);
    if (fabs(deviation) > LBM_LARGEST_DEVIATION) {
        sel_fail(
            warnings, SEL_BAD_SCENARIO,
            "a pressure of %.4g makes the density %.3g times that at rest; pressures are gauge "
            "pressures: 0 at rest, and small beside density c_s^2 = %.4g",
            deviation * plan->numbers.pressure_unit, 1 + deviation, plan->numbers.pressure_unit);
    }
}

/* In SI a time step of a second is hardly ever meant. */
static void warn_of_units(const lbm_plan *plan, sel_error *warnings) {
    const sel_common *common = &plan->params->common;
    if (!common->dx_is_preset && common->dt_is_preset && common->dx != 1) {
        sel_fail_at(warnings, sel_simulation_where(plan->base.simulation, "dx"),
                    "dx is given and dt is not: dt is 1, and a velocity of 1 is %.3g in lattice "
                    "units; give dt too, or units = sel.units { ... }",
                    1 / plan->numbers.velocity_unit);
    }
}

/* What enters must leave: else mass grows, or goes, without end. */
static void warn_of_mass(const lbm_plan *plan, sel_error *warnings) {
    const sel_domain *domain = plan->base.domain;
    const lbm_passing passing = lbm_find_passing(plan);
    const double most = fmax(passing.in, passing.out), least = fmin(passing.in, passing.out);
    if (passing.free || !(most > 0) || least > no_part * most) {
        return;
    }
    const bool enters = passing.in > passing.out;
    const int number = enters ? passing.in_region : passing.out_region;
    char text[32];
    sel_fail_at(warnings, domain->regions[number - 1].at,
                enters ? "fluid enters at '%s' and can leave nowhere: mass only grows; give "
                         "a face law.pressure or law.outflow"
                       : "fluid leaves at '%s' and can enter nowhere: mass only shrinks; give "
                         "a face law.pressure",
                sel_region_name(domain, number, text));
}

void lbm_warn(const sel_plan *base, sel_error *warnings) {
    const lbm_plan *plan = (const lbm_plan *)base;
    if (plan->numbers.tau > largest_tau) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "tau %.4g: above %g the lattice relaxes too slowly to follow the flow; use fewer "
                 "cells, a smaller dt/dx^2 or a smaller viscosity",
                 plan->numbers.tau, largest_tau);
    }
    warn_of_units(plan, warnings);
    warn_of_speed(plan, warnings);
    warn_of_pressure(plan, warnings);
    lbm_warn_of_sound(plan, warnings);
    warn_of_mass(plan, warnings);
}
