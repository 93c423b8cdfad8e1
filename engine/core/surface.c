/* surface.c -- list the faces of cells on surfaces. */
#include "engine/core/surface.h"

#include <stdlib.h>
#include <string.h>

int64_t sel_cell_beyond(const sel_grid *grid, int64_t cell, int face) {
    int64_t at[3];
    const int axis = face / 2;
    sel_cell_at(grid, cell, at);
    at[axis] += face % 2 ? 1 : -1;
    if (at[axis] < 0 || at[axis] >= grid->n[axis]) {
        if (!sel_axis_periodic(grid, axis)) {
            return -1;
        }
        at[axis] = (at[axis] + grid->n[axis]) % grid->n[axis];
    }
    return sel_cell_number(grid, at);
}

static void surface_add(const sel_domain *domain, sel_surfaces *s, const sel_site *site,
                        double far) {
    const int axis = site->face / 2;
    if (!s->site) {
        s->first_of[site->region + 1]++;
        return;
    }
    const int64_t k = s->first_of[site->region]++;
    double place[3];
    sel_cell_centre(&domain->grid, site->cell, place);
    place[axis] += (site->face % 2 ? far : -far) * domain->grid.dx[axis];
    s->site[s->sites.count] = *site;
    s->order[k] = s->sites.count;
    for (int a = 0; a < 3; a++) {
        s->place[a][k] = place[a];
    }
}

static void surface_add_cell(const sel_domain *domain, sel_surface_far *far, int64_t cell,
                             sel_surfaces *s) {
    const sel_grid *grid = &domain->grid;
    const int64_t first = s->sites.count;
    int64_t at[3];
    sel_cell_at(grid, cell, at);
    for (int face = 0; face < 2 * grid->dims; face++) {
        const int64_t beyond = sel_cell_beyond(grid, cell, face);
        const bool outer = beyond < 0;
        const int region =
            outer ? domain->face[face][sel_face_site(grid, face, at)] : domain->cell[beyond];
        const double distance = region ? far(domain, region, outer) : -1;
        if (distance >= 0) {
            surface_add(domain, s, &(sel_site){cell, face, region, outer}, distance);
            s->sites.count++;
        }
    }
    if (s->sites.count > first) {
        if (s->site) {
            s->cell[s->cells] = cell;
            s->first_site[s->cells + 1] = s->sites.count;
        }
        s->cells++;
    }
}

/* Whether only free cells lie around one that is not at a face of the domain. */
static bool surface_is_inside(const sel_grid *grid, const uint8_t *cell) {
    const int64_t row = grid->n[0], slice = grid->dims == 3 ? row * grid->n[1] : 0;
    return !(cell[-1] | cell[1] | cell[-row] | cell[row] | cell[-slice] | cell[slice]);
}

/* Lists the sites of this rank's rows; or, while there is no memory, counts those of each. */
static void surface_list(const sel_domain *domain, sel_surface_far *far, sel_surfaces *s,
                         int64_t *counts) {
    const sel_grid *grid = &domain->grid;
    const bool solids = domain->free_cells < sel_grid_cells(grid);
    const int64_t nx = grid->n[0];
    const sel_rows rows = sel_sites_rows(&s->sites, s->divided ? domain->ranks->rank : 0);
    s->cells = s->sites.count = 0;
    for (int64_t k = 0; k < rows.count; k++) {
        const int64_t row = sel_row_of(&rows, k), y = row % grid->n[1], z = row / grid->n[1];
        const bool inside =
            y > 0 && y < grid->n[1] - 1 && (grid->dims == 2 || (z > 0 && z < grid->n[2] - 1));
        const uint8_t *cell = domain->cell + row * nx;
        const int64_t before = s->sites.count;
        /* In an inner row without solids only the ends lie on surfaces. */
        for (int64_t x = 0; x < nx; x += inside && !solids && nx > 1 ? nx - 1 : 1) {
            const bool away = inside && x > 0 && x < nx - 1;
            if (cell[x] == 0 && !(away && surface_is_inside(grid, cell + x))) {
                surface_add_cell(domain, far, row * nx + x, s);
            }
        }
        if (counts) {
            counts[k] = s->sites.count - before;
        }
    }
}

/* Allocates the lists of this rank, when the sites are counted; returns the number of bytes. */
static size_t surface_allocate(sel_surfaces *s) {
    const size_t sites = (size_t)s->sites.count + 1, cells = (size_t)s->cells + 1;
    const size_t bytes = sites * (sizeof *s->site + sizeof *s->order + 3 * sizeof(double)) +
                         2 * cells * sizeof *s->cell;
    s->site = malloc(bytes); /* the other lists stand behind it */
    if (s->site) {
        for (size_t a = 0; a < 3; a++) {
            s->place[a] = (double *)(s->site + sites) + a * sites;
        }
        s->order = (int64_t *)(s->place[2] + sites);
        s->cell = s->order + sites;
        s->first_site = s->cell + cells;
        s->first_site[0] = 0;
    }
    return bytes;
}

/* Fails where there was no memory; of several ranks that list their own all do. */
static sel_status surface_agree(const sel_domain *domain, bool whole, bool failed, size_t bytes,
                                sel_error *error) {
    sel_error why = {.status = SEL_OK};
    const sel_status status = failed ? sel_fail_memory(&why, "the surfaces", bytes) : SEL_OK;
    return !whole   ? sel_domain_agree(domain, status, &why, error)
           : failed ? sel_fail(error, status, "%s", why.text)
                    : SEL_OK;
}

/* All ranks learn how many cells and sites of each region there are. */
static void surface_join(const sel_domain *domain, sel_surfaces *s) {
    const int ranks = s->divided ? sel_domain_ranks(domain) : 1;
    struct counts {
        int64_t cells, of_region[SEL_REGION_NUMBERS];
    } own = {.cells = s->cells}, *all = &own;
    for (int r = 0; r < SEL_REGION_NUMBERS; r++) {
        own.of_region[r] = s->first_of[r + 1] - s->first_of[r];
    }
    if (s->divided) {
        all = sel_ranks_memory(domain->ranks, (size_t)ranks * sizeof *all);
        sel_domain_gather(domain, &own, sizeof own, all);
    }
    for (int r = 0; r < ranks; r++) {
        s->all_cells += all[r].cells;
        for (int k = 0; k < SEL_REGION_NUMBERS; k++) {
            s->of_region[k] += all[r].of_region[k];
        }
    }
    if (s->divided) {
        free(all);
    }
}

/* The region of each site of the grid. */
static void surface_find_regions(sel_surfaces *s, uint8_t *own) {
    for (int64_t k = 0; k < s->sites.count; k++) {
        own[k] = (uint8_t)s->site[k].region;
    }
    sel_sites_gather(&s->sites, own, 1, s->region);
}

sel_status sel_surfaces_list(const sel_domain *domain, bool whole, sel_surface_far *far,
                             sel_surfaces *s, sel_error *error) {
    *s = (sel_surfaces){.cells = 0};
    whole = whole || !domain->ranks;
    const bool knows_all = whole || domain->ranks->rank == 0;
    const size_t of_rows = (size_t)(domain->grid.n[1] * domain->grid.n[2] + 1) * sizeof(int64_t);
    s->divided = !whole;
    const bool created = sel_sites_create(&s->sites, &domain->grid, whole ? NULL : domain->ranks,
                                          &domain->decomposition);
    int64_t *counts = malloc(of_rows);
    sel_status status = surface_agree(domain, whole, !created || !counts, of_rows, error);
    if (!status) {
        surface_list(domain, far, s, counts);
        sel_sites_number(&s->sites, counts);
        for (int r = 0; r < SEL_REGION_NUMBERS; r++) {
            s->first_of[r + 1] += s->first_of[r];
        }
        surface_join(domain, s);
    }
    free(counts);
    const size_t own = (size_t)s->sites.count, lists = status ? 0 : surface_allocate(s);
    s->region = status || !knows_all ? NULL : malloc((size_t)s->sites.all + 1);
    uint8_t *regions = whole ? s->region : malloc(own + 1);
    if (!status) {
        const bool failed = !s->site || !regions || (knows_all && !s->region);
        status = surface_agree(domain, whole, failed, lists, error);
    }
    if (!status) {
        surface_list(domain, far, s, NULL); /* each first_of moves to that of the next */
        memmove(s->first_of + 1, s->first_of, SEL_REGION_NUMBERS * sizeof *s->first_of);
        s->first_of[0] = 0;
        surface_find_regions(s, regions);
    }
    if (s->divided) {
        free(regions);
    }
    return status;
}

void sel_surfaces_free(sel_surfaces *s) {
    free(s->site);
    free(s->region);
    sel_sites_free(&s->sites);
    s->site = NULL;
    s->region = NULL;
}

int64_t sel_surfaces_from(const sel_surfaces *on, int64_t cell) {
    return sel_first_not_below(on->cell, on->cells, cell);
}
