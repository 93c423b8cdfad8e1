/* heat_plan.c -- the plan of sel.heat; the solver's entry.
 *
 * C T_t = div(k grad T) + q by finite volumes, forward in time (engine/solvers/heat/heat_step.h) or
 * implicitly by multigrid (heat_right_side in diffusion_cell.h); equations and references are
 * there.
 */
#include <math.h>
#include <stdio.h>
#include "engine/core/cpu.h"
#include "engine/solvers/heat/heat.h"

/* The default time step, of the largest stable one. */
static const double usual_part = 0.9;

static const double implicit_part[] = {[HEAT_CRANK_NICOLSON] = 0.5, [HEAT_BACKWARD_EULER] = 1};

static const sel_quantity *conductivity_of(const heat_params *params, const char **name) {
    const bool given = sel_quantity_given(&params->conductivity);
    *name = given ? "conductivity" : "diffusivity";
    return given ? &params->conductivity : &params->diffusivity;
}

static double time_step(const sel_plan *base) {
    return usual_part * ((const heat_plan *)base)->least.dt;
}

/* The change of a cell over N steps is 1/N of it in each, and an addition in f32 rounds at 3e-8 of
 * the temperature: what is lost stays below 1 % of the change. */
static const int64_t most_steps_f32 = 250000;

static bool needs_double(const sel_plan *base) {
    const int64_t steps = sel_stop_step(base->simulation->params);
    return diffusion_body_of(base)->implicit == 0 && steps < INT64_MAX && steps > most_steps_f32;
}

/* Whether dt is too large at some time of the run. */
static bool exceeds(const heat_plan *p) {
    return p->diffusion.base.domain->grid.dt > p->least.dt * (1 + 1e-12);
}

/* `more`: how the message ends. */
static sel_status refuse_dt(const heat_plan *p, const diffusion_limit *limit, const char *more,
                            sel_error *error) {
    const sel_domain *domain = p->diffusion.base.domain;
    char cell[SEL_CELL_TEXT], when[120] = "";
    if (limit->t > 0) {
        snprintf(when, sizeof when, " at t = %.6g, where law.convective has h = %.6g", limit->t,
                 limit->h);
    }
    return sel_fail_at(error, sel_simulation_where(p->diffusion.base.simulation, "dt"),
                       "dt = %.9g is not stable%s: at most %.9g%s%s; lower it, or leave it out "
                       "(then %.9g)%s",
                       domain->grid.dt, when, limit->dt, limit->cell < 0 ? "" : ", by cell ",
                       limit->cell < 0 ? "" : sel_cell_text(&domain->grid, limit->cell, cell),
                       usual_part * p->least.dt, more);
}

static sel_status heat_plan_complete_plan(sel_plan *base, sel_error *error) {
    heat_plan *p = (heat_plan *)base;
    const heat_params *params = (const heat_params *)base->simulation->params;
    const double dt = base->domain->grid.dt;
    const char *name;
    const sel_quantity *conductivity = conductivity_of(params, &name);
    diffusion_body *body = &p->diffusion.body;
    body->implicit = implicit_part[params->scheme];
    body->whole = body->implicit > 0 && mg_body_whole(base->domain);
    body->field[HEAT_TEMPERATURE] = HEAT_VALUE;
    body->field[HEAT_FLUX_FIELD] = HEAT_FLUX;
    sel_status status =
        diffusion_find(base, conductivity, name, &params->capacity, &params->source, error);
    if (status) {
        return status;
    }
    heat_audit_find(p);
    if (body->implicit > 0) {
        mg_body_box(body, &p->box);
        return sel_inputs_of_place(&body->inputs, false,
                                   " with this scheme; where it varies in time take scheme = "
                                   "\"explicit\"",
                                   error);
    }
    p->least = diffusion_limit_of_run(base, isnan(dt) ? usual_part * body->limit.dt : dt);
    const bool at_once = dt > body->limit.dt * (1 + 1e-12);
    return at_once || (exceeds(p) && !sel_may_end_early(&params->common))
               ? refuse_dt(p, at_once ? &body->limit : &p->least, "", error)
               : SEL_OK;
}

/* sel_solver.warn */
static void heat_plan_warn(const sel_plan *base, sel_error *warnings) {
    const heat_plan *p = (const heat_plan *)base;
    if (p->diffusion.body.implicit == 0 && exceeds(p)) {
        refuse_dt(p, &p->least, "; a run that gets there ends there", warnings);
    }
}

void heat_list(sel_state *base, int halo, int threads) {
    heat_state *state = (heat_state *)base;
    if (diffusion_body_of(base->plan)->implicit > 0) {
        mg_body_list(&state->solve, &heat_plan_for(base)->box, base, "temperature", state->T, 0,
                     threads);
    } else {
        diffusion_list(base, "temperature", state->T, halo);
    }
}

sel_status heat_start(sel_state *base, sel_error *error) {
    const heat_params *params = (const heat_params *)base->plan->simulation->params;
    sel_status status = diffusion_start(base, &params->initial.temperature, "temperature", error);
    status = sel_state_agree(base, status, error);
    return status || diffusion_body_of(base->plan)->implicit == 0
               ? status
               : mg_body_start(&((heat_state *)base)->solve, base, error);
}

/* ---- what users are told ---- */

static void heat_plan_facts(const sel_plan *base, sel_facts *to) {
    const heat_plan *p = (const heat_plan *)base;
    static const char *const bodies[] = {"uniform", "uniform, uneven along the axes",
                                         "varies from cell to cell"};
    const double dt = base->domain->grid.dt;
    const sel_inputs *inputs = base->inputs;
    sel_fact_add(to, "body", "%s", bodies[p->diffusion.body.kind]);
    if (p->diffusion.body.kind != HEAT_VARIED) {
        sel_fact_add(to, "diffusivity", "%.6g",
                     p->diffusion.body.k.same[0] / p->diffusion.body.capacity.same[0]);
    }
    sel_fact_add(to, "scheme", "%s",
                 heat_schemes[((const heat_params *)base->simulation->params)->scheme]);
    if (p->diffusion.body.implicit > 0) {
        char jumps[80] = "";
        if (mg_jumps(&p->box)) {
            snprintf(jumps, sizeof jumps, ", symmetric for neighbours that differ %.3g times",
                     p->box.contrast);
        }
        sel_fact_add(to, "solution", "cycles of multigrid%s%s",
                     p->box.conjugate ? " as directions of conjugate gradients" : "", jumps);
    }
    if (base->chose_double) {
        sel_fact_add(to, "precision", "f64 for increments of %lld steps",
                     (long long)sel_stop_step(base->simulation->params));
    }
    const diffusion_limit *limit =
        p->diffusion.body.implicit > 0 ? &p->diffusion.body.limit : &p->least;
    char when[80] = "";
    if (limit->t > 0) {
        snprintf(when, sizeof when, ", that of t = %.6g (h = %.6g)", limit->t, limit->h);
    }
    sel_fact_add(to, "time step", "%.6g, %.3g of the largest stable one%s", dt, dt / limit->dt,
                 when);
    sel_fact_add(to, "surfaces", "%lld faces of %lld cells%s",
                 (long long)inputs->surfaces.sites.all, (long long)inputs->surfaces.all_cells,
                 inputs->depends ? ", varying in time" : "");
}

static void heat_plan_json(const sel_plan *base, FILE *to) {
    const heat_plan *p = (const heat_plan *)base;
    fprintf(to, "\"largest_dt\": %.9g",
            p->diffusion.body.implicit > 0 ? p->diffusion.body.limit.dt : p->least.dt);
}

static sel_cell_bytes heat_plan_bytes(const sel_common *common, int precision) {
    const heat_params *params = (const heat_params *)common;
    const double size = precision == SEL_F32 ? 4 : 8;
    const char *name;
    const bool varied = sel_quantity_depends(conductivity_of(params, &name)) ||
                        sel_quantity_depends(&params->capacity) ||
                        sel_quantity_given(&params->source);
    const double arrays = varied ? 2 + common->size.n : 0;
    const bool implicit = params->scheme != HEAT_EXPLICIT;
    const double solves = !implicit ? 0 : varied ? 48 + 11 * (3 + common->size.n) : 16 + 11;
    return (sel_cell_bytes){(2 + arrays) * size + solves, 2 * size,
                            (2 + arrays) * size + 9 + solves};
}

static const char *const initial_fields[] = {"temperature", NULL};
static const sel_field_info fields[HEAT_FIELDS] = {
    [HEAT_TEMPERATURE] = {"temperature", SEL_SCALAR, "temperature (SI: K)", "Temperature.", false},
    [HEAT_FLUX_FIELD] = {"flux", SEL_VECTOR, "heat per area and time (SI: W/m2)",
                         "Heat flux -k grad T: the mean over the two faces of the cell; next to a "
                         "surface, the value at the inner face.",
                         false},
};

const sel_solver heat_solver = {
    .name = "heat",
    .table = &heat_table,
    .laws = &diffusion_laws,
    .fields = fields,
    .field_count = HEAT_FIELDS,
    .main_field = HEAT_TEMPERATURE,
    .steady_by_range = true,
    .flux_field = HEAT_FLUX_FIELD,
    .no_forces = true,
    .balance_of_step = true,
    .conserved = "heat",
    .plan_size = sizeof(heat_plan),
    .plan = heat_plan_complete_plan,
    .time_step = time_step,
    .plan_clear = diffusion_clear,
    .facts = heat_plan_facts,
    .warn = heat_plan_warn,
    .ahead = sel_inputs_ahead,
    .json = heat_plan_json,
    .initial_fields = initial_fields,
    .advice =
        "A law, the source or the initial temperature grows without bound or is too large for "
        "the precision",
    .needs_double = needs_double,
    .audit_reads = heat_audit_reads,
    .audit = heat_audit_step,
    .audit_does = "add to",
    .audit_why = "the numbers have no digits for so little",
    .audit_advice = "a larger dt, or temperatures that begin nearer to 0",
    .bytes = heat_plan_bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &heat_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &heat_on_cuda,
#endif
    .wall_value = diffusion_wall_value,
    .volumes_have_values = true,
};
