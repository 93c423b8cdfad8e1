/* rule_state.c -- the arrays of sel.rule, and the state at step 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/values/philox.h"
#include "engine/solvers/rule/rule.h"

/* ---- arrays ---- */

/* Elements: whole lines of the caches, of bytes too; behind the last one, where kernels may load.
 */
enum { UNIT = 64, BEHIND = 1024 };

/* Margins along x lie between the rows: on the right of one, on the left of the next. */
static sel_field rule_state_cells_of(const rule_model *m, const sel_state *base, int halo) {
    const sel_grid *grid = &base->plan->domain->grid;
    const int slow = grid->dims - 1;
    const int64_t pitch = (grid->n[0] + 2 * m->reach + UNIT - 1) / UNIT * UNIT;
    const int64_t slice = (sel_patch_cells(&base->own, 1) + 2 * m->reach) * pitch;
    const int64_t first = slow == 2 ? halo * slice + m->reach * pitch : halo * pitch;
    const sel_layout of_grid = {.n = {grid->n[0], grid->n[1], grid->n[2]},
                                .slow = slow,
                                .components = 1,
                                .origin = UNIT + first,
                                .pitch = pitch,
                                .slice = slice};
    sel_field field = {.layout = sel_patch_layout(&of_grid, &base->own), .halo = halo};
    const int64_t planes = sel_patch_cells(&base->own, slow) + 2 * halo;
    field.layout.count = planes * sel_layout_stride(&of_grid, slow) + UNIT + BEHIND;
    field.layout.component = field.layout.count;
    field.lead[1] = m->reach;
    field.lead[2] = m->reach * (pitch + 1) - base->own.lo[1] * pitch;
    return field;
}

/* Adds the cell fields, and as the last one the kinds of cells. */
static void rule_state_add_fields(rule_state *state, int halo) {
    const rule_model *m = state->model;
    sel_field field = rule_state_cells_of(m, &state->base, halo);
    for (int f = 0; f < m->fields; f++) {
        field.name = m->saved[f];
        field.flags = m->field[f].state ? SEL_SAVED | SEL_ANY_NUMBER : 0;
        field.copies = m->doubled >> f & 1 ? 2 : 1;
        field.alternates = m->swapping >> f & 1;
        field.at = state->tables.at[f];
        field.type = (sel_type){"fiu"[m->field[f].type], (uint32_t)rule_size(m, f)};
        sel_state_add_field(&state->base, &field);
    }
    field.name = "kind";
    field.flags = 0;
    field.copies = 1;
    field.alternates = false;
    field.at = (void **)&state->kind;
    field.type = (sel_type){'u', 1};
    sel_state_add_field(&state->base, &field);
}

/* What ranks exchange in a step, margins of the fields that rules look at; or for a derived field.
 * A pass of several steps, of which the halo is wider, takes all that it writes. */
static uint64_t halo_bytes(const rule_state *state) {
    const rule_model *m = state->model;
    const int halo = state->base.field[0].halo, passes = halo > m->reach;
    int step = 0, most = 0;
    for (int k = 0; k < m->functions; k++) {
        const rule_function *f = &m->function[k];
        const int bytes = passes && k < m->rules ? halo * rule_bytes(m, f->writes)
                                                 : m->reach * rule_bytes(m, f->looks);
        step += k < m->rules ? bytes : 0;
        most = bytes > most ? bytes : most;
    }
    const sel_layout *layout = rule_layout(state);
    const int64_t plane = sel_layout_stride(layout, layout->slow);
    const bool divides = sel_divides_planes(&state->base.decomposition);
    const int64_t rows = divides ? sel_patch_cells(&state->base.own, 2) : 0;
    return 4 * (uint64_t)(step > most ? step : most) * (uint64_t)(plane + rows * layout->pitch);
}

void rule_list(sel_state *base, int halo) {
    rule_state *state = (rule_state *)base;
    const rule_plan *plan = state->plan = (const rule_plan *)base->plan;
    const rule_model *m = state->model = plan->model;
    const rule_entry *main = &m->entry[m->main];
    const int64_t nx = plan->base.domain->grid.n[0];
    rule_state_add_fields(state, halo > m->reach ? halo : m->reach);
    base->halo_bytes = base->ranks->count > 1 ? halo_bytes(state) : 0;
    base->last = (sel_last){.type = {'f', 8},
                            .components = main->components,
                            .scale = 1,
                            .counts = m->solver.counts_changes};
    state->bad.cell = -1;
    const sel_rows_range planes = sel_own_planes(base);
    const int64_t pieces = rule_pieces(nx);
    const sel_layout odd = {.before = -planes.first * pieces,
                            .count = (planes.end - planes.first) * pieces};
    sel_arrays_add_cells(&base->arrays, "odd", &state->odd, SEL_TYPE_OF(*state->odd), &odd, 0);
    SEL_ADD(&base->arrays, state, start, 3 * m->params->conserved.n,
            SEL_SAVED | SEL_ON_HOST | SEL_ANY_NUMBER);
    rule_list_laws(state);
    if (sel_divides_planes(&base->decomposition) && !base->arrays.memory) {
        const int64_t one = 4 * sel_halo_bytes(&base->field[0], &base->own, 1);
        const int64_t all = (int64_t)base->halo_bytes;
        SEL_ADD(&base->arrays, base, halos, all > one ? all : one, 0);
    }
}

/* ---- the state at step 0 ---- */

/* Puts values into the free cells of a row of the present copy. */
static sel_status put_row(rule_state *state, const char *what, int64_t row, int f,
                          const double *values, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const int64_t nx = domain->grid.n[0], first = rule_row(state, row);
    sel_status status = SEL_OK;
    for (int64_t x = 0; x < nx && !status; x++) {
        const int64_t cell = row * nx + x;
        if (!domain->cell[cell]) {
            status = rule_check_value(state->plan, what, f, values[x], cell, error);
            rule_set(state->tables.type[f], state->tables.wide, rule_copy(state, f), first + x,
                     status ? 0 : values[x]);
        }
    }
    return status;
}

static sel_status rule_state_initialise(rule_state *state, int entry, const sel_random *random,
                                        sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const rule_entry *e = &state->model->entry[entry];
    const sel_rows own = sel_own_rows(&state->base);
    const int64_t nx = domain->grid.n[0];
    const int64_t fit = sel_domain_rows_at_once(domain, state->base.threads);
    const int64_t most = fit < own.count ? fit : own.count;
    const int components = e->value->components;
    const size_t bytes = (size_t)(most * nx * components) * sizeof(double);
    double *values = malloc(bytes);
    char what[80];
    snprintf(what, sizeof what, "initial.%.64s", e->name);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, what, bytes);
    sel_rows_range rows = {0, 0};
    for (int64_t n = 0; n < own.count && !status; n += rows.end - rows.first) {
        rows = sel_rows_together(&own, n, most);
        const sel_evaluation asked = {.quantity = e->value,
                                      .what = what,
                                      .random = random,
                                      .first = rows.first,
                                      .end = rows.end};
        status = sel_domain_evaluate(domain, &asked, state->base.threads, values, error);
        for (int64_t k = 0; k < (rows.end - rows.first) * components && !status; k++) {
            status = put_row(state, what, rows.first + k / components,
                             e->first + (int)(k % components), values + k * nx, error);
        }
    }
    free(values);
    return status;
}

double rule_random(const rule_plan *plan, int64_t cell, int64_t step, int64_t k) {
    const uint32_t bits = sel_philox((uint64_t)plan->model->params->seed, cell, step, k);
    return sel_philox_number(bits, plan->model->precision == SEL_F32);
}

/* sel_random.value: that of the cell about the place, in step -1. */
static double random_at(const sel_random *self, const double place[3], int64_t k) {
    const rule_plan *plan = self->data;
    const sel_grid *grid = &plan->base.domain->grid;
    int64_t at[3] = {0};
    for (int a = 0; a < grid->dims; a++) {
        at[a] = (int64_t)floor(sel_index(grid, a, place[a]) + 0.5);
    }
    return rule_random(plan, sel_cell_number(grid, at), -1, k);
}

sel_status rule_start(sel_state *base, sel_error *error) {
    rule_state *state = (rule_state *)base;
    const rule_model *m = state->model;
    const sel_random random = {random_at, state->plan};
    rule_list_runs(state);
    sel_status status =
        base->listed ? sel_inputs_fill(base, SEL_ALWAYS, -1, rule_cells, error) : SEL_OK;
    for (int e = 0; e < m->states && !status; e++) {
        status = m->entry[e].value ? rule_state_initialise(state, e, &random, error) : SEL_OK;
    }
    status = sel_state_agree(base, status, error);
    status = status ? status : rule_find_kinds(state, error);
    status = status ? status : rule_start_laws(state, error);
    if (!status) {
        rule_hold_cells(state);
    }
    return sel_state_agree(base, status, error);
}

/* ---- what both backends tell users ---- */

void rule_note_bad(rule_state *state, int64_t cell, int field, double value) {
#pragma omp critical(sel_rule_bad)
    if (state->bad.cell < 0 || cell < state->bad.cell) {
        state->bad.cell = cell;
        state->bad.field = field;
        state->bad.value = value;
    }
}

sel_status rule_fail_in(const rule_state *state, const rule_function *f, int64_t cell,
                        sel_error *error) {
    char text[SEL_CELL_TEXT];
    sel_cell_text(&state->plan->base.domain->grid, cell, text);
    const sel_status status =
        sel_fail_at(error, f->source->where,
                    "%s calls error, divides a whole number by 0 or has one beyond 2^53 in cell "
                    "%s in step %lld; on the processor (--backend cpu) Lua goes on there, or "
                    "says which it is",
                    f->name, text, (long long)state->base.step + 1);
    return sel_fail_in_cell(error, status, cell);
}

sel_status rule_report_bad(rule_state *state, const rule_function *f, sel_error *error) {
    const int64_t cell = state->bad.cell;
    const sel_cell_field *field = &state->model->field[state->bad.field < 0 ? 0 : state->bad.field];
    char text[SEL_CELL_TEXT];
    if (cell < 0) {
        return SEL_OK;
    }
    state->bad.cell = -1;
    sel_cell_text(&state->plan->base.domain->grid, cell, text);
    if (state->bad.field < 0) {
        return rule_fail_in(state, f, cell, error);
    }
    const sel_status status =
        sel_fail_as(error, SEL_DIVERGED, f->source->where,
                    "diverged: in step %lld %s gives %.17g for '%s', which holds whole numbers "
                    "%s, in cell %s",
                    (long long)state->base.step + 1, f->name, state->bad.value, field->name,
                    field->type == SEL_CELL_U8 ? "from 0 to 255" : "of 32 bits", text);
    return sel_fail_in_cell(error, status, cell);
}

/* ---- sums and steps, of both backends ---- */

/* Of a whole field, at once. */
static sel_status rule_state_ask(sel_state *base, sel_request *request, sel_error *error) {
    const sel_solver *solver = base->plan->simulation->solver;
    const sel_backend *backend = base->queue ? solver->cuda : solver->cpu;
    request->box = sel_grid_box(&base->plan->domain->grid);
    sel_status status = backend->start(base, request, error);
    return status ? status : backend->finish(base, request, error);
}

int rule_conserved(const rule_model *m, int k, int *component) {
    const sel_names *names = &m->params->conserved;
    return sel_solver_field(&m->solver, m->dims, names->n ? names->v[k] : m->entry[m->main].name,
                            component);
}

sel_status rule_sum(sel_state *base, int k, double sum[3], sel_error *error) {
    int component;
    sel_request all = {.kind = SEL_REDUCE,
                       .field = rule_conserved(((rule_state *)base)->model, k, &component)};
    const sel_status status = rule_state_ask(base, &all, error);
    memcpy(sum, all.sum, 3 * sizeof *sum);
    return status;
}

sel_status rule_start_sums(sel_state *base, sel_error *error) {
    const rule_state *state = (const rule_state *)base;
    sel_status status = SEL_OK; /* also where nobody asks yet: a run that goes on may */
    for (int k = 0; k < state->model->params->conserved.n && !status; k++) {
        status = rule_sum(base, k, state->start + 3 * k, error);
    }
    return status;
}

sel_status rule_time_step(sel_state *base, double *dt, sel_error *error) {
    const rule_state *state = (const rule_state *)base;
    const rule_model *m = state->model;
    const sel_domain *domain = base->plan->domain;
    const size_t bytes = (size_t)sel_grid_cells(&domain->grid) * sizeof(double);
    sel_request all = {.kind = SEL_REDUCE, .field = m->entries + m->deriveds};
    sel_status status = rule_state_ask(base, &all, error);
    status = sel_state_agree(base, status ? status : state->status, error);
    *dt = fmin(m->params->dt.max, m->params->dt.factor * all.min[0]);
    if (status || all.count == 0 || (all.min[0] > 0 && !isnan(all.sum[0]))) {
        return status;
    }
    double *limit = sel_ranks_memory(base->ranks, bytes);
    all = (sel_request){
        .kind = SEL_READ, .field = all.field, .components = 1, .precision = SEL_F64, .to = limit};
    status = rule_state_ask(base, &all, error);
    int64_t cell = 0;
    while (!status && base->ranks->rank == 0 && (domain->cell[cell] || limit[cell] > 0)) {
        cell++;
    }
    free(limit);
    char text[SEL_CELL_TEXT];
    return status ? status
                  : sel_fail_at(error, m->params->dt.limit->where,
                                "dt.limit must be above 0, it is not in cell %s at step %lld",
                                sel_cell_text(&domain->grid, cell, text), (long long)base->step);
}

bool rule_conserved_column(const rule_model *m, int k, int c, char name[RULE_COLUMN]) {
    int component;
    const sel_field_info *field = &m->solver.fields[rule_conserved(m, k, &component)];
    const int components = sel_field_components(field, m->dims);
    snprintf(name, RULE_COLUMN, "%.40s%s%s", field->name, components > 1 ? "_" : "",
             components > 1 ? sel_axis_names[c] : "");
    return c < components && (component < 0 || c == component);
}

void rule_add_terms(const rule_state *state, int k, const double sum[3], sel_request *request) {
    char term[RULE_COLUMN];
    for (int c = 0; c < 3; c++) {
        const double before = state->start ? state->start[3 * k + c] : 0;
        if (rule_conserved_column(state->model, k, c, term)) {
            sel_request_term(request, SEL_TERM_NOTED, term, "", sum[c] - before);
            sel_request_term(request, SEL_TERM_NOTED, term, "_sum", sum[c]);
        }
    }
}
