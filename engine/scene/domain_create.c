/* domain_create.c -- paint a simulation's regions onto its cells and face sites.
 *
 * All regions are painted in order (regions.c), then the cells without data. Every site of a face
 * that is neither periodic nor behind a solid cell must have an owner in the end.
 */
#include "engine/scene/domain.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/scene/solver.h"

enum { MAX_REGIONS = SEL_REGION_NUMBERS - 1 };

static sel_status check_face_painted(const sel_domain *domain, const sel_simulation *simulation,
                                     int face, sel_error *error) {
    const sel_grid *grid = &domain->grid;
    int64_t first = -1, missing = 0;
    for (int64_t site = 0; site < sel_face_sites(grid, face); site++) {
        const int64_t cell = sel_cell_behind(grid, face, site);
        if (domain->face[face][site] == 0 && domain->cell[cell] == 0) {
            first = missing++ ? first : cell;
        }
    }
    if (missing == 0) {
        return SEL_OK;
    }
    char text[SEL_CELL_TEXT];
    return sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                       "face %s: no region paints %lld of its %lld sites, the first at cell %s; "
                       "paint them, or make axis %s periodic",
                       sel_face_name(face), (long long)missing,
                       (long long)sel_face_sites(grid, face), sel_cell_text(grid, first, text),
                       sel_axis_names[face / 2]);
}

static sel_status resolve_grid(const sel_simulation *simulation, sel_grid *grid, sel_error *error) {
    const sel_common *common = simulation->params;
    *grid = sel_common_grid(common);
    double cells = 1;
    for (int a = 0; a < grid->dims; a++) {
        cells *= (double)grid->n[a];
        if (grid->n[a] < 1) {
            return sel_fail_at(error, sel_simulation_where(simulation, "size"),
                               "size[%d] must be at least 1, got %lld", a + 1,
                               (long long)grid->n[a]);
        }
        if (sel_sides_along(grid, a) < 1) {
            return sel_fail_at(error, sel_simulation_where(simulation, "size"),
                               "size[%d] must be at least 2: the domain lies between the first and "
                               "the last node of an axis that is not periodic",
                               a + 1);
        }
    }
    if (common->origin.n && common->origin.n != grid->dims) {
        return sel_fail_at(error, sel_simulation_where(simulation, "origin"),
                           "origin has %d coordinates in a domain of %d dimensions",
                           common->origin.n, grid->dims);
    }
    if (common->sides.n > 1 && common->sides.n != grid->dims) {
        return sel_fail_at(error, sel_simulation_where(simulation, "dx"),
                           "dx has %d sides in a domain of %d dimensions", common->sides.n,
                           grid->dims);
    }
    if (grid->periodic >> grid->dims) {
        return sel_fail_at(error, sel_simulation_where(simulation, "periodic"),
                           "periodic names axis z in a domain of 2 dimensions");
    }
    if (cells > 4e15) {
        return sel_fail_at(error, sel_simulation_where(simulation, "size"),
                           "size asks for %.3g cells, more than any memory holds", cells);
    }
    return SEL_OK;
}

/* Copies the regions, with space for "nodata", and the values of the controls; that of a drive is 0
 * at first. */
static sel_status copy_scenario(sel_domain *domain, const sel_simulation *simulation,
                                sel_error *error) {
    const sel_common *common = simulation->params;
    const sel_solver *solver = simulation->solver;
    const bool driven = solver->drive && solver->drive(common);
    const sel_region *regions = common->regions.v;
    domain->region_count = common->regions.n;
    domain->regions = calloc((size_t)common->regions.n + 1, sizeof *regions);
    domain->control_count = common->controls.n + driven;
    domain->control_values = calloc((size_t)domain->control_count + 1, sizeof(double));
    if (!domain->regions || !domain->control_values) {
        return sel_fail_memory(error, "the regions and controls", 0);
    }
    for (int i = 0; i < domain->region_count; i++) {
        domain->regions[i] = regions[i];
    }
    for (int i = 0; i < common->controls.n; i++) {
        domain->control_values[i] = common->controls.v[i].value;
    }
    return SEL_OK;
}

/* Fails on every rank if one rank could not allocate its map of a byte per cell. */
static sel_status agree_on_memory(const sel_domain *domain, const uint8_t *map, const char *what,
                                  sel_error *error) {
    sel_error own = {.status = SEL_OK};
    const size_t cells = (size_t)sel_grid_cells(&domain->grid);
    return sel_domain_agree(domain, map ? SEL_OK : sel_fail_memory(&own, what, cells), &own, error);
}

/* Adds the region "nodata": the free cells where data are missing. */
static sel_status paint_nodata(sel_domain *domain, const sel_simulation *simulation, int threads,
                               sel_error *error) {
    const int64_t cells = sel_grid_cells(&domain->grid);
    const int number = domain->region_count + 1;
    const uint8_t region = number <= MAX_REGIONS ? (uint8_t)number : 0;
    sel_region gaps = {.at = sel_simulation_where(simulation, "nodata"), .name = "nodata"};
    uint8_t *blank = calloc((size_t)cells, 1), *cell = domain->cell, *all = domain->painted;
    int64_t painted = 0;
    sel_status status = agree_on_memory(domain, blank, "the cells without data", error);
    if (status) {
        free(blank);
        return status;
    }
    status = simulation->solver->blank(simulation, domain, threads, blank, &gaps, error);
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0], first = own.first * nx, its = own.end * nx - first;
    const bool some = sel_domain_total(domain, memchr(blank + first, 1, (size_t)its) != NULL) > 0;
    if (some) {
        sel_domain_share(domain, blank, (size_t)nx);
    }
    if (!status && some && sel_region_law(&gaps, 0)) {
        domain->nodata = number;
        domain->regions[number - 1] = gaps; /* copy_scenario left space for it */
        const bool solid = !all || simulation->solver->solid(simulation, domain, number);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : painted)
        for (int64_t i = 0; i < cells; i++) {
            const bool paints = blank[i] && cell[i] == 0;
            painted += paints;
            if (paints && solid) {
                cell[i] = region;
            }
            if (paints && all) {
                all[i] = region;
            }
        }
    }
    free(blank);
    if (painted && !region) {
        return sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                           "%d regions, and the cells without data are one more; at most %d are "
                           "possible",
                           domain->region_count, MAX_REGIONS);
    }
    if (painted) {
        domain->region_count = number;
    }
    domain->nodata = painted ? number : 0;
    return status;
}

/* Makes the painted cells whose region the solver computes free again. */
static sel_status free_computed(sel_domain *domain, const sel_simulation *simulation, int threads,
                                sel_error *error) {
    const int64_t cells = sel_grid_cells(&domain->grid);
    uint8_t *cell = domain->cell, *all = domain->painted = sel_machine_map((size_t)cells);
    for (int r = 1; r <= domain->region_count; r++) {
        domain->computed[r] = !simulation->solver->solid(simulation, domain, r);
    }
    const sel_status status = agree_on_memory(domain, all, "the map of the cells", error);
    if (status) {
        return status;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < cells; i++) {
        if (cell[i]) {
            all[i] = cell[i];
            cell[i] = domain->computed[all[i]] ? 0 : all[i];
        }
    }
    return SEL_OK;
}

static sel_status count_free(sel_domain *domain, int threads, sel_error *error) {
    const int64_t *n = domain->grid.n;
    int64_t count = 0, *at_y = calloc((size_t)n[1], sizeof *at_y);
    int64_t *at_z = calloc((size_t)n[2], sizeof *at_z);
    domain->free_at[1] = at_y;
    domain->free_at[2] = at_z;
    if (!at_y || !at_z) {
        return sel_fail_memory(error, "the free cells", (size_t)(n[1] + n[2]) * sizeof *at_z);
    }
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : count)
    for (int64_t row = 0; row < n[1] * n[2]; row++) {
        const uint8_t *cell = domain->cell + row * n[0];
        int64_t here = 0;
        for (int64_t x = 0; x < n[0]; x++) {
            here += cell[x] == 0;
        }
        count += here;
#pragma omp atomic
        at_y[row % n[1]] += here;
#pragma omp atomic
        at_z[row / n[1]] += here;
    }
    domain->free_cells = count;
    return SEL_OK;
}

static sel_status paint_all(sel_domain *domain, const sel_simulation *simulation, int threads,
                            sel_error *error) {
    sel_status status = SEL_OK;
    for (int region = 1; region <= domain->region_count; region++) {
        sel_status painted = sel_domain_paint(domain, simulation->solver, region, threads, error);
        status = status ? status : painted;
    }
    sel_domain_share(domain, domain->cell, (size_t)domain->grid.n[0]);
    sel_machine_return_zeros(domain->cell, (size_t)sel_grid_cells(&domain->grid));
    if (!status && simulation->solver->solid) {
        status = free_computed(domain, simulation, threads, error);
    }
    if (!status && simulation->solver->blank) {
        status = paint_nodata(domain, simulation, threads, error);
    }
    status = status ? status : sel_domain_find_lost(domain, simulation->solver, threads, error);
    /* After a bad region, errors of unpainted faces would be consequences. */
    for (int face = 0; status == SEL_OK && face < 2 * domain->grid.dims; face++) {
        if (domain->face[face]) {
            sel_status painted = check_face_painted(domain, simulation, face, error);
            status = status ? status : painted;
        }
    }
    return status;
}

sel_status sel_domain_create(const sel_simulation *simulation, const sel_ranks *ranks,
                             sel_domain **domain, sel_error *error) {
    sel_domain *d = calloc(1, sizeof *d);
    *domain = NULL;
    if (!d) {
        return sel_fail_memory(error, "the domain", sizeof *d);
    }
    sel_status status = copy_scenario(d, simulation, error);
    status = status ? status : resolve_grid(simulation, &d->grid, error);
    if (!status && d->region_count > MAX_REGIONS) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                             "%d regions; at most %d are possible", d->region_count, MAX_REGIONS);
    }
    status = status ? status : sel_domain_allocate(d, error);
    status = sel_ranks_agree(ranks ? ranks : &sel_one_rank, status, error);
    sel_domain_divide(d, status ? NULL : ranks, NULL);
    const int threads = omp_get_max_threads();
    status = status ? status : paint_all(d, simulation, threads, error);
    status = status ? status : count_free(d, threads, error);
    if (!status && d->free_cells == 0) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                             d->nodata
                                 ? "the data have gaps wherever the regions leave a cell free; "
                                   "nothing is left to compute"
                                 : "the regions make every cell solid; nothing is left to compute");
    }
    if (status) {
        sel_domain_destroy(d);
        return status;
    }
    *domain = d;
    return SEL_OK;
}

void sel_domain_destroy(sel_domain *domain) {
    if (!domain) {
        return;
    }
    for (int k = 0; k < domain->lost_count; k++) {
        free(domain->lost[k].text);
    }
    sel_domain_free_maps(domain);
    free(domain->regions);
    free(domain->control_values);
    free(domain);
}
