/* out_grid.c -- out.grid: a field of a plane domain as map files. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/output/kind.h"
#include "engine/values/quantity.h"
#include "engine/io/raster.h"

static const char *const formats[] = {[SEL_GRID_ASC] = "asc", [SEL_GRID_TIF] = "tif", NULL};
static sel_grid_writer *const writers[] = {
    [SEL_GRID_ASC] = sel_asc_write, [SEL_GRID_TIF] = sel_tif_write};

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_grid, field, STRING, SEL_OUT_FIELD_HELP, .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_out_grid, format, CHOICE,
            "asc: ESRI ASCII; tif: GeoTIFF. Both with the map projection of the raster that the "
            "ground is made of: that of a .prj file goes into a .prj beside each .asc, or into the "
            ".tif; that of a .tif into a .tif only.",
            .preset = SEL_GRID_ASC, .choices = formats),
};

const sel_table sel_out_grid_table =
    SEL_TABLE("out.grid", sel_out_grid, fields,
              "A field in two dimensions as NAME/NAME_STEP.asc or .tif, single precision, a value "
              "per cell; solid cells have none (NODATA, -9999).");

typedef struct grid_output {
    sel_frames frames;
    const sel_raster_file *terrain; /* on whose map it is; NULL: none is known */
} grid_output;

static void grid_check(sel_output_site *site, const void *params) {
    (void)params;
    if (site->domain->grid.dims != 2) {
        sel_output_refuse(
            site,
            "grids are of two-dimensional domains, this one has %d dimensions; out.vtk writes it",
            site->domain->grid.dims);
    } else if (!sel_equal_sides(&site->domain->grid)) {
        char sides[SEL_SIDES_TEXT];
        sel_output_refuse(site, "grids have square cells, dx is %s here; out.vtk writes it",
                          sel_sides_text(&site->domain->grid, 6, sides));
    }
}

/* Solid cells hold no value, and neither do those where the field has none. */
static void blank_cells(const sel_domain *domain, float *values) {
    int64_t cells = sel_grid_cells(&domain->grid);
    for (int64_t i = 0; i < cells; i++) {
        if (domain->cell[i] != 0 || !isfinite(values[i])) {
            values[i] = NAN;
        }
    }
}

static sel_status write_grid(sel_frame *frame, const char *path, sel_error *error) {
    const grid_output *output = (const grid_output *)frame->frames;
    const sel_output *base = &output->frames.base;
    const sel_domain *domain = base->context->domain;
    const sel_grid *grid = &domain->grid;
    const sel_out_grid *params = base->params;
    sel_pick_scalar(&base->picks.v[0], frame->values[0], sel_grid_cells(grid));
    blank_cells(domain, frame->values[0]);
    const sel_grid_file file = {.n = {grid->n[0], grid->n[1]},
                                .dx = grid->dx[0],
                                .origin = {sel_centre(grid, 0, -0.5), sel_centre(grid, 1, -0.5)},
                                .value = frame->values[0],
                                .keys = output->terrain ? output->terrain->keys : NULL,
                                .prj = output->frames.beside ? output->terrain->prj : NULL};
    sel_status status = sel_grid_file_write(&file, writers[params->format], path, error);
    if (!status && file.prj) {
        char beside[2 * SEL_PATH_ROOM];
        snprintf(beside, sizeof beside, "%.*s.prj", (int)(strrchr(path, '.') - path), path);
        status = sel_grid_file_write(&file, sel_prj_write, beside, error);
    }
    return status;
}

/* The file of the first raster that a quantity of the solver is made of, such as its ground, when
 * it tells of a map. */
static const sel_raster_file *find_terrain(const sel_simulation *simulation) {
    const sel_table *table = simulation->solver->table;
    for (int i = 0; table && i < table->count; i++) {
        const sel_field *row = &table->fields[i];
        if (row->kind != SEL_KIND_QUANTITY) {
            continue;
        }
        const void *member = (const char *)simulation->params + row->offset;
        const sel_raster *raster = sel_raster_of(sel_quantity_raster(member));
        if (raster && raster->file && (raster->file->keys || raster->file->prj)) {
            return raster->file;
        }
    }
    return NULL;
}

static sel_status grid_open(sel_output *base, sel_error *error) {
    grid_output *output = (grid_output *)base;
    const int format = ((const sel_out_grid *)base->params)->format;
    output->terrain = find_terrain(base->context->simulation);
    /* A .tif has its map inside. */
    bool beside = format == SEL_GRID_ASC && output->terrain && output->terrain->prj;
    output->frames.beside = beside ? "prj" : NULL;
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
