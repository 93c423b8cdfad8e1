/* lbm_plan.c -- the lattices, sel.lbm's numbers in lattice units, its plan, the solver's entry.
 *
 * Lattice Boltzmann: populations f_i of a cell stream along the lattice's directions e_i to its
 * neighbours, f_i(x + e_i, t + 1) = f_i*(x, t), and collide, f -> f*. Equations and references:
 * engine/solvers/lbm/lbm_collision.h, lbm_lattice.h, lbm_closure.h for open faces.
 */
#include "engine/solvers/lbm/lbm_terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/text.h"
#include "engine/core/cpu.h"
#include "engine/solvers/lbm/lbm_lattice.h"

#define DIRECTION(i, ex, ey, ez, opposite_of, weight_of) \
    [i].e = {ex, ey, ez}, [i].opposite = (opposite_of), [i].weight = (weight_of),
#define MIRRORS(i, ex, ey, ez, mx, my, mz) [i].mirror = {mx, my, mz},

const lbm_lattice lbm_lattices[LBM_LATTICES] = {
    [LBM_D2Q9] = {.name = "D2Q9",
                  .dims = 2,
                  .q = D2Q9_COUNT,
                  .direction = {D2Q9(DIRECTION) D2Q9_DIAGONALS(MIRRORS)}},
    [LBM_D3Q19] = {.name = "D3Q19",
                   .dims = 3,
                   .q = D3Q19_COUNT,
                   .direction = {D3Q19(DIRECTION) D3Q19_DIAGONALS(MIRRORS)}},
};

sel_status lbm_check_lattice(const lbm_params *params, sel_where where, sel_error *error) {
    const lbm_lattice *lattice = &lbm_lattices[params->lattice];
    int dims = params->common.size.n;
    if (dims == 0 || dims == lattice->dims) {
        return SEL_OK;
    }
    return sel_fail_at(error, where,
                       "sel.lbm: lattice %s needs a size of %d numbers, got %d; set lattice = "
                       "\"%s\", or size = %s",
                       lattice->name, lattice->dims, dims,
                       lbm_lattices[dims == 2 ? LBM_D2Q9 : LBM_D3Q19].name,
                       lattice->dims == 2 ? "{ nx, ny }" : "{ nx, ny, nz }");
}

static const lbm_lattice *lattice_of(const sel_common *params) {
    return &lbm_lattices[((const lbm_params *)params)->lattice];
}

static int dims(const sel_common *params) {
    return lattice_of(params)->dims;
}

int lbm_collision_of(const lbm_params *params) {
    const int usual = params->storage == SEL_STORE_POPULATIONS ? LBM_TRT : LBM_HYBRID;
    return params->collision == LBM_COLLISION_NOT_GIVEN ? usual : params->collision;
}

bool lbm_stores_moments(const lbm_params *params) {
    const bool can = lbm_collision_of(params) >= LBM_REGULARIZED;
    return params->storage == SEL_STORE_MOMENTS || (params->storage == SEL_STORE_AUTO && can);
}

/* sel_solver.store */
static sel_status lbm_plan_store(const sel_simulation *simulation, int storage, sel_error *error) {
    lbm_params *params = (lbm_params *)simulation->params;
    params->storage = storage;
    return lbm_check_storage(params, "--storage", sel_simulation_where(simulation, "collision"),
                             error);
}

/* Numbers that a cell stores. */
static int lbm_plan_components(const lbm_params *params) {
    const lbm_lattice *lattice = &lbm_lattices[params->lattice];
    const int moments = lattice->dims == 2 ? 6 : 10;
    return lbm_stores_moments(params) ? moments : lattice->q;
}

static sel_status resolve_tau(const sel_simulation *simulation, lbm_numbers *numbers,
                              sel_error *error) {
    const lbm_params *params = (const lbm_params *)simulation->params;
    double dx = params->common.dx, dt = params->common.dt;
    if (isnan(params->tau)) {
        numbers->nu = params->nu * dt / (dx * dx);
        numbers->tau = 3 * numbers->nu + 0.5;
    } else {
        numbers->tau = params->tau;
        numbers->nu = (params->tau - 0.5) / 3;
    }
    if (!(numbers->tau > 0.5)) {
        return sel_fail_at(
            error, sel_simulation_where(simulation, isnan(params->tau) ? "nu" : "tau"),
            "tau = %.9g (viscosity %.9g in lattice units) must be above 0.5; increase "
            "the viscosity, or dt/dx^2",
            numbers->tau, numbers->nu);
    }
    numbers->omega_even = numbers->omega_odd = 1 / numbers->tau;
    numbers->magic = params->magic;
    numbers->eddy =
        isnan(params->smagorinsky) ? 0 : 18 * sqrt(2) * params->smagorinsky * params->smagorinsky;
    if (lbm_collision_of(params) == LBM_TRT) {
        numbers->omega_odd = 1 / (0.5 + params->magic / (numbers->tau - 0.5));
    }
    return SEL_OK;
}

static sel_status lbm_plan_complete_plan(sel_plan *base, sel_error *error) {
    const sel_simulation *simulation = base->simulation;
    lbm_plan *p = (lbm_plan *)base;
    const lbm_params *params = p->params = (const lbm_params *)simulation->params;
    const double velocity = params->common.dx / params->common.dt;
    p->numbers = (lbm_numbers){.velocity_unit = velocity,
                               .density_unit = params->density,
                               .pressure_unit = params->density * velocity * velocity / 3};
    base->density = params->density;
    p->collision = lbm_collision_of(params);
    p->moments = lbm_stores_moments(params);
    p->components = lbm_plan_components(params);
    sel_status lattice =
        lbm_check_lattice(params, sel_simulation_where(simulation, "lattice"), error);
    if (lattice) {
        return lattice;
    }
    sel_status tau = resolve_tau(simulation, &p->numbers, error);
    const sel_status drive = lbm_resolve_drive(p, error);
    sel_status acceleration = lbm_acceleration_constant(p, p->numbers.acceleration, error);
    const double relax = p->collision >= LBM_REGULARIZED ? p->numbers.tau - 0.5 : 0;
    sel_error why = {.status = SEL_OK};
    sel_status listed = lbm_boundary_create(base->domain, &lbm_lattices[params->lattice], relax,
                                            &p->boundary, &why);
    listed = listed ? listed : lbm_inputs_create(p, &p->everywhere, &why);
    listed = sel_domain_agree(base->domain, listed, &why, error); /* the sponge is collective */
    const bool divided = base->domain->ranks != NULL;
    const bool leads = !divided || base->domain->ranks->rank == 0;
    if (!listed && !leads) {
        p->extremes = lbm_find_extremes(p);
        lbm_inputs_free(&p->everywhere);
    }
    listed = listed || tau ? listed : lbm_sponge_create(p, error);
    listed = listed ? listed : lbm_boundary_keep_patch(&p->boundary, error);
    listed = listed || !divided ? listed : lbm_inputs_create(p, &p->inputs, error);
    if (!divided) {
        p->inputs = p->everywhere;
    }
    base->inputs = &p->inputs;
    base->depends = p->inputs.depends;
    return tau ? tau : drive ? drive : acceleration ? acceleration : listed;
}

static void lbm_plan_clear_plan(sel_plan *plan) {
    lbm_plan *p = (lbm_plan *)plan;
    if (p->inputs.of != p->everywhere.of || p->inputs.v != p->everywhere.v) {
        lbm_inputs_free(&p->inputs);
    }
    lbm_inputs_free(&p->everywhere);
    lbm_sponge_free(&p->sponge);
    lbm_boundary_free(&p->boundary);
}

/* sel_solver.acceleration */
static const sel_quantity *lbm_plan_acceleration(const sel_common *params) {
    return &((const lbm_params *)params)->acceleration;
}

/* The speed of sound in lattice units is 1 / sqrt(3). */
static double sound(const sel_plan *plan) {
    return ((const lbm_plan *)plan)->numbers.velocity_unit / sqrt(3);
}

static bool lbm_plan_impossible(const sel_plan *plan, const sel_request *monitor, int64_t *cell,
                                char *text, size_t size) {
    const double mach = monitor->largest / sound(plan);
    if (monitor->smallest <= 0) {
        *cell = monitor->smallest_cell;
        snprintf(text, size, "the density is %.3g", monitor->smallest);
    } else if (mach > 1) {
        *cell = monitor->largest_cell;
        snprintf(text, size, "the speed is %.3g (Mach %.3g, faster than sound)", monitor->largest,
                 mach);
    }
    return monitor->smallest <= 0 || mach > 1;
}

static void lbm_plan_state_text(const sel_plan *base, char *text, size_t size) {
    const lbm_plan *plan = (const lbm_plan *)base;
    snprintf(text, size, "%s%s", lbm_lattice_names[plan->params->lattice],
             plan->moments ? " by moments" : "");
}

/* sel_solver.wall_value. Velocity, pressure and outflow laws and "zou_he" walls hold at the first
 * cell centres, so that no value on the face is known; slip gives no whole vector. */
static sel_status wall_value(const sel_plan *plan, int field, int region, const sel_beside *beside,
                             const sel_places *at, bool *known, double *out, sel_error *error) {
    (void)beside;
    const sel_region *of = &plan->domain->regions[region - 1];
    const sel_quantity *velocity = lbm_region_quantity(of);
    *known = lbm_law_of(of)->goal == LBM_TO_LINKS && (field == LBM_VELOCITY || field == LBM_SPEED);
    if (!*known) {
        return SEL_OK;
    }
    double u[3] = {0, 0, 0};
    sel_status status =
        velocity ? sel_quantity_eval(velocity, "law.wall: velocity", at, u, error) : SEL_OK;
    if (field == LBM_SPEED) {
        *out = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    } else {
        memcpy(out, u, (size_t)plan->domain->grid.dims * sizeof *out);
    }
    return status;
}

static const char *const initial_fields[] = {"velocity", "pressure", NULL};

/* A step reads and writes each component once; a monitor reads all populations, or of moments those
 * of density and velocity, and whether the cell is solid. A state has two copies of the components,
 * and the velocity at the last monitor. */
static sel_cell_bytes lbm_plan_bytes(const sel_common *common, int precision) {
    const lbm_params *params = (const lbm_params *)common;
    const int dims = lattice_of(common)->dims, components = lbm_plan_components(params);
    const int real = precision == SEL_F32 ? 4 : 8;
    const int seen = lbm_stores_moments(params) ? 1 + dims : components;
    return (sel_cell_bytes){.update = 2 * components * real,
                            .look = seen * real + 1,
                            .state = (2 * components + dims) * real};
}

#define PRESSURE_UNIT "density length^2/time^2 (SI: Pa)"
static const sel_field_info fields[LBM_FIELDS] = {
    [LBM_VELOCITY] = {"velocity", SEL_VECTOR, "length/time (SI: m/s)", "Velocity of the fluid.",
                      false},
    [LBM_DENSITY] = {"density", SEL_SCALAR, "that of density (SI: kg/m3)",
                     "Density of the fluid: that of the scenario where the pressure is 0.", false},
    [LBM_PRESSURE] = {"pressure", SEL_SCALAR, PRESSURE_UNIT,
                      "Gauge pressure: density cs2 (rho - 1) (dx/dt)^2, 0 at the scenario's "
                      "density; rho and cs2 = 1/3 in lattice units.",
                      false},
    [LBM_SPEED] = {"speed", SEL_SCALAR, "length/time (SI: m/s)", "Magnitude of the velocity.",
                   false},
    [LBM_VORTICITY] = {"vorticity", SEL_CURL, "1/time (SI: 1/s)",
                       "Curl of the velocity, by central differences; one-sided next to solids and "
                       "boundary faces.",
                       false},
    [LBM_Q_CRITERION] = {"q_criterion", SEL_SCALAR, "1/time^2 (SI: 1/s2)",
                         "(|rotation|^2 - |strain|^2)/2, by differences as vorticity; positive "
                         "inside vortices.",
                         false},
    [LBM_STRAIN_RATE] = {"strain_rate", SEL_SCALAR, "1/time (SI: 1/s)",
                         "sqrt(2 S:S) of the rate of strain S, from the populations of the cell; "
                         "with trt and tau near 1/2 mostly noise.",
                         .observed = true},
    [LBM_STRESS] = {"stress", SEL_TENSOR, PRESSURE_UNIT,
                    "Viscous stress 2 density nu S, the subgrid model's part included, from the "
                    "populations of the cell.",
                    .observed = true},
    [LBM_DISSIPATION] = {"dissipation", SEL_SCALAR, "length^2/time^3 (SI: W/kg)",
                         "Kinetic energy that viscosity takes, per mass and time: 2 nu S:S, the "
                         "subgrid model's part included, from the populations of the cell; noise "
                         "where strain_rate is.",
                         .observed = true},
    [LBM_WALL_SHEAR] = {"wall_shear", SEL_VECTOR, PRESSURE_UNIT,
                        "Wall shear stress, in the cells beside walls: the part along the wall of "
                        "the viscous force of the fluid on the wall per area. 0 elsewhere.",
                        .observed = true},
    [LBM_Y_PLUS] = {"y_plus", SEL_SCALAR, "1",
                    "Distance y of the centres of cells beside walls from the wall in wall units: "
                    "y+ = sqrt(|wall_shear| / density) y / nu. 0 elsewhere.",
                    .observed = true},
    [LBM_WALL_NORMAL] = {"wall_normal", SEL_VECTOR, "1",
                         "Normal of the wall beside a cell, into the fluid, of length 1; 0 in "
                         "cells that are not beside walls.",
                         false},
    [LBM_WALL_AREA] = {"wall_area", SEL_SCALAR, "length^2 (2-D: length)",
                       "Area of the wall that a cell beside it stands for.", false},
};

/* sel_solver.lacks_force: regularized closures replace all populations of a wet cell, so that links
 * do not carry what the flow along the face gives. */
static bool lbm_plan_lacks_force(const sel_plan *base, int region, char *text, size_t size) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const bool lacks =
        plan->boundary.law[region]->opening != LBM_CLOSED && plan->collision >= LBM_REGULARIZED;
    if (lacks) {
        snprintf(text, size,
                 "collision = \"%s\" replaces the populations of the cells there, and with them "
                 "momentum along the face; the force across it is right; take half-way walls, "
                 "measure the bodies inside, or set collision = \"trt\"",
                 lbm_collision_names[plan->collision]);
    }
    return lacks;
}

const sel_solver lbm_solver = {
    .name = "lbm",
    .table = &lbm_table,
    .dims = dims,
    .laws = &lbm_law_family,
    .fields = fields,
    .field_count = LBM_FIELDS,
    .main_field = LBM_VELOCITY,
    .flux_field = LBM_VELOCITY,
    .plan_size = sizeof(lbm_plan),
    .store = lbm_plan_store,
    .plan = lbm_plan_complete_plan,
    .plan_clear = lbm_plan_clear_plan,
    .facts = lbm_facts,
    .warn = lbm_warn,
    .drive = lbm_drive,
    .ahead = sel_inputs_ahead,
    .json = lbm_json,
    .impossible = lbm_plan_impossible,
    .mass_field = LBM_DENSITY,
    .brought = lbm_brought,
    .mass_cause = lbm_mass_cause,
    .viscosity = lbm_kinematic_viscosity,
    .acceleration = lbm_plan_acceleration,
    .sound = sound,
    .state_text = lbm_plan_state_text,
    .initial_fields = initial_fields,
    .hint = lbm_hint,
    .lacks_force = lbm_plan_lacks_force,
    .force_advice =
        "at an outlet absorbing = true ends it; at walls collision = \"regularized\", or "
        "more cells (tau farther from 1/2), lessens it",
    .bytes = lbm_plan_bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &lbm_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &lbm_on_cuda,
#endif
    .wall_value = wall_value,
};
