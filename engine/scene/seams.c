/* seams.c -- regions that reach over a periodic face: shapes do not repeat along a periodic axis.
 *
 *      cells      n-2     n-1   |    0      1        a shape that holds the centre of cell -1, and
 * not shape  (-1) |  shape             that of cell n-1, its image, is cut at the face
 */
#include <stdio.h>
#include <stdlib.h>
#include "engine/scene/domain.h"
#include "engine/scene/shape.h"

enum { SITES_AT_ONCE = 1 << 14 };

/* Whether the bounds of a shape reach over a face by half a cell. */
static bool reaches_over(const sel_shape *shape, const sel_grid *grid, int face) {
    const int axis = face / 2;
    const double beyond = sel_centre(grid, axis, face % 2 ? (double)grid->n[axis] : -1);
    const sel_bounds *b = &shape->bounds;
    return shape->bounded && b->lo[axis] <= beyond && b->hi[axis] >= beyond;
}

/* The number of cells beside the opposite face that no region paints, although the shape holds
 * their images beyond this one. */
static int64_t count_cut(const sel_domain *domain, const sel_shape *shape, int face) {
    const sel_grid *grid = &domain->grid;
    const int axis = face / 2;
    const int64_t sites = sel_face_sites(grid, face);
    double *x = malloc(SITES_AT_ONCE * (3 * sizeof *x + 1));
    uint8_t *in = (uint8_t *)(x + 3 * SITES_AT_ONCE);
    double *const to[3] = {x, x + SITES_AT_ONCE, x + 2 * SITES_AT_ONCE};
    int64_t count = 0;
    for (int64_t first = 0; x && first < sites; first += SITES_AT_ONCE) {
        const int64_t left = sites - first, n = left < SITES_AT_ONCE ? left : SITES_AT_ONCE;
        const sel_places at = sel_domain_at(domain, n, to[0], to[1], to[2], 0);
        for (int64_t k = 0; k < n; k++) {
            double centre[3];
            sel_cell_centre(grid, sel_cell_behind(grid, face, first + k), centre);
            centre[axis] = sel_centre(grid, axis, face % 2 ? (double)grid->n[axis] : -1);
            for (int a = 0; a < 3; a++) {
                to[a][k] = centre[a];
            }
        }
        if (sel_shape_test(shape, grid, -1, &at, NULL, in, NULL)) {
            break;
        }
        for (int64_t k = 0; k < n; k++) {
            const int64_t image = sel_cell_behind(grid, face ^ 1, first + k);
            count += in[k] && !sel_domain_painted(domain)[image];
        }
    }
    free(x);
    return count;
}

static void warn_of_cut(const sel_domain *domain, int number, int face, sel_error *warnings) {
    const sel_grid *grid = &domain->grid;
    const sel_region *region = &domain->regions[number - 1];
    const int axis = face / 2;
    double by[3] = {0, 0, 0};
    const int64_t count = count_cut(domain, region->where, face);
    char name[32], text[96];
    if (count == 0) {
        return;
    }
    by[axis] = (face % 2 ? -1 : 1) * (sel_upper_end(grid, axis) - grid->origin[axis]);
    int used = snprintf(text, sizeof text, "%.10g, %.10g", by[0], by[1]);
    if (grid->dims == 3) {
        snprintf(text + used, sizeof text - (size_t)used, ", %.10g", by[2]);
    }
    sel_fail_at(
        warnings, region->at,
        "'%s' reaches over face %s and is cut there, as shapes do not repeat along the "
        "periodic axis %s: beside the opposite face %lld cells of its image stay free; paint "
        "shape + shape:moved { %s }",
        sel_region_name(domain, number, name), sel_face_name(face), sel_axis_names[axis],
        (long long)count, text);
}

void sel_domain_warn_of_seams(const sel_domain *domain, sel_error *warnings) {
    const sel_grid *grid = &domain->grid;
    for (int k = 1; k <= domain->region_count; k++) {
        const sel_shape *shape = domain->regions[k - 1].where;
        /* what a function says beyond the domain means nothing */
        for (int face = 0; face < 2 * grid->dims && shape && !sel_shape_has_functions(shape);
             face++) {
            if (sel_axis_periodic(grid, face / 2) && reaches_over(shape, grid, face)) {
                warn_of_cut(domain, k, face, warnings);
            }
        }
    }
}
