/* lbm_d3q19.h -- the D3Q19 lattice as X-macros, in the form of lbm_d2q9.h.
 *
 * e_i = (ex, ey, ez), cs2 = 1/3; w_0 = 1/3, w_1..6 = 1/18 (axes), w_7..18 = 1/36 (diagonals of the
 * coordinate planes). Opposite directions stand next to each other: 1 and 2, 3 and 4, ...
 *
 *   1 +x  2 -x     7 +x+y   8 -x-y    9 +x-y  10 -x+y
 *   3 +y  4 -y    11 +x+z  12 -x-z   13 +x-z  14 -x+z
 *   5 +z  6 -z    15 +y+z  16 -y-z   17 +y-z  18 -y+z
 *
 * Qian, d'Humieres, Lallemand, Europhys. Lett. 17 (1992) 479.
 */
#ifndef LBM_D3Q19_H
#define LBM_D3Q19_H

#define D3Q19_COUNT 19

/* X(i, ex, ey, ez, opposite, weight) */
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

/* Each pair of opposite directions once: X(i, ex, ey, ez, opposite, weight) */
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

/* The diagonals and what they become at a mirror across x, y and z:
 * X(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) */
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

/* e_i . u, without multiplications by 0 and 1, which no compiler may remove. */
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

/* e_i e_i : t for the first of each pair, t a symmetric tensor xx yy zz xy yz xz. */
#define D3Q19_TWICE_1(t) ((t)[0])
#define D3Q19_TWICE_3(t) ((t)[1])
#define D3Q19_TWICE_5(t) ((t)[2])
#define D3Q19_TWICE_7(t) ((t)[0] + (t)[1] + 2 * (t)[3])
#define D3Q19_TWICE_9(t) ((t)[0] + (t)[1] - 2 * (t)[3])
#define D3Q19_TWICE_11(t) ((t)[0] + (t)[2] + 2 * (t)[5])
#define D3Q19_TWICE_13(t) ((t)[0] + (t)[2] - 2 * (t)[5])
#define D3Q19_TWICE_15(t) ((t)[1] + (t)[2] + 2 * (t)[4])
#define D3Q19_TWICE_17(t) ((t)[1] + (t)[2] - 2 * (t)[4])

/* Sums over the four diagonals of a coordinate plane. */
#define D3Q19_PLANE_XY(g) (((g)[7] + (g)[8]) + ((g)[9] + (g)[10]))
#define D3Q19_PLANE_XZ(g) (((g)[11] + (g)[12]) + ((g)[13] + (g)[14]))
#define D3Q19_PLANE_YZ(g) (((g)[15] + (g)[16]) + ((g)[17] + (g)[18]))

/* Moments of the populations g[0..18]: sum g, sum ex g, sum ey g, sum ez g. */
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

/* Second moments: sum ea eb g. */
#define D3Q19_SUM_XX(g) (((g)[1] + (g)[2]) + (D3Q19_PLANE_XY(g) + D3Q19_PLANE_XZ(g)))
#define D3Q19_SUM_YY(g) (((g)[3] + (g)[4]) + (D3Q19_PLANE_XY(g) + D3Q19_PLANE_YZ(g)))
#define D3Q19_SUM_ZZ(g) (((g)[5] + (g)[6]) + (D3Q19_PLANE_XZ(g) + D3Q19_PLANE_YZ(g)))
#define D3Q19_SUM_XY(g) (((g)[7] + (g)[8]) - ((g)[9] + (g)[10]))
#define D3Q19_SUM_XZ(g) (((g)[11] + (g)[12]) - ((g)[13] + (g)[14]))
#define D3Q19_SUM_YZ(g) (((g)[15] + (g)[16]) - ((g)[17] + (g)[18]))

#endif
