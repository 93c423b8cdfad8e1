/* print.h -- the instructions of a program as CUDA C, so that types and values are those of the
 * processor: a variable for each value.
 *
 * The text that they stand in has what its kernel knows as macros: UNIFORM(k), a value that is the
 * same at all places; PLACE(axis); RANDOM(k); LOOK_UP(which, ...), of the program's look-ups.
 */
#ifndef CUDA_PRINT_H
#define CUDA_PRINT_H

#include <stdio.h>
#include "engine/values/program.h"

enum { CUDA_NAME = 16 };

/* The factors of a product, or "". */
typedef struct cuda_product {
    char of[2][CUDA_NAME];
} cuda_product;

typedef struct cuda_printer {
    FILE *to;
    const sel_program *program;
    bool fuses;            /* sums take products that are not rounded before */
    unsigned constant;     /* SEL_ON_...: what does not vary; the text has numbers */
    double *value;         /* of uniform slots, as long as they do not vary */
    int *made_by;          /* by slot: the instruction that filled it last */
    cuda_product *product; /* by instruction */
} cuda_printer;

extern const char *const cuda_type_names[]; /* by sel_number */

/* dt: of programs that use it and in which it does not vary. False: no memory. */
bool cuda_printer_open(cuda_printer *printer, const sel_program *program, double dt, FILE *to);
void cuda_printer_close(cuda_printer *printer);

/* The variable of a slot: u0 ... of uniform values, r0 ... of those read, a0 ... */
const char *cuda_print_name(const cuda_printer *printer, int slot, char text[CUDA_NAME]);

/* Those of the slots that instructions per place need. */
void cuda_print_uniforms(const cuda_printer *printer);
/* Instructions first <= k < first + count of `code`. */
void cuda_print_instructions(cuda_printer *printer, int first, int count);
void cuda_print_number(double value, FILE *to);

#endif
