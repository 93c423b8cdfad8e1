/* program.h -- functions of place, time and controls as programs: built, evaluated, printed.
 *
 * A builder takes operations one by one as nodes of a graph; equal ones are shared, those on
 * constants are folded. Finishing it keeps what the results need and makes instructions of it: what
 * depends on time and controls only runs once per call, the rest once per place. As the places of a
 * call are often rows of cells, instructions per place are ordered: functions of x alone (reused
 * where the next row has the same x), functions of y and z alone (once per row), the rest.
 */
#ifndef SEL_PROGRAM_H
#define SEL_PROGRAM_H

#include <stdio.h>
#include "engine/values/program_eval.h"
#include "engine/values/quantity.h"

/* Of a uniform slot. */
typedef struct sel_uniform {
    sel_number type;
    unsigned depends; /* SEL_ON_... */
} sel_uniform;

typedef struct sel_program {
    unsigned depends, vary; /* SEL_ON_...; vary: of the uniform values */
    int operations, chains; /* per place; chains: sums and products that are linked count once */
    bool reports;           /* it may fail, or give what does not fit a field */
    bool bytes;             /* machine code may compute all of it in bytes that end at 255 */
    sel_packed_program layout;
    sel_packed tables;          /* its own, in which it is number 0 */
    const sel_uniform *uniform; /* [layout.uniforms] */
} sel_program;

/* Evaluates at all places of `at` (any thread): out[results][n]. `controls`: by index, never NULL
 * when the program names one. exact[n] is set to 1 where the result is that of Lua, else 0. */
sel_status sel_program_eval(const sel_program *program, const sel_places *at,
                            const double *controls, double *out, uint8_t *exact, sel_error *error);

/* The operations before SEL_OP_COUNT. */
typedef struct sel_op_text {
    const char *name; /* "ADD" */
    int operands;
} sel_op_text;
extern const sel_op_text sel_op_texts[];

/* Of two numbers, and all that give 0 or 1. */
static inline bool sel_op_compares(int op) {
    return op == SEL_OP_LT || op == SEL_OP_LE || op == SEL_OP_EQ;
}
static inline bool sel_op_is_condition(int op) {
    return sel_op_compares(op) || op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
}

/* Prints the instructions, one per line. Controls by their names. */
void sel_program_print(const sel_program *program, const char *const *control_names, FILE *to);

/* A graph under construction. Node numbers are >= 0. */
typedef struct sel_builder sel_builder;

/* At most `limit` nodes. NULL: no memory. */
sel_builder *sel_builder_create(int limit);
void sel_builder_destroy(sel_builder *builder);

/* Nodes so far: their numbers are below it. */
int sel_builder_count(const sel_builder *builder);

/* Each returns a node, or -1 when the limit is reached or memory is short. Equal calls return the
 * same node. Unused operands are 0. */
int sel_build_constant(sel_builder *builder, double value);
int sel_build_argument(sel_builder *builder, int argument);
int sel_build(sel_builder *builder, int op, int a, int b, int c); /* sel_op or sel_rule_op */
int sel_build_lookup(sel_builder *builder, const sel_lookup *lookup, const int *arguments);

/* True, with the value, when the node is a constant. */
bool sel_builder_constant(const sel_builder *builder, int node, double *value);

/* The program for `results` nodes; `fails`: the node that is 1 where they are not those of Lua, or
 * -1. It lives in the arena. NULL when there is no memory or the program would need too many
 * registers. */
const sel_program *sel_builder_finish(const sel_builder *builder, const int *results, int count,
                                      int fails, sel_arena *arena);

/* ---- programs as one block of memory (program_pack.c) ---- */

typedef struct sel_pack sel_pack;

/* NULL: no memory. The programs must live as long as the pack. */
sel_pack *sel_pack_create(void);
void sel_pack_destroy(sel_pack *pack);

/* False for a program with a look-up made from C, whose data have no known form. */
bool sel_pack_can_hold(const sel_program *program);

/* Adds a program and returns its number; data of several programs are stored once. -1: it cannot be
 * packed, or there is no memory. */
int sel_pack_add(sel_pack *pack, const sel_program *program);

/* The block: its size, its content, and the tables of a copy at `block` (aligned to 16 bytes, on
 * any device). */
size_t sel_pack_bytes(const sel_pack *pack);
void sel_pack_write(const sel_pack *pack, void *block);
sel_packed sel_pack_tables(const sel_pack *pack, const void *block);

#endif
