/* diffusion.c -- the laws, materials and surfaces of conducting bodies; their fields and balances.
 */
#include "engine/solvers/diffusion/diffusion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/cpu.h"

/* ---- the laws ---- */

/* The values of a law, as a site has them (diffusion_surface.h). */
typedef struct law_values {
    sel_quantity value[DIFFUSION_VALUES];
} law_values;

static const sel_table_field fixed_fields[] = {
    SEL_ROW_NAMED("temperature", law_values, value[0], QUANTITY, "Temperature of the surface.",
                  .flags = SEL_REQUIRED | SEL_POSITIONAL),
};
static const sel_table_field flux_fields[] = {
    SEL_ROW_NAMED("flux", law_values, value[0], QUANTITY,
                  "Heat per area and time, positive into the domain.",
                  .flags = SEL_REQUIRED | SEL_POSITIONAL),
};
static const sel_table_field convective_fields[] = {
    SEL_ROW_NAMED("ambient", law_values, value[0], QUANTITY, "Temperature of what flows past.",
                  .flags = SEL_REQUIRED),
    SEL_ROW_NAMED("h", law_values, value[1], QUANTITY,
                  "Heat per area, time and difference from `ambient`.", .flags = SEL_REQUIRED),
};

static const sel_table fixed_table =
    SEL_TABLE("law.fixed", law_values, fixed_fields,
              "sel.heat: a given temperature of a surface, or of the nodes on it. "
              "sel.poisson: a given potential.");
static const sel_table flux_table =
    SEL_TABLE("law.flux", law_values, flux_fields,
              "sel.heat: a given heat flux. sel.poisson: coefficient dphi/dn, outward.");
static const sel_table insulated_table = {.name = "law.insulated",
                                          .doc = "sel.heat, sel.poisson: nothing passes."};
static const sel_table convective_table = SEL_TABLE(
    "law.convective", law_values, convective_fields,
    "sel.heat: a surface cooled or heated by what flows past, h (ambient - T). sel.poisson: "
    "the same flux for the potential.");

/* The tables, in the order of DIFFUSION_FIXED, ... */
static const sel_table *const laws[DIFFUSION_LAWS] = {&fixed_table, &flux_table, &insulated_table,
                                                      &convective_table};
const sel_family diffusion_laws = {"law", "What holds on a region of sel.heat or sel.poisson.",
                                   laws, 4};

static const sel_table_field region_fields[] = {SEL_REGION_FIELDS(diffusion_laws)};
const sel_table diffusion_regions = SEL_REGION_TABLE(region_fields);

int diffusion_law_of(const sel_domain *domain, int region) {
    int law = 0;
    while (laws[law] != domain->regions[region - 1].law.table) {
        law++;
    }
    return law;
}

/* ---- surfaces ---- */

double diffusion_capacity_of(const diffusion_body *body, int64_t cell) {
    int64_t at[3];
    sel_cell_at(&body->inputs.domain->grid, cell, at);
    return diffusion_capacity_at(body, cell, at);
}

/* sel_surface_far */
static double far(const sel_domain *domain, int region, bool outer) {
    const int law = diffusion_law_of(domain, region);
    return law == DIFFUSION_INSULATED ? -1
           : !domain->grid.nodes      ? 0.5
           : outer                    ? 0
           : law == DIFFUSION_FIXED   ? 1
                                      : 0.5;
}

static sel_status find_sites(diffusion_body *body, const sel_domain *domain, sel_error *error) {
    const sel_grid *grid = &domain->grid;
    const double volume = sel_cell_volume(grid);
    const sel_surfaces *on = &body->inputs.surfaces;
    const size_t bytes = (size_t)(on->sites.count + 1) * sizeof(diffusion_site);
    diffusion_site *to = body->site = malloc(bytes);
    for (int64_t k = 0; k < on->sites.count && to; k++) {
        const sel_site *site = &on->site[k];
        const int axis = site->face / 2;
        const double d = far(domain, site->region, site->outer) * grid->dx[axis];
        int64_t at[3];
        sel_cell_at(grid, site->cell, at);
        const double area = sel_part_inside(grid, at, axis) * volume / grid->dx[axis];
        to[k] = (diffusion_site){
            .reach = d > 0 ? diffusion_material_at(&body->k, grid, site->cell, axis) / d : 0,
            .weight = area / (diffusion_capacity_at(body, site->cell, at) * volume),
            .area = area,
            .law = diffusion_law_of(domain, site->region)};
    }
    sel_error why = {.status = SEL_OK};
    const sel_status status = to ? SEL_OK : sel_fail_memory(&why, "the surfaces", bytes);
    return on->divided ? sel_domain_agree(domain, status, &why, error)
           : status    ? sel_fail(error, status, "%s", why.text)
                       : SEL_OK;
}

/* Whether the first site of each region fixes the temperature of its node. */
static void diffusion_find_fixed(const diffusion_body *body, bool fixed[SEL_REGION_NUMBERS]) {
    const sel_inputs *inputs = &body->inputs;
    const sel_surfaces *on = &inputs->surfaces;
    struct of_rank {
        int64_t face[SEL_REGION_NUMBERS]; /* 6 cell + face; INT64_MAX: it has none */
        bool fixed[SEL_REGION_NUMBERS];
    } own, *all = &own;
    const int ranks = on->divided ? sel_domain_ranks(inputs->domain) : 1;
    memset(&own, 0, sizeof own);
    for (int r = 1; r < SEL_REGION_NUMBERS; r++) {
        const bool has = on->first_of[r] < on->first_of[r + 1];
        const int64_t site = has ? on->order[on->first_of[r]] : 0;
        own.face[r] = has ? on->site[site].cell * SEL_FACES + on->site[site].face : INT64_MAX;
        own.fixed[r] = has && diffusion_first_fixed(body->site, site, site + 1) == site;
    }
    if (ranks > 1) {
        all = sel_ranks_memory(inputs->domain->ranks, (size_t)ranks * sizeof *all);
        sel_domain_gather(inputs->domain, &own, sizeof own, all);
    }
    for (int r = 1; r < SEL_REGION_NUMBERS; r++) {
        int first = 0;
        for (int k = 1; k < ranks; k++) {
            first = all[k].face[r] < all[first].face[r] ? k : first;
        }
        fixed[r] = all[first].fixed[r];
    }
    if (all != &own) {
        free(all);
    }
}

/* Nodes on a surface of given temperature have its value at the end of a step; all other inputs are
 * taken when they act. h is not negative. */
static void mark_inputs(diffusion_body *body) {
    sel_inputs *inputs = &body->inputs;
    bool fixed[SEL_REGION_NUMBERS] = {false};
    diffusion_find_fixed(body, fixed);
    for (int k = 0; k < inputs->count; k++) {
        sel_input *input = &inputs->v[k];
        input->ahead = fixed[input->region] ? 1 : body->implicit;
        input->least = input->region && input->which == 1 ? 0 : input->least;
    }
}

/* ---- the plan ---- */

static int diffusion_kind_of(const diffusion_body *body, const sel_domain *domain,
                             bool has_source) {
    const double *k = body->k.same, *dx = domain->grid.dx;
    if (body->k.of || body->capacity.of || has_source ||
        domain->free_cells < sel_grid_cells(&domain->grid)) {
        return HEAT_VARIED;
    }
    for (int a = 1; a < domain->grid.dims; a++) {
        if (k[a] / (dx[a] * dx[a]) != k[0] / (dx[0] * dx[0])) {
            return HEAT_UNEVEN;
        }
    }
    return HEAT_EVEN;
}

sel_status diffusion_find(sel_plan *plan, const sel_quantity *k, const char *name,
                          const sel_quantity *capacity, const sel_quantity *source,
                          sel_error *error) {
    const sel_domain *domain = plan->domain;
    diffusion_body *body = &((diffusion_plan *)plan)->body;
    body->inputs.values = DIFFUSION_VALUES;
    body->conducts = k;
    body->conducts_name = name;
    sel_status status = diffusion_material_find(plan, body->whole, k, name, &body->k, error);
    status = status ? status
                    : diffusion_material_find(plan, body->whole, capacity, "capacity",
                                              &body->capacity, error);
    status = status ? status : sel_inputs_list(&body->inputs, domain, body->whole, far, error);
    status = status ? status : find_sites(body, domain, error);
    if (status) {
        return status;
    }
    body->kind = diffusion_kind_of(body, domain, sel_quantity_given(source));
    status = sel_inputs_source(&body->inputs, source, error);
    mark_inputs(body);
    if (body->kind == HEAT_VARIED) {
        body->inputs.source = sel_faces_layout(&domain->grid);
    }
    plan->inputs = &body->inputs;
    plan->depends = body->inputs.depends;
    status = status ? status : sel_inputs_complete(&body->inputs, error);
    if (!status) {
        diffusion_limit_find(body);
    }
    return status;
}

void diffusion_clear(sel_plan *plan) {
    diffusion_body *body = &((diffusion_plan *)plan)->body;
    free(body->k.of);
    free(body->capacity.of);
    free(body->site);
    sel_inputs_free(&body->inputs);
}

/* k of a cell along an axis. Ranks have that of their own cells only. */
static sel_status diffusion_conductivity_of(const sel_plan *plan, int64_t cell, int axis, double t,
                                            double *k, sel_error *error) {
    const diffusion_body *body = diffusion_body_of(plan);
    double p[3], values[3];
    *k = body->k.same[axis];
    if (!body->k.of) {
        return SEL_OK;
    }
    sel_cell_centre(&plan->domain->grid, cell, p);
    const sel_places at = sel_domain_at(plan->domain, 1, &p[0], &p[1], &p[2], t);
    const sel_status status =
        sel_quantity_eval(body->conducts, body->conducts_name, &at, values, error);
    *k = values[body->k.components > 1 ? axis : 0];
    return status;
}

/* The values of the law of a region at a place. */
static sel_status eval_law(const sel_plan *plan, int region, const sel_places *at,
                           double value[DIFFUSION_VALUES], sel_error *error) {
    const sel_variant *of = &plan->domain->regions[region - 1].law;
    const law_values *law = of->data;
    sel_status status = SEL_OK;
    for (int i = 0; i < of->table->count && !status; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s: %s", of->table->name, of->table->fields[i].name);
        status = sel_quantity_eval(&law->value[i], what, at, &value[i], error);
    }
    return status;
}

/* On law.fixed the temperature is given. The others make it such that what comes through the half
 * cell, k (T_s - T) / d, is what the law lets in. Where the place lies beyond the surface, on a
 * solid node, the line goes on. */
sel_status diffusion_wall_value(const sel_plan *plan, int field, int region,
                                const sel_beside *beside, const sel_places *at, bool *known,
                                double *out, sel_error *error) {
    const sel_grid *grid = &plan->domain->grid;
    const int law = diffusion_law_of(plan->domain, region);
    const bool main = field == plan->simulation->solver->main_field;
    const bool outer = beside && sel_cell_beyond(grid, beside->cell, beside->face) < 0;
    const double part = far(plan->domain, region, outer);
    double value[DIFFUSION_VALUES] = {0}, k = 0;
    *known = main && (law == DIFFUSION_FIXED || (beside && part > 0));
    if (!*known) {
        return SEL_OK;
    }
    sel_status status = eval_law(plan, region, at, value, error);
    *out = value[0];
    if (status || law == DIFFUSION_FIXED) {
        return status;
    }
    const int axis = beside->face / 2;
    const double T = beside->values[0], step = grid->nodes ? 1 : 0.5;
    status = diffusion_conductivity_of(plan, beside->cell, axis, at->t, &k, error);
    const double reach = k / (part * grid->dx[axis]), h = value[1];
    const double surface =
        law == DIFFUSION_FLUX ? T + value[0] / reach : (h * value[0] + reach * T) / (h + reach);
    *out = T + step / part * (surface - T);
    return status;
}

/* ---- the start of a state ---- */

/* The cells on surfaces with their sites, what follows from the values of laws, and what enters. */
static void list_surfaces(sel_state *state) {
    diffusion_given *given = &((diffusion_state *)state)->given;
    const diffusion_body *body = diffusion_body_of(state->plan);
    const sel_surfaces *on = &body->inputs.surfaces;
    const sel_state_surfaces found = sel_state_find_surfaces(state);
    const int64_t *cells = found.cells, *sites = found.sites;
#define LIST(member, first, end, from)                                                           \
    sel_state_list_part(state, #member, &given->member, SEL_TYPE_OF(*given->member), first, end, \
                        from)
    LIST(cell, cells[0], cells[1], on->cell);
    LIST(first_site, cells[0], cells[1] + 1, on->first_site);
    LIST(site, sites[0], sites[1], body->site);
    LIST(b, cells[0], cells[1], NULL);
    LIST(s, cells[0], cells[1], NULL);
#undef LIST
    const bool wanted = state->plan->wants_balance || state->plan->wants_links;
    const bool joins = wanted && (on->divided || found.estimated) && state->ranks->rank == 0;
    SEL_ADD(&state->arrays, given, entering,
            !wanted           ? 0
            : found.estimated ? sites[1]
                              : on->sites.count,
            0);
    SEL_ADD(&state->arrays, given, all_entering, joins ? on->sites.all : 0, SEL_ON_HOST);
}

void diffusion_list(sel_state *state, const char *name, void *at[2], int halo) {
    const diffusion_body *body = diffusion_body_of(state->plan);
    const int dims = state->plan->domain->grid.dims;
    diffusion_given *given = &((diffusion_state *)state)->given;
    sel_state_list_numbers(state, name, at, halo);
    list_surfaces(state);
    const sel_layout own = sel_state_own_faces(state, &body->inputs.source);
    given->apart[0] = 1;
    given->apart[1] = own.pitch;
    given->apart[2] = own.slice;
    for (int k = 0; k < 4 && !body->steady; k++) {
        sel_layout faces = body->inputs.source;
        faces.count = k == 2 && dims == 2 ? 0 : faces.count;
        sel_state_list_faces(state, "coefficients", &given->coefficient[k], &faces);
    }
}

/* sel_state_edit: nodes on surfaces of given temperature have it from the start. */
static sel_status edit(const sel_state *state, int64_t first, int64_t end, double *values,
                       sel_error *error) {
    const sel_inputs *inputs = state->plan->inputs;
    const diffusion_site *site = diffusion_body_of(state->plan)->site;
    const sel_surfaces *on = &inputs->surfaces;
    (void)error;
    const int64_t to = sel_surfaces_from(on, end);
    for (int64_t k = sel_surfaces_from(on, first); k < to; k++) {
        const int64_t last = on->first_site[k + 1];
        const int64_t fixed = diffusion_first_fixed(site, on->first_site[k], last);
        if (fixed < last) {
            values[on->cell[k] - first] = inputs->value[DIFFUSION_VALUES * fixed];
        }
    }
    return SEL_OK;
}

/* sel_state_number */
static double coefficient(const sel_state *state, const void *data, int which, int64_t cell) {
    const diffusion_body *body = data;
    const sel_domain *domain = state->plan->domain;
    return which < 3            ? diffusion_conductance(&body->k, domain, cell, 2 * which)
           : domain->cell[cell] ? 0
                                : domain->grid.dt / diffusion_capacity_of(body, cell);
}

/* The middle of a range to three digits; 0 where the range is wider than that: no number would gain
 * more than a bit or two. */
static double reference_for(const double range[2]) {
    const double middle = range[0] + (range[1] - range[0]) / 2;
    char text[32];
    snprintf(text, sizeof text, "%.2e", middle);
    return isfinite(middle) && fabs(middle) > range[1] - range[0] ? strtod(text, NULL) : 0;
}

sel_status diffusion_start(sel_state *state, const sel_quantity *initial, const char *what,
                           sel_error *error) {
    const diffusion_body *body = diffusion_body_of(state->plan);
    const bool differs = !body->steady && state->field[0].type.size == sizeof(float);
    double range[2];
    state->reference = 0;
    sel_status status = sel_state_start(state, initial, what, edit, differs ? range : NULL, error);
    state->reference = status || !differs ? 0 : reference_for(range);
    if (state->reference != 0) {
        status = sel_state_start(state, initial, what, edit, NULL, error);
    }
    for (int k = 0; k < 4 && !body->steady && !status; k++) {
        status =
            sel_state_fill(state, diffusion_given_of(state).coefficient[k], state->field[0].type,
                           &body->inputs.source, k, coefficient, body, error);
    }
    return status;
}

void diffusion_derive(sel_state *state) {
    const diffusion_given given = diffusion_given_of(state);
    const int64_t *of = given.first_site;
    int64_t first, end;
    sel_given_range(state, &state->own, &first, &end);
    for (int64_t k = first; k < end; k++) {
        diffusion_through_all(given.site, given.value, given.reference, of[k], of[k + 1],
                              state->plan->domain->grid.dt, &given.b[k], &given.s[k]);
    }
}

/* ---- fields and balances ---- */

heat_view diffusion_heat_view(const sel_state *state, int64_t step) {
    const diffusion_body *body = diffusion_body_of(state->plan);
    const sel_grid *grid = &state->plan->domain->grid;
    const sel_field *field = &state->field[0];
    const sel_patch *own = &state->own;
    const int slow = grid->dims - 1;
    const diffusion_given *given = &((const diffusion_state *)state)->given;
    const int64_t ahead = field->layout.origin * field->type.size;
    const int from = sel_copy_at(state, field, step);
    heat_view v = {.dims = grid->dims,
                   .kind = body->kind,
                   .single = field->type.size == sizeof(float),
                   .nodes = grid->nodes,
                   .wraps = sel_axis_periodic(grid, slow) && state->ranks->count == 1,
                   .boxed = sel_divides_planes(&state->decomposition),
                   .periodic = grid->periodic,
                   .first = own->lo[slow],
                   .end = own->hi[slow],
                   .low = slow == 2 ? own->lo[1] : 0,
                   .high = slow == 2 ? own->hi[1] : 1,
                   .stride = {1, field->layout.pitch, field->layout.slice},
                   .implicit = body->implicit,
                   .dt = grid->dt,
                   .capacity = body->capacity.same[0],
                   .reference = state->reference,
                   .from = (const char *)field->at[from] + ahead,
                   .to = (char *)field->at[!from] + ahead,
                   .m = given->coefficient[3],
                   .q = state->given.source,
                   .F = given->F,
                   .f = given->f,
                   .single_f = given->single_f};
    memcpy(v.field, body->field, sizeof v.field);
    for (int a = 0; a < 3; a++) {
        v.n[a] = grid->n[a];
        v.apart[a] = given->apart[a];
        v.k[a] = body->k.same[a];
        v.dx[a] = grid->dx[a];
        v.r[a] = v.k[a] * v.dt / (v.capacity * v.dx[a] * v.dx[a]);
        v.g[a] = given->coefficient[a];
    }
    return v;
}

int diffusion_field(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                    const double **values) {
    const heat_view v = diffusion_heat_view(state, state->step);
    double *to = sel_state_scratch(state), out[3];
    int64_t at[3] = {x0, row % v.n[1], row / v.n[1]};
    int count = 1;
    *values = to;
    for (; at[0] < x1; at[0]++, to++) {
        count = heat_values(&v, v.field[field], at, out);
        for (int a = 0; a < count; a++) {
            to[a * v.n[0]] = out[a];
        }
    }
    return count;
}

/* The sum of HEAT_CONTENT or HEAT_ADDED. */
static double amount(const sel_state *state, int64_t step, int what) {
    const sel_rows own = sel_own_rows(state);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        const heat_view v = diffusion_heat_view(state, step);
        const uint8_t *solid = sel_state_solids(state, row);
        double sum = 0, value;
        for (int64_t x = 0; x < v.n[0]; x++) {
            heat_values(&v, what, (int64_t[3]){x, row % v.n[1], row / v.n[1]}, &value);
            sum += solid[x] ? 0 : value;
        }
        state->partials[k * SEL_PARTIALS] = sum;
    }
    return sel_join_rows(state, false);
}

sel_status diffusion_answer(sel_state *state, sel_request *request, sel_error *error) {
    (void)error;
    const diffusion_body *body = diffusion_body_of(state->plan);
    const sel_surfaces *on = &state->plan->inputs->surfaces;
    const diffusion_given on_sites = diffusion_given_of(state), *given = &on_sites;
    int64_t first, end;
    sel_given_range(state, &state->own, &first, &end);
    const int64_t step = state->step;
    const bool changes = step > 0 && !body->steady;
    diffusion_balance b = ((const diffusion_state *)state)->balance;
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = first; k < end; k++) {
        const int64_t row = given->cell[k] / state->field[0].layout.n[0];
        if (!sel_state_has(state, row)) {
            continue;
        }
        heat_view v = diffusion_heat_view(state, step - changes);
        v.implicit = changes ? v.implicit : 0;
        heat_entering(&v, given, k, changes);
    }
    double *entering = on->divided ? given->all_entering : given->entering;
    sel_sites_gather(&on->sites, given->entering, sizeof *given->entering, entering);
    if (request->kind == SEL_BALANCE && !body->steady) {
        b.after = amount(state, step, HEAT_CONTENT);
        b.before = changes ? amount(state, step - 1, HEAT_CONTENT) : (double)NAN;
        b.source = state->given.source ? amount(state, step, HEAT_ADDED) : 0;
    }
    if (on->region) { /* of several ranks rank 0 answers */
        diffusion_answer_balance(state->plan, entering, &b, request);
    }
    return SEL_OK;
}

void diffusion_answer_balance(const sel_plan *plan, const double *entering,
                              const diffusion_balance *b, sel_request *request) {
    const sel_domain *domain = plan->domain;
    const sel_surfaces *on = &plan->inputs->surfaces;
    const double dt = domain->grid.dt;
    const bool steady = diffusion_body_of(plan)->steady;
    double rate = (b->after - b->before) / dt, in = 0, out = 0;
    double sum[SEL_REGION_NUMBERS] = {0}, all = steady ? -b->source : b->source;
    for (int64_t k = 0; k < on->sites.all; k++) {
        sum[on->region[k]] += entering[k];
        in += fmax(entering[k], 0);
        out += fmax(-entering[k], 0);
    }
    if (request->kind == SEL_FLUX) {
        request->flux = -sum[request->region];
        return;
    }
    for (int r = 1; r <= domain->region_count; r++) {
        all += sum[r];
    }
    if (steady) {
        sel_request_term(request, SEL_TERM_NOTED, "residual", "", b->residual);
    } else {
        rate = isnan(b->before) ? all : rate;
        sel_request_term(request, SEL_TERM_NOTED, plan->simulation->solver->conserved, "",
                         b->after);
        sel_request_term(request, SEL_TERM_NOTED, "rate", "", rate);
    }
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        if (on->of_region[r]) {
            sel_request_term(request, SEL_TERM_NOTED, "in_", sel_region_name(domain, r, text),
                             sum[r]);
        }
    }
    if (steady) {
        sel_request_term(request, SEL_TERM_NOTED, "rhs", "", b->source);
    } else if (plan->inputs->has_source) {
        sel_request_term(request, SEL_TERM_NOTED, "source", "", b->source);
    }
    const double time = steady ? 1 : isnan(b->before) ? 0 : dt; /* 0: there was no step */
    request->turnover = (sel_turnover){.in = in * time,
                                       .out = out * time,
                                       .source = (steady ? b->size : fabs(b->source)) * time,
                                       .change = steady ? 0 : fabs(rate) * time};
    sel_request_term(request, SEL_TERM_ERROR, "error", "", steady ? all : (rate - all) * time);
}
