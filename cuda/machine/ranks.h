/* ranks.h -- the part of a state that one of several ranks has on its device: halos, sums, lists.
 *
 * Each rank drives a device. Halos travel between devices by NCCL, on the stream of the steps, so
 * that graphs hold them. Where ranks share a device, or NCCL is missing, they are staged: copied
 * to the host, sent by MPI, and copied to the device, while the host waits.
 */
#ifndef CUDA_RANKS_H
#define CUDA_RANKS_H

#include "cuda/machine/look.h"
#include "engine/machine/share.h"

/* What a rank sends to the ranks below and above it, and where it gets the same of theirs: `count`
 * pieces of `bytes` at each of these places, `apart` from each other. */
typedef struct cuda_sides {
    void *low, *high, *from_low, *from_high;
    size_t bytes, apart;
    int64_t count;
} cuda_sides;

typedef struct cuda_link cuda_link;

/* Joins the ranks of a state whose arrays are allocated; all call it. Of one rank NULL. */
sel_status cuda_link_open(const sel_state *state, cuda_link **link, sel_error *error);
void cuda_link_close(cuda_link *link);

/* Whether the host takes part in exchanges: then no graph can hold them. */
bool cuda_link_staged(const cuda_link *link);

/* Enqueues exchanges with the ranks beside. */
sel_status cuda_exchange_sides(const sel_state *state, const cuda_sides *sides, int count,
                               sel_error *error);
/* The same of one array that is laid out as state->turns. */
sel_status cuda_exchange_in(const sel_state *state, void *array, sel_error *error);

/* All rows of a box (NULL: of the grid), with state->queue->rows as partials. */
cuda_rows cuda_rows_of(const sel_state *state, const sel_box *box);

/* sel_state_share_list and sel_state_share_items, of a list on the device. */
sel_status cuda_share_list(const sel_state *state, void *list, int64_t count, size_t size,
                           int64_t (*first)(const sel_state *state, int64_t row), sel_error *error);
sel_status cuda_share_items(const sel_state *state, void *list, int64_t count, size_t size,
                            int64_t (*row)(const sel_state *state, int64_t k), sel_error *error);

/* The cells of a SEL_READ that this rank has: of a box the entries first <= k < end; of a list
 * those in *list (from malloc), *list NULL: all. */
sel_status cuda_own_cells(const sel_state *state, const sel_request *request, int64_t *first,
                          int64_t *end, int64_t **list, sel_error *error);

#endif
