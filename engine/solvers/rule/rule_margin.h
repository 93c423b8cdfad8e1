/* rule_margin.h -- the margins about the blocks of sel.rule, as the processor and the device fill
 * them (rule_laws.c, cuda/rule_margin.cuh). C11 and C++17.
 */
#ifndef SEL_RULE_MARGIN_H
#define SEL_RULE_MARGIN_H

#include "engine/solvers/rule/rule_code.h"

#if defined(__CUDACC__)
#define RULE_INLINE static __host__ __device__ inline
#else
#define RULE_INLINE static inline
#endif

enum { RULE_BLOCKS = 8, RULE_FACES = 6 };

/* What holds in a region, for a field. */
typedef enum rule_law_kind {
    RULE_FREE, /* on a shape: as elsewhere */
    RULE_WALL,
    RULE_FIXED,
    RULE_FIXED_FACE,
    RULE_MIRROR,
    RULE_GRADIENT
} rule_law_kind;

/* The arrays of all blocks, and the laws. */
typedef struct rule_tables {
    void *at[RULE_BLOCKS][RULE_FIELDS][2];
    const double *law[RULE_FIELDS][RULE_FACES]; /* values at the places beyond a face */
    const uint8_t *face[RULE_FACES];            /* regions of the sites */
    uint8_t beyond[256][RULE_FIELDS];           /* rule_law_kind */
    uint8_t type[RULE_FIELDS];                  /* sel_cell_type */
    int64_t block_first[RULE_BLOCKS], block_end[RULE_BLOCKS];
} rule_tables;

/* The margins of some fields along an axis. Those of the axes before it are filled already, and
 * with the rest. */
typedef struct rule_margin {
    const rule_tables *tables;
    uint64_t fields, turns; /* bit f: of field f; its present copy */
    int64_t n[3], first, pitch, slice;
    double dx;
    unsigned periodic;
    int dims, reach, axis, blocks, wide; /* wide: reals are doubles */
} rule_margin;

/* ---- numbers of a field ---- */

/* type: a sel_cell_type. */
RULE_INLINE double rule_number(int type, int wide, const void *array, int64_t at) {
    return type == 1   ? ((const int32_t *)array)[at]
           : type == 2 ? ((const uint8_t *)array)[at]
           : wide      ? ((const double *)array)[at]
                       : (double)((const float *)array)[at];
}

RULE_INLINE void rule_set(int type, int wide, void *array, int64_t at, double value) {
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

/* ---- places of a margin ---- */

/* The axes across that of a margin. */
RULE_INLINE int rule_low_axis(const rule_margin *m) {
    return m->axis == 0 ? 1 : 0;
}
RULE_INLINE int rule_high_axis(const rule_margin *m) {
    return m->axis == 2 ? 1 : 2;
}

/* Places beyond a face, in one layer: its sites, with margins. */
RULE_INLINE void rule_extents(const rule_margin *m, int64_t extent[2]) {
    extent[0] = m->n[rule_low_axis(m)] + 2 * m->reach;
    extent[1] = m->dims == 3 ? m->n[rule_high_axis(m)] + 2 * m->reach : 1;
}

/* Ranges of the cells of a block beside which the margin's places stand. */
RULE_INLINE void rule_ranges(const rule_margin *m, int block, int64_t low[3], int64_t high[3]) {
    for (int a = 0; a < 3; a++) {
        const bool slow = a == m->dims - 1, done = a < m->axis;
        low[a] = a >= m->dims ? 0 : done ? -m->reach : slow ? m->tables->block_first[block] : 0;
        high[a] = a >= m->dims ? 1
                  : done       ? m->n[a] + m->reach
                  : slow       ? m->tables->block_end[block]
                               : m->n[a];
    }
}

RULE_INLINE int64_t rule_clamp(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Where a place is, and what it is filled from. */
typedef struct rule_beyond {
    int block, source, axis, layer;
    int face; /* -1: the place is a copy from elsewhere in the grid */
    int64_t at[3], to, from;
    int64_t number; /* among the places beyond the face */
} rule_beyond;

/* The place beside cell `at` of the block's first or last ones along the axis. */
RULE_INLINE rule_beyond rule_find_beyond(const rule_margin *m, int block, const int64_t at[3],
                                         int side, int layer) {
    const rule_tables *t = m->tables;
    const int axis = m->axis, low = rule_low_axis(m), high = rule_high_axis(m);
    const bool slow = axis == m->dims - 1;
    const int64_t n = m->n[axis], end = slow ? t->block_end[block] : n;
    const int64_t i = side ? end + layer : (slow ? t->block_first[block] : 0) - 1 - layer;
    const bool copies = (i >= 0 && i < n) || m->periodic >> axis & 1u;
    const int64_t source = copies ? (i % n + n) % n : rule_clamp(side ? n - 1 - layer : layer, n);
    const int64_t stride = axis == 0 ? 1 : axis == 1 ? m->pitch : m->slice;
    int64_t extent[2];
    rule_beyond p;
    p.block = block;
    p.source = slow && copies ? 0 : block;
    p.axis = axis;
    p.layer = layer;
    p.face = copies ? -1 : 2 * axis + side;
    while (slow && copies && source >= t->block_end[p.source]) {
        p.source++;
    }
    for (int a = 0; a < 3; a++) {
        p.at[a] = a == axis ? i : at[a];
    }
    p.to = m->first + p.at[2] * m->slice + p.at[1] * m->pitch + p.at[0];
    p.from = p.to + (source - i) * stride;
    rule_extents(m, extent);
    p.number = (layer * extent[1] + (m->dims == 3 ? at[high] + m->reach : 0)) * extent[0] +
               at[low] + m->reach;
    return p;
}

/* Of the nearest site, k places further along an axis; 0: the place is a copy. */
RULE_INLINE int rule_region_of(const rule_margin *m, const rule_beyond *p, int along, int64_t k) {
    const int low = rule_low_axis(m), high = rule_high_axis(m);
    const int64_t x = rule_clamp(p->at[low] + (low == along ? k : 0), m->n[low]);
    const int64_t y = rule_clamp(p->at[high] + (high == along ? k : 0), m->n[high]);
    return p->face < 0 ? 0 : m->tables->face[p->face][x + m->n[low] * y];
}

/* Fills place k along an axis, `stride` elements apart, for a field. */
RULE_INLINE void rule_fill_place(const rule_margin *m, const rule_beyond *p, int f, int along,
                                 int64_t k, int64_t stride) {
    const rule_tables *t = m->tables;
    const int turn = (int)(m->turns >> f & 1), region = rule_region_of(m, p, along, k);
    const int law = region ? t->beyond[region][f] : (int)RULE_MIRROR;
    const double mirrored =
        rule_number(t->type[f], m->wide, t->at[p->source][f][turn], p->from + k * stride);
    double value = mirrored;
    if (law == RULE_FIXED || law == RULE_FIXED_FACE || law == RULE_GRADIENT) {
        const double given = t->law[f][p->face][p->number + k];
        value = law == RULE_FIXED        ? given
                : law == RULE_FIXED_FACE ? 2 * given - mirrored
                                         : mirrored + given * (2 * p->layer + 1) * m->dx;
    }
    rule_set(t->type[f], m->wide, t->at[p->block][f][turn], p->to + k * stride, value);
}

#endif
