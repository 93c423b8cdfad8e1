/* rule.h -- functions of a cell and of those about it, as graphs: what the rules of a script are
 * read into, and what sel.rule evaluates.
 */
#ifndef SEL_RULE_H
#define SEL_RULE_H

#include "engine/values/program.h"

typedef enum sel_cell_type { SEL_CELL_REAL, SEL_CELL_I32, SEL_CELL_U8 } sel_cell_type;

/* What a script calls c.NAME: a scalar field, or a component of a vector. */
typedef struct sel_cell_field {
    const char *name;
    sel_cell_type type;
    bool state;       /* rules may return it; else they only read it */
    double low, high; /* of the values that it begins with, as far as is known */
} sel_cell_field;

/* What a rule depends on beside SEL_ON_...: a mask. */
enum { SEL_ON_DT = 32, SEL_ON_STEP = 64 /* by sel.random */, SEL_ON_CELL = 128 /* fields */ };

/* Of an ARGUMENT operand[0] says which (SEL_ARGUMENT_X ...), of a LOOKUP the operands are its
 * arguments. */
typedef struct sel_rule_node {
    int op;         /* sel_op or sel_rule_op */
    int operand[4]; /* earlier nodes */
    double value;   /* of a constant */
    const sel_lookup *lookup;
    int field;
    int8_t at[3];
    bool whole;       /* an integer of Lua, or a condition */
    double low, high; /* bounds of such a number; infinite when there are none */
    unsigned depends; /* SEL_ON_..., of all that it is computed from */
} sel_rule_node;

typedef struct sel_rule_output {
    int field; /* of the list that the rule was read with; of a function that returns plain numbers
                  the number of the value, from 0 */
    int node;
} sel_rule_output;

typedef struct sel_rule {
    sel_where where;
    const char *name; /* of its function, for listings; or "rule" */
    unsigned depends; /* SEL_ON_... */
    int reach[3];     /* the farthest cell that it reads, along each axis */
    int nodes, outputs;
    const sel_rule_node *node; /* operands come before what uses them */
    const sel_rule_output *output;
    int fails; /* the node that is 1 where the function calls error; -1: it never does */
} sel_rule;

/* The kinds of functions. */
typedef enum sel_rule_returns {
    SEL_RETURNS_FIELDS, /* { NAME = value } of state fields; with one of them the bare number too */
    SEL_RETURNS_NUMBERS /* one number, or one for each component of a vector */
} sel_rule_returns;

enum {
    SEL_RULE_WHY = 256,
    SEL_MOST_CELL_FIELDS = 64,
    SEL_MOST_NUMBERS = 3, /* that a function of plain numbers may return */
    SEL_MOST_REACH = 2
};

struct sel_rule_place;

/* A function of the script that is still to be read. */
typedef struct sel_rule_source {
    sel_where where;
    /* Reads the function for cells with these fields in `dims` dimensions, by the thread that
     * prepares the simulation; the rule lives as long as the scenario. Mistakes are errors with
     * their lines. *rule is NULL, with the reason in `why` (of SEL_RULE_WHY bytes), when only Lua
     * can evaluate it. */
    sel_status (*read)(const struct sel_rule_source *self, const sel_cell_field *field, int fields,
                       int dims, sel_rule_returns returns, const sel_rule **rule, char *why,
                       sel_error *error);
    /* Lua's own values at one cell, for a function that was read with these fields; out[k]: of
     * field k (unchanged where it returns none), or number k. Numbers of Lua are those of f64. */
    sel_status (*call)(const struct sel_rule_source *self, const struct sel_rule_place *at,
                       double *out, sel_error *error);
    void *data;
} sel_rule_source;

/* A cell where a rule is evaluated. */
typedef struct sel_rule_place {
    double place[3], t, dt;
    const double *controls;
    /* The value of a field in the cell `at` further. */
    double (*read)(const struct sel_rule_place *self, int field, const int at[3]);
    /* sel.random(k). */
    double (*random)(const struct sel_rule_place *self, int64_t k);
    void *data;
} sel_rule_place;

/* The operands of a node: how many. */
static inline int sel_rule_operands(const sel_rule_node *node) {
    if (node->op < SEL_OP_COUNT) {
        return sel_op_texts[node->op].operands;
    }
    switch (node->op) {
    case SEL_OP_LOOKUP:
        return node->lookup->arguments;
    case SEL_RULE_RANDOM:
    case SEL_RULE_BNOT:
        return 1;
    default:
        return node->op >= SEL_RULE_BAND ? 2 : 0;
    }
}

/* ---- as a program ---- */

typedef struct sel_program_form {
    const sel_cell_field *field; /* that it reads and returns */
    bool single;                 /* reals are floats */
    bool numbers;                /* the outputs are no fields but numbers, which are doubles */
    bool never_fails;            /* calls of error do not count */
    bool stages;                 /* it is a function of place: see program.h */
} sel_program_form;

/* The program of a rule, in the arena. NULL: no memory, or too many slots. */
const sel_program *sel_program_compile(const sel_rule *rule, const sel_program_form *form,
                                       sel_arena *arena);

/* ---- graphs under construction: more for a sel_builder ---- */

int sel_build_read(sel_builder *builder, int field, const int at[3]);

/* The node is whole and lies between the bounds. */
void sel_builder_bounds(sel_builder *builder, int at, double low, double high);

const sel_rule_node *sel_builder_node(const sel_builder *builder, int at);

/* What these outputs need, as a rule in the arena; `fails`: a node, or -1, as which a constant 0
 * counts. NULL: no memory. */
sel_rule *sel_builder_rule(const sel_builder *builder, const sel_rule_output *output, int outputs,
                           int fails, sel_arena *arena);

#endif
