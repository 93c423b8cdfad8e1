/* lbm_tables.c -- the fields of sel.lbm and of its laws. */
#include "engine/lbm/lbm.h"

#include <math.h>

const char *const lbm_lattice_names[] = {"D2Q9", "D3Q19", NULL};
const char *const lbm_collision_names[] = {"trt", "bgk", "regularized", NULL};
const char *const lbm_wall_names[] = {"halfway", "zou_he", NULL};

#define COUNT(fields) (int)(sizeof(fields) / sizeof *(fields))

static const sel_field wall_fields[] = {
    {"velocity", SEL_KIND_VECTOR, 0, offsetof(lbm_law_wall, velocity),
     "Velocity of the wall, evaluated at the middle of each link that the wall cuts; at rest when "
     "not given.",
     0, NULL, NULL, NULL},
    {"scheme", SEL_KIND_CHOICE, 0, offsetof(lbm_law_wall, scheme),
     "halfway: half-way bounce-back; zou_he, on faces only: the wall lies at the centres of the "
     "first cells.",
     LBM_HALFWAY, lbm_wall_names, NULL, NULL},
};
static const sel_field velocity_fields[] = {
    {"velocity", SEL_KIND_VECTOR, SEL_REQUIRED | SEL_POSITIONAL,
     offsetof(lbm_law_velocity, velocity),
     "Velocity at the centres of the first cells, half a cell inside the face.", 0, NULL, NULL,
     NULL},
};
static const sel_field pressure_fields[] = {
    {"pressure", SEL_KIND_QUANTITY, SEL_REQUIRED | SEL_POSITIONAL,
     offsetof(lbm_law_pressure, pressure),
     "Gauge pressure at the centres of the first cells, half a cell inside the face; the velocity "
     "along the face is zero.",
     0, NULL, NULL, NULL},
};

static const sel_field outflow_fields[] = {
    {"relaxation", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(lbm_law_outflow, relaxation),
     "Share K of the pressure that is given up in a step, below 1; 0.25 c_s / L when not given, "
     "with "
     "L the cells of the domain along the normal and c_s = 1/sqrt 3. Of sound with the angular "
     "frequency w, per step, K / sqrt(K^2 + 4 w^2) comes back; the pressure returns by a factor e "
     "in 2 / K steps.",
     SEL_NOT_GIVEN, NULL, NULL, NULL},
};

static sel_status check_outflow(const void *data, sel_where where, sel_error *error) {
    const lbm_law_outflow *law = data;
    return law->relaxation >= 1
               ? sel_fail_at(error, where, "law.outflow: relaxation must be below 1, got %g",
                             law->relaxation)
               : SEL_OK;
}

const sel_table lbm_wall_table = {
    "law.wall",
    "No slip, by half-way bounce-back: the wall lies on the face, or half-way to the solid cell.",
    sizeof(lbm_law_wall),
    SIZE_MAX,
    wall_fields,
    COUNT(wall_fields),
    NULL,
};
const sel_table lbm_outflow_table = {
    "law.outflow",
    "An open face through which the flow convects out: vortices leave, and so does sound that "
    "comes "
    "along the normal: 8 % of the slowest wave of the domain come back. The pressure returns to 0, "
    "by a factor e in the time in which sound goes 8 lengths of the domain.",
    sizeof(lbm_law_outflow),
    SIZE_MAX,
    outflow_fields,
    COUNT(outflow_fields),
    check_outflow,
};
const sel_table lbm_slip_table = {
    "law.slip",
    "A plane of symmetry on the face: no flow through it, no friction on it.",
    sizeof(lbm_law_empty),
    SIZE_MAX,
    NULL,
    0,
    NULL,
};
const sel_table lbm_velocity_table = {
    "law.velocity",
    "An open face with a given velocity (Zou-He).",
    sizeof(lbm_law_velocity),
    SIZE_MAX,
    velocity_fields,
    COUNT(velocity_fields),
    NULL,
};
const sel_table lbm_pressure_table = {
    "law.pressure",
    "An open face with a given pressure (Zou-He).",
    sizeof(lbm_law_pressure),
    SIZE_MAX,
    pressure_fields,
    COUNT(pressure_fields),
    NULL,
};

static const sel_table *const laws[LBM_LAWS] = {
    &lbm_wall_table, &lbm_velocity_table, &lbm_pressure_table, &lbm_outflow_table, &lbm_slip_table};
const sel_family lbm_law_family = {"law", "What holds on a region of sel.lbm.", laws, LBM_LAWS};
const sel_law_place lbm_law_places[LBM_LAWS] = {
    {&lbm_wall_table, true, true},      {&lbm_velocity_table, true, false},
    {&lbm_pressure_table, true, false}, {&lbm_outflow_table, true, false},
    {&lbm_slip_table, true, false},
};

static const sel_field region_fields[] = {SEL_REGION_FIELDS(lbm_law_family)};
const sel_table lbm_region_table = SEL_REGION_TABLE(region_fields);

static sel_status check_initial(const void *data, sel_where where, sel_error *error) {
    const lbm_initial *initial = data;
    if (sel_quantity_given(&initial->pressure) && sel_quantity_given(&initial->density)) {
        return sel_fail_at(error, where,
                           "initial: pressure and density say the same thing; give one of them");
    }
    return SEL_OK;
}

static const sel_field initial_fields[] = {
    {"velocity", SEL_KIND_VECTOR, 0, offsetof(lbm_initial, velocity),
     "Velocity at the start; zero when not given.", 0, NULL, NULL, NULL},
    {"pressure", SEL_KIND_QUANTITY, 0, offsetof(lbm_initial, pressure),
     "Gauge pressure at the start; zero when not given.", 0, NULL, NULL, NULL},
    {"density", SEL_KIND_QUANTITY, 0, offsetof(lbm_initial, density),
     "Density at the start, instead of pressure.", 0, NULL, NULL, NULL},
};
static const sel_table initial_table = {
    "initial",           "The flow at step 0, with the stresses that belong to its velocity.",
    sizeof(lbm_initial), SIZE_MAX,
    initial_fields,      COUNT(initial_fields),
    check_initial,
};

static sel_status check_units(const lbm_params *params, sel_where where, sel_error *error) {
    const sel_units *units = params->common.units;
    if (units && isnan(units->dt) && params->common.dt_is_preset) {
        return sel_fail_at(
            error, where,
            "sel.lbm: units give no dt; give sel.units a velocity or a viscosity, or "
            "give dt here");
    }
    return SEL_OK;
}

static sel_status check_params(const void *data, sel_where where, sel_error *error) {
    const lbm_params *params = data;
    sel_status status = check_units(params, where, error);
    if (params->common.units && !isnan(params->common.units->nu) && !isnan(params->tau)) {
        status = sel_fail_at(error, where, "sel.lbm: nu comes from units; leave tau out");
    } else if (isnan(params->nu) == isnan(params->tau)) {
        status = sel_fail_at(error, where, "sel.lbm: give %s nu or tau",
                             isnan(params->nu) ? "one of" : "only one of");
    }
    sel_status fits = lbm_check_lattice(params, where, error);
    return status ? status : fits;
}

static const sel_field lbm_fields[] = {
    SEL_COMMON_FIELDS(lbm_region_table),
    {"lattice", SEL_KIND_CHOICE, SEL_REQUIRED, offsetof(lbm_params, lattice),
     "The set of velocities; its first number is the number of dimensions.", LBM_D2Q9,
     lbm_lattice_names, NULL, NULL},
    {"nu", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(lbm_params, nu),
     "Kinematic viscosity; nu or tau is required.", SEL_NOT_GIVEN, NULL, NULL, NULL},
    {"tau", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(lbm_params, tau),
     "Relaxation time in steps, above 1/2: nu = (tau - 1/2)/3 dx^2/dt.", SEL_NOT_GIVEN, NULL, NULL,
     NULL},
    {"collision", SEL_KIND_CHOICE, 0, offsetof(lbm_params, collision),
     "trt: two relaxation times; bgk: one, and walls move with the viscosity; regularized: one, "
     "and moments above the stress are dropped. Which is stablest depends on the flow: regularized "
     "bears a smaller viscosity in vortices and cavities, trt a coarse body in a channel.",
     LBM_TRT, lbm_collision_names, NULL, NULL},
    {"magic", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(lbm_params, magic),
     "Of trt: the product of (tau - 1/2) for the even and for the odd moments; with 3/16 straight "
     "walls lie exactly on the faces.",
     3.0 / 16.0, NULL, NULL, NULL},
    {"acceleration", SEL_KIND_VECTOR, 0, offsetof(lbm_params, acceleration),
     "Force per mass; zero when not given.", 0, NULL, NULL, NULL},
    {"smagorinsky", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(lbm_params, smagorinsky),
     "Constant C of Smagorinsky's eddy viscosity (C dx)^2 |S|, usually 0.1 to 0.2; without it "
     "there is no eddy viscosity.",
     SEL_NOT_GIVEN, NULL, NULL, NULL},
    {"density", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(lbm_params, density),
     "Density of the fluid at pressure 0.", 1, NULL, NULL, NULL},
    {"initial", SEL_KIND_TABLE, 0, offsetof(lbm_params, initial),
     "The flow at step 0; at rest when not given.", 0, NULL, &initial_table, NULL},
};

const sel_table lbm_table = {
    "sel.lbm",          "Weakly compressible flow by the lattice Boltzmann method.",
    sizeof(lbm_params), offsetof(sel_common, at),
    lbm_fields,         COUNT(lbm_fields),
    check_params,
};
