/* lbm_pass_cuda.c -- several steps of a plane flow in one pass over the grid, on the device.
 *
 * The kernel of a pass knows no boundary (lbm_pass.cu): its results are right in cells that no
 * boundary cell reaches within the steps of the pass. The cells beside boundaries, the band, are
 * computed step by step: all cells of the tiles that touch it, then its boundary cells by the
 * kernel that all steps use. They have copies of the moments of their own, so that both go on at
 * the same time:
 *
 *     from ---------------- pass, all cells -----------------> to
 *       \                                                      ^  cells that boundary cells
 *        `-> room 0 -> room 1 -> room 0 -> ... single steps --'   reach are copied
 *
 * On large grids, where memory may be short and the pass takes long, the band comes after the pass,
 * and `from` serves as room 1.
 *
 * With T steps in a pass, a boundary cell reaches cells up to T - 1 away. What the tiles have not
 * computed comes one cell closer with each step, so that the band is T - 1 cells wider:
 *
 *     wall | reached: T - 1 cells | T - 1 cells | right by the pass
 *          |------------- tiles of the band ----|
 *
 * Either way computes a cell by the same instructions, so outputs do not depend on the passes.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_state_cuda.h"

enum {
    LEAST_COLUMNS = 128,  /* of a grid that passes go over, */
    LEAST_ROWS = 64,      /* and rows; where there is a band, LBM_PASS_BOUNDED cells */
    MOST_APART = 1 << 24, /* cells for which there is a room 1 */
    MOST_BOUNDARY = 50,   /* at most a cell in so many is a boundary cell, */
    MOST_BAND = 3         /* and a cell in so many is in a tile of the band */
};

static cudaError_t (*const pass_kernels[2])(const lbm_gpu_step *, cudaStream_t) = {
    lbm_gpu_pass_d2q9_f32, lbm_gpu_pass_d2q9_f64};
static cudaError_t (*const pass_bands[2])(const lbm_gpu_step *, const lbm_gpu_band *,
                                          cudaStream_t) = {lbm_gpu_band_d2q9_f32,
                                                           lbm_gpu_band_d2q9_f64};
static cudaError_t (*const pass_copies[2])(const lbm_gpu_step *, const uint32_t *, uint32_t,
                                           cudaStream_t) = {lbm_gpu_copy_d2q9_f32,
                                                            lbm_gpu_copy_d2q9_f64};

/* How far a boundary cell reaches in a pass. */
static int64_t pass_reach(const lbm_cuda *state) {
    return state->passes.steps - 1;
}

/* Whether passes can be made: in 2-D, by one rank, without a sponge, under laws that do not vary in
 * time, since these may fail in the middle of a pass. */
static bool pass_fits(const lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t cells = sel_grid_cells(grid), boundary = plan->boundary.cell_count;
    return plan->moments && !lbm_cuda_gathers(state) && !lbm_has_sponge(plan) && grid->dims == 2 &&
           state->all.base.ranks->count == 1 && !(plan->base.depends & SEL_ON_T) &&
           !lbm_acceleration_is_field(plan) && grid->n[0] >= LEAST_COLUMNS &&
           grid->n[1] >= LEAST_ROWS && (boundary == 0 || cells >= LBM_PASS_BOUNDED) &&
           boundary <= cells / MOST_BOUNDARY;
}

/* Tiles of the band across the grid, and along y. */
static uint32_t pass_across(const lbm_cuda *state) {
    return (state->pattern.layout.nx + LBM_BAND_COLUMNS - 1) / LBM_BAND_COLUMNS;
}

static uint32_t pass_along(const lbm_cuda *state) {
    return (state->pattern.layout.ny + LBM_BAND_ROWS - 1) / LBM_BAND_ROWS;
}

/* The most cells that boundary cells reach. */
static int64_t pass_most_reached(const lbm_cuda *state) {
    const sel_domain *domain = state->all.plan->base.domain;
    const int64_t side = 2 * pass_reach(state) + 1, cells = sel_grid_cells(&domain->grid);
    const int64_t most = state->all.plan->boundary.cell_count * side * side;
    return most < cells ? most : cells;
}

void lbm_cuda_list_pass(lbm_cuda *state) {
    lbm_cuda_passes *passes = &state->passes;
    const lbm_plan *plan = state->all.plan;
    const bool bounded = plan->boundary.cell_count > 0;
    sel_arrays *arrays = &state->all.base.arrays;
    passes->steps = pass_fits(state) ? lbm_pass_steps(plan->collision, state->pattern.bytes) : 1;
    const bool band = bounded && passes->steps > 1;
    const int64_t bytes = plan->components * state->pattern.layout.plane * state->pattern.bytes;
    const bool apart = sel_grid_cells(&plan->base.domain->grid) <= MOST_APART;
    SEL_ADD(arrays, passes, room[0], band ? bytes : 0, 0);
    SEL_ADD(arrays, passes, room[1], band && apart ? bytes : 0, 0);
    SEL_ADD(arrays, passes, reached, band ? pass_most_reached(state) : 0, 0);
    SEL_ADD(arrays, passes, tiles, band ? pass_across(state) * pass_along(state) : 0, 0);
}

enum { BAND = 1, REACHED };

/* Marks the cells of the band, and those that boundary cells reach. Axes wrap here, which marks too
 * many cells where they do not. */
static void pass_mark(const lbm_cuda *state, uint8_t *marks) {
    const lbm_boundary *b = &state->all.plan->boundary;
    const int64_t nx = state->pattern.layout.nx, ny = state->pattern.layout.ny;
    const int64_t reach = pass_reach(state), wide = 2 * reach;
    for (int64_t c = 0; c < (int64_t)b->cell_count; c++) {
        const int64_t x = b->cells[c].x, y = b->cells[c].row;
        for (int64_t dy = -wide; dy <= wide; dy++) {
            uint8_t *row = marks + (y + dy + ny) % ny * nx;
            const bool near = dy >= -reach && dy <= reach;
            for (int64_t dx = -wide; dx <= wide; dx++) {
                uint8_t *mark = &row[(x + dx + nx) % nx];
                const uint8_t value = near && dx >= -reach && dx <= reach ? REACHED : BAND;
                *mark = *mark > value ? *mark : value;
            }
        }
    }
}

/* Whether a tile has marked cells. */
static bool pass_is_marked(const lbm_cuda *state, const uint8_t *marks, uint32_t number) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    const uint32_t x0 = number % pass_across(state) * LBM_BAND_COLUMNS;
    const uint32_t y0 = number / pass_across(state) * LBM_BAND_ROWS;
    for (uint32_t y = y0; y < y0 + LBM_BAND_ROWS && y < l->ny; y++) {
        for (uint32_t x = x0; x < x0 + LBM_BAND_COLUMNS && x < l->nx; x++) {
            if (marks[(int64_t)y * l->nx + x]) {
                return true;
            }
        }
    }
    return false;
}

/* Lists the tiles of the band. If they are many, no passes are made. */
static void pass_list_band(lbm_cuda *state, const uint8_t *marks, uint32_t *tiles) {
    const int64_t cells = sel_grid_cells(&state->all.plan->base.domain->grid);
    uint32_t count = 0;
    for (uint32_t number = 0; number < pass_across(state) * pass_along(state); number++) {
        tiles[count] = number;
        count += pass_is_marked(state, marks, number);
    }
    state->passes.tile_count = count;
    if ((int64_t)count * LBM_BAND_COLUMNS * LBM_BAND_ROWS > cells / MOST_BAND) {
        state->passes.steps = 1;
    }
}

static void pass_list_reached(lbm_cuda *state, const uint8_t *marks, uint32_t *reached) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    const uint8_t *cell = state->all.plan->base.domain->cell;
    uint32_t count = 0;
    for (uint32_t y = 0; y < l->ny; y++) {
        for (uint32_t x = 0; x < l->nx; x++) {
            const int64_t k = (int64_t)y * l->nx + x;
            reached[count] = y * l->pitch + x;
            count += marks[k] == REACHED && !cell[k];
        }
    }
    state->passes.reached_count = count;
}

sel_status lbm_cuda_start_pass(lbm_cuda *state, sel_error *error) {
    struct {
        uint8_t *marks;
        uint32_t *reached, *tiles;
    } lists;
    sel_arrays arrays = {.memory = NULL};
    if (!state->passes.room[0]) {
        return SEL_OK;
    }
    SEL_ADD(&arrays, &lists, marks, sel_grid_cells(&state->all.plan->base.domain->grid), 0);
    SEL_ADD(&arrays, &lists, reached, pass_most_reached(state) + 1, 0);
    SEL_ADD(&arrays, &lists, tiles, pass_across(state) * pass_along(state) + 1, 0);
    sel_status status = sel_arrays_allocate(&arrays, 1, "the cells beside boundaries", error);
    if (!status) {
        pass_mark(state, lists.marks);
        pass_list_band(state, lists.marks, lists.tiles);
        pass_list_reached(state, lists.marks, lists.reached);
        status = cuda_send(state->passes.tiles, lists.tiles,
                           state->passes.tile_count * sizeof *lists.tiles, error);
        status = status ? status
                        : cuda_send(state->passes.reached, lists.reached,
                                    state->passes.reached_count * sizeof *lists.reached, error);
    }
    sel_arrays_free(&arrays);
    return status;
}

int64_t lbm_cuda_pass(const sel_state *base, int64_t most) {
    const int64_t steps = ((const lbm_cuda *)base)->passes.steps;
    return base->observing || most < steps ? 1 : steps;
}

/* The steps of the band; returns where the last one is stored. */
static sel_status pass_take_band(const lbm_cuda *state, int64_t step, const lbm_gpu_step *pass,
                                 cudaStream_t stream, const void **last, sel_error *error) {
    const lbm_cuda_passes *passes = &state->passes;
    const lbm_gpu_band band = {passes->tiles, passes->tile_count};
    void *room[2] = {passes->room[0], passes->room[1] ? passes->room[1] : (void *)pass->from};
    lbm_gpu_step one = *pass;
    for (int k = 0; k < passes->steps; k++) {
        one.clock = cuda_queue_clock(state->all.base.queue, step + k);
        one.to = room[k % 2];
        CUDA_TRY(pass_bands[one.bytes == sizeof(double)](&one, &band, stream));
        CUDA_TRY(state->close(&one, stream));
        one.from = one.to;
    }
    *last = one.from;
    return SEL_OK;
}

sel_status lbm_cuda_take_pass(lbm_cuda *state, int64_t step, sel_error *error) {
    const lbm_cuda_passes *passes = &state->passes;
    const march_device *on = &state->all.base.queue->march;
    const bool large = state->pattern.bytes == sizeof(double), apart = passes->room[1] != NULL;
    const cuda_slab all = {.planes = state->all.base.own};
    lbm_gpu_step one = lbm_cuda_step(state, step, &all);
    sel_status status = SEL_OK;
    if (apart) {
        CUDA_TRY(march_fork(on));
    }
    CUDA_TRY(pass_kernels[large](&one, on->stream));
    if (passes->room[0]) {
        status =
            pass_take_band(state, step, &one, apart ? on->beside : on->stream, &one.from, error);
    }
    if (apart) {
        CUDA_TRY(march_join(on));
    }
    if (passes->room[0] && !status) {
        CUDA_TRY(pass_copies[large](&one, passes->reached, passes->reached_count, on->stream));
    }
    return status;
}
