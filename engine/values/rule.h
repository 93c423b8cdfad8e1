/* rule.h -- rules: functions of a cell and its neighbours, as graphs. Scripts are read into rules;
 * sel.rule evaluates them.
 */
#ifndef SEL_RULE_H
#define SEL_RULE_H

#include "engine/values/program.h"

typedef enum sel_cell_type { SEL_CELL_REAL, SEL_CELL_I32, SEL_CELL_U8 } sel_cell_type;

/* A field of cells, c.NAME in a script: a scalar field, or a component of a vector. */
typedef struct sel_cell_field {
    const char *name;
    sel_cell_type type;
    bool state;       /* rules may return it; else they only read it */
    double low, high; /* bounds of the initial values, as far as known */
} sel_cell_field;

/* The fields of a scenario's cells, which its functions of cells read and return. */
typedef struct sel_cells {
    const sel_cell_field *field; /* [fields] */
    int fields, dims;
} sel_cells;

/* Further dependencies of rules, beside SEL_ON_X, ...: on dt; on the step, by sel.random; on
 * fields. */
enum { SEL_ON_DT = 32, SEL_ON_STEP = 64, SEL_ON_CELL = 128 };

/* An operation of a graph. ARGUMENT: operand[0] is SEL_ARGUMENT_X, ...; LOOKUP: the operands are
 * its arguments; READ: `field` of the cell at offset `at`. */
typedef struct sel_rule_node {
    int op;         /* sel_op or sel_rule_op */
    int operand[4]; /* earlier nodes */
    double value;   /* of a constant */
    const sel_lookup *lookup;
    int field;
    int8_t at[3];
    bool whole;       /* its value is an integer of Lua, or a condition */
    double low, high; /* bounds of an integer; infinite: unknown */
    unsigned depends; /* SEL_ON_..., with those of its operands */
} sel_rule_node;

typedef struct sel_rule_output {
    int field; /* index in the list of fields that the rule was read with; for a function that
                  returns plain numbers, the index of the number */
    int node;
} sel_rule_output;

typedef struct sel_rule {
    sel_where where;
    const char *name; /* of its function, or "rule"; for listings */
    unsigned depends; /* SEL_ON_... */
    int reach[3];     /* the largest distance of a cell that it reads, by axis */
    int nodes, outputs;
    const sel_rule_node *node; /* operands have lower indices than their users */
    const sel_rule_output *output;
    int fails; /* the node that is 1 where the function calls error; -1: it never does */
} sel_rule;

/* What a function returns. */
typedef enum sel_rule_returns {
    SEL_RETURNS_FIELDS, /* { NAME = value } of state fields; or a number, if there is one field */
    SEL_RETURNS_NUMBERS /* a number, or one per component of a vector */
} sel_rule_returns;

enum {
    SEL_RULE_WHY = 256,
    SEL_MOST_CELL_FIELDS = 64,
    SEL_MOST_NUMBERS = 3, /* of SEL_RETURNS_NUMBERS */
    SEL_MOST_REACH = 2
};

struct sel_rule_place;

/* A function of cells of the script, which was read when the script was loaded. */
typedef struct sel_rule_source {
    sel_where where;
    const sel_rule *rule;     /* NULL: only Lua can evaluate the function, or it has a mistake */
    const char *why;          /* the reason why only Lua can */
    const sel_error *mistake; /* in the text of the function, with its line; NULL: none */
    /* Has Lua evaluate the function at one cell. out[k]: field k (unchanged if the function does
     * not return it), or number k. Numbers are double. NULL: it cannot. */
    sel_status (*call)(const struct sel_rule_source *self, const struct sel_rule_place *at,
                       double *out, sel_error *error);
    void *data;
} sel_rule_source;

/* A cell where a rule is evaluated. */
typedef struct sel_rule_place {
    double place[3], t, dt;
    const double *controls;
    /* The value of a field in the cell at offset `at`. */
    double (*read)(const struct sel_rule_place *self, int field, const int at[3]);
    /* sel.random(k). */
    double (*random)(const struct sel_rule_place *self, int64_t k);
    void *data;
} sel_rule_place;

/* The number of operands of a node. */
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

/* The operation on integers whose value node n is, with -0 turned into 0; -1: it is none. */
static inline int sel_rule_of_integers(const sel_rule_node *node, int n) {
    const int at = node[n].op == SEL_OP_WHOLE && node[n].whole ? node[n].operand[0] : -1;
    const int op = at < 0 ? -1 : node[at].op;
    bool are = op == SEL_OP_UNM || op == SEL_OP_MUL || op == SEL_OP_MOD || op == SEL_OP_FMOD ||
               op == SEL_OP_IDIV;
    for (int k = 0; are && k < sel_rule_operands(&node[at]); k++) {
        are = node[node[at].operand[k]].whole;
    }
    return are ? at : -1;
}

/* ---- compiling a rule into a program ---- */

typedef struct sel_program_form {
    const sel_cell_field *field; /* the fields that the rule reads and returns */
    bool single;                 /* reals are float; else double */
    bool numbers;                /* the outputs are plain numbers, which are double; else fields */
    bool never_fails;            /* ignores calls of error */
    bool stages; /* a function of place: orders instructions by stages (program.h) */
} sel_program_form;

/* Compiles a rule into a program, in the arena. NULL: no memory, or too many slots. */
const sel_program *sel_program_compile(const sel_rule *rule, const sel_program_form *form,
                                       sel_arena *arena);

/* ---- building the graph of a rule (sel_builder: program.h) ---- */

int sel_build_read(sel_builder *builder, int field, const int at[3]);

/* Notes that the value of a node is an integer between bounds. */
void sel_builder_bounds(sel_builder *builder, int at, double low, double high);

const sel_rule_node *sel_builder_node(const sel_builder *builder, int at);

/* Makes a rule, in the arena, of the nodes that output[outputs] need. `fails`: the node that is 1
 * where the function calls error; -1, or a constant 0: it never does. NULL: no memory. */
sel_rule *sel_builder_rule(const sel_builder *builder, const sel_rule_output *output, int outputs,
                           int fails, sel_arena *arena);

#endif
