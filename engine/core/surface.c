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
    s->site[s->sites] = *site;
    s->order[k] = s->sites;
    for (int a = 0; a < 3; a++) {
        s->place[a][k] = place[a];
    }
}

static void surface_add_cell(const sel_domain *domain, sel_surface_far *far, int64_t cell,
                             sel_surfaces *s) {
    const sel_grid *grid = &domain->grid;
    const int64_t first = s->sites;
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
            s->sites++;
        }
    }
    if (s->sites > first) {
        if (s->site) {
            s->cell[s->cells] = cell;
            s->first_site[s->cells + 1] = s->sites;
        }
        s->cells++;
    }
}

/* Whether only free cells lie around one that is not at a face of the domain. */
static bool surface_is_inside(const sel_grid *grid, const uint8_t *cell) {
    const int64_t row = grid->n[0], slice = grid->dims == 3 ? row * grid->n[1] : 0;
    return !(cell[-1] | cell[1] | cell[-row] | cell[row] | cell[-slice] | cell[slice]);
}

/* Lists the sites of all cells, or only counts them while there is no memory. */
static void surface_list(const sel_domain *domain, sel_surface_far *far, sel_surfaces *s) {
    const sel_grid *grid = &domain->grid;
    const bool solids = domain->free_cells < sel_grid_cells(grid);
    const int64_t nx = grid->n[0];
    s->cells = s->sites = 0;
    for (int64_t row = 0; row < grid->n[1] * grid->n[2]; row++) {
        const int64_t y = row % grid->n[1], z = row / grid->n[1];
        const bool inside =
            y > 0 && y < grid->n[1] - 1 && (grid->dims == 2 || (z > 0 && z < grid->n[2] - 1));
        const uint8_t *cell = domain->cell + row * nx;
        /* In an inner row without solids only the ends lie on surfaces. */
        for (int64_t x = 0; x < nx; x += inside && !solids && nx > 1 ? nx - 1 : 1) {
            const bool away = inside && x > 0 && x < nx - 1;
            if (cell[x] == 0 && !(away && surface_is_inside(grid, cell + x))) {
                surface_add_cell(domain, far, row * nx + x, s);
            }
        }
    }
}

sel_status sel_surfaces_list(const sel_domain *domain, sel_surface_far *far, sel_surfaces *s,
                             sel_error *error) {
    *s = (sel_surfaces){.sites = 0};
    surface_list(domain, far, s);
    const size_t sites = (size_t)s->sites + 1, cells = (size_t)s->cells + 1;
    const size_t bytes = sites * (sizeof *s->site + sizeof *s->order + 3 * sizeof(double)) +
                         2 * cells * sizeof *s->cell;
    s->site = malloc(bytes); /* the other lists stand behind it */
    if (!s->site) {
        return sel_fail_memory(error, "the surfaces", bytes);
    }
    for (size_t a = 0; a < 3; a++) {
        s->place[a] = (double *)(s->site + sites) + a * sites;
    }
    s->order = (int64_t *)(s->place[2] + sites);
    s->cell = s->order + sites;
    s->first_site = s->cell + cells;
    s->first_site[0] = 0;
    for (int r = 0; r < SEL_REGION_NUMBERS; r++) {
        s->first_of[r + 1] += s->first_of[r];
    }
    surface_list(domain, far, s); /* which moves each first_of to that of the next region */
    memmove(s->first_of + 1, s->first_of, SEL_REGION_NUMBERS * sizeof *s->first_of);
    s->first_of[0] = 0;
    return SEL_OK;
}

void sel_surfaces_free(sel_surfaces *s) {
    free(s->site);
    s->site = NULL;
}

int64_t sel_surfaces_from(const sel_surfaces *on, int64_t number) {
    int64_t low = 0, high = on->cells;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        low = on->cell[middle] < number ? middle + 1 : low;
        high = on->cell[middle] < number ? high : middle;
    }
    return low;
}
