/* lbm_cuda.c -- the CUDA backend of lattice Boltzmann: memory, stepping, requests.
 *
 * Two copies of the populations take turns.
 */
#include <string.h>
#include "cuda/lbm_state.h"

/* Numbers that 32 bits can hold. */
static const double most_numbers = 4294967296.0;
/* Keeps a row of initial fields below the 2 GB limit of 2-D copies. */
static const int64_t longest_row = 1 << 25;

/* Places of a row: whole warps; short rows share one. */
static int64_t pitch_of(const sel_grid *grid) {
    int64_t pitch = (grid->n[0] + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP;
    while (pitch / 2 >= grid->n[0]) {
        pitch /= 2;
    }
    return pitch;
}

static lbm_gpu_layout make_layout(const sel_grid *grid, const sel_blocks *blocks) {
    const uint32_t pitch = (uint32_t)pitch_of(grid);
    lbm_gpu_layout layout = {.nx = (uint32_t)grid->n[0],
                             .ny = (uint32_t)grid->n[1],
                             .nz = (uint32_t)grid->n[2],
                             .pitch = pitch};
    layout.slice = pitch * layout.ny;
    layout.plane = (int64_t)pitch * layout.ny * layout.nz;
    if (blocks->count > 1) {
        const int64_t stride = grid->dims == 3 ? layout.slice : pitch;
        layout.plane = (sel_blocks_largest(blocks) + 2) * stride;
    }
    layout.block_width = 1;
    while (layout.block_width < LBM_BLOCK && layout.block_width < layout.nx) {
        layout.block_width *= 2;
    }
    layout.block_rows = LBM_BLOCK / layout.block_width;
    layout.blocks_per_row = (layout.nx + layout.block_width - 1) / layout.block_width;
    return layout;
}

/* Places of a plane of populations with two halo planes, also where they exceed the integers of the
 * layout. */
static double padded_cells(const sel_grid *grid) {
    return (double)pitch_of(grid) * ((double)grid->n[1] + 2) *
           ((double)grid->n[2] + (grid->dims == 3 ? 2 : 0));
}

static void describe(lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const lbm_numbers *numbers = &plan->numbers;
    const sel_grid *grid = &plan->base.domain->grid;
    bool small = plan->base.precision == SEL_F32;
    state->run_step = grid->dims == 2 ? small ? lbm_gpu_step_d2q9_f32 : lbm_gpu_step_d2q9_f64
                      : small         ? lbm_gpu_step_d3q19_f32
                                      : lbm_gpu_step_d3q19_f64;
    state->pattern = (lbm_gpu_step){.layout = make_layout(grid, &state->all.base.blocks),
                                    .dims = grid->dims,
                                    .bytes = (int)lbm_real(&plan->base),
                                    .collision = plan->params->collision,
                                    .forced = lbm_is_forced(plan),
                                    .acceleration_turns = !lbm_acceleration_is_field(plan) &&
                                                          plan->acceleration.depends & SEL_ON_T,
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
    const lbm_plan *plan = state->all.plan = (const lbm_plan *)base->plan;
    const sel_domain *domain = plan->base.domain;
    const int64_t *n = domain->grid.n;
    sel_arrays *arrays = &base->arrays;
    describe(state);
    const lbm_gpu_layout *layout = &state->pattern.layout;
    sel_cells populations = {.n = {n[0], n[1], n[2]},
                             .components = plan->boundary.lattice->q,
                             .pitch = layout->pitch,
                             .slice = layout->slice,
                             .plane = layout->plane,
                             .count = plan->boundary.lattice->q * layout->plane};
    sel_cells vectors = populations;
    vectors.components = domain->grid.dims;
    vectors.plane = (int64_t)layout->slice * layout->nz;
    vectors.count = domain->grid.dims * vectors.plane;
    base->turns = (sel_turns){.cells = populations, .width = 1, .behind = true};
    cuda_laws_list(state);
    lbm_list(&state->all, &vectors);
    SEL_ADD(arrays, state, acceleration, 3 * CUDA_TURNS, 0);
    SEL_ADD(arrays, state, rates, domain->region_count + 1, 0);
    lbm_cuda_list_boundary(state);
}

/* Sets the pointers of the kernels' arguments. */
static void show_arrays(lbm_cuda *state) {
    const lbm_state *all = &state->all;
    state->pattern.acceleration_field = all->acceleration_field;
    state->pattern.boundary.link_add = all->link_add;
    state->pattern.boundary.open_value = all->open_value;
    if (all->copies > 1) {
        state->pattern.boundary.link_stride = all->plan->boundary.link_count;
        state->pattern.boundary.open_stride = LBM_OPEN_VALUES * all->plan->boundary.open_count;
    }
    state->pattern.boundary.link_flow = all->link_flow;
    state->pattern.boundary.links = all->links;
    state->view.strain[0] = all->strain[0];
    state->view.strain[1] = all->strain[1];
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

uint32_t lbm_cuda_blocks_for(const lbm_gpu_layout *layout, int64_t rows) {
    const int64_t of_rows = (rows + layout->block_rows - 1) / layout->block_rows;
    return (uint32_t)(of_rows * layout->blocks_per_row);
}

lbm_gpu_step lbm_cuda_step(const lbm_cuda *state, int64_t step, int block) {
    const sel_blocks *blocks = &state->all.base.blocks;
    const sel_block *own = &blocks->v[block];
    const lbm_cuda_block *lists = &state->block[block];
    const bool cut = blocks->count > 1;
    lbm_gpu_step one = state->pattern;
    one.layout.first = (uint32_t)own->first;
    one.layout.last = (uint32_t)own->end - 1;
    one.layout.below = (uint32_t)own->end - !cut;
    one.layout.above = cut ? (uint32_t)own->end + 1 : 0;
    one.layout.first_row = (uint32_t)(own->first * blocks->rows_per_plane);
    one.layout.end_row = (uint32_t)(own->end * blocks->rows_per_plane);
    one.block_count =
        one.boundary.free_blocks
            ? lists->free_count
            : lbm_cuda_blocks_for(&one.layout, one.layout.end_row - one.layout.first_row);
    one.boundary.free_blocks += one.boundary.free_blocks ? lists->first_free : 0;
    one.boundary.first_cell = lists->first_cell;
    one.boundary.end_cell = lists->end_cell;
    one.boundary.again += lists->again_count > 0 ? lists->first_again : 0;
    one.boundary.again_count = lists->again_count;
    one.clock = cuda_queue_clock(state->all.base.queue, step);
    one.from = state->all.f[block][step & 1];
    one.to = state->all.f[block][(step + 1) & 1];
    one.acceleration = one.acceleration_before = state->acceleration;
    if (step == state->accelerated_at) {
        one.acceleration_before += 3;
    }
    return one;
}

static sel_status observe(lbm_cuda *state, int64_t step, bool initially, sel_error *error) {
    lbm_gpu_view view = *lbm_cuda_view(state);
    for (int b = 0; b < state->all.base.blocks.count; b++) {
        view.last = lbm_cuda_step(state, step, b);
        view.last.acceleration_turns = view.last.acceleration_turns && !initially;
        CUDA_TRY(lbm_gpu_observe(&view, initially, state->all.base.queue->stream));
    }
    return SEL_OK;
}

static sel_status start(sel_state *base, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    state->accelerated_at = -1;
    show_arrays(state);
    state->view.solid = base->solid;
    sel_status status = lbm_cuda_send_boundary(state, error);
    status = status ? status : cuda_laws_start(state, error);
    status = status ? status : lbm_cuda_set_initial(state, error);
    return status || !sel_plan_observes(base->plan) ? status : observe(state, 0, true, error);
}

/* A step whose closures need an acceleration that a control has changed is not part of a graph. */
static bool alone(const sel_state *base) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    return state->laws.need_host || base->step == state->accelerated_at;
}

static sel_status enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const cuda_queue *queue = base->queue;
    const bool ahead = state->all.copies > 1;
    if (lbm_depends(state->all.plan) & SEL_ON_T && (!ahead || step == queue->first)) {
        sel_status status =
            cuda_laws_enqueue(state, SEL_ON_T, step, ahead ? queue->until - step : 1, error);
        if (status) {
            cuda_laws_restore(state);
            return status;
        }
    }
    sel_status status = base->observing ? observe(state, step, false, error) : SEL_OK;
    for (int b = 0; b < base->blocks.count && !status; b++) {
        const lbm_gpu_step one = lbm_cuda_step(state, step, b);
        CUDA_TRY(state->run_step(&one, base->queue->stream));
    }
    return status ? status : cuda_exchange(base, step + 1, error);
}

/* Saves the acceleration for the closures of the next step, before a control changes it. */
static sel_status keep_acceleration(lbm_cuda *state, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    const sel_state *base = &state->all.base;
    if (plan->acceleration.depends & SEL_ON_CONTROLS && !state->pattern.acceleration_turns) {
        CUDA_TRY(cudaMemcpyAsync(state->acceleration + 3, state->acceleration, 3 * sizeof(double),
                                 cudaMemcpyDeviceToDevice, base->queue->stream));
        state->accelerated_at = base->step;
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
    status = status ? status : cuda_laws_enqueue(state, SEL_ON_CONTROLS, base->step, 1, error);
    *count = base->step == state->accelerated_at ? 1 : *count;
    return status;
}

/* cuda_solver.loaded: values that do not vary are in place. An acceleration that varies in time is
 * that of the last two steps. */
static sel_status loaded(sel_state *base, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const unsigned varies = lbm_depends(state->all.plan);
    sel_status status = cuda_exchange(base, base->step, error);
    return status || !varies ? status : cuda_laws_enqueue(state, varies, base->step - 1, 1, error);
}

const lbm_gpu_view *lbm_cuda_view(lbm_cuda *state) {
    const int64_t step = state->all.base.step;
    lbm_gpu_view *view = &state->view;
    view->last = lbm_cuda_step(state, step > 0 ? step - 1 : 0, 0);
    if (step == 0) {
        view->last.acceleration_turns = false; /* the first is that of time 0 */
    }
    view->now = cuda_parts_of(&state->all.base, step);
    return view;
}

static sel_status look(sel_state *base, int field, const cuda_look **launchers, const void **view,
                       sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    (void)field, (void)error;
    *launchers = lbm_gpu_look(state->pattern.dims, state->pattern.bytes);
    *view = lbm_cuda_view(state);
    return SEL_OK;
}

/* ---- fluxes through links, and the balance of mass ---- */

static sel_status ask_links(lbm_cuda *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->all.base.queue;
    double centre[3];
    cuda_slot *slot;
    lbm_links_centre(state->all.plan, request, centre);
    sel_status status = cuda_slot_open(queue, request, sizeof(lbm_carried), 0, &slot, error);
    if (!status) {
        CUDA_TRY(
            lbm_gpu_links(&state->pattern, request->region, centre, queue->rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(lbm_carried), error);
    }
    return status;
}

/* The mass, and the flow through links since the last balance, whose sums are reset. */
static sel_status ask_balance(lbm_cuda *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->all.base.queue;
    const int regions = state->all.plan->base.domain->region_count;
    const uint64_t mass = sizeof(sel_total), rates = ((uint64_t)regions + 1) * sizeof(double);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(queue, request, mass + rates, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->since_steps = state->all.base.step - state->all.balance_step;
    state->all.balance_step = state->all.base.step;
    status = cuda_sum(&state->all.base, error);
    status = status ? status : cuda_slot_fetch(queue, slot, 0, queue->rows, mass, error);
    if (!status && slot->since_steps > 0 && state->pattern.boundary.link_flow) {
        CUDA_TRY(lbm_gpu_flows(&state->pattern.boundary, regions, state->rates, queue->stream));
        return cuda_slot_fetch(queue, slot, mass, state->rates, rates, error);
    }
    memset((char *)slot->host + mass, 0, rates);
    return status;
}

static sel_status ask(sel_state *base, const sel_request *request, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    return request->kind == SEL_BALANCE ? ask_balance(state, request, error)
                                        : ask_links(state, request, error);
}

static void answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    lbm_state *state = &((lbm_cuda *)base)->all;
    const sel_total *deviation = slot->host;
    if (request->kind != SEL_BALANCE) {
        lbm_links_answer(state->plan, slot->host, request);
        return;
    }
    if (slot->since_steps > 0) {
        lbm_book(state, (const double *)(const void *)(deviation + 1), slot->since_steps);
    }
    lbm_balance_terms(state, lbm_mass(state, sel_total_of(deviation, false)), request);
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
    .check = cuda_laws_check,
    .loaded = loaded,
    .close = cuda_laws_close,
    .look = look,
    .watched = lbm_watched_answer,
    .ask = ask,
    .answer = answer,
};
