/* lbm_lattice.h -- D2Q9 and D3Q19 as X-macros: directions, weights, opposites, mirrors, moments;
 * and one set of names for the lattice that an includer works on.
 *
 *   D2Q9                 e_i = (ex, ey), cs2 = 1/3
 *      6   2   5         w_0 = 4/9, w_1..4 = 1/9, w_5..8 = 1/36
 *        \ | /           sum w_i = 1, sum w_i e_a e_b = cs2 delta_ab
 *      3 - 0 - 1
 *        / | \
 *      7   4   8
 *
 *   D3Q19                w_0 = 1/3, w_1..6 = 1/18 (axes), w_7..18 = 1/36 (diagonals of the
 *                        coordinate planes); opposite directions stand next to each other
 *   1 +x  2 -x     7 +x+y   8 -x-y    9 +x-y  10 -x+y
 *   3 +y  4 -y    11 +x+z  12 -x-z   13 +x-z  14 -x+z
 *   5 +z  6 -z    15 +y+z  16 -y-z   17 +y-z  18 -y+z
 *
 * There are no arrays here: device compilers cannot see them at file scope, and a loop over
 * directions vectorises only when each direction is written out. So an includer passes a macro
 * that is expanded once per direction.
 *
 * Re-includable: the includer defines LBM_DIMS as 2 (D2Q9) or 3 (D3Q19). Directions, their scalar
 * products and moments then have one name for both. Vectors are arrays of LBM_DIMS numbers,
 * symmetric tensors arrays of LBM_PARTS: xx yy xy, or xx yy zz xy yz xz. Differences of velocities,
 * for the hybrid operator, are LBM_DIFFERENCES numbers: the rate of strain, and in 3-D, in the same
 * order, second differences of u_a u_b along one axis each (LBM_FLUXES). Moments up to second order
 * are LBM_MOMENTS numbers. All indices are literals,
 * so that compilers keep these arrays in registers.
 *
 * Qian, d'Humieres, Lallemand, Europhys. Lett. 17 (1992) 479.
 */
#ifndef LBM_LATTICE_H
#define LBM_LATTICE_H

/* ---- D2Q9 ---- */

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

/* The direction along an axis, e = 1 or -1. */
#define D2Q9_AXIS(axis, e) ((e) > 0 ? 1 + (axis) : 3 + (axis))

/* e_i . u, without multiplications by 0 and 1, which no compiler may remove. */
#define D2Q9_ALONG_1(u) ((u)[0])
#define D2Q9_ALONG_2(u) ((u)[1])
#define D2Q9_ALONG_3(u) (-(u)[0])
#define D2Q9_ALONG_4(u) (-(u)[1])
#define D2Q9_ALONG_5(u) ((u)[0] + (u)[1])
#define D2Q9_ALONG_6(u) ((u)[1] - (u)[0])
#define D2Q9_ALONG_7(u) (-(u)[0] - (u)[1])
#define D2Q9_ALONG_8(u) ((u)[0] - (u)[1])

/* e_i e_i : t for the first of each pair, t a symmetric tensor. */
#define D2Q9_TWICE_1(t) ((t)[0])
#define D2Q9_TWICE_2(t) ((t)[1])
#define D2Q9_TWICE_5(t) ((t)[0] + (t)[1] + 2 * (t)[2])
#define D2Q9_TWICE_6(t) ((t)[0] + (t)[1] - 2 * (t)[2])

/* What third-order terms add to the first of each pair, over its weight: t[a][b] those of T_aab,
 * for diagonals; t[b][b] what the axis b has of them. */
#define D2Q9_THIRD_1(t) ((t)[0][0])
#define D2Q9_THIRD_2(t) ((t)[1][1])
#define D2Q9_THIRD_5(t) ((t)[0][1] + (t)[1][0])
#define D2Q9_THIRD_6(t) ((t)[0][1] - (t)[1][0])

/* Moments of the populations: sum g, sum ex g, sum ey g. */
#define D2Q9_SUM(g) \
    ((g)[0] + (((g)[1] + (g)[3]) + ((g)[2] + (g)[4])) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_X(g) (((g)[1] - (g)[3]) + (((g)[5] - (g)[7]) + ((g)[8] - (g)[6])))
#define D2Q9_SUM_Y(g) (((g)[2] - (g)[4]) + (((g)[5] - (g)[7]) + ((g)[6] - (g)[8])))

/* Second moments: sum ea eb g. */
#define D2Q9_SUM_XX(g) (((g)[1] + (g)[3]) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_YY(g) (((g)[2] + (g)[4]) + (((g)[5] + (g)[7]) + ((g)[6] + (g)[8])))
#define D2Q9_SUM_XY(g) (((g)[5] + (g)[7]) - ((g)[6] + (g)[8]))

/* ---- D3Q19, in the same form ---- */

#define D3Q19_COUNT 19

#define D3Q19(X)                     \
    X(0, 0, 0, 0, 0, 1.0 / 3.0)      \
    X(1, 1, 0, 0, 2, 1.0 / 18.0)     \
    X(2, -1, 0, 0, 1, 1.0 / 18.0)    \
    X(3, 0, 1, 0, 4, 1.0 / 18.0)     \
    X(4, 0, -1, 0, 3, 1.0 / 18.0)    \
    X(5, 0, 0, 1, 6, 1.0 / 18.0)     \
    X(6, 0, 0, -1, 5, 1.0 / 18.0)    \
    X(7, 1, 1, 0, 8, 1.0 / 36.0)     \
    X(8, -1, -1, 0, 7, 1.0 / 36.0)   \
    X(9, 1, -1, 0, 10, 1.0 / 36.0)   \
    X(10, -1, 1, 0, 9, 1.0 / 36.0)   \
    X(11, 1, 0, 1, 12, 1.0 / 36.0)   \
    X(12, -1, 0, -1, 11, 1.0 / 36.0) \
    X(13, 1, 0, -1, 14, 1.0 / 36.0)  \
    X(14, -1, 0, 1, 13, 1.0 / 36.0)  \
    X(15, 0, 1, 1, 16, 1.0 / 36.0)   \
    X(16, 0, -1, -1, 15, 1.0 / 36.0) \
    X(17, 0, 1, -1, 18, 1.0 / 36.0)  \
    X(18, 0, -1, 1, 17, 1.0 / 36.0)

#define D3Q19_PAIRS(X)              \
    X(1, 1, 0, 0, 2, 1.0 / 18.0)    \
    X(3, 0, 1, 0, 4, 1.0 / 18.0)    \
    X(5, 0, 0, 1, 6, 1.0 / 18.0)    \
    X(7, 1, 1, 0, 8, 1.0 / 36.0)    \
    X(9, 1, -1, 0, 10, 1.0 / 36.0)  \
    X(11, 1, 0, 1, 12, 1.0 / 36.0)  \
    X(13, 1, 0, -1, 14, 1.0 / 36.0) \
    X(15, 0, 1, 1, 16, 1.0 / 36.0)  \
    X(17, 0, 1, -1, 18, 1.0 / 36.0)

#define D3Q19_DIAGONALS(X)       \
    X(7, 1, 1, 0, 10, 9, 7)      \
    X(8, -1, -1, 0, 9, 10, 8)    \
    X(9, 1, -1, 0, 8, 7, 9)      \
    X(10, -1, 1, 0, 7, 8, 10)    \
    X(11, 1, 0, 1, 14, 11, 13)   \
    X(12, -1, 0, -1, 13, 12, 14) \
    X(13, 1, 0, -1, 12, 13, 11)  \
    X(14, -1, 0, 1, 11, 14, 12)  \
    X(15, 0, 1, 1, 15, 18, 17)   \
    X(16, 0, -1, -1, 16, 17, 18) \
    X(17, 0, 1, -1, 17, 16, 15)  \
    X(18, 0, -1, 1, 18, 15, 16)

#define D3Q19_AXIS(axis, e) ((e) > 0 ? 1 + 2 * (axis) : 2 + 2 * (axis))

#define D3Q19_ALONG_1(u) ((u)[0])
#define D3Q19_ALONG_2(u) (-(u)[0])
#define D3Q19_ALONG_3(u) ((u)[1])
#define D3Q19_ALONG_4(u) (-(u)[1])
#define D3Q19_ALONG_5(u) ((u)[2])
#define D3Q19_ALONG_6(u) (-(u)[2])
#define D3Q19_ALONG_7(u) ((u)[0] + (u)[1])
#define D3Q19_ALONG_8(u) (-(u)[0] - (u)[1])
#define D3Q19_ALONG_9(u) ((u)[0] - (u)[1])
#define D3Q19_ALONG_10(u) ((u)[1] - (u)[0])
#define D3Q19_ALONG_11(u) ((u)[0] + (u)[2])
#define D3Q19_ALONG_12(u) (-(u)[0] - (u)[2])
#define D3Q19_ALONG_13(u) ((u)[0] - (u)[2])
#define D3Q19_ALONG_14(u) ((u)[2] - (u)[0])
#define D3Q19_ALONG_15(u) ((u)[1] + (u)[2])
#define D3Q19_ALONG_16(u) (-(u)[1] - (u)[2])
#define D3Q19_ALONG_17(u) ((u)[1] - (u)[2])
#define D3Q19_ALONG_18(u) ((u)[2] - (u)[1])

#define D3Q19_TWICE_1(t) ((t)[0])
#define D3Q19_TWICE_3(t) ((t)[1])
#define D3Q19_TWICE_5(t) ((t)[2])
#define D3Q19_TWICE_7(t) ((t)[0] + (t)[1] + 2 * (t)[3])
#define D3Q19_TWICE_9(t) ((t)[0] + (t)[1] - 2 * (t)[3])
#define D3Q19_TWICE_11(t) ((t)[0] + (t)[2] + 2 * (t)[5])
#define D3Q19_TWICE_13(t) ((t)[0] + (t)[2] - 2 * (t)[5])
#define D3Q19_TWICE_15(t) ((t)[1] + (t)[2] + 2 * (t)[4])
#define D3Q19_TWICE_17(t) ((t)[1] + (t)[2] - 2 * (t)[4])

#define D3Q19_THIRD_1(t) ((t)[0][0])
#define D3Q19_THIRD_3(t) ((t)[1][1])
#define D3Q19_THIRD_5(t) ((t)[2][2])
#define D3Q19_THIRD_7(t) ((t)[1][0] + (t)[0][1])
#define D3Q19_THIRD_9(t) ((t)[1][0] - (t)[0][1])
#define D3Q19_THIRD_11(t) ((t)[2][0] + (t)[0][2])
#define D3Q19_THIRD_13(t) ((t)[2][0] - (t)[0][2])
#define D3Q19_THIRD_15(t) ((t)[2][1] + (t)[1][2])
#define D3Q19_THIRD_17(t) ((t)[2][1] - (t)[1][2])

/* Sums over the four diagonals of a coordinate plane. */
#define D3Q19_PLANE_XY(g) (((g)[7] + (g)[8]) + ((g)[9] + (g)[10]))
#define D3Q19_PLANE_XZ(g) (((g)[11] + (g)[12]) + ((g)[13] + (g)[14]))
#define D3Q19_PLANE_YZ(g) (((g)[15] + (g)[16]) + ((g)[17] + (g)[18]))

#define D3Q19_SUM(g)                                                          \
    ((g)[0] + (((g)[1] + (g)[2]) + (((g)[3] + (g)[4]) + ((g)[5] + (g)[6]))) + \
     (D3Q19_PLANE_XY(g) + (D3Q19_PLANE_XZ(g) + D3Q19_PLANE_YZ(g))))
#define D3Q19_SUM_X(g)   \
    (((g)[1] - (g)[2]) + \
     ((((g)[7] - (g)[8]) + ((g)[9] - (g)[10])) + (((g)[11] - (g)[12]) + ((g)[13] - (g)[14]))))
#define D3Q19_SUM_Y(g)   \
    (((g)[3] - (g)[4]) + \
     ((((g)[7] - (g)[8]) - ((g)[9] - (g)[10])) + (((g)[15] - (g)[16]) + ((g)[17] - (g)[18]))))
#define D3Q19_SUM_Z(g)   \
    (((g)[5] - (g)[6]) + \
     ((((g)[11] - (g)[12]) - ((g)[13] - (g)[14])) + (((g)[15] - (g)[16]) - ((g)[17] - (g)[18]))))

#define D3Q19_SUM_XX(g) (((g)[1] + (g)[2]) + (D3Q19_PLANE_XY(g) + D3Q19_PLANE_XZ(g)))
#define D3Q19_SUM_YY(g) (((g)[3] + (g)[4]) + (D3Q19_PLANE_XY(g) + D3Q19_PLANE_YZ(g)))
#define D3Q19_SUM_ZZ(g) (((g)[5] + (g)[6]) + (D3Q19_PLANE_XZ(g) + D3Q19_PLANE_YZ(g)))
#define D3Q19_SUM_XY(g) (((g)[7] + (g)[8]) - ((g)[9] + (g)[10]))
#define D3Q19_SUM_XZ(g) (((g)[11] + (g)[12]) - ((g)[13] + (g)[14]))
#define D3Q19_SUM_YZ(g) (((g)[15] + (g)[16]) - ((g)[17] + (g)[18]))

#endif

#undef LBM_Q
#undef LBM_PARTS
#undef LBM_DIFFERENCES
#undef LBM_FLUXES
#undef LBM_MOMENTS
#undef LBM_DIRECTIONS
#undef LBM_PAIRS
#undef LBM_DIAGONALS
#undef LBM_AXIS
#undef LBM_ALONG
#undef LBM_TWICE
#undef LBM_THIRD
#undef LBM_SUM
#undef LBM_AXES
#undef LBM_TENSOR
#undef LBM_DOT
#undef LBM_REST_WEIGHT

#if defined LBM_DIMS && LBM_DIMS == 2

#define LBM_Q D2Q9_COUNT
#define LBM_PARTS 3
#define LBM_DIFFERENCES 3
#define LBM_FLUXES(X)
#define LBM_MOMENTS 6
#define LBM_DIRECTIONS(X) D2Q9(X)
#define LBM_PAIRS(X) D2Q9_PAIRS(X)
#define LBM_DIAGONALS(X) D2Q9_DIAGONALS(X)
#define LBM_AXIS(axis, e) D2Q9_AXIS(axis, e)
#define LBM_ALONG(i, u) D2Q9_ALONG_##i(u)
#define LBM_TWICE(i, t) D2Q9_TWICE_##i(t)
#define LBM_THIRD(i, t) D2Q9_THIRD_##i(t)
#define LBM_SUM(g) D2Q9_SUM(g)
#define LBM_REST_WEIGHT (4.0 / 9.0)
/* X(axis, sum of e_axis g) */
#define LBM_AXES(X)  \
    X(0, D2Q9_SUM_X) \
    X(1, D2Q9_SUM_Y)
/* X(part, a, b, sum of e_a e_b g) */
#define LBM_TENSOR(X)       \
    X(0, 0, 0, D2Q9_SUM_XX) \
    X(1, 1, 1, D2Q9_SUM_YY) \
    X(2, 0, 1, D2Q9_SUM_XY)
#define LBM_DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1])

#elif defined LBM_DIMS

#define LBM_Q D3Q19_COUNT
#define LBM_PARTS 6
#define LBM_DIFFERENCES 12
/* X(part, a, b, along): the axis along which the flux u_a u_b has an error (lbm_collision.h) */
#define LBM_FLUXES(X) \
    X(0, 0, 0, 0)     \
    X(1, 1, 1, 1)     \
    X(2, 2, 2, 2)     \
    X(3, 0, 1, 2)     \
    X(4, 1, 2, 0)     \
    X(5, 0, 2, 1)
#define LBM_MOMENTS 10
#define LBM_DIRECTIONS(X) D3Q19(X)
#define LBM_PAIRS(X) D3Q19_PAIRS(X)
#define LBM_DIAGONALS(X) D3Q19_DIAGONALS(X)
#define LBM_AXIS(axis, e) D3Q19_AXIS(axis, e)
#define LBM_ALONG(i, u) D3Q19_ALONG_##i(u)
#define LBM_TWICE(i, t) D3Q19_TWICE_##i(t)
#define LBM_THIRD(i, t) D3Q19_THIRD_##i(t)
#define LBM_SUM(g) D3Q19_SUM(g)
#define LBM_REST_WEIGHT (1.0 / 3.0)
#define LBM_AXES(X)   \
    X(0, D3Q19_SUM_X) \
    X(1, D3Q19_SUM_Y) \
    X(2, D3Q19_SUM_Z)
#define LBM_TENSOR(X)        \
    X(0, 0, 0, D3Q19_SUM_XX) \
    X(1, 1, 1, D3Q19_SUM_YY) \
    X(2, 2, 2, D3Q19_SUM_ZZ) \
    X(3, 0, 1, D3Q19_SUM_XY) \
    X(4, 1, 2, D3Q19_SUM_YZ) \
    X(5, 0, 2, D3Q19_SUM_XZ)
#define LBM_DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

#endif
