/* aqua_plan.c -- sel.aqua's plan, and the solver's entry.
 *
 * AQUA-GRAPH: water on a grid of cells moves from each cell to those of its eight neighbours whose
 * level is lower, all cells at once, by the rule of engine/physics/aqua.h. It has no inertia and no
 * roughness: alpha dx/dt is the speed of thin water on a slope, and for deep water alpha dx^2/dt
 * times a number below 1 its diffusivity.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"
#include "engine/base/machine.h"
#include "engine/machine/cpu.h"
#include "engine/scene/survey.h"

/* ---- the ground ---- */

/* sel_solver.complete */
static void complete(sel_common *params) {
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
                                      &plan->lowest, error);
}

/* ---- alpha ---- */

static sel_status resolve_alpha(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_quantity *q = &plan->params->alpha;
    const bool field = sel_quantity_depends(q) & SEL_ON_PLACE;
    const int64_t count = field ? sel_grid_cells(&domain->grid) : 1;
    const size_t bytes = (size_t)count * sizeof(double);
    const sel_evaluation asked = {.quantity = q, .what = "alpha"};
    const double *origin = domain->grid.origin;
    const sel_places at = sel_domain_at(domain, 1, origin, origin + 1, NULL, 0);
    char text[SEL_CELL_TEXT];
    plan->alpha = field ? sel_machine_allocate(bytes) : NULL;
    plan->smallest_alpha = HUGE_VAL;
    double uniform = 0, *alpha = field ? plan->alpha : &uniform;
    sel_status status = !alpha ? sel_fail_memory(error, "alpha", bytes)
                        : field
                            ? sel_domain_evaluate(domain, &asked, plan->base.threads, alpha, error)
                            : sel_quantity_eval(q, "alpha", &at, alpha, error);
    for (int64_t i = 0; i < count && !status; i++) {
        if (field && domain->cell[i]) {
            continue;
        }
        if (!(alpha[i] > 0 && alpha[i] <= 1)) {
            return sel_fail_at(error, sel_simulation_where(plan->base.simulation, "alpha"),
                               "alpha must be above 0 and at most 1, got %g%s%s", alpha[i],
                               field ? " at cell " : "",
                               field ? sel_cell_text(&domain->grid, i, text) : "");
        }
        plan->smallest_alpha = fmin(plan->smallest_alpha, alpha[i]);
        plan->largest_alpha = fmax(plan->largest_alpha, alpha[i]);
    }
    return status;
}

/* ---- how deep the water gets ---- */

enum { UNITS_OF_THE_LAST_PLACE = 16 };

/* The greatest depth in quanta: all eight neighbours may give alpha times their depth, which rain
 * and sources have raised to a 32nd above it at most. */
static double most_quanta(const aqua_plan *plan) {
    return floor(0x1p31 / (1 + 8 * plan->largest_alpha) * 32 / 33) - 1;
}

aqua_store aqua_store_of(const aqua_plan *plan) {
    aqua_store store = {.whole = plan->base.precision == SEL_F32,
                        .per_metre = 1,
                        .limit = HUGE_VAL,
                        .most_poured = HUGE_VAL,
                        .most_rain = HUGE_VAL,
                        .largest_alpha = 1 - UNITS_OF_THE_LAST_PLACE * 0x1p-53};
    if (store.whole) {
        store.per_metre = ldexp(1, plan->bits);
        store.datum = plan->datum;
        store.limit = most_quanta(plan);
        store.most_poured = store.limit * 33 / 32;
        store.most_rain = store.limit / 64;
        store.largest_alpha = 1 - UNITS_OF_THE_LAST_PLACE * 0x1p-24;
    }
    store.least = plan->params->min_head * store.per_metre;
    store.alpha = fmin(plan->largest_alpha, store.largest_alpha);
    return store;
}

sel_status aqua_too_deep(const aqua_plan *plan, int64_t step, int64_t cell, sel_error *error) {
    const aqua_store store = aqua_store_of(plan);
    const double given = plan->params->depth_limit;
    char cell_text[SEL_CELL_TEXT], more[64] = "", advice[160] = "no quantum is coarser: ";
    if (!isnan(given)) {
        snprintf(more, sizeof more, " more than its %.10g m", given);
    }
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice,
                 "give depth_limit%s, the greatest depth that you expect, or ", more);
    }
    return sel_fail_at(
        error, sel_simulation_where(plan->base.simulation, "depth_limit"),
        "step %lld: cell %s holds more than %.4g m of water, the most that depths in quanta of "
        "2^-%d m can be with this alpha; %sprecision = \"f64\"",
        (long long)step, sel_cell_text(&plan->base.domain->grid, cell, cell_text),
        store.limit / store.per_metre, plan->bits, advice);
}

/* The highest level of any law, sampled over the run; -HUGE_VAL: none. A law that fails counts as
 * none: the run itself will report it. */
static double highest_level(const aqua_plan *plan) {
    const int samples = plan->levels_depend & SEL_ON_T ? 16 : 0;
    const int64_t last = sel_stop_step(&plan->params->common);
    const double end = last == INT64_MAX ? 0 : (double)last;
    double highest = -HUGE_VAL, *z = malloc((size_t)(plan->ghosts.count + 1) * sizeof *z);
    for (int s = 0; s <= samples && z; s++) {
        const double step = samples ? end * s / samples : 0;
        for (int k = AQUA_SUPPLIES + plan->source_count; k < plan->term_count; k++) {
            const bool fails = aqua_evaluate_term(plan, &plan->terms[k], step, z, NULL);
            for (int64_t i = 0; i < plan->terms[k].count && !fails; i++) {
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
    while (plan->bits > AQUA_LEAST_BITS && ldexp(plan->deepest, plan->bits) > most_quanta(plan)) {
        plan->bits--;
    }
    return status;
}

/* ---- the plan ---- */

static sel_status complete_plan(sel_plan *base, sel_error *error) {
    aqua_plan *p = (aqua_plan *)base;
    const int64_t *n = base->domain->grid.n, line = SEL_LINE / sizeof(float);
    const int64_t pitch = (n[0] + 2 * AQUA_HALO + line - 1) / line * line;
    p->params = (const aqua_params *)base->simulation->params;
    p->layout = (aqua_layout){n[0], n[1], pitch, pitch * (n[1] + 2 * AQUA_HALO)};
    sel_status status = evaluate_ground(p, error);
    const sel_status alpha = resolve_alpha(p, error);
    status = status ? status : aqua_ghosts_create(p, error);
    const sel_status terms = aqua_terms_create(p, error);
    status = status ? status : alpha;
    status = status ? status : terms;
    return status ? status : choose_quantum(p, error);
}

static void clear_plan(sel_plan *base) {
    aqua_plan *p = (aqua_plan *)base;
    free(p->ghosts.at); /* and all behind it */
    free(p->ghosts.edge);
    free(p->images);
    free(p->source_cells);
    free(p->terms);
    free(p->own_ground);
    free(p->alpha);
}

static void json(const sel_plan *base, FILE *to) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const aqua_store store = aqua_store_of(plan);
    fprintf(to, "\"equilibrium\": \"%s\", \"scheme\": \"%s\", \"alpha\": %.17g, \"quantum\": %.17g",
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

/* A step reads the bed, reads and writes the depth; a monitor reads the depth and whether the cell
 * is solid. A state has a bed, two depths and the depth at the last monitor, beside the plan's
 * ground. */
static sel_cell_bytes bytes(const sel_common *params, int precision) {
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
    .laws = &aqua_law_family,
    .fields = fields,
    .field_count = AQUA_FIELDS,
    .main_field = AQUA_DEPTH,
    .flux_field = -1,
    .no_forces = true,
    .dims = dims,
    .complete = complete,
    .blank = blank,
    .plan_size = sizeof(aqua_plan),
    .plan = complete_plan,
    .plan_clear = clear_plan,
    .facts = aqua_facts,
    .warn = aqua_warn,
    .ahead = aqua_ahead,
    .json = json,
    .impossible = impossible,
    .state_text = state_text,
    .initial_fields = initial_fields,
    .hint = hint,
    .bytes = bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &aqua_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &aqua_on_cuda,
#endif
};
