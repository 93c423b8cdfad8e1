/* mg_solve_cuda.h -- A u = F by corrections of u on the device: what mg_solve_cuda.h of
 * engine/solvers/multigrid does on the processor. Plain C, shared by the host's files and nvcc's.
 *
 * The device judges an iteration; the host hears of that while the next one runs. Each but a full
 * cycle is one graph, of which there are two, for vectors that may take turns.
 */
#ifndef CUDA_MG_SOLVE_H
#define CUDA_MG_SOLVE_H

#include "cuda/query.h"
#include "engine/solvers/multigrid/mg_cycle_cuda.h"
#include "engine/solvers/multigrid/mg_solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mg_sums {
    double v[3];
} mg_sums;

enum { MG_AHEAD = 2 /* iterations that are enqueued while one is judged */ };

typedef struct mg_gpu_solve {
    mg_solve *solve; /* its arrays are on the device */
    mg_level *levels;
    mg_progress *progress;        /* there; */
    mg_progress *heard[MG_AHEAD]; /* and of the last iterations, in pinned memory, */
    cudaEvent_t judged[MG_AHEAD]; /* valid behind these */
    mg_sums *partials;
    cudaGraphExec_t graph[MG_AHEAD];
    cudaStream_t stream;
    int shared; /* mg_gpu.shared */
    /* With several ranks: enqueue the exchange of planes of levels (mg_gpu.spread), and the
     * gathering of partials: those of rank r end at end_of_partials[r], in bytes. */
    void (*spread)(void *with, const mg_halo_of *parts, int count);
    void (*share_partials)(void *with);
    size_t end_of_partials[SEL_MOST_RANKS];
    char *packed;      /* room for what boxes share, one behind the other */
    sel_status status; /* the first failure of these, */
    sel_error *error;  /* and where it is told: of the call that enqueues */
} mg_gpu_solve;

/* Enqueue: to = A u; f of u and *progress, after `steps` further steps; and a correction, see
 * mg_solve_correct. Nothing is done where progress->how is not 0. */
cudaError_t mg_gpu_apply(const mg_gpu_solve *g, double *u, double *to);
cudaError_t mg_gpu_residual(const mg_gpu_solve *g, const double *u, int steps);
cudaError_t mg_gpu_enqueue(const mg_gpu_solve *g, int how, double omega, const double *u,
                           double *to);

/* How many partials there are of a grid, along x and, if it is in 3-D, along y; along its slowest
 * axis one for mg_device_planes. */
void mg_gpu_partials(int dims, const int64_t n[3], int64_t partials[3]);

#ifdef __cplusplus
}
#endif

#ifndef __CUDACC__

/* Lists its arrays, after those of the problem, and the room of what ranks exchange. */
void mg_gpu_list(mg_gpu_solve *g, mg_solve *solve, sel_state *state);
void mg_gpu_close(mg_gpu_solve *g);

/* Enqueues what brings the plane and the row beside each end of this rank's own of a vector. */
sel_status mg_gpu_spread(mg_gpu_solve *g, double *v, sel_error *error);

/* Lists what ranks exchange by; sets the functions. */
void mg_gpu_list_ranks(mg_gpu_solve *g, sel_state *state);
void mg_gpu_join_ranks(mg_gpu_solve *g);

/* Begins an iteration, when the problem has been started: *progress = solve->now. What is enqueued
 * from here on tells its failures in `error`. */
sel_status mg_gpu_begin(mg_gpu_solve *g, cudaStream_t stream, sel_error *error);
/* Enqueues iteration `step`, by graph, with the same arguments whenever `step` has the same parity;
 * or sets solve->now when it has heard that all has ended. */
sel_status mg_gpu_correct(mg_gpu_solve *g, int64_t step, int how, double omega, const double *u,
                          double *to, sel_error *error);

/* An implicit step of a body. */
sel_status mg_gpu_body_step(mg_gpu_solve *g, const sel_state *state, int64_t step,
                            sel_error *error);

#endif
#endif
