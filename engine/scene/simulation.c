/* simulation.c -- the parameter tables of all solvers: stop, hooks, reference, units. */
#include "engine/scene/simulation.h"

#include <math.h>
#include "engine/scene/solver.h"

const char *const sel_precision_names[] = {"f32", "f64", NULL};
const char *const sel_storage_names[] = {"auto", "populations", "moments", NULL};
const char *const sel_auto_precision_names[] = {"f32", "f64", "auto", NULL};
const char *const sel_backend_names[] = {"auto", "cpu", "cuda", NULL};
const char *const sel_layout_names[] = {"cell", "node", NULL};
const char *const sel_axis_names[] = {"x", "y", "z", NULL};

static sel_status check_ends(const sel_stop *stop, const char *ends, sel_where where,
                             sel_error *error) {
    if (stop->steps == SEL_INT_NOT_GIVEN && isnan(stop->time) && isnan(stop->steady) &&
        isnan(stop->wall_time) && !sel_stops_by_mean(stop)) {
        return sel_fail_at(error, where, "stop: nothing ends this run; give %s or wall_time", ends);
    }
    if ((stop->steps < 0 && stop->steps != SEL_INT_NOT_GIVEN) || stop->time < 0) {
        return sel_fail_at(error, where, "stop: steps and time must not be negative");
    }
    return SEL_OK;
}

static sel_status check_stop(const void *data, sel_where where, sel_error *error) {
    return check_ends(data, "steps, time, steady", where, error);
}

static sel_status check_mean_stop(const void *data, sel_where where, sel_error *error) {
    return check_ends(data, "steps, time, steady, mean_change", where, error);
}

#define SEL_STOP_FIELDS(steady_flags)                                                              \
    SEL_ROW(sel_stop, steps, INT, "Number of steps after which the run ends.",                     \
            .preset = SEL_NOT_GIVEN),                                                              \
        SEL_ROW(sel_stop, time, NUMBER, "The run ends at the first step at or after this time.",   \
                .preset = SEL_NOT_GIVEN),                                                          \
        SEL_ROW(sel_stop, steady, NUMBER,                                                          \
                "The run ends when the relative change of the main field (velocity, depth, "       \
                "temperature) between two tests is below this; that of temperatures is relative "  \
                "to the range that they have had in the run so far.",                              \
                .flags = steady_flags, .preset = SEL_NOT_GIVEN),                                   \
        SEL_ROW(sel_stop, every, INT,                                                              \
                "Steps between two tests; when not given, reference.length / "                     \
                "reference.velocity where reference gives both, else 1000.",                       \
                .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),                                   \
        SEL_ROW(sel_stop, wall_time, NUMBER,                                                       \
                "The run ends when it has taken this many seconds of wall time, set-up included; " \
                "the last state is written and the exit status is 0.",                             \
                .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN)

static const sel_table_field stop_fields[] = {SEL_STOP_FIELDS(SEL_POSITIVE)};
static const sel_table_field rule_stop_fields[] = {SEL_STOP_FIELDS(SEL_NOT_NEGATIVE)};
static const sel_table_field mean_stop_fields[] = {
    SEL_STOP_FIELDS(SEL_POSITIVE),
    SEL_ROW(sel_stop, mean_change, NUMBER,
            "The run ends when the mean of the main field differs from the one a step "
            "before by at most this; checked every `every` steps.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_stop_table =
    SEL_TABLE("stop", sel_stop, stop_fields,
              "When a run ends: at the first condition met. `steps` and `time` end it at "
              "once, `steady` at the next test, or at the next check for divergence if that "
              "comes first.",
              .check = check_stop);

const sel_table sel_rule_stop_table =
    SEL_TABLE("stop", sel_stop, rule_stop_fields,
              "When a run of sel.rule ends: at the first condition met. `steady` is the "
              "relative change of the main field; for whole numbers it is the fraction of "
              "the cells that changed, and 0 ends the run when none changes.",
              .check = check_stop);

const sel_table sel_mean_stop_table =
    SEL_TABLE("stop", sel_stop, mean_stop_fields,
              "When a run ends that may do so by `mean_change`: at the first condition met. "
              "`steps` and `time` end it at once, `steady` and `mean_change` at the next "
              "test, or at the next check for divergence if that comes first.",
              .check = check_mean_stop);

static sel_status check_hook(const void *data, sel_where where, sel_error *error) {
    const sel_hook *hook = data;
    if ((hook->every != SEL_INT_NOT_GIVEN) == (hook->at == SEL_HOOK_AT_END)) {
        return sel_fail_at(error, where, "hooks: give every (steps) or at = \"end\"");
    }
    return SEL_OK;
}

static const char *const hook_times[] = {"end", NULL};
static const sel_table_field hook_fields[] = {
    SEL_ROW(sel_hook, every, INT,
            "Steps between calls, from step 0 on; a call follows the outputs of its step.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(
        sel_hook, at, CHOICE,
        "\"end\": one call at the last step, before the last outputs; none when the run diverged.",
        .preset = SEL_HOOK_BY_STEPS, .choices = hook_times),
    SEL_ROW(sel_hook, call, CALLBACK,
            "Called with the run: run.step, run.time, run.state (a table kept between calls), "
            "run:probe(field, { x, y }), run:reduce(field, op), run:force(name), run:set(control, "
            "value), run:result(name, value), run:stop(reason), run:log(text).",
            .flags = SEL_REQUIRED),
};

const sel_table sel_hook_table = SEL_TABLE(
    "hooks", sel_hook, hook_fields,
    "A function that looks at the run between steps and may act on it.", .check = check_hook);

static const sel_table_field reference_fields[] = {
    SEL_ROW(
        sel_reference, length, NUMBER,
        "Characteristic length: of the Reynolds number, and in 2-D of the coefficients of forces.",
        .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_reference, velocity, NUMBER,
            "Characteristic velocity: of the Reynolds and Mach numbers, the flow-through time and "
            "the coefficients of forces.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(
        sel_reference, area, NUMBER,
        "Area of the coefficients of forces; in 2-D a length, and reference.length when not given.",
        .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_reference_table = SEL_TABLE("reference", sel_reference, reference_fields,
                                                "Scales of the flow, for dimensionless numbers.");

sel_grid sel_common_grid(const sel_common *common) {
    sel_grid grid = {.dims = common->size.n,
                     .nodes = common->layout == SEL_LAYOUT_NODE,
                     .n = {1, 1, 1},
                     .dt = common->dt,
                     .periodic = common->periodic};
    const sel_point *sides = &common->sides;
    for (int a = 0; a < 3; a++) {
        grid.dx[a] = sides->n == 0 ? common->dx : sides->v[a < sides->n ? a : 0];
    }
    for (int a = 0; a < grid.dims; a++) {
        grid.n[a] = common->size.v[a];
        grid.origin[a] = common->origin.n ? common->origin.v[a] : 0;
    }
    return grid;
}

int64_t sel_stop_step(const sel_common *common) {
    const sel_stop *stop = &common->stop;
    int64_t steps = stop->steps == SEL_INT_NOT_GIVEN ? INT64_MAX : stop->steps;
    int64_t time = isnan(stop->time) ? INT64_MAX : sel_step_at(stop->time, common->dt);
    return time < steps ? time : steps;
}

bool sel_may_end_early(const sel_common *common) {
    bool early = !isnan(common->stop.steady) || !isnan(common->stop.wall_time) ||
                 sel_stops_by_mean(&common->stop);
    for (int i = 0; i < common->hooks.n && !early; i++) {
        early = ((const sel_hook *)common->hooks.v)[i].at != SEL_HOOK_AT_END;
    }
    return early;
}

sel_where sel_simulation_where(const sel_simulation *simulation, const char *field) {
    return simulation->locate ? simulation->locate(simulation, field) : simulation->params->at;
}

void sel_scenario_destroy(sel_scenario *scenario) {
    if (!scenario) {
        return;
    }
    if (scenario->release) {
        scenario->release(scenario);
    }
    sel_arena_destroy(scenario->arena);
}

/* ---- sel.units ---- */

/* Default velocity in cells per step: Mach 0.087, compressibility errors below 1 %. */
static const double usual_lattice_velocity = 0.05;
/* Default viscosity in lattice units, where no velocity is known: tau = 0.8. */
static const double usual_lattice_viscosity = 0.1;
static const double whole_tolerance = 1e-6;

/* Any two of velocity, viscosity and Re give the third. */
static sel_status simulation_check_units(const void *data, sel_where where, sel_error *error) {
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

#define POSITIVE_NUMBER(name, more_flags, member, text)         \
    SEL_ROW_NAMED(name, sel_units_params, member, NUMBER, text, \
                  .flags = SEL_POSITIVE | (more_flags), .preset = SEL_NOT_GIVEN)

static const sel_table_field units_fields[] = {
    POSITIVE_NUMBER("length", SEL_REQUIRED, length,
                    "A length of the flow, m: the one in the Reynolds number; `cells` cells long."),
    SEL_ROW(sel_units_params, cells, INT, "Cells along that length: dx = length / cells.",
            .flags = SEL_REQUIRED | SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    POSITIVE_NUMBER(
        "velocity", 0, velocity,
        "A velocity of the flow, m/s; from Re and viscosity when not given: Re viscosity / "
        "length."),
    POSITIVE_NUMBER(
        "lattice_velocity", 0, lattice_velocity,
        "That velocity in cells per step: dt = lattice_velocity dx / velocity; 0.05 when not "
        "given. Where no velocity is known dt = 0.1 dx^2 / viscosity (tau 0.8)."),
    POSITIVE_NUMBER("density", 0, density, "Density of the fluid, kg/m3; 1 when not given."),
    POSITIVE_NUMBER(
        "viscosity", 0, viscosity,
        "Kinematic viscosity, m2/s; from Re and velocity when not given: velocity length / Re."),
    POSITIVE_NUMBER("Re", 0, reynolds,
                    "Reynolds number velocity length / viscosity, instead of one of the two."),
};

const sel_table sel_units_table =
    SEL_TABLE("sel.units", sel_units_params, units_fields,
              "A lattice from numbers in SI, or in any other consistent units: gives dx, dt, "
              "nu, density, length and velocity, as far as they are known, and cells { Lx, "
              "Ly }, the number of cells along lengths. For the field `units` of a solver.",
              .check = simulation_check_units);
