/* plane.c -- the plane of a 3-D field that a picture shows. */
#include "engine/output/picture.h"

#include <math.h>
#include "engine/output/measure.h"

/* A layer of which at least this part counts holds the plane, or ends there. */
static const double holds = 0.5 - 1e-9;

/* The last layer of a periodic axis and the first are a box too: one of a long stride. */
static void choose_layers(sel_plane *plane, const sel_grid *grid, double cells) {
    sel_interval about = sel_interval_about(grid, plane->axis, cells);
    int64_t lower = about.cell[0], upper = about.cell[1];
    bool two = about.upper > 0 && upper != lower, wraps = two && upper < lower;
    int64_t first = wraps ? upper : lower, second = two ? lower + upper - first : first;
    plane->layers = two ? 2 : 1;
    plane->box.lo[plane->axis] = first;
    plane->box.hi[plane->axis] = second + 1;
    plane->box.stride[plane->axis] = two ? second - first : 1;
    plane->weight[0] = wraps ? about.upper : two ? 1 - about.upper : 1;
    plane->weight[1] = 1 - plane->weight[0];
}

sel_plane sel_plane_make(const sel_grid *grid, const sel_slice *slice) {
    sel_plane plane = {.axis = 2, .box = sel_grid_box(grid), .layers = 1, .weight = {1, 0}};
    for (int a = 0; a < 3 && grid->dims == 3; a++) {
        plane.axis = isnan(slice->v[a]) ? plane.axis : a;
    }
    if (grid->dims == 3) {
        double place = slice->v[plane.axis] - grid->origin[plane.axis];
        choose_layers(&plane, grid, place / grid->dx);
    }
    for (int a = 0, next = 0; a < 3; a++) {
        if (a != plane.axis) {
            plane.n[next++] = grid->n[a];
        }
    }
    return plane;
}

void sel_plane_solids(const sel_plane *plane, const sel_domain *domain, uint8_t *solid) {
    const sel_box *box = &plane->box;
    const int nodata = domain->own_regions ? domain->region_count : -1; /* the last one */
    int64_t at[3];
    for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2] += box->stride[2]) {
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1] += box->stride[1]) {
            for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0] += box->stride[0]) {
                int region = domain->cell[sel_cell_number(&domain->grid, at)];
                *solid++ = region == 0        ? SEL_PLANE_FREE
                           : region == nodata ? SEL_PLANE_NODATA
                                              : SEL_PLANE_SOLID;
            }
        }
    }
}

/* Where place `i` of the plane lies in the box: the cell of its first layer; the next layer's is
 * *apart cells on. Never before i: so the layers can be joined in place. */
static int64_t first_cell(const sel_plane *plane, int64_t i, int64_t *apart) {
    int64_t n = plane->n[0];
    switch (plane->axis) {
    case 0:
        *apart = 1;
        return i * plane->layers;
    case 1:
        *apart = n;
        return i % n + i / n * n * plane->layers;
    default:
        *apart = n * plane->n[1];
        return i;
    }
}

void sel_plane_flatten(const sel_plane *plane, int components, float *values, uint8_t *solid) {
    for (int64_t i = 0; i < plane->n[0] * plane->n[1] && plane->layers == 2; i++) {
        int64_t apart, first = first_cell(plane, i, &apart);
        double weight[2], free_weight = 0;
        bool inside = true;
        uint8_t kind = SEL_PLANE_FREE;
        for (int k = 0; k < 2; k++) {
            bool is_solid = solid[first + k * apart] != 0;
            weight[k] = is_solid ? 0 : plane->weight[k];
            free_weight += weight[k];
            inside = inside && (is_solid || plane->weight[k] < holds);
            kind = plane->weight[k] >= holds ? solid[first + k * apart] : kind;
        }
        for (int c = 0; c < components; c++) {
            double sum = 0;
            for (int k = 0; k < 2; k++) {
                double value = (double)values[(first + k * apart) * components + c];
                sum += weight[k] > 0 ? weight[k] * value : 0;
            }
            values[i * components + c] = free_weight > 0 ? (float)(sum / free_weight) : 0;
        }
        solid[i] = inside ? kind : SEL_PLANE_FREE;
    }
}
