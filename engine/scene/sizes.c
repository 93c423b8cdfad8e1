/* sizes.c -- how large the regions of a domain are, by their cells.
 *
 * Wetted area: a surface of area A and normal n is crossed by A max(0, n.e) / V of the links along
 * e, if V is the volume of a cell, so by A s / V of all links to the 26 (in 2-D 8) neighbours,
 * where s is the sum of max(0, n.e) over them. So each link from a free to a solid cell stands for
 * the area V / s. As s depends little on n, the mean direction to the solid cells nearby is a good
 * enough normal.
 */
#include "engine/scene/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 26, REACH = 2 };

/* ---- volume and frontal area ---- */

/* Adds the volume of the cells. */
static void add_volumes(const sel_domain *domain, sel_region_size *size) {
    const sel_grid *grid = &domain->grid;
    const uint8_t *region = sel_domain_painted(domain);
    const double volume = sel_cell_volume(grid);
    const int64_t nx = grid->n[0], rows = grid->n[1] * grid->n[2];
    double sums[SEL_REGION_NUMBERS] = {0};
#pragma omp parallel for schedule(static) reduction(+ : sums[:SEL_REGION_NUMBERS])
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t x = 0; x < nx; x++) {
            const int64_t at[3] = {x, row % grid->n[1], row / grid->n[1]};
            const uint8_t owner = region[row * nx + x];
            sums[owner] += owner ? volume * sel_part_inside(grid, at, -1) : 0;
        }
    }
    for (int k = 0; k < SEL_REGION_NUMBERS; k++) {
        size[k].volume = sums[k];
    }
}

/* The regions of a column of cells, a bit each. */
typedef struct region_set {
    uint64_t bits[SEL_REGION_NUMBERS / 64];
} region_set;

/* Adds the areas of the columns along `axis` that begin in row `first` of the plane across it:
 * those of one row along x, or for axis x one column. */
static void add_columns(const sel_domain *domain, int axis, int64_t first, region_set *sets,
                        sel_region_size *size) {
    const sel_grid *grid = &domain->grid;
    const uint8_t *region = sel_domain_painted(domain);
    const int64_t *n = grid->n, columns = axis == 0 ? 1 : n[0];
    double area = 1;
    for (int a = 0; a < grid->dims; a++) {
        area *= a == axis ? 1 : grid->dx[a];
    }
    memset(sets, 0, (size_t)columns * sizeof *sets);
    for (int64_t k = 0; k < n[axis]; k++) {
        const int64_t row = axis == 0 ? first : axis == 1 ? k + n[1] * first : first + n[1] * k;
        for (int64_t x = 0; x < columns; x++) {
            const uint8_t owner = region[row * n[0] + (axis == 0 ? k : x)];
            sets[x].bits[owner / 64] |= (uint64_t)1 << owner % 64;
        }
    }
    for (int64_t x = 0; x < columns; x++) {
        const int64_t at[3] = {x, axis == 0 ? first % n[1] : first,
                               axis == 0 ? first / n[1] : first};
        const double part = area * sel_part_inside(grid, at, axis);
        for (int k = 1; k < SEL_REGION_NUMBERS; k++) {
            size[k].frontal[axis] += sets[x].bits[k / 64] >> k % 64 & 1 ? part : 0;
        }
    }
}

static sel_status add_frontal_areas(const sel_domain *domain, sel_region_size *size,
                                    sel_error *error) {
    const int64_t *n = domain->grid.n;
    const size_t bytes = (size_t)n[0] * sizeof(region_set);
    region_set *sets = malloc(bytes);
    if (!sets) {
        return sel_fail_memory(error, "the areas of the regions", bytes);
    }
    for (int axis = 0; axis < domain->grid.dims; axis++) {
        const int64_t rows = axis == 0 ? n[1] * n[2] : n[3 - axis];
        for (int64_t row = 0; row < rows; row++) {
            add_columns(domain, axis, row, sets, size);
        }
    }
    free(sets);
    return SEL_OK;
}

/* ---- wetted area ---- */

/* The links of a cell to its neighbours. */
typedef struct links {
    int count, offset[NEIGHBOURS][3];
    double along[NEIGHBOURS][3], mean; /* in the user's units; the mean of the sum s */
} links;

static links links_of_grid(const sel_grid *grid) {
    links l = {.count = 0};
    for (int k = 0; k < 27; k++) {
        const int e[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        double squares = 0;
        if ((e[2] && grid->dims == 2) || (!e[0] && !e[1] && !e[2])) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            l.offset[l.count][a] = e[a];
            l.along[l.count][a] = a < grid->dims ? e[a] * grid->dx[a] : 0;
            squares += l.along[l.count][a] * l.along[l.count][a];
        }
        l.mean += sqrt(squares) * (grid->dims == 3 ? 0.25 : 1 / acos(-1));
        l.count++;
    }
    return l;
}

/* The sum of max(0, n.e) over all links. A free cell between two walls has no direction. */
static double links_across(const links *l, const double n[3]) {
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    double sum = 0;
    for (int k = 0; k < l->count; k++) {
        const double *e = l->along[k];
        sum += fmax(0, n[0] * e[0] + n[1] * e[1] + n[2] * e[2]);
    }
    return sum > 1e-9 * length * l->mean ? sum / length : l->mean;
}

/* The cell at an offset from `at`; -1: outside of the domain. */
static int64_t neighbour_at(const sel_grid *grid, const int64_t at[3], const int offset[3]) {
    int64_t to[3];
    for (int a = 0; a < 3; a++) {
        to[a] = at[a] + offset[a];
        if (sel_axis_periodic(grid, a)) {
            to[a] = sel_wrapped(grid, a, to[a]);
        } else if (to[a] < 0 || to[a] >= grid->n[a]) {
            return -1;
        }
    }
    return sel_cell_number(grid, to);
}

/* The direction from a free cell to the solid cells up to REACH away along each axis. */
static void direction_to_solids(const sel_domain *domain, const int64_t at[3], double n[3]) {
    const sel_grid *grid = &domain->grid;
    enum { WIDTH = 2 * REACH + 1 };
    const int all = grid->dims == 3 ? WIDTH * WIDTH * WIDTH : WIDTH * WIDTH;
    for (int k = 0; k < all; k++) {
        const int e[3] = {k % WIDTH - REACH, k / WIDTH % WIDTH - REACH,
                          grid->dims == 3 ? k / WIDTH / WIDTH - REACH : 0};
        const int64_t cell = neighbour_at(grid, at, e);
        for (int a = 0; a < 3 && cell >= 0 && domain->cell[cell]; a++) {
            n[a] += e[a] * grid->dx[a];
        }
    }
}

/* Adds the areas that the links of a free cell stand for. */
static void add_links(const sel_domain *domain, const links *l, const int64_t at[3],
                      double wetted[SEL_REGION_NUMBERS]) {
    uint8_t solid[NEIGHBOURS];
    double n[3] = {0};
    bool any = false;
    for (int k = 0; k < l->count; k++) {
        const int64_t cell = neighbour_at(&domain->grid, at, l->offset[k]);
        solid[k] = cell < 0 ? 0 : domain->cell[cell];
        any = any || solid[k];
    }
    if (!any) {
        return;
    }
    direction_to_solids(domain, at, n);
    for (int k = 0; k < l->count; k++) {
        wetted[solid[k]] += sel_cell_volume(&domain->grid) / links_across(l, n);
    }
}

/* Whether a row, or one beside it, has a solid cell. */
static bool is_beside_solids(const sel_grid *grid, const uint8_t *has_solids, int64_t row) {
    const int64_t at[3] = {0, row % grid->n[1], row / grid->n[1]};
    bool found = false;
    for (int k = 0; k < 9; k++) {
        const int64_t cell = neighbour_at(grid, at, (const int[]){0, k % 3 - 1, k / 3 - 1});
        found = found || (cell >= 0 && has_solids[cell / grid->n[0]]);
    }
    return found;
}

static void mark_rows_with_solids(const sel_domain *domain, uint8_t *has_solids) {
    const int64_t nx = domain->grid.n[0], rows = domain->grid.n[1] * domain->grid.n[2];
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        uint8_t any = 0;
        for (int64_t x = 0; x < nx; x++) {
            any |= domain->cell[row * nx + x];
        }
        has_solids[row] = any;
    }
}

/* Adds the areas beside the free cells of a box in the rows first <= row < end. */
static void add_rows(const sel_domain *domain, const sel_box *box, const uint8_t *has_solids,
                     int64_t first, int64_t end, double wetted[SEL_REGION_NUMBERS]) {
    const sel_grid *grid = &domain->grid;
    const links l = links_of_grid(grid);
    const int64_t ny = grid->n[1];
    for (int64_t row = first; row < end; row++) {
        const bool within = row % ny >= box->lo[1] && row % ny < box->hi[1] &&
                            row / ny >= box->lo[2] && row / ny < box->hi[2];
        const bool beside = within && is_beside_solids(grid, has_solids, row);
        for (int64_t x = box->lo[0]; x < box->hi[0] && beside; x++) {
            const int64_t at[3] = {x, row % ny, row / ny};
            if (domain->cell[row * grid->n[0] + x] == 0) {
                add_links(domain, &l, at, wetted);
            }
        }
    }
}

sel_status sel_domain_wetted(const sel_domain *domain, const sel_box *box,
                             double wetted[SEL_REGION_NUMBERS], sel_error *error) {
    enum { PARTS = 64 }; /* each has a sum of its own, whatever thread computes it */
    const int64_t rows = domain->grid.n[1] * domain->grid.n[2];
    const size_t bytes = PARTS * SEL_REGION_NUMBERS * sizeof(double) + (size_t)rows;
    double(*part)[SEL_REGION_NUMBERS] = calloc(1, bytes);
    memset(wetted, 0, SEL_REGION_NUMBERS * sizeof *wetted);
    if (!part) {
        return sel_fail_memory(error, "the areas of the regions", bytes);
    }
    uint8_t *has_solids = (uint8_t *)(part + PARTS);
    mark_rows_with_solids(domain, has_solids);
#pragma omp parallel for schedule(dynamic)
    for (int64_t p = 0; p < PARTS; p++) {
        add_rows(domain, box, has_solids, p * rows / PARTS, (p + 1) * rows / PARTS, part[p]);
    }
    for (int p = 0; p < PARTS; p++) {
        for (int k = 1; k < SEL_REGION_NUMBERS; k++) {
            wetted[k] += part[p][k];
        }
    }
    free(part);
    return SEL_OK;
}

sel_status sel_domain_sizes(const sel_domain *domain, sel_region_size size[SEL_REGION_NUMBERS],
                            sel_error *error) {
    const sel_box all = sel_grid_box(&domain->grid);
    double wetted[SEL_REGION_NUMBERS];
    memset(size, 0, SEL_REGION_NUMBERS * sizeof *size);
    add_volumes(domain, size);
    const sel_status status = sel_domain_wetted(domain, &all, wetted, error);
    for (int k = 1; k < SEL_REGION_NUMBERS; k++) {
        size[k].wetted = wetted[k];
    }
    return status ? status : add_frontal_areas(domain, size, error);
}
