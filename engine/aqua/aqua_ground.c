/* aqua_ground.c -- evaluate the ground, find where it has none, measure its pits and slopes. */
#include "engine/aqua/aqua_ground.h"

#include <math.h>
#include "engine/aqua/aqua_rows.h"
#include "geometry/raster.h"

/* The raster that the ground is, taken as it is; NULL: it is something else. */
static const sel_raster *raster_of(const aqua_params *params) {
    const sel_lookup *lookup = sel_lookup_of(&params->ground);
    return lookup && lookup->kind == SEL_LOOKUP_RASTER ? lookup->data : NULL;
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

/* Whether the cells are the pixels: then nothing is interpolated, whatever rounding says of their
 * centres. */
static bool is_its_grid(const sel_raster *raster, const sel_grid *grid) {
    bool same = raster->dx == grid->dx;
    for (int a = 0; a < 2; a++) {
        same = same && raster->n[a] == grid->n[a] && raster->origin[a] == grid->origin[a];
    }
    return same;
}

/* NaN where there are no data. */
static double raster_at(const sel_raster *raster, const sel_grid *grid, int64_t x, int64_t y) {
    return is_its_grid(raster, grid) ? raster->value[y * raster->n[0] + x]
                                     : sel_raster_value(raster, sel_centre(grid, 0, (double)x),
                                                        sel_centre(grid, 1, (double)y));
}

/* Centres of cells must lie in the raster: what is outside of it is a mistake, no gap. */
static sel_status check_covers(const sel_raster *raster, const sel_grid *grid, sel_where where,
                               sel_error *error) {
    for (int a = 0; a < 2; a++) {
        double low = sel_centre(grid, a, 0), high = sel_centre(grid, a, (double)(grid->n[a] - 1));
        double first = raster->origin[a], last = first + (double)raster->n[a] * raster->dx;
        if (low < first || high > last) {
            return sel_fail_at(error, where,
                               "ground: the raster covers %.10g to %.10g along %s, the cells' "
                               "centres lie between %.10g and %.10g; mind origin, dx and size",
                               first, last, a ? "y" : "x", low, high);
        }
    }
    return SEL_OK;
}

sel_status aqua_blank(const sel_simulation *simulation, const sel_grid *grid, int threads,
                      uint8_t *blank, sel_variant *law, sel_error *error) {
    static aqua_law_wall wall;
    const aqua_params *params = (const aqua_params *)simulation->params;
    const sel_raster *raster = raster_of(params);
    if (!raster) {
        return SEL_OK;
    }
    *law =
        params->nodata.table ? params->nodata : (sel_variant){&aqua_wall_table, &wall, {NULL, 0}};
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t y = 0; y < grid->n[1]; y++) {
        for (int64_t x = 0; x < grid->n[0]; x++) {
            blank[y * grid->n[0] + x] = isnan(raster_at(raster, grid, x, y));
        }
    }
    return check_covers(raster, grid, sel_simulation_where(simulation, "ground"), error);
}

int64_t aqua_cell_of(const sel_grid *grid, int64_t x, int64_t y) {
    int64_t at[2] = {x, y};
    for (int a = 0; a < 2; a++) {
        if (sel_axis_periodic(grid, a)) {
            at[a] = (at[a] % grid->n[a] + grid->n[a]) % grid->n[a];
        } else if (at[a] < 0 || at[a] >= grid->n[a]) {
            return -1;
        }
    }
    return at[1] * grid->n[0] + at[0];
}

#define OFFSET(k, dx, dy) {dx, dy},
const int aqua_around[8][2] = {AQUA_NEIGHBOURS(OFFSET)};
#undef OFFSET

double aqua_lowest_beside(const aqua_plan *plan, int64_t x, int64_t y) {
    const sel_domain *domain = plan->base.domain;
    double lowest = (double)NAN;
    for (int k = 0; k < 8; k++) {
        int64_t cell = aqua_cell_of(&domain->grid, x + aqua_around[k][0], y + aqua_around[k][1]);
        if (cell >= 0 && domain->cell[cell] == 0) {
            lowest = fmin(lowest, plan->ground[cell]);
        }
    }
    return lowest;
}

/* Adds what a free cell says of the terrain. */
static void look_at(const aqua_plan *plan, int64_t x, int64_t y, aqua_terrain *terrain,
                    double *slopes, int64_t *edges) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const double here = plan->ground[y * grid->n[0] + x];
    double beside = aqua_lowest_beside(plan, x, y);
    terrain->lowest = fmin(terrain->lowest, here);
    terrain->highest = fmax(terrain->highest, here);
    if (beside > here) {
        terrain->pits++;
        terrain->deepest_pit = fmax(terrain->deepest_pit, beside - here);
    }
    for (int k = 0; k < 3; k += 2) {
        int64_t cell = aqua_cell_of(grid, x + aqua_around[k][0], y + aqua_around[k][1]);
        if (cell >= 0 && domain->cell[cell] == 0) {
            double slope = fabs(plan->ground[cell] - here) / grid->dx;
            terrain->largest_slope = fmax(terrain->largest_slope, slope);
            *slopes += slope;
            ++*edges;
        }
    }
}

static void measure(aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0], ny = domain->grid.n[1];
    aqua_terrain terrain = {.lowest = HUGE_VAL, .highest = -HUGE_VAL};
    double slopes = 0;
    int64_t edges = 0;
    for (int64_t y = 0; y < ny; y++) {
        for (int64_t x = 0; x < nx; x++) {
            if (domain->cell[y * nx + x] == 0) {
                look_at(plan, x, y, &terrain, &slopes, &edges);
            }
        }
    }
    terrain.mean_slope = edges ? slopes / (double)edges : 0;
    plan->terrain = terrain;
}

sel_status aqua_ground_evaluate(aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const sel_raster *raster = raster_of(plan->params);
    aqua_rows rows = {.x = NULL};
    sel_status status = SEL_OK;
    if (raster) {
        for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
            plan->ground[i] = raster_at(raster, grid, i % grid->n[0], i / grid->n[0]);
        }
    } else {
        status = aqua_rows_open(domain, true, &rows, error);
        status =
            status ? status
                   : aqua_rows_all(&rows, &plan->params->ground, "ground", 0, plan->ground, error);
        aqua_rows_close(&rows);
    }
    if (!status) {
        measure(plan);
    }
    return status;
}
