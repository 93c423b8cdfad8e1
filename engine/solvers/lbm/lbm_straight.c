/* lbm_straight.c -- which links of a cell cross straight walls: those that parabolic walls correct.
 *
 *     wall   ///////////////////     A cell o sends diagonals along the wall to both sides. They
 *                \    |    /           are straight if the cells beside it, f, and the next one
 *                  \  |  /             inwards are fluid, so that the wall goes on.
 *              f      o      f
 *                     f
 */
#include "engine/solvers/lbm/lbm_boundary.h"

/* The directions in `among` with so many components along axes, of which that along `a` is e. */
static uint32_t straight_beside(const lbm_lattice *lattice, uint32_t among, int axes, int a,
                                int e) {
    uint32_t found = 0;
    for (int i = 1; i < lattice->q; i++) {
        const int *of = lattice->direction[i].e;
        const bool beside = of[a] == e && (of[0] != 0) + (of[1] != 0) + (of[2] != 0) == axes;
        found |= beside ? among & 1u << i : 0;
    }
    return found;
}

uint32_t lbm_boundary_straight(const lbm_lattice *lattice, const lbm_boundary_cell *cell,
                               uint32_t parabolic) {
    const uint32_t all = ~0u;
    uint32_t straight = 0;
    for (int side = 0; side < 2 * lattice->dims; side++) {
        const int n = side / 2, e = side % 2 ? -1 : 1;
        const uint32_t axis = straight_beside(lattice, all, 1, n, e);
        const uint32_t diagonals = straight_beside(lattice, all, 2, n, e);
        uint32_t found = 0;
        const bool fluid_inwards = !(cell->links & straight_beside(lattice, all, 1, n, -e));
        for (int t = 0; t < lattice->dims && fluid_inwards && (parabolic & axis); t++) {
            const uint32_t up = t == n ? 0 : straight_beside(lattice, diagonals, 2, t, 1);
            const uint32_t down = t == n ? 0 : straight_beside(lattice, diagonals, 2, t, -1);
            const uint32_t along =
                straight_beside(lattice, all, 1, t, 1) | straight_beside(lattice, all, 1, t, -1);
            const bool crosses = (parabolic & up) && (parabolic & down) && !(cell->links & along);
            found |= crosses ? up | down : 0;
        }
        straight |= found | (found == diagonals ? axis : 0);
    }
    return straight;
}
