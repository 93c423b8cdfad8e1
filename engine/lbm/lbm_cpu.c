/* lbm_cpu.c -- the CPU backend of lattice Boltzmann: memory, stepping, threads.
 *
 * Two copies of the populations take turns. A step goes row by row: the row's cells, then its halo.
 * Rows are shared out among the threads; no cell's result depends on who computes it.
 */
#include "engine/lbm/lbm_cpu.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/backend.h"
#include "engine/bandwidth.h"
#include "engine/carver.h"
#include "engine/lbm/acceleration.h"
#include "engine/machine.h"
#include "engine/stream.h"

static int64_t real_size(int precision) {
    return precision == SEL_F32 ? 4 : 8;
}

/* Planes begin this many cache lines further on in a page of 64 lines than the plane before: so all
 * streams of a step stand in different sets of the caches, wherever they are in a row. */
enum { LINE = 64, PAGE_LINES = 64, PLANE_LINES = 25 };

static int64_t pad_plane(int64_t bytes) {
    const int64_t lines = (bytes + LINE - 1) / LINE;
    const int64_t missing = (PLANE_LINES - lines) % PAGE_LINES;
    return (lines + (missing < 0 ? missing + PAGE_LINES : missing)) * LINE;
}

/* Rows begin with x = -1 and end with padding after x = nx. */
static lbm_layout make_layout(const sel_grid *grid, int precision) {
    int64_t real = real_size(precision);
    lbm_layout layout = {.nx = grid->n[0], .ny = grid->n[1], .nz = grid->n[2]};
    layout.pitch = (int64_t)sel_carver_round((uint64_t)((layout.nx + 2) * real)) / real;
    layout.slice = layout.pitch * (layout.ny + 2);
    const int64_t slices = grid->dims == 3 ? layout.nz + 2 : 1;
    layout.plane = pad_plane(layout.slice * slices * real) / real;
    return layout;
}

static lbm_forcing forcing_of(const lbm_plan *plan) {
    unsigned depends = sel_quantity_depends(&plan->params->acceleration);
    const double *a = plan->numbers.acceleration;
    return depends & SEL_ON_PLACE                           ? LBM_FORCE_FIELD
           : depends || a[0] != 0 || a[1] != 0 || a[2] != 0 ? LBM_UNIFORM_FORCE
                                                            : LBM_NO_FORCE;
}

/* Sets all pointers of `state` into `block`; returns the bytes that they need. */
static uint64_t place(sel_state *state, const sel_plan *base, void *block) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const lbm_boundary *boundary = &plan->boundary;
    sel_carver c = {block, 0};
    uint64_t real = (uint64_t)real_size(base->precision);
    *state = (sel_state){.plan = plan,
                         .precision = base->precision,
                         .threads = base->threads > 0 ? base->threads : 1,
                         .lattice = &lbm_lattices[plan->params->lattice],
                         .layout = make_layout(&base->domain->grid, base->precision),
                         .block = block};
    const lbm_layout *layout = &state->layout;
    const int dims = base->domain->grid.dims;
    const int64_t cells = sel_grid_cells(&base->domain->grid);
    const int64_t halo = layout->pitch + (dims == 3 ? layout->slice : 0);
    state->forcing = forcing_of(plan);
    /* One line before the first row, for what is pulled to its halo. */
    state->bytes = SEL_CARVER_LINE + (uint64_t)(state->lattice->q * layout->plane) * real;
    for (int k = 0; k < 2; k++) {
        state->start[k] = sel_carve(&c, 1, state->bytes);
        if (block) {
            state->f[k] = (char *)state->start[k] + SEL_CARVER_LINE + (uint64_t)(halo + 1) * real;
        }
    }
    state->last_velocity = sel_carve(&c, dims * cells, real);
    state->link_add = sel_carve(&c, boundary->link_count, sizeof(double));
    state->open_value = sel_carve(&c, LBM_OPEN_VALUES * boundary->open_count, sizeof(double));
    state->law_values = sel_carve(&c, 3 * boundary->batches.largest, sizeof(double));
    state->rows = sel_carve(&c, LBM_ROWS * layout->nx * state->threads, sizeof(double));
    state->partials = sel_carve(&c, LBM_PARTIALS * lbm_rows(layout), sizeof(double));
    state->controls = sel_carve(&c, base->domain->control_count, sizeof(double));
    if (lbm_acceleration_is_field(plan)) {
        state->acceleration_field = sel_carve(&c, dims * cells, real);
        state->places =
            sel_carve(&c, 6 * lbm_acceleration_chunk(plan) * layout->nx, sizeof(double));
    }
    if (base->wants_balance) {
        int64_t regions = base->domain->region_count + 1;
        state->link_flow = sel_carve(&c, boundary->link_count, sizeof(double));
        state->out = sel_carve(&c, regions, sizeof(double));
        state->rate = sel_carve(&c, regions, sizeof(double));
    }
    return c.used;
}

static uint64_t estimate(const sel_plan *plan) {
    sel_state state;
    return sizeof state + place(&state, plan, NULL);
}

/* Zeroes the block; the populations by the threads that will use them, so that their pages lie
 * close to them. */
static void zero(sel_state *state, uint64_t bytes) {
    char *rest = (char *)state->start[1] + sel_carver_round(state->bytes);
    memset(rest, 0, (size_t)((char *)state->block + bytes - rest));
    const lbm_layout *layout = &state->layout;
    const int64_t real = real_size(state->precision), q = state->lattice->q;
    const int64_t plane = layout->plane * real, row = layout->pitch * real, rows = plane / row;
    for (int k = 0; k < 2; k++) {
        char *populations = (char *)state->start[k] + SEL_CARVER_LINE;
        memset(state->start[k], 0, SEL_CARVER_LINE);
#pragma omp parallel for schedule(static) num_threads(state->threads)
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t i = 0; i < q; i++) {
                memset(populations + i * plane + r * row, 0, (size_t)row);
            }
        }
        for (int64_t i = 0; i < q; i++) {
            memset(populations + i * plane + rows * row, 0, (size_t)(plane - rows * row));
        }
    }
}

/* Where a row at the domain's end is needed beyond the other: how far away, 0: nowhere. */
static int64_t wrapped(const sel_grid *grid, int axis, int64_t at, int64_t stride) {
    int64_t n = grid->n[axis];
    bool ends = sel_axis_periodic(grid, axis) && axis < grid->dims;
    return !ends ? 0 : at == 0 ? n * stride : at == n - 1 ? -n * stride : 0;
}

/* On an axis of one cell its row is beyond both ends. */
static void copy_row(char *row, int64_t bytes, int64_t shift, bool both) {
    memcpy(row + shift, row, (size_t)bytes);
    if (both) {
        memcpy(row - shift, row, (size_t)bytes);
    }
}

void lbm_fill_halo(const sel_state *state, void *f, int64_t row, bool ends) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const lbm_layout *layout = &state->layout;
    int64_t real = real_size(state->precision), last = (layout->nx - 1) * real;
    int64_t bytes = (layout->nx + 2) * real;
    int64_t y = row % layout->ny, z = row / layout->ny;
    int64_t along_y = wrapped(grid, 1, y, layout->pitch * real);
    int64_t along_z = wrapped(grid, 2, z, layout->slice * real);
    ends = ends && sel_axis_periodic(grid, 0);
    if (!ends && !along_y && !along_z) {
        return;
    }
    for (int i = 0; i < state->lattice->q; i++) {
        char *at = (char *)f + (i * layout->plane + lbm_row_offset(layout, row)) * real;
        if (ends) {
            memcpy(at - real, at + last, (size_t)real);
            memcpy(at + last + real, at, (size_t)real);
        }
        if (along_y) {
            copy_row(at - real, bytes, along_y, layout->ny == 1);
        }
        if (along_z) {
            copy_row(at - real, bytes, along_z, layout->nz == 1);
        }
        if (along_y && along_z) {
            copy_row(at - real + along_z, bytes, along_y, layout->ny == 1);
            if (layout->nz == 1) {
                copy_row(at - real - along_z, bytes, along_y, layout->ny == 1);
            }
        }
    }
}

/* Evaluates the laws for the step to come that depend on what is `due`, and keeps the acceleration
 * of the step before. Populations are forced when they have arrived, at the end of the step. */
static sel_status apply_laws(sel_state *state, unsigned due, sel_error *error) {
    unsigned depends = sel_quantity_depends(&state->plan->params->acceleration);
    memcpy(state->acceleration_before, state->acceleration, sizeof state->acceleration_before);
    sel_status status = depends & due & (SEL_ON_T | SEL_ON_CONTROLS)
                            ? lbm_apply_acceleration(state, (double)state->step + 1, error)
                            : SEL_OK;
    return status ? status
                  : lbm_batches_apply(state->plan, state->step, due, state->law_values,
                                      state->link_add, state->open_value, error);
}

/* After laws that could not be evaluated: those that could return to what they were, for the fluxes
 * and fields of the state that is left. Controls keep no values of before: if it was a hook's new
 * one that made a law fail, that law stays as it is. */
static void restore_laws(sel_state *state, const double before[3]) {
    const int64_t last = state->step > 0 ? state->step - 1 : 0;
    const unsigned varying = SEL_ON_T | SEL_ON_CONTROLS;
    lbm_apply_acceleration(state, (double)state->step, NULL);
    memcpy(state->acceleration_before, before, sizeof state->acceleration_before);
    lbm_batches_apply(state->plan, last, varying, state->law_values, state->link_add,
                      state->open_value, NULL);
}

static void destroy(sel_state *state) {
    if (state) {
        free(state->block);
        free(state);
    }
}

static sel_status create(const sel_plan *plan, sel_state **made, sel_error *error) {
    *made = NULL;
    const lbm_kernels *kernels = lbm_kernels_usable(0);
    if (!kernels) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "this processor is older than x86-64-v2 (SSE 4.2), which Selenite needs");
    }
    sel_state *state = malloc(sizeof *state);
    uint64_t bytes = state ? place(state, plan, NULL) : 0;
    void *block = state ? sel_machine_allocate((size_t)bytes) : NULL;
    if (!block) {
        free(state);
        return sel_fail_memory(error, "the flow", estimate(plan));
    }
    place(state, plan, block);
    state->kernels = kernels;
    state->streams = 2 * state->bytes > sel_machine_cache();
    zero(state, bytes);
    sel_domain_due(state->plan->base.domain, state->controls);
    sel_status status = lbm_apply_acceleration(state, 0, error);
    memcpy(state->acceleration_before, state->acceleration, sizeof state->acceleration_before);
    status = status ? status : lbm_set_initial(state, error);
    status = status ? status
                    : lbm_batches_apply(state->plan, 0, LBM_ALWAYS, state->law_values,
                                        state->link_add, state->open_value, error);
    if (status) {
        destroy(state);
        return status;
    }
    if (plan->wants_balance) {
        state->first_mass = lbm_total_mass(state);
    }
    *made = state;
    return SEL_OK;
}

lbm_step lbm_describe_step(const sel_state *state, int64_t step) {
    const lbm_numbers *numbers = &state->plan->numbers;
    return (lbm_step){
        .layout = state->layout,
        .from = state->f[step & 1],
        .to = state->f[(step + 1) & 1],
        .streams = state->streams,
        .wraps = sel_axis_periodic(&state->plan->base.domain->grid, 0) &&
                 state->layout.nx * real_size(state->precision) >= SEL_CARVER_LINE,
        .collision = state->plan->params->collision,
        .forcing = state->forcing,
        .omega_even = numbers->omega_even,
        .omega_odd = numbers->omega_odd,
        .tau = numbers->tau,
        .magic = numbers->magic,
        .eddy = numbers->eddy,
        .acceleration = {state->acceleration[0], state->acceleration[1], state->acceleration[2]},
        .acceleration_before = {state->acceleration_before[0], state->acceleration_before[1],
                                state->acceleration_before[2]},
        .acceleration_field = state->acceleration_field,
        .boundary = &state->plan->boundary,
        .link_add = state->link_add,
        .open_value = state->open_value,
        .link_flow = state->link_flow};
}

/* n steps under laws that do not change meanwhile. Each thread sweeps rows that lie together. */
static void run_steps(sel_state *state, int64_t n) {
    const lbm_loops *loops = lbm_loops_of(state);
    lbm_sweep sweep =
        loops->sweep[state->plan->params->collision][state->forcing][state->plan->numbers.eddy > 0];
#pragma omp parallel num_threads(state->threads)
    for (int64_t k = 0; k < n; k++) {
        const lbm_step step = lbm_describe_step(state, state->step + k);
#pragma omp for schedule(static) nowait
        for (int64_t row = 0; row < lbm_rows(&state->layout); row++) {
            sweep(&step, row);
            lbm_fill_halo(state, step.to, row, !lbm_row_wraps(&step, row));
        }
        sel_stream_end();
#pragma omp barrier
    }
    state->step += n;
}

static sel_status advance(sel_state *state, int64_t n, sel_error *error) {
    unsigned varies = state->plan->boundary.batches.depends |
                      sel_quantity_depends(&state->plan->params->acceleration);
    while (n > 0) {
        const unsigned due = sel_domain_due(state->plan->base.domain, state->controls);
        double before[3];
        memcpy(before, state->acceleration_before, sizeof before);
        sel_status status = apply_laws(state, due, error);
        if (status) {
            restore_laws(state, before);
            return status;
        }
        int64_t steps = varies & due ? 1 : n;
        run_steps(state, steps);
        n -= steps;
    }
    return SEL_OK;
}

static int64_t whole(const sel_state *state) {
    return state->step;
}

static void device(char *text, size_t size) {
    const lbm_kernels *kernels = lbm_kernels_usable(0);
    sel_cpu_device(kernels ? kernels->level : "unsupported", text, size);
}

const sel_backend lbm_cpu_backend = {
    .name = "cpu",
    .bandwidth = sel_bandwidth_copy,
    .estimate = estimate,
    .create = create,
    .advance = advance,
    .whole = whole,
    .start = lbm_cpu_start,
    .finish = sel_cpu_finish,
    .destroy = destroy,
    .device = device,
};
