/* aqua_ground.c -- evaluate the ground, find the cells without data, measure pits and slopes;
 * refuse a ground that is no terrain in metres, or warn of it: one in degrees, or with values that
 * stand for no data although their file does not say so. */
#include <math.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"
#include "engine/base/file.h"
#include "engine/values/quantity.h"
#include "engine/base/machine.h"
#include "engine/io/raster.h"

/* ---- elevations ---- */

/* The raster that the ground is, taken as it is; NULL: it is something else. */
static const sel_raster *plain_raster(const aqua_params *params) {
    return sel_raster_of(sel_lookup_of(&params->ground));
}

/* The raster of which it is made, edited or called by a function. */
static const sel_raster *raster_of(const aqua_params *params) {
    return sel_raster_of(sel_quantity_raster(&params->ground));
}

void aqua_complete(sel_common *params) {
    const sel_raster *raster = raster_of((const aqua_params *)params);
    if (raster && params->size.n == 0) {
        params->size = (sel_ints){2, {raster->n[0], raster->n[1], 0}};
    }
    if (raster && params->origin.n == 0) {
        params->origin = (sel_point){2, {raster->origin[0], raster->origin[1], 0}};
    }
    if (isnan(params->dx)) {
        params->dx = raster ? raster->dx : 1;
    }
    if (isnan(params->dt)) {
        params->dt = 1;
    }
}

/* Centres of cells must lie in the raster: what is outside of it is a mistake, no gap. */
static sel_status check_covers(const sel_raster *raster, const sel_grid *grid, sel_where where,
                               sel_error *error) {
    for (int a = 0; a < 2; a++) {
        double low = sel_centre(grid, a, 0), high = sel_centre(grid, a, (double)(grid->n[a] - 1));
        double first = raster->origin[a], last = first + (double)raster->n[a] * raster->dx;
        if (low < first || high > last) {
            char warp[SEL_WARP_ROOM] = "";
            bool degrees = sel_map_unit_of(raster) == SEL_MAP_DEGREES;
            return sel_fail_at(error, where,
                               "ground: the raster covers %.10g to %.10g along %s, the cells' "
                               "centres lie between %.10g and %.10g; mind origin, dx and size%s%s",
                               first, last, a ? "y" : "x", low, high,
                               degrees ? ". Its map is in degrees, one in metres is made by: " : "",
                               degrees ? sel_map_warp(raster, true, warp) : "");
        }
    }
    return SEL_OK;
}

/* The values of that raster if its pixels are the cells: then nothing is interpolated, whatever
 * rounding says of their centres. Else NULL. */
static const double *pixels_of(const aqua_params *params, const sel_grid *grid) {
    const sel_raster *raster = plain_raster(params);
    bool same = raster && raster->dx == grid->dx[0];
    for (int a = 0; a < 2 && same; a++) {
        same = raster->n[a] == grid->n[a] && raster->origin[a] == grid->origin[a];
    }
    return same ? raster->value : NULL;
}

/* Elevations ground[ny][nx] of free cells and of the regions that are `wanted`, NaN where there are
 * no data. What is allocated for them becomes *own. */
static sel_status evaluate(const aqua_params *params, const sel_domain *domain, int threads,
                           const bool *wanted, double **own, const double **ground,
                           sel_error *error) {
    const sel_evaluation asked = {&params->ground, "ground", .wanted = wanted, .gaps = true};
    const size_t bytes = (size_t)sel_grid_cells(&domain->grid) * sizeof(double);
    *own = NULL;
    *ground = pixels_of(params, &domain->grid);
    if (*ground) {
        return SEL_OK;
    }
    *ground = *own = sel_machine_allocate(bytes);
    return *own ? sel_domain_evaluate(domain, &asked, threads, *own, error)
                : sel_fail_memory(error, "the ground", bytes);
}

sel_status aqua_blank(const sel_simulation *simulation, const sel_domain *domain, int threads,
                      uint8_t *blank, sel_region *gaps, sel_error *error) {
    const aqua_params *params = (const aqua_params *)simulation->params;
    const sel_where where = sel_simulation_where(simulation, "ground");
    const sel_raster *raster = plain_raster(params);
    const double *ground;
    double *own = NULL;
    if (!raster_of(params)) {
        return SEL_OK;
    }
    gaps->law = params->nodata.table ? params->nodata : (sel_variant){.table = &aqua_wall_table};
    sel_status status = raster ? check_covers(raster, &domain->grid, where, error) : SEL_OK;
    status = status ? status : evaluate(params, domain, threads, NULL, &own, &ground, error);
    for (int64_t i = 0; i < sel_grid_cells(&domain->grid) && !status; i++) {
        blank[i] = isnan(ground[i]);
    }
    free(own);
    return status;
}

/* ---- terrain ---- */

double aqua_lowest_beside(const aqua_plan *plan, int64_t x, int64_t y) {
    double lowest = (double)NAN;
    for (int k = 0; k < AQUA_AROUND; k++) {
        const int64_t cell =
            aqua_free_cell(plan->base.domain, x + aqua_around[k][0], y + aqua_around[k][1]);
        lowest = cell >= 0 ? fmin(lowest, plan->ground[cell]) : lowest;
    }
    return lowest;
}

bool aqua_terrain_measure(const aqua_plan *plan, aqua_terrain *terrain) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0], ny = domain->grid.n[1];
    double highest = -HUGE_VAL, deepest = 0, largest = 0, sum = 0;
    double *row_sum = calloc((size_t)ny, sizeof *row_sum); /* of slopes: added up in their order */
    int64_t pits = 0, slopes = 0;
    if (!row_sum) {
        return false;
    }
#pragma omp parallel for schedule(static) num_threads(plan->base.threads) \
    reduction(max : highest, deepest, largest) reduction(+ : pits, slopes)
    for (int64_t y = 0; y < ny; y++) {
        for (int64_t x = 0; x < nx; x++) {
            const double here = plan->ground[y * nx + x];
            if (domain->cell[y * nx + x]) {
                continue;
            }
            const double beside = aqua_lowest_beside(plan, x, y);
            highest = fmax(highest, here);
            deepest = fmax(deepest, beside - here);
            pits += beside > here;
            for (int k = 0; k < 2; k++) { /* to the east and to the north */
                const int64_t cell = aqua_free_cell(domain, x + (k == 0), y + (k == 1));
                if (cell >= 0) {
                    const double slope = fabs(plan->ground[cell] - here) / domain->grid.dx[0];
                    largest = fmax(largest, slope);
                    row_sum[y] += slope;
                    slopes++;
                }
            }
        }
    }
    for (int64_t y = 0; y < ny; y++) {
        sum += row_sum[y];
    }
    free(row_sum);
    *terrain = (aqua_terrain){highest, pits, deepest, slopes ? sum / (double)slopes : 0, largest};
    return true;
}

/* ---- degrees ---- */

sel_status aqua_degrees_check(const aqua_params *params, sel_where where, sel_error *error) {
    const sel_raster *raster = raster_of(params);
    char warp[SEL_WARP_ROOM];
    if (!raster || !isnan(params->common.dx) || sel_map_unit_of(raster) != SEL_MAP_DEGREES) {
        return SEL_OK;
    }
    return sel_fail_at(error, where,
                       "sel.aqua: the map of %s is in degrees (its cells are %.6g wide), run-off "
                       "needs metres. Make a map in metres and read that: %s",
                       sel_file_name(raster->file->path), raster->dx,
                       sel_map_warp(raster, true, warp));
}

void aqua_degrees_warn(const aqua_plan *plan, sel_error *warnings) {
    const sel_raster *raster = raster_of(plan->params);
    char warp[SEL_WARP_ROOM];
    if (!raster || !raster->file || plan->base.domain->grid.dx[0] != raster->dx ||
        !sel_map_looks_like_degrees(raster)) {
        return;
    }
    sel_fail_at(warnings, sel_simulation_where(plan->base.simulation, "ground"),
                "ground: %s lies at %.6g to %.6g by %.6g to %.6g with cells of %.6g and does not "
                "name its map: this looks like degrees, and is taken as metres. If it is in "
                "degrees: %s",
                sel_file_name(raster->file->path), raster->origin[0],
                raster->origin[0] + (double)raster->n[0] * raster->dx, raster->origin[1],
                raster->origin[1] + (double)raster->n[1] * raster->dx, raster->dx,
                sel_map_warp(raster, false, warp));
}

/* ---- values that stand for no data ---- */

/* Even the coarsest quantum cannot store more; m. */
static const double most_height = 1e9;

/* Limits of heights on the Earth, m. And where less than this part of an undeclared value is left
 * in the ground, the script has put another value there. */
static const double lowest_ground = -12000, highest_ground = 9000, kept_part = 0.05;

/* The undeclared value of the raster that a cell has for its ground; NULL: none. Where the script
 * says which value stands for no data, others that can be heights are taken for heights. */
static const sel_undeclared *find_undeclared(const sel_raster *raster, const sel_grid *grid,
                                             int64_t cell, double ground) {
    double place[3];
    sel_cell_centre(grid, cell, place);
    const sel_undeclared *u = sel_raster_undeclared(raster, place[0], place[1]);
    const bool meant =
        u && raster->file->nodata_given && u->scaled > lowest_ground && u->scaled < highest_ground;
    return u && !meant && ground / u->scaled > kept_part ? u : NULL;
}

/* Of so many cells from the first on; u NULL: of a height that no ground has. */
static sel_status refuse(const aqua_plan *plan, const sel_raster *raster, const sel_undeclared *u,
                         int64_t count, int64_t first, sel_error *error) {
    const sel_where where = sel_simulation_where(plan->base.simulation, "ground");
    const char *plural = count == 1 ? "" : "s";
    char advice[600], cell[SEL_CELL_TEXT];
    sel_cell_text(&plan->base.domain->grid, first, cell);
    if (!u) {
        return sel_fail_at(error, where,
                           "ground is %.9g m in %lld cell%s, the first is %s: no ground is so; if "
                           "it stands for no data, give sel.raster { ..., nodata = } its value",
                           plan->ground[first], (long long)count, plural, cell);
    }
    sel_map_declare(raster->file, u, advice, sizeof advice);
    return sel_fail_at(error, where,
                       "ground: %lld cell%s of %s, the first is %s, %s the value %.9g, "
                       "which stands for no data in most files; this one does not call it NODATA. "
                       "If it is: %s",
                       (long long)count, plural, sel_file_name(raster->file->path), cell,
                       count == 1 ? "has" : "have", u->value, advice);
}

/* Refuses heights of free cells that stand for no data, and such as no ground has. Names the value,
 * how many cells have it, the file and what to write. */
static sel_status check_heights(const aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_raster *raster = raster_of(plan->params);
    const bool suspect = raster && raster->file && raster->file->undeclared_count > 0;
    const sel_undeclared *what = NULL;
    int64_t count = 0, first = 0;
    for (int64_t i = 0; i < sel_grid_cells(&domain->grid); i++) {
        const double ground = plan->ground[i];
        const bool high = fabs(ground) > most_height;
        if (domain->cell[i] || !(high || suspect)) {
            continue;
        }
        const sel_undeclared *u =
            suspect ? find_undeclared(raster, &domain->grid, i, ground) : NULL;
        if ((u || high) && (count == 0 || u == what)) {
            first = count++ == 0 ? i : first;
            what = u;
        }
    }
    return count ? refuse(plan, raster, what, count, first, error) : SEL_OK;
}

/* ---- the ground of a plan ---- */

static double find_lowest(const aqua_plan *plan) {
    const uint8_t *region = plan->base.domain->cell;
    const double *ground = plan->ground;
    const int64_t cells = sel_grid_cells(&plan->base.domain->grid);
    double lowest = HUGE_VAL;
#pragma omp parallel for schedule(static) num_threads(plan->base.threads) reduction(min : lowest)
    for (int64_t i = 0; i < cells; i++) {
        lowest = region[i] == 0 && ground[i] < lowest ? ground[i] : lowest;
    }
    return lowest;
}

sel_status aqua_ground_create(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    bool wanted[SEL_REGION_NUMBERS] = {true};
    for (int r = 1; r <= domain->region_count; r++) {
        wanted[r] = aqua_passes(domain, r);
    }
    sel_status status = evaluate(plan->params, domain, plan->base.threads, wanted,
                                 &plan->own_ground, &plan->ground, error);
    plan->lowest = status ? 0 : find_lowest(plan);
    return status ? status : check_heights(plan, error);
}
