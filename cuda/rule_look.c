/* rule_look.c -- reads, sums and the adaptive time step of sel.rule on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/rule_cuda.h"

void rule_cuda_set_view(rule_cuda *state) {
    const rule_model *m = state->all.model;
    const sel_plan *plan = &state->all.plan->base;
    const sel_cells *cells = &state->all.cells;
    state->view = (rule_gpu_look){.grid = cuda_grid_of(&state->all.base),
                                  .tables = state->tables,
                                  .turns = rule_cuda_turns(state, state->all.base.step),
                                  .first = cells->first,
                                  .pitch = cells->pitch,
                                  .slice = cells->slice,
                                  .cells = sel_grid_cells(&plan->domain->grid),
                                  .blocks = state->all.base.blocks.count,
                                  .dims = plan->domain->grid.dims,
                                  .wide = plan->precision == SEL_F64,
                                  .main = m->entry[m->main].first};
    for (int f = 0; f < m->fields; f++) {
        const bool real = m->field[f].state && m->field[f].type == SEL_CELL_REAL;
        state->view.reals |= (uint64_t)real << f;
    }
}

sel_status rule_cuda_look(sel_state *base, int field, const cuda_look **to, const void **view,
                          sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    const rule_model *m = state->all.model;
    sel_status status = field < m->states ? SEL_OK
                        : field >= m->entries
                            ? rule_cuda_compute(state, m->rules + field - m->entries, error)
                            : rule_cuda_evaluate(state, SEL_ON_T | SEL_ON_CONTROLS, error);
    rule_cuda_set_view(state);
    if (field >= m->entries) {
        state->view.numbers = state->numbers;
        state->view.components = m->derived[field - m->entries].rule->outputs;
    } else if (field >= 0) {
        state->view.field = m->entry[field].first;
        state->view.components = m->entry[field].components;
    }
    *to = rule_gpu_looks(m->entry[m->main].components, m->solver.counts_changes);
    *view = &state->view;
    return status;
}

/* Sums of field `which` over all free cells: in the first of the queue's rows. */
static sel_status sum_field(sel_state *base, int which, sel_error *error) {
    const sel_request all = {.box = sel_grid_box(&base->plan->domain->grid)};
    const cuda_cells cells = cuda_cells_of(&all);
    const cuda_look *with;
    const void *view;
    sel_status status = rule_cuda_look(base, which, &with, &view, error);
    if (!status) {
        CUDA_TRY(with->reduce(view, which, &cells, base->queue->rows, base->queue->stream));
    }
    return status;
}

sel_status rule_cuda_start_sums(rule_cuda *state, sel_error *error) {
    const rule_model *m = state->all.model;
    const sel_names *names = &m->params->conserved;
    sel_status status = SEL_OK;
    for (int k = 0; k < names->n && state->all.plan->base.wants_balance && !status; k++) {
        int component;
        cuda_sums sums;
        status = sum_field(&state->all.base,
                           sel_solver_field(&m->solver, m->dims, names->v[k], &component), error);
        status =
            status ? status : cuda_send(&sums, state->all.base.queue->rows, sizeof sums, error);
        memcpy(state->all.start + 3 * k, sums.sum, 3 * sizeof(double));
    }
    return status;
}

sel_status rule_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    const rule_model *m = rule_cuda_model(base->plan);
    const sel_names *names = &m->params->conserved;
    const int count = names->n ? names->n : 1;
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(base->queue, request, (uint64_t)count * sizeof(cuda_sums), 0, &slot, error);
    for (int k = 0; k < count && !status; k++) {
        int component;
        const int which =
            names->n ? sel_solver_field(&m->solver, m->dims, names->v[k], &component) : m->main;
        status = sum_field(base, which, error);
        status = status ? status
                        : cuda_slot_fetch(base->queue, slot, (uint64_t)k * sizeof(cuda_sums),
                                          base->queue->rows, sizeof(cuda_sums), error);
    }
    return status;
}

void rule_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    const rule_cuda *state = (const rule_cuda *)base;
    const cuda_sums *sums = slot->host;
    const int count = state->all.model->params->conserved.n;
    for (int k = 0; k < (count ? count : 1); k++) {
        rule_add_terms(&state->all, k, sums[k].sum, request);
    }
}

sel_status rule_cuda_time_step(sel_state *base, double *dt, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    const rule_model *m = state->all.model;
    const rule_dt *given = &m->params->dt;
    const sel_domain *domain = base->plan->domain;
    const int k = m->rules + m->deriveds;
    const sel_request all = {.box = sel_grid_box(&domain->grid)};
    const cuda_cells cells = cuda_cells_of(&all);
    cuda_sums sums;
    sel_status status = rule_cuda_compute(state, k, error);
    rule_cuda_set_view(state);
    state->view.numbers = state->numbers;
    state->view.components = 1;
    if (!status) {
        CUDA_TRY(rule_gpu_looks(1, false)->reduce(&state->view, 0, &cells, base->queue->rows,
                                                  base->queue->stream));
        status = cuda_send(&sums, base->queue->rows, sizeof sums, error);
    }
    if (status) {
        return status;
    }
    *dt = fmin(given->max, given->factor * sums.least[0]);
    if (sums.count == 0 || (sums.least[0] > 0 && !isnan(sums.sum[0]))) {
        return SEL_OK;
    }
    const size_t bytes = (size_t)sel_grid_cells(&domain->grid) * sizeof(double);
    double *limit = malloc(bytes);
    status = limit ? cuda_send(limit, state->numbers, bytes, error)
                   : sel_fail_memory(error, "dt.limit", bytes);
    int64_t cell = 0;
    while (!status && (domain->cell[cell] || limit[cell] > 0)) {
        cell++;
    }
    free(limit);
    return status ? status : rule_limit_fails(&state->all, cell, error);
}
