/* placement.c -- where a shape is placed: moved, rotated, scaled. */
#include <math.h>
#include <string.h>
#include "geometry/solid.h"

void sel_shape_unplace(const sel_shape_placement *placement, const double p[3], double own[3]) {
    for (int k = 0; k < 3; k++) {
        own[k] = 0;
        for (int a = 0; a < 3; a++) {
            own[k] += placement->inverse[k][a] * (p[a] - placement->shift[a]);
        }
    }
}

/* Sets the shift so that the point `about` stays where it is. */
static void keep_point(sel_shape_placement *placement, const double about[3]) {
    for (int k = 0; k < 3; k++) {
        placement->shift[k] = about[k];
        for (int a = 0; a < 3; a++) {
            placement->shift[k] -= placement->matrix[k][a] * about[a];
        }
    }
}

void sel_placement_scale(sel_shape_placement *placement, double factor, const double about[3]) {
    *placement = (sel_shape_placement){.shift = {0}};
    for (int a = 0; a < 3; a++) {
        placement->matrix[a][a] = factor;
        placement->inverse[a][a] = 1 / factor;
    }
    keep_point(placement, about);
}

void sel_placement_move(sel_shape_placement *placement, const double by[3]) {
    sel_placement_scale(placement, 1, (const double[]){0, 0, 0});
    memcpy(placement->shift, by, sizeof placement->shift);
}

/* Rodrigues' formula: R = cos I + sin [u] + (1 - cos) u u^T. */
void sel_placement_rotate(sel_shape_placement *placement, double angle, const double axis[3],
                          const double about[3]) {
    const double z[3] = {0, 0, 1}, *v = axis ? axis : z;
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double u[3] = {v[0] / length, v[1] / length, v[2] / length};
    const double c = cos(angle), s = sin(angle);
    const double cross[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 3; a++) {
            const double r = (k == a ? c : 0) + s * cross[k][a] + (1 - c) * u[k] * u[a];
            placement->matrix[k][a] = r;
            placement->inverse[a][k] = r;
        }
    }
    keep_point(placement, about);
}
