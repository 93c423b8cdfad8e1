/* fill.h -- a term in all cells of a grid: an array that a kernel fills before a step.
 *
 * Plain C, shared by the host's files, nvcc's and what is compiled at run time.
 */
#ifndef CUDA_FILL_H
#define CUDA_FILL_H

#include "cuda/terms.h"
#include "engine/core/vicinity.h"

/* Types of the numbers of a filled array. */
typedef enum cuda_number { CUDA_F64, CUDA_F32, CUDA_I32, CUDA_U8 } cuda_number;

/* What a compiled kernel need not look at in each cell: its numbers are values times `factor` and
 * no more, and any value between the bounds is allowed. */
#define CUDA_FILL_IS_PLAIN(fill) (!(fill)->whole && !(fill)->part && (fill)->unit == 1)

/* A block of threads takes CUDA_FILL_ROWS rows; a thread takes one cell in each. */
enum { CUDA_FILL_THREADS = 128, CUDA_FILL_ROWS = 16 };

typedef struct cuda_fill {
    cuda_terms_view terms;
    cuda_term term;
    cuda_clock clock;
    sel_grid grid;
    double ahead;               /* the part of a step after which the term has its value */
    double least, most, factor; /* a value below `least`, or above `most` / `factor`, is a fault, */
    double unit;                /* numbers are values times `factor` over this, */
    bool whole;                 /* and a value that is not a whole number is a fault, too */
    cuda_grid cells;            /* that are not free are not filled, unless all are */
    bool everywhere;
    void *to; /* numbers of cells at c component + x + y pitch + z slice, */
    cuda_number kind;
    bool part; /* for the part of the cell that is inside */
    int64_t pitch, slice, component;
    sel_rows rows; /* of cells that are filled, */
    bool near;     /* or those of a vicinity */
    sel_vicinity vicinity;
    const char *beside; /* text that is compiled with the program, the struct `printed`; or NULL */
    struct cuda_kernel *kernel; /* compiled; NULL: the program is interpreted */
} cuda_fill;

#ifdef __cplusplus
extern "C" {
#endif

/* The number of rows that are filled. */
#ifdef __CUDACC__
static __host__ __device__
#else
static
#endif
    inline int64_t
    cuda_fill_rows(const cuda_fill *fill) {
    return fill->near ? sel_vicinity_count(&fill->vicinity) : fill->rows.count;
}

static inline unsigned cuda_fill_blocks(const cuda_fill *fill) {
    return cuda_shares(fill->grid.n[0], CUDA_FILL_THREADS) *
           cuda_shares(cuda_fill_rows(fill), CUDA_FILL_ROWS);
}

cudaError_t cuda_fill_interpreted(const cuda_fill *fill, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#ifndef __CUDACC__

#include <stdio.h>
#include "cuda/compile.h"

/* Prints the kernel of a program, "fill", for the numbers of `fill`, and what stands beside it. */
void cuda_fill_print(const cuda_fill *fill, const sel_program *program, FILE *to);

/* Compiles the kernel of the quantity that fill->term is. Where there is no NVRTC, fill->kernel and
 * *module stay NULL. */
sel_status cuda_fill_compile(cuda_fill *fill, const sel_quantity *quantity, int device,
                             cuda_module **module, sel_error *error);

/* Compiling takes half a second, once: the result is kept for later runs. */
static inline bool cuda_fill_pays(const cuda_fill *fill) {
    return sel_grid_cells(&fill->grid) >= 1 << 17;
}

/* Completes a fill of which the term is known, where its numbers go, and what its values must be:
 * by the cells of the state that this rank has; all ranks halt where a value is missing. Compiles
 * it if that pays, and one program gives all components. */
sel_status cuda_fill_open(cuda_fill *fill, const cuda_terms *terms, const sel_quantity *quantity,
                          const sel_state *state, cuda_module **module, sel_error *error);

/* Enqueues the kernel, which reports places without a value as cuda_terms says. */
sel_status cuda_fill_enqueue(const cuda_fill *fill, cudaStream_t stream, sel_error *error);

#endif
#endif
