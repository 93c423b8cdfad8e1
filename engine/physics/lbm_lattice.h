/* lbm_lattice.h -- one set of names for the lattice that an includer works on.
 *
 * Re-includable: the includer defines LBM_DIMS as 2 (D2Q9) or 3 (D3Q19). Directions, their scalar
 * products and moments then have one name for both. Vectors are arrays of LBM_DIMS numbers,
 * symmetric tensors arrays of LBM_PARTS: xx yy xy, or xx yy zz xy yz xz. All indices are literals,
 * so that compilers keep these arrays in registers.
 */
#include "engine/physics/lbm_d2q9.h"
#include "engine/physics/lbm_d3q19.h"

#undef LBM_Q
#undef LBM_PARTS
#undef LBM_DIRECTIONS
#undef LBM_PAIRS
#undef LBM_DIAGONALS
#undef LBM_ALONG
#undef LBM_TWICE
#undef LBM_SUM
#undef LBM_AXES
#undef LBM_TENSOR
#undef LBM_DOT
#undef LBM_REST_WEIGHT

#if LBM_DIMS == 2

#define LBM_Q D2Q9_COUNT
#define LBM_PARTS 3
#define LBM_DIRECTIONS(X) D2Q9(X)
#define LBM_PAIRS(X) D2Q9_PAIRS(X)
#define LBM_DIAGONALS(X) D2Q9_DIAGONALS(X)
#define LBM_ALONG(i, u) D2Q9_ALONG_##i(u)
#define LBM_TWICE(i, t) D2Q9_TWICE_##i(t)
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

#else

#define LBM_Q D3Q19_COUNT
#define LBM_PARTS 6
#define LBM_DIRECTIONS(X) D3Q19(X)
#define LBM_PAIRS(X) D3Q19_PAIRS(X)
#define LBM_DIAGONALS(X) D3Q19_DIAGONALS(X)
#define LBM_ALONG(i, u) D3Q19_ALONG_##i(u)
#define LBM_TWICE(i, t) D3Q19_TWICE_##i(t)
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
