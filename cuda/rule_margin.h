/* rule_margin.h -- what the kernels of sel.rule see of all blocks, and a margin of them along one
 * axis (engine/solvers/rule/rule_laws.c). Plain C.
 */
#ifndef RULE_MARGIN_H
#define RULE_MARGIN_H

#include "cuda/rule_view.h"

enum { RULE_BLOCKS = 8, RULE_FACES = 6 };

/* The arrays of all blocks, on the device. */
typedef struct rule_tables {
    void *at[RULE_BLOCKS][RULE_VIEW_FIELDS][2];
    const double *law[RULE_VIEW_FIELDS][RULE_FACES];
    const uint8_t *face[RULE_FACES]; /* regions of the sites */
    uint8_t beyond[256][RULE_VIEW_FIELDS];
    uint8_t type[RULE_VIEW_FIELDS]; /* sel_cell_type */
    int64_t block_first[RULE_BLOCKS], block_end[RULE_BLOCKS];
} rule_tables;

typedef struct rule_margin {
    const rule_tables *tables;
    uint64_t fields, turns; /* bit f: of field f; its present copy */
    int64_t n[3], first, pitch, slice;
    double dx;
    unsigned periodic;
    int dims, reach, axis, blocks, wide; /* wide: reals are doubles */
} rule_margin;

enum { RULE_MARGIN_THREADS = 128 /* of a block */ };

/* How many threads a block of the grid needs at most, and how many of them lie along a line. */
static inline void rule_margin_places(const rule_margin *m, int64_t *along, int64_t *most) {
    const int first = m->axis == 0 ? 1 : 0, across = m->dims == 2 ? 2 : 3 - m->axis - first;
    *along = m->n[first] + 2 * m->reach;
    *most = *along * (m->dims == 2 ? 1 : m->n[across] + 2 * m->reach) * 2 * m->reach;
}

#endif
