/* lbm_cuda.c -- the CUDA backend of lattice Boltzmann: memory, stepping.
 *
 * Two copies of the populations take turns.
 */
#include "cuda/lbm_state.h"
#include "engine/lbm/acceleration.h"
#include "engine/lbm/lbm_answers.h"

/* What 32 bits can number. */
static const double most_numbers = 4294967296.0;
/* So that a row of initial fields is shorter than the 2 GB that copies of rows may have. */
static const int64_t longest_row = 1 << 25;

/* Places of a row: whole warps, or of short rows several to a warp. */
static int64_t pitch_of(const sel_grid *grid) {
    int64_t pitch = (grid->n[0] + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP;
    while (pitch / 2 >= grid->n[0]) {
        pitch /= 2;
    }
    return pitch;
}

static lbm_gpu_layout make_layout(const sel_grid *grid) {
    const uint32_t pitch = (uint32_t)pitch_of(grid);
    lbm_gpu_layout layout = {.nx = (uint32_t)grid->n[0],
                             .ny = (uint32_t)grid->n[1],
                             .nz = (uint32_t)grid->n[2],
                             .pitch = pitch};
    layout.slice = pitch * layout.ny;
    layout.plane = (int64_t)pitch * layout.ny * layout.nz;
    layout.block_width = 1;
    while (layout.block_width < LBM_BLOCK && layout.block_width < layout.nx) {
        layout.block_width *= 2;
    }
    layout.block_rows = LBM_BLOCK / layout.block_width;
    layout.blocks_per_row = (layout.nx + layout.block_width - 1) / layout.block_width;
    return layout;
}

/* Places of a plane of populations, in numbers too large for the layout if need be. */
static double padded_cells(const sel_grid *grid) {
    return (double)pitch_of(grid) * (double)grid->n[1] * (double)grid->n[2];
}

static void describe(lbm_cuda *state) {
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
    state->view = (lbm_gpu_view){.nu = numbers->nu, .units = lbm_units_of(plan)};
    for (int k = 0; k < 3; k++) {
        state->view.periodic[k] = k < grid->dims && sel_axis_periodic(grid, k);
    }
}

static void list(sel_state *base) {
    lbm_cuda *state = (lbm_cuda *)base;
    const lbm_plan *plan = state->plan = (const lbm_plan *)base->plan;
    const sel_domain *domain = plan->base.domain;
    const int64_t *n = domain->grid.n, regions = domain->region_count + 1;
    const sel_type real = {'f', (uint32_t)cuda_real(&plan->base)};
    sel_arrays *arrays = &base->arrays;
    describe(state);
    const lbm_gpu_layout *layout = &state->pattern.layout;
    const int64_t q = lbm_lattices[plan->params->lattice].q;
    sel_cells cells = {.n = {n[0], n[1], n[2]},
                       .components = (int)q,
                       .pitch = layout->pitch,
                       .slice = layout->slice,
                       .plane = layout->plane,
                       .count = q * layout->plane};
    sel_arrays_add_turns(arrays, "f", state->f, real, &cells);
    cells.components = domain->grid.dims;
    cells.count = domain->grid.dims * layout->plane;
    base->last = (sel_last){.type = real, .components = domain->grid.dims, .scale = 1};
    if (lbm_acceleration_is_field(plan)) {
        sel_arrays_add_cells(arrays, "acceleration_field", &state->pattern.acceleration_field, real,
                             &cells, 0);
    }
    SEL_ADD(arrays, state, acceleration, 6, 0);
    SEL_ADD(arrays, state, rates, regions, 0);
    const unsigned books = plan->base.wants_balance ? SEL_SAVED | SEL_ON_HOST : SEL_ON_HOST;
    SEL_ADD(arrays, state, out, regions, books);
    SEL_ADD(arrays, state, rate, regions, books);
    if (plan->base.wants_balance) {
        SEL_ADD_VALUE(arrays, state, balance_step);
        SEL_ADD_VALUE(arrays, state, first_mass);
    }
    lbm_cuda_list_boundary(state);
    lbm_list_observed(plan, arrays, &state->pattern.boundary.links, state->view.strain);
    state->laws = cuda_laws_create(plan, arrays);
    arrays->failed = arrays->failed || !state->laws;
}

static void close(sel_state *base) {
    cuda_laws_destroy(((lbm_cuda *)base)->laws);
}

static sel_status start(sel_state *base, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const cuda_law_targets targets = {
        .link_add = (double *)(uintptr_t)state->pattern.boundary.link_add,
        .open_value = (double *)(uintptr_t)state->pattern.boundary.open_value,
        .acceleration = state->acceleration,
        .acceleration_field = (void *)(uintptr_t)state->pattern.acceleration_field,
        .pitch = state->pattern.layout.pitch};
    state->accelerated_at = -1;
    base->queue->timeless = !(cuda_laws_depend(state->laws) & SEL_ON_T);
    state->pattern.halted = cuda_laws_depend(state->laws) ? cuda_laws_halted(state->laws) : NULL;
    state->view.solid = base->solid;
    sel_status status = cuda_upload_boundary(state, error);
    status = status ? status : cuda_laws_start(state->laws, &targets, error);
    status = status ? status : cuda_set_initial(state, error);
    if (!status && sel_plan_observes(base->plan)) {
        CUDA_TRY(lbm_gpu_observe(cuda_view(state), true, base->queue->stream));
    }
    return status;
}

static sel_status fits(const sel_plan *base, sel_error *error) {
    const sel_grid *grid = &base->domain->grid;
    if (padded_cells(grid) >= most_numbers) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes up to 2^32 cells, rows counted in whole warps of "
                        "%d, and this domain has %.3g; use --backend cpu",
                        CUDA_WARP, padded_cells(grid));
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
    return SEL_OK;
}

/* The step from `step` to the next. */
static lbm_gpu_step describe_step(const lbm_cuda *state, int64_t step) {
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

/* A graph has no step whose closures need an acceleration that a control has changed since. */
static bool alone(const sel_state *base) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    return cuda_laws_need_host(state->laws) || base->step == state->accelerated_at;
}

static sel_status enqueue_laws(lbm_cuda *state, unsigned due, int64_t step, sel_error *error) {
    return cuda_laws_enqueue(state->laws, due, step, cuda_queue_clock(state->base.queue, step),
                             state->base.queue->stream, error);
}

/* After laws that failed: the velocity of the state that is left needs the acceleration that it
 * had, which may be a field. */
static void restore_acceleration(lbm_cuda *state) {
    const cuda_queue *queue = state->base.queue;
    const int64_t before = state->base.step - 1;
    if (lbm_acceleration_is_field(state->plan)) {
        cuda_laws_restore(state->laws, before, cuda_queue_clock(queue, before), queue->stream);
    }
}

static sel_status enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const lbm_gpu_step one = describe_step(state, step);
    if (cuda_laws_depend(state->laws) & SEL_ON_T) {
        sel_status status = enqueue_laws(state, SEL_ON_T, step, error);
        if (status) {
            restore_acceleration(state);
            return status;
        }
    }
    if (base->observing) {
        lbm_gpu_view view = state->view;
        view.last = one;
        CUDA_TRY(lbm_gpu_observe(&view, false, base->queue->stream));
    }
    CUDA_TRY(state->run_step(&one, base->queue->stream));
    return SEL_OK;
}

/* Keeps the acceleration for the closures of the step to come, before a control changes it. */
static sel_status keep_acceleration(lbm_cuda *state, sel_error *error) {
    unsigned depends = sel_quantity_depends(&state->plan->params->acceleration);
    if (depends & SEL_ON_CONTROLS && !cuda_acceleration_turns(state->plan)) {
        CUDA_TRY(cudaMemcpyAsync(state->acceleration + 3, state->acceleration, 3 * sizeof(double),
                                 cudaMemcpyDeviceToDevice, state->base.queue->stream));
        state->accelerated_at = state->base.step;
    }
    return SEL_OK;
}

/* Sends controls that a hook has set, and what depends on them. */
static sel_status terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    if (!(due & SEL_ON_CONTROLS)) {
        return SEL_OK;
    }
    sel_status status = keep_acceleration(state, error);
    status = status
                 ? status
                 : cuda_laws_set_controls(state->laws, base->controls, base->queue->stream, error);
    status = status ? status : enqueue_laws(state, SEL_ON_CONTROLS, base->step, error);
    *count = base->step == state->accelerated_at ? 1 : *count;
    return status;
}

/* cuda_solver.loaded: values that do not vary are in place. An acceleration that varies in time is
 * that of the last two steps. */
static sel_status loaded(sel_state *base, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const unsigned varies = cuda_laws_depend(state->laws) & (SEL_ON_T | SEL_ON_CONTROLS);
    sel_status status =
        cuda_laws_set_controls(state->laws, base->controls, base->queue->stream, error);
    return status || !varies ? status : enqueue_laws(state, varies, base->step - 1, error);
}

/* A step whose laws failed, and all that were enqueued behind it, left the state as it was. */
static sel_status check(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    int64_t failed = base->step;
    sel_status status = cuda_laws_check(state->laws, step, &failed, error);
    if (base->step > failed) {
        base->step = failed;
        restore_acceleration(state);
    }
    return status;
}

const lbm_gpu_view *cuda_view(lbm_cuda *state) {
    const int64_t step = state->base.step;
    lbm_gpu_view *view = &state->view;
    view->last = describe_step(state, step > 0 ? step - 1 : 0);
    if (step == 0) {
        view->last.acceleration = state->acceleration;
    }
    view->now = state->f[step & 1];
    return view;
}

static sel_status look(sel_state *base, int field, const cuda_look **launchers, const void **view,
                       sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    (void)field, (void)error;
    *launchers = lbm_gpu_look(state->pattern.dims, state->pattern.bytes);
    *view = cuda_view(state);
    return SEL_OK;
}

_Static_assert((int)LBM_GPU_LINK_BLOCKS <= (int)CUDA_FEWEST_ROWS, "links have room in the rows");

const cuda_solver lbm_on_cuda = {
    .what = "the flow",
    .state_size = sizeof(lbm_cuda),
    .fits = fits,
    .list = list,
    .start = start,
    .alone = alone,
    .terms = terms,
    .step = enqueue_step,
    .check = check,
    .loaded = loaded,
    .close = close,
    .look = look,
    .watched = lbm_watched_answer,
    .ask = lbm_cuda_ask,
    .answer = lbm_cuda_answer,
};
