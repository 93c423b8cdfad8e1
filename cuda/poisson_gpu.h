/* poisson_gpu.h -- the launchers of sel.poisson: plain C, shared by poisson_cuda.c and the kernels'
 * file.
 */
#ifndef POISSON_GPU_H
#define POISSON_GPU_H

#include "cuda/machine/look.h"
#include "engine/multigrid/multigrid.h"
#include "engine/physics/poisson.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poisson_sums {
    double v[3];
} poisson_sums;

/* What kernels of the finest level see in an iteration. */
typedef struct poisson_gpu_step {
    int dims;
    bool even, single, conjugate, singular;
    int64_t stride[3]; /* of what follows */
    const double *u, *F;
    double *to, *p, *q;
    mg_level level;
    const double *low[3], *high[3], *middle[3], *part[3];
    double volume;
    poisson_limits limits;
    poisson_progress *now; /* nothing is done where now->how is not 0 */
    poisson_sums *partials;
} poisson_gpu_step;

/* How many partials there are. */
int64_t poisson_gpu_partials(int dims, const int64_t n[3]);

/* Enqueue what the functions of mg_loops do in all rows: e = f over the diagonal; */
cudaError_t poisson_gpu_divide(const poisson_gpu_step *s, cudaStream_t stream);
/* q = A p; */
cudaError_t poisson_gpu_apply(const poisson_gpu_step *s, cudaStream_t stream);
/* e becomes a conjugate direction p, by the last p and q; */
cudaError_t poisson_gpu_direct(const poisson_gpu_step *s, cudaStream_t stream);
/* to = u + alpha p by the sums of poisson_gpu_apply; */
cudaError_t poisson_gpu_add(const poisson_gpu_step *s, cudaStream_t stream);
/* and f = F - A u, with which the next iteration is judged, after so many steps more. adds: first
 * to = u + e, of which f is then. */
cudaError_t poisson_gpu_measure(const poisson_gpu_step *s, int steps, bool adds,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
