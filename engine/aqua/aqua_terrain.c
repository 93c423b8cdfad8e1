/* aqua_terrain.c -- grounds that are no terrain in metres: in degrees, or of values that stand for
 * no data although their file does not say so. */
#include "engine/aqua/aqua_terrain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/file.h"
#include "engine/quantity.h"
#include "geometry/map.h"

/* A quantum of no store is so coarse that it could hold more; m. */
static const double most_height = 1e9;

/* Of the heights of the Earth, m; and the part of an undeclared value that must be left of it in
 * the ground, so that what was painted over it is told from what it was made of. */
static const double lowest_ground = -12000, highest_ground = 9000, kept_part = 0.05;

static const sel_raster *raster_of(const sel_quantity *ground) {
    const sel_lookup *lookup = sel_quantity_raster(ground);
    return lookup ? lookup->data : NULL;
}

/* ---- degrees ---- */

sel_status aqua_degrees_check(const aqua_params *params, sel_where where, sel_error *error) {
    const sel_raster *raster = raster_of(&params->ground);
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
    const sel_raster *raster = raster_of(&plan->params->ground);
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

static void look_at(const aqua_plan *plan, const sel_raster *raster, int64_t cell, found *f) {
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
    const long long x = f->first % grid->n[0], y = f->first / grid->n[0];
    char advice[600];
    if (!f->what) {
        return sel_fail_at(error, where,
                           "ground is %.9g m in %lld cell%s, the first is {%lld, %lld}: no ground "
                           "is so; if it stands for no data, give sel.raster { ..., nodata = } its "
                           "value",
                           plan->ground[f->first], (long long)f->count, f->count == 1 ? "" : "s", x,
                           y);
    }
    advise(raster->file, f->what, advice, sizeof advice);
    return sel_fail_at(error, where,
                       "ground: %lld cell%s of %s, the first is {%lld, %lld}, %s the value %.9g, "
                       "which stands for no data in most files; this one does not call it NODATA. "
                       "If it is: %s",
                       (long long)f->count, f->count == 1 ? "" : "s",
                       sel_file_name(raster->file->path), x, y, f->count == 1 ? "has" : "have",
                       f->what->value, advice);
}

sel_status aqua_terrain_check(const aqua_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_raster *raster = raster_of(&plan->params->ground);
    const bool suspect = raster && raster->file && raster->file->undeclared_count > 0;
    const int64_t cells = sel_grid_cells(&domain->grid);
    found f = {.count = 0};
    for (int64_t i = 0; i < cells; i++) {
        if (domain->cell[i] == 0 && (suspect || fabs(plan->ground[i]) > most_height)) {
            look_at(plan, raster, i, &f);
        }
    }
    return f.count ? refuse(plan, raster, &f, error) : SEL_OK;
}
