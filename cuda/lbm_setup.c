/* lbm_setup.c -- what the device needs before the first step: boundary, laws' places, populations.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/lbm_state.h"
#include "engine/lbm/initial.h"

/* By region: its links may add to what they bounce (a moving wall). */
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

/* The lists as the device wants them. */
typedef struct lists {
    lbm_gpu_cell *cells;
    uint32_t *words, *before, *wet;
    size_t word_count;
    uint32_t wet_count;
} lists;

static void fill_lists(const lbm_cuda *state, lists *l) {
    const lbm_boundary *b = &state->plan->boundary;
    const lbm_gpu_layout *layout = &state->pattern.layout;
    bool moves[256];
    find_moving(state->plan->base.domain, moves);
    for (int64_t row = 0; row < b->rows; row++) {
        uint32_t start = (uint32_t)row * layout->pitch;
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
            l->cells[c] = convert(b, &b->cells[c], moves, start);
            l->words[l->cells[c].index / CUDA_WARP] |= 1u << l->cells[c].index % CUDA_WARP;
            if (b->cells[c].opening != LBM_CLOSED) {
                l->wet[l->wet_count++] = (uint32_t)c;
            }
        }
    }
    uint32_t count = 0;
    for (size_t w = 0; w < l->word_count; w++) {
        l->before[w] = count;
        count += (uint32_t)__builtin_popcount(l->words[w]);
    }
}

static int64_t block_count(const lbm_gpu_layout *layout) {
    const int64_t rows = (int64_t)layout->ny * layout->nz;
    return (rows + layout->block_rows - 1) / layout->block_rows * layout->blocks_per_row;
}

/* Blocks are left out where an eighth of the cells and more are solid. */
static bool leaves_blocks_out(const lbm_cuda *state) {
    const sel_domain *domain = state->plan->base.domain;
    return domain->free_cells < sel_grid_cells(&domain->grid) / 8 * 7;
}

static uint32_t free_warps(const lbm_cuda *state, uint32_t block) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    const uint32_t row = block / l->blocks_per_row * l->block_rows;
    const uint32_t first = block % l->blocks_per_row * l->block_width;
    uint32_t warps = 0;
    for (uint32_t y = row; y < row + l->block_rows && y < l->ny * l->nz; y++) {
        const uint8_t *cell = state->plan->base.domain->cell + (size_t)y * l->nx;
        for (uint32_t x = first; x < first + l->block_width && x < l->nx; x++) {
            const uint32_t thread = (y - row) * l->block_width + x - first;
            warps |= (cell[x] ? 0u : 1u) << thread / CUDA_WARP;
        }
    }
    return warps;
}

static sel_status send_free_blocks(lbm_cuda *state, sel_error *error) {
    const uint32_t all = (uint32_t)block_count(&state->pattern.layout);
    uint32_t count = 0;
    if (!leaves_blocks_out(state)) {
        state->pattern.block_count = all;
        return SEL_OK;
    }
    lbm_gpu_block *blocks = malloc(all * sizeof *blocks);
    if (!blocks) {
        return sel_fail_memory(error, "the list of blocks", all * sizeof *blocks);
    }
    for (uint32_t block = 0; block < all; block++) {
        const lbm_gpu_block one = {block, free_warps(state, block)};
        blocks[count] = one;
        count += one.warps != 0;
    }
    state->pattern.block_count = count;
    sel_status status =
        cuda_send(state->pattern.boundary.free_blocks, blocks, count * sizeof *blocks, error);
    free(blocks);
    return status;
}

static size_t word_count(const lbm_cuda *state) {
    const int64_t cells = state->plan->boundary.cell_count;
    return cells > 0 ? ((size_t)state->pattern.layout.plane + CUDA_WARP - 1) / CUDA_WARP : 0;
}

void lbm_cuda_list_boundary(lbm_cuda *state) {
    const lbm_boundary *b = &state->plan->boundary;
    lbm_gpu_boundary *to = &state->pattern.boundary;
    sel_arrays *arrays = &state->base.arrays;
    SEL_ADD(arrays, to, cells, b->cell_count, 0);
    SEL_ADD(arrays, to, words, (int64_t)word_count(state), 0);
    SEL_ADD(arrays, to, before, (int64_t)word_count(state), 0);
    SEL_ADD(arrays, to, wet, b->open_count, 0);
    SEL_ADD(arrays, to, free_blocks,
            leaves_blocks_out(state) ? block_count(&state->pattern.layout) : 0, 0);
    SEL_ADD(arrays, to, link_region, b->link_count, 0);
    SEL_ADD(arrays, to, link_add, b->link_count, 0);
    SEL_ADD(arrays, to, open_value, LBM_OPEN_VALUES * b->open_count, 0);
    SEL_ADD(arrays, to, link_flow, state->plan->base.wants_balance ? b->link_count : 0, SEL_SAVED);
}

static sel_status send(lbm_cuda *state, const lists *l, sel_error *error) {
    const lbm_boundary *b = &state->plan->boundary;
    lbm_gpu_boundary *to = &state->pattern.boundary;
    const uint64_t words = l->word_count * sizeof *l->words;
    to->cell_count = (uint32_t)b->cell_count;
    to->wet_count = l->wet_count;
    to->link_count = b->link_count;
    sel_status status =
        cuda_send(to->cells, l->cells, (uint64_t)b->cell_count * sizeof *l->cells, error);
    status = status ? status : cuda_send(to->words, l->words, words, error);
    status = status ? status : cuda_send(to->before, l->before, words, error);
    status = status ? status : cuda_send(to->wet, l->wet, l->wet_count * sizeof *l->wet, error);
    return status ? status
                  : cuda_send(to->link_region, b->link_region, (uint64_t)b->link_count, error);
}

sel_status cuda_upload_boundary(lbm_cuda *state, sel_error *error) {
    const lbm_boundary *b = &state->plan->boundary;
    lists l = {.word_count = word_count(state)};
    sel_status status = send_free_blocks(state, error);
    if (status || b->cell_count == 0) {
        return status;
    }
    l.cells = malloc((size_t)b->cell_count * sizeof *l.cells);
    l.words = calloc(l.word_count, sizeof *l.words);
    l.before = malloc(l.word_count * sizeof *l.before);
    l.wet = malloc(((size_t)b->open_count + 1) * sizeof *l.wet);
    if (l.cells && l.words && l.before && l.wet) {
        fill_lists(state, &l);
        status = send(state, &l, error);
    } else {
        status = sel_fail_memory(error, "the list of boundary cells",
                                 (uint64_t)b->cell_count * sizeof *l.cells);
    }
    free(l.cells);
    free(l.words);
    free(l.before);
    free(l.wet);
    return status;
}

/* Sends the slabs that `values` holds, from `first` on, to their place in to[1 + dims][cells]. */
static sel_status send_slabs(lbm_cuda *state, const lbm_slabs *slabs, int64_t first, int64_t count,
                             const double *values, double *to, sel_error *error) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const size_t nx = (size_t)grid->n[0], rows = (size_t)(count * slabs->rows);
    const size_t parts = 1 + (size_t)grid->dims, width = nx * sizeof(double);
    for (size_t c = 0; c < parts; c++) {
        double *place = to + c * (size_t)sel_grid_cells(grid) + (size_t)(first * slabs->rows) * nx;
        CUDA_TRY(cudaMemcpy2DAsync(place, width, values + c * nx, parts * width, width, rows,
                                   cudaMemcpyHostToDevice, state->base.queue->stream));
    }
    return SEL_OK;
}

enum { CELLS_SENT_AT_ONCE = 1 << 21 };

/* Evaluates the given fields and sends them to `to`. */
static sel_status send_initial(lbm_cuda *state, const lbm_slabs *slabs, double *to,
                               sel_error *error) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int64_t cells = slabs->rows * grid->n[0], fitting = 1 + CELLS_SENT_AT_ONCE / cells;
    const int64_t together = fitting < slabs->count ? fitting : slabs->count;
    const size_t bytes = (size_t)((1 + grid->dims) * together * cells) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the initial state", bytes);
    for (int64_t s = 0; s < slabs->count && !status; s += together) {
        const int64_t count = slabs->count - s < together ? slabs->count - s : together;
        status = lbm_slabs_evaluate(slabs, s, count, values, error);
        status = status ? status : send_slabs(state, slabs, s, count, values, to, error);
        if (!status &&
            cudaStreamSynchronize(state->base.queue->stream) != cudaSuccess) { /* frees `values` */
            status =
                sel_cuda_check(cudaGetLastError(), "the initial state", __FILE__, __LINE__, error);
        }
    }
    free(values);
    return status;
}

sel_status cuda_set_initial(lbm_cuda *state, sel_error *error) {
    lbm_slabs slabs;
    sel_total deviation = {0};
    sel_status status = lbm_slabs_open(state->plan, &slabs, error);
    /* The second copy of the populations has room for the given fields in f64. */
    double *given = !status && lbm_slabs_given(&slabs) ? state->f[1] : NULL;
    if (given) {
        status = send_initial(state, &slabs, given, error);
    }
    lbm_slabs_close(&slabs);
    if (!status) {
        CUDA_TRY(lbm_gpu_start(cuda_view(state), given, state->f[0], state->base.queue->stream));
        status = cuda_sum_now(&state->base, &deviation, error);
        state->first_mass = lbm_cuda_mass(state, &deviation);
    }
    return status;
}
