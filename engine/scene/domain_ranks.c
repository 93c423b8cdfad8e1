/* domain_ranks.c -- the rows of a domain that each rank paints and evaluates; collectives over the
 * ranks. */
#include "engine/scene/domain.h"

#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/base/ranks.h"

/* Planes (and rows) on either side of its own for which a rank has values and regions: a halo of
 * two planes, and the neighbours that their evaluation reads. */
enum { KEPT_BESIDE = 4 };

static const sel_ranks *domain_ranks_of(const sel_domain *domain) {
    return domain->ranks ? domain->ranks : &sel_one_rank;
}

static int64_t domain_plane_rows(const sel_grid *grid) {
    return grid->dims == 3 ? grid->n[1] : 1;
}

sel_rows_range sel_rows_together(const sel_rows *rows, int64_t k, int64_t most) {
    const int64_t left = rows->skip ? rows->height - k % rows->height : rows->count - k;
    const int64_t first = sel_row_of(rows, k);
    return (sel_rows_range){first, first + (left < most ? left : most)};
}

void sel_domain_divide(sel_domain *domain, const sel_ranks *ranks, const sel_decomposition *d) {
    const sel_grid *grid = &domain->grid;
    const int64_t planes = grid->n[grid->dims - 1], rows = domain_plane_rows(grid);
    const bool given = d && ranks && d->ranks[1] * d->ranks[2] == ranks->count;
    const int share = given && sel_divides_planes(d) ? d->ranks[1] : 1; /* of the same planes */
    domain->ranks = ranks && ranks->count > 1 && (given || planes >= ranks->count) ? ranks : NULL;
    for (int r = 0; domain->ranks && r <= ranks->count; r++) {
        const int64_t *plane = given ? d->first[d->slow] + r / share : NULL;
        domain->first_row[r] = rows * (given ? *plane : planes * r / ranks->count);
        if (r % share) {
            domain->first_row[r] += rows * (plane[1] - plane[0]) * (r % share) / share;
        }
    }
    domain->kept = sel_domain_own(domain);
    if (domain->ranks && given) {
        domain->decomposition = *d;
        const sel_patch own = sel_patch_of(d, ranks->rank);
        domain->kept = sel_patch_planes(grid, &own);
    }
}

/* Whether a patch has the index i along an axis, or has one close to it. What lies beyond an end of
 * the grid is read at the other end, also where the axis is not periodic (halos of flows at step 0,
 * which nothing reads then). */
static bool domain_keeps(const sel_grid *grid, const sel_patch *patch, int axis, int64_t i) {
    const int64_t lo = patch->lo[axis] - KEPT_BESIDE, hi = patch->hi[axis] + KEPT_BESIDE;
    const int64_t n = grid->n[axis];
    return (i >= lo && i < hi) || (i - n >= lo && i - n < hi) || (i + n >= lo && i + n < hi);
}

void sel_domain_keep(sel_domain *domain, const sel_patch *patch) {
    const sel_grid *grid = &domain->grid;
    const int64_t nx = grid->n[0], ny = grid->n[1], rows = ny * grid->n[2];
    int64_t first = 0; /* of the rows before the present one that are not kept */
    for (int64_t row = 0; row <= rows; row++) {
        const bool keeps = row < rows && domain_keeps(grid, patch, 2, row / ny) &&
                           domain_keeps(grid, patch, 1, row % ny);
        const size_t bytes = (size_t)((row - first) * nx);
        if ((keeps || row == rows) && bytes) {
            sel_machine_withdraw(domain->cell + first * nx, bytes);
        }
        if ((keeps || row == rows) && bytes && domain->painted) {
            sel_machine_withdraw(domain->painted + first * nx, bytes);
        }
        first = keeps ? row + 1 : first;
    }
}

sel_rows_range sel_domain_own(const sel_domain *domain) {
    const int64_t *first = domain->first_row;
    return domain->ranks
               ? (sel_rows_range){first[domain->ranks->rank], first[domain->ranks->rank + 1]}
               : (sel_rows_range){0, domain->grid.n[1] * domain->grid.n[2]};
}

sel_status sel_domain_agree(const sel_domain *domain, sel_status status, sel_error *own,
                            sel_error *error) {
    status = sel_ranks_agree(domain_ranks_of(domain), status, own);
    return status ? sel_fail(error, status, "%s", own->text) : SEL_OK;
}

void sel_domain_share(const sel_domain *domain, void *v, size_t bytes) {
    size_t end[SEL_MOST_RANKS];
    for (int r = 0; domain->ranks && r < domain->ranks->count; r++) {
        end[r] = (size_t)domain->first_row[r + 1] * bytes;
    }
    if (domain->ranks) {
        sel_ranks_share(domain->ranks, v, end);
    }
}

void sel_domain_gather(const sel_domain *domain, const void *own, size_t bytes, void *all) {
    domain_ranks_of(domain)->gather(own, bytes, all);
}

int sel_domain_ranks(const sel_domain *domain) {
    return domain_ranks_of(domain)->count;
}

int64_t sel_domain_total(const sel_domain *domain, int64_t count) {
    return sel_ranks_total(domain_ranks_of(domain), count);
}

double sel_domain_largest(const sel_domain *domain, double value) {
    return sel_ranks_largest(domain_ranks_of(domain), value);
}

void sel_domain_merge(const sel_domain *domain, double *v, int64_t count, size_t apart) {
    const sel_ranks *ranks = domain_ranks_of(domain);
    const size_t bytes = (size_t)count * apart;
    char *all = ranks->count > 1 ? sel_ranks_memory(ranks, (size_t)ranks->count * bytes) : NULL;
    if (!all) {
        return;
    }
    ranks->gather(v, bytes, all);
    for (int64_t k = 0; k < ranks->count * count; k++) {
        double *to = (double *)(void *)((char *)v + (size_t)(k % count) * apart), its;
        memcpy(&its, all + (size_t)k * apart, sizeof its);
        *to = its != 0 ? its : *to;
    }
    free(all);
}

sel_status sel_domain_numbers(const sel_domain *domain, sel_evaluation asked, int threads,
                              double **numbers, sel_error *error) {
    const sel_grid *grid = &domain->grid;
    const int axis = grid->dims - 1;
    const sel_rows_range own = domain->ranks ? domain->kept : sel_domain_own(domain);
    const int64_t row = asked.quantity->components * grid->n[0], rows = domain_plane_rows(grid);
    const size_t bytes = (size_t)(row * grid->n[1] * grid->n[2]) * sizeof **numbers;
    sel_error why = {.status = SEL_OK};
    /* With ranks calloc: pages of planes that this rank does not evaluate are never touched. */
    double *to = *numbers = domain->ranks ? calloc(bytes, 1) : sel_machine_allocate(bytes);
    asked.first = own.first;
    asked.end = own.end;
    sel_status status =
        to ? sel_domain_evaluate(domain, &asked, threads, to + asked.first * row, &why)
           : sel_fail_memory(&why, asked.what, bytes);
    status = sel_domain_agree(domain, status, &why, error);
    for (int64_t k = 0; k < 2 * KEPT_BESIDE && domain->ranks && !status; k++) {
        int64_t plane = k % 2 ? own.end / rows + k / 2 : own.first / rows - 1 - k / 2;
        plane = sel_axis_periodic(grid, axis) ? sel_wrapped(grid, axis, plane) : plane;
        asked.first = plane * rows;
        asked.end = asked.first + rows;
        if (plane >= 0 && plane < grid->n[axis]) {
            status = sel_domain_evaluate(domain, &asked, threads, to + asked.first * row, error);
        }
    }
    return status;
}
