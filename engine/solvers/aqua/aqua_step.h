/* aqua_step.h -- the runoff of AQUA-GRAPH between a cell and its eight neighbours, in gather form.
 *
 * Re-includable. The includer defines REAL (the type of beds, heads and roots), AQUA_WATER (the
 * type of depths), AQUA_SQRT(x) (a square root), AQUA_DIVIDE(a, b) (a quotient; / by default),
 * AQUA_LESS and AQUA_MORE (the smaller and the larger of two numbers; by comparison),
 * AQUA_NAME(name) (adds a suffix) and SEL_INLINE (the functions' qualifiers). C11 and C++17. With
 * roots and quotients rounded as IEEE 754 says, and no operations contracted or reordered, all
 * processors give the same bits.
 *
 * Two stores. f64: beds and depths are doubles in metres. f32: depths are whole numbers (int32_t)
 * of quanta, beds are floats in quanta, and fluxes are truncated to whole quanta; so mass is exact
 * and no depth falls below 0. The rule has no unit of length: the same code does for both.
 *
 * A cell c and its neighbours u have a bed h, a depth w and a level T = h + w. The head of an edge
 * is d = T_c - T_u, computed as (h_c - h_u) + (w_c - w_u). The cell gives to its receivers R = { u
 * : d > least }, as if it were to reach the equilibrium level T_eq:
 *
 *   s_u  = sqrt(d)                            root of a receiver's head, else 0
 *   dw   = min[T_c - T_eq, w_c]               what leaves the cell before alpha
 *   F_c  = alpha dw / S,  S = sum s_u         factor of the cell
 *   q    = F_c s_u                            flux from c to u
 *   w_c' = w_c + (sum of the fluxes in - sum of the fluxes out)
 *
 * and T_c - T_eq = X / m with X the sum of m - 1 heads, by the kind of equilibrium:
 *
 *   mean     all receivers
 *   fill     beds above the level cannot hold water: with e_u = d + w_u = T_c - h_u, the depth
 *            of a receiver's bed below T_c, X = sum d - sum of e over the dropped ones, whose
 *            e_u < X / m; dropped from the least e on, until none is left to drop. (The cell itself
 *            need not be dropped: then X / m > w_c, and dw = w_c in any case.)
 *   mindiff  receivers with d < X / m are dropped from R. To this end they are taken up from the
 *            largest d on while d m >= X. The root of the last one is the cell's cut: receivers
 *            with a root below it get nothing.
 *
 * One division: F_c = alpha min(X, m w_c) / (m S). Sums over the neighbours are trees,
 * ((E + W) + (N + S)) + ((NE + SW) + (NW + SE)), the same for the eight symmetries of the square;
 * so are sorted values. Seen from its other end an edge has exactly the head -d.
 *
 * Cells without ground have a bed of AQUA_NO_GROUND and no water: nothing flows to them (d < 0),
 * nor from them (dw = 0), without a branch.
 *
 * P. R. Rinaldi, thesis, UNICEN 2011, chapter 3; Di Gregorio, Serra, Future Gener. Comput. Syst. 16
 * (1999) 259 (mindiff).
 */
#include <stdint.h>
#include "engine/solvers/aqua/aqua_method.h"

#ifndef AQUA_DIVIDE
#define AQUA_DIVIDE(a, b) ((a) / (b))
#endif
#ifndef AQUA_LESS
#define AQUA_LESS(a, b) ((a) < (b) ? (a) : (b))
#define AQUA_MORE(a, b) ((a) < (b) ? (b) : (a))
#endif

/* T_c - T_u. */
SEL_INLINE REAL AQUA_NAME(aqua_head)(REAL bed_c, REAL bed_u, AQUA_WATER water_c,
                                     AQUA_WATER water_u) {
    return (bed_c - bed_u) + (REAL)(water_c - water_u);
}

/* The head if it drives water, else 0: d if d > least (>= 0). */
SEL_INLINE REAL AQUA_NAME(aqua_drive)(REAL d, REAL least) {
    return d > least ? d : (REAL)0;
}

/* The root of a head, with its sign: positive where c gives to u, negative where u gives to c, 0
 * where neither does. */
SEL_INLINE REAL AQUA_NAME(aqua_root)(REAL d, REAL least) {
    const REAL size = d < (REAL)0 ? -d : d;
    const REAL root = size > least ? AQUA_SQRT(size) : (REAL)0;
    return d < (REAL)0 ? -root : root;
}

/* The sum of eight numbers, as a tree that respects the symmetries of the square. */
SEL_INLINE REAL AQUA_NAME(aqua_tree)(const REAL v[AQUA_AROUND]) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* 1 + the number of receivers. */
SEL_INLINE REAL AQUA_NAME(aqua_members)(const REAL drive[AQUA_AROUND]) {
    REAL one[AQUA_AROUND];
#define ONE(k, dx, dy) one[k] = drive[k] > (REAL)0 ? (REAL)1 : (REAL)0;
    AQUA_NEIGHBOURS(ONE)
#undef ONE
    return (REAL)1 + AQUA_NAME(aqua_tree)(one);
}

/* F_c; sum is X, members is m, roots is S. By rounding F_c may exceed w_c / S, by less than 10
 * units in the last place; therefore the store's largest alpha is 16 such units below 1. */
SEL_INLINE REAL AQUA_NAME(aqua_factor)(REAL alpha, AQUA_WATER water, REAL sum, REAL members,
                                       REAL roots) {
    const REAL all = (REAL)water * members;
    const REAL part = alpha * AQUA_LESS(sum, all);
    return roots > (REAL)0 ? AQUA_DIVIDE(part, members * roots) : (REAL)0;
}

/* Whether fill drops beds; `least`: the smallest depth e of a receiver's bed below T_c. If false,
 * fill and mean are the same to the bit. */
SEL_INLINE int AQUA_NAME(aqua_fill_drops)(REAL least, REAL sum, REAL members) {
    return least * members < sum;
}

/* Sort in ascending and in descending order. */
SEL_INLINE void AQUA_NAME(aqua_sort_up)(REAL v[AQUA_AROUND]){AQUA_SORT8(v, AQUA_LESS, AQUA_MORE)}

SEL_INLINE void AQUA_NAME(aqua_sort_down)(REAL v[AQUA_AROUND]){AQUA_SORT8(v, AQUA_MORE, AQUA_LESS)}

/* Drops the beds above the level from sum and members. below[k]: the depth e of the bed of
 * neighbour k below T_c; AQUA_NO_GROUND if it is no receiver. Sorts `below`. */
SEL_INLINE void AQUA_NAME(aqua_fill)(REAL below[AQUA_AROUND], REAL *sum, REAL *members) {
    REAL x = *sum, m = *members, *v = below;
    AQUA_NAME(aqua_sort_up)(v);
#define DROP(k, dx, dy)                 \
    {                                   \
        const int drops = v[k] * m < x; \
        x = drops ? x - v[k] : x;       \
        m = drops ? m - (REAL)1 : m;    \
    }
    AQUA_NEIGHBOURS(DROP)
#undef DROP
    *sum = x;
    *members = m;
}

/* Takes up receivers from the largest head on. Sorts `drive`. Returns the cell's cut: receivers
 * with a root below the cut get nothing. */
SEL_INLINE REAL AQUA_NAME(aqua_mindiff)(REAL drive[AQUA_AROUND], REAL *sum, REAL *members) {
    REAL x = (REAL)0, m = (REAL)1, last = (REAL)0, *v = drive;
    AQUA_NAME(aqua_sort_down)(v);
#define TAKE(k, dx, dy)                  \
    {                                    \
        const int takes = v[k] * m >= x; \
        x = takes ? x + v[k] : x;        \
        last = takes ? v[k] : last;      \
        m = takes ? m + (REAL)1 : m;     \
    }
    AQUA_NEIGHBOURS(TAKE)
#undef TAKE
    *sum = x;
    *members = m;
    return AQUA_SQRT(last);
}

/* The flux from c to u; negative: from u to c. `root`: the signed root as seen from c. (Of the two
 * products F_c r+ and F_u r- one is always 0.) */
SEL_INLINE AQUA_WATER AQUA_NAME(aqua_flux)(REAL root, REAL factor_c, REAL factor_u) {
    return (AQUA_WATER)((root > (REAL)0 ? factor_c : factor_u) * root);
}

/* The flux for mindiff, where a cell gives nothing along roots below its cut. */
SEL_INLINE AQUA_WATER AQUA_NAME(aqua_flux_cut)(REAL root, REAL factor_c, REAL cut_c, REAL factor_u,
                                               REAL cut_u) {
    const REAL size = root < (REAL)0 ? -root : root;
    const REAL cut = root > (REAL)0 ? cut_c : cut_u;
    const REAL factor = root > (REAL)0 ? factor_c : factor_u;
    return (AQUA_WATER)((size >= cut ? factor : (REAL)0) * root);
}

/* w_c' from the eight fluxes out of the cell. */
SEL_INLINE AQUA_WATER AQUA_NAME(aqua_after)(AQUA_WATER water, const AQUA_WATER out[AQUA_AROUND]) {
    const AQUA_WATER *v = out;
    return water - (((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])));
}

/* w_c' in the summation order of a scatter form, where each cell adds its fluxes to its neighbours.
 * There the rows y with (y + 1) mod 3 = 0 are visited first, then those with 1, then those with 2,
 * and the cells of a row from left to right. `turn`: (y + 1) mod 3 of this cell's row. */
SEL_INLINE AQUA_WATER AQUA_NAME(aqua_after_sent)(AQUA_WATER water,
                                                 const AQUA_WATER out[AQUA_AROUND], int turn) {
    const AQUA_WATER *v = out;
    const AQUA_WATER rows[3][3] = {{v[5], v[3], v[7]}, {v[1], 0, v[0]}, {v[6], v[2], v[4]}};
    AQUA_WATER in = 0, gone = 0;
    for (int j = 0; j < 9; j++) {
        const AQUA_WATER q = rows[(4 - turn + j / 3) % 3][j % 3];
        in -= q < 0 ? q : (AQUA_WATER)0;
    }
    for (int k = 0; k < AQUA_AROUND; k++) {
        gone += out[k] > 0 ? out[k] : (AQUA_WATER)0;
    }
    return water + in - gone;
}

/* F_c from the heads, signed roots and falls (h_c - h_u) of a cell's edges. *cut: its cut, 0 except
 * for mindiff. *drops (unless NULL): whether fill would drop beds. */
SEL_INLINE REAL AQUA_NAME(aqua_share)(int equilibrium, REAL alpha, REAL least, AQUA_WATER water,
                                      const REAL head[AQUA_AROUND], const REAL root[AQUA_AROUND],
                                      const REAL fall[AQUA_AROUND], REAL *cut, int *drops) {
    REAL drive[AQUA_AROUND], below[AQUA_AROUND], given[AQUA_AROUND], sum, members;
    *cut = (REAL)0;
#define DRIVE(k, dx, dy) drive[k] = AQUA_NAME(aqua_drive)(head[k], least);
    AQUA_NEIGHBOURS(DRIVE)
#undef DRIVE
    if (equilibrium == AQUA_MINDIFF) {
        *cut = AQUA_NAME(aqua_mindiff)(drive, &sum, &members);
    } else {
        sum = AQUA_NAME(aqua_tree)(drive);
        members = AQUA_NAME(aqua_members)(drive);
    }
#define BELOW(k, dx, dy) \
    below[k] = drive[k] > (REAL)0 ? fall[k] + (REAL)water : (REAL)AQUA_NO_GROUND;
    AQUA_NEIGHBOURS(BELOW)
#undef BELOW
    if (drops) {
        REAL lowest = below[0];
#define LOWER(k, dx, dy) lowest = AQUA_LESS(below[k], lowest);
        AQUA_NEIGHBOURS(LOWER)
#undef LOWER
        *drops = AQUA_NAME(aqua_fill_drops)(lowest, sum, members) & (water > 0);
    }
    if (equilibrium == AQUA_FILL) {
        AQUA_NAME(aqua_fill)(below, &sum, &members);
    }
#define GIVEN(k, dx, dy) given[k] = root[k] > (REAL)0 && root[k] >= *cut ? root[k] : (REAL)0;
    AQUA_NEIGHBOURS(GIVEN)
#undef GIVEN
    return AQUA_NAME(aqua_factor)(alpha, water, sum, members, AQUA_NAME(aqua_tree)(given));
}

/* F_c, the signed roots and the cut of a single cell, from arrays of beds and depths with rows of
 * `pitch` numbers; bed and water point to the cell. */
SEL_INLINE REAL AQUA_NAME(aqua_cell)(int equilibrium, REAL alpha, REAL least, const REAL *bed,
                                     const AQUA_WATER *water, int pitch, REAL root[AQUA_AROUND],
                                     REAL *cut) {
    REAL head[AQUA_AROUND], fall[AQUA_AROUND];
#define EDGE(k, dx, dy)                                                 \
    {                                                                   \
        const int u = (dy)*pitch + (dx);                                \
        head[k] = AQUA_NAME(aqua_head)(*bed, bed[u], *water, water[u]); \
        root[k] = AQUA_NAME(aqua_root)(head[k], least);                 \
        fall[k] = *bed - bed[u];                                        \
    }
    AQUA_NEIGHBOURS(EDGE)
#undef EDGE
    return AQUA_NAME(aqua_share)(equilibrium, alpha, least, *water, head, root, fall, cut, NULL);
}

/* The flux through an edge, from the factors of both its ends. alphas == NULL: alpha everywhere. */
SEL_INLINE AQUA_WATER AQUA_NAME(aqua_edge_flux)(const aqua_edge *edge, int equilibrium,
                                                const REAL *alphas, REAL alpha, REAL least,
                                                const REAL *bed, const AQUA_WATER *water,
                                                int pitch) {
    const int along = edge->k;
    const int64_t c = edge->at;
    int64_t u = c;
#define BESIDE(k, dx, dy) u += along == k ? (dy)*pitch + (dx) : 0;
    AQUA_NEIGHBOURS(BESIDE)
#undef BESIDE
    REAL roots_c[AQUA_AROUND], roots_u[AQUA_AROUND], cut_c, cut_u, root = (REAL)0;
    const REAL factor_c = AQUA_NAME(aqua_cell)(equilibrium, alphas ? alphas[c] : alpha, least,
                                               bed + c, water + c, pitch, roots_c, &cut_c);
    const REAL factor_u = AQUA_NAME(aqua_cell)(equilibrium, alphas ? alphas[u] : alpha, least,
                                               bed + u, water + u, pitch, roots_u, &cut_u);
#define ROOT(k, dx, dy) root = along == k ? roots_c[k] : root;
    AQUA_NEIGHBOURS(ROOT)
#undef ROOT
    return (AQUA_WATER)edge->sign *
           AQUA_NAME(aqua_flux_cut)(root, factor_c, cut_c, factor_u, cut_u);
}

/* The amount of one step of a rate in units per step. Of whole quanta the fraction is carried to
 * the next step, so that nothing is lost. */
SEL_INLINE AQUA_WATER AQUA_NAME(aqua_part)(REAL rate, REAL *carry) {
    if ((AQUA_WATER)0.5 > (AQUA_WATER)0) {
        return (AQUA_WATER)rate;
    }
    const REAL sum = rate + *carry;
    const AQUA_WATER whole = (AQUA_WATER)sum;
    *carry = sum - (REAL)whole;
    return whole;
}
