/* out_grid.c -- out.grid: a field of a two-dimensional domain as raster files, ESRI ASCII or
 * GeoTIFF.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/file.h"
#include "engine/output/kind.h"
#include "engine/values/quantity.h"
#include "engine/io/raster.h"

static const char *const formats[] = {[SEL_GRID_ASC] = "asc", [SEL_GRID_TIF] = "tif", NULL};
static sel_grid_writer *const writers[] = {
    [SEL_GRID_ASC] = sel_asc_write, [SEL_GRID_TIF] = sel_tif_write};

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_grid_params, field, STRING, SEL_OUT_FIELD_HELP, .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_grid_params, format, CHOICE,
            "asc: ESRI ASCII; tif: GeoTIFF. Both with the map projection, and the unit of "
            "coordinates, of the raster that the ground or a rule's data are made of: that of a "
            ".prj file goes into a .prj beside each .asc, or into the "
            ".tif; that of a .tif into a .tif only.",
            .preset = SEL_GRID_ASC, .choices = formats),
};

const sel_table sel_out_grid_table =
    SEL_TABLE("out.grid", sel_grid_params, fields,
              "A field in two dimensions as NAME/NAME_STEP.asc or .tif, single precision, a value "
              "per cell; solid cells have none (NODATA, -9999).");

typedef struct grid_output {
    sel_frames frames;
    const sel_raster *raster;       /* the input raster whose map projection is used; NULL: none */
    const sel_raster_file *terrain; /* the file of `raster` */
    const char *prj;                /* text of the .prj beside each .asc; NULL: none */
} grid_output;

static void grid_check(sel_output_checker *checker, const void *params) {
    (void)params;
    if (checker->domain->grid.dims != 2) {
        sel_output_refuse(
            checker,
            "grids are of two-dimensional domains, this one has %d dimensions; out.vtk writes it",
            checker->domain->grid.dims);
    } else if (!sel_equal_sides(&checker->domain->grid)) {
        char sides[SEL_SIDES_TEXT];
        sel_output_refuse(checker, "grids have square cells, dx is %s here; out.vtk writes it",
                          sel_sides_text(&checker->domain->grid, 6, sides));
    }
}

/* NaN, written as NODATA, in solid cells and where the field is not finite. */
static void blank_cells(const sel_domain *domain, float *values) {
    int64_t cells = sel_grid_cells(&domain->grid);
    for (int64_t i = 0; i < cells; i++) {
        if (domain->cell[i] != 0 || !isfinite(values[i])) {
            values[i] = NAN;
        }
    }
}

/* Whether a raster's coordinates were converted to metres from another unit in its file. */
static bool is_moved(const sel_raster *raster) {
    return raster->file->metres && raster->file->dx != raster->dx;
}

/* Converts an output's grid from metres to the unit of the raster's file. Offsets and cell sides
 * that are whole multiples of the raster's cells stay exactly so. */
static void undo_metres(const sel_raster *raster, sel_grid_file *grid) {
    for (int a = 0; a < 2; a++) {
        const double cells = (grid->origin[a] - raster->origin[a]) / raster->dx;
        const double nearest = rint(cells);
        grid->origin[a] = raster->file->origin[a] +
                          raster->file->dx * (fabs(cells - nearest) < 1e-6 ? nearest : cells);
    }
    const double sides = grid->dx / raster->dx;
    grid->dx = raster->file->dx * (fabs(sides - rint(sides)) < 1e-9 ? rint(sides) : sides);
}

static sel_status write_grid(sel_frame *frame, const char *path, sel_error *error) {
    const grid_output *output = (const grid_output *)frame->frames;
    const sel_output *base = &output->frames.base;
    const sel_domain *domain = base->context->domain;
    const sel_grid *grid = &domain->grid;
    const sel_grid_params *params = base->params;
    sel_pick_scalar(&base->picks.v[0], frame->values[0], sel_grid_cells(grid));
    blank_cells(domain, frame->values[0]);
    sel_grid_file file = {.n = {grid->n[0], grid->n[1]},
                          .dx = grid->dx[0],
                          .origin = {sel_centre(grid, 0, -0.5), sel_centre(grid, 1, -0.5)},
                          .value = frame->values[0],
                          .keys = output->terrain ? output->terrain->keys : NULL,
                          .prj = output->prj};
    if (output->raster && is_moved(output->raster)) {
        undo_metres(output->raster, &file);
    }
    if (output->terrain && (output->terrain->height_changed || is_moved(output->raster))) {
        file.unit = base->context->simulation->solver->fields[base->picks.v[0].field].unit;
    }
    sel_status status = sel_grid_file_write(&file, writers[params->format], path, error);
    if (!status && file.prj) {
        char beside[2 * SEL_PATH_ROOM];
        snprintf(beside, sizeof beside, "%.*s.prj", (int)(strrchr(path, '.') - path), path);
        status = sel_grid_file_write(&file, sel_prj_write, beside, error);
    }
    return status;
}

static bool has_map(const sel_raster *raster) {
    return raster && raster->file && (raster->file->keys || raster->file->prj || is_moved(raster));
}

/* Whether the domain and a raster overlap: a function may read a raster of another region. */
static bool raster_overlaps(const sel_raster *raster, const sel_grid *grid) {
    for (int a = 0; a < 2; a++) {
        const double low = sel_centre(grid, a, 0),
                     high = sel_centre(grid, a, (double)(grid->n[a] - 1));
        const double first = raster->origin[a], last = first + (double)raster->n[a] * raster->dx;
        if (high < first || low > last) {
            return false;
        }
    }
    return true;
}

/* The first raster with a map projection among the quantities of the scenario, such as the ground
 * or the data of a rule; NULL: none. */
static const sel_raster *find_terrain(const sel_simulation *simulation, const sel_grid *grid) {
    const sel_table *table = simulation->solver->table;
    for (int i = 0; table && i < table->count; i++) {
        const sel_table_field *row = &table->fields[i];
        const void *member = (const char *)simulation->params + row->offset;
        if (row->kind == SEL_KIND_QUANTITY) {
            const sel_raster *raster = sel_raster_of(sel_quantity_raster(member));
            if (has_map(raster)) {
                return raster;
            }
        }
        const sel_named_quantities *named = member;
        for (int k = 0; row->kind == SEL_KIND_NAMED_QUANTITIES && k < named->n; k++) {
            const sel_raster *raster = sel_raster_of(sel_quantity_raster(&named->v[k].value));
            if (has_map(raster) && raster_overlaps(raster, grid)) {
                return raster;
            }
        }
    }
    return NULL;
}

static sel_status grid_open(sel_output *base, sel_error *error) {
    grid_output *output = (grid_output *)base;
    const int format = ((const sel_grid_params *)base->params)->format;
    output->raster = find_terrain(base->context->simulation, &base->context->domain->grid);
    output->terrain = output->raster ? output->raster->file : NULL;
    /* A .tif contains its projection. An .asc whose unit is not the metre needs a .prj that says
     * so.
     */
    const bool asc = format == SEL_GRID_ASC && output->terrain;
    output->prj = asc ? output->terrain->prj : NULL;
    if (asc && !output->prj && output->terrain->place.metres > 0 &&
        output->terrain->place.metres != 1) {
        output->prj = sel_arena_print(base->arena, "LOCAL_CS[\"map of %s\",UNIT[\"%s\",%.17g]]\n",
                                      sel_file_name(output->terrain->path),
                                      output->terrain->place.name, output->terrain->place.metres);
    }
    output->frames.beside = output->prj ? "prj" : NULL;
    const sel_box all = sel_grid_box(&base->context->domain->grid);
    return sel_frames_open(&output->frames, formats[format], &all, SEL_F32, write_grid, error);
}

const sel_output_kind sel_grid_kind = {
    .table = &sel_out_grid_table,
    .size = sizeof(grid_output),
    .check = grid_check,
    .open = grid_open,
    .ask = sel_frames_ask,
    .take = sel_frames_take,
    .close = sel_frames_close,
};
