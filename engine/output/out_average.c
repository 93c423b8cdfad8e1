/* out_average.c -- out.average: mean and rms of fields over time, as one VTK image at the end.
 *
 * Mean and sum of squared deviations are carried from sample to sample (Welford 1962), in f64: no
 * difference of large sums is taken.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/folder.h"
#include "engine/output/kind.h"
#include "engine/output/vtk.h"

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_average, fields, NAMES,
            "Fields of the results (see sel.lbm, sel.aqua), or components such as velocity_x.",
            .flags = SEL_REQUIRED | SEL_RESULT),
};

const sel_table sel_out_average_table =
    SEL_TABLE("out.average", sel_out_average, fields,
              "Mean and rms of fields over time, as NAME.vti, written at the end: for each field "
              "the arrays FIELD_mean and FIELD_rms, component by component; rms is that of the "
              "deviation from the mean. A sample every 10 steps when neither every nor interval is "
              "given; from_step or from_time leaves out how the flow began.");

enum { SAMPLE_PERIOD = 10 };

/* By pick; values has what was read last, the others are [cells][stored]. */
typedef struct average_output {
    sel_output base;
    double **mean, **squares;
    void **values;
    size_t cells;
    int64_t samples;
} average_output;

static sel_status average_ask(sel_output *base, sel_error *error) {
    const average_output *output = (const average_output *)base;
    const sel_box all = sel_grid_box(&base->context->domain->grid);
    return sel_output_read(base, &all, SEL_F64, output->values, error);
}

/* Cells are independent of each other: any number of threads gives the same bits. */
static int threads_of(const average_output *output) {
    const sel_plan *plan = output->base.context->plan;
    return plan && plan->threads > 0 ? plan->threads : 1;
}

static void add_field(const average_output *output, int k) {
    const sel_pick *pick = &output->base.picks.v[k];
    const int64_t cells = (int64_t)output->cells;
    const int components = pick->components, stored = pick->stored;
    const int read = pick->read;
    const double samples = (double)output->samples, *values = output->values[k];
    double *mean = output->mean[k], *squares = output->squares[k];
#pragma omp parallel for schedule(static) num_threads(threads_of(output))
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

/* Moves the names of the fields; others than in the checkpoint are a failure. */
static void keep_names(const sel_output *base, sel_checkpoint *checkpoint) {
    int count = base->picks.count;
    SEL_KEEP(checkpoint, count);
    bool same = count == base->picks.count;
    for (int i = 0; i < base->picks.count && same; i++) {
        if (!sel_checkpoint_loads(checkpoint)) {
            sel_keep_text(checkpoint, base->picks.v[i].name);
            continue;
        }
        char *name = sel_kept_text(checkpoint);
        same = name && strcmp(name, base->picks.v[i].name) == 0;
        free(name);
    }
    if (!same) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                            "%s: the output '%s' had other fields; give it another name",
                            sel_checkpoint_path(checkpoint), base->name);
    }
}

static void average_keep(sel_output *base, sel_checkpoint *checkpoint) {
    average_output *output = (average_output *)base;
    keep_names(base, checkpoint);
    SEL_KEEP(checkpoint, output->samples);
    for (int k = 0; k < base->picks.count; k++) {
        const size_t numbers = output->cells * (size_t)base->picks.v[k].stored;
        sel_keep(checkpoint, output->mean[k], numbers * sizeof(double));
        sel_keep(checkpoint, output->squares[k], numbers * sizeof(double));
    }
}

/* ---- the file ---- */

static void finish_rms(const average_output *output, int k) {
    double *squares = output->squares[k];
    const double samples = (double)output->samples;
    const int64_t numbers = (int64_t)output->cells * output->base.picks.v[k].stored;
#pragma omp parallel for schedule(static) num_threads(threads_of(output))
    for (int64_t i = 0; i < numbers; i++) {
        squares[i] = sqrt(squares[i] / samples);
    }
}

typedef char array_name[SEL_COLUMN_ROOM];

static sel_status write_image(const sel_output *base, const vtkw_array *arrays, sel_error *error) {
    const sel_box all = sel_grid_box(&base->context->domain->grid);
    vtkw_image image = sel_vtk_image(&base->context->domain->grid, &all);
    image.cell_arrays = arrays;
    image.cell_array_count = 2 * base->picks.count;
    image.has_time = 1;
    image.time = base->time;
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.vti", base->context->directory, base->name);
    sel_status status = sel_output_files_add(base->files, NULL, error, "%s.vti", base->name);
    vtkw_error failed;
    if (!status && vtkw_write_image(path, &image, &failed) != VTKW_OK) {
        sel_output_files_drop(base->files);
        status = sel_vtk_fail(&failed, error);
    }
    return status;
}

static sel_status average_conclude(sel_output *base, sel_error *error) {
    const average_output *output = (const average_output *)base;
    const size_t count = 2 * (size_t)base->picks.count;
    array_name *names = calloc(count, sizeof *names);
    vtkw_array *arrays = calloc(count, sizeof *arrays);
    sel_status status =
        names && arrays ? SEL_OK : sel_fail_memory(error, "an output", count * sizeof *names);
    for (int k = 0; k < base->picks.count && !status; k++) {
        const sel_pick *pick = &base->picks.v[k];
        finish_rms(output, k);
        for (int rms = 0; rms < 2; rms++) {
            char *name = names[2 * k + rms];
            snprintf(name, sizeof *names, "%s_%s", pick->name, rms ? "rms" : "mean");
            arrays[2 * k + rms] = (vtkw_array){name, VTKW_FLOAT64, pick->stored,
                                               rms ? output->squares[k] : output->mean[k]};
        }
    }
    status = status ? status : write_image(base, arrays, error);
    free(names);
    free(arrays);
    return status;
}

/* ---- opening ---- */

static void average_close(sel_output *base) {
    average_output *output = (average_output *)base;
    for (int k = 0; output->values && k < base->picks.count; k++) {
        free(output->mean[k]);
        free(output->squares[k]);
        free(output->values[k]);
    }
    free(output->mean);
    free(output->squares);
    free(output->values);
}

static sel_status average_open(sel_output *base, sel_error *error) {
    average_output *output = (average_output *)base;
    const size_t picks = (size_t)base->picks.count;
    size_t all = 3 * picks;
    output->cells = (size_t)sel_grid_cells(&base->context->domain->grid);
    output->mean = calloc(picks, sizeof *output->mean);
    output->squares = calloc(picks, sizeof *output->squares);
    output->values = output->mean && output->squares ? calloc(picks, sizeof(void *)) : NULL;
    bool failed = !output->values;
    for (size_t k = 0; k < picks && !failed; k++) {
        size_t read = output->cells * (size_t)base->picks.v[k].read;
        size_t stored = output->cells * (size_t)base->picks.v[k].stored;
        all += read + 2 * stored;
        output->mean[k] = calloc(stored, sizeof(double));
        output->squares[k] = calloc(stored, sizeof(double));
        output->values[k] = calloc(read, sizeof(double));
        failed = !output->mean[k] || !output->squares[k] || !output->values[k];
    }
    return failed ? sel_fail_memory(error, "the averages of fields", all * sizeof(double)) : SEL_OK;
}

const sel_output_kind sel_average_kind = {
    .table = &sel_out_average_table,
    .size = sizeof(average_output),
    .period = SAMPLE_PERIOD,
    .only_when_due = true,
    .open = average_open,
    .ask = average_ask,
    .take = average_take,
    .keep = average_keep,
    .conclude = average_conclude,
    .close = average_close,
};
