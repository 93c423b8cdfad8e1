/* backend.h -- a solver on the device: the asynchronous work of its backend, what it declares, and
 * the backend made from it.
 *
 * Steps and kernels run on one stream; fields for outputs are copied to pinned memory on another,
 * concurrently. The steps of a call of advance() are a chunk, of which two may be queued: the host
 * continues, and waits only for the chunk before the last, so that the device always has work.
 */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include <stdbool.h>
#include "cuda/machine/conduction.h"
#include "cuda/machine/device.h"
#include "cuda/machine/link.h"
#include "cuda/machine/march.h"
#include "cuda/machine/share.h"
#include "engine/machine/state.h"

/* ---- the queue ---- */

enum {
    CUDA_STAGES = 2, /* buffers for pieces of fields on their way to the host */
    CUDA_CHUNKS = 2  /* calls of advance whose steps may be queued */
};

/* Bytes that kernels and requests allocate at first use: code, lists of cells, local memory of all
 * threads that fill a large GPU (250 bytes for each of 270,000). */
enum { CUDA_QUEUE_LATER = 128 << 20 };

/* Bytes of a piece. Fields pass through two of them, so that frames need no device memory beyond
 * what was allocated at the start. */
static const uint64_t cuda_stage_bytes = 64 << 20;

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
    void *rows;          /* a cuda_sums for each row of cells: partial sums */
    int64_t row_start[SEL_MOST_RANKS + 1]; /* of cuda_rows_of */
    cuda_link *link;                       /* to other ranks; NULL: there are none */
    int64_t *halts; /* the step in which a term of this rank's cells failed (cuda_is_halted), of
                       which the others hear before the step after it; NULL: none can */
    cuda_body body; /* what kernels see of a body that conducts */
    uint8_t *stages[CUDA_STAGES];
    cudaEvent_t filled[CUDA_STAGES], sent[CUDA_STAGES];
    int64_t pieces; /* that have passed through the stages */

    cudaEvent_t begun[CUDA_CHUNKS], ended[CUDA_CHUNKS];
    int64_t chunk_steps[CUDA_CHUNKS]; /* 0: counted already */
    int64_t chunks, steps_done;
    double seconds_done; /* that steps_done took */

    int64_t pass;          /* steps that the solver's step() makes now; odd */
    int64_t graph_steps;   /* a whole, even number of passes, at most CUDA_STEPS */
    cudaGraphExec_t graph; /* of so many steps */
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

/* Lists its arrays on the device; sets their initial values. */
void cuda_queue_list(cuda_queue *queue, sel_arrays *arrays);
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

/* ---- sending data while steps run ---- */

/* Pinned buffers that take turns: one is filled while others are being copied. */
enum { CUDA_FEED = 16 };
typedef struct cuda_feed {
    void *device; /* destination of cuda_feed_send */
    void *pinned[CUDA_FEED];
    cudaEvent_t sent[CUDA_FEED];
    int turns;
    int64_t count;
    uint64_t bytes;
} cuda_feed;

/* `turns` buffers of `bytes` each; device: NULL if the caller copies them elsewhere. */
sel_status cuda_feed_open(cuda_feed *feed, void *device, uint64_t bytes, int turns,
                          sel_error *error);
void cuda_feed_close(cuda_feed *feed);
/* The buffer to fill; waits only until its last content, `turns` sends ago, has been copied. */
sel_status cuda_feed_next(cuda_feed *feed, void **pinned, sel_error *error);
/* Copies of the buffer have been enqueued on the stream; moves on to the next one. */
sel_status cuda_feed_sent(cuda_feed *feed, cudaStream_t stream, sel_error *error);
/* Enqueues a copy of the whole buffer to `device`, and moves on. */
sel_status cuda_feed_send(cuda_feed *feed, cudaStream_t stream, sel_error *error);

/* ---- a solver on the device ---- */

typedef struct cuda_solver {
    const char *what;  /* "the flow": what memory is for */
    size_t state_size; /* bytes of its state, which begins with a sel_state */
    int unit;          /* blocks of the grid begin at multiples of so many planes */
    /* Fails when the grid is too large for the kernels' integers. This and all that follow but
     * list, start and step may be NULL: there is nothing to do. */
    sel_status (*fits)(const sel_plan *plan, sel_error *error);
    /* Lists the arrays of a state that knows its plan and nothing else; called for estimates, too.
     */
    void (*list)(sel_state *state);
    /* The state of step 0; arrays are zero. Fails where a quantity does. */
    sel_status (*start)(sel_state *state, sel_error *error);
    /* Enqueues what steps derive from the values of the plan's inputs (inputs.h), which are new. */
    sel_status (*derive)(sel_state *state, int64_t step, sel_error *error);
    /* Whether the next step needs the host, or differs from others: no graph can hold it. */
    bool (*alone)(const sel_state *state);
    /* Evaluates on the host and sends what is `due` (after the first step SEL_ON_T) for the next
     * *count steps. May lower *count to the steps before one that fails. */
    sel_status (*terms)(sel_state *state, unsigned due, int64_t *count, sel_error *error);
    /* How many steps the next call of step() makes, of at most `most` to come: an odd number, so
     * that copies of the state take turns with steps. NULL: 1. */
    int64_t (*pass)(const sel_state *state, int64_t most);
    /* Enqueues the step, or queue->pass steps, from `step` on; fails with SEL_BAD_SCENARIO where a
     * quantity does, and then leaves the state as it is. Observed when state->observing is set. */
    sel_status (*step)(sel_state *state, int64_t step, sel_error *error);
    /* Of solvers that iterate: waits for the steps that are enqueued; sets state->step to those
     * that were made, and state->ending. Steps beyond the end leave the state as it is. */
    sel_status (*ending)(sel_state *state, sel_error *error);
    /* The dt of the steps to come, where the plan says that it changes. NULL: it stays. */
    sel_status (*time_step)(sel_state *state, double *dt, sel_error *error);
    /* Reports a failure that is known by now and affects the state after `step` steps; sets
     * state->step to the last whole state, or state->broken if there is none. */
    sel_status (*check)(sel_state *state, int64_t step, sel_error *error);
    /* As in sel_backend. */
    void (*print)(const sel_plan *plan, FILE *to);
    /* Releases what is not listed; `list` may not have been called. */
    void (*close)(sel_state *state);
    /* As in sel_backend. */
    sel_status (*saving)(sel_state *state, sel_error *error);
    /* As sel_cpu.loaded. */
    sel_status (*loaded)(sel_state *state, sel_error *error);
    /* Its launchers, and the present state as their kernels see it; fails when `field` (-1: none)
     * is not available. NULL: those of bodies that conduct. */
    sel_status (*look)(sel_state *state, int field, const cuda_look **look, const void **view,
                       sel_error *error);
    /* As in sel_look. */
    void (*watched)(const sel_plan *plan, sel_request *request);
    /* SEL_BALANCE, SEL_FORCE and SEL_FLUX: `ask` opens a slot and enqueues the work that fills it;
     * `answer` converts its content. NULL, both: of bodies that conduct by what enters at their
     * surfaces, of others SEL_BALANCE by the sum of the main field. */
    sel_status (*ask)(sel_state *state, const sel_request *request, sel_error *error);
    void (*answer)(sel_state *state, const cuda_slot *slot, sel_request *request);
} cuda_solver;

/* The grid of a state whose arrays are allocated. */
cuda_grid cuda_grid_of(const sel_state *state);

/* A body in the implicit step from `step`, but for the vectors and what is uniform. */
cuda_body_step cuda_body_step_of(const sel_state *state, int64_t step);

/* Enqueues the sum of what the solver conserves; it will be in the first of the queue's `rows`, of
 * several ranks on rank 0. */
sel_status cuda_sum(sel_state *state, sel_error *error);
/* The same, and waits for it. */
sel_status cuda_sum_now(sel_state *state, sel_total *sum, sel_error *error);

/* Enqueues what fills the halos of state->turns (sel_exchange). */
sel_status cuda_exchange(const sel_state *state, int64_t turn, cudaStream_t stream,
                         sel_error *error);

/* Of several ranks, the same in one array that is laid out as state->turns. */
sel_status cuda_exchange_in(const sel_state *state, void *array, cudaStream_t stream,
                            sel_error *error);

/* A part of a step: planes of a block, or rows of these, where its work goes, and which of the
 * step's slabs it is. */
typedef struct cuda_slab {
    sel_block planes;
    int block, number;
    const march_device *on;
} cuda_slab;

/* The blocks; or of a rank first its planes but for `rim` or more of them at each end, where these
 * are cut also without so many rows, and then the rest, which looks at halos; all of them at once
 * if they are few, or halos come soon. */
enum { CUDA_SLABS = SEL_MOST_BLOCKS };
int cuda_slabs_of(const sel_state *state, int64_t rim, cuda_slab slabs[CUDA_SLABS]);

/* Enqueues a step: `exchange` fills the halos that it looks at, while planes that look at none are
 * computed by `take`. `waits`: where NCCL fills them, these begin some ten microseconds later, when
 * it is under way, which pays where they take much longer. */
typedef sel_status cuda_fill_halos(const sel_state *state, int64_t step, cudaStream_t stream,
                                   sel_error *error);
typedef sel_status cuda_take_slab(sel_state *state, int64_t step, const cuda_slab *slab,
                                  sel_error *error);
sel_status cuda_take_slabs(sel_state *state, int64_t step, int64_t rim, bool waits,
                           cuda_fill_halos *exchange, cuda_take_slab *take, sel_error *error);
/* Of several ranks: an array of which one has its planes, of `stride` elements of `size` bytes,
 * and two beside them, which stand in place of planes `low` and `high`. Plane p begins with element
 * p * stride + ahead. */
cuda_parts cuda_parts_beside(const sel_state *state, char *at, int64_t stride, int64_t size,
                             int64_t ahead, int64_t low, int64_t high);
/* The memory of the blocks of state->turns, by the number of an element; of several ranks that of
 * the planes beside those of this one, too. Where planes are cut, rows count from the halo on. */
cuda_parts cuda_parts_of(const sel_state *state, int64_t turn);

/* Planes of state->turns, for passes of several steps; which fields they take is the caller's. */
march_grid cuda_march_grid(const sel_state *state, const sel_block *planes);

/* Copies between host and device; done when it returns. */
sel_status cuda_send(const void *to, const void *from, uint64_t bytes, sel_error *error);

#endif
