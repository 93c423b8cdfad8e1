/* queue.h -- the work of a device that the host does not wait for: chunks of steps, and requests.
 *
 * Steps and kernels run on one stream; fields for outputs are copied to pinned memory on another,
 * concurrently. The steps of a call of advance() are a chunk, of which two may be queued: the host
 * continues, and waits only for the chunk before the last, so that the device always has work.
 */
#ifndef CUDA_QUEUE_H
#define CUDA_QUEUE_H

#include <stdbool.h>
#include "cuda/device.h"
#include "cuda/link.h"
#include "cuda/temporal_blocking.h"
#include "engine/core/state.h"

enum {
    CUDA_STAGES = 2, /* buffers for pieces of fields on their way to the host */
    CUDA_CHUNKS = 2  /* calls of advance whose steps may be queued */
};

/* Bytes that kernels and requests allocate at first use: code, lists of cells, local memory of all
 * threads that fill a large GPU (250 bytes for each of 270,000). */
enum { CUDA_QUEUE_LATER = 128 << 20 };

/* A request that has been started and not finished; a later one that fits reuses its buffers. */
typedef struct cuda_slot {
    struct cuda_slot *next;
    const sel_request *request; /* NULL: free */
    void *host;                 /* pinned: the answer */
    void *list;                 /* on the device: the request's data, and scratch */
    uint64_t host_bytes, list_bytes;
    cudaEvent_t done;
    int64_t step;        /* of the state that it asks for */
    int64_t count;       /* of parts of the answer, solver-specific */
    bool had_before;     /* MONITOR: there was an earlier one */
    int64_t since_steps; /* BALANCE: steps since the last */
} cuda_slot;

typedef struct cuda_queue {
    cudaStream_t stream; /* steps and kernels */
    cudaStream_t copies; /* of fields to the host, beside the steps */
    march_device march;  /* where a pass of several steps runs: this stream and one beside it */
    void *rows;          /* partial sums, a cuda_sums for each row: of cuda_rows_of */
    int64_t row_start[SEL_MOST_RANKS + 1]; /* of cuda_rows_of */
    cuda_link *link;                       /* to other ranks; NULL: there are none */
    int64_t *halts; /* the step in which a term of this rank's cells failed (cuda_is_halted), of
                       which the others hear before the step after it; NULL: none can */
    uint8_t *stages[CUDA_STAGES]; /* fields pass through them, so that frames need no device memory
                                     beyond what was allocated at the start; */
    int64_t stage_bytes;          /* of each */
    cudaEvent_t filled[CUDA_STAGES], sent[CUDA_STAGES];
    int64_t pieces; /* that have passed through the stages */

    cudaEvent_t begun[CUDA_CHUNKS], ended[CUDA_CHUNKS];
    int64_t chunk_steps[CUDA_CHUNKS]; /* 0: counted already */
    int64_t chunks, steps_done;
    double seconds_done; /* that steps_done took */

    int64_t pass;          /* steps that the solver's step() makes now; odd */
    int64_t graph_steps;   /* a whole, even number of passes, at most CUDA_STEPS */
    cudaGraphExec_t graph; /* of graph_steps steps */
    bool timeless;         /* no kernel of a step reads the clock: graphs leave it as it is */
    int64_t first, until;  /* the steps that are enqueued together */
    int64_t *clock;        /* cuda_clock.base, */
    int64_t base;          /* whose value it has when all that is queued is done */
    /* The first failure that kernels report, as a number of which the earliest is the smallest; and
     * its value at the end of the last chunk that is done, in pinned memory. */
    uint64_t *alarm, *seen;

    cuda_slot *slots;
} cuda_queue;

/* No failure: the initial value of *alarm and *seen. */
#define CUDA_NO_ALARM UINT64_MAX

/* Two streams, and what they wait for each other by; `first`: their work goes before that of
 * others. */
sel_status cuda_march_open(march_device *on, int device, bool first, sel_error *error);
void cuda_march_close(march_device *on);

/* Streams and events. To be closed also after an error; closing waits for what is under way. */
sel_status cuda_queue_open(cuda_queue *queue, int device, sel_error *error);
void cuda_queue_close(cuda_queue *queue);

/* Lists its arrays on the device, that of one of several ranks; sets their initial values. */
void cuda_queue_list(cuda_queue *queue, sel_arrays *arrays, int ranks);
sel_status cuda_queue_start(cuda_queue *queue, sel_error *error);

/* Before and after the steps of a call of advance; `begin` waits for the chunk before the last. */
sel_status cuda_queue_begin(cuda_queue *queue, sel_error *error);
sel_status cuda_queue_end(cuda_queue *queue, int64_t steps, sel_error *error);
sel_status cuda_queue_wait(cuda_queue *queue, sel_error *error);

/* The clock that shows kernels enqueued now the number `step`. */
cuda_clock cuda_queue_clock(const cuda_queue *queue, int64_t step);

/* Records, at the first call, what enqueue(state, step, error) puts on the stream for graph_steps
 * steps from the present one on, `pass` by each call, launches it as one graph, and advances the
 * clock. */
typedef sel_status cuda_enqueue(sel_state *state, int64_t step, sel_error *error);
sel_status cuda_queue_launch(cuda_queue *queue, cuda_enqueue *enqueue, sel_state *state,
                             sel_error *error);

/* ---- requests ---- */

/* A slot with room for the answer, and for a list on the device. */
sel_status cuda_slot_open(cuda_queue *queue, const sel_request *request, uint64_t bytes,
                          uint64_t list_bytes, cuda_slot **opened, sel_error *error);
/* After a start: notes the step of the state, or frees the slot of a request that could not be
 * started, if it has one. */
void cuda_slot_started(cuda_queue *queue, const sel_request *request, int64_t step,
                       sel_status status);
/* Waits for the answer to a request that was started, copies out the field of a SEL_READ, and frees
 * the slot. */
sel_status cuda_slot_answer(const sel_state *state, const sel_request *request, cuda_slot **slot,
                            sel_error *error);

/* Copies part of the answer: `bytes` that kernels have written at `from`. */
sel_status cuda_slot_fetch(cuda_queue *queue, cuda_slot *slot, uint64_t offset, const void *from,
                           uint64_t bytes, sel_error *error);

/* A whole SEL_READ, of the cells that this rank has: its field is copied to the slot in pieces
 * while the next steps are computed. */
sel_status cuda_slot_read(const sel_state *state, const sel_request *request, cuda_read *read,
                          const void *view, sel_error *error);

#endif
