/* units.c -- sel.units: the lattice's dx, dt and viscosity from lengths and velocities in SI. */
#include "engine/scene/simulation.h"

#include <math.h>

/* Default velocity in cells per step: Mach 0.087, compressibility errors below 1 %. */
static const double usual_lattice_velocity = 0.05;
/* Default viscosity in lattice units, where no velocity is known: tau = 0.8. */
static const double usual_lattice_viscosity = 0.1;
static const double whole_tolerance = 1e-6;

/* Any two of velocity, viscosity and Re give the third. */
static sel_status check_units(const void *data, sel_where where, sel_error *error) {
    const sel_units_params *p = data;
    const bool velocity = !isnan(p->velocity), viscosity = !isnan(p->viscosity);
    const bool reynolds = !isnan(p->reynolds);
    sel_status status = SEL_OK;
    if (velocity && viscosity && reynolds) {
        status = sel_fail_at(error, where,
                             "sel.units: the viscosity is given twice, by viscosity and by Re with "
                             "velocity; leave one of the three out");
    }
    if (reynolds && !velocity && !viscosity) {
        status = sel_fail_at(error, where,
                             "sel.units: Re gives the viscosity when velocity is given, and the "
                             "velocity when viscosity is given; give one of them");
    }
    if (!isnan(p->lattice_velocity) && !velocity && !(viscosity && reynolds)) {
        status = sel_fail_at(error, where,
                             "sel.units: lattice_velocity is the velocity in cells per step; give "
                             "velocity too");
    }
    return status;
}

sel_units sel_units_resolve(const sel_units_params *p) {
    sel_units units = {.dx = p->length / (double)p->cells,
                       .dt = SEL_NOT_GIVEN,
                       .nu = p->viscosity,
                       .density = isnan(p->density) ? 1 : p->density,
                       .density_given = !isnan(p->density),
                       .length = p->length,
                       .velocity = p->velocity,
                       .lattice_velocity = p->lattice_velocity};
    if (!isnan(p->reynolds) && isnan(p->viscosity)) {
        units.nu = p->velocity * p->length / p->reynolds;
    } else if (!isnan(p->reynolds)) {
        units.velocity = p->reynolds * p->viscosity / p->length;
    }
    if (!isnan(units.velocity)) {
        double lattice = isnan(p->lattice_velocity) ? usual_lattice_velocity : p->lattice_velocity;
        units.dt = lattice * units.dx / units.velocity;
    } else if (!isnan(units.nu)) {
        units.dt = usual_lattice_viscosity * units.dx * units.dx / units.nu;
    }
    return units;
}

bool sel_units_whole(double value, int64_t *whole) {
    const double nearest = round(value);
    if (!(fabs(value - nearest) <= whole_tolerance) || fabs(nearest) > 0x1p53) {
        return false;
    }
    *whole = (int64_t)nearest;
    return true;
}

#define NUMBER(name, more_flags, member, text)                  \
    SEL_ROW_NAMED(name, sel_units_params, member, NUMBER, text, \
                  .flags = SEL_POSITIVE | (more_flags), .preset = SEL_NOT_GIVEN)

static const sel_field fields[] = {
    NUMBER("length", SEL_REQUIRED, length,
           "A length of the flow, m: the one in the Reynolds number; `cells` cells long."),
    SEL_ROW(sel_units_params, cells, INT, "Cells along that length: dx = length / cells.",
            .flags = SEL_REQUIRED | SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    NUMBER("velocity", 0, velocity,
           "A velocity of the flow, m/s; from Re and viscosity when not given: Re viscosity / "
           "length."),
    NUMBER("lattice_velocity", 0, lattice_velocity,
           "That velocity in cells per step: dt = lattice_velocity dx / velocity; 0.05 when not "
           "given. Where no velocity is known dt = 0.1 dx^2 / viscosity (tau 0.8)."),
    NUMBER("density", 0, density, "Density of the fluid, kg/m3; 1 when not given."),
    NUMBER("viscosity", 0, viscosity,
           "Kinematic viscosity, m2/s; from Re and velocity when not given: velocity length / Re."),
    NUMBER("Re", 0, reynolds,
           "Reynolds number velocity length / viscosity, instead of one of the two."),
};

const sel_table sel_units_table =
    SEL_TABLE("sel.units", sel_units_params, fields,
              "A lattice from numbers in SI, or in any other units that belong together: gives dx, "
              "dt, nu, density, length and velocity, as far as they are known, and cells { Lx, Ly "
              "}, the number of cells along lengths. For the field `units` of a solver.",
              .check = check_units);
