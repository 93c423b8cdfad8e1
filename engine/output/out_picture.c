/* out_picture.c -- out.picture: a field as PNG files, drawn on the writer's thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/output/kind.h"
#include "engine/output/picture.h"

static const char *const colours[] = {"auto", "deep", "signed", "grey", "water", NULL};

static const sel_table_field slice_fields[] = {
    SEL_ROW_NAMED("x", sel_slice, v[0], NUMBER, "Plane of constant x.", .preset = SEL_NOT_GIVEN),
    SEL_ROW_NAMED("y", sel_slice, v[1], NUMBER, "Plane of constant y.", .preset = SEL_NOT_GIVEN),
    SEL_ROW_NAMED("z", sel_slice, v[2], NUMBER, "Plane of constant z.", .preset = SEL_NOT_GIVEN),
};

const sel_table sel_slice_table = SEL_TABLE(
    "slice", sel_slice, slice_fields,
    "The plane that a picture of a 3-D field shows: one of x, y and z, in the scenario's units.");

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_picture_params, field, STRING, SEL_OUT_FIELD_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_picture_params, slice, TABLE,
            "The plane to show, required in 3-D: { z = 10 }, or x, or y. Values are interpolated "
            "linearly between the two layers of cells on either side of it, without solid cells.",
            .table = &sel_slice_table),
    SEL_ROW(sel_picture_params, colours, CHOICE,
            "deep: dark blue over green to yellow; signed: blue, white at zero, red; grey; water: "
            "pale to dark blue; auto: signed where the field takes both signs or min = -max, else "
            "water over a relief and deep without.",
            .preset = SEL_COLOURS_AUTO, .choices = colours),
    SEL_ROW(sel_picture_params, min, NUMBER,
            "Value of the first colour; the smallest of the picture when not given (signed: minus "
            "the largest magnitude).",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_picture_params, max, NUMBER,
            "Value of the last colour; the largest of the picture when not given. Give min and max "
            "for the frames of a film.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_picture_params, scale, NUMBER,
            "Pixels per cell, along its shorter side; the longer side of the picture has about "
            "1000 when not given.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(
        sel_picture_params, relief, STRING,
        "A field of heights, such as ground for a picture of depth. It is drawn as a grey surface "
        "lit from the north-west, and the picture's own field over it in translucent colours.",
        .flags = SEL_RESULT),
    SEL_ROW(sel_picture_params, above, NUMBER,
            "With relief: the field is drawn only where it is greater than this; 0 when not given.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_picture_params, exaggeration, NUMBER,
            "With relief: factor by which its heights are multiplied; when not given, the one that "
            "makes the root mean square of the slopes one half, but at least 1.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_picture_table =
    SEL_TABLE("out.picture", sel_picture_params, fields,
              "A field as NAME/NAME_STEP.png with a colour bar: the highest y at the top, "
              "linear between the centres of cells. Solids are grey, except volumes of "
              "law.fixed, which have its value; cells without data are blank. If several "
              "cells fall on a pixel, it shows one of them. The first of the two axes of a "
              "slice runs to the right, the second up.");

/* ---- the plane of a 3-D field ---- */

/* A plane normal to one axis. It is read from the layer of cells through whose centres it runs, or
 * from the two layers on either side of it, between which values are linear. In 2-D there is one
 * layer. */
typedef struct plane {
    int axis;         /* normal to the plane */
    int64_t n[2];     /* number of cells read along the other two axes, the lower axis first */
    sel_box box;      /* the cells that are read */
    int layers;       /* 1 or 2 */
    double weight[2]; /* of the layers in the order of the box; their sum is 1 */
} plane;

/* A layer of at least this weight contains the plane, or borders on it. */
static const double holds = 0.5 - 1e-9;

/* Chooses the layers about `index`, the plane's coordinate in cells. Across the ends of a periodic
 * axis, the first and last layer are a box with a stride of n - 1. */
static void choose_layers(plane *p, const sel_grid *grid, double index) {
    sel_interval about = sel_interval_about(grid, p->axis, index);
    int64_t lower = about.cell[0], upper = about.cell[1];
    bool two = about.upper > 0 && upper != lower, wraps = two && upper < lower;
    int64_t first = wraps ? upper : lower, second = two ? lower + upper - first : first;
    p->layers = two ? 2 : 1;
    p->box.lo[p->axis] = first;
    p->box.hi[p->axis] = second + 1;
    p->box.stride[p->axis] = two ? second - first : 1;
    p->weight[0] = wraps ? about.upper : two ? 1 - about.upper : 1;
    p->weight[1] = 1 - p->weight[0];
}

/* The axis that runs to the right (k = 0) or upwards (k = 1) in the picture. */
static int plane_axis(const plane *p, int k) {
    return k == 0 ? p->axis == 0 : p->axis == 2 ? 1 : 2;
}

/* The plot of a plane, without values. */
static sel_plot plot_of(const plane *p, const sel_grid *grid, const sel_picture_params *params) {
    sel_plot plot = {.start = grid->nodes ? 0 : -0.5, .params = params};
    for (int k = 0; k < 2; k++) {
        const int a = plane_axis(p, k);
        plot.n[k] = p->n[k];
        plot.first[k] = p->box.lo[a];
        plot.every[k] = p->box.stride[a];
        plot.dx[k] = grid->dx[a];
        plot.span[k] = (double)sel_sides_along(grid, a);
    }
    return plot;
}

/* If several cells fall on a pixel, reads one of them, so that drawing time depends on the size of
 * the picture, not of the grid. */
static void choose_cells(plane *p, const sel_grid *grid, const sel_picture_params *params) {
    const sel_plot plot = plot_of(p, grid, params);
    double size[2];
    sel_plot_size(&plot, size);
    for (int k = 0; k < 2; k++) {
        const int a = plane_axis(p, k);
        const int64_t every = (int64_t)fmax(1, floor(plot.span[k] / size[k]));
        p->box.stride[a] = every;
        p->box.lo[a] = every / 2;
        p->n[k] = (grid->n[a] - every / 2 + every - 1) / every;
    }
}

/* The plane of a slice, which has been checked. Periodic axes wrap; within half a cell of any other
 * face the values are those of the last layer. */
static plane make_plane(const sel_grid *grid, const sel_picture_params *params) {
    const sel_slice *slice = &params->slice;
    plane p = {.axis = 2, .box = sel_grid_box(grid), .layers = 1, .weight = {1, 0}};
    for (int a = 0; a < 3 && grid->dims == 3; a++) {
        p.axis = isnan(slice->v[a]) ? p.axis : a;
    }
    if (grid->dims == 3) {
        choose_layers(&p, grid, sel_index(grid, p.axis, slice->v[p.axis]));
    }
    choose_cells(&p, grid, params);
    return p;
}

typedef struct picture_output {
    sel_frames frames;
    plane plane;
    bool fixes[SEL_REGION_NUMBERS]; /* the law of this region gives its solid cells a value */
} picture_output;

/* Sets solid[cells of the box] to SEL_PLANE_FREE, SEL_PLANE_SOLID or SEL_PLANE_NODATA. */
static void find_solids(const picture_output *output, uint8_t *solid) {
    const sel_domain *domain = output->frames.base.context->domain;
    const sel_box *box = &output->plane.box;
    for (int64_t i = 0; i < sel_box_cells(box); i++) {
        const int region = sel_box_region(domain, box, i);
        solid[i] = region == 0 || output->fixes[region] ? SEL_PLANE_FREE
                   : region == domain->nodata           ? SEL_PLANE_NODATA
                                                        : SEL_PLANE_SOLID;
    }
}

/* Interpolates two layers to one, in place: values[cells of the box][components] becomes
 * values[n[1]][n[0]][components], and solid[] becomes solid[n[1]][n[0]]. Solid cells are left out
 * of the values. A point of the plane is solid if the cell that contains it is; on the border
 * between the layers, if both cells are. */
static void flatten(const plane *p, int components, float *values, uint8_t *solid) {
    const int64_t cells = p->n[0] * p->n[1];
    const int64_t apart = p->axis == 0 ? 1 : p->axis == 1 ? p->n[0] : cells;
    for (int64_t i = 0; i < cells && p->layers == 2; i++) {
        /* Index of the cell in the first layer; that in the second is `apart` further on. Since
         * first >= i, no value is overwritten before it is read. */
        const int64_t first = i % apart + i / apart * apart * p->layers;
        double weight[2], free_weight = 0;
        bool inside = true;
        uint8_t kind = SEL_PLANE_FREE;
        for (int k = 0; k < 2; k++) {
            bool is_solid = solid[first + k * apart] != 0;
            weight[k] = is_solid ? 0 : p->weight[k];
            free_weight += weight[k];
            inside = inside && (is_solid || p->weight[k] < holds);
            kind = p->weight[k] >= holds ? solid[first + k * apart] : kind;
        }
        for (int c = 0; c < components; c++) {
            double sum = 0;
            for (int k = 0; k < 2; k++) {
                double value = (double)values[(first + k * apart) * components + c];
                sum += weight[k] > 0 ? weight[k] * value : 0;
            }
            values[i * components + c] = free_weight > 0 ? (float)(sum / free_weight) : 0;
        }
        solid[i] = inside ? kind : SEL_PLANE_FREE;
    }
}

/* ---- checks ---- */

enum { MOST_PIXELS = 16384 };

static bool check_slice(sel_output_checker *checker, const sel_slice *slice) {
    const sel_grid *grid = &checker->domain->grid;
    int given = 0, axis = 2;
    for (int a = 0; a < 3; a++) {
        given += !isnan(slice->v[a]);
        axis = isnan(slice->v[a]) ? axis : a;
    }
    if (grid->dims == 2) {
        return given == 0 || sel_output_refuse(checker, "slice is for 3-D domains");
    }
    if (given != 1) {
        return sel_output_refuse(checker,
                                 "a picture of a 3-D domain shows a plane: give just one of x, y "
                                 "and z, as slice = { z = %.10g }",
                                 sel_centre(grid, 2, floor(0.5 * (double)grid->n[2])));
    }
    return sel_in_domain(grid, axis, slice->v[axis]) ||
           sel_output_refuse(
               checker, "slice %s = %.10g lies outside the domain, which is [%.10g, %.10g]",
               sel_axis_names[axis], slice->v[axis], grid->origin[axis], sel_upper_end(grid, axis));
}

static void picture_check(sel_output_checker *checker, const void *params) {
    const sel_picture_params *picture = params;
    const bool has_plane = check_slice(checker, &picture->slice);
    if (!picture->relief && !(isnan(picture->above) && isnan(picture->exaggeration))) {
        sel_output_refuse(checker, "above and exaggeration are for a picture with a relief; give "
                                   "relief, a field of heights");
    }
    if (picture->max <= picture->min) {
        sel_output_refuse(checker, "max must be above min");
    }
    if (!has_plane) {
        return;
    }
    const plane p = make_plane(&checker->domain->grid, picture);
    const sel_plot plot = plot_of(&p, &checker->domain->grid, picture);
    double size[2];
    sel_plot_size(&plot, size);
    if (size[0] > MOST_PIXELS || size[1] > MOST_PIXELS) {
        sel_output_refuse(
            checker,
            "scale = %g makes a picture of %.0f x %.0f pixels; %d along a side are allowed",
            picture->scale, size[0], size[1], MOST_PIXELS);
    }
}

/* ---- on the writer's thread ---- */

/* "velocity magnitude  z = 0.5  t = 3"; in 2-D without the slice. */
static void picture_title(const picture_output *output, double time, char *text, size_t size) {
    const sel_output *base = &output->frames.base;
    const sel_picture_params *params = base->params;
    const sel_pick *pick = &base->picks.v[0];
    const int axis = output->plane.axis;
    char where[48] = "";
    if (base->context->domain->grid.dims == 3) {
        snprintf(where, sizeof where, "  %s = %.6g", sel_axis_names[axis], params->slice.v[axis]);
    }
    snprintf(text, size, "%.64s%s%s  t = %.6g", pick->name,
             pick->components > 1 ? " magnitude" : "", where, time);
}

static sel_status draw(const picture_output *output, const sel_frame *frame, const uint8_t *solid,
                       const char *path, sel_error *error) {
    const sel_output *base = &output->frames.base;
    const sel_picture_params *params = base->params;
    char title[160];
    picture_title(output, frame->time, title, sizeof title);
    sel_plot plot = plot_of(&output->plane, &base->context->domain->grid, params);
    plot.values = frame->values[0];
    plot.solid = solid;
    plot.title = title;
    plot.relief = params->relief ? frame->values[1] : NULL;
    sel_canvas canvas;
    sel_status status = sel_plot_draw(&plot, &canvas, error);
    if (status == SEL_OK) {
        status = sel_canvas_write(&canvas, path, error);
        sel_canvas_free(&canvas);
    }
    return status;
}

/* Draws a frame: interpolates its layers, takes the magnitude of vectors, and writes the file. */
static sel_status write_picture(sel_frame *frame, const char *path, sel_error *error) {
    const picture_output *output = (const picture_output *)frame->frames;
    const sel_output *base = &output->frames.base;
    const plane *p = &output->plane;
    const size_t cells = (size_t)sel_box_cells(&p->box);
    uint8_t *solid = malloc(cells);
    if (!solid) {
        return sel_fail_memory(error, "a picture", cells);
    }
    for (int k = 0; k < base->picks.count; k++) {
        const sel_pick *pick = &base->picks.v[k];
        find_solids(output, solid);
        flatten(p, pick->read, frame->values[k], solid);
        sel_pick_scalar(pick, frame->values[k], p->n[0] * p->n[1]);
    }
    sel_status status = draw(output, frame, solid, path, error);
    free(solid);
    return status;
}

/* ---- on the run's thread ---- */

/* *to: the value that the law of a region prescribes in cell i of the box; *known: it does. */
static sel_status fixed_value(const sel_output *base, const sel_box *box, int64_t i, int region,
                              bool *known, float *to, sel_error *error) {
    const sel_output_context *context = base->context;
    double place[3], value[9];
    for (int a = 0; a < 3; a++) {
        const int64_t n = sel_box_count(box, a);
        place[a] =
            sel_centre(&context->domain->grid, a, (double)(box->lo[a] + i % n * box->stride[a]));
        i /= n;
    }
    const sel_places at =
        sel_domain_at(context->domain, 1, &place[0], &place[1], &place[2], base->time);
    sel_status status = context->solver->wall_value(context->plan, base->picks.v[0].field, region,
                                                    NULL, &at, known, value, error);
    *to = *known && !status ? (float)value[0] : 0;
    return status;
}

/* Gives solid cells, which are read as 0, the value that their law prescribes. Runs on the run's
 * thread, since a law may call Lua. */
static sel_status fill_fixed(picture_output *output, float *values, sel_error *error) {
    const sel_output *base = &output->frames.base;
    const sel_box *box = &output->plane.box;
    sel_status status = SEL_OK;
    for (int64_t i = 0; i < sel_box_cells(box) && !status; i++) {
        const int region = sel_box_region(base->context->domain, box, i);
        if (region > 0 && output->fixes[region]) {
            bool known;
            status = fixed_value(base, box, i, region, &known, &values[i], error);
        }
    }
    return status;
}

static sel_status picture_take(sel_output *base, sel_error *error) {
    picture_output *output = (picture_output *)base;
    sel_status status = fill_fixed(output, output->frames.requested->values[0], error);
    return status ? status : sel_frames_take(base, error);
}

/* Finds the regions whose laws give their solid cells a value. Scalar fields only. */
static sel_status find_fixed(picture_output *output, sel_error *error) {
    const sel_output *base = &output->frames.base;
    const sel_output_context *context = base->context;
    const sel_domain *domain = context->domain;
    const bool has_values = context->solver->volumes_have_values && base->picks.v[0].read == 1;
    float value;
    sel_status status = SEL_OK;
    for (int r = 1; r <= domain->region_count && has_values && !status; r++) {
        if (r != domain->nodata) {
            status = fixed_value(base, &output->plane.box, 0, r, &output->fixes[r], &value, error);
        }
    }
    return status;
}

static sel_status picture_open(sel_output *base, sel_error *error) {
    picture_output *output = (picture_output *)base;
    const sel_picture_params *params = base->params;
    output->plane = make_plane(&base->context->domain->grid, params);
    sel_status status = find_fixed(output, error);
    return status ? status
                  : sel_frames_open(&output->frames, "png", &output->plane.box, SEL_F32,
                                    write_picture, error);
}

const sel_output_kind sel_picture_kind = {
    .table = &sel_out_picture_table,
    .size = sizeof(picture_output),
    .stands_alone = true,
    .check = picture_check,
    .open = picture_open,
    .ask = sel_frames_ask,
    .take = picture_take,
    .close = sel_frames_close,
};
