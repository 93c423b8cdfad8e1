/* rule_view.h -- a block of the grid as the kernels of a function of sel.rule see it.
 *
 * Plain C, shared by the host's files, nvcc's, and the text that is compiled at run time.
 */
#ifndef RULE_VIEW_H
#define RULE_VIEW_H

#include "engine/scene/grid.h"
#include "engine/solvers/rule/rule_margin.h"
#include "engine/values/program_eval.h"

enum {
    RULE_LANES = 32 /* threads of a block along a row, */,
    RULE_LANE_ROWS = 4 /* and rows */,
    RULE_THREADS = RULE_LANES * RULE_LANE_ROWS
};

/* The first value that does not fit its field, or call of error. */
typedef struct rule_bad {
    int lock, field; /* field -1: error was called */
    int64_t when;    /* step * functions + function; none: INT64_MAX */
    int64_t which;   /* cell * RULE_ODD + output; the least of that moment */
    double value;
} rule_bad;

typedef struct rule_view {
    const void *from[RULE_FIELDS]; /* the copies that are read, */
    void *to[RULE_FIELDS];         /* and those that are written */
    double *numbers; /* of functions that return numbers: laid out as the arrays, for each output */
    const uint8_t *kind, *odd; /* odd NULL: no piece is */
    const rule_tables *tables; /* of which the kinds of cells are used */
    const double *uniform;     /* [steps][apart], step n at n % steps */
    int64_t uniform_steps, uniform_apart;
    sel_packed packed; /* look-ups */
    rule_bad *bad;
    uint64_t *alarm;      /* the least `when` */
    const int64_t *clock; /* the step is *clock + ahead */
    int64_t ahead;
    const int64_t *halted; /* rules do nothing from this step on; NULL: there is none */
    sel_grid grid;
    int64_t output;              /* from an output's number to the next one's */
    int64_t first_row, end_row;  /* y + ny z; where planes are cut: y - low + height z, */
    int64_t low, height;         /* height 0: they are whole */
    int64_t beyond;              /* rows y + ny z from here on are not in the block */
    int64_t first, pitch, slice; /* of cells in the arrays */
    int64_t pieces;              /* of a row */
    /* Cells beyond the grid are those of the opposite end along periodic axes, along others those
     * before the face, mirrored; else they stand in margins. */
    bool direct;
    uint64_t seed, writes;
    int64_t function, functions;
} rule_view;

#endif
