/* lbm_d2q9.h -- the D2Q9 lattice as X-macros: directions, weights, opposites, faces.
 *
 *      6   2   5        e_i = (ex, ey), cs2 = 1/3
 *        \ | /          w_0 = 4/9, w_1..4 = 1/9, w_5..8 = 1/36
 *      3 - 0 - 1        sum w_i = 1, sum w_i e_a e_b = cs2 delta_ab
 *        / | \
 *      7   4   8
 *
 * There are no arrays here: device compilers cannot see them at file scope, and a loop over
 * directions vectorises only when each direction is written out. So an includer passes a macro
 * that is expanded once per direction.
 *
 * Qian, d'Humieres, Lallemand, Europhys. Lett. 17 (1992) 479.
 */
#ifndef LBM_D2Q9_H
#define LBM_D2Q9_H

#define D2Q9_COUNT 9

/* X(i, ex, ey, opposite, weight) */
#define D2Q9(X)                 \
    X(0, 0, 0, 0, 4.0 / 9.0)    \
    X(1, 1, 0, 3, 1.0 / 9.0)    \
    X(2, 0, 1, 4, 1.0 / 9.0)    \
    X(3, -1, 0, 1, 1.0 / 9.0)   \
    X(4, 0, -1, 2, 1.0 / 9.0)   \
    X(5, 1, 1, 7, 1.0 / 36.0)   \
    X(6, -1, 1, 8, 1.0 / 36.0)  \
    X(7, -1, -1, 5, 1.0 / 36.0) \
    X(8, 1, -1, 6, 1.0 / 36.0)

/* Each pair of opposite directions once: X(i, opposite, weight) */
#define D2Q9_PAIRS(X)   \
    X(1, 3, 1.0 / 9.0)  \
    X(2, 4, 1.0 / 9.0)  \
    X(5, 7, 1.0 / 36.0) \
    X(6, 8, 1.0 / 36.0)

/* The diagonals and what they become at a mirror across x and across y:
 * X(i, ex, ey, mirrored_x, mirrored_y) */
#define D2Q9_DIAGONALS(X) \
    X(5, 1, 1, 6, 8)      \
    X(6, -1, 1, 5, 7)     \
    X(7, -1, -1, 8, 6)    \
    X(8, 1, -1, 7, 5)

/* e_i . (x, y), without multiplications by 0 and 1, which no compiler may remove. */
#define D2Q9_ALONG_1(x, y) (x)
#define D2Q9_ALONG_2(x, y) (y)
#define D2Q9_ALONG_3(x, y) (-(x))
#define D2Q9_ALONG_4(x, y) (-(y))
#define D2Q9_ALONG_5(x, y) ((x) + (y))
#define D2Q9_ALONG_6(x, y) ((y) - (x))
#define D2Q9_ALONG_7(x, y) (-(x) - (y))
#define D2Q9_ALONG_8(x, y) ((x) - (y))

/* Moments of the populations g[0..8]: sum g, sum ex g, sum ey g. */
#define D2Q9_SUM(g) \
    ((g)[0] + (((g)[1] + (g)[3]) + ((g)[2] + (g)[4])) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_X(g) (((g)[1] - (g)[3]) + (((g)[5] - (g)[7]) + ((g)[8] - (g)[6])))
#define D2Q9_SUM_Y(g) (((g)[2] - (g)[4]) + (((g)[5] - (g)[7]) + ((g)[6] - (g)[8])))

/* Second moments: sum ex ex g, sum ey ey g, sum ex ey g. */
#define D2Q9_SUM_XX(g) (((g)[1] + (g)[3]) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_YY(g) (((g)[2] + (g)[4]) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_XY(g) (((g)[5] + (g)[7]) - ((g)[6] + (g)[8]))

/* Directions seen from a face whose inward normal is n and whose tangent t points up its axis:
 * X(face, n, -n, t, -t, n+t, -(n+t), n-t, -(n-t)), faces in the order x- x+ y- y+. */
#define D2Q9_FACES(X)            \
    X(0, 1, 3, 2, 4, 5, 7, 8, 6) \
    X(1, 3, 1, 2, 4, 6, 8, 7, 5) \
    X(2, 2, 4, 1, 3, 5, 7, 6, 8) \
    X(3, 4, 2, 1, 3, 8, 6, 7, 5)

/* Directions seen from the corner of an x face and a y face: with p and q the inward normals,
 * X(x face, y face, p, -p, q, -q, p+q, -(p+q), p-q, q-p) */
#define D2Q9_CORNERS(X)             \
    X(0, 2, 1, 3, 2, 4, 5, 7, 8, 6) \
    X(0, 3, 1, 3, 4, 2, 8, 6, 5, 7) \
    X(1, 2, 3, 1, 2, 4, 6, 8, 7, 5) \
    X(1, 3, 3, 1, 4, 2, 7, 5, 6, 8)

#endif
