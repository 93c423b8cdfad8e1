/* rule.h -- sel.rule: its parameters, what it makes of the script's functions, its plan, its state.
 */
#ifndef SEL_SOLVER_RULE_H
#define SEL_SOLVER_RULE_H

#include "engine/core/collectives.h"
#include "engine/solvers/rule/rule_margin.h"
#include "engine/values/program_row.h"

/* ---- what a script gives ---- */

enum { RULE_REAL, RULE_VECTOR, RULE_I32, RULE_U8 }; /* rule_params.state */

typedef struct rule_dt {
    double max; /* the step itself where there is no limit; NaN: not given */
    const sel_rule_source *limit;
    double factor;
    int64_t every;
} rule_dt;

enum { RULE_AT_CELL, RULE_AT_FACE };

/* Of law.fixed and law.gradient. */
typedef struct rule_law {
    sel_quantity value;
    int at;
} rule_law;

typedef struct rule_params {
    sel_common common;
    sel_named_choices state;
    sel_named_rules rule, derived;
    sel_named_quantities data, initial;
    rule_dt dt;
    sel_names conserved;
    const char *main;
    sel_named_variants nodata;
    int64_t seed;
    bool exact;
} rule_params;

extern const sel_table rule_table, rule_fixed_table, rule_wall_table, rule_mirror_table,
    rule_gradient_table;
extern const sel_family rule_law_family;
extern const sel_solver rule_solver;

/* ---- the model: the fields and functions of a scenario (rule_model.c) ---- */

/* What a user calls a field: a scalar, or a vector with its components in a row. */
typedef struct rule_entry {
    const char *name;
    int first, components; /* in rule_model.field */
    bool state;
    const sel_quantity *value; /* of data, or initial; NULL: not given */
    sel_where where;
} rule_entry;

#define RULE_ALL (~UINT64_C(0)) /* a mask */

/* Masks are of cell fields. */
typedef struct rule_function {
    const sel_rule_source *source;
    const char *name;
    const sel_rule *rule;    /* NULL: Lua evaluates it at each cell, */
    const char *why;         /* for this reason */
    const sel_program *code; /* of Lua's the outputs alone */
    int first;               /* where its uniform values stand in a row of those of all */
    uint64_t reads, looks;   /* of the cell or others; of others */
    uint64_t writes, turns;  /* turns: the new value goes to the other copy */
} rule_function;

/* The scenario's, which describes the fields; and that of a plan, a copy with the functions in the
 * plan's precision. */
typedef struct rule_model {
    sel_solver solver; /* with the fields of this scenario */
    const rule_params *params;
    sel_arena *arena;
    int dims;
    int entries, states, fields;
    sel_cells cells;                        /* field[fields] */
    rule_entry entry[SEL_MOST_CELL_FIELDS]; /* state, then data */
    /* Of all entries, and of those of the state; ended by NULL. */
    const char *name[SEL_MOST_CELL_FIELDS + 1], *state_name[SEL_MOST_CELL_FIELDS + 1];
    sel_cell_field field[SEL_MOST_CELL_FIELDS];
    int entry_of[SEL_MOST_CELL_FIELDS];
    const char *saved[SEL_MOST_CELL_FIELDS]; /* what its array is called in checkpoints */
    int rules, deriveds, functions;
    int main;              /* entry */
    uint64_t reals, bytes; /* state fields of these types */
    /* Of a plan: */
    int precision, reach;    /* reach: of all functions, along all axes */
    rule_function *function; /* the rules, derived fields, then dt.limit if it is given */
    int uniforms, slots;     /* of all functions; the most of one */
    uint64_t doubled;        /* fields of two copies */
    uint64_t swapping;       /* whose present copy is another one after each step */
    /* One function of one or two fields of reals that looks at cells beside, in 2-D. */
    bool simple;
} rule_model;

/* Bytes of a field's number. */
static inline int rule_size(const rule_model *m, int field) {
    const sel_cell_type type = m->field[field].type;
    return type == SEL_CELL_U8 ? 1 : type == SEL_CELL_I32 || m->precision == SEL_F32 ? 4 : 8;
}

/* Of one number of each of these fields. */
int rule_bytes(const rule_model *m, uint64_t fields);

/* Function k as the script gives it: its source, name and graph. */
rule_function rule_function_at(const rule_params *params, int k);

/* sel_solver.name_cells, name_fields */
sel_status rule_name_cells(sel_simulation *simulation, sel_arena *arena, sel_error *error);
sel_status rule_name_fields(sel_simulation *simulation, sel_arena *arena, sel_error *error);
/* Makes the model of a plan, in the arena. */
sel_status rule_model_compile(const sel_simulation *simulation, int precision, sel_arena *arena,
                              const rule_model **model, sel_error *error);

/* ---- the plan ---- */

typedef struct rule_plan {
    sel_plan base;
    sel_arena *arena; /* of the model */
    const rule_model *model;
    struct rule_audit *audit; /* NULL: none */
    unsigned law_depends;     /* of all values of laws */
    sel_inputs inputs;        /* the data, and the values of laws; each state lists their places */
} rule_plan;

/* Of an entry in a region. */
typedef struct rule_holds {
    rule_law_kind kind;
    const rule_law *law; /* NULL: it has no value */
} rule_holds;
rule_holds rule_law_of(const sel_domain *domain, int region, const char *name, bool state,
                       bool beyond);
const rule_law *rule_law_value(const rule_plan *plan, int region, int entry);

/* ---- data and values of laws as inputs (rule_inputs.c) ---- */

/* Lists plan->inputs. */
sel_status rule_inputs_list(rule_plan *plan, sel_error *error);
/* sel_solver.list_places: of laws that vary. */
bool rule_list_places(sel_state *base, sel_inputs *inputs);
/* sel_cpu.store, .cells and .derive */
sel_input_store rule_store;
sel_input_cells_of rule_cells;
void rule_derive(sel_state *base);
/* Refuses a value that a field of whole numbers cannot hold. */
sel_status rule_check_value(const rule_plan *plan, const char *what, int f, double value,
                            int64_t cell, sel_error *error);

/* The audit of steps in single precision (rule_audit.c): prepares it; frees it; sel_solver.audit.
 */
sel_status rule_audit_find(rule_plan *plan, sel_error *error);
void rule_audit_clear(rule_plan *plan);
const sel_audit_reads *rule_audit_reads(const sel_plan *plan);
bool rule_audit_step(const sel_state *state, int64_t step, const double *const *values, int k,
                     sel_audit *found);

/* ---- the state (rule_state.c, rule_laws.c) ----
 *
 * Each cell field is an array with margins as wide as the reach about its cells. Before a function
 * is evaluated the margins of what it looks at are filled, axis after axis, by the laws beyond
 * faces. What sees its own value at a wall cannot stand there: `kind` says of each cell and place
 * of a margin for which fields it is a wall.
 */

/* Sections of the list of runs: the margins along each axis, and cells whose values laws give. */
enum { RULE_IN_CELLS = 3, RULE_SECTIONS };

typedef struct rule_state {
    sel_state base;
    const rule_plan *plan;
    const rule_model *model;
    rule_tables tables;
    int64_t first_run[RULE_SECTIONS + 1]; /* of each section, in tables.run */
    int64_t places;                       /* that have values of laws */
    bool valued[2][SEL_REGION_NUMBERS];   /* regions with such, beyond faces and in cells */
    uint64_t turns;                       /* fields whose present copy is the second one */
    uint8_t *kind;                        /* number in walls[] and held[], and RULE_ODD */
    int kinds;                            /* the first is of cells like all others */
    bool too_many;                        /* of them */
    uint8_t *odd;                         /* [rows of own planes][pieces]: it has such cells */
    double *start;                        /* sums of what is conserved at step 0 */
    struct {
        int64_t cell;
        int field; /* -1: the function fails */
        double value;
    } bad;             /* the first cell with a value that does not fit; cell -1: none */
    sel_status status; /* of functions that Lua evaluates, on the calling thread alone */
} rule_state;

/* The layout of all fields, and of the kinds of cells. */
static inline const sel_layout *rule_layout(const rule_state *state) {
    return &state->base.field[0].layout;
}

/* An element of a field's array. */
static inline int64_t rule_place(const rule_state *state, int64_t x, int64_t y, int64_t z) {
    const sel_layout *layout = rule_layout(state);
    return layout->origin + z * layout->slice + y * layout->pitch + x;
}

/* The first of a row of cells, y + ny z. */
static inline int64_t rule_row(const rule_state *state, int64_t row) {
    return rule_layout(state)->origin + sel_layout_row(rule_layout(state), row);
}

/* A field's numbers in the present copy. */
static inline void *rule_copy(const rule_state *state, int f) {
    return state->tables.at[f][state->turns >> f & 1];
}
static inline double rule_value(const rule_state *state, int f, int64_t at) {
    return rule_number(state->tables.type[f], state->tables.wide, rule_copy(state, f), at);
}
/* Which copy of each field holds the state of `step`: a bit per field. */
static inline uint64_t rule_turns(const rule_state *state, int64_t step) {
    uint64_t turns = 0;
    for (int f = 0; f < state->model->fields; f++) {
        turns |= (uint64_t)sel_copy_at(&state->base, &state->base.field[f], step) << f;
    }
    return turns;
}

/* halo: the planes of other ranks that a pass looks at; 0: the reach. */
void rule_list(sel_state *base, int halo);
sel_status rule_start(sel_state *base, sel_error *error);
/* sel.random(k) */
double rule_random(const rule_plan *plan, int64_t cell, int64_t step, int64_t k);
/* Notes a value that does not fit its field in state->bad, unless an earlier cell has one. */
void rule_note_bad(rule_state *state, int64_t cell, int field, double value);
/* The error of a function that gives up in a cell where nobody asks Lua. */
sel_status rule_fail_in(const rule_state *state, const rule_function *f, int64_t cell,
                        sel_error *error);
/* The error of state->bad, in the step to come; SEL_OK: there is none. */
sel_status rule_report_bad(rule_state *state, const rule_function *f, sel_error *error);
/* sel_cpu.time_step and cuda_solver.time_step: by dt.limit. */
sel_status rule_time_step(sel_state *base, double *dt, sel_error *error);
enum { RULE_COLUMN = 64 };
/* Number k of what is conserved, as a field; the main field where nothing is said to be. */
int rule_conserved(const rule_model *m, int k, int *component);
static inline int rule_conserved_count(const rule_model *m) {
    return m->params->conserved.n ? m->params->conserved.n : 1;
}
/* Component c of what is conserved as its column of out.balance is called; that of the sum ends in
 * "_sum". False: it is none of its components. */
bool rule_conserved_column(const rule_model *m, int k, int c, char name[RULE_COLUMN]);
/* Sums of it over the cells that are not solid, by component; those at step 0. */
sel_status rule_sum(sel_state *base, int k, double sum[3], sel_error *error);
sel_status rule_start_sums(sel_state *base, sel_error *error);
/* What SEL_BALANCE gives for number k of what is conserved, of which these are the sums. */
void rule_add_terms(const rule_state *state, int k, const double sum[3], sel_request *request);
/* Pieces of a row. */
static inline int rule_pieces(int64_t nx) {
    return (int)((nx + SEL_ROW - 1) / SEL_ROW);
}

/* The kinds of laws, and arrays of runs and values; lists the runs, or counts them only while there
 * is no memory. */
void rule_list_laws(rule_state *state);
void rule_list_runs(rule_state *state);
/* The kinds of laws alone. */
void rule_find_laws(rule_state *state);
/* Evaluates all laws at step 0, and puts their values into cells; the second function only puts
 * them there. */
sel_status rule_start_laws(rule_state *state, sel_error *error);
void rule_fill_cells(rule_state *state);
/* Which cells are walls, or not computed; once the data are there. */
sel_status rule_find_kinds(rule_state *state, sel_error *error);
/* Where a field is not computed it keeps its value: passes take turns with its copies, so both get
 * the present value. The second function: whether there are such cells. On the host. */
void rule_hold_cells(rule_state *state);
bool rule_holds_cells(const rule_state *state);
/* ---- cells that Lua evaluates (rule_lua.c) ---- */

/* Cells where the program of a function leaves the values to Lua, with their fields as they are
 * before the function: it may store in place. */
typedef struct rule_lua_cells {
    int64_t count, room;
    double *record;  /* [room][...]: a cell's number, then its fields; later Lua's numbers */
    bool full;       /* there was no memory for another one */
    sel_error error; /* of the first cell where Lua fails */
} rule_lua_cells;

/* The fields of a cell: those in `own`, which are those of the state where it is NULL. */
void rule_lua_keep(const rule_state *state, int64_t cell, const double *own, double *out);
/* What Lua gives in a cell, by field or number; out[] is unchanged where it gives none. By the
 * thread that loaded the script. */
sel_status rule_lua_call(const rule_state *state, const rule_function *f, int64_t cell,
                         const double *own, double *out, sel_error *error);
/* Adds a cell, by any thread. */
void rule_lua_note(const rule_state *state, rule_lua_cells *cells, int64_t cell);
/* Stores what Lua gives in the cells noted, in their order, and forgets them. The first that fails
 * or does not fit is state->bad. */
void rule_lua_take(rule_state *state, const rule_function *f, rule_lua_cells *cells);
/* Of a function that is no rule: puts Lua's numbers into the records; and those at cells x0 <= x <
 * x1 of a row into the numbers of the row: number c of x at to[c nx + x - x0]. */
sel_status rule_lua_numbers(const rule_state *state, const rule_function *f, rule_lua_cells *cells,
                            sel_error *error);
void rule_lua_put(const rule_state *state, const rule_function *f, const rule_lua_cells *cells,
                  int64_t row, int64_t x0, int64_t x1, double *to);
void rule_lua_free(rule_lua_cells *cells);

/* Lists what is to be exchanged of fields in the copies `turns`; returns how many. */
int rule_list_exchanges(const rule_state *state, uint64_t fields, uint64_t turns, int depth,
                        sel_exchange what[SEL_MOST_CELL_FIELDS]);
/* Fills the margins of these fields. */
void rule_fill_margins(rule_state *state, uint64_t fields);

extern const struct sel_cpu rule_on_cpu;
#ifdef SEL_CUDA
extern const struct cuda_solver rule_on_cuda;
#endif

#endif
