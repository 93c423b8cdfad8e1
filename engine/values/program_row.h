/* program_row.h -- instructions as loops over rows of places (program_kernel.c), a table of them
 * for each level of processors.
 */
#ifndef SEL_PROGRAM_ROW_H
#define SEL_PROGRAM_ROW_H

#include "engine/base/hardware.h"
#include "engine/values/rule.h"

/* At most SEL_ROW places; of machine code that does all of a program any number. */
typedef struct sel_row {
    int n;
    void *const *slot;
    const sel_packed_lookup *lookup; /* of the program */
    const double *place[3];          /* coordinates; NULL: 0, or those of cells: */
    const double *origin, *dx;       /* of their grid; NULL: there is none */
    int64_t at[3];                   /* the first cell, */
    int64_t cell, step;              /* its number */
    uint64_t seed;
    void *const *to; /* by output: where machine code stores it; NULL: in its slot */
} sel_row;

typedef struct sel_row_loops {
    void (*run)(const sel_instruction *first, int count, const sel_row *row);
    void (*fill)(int type, double value, void *to, int n);
    void (*widen)(const uint8_t *from, int32_t *to, int n);
    /* Stores a row as it is. Streams: past the caches, until sel_stream_end. */
    void (*put)(const void *from, void *to, size_t bytes, bool streams);
    /* Stores numbers of a row as those of a field of whole numbers; the first that does not fit it,
     * or -1. */
    int (*store)(int type, const void *from, sel_cell_type field, void *to, int n, bool checked,
                 bool streams);
} sel_row_loops;

/* An instruction whose operation is computed in doubles, mostly by a function of math, which knows
 * the processor by itself. */
void sel_row_call(const sel_instruction *v, void *const *slot, int n);

/* Fills the rows of the uniform values; says where slots stand, some rows apart. */
void sel_row_uniforms(const sel_program *program, const double *fixed, char *rows,
                      size_t row_bytes);
void sel_row_slots(const sel_program *program, char *uniform, char *own, size_t row_bytes,
                   void **slot);

/* Of the best level that this processor has. */
const sel_row_loops *sel_row_loops_here(void);

#endif
