/* collectives.h -- what several ranks find on their devices, brought together: sums, lists, cells
 * that are read.
 */
#ifndef CUDA_SHARE_H
#define CUDA_SHARE_H

#include "cuda/query.h"
#include "engine/core/collectives.h"

/* All rows of a box (NULL: of the grid), with state->queue->rows as partials. */
cuda_rows cuda_rows_of(const sel_state *state, const sel_box *box);

/* sel_state_share_items, of a list on the device. */
sel_status cuda_share_items(const sel_state *state, void *list, int64_t count, size_t size,
                            int64_t (*row)(const sel_state *state, int64_t k), sel_error *error);

/* All cells of a box. */
cuda_cells cuda_cells_of(const sel_box *box);

/* The cells of a SEL_READ that this rank has: of the box *cells the entries first <= k < end; of a
 * list those in *list (from malloc), *list NULL: all. */
sel_status cuda_own_cells(const sel_state *state, const sel_request *request, cuda_cells *cells,
                          int64_t *first, int64_t *end, int64_t **list, sel_error *error);

#endif
