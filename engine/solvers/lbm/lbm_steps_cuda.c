/* lbm_steps_cuda.c -- the steps of a flow on the device, slab by slab: which cells are at
 * boundaries, which are computed again, which thread blocks have free cells.
 */
#include <string.h>
#include "engine/solvers/lbm/lbm_state_cuda.h"
#include "engine/core/collectives.h"

/* Rows count from the halo on, in a block that has rows of planes. */
void *lbm_cuda_own(const lbm_cuda *state, void *array) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    char *at = array;
    at += l->base * sel_field_stride(&state->all.base.field[0]) * state->pattern.bytes;
    return l->halo ? at + (int64_t)l->low * l->pitch * state->pattern.bytes : at;
}

void *lbm_cuda_at(const lbm_cuda *state, int copy) {
    return lbm_cuda_own(state, state->all.f[copy]);
}

/* The row y + ny z of a row of the block. */
static int64_t row_of_grid(const lbm_cuda *state, const lbm_gpu_layout *l, uint32_t row) {
    const int64_t first = l->base * state->all.base.rows_per_plane;
    return first + (int64_t)(row / l->rows) * l->ny + l->low + row % l->rows;
}

/* The number of thread blocks for a step in `rows` rows. */
static uint32_t blocks_for(const lbm_gpu_layout *layout, int64_t rows) {
    const int64_t of_rows = (rows + layout->block_rows - 1) / layout->block_rows;
    return (uint32_t)(of_rows * layout->blocks_per_row);
}

/* The step from `step` to the next in a slab of the grid. */
lbm_gpu_step lbm_cuda_step(const lbm_cuda *state, int64_t step, const cuda_slab *slab) {
    const sel_state *base = &state->all.base;
    const sel_patch *own = &base->own;
    const bool cut = base->ranks->count > 1;
    const int number = slab->number;
    lbm_gpu_step one = state->pattern;
    lbm_gpu_layout *layout = &one.layout;
    lbm_gpu_boundary *boundary = &one.boundary;
    const sel_decomposition *d = &base->decomposition;
    const int slow = d->slow;
    const uint32_t end = (uint32_t)(own->hi[slow] - layout->base);
    layout->first = (uint32_t)(own->lo[slow] - layout->base);
    layout->last = end - 1;
    layout->below = end - !cut;
    layout->above = cut ? end + 1 : 0;
    const int64_t first = slab->planes.lo[slow], last = slab->planes.hi[slow];
    const int64_t rows = sel_patch_height(d, &slab->planes);
    layout->first_row = (uint32_t)((first - layout->base) * rows);
    layout->end_row = (uint32_t)((last - layout->base) * rows);
    if (layout->halo) { /* the rows beside those of the slab stand in front of them like a halo */
        layout->rows = (uint32_t)rows;
        layout->low = (uint32_t)slab->planes.lo[1];
        layout->halo += (uint32_t)(slab->planes.lo[1] - own->lo[1]);
    }
    one.block_count = blocks_for(layout, layout->end_row - layout->first_row);
    if (boundary->free_blocks) {
        boundary->free_blocks += state->free[number][0];
        one.block_count = state->free[number][1] - state->free[number][0];
    }
    boundary->again += state->again[number][0];
    boundary->again_count = state->again[number][1] - state->again[number][0];
    one.clock = cuda_queue_clock(state->all.base.queue, step);
    const int from = sel_copy_at(base, &base->field[0], step);
    one.from = lbm_cuda_at(state, from);
    one.to = lbm_cuda_at(state, !from);
    one.acceleration = one.acceleration_before = state->acceleration;
    if (step == state->accelerated_at) {
        one.acceleration_before += 3;
    }
    return one;
}

/* The boundary cells of this rank. */
static int64_t lbm_steps_own_cells(const lbm_cuda *state) {
    const int64_t *row_cells = state->all.plan->boundary.row_cells;
    const sel_rows own = sel_own_rows(&state->all.base);
    int64_t count = 0;
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        count += row_cells[row + 1] - row_cells[row];
    }
    return count;
}

/* Of the planes of this rank. */
static int64_t word_count(const lbm_cuda *state) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    const int64_t stride = state->pattern.dims == 3 ? l->slice : l->pitch;
    const sel_patch *own = &state->all.base.own;
    const int64_t places = (own->hi[state->pattern.dims - 1] - l->base) * stride;
    return lbm_steps_own_cells(state) > 0 ? (places + CUDA_WARP - 1) / CUDA_WARP : 0;
}

/* Whether a closed cell is computed again, whatever is stored: where two moving walls share links,
 * or walls are straight, which would cost the first kernel registers. */
static bool lbm_steps_cuda_is_again(const lbm_boundary_cell *cell) {
    return cell->both_move || cell->straight;
}

/* How many closed cells of this rank are. */
static int64_t lbm_steps_closed_again(const lbm_cuda *state) {
    const lbm_boundary *b = &state->all.plan->boundary;
    const sel_rows own = sel_own_rows(&state->all.base);
    int64_t count = 0;
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
            const lbm_boundary_cell *cell = &b->cells[c];
            count += lbm_steps_cuda_is_again(cell) && cell->opening == LBM_CLOSED;
        }
    }
    return count;
}

/* The most cells of a grid with boundaries and stored moments that are all computed as boundary
 * cells are, each from the moments around it: in one kernel, where two take longer to begin than to
 * run. Whether this is so depends on the whole grid: so bits do not depend on ranks. */
enum { GATHERED = 1 << 15 };

bool lbm_cuda_gathers(const lbm_cuda *state) {
    const sel_domain *domain = state->all.plan->base.domain;
    const sel_grid *grid = &domain->grid;
    bool bounded = domain->free_cells < sel_grid_cells(grid);
    for (int axis = 0; axis < grid->dims; axis++) {
        bounded = bounded || !sel_axis_periodic(grid, axis);
    }
    return state->all.plan->moments && bounded && sel_grid_cells(grid) <= GATHERED;
}

/* At most so many cells of this rank are computed as boundary cells are. */
static int64_t most_listed(const lbm_cuda *state) {
    const int64_t all = sel_own_rows(&state->all.base).count * state->pattern.layout.nx;
    return lbm_cuda_gathers(state) ? all : lbm_steps_own_cells(state);
}

/* How many cells are computed again at most: all boundary cells where moments are stored, or where
 * values are evaluated ahead, since these are few then (inputs_count_copies of lbm_inputs_cuda.c).
 */
static int64_t most_again(const lbm_cuda *state) {
    const bool all = state->all.plan->moments || state->all.copies > 1;
    return all ? most_listed(state) : state->all.openings + lbm_steps_closed_again(state);
}

/* The lists in the form of the device. */
typedef struct lists {
    lbm_boundary_cell *cells;
    uint32_t *row_cells, *words, *before, *again, *room;
    lbm_gpu_block *free_blocks;
    uint8_t *link_region;
    lbm_cut *link_cut;
} lists;

/* Adds cell number c. */
static void fill_cell(lbm_cuda *state, lists *l, uint32_t c) {
    lbm_boundary_cell *cell = &l->cells[c];
    const uint32_t word = cell->index / CUDA_WARP;
    cell->again = state->all.plan->moments || cell->opening != LBM_CLOSED ||
                  lbm_steps_cuda_is_again(cell) || (cell->moves && state->all.copies > 1);
    l->before[word] = l->words[word] ? l->before[word] : c;
    l->words[word] |= 1u << cell->index % CUDA_WARP;
    if (cell->again) {
        l->again[state->again_count++] = c;
    }
}

uint32_t lbm_cuda_index(const lbm_cuda *state, uint32_t x, uint32_t row) {
    const lbm_gpu_layout *l = &state->pattern.layout;
    const uint32_t here = row - (uint32_t)(l->base * state->all.base.rows_per_plane);
    return here / l->ny * l->slice + (here % l->ny - l->low + l->halo) * l->pitch + x;
}

/* Adds the free cells of a row that are no boundary cells, behind these. */
static void list_inner(lbm_cuda *state, lists *l, uint32_t row, uint32_t *count) {
    const uint8_t *solid =
        state->all.plan->base.domain->cell + (int64_t)row * state->pattern.layout.nx;
    for (uint32_t x = 0; x < state->pattern.layout.nx; x++) {
        const uint32_t index = lbm_cuda_index(state, x, row);
        const bool listed = l->words && (l->words[index / CUDA_WARP] >> index % CUDA_WARP & 1u);
        if (!solid[x] && !listed) {
            l->cells[*count] = (lbm_boundary_cell){
                .x = x, .row = row, .index = index, .opening_index = -1, .again = true};
            l->again[state->again_count++] = (*count)++;
        }
    }
}

static void fill_lists(lbm_cuda *state, lists *l) {
    const lbm_boundary *b = &state->all.plan->boundary;
    const sel_rows own = sel_own_rows(&state->all.base);
    state->again_count = 0;
    for (uint32_t c = 0; c < b->cell_count; c++) {
        lbm_boundary_cell *cell = &l->cells[c];
        *cell = b->cells[c];
        cell->index = lbm_cuda_index(state, cell->x, cell->row);
        fill_cell(state, l, c);
    }
    state->listed = (uint32_t)b->cell_count;
    for (int64_t k = 0; k < own.count && lbm_cuda_gathers(state); k++) {
        list_inner(state, l, (uint32_t)sel_row_of(&own, k), &state->listed);
    }
    if (b->links.count) {
        memcpy(l->link_region, b->link_region, (size_t)b->links.count);
    }
    if (l->link_cut) {
        memcpy(l->link_cut, b->link_cut, (size_t)b->links.count * sizeof *l->link_cut);
    }
    for (int64_t k = 0; k < own.count; k++) {
        l->row_cells[k] = (uint32_t)b->row_cells[sel_row_of(&own, k)];
    }
    l->row_cells[own.count] = (uint32_t)b->cell_count;
}

/* What decides upon the way of a cell through its closures. */
static int lbm_steps_cuda_kind_of(const lbm_boundary_cell *cell) {
    const int8_t *n = cell->normal;
    const int opening = 2 * cell->opening + cell->cut;
    return ((opening * 3 + n[0] + 1) * 3 + n[1] + 1) * 3 + n[2] + 1;
}

/* Sorts cells by kind, so that the threads of a warp go one way; else by their numbers. */
static void sort_again(const lbm_boundary_cell *cells, uint32_t *again, uint32_t *room,
                       uint32_t count) {
    enum { KINDS = 27 * 2 * LBM_OPENINGS };
    uint32_t first[KINDS + 1] = {0};
    for (uint32_t k = 0; k < count; k++) {
        first[lbm_steps_cuda_kind_of(&cells[again[k]]) + 1]++;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        first[kind + 1] += first[kind];
    }
    memcpy(room, again, count * sizeof *room);
    for (uint32_t k = 0; k < count; k++) {
        again[first[lbm_steps_cuda_kind_of(&cells[room[k]])]++] = room[k];
    }
}

/* Shares out the cells that are computed again, and sorts each share. */
static void find_again(lbm_cuda *state, const lists *l) {
    const sel_state *base = &state->all.base;
    const uint32_t rows = (uint32_t)base->rows_per_plane;
    const sel_decomposition *d = &base->decomposition;
    cuda_slab slabs[CUDA_SLABS];
    const int count = cuda_slabs_of(base, LBM_CUDA_RIM, slabs);
    uint32_t shared = 0;
    for (int k = 0; k < count; k++) {
        const sel_patch *p = &slabs[k].planes;
        const int64_t first = p->lo[d->slow], end = p->hi[d->slow], low = sel_patch_low(d, p);
        const int64_t high = low + sel_patch_height(d, p);
        state->again[k][0] = shared;
        for (uint32_t i = 0; i < state->again_count; i++) {
            const uint32_t row = l->cells[l->again[i]].row, plane = row / rows, y = row % rows;
            if (plane >= first && plane < end && y >= low && y < high) {
                l->room[shared++] = l->again[i];
            }
        }
        state->again[k][1] = shared;
    }
    memcpy(l->again, l->room, shared * sizeof *l->again);
    for (int k = 0; k < count; k++) {
        const uint32_t *ends = state->again[k];
        sort_again(l->cells, l->again + ends[0], l->room, ends[1] - ends[0]);
    }
}

/* The most tiles of lbm_gpu_tiles in planes. */
static int64_t most_tiles(const lbm_cuda *state, const sel_patch *planes) {
    const bool deep = state->pattern.dims == 3;
    const int64_t down = deep ? sel_patch_cells(planes, 1) / LBM_TILE_ROWS + 1 : 1;
    const int64_t along = sel_patch_cells(planes, deep ? 2 : 1) / LBM_TILE_PLANES + 1;
    const int64_t rest = CUDA_WARP; /* to whole thread blocks */
    return (state->pattern.layout.nx / LBM_TILE_COLUMNS + 1) * down * along + rest;
}

/* The most thread blocks with free cells, of all slabs. 0: the others are not left out, since
 * less than an eighth of the cells is solid. */
static int64_t most_free_blocks(const lbm_cuda *state) {
    const sel_state *base = &state->all.base;
    const sel_domain *domain = base->plan->domain;
    const bool leaves_out = domain->free_cells < sel_grid_cells(&domain->grid) / 8 * 7;
    cuda_slab slabs[CUDA_SLABS];
    int64_t count = 0;
    for (int k = 0; leaves_out && k < cuda_slabs_of(base, LBM_CUDA_RIM, slabs); k++) {
        const sel_rows rows = sel_patch_rows(&domain->grid, &slabs[k].planes);
        count += state->all.plan->moments ? most_tiles(state, &slabs[k].planes)
                                          : blocks_for(&state->pattern.layout, rows.count);
    }
    return count;
}

static uint32_t free_warps(const lbm_cuda *state, const lbm_gpu_layout *l, uint32_t block) {
    const uint32_t row = l->first_row + block / l->blocks_per_row * l->block_rows;
    const uint32_t first = block % l->blocks_per_row * l->block_width;
    uint32_t warps = 0;
    for (uint32_t y = row; y < row + l->block_rows && y < l->end_row; y++) {
        const uint8_t *cell = state->all.plan->base.domain->cell + row_of_grid(state, l, y) * l->nx;
        for (uint32_t x = first; x < first + l->block_width && x < l->nx; x++) {
            const uint32_t thread = (y - row) * l->block_width + x - first;
            warps |= (cell[x] ? 0u : 1u) << thread / CUDA_WARP;
        }
    }
    return warps;
}

/* Whether a tile has free cells; `number` counts strips. */
static bool tile_is_free(const lbm_cuda *state, const lbm_gpu_layout *l, const lbm_gpu_tiles *t,
                         uint32_t number) {
    const bool deep = state->pattern.dims == 3;
    const uint32_t rest = number / t->across, height = deep ? l->rows : 1;
    const uint32_t x0 = number % t->across * t->width, x1 = x0 + t->width;
    const uint32_t y0 = rest % t->down * t->rows, y1 = y0 + t->rows;
    const uint32_t first = l->first_row / height + rest / t->down * t->planes;
    for (uint32_t plane = first; plane < first + t->planes && plane < l->end_row / height;
         plane++) {
        for (uint32_t y = y0; y < y1 && y < height; y++) {
            const int64_t row = row_of_grid(state, l, plane * height + y);
            const uint8_t *cell = state->all.plan->base.domain->cell + row * l->nx;
            for (uint32_t x = x0; x < x1 && x < l->nx; x++) {
                if (!cell[x]) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Lists the tiles of a slab with free cells, in whole thread blocks, from blocks[count] on; returns
 * the new count. */
static uint32_t list_free_tiles(const lbm_cuda *state, const lbm_gpu_step *one,
                                lbm_gpu_block *blocks, uint32_t count) {
    const uint32_t first = count;
    lbm_gpu_tiles tiles = {0};
    state->tiles(one, &tiles);
    for (uint32_t number = 0; number < tiles.blocks * tiles.strips; number++) {
        blocks[count] = (lbm_gpu_block){number, ~0u};
        count += tile_is_free(state, &one->layout, &tiles, number);
    }
    while ((count - first) % tiles.strips) {
        blocks[count++] = (lbm_gpu_block){(uint32_t)LBM_NO_TILE, 0};
    }
    return count;
}

static uint32_t list_free_blocks(const lbm_cuda *state, const lbm_gpu_layout *l,
                                 lbm_gpu_block *blocks, uint32_t count) {
    const uint32_t all = blocks_for(l, l->end_row - l->first_row);
    for (uint32_t block = 0; block < all; block++) {
        blocks[count] = (lbm_gpu_block){block, free_warps(state, l, block)};
        count += blocks[count].warps != 0;
    }
    return count;
}

static void find_free_blocks(lbm_cuda *state, lbm_gpu_block *blocks) {
    cuda_slab slabs[CUDA_SLABS];
    uint32_t count = 0;
    for (int k = 0; k < cuda_slabs_of(&state->all.base, LBM_CUDA_RIM, slabs); k++) {
        const lbm_gpu_step one = lbm_cuda_step(state, 0, &slabs[k]);
        state->free[k][0] = count;
        count = state->all.plan->moments ? list_free_tiles(state, &one, blocks, count)
                                         : list_free_blocks(state, &one.layout, blocks, count);
        state->free[k][1] = count;
    }
}

/* Numbers of link_cut. */
static int64_t cut_count(const lbm_cuda *state) {
    return state->all.plan->boundary.interpolates ? state->all.sites.count : 0;
}

void lbm_cuda_list_boundary(lbm_cuda *state) {
    lbm_gpu_boundary *to = &state->pattern.boundary;
    sel_arrays *arrays = &state->all.base.arrays;
    SEL_ADD(arrays, to, cells, most_listed(state), 0);
    SEL_ADD(arrays, to, row_cells, sel_own_rows(&state->all.base).count + 1, 0);
    SEL_ADD(arrays, to, words, word_count(state), 0);
    SEL_ADD(arrays, to, before, word_count(state), 0);
    SEL_ADD(arrays, to, again, most_again(state), 0);
    SEL_ADD(arrays, to, free_blocks, most_free_blocks(state), 0);
    SEL_ADD(arrays, to, link_region, state->all.sites.count, 0);
    SEL_ADD(arrays, to, link_cut, cut_count(state), 0);
}

static sel_status lbm_steps_cuda_send(lbm_cuda *state, const lists *l, sel_error *error) {
    lbm_gpu_boundary *to = &state->pattern.boundary;
    const struct {
        const void *to, *from;
        uint64_t bytes;
    } parts[] = {{to->cells, l->cells, (uint64_t)state->listed * sizeof *l->cells},
                 {to->row_cells, l->row_cells,
                  ((uint64_t)sel_own_rows(&state->all.base).count + 1) * sizeof *l->row_cells},
                 {to->words, l->words, (uint64_t)word_count(state) * sizeof *l->words},
                 {to->before, l->before, (uint64_t)word_count(state) * sizeof *l->before},
                 {to->again, l->again, state->again_count * sizeof *l->again},
                 {to->free_blocks, l->free_blocks,
                  (uint64_t)most_free_blocks(state) * sizeof(lbm_gpu_block)},
                 {to->link_region, l->link_region, (uint64_t)to->link_count},
                 {to->link_cut, l->link_cut, (uint64_t)cut_count(state) * sizeof *l->link_cut}};
    sel_status status = SEL_OK;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && !status; k++) {
        status = cuda_send(parts[k].to, parts[k].from, parts[k].bytes, error);
    }
    return status;
}

sel_status lbm_cuda_send_boundary(lbm_cuda *state, sel_error *error) {
    sel_arrays arrays = {.memory = NULL};
    lists l;
    state->pattern.boundary.cell_count = (uint32_t)lbm_steps_own_cells(state);
    state->pattern.boundary.link_count = state->all.sites.count;
    state->pattern.boundary.curvature = state->all.plan->boundary.curvature;
    SEL_ADD(&arrays, &l, cells, most_listed(state), 0);
    SEL_ADD(&arrays, &l, row_cells, sel_own_rows(&state->all.base).count + 1, 0);
    SEL_ADD(&arrays, &l, link_region, state->all.sites.count, 0);
    SEL_ADD(&arrays, &l, link_cut, cut_count(state), 0);
    SEL_ADD(&arrays, &l, words, word_count(state), 0);
    SEL_ADD(&arrays, &l, before, word_count(state), 0);
    SEL_ADD(&arrays, &l, again, most_again(state), 0);
    SEL_ADD(&arrays, &l, room, most_again(state), 0);
    SEL_ADD(&arrays, &l, free_blocks, most_free_blocks(state), 0);
    sel_status status = sel_arrays_allocate(&arrays, 1, "the list of boundary cells", error);
    if (!status) {
        fill_lists(state, &l);
        find_again(state, &l);
        if (l.free_blocks) {
            find_free_blocks(state, l.free_blocks);
        }
        status = lbm_steps_cuda_send(state, &l, error);
    }
    sel_arrays_free(&arrays);
    return status;
}
