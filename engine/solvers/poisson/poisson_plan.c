/* poisson_plan.c -- the plan of sel.poisson; the solver's entry. Equations and methods: poisson.h,
 * engine/solvers/multigrid/multigrid.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/core/cpu.h"
#include "engine/solvers/poisson/poisson.h"

static int64_t longest(const sel_ints *size) {
    int64_t most = 1;
    for (int a = 0; a < size->n; a++) {
        most = size->v[a] > most ? size->v[a] : most;
    }
    return most;
}

/* A solver without time: a step is an iteration. */
static void poisson_plan_complete(sel_common *common) {
    poisson_params *params = (poisson_params *)common;
    const int64_t n = longest(&common->size), not_given = SEL_INT_NOT_GIVEN;
    const int64_t usual[] = {[POISSON_MULTIGRID] = not_given, /* by the coefficients */
                             [POISSON_JACOBI] = 40 * n * n,
                             [POISSON_GAUSS_SEIDEL] = 20 * n * n,
                             [POISSON_SOR] = 100 * n,
                             [POISSON_CONJUGATE_GRADIENT] = 100 * n};
    if (params->max_iterations == not_given) {
        params->max_iterations = usual[params->method];
    }
    common->dt = 1;
    const bool open = params->max_iterations == not_given;
    const bool jumps = sel_quantity_depends(&params->coefficient); /* perhaps */
    const int64_t most = jumps ? MG_MOST_CYCLES_OF_JUMPS : MG_MOST_CYCLES;
    common->stop = (sel_stop){.steps = open ? most : params->max_iterations,
                              .time = SEL_NOT_GIVEN,
                              .steady = SEL_NOT_GIVEN,
                              .every = not_given,
                              .wall_time = SEL_NOT_GIVEN};
}

/* ---- what is known of phi ---- */

/* Whether a surface ties the potential of its cell to a given one. */
static bool ties(const diffusion_body *body, int64_t site) {
    const diffusion_site *s = &body->site[site];
    return s->law == DIFFUSION_FIXED ||
           (s->law == DIFFUSION_CONVECTIVE && body->inputs.value[DIFFUSION_VALUES * site + 1] > 0);
}

/* Marks in `seen` the cells that are joined to `cell`; returns whether any of them is tied. */
static bool poisson_plan_join(const poisson_plan *p, int64_t cell, const uint8_t *tied,
                              uint8_t *seen, int64_t *stack) {
    const sel_domain *domain = p->diffusion.base.domain;
    int64_t count = 1;
    bool any = false;
    stack[0] = cell;
    seen[cell] = 1;
    while (count > 0) {
        const int64_t at = stack[--count];
        any = any || tied[at];
        for (int face = 0; face < 2 * domain->grid.dims; face++) {
            const int64_t other = sel_cell_beyond(&domain->grid, at, face);
            if (other >= 0 && !domain->cell[other] && !seen[other]) {
                seen[other] = 1;
                stack[count++] = other;
            }
        }
    }
    return any;
}

/* All free cells must be joined to a tied one, or all to each other. */
static sel_status check_joined(poisson_plan *p, const uint8_t *tied, uint8_t *seen, int64_t *stack,
                               sel_error *error) {
    const sel_domain *domain = p->diffusion.base.domain;
    const int64_t cells = sel_grid_cells(&domain->grid);
    int64_t loose = -1, parts = 0;
    for (int64_t k = 0; k < cells; k++) {
        if (domain->cell[k] == 0 && !seen[k]) {
            const bool any = poisson_plan_join(p, k, tied, seen, stack);
            loose = !any && loose < 0 ? k : loose;
            parts++;
        }
    }
    p->singular = loose >= 0;
    if (loose >= 0 && parts > 1) {
        char text[SEL_CELL_TEXT];
        return sel_fail_at(error, sel_simulation_where(p->diffusion.base.simulation, "regions"),
                           "the cells about %s are cut off from every fixed value, so that their "
                           "potential is unknown: give a surface there law.fixed, or make them "
                           "solid",
                           sel_cell_text(&domain->grid, loose, text));
    }
    return SEL_OK;
}

/* Of the cells at all sites: cell[k], or -1 where nothing ties it. */
static sel_status join_ties(poisson_plan *p, const int64_t *cell, sel_error *error) {
    const size_t cells = (size_t)sel_grid_cells(&p->diffusion.base.domain->grid);
    uint8_t *tied = calloc(cells, 2);
    int64_t *stack = malloc(cells * sizeof *stack);
    sel_status status = SEL_OK;
    if (!tied || !stack) {
        status = sel_fail_memory(error, "the regions", cells * (2 + sizeof *stack));
    }
    for (int64_t k = 0; k < p->diffusion.body.inputs.surfaces.sites.all && !status; k++) {
        if (cell[k] >= 0) {
            tied[cell[k]] = 1;
        }
    }
    status = status ? status : check_joined(p, tied, tied + cells, stack, error);
    free(stack);
    free(tied);
    return status;
}

/* Of ranks that have the surfaces of their patches, rank 0 looks which cells are joined. */
static sel_status find_ties(poisson_plan *p, sel_error *error) {
    const sel_domain *domain = p->diffusion.base.domain;
    const diffusion_body *body = &p->diffusion.body;
    const sel_surfaces *on = &body->inputs.surfaces;
    const bool joins = on->region != NULL; /* has all sites */
    int64_t count = 0;
    for (int64_t k = 0; k < on->sites.count; k++) {
        count += ties(body, k);
    }
    if (domain->free_cells == sel_grid_cells(&domain->grid)) { /* which are all joined */
        p->singular = (on->divided ? sel_domain_total(domain, count) : count) == 0;
        return SEL_OK;
    }
    const size_t bytes = (size_t)(on->sites.count + 1) * sizeof(int64_t);
    int64_t *own = malloc(bytes), *all = own;
    if (on->divided) {
        all = joins ? malloc((size_t)(on->sites.all + 1) * sizeof *all) : NULL;
    }
    sel_error why = {.status = SEL_OK};
    sel_status status =
        own && (all || !joins) ? SEL_OK : sel_fail_memory(&why, "the surfaces", bytes);
    status = sel_domain_agree(domain, status, &why, error);
    if (!status) {
        for (int64_t k = 0; k < on->sites.count; k++) {
            own[k] = ties(body, k) ? on->site[k].cell : -1;
        }
        sel_sites_gather(&on->sites, own, sizeof *own, all);
        status = joins ? join_ties(p, all, &why) : SEL_OK;
        status = sel_domain_agree(domain, status, &why, error);
    }
    if (on->divided) {
        domain->ranks->broadcast(&p->singular, sizeof p->singular, false);
    }
    free(on->divided ? all : NULL);
    free(own);
    return status;
}

/* ---- the box of the multigrid ---- */

/* The spectral radius of Jacobi's iteration gives the best over-relaxation. */
static double best_omega(const mg_box *box) {
    const double pi = acos(-1);
    double sum = 0, most = 0, radius;
    bool any = false;
    for (int a = 0; a < box->dims; a++) {
        any = any || box->h[2 * a] > 0 || box->h[2 * a + 1] > 0;
    }
    for (int a = 0; a < box->dims; a++) {
        const double g = box->k[a] / (box->dx[a] * box->dx[a]);
        const int ends = any ? (box->h[2 * a] > 0) + (box->h[2 * a + 1] > 0) : 1;
        sum += g * cos(ends * pi / (2 * (double)box->n[a]));
        most += g;
    }
    radius = sum / most;
    return 2 / (1 + sqrt(fmax(1 - radius * radius, 0)));
}

static void describe_box(poisson_plan *p, int method) {
    const sel_domain *domain = p->diffusion.base.domain;
    const sel_grid *grid = &domain->grid;
    mg_body_box(&p->diffusion.body, &p->box);
    p->diffusion.body.kind =
        p->box.even ? p->diffusion.body.kind : HEAT_VARIED; /* as the levels have it */
    const int64_t cells = sel_grid_cells(grid);
    double volume = 0; /* of eighths: exact in any order */
#pragma omp parallel for schedule(static) num_threads(p->diffusion.base.threads) reduction(+ : volume)
    for (int64_t k = 0; k < cells; k++) {
        volume += poisson_part(p, k);
    }
    p->volume = volume;
    p->box.conjugate =
        method == POISSON_CONJUGATE_GRADIENT || (method == POISSON_MULTIGRID && !p->box.even);
    p->box.single = p->box.single && !p->box.conjugate;
    p->omega = best_omega(&p->box);
}

static int64_t most_iterations(const poisson_plan *p, const poisson_params *params) {
    return params->max_iterations == SEL_INT_NOT_GIVEN ? mg_most_cycles(&p->box)
                                                       : params->max_iterations;
}

/* ---- the plan ---- */

/* Around a periodic axis of an odd number of cells two cells of one colour are neighbours:
 * over-relaxed sweeps would diverge. One cell is its own neighbour, which couples nothing. */
static sel_status check_colours(const poisson_plan *p, sel_error *error) {
    const sel_grid *grid = &p->diffusion.base.domain->grid;
    for (int a = 0; a < grid->dims; a++) {
        if (grid->periodic >> a & 1u && grid->n[a] % 2 && grid->n[a] > 1) {
            return sel_fail_at(
                error, sel_simulation_where(p->diffusion.base.simulation, "method"),
                "method = \"sor\" needs an even number of cells along periodic axes, "
                "and there are %lld along %c; take one more, or another method",
                (long long)grid->n[a], 'x' + a);
        }
    }
    return SEL_OK;
}

static sel_status poisson_plan_complete_plan(sel_plan *base, sel_error *error) {
    poisson_plan *p = (poisson_plan *)base;
    const poisson_params *params = (const poisson_params *)base->simulation->params;
    const sel_quantity none = {.components = 0};
    diffusion_body *body = &p->diffusion.body;
    body->steady = true;
    body->whole = mg_body_whole(base->domain);
    body->field[POISSON_POTENTIAL] = HEAT_VALUE;
    body->field[POISSON_RESIDUAL] = HEAT_RESIDUAL;
    body->field[POISSON_GRADIENT] = HEAT_GRADIENT;
    body->field[POISSON_FLUX] = HEAT_FLUX;
    sel_status status =
        diffusion_find(base, &params->coefficient, "coefficient", &none, &none, error);
    status = status
                 ? status
                 : sel_inputs_of_place(&body->inputs, true, ": sel.poisson knows no time", error);
    status = status || params->method != POISSON_SOR ? status : check_colours(p, error);
    status = status ? status : find_ties(p, error);
    if (!status) {
        describe_box(p, params->method);
        p->most = most_iterations(p, params);
    }
    return status;
}

/* ---- what users are told ---- */

static void poisson_plan_facts(const sel_plan *base, sel_facts *to) {
    const poisson_plan *p = (const poisson_plan *)base;
    const poisson_params *params = (const poisson_params *)base->simulation->params;
    sel_fact_add(to, "body", "%s", p->box.even ? "even" : "varies from cell to cell");
    sel_fact_add(to, "iterations", "to %.3g of the right-hand side, at most %lld",
                 params->tolerance, (long long)p->most);
    if (params->method == POISSON_MULTIGRID) {
        char jumps[60] = "";
        if (mg_jumps(&p->box)) {
            snprintf(jumps, sizeof jumps, ", symmetric for neighbours that differ %.3g times",
                     p->box.contrast);
        }
        sel_fact_add(to, "cycles", "V(2,2)%s%s%s", p->box.single ? " in f32" : "",
                     p->box.conjugate ? ", as directions of conjugate gradients" : "", jumps);
    } else if (params->method == POISSON_SOR) {
        sel_fact_add(to, "over-relaxation", "%.6g", p->omega);
    }
    if (p->singular) {
        sel_fact_add(to, "potential", "known but for a constant: its mean is made 0");
    }
}

static void poisson_plan_warn(const sel_plan *base, sel_error *warnings) {
    const poisson_params *params = (const poisson_params *)base->simulation->params;
    const bool slow = params->method == POISSON_JACOBI || params->method == POISSON_GAUSS_SEIDEL;
    const int64_t n = longest(&params->common.size);
    const double needs = (slow && params->method == POISSON_JACOBI ? 1 : 0.5) * (double)(n * n);
    if (slow && needs > (double)params->max_iterations) {
        sel_fail_at(warnings, sel_simulation_where(base->simulation, "max_iterations"),
                    "%lld iterations are few for this method, which takes about %.0f on %lld cells "
                    "along an axis; method = \"multigrid\" takes about ten",
                    (long long)params->max_iterations, needs, (long long)n);
    }
}

static void poisson_plan_json(const sel_plan *base, FILE *to) {
    const poisson_params *params = (const poisson_params *)base->simulation->params;
    fprintf(to, "\"tolerance\": %.9g, \"max_iterations\": %lld", params->tolerance,
            (long long)((const poisson_plan *)base)->most);
}

static void poisson_plan_state_text(const sel_plan *base, char *text, size_t size) {
    const poisson_params *params = (const poisson_params *)base->simulation->params;
    snprintf(text, size, "method %d", params->method);
}

static sel_cell_bytes poisson_plan_bytes(const sel_common *common, int precision) {
    const poisson_params *params = (const poisson_params *)common;
    const bool varied = sel_quantity_depends(&params->coefficient) != 0;
    const double faces = varied ? 8 * (1 + common->size.n) : 0;
    (void)precision;
    return (sel_cell_bytes){40 + faces, 16, 16 + 8 + 8 + 16 + 16 + 2 * faces};
}

static const char *const initial_fields[] = {"potential", NULL};
static const sel_field_info fields[POISSON_FIELDS] = {
    [POISSON_POTENTIAL] = {"potential", SEL_SCALAR, "potential (SI: V)", "Potential.", false},
    [POISSON_RESIDUAL] = {"residual", SEL_SCALAR, "as rhs", "div(coefficient grad phi) - rhs.",
                          false},
    [POISSON_GRADIENT] =
        {"gradient", SEL_VECTOR, "potential per length (SI: V/m)",
         "Gradient of the potential: the mean over the two faces of the cell; next to a "
         "surface, the value at the inner face.",
         false},
    [POISSON_FLUX] = {"flux", SEL_VECTOR, "coefficient times gradient",
                      "-coefficient grad phi, computed like the gradient; out.flux integrates it.",
                      false},
};

const sel_solver poisson_solver = {
    .name = "poisson",
    .table = &poisson_table,
    .laws = &diffusion_laws,
    .fields = fields,
    .field_count = POISSON_FIELDS,
    .main_field = POISSON_POTENTIAL,
    .flux_field = POISSON_FLUX,
    .no_forces = true,
    .double_only = true,
    .iterates = true,
    .complete = poisson_plan_complete,
    .plan_size = sizeof(poisson_plan),
    .plan = poisson_plan_complete_plan,
    .plan_clear = diffusion_clear,
    .facts = poisson_plan_facts,
    .warn = poisson_plan_warn,
    .json = poisson_plan_json,
    .state_text = poisson_plan_state_text,
    .initial_fields = initial_fields,
    .advice = "The right-hand side, a law or the initial potential is too large",
    .bytes = poisson_plan_bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &poisson_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &poisson_on_cuda,
#endif
    .wall_value = diffusion_wall_value,
    .volumes_have_values = true,
};
