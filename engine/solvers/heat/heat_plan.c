/* heat_plan.c -- bodies, surfaces and the stable time step of sel.heat; the solver's entry. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/machine/cpu.h"
#include "engine/solvers/heat/heat.h"

/* The default time step, of the largest stable one. */
static const double usual_part = 0.9;

static const sel_quantity *conductivity_of(const heat_params *params, const char **name) {
    const bool given = sel_quantity_given(&params->conductivity);
    *name = given ? "conductivity" : "diffusivity";
    return given ? &params->conductivity : &params->diffusivity;
}

double heat_capacity_of(const heat_plan *p, int64_t cell) {
    const sel_grid *grid = &p->base.domain->grid;
    int64_t at[3];
    sel_cell_at(grid, cell, at);
    return sel_material_at(&p->capacity, grid, cell, 0) * sel_part_inside(grid, at, -1);
}

static sel_status find_body(heat_plan *p, sel_error *error) {
    const sel_domain *domain = p->base.domain;
    const double *dx = domain->grid.dx, *k = p->k.same;
    const char *name;
    const sel_quantity *given = conductivity_of(p->params, &name);
    sel_status status = sel_material_find(&p->base, given, name, &p->k, error);
    status =
        status ? status
               : sel_material_find(&p->base, &p->params->capacity, "capacity", &p->capacity, error);
    const bool uniform = !p->k.of && !p->capacity.of && !sel_quantity_given(&p->params->source) &&
                         domain->free_cells == sel_grid_cells(&domain->grid);
    p->kind = uniform ? HEAT_EVEN : HEAT_VARIED;
    for (int a = 1; a < domain->grid.dims && uniform; a++) {
        p->kind = k[a] / (dx[a] * dx[a]) == k[0] / (dx[0] * dx[0]) ? p->kind : HEAT_UNEVEN;
    }
    return status;
}

/* ---- surfaces ---- */

static int law_of(const sel_domain *domain, int region) {
    int law = 0;
    while (heat_law_family.tables[law] != domain->regions[region - 1].law.table) {
        law++;
    }
    return law;
}

/* sel_surface_far */
static double far(const sel_domain *domain, int region, bool outer) {
    const int law = law_of(domain, region);
    return law == HEAT_INSULATED ? -1
           : !domain->grid.nodes ? 0.5
           : outer               ? 0
           : law == HEAT_FIXED   ? 1
                                 : 0.5;
}

static sel_status find_sites(heat_plan *p, sel_error *error) {
    const sel_domain *domain = p->base.domain;
    const sel_grid *grid = &domain->grid;
    const double volume = sel_cell_volume(grid);
    const sel_surfaces *on = &p->inputs.surfaces;
    sel_status status = sel_inputs_list(&p->inputs, domain, far, error);
    const size_t bytes = (size_t)(on->sites + 1) * sizeof *p->site;
    p->site = malloc(bytes);
    if (status || !p->site) {
        return status ? status : sel_fail_memory(error, "the surfaces", bytes);
    }
    for (int64_t k = 0; k < on->sites; k++) {
        const sel_site *site = &on->site[k];
        const int axis = site->face / 2;
        const double d = far(domain, site->region, site->outer) * grid->dx[axis];
        int64_t at[3];
        sel_cell_at(grid, site->cell, at);
        const double area = sel_part_inside(grid, at, axis) * volume / grid->dx[axis];
        p->site[k] =
            (heat_site){.reach = d > 0 ? sel_material_at(&p->k, grid, site->cell, axis) / d : 0,
                        .weight = area / (heat_capacity_of(p, site->cell) * volume),
                        .area = area,
                        .law = law_of(domain, site->region)};
    }
    return SEL_OK;
}

/* Nodes on a surface of given temperature have that of the end of a step. */
static sel_status find_inputs(heat_plan *p, sel_error *error) {
    const int64_t *n = p->base.domain->grid.n, row = n[0] + 1, slice = row * (n[1] + 1);
    const bool deep = p->base.domain->grid.dims == 3;
    const sel_surfaces *on = &p->inputs.surfaces;
    sel_status status = find_sites(p, error);
    if (p->kind == HEAT_VARIED) {
        p->inputs.source =
            (sel_cells){.pitch = row, .slice = slice, .count = deep ? slice * (n[2] + 1) : slice};
    }
    for (int k = 0; k < p->inputs.count && !status; k++) {
        sel_input *input = &p->inputs.v[k];
        const heat_site *site = &p->site[on->order[on->first_of[input->region]]];
        input->ahead = site->law == HEAT_FIXED && site->reach == 0;
        input->not_negative = input->which == 1; /* h */
    }
    sel_inputs_source(&p->inputs, &p->params->source);
    p->base.inputs = &p->inputs;
    return status ? status : sel_inputs_complete(&p->inputs, error);
}

/* ---- the time step ---- */

/* Lowers the limit to that of one cell, with the sum b of its surfaces for a step of 1. */
static void limit_by(heat_plan *p, int64_t cell, double b) {
    const sel_domain *domain = p->base.domain;
    double sum = 0;
    for (int face = 0; face < 2 * domain->grid.dims; face++) {
        sum += sel_conductance(&p->k, domain, cell, face);
    }
    const double limit = 1 / (sum / heat_capacity_of(p, cell) + b / 2);
    if (limit < p->limit) {
        p->limit = limit;
        p->limit_cell = cell;
    }
}

static void find_limit(heat_plan *p) {
    const sel_domain *domain = p->base.domain;
    const double *dx = domain->grid.dx;
    const sel_surfaces *on = &p->inputs.surfaces;
    double sum = 0;
    for (int a = 0; a < domain->grid.dims; a++) {
        sum += 2 * p->k.same[a] / (dx[a] * dx[a]);
    }
    p->limit_cell = -1;
    p->limit = p->kind == HEAT_VARIED ? HUGE_VAL : p->capacity.same[0] / sum;
    for (int64_t c = 0; c < sel_grid_cells(&domain->grid) && p->kind == HEAT_VARIED; c++) {
        if (domain->cell[c] == 0) {
            limit_by(p, c, 0);
        }
    }
    for (int64_t k = 0; k < on->cells; k++) {
        double b, s;
        heat_surfaces(p->site, p->inputs.value, on->first_site[k], on->first_site[k + 1], 1, &b,
                      &s);
        if (!isinf(b)) {
            limit_by(p, on->cell[k], b);
        }
    }
}

static double time_step(const sel_plan *base) {
    return usual_part * ((const heat_plan *)base)->limit;
}

static sel_status complete_plan(sel_plan *base, sel_error *error) {
    heat_plan *p = (heat_plan *)base;
    const double dt = base->domain->grid.dt;
    char text[SEL_CELL_TEXT];
    p->params = (const heat_params *)base->simulation->params;
    sel_status status = find_body(p, error);
    status = status ? status : find_inputs(p, error);
    if (status) {
        return status;
    }
    find_limit(p);
    if (dt > p->limit * (1 + 1e-12)) {
        return sel_fail_at(
            error, sel_simulation_where(base->simulation, "dt"),
            "dt = %.9g is not stable: at most %.9g%s%s; lower it, or leave it out (then %.9g)", dt,
            p->limit, p->limit_cell < 0 ? "" : ", by cell ",
            p->limit_cell < 0 ? "" : sel_cell_text(&base->domain->grid, p->limit_cell, text),
            usual_part * p->limit);
    }
    return SEL_OK;
}

static void clear_plan(sel_plan *base) {
    heat_plan *p = (heat_plan *)base;
    free(p->k.of);
    free(p->capacity.of);
    sel_inputs_free(&p->inputs);
    free(p->site);
}

/* ---- what users are told ---- */

static void facts(const sel_plan *base, sel_facts *to) {
    const heat_plan *p = (const heat_plan *)base;
    static const char *const bodies[] = {"uniform", "uniform, uneven along the axes",
                                         "varies from cell to cell"};
    const double dt = base->domain->grid.dt;
    sel_fact_add(to, "body", "%s", bodies[p->kind]);
    if (p->kind != HEAT_VARIED) {
        sel_fact_add(to, "diffusivity", "%.6g", p->k.same[0] / p->capacity.same[0]);
    }
    sel_fact_add(to, "time step", "%.6g, %.3g of the largest stable one", dt, dt / p->limit);
    sel_fact_add(to, "surfaces", "%lld faces of %lld cells%s", (long long)p->inputs.surfaces.sites,
                 (long long)p->inputs.surfaces.cells, p->inputs.depends ? ", varying in time" : "");
}

static void json(const sel_plan *base, FILE *to) {
    const heat_plan *p = (const heat_plan *)base;
    fprintf(to, "\"layout\": \"%s\", \"largest_dt\": %.9g",
            base->domain->grid.nodes ? "node" : "cell", p->limit);
}

static void state_text(const sel_plan *base, char *text, size_t size) {
    snprintf(text, size, "layout %s", base->domain->grid.nodes ? "node" : "cell");
}

static void hint(const sel_plan *base, double largest, char *text, size_t size) {
    (void)largest;
    const heat_plan *p = (const heat_plan *)base;
    snprintf(text, size,
             p->inputs.depends
                 ? "A law or the source grows without bound, or h above what it was at "
                   "the start, for which dt was found."
                 : "The time step is stable: a law, the source or the initial "
                   "temperature is too large for the precision.");
}

static sel_cell_bytes bytes(const sel_common *common, int precision) {
    const heat_params *params = (const heat_params *)common;
    const double size = precision == SEL_F32 ? 4 : 8;
    const char *name;
    const bool varied = sel_quantity_depends(conductivity_of(params, &name)) ||
                        sel_quantity_depends(&params->capacity) ||
                        sel_quantity_given(&params->source);
    const double arrays = varied ? 2 + common->size.n : 0;
    return (sel_cell_bytes){(2 + arrays) * size, 2 * size, (2 + arrays) * size + 9};
}

static sel_status wall_value(const sel_plan *base, int field, int region, const sel_places *at,
                             bool *known, double *out, sel_error *error) {
    *known = field == HEAT_TEMPERATURE && law_of(base->domain, region) == HEAT_FIXED;
    const heat_law *law = base->domain->regions[region - 1].law.data;
    return *known ? sel_quantity_eval(&law->value[0], "law.fixed: temperature", at, out, error)
                  : SEL_OK;
}

static const char *const initial_fields[] = {"temperature", NULL};
static const sel_field_info fields[HEAT_FIELDS] = {
    [HEAT_TEMPERATURE] = {"temperature", SEL_SCALAR, "temperature (SI: K)", "Temperature.", false},
    [HEAT_FLUX_FIELD] = {"flux", SEL_VECTOR, "heat per area and time (SI: W/m2)",
                         "Heat flux -k grad T: the mean over the two faces of the cell, beside a "
                         "surface that of the face inside.",
                         false},
};

const sel_solver heat_solver = {
    .name = "heat",
    .table = &heat_table,
    .laws = &heat_law_family,
    .fields = fields,
    .field_count = HEAT_FIELDS,
    .main_field = HEAT_TEMPERATURE,
    .flux_field = HEAT_FLUX_FIELD,
    .no_forces = true,
    .balance_of_step = true,
    .conserved = "heat",
    .plan_size = sizeof(heat_plan),
    .plan = complete_plan,
    .time_step = time_step,
    .plan_clear = clear_plan,
    .facts = facts,
    .ahead = sel_inputs_ahead,
    .json = json,
    .state_text = state_text,
    .initial_fields = initial_fields,
    .hint = hint,
    .bytes = bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &heat_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &heat_on_cuda,
#endif
    .wall_value = wall_value,
};
