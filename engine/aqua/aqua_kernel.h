/* aqua_kernel.h -- the inner loops of the CPU backend, as one table per processor level. */
#ifndef AQUA_KERNEL_H
#define AQUA_KERNEL_H

#include "engine/aqua/aqua.h"

/* One step from one copy of the depths to the other. Beds, depths and alphas stand as aqua_layout
 * says, in the types of the store. */
typedef struct aqua_step {
    aqua_layout layout;
    const void *bed, *from;
    void *to;
    const void *alphas; /* NULL: alpha everywhere */
    double alpha, least;
    int equilibrium;
} aqua_step;

/* In all of these y is a row, and amounts are in units of the store. A solid cell is one whose byte
 * is not 0. What is added up of a row is exact for whole quanta. */
typedef struct aqua_loops {
    size_t scratch; /* bytes that flow() needs */
    /* Rows y0 <= y < y1; returns the greatest depth, in whole quanta: 0 in f64. */
    double (*flow)(const aqua_step *step, int64_t y0, int64_t y1, void *scratch);
    /* What the cells of row y, -1 <= y <= ny, give: added to the receivers' `more`, in rows y - 1
     * to y + 1, and to their own `less`; both in the layout. Then a row from both. */
    void (*scatter)(const aqua_step *step, int64_t y, void *more, void *less);
    double (*update)(const aqua_step *step, int64_t y, const void *more, const void *less);
    /* Rain adds an amount to each free cell, soil takes it, no more than there is. With rates [nx]
     * each cell has its own, carry [nx] what it is owed. Returns the sum. */
    double (*supply[AQUA_SUPPLIES])(const aqua_layout *layout, void *water, int64_t y,
                                    const uint8_t *solid, double amount, const void *rate,
                                    void *carry);
    /* most[nx] is raised to the depths; first[nx], where it is -1, set to `step` where they reach
     * `arrival`. NULL: not wanted. */
    void (*watch)(const aqua_layout *layout, const void *water, int64_t y, void *most,
                  int32_t *first, double arrival, int32_t step);
    double (*sum)(const aqua_layout *layout, const void *water, int64_t y, const uint8_t *solid);
    /* to[n] in metres */
    void (*read)(const void *water, int64_t n, double per_metre, double *to);
    /* Flux from cell `at` of the layout to its neighbour k. */
    double (*edge)(const aqua_step *step, int64_t at, int k);
} aqua_loops;

/* The tables that this processor can run, [SEL_F32, SEL_F64], best first; NULL after the last
 * (machine/levels.h). */
const aqua_loops *aqua_loops_usable(int index);

#endif
