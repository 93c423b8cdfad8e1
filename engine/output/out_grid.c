/* out_grid.c -- out.grid: a field of a plane domain as map files, written on the writer's thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/lookup.h"
#include "engine/output/kind.h"
#include "geometry/grid_file.h"

static const char *const formats[] = {[SEL_GRID_ASC] = "asc", [SEL_GRID_TIF] = "tif", NULL};
static sel_grid_writer *const writers[] = {
    [SEL_GRID_ASC] = sel_asc_write, [SEL_GRID_TIF] = sel_tif_write};

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_grid, field, STRING,
            "A field of the results, a vector by its magnitude, or a component such as velocity_x.",
            .flags = SEL_REQUIRED | SEL_RESULT),
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

/* All that one file needs, so that nothing of the run but the keys has to outlive it. */
typedef struct grid_job {
    sel_grid_file grid;
    sel_grid_writer *write;
    float *values;
    char *path;
} grid_job;

typedef struct grid_output {
    const sel_output_context *context;
    sel_output_files *files;
    const sel_out_grid *params;
    const char *name;
    const sel_raster_file *terrain; /* on whose map it is; NULL: none is known */
    sel_picks picks;                /* one */
    grid_job *job;                  /* asked for and not taken; else NULL */
} grid_output;

static sel_status grid_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_grid *grid = params;
    sel_status status = sel_scalar_check(site, grid->field, error);
    if (site->domain->grid.dims != 2) {
        status = sel_fail_at(error, site->where,
                             "out.grid: grids are of two-dimensional domains, this one has %d "
                             "dimensions; out.vtk writes it",
                             site->domain->grid.dims);
    }
    return status;
}

/* ---- on the writer's thread ---- */

static void job_free(grid_job *job) {
    if (job) {
        free(job->values);
        free(job->path);
        free(job);
    }
}

static sel_status run_job(void *data, bool cancelled, sel_error *error) {
    grid_job *job = data;
    sel_status status =
        cancelled ? SEL_OK : sel_grid_file_write(&job->grid, job->write, job->path, error);
    if (!status && !cancelled && job->grid.prj) {
        memcpy(strrchr(job->path, '.'), ".prj", sizeof ".prj");
        status = sel_grid_file_write(&job->grid, sel_prj_write, job->path, error);
    }
    job_free(job);
    return status;
}

/* ---- on the run's thread ---- */

/* What goes to a file beside the grid's: a .tif has its map inside. */
static const char *prj_of(const grid_output *output) {
    bool beside = output->terrain && output->params->format == SEL_GRID_ASC;
    return beside ? output->terrain->prj : NULL;
}

static sel_status make_job(const grid_output *output, int64_t step, grid_job *job,
                           sel_requests *requests, sel_error *error) {
    const sel_grid *grid = &output->context->domain->grid;
    const sel_pick *pick = &output->picks.v[0];
    size_t numbers = (size_t)sel_grid_cells(grid) * (size_t)pick->field_components;
    job->values = malloc(numbers * sizeof *job->values);
    int printed =
        asprintf(&job->path, "%s/%s/%s_%08lld.%s", output->context->directory, output->name,
                 output->name, (long long)step, formats[output->params->format]);
    if (printed < 0) {
        job->path = NULL;
    }
    if (!job->values || !job->path) {
        return sel_fail_memory(error, "a copy of a field to write", numbers * sizeof *job->values);
    }
    job->write = writers[output->params->format];
    job->grid = (sel_grid_file){.n = {grid->n[0], grid->n[1]},
                                .dx = grid->dx,
                                .origin = {grid->origin[0], grid->origin[1]},
                                .value = job->values,
                                .keys = output->terrain ? output->terrain->keys : NULL,
                                .prj = prj_of(output)};
    const sel_request request = {.kind = SEL_READ,
                                 .field = pick->field,
                                 .box = sel_grid_box(grid),
                                 .precision = SEL_F32,
                                 .components = pick->field_components,
                                 .to = job->values};
    return sel_requests_add(requests, &request, error);
}

static sel_status grid_ask(void *self, int64_t step, double time, sel_requests *requests,
                           sel_error *error) {
    (void)time;
    grid_output *output = self;
    output->job = calloc(1, sizeof *output->job);
    return output->job ? make_job(output, step, output->job, requests, error)
                       : sel_fail_memory(error, "an output", sizeof *output->job);
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

static sel_status grid_take(void *self, int64_t step, double time, const sel_requests *answers,
                            sel_error *error) {
    (void)time, (void)answers;
    grid_output *output = self;
    grid_job *job = output->job;
    const sel_domain *domain = output->context->domain;
    output->job = NULL;
    sel_pick_scalar(&output->picks.v[0], job->values, sel_grid_cells(&domain->grid));
    blank_cells(domain, job->values);
    sel_writer *writer = output->context->writer;
    const char *ends[] = {formats[output->params->format], prj_of(output) ? "prj" : NULL};
    for (int k = 0; k < 2 && ends[k]; k++) {
        sel_status status =
            sel_output_files_add(output->files, writer, error, "%s/%s_%08lld.%s", output->name,
                                 output->name, (long long)step, ends[k]);
        if (status) {
            job_free(job);
            return status;
        }
    }
    return sel_writer_submit(writer, run_job, job, error);
}

/* ---- opening ---- */

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

static void grid_close(void *self) {
    grid_output *output = self;
    job_free(output->job);
    free(output->picks.v);
    free(output);
}

static sel_status grid_open(const sel_output_context *context, const void *params, const char *name,
                            sel_output_files *files, void **self, sel_error *error) {
    const sel_out_grid *grid = params;
    const char *field = grid->field;
    sel_names names = {1, &field};
    grid_output *output = calloc(1, sizeof *output);
    if (!output) {
        return sel_fail_memory(error, "an output", sizeof *output);
    }
    output->context = context;
    output->files = files;
    output->params = grid;
    output->name = name;
    output->terrain = find_terrain(context->simulation);
    sel_status status = sel_picks_make(context, &names, &output->picks, error);
    status = status ? status : sel_output_directory(context, name, error);
    if (status != SEL_OK) {
        grid_close(output);
        return status;
    }
    *self = output;
    return SEL_OK;
}

const sel_output_kind sel_grid_kind = {
    .table = &sel_out_grid_table,
    .check = grid_check,
    .open = grid_open,
    .ask = grid_ask,
    .take = grid_take,
    .close = grid_close,
};
