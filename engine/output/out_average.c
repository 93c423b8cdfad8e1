/* out_average.c -- out.average: mean and rms of fields over time in one .vti file at the end.
 *
 * Mean and sum of squared deviations are updated per sample (Welford 1962), in f64, which avoids
 * the cancellation of large sums. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/output/vtk_image.h"

static const sel_table_field average_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_average_params, fields, NAMES, SEL_OUT_FIELDS_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
};

const sel_table sel_out_average_table =
    SEL_TABLE("out.average", sel_average_params, average_fields,
              "Mean and rms of fields over time, as NAME.vti, written at the end: for each field "
              "the arrays FIELD_mean and FIELD_rms, component by component; rms is that of the "
              "deviation from the mean; with solid, cell_type and boundary, as out.vtk. A sample "
              "every 10 steps when neither every nor interval is "
              "given; from_step or from_time leaves out how the flow began.");

enum { SAMPLE_PERIOD = 10 };

typedef struct average_field {
    double *mean;    /* [cells][stored] */
    double *squares; /* [cells][stored], sum of squared deviations; the rms after finish_rms */
    double *values;  /* [cells][read], the present sample */
} average_field;

typedef struct average_output {
    sel_output base;
    average_field *fields; /* per pick */
    size_t cells;
    int64_t samples;
} average_output;

/* Adds the sample of pick k. Cells are independent: the result does not depend on the threads. */
static void add_field(const average_output *output, int k) {
    const sel_pick *pick = &output->base.picks.v[k];
    const int64_t cells = (int64_t)output->cells;
    const int components = pick->components, stored = pick->stored;
    const int read = pick->read, threads = output->base.context->plan->threads;
    const double samples = (double)output->samples, *values = output->fields[k].values;
    double *mean = output->fields[k].mean, *squares = output->fields[k].squares;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < cells; i++) {
        for (int c = 0; c < components; c++) {
            int64_t at = i * stored + c;
            double value = values[i * read + pick->first + c];
            double before = value - mean[at];
            mean[at] += before / samples;
            squares[at] += before * (value - mean[at]);
        }
    }
}

static sel_status average_take(sel_output *base, sel_error *error) {
    (void)error;
    average_output *output = (average_output *)base;
    output->samples++;
    for (int k = 0; k < base->picks.count; k++) {
        add_field(output, k);
    }
    return SEL_OK;
}

/* Saves or loads the names of the fields; fields other than those in the checkpoint are a failure.
 */
static void keep_names(const sel_output *base, sel_checkpoint *checkpoint) {
    int count = base->picks.count;
    SEL_KEEP(checkpoint, count);
    bool same = count == base->picks.count;
    for (int i = 0; i < base->picks.count && same; i++) {
        const char *name = sel_keep_text(checkpoint, base->arena, base->picks.v[i].name);
        same = strcmp(name, base->picks.v[i].name) == 0;
    }
    if (!same) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                            "%s: the output '%s' had other fields; give it another name",
                            checkpoint->path, base->name);
    }
}

static void average_keep(sel_output *base, sel_checkpoint *checkpoint) {
    average_output *output = (average_output *)base;
    keep_names(base, checkpoint);
    SEL_KEEP(checkpoint, output->samples);
    if (output->samples < 0 || output->samples > SEL_MOST_STEPS) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the samples of a mean",
                            checkpoint->path);
    }
    for (int k = 0; k < base->picks.count; k++) {
        const size_t numbers = output->cells * (size_t)base->picks.v[k].stored;
        sel_keep(checkpoint, output->fields[k].mean, numbers * sizeof(double));
        sel_keep(checkpoint, output->fields[k].squares, numbers * sizeof(double));
    }
}

/* ---- the file ---- */

static void finish_rms(const average_output *output, int k) {
    double *squares = output->fields[k].squares;
    const double samples = (double)output->samples;
    const int64_t numbers = (int64_t)output->cells * output->base.picks.v[k].stored;
    const int threads = output->base.context->plan->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < numbers; i++) {
        squares[i] = sqrt(squares[i] / samples);
    }
}

/* Writes the file. `arrays` has room for SEL_IMAGE_MARKS arrays more, which are filled here. */
static sel_status write_average(const sel_output *base, vtkw_array *arrays, sel_error *error) {
    const sel_grid *grid = &base->context->domain->grid;
    const sel_box all = sel_grid_box(grid);
    const int count = 2 * base->picks.count;
    vtkw_image image = sel_vtk_image(grid, &all);
    vtkw_strings regions;
    sel_cell_marks marks = {.cell_type = NULL};
    sel_status status = sel_vtk_marks(base, &all, &marks, error);
    status = status ? status : sel_vtk_regions(base, &regions, &image, error);
    sel_image_mark_arrays(&marks, arrays + count);
    sel_vtk_arrays(&image, grid, arrays, count + SEL_IMAGE_MARKS);
    image.has_time = 1;
    image.time = base->time;
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.vti", base->context->directory, base->name);
    status = status ? status : sel_output_files_add(base->files, NULL, base->name, ".vti", error);
    vtkw_error failed;
    if (!status && vtkw_write_image(path, &image, &failed) != VTKW_OK) {
        base->files->last->job = INT64_MAX; /* never listed: the file does not exist */
        status = sel_vtk_fail(&failed, error);
    }
    return status;
}

static sel_status average_conclude(sel_output *base, sel_error *error) {
    const average_output *output = (const average_output *)base;
    const size_t room = 2 * (size_t)base->picks.count + SEL_IMAGE_MARKS;
    vtkw_array *arrays = sel_arena_alloc(base->arena, room * sizeof *arrays);
    bool failed = !arrays;
    for (int k = 0; k < base->picks.count && !failed; k++) {
        const sel_pick *pick = &base->picks.v[k];
        const char *mean = sel_arena_print(base->arena, "%s_mean", pick->name);
        const char *rms = sel_arena_print(base->arena, "%s_rms", pick->name);
        finish_rms(output, k);
        arrays[2 * k] = (vtkw_array){mean, VTKW_FLOAT64, pick->stored, output->fields[k].mean};
        arrays[2 * k + 1] =
            (vtkw_array){rms, VTKW_FLOAT64, pick->stored, output->fields[k].squares};
        failed = !mean || !rms;
    }
    return failed ? sel_fail_memory(error, "an output", room * sizeof *arrays)
                  : write_average(base, arrays, error);
}

static sel_status average_open(sel_output *base, sel_error *error) {
    average_output *output = (average_output *)base;
    const size_t picks = (size_t)base->picks.count;
    const sel_box box = sel_grid_box(&base->context->domain->grid);
    size_t all = 3 * picks;
    output->cells = (size_t)sel_box_cells(&box);
    output->fields = sel_arena_alloc(base->arena, picks * sizeof *output->fields);
    sel_status status = sel_output_read(base, &box, SEL_F64, error);
    bool failed = !output->fields;
    for (size_t k = 0; k < picks && !failed && !status; k++) {
        size_t read = output->cells * (size_t)base->picks.v[k].read;
        size_t stored = output->cells * (size_t)base->picks.v[k].stored;
        average_field *field = &output->fields[k];
        all += read + 2 * stored;
        field->mean = sel_arena_alloc(base->arena, 2 * stored * sizeof(double));
        field->values = sel_arena_alloc(base->arena, read * sizeof(double));
        failed = !field->mean || !field->values;
        field->squares = failed ? NULL : field->mean + stored;
        base->requests.v[k].to = field->values;
    }
    return failed ? sel_fail_memory(error, "the averages of fields", all * sizeof(double)) : status;
}

const sel_output_kind sel_average_kind = {
    .table = &sel_out_average_table,
    .size = sizeof(average_output),
    .period = SAMPLE_PERIOD,
    .only_when_due = true,
    .open = average_open,
    .take = average_take,
    .keep = average_keep,
    .conclude = average_conclude,
};
