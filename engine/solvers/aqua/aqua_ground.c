/* aqua_ground.c -- evaluate the ground, find where it has none, measure its pits and slopes; refuse
 * or warn of one that is no terrain in metres: in degrees, or of values that stand for no data
 * although their file does not say so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"
#include "engine/base/file.h"
#include "engine/values/quantity.h"
#include "engine/base/machine.h"
#include "engine/io/raster.h"

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

/* Elevations to[ny][nx], NaN where there are no data; also of what laws other than walls have
 * painted, with `ghosts`. */
static sel_status evaluate(const aqua_plan *plan, bool ghosts, double *to, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_params *params = (const aqua_params *)plan->base.simulation->params;
    const aqua_asked asked = {&params->ground, "ground", 0, ghosts, true};
    const sel_raster *raster = plain_raster(params);
    if (!raster) {
        return aqua_rows_visit(plan, &asked, NULL, to, error);
    }
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = 0; y < grid->n[1]; y++) {
        for (int64_t x = 0; x < grid->n[0]; x++) {
            to[y * grid->n[0] + x] = raster_at(raster, grid, x, y);
        }
    }
    return SEL_OK;
}

sel_status aqua_blank(const sel_simulation *simulation, const sel_domain *domain, int threads,
                      uint8_t *blank, sel_variant *law, sel_error *error) {
    const aqua_params *params = (const aqua_params *)simulation->params;
    const aqua_plan plan = {
        .base = {.simulation = simulation, .domain = domain, .threads = threads}};
    const int64_t cells = sel_grid_cells(&domain->grid);
    const size_t bytes = (size_t)cells * sizeof(double);
    if (!raster_of(params)) {
        return SEL_OK;
    }
    *law = params->nodata.table ? params->nodata : (sel_variant){.table = &aqua_wall_table};
    double *ground = sel_machine_allocate(bytes);
    if (!ground) {
        return sel_fail_memory(error, "the ground", bytes);
    }
    sel_status status = evaluate(&plan, false, ground, error);
    for (int64_t i = 0; i < cells && !status; i++) {
        blank[i] = isnan(ground[i]);
    }
    free(ground);
    const sel_raster *raster = plain_raster(params);
    return raster ? check_covers(raster, &domain->grid, sel_simulation_where(simulation, "ground"),
                                 error)
                  : status;
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

bool aqua_is_free(const sel_domain *domain, int64_t x, int64_t y) {
    const int64_t cell = aqua_cell_of(&domain->grid, x, y);
    return cell >= 0 && domain->cell[cell] == 0;
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

/* Adds what a free cell says; mean_slope is the sum yet. */
static void look_at(const aqua_plan *plan, int64_t x, int64_t y, aqua_terrain *terrain) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const double here = plan->ground[y * grid->n[0] + x];
    const double beside = aqua_lowest_beside(plan, x, y);
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
            terrain->mean_slope += slope;
            terrain->slopes++;
        }
    }
}

static aqua_terrain look_at_row(const aqua_plan *plan, int64_t y) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0];
    aqua_terrain row = {.highest = -HUGE_VAL};
    for (int64_t x = 0; x < nx; x++) {
        if (domain->cell[y * nx + x] == 0) {
            look_at(plan, x, y, &row);
        }
    }
    return row;
}

bool aqua_terrain_measure(const aqua_plan *plan, aqua_terrain *terrain) {
    const int64_t ny = plan->base.domain->grid.n[1];
    aqua_terrain *rows = malloc((size_t)ny * sizeof *rows), all = {.highest = -HUGE_VAL};
    if (!rows) {
        return false;
    }
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = 0; y < ny; y++) {
        rows[y] = look_at_row(plan, y);
    }
    for (int64_t y = 0; y < ny; y++) {
        all.highest = fmax(all.highest, rows[y].highest);
        all.pits += rows[y].pits;
        all.deepest_pit = fmax(all.deepest_pit, rows[y].deepest_pit);
        all.largest_slope = fmax(all.largest_slope, rows[y].largest_slope);
        all.mean_slope += rows[y].mean_slope;
        all.slopes += rows[y].slopes;
    }
    all.mean_slope = all.slopes ? all.mean_slope / (double)all.slopes : 0;
    *terrain = all;
    free(rows);
    return true;
}

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

sel_status aqua_ground_evaluate(aqua_plan *plan, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const sel_raster *raster = plain_raster(plan->params);
    const size_t bytes = (size_t)sel_grid_cells(grid) * sizeof(double);
    if (raster && is_its_grid(raster, grid)) {
        plan->ground = raster->value;
        plan->lowest = find_lowest(plan);
        return SEL_OK;
    }
    plan->ground = plan->own_ground = sel_machine_allocate(bytes);
    if (!plan->own_ground) {
        return sel_fail_memory(error, "the ground", bytes);
    }
    sel_status status = evaluate(plan, true, plan->own_ground, error);
    plan->lowest = status ? 0 : find_lowest(plan);
    return status;
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
    if (!raster || !raster->file || plan->base.domain->grid.dx != raster->dx ||
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

/* A quantum of no store is so coarse that it could hold more; m. */
static const double most_height = 1e9;

/* Of the heights of the Earth, m; and the part of an undeclared value that must be left of it in
 * the ground, so that what was painted over it is told from what it was made of. */
static const double lowest_ground = -12000, highest_ground = 9000, kept_part = 0.05;

/* The undeclared value that a cell has of its raster; NULL: none. */
static const sel_undeclared *find_undeclared(const sel_raster *raster, double ground, double x,
                                             double y) {
    const sel_raster_file *file = raster->file;
    int64_t at[2];
    for (int a = 0; a < 2; a++) {
        double pixel = floor(((a ? y : x) - raster->origin[a]) / raster->dx);
        if (!(pixel >= 0 && pixel < (double)raster->n[a])) {
            return NULL;
        }
        at[a] = (int64_t)pixel;
    }
    const double value = raster->value[at[1] * raster->n[0] + at[0]];
    for (int k = 0; k < file->undeclared_count; k++) {
        const sel_undeclared *u = &file->undeclared[k];
        bool huge = fabs(u->value) > most_height && fabs(value) > most_height;
        if ((value == u->scaled || huge) && ground / u->scaled > kept_part) {
            return u;
        }
    }
    return NULL;
}

/* A script that says what stands for no data may mean all other values, if they can be heights. */
static bool may_be_meant(const sel_raster_file *file, const sel_undeclared *u) {
    return file->nodata_given && u->scaled > lowest_ground && u->scaled < highest_ground;
}

typedef struct found {
    int64_t count, first;       /* cells; of the value of the first */
    const sel_undeclared *what; /* NULL: a height that no ground has */
} found;

static void look_for_gap(const aqua_plan *plan, const sel_raster *raster, int64_t cell, found *f) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double ground = plan->ground[cell];
    const sel_undeclared *what = NULL;
    if (raster && raster->file && raster->file->undeclared_count) {
        what = find_undeclared(raster, ground, sel_centre(grid, 0, (double)(cell % grid->n[0])),
                               sel_centre(grid, 1, (double)(cell / grid->n[0])));
        what = what && may_be_meant(raster->file, what) ? NULL : what;
    }
    if ((what || fabs(ground) > most_height) && (f->count == 0 || what == f->what)) {
        f->first = f->count++ == 0 ? cell : f->first;
        f->what = what;
    }
}

/* What to do about an undeclared value: declare it, or where there is a declared one beside it,
 * make them one. */
static void advise(const sel_raster_file *file, const sel_undeclared *u, char *text, size_t size) {
    char from[256], to[256];
    const int digits = fabs(u->value) < 3.5e38 ? 9 : 17; /* all of a float, or of a double */
    if (file->gaps == 0) {
        snprintf(text, size, "sel.raster { \"%s\", nodata = %.*g }", sel_file_name(file->path),
                 digits, u->value);
    } else {
        snprintf(text, size,
                 "as %.*g stands for no data there too, make them one: gdalwarp -srcnodata %.*g "
                 "-dstnodata %.*g %s %s",
                 digits, file->nodata, digits, u->value, digits, file->nodata,
                 sel_map_quote(file->path, "", from, sizeof from),
                 sel_map_quote(file->path, "_new.tif", to, sizeof to));
    }
}

static sel_status refuse(const aqua_plan *plan, const sel_raster *raster, const found *f,
                         sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const sel_where where = sel_simulation_where(plan->base.simulation, "ground");
    char advice[600], cell[SEL_CELL_TEXT];
    sel_cell_text(grid, f->first, cell);
    if (!f->what) {
        return sel_fail_at(error, where,
                           "ground is %.9g m in %lld cell%s, the first is %s: no ground is so; if "
                           "it stands for no data, give sel.raster { ..., nodata = } its value",
                           plan->ground[f->first], (long long)f->count, f->count == 1 ? "" : "s",
                           cell);
    }
    advise(raster->file, f->what, advice, sizeof advice);
    return sel_fail_at(error, where,
                       "ground: %lld cell%s of %s, the first is %s, %s the value %.9g, "
                       "which stands for no data in most files; this one does not call it NODATA. "
                       "If it is: %s",
                       (long long)f->count, f->count == 1 ? "" : "s",
                       sel_file_name(raster->file->path), cell, f->count == 1 ? "has" : "have",
                       f->what->value, advice);
}

sel_status aqua_ground_check(const aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_raster *raster = raster_of(plan->params);
    const bool suspect = raster && raster->file && raster->file->undeclared_count > 0;
    const int64_t cells = sel_grid_cells(&domain->grid);
    found f = {.count = 0};
    for (int64_t i = 0; i < cells; i++) {
        if (domain->cell[i] == 0 && (suspect || fabs(plan->ground[i]) > most_height)) {
            look_for_gap(plan, raster, i, &f);
        }
    }
    return f.count ? refuse(plan, raster, &f, error) : SEL_OK;
}
