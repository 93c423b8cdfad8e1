/* program.h -- functions of place, time and controls as programs: built, evaluated, printed.
 *
 *     builder (graph of operations)  ->  instructions once per call  ->  instructions per place
 *
 * A builder takes operations one by one as nodes of a graph. Equal nodes are shared, and operations
 * on constants are folded. Finishing keeps the nodes that the results need, as instructions:
 * those that depend on time and controls only run once per call, the others once per place. The
 * places of a call are often rows of cells, so instructions per place are ordered in stages:
 * functions of x alone (reused if the next row has the same x), functions of y and z alone (once
 * per row), the rest.
 */
#ifndef SEL_PROGRAM_H
#define SEL_PROGRAM_H

#include <stdio.h>
#include "engine/values/program_eval.h"
#include "engine/values/quantity.h"

/* The type and the dependencies of a uniform value, one that is the same at all places. */
typedef struct sel_uniform {
    sel_number type;
    unsigned depends; /* SEL_ON_... */
} sel_uniform;

typedef struct sel_program {
    unsigned depends;       /* SEL_ON_... */
    unsigned vary;          /* SEL_ON_... of the uniform values */
    int operations, chains; /* per place; chains: a chain of linked sums and products counts once */
    bool reports;           /* it may call error, or return a value that its field cannot hold */
    bool bytes;             /* machine code may use uint8_t arithmetic that saturates at 255 */
    sel_packed_program layout;
    sel_packed tables;          /* of this program alone, as number 0 */
    const sel_uniform *uniform; /* [layout.uniforms] */
} sel_program;

/* Evaluates the program at all places of `at` into out[results][n], from any thread. `controls`: by
 * index; may be NULL if the program uses none. exact[n]: 1 where the result is that of Lua; 0 where
 * only Lua itself can compute it. SEL_NO_DEVICE: no memory. */
sel_status sel_program_eval(const sel_program *program, const sel_places *at,
                            const double *controls, double *out, uint8_t *exact, sel_error *error);

/* Names and operand counts of the operations before SEL_OP_COUNT. */
typedef struct sel_op_text {
    const char *name; /* "ADD" */
    int operands;
} sel_op_text;
extern const sel_op_text sel_op_texts[];

/* Whether an operation is a comparison of two numbers; whether its result is 0 or 1. */
static inline bool sel_op_compares(int op) {
    return op == SEL_OP_LT || op == SEL_OP_LE || op == SEL_OP_EQ;
}
static inline bool sel_op_is_condition(int op) {
    return sel_op_compares(op) || op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
}

/* Prints the instructions for a reader, one per line. control_names: by index. */
void sel_program_print(const sel_program *program, const char *const *control_names, FILE *to);

/* A graph under construction. Node numbers are >= 0. */
typedef struct sel_builder sel_builder;

/* Creates a builder for at most `limit` nodes. NULL: no memory. */
sel_builder *sel_builder_create(int limit);
void sel_builder_destroy(sel_builder *builder);

/* The number of nodes so far. */
int sel_builder_count(const sel_builder *builder);

/* Each returns a node, or -1 when the limit is reached or memory is short. Equal calls return the
 * same node. Unused operands are 0. */
int sel_build_constant(sel_builder *builder, double value);
int sel_build_argument(sel_builder *builder, int argument);
int sel_build(sel_builder *builder, int op, int a, int b, int c); /* sel_op or sel_rule_op */
int sel_build_lookup(sel_builder *builder, const sel_lookup *lookup, const int *arguments);

/* Whether the node is a constant; *value gets its value. */
bool sel_builder_constant(const sel_builder *builder, int node, double *value);

/* Makes the program, in the arena, whose results are the nodes results[count]. `fails`: the node
 * that is 1 where the results are not those of Lua; -1: they always are. NULL: no memory, or the
 * program would need too many slots. */
const sel_program *sel_builder_finish(const sel_builder *builder, const int *results, int count,
                                      int fails, sel_arena *arena);

/* ---- programs as one block of memory (program_pack.c) ---- */

typedef struct sel_pack sel_pack;

/* Creates an empty pack; the programs to be added must outlive it. NULL: no memory. */
sel_pack *sel_pack_create(void);
void sel_pack_destroy(sel_pack *pack);

/* Whether a program can be packed. A lookup made from C has data of unknown form and cannot. */
bool sel_pack_can_hold(const sel_program *program);

/* Adds a program and returns its number; lookup data that several programs share are stored once.
 * -1: it cannot be packed, or there is no memory. */
int sel_pack_add(sel_pack *pack, const sel_program *program);

/* The size of the block; its content, written to `block`; the tables of a copy of it at `block`,
 * which is aligned to 16 bytes and may be on any device. */
size_t sel_pack_bytes(const sel_pack *pack);
void sel_pack_write(const sel_pack *pack, void *block);
sel_packed sel_pack_tables(const sel_pack *pack, const void *block);

#endif
