/* program_row.h -- programs over rows of places on a CPU: as loops, compiled per processor level
 * (program_kernel.c), or as machine code (native.c).
 */
#ifndef SEL_PROGRAM_ROW_H
#define SEL_PROGRAM_ROW_H

#include "engine/base/hardware.h"
#include "engine/values/rule.h"

/* A row of places that is evaluated together: given coordinates, or adjacent cells along x. */
typedef struct sel_row {
    int n;             /* at most SEL_ROW; any number for machine code that does all instructions */
    void *const *slot; /* by slot: its row of numbers */
    const sel_packed_lookup *lookup; /* of the program */
    const double *place[3];          /* coordinates [n] by axis; NULL: those of cells, or 0 */
    const double *origin, *dx;       /* by axis: of the cells' grid; NULL: no grid */
    int64_t at[3];                   /* the first cell, by axis */
    int64_t cell, step;              /* for random numbers: index of the first cell; the step */
    uint64_t seed;                   /* of random numbers */
    void *const *to; /* by output: where machine code stores its row; NULL: in its slot */
} sel_row;

typedef struct sel_row_loops {
    /* Runs `count` instructions. */
    void (*run)(const sel_instruction *first, int count, const sel_row *row);
    /* Sets n numbers of a type to a value. */
    void (*fill)(int type, double value, void *to, int n);
    /* Converts n bytes to integers. */
    void (*widen)(const uint8_t *from, int32_t *to, int n);
    /* Copies bytes. `streams`: by streaming stores, which the caller ends with sel_stream_end. */
    void (*put)(const void *from, void *to, size_t bytes, bool streams);
    /* Converts n numbers of `type` and stores them in an integer field. Returns the index of the
     * first one beyond the range of the field; -1: none, or not `checked`. */
    int (*store)(int type, const void *from, sel_cell_type field, void *to, int n, bool checked,
                 bool streams);
} sel_row_loops;

/* Runs an instruction that is computed in doubles, mostly by a function of libm. It is compiled
 * once for all levels, since libm chooses code for the processor by itself. */
void sel_row_call(const sel_instruction *v, void *const *slot, int n);

/* Fills the rows of the uniform values, `row_bytes` apart, from the numbers fixed[]. Then sets
 * slot[] to the rows of all slots: uniform values from `uniform` on, the others from `own` on. */
void sel_row_uniforms(const sel_program *program, const double *fixed, char *rows,
                      size_t row_bytes);
void sel_row_slots(const sel_program *program, char *uniform, char *own, size_t row_bytes,
                   void **slot);

/* The loops of the best level that this processor can run. */
const sel_row_loops *sel_row_loops_here(void);

/* ---- machine code (native.c) ----
 *
 * Programs are printed as C and compiled by the system's compiler, while the loops compute. Both
 * give the same bits. Compiled code is kept in the code cache (engine/base/code_cache.h).
 *
 * $SELENITE_CC: the compiler; programs then wait for it. "0": no compiler. Not set: cc, without
 * waiting. Without a compiler, or without a cache folder, the loops compute everything.
 */

typedef struct sel_native sel_native;

/* Creates machine code for `programs` programs, without compiling yet. NULL: no memory. */
sel_native *sel_native_create(int programs);
/* Sets program `number`, which must outlive the result; NULL: it is never run. */
void sel_native_add(sel_native *native, int number, const sel_program *program);
/* NULL: does nothing. */
void sel_native_destroy(sel_native *native);

/* Whether the code can be run. Compiling starts when the loops have done enough operations (`done`)
 * that it pays. `leads`: of the processes that share the cache, this one compiles; the others wait
 * for its code. NULL `native`: false. */
bool sel_native_ready(sel_native *native, double done, bool leads);

/* Whether machine code does all instructions of a program; then sel_native_run takes rows of any
 * length. */
bool sel_native_has_all(const sel_native *native, int program);
/* Runs the instructions per place of a program on a row, after sel_native_ready. For a program with
 * `bytes`, the rows of values read and of outputs are uint8_t. */
void sel_native_run(const sel_native *native, int program, const sel_row *row);

#endif
