/* aqua_plan.c -- sel.aqua's plan, and the solver's entry.
 *
 * AQUA-GRAPH: water on a grid of cells moves from each cell to those of its eight neighbours whose
 * level is lower, all cells at once, by the rule of engine/solvers/aqua/aqua_step.h. It has no
 * inertia and no roughness: alpha dx/dt is the speed of thin water on a slope, and for deep water
 * alpha dx^2/dt times a number below 1 its diffusivity.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"
#include "engine/core/cpu.h"
#include "engine/scene/solver.h"

/* ---- the ground ---- */

/* sel_solver.complete */
static void aqua_plan_complete(sel_common *params) {
    sel_terrain_complete(&((const aqua_params *)params)->ground, params);
    params->dt = isnan(params->dt) ? 1 : params->dt;
}

/* sel_solver.blank */
static sel_status blank(const sel_simulation *simulation, const sel_domain *domain, int threads,
                        uint8_t *cells, sel_region *gaps, sel_error *error) {
    const aqua_params *params = (const aqua_params *)simulation->params;
    if (!sel_terrain_raster(&params->ground)) {
        return SEL_OK;
    }
    gaps->law = params->nodata.table ? params->nodata : (sel_variant){.table = &aqua_wall_table};
    return sel_terrain_blank(&params->ground, simulation, domain, threads, cells, error);
}

static sel_status evaluate_ground(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_quantity *ground = &plan->params->ground;
    bool wanted[SEL_REGION_NUMBERS] = {true};
    for (int r = 1; r <= domain->region_count; r++) {
        wanted[r] = aqua_passes(domain, r);
    }
    sel_status status = sel_terrain_evaluate(ground, domain, plan->base.threads, wanted,
                                             &plan->own_ground, &plan->ground, error);
    return status ? status
                  : sel_terrain_check(ground, plan->base.simulation, domain, plan->ground,
                                      plan->base.threads, &plan->lowest, error);
}

/* ---- alpha ---- */

static sel_status resolve_alpha(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_quantity *q = &plan->params->alpha;
    const bool field = sel_quantity_depends(q);
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0];
    const sel_evaluation asked = {.quantity = q, .what = "alpha"};
    char text[SEL_CELL_TEXT];
    sel_status status =
        field ? sel_domain_numbers(domain, asked, plan->base.threads, &plan->alpha, error) : SEL_OK;
    if (status) {
        return status;
    }
    const double *alpha = field ? plan->alpha : &q->part[0].constant;
    double smallest = HUGE_VAL, largest = 0;
    sel_error why = {.status = SEL_OK};
    for (int64_t i = field ? own.first * nx : 0; i < (field ? own.end * nx : 1) && !status; i++) {
        if (field && domain->cell[i]) {
            continue;
        }
        if (!(alpha[i] > 0 && alpha[i] <= 1)) {
            status = sel_fail_at(&why, sel_simulation_where(plan->base.simulation, "alpha"),
                                 "alpha must be above 0 and at most 1, got %g%s%s", alpha[i],
                                 field ? " at cell " : "",
                                 field ? sel_cell_text(&domain->grid, i, text) : "");
        }
        smallest = fmin(smallest, alpha[i]);
        largest = fmax(largest, alpha[i]);
    }
    plan->smallest_alpha = -sel_domain_largest(domain, -smallest);
    plan->largest_alpha = sel_domain_largest(domain, largest);
    return sel_domain_agree(domain, status, &why, error);
}

/* ---- how deep the water gets ---- */

/* The highest level of any law, sampled over the run; -HUGE_VAL: none. A law that fails counts as
 * none: the run itself will report it. */
static double highest_level(const aqua_plan *plan) {
    const int samples = plan->levels_depend & SEL_ON_T ? 16 : 0;
    const int64_t last = sel_stop_step(&plan->params->common);
    const double end = last == INT64_MAX ? 0 : (double)last;
    double highest = -HUGE_VAL, *z = malloc((size_t)(plan->ghosts.count + 1) * sizeof *z);
    for (int s = 0; s <= samples && z; s++) {
        const double step = samples ? end * s / samples : 0;
        for (int k = 0; k < plan->inputs.count; k++) {
            const sel_input *input = &plan->inputs.v[k];
            const int64_t levels = input->region ? aqua_values_of(input) : 0;
            const sel_places at = sel_domain_at(
                plan->base.domain, levels, plan->ghosts.x + input->first,
                plan->ghosts.y + input->first, NULL, step * plan->base.domain->grid.dt);
            const bool fails =
                levels > 0 && sel_quantity_eval(input->quantity, input->what, &at, z, NULL);
            for (int64_t i = 0; i < levels && !fails; i++) {
                highest = fmax(highest, z[i]);
            }
        }
    }
    free(z);
    return highest;
}

/* The finest quantum that can hold the expected depth: depth_limit, else the larger of twice the
 * initial depth and the depth below the highest level. */
static sel_status choose_quantum(aqua_plan *plan, sel_error *error) {
    const aqua_params *params = plan->params;
    const double level = highest_level(plan) - plan->lowest;
    sel_survey initial = {0};
    sel_status status = sel_quantity_given(&params->initial.depth)
                            ? sel_survey_cells(&plan->base, &params->initial.depth, "initial.depth",
                                               0, &initial, error)
                            : SEL_OK;
    const bool said = !isnan(params->depth_limit);
    plan->deepest = said ? params->depth_limit : fmax(fmax(2 * initial.largest, level), 0);
    plan->datum = floor(plan->lowest);
    plan->bits = AQUA_MOST_BITS;
    while (plan->bits > AQUA_LEAST_BITS &&
           ldexp(plan->deepest, plan->bits) > aqua_most_quanta(plan)) {
        plan->bits--;
    }
    return status;
}

/* ---- the plan ---- */

static sel_status aqua_plan_complete_plan(sel_plan *base, sel_error *error) {
    aqua_plan *p = (aqua_plan *)base;
    const int64_t *n = base->domain->grid.n, line = SEL_LINE / sizeof(float);
    const int64_t pitch = (n[0] + 2 * AQUA_HALO + line - 1) / line * line;
    p->params = (const aqua_params *)base->simulation->params;
    p->layout = (aqua_layout){n[0], n[1], pitch, pitch * (n[1] + 2 * AQUA_HALO)};
    sel_status status = evaluate_ground(p, error);
    const sel_status alpha = resolve_alpha(p, error);
    status = status ? status : aqua_ghosts_create(p, error);
    const sel_status inputs = aqua_inputs_create(p, error);
    status = status ? status : alpha;
    status = status ? status : inputs;
    status = status ? status : choose_quantum(p, error);
    aqua_inputs_bound(p);
    status = status ? status : aqua_audit_find(p, error);
    return status ? status : aqua_ways_create(p, error);
}

static void aqua_plan_clear_plan(sel_plan *base) {
    aqua_plan *p = (aqua_plan *)base;
    free(p->ghosts.v); /* and x and y */
    free(p->ghosts.edge);
    free(p->source_cells);
    free(p->inlets);
    sel_inputs_free(&p->inputs);
    free(p->ways);
    free(p->own_ground);
    free(p->alpha);
}

/* ---- facts ---- */

static void add_alpha(const aqua_plan *plan, sel_facts *facts) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double alpha = plan->largest_alpha;
    if (plan->alpha) {
        sel_fact_add(facts, "alpha", "%.4g to %.4g", plan->smallest_alpha, alpha);
    } else {
        sel_fact_add(facts, "alpha", "%.6g", alpha);
    }
    sel_fact_add(facts, "speed on a slope", "%.4g m/s (alpha dx/dt%s)",
                 alpha * grid->dx[0] / grid->dt,
                 alpha > 2.0 / 9 ? "; above 2/9 pits of one cell overshoot" : "");
}

static void add_store(const aqua_plan *plan, sel_facts *facts) {
    const aqua_store store = aqua_store_of(plan);
    if (!store.whole) {
        sel_fact_add(facts, "depths", "f64, mass to round-off");
        return;
    }
    sel_fact_add(facts, "depths", "in quanta of 2^-%d m = %.3g m, mass exact", plan->bits,
                 1 / store.per_metre);
    sel_fact_add(facts, "largest depth", "%.4g m; more is an error (expected: %.4g m)",
                 store.limit / store.per_metre, plan->deepest);
    sel_fact_add(facts, "thinnest moving film", "about %.3g m (3 quanta / alpha)",
                 3 / (plan->smallest_alpha * store.per_metre));
}

static void add_rain(const aqua_plan *plan, sel_facts *facts) {
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t steps = sel_stop_step(&plan->params->common);
    const double hours = (double)steps * grid->dt / 3600;
    const double area = (double)plan->base.domain->free_cells * grid->dx[0] * grid->dx[0];
    sel_survey found;
    if (!sel_survey_run(&plan->base, &plan->params->rain, "rain", &found)) {
        return; /* there is none, or the run tells why it has no value */
    }
    const double mean = found.sum / (double)found.count;
    char estimate[48] = "";
    if (found.estimate) {
        snprintf(estimate, sizeof estimate, " (estimate of %lld samples)", (long long)found.count);
    }
    if (steps == INT64_MAX) {
        sel_fact_add(facts, "rain", "%.6g mm/h on average%s", mean, estimate);
    } else {
        sel_fact_add(facts, "rain", "%s%s%.6g mm = %.6g m3%s",
                     sel_may_end_early(&plan->params->common) ? "at most " : "",
                     found.estimate ? "about " : "", mean * hours, mean * hours / 1000 * area,
                     estimate);
    }
    sel_fact_add(facts, "largest rate of rain", "%.4g mm/h", found.largest);
}

static void add_facts(const sel_plan *base, sel_facts *facts) {
    const aqua_plan *plan = (const aqua_plan *)base;
    sel_fact_add(facts, "equilibrium", "%s, %s", aqua_equilibrium_names[plan->params->equilibrium],
                 aqua_scheme_names[plan->params->scheme]);
    add_alpha(plan, facts);
    add_store(plan, facts);
    sel_terrain_facts(base, plan->ground, plan->lowest, facts);
    add_rain(plan, facts);
    for (int i = 0; i < plan->source_count && facts->count < SEL_MAX_FACTS - 1; i++) {
        const aqua_inlet *inlet = &plan->inlets[i];
        sel_fact_add(facts, "source", "%s: %lld cell%s", inlet->name, (long long)inlet->cells,
                     inlet->cells == 1 ? "" : "s");
    }
}

/* ---- the solver ---- */

static void aqua_plan_json(const sel_plan *base, FILE *to) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const aqua_store store = aqua_store_of(plan);
    fprintf(to, "\"equilibrium\": \"%s\", \"scheme\": \"%s\", \"alpha\": %.17g, \"quantum\": %.17g",
            aqua_equilibrium_names[plan->params->equilibrium],
            aqua_scheme_names[plan->params->scheme], plan->largest_alpha,
            store.whole ? 1 / store.per_metre : 0.0);
}

static bool aqua_plan_impossible(const sel_plan *plan, const sel_request *monitor, int64_t *cell,
                                 char *text, size_t size) {
    (void)plan;
    *cell = monitor->smallest_cell;
    snprintf(text, size, "the depth is %.3g m", monitor->smallest);
    return monitor->smallest < 0;
}

/* A step reads the bed, reads and writes the depth; a monitor reads the depth and whether the cell
 * is solid. A state has a bed, two depths and the depth at the last monitor, beside the plan's
 * ground. */
static sel_cell_bytes aqua_plan_bytes(const sel_common *params, int precision) {
    const int real = precision == SEL_F32 ? 4 : 8;
    (void)params;
    return (sel_cell_bytes){.update = 3 * real, .look = real + 1, .state = 8 + 4 * real};
}

static const sel_field_info fields[AQUA_FIELDS] = {
    [AQUA_GROUND] = {"ground", SEL_SCALAR, "m", "Elevation of the ground.", false},
    [AQUA_DEPTH] = {"depth", SEL_SCALAR, "m", "Depth of the water.", false},
    [AQUA_LEVEL] = {"level", SEL_SCALAR, "m", "Elevation of the water's surface: ground + depth.",
                    false},
    [AQUA_MAX_DEPTH] = {"max_depth", SEL_SCALAR, "m", "Largest depth so far.", false},
    [AQUA_MAX_LEVEL] = {"max_level", SEL_SCALAR, "m", "Highest level so far.", false},
    [AQUA_ARRIVAL_TIME] = {"arrival_time", SEL_SCALAR, "s",
                           "Time of the first step at which the depth reached arrival_depth; -1 "
                           "where it has not.",
                           false},
};

static int aqua_plan_dims(const sel_common *params) {
    (void)params;
    return 2;
}

static void aqua_plan_state_text(const sel_plan *plan, char *text, size_t size) {
    const aqua_plan *p = (const aqua_plan *)plan;
    *text = '\0';
    if (plan->precision == SEL_F32) {
        snprintf(text, size, "quanta of 2^%d m above %.17g m", -p->bits, p->datum);
    }
}

const sel_solver aqua_solver = {
    .name = "aqua",
    .table = &aqua_table,
    .laws = &aqua_law_family,
    .fields = fields,
    .field_count = AQUA_FIELDS,
    .main_field = AQUA_DEPTH,
    .flux_field = -1,
    .no_forces = true,
    .metres = true,
    .dims = aqua_plan_dims,
    .complete = aqua_plan_complete,
    .blank = blank,
    .plan_size = sizeof(aqua_plan),
    .plan = aqua_plan_complete_plan,
    .plan_clear = aqua_plan_clear_plan,
    .facts = add_facts,
    .warn = aqua_warn,
    .ahead = aqua_ahead,
    .json = aqua_plan_json,
    .impossible = aqua_plan_impossible,
    .audit_reads = aqua_audit_reads,
    .audit = aqua_audit_step,
    .audit_does = "take from",
    .audit_why = "what flows from cell to cell is whole quanta",
    .audit_advice = "a larger dt with alpha in proportion; a smaller depth_limit has finer quanta, "
                    "down to 2^-26 m",
    .state_text = aqua_plan_state_text,
    .initial_fields = (const char *const[]){"depth", NULL},
    .advice = "Depths cannot diverge by themselves: look at ground, rain and sources",
    .bytes = aqua_plan_bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &aqua_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &aqua_on_cuda,
#endif
};
