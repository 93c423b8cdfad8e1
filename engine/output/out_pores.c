/* out_pores.c -- out.pores: Darcy's law of a flow through pores, as CSV.
 *
 *     U = k G / (nu density),   G = density a - dp/dx,
 *
 * with U the mean velocity along the axis over all cells, solid ones included, a the acceleration,
 * dp/dx from the mean pressures of the first and the last layer of cells. Along the whole of a
 * periodic axis there is no such gradient.
 */
#include <math.h>
#include <stdio.h>
#include "engine/output/kind.h"
#include "engine/scene/sizes.h"

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_pores_params, axis, CHOICE, "The axis of the flow.", .flags = SEL_REQUIRED,
            .choices = sel_axis_names),
    SEL_ROW(sel_pores_params, within, SHAPE,
            "A shape.box, the sample of the porous body; the whole domain when not given."),
};

const sel_table sel_out_pores_table = SEL_TABLE(
    "out.pores", sel_pores_params, fields,
    "Darcy's law of a flow through pores, as NAME.csv with step,time and: darcy_velocity, the mean "
    "velocity along the axis over all cells, solid ones included; pore_velocity, that over the "
    "pores; driving_force, density acceleration - dp/dx, by the acceleration or drive and, but for "
    "the whole of a periodic axis, by the mean pressures of the first and the last layer of cells; "
    "permeability = nu density darcy_velocity / driving_force; tortuosity, the mean speed in the "
    "pores over pore_velocity; reynolds = darcy_velocity length / nu with the reference.length, "
    "say that of a grain, else with the root of the permeability. The last values are also in the "
    "results of run.json, as NAME.permeability and the like, with NAME.porosity and "
    "NAME.specific_surface, the area of solid cells beside pores per volume of the sample. A "
    "warning tells of a reynolds at the end so large that Darcy's law does not hold: above 1 with "
    "reference.length, else above 0.1.");

typedef struct pores_output {
    sel_output base;
    sel_box box;
    double acceleration; /* at the step of the requests */
    double surface;      /* of the solids in the box */
    double reynolds;     /* of the last row */
} pores_output;

/* The requests, in this order; the last two only with a gradient of pressure. */
enum { VELOCITY, SPEED, FIRST_PRESSURE, LAST_PRESSURE };

/* Reynolds numbers above which inertia adds some per cent to the friction: by the length of a grain
 * (S. Ergun, Chem. Eng. Prog. 48 (1952) 89-94), by the root of the permeability (J. C. Ward, J.
 * Hydraul. Div. ASCE 90 (1964) 1-12). */
static const double most_of_grains = 1, most_of_pores = 0.1;

/* Of the velocity that a step of the acceleration gives: what moves less is at rest, but for
 * round-off. */
static const double rest_part = 1e-3;

static int field_named(const sel_solver *solver, int dims, const char *name) {
    int component;
    return sel_solver_field(solver, dims, name, &component);
}

/* Whether the pressures at the ends of the box differ. */
static bool has_gradient(const sel_grid *grid, const sel_box *box, int axis) {
    return !sel_axis_periodic(grid, axis) || sel_box_count(box, axis) < grid->n[axis];
}

static bool is_driven(const sel_solver *solver, const sel_common *params, int axis) {
    const sel_drive *drive = solver->drive ? solver->drive(params) : NULL;
    return drive && drive->axis == axis;
}

/* ---- checks ---- */

/* Reports an axis without a driving force, and a force that depends on place. */
static void check_force(sel_output_checker *checker, const sel_box *box, int axis) {
    const sel_common *params = checker->simulation->params;
    const sel_quantity *a = checker->simulation->solver->acceleration(params);
    const bool given = sel_quantity_given(a) &&
                       (a->whole || a->part[axis].function || a->part[axis].constant != 0);
    const sel_function *function = !given ? NULL : a->whole ? a->whole : a->part[axis].function;
    if (is_driven(checker->simulation->solver, params, axis)) {
        return;
    }
    if (!given && !has_gradient(&checker->domain->grid, box, axis)) {
        sel_output_refuse(checker,
                          "nothing drives a flow along %s; give drive or an acceleration, or open "
                          "the faces of this axis",
                          sel_axis_names[axis]);
    } else if (function && function->depends & SEL_ON_PLACE) {
        sel_output_refuse(checker,
                          "Darcy's law needs a uniform acceleration; it may depend on time, not on "
                          "place");
    }
}

static void pores_check(sel_output_checker *checker, const void *params) {
    const sel_pores_params *pores = params;
    const sel_solver *solver = checker->simulation->solver;
    const sel_grid *grid = &checker->domain->grid;
    if (!solver->viscosity) {
        sel_output_refuse(checker, "sel.%s has no flow through pores", solver->name);
        return;
    }
    if (pores->axis >= grid->dims) {
        sel_output_refuse(checker, "axis z in a domain of 2 dimensions");
        return;
    }
    if (!sel_free_within_check(checker, pores->within)) {
        return;
    }
    const sel_box box = sel_within_box(grid, pores->within);
    if (has_gradient(grid, &box, pores->axis) && sel_box_count(&box, pores->axis) < 2) {
        sel_output_refuse(checker, "a gradient of pressure along %s needs two layers of cells",
                          sel_axis_names[pores->axis]);
        return;
    }
    check_force(checker, &box, pores->axis);
}

/* ---- opening ---- */

static sel_status open_layer(sel_output *base, int field, sel_box box, int axis, bool last,
                             sel_error *error) {
    if (last) {
        box.lo[axis] = box.hi[axis] - 1;
    } else {
        box.hi[axis] = box.lo[axis] + 1;
    }
    const sel_request request = {.kind = SEL_REDUCE, .field = field, .box = box, .components = 1};
    return sel_output_request(base, &request, error);
}

static sel_status pores_open(sel_output *base, sel_error *error) {
    static const char *const columns[] = {"darcy_velocity", "pore_velocity", "driving_force",
                                          "permeability",   "tortuosity",    "reynolds"};
    pores_output *output = (pores_output *)base;
    const sel_pores_params *params = base->params;
    const sel_solver *solver = base->context->solver;
    const sel_domain *domain = base->context->domain;
    const int dims = domain->grid.dims;
    double wetted[SEL_REGION_NUMBERS];
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        sel_csv_text(base->csv, columns[k]);
    }
    output->box = sel_within_box(&domain->grid, params->within);
    sel_request request = {.kind = SEL_REDUCE,
                           .field = field_named(solver, dims, "velocity"),
                           .box = output->box,
                           .components = dims};
    sel_status status = sel_output_request(base, &request, error);
    request.field = field_named(solver, dims, "speed");
    request.components = 1;
    status = status ? status : sel_output_request(base, &request, error);
    for (int last = 0; last < 2 && has_gradient(&domain->grid, &output->box, params->axis);
         last++) {
        const int field = field_named(solver, dims, "pressure");
        status =
            status ? status : open_layer(base, field, output->box, params->axis, last == 1, error);
    }
    status = status ? status : sel_domain_wetted(domain, &output->box, wetted, error);
    for (int k = 1; k < SEL_REGION_NUMBERS && !status; k++) {
        output->surface += wetted[k];
    }
    return status;
}

/* ---- rows ---- */

/* The acceleration may change before the answers are there. */
static sel_status pores_ask(sel_output *base, sel_error *error) {
    pores_output *output = (pores_output *)base;
    const sel_output_context *context = base->context;
    const sel_common *params = context->simulation->params;
    const sel_domain *domain = context->domain;
    const int axis = ((const sel_pores_params *)base->params)->axis;
    const sel_quantity *a = context->solver->acceleration(params);
    const double *origin = domain->grid.origin;
    double values[3] = {0};
    if (is_driven(context->solver, params, axis)) {
        output->acceleration = domain->control_values[domain->control_count - 1];
        return SEL_OK;
    }
    const sel_places at = sel_domain_at(domain, 1, &origin[0], &origin[1], &origin[2], base->time);
    const sel_status status =
        sel_quantity_given(a) ? sel_quantity_eval(a, "acceleration", &at, values, error) : SEL_OK;
    output->acceleration = values[axis];
    return status;
}

static double pores_mean(const sel_request *answer, int component) {
    return answer->sum[component] / (double)answer->count;
}

/* -dp/dx between the middles of the first and the last layer. */
static double pressure_drop(const pores_output *output, int axis) {
    const sel_requests *answers = &output->base.requests;
    const sel_grid *grid = &output->base.context->domain->grid;
    const double length = (double)(sel_box_count(&output->box, axis) - 1) * grid->dx[axis];
    return answers->count <= FIRST_PRESSURE ? 0
                                            : (pores_mean(&answers->v[FIRST_PRESSURE], 0) -
                                               pores_mean(&answers->v[LAST_PRESSURE], 0)) /
                                                  length;
}

static sel_status pores_take(sel_output *base, sel_error *error) {
    pores_output *output = (pores_output *)base;
    const sel_output_context *context = base->context;
    const sel_grid *grid = &context->domain->grid;
    const int axis = ((const sel_pores_params *)base->params)->axis;
    const sel_request *velocity = &base->requests.v[VELOCITY], *speed = &base->requests.v[SPEED];
    const double length = context->simulation->params->reference.length;
    const double nu = context->solver->viscosity(context->plan);
    const double density = context->plan->density > 0 ? context->plan->density : 1;
    const double cells = (double)sel_box_cells(&output->box);
    const double darcy = velocity->sum[axis] / cells;
    const bool flows = fabs(darcy) > rest_part * fabs(output->acceleration) * grid->dt;
    const double force = density * output->acceleration + pressure_drop(output, axis);
    const double permeability = nu * density * darcy / force;
    output->reynolds = fabs(darcy) * (isnan(length) ? sqrt(fabs(permeability)) : length) / nu;
    const struct {
        const char *name;
        double value;
        bool column;
    } v[] = {
        {"darcy_velocity", darcy, true},
        {"pore_velocity", pores_mean(velocity, axis), true},
        {"driving_force", force, true},
        {"permeability", permeability, true},
        {"tortuosity", flows ? speed->sum[0] / fabs(velocity->sum[axis]) : (double)NAN, true},
        {"reynolds", output->reynolds, true},
        {"porosity", (double)velocity->count / cells, false},
        {"specific_surface", output->surface / (cells * sel_cell_volume(grid)), false},
    };
    sel_status status = SEL_OK;
    for (size_t k = 0; k < sizeof v / sizeof *v && !status; k++) {
        if (v[k].column) {
            sel_csv_number(base->csv, v[k].value);
        }
        status = sel_output_result(base, v[k].name, v[k].value, error);
    }
    return status;
}

/* Warns of inertia. */
static sel_status pores_conclude(sel_output *base, sel_error *error) {
    const pores_output *output = (const pores_output *)base;
    const sel_output_context *context = base->context;
    const bool grains = !isnan(context->simulation->params->reference.length);
    const double most = grains ? most_of_grains : most_of_pores;
    (void)error;
    if (output->reynolds > most) {
        char about[128];
        snprintf(about, sizeof about, "the flow through '%.64s' has inertia", base->name);
        sel_output_warn(base, about,
                        "its Reynolds number by %s is %.3g; above %g Darcy's law does not hold, "
                        "and the permeability depends on the velocity; reduce what drives the flow",
                        grains ? "reference.length" : "the root of the permeability",
                        output->reynolds, most);
    }
    return SEL_OK;
}

const sel_output_kind sel_pores_kind = {
    .table = &sel_out_pores_table,
    .size = sizeof(pores_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .check = pores_check,
    .open = pores_open,
    .ask = pores_ask,
    .take = pores_take,
    .conclude = pores_conclude,
};
