/* heat_step.h -- conduction of heat between a cell and its neighbours along the axes.
 *
 * Re-includable. The includer defines REAL, HEAT_FMA(a, b, c) (a b + c, rounded once or twice),
 * HEAT_NAME(name) (adds a suffix) and SEL_INLINE (the functions' qualifiers); or, in C++, functions
 * that are templates of REAL.
 *
 *   C T_t = div(k grad T) + q,   finite volumes, forward in time, 5 points in 2-D and 7 in 3-D:
 *
 *   T' = T + sum over the axes of r (T_low - 2 T + T_high),          r = k dt / (C dx^2)
 *
 * in a uniform body, and where materials, solids or sources differ from cell to cell
 *
 *   T' = T + m [ sum over the neighbours of g (T_n - T) + q ],       m = dt / (C v)
 *
 * with q times the part v of the volume, g = a k_face / dx^2 and the harmonic mean k_face = 2 k k_n
 * / (k + k_n), so that the flux through the face of two materials is that of two slabs in series.
 * Differences are taken first, so that a constant temperature stays constant to the last bit, and
 * the heat that leaves a cell enters the next one.
 *
 * Layouts. With cells, T is at the centres, half a cell from the faces of the domain. With nodes, T
 * is at the nodes; the first and the last node lie on the faces and have half a volume: v and a are
 * the parts of the volume and of the face's area that lie inside (1/2, 1/4, ... at faces, edges,
 * ...; else 1). In a uniform body this is the same as a mirror image of the first neighbour.
 *
 * Surfaces (diffusion_surface.h) are applied after the sums above: T' = T' + (s - b T). For a node
 * on a surface of given temperature b is infinite and T' = s.
 *
 * Stable for dt <= C v / (sum of g + b / 2) in every cell (Gershgorin's circles), which for a
 * uniform body is dt <= C / (2 k (1/dx^2 + 1/dy^2 + 1/dz^2)).
 *
 * S. V. Patankar, Numerical Heat Transfer and Fluid Flow, 1980, chapters 3 and 4.
 */
#include "engine/solvers/diffusion/diffusion_cell.h"

/* T' without surfaces of a cell of temperature c. t, g: by neighbour, low and high along x, then y,
 * then z; r: by axis. g, m and q are read for HEAT_VARIED only. `kind` and `dims` are constants at
 * every call. */
SEL_INLINE REAL HEAT_NAME(heat_next)(int kind, int dims, const REAL r[3], REAL c, const REAL t[6],
                                     const REAL g[6], REAL m, REAL q) {
    if (kind == HEAT_EVEN) {
        REAL sum = (t[0] + t[1]) + (t[2] + t[3]);
        sum = dims == 3 ? sum + (t[4] + t[5]) : sum;
        return HEAT_FMA(r[0], HEAT_FMA((REAL)(-2 * dims), c, sum), c);
    }
    if (kind == HEAT_UNEVEN) {
        REAL next = HEAT_FMA(r[0], HEAT_FMA((REAL)-2, c, t[0] + t[1]), c);
        next = HEAT_FMA(r[1], HEAT_FMA((REAL)-2, c, t[2] + t[3]), next);
        return dims == 3 ? HEAT_FMA(r[2], HEAT_FMA((REAL)-2, c, t[4] + t[5]), next) : next;
    }
    REAL sum = q;
    for (int k = 0; k < 2 * dims; k++) {
        sum = HEAT_FMA(g[k], t[k] - c, sum);
    }
    return HEAT_FMA(m, sum, c);
}

/* T' of a cell on surfaces with b and s; `next`: its T' without surfaces. */
SEL_INLINE REAL HEAT_NAME(heat_touched)(REAL here, REAL next, REAL b, REAL s) {
    return isinf(b) ? s : next + HEAT_FMA(-b, here, s);
}
