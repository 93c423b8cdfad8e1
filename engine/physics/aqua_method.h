/* aqua_method.h -- what all instances of the rule of AQUA-GRAPH share: the readings of T_eq, the
 * order of neighbours, the fields. */
#ifndef AQUA_METHOD_H
#define AQUA_METHOD_H

#include <stdint.h>

typedef enum aqua_equilibrium {
    AQUA_FILL,    /* all water of a cell and its receivers at its lowest */
    AQUA_MEAN,    /* mean level of a cell and its receivers */
    AQUA_MINDIFF, /* minimisation of differences: only the cell's own water moves */
    AQUA_EQUILIBRIA
} aqua_equilibrium;

/* In the unit of the store. Eight heads of it can be added in f32, and their roots. */
#define AQUA_NO_GROUND 1e30

/* Neighbours: opposite ones stand together, k ^ 1 is opposite to k. V(k, dx, dy) */
#define AQUA_NEIGHBOURS(V) \
    V(0, 1, 0) V(1, -1, 0) V(2, 0, 1) V(3, 0, -1) V(4, 1, 1) V(5, -1, -1) V(6, -1, 1) V(7, 1, -1)
enum { AQUA_AROUND = 8 };

/* From cell `at` of the layout to its neighbour k; sign: +1 counts what goes from `at` to the
 * neighbour, -1 the other way. */
typedef struct aqua_edge {
    int64_t at;
    int32_t k, sign;
} aqua_edge;

/* A source's share in a step: `each` units for every cell, and of whole quanta one more for `odd`
 * cells from the `turn`-th on, round about. */
typedef struct aqua_dose {
    double each;
    uint32_t odd, turn;
} aqua_dose;

/* Index in aqua_solver.fields. */
enum {
    AQUA_GROUND,
    AQUA_DEPTH,
    AQUA_LEVEL,
    AQUA_MAX_DEPTH,
    AQUA_MAX_LEVEL,
    AQUA_ARRIVAL_TIME,
    AQUA_FIELDS
};

/* Sorts v[0..8) in 19 comparisons; COMPARE(i, j) puts the one that goes first into v[i]. */
#define AQUA_SORT8(COMPARE) \
    COMPARE(0, 2)           \
    COMPARE(1, 3)           \
    COMPARE(4, 6)           \
    COMPARE(5, 7)           \
    COMPARE(0, 4)           \
    COMPARE(1, 5)           \
    COMPARE(2, 6)           \
    COMPARE(3, 7)           \
    COMPARE(0, 1)           \
    COMPARE(2, 3)           \
    COMPARE(4, 5)           \
    COMPARE(6, 7)           \
    COMPARE(2, 4)           \
    COMPARE(3, 5)           \
    COMPARE(1, 4)           \
    COMPARE(3, 6)           \
    COMPARE(1, 2)           \
    COMPARE(3, 4)           \
    COMPARE(5, 6)

#endif
