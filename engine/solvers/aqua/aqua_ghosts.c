/* aqua_ghosts.c -- list the cells that take and give water at open faces, levels and outlines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/aqua/aqua.h"

static const void *law_of(const sel_domain *domain, int region, const sel_table *table) {
    const sel_variant *law = region ? &domain->regions[region - 1].law : NULL;
    return law && law->table == table ? law->data : NULL;
}

const aqua_law_level *aqua_level_of(const sel_domain *domain, int region) {
    return law_of(domain, region, &aqua_level_table);
}

bool aqua_passes(const sel_domain *domain, int region) {
    return region && domain->regions[region - 1].law.table != &aqua_wall_table;
}

/* ---- the list ---- */

/* A ghost, and where its law is evaluated. */
typedef struct ghost {
    int region;
    int64_t at;
    double ground, x, y;
} ghost;

typedef struct list {
    ghost *v;
    int64_t count, room;
    bool failed; /* there was no memory */
} list;

static void add(list *l, const ghost *v, int64_t count) {
    if (count == 0) {
        return;
    }
    if (l->count + count > l->room) {
        const int64_t room = 2 * (l->count + count);
        ghost *more = realloc(l->v, (size_t)room * sizeof *more);
        if (!more) {
            l->failed = true;
            return;
        }
        l->v = more;
        l->room = room;
    }
    memcpy(l->v + l->count, v, (size_t)count * sizeof *v);
    l->count += count;
}

/* Adds the ghost at cell (x, y) or, out != {0, 0}, beyond a face of it; its law is evaluated at the
 * cell's centre or on the face. The bed of an open one falls by `fall` unless the law has a slope.
 */
static void add_ghost(list *l, const aqua_plan *plan, int region, int64_t x, int64_t y,
                      const int out[2], double ground, double fall) {
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_law_open *open = law_of(plan->base.domain, region, &aqua_open_table);
    if (open && !isnan(open->slope)) {
        fall = open->slope * grid->dx[0];
    }
    const ghost g = {.region = region,
                     .at = aqua_index(&plan->layout, x + out[0], y + out[1]),
                     .ground = open ? ground - fall : ground,
                     .x = sel_centre(grid, 0, (double)x) + 0.5 * out[0] * grid->dx[0],
                     .y = sel_centre(grid, 1, (double)y) + 0.5 * out[1] * grid->dx[0]};
    add(l, &g, 1);
}

/* Beyond a face the ground goes on as it falls between the last two cells. */
static void add_faces(list *l, const aqua_plan *plan) {
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
                add_ghost(l, plan, region, at[0], at[1], out, here, fall);
            }
        }
    }
}

/* Painted cells beside free ones. Where they have no ground the lowest beside them stands in. Rows
 * are searched by threads, and join the list in their order. */
static void add_cells(list *l, const aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = plan->layout.nx, ny = plan->layout.ny;
#pragma omp parallel for ordered schedule(dynamic) num_threads(plan->base.threads)
    for (int64_t y = 0; y < ny; y++) {
        list row = {.count = 0};
        for (int64_t x = 0; x < nx; x++) {
            const int region = domain->cell[y * nx + x];
            if (aqua_passes(domain, region)) {
                const double ground = plan->ground[y * nx + x];
                const double beside = sel_terrain_beside(domain, plan->ground, x, y);
                if (!isnan(beside)) {
                    add_ghost(&row, plan, region, x, y, (int[2]){0, 0},
                              isnan(ground) ? beside : ground, 0);
                }
            }
        }
#pragma omp ordered
        {
            l->failed = l->failed || row.failed;
            add(l, row.v, row.count);
        }
        free(row.v);
    }
}

/* Stores the list by region. All ghosts of a level get one bed, the lowest: with beds of their own
 * their levels would differ by rounding, and even the least flow from one to the next counts in the
 * rule. */
static void sort(aqua_plan *plan, const list *l) {
    aqua_ghosts *ghosts = &plan->ghosts;
    double lowest[SEL_REGION_NUMBERS] = {0};
    int64_t next[AQUA_FIRSTS];
    for (int64_t k = 0; k < l->count; k++) {
        const ghost *g = &l->v[k];
        double *bed = &lowest[g->region];
        *bed = ghosts->first[g->region + 1]++ ? fmin(*bed, g->ground) : g->ground;
    }
    for (int r = 1; r < AQUA_FIRSTS; r++) {
        ghosts->first[r] += ghosts->first[r - 1];
    }
    memcpy(next, ghosts->first, sizeof next);
    for (int64_t k = 0; k < l->count; k++) {
        const ghost *g = &l->v[k];
        const int64_t to = next[g->region]++;
        const bool level = aqua_level_of(plan->base.domain, g->region) != NULL;
        ghosts->at[to] = g->at;
        ghosts->ground[to] = level ? lowest[g->region] : g->ground;
        ghosts->x[to] = g->x;
        ghosts->y[to] = g->y;
        ghosts->level[to] = level;
    }
}

static void list_edges(aqua_plan *plan) {
    aqua_ghosts *ghosts = &plan->ghosts;
    int64_t count = 0;
    for (int r = 0; r < AQUA_FIRSTS - 1; r++) {
        ghosts->first_edge[r] = count;
        for (int64_t g = ghosts->first[r]; g < ghosts->first[r + 1]; g++) {
            const int64_t x = aqua_column(&plan->layout, ghosts->at[g]);
            const int64_t y = aqua_row(&plan->layout, ghosts->at[g]);
            for (int k = 0; k < AQUA_AROUND; k++) {
                if (sel_free_cell(plan->base.domain, x + aqua_around[k][0],
                                  y + aqua_around[k][1]) >= 0) {
                    ghosts->edge[count++] = (aqua_edge){ghosts->at[g], k, -1};
                }
            }
        }
        ghosts->first_edge[r + 1] = count;
    }
}

sel_status aqua_ghosts_create(aqua_plan *plan, sel_error *error) {
    aqua_ghosts *ghosts = &plan->ghosts;
    list l = {.count = 0};
    add_faces(&l, plan);
    const int64_t beyond = l.count;
    add_cells(&l, plan);
    const size_t n = (size_t)l.count + 1, edges = AQUA_AROUND * n * sizeof *ghosts->edge;
    const size_t bytes = n * (sizeof *ghosts->at + 3 * sizeof *ghosts->ground + 1);
    ghosts->at = malloc(bytes);
    ghosts->edge = malloc(edges);
    const bool failed = l.failed || !ghosts->at || !ghosts->edge;
    if (!failed) {
        ghosts->count = l.count;
        ghosts->inside = l.count > beyond;
        ghosts->ground = (double *)(ghosts->at + n);
        ghosts->x = ghosts->ground + n;
        ghosts->y = ghosts->x + n;
        ghosts->level = (uint8_t *)(ghosts->y + n);
        sort(plan, &l);
        list_edges(plan);
    }
    free(l.v);
    return failed ? sel_fail_memory(error, "the open faces", bytes + edges) : SEL_OK;
}
