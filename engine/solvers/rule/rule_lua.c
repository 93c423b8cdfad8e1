/* rule_lua.c -- cells that Lua evaluates: of functions that are not read into programs all, of
 * others those where the program gives up (an error, a whole number divided by 0 or beyond 2^53).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/rule/rule.h"

typedef struct lua_cell {
    const rule_state *state;
    int64_t cell, at;
    const double *own;
} lua_cell;

static bool is_wall(const rule_state *state, int field, int64_t at) {
    return state->tables.walls[state->kind[at] % RULE_ODD] >> field & 1;
}

static double read_cell(const sel_rule_place *self, int field, const int away[3]) {
    const lua_cell *c = self->data;
    const rule_state *state = c->state;
    const sel_layout *cells = rule_layout(state);
    int64_t at = c->at + away[0] + away[1] * cells->pitch + away[2] * cells->slice;
    at = is_wall(state, field, at) ? c->at : at;
    return c->own && at == c->at ? c->own[field] : rule_value(state, field, at);
}

static double random_in_cell(const sel_rule_place *self, int64_t k) {
    const lua_cell *c = self->data;
    return rule_random(c->state->plan, c->cell, c->state->base.step, k);
}

static lua_cell find_cell(const rule_state *state, int64_t cell, const double *own) {
    const int64_t nx = state->plan->base.domain->grid.n[0], row = cell / nx;
    return (lua_cell){
        .state = state, .cell = cell, .at = rule_row(state, row) + cell % nx, .own = own};
}

void rule_lua_keep(const rule_state *state, int64_t cell, const double *own, double *out) {
    const lua_cell c = find_cell(state, cell, own);
    for (int f = 0; f < state->model->fields; f++) {
        out[f] = own ? own[f] : rule_value(state, f, c.at);
    }
}

sel_status rule_lua_call(const rule_state *state, const rule_function *f, int64_t cell,
                         const double *own, double *out, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    lua_cell c = find_cell(state, cell, own);
    sel_rule_place place = {.t = sel_state_time(&state->base),
                            .dt = state->base.clock.dt,
                            .controls = domain->control_values,
                            .read = read_cell,
                            .random = random_in_cell,
                            .data = &c};
    sel_cell_centre(&domain->grid, cell, place.place);
    return f->source->call(f->source, &place, out, error);
}

/* ---- where programs give up ---- */

/* Records of a cell's number and its fields, or up to three numbers. */
static size_t record_size(const rule_state *state) {
    const int fields = state->model->fields;
    return (size_t)(1 + (fields > 3 ? fields : 3));
}

static bool grow_cells(rule_lua_cells *cells, size_t size) {
    const int64_t room = cells->room ? 2 * cells->room : 64;
    double *record = realloc(cells->record, (size_t)room * size * sizeof *record);
    if (!record) {
        return false;
    }
    cells->record = record;
    cells->room = room;
    return true;
}

void rule_lua_note(const rule_state *state, rule_lua_cells *cells, int64_t cell) {
    const size_t size = record_size(state);
#pragma omp critical(sel_rule_lua)
    if (cells->count < cells->room || grow_cells(cells, size)) {
        double *record = cells->record + (size_t)cells->count++ * size;
        record[0] = (double)cell;
        rule_lua_keep(state, cell, NULL, record + 1);
    } else {
        cells->full = true;
    }
}

static int rule_lua_compare_cells(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Stores Lua's values in a cell, but for fields that laws hold. */
static void store_values(rule_state *state, const rule_function *f, int64_t cell,
                         const double *out) {
    const rule_model *m = state->model;
    const lua_cell c = find_cell(state, cell, NULL);
    const uint64_t held = state->tables.held[state->kind[c.at] % RULE_ODD];
    for (int k = 0; k < f->code->layout.outputs; k++) {
        const int field = f->code->tables.output[k].field;
        const bool byte = m->field[field].type == SEL_CELL_U8;
        const double value = out[field];
        void *to = state->tables.at[field][((state->turns ^ f->turns) >> field) & 1];
        if (held >> field & 1) {
            continue;
        }
        if (m->field[field].type == SEL_CELL_REAL ||
            (value >= (byte ? 0 : INT32_MIN) && value <= (byte ? UINT8_MAX : INT32_MAX))) {
            rule_set(state->tables.type[field], state->tables.wide, to, c.at, value);
        } else {
            rule_note_bad(state, cell, field, value);
        }
    }
}

static sel_status ask_lua(const rule_state *state, const rule_function *f, const double *record,
                          double *out, sel_error *error) {
    const int64_t cell = (int64_t)record[0];
    memcpy(out, record + 1, (size_t)state->model->fields * sizeof *out);
    return f->source->call ? rule_lua_call(state, f, cell, record + 1, out, error)
                           : rule_fail_in(state, f, cell, error);
}

static sel_status sort_cells(const rule_state *state, rule_lua_cells *cells, sel_error *error) {
    const size_t bytes = record_size(state) * sizeof(double);
    const bool full = cells->full;
    cells->full = false;
    if (cells->count > 0) {
        qsort(cells->record, (size_t)cells->count, bytes, rule_lua_compare_cells);
    }
    return full
               ? sel_fail_memory(error, "cells that Lua evaluates", 2 * (size_t)cells->room * bytes)
               : SEL_OK;
}

void rule_lua_take(rule_state *state, const rule_function *f, rule_lua_cells *cells) {
    double out[SEL_MOST_CELL_FIELDS];
    cells->error = (sel_error){.status = SEL_OK};
    sel_status status = sort_cells(state, cells, &cells->error);
    if (status) {
        rule_note_bad(state, 0, -1, 0);
    }
    for (int64_t k = 0; k < cells->count && !status; k++) {
        const double *record = cells->record + (size_t)k * record_size(state);
        status = ask_lua(state, f, record, out, &cells->error);
        if (status) {
            rule_note_bad(state, (int64_t)record[0], -1, 0);
        } else {
            store_values(state, f, (int64_t)record[0], out);
        }
    }
    cells->count = 0;
}

sel_status rule_lua_numbers(const rule_state *state, const rule_function *f, rule_lua_cells *cells,
                            sel_error *error) {
    double out[SEL_MOST_CELL_FIELDS];
    sel_status status = sort_cells(state, cells, error);
    int64_t kept = 0;
    for (int64_t k = 0; k < cells->count && !status; k++) {
        double *record = cells->record + (size_t)k * record_size(state);
        if (state->plan->base.domain->cell[(int64_t)record[0]]) {
            continue;
        }
        status = ask_lua(state, f, record, out, error);
        double *to = cells->record + (size_t)kept++ * record_size(state);
        to[0] = record[0];
        memcpy(to + 1, out, 3 * sizeof *out);
    }
    cells->count = status ? 0 : kept;
    return status;
}

void rule_lua_put(const rule_state *state, const rule_function *f, const rule_lua_cells *cells,
                  int64_t row, int64_t x0, int64_t x1, double *to) {
    const int64_t nx = state->plan->base.domain->grid.n[0], first = row * nx + x0;
    int64_t low = 0, high = cells->count; /* the first record of a cell that is not before */
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const bool before = cells->record[(size_t)middle * record_size(state)] < (double)first;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    for (; low < cells->count; low++) {
        const double *record = cells->record + (size_t)low * record_size(state);
        if (record[0] >= (double)(row * nx + x1)) {
            return;
        }
        for (int c = 0; c < f->code->layout.outputs; c++) {
            const int number = f->code->tables.output[c].field;
            to[number * nx + (int64_t)record[0] - first] = record[1 + number];
        }
    }
}

void rule_lua_free(rule_lua_cells *cells) {
    free(cells->record);
}
