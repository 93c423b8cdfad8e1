/* census.c -- what the cells of a painted domain are: counts by region, and the kinds of cells. */
#include "engine/domain.h"

#include <stdlib.h>
#include <string.h>

/* The kind of cell `at`, without a count. */
static sel_cell_kind kind_at(const sel_domain *domain, const int64_t at[3]) {
    const sel_grid *grid = &domain->grid;
    sel_cell_kind kind = {.axes = 0};
    for (int axis = 2; axis >= 0; axis--) {
        int side = 0; /* 0: no face of the axis, 1: the lower one, or both, 2: the upper one */
        for (int face = 2 * axis + 1; face >= 2 * axis; face--) {
            if (domain->face[face] && at[axis] == (face % 2 ? grid->n[axis] - 1 : 0)) {
                kind.region[face] = domain->face[face][sel_face_site(grid, face, at)];
                side = face % 2 + 1;
            }
        }
        kind.axes += side > 0;
        kind.place = 3 * kind.place + side;
    }
    return kind;
}

/* Adds to the count of a kind, which is listed when it is new. False: no memory. */
static bool count_cells(sel_census *census, sel_cell_kind kind, int64_t cells) {
    int k = 0;
    while (k < census->count && memcmp(census->kinds[k].region, kind.region, SEL_FACES) != 0) {
        k++;
    }
    if (k == census->count) {
        sel_cell_kind *v = realloc(census->kinds, ((size_t)k + 1) * sizeof *v);
        if (!v) {
            return false;
        }
        for (; k > 0 && (v[k - 1].axes > kind.axes ||
                         (v[k - 1].axes == kind.axes && v[k - 1].place > kind.place));
             k--) {
            v[k] = v[k - 1];
        }
        v[k] = kind;
        census->kinds = v;
        census->count++;
    }
    census->kinds[k].cells += cells;
    return true;
}

/* In rows that touch no face across y or z only the ends can touch one. */
static bool count_kinds(const sel_domain *domain, sel_census *census) {
    const int64_t *n = domain->grid.n;
    int64_t at[3] = {0}, inside = census->cells[0];
    bool done = true;
    for (at[2] = 0; at[2] < n[2]; at[2]++) {
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            const int64_t middle[3] = {n[0] / 2, at[1], at[2]};
            const bool ends_only = n[0] > 2 && kind_at(domain, middle).axes == 0;
            for (at[0] = 0; at[0] < n[0] && done; at[0] += ends_only ? n[0] - 1 : 1) {
                const sel_cell_kind kind = kind_at(domain, at);
                if (kind.axes > 0 && domain->cell[sel_cell_number(&domain->grid, at)] == 0) {
                    done = count_cells(census, kind, 1);
                    inside--;
                }
            }
        }
    }
    return done && (inside == 0 || count_cells(census, (sel_cell_kind){.axes = 0}, inside));
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
    census->count = 0;
}
