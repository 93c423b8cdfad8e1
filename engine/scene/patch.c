/* patch.c -- divide a grid into patches of about equal work; who is beside whom. */
#include "engine/scene/patch.h"

#include "engine/scene/domain.h"

enum { FEWEST_CELLS = 2 }; /* along a divided axis: what one step reads of a neighbour */

int64_t sel_patch_free(const sel_domain *domain, const sel_patch *patch) {
    const int64_t *n = domain->grid.n;
    int64_t count = 0;
    for (int64_t z = patch->lo[2]; z < patch->hi[2]; z++) {
        const uint8_t *plane = domain->cell + z * n[1] * n[0];
        for (int64_t k = patch->lo[1] * n[0]; k < patch->hi[1] * n[0]; k++) {
            count += plane[k] == 0;
        }
    }
    return count;
}

/* The free cells with index i along an axis. */
static int64_t patch_free_at(const sel_domain *domain, int axis, int64_t i) {
    const int64_t *n = domain->grid.n;
    sel_patch slab = {.hi = {n[0], n[1], n[2]}};
    if (domain->free_at[axis]) {
        return domain->free_at[axis][i];
    }
    slab.lo[axis] = i;
    slab.hi[axis] = i + 1;
    return sel_patch_free(domain, &slab);
}

/* Divides an axis into `count` parts, or into fewer where its cells do not suffice. Returns the
 * number of parts; first[0 ... parts]: the first cell of each, and n. */
static int patch_divide_axis(const sel_domain *domain, int axis, int count, int64_t *first) {
    const int64_t n = domain->grid.n[axis], least = FEWEST_CELLS, most = n / least;
    int64_t end = 0, before = 0;
    count = count > most ? (int)most : count;
    count = count < 1 ? 1 : count;
    for (int part = 0; part < count; part++) {
        const int left = count - 1 - part;
        const int64_t last = (most - left) * least;
        first[part] = end;
        while (left && end < last &&
               (end - first[part] < least || before * count < domain->free_cells * (part + 1))) {
            before += patch_free_at(domain, axis, end++);
        }
    }
    first[count] = n;
    return count;
}

/* The sides with a halo of a patch between others. */
static int patch_sides(int parts, bool periodic) {
    return parts == 1 ? 0 : parts == 2 && !periodic ? 1 : 2;
}

/* The number of patches along y with the smallest halo. With `times` = 2 it must be less than half
 * of that of whole planes. */
static int patch_best_ranks_y(const sel_grid *grid, int count, int times) {
    const int64_t *n = grid->n;
    int64_t least = INT64_MAX;
    int best = 1;
    for (int a = 1; a <= count && grid->dims == 3; a++) {
        const int along = count / a;
        if (count % a || n[2] < along * FEWEST_CELLS || (a > 1 && n[1] < a * FEWEST_CELLS)) {
            continue;
        }
        const int64_t halo =
            (a > 1 ? times : 1) *
            (patch_sides(a, sel_axis_periodic(grid, 1)) * ((n[2] + along - 1) / along) +
             patch_sides(along, sel_axis_periodic(grid, 2)) * ((n[1] + a - 1) / a));
        best = halo < least ? a : best;
        least = halo < least ? halo : least;
    }
    return best;
}

int sel_decompose(const sel_domain *domain, int count, int ranks_y, sel_decomposition *d) {
    const sel_grid *grid = &domain->grid;
    if (ranks_y <= 0) {
        ranks_y = patch_best_ranks_y(grid, count, ranks_y == SEL_FEW_RANKS_Y ? 2 : 1);
    }
    d->slow = grid->dims - 1;
    for (int a = 0; a < 3; a++) {
        d->ranks[a] = 1;
        d->first[a][0] = 0;
        d->first[a][1] = grid->n[a];
        d->periodic[a] = sel_axis_periodic(grid, a);
    }
    if (d->slow == 2 && count > 1) {
        d->ranks[1] = patch_divide_axis(domain, 1, ranks_y, d->first[1]);
    }
    d->ranks[d->slow] = patch_divide_axis(domain, d->slow, count / d->ranks[1], d->first[d->slow]);
    return d->ranks[1] * d->ranks[2];
}

sel_patch sel_patch_of(const sel_decomposition *d, int rank) {
    const int64_t *x = d->first[0], *y = d->first[1] + rank % d->ranks[1];
    const int64_t *z = d->first[2] + rank / d->ranks[1];
    return (sel_patch){{x[0], y[0], z[0]}, {x[1], y[1], z[1]}};
}

int64_t sel_fewest_cells(const sel_decomposition *d, int axis) {
    const int64_t *first = d->first[axis];
    int64_t least = INT64_MAX;
    for (int k = 0; k < d->ranks[axis]; k++) {
        least = first[k + 1] - first[k] < least ? first[k + 1] - first[k] : least;
    }
    return least;
}

int sel_rank_of_row(const sel_decomposition *d, int64_t row) {
    const int64_t ny = d->first[1][d->ranks[1]], y = row % ny, z = row / ny;
    int at_y = 0, at_z = 0;
    while (z >= d->first[2][at_z + 1]) {
        at_z++;
    }
    while (y >= d->first[1][at_y + 1]) {
        at_y++;
    }
    return at_z * d->ranks[1] + at_y;
}

sel_neighbours sel_neighbours_of(const sel_decomposition *d, int rank, int axis) {
    const int count = d->ranks[axis], apart = axis == 2 ? d->ranks[1] : 1;
    const int own = rank / apart % count, first = rank - own * apart;
    return (sel_neighbours){
        {first + (own + count - 1) % count * apart, first + (own + 1) % count * apart},
        {d->periodic[axis] || own > 0, d->periodic[axis] || own + 1 < count}};
}

sel_rows sel_patch_rows(const sel_grid *grid, const sel_patch *patch) {
    const int64_t ny = grid->n[1], height = patch->hi[1] - patch->lo[1];
    const int64_t planes = patch->hi[2] - patch->lo[2];
    return (sel_rows){patch->lo[1] + ny * patch->lo[2], planes * height, height,
                      planes > 1 ? ny - height : 0};
}

sel_rows_range sel_patch_planes(const sel_grid *grid, const sel_patch *patch) {
    const int64_t ny = grid->n[1];
    return grid->dims == 3 ? (sel_rows_range){ny * patch->lo[2], ny * patch->hi[2]}
                           : (sel_rows_range){patch->lo[1], patch->hi[1]};
}
