/* lbm_d2q9.h -- the D2Q9 lattice as X-macros: directions, weights, opposites, mirrors, moments.
 *
 *      6   2   5        e_i = (ex, ey), cs2 = 1/3
 *        \ | /          w_0 = 4/9, w_1..4 = 1/9, w_5..8 = 1/36
 *      3 - 0 - 1        sum w_i = 1, sum w_i e_a e_b = cs2 delta_ab
 *        / | \
 *      7   4   8
 *
 * There are no arrays here: device compilers cannot see them at file scope, and a loop over
 * directions vectorises only when each direction is written out. So an includer passes a macro
 * that is expanded once per direction. lbm_lattice.h chooses between this and D3Q19.
 *
 * Qian, d'Humieres, Lallemand, Europhys. Lett. 17 (1992) 479.
 */
#ifndef LBM_D2Q9_H
#define LBM_D2Q9_H

#define D2Q9_COUNT 9

/* X(i, ex, ey, ez, opposite, weight) */
#define D2Q9(X)                    \
    X(0, 0, 0, 0, 0, 4.0 / 9.0)    \
    X(1, 1, 0, 0, 3, 1.0 / 9.0)    \
    X(2, 0, 1, 0, 4, 1.0 / 9.0)    \
    X(3, -1, 0, 0, 1, 1.0 / 9.0)   \
    X(4, 0, -1, 0, 2, 1.0 / 9.0)   \
    X(5, 1, 1, 0, 7, 1.0 / 36.0)   \
    X(6, -1, 1, 0, 8, 1.0 / 36.0)  \
    X(7, -1, -1, 0, 5, 1.0 / 36.0) \
    X(8, 1, -1, 0, 6, 1.0 / 36.0)

/* Each pair of opposite directions once: X(i, ex, ey, ez, opposite, weight) */
#define D2Q9_PAIRS(X)            \
    X(1, 1, 0, 0, 3, 1.0 / 9.0)  \
    X(2, 0, 1, 0, 4, 1.0 / 9.0)  \
    X(5, 1, 1, 0, 7, 1.0 / 36.0) \
    X(6, -1, 1, 0, 8, 1.0 / 36.0)

/* The diagonals and what they become at a mirror across x, y and z:
 * X(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) */
#define D2Q9_DIAGONALS(X)    \
    X(5, 1, 1, 0, 6, 8, 5)   \
    X(6, -1, 1, 0, 5, 7, 6)  \
    X(7, -1, -1, 0, 8, 6, 7) \
    X(8, 1, -1, 0, 7, 5, 8)

/* e_i . u, without multiplications by 0 and 1, which no compiler may remove. */
#define D2Q9_ALONG_1(u) ((u)[0])
#define D2Q9_ALONG_2(u) ((u)[1])
#define D2Q9_ALONG_3(u) (-(u)[0])
#define D2Q9_ALONG_4(u) (-(u)[1])
#define D2Q9_ALONG_5(u) ((u)[0] + (u)[1])
#define D2Q9_ALONG_6(u) ((u)[1] - (u)[0])
#define D2Q9_ALONG_7(u) (-(u)[0] - (u)[1])
#define D2Q9_ALONG_8(u) ((u)[0] - (u)[1])

/* e_i e_i : t for the first of each pair, t a symmetric tensor xx yy xy. */
#define D2Q9_TWICE_1(t) ((t)[0])
#define D2Q9_TWICE_2(t) ((t)[1])
#define D2Q9_TWICE_5(t) ((t)[0] + (t)[1] + 2 * (t)[2])
#define D2Q9_TWICE_6(t) ((t)[0] + (t)[1] - 2 * (t)[2])

/* Moments of the populations g[0..8]: sum g, sum ex g, sum ey g. */
#define D2Q9_SUM(g) \
    ((g)[0] + (((g)[1] + (g)[3]) + ((g)[2] + (g)[4])) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_X(g) (((g)[1] - (g)[3]) + (((g)[5] - (g)[7]) + ((g)[8] - (g)[6])))
#define D2Q9_SUM_Y(g) (((g)[2] - (g)[4]) + (((g)[5] - (g)[7]) + ((g)[6] - (g)[8])))

/* Second moments: sum ex ex g, sum ey ey g, sum ex ey g. */
#define D2Q9_SUM_XX(g) (((g)[1] + (g)[3]) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_YY(g) (((g)[2] + (g)[4]) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_XY(g) (((g)[5] + (g)[7]) - ((g)[6] + (g)[8]))

#endif
