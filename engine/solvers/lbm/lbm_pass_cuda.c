/* lbm_pass_cuda.c -- several steps of a plane flow in one pass over the grid, on the device.
 *
 * The kernel of a pass knows no boundary (lbm_pass.cu): its results are right in cells that no
 * boundary cell reaches within the steps of the pass. The cells beside boundaries, the band, are
 * computed step by step, by the kernels of single steps, in the tiles that touch it:
 *
 *     from -> to                 the pass, all cells
 *     from -> beside, beside -> from, ... -> beside     single steps, tiles of the band, and their
 *                                                        boundary cells
 *     beside -> to               cells that boundary cells reach
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
    BAND_ROWS = 8,           /* of a tile of the band */
    LEAST_COLUMNS = 128,     /* of a grid that passes go over, */
    LEAST_ROWS = 64,         /* and rows; */
    LEAST_BOUNDED = 1 << 19, /* cells, where there is a band: it needs many launches */
    MOST_BOUNDARY = 50,      /* at most a cell in so many is a boundary cell, */
    MOST_BAND = 2            /* and a cell in so many is in a tile of the band */
};

static cudaError_t (*const pass_kernels[2])(const lbm_gpu_step *, cudaStream_t) = {
    lbm_gpu_pass_d2q9_f32, lbm_gpu_pass_d2q9_f64};
static cudaError_t (*const pass_copies[2])(const lbm_gpu_step *, const uint32_t *, uint32_t,
                                           cudaStream_t) = {lbm_gpu_copy_d2q9_f32,
                                                            lbm_gpu_copy_d2q9_f64};

/* How far a boundary cell reaches in a pass. */
static int64_t pass_reach(const lbm_cuda *state) {
    return state->passes.steps - 1;
}

/* Whether passes can be made: in 2-D, by one rank, under laws that do not vary in time, since these
 * may fail in the middle of a pass. */
static bool pass_fits(const lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t cells = sel_grid_cells(grid), boundary = plan->boundary.cell_count;
    return plan->moments && grid->dims == 2 && state->all.base.ranks->count == 1 &&
           !(plan->base.depends & SEL_ON_T) && !lbm_acceleration_is_field(plan) &&
           grid->n[0] >= LEAST_COLUMNS && grid->n[1] >= LEAST_ROWS &&
           (boundary == 0 || cells >= LEAST_BOUNDED) && boundary <= cells / MOST_BOUNDARY;
}

/* The tiles of the band. */
static lbm_gpu_tiles pass_tiles(const lbm_cuda *state) {
    const cuda_slab all = {.planes = state->all.base.own};
    lbm_gpu_step one = lbm_cuda_step(state, 0, &all);
    lbm_gpu_tiles tiles = {0};
    one.tile_planes = BAND_ROWS;
    state->tiles(&one, &tiles);
    return tiles;
}

/* The most cells that boundary cells reach, and the most tiles. */
static int64_t pass_most_reached(const lbm_cuda *state) {
    const sel_domain *domain = state->all.plan->base.domain;
    const int64_t side = 2 * pass_reach(state) + 1, cells = sel_grid_cells(&domain->grid);
    const int64_t most = state->all.plan->boundary.cell_count * side * side;
    return most < cells ? most : cells;
}

static int64_t pass_most_tiles(const lbm_cuda *state) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    return (int64_t)(l->nx / LBM_TILE_COLUMNS + 1) * (l->ny / BAND_ROWS + 2);
}

void lbm_cuda_list_pass(lbm_cuda *state) {
    lbm_cuda_passes *passes = &state->passes;
    const lbm_plan *plan = state->all.plan;
    const bool bounded = plan->boundary.cell_count > 0;
    sel_arrays *arrays = &state->all.base.arrays;
    passes->steps =
        pass_fits(state) ? lbm_pass_steps(plan->params->collision, state->pattern.bytes) : 1;
    const bool band = bounded && passes->steps > 1;
    const int64_t bytes = plan->components * state->pattern.layout.plane * state->pattern.bytes;
    SEL_ADD(arrays, passes, beside, band ? bytes : 0, 0);
    SEL_ADD(arrays, passes, reached, band ? pass_most_reached(state) : 0, 0);
    SEL_ADD(arrays, passes, band, band ? pass_most_tiles(state) : 0, 0);
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
static bool pass_is_marked(const lbm_cuda *state, const lbm_gpu_tiles *t, const uint8_t *marks,
                           uint32_t number) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    const uint32_t x0 = number % t->across * t->width, y0 = number / t->across * t->planes;
    for (uint32_t y = y0; y < y0 + t->planes && y < l->ny; y++) {
        for (uint32_t x = x0; x < x0 + t->width && x < l->nx; x++) {
            if (marks[(int64_t)y * l->nx + x]) {
                return true;
            }
        }
    }
    return false;
}

/* Lists the tiles of the band, in whole thread blocks. */
static void pass_list_band(lbm_cuda *state, const uint8_t *marks, lbm_gpu_block *band) {
    const lbm_gpu_tiles tiles = pass_tiles(state);
    uint32_t count = 0;
    for (uint32_t number = 0; number < tiles.across * tiles.deep; number++) {
        if (pass_is_marked(state, &tiles, marks, number)) {
            band[count++] = (lbm_gpu_block){number, ~0u};
        }
    }
    const uint64_t cells = (uint64_t)count * tiles.width * tiles.planes;
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    while (count % tiles.strips) {
        band[count++] = (lbm_gpu_block){(uint32_t)LBM_NO_TILE, 0};
    }
    state->passes.band_count = count;
    if (cells > (uint64_t)sel_grid_cells(grid) / MOST_BAND) {
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
        uint32_t *reached;
        lbm_gpu_block *band;
    } lists;
    sel_arrays arrays = {.memory = NULL};
    if (!state->passes.beside) {
        return SEL_OK;
    }
    SEL_ADD(&arrays, &lists, marks, sel_grid_cells(&state->all.plan->base.domain->grid), 0);
    SEL_ADD(&arrays, &lists, reached, pass_most_reached(state) + 1, 0);
    SEL_ADD(&arrays, &lists, band, pass_most_tiles(state), 0);
    sel_status status = sel_arrays_allocate(&arrays, 1, "the cells beside boundaries", error);
    if (!status) {
        pass_mark(state, lists.marks);
        pass_list_band(state, lists.marks, lists.band);
        pass_list_reached(state, lists.marks, lists.reached);
        status = cuda_send(state->passes.band, lists.band,
                           state->passes.band_count * sizeof *lists.band, error);
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

sel_status lbm_cuda_take_pass(lbm_cuda *state, int64_t step, sel_error *error) {
    const lbm_cuda_passes *passes = &state->passes;
    const bool large = state->pattern.bytes == sizeof(double);
    cudaStream_t stream = state->all.base.queue->stream;
    const cuda_slab all = {.planes = state->all.base.own};
    const lbm_gpu_step pass = lbm_cuda_step(state, step, &all);
    lbm_gpu_step one = pass;
    void *own = (void *)pass.from, *beside = passes->beside;
    CUDA_TRY(pass_kernels[large](&pass, stream));
    for (int k = 0; k < passes->steps && passes->beside; k++) {
        one.clock = cuda_queue_clock(state->all.base.queue, step + k);
        one.from = k % 2 ? beside : own;
        one.to = k % 2 ? own : beside;
        one.boundary.free_blocks = passes->band;
        one.block_count = passes->band_count;
        one.tile_planes = BAND_ROWS;
        CUDA_TRY(state->run_step(&one, stream));
        CUDA_TRY(state->close(&one, stream));
    }
    one.from = beside;
    one.to = pass.to;
    if (passes->beside) {
        CUDA_TRY(pass_copies[large](&one, passes->reached, passes->reached_count, stream));
    }
    return SEL_OK;
}
