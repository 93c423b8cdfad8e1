/* lbm_cuda.c -- the CUDA backend of lattice Boltzmann: memory, stepping, requests.
 *
 * Two copies of the populations take turns.
 */
#include <stdlib.h>
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
    if (blocks->cut) {
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

/* What does not depend on the step. */
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
                                    .les = numbers->eddy > 0,
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

/* Thread blocks of a step for so many rows. */
static uint32_t blocks_for(const lbm_gpu_layout *layout, int64_t rows) {
    const int64_t of_rows = (rows + layout->block_rows - 1) / layout->block_rows;
    return (uint32_t)(of_rows * layout->blocks_per_row);
}

/* The step from `step` to the next in a slab of the grid. */
static lbm_gpu_step describe_step(const lbm_cuda *state, int64_t step, const cuda_slab *slab) {
    const sel_blocks *blocks = &state->all.base.blocks;
    const sel_block *own = &blocks->v[slab->block];
    const int64_t *row_cells = state->all.plan->boundary.row_cells;
    const bool cut = blocks->cut;
    const int block = slab->block, number = slab->number;
    lbm_gpu_step one = state->pattern;
    lbm_gpu_layout *layout = &one.layout;
    lbm_gpu_boundary *boundary = &one.boundary;
    layout->first = (uint32_t)own->first;
    layout->last = (uint32_t)own->end - 1;
    layout->below = (uint32_t)own->end - !cut;
    layout->above = cut ? (uint32_t)own->end + 1 : 0;
    layout->first_row = (uint32_t)(slab->planes.first * blocks->rows_per_plane);
    layout->end_row = (uint32_t)(slab->planes.end * blocks->rows_per_plane);
    one.block_count = blocks_for(layout, layout->end_row - layout->first_row);
    if (boundary->free_blocks) {
        boundary->free_blocks += state->free[number][0];
        one.block_count = state->free[number][1] - state->free[number][0];
    }
    boundary->first_cell = (uint32_t)row_cells[layout->first_row];
    boundary->end_cell = (uint32_t)row_cells[layout->end_row];
    boundary->again += state->again[number][0];
    boundary->again_count = state->again[number][1] - state->again[number][0];
    one.clock = cuda_queue_clock(state->all.base.queue, step);
    one.from = state->all.f[block][step & 1];
    one.to = state->all.f[block][(step + 1) & 1];
    one.acceleration = one.acceleration_before = state->acceleration;
    if (step == state->accelerated_at) {
        one.acceleration_before += 3;
    }
    return one;
}

/* The same in all of a block, but for the lists of slabs. */
static lbm_gpu_step describe_block(const lbm_cuda *state, int64_t step, int b) {
    const cuda_slab all = {.planes = state->all.base.blocks.v[b], .block = b};
    return describe_step(state, step, &all);
}

/* The present state as fields see it: state->view. */
static const lbm_gpu_view *describe_view(lbm_cuda *state) {
    const int64_t step = state->all.base.step;
    lbm_gpu_view *view = &state->view;
    view->last = describe_block(state, step > 0 ? step - 1 : 0, 0);
    if (step == 0) {
        view->last.acceleration_turns = false; /* the first is that of time 0 */
    }
    view->now = cuda_parts_of(&state->all.base, step);
    return view;
}

/* ---- the boundary ---- */

/* By region: whether it is a moving wall. */
static void find_moving(const sel_domain *domain, bool moves[256]) {
    memset(moves, 0, 256 * sizeof *moves);
    for (int r = 1; r <= domain->region_count; r++) {
        moves[r] = !lbm_region_is_wet(&domain->regions[r - 1]) && lbm_region_passes(domain, r);
    }
}

static lbm_gpu_cell convert(const lbm_boundary *b, const lbm_boundary_cell *cell,
                            const bool moves[256], uint32_t row_start) {
    lbm_gpu_cell to = {.index = row_start + (uint32_t)cell->x,
                       .links = cell->links,
                       .bounced = cell->bounced,
                       .first_link = (uint32_t)cell->first_link,
                       .opening_index = (int32_t)cell->opening_index,
                       .opening = (uint8_t)cell->opening,
                       .velocity_given = cell->velocity_region != 0,
                       .density_given = cell->density_region != 0,
                       .inward_solid = cell->inward_solid,
                       .keep = cell->keep};
    for (int a = 0; a < 3; a++) {
        to.mirrored[a] = cell->mirrored[a];
        to.normal[a] = cell->normal[a];
    }
    int64_t link = cell->first_link;
    for (uint32_t bits = cell->links; bits; bits &= bits - 1) {
        to.moves = to.moves || moves[b->link_region[link++]];
    }
    return to;
}

static int64_t word_count(const lbm_cuda *state) {
    const int64_t cells = state->all.plan->boundary.cell_count;
    const lbm_gpu_layout *l = &state->pattern.layout;
    return cells > 0 ? ((int64_t)l->slice * l->nz + CUDA_WARP - 1) / CUDA_WARP : 0;
}

/* At most so many cells are computed again: all boundary cells, which are few then, where values
 * are evaluated ahead (count_copies of lbm_laws.c). */
static int64_t most_again(const lbm_cuda *state) {
    const lbm_boundary *b = &state->all.plan->boundary;
    return state->all.copies > 1 ? b->cell_count : b->open_count;
}

/* The lists in the form of the device. */
typedef struct lists {
    lbm_gpu_cell *cells;
    uint32_t *words, *before, *again;
    lbm_gpu_block *free_blocks;
} lists;

static void fill_lists(lbm_cuda *state, lists *l) {
    const lbm_boundary *b = &state->all.plan->boundary;
    const int64_t words = word_count(state);
    uint32_t before = 0;
    bool moves[256];
    state->again_count = 0;
    find_moving(state->all.plan->base.domain, moves);
    for (int64_t row = 0; row < b->rows; row++) {
        const uint32_t start = (uint32_t)row * state->pattern.layout.pitch;
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
            lbm_gpu_cell *cell = &l->cells[c];
            *cell = convert(b, &b->cells[c], moves, start);
            l->words[cell->index / CUDA_WARP] |= 1u << cell->index % CUDA_WARP;
            cell->again = cell->opening != LBM_CLOSED || (cell->moves && state->all.copies > 1);
            if (cell->again) {
                l->again[state->again_count++] = (uint32_t)c;
            }
        }
    }
    for (int64_t w = 0; w < words; w++) {
        l->before[w] = before;
        before += (uint32_t)__builtin_popcount(l->words[w]);
    }
}

/* Rims of ranks are this wide. */
enum { RIM = 1 };

/* Shares out the cells that are computed again. */
static void find_again(lbm_cuda *state, const uint32_t *again) {
    const sel_state *base = &state->all.base;
    const lbm_boundary *b = &state->all.plan->boundary;
    const sel_block *own = &base->blocks.v[0];
    const int axis = base->plan->domain->grid.dims - 1;
    cuda_slab slabs[CUDA_SLABS];
    for (int k = 0; k < cuda_slabs_of(base, RIM, slabs); k++) {
        for (int end = 0; end < 2; end++) {
            const int64_t plane = end ? slabs[k].planes.end : slabs[k].planes.first;
            const int64_t before = b->row_cells[plane * base->blocks.rows_per_plane];
            uint32_t *to = &state->again[k][end];
            for (*to = 0; *to < state->again_count && again[*to] < before; ++*to) {
            }
        }
    }
    state->looks_back = false;
    for (int side = 0; side < 2; side++) {
        const int64_t plane = side ? own->end - 1 : own->first, rows = base->blocks.rows_per_plane;
        for (int64_t c = b->row_cells[plane * rows]; c < b->row_cells[(plane + 1) * rows]; c++) {
            const lbm_boundary_cell *cell = &b->cells[c];
            state->looks_back = state->looks_back || (cell->opening != LBM_CLOSED &&
                                                      cell->normal[axis] == (side ? 1 : -1));
        }
    }
}

/* The most thread blocks with free cells, of all slabs. 0: the others are not left out, since less
 * than an eighth of the cells is solid. */
static int64_t most_free_blocks(const lbm_cuda *state) {
    const sel_state *base = &state->all.base;
    const sel_domain *domain = base->plan->domain;
    const bool leaves_out = domain->free_cells < sel_grid_cells(&domain->grid) / 8 * 7;
    cuda_slab slabs[CUDA_SLABS];
    int64_t count = 0;
    for (int k = 0; leaves_out && k < cuda_slabs_of(base, RIM, slabs); k++) {
        const int64_t planes = slabs[k].planes.end - slabs[k].planes.first;
        count += blocks_for(&state->pattern.layout, planes * base->blocks.rows_per_plane);
    }
    return count;
}

static uint32_t free_warps(const lbm_cuda *state, const lbm_gpu_layout *l, uint32_t block) {
    const uint32_t row = l->first_row + block / l->blocks_per_row * l->block_rows;
    const uint32_t first = block % l->blocks_per_row * l->block_width;
    uint32_t warps = 0;
    for (uint32_t y = row; y < row + l->block_rows && y < l->end_row; y++) {
        const uint8_t *cell = state->all.plan->base.domain->cell + (size_t)y * l->nx;
        for (uint32_t x = first; x < first + l->block_width && x < l->nx; x++) {
            const uint32_t thread = (y - row) * l->block_width + x - first;
            warps |= (cell[x] ? 0u : 1u) << thread / CUDA_WARP;
        }
    }
    return warps;
}

static void find_free_blocks(lbm_cuda *state, lbm_gpu_block *blocks) {
    cuda_slab slabs[CUDA_SLABS];
    uint32_t count = 0;
    for (int k = 0; k < cuda_slabs_of(&state->all.base, RIM, slabs); k++) {
        const lbm_gpu_layout l = describe_step(state, 0, &slabs[k]).layout;
        const uint32_t all = blocks_for(&l, l.end_row - l.first_row);
        state->free[k][0] = count;
        for (uint32_t block = 0; block < all; block++) {
            blocks[count] = (lbm_gpu_block){block, free_warps(state, &l, block)};
            count += blocks[count].warps != 0;
        }
        state->free[k][1] = count;
    }
}

static void list_boundary(lbm_cuda *state) {
    const lbm_boundary *b = &state->all.plan->boundary;
    lbm_gpu_boundary *to = &state->pattern.boundary;
    sel_arrays *arrays = &state->all.base.arrays;
    SEL_ADD(arrays, to, cells, b->cell_count, 0);
    SEL_ADD(arrays, to, words, word_count(state), 0);
    SEL_ADD(arrays, to, before, word_count(state), 0);
    SEL_ADD(arrays, to, again, most_again(state), 0);
    SEL_ADD(arrays, to, free_blocks, most_free_blocks(state), 0);
    SEL_ADD(arrays, to, link_region, b->link_count, 0);
}

static sel_status send(lbm_cuda *state, const lists *l, sel_error *error) {
    const lbm_boundary *b = &state->all.plan->boundary;
    lbm_gpu_boundary *to = &state->pattern.boundary;
    const struct {
        const void *to, *from;
        uint64_t bytes;
    } parts[] = {{to->cells, l->cells, (uint64_t)b->cell_count * sizeof *l->cells},
                 {to->words, l->words, (uint64_t)word_count(state) * sizeof *l->words},
                 {to->before, l->before, (uint64_t)word_count(state) * sizeof *l->before},
                 {to->again, l->again, state->again_count * sizeof *l->again},
                 {to->free_blocks, l->free_blocks,
                  (uint64_t)most_free_blocks(state) * sizeof(lbm_gpu_block)},
                 {to->link_region, b->link_region, (uint64_t)b->link_count}};
    sel_status status = SEL_OK;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && !status; k++) {
        status = cuda_send(parts[k].to, parts[k].from, parts[k].bytes, error);
    }
    return status;
}

static sel_status send_boundary(lbm_cuda *state, sel_error *error) {
    const lbm_boundary *b = &state->all.plan->boundary;
    sel_arrays arrays = {.memory = NULL};
    lists l;
    state->pattern.boundary.cell_count = (uint32_t)b->cell_count;
    state->pattern.boundary.link_count = b->link_count;
    SEL_ADD(&arrays, &l, cells, b->cell_count, 0);
    SEL_ADD(&arrays, &l, words, word_count(state), 0);
    SEL_ADD(&arrays, &l, before, word_count(state), 0);
    SEL_ADD(&arrays, &l, again, most_again(state), 0);
    SEL_ADD(&arrays, &l, free_blocks, most_free_blocks(state), 0);
    sel_status status = sel_arrays_allocate(&arrays, 1, "the list of boundary cells", error);
    if (!status) {
        fill_lists(state, &l);
        find_again(state, l.again);
        if (l.free_blocks) {
            find_free_blocks(state, l.free_blocks);
        }
        status = send(state, &l, error);
    }
    sel_arrays_free(&arrays);
    return status;
}

/* ---- memory ---- */

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
    list_boundary(state);
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

/* ---- the start ---- */

/* Sends values[rows][1 + dims][nx] to `to`, where components stand `apart`. */
static sel_status send_rows(lbm_cuda *state, int64_t rows, const double *values, double *to,
                            int64_t apart, sel_error *error) {
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
        status =
            status ? status
                   : send_rows(state, rows, values, to + (row - first) * grid->n[0], apart, error);
    }
    free(values);
    return status;
}

/* The given fields of a rank, and of the planes beside its own: one behind the other. */
static sel_status send_own(lbm_cuda *state, double *room, lbm_gpu_given *given, sel_error *error) {
    const sel_state *base = &state->all.base;
    const sel_grid *grid = &base->plan->domain->grid;
    const sel_block *own = &base->blocks.v[0];
    const int64_t rows = base->blocks.rows_per_plane, plane = rows * grid->n[0];
    const int64_t n = grid->n[grid->dims - 1], low = own->first > 0 ? own->first : n;
    const int64_t high = own->end % n, planes = own->end - own->first;
    const int64_t apart = given->apart = (planes + 2) * plane;
    sel_status status =
        send_initial(state, own->first * rows, own->end * rows, room + plane, apart, error);
    status =
        status ? status : send_initial(state, (low - 1) * rows, low * rows, room, apart, error);
    status = status ? status
                    : send_initial(state, high * rows, (high + 1) * rows,
                                   room + (planes + 1) * plane, apart, error);
    given->values = cuda_parts_beside(base, (char *)(room - (own->first - 1) * plane), plane,
                                      sizeof *room, 0, own->first - 1, own->end);
    return sel_state_agree(base, status, error);
}

static sel_status set_initial(lbm_cuda *state, sel_error *error) {
    const sel_state *base = &state->all.base;
    const int64_t cells = sel_grid_cells(&base->plan->domain->grid);
    const bool has = lbm_initial_given(state->all.plan), several = base->ranks->count > 1;
    sel_total deviation = {0};
    /* The second copy of the populations has room for the given fields in f64. */
    double *room = sel_arrays_memory(&base->arrays, &state->all.f[0][1]);
    lbm_gpu_given given = {{{room}, {(uint32_t)cells}, 1}, cells};
    sel_status status = !has ? SEL_OK
                        : several
                            ? send_own(state, room, &given, error)
                            : send_initial(state, 0, sel_state_rows(base), room, cells, error);
    if (!status) {
        lbm_gpu_view view = *describe_view(state);
        for (int b = 0; b < base->blocks.count; b++) {
            view.last.layout = describe_block(state, 0, b).layout;
            CUDA_TRY(
                lbm_gpu_start(&view, has ? &given : NULL, state->all.f[b][0], base->queue->stream));
        }
        status = cuda_exchange(base, 0, base->queue->stream, error);
    }
    if (!status) {
        status = cuda_sum_now(&state->all.base, &deviation, error);
        state->all.first_mass = lbm_mass(&state->all, sel_total_of(&deviation, false));
    }
    return status;
}

static sel_status observe(lbm_cuda *state, int64_t step, bool initially, sel_error *error) {
    lbm_gpu_view view = *describe_view(state);
    for (int b = 0; b < state->all.base.blocks.count; b++) {
        view.last = describe_block(state, step, b);
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
    sel_status status = send_boundary(state, error);
    status = status ? status : cuda_laws_start(state, error);
    status = status ? status : set_initial(state, error);
    return status || !sel_plan_observes(base->plan) ? status : observe(state, 0, true, error);
}

/* A step whose closures need an acceleration that a control has changed is not part of a graph. */
static bool alone(const sel_state *base) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    return state->laws.need_host || base->step == state->accelerated_at;
}

/* cuda_fill_halos: between ranks only what crosses their ends, where that is enough. */
static sel_status exchange(const sel_state *base, int64_t step, cudaStream_t stream, sel_error *error) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    const lbm_lattice *lattice = state->all.plan->boundary.lattice;
    const sel_turns *turns = &base->turns;
    const sel_block *own = &base->blocks.v[0];
    const int64_t size = turns->type.size, plane = turns->cells.plane * size;
    const int64_t stride = sel_turns_stride(turns) * size;
    char *f = state->all.f[0][step & 1];
    cuda_sides sides[LBM_MAX_Q];
    int count = 0;
    if (base->ranks->count == 1 || state->looks_back) {
        return cuda_exchange(base, step, stream, error);
    }
    for (int i = 0; i < lattice->q; i++) {
        char *up = f + i * plane, *down = f + lattice->direction[i].opposite * plane;
        if (lattice->direction[i].e[lattice->dims - 1] > 0) {
            sides[count++] = (cuda_sides){.low = down + own->first * stride,
                                          .high = up + (own->end - 1) * stride,
                                          .from_low = up + sel_halo_low(turns, own) * stride,
                                          .from_high = down + sel_halo_high(turns, own) * stride,
                                          .bytes = (size_t)stride,
                                          .apart = (size_t)stride,
                                          .count = 1};
        }
    }
    return cuda_exchange_sides(base, sides, count, stream, error);
}

/* cuda_take_slab */
static sel_status take(sel_state *base, int64_t step, const cuda_slab *slab, sel_error *error) {
    const lbm_cuda *state = (const lbm_cuda *)base;
    const lbm_gpu_step one = describe_step(state, step, slab);
    if (one.block_count > 0) {
        CUDA_TRY(state->run_step(&one, slab->on->stream));
    }
    return SEL_OK;
}

static sel_status enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const cuda_queue *queue = base->queue;
    const bool ahead = state->all.copies > 1;
    if (state->all.plan->base.depends & SEL_ON_T && (!ahead || step == queue->first)) {
        sel_status status =
            cuda_laws_enqueue(state, SEL_ON_T, step, ahead ? queue->until - step : 1, error);
        if (status) {
            cuda_laws_restore(state);
            return status;
        }
    }
    sel_status status = SEL_OK;
    if (base->observing) {
        status = cuda_exchange(base, step, queue->stream, error);
        status = status ? status : observe(state, step, false, error);
    }
    return status ? status : cuda_take_slabs(base, step, RIM, exchange, take, error);
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
    const unsigned varies = state->all.plan->base.depends;
    return varies ? cuda_laws_enqueue(state, varies, base->step - 1, 1, error) : SEL_OK;
}

static sel_status look(sel_state *base, int field, const cuda_look **launchers, const void **view,
                       sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    *launchers = lbm_gpu_look(&state->pattern);
    *view = describe_view(state);
    return field == LBM_VORTICITY || field == LBM_Q_CRITERION
               ? cuda_exchange(base, base->step, base->queue->stream, error)
               : SEL_OK;
}

/* ---- fluxes through links, and the balance of mass ---- */

/* What ranks know of their own links, all get to know. */
static sel_status share_links(lbm_cuda *state, sel_error *error) {
    const int64_t count = state->all.plan->boundary.link_count;
    const size_t real = (size_t)lbm_real(&state->all.plan->base);
    char *links = state->all.links, *entered = links ? links + (size_t)count * real : NULL;
    sel_status status =
        cuda_share_list(&state->all.base, links, count, real, lbm_links_before, error);
    return status
               ? status
               : cuda_share_list(&state->all.base, entered, count, real, lbm_links_before, error);
}

static sel_status share_flows(lbm_cuda *state, sel_error *error) {
    return cuda_share_list(&state->all.base, state->all.link_flow,
                           state->all.plan->boundary.link_count, sizeof *state->all.link_flow,
                           lbm_links_before, error);
}

static sel_status saving(sel_state *base, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const sel_status status = share_links(state, error);
    return status ? status : share_flows(state, error);
}

static sel_status ask_links(lbm_cuda *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->all.base.queue;
    double centre[3];
    cuda_slot *slot;
    lbm_links_centre(state->all.plan, request, centre);
    sel_status status = cuda_slot_open(queue, request, sizeof(lbm_carried), 0, &slot, error);
    status = status ? status : share_links(state, error);
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
        status = share_flows(state, error);
        if (status) {
            return status;
        }
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
        lbm_add_outflow(state, (const double *)(const void *)(deviation + 1), slot->since_steps);
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
    .saving = saving,
    .loaded = loaded,
    .close = cuda_laws_close,
    .look = look,
    .watched = lbm_watched_answer,
    .ask = ask,
    .answer = answer,
};
