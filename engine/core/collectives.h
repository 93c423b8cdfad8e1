/* collectives.h -- reductions and exchanges over the ranks of a state: sums over rows, lists,
 * failures.
 *
 * A rank computes the rows of its own planes. A sum has the same bits for any number of ranks: all
 * add along one tree over the rows, each rank the parts that lie in its rows; the rest is added by
 * all.
 */
#ifndef SEL_COLLECTIVES_H
#define SEL_COLLECTIVES_H

#include "engine/core/state.h"

/* The rows of this rank. */
static inline sel_rows sel_own_rows(const sel_state *state) {
    return sel_patch_rows(&state->plan->domain->grid, &state->own);
}
bool sel_state_has(const sel_state *state, int64_t row);
int sel_state_rank_of(const sel_state *state, int64_t row);

/* The rows of all planes in which this rank has cells. */
static inline sel_rows_range sel_own_planes(const sel_state *state) {
    return sel_patch_planes(&state->plan->domain->grid, &state->own);
}

/* The cost of this rank, with `memory` bytes. */
sel_share sel_state_share(const sel_state *state, uint64_t memory);

/* Whether `bytes` stay in the caches, which the ranks of a machine share. */
bool sel_state_stays(const sel_state *state, uint64_t bytes);

/* All ranks learn whether one of them has failed: sel_ranks_agree. */
sel_status sel_state_agree(const sel_state *state, sel_status status, sel_error *error);

/* The partials of a row that this rank has. */
static inline double *sel_state_partials(const sel_state *state, int64_t row) {
    const sel_rows own = sel_own_rows(state);
    return state->partials + sel_row_number(&own, row) * SEL_PARTIALS;
}

/* Adds up `columns` columns of n numbers by the tree of sel_tree_sum. Rank r brings numbers
 * start[r] <= i < start[r + 1], at own[(i - start[r]) stride + c]. All ranks get the sums. */
void sel_join_sums(const sel_ranks *ranks, const int64_t *start, double *own, int64_t stride,
                   int columns, double *sums);

/* Sums of `columns` columns over all rows of the grid: this rank brings its k-th own row at own[k
 * stride]. The second function sums state->partials from column `first` on, the third over the rows
 * of a box. All overwrite what they add up. */
void sel_state_sum_rows(const sel_state *state, double *own, int64_t stride, int columns,
                        double *sums);
void sel_state_sums(const sel_state *state, int first, int columns, double *sums);
void sel_state_sums_of_box(const sel_state *state, const sel_box *box, int columns, double *sums);

/* All-gather of items. Each rank has item k if its row row(state, k) is this rank's; afterwards all
 * have all. */
void sel_state_share_items(const sel_state *state, void *items, size_t size, int64_t count,
                           int64_t (*row)(const sel_state *state, int64_t k));

/* The row of the grid that is number j of a box. */
int64_t sel_row_of_box(const sel_state *state, const sel_box *box, int64_t j);

/* The part of a box that lies in a rank's patch; and the numbers of its rows among the rows of the
 * box. */
sel_box sel_state_part(const sel_state *state, const sel_box *box, int rank);
sel_rows sel_state_part_rows(const sel_state *state, const sel_box *box, int rank);

/* The same of ranks that have whole planes: start[r] <= j < start[r + 1]. */
void sel_state_share_box(const sel_state *state, const sel_box *box, int64_t *start);

/* Moves rows of a box, of `bytes` bytes each, from the ranks that have them to those that are to
 * have them: rank r gets rows start[r] <= j < start[r + 1], from malloc. `own`: the rows of this
 * rank, from malloc; they are freed. */
void *sel_state_move_rows(const sel_state *state, const sel_box *box, const int64_t *start,
                          size_t bytes, void *own);

/* Bytes of a cell in the answer to a SEL_READ. */
size_t sel_request_cell_bytes(const sel_request *request);

/* Gathers on rank 0, in request->to, what each rank has found of its own cells, in the order asked
 * for. When a box is read, rank 0's own part may stand there already. */
void sel_state_gather_read(const sel_state *state, const sel_request *request, void *found);

/* The largest of the ranks' values; their sum, of whole numbers. */
double sel_state_largest(const sel_state *state, double value);
int64_t sel_state_total(const sel_state *state, int64_t value);

#endif
