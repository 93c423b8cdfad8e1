/* gradient.c -- the velocity gradient of a cell by differences, and what follows from it. */
#include "engine/lbm/gradient.h"

#include <math.h>

/* d/dx of v at a cell with neighbours `below` and `above`, either of which may be missing. */
static double difference(double below, double here, double above, bool has_below, bool has_above) {
    if (has_below && has_above) {
        return 0.5 * (above - below);
    }
    return has_above ? above - here : has_below ? here - below : 0;
}

lbm_gradient lbm_gradient_at(const sel_domain *domain, const double *const rows[3], int64_t x,
                             int64_t y) {
    const sel_grid *grid = &domain->grid;
    int64_t nx = grid->n[0], ny = grid->n[1];
    bool wrap = sel_axis_periodic(grid, 0);
    int64_t left = x > 0 ? x - 1 : nx - 1, right = x < nx - 1 ? x + 1 : 0;
    const uint8_t *solid = domain->cell;
    bool has_left = (x > 0 || wrap) && !solid[y * nx + left];
    bool has_right = (x < nx - 1 || wrap) && !solid[y * nx + right];
    bool has_below = rows[0] && !solid[(y > 0 ? y - 1 : ny - 1) * nx + x];
    bool has_above = rows[2] && !solid[(y < ny - 1 ? y + 1 : 0) * nx + x];
    double d[2][2];
    for (int a = 0; a < 2; a++) {
        const double *here = rows[1] + a * nx;
        double below = has_below ? rows[0][a * nx + x] : 0;
        double above = has_above ? rows[2][a * nx + x] : 0;
        d[a][0] = difference(here[left], here[x], here[right], has_left, has_right);
        d[a][1] = difference(below, here[x], above, has_below, has_above);
    }
    return (lbm_gradient){d[0][0], d[0][1], d[1][0], d[1][1]};
}

double lbm_strain_rate(const lbm_gradient *d) {
    double shear = d->xy + d->yx;
    return sqrt(2 * (d->xx * d->xx + d->yy * d->yy) + shear * shear);
}
