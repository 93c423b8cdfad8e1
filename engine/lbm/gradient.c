/* gradient.c -- the velocity gradient of a cell by differences. */
#include "engine/lbm/gradient.h"

/* Its velocity, one component every nx numbers; a solid's and one outside is not known. */
typedef struct neighbour {
    bool known;
    const double *u;
} neighbour;

/* d/dx of v at a cell with neighbours `below` and `above`, either of which may be missing. */
static double difference(double below, double here, double above, bool has_below, bool has_above) {
    if (has_below && has_above) {
        return 0.5 * (above - below);
    }
    return has_above ? above - here : has_below ? here - below : 0;
}

/* A cell: its number, and its places along the axes. */
typedef struct place {
    int64_t cell, at[3];
} place;

/* The neighbour of a cell on one side of an axis, in `row` of velocities. */
static neighbour find_neighbour(const sel_domain *domain, const double *row, const place *p,
                                int axis, int side) {
    const sel_grid *grid = &domain->grid;
    const int64_t n = grid->n[axis], here = p->at[axis];
    const int64_t stride = axis == 0 ? 1 : axis == 1 ? grid->n[0] : grid->n[0] * grid->n[1];
    int64_t to = here + side;
    const bool inside = to >= 0 && to < n;
    if (!row || !(inside || sel_axis_periodic(grid, axis))) {
        return (neighbour){false, NULL};
    }
    to = inside ? to : to < 0 ? n - 1 : 0;
    const bool solid = domain->cell[p->cell + (to - here) * stride] != 0;
    return (neighbour){!solid, row + (axis == 0 ? to : p->at[0])};
}

/* A cell away from faces and solids has a neighbour on both sides of all axes. */
static bool is_surrounded(const sel_domain *domain, const place *p) {
    const sel_grid *grid = &domain->grid;
    const uint8_t *cell = domain->cell + p->cell;
    int64_t stride = 1;
    for (int a = 0; a < grid->dims; a++, stride *= grid->n[a - 1]) {
        if (p->at[a] == 0 || p->at[a] == grid->n[a] - 1 || cell[-stride] || cell[stride]) {
            return false;
        }
    }
    return true;
}

lbm_gradient lbm_gradient_at(const sel_domain *domain, const double *const rows[LBM_AROUND],
                             int64_t x, int64_t row) {
    static const int places[3][2] = {
        {LBM_HERE, LBM_HERE}, {LBM_BELOW_Y, LBM_ABOVE_Y}, {LBM_BELOW_Z, LBM_ABOVE_Z}};
    const sel_grid *grid = &domain->grid;
    const int64_t nx = grid->n[0], z = grid->dims == 3 ? row / grid->n[1] : 0;
    const place p = {row * nx + x, {x, row - z * grid->n[1], z}};
    const double *here = rows[LBM_HERE] + x;
    lbm_gradient gradient = {{{0}}};
    if (is_surrounded(domain, &p)) {
        for (int b = 0; b < grid->dims; b++) {
            const double *below = b ? rows[places[b][0]] + x : here - 1;
            const double *above = b ? rows[places[b][1]] + x : here + 1;
            for (int a = 0; a < grid->dims; a++) {
                gradient.d[a][b] = 0.5 * (above[a * nx] - below[a * nx]);
            }
        }
        return gradient;
    }
    for (int b = 0; b < grid->dims; b++) {
        neighbour below = find_neighbour(domain, rows[places[b][0]], &p, b, -1);
        neighbour above = find_neighbour(domain, rows[places[b][1]], &p, b, 1);
        for (int a = 0; a < grid->dims; a++) {
            gradient.d[a][b] =
                difference(below.known ? below.u[a * nx] : 0, here[a * nx],
                           above.known ? above.u[a * nx] : 0, below.known, above.known);
        }
    }
    return gradient;
}
