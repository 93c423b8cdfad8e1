/* out_picture.c -- out.picture: a field as coloured PNG files, drawn on the writer's thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/kind.h"
#include "engine/output/plot.h"

static const char *const colours[] = {"auto", "deep", "signed", "grey", NULL};

static const sel_field slice_fields[] = {
    {"x", SEL_KIND_NUMBER, 0, offsetof(sel_slice, v[0]), "Plane of constant x.", SEL_NOT_GIVEN,
     NULL, NULL, NULL},
    {"y", SEL_KIND_NUMBER, 0, offsetof(sel_slice, v[1]), "Plane of constant y.", SEL_NOT_GIVEN,
     NULL, NULL, NULL},
    {"z", SEL_KIND_NUMBER, 0, offsetof(sel_slice, v[2]), "Plane of constant z.", SEL_NOT_GIVEN,
     NULL, NULL, NULL},
};

const sel_table sel_slice_table = {
    "slice",
    "The plane of cells that a picture of a 3-D field shows.",
    sizeof(sel_slice),
    SIZE_MAX,
    slice_fields,
    sizeof slice_fields / sizeof *slice_fields,
    NULL,
};

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_OUT_ROW(sel_out_picture, field, SEL_KIND_STRING, SEL_REQUIRED,
                "A field of the solver, vectors by their magnitude, or a component such as "
                "velocity_x.",
                0),
    {"slice", SEL_KIND_TABLE, 0, offsetof(sel_out_picture, slice),
     "3-D: one of x, y, z, where the plane lies; the middle of z when not given.", 0, NULL,
     &sel_slice_table, NULL},
    SEL_OUT_CHOICE(sel_out_picture, colours, 0,
                   "deep: dark blue over green to yellow; signed: blue, white at zero, red; grey; "
                   "auto: signed where the field takes both signs or min = -max, else deep.",
                   SEL_COLOURS_AUTO, colours),
    SEL_OUT_ROW(sel_out_picture, min, SEL_KIND_NUMBER, 0,
                "Value of the first colour; the smallest of the picture when not given (signed: "
                "less the largest magnitude).",
                SEL_NOT_GIVEN),
    SEL_OUT_ROW(sel_out_picture, max, SEL_KIND_NUMBER, 0,
                "Value of the last colour; the largest of the picture when not given. Films want "
                "min and max.",
                SEL_NOT_GIVEN),
    SEL_OUT_ROW(sel_out_picture, scale, SEL_KIND_NUMBER, SEL_POSITIVE,
                "Pixels per cell; the longer side has about 1000 when not given.", SEL_NOT_GIVEN),
};

const sel_table sel_out_picture_table = {
    "out.picture",
    "A field as NAME/NAME_STEP.png with a colour bar: the highest y at the top, linear between the "
    "centres of cells, solids grey.",
    sizeof(sel_out_picture),
    SIZE_MAX,
    fields,
    sizeof fields / sizeof *fields,
    NULL,
};

typedef struct picture_output {
    const sel_output_context *context;
    sel_output_files *files;
    const sel_out_picture *params;
    const char *name;
    sel_picks picks; /* one */
    sel_box box;     /* one cell thick */
    int64_t n[2];    /* its other two axes, the lower first */
} picture_output;

/* All that one file needs, so that nothing of the run has to outlive it. */
typedef struct picture_job {
    sel_plot plot;
    float *values;
    uint8_t *solid;
    char title[128];
    char *path;
} picture_job;

/* ---- checks ---- */

enum { MOST_PIXELS = 16384 };

/* The axis across the plane. */
static int slice_axis(const sel_slice *slice) {
    return !isnan(slice->v[0]) ? 0 : !isnan(slice->v[1]) ? 1 : 2;
}

static sel_status check_slice(const sel_output_site *site, const sel_slice *slice,
                              sel_error *error) {
    const sel_grid *grid = &site->domain->grid;
    int given = 0, axis = slice_axis(slice);
    for (int a = 0; a < 3; a++) {
        given += !isnan(slice->v[a]);
    }
    if (grid->dims == 2 && given > 0) {
        return sel_fail_at(error, site->where, "out.picture: slice is for 3-D domains");
    }
    if (given > 1) {
        return sel_fail_at(error, site->where, "out.picture: slice takes one of x, y and z");
    }
    double cell = (slice->v[axis] - grid->origin[axis]) / grid->dx;
    if (given && !(cell >= 0 && cell <= (double)grid->n[axis])) {
        return sel_fail_at(error, site->where, "out.picture: slice %s = %g lies outside the domain",
                           sel_axis_names[axis], slice->v[axis]);
    }
    return SEL_OK;
}

/* The plane's box, and the cells along its two axes. */
static sel_box plane_of(const sel_grid *grid, const sel_slice *slice, int64_t n[2]) {
    sel_box box = sel_grid_box(grid);
    int axis = slice_axis(slice), next = 0;
    if (grid->dims == 3) {
        double cell = isnan(slice->v[axis]) ? 0.5 * (double)grid->n[axis]
                                            : (slice->v[axis] - grid->origin[axis]) / grid->dx;
        box.lo[axis] = (int64_t)fmin(floor(cell), (double)(grid->n[axis] - 1));
        box.hi[axis] = box.lo[axis] + 1;
    }
    for (int a = 0; a < 3; a++) {
        if (a != axis) {
            n[next++] = grid->n[a];
        }
    }
    return box;
}

static sel_status check_field(const sel_output_site *site, const sel_out_picture *picture,
                              sel_error *error) {
    const sel_solver *solver = site->simulation->solver;
    const char *name = picture->field;
    sel_names names = {1, &name};
    int component;
    sel_status status = sel_picks_check(site, &names, error);
    if (status != SEL_OK) {
        return status;
    }
    int field = sel_solver_field(solver, site->domain->grid.dims, name, &component);
    if (component < 0 && solver->fields[field].rank == SEL_TENSOR) {
        return sel_fail_at(error, site->where,
                           "out.picture: '%s' is a tensor; name a component, such as %s_xy", name,
                           name);
    }
    return SEL_OK;
}

static sel_status picture_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_picture *picture = params;
    sel_status found[] = {check_field(site, picture, error),
                          check_slice(site, &picture->slice, error)};
    sel_status status = found[0] ? found[0] : found[1];
    if (picture->max <= picture->min) {
        status = sel_fail_at(error, site->where, "out.picture: max must be above min");
    }
    int64_t n[2];
    plane_of(&site->domain->grid, &picture->slice, n);
    double scale = sel_plot_scale(picture->scale, n);
    double width = scale * (double)n[0], height = scale * (double)n[1];
    if (width > MOST_PIXELS || height > MOST_PIXELS) {
        status = sel_fail_at(error, site->where,
                             "out.picture: scale = %g makes a picture of %.0f x %.0f pixels; %d "
                             "along a side are allowed",
                             scale, width, height, MOST_PIXELS);
    }
    return status;
}

/* ---- on the writer's thread ---- */

static void job_free(picture_job *job) {
    free(job->values);
    free(job->solid);
    free(job->path);
    free(job);
}

static sel_status run_job(void *data, bool cancelled, sel_error *error) {
    picture_job *job = data;
    sel_status status = SEL_OK;
    if (!cancelled) {
        sel_canvas canvas;
        status = sel_plot_draw(&job->plot, &canvas, error);
        if (status == SEL_OK) {
            status = sel_canvas_write(&canvas, job->path, error);
            sel_canvas_free(&canvas);
        }
    }
    job_free(job);
    return status;
}

/* ---- on the run's thread ---- */

/* One number per cell, in place: the picked component, or the magnitude. */
static void make_scalar(const sel_pick *pick, float *values, int64_t cells) {
    int components = pick->field_components;
    for (int64_t i = 0; i < cells; i++) {
        const float *cell = values + i * components;
        double squares = 0;
        for (int c = 0; c < components; c++) {
            squares += (double)cell[c] * (double)cell[c];
        }
        values[i] = sel_pick_components(pick) == 1 ? cell[sel_pick_component(pick, 0)]
                                                   : (float)sqrt(squares);
    }
}

static void mark_solids(const picture_output *output, uint8_t *solid) {
    const sel_domain *domain = output->context->domain;
    const sel_box *box = &output->box;
    const int64_t *n = domain->grid.n;
    for (int64_t z = box->lo[2]; z < box->hi[2]; z++) {
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++) {
            for (int64_t x = box->lo[0]; x < box->hi[0]; x++) {
                *solid++ = domain->cell[x + n[0] * (y + n[1] * z)];
            }
        }
    }
}

static void describe_plot(const picture_output *output, picture_job *job, double time) {
    const sel_out_picture *params = output->params;
    const sel_pick *pick = &output->picks.v[0];
    snprintf(job->title, sizeof job->title, "%.64s%s  t = %.6g", pick->name,
             sel_pick_components(pick) > 1 ? " magnitude" : "", time);
    job->plot = (sel_plot){.n = {output->n[0], output->n[1]},
                           .values = job->values,
                           .solid = job->solid,
                           .colours = params->colours,
                           .min = params->min,
                           .max = params->max,
                           .scale = params->scale,
                           .title = job->title};
}

static sel_status make_job(const picture_output *output, int64_t step, double time,
                           picture_job *job, sel_error *error) {
    const sel_pick *pick = &output->picks.v[0];
    int64_t cells = sel_box_cells(&output->box);
    size_t numbers = (size_t)cells * (size_t)pick->field_components;
    job->values = malloc(numbers * sizeof *job->values);
    job->solid = malloc((size_t)cells);
    int printed = asprintf(&job->path, "%s/%s/%s_%08lld.png", output->context->directory,
                           output->name, output->name, (long long)step);
    if (printed < 0) {
        job->path = NULL;
    }
    if (!job->values || !job->solid || !job->path) {
        return sel_fail_memory(error, "a copy of a field to draw", numbers * sizeof *job->values);
    }
    sel_request request = {.kind = SEL_READ,
                           .field = pick->field,
                           .box = output->box,
                           .precision = SEL_F32,
                           .components = pick->field_components,
                           .to = job->values};
    sel_status status = sel_output_request(output->context, &request, error);
    make_scalar(pick, job->values, status ? 0 : cells);
    mark_solids(output, job->solid);
    describe_plot(output, job, time);
    return status;
}

static sel_status picture_write(void *self, int64_t step, double time, sel_error *error) {
    picture_output *output = self;
    picture_job *job = calloc(1, sizeof *job);
    if (!job) {
        return sel_fail_memory(error, "an output", sizeof *job);
    }
    sel_status status = make_job(output, step, time, job, error);
    if (status != SEL_OK) {
        job_free(job);
        return status;
    }
    status = sel_writer_submit(output->context->writer, run_job, job, error);
    return status ? status
                  : sel_output_files_add(output->files, error, "%s/%s_%08lld.png", output->name,
                                         output->name, (long long)step);
}

/* ---- opening ---- */

static void picture_close(void *self) {
    picture_output *output = self;
    free(output->picks.v);
    free(output);
}

static sel_status picture_open(const sel_output_context *context, const void *params,
                               const char *name, sel_output_files *files, void **self,
                               sel_error *error) {
    const sel_out_picture *picture = params;
    const char *field = picture->field;
    sel_names names = {1, &field};
    picture_output *output = calloc(1, sizeof *output);
    if (!output) {
        return sel_fail_memory(error, "an output", sizeof *output);
    }
    output->context = context;
    output->files = files;
    output->params = picture;
    output->name = name;
    output->box = plane_of(&context->domain->grid, &picture->slice, output->n);
    sel_status status = sel_picks_make(context, &names, &output->picks, error);
    status = status ? status : sel_output_directory(context, name, error);
    if (status != SEL_OK) {
        picture_close(output);
        return status;
    }
    *self = output;
    return SEL_OK;
}

const sel_output_kind sel_picture_kind = {
    .table = &sel_out_picture_table,
    .check = picture_check,
    .open = picture_open,
    .write = picture_write,
    .close = picture_close,
};
