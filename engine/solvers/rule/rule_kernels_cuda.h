/* rule_kernels_cuda.h -- sel.rule on the device: the launchers of its kernels, for the host's files
 * and nvcc's; for the host's its state, and its functions as text.
 */
#ifndef RULE_GPU_H
#define RULE_GPU_H

#include <stdbool.h>
#include "cuda/inputs.h"
#include "cuda/query.h"
#include "engine/solvers/rule/rule_view.h"
#include "engine/solvers/rule/rule_margin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills runs first <= k < end for some fields, in the copies `turns`. */
cudaError_t rule_gpu_fill(const rule_tables *tables, int64_t first, int64_t end, uint64_t fields,
                          uint64_t turns, cudaStream_t stream);

/* ---- inputs ---- */

/* What their store sees: the tables, and the fields of entries. */
typedef struct rule_store_view {
    const rule_tables *tables;
    uint8_t first[RULE_FIELDS], components[RULE_FIELDS];
} rule_store_view;
cuda_inputs_launcher rule_gpu_store;

/* Fills cells under laws, runs first <= k < end, in both copies; not in a step that is halted. */
typedef struct rule_filled_cells {
    const rule_tables *tables;
    int64_t first, end;
    const int64_t *halted; /* see cuda_is_halted */
    cuda_clock clock;
} rule_filled_cells;
cudaError_t rule_gpu_fill_cells(const rule_filled_cells *fill, cudaStream_t stream);

/* ---- reads and sums ---- */

typedef struct rule_gpu_look {
    cuda_grid grid;
    const rule_tables *tables;
    uint64_t turns;              /* the present copies */
    int64_t first, pitch, slice; /* of cells in the arrays */
    const double *numbers;       /* of a derived field; NULL: fields */
    int64_t output;              /* from an output's number to the next one's */
    int dims, field, components; /* the first component of what is looked at */
    int main;                    /* the same of the main field */
    uint64_t reals;              /* state fields that must be finite */
} rule_gpu_look;

const cuda_look *rule_gpu_looks(int components, bool counts);

#ifdef __cplusplus
}
#else

#include <stdio.h>
#include "cuda/backend.h"
#include "cuda/compile.h"
#include "cuda/terms.h"
#include "engine/solvers/rule/rule.h"

/* ---- functions as text (rule_print_cuda.c): the kernel of function k is called "function_k" ----
 */

/* Cells of a thread, and how many blocks of threads a function takes. */
typedef struct rule_shape {
    int cells, rows;
} rule_shape;
rule_shape rule_shape_of(const rule_model *m, int k);
unsigned rule_blocks(const rule_view *v, rule_shape shape);

/* ---- several steps in a pass (rule_temporal_cuda.c) ---- */

typedef struct rule_march {
    int steps, columns, at_once, blocks; /* as temporal_blocking.cuh takes them */
    int fields, field[MARCH_FIELDS];
    double a[RULE_FACES][MARCH_FIELDS], b[RULE_FACES][MARCH_FIELDS]; /* beyond faces: a near + b */
} rule_march;

/* How many steps a pass has where the laws allow it; 0: none has. */
int rule_march_steps(const sel_state *base);

/* Of a state whose laws are evaluated; all ranks call it, and find the same. False: steps are taken
 * one by one. */
bool rule_march_of(const rule_state *state, rule_march *to);

/* Whether all that lies beyond the grid is a copy of a cell within (rule_view.direct). */
bool rule_is_direct(const rule_state *state);

/* ---- the text ---- */

/* All kernels; march: NULL, or also those of several steps, "march_border" and "march_inner".
 * Values that never vary are numbers in the text: dt that of even steps. `halts`: data or laws may
 * fail, and rules then leave the state as it is. */
void rule_print(const rule_model *m, double dt, bool halts, const rule_march *march, FILE *to);

/* Planes of a block, in boxes their rows, as function k sees them when the present copies are
 * `turns`; of arrays and tables anywhere. */
rule_view rule_view_of(const rule_state *state, const rule_tables *tables, int k,
                       const sel_patch *planes, uint64_t turns);

/* ---- the state (rule_cuda.c) ---- */

/* What is being enqueued. */
typedef struct rule_now {
    int function, steps;
    uint64_t turns; /* the present copies */
} rule_now;

enum { RULE_READS = 64 };

typedef struct rule_cuda {
    rule_state all;
    int first_array, end_array; /* those of rule_state */
    rule_tables *tables;
    double *uniform; /* [uniform_steps][]: values that are the same in all cells, by step */
    double *numbers; /* of derived fields and dt.limit: laid out as fields, for each output */
    rule_bad *found;
    int64_t uniform_steps;
    unsigned vary; /* with what the rules' uniform values do */
    double sent_dt;
    bool direct; /* no margins are filled */
    bool marches;
    bool holds; /* fields are not computed in some cells: see rule_hold_cells */
    rule_march march;
    cuda_kernel *march_kernel[2]; /* at the borders, inside */
    rule_now now;
    double *fixed;            /* of a function */
    double *kept;             /* controls */
    int64_t read[RULE_READS]; /* 1 + the last states of which data or derived fields were read */
    rule_store_view store;
    cuda_terms terms; /* the programs of functions, in order */
    cuda_module *module;
    cuda_kernel **kernel;
    cuda_feed rows;
    rule_gpu_look view;
} rule_cuda;

/* cuda_take_slab, of state->march.steps steps. */
sel_status rule_march_pass(sel_state *base, int64_t step, const cuda_slab *slab, sel_error *error);

#endif
#endif
