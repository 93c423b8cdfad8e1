/* lbm_setup.c -- what the device needs before the first step: the boundary, populations. */
#include <stdlib.h>
#include <string.h>
#include "cuda/lbm_state.h"

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

/* The lists in the form of the device. */
typedef struct lists {
    lbm_gpu_cell *cells;
    uint32_t *words, *before, *again;
    size_t word_count;
    uint32_t again_count;
} lists;

static void fill_lists(lbm_cuda *state, lists *l) {
    const lbm_boundary *b = &state->all.plan->boundary;
    lbm_cuda_block *blocks = state->block;
    const lbm_gpu_layout *layout = &state->pattern.layout;
    bool moves[256];
    find_moving(state->all.plan->base.domain, moves);
    for (int64_t row = 0; row < b->rows; row++) {
        uint32_t start = (uint32_t)row * layout->pitch;
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
            l->cells[c] = convert(b, &b->cells[c], moves, start);
            l->words[l->cells[c].index / CUDA_WARP] |= 1u << l->cells[c].index % CUDA_WARP;
            l->cells[c].again =
                b->cells[c].opening != LBM_CLOSED || (l->cells[c].moves && state->all.copies > 1);
            if (l->cells[c].again) {
                l->again[l->again_count++] = (uint32_t)c;
            }
        }
        const int of = sel_block_of(&state->all.base.blocks, row);
        blocks[of].end_cell = (uint32_t)b->row_cells[row + 1];
        blocks[of].again_count = l->again_count;
    }
    for (int k = state->all.base.blocks.count - 1; k > 0; k--) {
        blocks[k].first_cell = blocks[k - 1].end_cell;
        blocks[k].first_again = blocks[k - 1].again_count;
        blocks[k].again_count -= blocks[k].first_again;
    }
    uint32_t count = 0;
    for (size_t w = 0; w < l->word_count; w++) {
        l->before[w] = count;
        count += (uint32_t)__builtin_popcount(l->words[w]);
    }
}

/* Thread blocks of a step, of all blocks of the grid. */
static int64_t block_count(const lbm_cuda *state) {
    const sel_blocks *blocks = &state->all.base.blocks;
    int64_t count = 0;
    for (int b = 0; b < blocks->count; b++) {
        const int64_t rows = (blocks->v[b].end - blocks->v[b].first) * blocks->rows_per_plane;
        count += lbm_cuda_blocks_for(&state->pattern.layout, rows);
    }
    return count;
}

/* Blocks without free cells are left out where an eighth of the cells and more are solid. */
static bool leaves_blocks_out(const lbm_cuda *state) {
    const sel_domain *domain = state->all.plan->base.domain;
    return domain->free_cells < sel_grid_cells(&domain->grid) / 8 * 7;
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

static sel_status send_free_blocks(lbm_cuda *state, sel_error *error) {
    const size_t all = (size_t)block_count(state);
    uint32_t count = 0;
    if (!leaves_blocks_out(state)) {
        return SEL_OK;
    }
    lbm_gpu_block *blocks = malloc(all * sizeof *blocks);
    if (!blocks) {
        return sel_fail_memory(error, "the list of blocks", all * sizeof *blocks);
    }
    for (int b = 0; b < state->all.base.blocks.count; b++) {
        const lbm_gpu_layout l = lbm_cuda_step(state, 0, b).layout;
        const uint32_t of_part = lbm_cuda_blocks_for(&l, l.end_row - l.first_row);
        state->block[b].first_free = count;
        for (uint32_t block = 0; block < of_part; block++) {
            const lbm_gpu_block one = {block, free_warps(state, &l, block)};
            blocks[count] = one;
            count += one.warps != 0;
        }
        state->block[b].free_count = count - state->block[b].first_free;
    }
    sel_status status =
        cuda_send(state->pattern.boundary.free_blocks, blocks, count * sizeof *blocks, error);
    free(blocks);
    return status;
}

static size_t word_count(const lbm_cuda *state) {
    const int64_t cells = state->all.plan->boundary.cell_count;
    const lbm_gpu_layout *l = &state->pattern.layout;
    return cells > 0 ? ((size_t)l->slice * l->nz + CUDA_WARP - 1) / CUDA_WARP : 0;
}

/* At most so many cells are computed again: all boundary cells, which are few then, where values
 * are evaluated ahead (cuda_laws_copies). */
static int64_t most_again(const lbm_cuda *state) {
    const lbm_boundary *b = &state->all.plan->boundary;
    return state->all.copies > 1 ? b->cell_count : b->open_count;
}

void lbm_cuda_list_boundary(lbm_cuda *state) {
    const lbm_boundary *b = &state->all.plan->boundary;
    lbm_gpu_boundary *to = &state->pattern.boundary;
    sel_arrays *arrays = &state->all.base.arrays;
    SEL_ADD(arrays, to, cells, b->cell_count, 0);
    SEL_ADD(arrays, to, words, (int64_t)word_count(state), 0);
    SEL_ADD(arrays, to, before, (int64_t)word_count(state), 0);
    SEL_ADD(arrays, to, again, most_again(state), 0);
    SEL_ADD(arrays, to, free_blocks, leaves_blocks_out(state) ? block_count(state) : 0, 0);
    SEL_ADD(arrays, to, link_region, b->link_count, 0);
}

static sel_status send(lbm_cuda *state, const lists *l, sel_error *error) {
    const lbm_boundary *b = &state->all.plan->boundary;
    lbm_gpu_boundary *to = &state->pattern.boundary;
    const uint64_t words = l->word_count * sizeof *l->words;
    to->cell_count = (uint32_t)b->cell_count;
    to->link_count = b->link_count;
    sel_status status =
        cuda_send(to->cells, l->cells, (uint64_t)b->cell_count * sizeof *l->cells, error);
    status = status ? status : cuda_send(to->words, l->words, words, error);
    status = status ? status : cuda_send(to->before, l->before, words, error);
    status =
        status ? status : cuda_send(to->again, l->again, l->again_count * sizeof *l->again, error);
    return status ? status
                  : cuda_send(to->link_region, b->link_region, (uint64_t)b->link_count, error);
}

sel_status lbm_cuda_send_boundary(lbm_cuda *state, sel_error *error) {
    const lbm_boundary *b = &state->all.plan->boundary;
    lists l = {.word_count = word_count(state)};
    sel_status status = send_free_blocks(state, error);
    if (status) {
        return status;
    }
    const size_t numbers = 2 * l.word_count + (size_t)most_again(state);
    const size_t bytes = (size_t)b->cell_count * sizeof *l.cells + numbers * sizeof *l.words;
    l.cells = calloc(1, bytes + 1);
    if (!l.cells) {
        return sel_fail_memory(error, "the list of boundary cells", bytes);
    }
    l.words = (uint32_t *)(void *)(l.cells + b->cell_count);
    l.before = l.words + l.word_count;
    l.again = l.before + l.word_count;
    fill_lists(state, &l);
    status = send(state, &l, error);
    free(l.cells);
    return status;
}

/* Sends rows from `first` on, values[rows][1 + dims][nx], to their place in to[1 + dims][cells]. */
static sel_status send_rows(lbm_cuda *state, int64_t first, int64_t rows, const double *values,
                            double *to, sel_error *error) {
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    const int64_t nx = grid->n[0], parts = 1 + grid->dims;
    const size_t width = (size_t)nx * sizeof(double);
    for (int64_t c = 0; c < parts; c++) {
        CUDA_TRY(cudaMemcpy2DAsync(to + c * sel_grid_cells(grid) + first * nx, width,
                                   values + c * nx, (size_t)parts * width, width, (size_t)rows,
                                   cudaMemcpyHostToDevice, state->all.base.queue->stream));
    }
    CUDA_TRY(cudaStreamSynchronize(state->all.base.queue->stream)); /* frees `values` */
    return SEL_OK;
}

enum { CELLS_SENT_AT_ONCE = 1 << 21 };

/* Evaluates the given fields and sends them to `to`. */
static sel_status send_initial(lbm_cuda *state, double *to, sel_error *error) {
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    const int64_t total = sel_state_rows(&state->all.base),
                  part = lbm_initial_part(state->all.plan);
    const int64_t fitting = part * (1 + CELLS_SENT_AT_ONCE / (part * grid->n[0]));
    const int64_t together = fitting < total ? fitting : total;
    const size_t bytes = (size_t)((1 + grid->dims) * together * grid->n[0]) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the initial state", bytes);
    for (int64_t row = 0; row < total && !status; row += together) {
        const int64_t rows = total - row < together ? total - row : together;
        status = lbm_initial_rows(state->all.plan, row, row + rows, values, error);
        status = status ? status : send_rows(state, row, rows, values, to, error);
    }
    free(values);
    return status;
}

sel_status lbm_cuda_set_initial(lbm_cuda *state, sel_error *error) {
    sel_total deviation = {0};
    /* The second copy of the populations has room for the given fields in f64. */
    double *given = lbm_initial_given(state->all.plan) ? state->all.f[0][1] : NULL;
    sel_status status = given ? send_initial(state, given, error) : SEL_OK;
    if (!status) {
        lbm_gpu_view view = *lbm_cuda_view(state);
        for (int b = 0; b < state->all.base.blocks.count; b++) {
            view.last.layout = lbm_cuda_step(state, 0, b).layout;
            CUDA_TRY(
                lbm_gpu_start(&view, given, state->all.f[b][0], state->all.base.queue->stream));
        }
        status = cuda_exchange(&state->all.base, 0, error);
    }
    if (!status) {
        status = cuda_sum_now(&state->all.base, &deviation, error);
        state->all.first_mass = lbm_mass(&state->all, sel_total_of(&deviation, false));
    }
    return status;
}
