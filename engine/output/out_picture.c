/* out_picture.c -- out.picture: a field as coloured PNG files, drawn on the writer's thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/kind.h"
#include "engine/output/plane.h"
#include "engine/output/plot.h"

static const char *const colours[] = {"auto", "deep", "signed", "grey", "water", NULL};

static const sel_field slice_fields[] = {
    SEL_ROW_NAMED("x", sel_slice, v[0], NUMBER, "Plane of constant x.", .preset = SEL_NOT_GIVEN),
    SEL_ROW_NAMED("y", sel_slice, v[1], NUMBER, "Plane of constant y.", .preset = SEL_NOT_GIVEN),
    SEL_ROW_NAMED("z", sel_slice, v[2], NUMBER, "Plane of constant z.", .preset = SEL_NOT_GIVEN),
};

const sel_table sel_slice_table = SEL_TABLE(
    "slice", sel_slice, slice_fields,
    "The plane that a picture of a 3-D field shows: one of x, y and z, in the scenario's units.");

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_picture, field, STRING,
            "A field of the results, a vector by its magnitude, or a component such as velocity_x.",
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_out_picture, slice, TABLE,
            "The plane to show, required in 3-D: { z = 10 }, or x, or y. Values are interpolated "
            "linearly between the two layers of cells on either side of it, without solid cells.",
            .table = &sel_slice_table),
    SEL_ROW(sel_out_picture, colours, CHOICE,
            "deep: dark blue over green to yellow; signed: blue, white at zero, red; grey; water: "
            "pale to dark blue; auto: signed where the field takes both signs or min = -max, else "
            "water over a relief and deep without.",
            .preset = SEL_COLOURS_AUTO, .choices = colours),
    SEL_ROW(sel_out_picture, min, NUMBER,
            "Value of the first colour; the smallest of the picture when not given (signed: minus "
            "the largest magnitude).",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_out_picture, max, NUMBER,
            "Value of the last colour; the largest of the picture when not given. Give min and max "
            "for the frames of a film.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_out_picture, scale, NUMBER,
            "Pixels per cell; the longer side has about 1000 when not given.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(
        sel_out_picture, relief, STRING,
        "A field of heights, such as ground for a picture of depth. It is drawn as a grey surface "
        "lit from the north-west, and the picture's own field over it in translucent colours.",
        .flags = SEL_RESULT),
    SEL_ROW(sel_out_picture, above, NUMBER,
            "With relief: the field is drawn only where it is greater than this; 0 when not given.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_out_picture, exaggeration, NUMBER,
            "With relief: factor by which its heights are multiplied; when not given, the one that "
            "makes the root mean square of the slopes one half, but at least 1.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_picture_table =
    SEL_TABLE("out.picture", sel_out_picture, fields,
              "A field as NAME/NAME_STEP.png with a colour bar: the highest y at the top, linear "
              "between the centres of cells, solids grey, cells without data blank. Of the two "
              "axes of a slice the first runs to the right, the second up.");

/* All that one file needs, so that nothing of the run has to outlive it. */
typedef struct picture_job {
    sel_plot plot;
    float *values;
    uint8_t *solid;
    float *relief; /* NULL: none */
    uint8_t *relief_solid;
    char title[160];
    char *path;
} picture_job;

typedef struct picture_output {
    const sel_output_context *context;
    sel_output_files *files;
    const sel_out_picture *params;
    const char *name;
    sel_picks picks; /* the field, and the one of the relief where there is one */
    sel_plane plane;
    picture_job *job; /* asked for and not taken; else NULL */
} picture_output;

/* ---- checks ---- */

enum { MOST_PIXELS = 16384 };

static sel_status check_slice(const sel_output_site *site, const sel_slice *slice,
                              sel_error *error) {
    const sel_grid *grid = &site->domain->grid;
    int given = 0, axis = 2;
    for (int a = 0; a < 3; a++) {
        given += !isnan(slice->v[a]);
        axis = isnan(slice->v[a]) ? axis : a;
    }
    if (grid->dims == 2) {
        return given == 0
                   ? SEL_OK
                   : sel_fail_at(error, site->where, "out.picture: slice is for 3-D domains");
    }
    double low = grid->origin[axis], high = low + (double)grid->n[axis] * grid->dx;
    if (given != 1) {
        return sel_fail_at(error, site->where,
                           "out.picture: a picture of a 3-D domain shows a plane: give just one of "
                           "x, y and z, as slice = { z = %.10g }",
                           sel_centre(grid, 2, floor(0.5 * (double)grid->n[2])));
    }
    double slack = 1e-9 * (double)grid->n[axis] * grid->dx; /* of a border computed another way */
    if (!(slice->v[axis] >= low - slack && slice->v[axis] <= high + slack)) {
        return sel_fail_at(
            error, site->where,
            "out.picture: slice %s = %.10g lies outside the domain, which is [%.10g, %.10g]",
            sel_axis_names[axis], slice->v[axis], low, high);
    }
    return SEL_OK;
}

static sel_status picture_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_picture *picture = params;
    sel_status found[] = {sel_scalar_check(site, picture->field, error),
                          check_slice(site, &picture->slice, error)};
    sel_status status = found[0] ? found[0] : found[1];
    bool needs_relief = !isnan(picture->above) || !isnan(picture->exaggeration);
    if (picture->relief) {
        sel_status relief = sel_scalar_check(site, picture->relief, error);
        status = relief ? relief : status;
    } else if (needs_relief) {
        status = sel_fail_at(error, site->where,
                             "out.picture: above and exaggeration are for a picture with a relief; "
                             "give relief, a field of heights");
    }
    if (picture->max <= picture->min) {
        status = sel_fail_at(error, site->where, "out.picture: max must be above min");
    }
    if (found[1] != SEL_OK) {
        return status;
    }
    sel_plane plane = sel_plane_make(&site->domain->grid, &picture->slice);
    double scale = sel_plot_scale(picture->scale, plane.n);
    double width = scale * (double)plane.n[0], height = scale * (double)plane.n[1];
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
    if (!job) {
        return;
    }
    free(job->values);
    free(job->solid);
    free(job->relief);
    free(job->relief_solid);
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

/* "  z = 0.5": where the plane of a 3-D field lies. */
static void slice_text(const picture_output *output, char text[48]) {
    int axis = output->plane.axis;
    *text = '\0';
    if (output->context->domain->grid.dims == 3) {
        snprintf(text, 48, "  %s = %.6g", sel_axis_names[axis], output->params->slice.v[axis]);
    }
}

static void describe_plot(const picture_output *output, picture_job *job, double time) {
    const sel_out_picture *params = output->params;
    const sel_pick *pick = &output->picks.v[0];
    char where[48];
    slice_text(output, where);
    snprintf(job->title, sizeof job->title, "%.64s%s%s  t = %.6g", pick->name,
             sel_pick_components(pick) > 1 ? " magnitude" : "", where, time);
    job->plot = (sel_plot){.n = {output->plane.n[0], output->plane.n[1]},
                           .values = job->values,
                           .solid = job->solid,
                           .colours = params->colours,
                           .min = params->min,
                           .max = params->max,
                           .scale = params->scale,
                           .title = job->title,
                           .relief = job->relief,
                           .dx = output->context->domain->grid.dx,
                           .exaggeration = params->exaggeration,
                           .above = isnan(params->above) ? 0 : params->above};
}

/* Room for a field on the plane, and the request that fills it. */
static sel_status ask_field(const picture_output *output, const sel_pick *pick, float **values,
                            uint8_t **solid, sel_requests *requests, sel_error *error) {
    const sel_plane *plane = &output->plane;
    int64_t cells = sel_box_cells(&plane->box);
    size_t numbers = (size_t)cells * (size_t)pick->field_components;
    *values = malloc(numbers * sizeof **values);
    *solid = malloc((size_t)cells);
    if (!*values || !*solid) {
        return sel_fail_memory(error, "a copy of a field to draw", numbers * sizeof **values);
    }
    const sel_request request = {.kind = SEL_READ,
                                 .field = pick->field,
                                 .box = plane->box,
                                 .precision = SEL_F32,
                                 .components = pick->field_components,
                                 .to = *values};
    sel_plane_solids(plane, output->context->domain, *solid);
    return sel_requests_add(requests, &request, error);
}

static sel_status make_job(const picture_output *output, int64_t step, double time,
                           picture_job *job, sel_requests *requests, sel_error *error) {
    const sel_picks *picks = &output->picks;
    if (asprintf(&job->path, "%s/%s/%s_%08lld.png", output->context->directory, output->name,
                 output->name, (long long)step) < 0) {
        job->path = NULL;
        return sel_fail_memory(error, "the name of a picture", 0);
    }
    sel_status status = ask_field(output, &picks->v[0], &job->values, &job->solid, requests, error);
    if (picks->count > 1 && status == SEL_OK) {
        status = ask_field(output, &picks->v[1], &job->relief, &job->relief_solid, requests, error);
    }
    if (status == SEL_OK) {
        describe_plot(output, job, time);
    }
    return status;
}

static sel_status picture_ask(void *self, int64_t step, double time, sel_requests *requests,
                              sel_error *error) {
    picture_output *output = self;
    output->job = calloc(1, sizeof *output->job);
    return output->job ? make_job(output, step, time, output->job, requests, error)
                       : sel_fail_memory(error, "an output", sizeof *output->job);
}

/* Makes of the layers that were read one, and of a vector its magnitude. */
static void flatten(const picture_output *output, int k, float *values, uint8_t *solid) {
    const sel_pick *pick = &output->picks.v[k];
    const sel_plane *plane = &output->plane;
    sel_plane_flatten(plane, pick->field_components, values, solid);
    sel_pick_scalar(pick, values, plane->n[0] * plane->n[1]);
}

static sel_status picture_take(void *self, int64_t step, double time, const sel_requests *answers,
                               sel_error *error) {
    (void)time, (void)answers;
    picture_output *output = self;
    picture_job *job = output->job;
    output->job = NULL;
    flatten(output, 0, job->values, job->solid);
    if (job->relief) {
        flatten(output, 1, job->relief, job->relief_solid);
    }
    sel_writer *writer = output->context->writer;
    sel_status status = sel_output_files_add(output->files, writer, error, "%s/%s_%08lld.png",
                                             output->name, output->name, (long long)step);
    if (status) {
        job_free(job);
        return status;
    }
    return sel_writer_submit(writer, run_job, job, error);
}

/* ---- opening ---- */

static void picture_close(void *self) {
    picture_output *output = self;
    job_free(output->job);
    free(output->picks.v);
    free(output);
}

static sel_status picture_open(const sel_output_context *context, const void *params,
                               const char *name, sel_output_files *files, void **self,
                               sel_error *error) {
    const sel_out_picture *picture = params;
    const char *given[] = {picture->field, picture->relief};
    sel_names names = {picture->relief ? 2 : 1, given};
    picture_output *output = calloc(1, sizeof *output);
    if (!output) {
        return sel_fail_memory(error, "an output", sizeof *output);
    }
    output->context = context;
    output->files = files;
    output->params = picture;
    output->name = name;
    output->plane = sel_plane_make(&context->domain->grid, &picture->slice);
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
    .ask = picture_ask,
    .take = picture_take,
    .close = picture_close,
};
