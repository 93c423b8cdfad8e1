/* lbm_cuda.c -- the CUDA backend of lattice Boltzmann: memory, stepping, requests.
 *
 * Two copies of the populations, or moments, take turns.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_state_cuda.h"

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

static lbm_gpu_layout lbm_cuda_make_layout(const sel_state *base) {
    const sel_grid *grid = &base->plan->domain->grid;
    const uint32_t pitch = (uint32_t)pitch_of(grid);
    lbm_gpu_layout layout = {.nx = (uint32_t)grid->n[0],
                             .ny = (uint32_t)grid->n[1],
                             .nz = (uint32_t)grid->n[2],
                             .pitch = pitch};
    const sel_patch *own = &base->own;
    const int slow = grid->dims - 1;
    layout.base = base->ranks->count > 1 ? (uint32_t)own->lo[slow] : 0;
    layout.rows = grid->dims == 3 ? (uint32_t)sel_patch_cells(own, 1) : layout.ny;
    layout.halo = grid->dims == 3 && layout.rows < layout.ny;
    layout.low = (uint32_t)sel_patch_low(&base->decomposition, own);
    layout.slice = pitch * layout.ny;
    if (layout.halo) { /* boundary cells of a warp are those of one plane */
        const uint32_t places = pitch * (layout.rows + 2 * layout.halo);
        layout.slice = (places + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP;
    }
    layout.plane = (int64_t)pitch * layout.ny * layout.nz;
    if (base->ranks->count > 1) {
        const int64_t stride = grid->dims == 3 ? layout.slice : pitch;
        layout.plane = (sel_patch_cells(own, slow) + 2) * stride;
    }
    layout.block_width = 1;
    while (layout.block_width < LBM_BLOCK && layout.block_width < layout.nx) {
        layout.block_width *= 2;
    }
    layout.block_rows = LBM_BLOCK / layout.block_width;
    layout.blocks_per_row = (layout.nx + layout.block_width - 1) / layout.block_width;
    return layout;
}

/* By what is stored, number of dimensions and precision. */
static cudaError_t (*const lbm_cuda_steps[2][2][2])(const lbm_gpu_step *, cudaStream_t) = {
    {{lbm_gpu_step_d2q9_f32, lbm_gpu_step_d2q9_f64},
     {lbm_gpu_step_d3q19_f32, lbm_gpu_step_d3q19_f64}},
    {{lbm_gpu_moments_d2q9_f32, lbm_gpu_moments_d2q9_f64},
     {lbm_gpu_moments_d3q19_f32, lbm_gpu_moments_d3q19_f64}}};
static cudaError_t (*const lbm_cuda_closes[2][2])(const lbm_gpu_step *, cudaStream_t) = {
    {lbm_gpu_close_d2q9_f32, lbm_gpu_close_d2q9_f64},
    {lbm_gpu_close_d3q19_f32, lbm_gpu_close_d3q19_f64}};

static cudaError_t (*const lbm_cuda_tiles[2][2])(const lbm_gpu_step *, lbm_gpu_tiles *) = {
    {lbm_gpu_moments_tiles_d2q9_f32, lbm_gpu_moments_tiles_d2q9_f64},
    {lbm_gpu_moments_tiles_d3q19_f32, lbm_gpu_moments_tiles_d3q19_f64}};

/* Of stored moments the boundary cells are computed by a kernel of their own, after all cells. */
static cudaError_t lbm_cuda_run(const lbm_cuda *state, const lbm_gpu_step *one,
                                cudaStream_t stream) {
    const bool runs = one->block_count > 0 && !one->gathers;
    cudaError_t code = runs ? state->run_step(one, stream) : cudaSuccess;
    return code == cudaSuccess && one->moments ? state->close(one, stream) : code;
}

/* What does not depend on the step. */
static void lbm_cuda_describe(lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const lbm_numbers *numbers = &plan->numbers;
    const sel_grid *grid = &plan->base.domain->grid;
    const int deep = grid->dims == 3, large = plan->base.precision == SEL_F64;
    state->run_step = lbm_cuda_steps[plan->moments][deep][large];
    state->close = lbm_cuda_closes[deep][large];
    state->tiles = lbm_cuda_tiles[deep][large];
    state->pattern = (lbm_gpu_step){.layout = lbm_cuda_make_layout(&state->all.base),
                                    .dims = grid->dims,
                                    .bytes = (int)lbm_real(&plan->base),
                                    .moments = plan->moments,
                                    .gathers = lbm_cuda_gathers(state),
                                    .collision = plan->collision,
                                    .forced = lbm_is_forced(plan),
                                    .acceleration_turns = !lbm_acceleration_is_field(plan) &&
                                                          lbm_acceleration_depends(plan) & SEL_ON_T,
                                    .les = numbers->eddy > 0,
                                    .omega_even = numbers->omega_even,
                                    .omega_odd = numbers->omega_odd,
                                    .tau = numbers->tau,
                                    .magic = numbers->magic,
                                    .eddy = numbers->eddy};
    state->pattern.fields.units = lbm_units_of(plan);
    state->view = (lbm_gpu_view){.nu = numbers->nu};
    for (int k = 0; k < 3; k++) {
        state->view.periodic[k] = k < grid->dims && sel_axis_periodic(grid, k);
    }
}

static sel_status lbm_cuda_fits(const sel_plan *base, sel_error *error) {
    const sel_grid *grid = &base->domain->grid;
    if ((double)((const lbm_plan *)base)->boundary.links.count >= most_numbers) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes up to 2^32 links between fluid and boundary, and "
                        "this domain has %.3g; use --backend cpu",
                        (double)((const lbm_plan *)base)->boundary.links.count);
    }
    if (grid->n[0] > longest_row) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes rows of up to %lld cells, and those of this domain "
                        "have %lld; make another axis the long one, or use --backend cpu",
                        (long long)longest_row, (long long)grid->n[0]);
    }
    return SEL_OK;
}

/* The step from `step` on in all of a rank's planes, but for the lists of slabs. */
static lbm_gpu_step describe_all(const lbm_cuda *state, int64_t step) {
    const cuda_slab all = {.planes = state->all.base.own};
    return lbm_cuda_step(state, step, &all);
}

/* The present state as fields see it: state->view. */
static const lbm_gpu_view *describe_view(lbm_cuda *state) {
    const int64_t step = state->all.base.step;
    lbm_gpu_view *view = &state->view;
    view->last = describe_all(state, step > 0 ? step - 1 : 0);
    if (step == 0) {
        view->last.acceleration_turns = false; /* the first is that of time 0 */
    }
    const int present = state->all.base.field[0].present;
    view->now = cuda_parts_of(&state->all.base, present);
    const int64_t before = state->pattern.layout.base * sel_field_stride(&state->all.base.field[0]);
    const char *field = state->all.acceleration_field, *now = state->all.f[present];
    for (int k = 0; k < view->now.count; k++) { /* indices count from the rank's first plane on */
        view->now.at[k] = (char *)view->now.at[k] + before * state->pattern.bytes;
        view->now.end[k] -= before;
    }
    view->acceleration = view->now;
    for (int k = 0; k < view->now.count && field; k++) {
        view->acceleration.at[k] = (char *)view->now.at[k] + (field - now);
    }
    return view;
}

/* ---- memory ---- */

static void lbm_cuda_list(sel_state *base) {
    lbm_cuda *state = (lbm_cuda *)base;
    const lbm_plan *plan = state->all.plan = (const lbm_plan *)base->plan;
    const sel_domain *domain = plan->base.domain;
    const int64_t *n = domain->grid.n;
    lbm_cuda_describe(state);
    const lbm_gpu_layout *layout = &state->pattern.layout;
    const bool divides = sel_divides_planes(&base->decomposition);
    const sel_layout populations = {.n = {n[0], n[1], n[2]},
                                    .slow = domain->grid.dims - 1,
                                    .components = plan->components,
                                    .origin = (int64_t)layout->halo * layout->pitch,
                                    .pitch = layout->pitch,
                                    .slice = layout->slice,
                                    .component = layout->plane,
                                    .count = plan->components * layout->plane};
    sel_layout vectors = populations;
    vectors.components = domain->grid.dims;
    vectors.count = domain->grid.dims * vectors.component;
    const sel_layout acceleration = sel_patch_layout(&vectors, &base->own);
    sel_field field = {
        .layout = sel_patch_layout(&populations, &base->own), .halo = 1, .behind = true};
    field.lead[populations.slow] =
        populations.origin - (divides ? base->own.lo[1] * populations.pitch : 0);
    lbm_count_sites(&state->all);
    lbm_cuda_list_inputs(state);
    lbm_list(&state->all, &field, &acceleration);
    lbm_cuda_list_boundary(state);
    lbm_cuda_list_closed(state);
    lbm_cuda_list_sponge(state);
    lbm_cuda_list_pass(state);
}

/* Sets the pointers of the kernels' arguments. */
static void show_arrays(lbm_cuda *state) {
    const lbm_state *all = &state->all;
    state->pattern.acceleration_field =
        all->acceleration_field ? lbm_cuda_own(state, all->acceleration_field) : NULL;
    state->pattern.boundary.link_add = all->link_add;
    state->pattern.boundary.open_value = all->open_value;
    if (all->copies > 1) {
        state->pattern.boundary.link_stride = all->sites.count;
        state->pattern.boundary.open_stride = LBM_OPEN_VALUES * all->openings;
    }
    state->pattern.boundary.gain = all->gain;
    state->pattern.boundary.link_flow = all->link_flow;
    state->pattern.boundary.links = all->links;
    state->pattern.boundary.link_gain = all->link_gain;
    lbm_gpu_fields *fields = &state->pattern.fields;
    fields->grid = cuda_grid_of(&all->base);
    memcpy(fields->strain, all->strain, sizeof fields->strain);
    fields->strain_component = all->strain_layout.component;
    fields->strain_slice = all->strain_layout.slice;
    fields->walls = all->walls;
    fields->dx = all->plan->base.domain->grid.dx[0];
}

/* ---- the start ---- */

/* Sends values[rows][1 + dims][nx] to `to`, where components stand `apart`. */
static sel_status lbm_cuda_send_rows(lbm_cuda *state, int64_t rows, const double *values,
                                     double *to, int64_t apart, sel_error *error) {
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    const int64_t nx = grid->n[0], parts = 1 + grid->dims;
    const size_t width = (size_t)nx * sizeof(double);
    for (int64_t c = 0; c < parts; c++) {
        CUDA_TRY(cudaMemcpy2DAsync(to + c * apart, width, values + c * nx, (size_t)parts * width,
                                   width, (size_t)rows, cudaMemcpyHostToDevice,
                                   state->all.base.queue->stream));
    }
    CUDA_TRY(cudaStreamSynchronize(state->all.base.queue->stream)); /* frees `values` */
    return SEL_OK;
}

enum { CELLS_SENT_AT_ONCE = 1 << 21 };

/* Evaluates the given fields of rows first <= row < end and sends them to `to`. */
static sel_status send_initial(lbm_cuda *state, int64_t first, int64_t end, double *to,
                               int64_t apart, sel_error *error) {
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    const int64_t total = end - first, part = lbm_initial_part(state->all.plan);
    const int64_t fitting = part * (1 + CELLS_SENT_AT_ONCE / (part * grid->n[0]));
    const int64_t together = fitting < total ? fitting : total;
    const size_t bytes = (size_t)((1 + grid->dims) * together * grid->n[0]) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the initial state", bytes);
    for (int64_t row = first; row < end && !status; row += together) {
        const int64_t rows = end - row < together ? end - row : together;
        status = lbm_initial_rows(state->all.plan, row, row + rows, values, error);
        status = status ? status
                        : lbm_cuda_send_rows(state, rows, values, to + (row - first) * grid->n[0],
                                             apart, error);
    }
    free(values);
    return status;
}

/* Rows first <= row < end, or of a plane that is cut those that are needed: its own, one below and
 * one above. */
static sel_status send_planes(lbm_cuda *state, int64_t plane, int64_t count, double *to,
                              int64_t apart, sel_error *error) {
    const sel_state *base = &state->all.base;
    const sel_patch *own = &base->own;
    const int64_t all = base->rows_per_plane, nx = base->plan->domain->grid.n[0];
    const int64_t height = sel_patch_cells(own, 1);
    sel_status status = SEL_OK;
    if (!sel_divides_planes(&base->decomposition)) {
        return send_initial(state, plane * all, (plane + count) * all, to, apart, error);
    }
    for (int64_t row = plane * all; row < (plane + count) * all && !status; row += all) {
        const int64_t low = row + own->lo[1], high = row + own->hi[1];
        const int64_t below = own->lo[1] ? low - 1 : row + all - 1;
        const int64_t above = own->hi[1] < all ? high : row;
        status = send_initial(state, low, high, to + nx, apart, error);
        status = status ? status : send_initial(state, below, below + 1, to, apart, error);
        to += (height + 1) * nx;
        status = status ? status : send_initial(state, above, above + 1, to, apart, error);
        to += nx;
    }
    return status;
}

/* The given fields of a rank, and of the planes beside its own: one behind the other. */
static sel_status send_own(lbm_cuda *state, double *room, lbm_gpu_given *given, sel_error *error) {
    const sel_state *base = &state->all.base;
    const sel_grid *grid = &base->plan->domain->grid;
    const sel_patch *own = &base->own;
    const int64_t halo = state->pattern.layout.halo;
    const int slow = grid->dims - 1;
    const int64_t plane = (sel_patch_height(&base->decomposition, own) + 2 * halo) * grid->n[0];
    const int64_t n = grid->n[slow], first = own->lo[slow], end = own->hi[slow];
    const int64_t below = first > 0 ? first - 1 : n - 1, above = end % n, planes = end - first;
    const int64_t apart = given->apart = (planes + 2) * plane;
    sel_status status = send_planes(state, first, planes, room + plane, apart, error);
    status = status ? status : send_planes(state, below, 1, room, apart, error);
    status =
        status ? status : send_planes(state, above, 1, room + (planes + 1) * plane, apart, error);
    given->values = cuda_parts_beside(base, (char *)(room - (first - 1) * plane), plane,
                                      sizeof *room, 0, first - 1, end);
    return sel_state_agree(base, status, error);
}

static sel_status set_initial(lbm_cuda *state, sel_error *error) {
    const sel_state *base = &state->all.base;
    const int64_t cells = sel_grid_cells(&base->plan->domain->grid);
    const bool has = lbm_initial_given(state->all.plan), several = base->ranks->count > 1;
    sel_total deviation = {0};
    /* The second copy of the populations has room for the given fields in f64. */
    double *room = sel_arrays_memory(&base->arrays, &state->all.f[1]);
    lbm_gpu_given given = {{{room}, {cells}, 1}, cells};
    sel_status status = !has ? SEL_OK
                        : several
                            ? send_own(state, room, &given, error)
                            : send_initial(state, 0, sel_state_rows(base), room, cells, error);
    if (!status) {
        lbm_gpu_view view = *describe_view(state);
        view.last.layout = describe_all(state, 0).layout;
        CUDA_TRY(
            lbm_gpu_start(&view, has ? &given : NULL, lbm_cuda_at(state, 0), base->queue->stream));
        status = cuda_exchange_all(base, 0, base->queue->stream, error);
    }
    if (!status) {
        status = cuda_sum_now(&state->all.base, &deviation, error);
        state->all.first_mass = lbm_mass(&state->all, sel_total_of(&deviation, false));
    }
    return status;
}

/* What step 0 shows: of links what they carry in the next step, whose other results are computed
 * again. */
static sel_status observe_start(lbm_cuda *state, sel_error *error) {
    const sel_state *base = &state->all.base;
    const lbm_gpu_view *view = describe_view(state);
    cuda_slab slabs[CUDA_SLABS];
    state->pattern.boundary.links_follow = lbm_links_turn(&state->all, 0);
    if (lbm_has_strain(&state->all)) {
        CUDA_TRY(lbm_gpu_initial_strain(view, base->queue->stream));
    }
    const int count = state->all.links ? cuda_slabs_of(base, LBM_CUDA_RIM, slabs) : 0;
    for (int k = 0; k < count; k++) {
        lbm_gpu_step one = lbm_cuda_step(state, 0, &slabs[k]);
        one.observed = true;
        one.boundary.link_flow = NULL;
        one.boundary.gain = NULL;
        one.acceleration_turns = false; /* that of time 0 */
        CUDA_TRY(lbm_cuda_run(state, &one, base->queue->stream));
    }
    return SEL_OK;
}

static sel_status lbm_cuda_start(sel_state *base, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    state->accelerated_at = -1;
    show_arrays(state);
    sel_status status = lbm_cuda_send_boundary(state, error);
    status = status ? status : lbm_cuda_start_pass(state, error);
    status = sel_state_agree(base, status, error); /* what follows is collective */
    status = status ? status : lbm_cuda_start_inputs(state, error);
    status = status ? status : lbm_cuda_send_closed(state, error);
    status = status ? status : lbm_cuda_send_sponge(state, error);
    status = sel_state_agree(base, status, error);
    status = status ? status : set_initial(state, error);
    return status || !sel_plan_observes(base->plan) ? status : observe_start(state, error);
}

/* A step whose closures need an acceleration that a control has changed is not part of a graph. */
static bool lbm_cuda_alone(const sel_state *base) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    return base->step == state->accelerated_at;
}

/* cuda_take_slab */
static sel_status lbm_cuda_take(sel_state *base, int64_t step, const cuda_slab *slab,
                                sel_error *error) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    lbm_gpu_step one = lbm_cuda_step(state, step, slab);
    one.observed = base->observing > 0;
    one.strains = base->observing == 1 && lbm_has_strain(&state->all);
    CUDA_TRY(lbm_cuda_run(state, &one, slab->on->stream));
    return lbm_cuda_take_sponge(state, &one, slab, error);
}

static sel_status lbm_cuda_enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    if (base->observing) {
        state->pattern.boundary.links_follow = lbm_links_turn(&state->all, step + 1);
    }
    if (base->queue->pass > 1) {
        return lbm_cuda_take_pass(state, step, error);
    }
    return cuda_take_slabs(base, step, LBM_CUDA_RIM, true, cuda_exchange, lbm_cuda_take, error);
}

static sel_status lbm_cuda_look(sel_state *base, int field, const cuda_look **launchers,
                                const void **view, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    *launchers = lbm_gpu_look(&state->pattern);
    *view = describe_view(state);
    if (field >= 0 && lbm_is_of_walls(field)) {
        const sel_exchange stress = lbm_stress_exchange();
        const sel_status status = lbm_find_walls(&state->all, error);
        return status ? status : cuda_exchange_field(base, &stress, base->queue->stream, error);
    }
    return field == LBM_VORTICITY || field == LBM_Q_CRITERION
               ? cuda_exchange_all(base, base->step, base->queue->stream, error)
               : SEL_OK;
}

/* ---- fluxes through links, and the balance of mass ---- */

/* The velocity of a region's links in the step that ends now, at step 0 in that to come; NULL: its
 * walls are at rest. */
static const double *velocity_of(const lbm_cuda *state, int region) {
    const int64_t step = state->all.base.step > 0 ? state->all.base.step - 1 : 0;
    const bool moves = state->all.plan->boundary.moves[region] && state->all.link_velocity;
    const int64_t copy = state->all.copies > 1 ? step % CUDA_STEPS : 0;
    return moves ? state->all.link_velocity + 3 * copy * state->all.sites.count : NULL;
}

static sel_status ask_links(lbm_cuda *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->all.base.queue;
    double centre[3];
    cuda_slot *slot;
    lbm_links_centre(state->all.plan, request, centre);
    sel_status status = cuda_slot_open(queue, request, sizeof(lbm_carried), 0, &slot, error);
    state->pattern.boundary.links_follow = state->all.links_follow != 0;
    if (!status) {
        const cuda_rows rows = cuda_rows_of(&state->all.base, NULL);
        CUDA_TRY(lbm_gpu_links(&state->pattern, request->region,
                               velocity_of(state, request->region), centre, &rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(lbm_carried), error);
    }
    return status;
}

/* The mass, and the flow through links since the last balance, whose sums are reset; and the step
 * in which a law has failed. */
static sel_status lbm_cuda_ask_balance(lbm_cuda *state, const sel_request *request,
                                       sel_error *error) {
    cuda_queue *queue = state->all.base.queue;
    const int regions = state->all.plan->base.domain->region_count;
    const uint64_t mass = sizeof(sel_total), rates = ((uint64_t)regions + 1) * sizeof(double);
    const int64_t never = INT64_MAX;
    cuda_slot *slot;
    const uint64_t last = sizeof(double) + sizeof(int64_t);
    sel_status status =
        cuda_slot_open(queue, request, mass + rates + sizeof never + last, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->since_steps = state->all.base.step - state->all.balance_step;
    state->all.balance_step = state->all.base.step;
    status = cuda_sum(&state->all.base, error);
    status = status ? status : cuda_slot_fetch(queue, slot, 0, queue->rows, mass, error);
    memset((char *)slot->host + mass, 0, rates);
    memcpy((char *)slot->host + mass + rates, &never, sizeof never);
    if (state->pattern.halted && !status) {
        status =
            cuda_slot_fetch(queue, slot, mass + rates, state->pattern.halted, sizeof never, error);
    }
    const uint64_t returned = mass + rates + sizeof never;
    memset((char *)slot->host + returned, 0, last);
    if (state->all.returned && !status) {
        status = cuda_slot_fetch(queue, slot, returned, state->all.returned, sizeof(double), error);
    }
    status = status ? status : lbm_cuda_sum_sponge(state, error);
    if (state->all.sponge_gain && state->sponge.brought && !status) {
        status = cuda_slot_fetch(queue, slot, returned + sizeof(double), state->sponge.brought,
                                 sizeof(int64_t), error);
    }
    const bool flows = slot->since_steps > 0 && state->all.sites.all > 0;
    for (int r = 1; flows && r <= regions && !status; r += LBM_GPU_FLOWS) {
        const cuda_rows rows = cuda_rows_of(&state->all.base, NULL);
        const int more = regions + 1 - r < LBM_GPU_FLOWS ? regions + 1 - r : LBM_GPU_FLOWS;
        CUDA_TRY(lbm_gpu_flow(&state->pattern.boundary, r, &rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, mass + (uint64_t)r * sizeof(double), queue->rows,
                                 (uint64_t)more * sizeof(double), error);
    }
    return status;
}

static sel_status lbm_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    return request->kind == SEL_BALANCE ? lbm_cuda_ask_balance(state, request, error)
                                        : ask_links(state, request, error);
}

static void lbm_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    lbm_state *state = &((lbm_cuda *)base)->all;
    sel_total *deviation = slot->host;
    if (request->kind != SEL_BALANCE) {
        lbm_links_answer(state->plan, slot->host, request);
        return;
    }
    double *carried = (double *)(void *)(deviation + 1); /* rank 0 knows it */
    const int64_t numbers = state->plan->base.domain->region_count + 1;
    const double returned = carried[numbers + 1];
    int64_t halted, sponge;
    memcpy(&halted, carried + numbers, sizeof halted);
    memcpy(&sponge, carried + numbers + 2, sizeof sponge);
    const int64_t missing = slot->step > halted ? slot->step - halted : 0; /* steps not made */
    state->balance_step = missing ? halted : state->balance_step;
    if (slot->since_steps > 0) {
        state->base.ranks->broadcast(carried, (size_t)numbers * sizeof *carried, false);
    }
    if (slot->since_steps > missing) {
        lbm_add_outflow(state, carried, slot->since_steps - missing);
    }
    lbm_balance_terms(state, lbm_mass(state, sel_total_of(deviation, false)), returned, sponge,
                      request);
}

_Static_assert(sizeof(lbm_carried) <= sizeof(cuda_sums) &&
                   sizeof(lbm_gpu_flows) <= sizeof(cuda_sums),
               "partial sums have room in the rows");

const cuda_solver lbm_on_cuda = {
    .what = "the flow",
    .state_size = sizeof(lbm_cuda),
    .timeless = true,
    .fits = lbm_cuda_fits,
    .list = lbm_cuda_list,
    .start = lbm_cuda_start,
    .alone = lbm_cuda_alone,
    .store = lbm_gpu_store_laws,
    .store_view = lbm_cuda_laws,
    .cells = lbm_acceleration_cells,
    .copies = lbm_cuda_copies,
    .joins_before = lbm_cuda_joins_before,
    .terms = lbm_cuda_terms,
    .pass = lbm_cuda_pass,
    .step = lbm_cuda_enqueue_step,
    .failed = lbm_cuda_failed,
    .look = lbm_cuda_look,
    .watched = lbm_watched_answer,
    .ask = lbm_cuda_ask,
    .answer = lbm_cuda_answer,
};
