/* state.c -- what the states of all solvers have in common. */
#include "engine/core/collectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sel_state_divide(sel_state *state) {
    state->own = sel_patch_of(&state->decomposition, state->ranks->rank);
}

static void state_decompose(sel_state *state) {
    const sel_plan *plan = state->plan;
    sel_decompose(plan->domain, state->ranks->count, plan->ranks_y, &state->decomposition);
    sel_state_divide(state);
}

void sel_state_replicate(sel_state *state) {
    state->ranks = &sel_one_rank;
    state->arrays.replicated = true;
    state_decompose(state);
}

void sel_state_begin(sel_state *state, const sel_plan *plan) {
    state->plan = plan;
    state->pass = 1;
    state->threads = plan->threads > 0 ? plan->threads : 1;
    state->ranks = sel_plan_ranks(plan);
    state_decompose(state);
    state->rows_per_plane = plan->domain->grid.dims == 3 ? plan->domain->grid.n[1] : 1;
    state->clock = sel_even_clock(plan->domain->grid.dt);
    state->arrays.ranks = state->ranks->count > 1 ? state->ranks : NULL;
    state->arrays.decomposition = &state->decomposition;
    SEL_ADD_VALUE(&state->arrays, state, step);
    if (plan->dt_steps) {
        state->clock.until = 0;
        SEL_ADD_VALUE(&state->arrays, state, clock);
    }
    SEL_ADD_VALUE(&state->arrays, state, observed);
    SEL_ADD(&state->arrays, state, controls, plan->domain->control_count + 1,
            SEL_SAVED | SEL_ON_HOST);
    state->listed = plan->inputs;
    if (plan->inputs && plan->simulation->solver->list_places) {
        state->listed = sel_inputs_copy(state, plan->simulation->solver->list_places);
        state->arrays.failed |= !state->listed;
        state->listed = state->listed ? state->listed : plan->inputs;
    }
}

void sel_state_end(sel_state *state) {
    sel_arrays_free(&state->arrays);
    if (state->listed && state->listed != state->plan->inputs) {
        sel_inputs_free_copy((sel_inputs *)(uintptr_t)state->listed);
    }
}

void sel_state_pass(sel_state *state, int64_t steps) {
    state->step += steps;
    for (int f = 0; f < state->field_count; f++) {
        state->field[f].present ^= state->field[f].alternates;
    }
}

void sel_state_go_to(sel_state *state, int64_t step) {
    if ((state->step - step) % 2) {
        sel_state_pass(state, 0);
    }
    state->step = step;
}

void sel_state_reset(sel_state *state, int64_t step) {
    state->step = step;
    for (int f = 0; f < state->field_count; f++) {
        state->field[f].present = 0;
    }
}

void sel_state_add_field(sel_state *state, const sel_field *field) {
    sel_field *added = &state->field[state->field_count++];
    *added = *field;
    for (int copy = 0; copy < field->copies; copy++) {
        const int listed = state->arrays.count;
        sel_arrays_add_patch(&state->arrays, field->name, &field->at[copy], field->type,
                             &field->layout, field->alternates || copy == 0 ? field->flags : 0);
        if (field->alternates && state->arrays.count > listed) {
            state->arrays.v[listed].copy = copy;
            state->arrays.v[listed].present = &added->present;
        }
    }
}

void sel_state_list_room(sel_state *state) {
    const sel_decomposition *d = &state->decomposition;
    state->halo_bytes = 0;
    for (int f = 0; f < state->field_count && state->ranks->count > 1; f++) {
        for (int axis = 1; axis <= d->slow; axis++) {
            const bool has = sel_halo_along(d, axis);
            state->halo_bytes +=
                has ? 4 * (uint64_t)sel_halo_bytes(&state->field[f], &state->own, axis) : 0;
        }
    }
    if (!state->arrays.memory) {
        SEL_ADD(&state->arrays, state, halos, (int64_t)state->halo_bytes, 0);
    }
}

sel_layout sel_patch_layout(const sel_layout *of_grid, const sel_patch *patch) {
    const int slow = of_grid->slow;
    const int64_t stride = sel_layout_stride(of_grid, slow);
    sel_layout layout = *of_grid;
    layout.before -= patch->lo[slow] * stride + (slow == 2 ? patch->lo[1] * layout.pitch : 0);
    if (layout.components == 1) {
        layout.count -= (layout.n[slow] - sel_patch_cells(patch, slow)) * stride;
    }
    return layout;
}

void sel_state_list_numbers(sel_state *state, const char *name, void *at[2], int halo) {
    const sel_grid *grid = &state->plan->domain->grid;
    const sel_patch *own = &state->own;
    const int64_t *n = grid->n, pitch = (n[0] + 31) / 32 * 32;
    const int slow = grid->dims - 1;
    const bool divides = sel_divides_planes(&state->decomposition);
    const int64_t rows = divides ? halo * pitch : 0; /* of a halo along y */
    const int64_t slice = slow == 1 ? n[1] * pitch : sel_patch_cells(own, 1) * pitch + 2 * rows;
    const int64_t ends = halo * (slow == 2 ? slice : pitch);
    const sel_layout of_grid = {.n = {n[0], n[1], n[2]},
                                .slow = slow,
                                .components = 1,
                                .origin = ends + rows,
                                .pitch = pitch,
                                .slice = slice,
                                .component = n[2] * slice,
                                .count = n[2] * slice + 2 * ends};
    sel_field field = {.name = name,
                       .flags = SEL_SAVED | SEL_ANY_NUMBER,
                       .copies = 2,
                       .alternates = true,
                       .at = at,
                       .type = {'f', state->plan->precision == SEL_F32 ? 4 : 8},
                       .layout = sel_patch_layout(&of_grid, own),
                       .halo = halo};
    field.lead[slow] = rows - (divides ? own->lo[1] * pitch : 0);
    state->last =
        (sel_last){.type = {'f', 8}, .components = 1, .scale = 1}; /* as query.cuh has it */
    sel_state_add_field(state, &field);
    sel_state_list_room(state);
}

sel_layout sel_state_vector(const sel_state *state) {
    sel_layout layout = state->field[0].layout;
    layout.before += layout.origin;
    layout.origin = 0;
    return layout;
}

sel_field sel_state_vector_field(const sel_state *state) {
    sel_field field = state->field[0];
    field.type = (sel_type){'f', 8};
    field.layout = sel_state_vector(state);
    return field;
}

void sel_state_list_vector(sel_state *state, const char *name, double **at, unsigned flags) {
    const sel_layout layout = sel_state_vector(state);
    sel_arrays_add_patch(&state->arrays, name, at, (sel_type){'f', 8}, &layout, flags);
}

sel_layout sel_state_own_faces(const sel_state *state, const sel_layout *of_grid) {
    const sel_patch *own = &state->own;
    const int slow = of_grid->slow;
    const int64_t stride = sel_layout_stride(of_grid, slow);
    sel_layout layout = *of_grid;
    const bool divides = state->ranks->count > 1 && !layout.components && layout.count;
    if (divides && !sel_divides_planes(&state->decomposition)) {
        layout.count = (sel_patch_cells(own, slow) + 1) * stride;
        layout.before -= own->lo[slow] * stride;
    } else if (divides) {
        layout.slice = (sel_patch_cells(own, 1) + 1) * layout.pitch;
        layout.count = (sel_patch_cells(own, 2) + 1) * layout.slice;
        layout.before = -(own->lo[2] * layout.slice + own->lo[1] * layout.pitch);
    }
    return layout;
}

void *sel_state_beside(const sel_state *state, int64_t row) {
    const sel_field *field = &state->field[0];
    const sel_decomposition *d = &state->decomposition;
    const int64_t ny = field->layout.n[1], at[3] = {0, row % ny, row / ny};
    char *memory = field->at[field->present];
    for (int a = 1; a <= d->slow; a++) {
        const int64_t lo = state->own.lo[a], hi = state->own.hi[a], n = d->first[a][d->ranks[a]];
        if (at[a] < lo || at[a] >= hi) { /* periodic images stand on the other side */
            const int64_t halo = at[a] == hi % n ? hi : lo - 1;
            memory += (halo - at[a]) * sel_layout_stride(&field->layout, a) * field->type.size;
        }
    }
    return memory;
}

/* Rows from `first` on, which lie together in one block, as they are stored. */
static sel_status state_send_rows(const sel_state *state, int64_t first, int64_t rows,
                                  const double *values, char *stored, sel_error *error) {
    const sel_field *field = &state->field[0];
    const sel_layout *layout = &field->layout;
    const int64_t nx = layout->n[0], pitch = layout->pitch;
    const int size = (int)field->type.size;
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t x = 0; x < pitch; x++) {
            const double value = x < nx ? values[row * nx + x] : 0;
            sel_put(stored, field->type, row * pitch + x, value - state->reference);
        }
    }
    char *to = field->at[0];
    const int64_t at = layout->origin + sel_layout_row(layout, first);
    return sel_arrays_send(&state->arrays, to + at * size, stored, (size_t)(rows * pitch * size),
                           error);
}

/* Widens a range by the values of free cells from `first` on; NaN counts as none. */
static void widen_range(const sel_state *state, int64_t first, int64_t count, const double *values,
                        double range[2]) {
    const uint8_t *solid = state->plan->domain->cell + first;
    double least = range[0], most = range[1];
#pragma omp parallel for schedule(static) num_threads(state->threads) reduction(min      \
                                                                                : least) \
    reduction(max                                                                        \
              : most)
    for (int64_t k = 0; k < count; k++) {
        least = !solid[k] && values[k] < least ? values[k] : least;
        most = !solid[k] && values[k] > most ? values[k] : most;
    }
    range[0] = least;
    range[1] = most;
}

/* Makes a range that of all ranks. */
static void join_ranges(const sel_state *state, double range[2]) {
    double all[SEL_MOST_RANKS][2];
    state->ranks->gather(range, 2 * sizeof *range, all);
    for (int r = 0; r < state->ranks->count; r++) {
        range[0] = fmin(range[0], all[r][0]);
        range[1] = fmax(range[1], all[r][1]);
    }
}

sel_status sel_state_start(sel_state *state, const sel_quantity *quantity, const char *what,
                           sel_state_edit *edit, double range[2], sel_error *error) {
    const sel_domain *domain = state->plan->domain;
    const sel_quantity zero = sel_constant(0);
    const sel_rows own = sel_own_rows(state);
    const int64_t nx = domain->grid.n[0];
    const int64_t fit = sel_domain_rows_at_once(domain, state->threads);
    const int64_t most = fit < own.count ? fit : own.count;
    sel_evaluation asked = {.quantity = sel_quantity_given(quantity) ? quantity : &zero,
                            .what = what};
    const size_t bytes = (size_t)(most * state->field[0].layout.pitch) * sizeof(double);
    double *values = malloc(bytes);
    char *stored = malloc(bytes);
    sel_status status = values && stored ? SEL_OK : sel_fail_memory(error, what, 2 * bytes);
    double found[2] = {HUGE_VAL, -HUGE_VAL};
    for (int64_t k = 0; k < own.count && !status; k += asked.end - asked.first) {
        const sel_rows_range together = sel_rows_together(&own, k, most);
        asked.first = together.first;
        asked.end = together.end;
        status = sel_domain_evaluate(domain, &asked, state->threads, values, error);
        if (range && !status) {
            widen_range(state, asked.first * nx, (asked.end - asked.first) * nx, values, found);
        }
        status = status ? status : edit(state, asked.first * nx, asked.end * nx, values, error);
        status = status ? status
                        : state_send_rows(state, asked.first, asked.end - asked.first, values,
                                          stored, error);
    }
    free(stored);
    free(values);
    status = sel_state_agree(state, status, error);
    if (range && !status) {
        join_ranges(state, found);
        memcpy(range, found, sizeof found);
    }
    if (!status && !state->arrays.memory) {
        sel_state_exchange(state, 0, SEL_FETCH);
    }
    return status;
}

void sel_state_list_faces(sel_state *state, const char *name, void *place,
                          const sel_layout *of_grid) {
    const sel_layout own = sel_state_own_faces(state, of_grid);
    sel_arrays_add_cells(&state->arrays, name, place, state->field[0].type, &own, 0);
}

sel_status sel_state_fill(const sel_state *state, void *array, sel_type type,
                          const sel_layout *layout, int which, sel_state_number *number,
                          const void *data, sel_error *error) {
    const int64_t *n = state->plan->domain->grid.n;
    const int axis = state->plan->domain->grid.dims - 1;
    const sel_layout own = sel_state_own_faces(state, layout);
    const int64_t apart[3] = {1, own.pitch, own.slice}, before = own.before;
    const bool boxed = sel_divides_planes(&state->decomposition);
    const bool divided = own.count < layout->count;
    const bool divides[3] = {false, divided && (axis == 1 || boxed),
                             divided && axis == 2 && state->decomposition.ranks[2] > 1};
    const size_t bytes = (size_t)own.count * type.size;
    sel_patch part = {.hi = {n[0], n[1], n[2]}};
    for (int a = 1; a < 3; a++) { /* and the faces above its own cells */
        const bool has = divides[a] || layout->components;
        part.lo[a] = has ? state->own.lo[a] : 0;
        part.hi[a] = has ? state->own.hi[a] + (divides[a] && which == a) : n[a];
    }
    const int64_t height = sel_patch_cells(&part, 1), rows = height * sel_patch_cells(&part, 2);
    void *values = array ? calloc(bytes, 1) : NULL;
    if (!values) {
        return !array ? SEL_OK : sel_fail_memory(error, "the coefficients", bytes);
    }
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < rows; k++) {
        const int64_t y = part.lo[1] + k % height, z = part.lo[2] + k / height;
        const int64_t cell = (z % n[2] * n[1] + y % n[1]) * n[0];
        const int64_t first = before + y * apart[1] + z * apart[2];
        for (int64_t x = 0; x < n[0]; x++) {
            const int64_t at[3] = {x, y, z};
            const double value = number(state, data, which, cell + x);
            sel_put(values, type, first + x, value);
            if (which < 3 && at[which] == 0 && !divides[which]) {
                sel_put(values, type, first + x + n[which] * apart[which], value);
            }
        }
    }
    sel_status status =
        sel_arrays_send(&state->arrays, (char *)array - before * type.size, values, bytes, error);
    free(values);
    return status;
}

sel_status sel_state_set(const sel_state *state, void *array, int64_t first, int64_t count,
                         int64_t size, sel_state_setter *set, const char *what, sel_error *error) {
    const uint64_t bytes = (uint64_t)(count * size);
    char *values = array ? malloc(bytes) : NULL;
    if (!values) {
        return array ? sel_fail_memory(error, what, bytes) : SEL_OK;
    }
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < count; k++) {
        set(state, first + k, values + k * size);
    }
    const sel_status status =
        sel_arrays_send(&state->arrays, (char *)array + first * size, values, bytes, error);
    free(values);
    return status;
}

int sel_state_list_halos(const sel_state *state, const sel_exchange *what, int count, int axis,
                         sel_halo halos[SEL_MOST_HALOS]) {
    int listed = 0;
    for (int k = 0; k < count && state->ranks->count > 1; k++) {
        const sel_field *field = &state->field[what[k].field];
        listed += sel_list_halos(field, &state->own, field->at[what[k].copy], axis, what[k].depth,
                                 what[k].way, halos + listed);
    }
    return listed;
}

static void state_exchange_along(const sel_state *state, const sel_exchange *what, int count,
                                 int axis) {
    sel_halo halos[SEL_MOST_HALOS];
    const int listed = sel_state_list_halos(state, what, count, axis, halos);
    if (listed > 0 && sel_halo_along(&state->decomposition, axis)) {
        const sel_neighbours neighbours =
            sel_neighbours_of(&state->decomposition, state->ranks->rank, axis);
        sel_exchange_halos(state->ranks, &neighbours, halos, listed, state->halos);
    }
}

void sel_state_complete(sel_state *state, const sel_exchange *what, int count, sel_ghosts *ghosts) {
    for (int axis = 0; axis <= state->decomposition.slow && count > 0; axis++) {
        if (ghosts) {
            ghosts(state, what, count, axis);
        }
        if (axis > 0) {
            state_exchange_along(state, what, count, axis);
        }
    }
}

void sel_state_exchange(const sel_state *state, int64_t step, sel_way way) {
    const sel_field *field = &state->field[0];
    const sel_exchange main = {0, sel_copy_at(state, field, step), field->halo, way};
    for (int k = 0; k < state->decomposition.slow; k++) {
        state_exchange_along(state, &main, 1, sel_way_axis(&state->decomposition, way, 1, k));
    }
}

sel_layout sel_plain_layout(const sel_grid *grid, int components) {
    const int64_t *n = grid->n, all = sel_grid_cells(grid);
    return (sel_layout){.n = {n[0], n[1], n[2]},
                        .slow = grid->dims - 1,
                        .components = components,
                        .pitch = n[0],
                        .slice = n[0] * n[1],
                        .component = all,
                        .count = components * all};
}

sel_layout sel_state_own_layout(const sel_state *state, int components, int halo) {
    const sel_patch *own = &state->own;
    const int halo_z = state->plan->domain->grid.dims == 3 ? halo : 0;
    sel_layout layout = sel_plain_layout(&state->plan->domain->grid, components);
    layout.slice = layout.pitch * (sel_patch_cells(own, 1) + 2 * halo);
    layout.component = layout.slice * (sel_patch_cells(own, 2) + 2 * halo_z);
    layout.count = components * layout.component;
    layout.before = -((own->lo[1] - halo) * layout.pitch + (own->lo[2] - halo_z) * layout.slice);
    return layout;
}

sel_layout sel_faces_layout(const sel_grid *grid) {
    const int64_t *n = grid->n, row = n[0] + 1, slice = row * (n[1] + 1);
    return (sel_layout){.n = {n[0], n[1], n[2]},
                        .slow = grid->dims - 1,
                        .pitch = row,
                        .slice = slice,
                        .count = grid->dims == 3 ? slice * (n[2] + 1) : slice};
}

sel_layout sel_state_list_own(sel_state *state, const char *name, void *place, sel_type type,
                              int components, unsigned flags) {
    const sel_layout layout = sel_state_own_layout(state, components, 0);
    sel_arrays_add_patch(&state->arrays, name, place, type, &layout, flags);
    return layout;
}

void sel_state_list_part(sel_state *state, const char *name, void *place, sel_type type,
                         int64_t first, int64_t end, const void *from) {
    const sel_layout layout = {.before = -first, .count = end - first};
    const int listed = state->arrays.count;
    sel_arrays_add_cells(&state->arrays, name, place, type, &layout, 0);
    if (from && state->arrays.count > listed) {
        state->arrays.v[listed].from = (const char *)from + first * type.size;
    }
}

/* The cells on surfaces and their sites in the patch of a state that is only estimated: for all
 * ranks by one process, which lists those of the grid. */
static void state_count_surfaces(const sel_state *state, int64_t cells[2], int64_t sites[2]) {
    const sel_surfaces *on = &state->plan->inputs->surfaces;
    const sel_rows own = sel_own_rows(state);
    const int64_t nx = state->plan->domain->grid.n[0];
    cells[0] = cells[1] = sites[0] = 0;
    sites[1] = sel_sites_in(&on->sites, &state->own);
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        cells[1] += sel_surfaces_from(on, (row + 1) * nx) - sel_surfaces_from(on, row * nx);
    }
}

/* The planes whose cells passes on a device compute: all, if they reach around a periodic axis. */
static sel_patch state_passed_planes(const sel_state *state) {
    const sel_grid *grid = &state->plan->domain->grid;
    const int slow = grid->dims - 1, halo = state->field[0].halo, beyond = halo > 1 ? halo - 1 : 0;
    sel_patch planes = state->own;
    planes.lo[slow] -= beyond;
    planes.hi[slow] += beyond;
    if (planes.lo[slow] < 0 || planes.hi[slow] > grid->n[slow]) {
        const bool around = sel_axis_periodic(grid, slow);
        planes.lo[slow] = around || planes.lo[slow] < 0 ? 0 : planes.lo[slow];
        planes.hi[slow] =
            around || planes.hi[slow] > grid->n[slow] ? grid->n[slow] : planes.hi[slow];
    }
    return planes;
}

sel_state_surfaces sel_state_find_surfaces(const sel_state *state) {
    const sel_surfaces *on = &state->plan->inputs->surfaces;
    const bool device = state->arrays.memory != NULL;
    sel_state_surfaces found = {.estimated =
                                    state->ranks->count > 1 && !state->ranks->transfer && !device};
    const sel_patch planes = device ? state_passed_planes(state) : state->own;
    if (!on->first_site) { /* its inputs are elsewhere */
        return found;
    }
    sel_given_range(state, &planes, &found.cells[0], &found.cells[1]);
    for (int k = 0; k < 2; k++) {
        found.sites[k] = on->first_site[found.cells[k]];
    }
    if (found.estimated) {
        state_count_surfaces(state, found.cells, found.sites);
    }
    return found;
}

void sel_state_list(sel_state *state) {
    state->last.layout = sel_state_list_own(state, "last", &state->last.v, state->last.type,
                                            state->last.components, SEL_SAVED);
    SEL_ADD_VALUE(&state->arrays, state, monitored);
    if (state->plan->inputs) {
        const sel_inputs *inputs = state->plan->inputs;
        const sel_state_surfaces on = sel_state_find_surfaces(state);
        sel_state_list_part(state, "value", &state->given.value, SEL_TYPE_OF(*state->given.value),
                            inputs->values * on.sites[0], inputs->values * on.sites[1],
                            inputs->value);
        sel_state_list_faces(state, "source", &state->given.source, &inputs->source);
        state->given.apart[0] = 1;
        const sel_layout own = sel_state_own_faces(state, &inputs->source);
        state->given.apart[1] = own.pitch;
        state->given.apart[2] = own.slice;
    }
}

bool sel_state_keeps_observed(const sel_state *state) {
    bool keeps = false;
    for (int k = 0; k < state->arrays.count; k++) {
        keeps = keeps || state->arrays.v[k].flags & SEL_OBSERVED;
    }
    return keeps;
}

bool sel_state_misses(const sel_state *state, const sel_request *request) {
    const bool failed = state->unbalanced && request->kind == SEL_BALANCE;
    return failed || (state->observed != state->step && sel_request_observes(state->plan, request));
}

sel_status sel_state_allocate(sel_state *state, const char *what, sel_error *error) {
    const sel_domain *domain = state->plan->domain;
    sel_status status = sel_arrays_allocate(&state->arrays, state->threads, what, error);
    if (!status) {
        memcpy(state->controls, domain->control_values,
               (size_t)domain->control_count * sizeof *state->controls);
    }
    return status;
}

sel_status sel_state_loaded(sel_state *state, sel_status (*loaded)(sel_state *, sel_error *),
                            sel_error *error) {
    double *present = state->plan->domain->control_values;
    const size_t count = (size_t)state->plan->domain->control_count;
    if (!loaded) {
        return SEL_OK;
    }
    double *kept = malloc((count + 1) * sizeof *kept);
    if (!kept) {
        return sel_fail_memory(error, "the controls", count * sizeof *kept);
    }
    memcpy(kept, present, count * sizeof *kept);
    memcpy(present, state->controls, count * sizeof *kept);
    sel_status status = loaded(state, error);
    memcpy(present, kept, count * sizeof *kept);
    free(kept);
    return status;
}

sel_status sel_state_clock(sel_state *state,
                           sel_status (*time_step)(sel_state *, double *, sel_error *),
                           sel_clock *clock, sel_error *error) {
    const int64_t every = state->plan->dt_steps;
    sel_status status = SEL_OK;
    double dt = 0;
    if (every && state->step == state->clock.until && !(status = time_step(state, &dt, error))) {
        state->clock = (sel_clock){state->step, state->step + every, sel_state_time(state), dt};
    }
    *clock = state->clock;
    return status;
}

int64_t sel_state_whole(const sel_state *state) {
    return state->broken ? -1 : state->step;
}

const sel_ending *sel_state_ending(const sel_state *state) {
    return &state->ending;
}
