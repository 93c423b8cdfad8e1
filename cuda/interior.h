/* interior.h -- parts of a grid on the device: halos, what a rank has, and the slabs
 * of a step. */
#ifndef CUDA_INTERIOR_H
#define CUDA_INTERIOR_H

#include "cuda/query.h"
#include "cuda/queue.h"

/* The regions of the cells that the rank has, and of those beside them along y and z: their layout;
 * lists them; sends them, once they are allocated. */
sel_layout cuda_regions_layout(const sel_state *state);
void cuda_list_regions(sel_state *state);
sel_status cuda_send_regions(const sel_state *state, sel_error *error);

/* The grid of a state whose arrays are allocated. */
cuda_grid cuda_grid_of(const sel_state *state);

/* Enqueues what fills the halos of field 0 at `step` from other ranks: with what steps read; with
 * all components. */
sel_status cuda_exchange(const sel_state *state, int64_t step, cudaStream_t stream,
                         sel_error *error);
sel_status cuda_exchange_all(const sel_state *state, int64_t step, cudaStream_t stream,
                             sel_error *error);

/* The same of any field. */
sel_status cuda_exchange_field(const sel_state *state, const sel_exchange *what,
                               cudaStream_t stream, sel_error *error);

/* A part of a step: planes, or rows of these, where its work goes, and which of the
 * step's slabs it is. */
typedef struct cuda_slab {
    sel_patch planes;
    int number;
    const march_device *on;
} cuda_slab;

/* Divides a step of this rank into slabs; returns how many. The first has all planes but `rim` or
 * more at each end, and where the grid is cut along y too, all rows but as many at each end: it
 * reads no halo. The others are the rest. One slab has all if there are few planes, or halos come
 * soon. */
enum { CUDA_SLABS = 5 };
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
/* With several ranks: an array of which a rank has its planes, of `stride` elements of `size`
 * bytes, and two beside them, which stand in place of planes `low` and `high`. Plane p begins with
 * element p * stride + ahead. */
cuda_parts cuda_parts_beside(const sel_state *state, char *at, int64_t stride, int64_t size,
                             int64_t ahead, int64_t low, int64_t high);
/* The memory of a copy of field 0, by the number of an element; of several ranks that of
 * the planes beside those of this one, too. Where planes are cut, rows count from the halo on. */
cuda_parts cuda_parts_of(const sel_state *state, int copy);

/* Planes of field 0, for passes of several steps; which fields they take is the caller's. */
march_grid cuda_march_grid(const sel_state *state, const sel_patch *planes);

#endif
