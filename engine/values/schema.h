/* schema.h -- the schema of a scenario: descriptions of its tables, from which tables are filled,
 * checked and documented.
 *
 * A sel_table describes a C struct: one sel_table_field per member that a script may set. The Lua
 * layer uses it to fill the struct and to report unknown, missing and wrongly typed fields.
 * `selenite help TABLE` prints it, and the editor annotations are generated from it. Nothing else
 * lists the fields: a new field is one row in its table, and its use in the solver.
 */
#ifndef SEL_SCHEMA_H
#define SEL_SCHEMA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "engine/values/quantity.h"

struct sel_table;
struct sel_family;
struct sel_shape;

/* A value made by a constructor such as law.wall{} or out.vtk{}: the table of the constructor, and
 * the struct that it describes. table == NULL: not given. */
typedef struct sel_variant {
    const struct sel_table *table;
    void *data;
    sel_where where;
} sel_variant;

typedef struct sel_ints {
    int n; /* 0: not given */
    int64_t v[3];
} sel_ints;

typedef struct sel_point {
    int n; /* 0: not given; else 2 or 3; also 1 for a spacing */
    double v[3];
} sel_point;

typedef struct sel_points {
    int n;
    sel_point *v;
} sel_points;

typedef struct sel_names {
    int n;
    const char **v;
} sel_names;

typedef struct sel_values {
    int n;
    double *v;
} sel_values;

/* An item, such as a column, by its name or by its number from 1. Neither: not given. */
typedef struct sel_key {
    const char *name;
    int64_t number;
} sel_key;

typedef struct sel_list {
    int n;
    void *v; /* n structs of the field's table, or n sel_variant of its family */
    sel_where *where;
} sel_list;

struct sel_hook_run;
struct sel_checkpoint;

/* A function of the scenario that a run calls between steps. */
typedef struct sel_callback {
    sel_where where;
    /* Fails when the function does, with its line. */
    sel_status (*call)(const struct sel_callback *self, struct sel_hook_run *run, sel_error *error);
    /* Saves the data that the functions of a run keep between calls to a checkpoint, or loads them.
     * NULL: there are none. */
    void (*keep)(const struct sel_callback *self, struct sel_hook_run *run,
                 struct sel_checkpoint *checkpoint);
    void *data;
} sel_callback;

typedef struct sel_named_number {
    const char *name;
    double value;
} sel_named_number;

typedef struct sel_numbers {
    int n;
    sel_named_number *v;
} sel_numbers;

typedef struct sel_named_choice {
    const char *name;
    int choice; /* index in the field's choices */
    sel_where where;
} sel_named_choice;

typedef struct sel_named_choices {
    int n;
    sel_named_choice *v;
} sel_named_choices;

typedef struct sel_named_quantity {
    const char *name;
    sel_quantity value; /* of one component, or of one per dimension */
    sel_where where;
} sel_named_quantity;

typedef struct sel_named_quantities {
    int n;
    sel_named_quantity *v;
} sel_named_quantities;

struct sel_rule_source;

/* Functions of cells (engine/values/rule.h); names are NULL in a plain list. */
typedef struct sel_named_rule {
    const char *name;
    const struct sel_rule_source *source;
} sel_named_rule;

typedef struct sel_named_rules {
    int n;
    sel_named_rule *v;
} sel_named_rules;

typedef struct sel_named_variant {
    const char *name; /* NULL: for all names without a variant of their own */
    sel_variant value;
} sel_named_variant;

typedef struct sel_named_variants {
    int n; /* 0: not given */
    sel_named_variant *v;
    sel_where where;
} sel_named_variants;

/* What a field holds in Lua, and the C type of the member that it fills. */
typedef enum sel_kind {
    SEL_KIND_BOOL,      /* bool */
    SEL_KIND_INT,       /* int64_t */
    SEL_KIND_NUMBER,    /* double */
    SEL_KIND_STRING,    /* const char *, NULL when not given */
    SEL_KIND_FILE,      /* const char *: the path to open; in Lua relative to the script */
    SEL_KIND_KEY,       /* sel_key: a string or a whole number >= 1 */
    SEL_KIND_CHOICE,    /* int: index in `choices`; a string in Lua */
    SEL_KIND_FLAGS,     /* unsigned: bit k for choices[k]; a list of strings in Lua */
    SEL_KIND_SIZE,      /* sel_ints: 2 or 3 whole numbers >= 1 */
    SEL_KIND_POINT,     /* sel_point: 2 or 3 numbers */
    SEL_KIND_POINTS,    /* sel_points: one point or a list of points */
    SEL_KIND_NAMES,     /* sel_names: one string or a list of strings */
    SEL_KIND_VALUES,    /* sel_values: a list of numbers */
    SEL_KIND_NUMBERS,   /* sel_numbers: { NAME = number } in the script's order */
    SEL_KIND_SPACING,   /* sel_point: a number for all axes (n == 1), or one per axis */
    SEL_KIND_QUANTITY,  /* sel_quantity of one component */
    SEL_KIND_VECTOR,    /* sel_quantity with a component per dimension */
    SEL_KIND_PREDICATE, /* const sel_function *: returns a boolean, seen in C as 0 or 1 */
    SEL_KIND_CALLBACK,  /* const sel_callback *, NULL when not given */
    SEL_KIND_UNITS,     /* const struct sel_units *, made by sel.units; NULL when not given */
    SEL_KIND_RASTER,    /* const struct sel_lookup *, made by sel.raster; NULL when not given */
    SEL_KIND_SHAPE,     /* const struct sel_shape *, NULL when not given */
    SEL_KIND_TABLE,     /* the struct of `table`, nested by value */
    SEL_KIND_LIST,      /* sel_list of structs of `table` */
    SEL_KIND_VARIANT,   /* sel_variant of `family` */
    SEL_KIND_VARIANTS,  /* sel_list of sel_variant of `family` */
    /* Maps are in the script's order. */
    SEL_KIND_NAMED_CHOICES,    /* sel_named_choices: { NAME = string }, one of `choices` */
    SEL_KIND_NAMED_QUANTITIES, /* sel_named_quantities: { NAME = quantity or vector } */
    SEL_KIND_RULE,             /* const struct sel_rule_source *, returns numbers; NULL when not
                                  given */
    SEL_KIND_RULES,            /* sel_named_rules: a function or a list of functions, which return
                                  fields */
    SEL_KIND_NAMED_RULES,      /* sel_named_rules: { NAME = function }, which return numbers */
    SEL_KIND_NAMED_VARIANTS    /* sel_named_variants of `family`: one, or { NAME = variant } */
} sel_kind;

enum {
    SEL_REQUIRED = 1,
    SEL_POSITIONAL = 2,    /* may stand without its name: law.velocity { 0.1, 0 } */
    SEL_POSITIVE = 4,      /* a number or integer must be > 0 */
    SEL_ANY_DIMS = 8,      /* a point whose dimensions the table's own check compares */
    SEL_RESULT = 16,       /* STRING, NAMES of an output: names of fields of the results */
    SEL_ONE_FOR_ALL = 32,  /* a VECTOR may be one quantity for all axes: components == 1 */
    SEL_BARE = 64,         /* a TABLE may be a plain value: that of its first field */
    SEL_OF_PLACE = 128,    /* a QUANTITY, VECTOR may depend on place only */
    SEL_NOT_NEGATIVE = 256 /* a number must be >= 0 */
};

typedef struct sel_table_field {
    const char *name; /* in Lua */
    sel_kind kind;
    unsigned flags;
    size_t offset;   /* of the member in the C struct */
    const char *doc; /* one sentence, with units and the effect of not giving it */
    double preset;   /* BOOL, INT, NUMBER, SPACING, CHOICE: the default; none: SEL_NOT_GIVEN, or -1
                        for CHOICE */
    const char *const *choices; /* CHOICE, FLAGS: NULL-terminated */
    const struct sel_table *table;
    const struct sel_family *family;
} sel_table_field;

/* The preset of an INT or a NUMBER that has no default: the member is SEL_INT_NOT_GIVEN, or NaN. */
#define SEL_NOT_GIVEN (__builtin_nan(""))
#define SEL_INT_NOT_GIVEN INT64_MIN

/* A row of a field list. SEL_ROW: the member has the same name as in Lua; SEL_ROW_NAMED: another
 * one. Designators behind the doc set further members:
 *     SEL_ROW(sel_stop, steps, INT, "Steps after which the run ends.", .preset = SEL_NOT_GIVEN) */
#define SEL_ROW(type, member, holds, text, ...) \
    SEL_ROW_NAMED(#member, type, member, holds, text, __VA_ARGS__)
#define SEL_ROW_NAMED(lua_name, type, member, holds, text, ...)                                    \
    {                                                                                              \
        .name = lua_name, .kind = SEL_KIND_##holds, .offset = offsetof(type, member), .doc = text, \
        __VA_ARGS__                                                                                \
    }

typedef struct sel_table {
    const char *name;  /* as the script writes it: "sel.lbm", "law.wall", "stop" */
    const char *usage; /* of a function that help lists among the tables: its call; NULL: a table */
    const char *doc;   /* one or two sentences */
    size_t size;       /* of the C struct */
    bool has_where;    /* the struct begins with a sel_where that gets the table's place */
    bool faces_only;   /* a law for faces only, not for cells */
    const sel_table_field *fields;
    int count;
    /* Checks the filled struct beyond types, and appends every mistake to `error`; SEL_OK: there is
     * none. NULL: no check. */
    sel_status (*check)(const void *data, sel_where where, sel_error *error);
} sel_table;

/* The table of a struct with the field list `rows`; designators behind the doc set further
 * members. */
#define SEL_TABLE(lua_name, type, rows, text, ...)                           \
    {                                                                        \
        .name = lua_name, .doc = text, .size = sizeof(type), .fields = rows, \
        .count = sizeof(rows) / sizeof *(rows), __VA_ARGS__                  \
    }

/* The constructors that are allowed in one place, such as all laws of a solver, or all outputs. */
typedef struct sel_family {
    const char *name; /* "law", "out", "shape": sel.law.wall is the table "law.wall" */
    const char *doc;
    const sel_table *const *tables;
    int count;
} sel_family;

/* Sets every member that `table` describes to its default; `data` must be zeroed. */
void sel_table_presets(const sel_table *table, void *data);

/* Prints the numbers, strings and choices of a member, each after a blank: for comparison. */
void sel_member_print(const sel_table_field *field, const void *member, FILE *to);

/* The same for all members of a table's struct. */
void sel_table_print(const sel_table *table, const void *data, FILE *to);

/* The table of `family` whose name ends in ".NAME", or NULL. */
const sel_table *sel_family_find(const sel_family *family, const char *name);

/* All tables and families that a script can use, each once, in reading order: for help, annotations
 * and the reference. */
enum { SEL_MOST_TABLES = 128, SEL_MOST_FAMILIES = 16 };
typedef struct sel_schema {
    int table_count, family_count;
    const sel_table *tables[SEL_MOST_TABLES];
    const sel_family *families[SEL_MOST_FAMILIES];
} sel_schema;

sel_schema sel_schema_collect(void);

/* Prints the help of everything with this name: commands, options, tables, families, fields of
 * results, functions of scripts; with NULL, a list. SEL_BAD_USAGE with "did you mean" when
 * there is no such name. */
sel_status sel_help(FILE *to, const char *name, sel_error *error);

/* Completion of command lines for "bash" or "zsh"; SEL_BAD_USAGE for another shell. */
sel_status sel_help_completion(FILE *to, const char *shell, sel_error *error);

/* The type of a kind in editor annotations, such as "integer"; NULL: a kind with choices, a table
 * or a family. */
const char *sel_kind_annotation(sel_kind kind);

/* The kind of a field in words: "number", "list of shapes", "one of \"trt\", \"bgk\"". */
void sel_kind_text(const sel_table_field *field, char *text, size_t size);

/* The kind with the default: "number; default 1", "string; required". */
enum { SEL_FIELD_ROOM = 704 };
void sel_field_text(const sel_table_field *field, char text[SEL_FIELD_ROOM]);

/* Prints docs/reference.md: all tables and families as Markdown. */
void sel_reference_markdown(FILE *to);

#endif
