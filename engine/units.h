/* units.h -- sel.units: the lattice's dx, dt and viscosity from lengths and velocities in SI. */
#ifndef SEL_UNITS_H
#define SEL_UNITS_H

#include "engine/schema.h"

/* The fields of sel.units, in the user's units. NaN: not given. */
typedef struct sel_units_params {
    double length;
    int64_t cells;
    double velocity, lattice_velocity;
    double density;
    double viscosity, reynolds;
} sel_units_params;

/* What they give, in the user's units. NaN: not known. */
typedef struct sel_units {
    double dx, dt;
    double nu;
    double density;
    double length, velocity;
    double lattice_velocity; /* cells per step; NaN: not given */
    bool density_given;
} sel_units;

extern const sel_table sel_units_table;

/* `params` have passed the table's check. dt is what makes the velocity `lattice_velocity` cells a
 * step; where no velocity is known, what makes the viscosity 0.1 in lattice units (tau 0.8). */
sel_units sel_units_resolve(const sel_units_params *params);

/* True when `value` is a whole number to 1e-6, which is stored in `whole`. */
bool sel_units_whole(double value, int64_t *whole);

#endif
