/* program_print.h -- the instructions of a program as C, so that types and values are those of the
 * loops over rows: a variable for each value.
 *
 * In CUDA C the text that they stand in has what its kernel knows as macros: UNIFORM(k), a value
 * that is the same at all places; PLACE(axis); RANDOM(k); LOOK_UP(which, ...), of the program's
 * look-ups. For rows (native.c) it has only what sel_print_has, named f_ADD, d_ADD, ... by type.
 */
#ifndef SEL_PROGRAM_PRINT_H
#define SEL_PROGRAM_PRINT_H

#include <stdio.h>
#include "engine/values/program.h"

enum { SEL_PRINT_NAME = 48 };

/* The factors of a product, or "". */
typedef struct sel_print_product {
    char of[2][SEL_PRINT_NAME];
} sel_print_product;

typedef struct sel_printer {
    FILE *to;
    const sel_program *program;
    const char *const *controls; /* NULL; for a reader their names: numbers stand in the text */
    bool rows;                   /* C for the processor, of the numbers of place `k` of rows */
    bool bytes;                  /* of these, whole numbers are uint8_t (sel_program.bytes) */
    bool fuses;                  /* sums take products that are not rounded before */
    unsigned constant;           /* SEL_ON_...: what does not vary; the text has numbers */
    double *value;               /* of uniform slots, as long as they do not vary */
    int *made_by;                /* by slot: the instruction that filled it last */
    sel_print_product *product;  /* by instruction */
} sel_printer;

/* Of the result of an instruction per place. */
sel_number sel_result_type(const sel_instruction *instruction);

/* dt: of programs that use it and in which it does not vary. False: no memory. */
bool sel_printer_open(sel_printer *printer, const sel_program *program, double dt, FILE *to);
void sel_printer_close(sel_printer *printer);

const char *sel_print_type(const sel_printer *printer, sel_number type);

/* The variable of a slot: u0 ... of uniform values, r0 ... of those read, a0 ... */
const char *sel_print_name(const sel_printer *printer, int slot, char text[SEL_PRINT_NAME]);

/* Prints the variables of the uniform slots that instructions per place need. */
void sel_print_uniforms(const sel_printer *printer);
/* Prints the instructions first <= k < first + count of `code`. */
void sel_print_instructions(sel_printer *printer, int first, int count);
void sel_print_number(double value, FILE *to);

/* Whether text for rows has an instruction, and the macros for those that it has. */
bool sel_print_has(const sel_instruction *instruction);
void sel_print_macros(FILE *to);

#endif
