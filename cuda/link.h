/* link.h -- halos between the devices of several ranks.
 *
 * Each rank drives a device. Where devices reach each other's memory, as those of one machine that
 * NVLink joins do, halos are written there; else they travel by NCCL. Graphs hold both. Where ranks
 * share a device, or NCCL is missing, MPI sends them while the host waits: from device to device if
 * it can, else staged, through copies on the host.
 */
#ifndef CUDA_LINK_H
#define CUDA_LINK_H

#include <stdbool.h>
#include "cuda/query.h"

/* `count` pieces of `bytes` at one or two places, `apart` from each other, and a room for those of
 * each place. */
typedef struct cuda_part_of_sides {
    char *place[2], *room[2];
    size_t apart, bytes;
    int64_t count;
} cuda_part_of_sides;
enum { CUDA_PIECES = 16 };
typedef struct cuda_pieces {
    cuda_part_of_sides v[CUDA_PIECES];
    int count, sides;
    bool back; /* from the rooms */
    /* Exchanges before this one, on the device: those of odd numbers have rooms so much further on.
     * NULL: all have the same. */
    const int64_t *met;
    size_t further;
} cuda_pieces;

/* What two ranks beside each other count: own[side] is written by the rank at that side, and
 * its[side], in its memory (NULL: there is none), by this one. */
typedef struct cuda_meeting {
    int64_t *met, *own, *its[2];
} cuda_meeting;

#ifdef __cplusplus
extern "C" {
#endif
/* Moves them to the rooms, or back. */
cudaError_t cuda_move_pieces(const cuda_pieces *pieces, cudaStream_t stream);
/* Waits until the ranks beside this one have written what they send, and adds 1 to *met. */
cudaError_t cuda_meet(const cuda_meeting *meeting, cudaStream_t stream);
/* Some microseconds without work. */
cudaError_t cuda_pause(cudaStream_t stream);
#ifdef __cplusplus
}
#endif

#ifndef __CUDACC__
#include "cuda/temporal_blocking.h"
#include "engine/core/state.h"

typedef struct cuda_link cuda_link;

/* Bytes of room beside state->halo_bytes: a quarter of some aligns a side; and three counters. */
enum { CUDA_LINK_ALIGNED = 16, CUDA_LINK_MORE = 4 * CUDA_LINK_ALIGNED + 3 * sizeof(int64_t) };

/* Joins the ranks of a state whose arrays are allocated; all call it. Of one rank NULL. */
sel_status cuda_link_open(const sel_state *state, cuda_link **link, sel_error *error);
void cuda_link_close(cuda_link *link);

/* Whether the host takes part in exchanges: then no graph can hold them. */
bool cuda_link_staged(const cuda_link *link);

/* Whether halos go straight to the memory of the ranks beside. */
bool cuda_link_direct(const cuda_link *link);

/* Streams for exchanges, and what waits for them, beside the steps. Without a link NULL. */
const march_device *cuda_link_beside(const cuda_link *link);

/* Enqueues the exchange of halos with the neighbours along an axis; one at a time, since they share
 * a room. When all has been gathered in the stream beside the steps, the
 * event `fork` there is recorded. */
sel_status cuda_exchange_halos(const sel_state *state, int axis, const sel_halo *sides, int count,
                               cudaStream_t stream, sel_error *error);
/* Enqueues messages from and to the device, which ranks list in the same order. */
sel_status cuda_link_transfer(const sel_state *state, const sel_message *messages, int count,
                              cudaStream_t stream, sel_error *error);
/* Enqueues that a number on the device becomes the least of all ranks'. */
sel_status cuda_link_least(const sel_state *state, int64_t *number, cudaStream_t stream,
                           sel_error *error);

#endif
#endif
