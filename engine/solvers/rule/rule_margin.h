/* rule_margin.h -- what laws put into the arrays of sel.rule: margins about its cells, and cells
 * under laws; as the processor and the device do (rule_laws.c, engine/solvers/rule/rule.cu). C11
 * and C++17, with the qualifiers of functions that devices compile.
 */
#ifndef SEL_RULE_MARGIN_H
#define SEL_RULE_MARGIN_H

#include "engine/values/lookup_value.h"

enum {
    RULE_FIELDS = 64, /* SEL_MOST_CELL_FIELDS */
    RULE_FACES = 6,
    RULE_REGIONS = 256,
    RULE_WHERE = 8, /* sel_input.which: RULE_WHERE entry + where (rule_inputs.c) */
    RULE_ODD = 128  /* in a cell's kind: it is not computed like others, or sees a wall */
};

/* What holds in a region, for a field. */
typedef enum rule_law_kind {
    RULE_FREE, /* on a shape: as elsewhere */
    RULE_WALL,
    RULE_FIXED,
    RULE_FIXED_FACE,
    RULE_MIRROR,
    RULE_GRADIENT
} rule_law_kind;

/* Places on a line that one law fills: of a margin, or cells of the grid. */
typedef struct rule_run {
    int64_t to, from, stride; /* elements of an array: the first, what it mirrors, to the next */
    int64_t number;           /* of the first among the places that have values of laws */
    int32_t at[3], count;
    uint8_t region, layer;
    int8_t face; /* -1: copies from elsewhere in the grid; RULE_FACES: cells of the grid */
} rule_run;
enum { RULE_RUN = 128 /* the most places of one, and threads that fill it */ };

/* The arrays, and the laws. */
typedef struct rule_tables {
    void *at[RULE_FIELDS][2];
    double *law[RULE_FIELDS]; /* values of laws, by the number of a place */
    rule_run *run;
    /* By kind of cell: fields whose readers see their own value; state fields not computed. */
    uint64_t walls[RULE_ODD], held[RULE_ODD];
    /* rule_law_kind, beyond faces and in cells; those of region 0 are free. */
    uint8_t kind[2][RULE_REGIONS][RULE_FIELDS];
    uint8_t type[RULE_FIELDS]; /* sel_cell_type */
    double dx[3];
    int wide; /* reals are doubles */
} rule_tables;

/* ---- numbers of a field ---- */

/* type: a sel_cell_type. */
SEL_VALUE_INLINE double rule_number(int type, int wide, const void *array, int64_t at) {
    return type == 1   ? ((const int32_t *)array)[at]
           : type == 2 ? ((const uint8_t *)array)[at]
           : wide      ? ((const double *)array)[at]
                       : (double)((const float *)array)[at];
}

SEL_VALUE_INLINE void rule_set(int type, int wide, void *array, int64_t at, double value) {
    if (type == 1) {
        ((int32_t *)array)[at] = (int32_t)value;
    } else if (type == 2) {
        ((uint8_t *)array)[at] = (uint8_t)value;
    } else if (wide) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}

SEL_VALUE_INLINE bool rule_has_value(int law) {
    return law == RULE_FIXED || law == RULE_FIXED_FACE || law == RULE_GRADIENT;
}

/* Fills place k of a run in a copy of a field. */
SEL_VALUE_INLINE void rule_fill_place(const rule_tables *t, const rule_run *run, int k, int f,
                                      int turn) {
    const int law = t->kind[run->face == RULE_FACES][run->region][f];
    double value = rule_number(t->type[f], t->wide, t->at[f][turn], run->from + k * run->stride);
    if (rule_has_value(law)) {
        const double given = t->law[f][run->number + k];
        value = law == RULE_FIXED        ? given
                : law == RULE_FIXED_FACE ? 2 * given - value
                : given == 0             ? value /* also -0: the mirror image */
                             : value + given * (2 * run->layer + 1) * t->dx[run->face / 2];
    }
    rule_set(t->type[f], t->wide, t->at[f][turn], run->to + k * run->stride, value);
}

#endif
