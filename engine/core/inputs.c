/* inputs.c -- list the inputs of a plan; their values on the host. */
#include "engine/core/collectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

sel_input sel_input_of(const sel_quantity *quantity, sel_input_kind kind) {
    return (sel_input){.quantity = quantity, .kind = kind, .least = -HUGE_VAL, .most = HUGE_VAL};
}

bool sel_inputs_add(sel_inputs *inputs, const sel_input *input) {
    sel_input *v = realloc(inputs->v, (size_t)(inputs->count + 1) * sizeof *v);
    if (!v) {
        return false;
    }
    inputs->v = v;
    v[inputs->count++] = *input;
    inputs->depends |= sel_input_depends(input);
    inputs->source_depends |= input->kind == SEL_INPUT_IN_CELLS ? sel_input_depends(input) : 0;
    return true;
}

/* sel_inputs.cell */
static int64_t inputs_surface_cell(const sel_inputs *inputs, int64_t k) {
    const sel_surfaces *on = &inputs->surfaces;
    return on->site[on->order[k]].cell;
}

sel_status sel_inputs_list(sel_inputs *inputs, const sel_domain *domain, bool whole,
                           sel_surface_far *far, sel_error *error) {
    inputs->domain = domain;
    inputs->far = far;
    sel_status status = sel_surfaces_list(domain, whole, far, &inputs->surfaces, error);
    const sel_surfaces *on = &inputs->surfaces;
    inputs->places = on->sites.count;
    inputs->target = on->order;
    inputs->cell = inputs_surface_cell;
    for (int a = 0; a < 3; a++) {
        inputs->place[a] = on->place[a];
    }
    for (int r = 1; r <= domain->region_count && !status; r++) {
        const sel_variant *law = &domain->regions[r - 1].law;
        for (int k = 0; k < law->table->count && on->of_region[r] && !status; k++) {
            const sel_table_field *field = &law->table->fields[k];
            sel_input input = sel_input_of((const void *)((const char *)law->data + field->offset),
                                           SEL_INPUT_AT_PLACES);
            input.region = r;
            input.which = k;
            input.first = on->first_of[r];
            input.count = on->first_of[r + 1] - on->first_of[r];
            snprintf(input.what, sizeof input.what, "%s: %s", law->table->name, field->name);
            status = sel_inputs_add(inputs, &input)
                         ? SEL_OK
                         : sel_fail_memory(error, "the laws", sizeof input);
        }
    }
    return status;
}

sel_status sel_inputs_source(sel_inputs *inputs, const sel_quantity *source, sel_error *error) {
    sel_input input = sel_input_of(source, SEL_INPUT_IN_CELLS);
    snprintf(input.what, sizeof input.what, "source");
    inputs->source_number = inputs->count;
    inputs->has_source = sel_quantity_given(source);
    if (!inputs->has_source) {
        return SEL_OK;
    }
    inputs->source = sel_faces_layout(&inputs->domain->grid);
    return sel_inputs_add(inputs, &input) ? SEL_OK
                                          : sel_fail_memory(error, "the source", sizeof input);
}

void sel_inputs_keep(void *to, const sel_inputs *inputs, const sel_input_values *values) {
    double *value = to;
    for (int64_t k = 0; k < values->count; k++) {
        const int64_t site = inputs->target[values->first + k];
        value[inputs->values * site + values->input->which] = values->v[k];
    }
}

sel_status sel_inputs_complete(sel_inputs *inputs, sel_error *error) {
    const size_t count = (size_t)(inputs->values * inputs->surfaces.sites.count) + 1;
    double *value = inputs->value = calloc(count, sizeof *value);
    sel_error why = {.status = SEL_OK};
    sel_status status =
        value ? sel_inputs_evaluate(inputs, SEL_ALWAYS, -1, sel_inputs_keep, value, &why)
              : sel_fail_memory(&why, "the laws", count * sizeof *value);
    return inputs->surfaces.divided ? sel_domain_agree(inputs->domain, status, &why, error)
           : status                 ? sel_fail(error, status, "%s", why.text)
                                    : SEL_OK;
}

sel_status sel_inputs_of_place(const sel_inputs *inputs, bool all, const char *advice,
                               sel_error *error) {
    for (int k = 0; k < inputs->count; k++) {
        const sel_input *input = &inputs->v[k];
        if (input->region && (all || input->least == 0) &&
            (sel_quantity_depends(input->quantity) & ~(unsigned)SEL_ON_PLACE)) {
            return sel_fail_at(error, inputs->domain->regions[input->region - 1].at,
                               "%s may depend on place only%s", input->what, advice);
        }
    }
    return SEL_OK;
}

void sel_inputs_free(sel_inputs *inputs) {
    sel_surfaces_free(&inputs->surfaces);
    free(inputs->value);
    free(inputs->v);
}

/* ---- values ---- */

unsigned sel_input_depends(const sel_input *input) {
    return sel_quantity_depends(input->quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
}

double sel_input_time(const sel_inputs *inputs, const sel_input *input, int64_t step) {
    const sel_clock *clock = inputs->clock;
    return step < 0 ? 0
           : clock  ? sel_clock_time(clock, step) + input->ahead * clock->dt
                    : ((double)step + input->ahead) * inputs->domain->grid.dt;
}

static bool inputs_allow(const sel_input *input, double value, double number) {
    return (value >= input->least && number <= input->most &&
            !(input->whole && value != floor(value))) ||
           (input->gaps && !input->whole && isnan(value));
}

/* The error of a value that is not allowed. */
static sel_status inputs_refuse(const sel_inputs *inputs, const sel_input *input, double value,
                                sel_error *error) {
    const sel_where at =
        input->region ? inputs->domain->regions[input->region - 1].at : (sel_where){NULL, 0};
    return sel_fail_at(error, at,
                       input->least == 0 && value < 0 ? "%s must not be negative, got %g"
                                                      : "%s must not be %g",
                       input->what, value);
}

/* Evaluates an input at n places, from its k-th on. */
static sel_status inputs_evaluate(const sel_inputs *inputs, const sel_input *input, int64_t k,
                                  int64_t n, const double *const place[3], int64_t step, double *to,
                                  sel_error *error) {
    const sel_domain *domain = inputs->domain;
    const sel_places at =
        sel_domain_at(domain, n, place[0], place[1], place[2], sel_input_time(inputs, input, step));
    sel_status status = sel_quantity_eval(input->quantity, input->what, &at, to, error);
    for (int64_t i = 0; i < input->quantity->components * n && !status; i++) {
        status = inputs->check ? inputs->check(inputs, input, k + i % n, step, to[i], error)
                 : inputs_allow(input, to[i], to[i]) ? SEL_OK
                                                     : inputs_refuse(inputs, input, to[i], error);
    }
    return status;
}

/* The place of an input's k-th value. */
static void inputs_place(const sel_inputs *inputs, const sel_input *input, int64_t k,
                         const double *place[3]) {
    for (int a = 0; a < 3; a++) {
        place[a] = input->kind == SEL_INPUT_UNIFORM && input->count == 0
                       ? &inputs->domain->grid.origin[a]
                   : inputs->place[a] ? inputs->place[a] + input->first + k
                                      : NULL;
    }
}

/* Orders failures: cells come first, then input after input; of an input the first cell. */
static int64_t inputs_position(const sel_inputs *inputs, const sel_input *input, int64_t k) {
    const int64_t before = (1 + (input - inputs->v)) * sel_grid_cells(&inputs->domain->grid);
    return input->kind == SEL_INPUT_IN_CELLS ? k
           : input->kind == SEL_INPUT_AT_PLACES && inputs->cell
               ? before + inputs->cell(inputs, input->first + k)
               : before;
}

/* The error of the first of n places that has no value. */
static sel_status inputs_find_fault(const sel_inputs *inputs, const sel_input *input, int64_t step,
                                    int64_t first, int64_t n, double *room, sel_error *error) {
    for (int64_t k = first; k < first + n; k++) {
        sel_error one = {.status = SEL_OK};
        const double *place[3];
        inputs_place(inputs, input, k, place);
        const sel_status status = inputs_evaluate(inputs, input, k, 1, place, step, room, &one);
        if (status) {
            return sel_fail_in_cell(error, sel_fail(error, status, "%s", one.text),
                                    inputs_position(inputs, input, k));
        }
    }
    return SEL_OK;
}

sel_status sel_input_evaluate(const sel_inputs *inputs, const sel_input *input, int64_t step,
                              int64_t first, int64_t count, double *v, sel_error *error) {
    sel_error why = {.status = SEL_OK};
    const double *place[3];
    if (count == 0) {
        return SEL_OK;
    }
    inputs_place(inputs, input, first, place);
    const sel_status status = inputs_evaluate(inputs, input, first, count, place, step, v, &why);
    const sel_status found =
        status ? inputs_find_fault(inputs, input, step, first, count, v, error) : SEL_OK;
    return status && !found ? sel_fail(error, status, "%s", why.text) : status;
}

sel_status sel_inputs_evaluate(const sel_inputs *inputs, unsigned due, int64_t step,
                               sel_input_store *store, void *to, sel_error *error) {
    enum { TOGETHER = 1 << 14 }; /* places: enough for all cores */
    const size_t bytes = SEL_MAX_COMPONENTS * TOGETHER * sizeof(double);
    double *found = malloc(bytes);
    sel_status status = found ? SEL_OK : sel_fail_memory(error, "the laws", bytes);
    for (int k = 0; k < inputs->count && !status; k++) {
        const sel_input *input = &inputs->v[k];
        const bool is_due = (sel_quantity_depends(input->quantity) | SEL_ALWAYS) & due;
        const bool placed = input->kind == SEL_INPUT_AT_PLACES;
        const int64_t all = placed ? input->count : input->kind == SEL_INPUT_UNIFORM;
        for (int64_t first = 0; first < all && is_due && !status; first += TOGETHER) {
            const int64_t count = all - first < TOGETHER ? all - first : TOGETHER;
            const sel_input_values values = {input, input->first + first, count, step, found};
            status = sel_input_evaluate(inputs, input, step, first, count, found, error);
            if (store && !status) {
                store(to, inputs, &values);
            }
        }
    }
    free(found);
    return status;
}

static sel_status inputs_evaluate_at(const sel_inputs *inputs, const sel_input *input, int64_t k,
                                     const double place[3], int64_t step, double *value,
                                     sel_error *error) {
    const double *at[3] = {place, place + 1, place + 2};
    return inputs_evaluate(inputs, input, k, 1, at, step, value, error);
}

sel_status sel_input_at(const sel_inputs *inputs, const sel_input *input, const double place[3],
                        int64_t step, double *value, sel_error *error) {
    return inputs_evaluate_at(inputs, input, 0, place, step, value, error);
}

sel_status sel_input_try(const sel_inputs *inputs, const sel_input *input, int64_t k, int64_t step,
                         double place[3], sel_error *error) {
    double value[SEL_MAX_COMPONENTS];
    const double *at[3];
    sel_cell_centre(&inputs->domain->grid, input->kind == SEL_INPUT_IN_CELLS ? k : 0, place);
    inputs_place(inputs, input, k, at);
    for (int a = 0; a < 3 && input->kind != SEL_INPUT_IN_CELLS; a++) {
        place[a] = at[a] ? *at[a] : 0;
    }
    const sel_status status = inputs_evaluate_at(inputs, input, k, place, step, value, error);
    return sel_fail_in_cell(error, status, inputs_position(inputs, input, k));
}

sel_status sel_inputs_ahead(const sel_plan *plan, int64_t step, sel_error *error) {
    const sel_inputs *inputs = plan->inputs;
    sel_error why = {.status = SEL_OK};
    double place[3];
    sel_status status = inputs->depends & SEL_ON_T
                            ? sel_inputs_evaluate(inputs, SEL_ON_T, step, NULL, NULL, &why)
                            : SEL_OK;
    status = sel_domain_agree(inputs->domain, status, &why, error);
    for (int k = 0; k < inputs->count && !status; k++) {
        const sel_input *input = &inputs->v[k];
        if (input->kind == SEL_INPUT_IN_CELLS && sel_input_depends(input) & SEL_ON_T) {
            status = sel_input_try(inputs, input, 0, step, place, error);
        }
    }
    return status;
}

/* ---- those of a state ---- */

sel_input_cells sel_given_cells(const sel_state *state, const sel_input *input) {
    (void)input;
    return (sel_input_cells){.to = state->given.source,
                             .type = state->field[0].type,
                             .layout = sel_state_own_faces(state, &state->plan->inputs->source),
                             .factor = 1,
                             .unit = 1,
                             .part = true};
}

/* Stores the values of a row of cells, [components][nx] (cells NULL: does not); fails at the first
 * that is not allowed. */
static sel_status inputs_put_row(const sel_inputs *inputs, const sel_input *input, int64_t step,
                                 int64_t row, const double *values, const sel_input_cells *cells,
                                 sel_error *error) {
    const int64_t *n = inputs->domain->grid.n;
    const uint8_t *region = inputs->domain->cell + row * n[0];
    const sel_layout *layout = &cells->layout;
    int64_t at[3] = {0, row % n[1], row / n[1]};
    const int64_t first = cells->vicinity ? sel_vicinity_row(cells->vicinity, row)
                                          : at[1] * layout->pitch + at[2] * layout->slice;
    for (int c = 0; c < input->quantity->components; c++, values += n[0]) {
        for (int64_t x = at[0] = 0; x < n[0]; at[0] = ++x) {
            const double number = values[x] * cells->factor;
            const bool wanted = input->everywhere || !region[x];
            if (wanted && !inputs_allow(input, values[x], number)) {
                const int64_t cell = row * n[0] + x;
                const sel_status status =
                    inputs->check ? inputs->check(inputs, input, cell, step, values[x], error)
                                  : inputs_refuse(inputs, input, values[x], error);
                return sel_fail_in_cell(error, status, cell);
            }
            if (cells->to) {
                const double part =
                    cells->part ? sel_part_inside(&inputs->domain->grid, at, -1) : 1;
                sel_put(cells->to, cells->type, c * layout->component + first + x,
                        (cells->unit != 0 ? number / cells->unit : number) * part);
            }
        }
    }
    return SEL_OK;
}

/* Evaluates an input in rows that lie together; `values`: room for them. */
static sel_status inputs_fill_rows(const sel_state *state, const sel_input *input, int64_t step,
                                   const sel_rows_range *rows, const sel_input_cells *cells,
                                   double *values, sel_error *error) {
    const sel_inputs *inputs = state->listed;
    const int64_t numbers = input->quantity->components * inputs->domain->grid.n[0];
    bool all[SEL_REGION_NUMBERS];
    memset(all, true, sizeof all);
    const sel_evaluation asked = {.quantity = input->quantity,
                                  .what = input->what,
                                  .t = sel_input_time(inputs, input, step),
                                  .wanted = input->everywhere ? all : NULL,
                                  .gaps = input->gaps,
                                  .first = rows->first,
                                  .end = rows->end};
    const sel_status status =
        sel_domain_evaluate(inputs->domain, &asked, state->threads, values, error);
    int64_t bad = rows->end;
    if (status) {
        return sel_fail_in_cell(error, status, rows->first * inputs->domain->grid.n[0]);
    }
#pragma omp parallel for schedule(static) num_threads(state->threads) reduction(min : bad)
    for (int64_t row = rows->first; row < rows->end; row++) {
        const double *v = values + (row - rows->first) * numbers;
        if (inputs_put_row(inputs, input, step, row, v, cells, NULL)) {
            bad = row < bad ? row : bad;
        }
    }
    return bad == rows->end ? SEL_OK
                            : inputs_put_row(inputs, input, step, bad,
                                             values + (bad - rows->first) * numbers, cells, error);
}

sel_status sel_input_fill(const sel_state *state, const sel_input *input, int64_t step,
                          const sel_input_cells *cells, sel_error *error) {
    const sel_domain *domain = state->plan->domain;
    const sel_vicinity *vicinity = cells->vicinity;
    const sel_rows own = sel_own_rows(state);
    const int64_t beside = vicinity ? sel_vicinity_count(vicinity) : 0;
    const int64_t most = sel_domain_rows_at_once(domain, state->threads);
    const size_t bytes =
        (size_t)(most * input->quantity->components * domain->grid.n[0]) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, input->what, bytes);
    for (int64_t k = 0; k < own.count && !status;) {
        const sel_rows_range rows = sel_rows_together(&own, k, most);
        status = inputs_fill_rows(state, input, step, &rows, cells, values, error);
        k += rows.end - rows.first;
    }
    for (int64_t k = 0; k < beside && !status; k++) {
        const int64_t row = sel_vicinity_listed(vicinity, k);
        const sel_rows_range rows = {row, row + 1};
        status = sel_state_has(state, row)
                     ? SEL_OK
                     : inputs_fill_rows(state, input, step, &rows, cells, values, error);
    }
    free(values);
    return status;
}

sel_status sel_input_place(sel_state *state, const sel_input *input, int64_t step,
                           const sel_input_cells *cells, sel_error *error) {
    const int64_t size = cells->type.size, first = cells->layout.before * size;
    const size_t bytes = (size_t)(cells->layout.count * size);
    if (!state->arrays.memory) {
        return sel_input_fill(state, input, step, cells, error);
    }
    char *values = calloc(bytes, 1);
    sel_input_cells here = *cells;
    here.to = values + first;
    sel_status status = values ? sel_input_fill(state, input, step, &here, error)
                               : sel_fail_memory(error, input->what, bytes);
    status = status
                 ? status
                 : sel_arrays_send(&state->arrays, (char *)cells->to - first, values, bytes, error);
    free(values);
    return status;
}

sel_status sel_inputs_fill(const sel_state *state, unsigned due, int64_t step,
                           sel_input_cells_of *cells, sel_error *error) {
    const sel_inputs *inputs = state->listed;
    sel_status status = SEL_OK;
    for (int k = 0; k < inputs->count && !status; k++) {
        const sel_input *input = &inputs->v[k];
        if (input->kind == SEL_INPUT_IN_CELLS && (sel_input_depends(input) | SEL_ALWAYS) & due) {
            const sel_input_cells to = cells(state, input);
            status = sel_input_fill(state, input, step, &to, error);
        }
    }
    return status;
}

sel_status sel_inputs_fault(const sel_state *state, int64_t step, sel_input_cells_of *cells,
                            sel_error *error) {
    const sel_inputs *inputs = state->listed;
    const unsigned varies = SEL_ON_T | SEL_ON_CONTROLS;
    sel_status status = SEL_OK;
    for (int k = 0; k < inputs->count && !status; k++) {
        const sel_input *input = &inputs->v[k];
        if (input->kind == SEL_INPUT_IN_CELLS && sel_input_depends(input)) {
            sel_input_cells none = cells(state, input);
            none.to = NULL;
            status = sel_input_fill(state, input, step, &none, error);
        }
    }
    return status ? status : sel_inputs_evaluate(inputs, varies, step, NULL, NULL, error);
}

sel_inputs *sel_inputs_copy(sel_state *state, sel_inputs_lister *list) {
    const sel_inputs *from = state->plan->inputs;
    sel_inputs *copy = malloc(sizeof *copy);
    sel_input *v = malloc(((size_t)from->count + 1) * sizeof *v);
    if (!copy || !v) {
        free(copy);
        free(v);
        return NULL;
    }
    *copy = *from;
    memcpy(v, from->v, (size_t)from->count * sizeof *v);
    copy->v = v;
    copy->memory = NULL; /* the lists of the plan are the plan's */
    copy->clock = &state->clock;
    if (!list(state, copy)) {
        sel_inputs_free_copy(copy);
        return NULL;
    }
    return copy;
}

void sel_inputs_free_copy(sel_inputs *inputs) {
    if (inputs) {
        free(inputs->memory);
        free(inputs->v);
    }
    free(inputs);
}

sel_status sel_inputs_start(sel_state *state, sel_error *error) {
    const sel_inputs *inputs = state->plan->inputs;
    if (!inputs->has_source) {
        return SEL_OK;
    }
    const sel_input *input = &inputs->v[inputs->source_number];
    const sel_input_cells cells = sel_given_cells(state, input);
    return sel_input_place(state, input, -1, &cells, error);
}

void sel_given_store(void *to, const sel_inputs *inputs, const sel_input_values *values) {
    const sel_state *state = to;
    const int64_t *of = inputs->surfaces.first_site;
    int64_t cells[2];
    sel_given_range(state, &state->own, &cells[0], &cells[1]);
    for (int64_t k = 0; k < values->count; k++) {
        const int64_t site = inputs->target[values->first + k];
        if (site >= of[cells[0]] && site < of[cells[1]]) {
            state->given.value[inputs->values * site + values->input->which] = values->v[k];
        }
    }
}

void sel_given_range(const sel_state *state, const sel_patch *planes, int64_t *first,
                     int64_t *end) {
    const sel_inputs *inputs = state->plan->inputs;
    const int slow = inputs->domain->grid.dims - 1;
    const int64_t cells = state->rows_per_plane * inputs->domain->grid.n[0];
    *first = sel_surfaces_from(&inputs->surfaces, planes->lo[slow] * cells);
    *end = sel_surfaces_from(&inputs->surfaces, planes->hi[slow] * cells);
}
