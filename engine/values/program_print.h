/* program_print.h -- prints the instructions of a program as C text with one variable per value.
 * Its types and values are those of the loops over rows (program_kernel.c).
 *
 * For CUDA kernels the surrounding text must define the macros UNIFORM(k), uniform value k;
 * PLACE(axis), a coordinate; RANDOM(k, single); and LOOK_UP(which, ...), a lookup of the program.
 * For rows (native.c) only instructions with sel_print_has are printed; they use the macros f_ADD,
 * d_ADD,
 * ... of sel_print_macros, named by type.
 */
#ifndef SEL_PROGRAM_PRINT_H
#define SEL_PROGRAM_PRINT_H

#include <stdio.h>
#include "engine/values/program.h"

enum { SEL_PRINT_NAME = 48 };

/* The factors of a product as text; "": the instruction is no product. */
typedef struct sel_print_product {
    char of[2][SEL_PRINT_NAME];
} sel_print_product;

typedef struct sel_printer {
    FILE *to;
    const sel_program *program;
    const char *const *controls; /* names of controls, in text for a reader; NULL: code */
    bool rows;                   /* C for the processor: place k of rows; else CUDA C */
    bool bytes;                  /* rows: integers are uint8_t (sel_program.bytes) */
    bool fuses;                  /* a sum of a product is printed as fma, which rounds once */
    unsigned constant;           /* SEL_ON_...: uniform values of these are printed as numbers */
    double *value;               /* by slot: uniform values */
    int *made_by;                /* by slot: the instruction that wrote it last */
    sel_print_product *product;  /* by instruction */
} sel_printer;

/* The type of the result of an instruction per place. */
sel_number sel_result_type(const sel_instruction *instruction);

/* Prepares printing; members that describe the kind of text are set by the caller. `dt`: the step,
 * for programs that use it, if it does not vary. False: no memory. Always to be closed. */
bool sel_printer_open(sel_printer *printer, const sel_program *program, double dt, FILE *to);
void sel_printer_close(sel_printer *printer);

const char *sel_print_type(const sel_printer *printer, sel_number type);

/* The variable that a slot holds now: u0, ... for uniform values; r0, ... for values read; a0, ...
 * for results of instructions. Text for a reader has numbers and names of controls. */
const char *sel_print_name(const sel_printer *printer, int slot, char text[SEL_PRINT_NAME]);

/* Prints the variables of the uniform slots that instructions per place need. */
void sel_print_uniforms(const sel_printer *printer);
/* Prints the instructions first <= k < first + count of `code`. */
void sel_print_instructions(sel_printer *printer, int first, int count);
/* Prints a number as a C constant without loss. */
void sel_print_number(double value, FILE *to);

/* Whether an instruction can be printed for rows; and the macros of all that can be. */
bool sel_print_has(const sel_instruction *instruction);
void sel_print_macros(FILE *to);

#endif
