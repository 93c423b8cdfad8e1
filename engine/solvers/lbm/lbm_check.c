/* lbm_check.c -- what `selenite check` reports of a flow, its warnings, and why a run may have
 * diverged.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/text.h"
#include "engine/solvers/lbm/lbm_terms.h"

/* ---- facts ---- */

static void add_number(sel_facts *facts, const char *name, double lattice, double unit) {
    facts->v[facts->count++] = (sel_fact){.name = name, .user = lattice * unit, .lattice = lattice};
}

/* Numbers in lattice and in user's units. */
static void add_units(const lbm_plan *plan, double velocity, sel_facts *facts) {
    const lbm_numbers *numbers = &plan->numbers;
    const double dx = plan->params->common.dx;
    add_number(facts, "viscosity nu", numbers->nu, numbers->velocity_unit * dx);
    add_number(facts, "density", 1, numbers->density_unit);
    if (velocity > 0) {
        add_number(facts, "largest velocity given", velocity, numbers->velocity_unit);
        add_number(facts, "its dynamic pressure", 0.5 * velocity * velocity,
                   3 * numbers->pressure_unit);
    }
}

/* Without friction, from rest: sqrt(2 dp / rho). Between two faces of a channel only friction holds
 * the flow back, and it may become faster. */
static void add_pressure_facts(const lbm_plan *plan, const lbm_extremes *given, sel_facts *facts) {
    const double pressure = given->highest - given->lowest;
    const double velocity =
        sqrt(2 * pressure / plan->numbers.density_unit) / plan->numbers.velocity_unit;
    if (velocity > 0) {
        sel_fact_add(
            facts, "Mach number by pressures",
            "at most %.3g from rest (velocity %.3g in lattice units); more along a channel",
            velocity * sqrt(3), velocity);
    }
}

static void add_sound_facts(const lbm_plan *plan, sel_facts *facts) {
    double period = lbm_sound_period(plan);
    if (period > 0) {
        sel_fact_add(facts, "slowest sound", "period 4 L / c_s = %.4g (%.0f steps)",
                     period * plan->params->common.dt, ceil(period));
    }
    lbm_sound_facts(plan, facts);
    lbm_sponge_facts(plan, facts);
}

double lbm_kinematic_viscosity(const sel_plan *plan) {
    const sel_common *common = plan->simulation->params;
    return ((const lbm_plan *)plan)->numbers.nu * common->dx * common->dx / common->dt;
}

/* Whether some site of a face has cells at whose centres its law holds; `open`: and fluid
 * passes. */
static bool has_opening(const lbm_plan *plan, int face, bool open) {
    const sel_domain *domain = plan->base.domain;
    for (int64_t s = 0; domain->face[face] && s < sel_face_sites(&domain->grid, face); s++) {
        const lbm_law_row *law = plan->boundary.law[domain->face[face][s]];
        if (open ? lbm_law_is_open(law) : law->opening != LBM_CLOSED) {
            return true;
        }
    }
    return false;
}

static bool both_have_opening(const lbm_plan *plan, int axis, bool open) {
    return has_opening(plan, 2 * axis, open) && has_opening(plan, 2 * axis + 1, open);
}

/* Along the first axis with both ends open, else along the longest one. */
static double domain_length(const lbm_plan *plan) {
    const sel_grid *grid = &plan->base.domain->grid;
    int64_t longest = 0;
    for (int a = 0; a < grid->dims; a++) {
        if (both_have_opening(plan, a, true)) {
            return (double)grid->n[a] * grid->dx[0];
        }
        longest = grid->n[a] > longest ? grid->n[a] : longest;
    }
    return (double)longest * grid->dx[0];
}

static void add_reference_facts(const lbm_plan *plan, sel_facts *facts) {
    const sel_common *common = &plan->params->common;
    double length = common->reference.length, velocity = common->reference.velocity;
    if (isnan(length) || isnan(velocity)) {
        return;
    }
    double time = domain_length(plan) / velocity;
    sel_fact_add(facts, "Reynolds number", "%.4g",
                 velocity * length / lbm_kinematic_viscosity(&plan->base));
    sel_fact_add(facts, "flow-through time", "%.4g (%.0f steps)", time, ceil(time / common->dt));
}

/* Wet faces hold at cell centres, so a channel is one cell shorter than its size says. */
static void add_opening_facts(const lbm_plan *plan, sel_facts *facts) {
    const sel_domain *domain = plan->base.domain;
    static const char *const names[] = {"faces x", "faces y", "faces z"};
    for (int a = 0; a < domain->grid.dims; a++) {
        if (both_have_opening(plan, a, false)) {
            sel_fact_add(facts, names[a], "%.6g apart: they lie at the centres of the first cells",
                         (double)(domain->grid.n[a] - 1) * domain->grid.dx[0]);
        }
    }
}

/* Six digits, or as many as are needed to distinguish it from 1/2, its lower limit. */
static void tau_text(double tau, char *text, size_t size) {
    int digits = 6;
    do {
        snprintf(text, size, "%.*g", digits++, tau);
    } while (strcmp(text, "0.5") == 0 && digits <= 17);
}

static const char *storage_name(const lbm_plan *plan) {
    return sel_storage_names[plan->moments ? SEL_STORE_MOMENTS : SEL_STORE_POPULATIONS];
}

void lbm_facts(const sel_plan *base, sel_facts *facts) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const lbm_numbers *numbers = &plan->numbers;
    const lbm_extremes given = lbm_find_extremes(plan);
    const double velocity = given.velocity / numbers->velocity_unit;
    char text[32];
    tau_text(numbers->tau, text, sizeof text);
    sel_fact_add(facts, "collision", "%s on %s, %s are stored",
                 lbm_collision_names[plan->collision], lbm_lattice_names[plan->params->lattice],
                 storage_name(plan));
    sel_fact_add(facts, "tau", "%s", text);
    sel_fact_add(facts, "nu in lattice units", "%.6g", numbers->nu);
    if (velocity > 0) {
        sel_fact_add(facts, "Mach number", "%.3g (velocity %.3g in lattice units)",
                     velocity * sqrt(3), velocity);
        sel_fact_add(facts, "Reynolds number of a cell", "%.3g", velocity / numbers->nu);
    }
    add_pressure_facts(plan, &given, facts);
    add_reference_facts(plan, facts);
    add_opening_facts(plan, facts);
    add_sound_facts(plan, facts);
    add_units(plan, velocity, facts);
}

static void put_number(FILE *to, const char *name, double value) {
    fprintf(to, ", \"%s\": ", name);
    sel_json_number(to, value);
}

void lbm_json(const sel_plan *plan, FILE *to) {
    const lbm_plan *p = (const lbm_plan *)plan;
    const sel_reference *reference = &p->params->common.reference;
    const double nu = lbm_kinematic_viscosity(plan);
    const double mach = lbm_find_extremes(p).velocity / p->numbers.velocity_unit * sqrt(3);
    fprintf(to, "\"lattice\": \"%s\", \"collision\": \"%s\", \"storage\": \"%s\"",
            lbm_lattice_names[p->params->lattice], lbm_collision_names[p->collision],
            storage_name(p));
    put_number(to, "nu", nu);
    put_number(to, "tau", p->numbers.tau);
    /* null without a reference, and where no velocity is known ahead */
    put_number(to, "reynolds", reference->velocity * reference->length / nu);
    put_number(to, "mach", mach > 0 ? mach : (double)NAN);
    if (p->numbers.eddy > 0) {
        put_number(to, "smagorinsky", p->params->smagorinsky);
    }
}

/* ---- warnings ---- */

/* |u| in lattice units above which the error of compressibility, of order Ma^2, passes 10 %. */
static const double fastest = 0.2;
static const double largest_tau = 2;
/* Deviation of the density above which the flow is not even weakly compressible. */
static const double most_deviation = 0.3;
/* Whether flow may pass through a face of the domain. */
static bool lbm_check_is_open(const lbm_plan *plan) {
    bool open = false;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        open = open || lbm_law_is_open(plan->boundary.law[r]);
    }
    return open;
}

static double most_cell_reynolds(const lbm_plan *plan) {
#define LIMITS(name, walls_2d, walls_3d, open_2d, open_3d) \
    {{walls_2d, walls_3d}, {open_2d, open_3d}},
    static const double limits[LBM_COLLISIONS][2][2] = {LBM_CELL_REYNOLDS(LIMITS)};
#undef LIMITS
    const sel_domain *domain = plan->base.domain;
    return limits[plan->collision][lbm_check_is_open(plan)][domain->grid.dims - 2];
}

/* The Reynolds number of a cell at a velocity U in lattice units. Smagorinsky's model counts at the
 * largest strain that cells can show, U / dx: nu + C^2 U dx. */
static double cell_reynolds(const lbm_plan *plan, double velocity) {
    const double c = plan->numbers.eddy > 0 ? plan->params->smagorinsky : 0;
    return velocity / (plan->numbers.nu + c * c * velocity);
}

/* The cells that bring it from `cell` down to `limit`, with the velocity in lattice units and the
 * domain kept: as "120 x 60". An eddy viscosity C^2 U dx keeps its part of it. */
enum { CELLS_ROOM = 80 };
static const char *enough_cells(const lbm_plan *plan, double cell, double limit,
                                char text[CELLS_ROOM]) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double c = plan->numbers.eddy > 0 ? plan->params->smagorinsky : 0;
    const double ratio = (1 / limit - c * c) / (1 / cell - c * c);
    int used = 0;
    for (int a = 0; a < grid->dims; a++) {
        /* less what round-off adds */
        const double cells = ceil((double)grid->n[a] * ratio * (1 - 1e-9));
        used += snprintf(text + used, (size_t)(CELLS_ROOM - used), "%s%.0f", a ? " x " : "", cells);
    }
    return text;
}

/* How a velocity in lattice units comes down to 0.1. With nu and cells kept tau - 1/2 goes with dt,
 * and near 1/2 the scheme loses its stability. */
enum { SLOWER_ROOM = 192 };
static const char *slower_text(const lbm_plan *plan, double velocity, char text[SLOWER_ROOM]) {
    static const double least_tau = 0.505;
    const double tau = 0.5 + (plan->numbers.tau - 0.5) * 0.1 / velocity;
    const bool lattice = plan->params->common.dt_is_preset;
    const char *how = lattice ? "the velocity and nu together" : "dt";
    if (tau >= least_tau) {
        snprintf(text, SLOWER_ROOM, "reduce %s (at 0.1 tau is %.4g)", how, tau);
    } else {
        snprintf(
            text, SLOWER_ROOM,
            "reduce the velocity, or use more cells; less of %s alone would bring tau to %.5g, "
            "too near its limit 1/2",
            how, tau);
    }
    return text;
}

/* velocity: in lattice units */
static void warn_of_speed(const lbm_plan *plan, double velocity, sel_error *warnings) {
    char slower[SLOWER_ROOM];
    if (velocity > fastest) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "Mach number %.3g: the velocity, %.3g in lattice units, should stay below 0.1 "
                 "(errors grow as Mach^2); %s",
                 velocity * sqrt(3), velocity, slower_text(plan, velocity, slower));
    }
    const double cell = cell_reynolds(plan, velocity);
    const double limit = most_cell_reynolds(plan);
    char cells[CELLS_ROOM];
    if (cell > limit) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "Reynolds number of a cell %.3g%s: above %g flows may be unstable with collision "
                 "= \"%s\"; use more cells (%s would do), %s",
                 cell, plan->numbers.eddy > 0 ? " with the eddy viscosity of a shear U / dx" : "",
                 limit, lbm_collision_names[plan->collision],
                 enough_cells(plan, cell, limit, cells),
                 plan->numbers.eddy > 0 ? "a larger viscosity or a larger smagorinsky"
                                        : "or a larger viscosity");
    }
}

/* The pressure given by laws that is farthest from 0, as a density deviation, lattice units. */
static double largest_deviation(const lbm_plan *plan, const lbm_extremes *given) {
    const bool high = given->highest > -given->lowest;
    return (high ? given->highest : given->lowest) / plan->numbers.pressure_unit;
}

/* Where a closure by moments holds the pressure, what enters may grow. In a pipe of 20 x 50 cells
 * at 0.1 the velocity was 15 % too large with a dynamic pressure 3.8 times the fall of the
 * pressure, and grew without end at 5.1 times; at 0.07 neither at 15 times. */
static const double fastest_entry = 0.075, most_dynamic = 3;

/* Why it may grow, with the largest velocity; returns the region where it enters, 0: it does not.
 */
static int entry_text(const lbm_plan *plan, const lbm_extremes *given, char *text, size_t size) {
    const double u = given->velocity / plan->numbers.velocity_unit;
    const double fall = (given->highest - given->lowest) / plan->numbers.pressure_unit / 3;
    const bool moments = plan->collision != LBM_TRT && plan->collision != LBM_BGK;
    const double times = fall > 0 ? 0.5 * u * u / fall : 0;
    const int region =
        moments && u > fastest_entry && times > most_dynamic ? lbm_pressure_inlet(plan) : 0;
    char name[32];
    if (region) {
        snprintf(
            text, size,
            "law.pressure of region '%s' does not hold what enters: at a velocity of %.3g in "
            "lattice units, whose dynamic pressure is %.3g times the fall of the pressure, the "
            "flow may grow without end; set absorbing = true there, give the velocity of the "
            "inlet by law.velocity, or keep the velocity below %g",
            sel_region_name(plan->base.domain, region, name), u, times, fastest_entry);
    }
    return region;
}

static void warn_of_entry(const lbm_plan *plan, const lbm_extremes *given, sel_error *warnings) {
    char text[480];
    const int region = entry_text(plan, given, text, sizeof text);
    if (region) {
        sel_fail_at(warnings, plan->base.domain->regions[region - 1].at, "%s", text);
    }
}

/* Whoever confuses the pressure with the density writes 1 instead of 0. */
static void warn_of_pressure(const lbm_plan *plan, double deviation, sel_error *warnings) {
    if (fabs(deviation) > most_deviation) {
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

/* At tau = 1.5 and 16 cells a round wall errs by 1.4 % of the velocity, where trt has 0.7 %. */
static const double largest_wall_tau = 1.5;

/* All operators but trt have walls whose place depends on the viscosity. */
static void warn_of_walls(const lbm_plan *plan, sel_error *warnings) {
    const lbm_boundary *boundary = &plan->boundary;
    const sel_domain *domain = plan->base.domain;
    char name[32];
    int wall = 0, parabolic = 0;
    for (int r = domain->region_count; r > 0; r--) {
        const lbm_law_row *law = boundary->law[r];
        wall = law->wall && law->opening == LBM_CLOSED ? r : wall;
        parabolic = law->parabolic ? r : parabolic;
    }
    if (parabolic && plan->collision < LBM_REGULARIZED) {
        sel_fail_at(warnings, domain->regions[parabolic - 1].at,
                    "walls such as '%s' stay half-way: scheme = \"parabolic\" is for collision = "
                    "\"regularized\", \"recursive\" and \"hybrid\", and this run has \"%s\"",
                    sel_region_name(domain, parabolic, name), lbm_collision_names[plan->collision]);
    }
    if (wall && plan->collision != LBM_TRT && plan->numbers.tau > largest_wall_tau) {
        sel_fail_at(warnings, domain->regions[wall - 1].at,
                    "tau %.4g: above %g walls such as '%s' move with the viscosity with collision "
                    "= \"%s\"; set collision = \"trt\", or use a smaller dt/dx^2",
                    plan->numbers.tau, largest_wall_tau, sel_region_name(domain, wall, name),
                    lbm_collision_names[plan->collision]);
    }
}

/* ---- fields of walls ---- */

/* Whether an output names a field of walls. */
static bool names_walls(const sel_variant *output) {
    static const char *const names[] = {"wall_shear", "wall_normal", "wall_area", "y_plus"};
    bool found = false;
    for (int k = 0; k < output->table->count; k++) {
        const sel_table_field *field = &output->table->fields[k];
        const sel_names *list = (const void *)((const char *)output->data + field->offset);
        const bool is_list = field->kind == SEL_KIND_NAMES && field->flags & SEL_RESULT;
        for (int i = 0; is_list && i < list->n; i++) {
            for (size_t w = 0; w < sizeof names / sizeof *names; w++) {
                found = found || strncmp(list->v[i], names[w], strlen(names[w])) == 0;
            }
        }
    }
    return found;
}

/* Whether the links of a cell that walls own, at least one, cancel: walls face each other. */
static bool is_between_walls(const lbm_boundary *b, const lbm_boundary_cell *cell) {
    int64_t link = cell->first_link;
    double sum[3] = {0, 0, 0};
    int walls = 0;
    for (int i = 1; i < b->lattice->q; i++) {
        const lbm_direction *d = &b->lattice->direction[i];
        if (cell->links >> i & 1u) {
            const bool wall = b->law[b->link_region[link++]]->wall;
            walls += wall;
            for (int a = 0; a < 3 && wall; a++) {
                sum[a] += d->weight * d->e[a];
            }
        }
    }
    return walls > 0 && fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) < 1e-9;
}

/* A cell between two walls has no one normal. */
static void warn_of_gaps(const lbm_plan *plan, sel_error *warnings) {
    const lbm_boundary *b = &plan->boundary;
    const sel_list *outputs = &plan->params->common.output;
    const sel_variant *names = NULL;
    int64_t count = 0, first = 0;
    char text[SEL_CELL_TEXT];
    for (int i = 0; i < outputs->n && !names; i++) {
        const sel_variant *output = (const sel_variant *)outputs->v + i;
        names = names_walls(output) ? output : NULL;
    }
    for (int64_t c = 0; c < b->cell_count && names; c++) {
        if (is_between_walls(b, &b->cells[c])) {
            first = count++ ? first : b->cells[c].row * b->domain->grid.n[0] + b->cells[c].x;
        }
    }
    if (count > 0) {
        sel_fail_at(warnings, names->where,
                    "wall_shear, wall_normal, wall_area and y_plus are 0 in %lld cells, the first "
                    "%s, since walls lie on opposite sides of them: sums over the wall lack these; "
                    "make gaps two cells wide, or take the force from out.force",
                    (long long)count, sel_cell_text(&b->domain->grid, first, text));
    }
}

void lbm_warn(const sel_plan *base, sel_error *warnings) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const lbm_extremes given = lbm_find_extremes(plan);
    if (plan->numbers.tau > largest_tau) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "tau %.4g: above %g the lattice relaxes too slowly to follow the flow; use fewer "
                 "cells, a smaller dt/dx^2 or a smaller viscosity",
                 plan->numbers.tau, largest_tau);
    }
    warn_of_walls(plan, warnings);
    warn_of_gaps(plan, warnings);
    warn_of_units(plan, warnings);
    warn_of_speed(plan, given.velocity / plan->numbers.velocity_unit, warnings);
    warn_of_pressure(plan, largest_deviation(plan, &given), warnings);
    warn_of_entry(plan, &given, warnings);
    lbm_warn_of_sound(plan, warnings);
    lbm_warn_of_mass(plan, warnings);
    lbm_warn_of_sponge(plan, given.velocity, warnings);
}

/* ---- a run that diverged ---- */

/* The causes in the order in which they can be told from the plan; what the run has seen comes
 * last, since it is the symptom of all of them. */
void lbm_hint(const sel_plan *plan, double largest, char *text, size_t size) {
    const lbm_plan *p = (const lbm_plan *)plan;
    const lbm_extremes extremes = lbm_find_extremes(p);
    const double given = extremes.velocity / p->numbers.velocity_unit;
    const double seen = largest / p->numbers.velocity_unit;
    const double deviation = largest_deviation(p, &extremes), cell = cell_reynolds(p, given);
    const double limit = most_cell_reynolds(p);
    char slower[SLOWER_ROOM], cells[CELLS_ROOM];
    if (fabs(deviation) > most_deviation) {
        snprintf(
            text, size,
            "a law gives a pressure of %.4g, but pressures are gauge pressures: 0 at rest, and "
            "small beside density c_s^2 = %.4g",
            deviation * p->numbers.pressure_unit, p->numbers.pressure_unit);
    } else if (given > 0.3) {
        snprintf(text, size,
                 "the laws and the initial state give a velocity of %.3g in lattice units (keep it "
                 "below 0.1); %s",
                 given, slower_text(p, given, slower));
    } else if (p->numbers.tau > 2) {
        snprintf(text, size,
                 "tau = %.5g is far above 1, where the scheme loses its accuracy; use a smaller "
                 "viscosity or a smaller dt, or with the Reynolds number kept a smaller velocity",
                 p->numbers.tau);
    } else if (entry_text(p, &extremes, text, size)) {
        return;
    } else if (p->numbers.tau < 0.51) {
        snprintf(text, size,
                 "tau = %.9g is close to its limit 1/2 (Reynolds number of a cell %.3g, best below "
                 "%g); use more cells, or a larger viscosity",
                 p->numbers.tau, cell, limit);
    } else if (lbm_mass_cause(plan, text, size)) {
        return;
    } else if (cell > limit) {
        snprintf(
            text, size,
            "the Reynolds number of a cell is %.3g, best below %g with collision = \"%s\"; use "
            "more cells (%s would do), or a larger viscosity",
            cell, limit, lbm_collision_names[p->collision], enough_cells(p, cell, limit, cells));
    } else if (lbm_warn_of_sound(p, NULL)) {
        snprintf(text, size,
                 "an inlet starts at once; let it rise by sel.ramp(t, T), or start from "
                 "initial.velocity");
    } else if (seen > 0.3) {
        snprintf(text, size,
                 "the largest velocity seen was %.3g in lattice units (keep it below 0.1), and the "
                 "laws give %.3g; what drives the flow is too strong, or the cells are too few for "
                 "its vortices (tau = %.5g)",
                 seen, given, p->numbers.tau);
    } else {
        snprintf(
            text, size,
            "use more cells, or a larger viscosity (tau = %.5g); if it was in the first steps, "
            "let laws and acceleration rise by sel.ramp",
            p->numbers.tau);
    }
}
