/* aqua_ghosts.c -- list the cells that take and give water at open faces, levels and outlines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/aqua/aqua.h"

static const void *aqua_ghosts_law_of(const sel_domain *domain, int region,
                                      const sel_table *table) {
    const sel_variant *law = region ? &domain->regions[region - 1].law : NULL;
    return law && law->table == table ? law->data : NULL;
}

const aqua_law_level *aqua_level_of(const sel_domain *domain, int region) {
    return aqua_ghosts_law_of(domain, region, &aqua_level_table);
}

bool aqua_passes(const sel_domain *domain, int region) {
    return region && domain->regions[region - 1].law.table != &aqua_wall_table;
}

/* ---- the list: counted, and then filled when there is memory ---- */

/* Adds the ghost at cell (x, y) or, out != {0, 0}, beyond a face of it; its law is evaluated at the
 * cell's centre or on the face. The bed of an open one falls by `fall` unless the law has a slope.
 */
static void add_ghost(aqua_plan *plan, int region, int64_t x, int64_t y, const int out[2],
                      double ground, double fall) {
    aqua_ghosts *ghosts = &plan->ghosts;
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_law_open *open = aqua_ghosts_law_of(plan->base.domain, region, &aqua_open_table);
    if (!ghosts->v) {
        ghosts->first[region + 1]++;
        return;
    }
    if (open && !isnan(open->slope)) {
        fall = open->slope * grid->dx[0];
    }
    const int64_t k = ghosts->first[region]++;
    ghosts->v[k] = (aqua_ghost){aqua_index(&plan->layout, x + out[0], y + out[1]),
                                open ? ground - fall : ground, !open};
    ghosts->x[k] = sel_centre(grid, 0, (double)x) + 0.5 * out[0] * grid->dx[0];
    ghosts->y[k] = sel_centre(grid, 1, (double)y) + 0.5 * out[1] * grid->dx[0];
}

/* Beyond a face the ground goes on as it falls between the last two cells. */
static void add_faces(aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    for (int face = 0; face < 4; face++) {
        const int side = face % 2 ? 1 : -1;
        const int out[2] = {face / 2 == 0 ? side : 0, face / 2 == 1 ? side : 0};
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(&domain->grid, face); s++) {
            int64_t at[3];
            const int region = domain->face[face][s];
            sel_face_cell(&domain->grid, face, s, at);
            const int64_t cell = sel_free_cell(domain, at[0], at[1]);
            const int64_t inner = sel_free_cell(domain, at[0] - out[0], at[1] - out[1]);
            if (aqua_passes(domain, region) && cell >= 0) {
                const double here = plan->ground[cell];
                const double fall = inner >= 0 ? fmax(0, plan->ground[inner] - here) : 0;
                add_ghost(plan, region, at[0], at[1], out, here, fall);
            }
        }
    }
}

/* Painted cells beside free ones. Where they have no ground the lowest beside them stands in. */
static void add_cells(aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = plan->layout.nx, cells = sel_grid_cells(&domain->grid);
    for (int64_t i = domain->free_cells < cells ? 0 : cells; i < cells; i++) {
        if (aqua_passes(domain, domain->cell[i])) {
            const double beside = sel_terrain_beside(domain, plan->ground, i % nx, i / nx);
            if (!isnan(beside)) {
                add_ghost(plan, domain->cell[i], i % nx, i / nx, (int[2]){0, 0},
                          isnan(plan->ground[i]) ? beside : plan->ground[i], 0);
                plan->ghosts.inside = true;
            }
        }
    }
}

/* All ghosts of a level get one bed, the lowest: with beds of their own their levels would differ
 * by rounding, and even the least flow from one to the next counts in the rule. */
static void level_beds(aqua_ghosts *ghosts) {
    for (int r = 0; r < AQUA_FIRSTS - 1; r++) {
        double lowest = HUGE_VAL;
        for (int64_t k = ghosts->first[r]; k < ghosts->first[r + 1]; k++) {
            lowest = fmin(lowest, ghosts->v[k].ground);
        }
        for (int64_t k = ghosts->first[r]; k < ghosts->first[r + 1] && ghosts->v[k].level; k++) {
            ghosts->v[k].ground = lowest;
        }
    }
}

/* A rank knows the ground of its own rows only: an allgather gives the beds to all ranks. */
static void share_beds(aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const sel_rows_range own = sel_domain_own(domain);
    for (int64_t k = 0; k < plan->ghosts.count && sel_domain_ranks(domain) > 1; k++) {
        aqua_ghost *ghost = &plan->ghosts.v[k];
        const int64_t row = aqua_row_beside(&plan->layout, ghost->at);
        ghost->ground = row >= own.first && row < own.end ? ghost->ground : 0;
    }
    sel_domain_merge(domain, &plan->ghosts.v[0].ground, plan->ghosts.count, sizeof(aqua_ghost));
}

static void list_edges(aqua_plan *plan) {
    aqua_ghosts *ghosts = &plan->ghosts;
    int64_t count = 0;
    for (int r = 0; r < AQUA_FIRSTS - 1; r++) {
        ghosts->first_edge[r] = count;
        for (int64_t g = ghosts->first[r]; g < ghosts->first[r + 1]; g++) {
            const int64_t x = aqua_column(&plan->layout, ghosts->v[g].at);
            const int64_t y = aqua_row(&plan->layout, ghosts->v[g].at);
            for (int k = 0; k < AQUA_AROUND; k++) {
                if (sel_free_cell(plan->base.domain, x + aqua_around[k][0],
                                  y + aqua_around[k][1]) >= 0) {
                    ghosts->edge[count++] = (aqua_edge){ghosts->v[g].at, k, -1};
                }
            }
        }
        ghosts->first_edge[r + 1] = count;
    }
}

sel_status aqua_ghosts_create(aqua_plan *plan, sel_error *error) {
    aqua_ghosts *ghosts = &plan->ghosts;
    add_faces(plan);
    add_cells(plan);
    for (int r = 1; r < AQUA_FIRSTS; r++) {
        ghosts->first[r] += ghosts->first[r - 1];
    }
    ghosts->count = ghosts->first[AQUA_FIRSTS - 1];
    const size_t n = (size_t)ghosts->count + 1, edges = AQUA_AROUND * n * sizeof *ghosts->edge;
    const size_t bytes = n * (sizeof *ghosts->v + 2 * sizeof *ghosts->x);
    ghosts->v = malloc(bytes);
    ghosts->edge = malloc(edges);
    if (!ghosts->v || !ghosts->edge) {
        return sel_fail_memory(error, "the open faces", bytes + edges);
    }
    ghosts->x = (double *)(ghosts->v + n);
    ghosts->y = ghosts->x + n;
    add_faces(plan); /* which moves each `first` to that of the next region */
    add_cells(plan);
    memmove(ghosts->first + 1, ghosts->first, (AQUA_FIRSTS - 1) * sizeof *ghosts->first);
    ghosts->first[0] = 0;
    share_beds(plan);
    level_beds(ghosts);
    list_edges(plan);
    return SEL_OK;
}
