/* terrain.c -- evaluate a ground, find its gaps, measure its pits and slopes, check its heights. */
#include "engine/scene/terrain.h"

#include <math.h>
#include <stdlib.h>
#include "engine/base/file.h"

/* ---- elevations ---- */

void sel_terrain_complete(const sel_quantity *ground, sel_common *params) {
    const sel_raster *raster = sel_terrain_raster(ground);
    if (raster && params->size.n == 0) {
        params->size = (sel_ints){2, {raster->n[0], raster->n[1], 0}};
    }
    if (raster && params->origin.n == 0) {
        params->origin = (sel_point){2, {raster->origin[0], raster->origin[1], 0}};
    }
    if (isnan(params->dx)) {
        params->dx = raster ? raster->dx : 1;
    }
}

/* Fails if the centre of a cell lies outside the raster: that is a mistake and not a gap. */
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

sel_status sel_terrain_check_unit(const sel_quantity *quantity, const char *what, bool lengths,
                                  sel_where where, sel_error *error) {
    const sel_raster *raster = sel_terrain_raster(quantity);
    const sel_raster_file *file = raster ? raster->file : NULL;
    const char *name = file ? sel_file_name(file->path) : "";
    if (file && lengths && !file->scale_given && isnan(file->height.metres)) {
        return sel_fail_at(error, where,
                           "%s: the values of %s are in %s, which is no unit of length that is "
                           "known; say how many metres one is: sel.raster { \"%s\", scale = ... }, "
                           "below 0 for depths",
                           what, name, file->height.name, name);
    }
    if (file && !lengths && file->height_changed) {
        return sel_fail_at(error, where,
                           "%s: the values of %s are in %s, a length, and %s is none; give the "
                           "factor from them to what it takes: sel.raster { \"%s\", scale = ... }",
                           what, name, file->height.name, what, name);
    }
    return SEL_OK;
}

sel_status sel_terrain_check_params(const sel_quantity *ground, const sel_common *params,
                                    const char *table, sel_where where, sel_error *error) {
    const sel_raster *raster = sel_terrain_raster(ground);
    char warp[SEL_WARP_ROOM];
    sel_status status = SEL_OK;
    if (params->size.n == 0 && !sel_quantity_raster(ground)) {
        status = sel_fail_at(error, where,
                             "%s: size is required ({ nx, ny }), unless ground is made of a "
                             "raster, which has one",
                             table);
    } else if (params->size.n == 3) {
        status = sel_fail_at(error, where, "%s: size must be { nx, ny }", table);
    }
    if (raster && isnan(params->dx) && sel_map_unit_of(raster) == SEL_MAP_DEGREES) {
        status = sel_fail_at(error, where,
                             "%s: the map of %s is in degrees (its cells are %.6g wide), runoff "
                             "needs metres. Make a map in metres and read that: %s",
                             table, sel_file_name(raster->file->path), raster->dx,
                             sel_map_warp(raster, true, warp));
    }
    return status ? status : sel_terrain_check_unit(ground, "ground", true, where, error);
}

/* If the pixels are the cells, nothing is interpolated, so that the rounding of centres has no
 * effect. */
sel_status sel_terrain_evaluate(const sel_quantity *ground, const sel_domain *domain, int threads,
                                const bool *wanted, double **own, const double **heights,
                                sel_error *error) {
    const sel_evaluation asked = {ground, "ground", .wanted = wanted, .gaps = true};
    const sel_raster *raster = sel_raster_of(sel_lookup_of(ground));
    const sel_grid *grid = &domain->grid;
    bool same = raster && raster->dx == grid->dx[0];
    for (int a = 0; a < 2 && same; a++) {
        same = raster->n[a] == grid->n[a] && raster->origin[a] == grid->origin[a];
    }
    *own = NULL;
    const sel_status status =
        same ? SEL_OK : sel_domain_numbers(domain, asked, threads, own, error);
    *heights = same ? raster->value : *own;
    return status;
}

sel_status sel_terrain_blank(const sel_quantity *ground, const sel_simulation *simulation,
                             const sel_domain *domain, int threads, uint8_t *blank,
                             sel_error *error) {
    const sel_where where = sel_simulation_where(simulation, "ground");
    const sel_raster *raster = sel_raster_of(sel_lookup_of(ground));
    const double *heights;
    double *own = NULL;
    sel_status status = raster ? check_covers(raster, &domain->grid, where, error) : SEL_OK;
    status = status ? status
                    : sel_terrain_evaluate(ground, domain, threads, NULL, &own, &heights, error);
    const sel_rows_range rows = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0];
    const int64_t first = rows.first * nx, end = status ? first : rows.end * nx;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = first; i < end; i++) {
        blank[i] = isnan(heights[i]) != 0;
    }
    free(own);
    return status;
}

/* ---- pits and slopes ---- */

/* The number of cell (x, y), -1 if it is not free. `inside`: (x, y) lies in the grid. */
static inline int64_t free_cell(const sel_domain *domain, bool inside, int64_t x, int64_t y) {
    const int64_t cell = y * domain->grid.n[0] + x;
    return inside ? (domain->cell[cell] ? -1 : cell) : sel_free_cell(domain, x, y);
}

/* Whether all eight neighbours of cell (x, y) lie in the grid. */
static inline bool terrain_is_inside(const sel_grid *grid, int64_t x, int64_t y) {
    return x > 0 && y > 0 && x + 1 < grid->n[0] && y + 1 < grid->n[1];
}

double sel_terrain_beside(const sel_domain *domain, const double *heights, int64_t x, int64_t y) {
    const bool inside = terrain_is_inside(&domain->grid, x, y);
    double lowest = (double)NAN;
    for (int k = 0; k < 9; k++) {
        const int64_t cell = free_cell(domain, inside, x + k % 3 - 1, y + k / 3 - 1);
        if (cell >= 0 && k != 4 && (isnan(lowest) || heights[cell] < lowest)) {
            lowest = heights[cell];
        }
    }
    return lowest;
}

bool sel_terrain_measure(const sel_domain *domain, const double *heights, int threads,
                         sel_terrain *terrain) {
    const int64_t nx = domain->grid.n[0], ny = domain->grid.n[1];
    const sel_rows_range own = sel_domain_own(domain);
    double highest = -HUGE_VAL, deepest = 0, largest = 0, sum = 0;
    double *row_sum = calloc((size_t)ny, sizeof *row_sum); /* slopes; rows are summed in order */
    int64_t pits = 0, slopes = 0;
    if (!row_sum) {
        return false;
    }
#pragma omp parallel for schedule(static) num_threads(threads) \
    reduction(max : highest, deepest, largest) reduction(+ : pits, slopes)
    for (int64_t y = own.first; y < own.end; y++) {
        for (int64_t x = 0; x < nx; x++) {
            const double here = heights[y * nx + x];
            if (domain->cell[y * nx + x]) {
                continue;
            }
            const bool inside = terrain_is_inside(&domain->grid, x, y);
            const double beside = sel_terrain_beside(domain, heights, x, y);
            highest = here > highest ? here : highest;
            deepest = beside - here > deepest ? beside - here : deepest;
            pits += beside > here;
            for (int k = 0; k < 2; k++) { /* to the east and to the north */
                const int64_t cell = free_cell(domain, inside, x + (k == 0), y + (k == 1));
                if (cell >= 0) {
                    const double slope = fabs(heights[cell] - here) / domain->grid.dx[0];
                    largest = slope > largest ? slope : largest;
                    row_sum[y] += slope;
                    slopes++;
                }
            }
        }
    }
    sel_domain_share(domain, row_sum, sizeof *row_sum);
    for (int64_t y = 0; y < ny; y++) {
        sum += row_sum[y];
    }
    free(row_sum);
    slopes = sel_domain_total(domain, slopes);
    *terrain = (sel_terrain){.highest = sel_domain_largest(domain, highest),
                             .pits = sel_domain_total(domain, pits),
                             .deepest_pit = sel_domain_largest(domain, deepest),
                             .mean_slope = slopes ? sum / (double)slopes : 0,
                             .largest_slope = sel_domain_largest(domain, largest)};
    return true;
}

void sel_terrain_facts(const sel_plan *plan, const double *heights, double lowest,
                       sel_facts *facts) {
    sel_terrain t;
    if (!sel_terrain_measure(plan->domain, heights, plan->threads, &t)) {
        return;
    }
    sel_fact_add(facts, "ground", "%.6g to %.6g m", lowest, t.highest);
    sel_fact_add(facts, "slope", "mean %.3g, largest %.3g", t.mean_slope, t.largest_slope);
    if (t.pits) {
        sel_fact_add(facts, "pits of one cell", "%lld, the deepest %.3g m", (long long)t.pits,
                     t.deepest_pit);
    } else {
        sel_fact_add(facts, "pits of one cell", "0 (no cell lies below all its neighbours)");
    }
}

void sel_terrain_warn(const sel_quantity *ground, const sel_plan *plan, sel_error *warnings) {
    const sel_raster *raster = sel_terrain_raster(ground);
    char warp[SEL_WARP_ROOM];
    if (raster && raster->file && plan->domain->grid.dx[0] == raster->dx &&
        sel_map_looks_like_degrees(raster)) {
        sel_fail_at(
            warnings, sel_simulation_where(plan->simulation, "ground"),
            "ground: %s lies at %.6g to %.6g by %.6g to %.6g with cells of %.6g and does not "
            "name its map: this looks like degrees, and is taken as metres. If it is in "
            "degrees: %s",
            sel_file_name(raster->file->path), raster->origin[0],
            raster->origin[0] + (double)raster->n[0] * raster->dx, raster->origin[1],
            raster->origin[1] + (double)raster->n[1] * raster->dx, raster->dx,
            sel_map_warp(raster, false, warp));
    }
    const sel_raster_file *file = raster ? raster->file : NULL;
    if (file && file->place.metres != 0 && file->place.metres != 1 && !file->height.name &&
        !file->scale_given) {
        sel_fail_at(warnings, sel_simulation_where(plan->simulation, "ground"),
                    "ground: the map of %s is in %s, and nothing says what its heights are in: "
                    "they are taken as metres. sel.raster { ..., scale = %.12g } is for heights in "
                    "%s, scale = 1 for metres",
                    sel_file_name(file->path), file->place.name, file->place.metres,
                    file->place.name);
    }
}

/* ---- values that mean "no data" ---- */

/* Largest height that every number format of the solvers can store, m. */
static const double most_height = 1e9;

/* Limits of heights on the Earth, m. */
static const double lowest_ground = -12000, highest_ground = 9000;

/* A ground below this fraction of the raster's undeclared value was replaced by the script. */
static const double kept_part = 0.05;

/* The undeclared value of the raster that a cell has as its ground; NULL: none. If the script
 * declares a nodata value, other values that can be heights are heights. */
static const sel_undeclared *find_undeclared(const sel_raster *raster, const sel_grid *grid,
                                             int64_t cell, double height) {
    double place[3];
    sel_cell_centre(grid, cell, place);
    const sel_undeclared *u = sel_raster_undeclared(raster, place[0], place[1]);
    const bool meant =
        u && raster->file->nodata_given && u->scaled > lowest_ground && u->scaled < highest_ground;
    return u && !meant && height / u->scaled > kept_part ? u : NULL;
}

/* The doubtful heights of a set of rows. */
typedef struct doubts {
    int kind;              /* 0: none, 1: too high or too low, 2 + k: the undeclared value k */
    int64_t cell, count;   /* the first cell of this kind, and the number of cells of this kind */
    double height, lowest; /* of the first cell of this kind; of all cells */
} doubts;

/* Finds doubtful heights of one kind in the rows of this rank; kind 0: the kind of the first.
 * Doubtful heights are rare: a first pass, which is parallel, finds whether there are any. */
static doubts find_doubts(const sel_raster *raster, const sel_domain *domain, const double *heights,
                          int kind, int threads) {
    const bool suspect = raster && raster->file && raster->file->undeclared_count > 0;
    const sel_rows_range rows = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0], first = rows.first * nx, end = rows.end * nx;
    double lowest = HUGE_VAL;
    int64_t strange = suspect;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : lowest) \
    reduction(+ : strange)
    for (int64_t i = first; i < end; i++) {
        const bool counts = !domain->cell[i];
        lowest = counts && heights[i] < lowest ? heights[i] : lowest;
        strange += counts && fabs(heights[i]) > most_height;
    }
    doubts found = {.kind = kind, .lowest = lowest};
    for (int64_t i = strange ? first : end; i < end; i++) {
        if (domain->cell[i]) {
            continue;
        }
        const sel_undeclared *u =
            suspect ? find_undeclared(raster, &domain->grid, i, heights[i]) : NULL;
        const int here = u                                ? 2 + (int)(u - raster->file->undeclared)
                         : fabs(heights[i]) > most_height ? 1
                                                          : 0;
        if (here && (found.kind == 0 || here == found.kind)) {
            found.cell = found.count++ == 0 ? i : found.cell;
            found.height = heights[found.cell];
            found.kind = here;
        }
    }
    return found;
}

/* The doubtful heights of all ranks: the kind of the first one, counted on every rank. */
static doubts find_all_doubts(const sel_raster *raster, const sel_domain *domain,
                              const double *heights, int threads) {
    const doubts own = find_doubts(raster, domain, heights, 0, threads);
    doubts all[SEL_MOST_RANKS], found = {.lowest = HUGE_VAL};
    sel_domain_gather(domain, &own, sizeof own, all);
    for (int r = 0; r < sel_domain_ranks(domain); r++) {
        const double lowest = fmin(found.lowest, all[r].lowest);
        found = found.kind ? found : all[r];
        found.lowest = lowest;
    }
    if (found.kind && sel_domain_ranks(domain) > 1) {
        const doubts its = find_doubts(raster, domain, heights, found.kind, threads);
        found.count = sel_domain_total(domain, its.count);
    }
    return found;
}

sel_status sel_terrain_check(const sel_quantity *ground, const sel_simulation *simulation,
                             const sel_domain *domain, const double *heights, int threads,
                             double *lowest, sel_error *error) {
    const sel_where where = sel_simulation_where(simulation, "ground");
    const sel_raster *raster = sel_terrain_raster(ground);
    const doubts found = find_all_doubts(raster, domain, heights, threads);
    const int64_t count = found.count;
    *lowest = found.lowest;
    const char *plural = count == 1 ? "" : "s";
    char advice[600], cell[SEL_CELL_TEXT];
    sel_cell_text(&domain->grid, found.cell, cell);
    if (found.kind == 1) {
        return sel_fail_at(error, where,
                           "ground is %.9g m in %lld cell%s, the first is %s: no ground is so; if "
                           "it stands for no data, give sel.raster { ..., nodata = } its value",
                           found.height, (long long)count, plural, cell);
    }
    if (!count) {
        return SEL_OK;
    }
    const sel_undeclared *what = &raster->file->undeclared[found.kind - 2];
    sel_map_declare(raster->file, what, advice, sizeof advice);
    return sel_fail_at(error, where,
                       "ground: %lld cell%s of %s, the first is %s, %s the value %.9g, "
                       "which stands for no data in most files; this one does not call it NODATA. "
                       "If it is: %s",
                       (long long)count, plural, sel_file_name(raster->file->path), cell,
                       count == 1 ? "has" : "have", what->value, advice);
}
