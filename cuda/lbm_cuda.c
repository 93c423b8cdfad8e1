/* lbm_cuda.c -- the CUDA backend of lattice Boltzmann: memory, stepping, graphs.
 *
 * Two copies of the populations take turns. Steps are enqueued and the caller goes on: advance()
 * waits only for the steps of two calls before, so that the device always has work. On small grids
 * a launch takes longer than its kernel, so an even number of steps is captured once into a graph
 * and launched as one; the step counter that laws in time need lives on the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/device.h"
#include "cuda/lbm_state.h"
#include "engine/lbm/acceleration.h"

/* What 32 bits can number. */
static const double most_numbers = 4294967296.0;
/* So that a row of initial fields is shorter than the 2 GB that copies of rows may have. */
static const int64_t longest_row = 1 << 25;

static lbm_gpu_layout make_layout(const sel_grid *grid) {
    uint32_t pitch = (uint32_t)((grid->n[0] + LBM_WARP - 1) / LBM_WARP * LBM_WARP);
    lbm_gpu_layout layout = {.nx = (uint32_t)grid->n[0],
                             .ny = (uint32_t)grid->n[1],
                             .nz = (uint32_t)grid->n[2],
                             .pitch = pitch};
    layout.slice = pitch * layout.ny;
    layout.plane = (int64_t)layout.slice * layout.nz;
    return layout;
}

/* Places of a plane of populations, in numbers too large for the layout if need be. */
static double padded_cells(const sel_grid *grid) {
    double pitch = (double)((grid->n[0] + LBM_WARP - 1) / LBM_WARP * LBM_WARP);
    return pitch * (double)grid->n[1] * (double)grid->n[2];
}

static uint64_t partial_bytes(const lbm_gpu_layout *layout) {
    uint64_t rows = (uint64_t)layout->ny * layout->nz;
    rows = rows < LBM_GPU_LINK_BLOCKS ? LBM_GPU_LINK_BLOCKS : rows;
    return rows * sizeof(lbm_gpu_sums);
}

static uint64_t estimate(const sel_plan *base) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const lbm_boundary *b = &plan->boundary;
    const sel_grid *grid = &base->domain->grid;
    const lbm_gpu_layout layout = make_layout(grid);
    uint64_t real = (uint64_t)cuda_real(base), cells = (uint64_t)padded_cells(grid);
    uint64_t dims = (uint64_t)grid->dims, q = (uint64_t)lbm_lattices[plan->params->lattice].q;
    uint64_t bytes = (2 * q + dims + (lbm_acceleration_is_field(plan) ? dims : 0)) * cells * real;
    bytes += (uint64_t)sel_grid_cells(grid) + cells / 4;
    bytes += (uint64_t)b->cell_count * sizeof(lbm_gpu_cell) + 17 * (uint64_t)b->link_count;
    bytes += (uint64_t)b->open_count * LBM_OPEN_VALUES * sizeof(double);
    bytes += cuda_queue_estimate();
    return bytes + partial_bytes(&layout) + cuda_laws_estimate(plan);
}

static void destroy(sel_state *state) {
    if (!state) {
        return;
    }
    if (state->queue.stream) {
        cudaStreamSynchronize(state->queue.stream);
    }
    cuda_laws_destroy(state->laws);
    if (state->graph) {
        cudaGraphExecDestroy(state->graph);
    }
    cuda_queue_close(&state->queue);
    free(state->controls);
    free(state->out);
    free(state->rate);
    free(state);
}

static void describe(sel_state *state) {
    const lbm_plan *plan = state->plan;
    const lbm_numbers *numbers = &plan->numbers;
    const sel_grid *grid = &plan->base.domain->grid;
    const double *a = numbers->acceleration;
    unsigned depends = sel_quantity_depends(&plan->params->acceleration);
    bool small = plan->base.precision == SEL_F32;
    state->run_step = grid->dims == 2 ? small ? lbm_gpu_step_d2q9_f32 : lbm_gpu_step_d2q9_f64
                      : small         ? lbm_gpu_step_d3q19_f32
                                      : lbm_gpu_step_d3q19_f64;
    state->pattern = (lbm_gpu_step){.layout = make_layout(grid),
                                    .dims = grid->dims,
                                    .bytes = (int)cuda_real(&plan->base),
                                    .collision = plan->params->collision,
                                    .forced = depends || a[0] != 0 || a[1] != 0 || a[2] != 0,
                                    .eddies = numbers->eddy > 0,
                                    .omega_even = numbers->omega_even,
                                    .omega_odd = numbers->omega_odd,
                                    .tau = numbers->tau,
                                    .magic = numbers->magic,
                                    .eddy = numbers->eddy};
    state->view = (lbm_gpu_view){.nu = numbers->nu,
                                 .units = {.velocity = numbers->velocity_unit,
                                           .density = numbers->density_unit,
                                           .pressure = numbers->pressure_unit,
                                           .time = grid->dt}};
    for (int k = 0; k < 3; k++) {
        state->view.periodic[k] = k < grid->dims && sel_axis_periodic(grid, k);
    }
}

static sel_status allocate(sel_state *state, sel_error *error) {
    const lbm_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const lbm_gpu_layout *layout = &state->pattern.layout;
    const uint64_t plane = (uint64_t)layout->plane * (uint64_t)cuda_real(&plan->base);
    const uint64_t dims = (uint64_t)domain->grid.dims;
    const uint64_t cells = (uint64_t)sel_grid_cells(&domain->grid);
    const size_t regions = (size_t)domain->region_count + 1;
    void *solid = NULL, *acceleration = NULL, *field = NULL;
    sel_status status = SEL_OK;
    for (int k = 0; k < 2 && !status; k++) {
        uint64_t q = (uint64_t)lbm_lattices[plan->params->lattice].q;
        status = cuda_queue_take(&state->queue, &state->f[k], q * plane, error);
    }
    status = status ? status
                    : cuda_queue_take(&state->queue, &state->last_velocity, dims * plane, error);
    status = status ? status : cuda_queue_take(&state->queue, &solid, cells, error);
    status = status
                 ? status
                 : cuda_queue_take(&state->queue, &state->partials, partial_bytes(layout), error);
    status =
        status ? status : cuda_queue_take(&state->queue, &acceleration, 6 * sizeof(double), error);
    if (!status && lbm_acceleration_is_field(plan)) {
        status = cuda_queue_take(&state->queue, &field, dims * plane, error);
    }
    status = status
                 ? status
                 : cuda_queue_take(&state->queue, (void **)&state->clock, sizeof(int64_t), error);
    status = status ? status
                    : cuda_queue_take(&state->queue, (void **)&state->rates,
                                      regions * sizeof(double), error);
    state->out = calloc(regions, sizeof *state->out);
    state->rate = calloc(regions, sizeof *state->rate);
    state->controls = malloc(((size_t)domain->control_count + 1) * sizeof *state->controls);
    if (!status && (!state->out || !state->rate || !state->controls)) {
        status = sel_fail_memory(error, "the flow", regions * sizeof(double));
    }
    if (!status) {
        state->view.solid = solid;
        state->acceleration = acceleration;
        state->accelerated_at = -1;
        state->pattern.acceleration_field = field;
        CUDA_TRY(cudaMemcpyAsync(solid, domain->cell, cells, cudaMemcpyHostToDevice,
                                 state->queue.stream));
    }
    return status;
}

static sel_status create_laws(sel_state *state, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const cuda_law_targets targets = {
        .link_add = (double *)(uintptr_t)state->pattern.boundary.link_add,
        .open_value = (double *)(uintptr_t)state->pattern.boundary.open_value,
        .acceleration = state->acceleration,
        .acceleration_field = (void *)(uintptr_t)state->pattern.acceleration_field,
        .pitch = state->pattern.layout.pitch,
        .clock = state->clock};
    memcpy(state->controls, domain->control_values,
           (size_t)domain->control_count * sizeof *state->controls);
    CUDA_TRY(cudaStreamSynchronize(state->queue.stream));
    sel_status status = cuda_laws_create(state->plan, &targets, &state->laws, error);
    if (!status && cuda_laws_depend(state->laws) & SEL_ON_T) {
        state->pattern.clock = state->clock;
    }
    return status;
}

static sel_status fill(sel_state *state, sel_error *error) {
    sel_status status = cuda_queue_open(&state->queue, error);
    describe(state);
    status = status ? status : allocate(state, error);
    status = status ? status : cuda_upload_boundary(state, error);
    status = status ? status : create_laws(state, error);
    return status ? status : cuda_set_initial(state, error);
}

static sel_status create(const sel_plan *base, sel_state **made, sel_error *error) {
    const sel_grid *grid = &base->domain->grid;
    *made = NULL;
    if (padded_cells(grid) >= most_numbers) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes up to 2^32 cells, rows counted in whole warps of "
                        "%d, and this domain has %.3g; use --backend cpu",
                        LBM_WARP, padded_cells(grid));
    }
    if ((double)((const lbm_plan *)base)->boundary.link_count >= most_numbers) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes up to 2^32 links between fluid and boundary, and "
                        "this domain has %.3g; use --backend cpu",
                        (double)((const lbm_plan *)base)->boundary.link_count);
    }
    if (grid->n[0] > longest_row) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes rows of up to %lld cells, and those of this domain "
                        "have %lld; make another axis the long one, or use --backend cpu",
                        (long long)longest_row, (long long)grid->n[0]);
    }
    sel_state *state = calloc(1, sizeof *state);
    if (!state) {
        return sel_fail_memory(error, "the flow", sizeof *state);
    }
    state->plan = (const lbm_plan *)base;
    sel_status status = fill(state, error);
    if (status) {
        destroy(state);
        return status;
    }
    *made = state;
    return SEL_OK;
}

/* The step from `step` to the next. */
static lbm_gpu_step describe_step(const sel_state *state, int64_t step) {
    const bool turns = cuda_acceleration_turns(state->plan);
    double *even = state->acceleration, *odd = even + 3;
    lbm_gpu_step one = state->pattern;
    one.from = state->f[step & 1];
    one.to = state->f[(step + 1) & 1];
    one.acceleration = turns && (step + 1) & 1 ? odd : even;
    one.acceleration_before = turns                           ? step & 1 ? odd : even
                              : step == state->accelerated_at ? odd
                                                              : even;
    return one;
}

static sel_status enqueue_step(sel_state *state, int64_t step, sel_error *error) {
    const lbm_gpu_step one = describe_step(state, step);
    if (cuda_laws_depend(state->laws) & SEL_ON_T) {
        sel_status status =
            cuda_laws_enqueue(state->laws, SEL_ON_T, step, state->queue.stream, error);
        if (status) {
            return status;
        }
    }
    CUDA_TRY(state->run_step(&one, state->queue.stream));
    return SEL_OK;
}

/* CUDA_GRAPH_STEPS steps from an even one on; the device's clock tells each its time. */
static sel_status enqueue_graph(sel_state *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < CUDA_GRAPH_STEPS && !status; k++) {
        status = enqueue_step(state, state->step + k, error);
    }
    return status;
}

static sel_status launch_graph(sel_state *state, sel_error *error) {
    if (!state->graph) {
        sel_status status =
            cuda_queue_record(&state->queue, enqueue_graph, state, &state->graph, error);
        if (status) {
            return status;
        }
    }
    CUDA_TRY(cudaGraphLaunch(state->graph, state->queue.stream));
    state->step += CUDA_GRAPH_STEPS;
    return SEL_OK;
}

/* Keeps the acceleration for the closures of the step to come, before a control changes it. */
static sel_status keep_acceleration(sel_state *state, sel_error *error) {
    unsigned depends = sel_quantity_depends(&state->plan->params->acceleration);
    if (depends & SEL_ON_CONTROLS && !cuda_acceleration_turns(state->plan)) {
        CUDA_TRY(cudaMemcpyAsync(state->acceleration + 3, state->acceleration, 3 * sizeof(double),
                                 cudaMemcpyDeviceToDevice, state->queue.stream));
        state->accelerated_at = state->step;
    }
    return SEL_OK;
}

/* Sends controls that a hook has set, and what depends on them. */
static sel_status apply_controls(sel_state *state, sel_error *error) {
    if (!(sel_domain_due(state->plan->base.domain, state->controls) & SEL_ON_CONTROLS)) {
        return SEL_OK;
    }
    sel_status status = keep_acceleration(state, error);
    status = status
                 ? status
                 : cuda_laws_set_controls(state->laws, state->controls, state->queue.stream, error);
    return status ? status
                  : cuda_laws_enqueue(state->laws, SEL_ON_CONTROLS, state->step,
                                      state->queue.stream, error);
}

static sel_status advance(sel_state *state, int64_t n, sel_error *error) {
    const int64_t end = state->step + n;
    sel_status status = cuda_queue_begin(&state->queue, error);
    status = status ? status : apply_controls(state, error);
    bool graphs = !cuda_laws_need_host(state->laws);
    while (state->step < end && !status) {
        if (graphs && state->step % 2 == 0 && state->step != state->accelerated_at &&
            end - state->step >= CUDA_GRAPH_STEPS) {
            status = launch_graph(state, error);
        } else {
            status = enqueue_step(state, state->step, error);
            state->step += !status;
        }
    }
    return status ? status : cuda_queue_end(&state->queue, n, error);
}

static sel_status wait_for_steps(sel_state *state, sel_error *error) {
    sel_status status = cuda_queue_wait(&state->queue, error);
    return status ? status : cuda_laws_check(state->laws, state->step, error);
}

static void done(const sel_state *state, int64_t *steps, double *seconds) {
    cuda_queue_done(&state->queue, steps, seconds);
}

lbm_gpu_view cuda_view(const sel_state *state) {
    lbm_gpu_view view = state->view;
    view.last = describe_step(state, state->step > 0 ? state->step - 1 : 0);
    view.last.clock = NULL;
    if (state->step == 0) {
        view.last.acceleration = state->acceleration;
    }
    view.now = state->f[state->step & 1];
    view.started = state->step > 0;
    return view;
}

const sel_backend lbm_cuda_backend = {
    .name = "cuda",
    .probe = cuda_device_probe,
    .bandwidth = cuda_device_bandwidth,
    .estimate = estimate,
    .create = create,
    .advance = advance,
    .wait = wait_for_steps,
    .done = done,
    .start = cuda_lbm_start,
    .finish = cuda_lbm_finish,
    .destroy = destroy,
    .device = cuda_device_text,
};
