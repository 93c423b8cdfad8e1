/* census.c -- what the cells of a painted domain are: counts by region, and the kinds of cells.
 *
 * Along each axis that is not periodic the first layer of cells touches the lower face, the last
 * one the upper face, and those between none. The products of these layers are the inside, the
 * faces, the edges and the corners of the domain; cells of one such place differ only in the
 * regions of their sites.
 */
#include "engine/census.h"

#include <stdlib.h>
#include <string.h>

/* Layers lo <= i < hi of an axis and the faces that they touch: bit 0 the lower, bit 1 the upper.
 */
typedef struct layers {
    int64_t lo, hi;
    int touched;
} layers;

static void layers_of(const sel_grid *grid, int axis, layers v[3]) {
    int64_t n = grid->n[axis];
    bool faces = axis < grid->dims && !sel_axis_periodic(grid, axis);
    v[0] = faces ? (layers){1, n - 1, 0} : (layers){0, n, 0};
    v[1] = faces ? (layers){0, 1, n == 1 ? 3 : 1} : (layers){0, 0, 0};
    v[2] = faces && n > 1 ? (layers){n - 1, n, 2} : (layers){0, 0, 0};
}

/* The kind with these regions, made when it is new: from `first` on they are of one place. */
static sel_cell_kind *kind_of(sel_census *census, int first, const uint8_t region[SEL_FACES],
                              int axes) {
    for (int k = first; k < census->count; k++) {
        if (memcmp(census->kinds[k].region, region, SEL_FACES) == 0) {
            return &census->kinds[k];
        }
    }
    if (census->count == census->capacity) {
        int capacity = 2 * census->capacity + 32;
        sel_cell_kind *kinds = realloc(census->kinds, (size_t)capacity * sizeof *kinds);
        if (!kinds) {
            return NULL;
        }
        census->kinds = kinds;
        census->capacity = capacity;
    }
    sel_cell_kind *kind = &census->kinds[census->count++];
    *kind = (sel_cell_kind){.axes = axes};
    memcpy(kind->region, region, SEL_FACES);
    return kind;
}

static int axes_touched(const layers place[3]) {
    return (place[0].touched != 0) + (place[1].touched != 0) + (place[2].touched != 0);
}

/* The regions of the sites of cell `at`. */
static void regions_at(const sel_domain *domain, const layers place[3], const int64_t at[3],
                       uint8_t region[SEL_FACES]) {
    for (int f = 0; f < SEL_FACES; f++) {
        bool touches = (place[f / 2].touched >> f % 2 & 1) != 0;
        region[f] = touches ? domain->face[f][sel_face_site(&domain->grid, f, at)] : 0;
    }
}

static bool count_place(const sel_domain *domain, const layers place[3], sel_census *census) {
    int64_t at[3];
    int first = census->count, axes = axes_touched(place);
    for (at[2] = place[2].lo; at[2] < place[2].hi; at[2]++) {
        for (at[1] = place[1].lo; at[1] < place[1].hi; at[1]++) {
            for (at[0] = place[0].lo; at[0] < place[0].hi; at[0]++) {
                uint8_t region[SEL_FACES];
                if (domain->cell[sel_cell_number(&domain->grid, at)]) {
                    continue;
                }
                regions_at(domain, place, at, region);
                sel_cell_kind *kind = kind_of(census, first, region, axes);
                if (!kind) {
                    return false;
                }
                kind->cells++;
            }
        }
    }
    return true;
}

/* Cells inside have nothing but their number. */
static bool count_inside(const layers place[3], const sel_domain *domain, sel_census *census) {
    static const uint8_t none[SEL_FACES] = {0};
    int64_t cells = 0;
    for (int64_t z = place[2].lo; z < place[2].hi; z++) {
        for (int64_t y = place[1].lo; y < place[1].hi; y++) {
            const int64_t at[3] = {0, y, z};
            const uint8_t *row = domain->cell + sel_cell_number(&domain->grid, at);
            for (int64_t x = place[0].lo; x < place[0].hi; x++) {
                cells += row[x] == 0;
            }
        }
    }
    sel_cell_kind *kind = cells ? kind_of(census, 0, none, 0) : NULL;
    if (kind) {
        kind->cells = cells;
    }
    return kind || cells == 0;
}

static bool count_kinds(const sel_domain *domain, sel_census *census) {
    layers axis[3][3];
    for (int a = 0; a < 3; a++) {
        layers_of(&domain->grid, a, axis[a]);
    }
    bool done = true;
    for (int axes = 0; axes <= domain->grid.dims; axes++) {
        for (int p = 0; p < 27 && done; p++) {
            const layers place[3] = {axis[0][p % 3], axis[1][p / 3 % 3], axis[2][p / 9]};
            if (axes == 0 && p == 0) {
                done = count_inside(place, domain, census);
            } else if (axes > 0 && axes_touched(place) == axes) {
                done = count_place(domain, place, census);
            }
        }
    }
    return done;
}

sel_status sel_census_take(const sel_domain *domain, sel_census *census, sel_error *error) {
    *census = (sel_census){.count = 0};
    for (int64_t i = 0; i < sel_grid_cells(&domain->grid); i++) {
        census->cells[domain->cell[i]]++;
    }
    for (int f = 0; f < SEL_FACES; f++) {
        for (int64_t s = 0; domain->face[f] && s < sel_face_sites(&domain->grid, f); s++) {
            census->sites[f][domain->face[f][s]]++;
        }
    }
    return count_kinds(domain, census) ? SEL_OK : sel_fail_memory(error, "counting the cells", 0);
}

void sel_census_free(sel_census *census) {
    free(census->kinds);
    census->kinds = NULL;
    census->count = census->capacity = 0;
}
