/* aqua_plan.c -- sel.aqua's plan, and the solver's entry.
 *
 * AQUA-GRAPH: water on a grid of cells moves from each cell to those of its eight neighbours whose
 * level is lower, all cells at once, by the rule of engine/physics/aqua.h. It has no inertia and no
 * roughness: alpha dx/dt is the speed of thin water on a slope, and for deep water alpha dx^2/dt
 * times a number below 1 its diffusivity.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/aqua/aqua.h"
#include "engine/machine.h"
#include "engine/machine/cpu.h"

static aqua_layout make_layout(const sel_grid *grid) {
    aqua_layout layout = {.nx = grid->n[0], .ny = grid->n[1]};
    const int64_t unit = SEL_LINE / 4;
    layout.pitch = (layout.nx + 2 * AQUA_HALO + unit - 1) / unit * unit;
    layout.cells = layout.pitch * (layout.ny + 2 * AQUA_HALO);
    return layout;
}

/* ---- alpha ---- */

/* cell < 0: the same everywhere. */
static sel_status refuse_alpha(const aqua_plan *plan, double alpha, int64_t cell,
                               sel_error *error) {
    const int64_t nx = plan->layout.nx;
    char place[64] = "";
    if (cell >= 0) {
        snprintf(place, sizeof place, " at cell {%lld, %lld}", (long long)(cell % nx),
                 (long long)(cell / nx));
    }
    return sel_fail_at(error, sel_simulation_where(plan->base.simulation, "alpha"),
                       "alpha must be above 0 and at most 1, got %g%s", alpha, place);
}

static sel_status check_alpha(aqua_plan *plan, const double *alpha, int64_t count,
                              sel_error *error) {
    const uint8_t *region = plan->base.domain->cell;
    plan->smallest_alpha = HUGE_VAL;
    plan->largest_alpha = 0;
    for (int64_t i = 0; i < count; i++) {
        if (count > 1 && region[i]) {
            continue;
        }
        if (!(alpha[i] > 0 && alpha[i] <= 1)) {
            return refuse_alpha(plan, alpha[i], count > 1 ? i : -1, error);
        }
        plan->smallest_alpha = fmin(plan->smallest_alpha, alpha[i]);
        plan->largest_alpha = fmax(plan->largest_alpha, alpha[i]);
    }
    return SEL_OK;
}

static sel_status resolve_alpha(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_quantity *q = &plan->params->alpha;
    if (!sel_quantity_depends(q)) {
        double alpha;
        sel_status status = aqua_value(plan, q, "alpha", (const double[2]){0, 0}, 0, &alpha, error);
        return status ? status : check_alpha(plan, &alpha, 1, error);
    }
    const size_t cells = (size_t)sel_grid_cells(&domain->grid), bytes = cells * sizeof(double);
    const aqua_asked asked = {q, "alpha", 0, false, false};
    plan->alpha = sel_machine_allocate(bytes);
    sel_status status = plan->alpha ? aqua_rows_all(plan, &asked, plan->alpha, error)
                                    : sel_fail_memory(error, "alpha", bytes);
    return status ? status : check_alpha(plan, plan->alpha, (int64_t)cells, error);
}

/* ---- how deep the water gets ---- */

static sel_status largest_initial(const aqua_plan *plan, double *found, sel_error *error) {
    const aqua_asked asked = {&plan->params->initial.depth, "initial.depth", 0, false, false};
    const size_t cells = (size_t)sel_grid_cells(&plan->base.domain->grid);
    *found = 0;
    if (!sel_quantity_given(asked.quantity)) {
        return SEL_OK;
    }
    double *depth = sel_machine_allocate(cells * sizeof *depth);
    sel_status status = depth ? aqua_rows_all(plan, &asked, depth, error)
                              : sel_fail_memory(error, "the water", cells * sizeof *depth);
    for (size_t i = 0; i < cells && !status; i++) {
        *found = depth[i] > *found ? depth[i] : *found;
    }
    free(depth);
    return status;
}

/* The finest quantum in which the depths that are expected fit: what the user says, else twice the
 * initial depth, and what stands below the highest level. */
static sel_status choose_quantum(aqua_plan *plan, sel_error *error) {
    double initial, level = aqua_highest_level(plan) - plan->lowest;
    sel_status status = largest_initial(plan, &initial, error);
    bool said = !isnan(plan->params->depth_limit);
    plan->deepest = said ? plan->params->depth_limit : fmax(fmax(2 * initial, level), 0);
    plan->datum = floor(plan->lowest);
    plan->base.precision = SEL_F32; /* whose store this is */
    plan->bits = AQUA_MOST_BITS;
    for (; plan->bits > AQUA_LEAST_BITS; plan->bits--) {
        const aqua_store store = aqua_store_of(plan);
        if (plan->deepest * store.per_metre <= store.limit) {
            break;
        }
    }
    return status;
}

/* ---- the plan ---- */

static void plan_destroy(sel_plan *base) {
    aqua_plan *plan = (aqua_plan *)base;
    if (plan) {
        aqua_ghosts_free(&plan->ghosts);
        aqua_inflows_free(plan);
        free(plan->own_ground);
        free(plan->alpha);
        free(plan);
    }
}

static sel_status fill_plan(aqua_plan *plan, sel_error *error) {
    plan->layout = make_layout(&plan->base.domain->grid);
    sel_status status = aqua_ground_evaluate(plan, error);
    status = status ? status : aqua_ground_check(plan, error);
    sel_status alpha = resolve_alpha(plan, error);
    sel_status inflows = aqua_inflows_create(plan, error);
    status = status ? status : alpha;
    status = status ? status : inflows;
    status = status ? status : aqua_ghosts_create(plan, error);
    return status ? status : choose_quantum(plan, error);
}

static sel_status plan_create(const sel_simulation *simulation, const sel_domain *domain,
                              sel_plan **made, sel_error *error) {
    const sel_common *common = simulation->params;
    *made = NULL;
    aqua_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        return sel_fail_memory(error, "the plan", sizeof *plan);
    }
    plan->base.simulation = simulation;
    plan->base.domain = domain;
    plan->base.threads = omp_get_max_threads();
    plan->params = (const aqua_params *)common;
    sel_status status = fill_plan(plan, error);
    plan->base.precision = common->precision;
    if (status) {
        plan_destroy(&plan->base);
        return status;
    }
    *made = &plan->base;
    return SEL_OK;
}

static void json(const sel_plan *base, char *text, size_t size) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const aqua_store store = aqua_store_of(plan);
    snprintf(text, size,
             "\"equilibrium\": \"%s\", \"scheme\": \"%s\", \"alpha\": %.17g, "
             "\"quantum\": %.17g",
             aqua_equilibrium_names[plan->params->equilibrium],
             aqua_scheme_names[plan->params->scheme], plan->largest_alpha,
             store.whole ? 1 / store.per_metre : 0.0);
}

static bool impossible(const sel_plan *plan, const sel_request *monitor, int64_t *cell, char *text,
                       size_t size) {
    (void)plan;
    *cell = monitor->smallest_cell;
    snprintf(text, size, "the depth is %.3g m", monitor->smallest);
    return monitor->smallest < 0;
}

static void hint(const sel_plan *base, double largest, char *text, size_t size) {
    (void)base, (void)largest;
    snprintf(text, size, "depths cannot diverge by themselves: look at ground, rain and sources");
}

/* The bed is read, the depth is read and written. */
static double bytes_per_update(const sel_plan *plan) {
    return plan->precision == SEL_F32 ? 12 : 24;
}

/* The depth, and whether the cell is solid. */
static double bytes_per_look(const sel_plan *plan) {
    return plan->precision == SEL_F32 ? 5 : 9;
}

/* Bed, two depths and the depth at the last test, beside the plan's ground. */
static double bytes_per_cell(const sel_simulation *simulation, int precision) {
    (void)simulation;
    return 8 + 4 * (precision == SEL_F32 ? 4 : 8);
}

static const sel_field_info fields[AQUA_FIELDS] = {
    [AQUA_GROUND] = {"ground", SEL_SCALAR, "m", "Elevation of the ground."},
    [AQUA_DEPTH] = {"depth", SEL_SCALAR, "m", "Depth of the water."},
    [AQUA_LEVEL] = {"level", SEL_SCALAR, "m", "Elevation of the water's surface: ground + depth."},
    [AQUA_MAX_DEPTH] = {"max_depth", SEL_SCALAR, "m", "Largest depth so far."},
    [AQUA_MAX_LEVEL] = {"max_level", SEL_SCALAR, "m", "Highest level so far."},
    [AQUA_ARRIVAL_TIME] = {"arrival_time", SEL_SCALAR, "s",
                           "Time of the first step at which the depth reached arrival_depth; -1 "
                           "where it has not."},
};

static int dims(const sel_common *params) {
    (void)params;
    return 2;
}

static void state_text(const sel_plan *plan, char *text, size_t size) {
    const aqua_plan *p = (const aqua_plan *)plan;
    *text = '\0';
    if (plan->precision == SEL_F32) {
        snprintf(text, size, "quanta of 2^%d m above %.17g m", -p->bits, p->datum);
    }
}

static const char *const initial_fields[] = {"depth", NULL};

const sel_solver aqua_solver = {
    .name = "aqua",
    .table = &aqua_table,
    .laws = aqua_law_places,
    .law_count = AQUA_LAWS,
    .fields = fields,
    .field_count = AQUA_FIELDS,
    .main_field = AQUA_DEPTH,
    .flux_field = -1,
    .no_forces = true,
    .dims = dims,
    .complete = aqua_complete,
    .blank = aqua_blank,
    .plan = plan_create,
    .plan_destroy = plan_destroy,
    .facts = aqua_facts,
    .warn = aqua_warn,
    .ahead = aqua_ahead,
    .json = json,
    .impossible = impossible,
    .state_text = state_text,
    .initial_fields = initial_fields,
    .hint = hint,
    .bytes_per_update = bytes_per_update,
    .bytes_per_look = bytes_per_look,
    .bytes_per_cell = bytes_per_cell,
    .cpu = &sel_cpu_backend,
    .on_cpu = &aqua_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &aqua_on_cuda,
#endif
};
