/* out_average.c -- out.average: mean and rms of fields over time, as one VTK image at the end.
 *
 * Mean and sum of squared deviations are carried from sample to sample (Welford 1962), in f64: no
 * difference of large sums is taken.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/vtk_writer.h"
#include "engine/output/kind.h"

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

/* What one field has gathered, and its last values: [cells][components]. */
typedef struct moments {
    double *mean, *squares, *values;
} moments;

typedef struct average_output {
    const sel_output_context *context;
    sel_output_files *files;
    const char *name;
    sel_picks picks;
    moments *fields; /* by pick */
    size_t cells;
    int64_t samples;
} average_output;

static sel_status average_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_average *average = params;
    return sel_picks_check(site, &average->fields, error);
}

static sel_status average_ask(void *self, int64_t step, double time, sel_requests *requests,
                              sel_error *error) {
    (void)step, (void)time;
    const average_output *output = self;
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        const sel_request request = {.kind = SEL_READ,
                                     .field = pick->field,
                                     .box = sel_grid_box(&output->context->domain->grid),
                                     .precision = SEL_F64,
                                     .components = pick->field_components,
                                     .to = output->fields[i].values};
        status = sel_requests_add(requests, &request, error);
    }
    return status;
}

/* Cells are independent of each other: any number of threads gives the same bits. */
static int threads_of(const average_output *output) {
    const sel_plan *plan = output->context->plan;
    return plan && plan->threads > 0 ? plan->threads : 1;
}

static void add_field(const average_output *output, const sel_pick *pick, const moments *to) {
    const int64_t cells = (int64_t)output->cells;
    const int components = sel_pick_components(pick), stored = sel_pick_stored(pick);
    const double samples = (double)output->samples;
#pragma omp parallel for schedule(static) num_threads(threads_of(output))
    for (int64_t i = 0; i < cells; i++) {
        const double *cell = to->values + i * pick->field_components;
        for (int c = 0; c < components; c++) {
            int64_t at = i * stored + c;
            double value = cell[sel_pick_component(pick, c)], before = value - to->mean[at];
            to->mean[at] += before / samples;
            to->squares[at] += before * (value - to->mean[at]);
        }
    }
}

static sel_status average_take(void *self, int64_t step, double time, const sel_requests *answers,
                               sel_error *error) {
    (void)step, (void)time, (void)answers, (void)error;
    average_output *output = self;
    output->samples++;
    for (int i = 0; i < output->picks.count; i++) {
        add_field(output, &output->picks.v[i], &output->fields[i]);
    }
    return SEL_OK;
}

static void average_keep(void *self, sel_checkpoint *checkpoint) {
    average_output *output = self;
    sel_picks_keep(&output->picks, output->name, checkpoint);
    SEL_KEEP(checkpoint, output->samples);
    for (int i = 0; i < output->picks.count; i++) {
        const size_t bytes =
            output->cells * (size_t)sel_pick_stored(&output->picks.v[i]) * sizeof(double);
        sel_keep(checkpoint, output->fields[i].mean, bytes);
        sel_keep(checkpoint, output->fields[i].squares, bytes);
    }
}

/* ---- the file ---- */

static void finish_rms(const average_output *output, int field) {
    double *squares = output->fields[field].squares;
    const double samples = (double)output->samples;
    const int64_t numbers = (int64_t)output->cells * sel_pick_stored(&output->picks.v[field]);
#pragma omp parallel for schedule(static) num_threads(threads_of(output))
    for (int64_t k = 0; k < numbers; k++) {
        squares[k] = sqrt(squares[k] / samples);
    }
}

static vtkw_image describe_image(const sel_grid *grid, const vtkw_array *arrays, int count,
                                 double time) {
    vtkw_image image = {
        .cell_arrays = arrays, .cell_array_count = count, .has_time = 1, .time = time};
    for (int a = 0; a < 3; a++) {
        image.extent[2 * a + 1] = grid->n[a];
        image.spacing[a] = grid->dx;
        image.origin[a] = grid->origin[a];
    }
    return image;
}

typedef char array_name[SEL_COLUMN_ROOM];

static sel_status write_image(const average_output *output, double time, array_name *names,
                              vtkw_array *arrays, sel_error *error) {
    int count = 2 * output->picks.count;
    for (int k = 0; k < count; k++) {
        const sel_pick *pick = &output->picks.v[k / 2];
        const moments *field = &output->fields[k / 2];
        snprintf(names[k], sizeof names[k], "%s_%s", pick->name, k % 2 ? "rms" : "mean");
        arrays[k] = (vtkw_array){names[k], VTKW_FLOAT64, sel_pick_stored(pick),
                                 k % 2 ? field->squares : field->mean};
    }
    vtkw_image image = describe_image(&output->context->domain->grid, arrays, count, time);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.vti", output->context->directory, output->name);
    sel_status status = sel_output_files_add(output->files, NULL, error, "%s.vti", output->name);
    vtkw_error failed;
    if (!status && vtkw_write_image(path, &image, &failed) != VTKW_OK) {
        sel_output_files_drop(output->files);
        status = sel_fail(error, failed.status == VTKW_NO_MEMORY ? SEL_NO_DEVICE : SEL_BAD_FILE,
                          "%s", failed.text);
    }
    return status;
}

static sel_status average_conclude(void *self, int64_t step, double time, sel_error *error) {
    (void)step;
    average_output *output = self;
    for (int i = 0; i < output->picks.count; i++) {
        finish_rms(output, i);
    }
    size_t count = 2 * (size_t)output->picks.count;
    array_name *names = calloc(count, sizeof *names);
    vtkw_array *arrays = calloc(count, sizeof *arrays);
    sel_status status = names && arrays
                            ? write_image(output, time, names, arrays, error)
                            : sel_fail_memory(error, "an output", count * sizeof *names);
    free(names);
    free(arrays);
    return status;
}

/* ---- opening ---- */

static void average_close(void *self) {
    average_output *output = self;
    for (int i = 0; output->fields && i < output->picks.count; i++) {
        free(output->fields[i].mean);
        free(output->fields[i].squares);
        free(output->fields[i].values);
    }
    free(output->fields);
    free(output->picks.v);
    free(output);
}

static sel_status allocate(average_output *output, sel_error *error) {
    size_t all = 0;
    output->fields = calloc((size_t)output->picks.count, sizeof *output->fields);
    bool failed = !output->fields;
    for (int i = 0; i < output->picks.count && !failed; i++) {
        moments *field = &output->fields[i];
        size_t read = output->cells * (size_t)output->picks.v[i].field_components;
        size_t numbers = output->cells * (size_t)sel_pick_stored(&output->picks.v[i]);
        all += read + 2 * numbers;
        field->mean = calloc(numbers, sizeof(double));
        field->squares = calloc(numbers, sizeof(double));
        field->values = calloc(read, sizeof(double));
        failed = !field->mean || !field->squares || !field->values;
    }
    return failed ? sel_fail_memory(error, "the averages of fields", all * sizeof(double)) : SEL_OK;
}

static sel_status average_open(const sel_output_context *context, const void *params,
                               const char *name, sel_output_files *files, void **self,
                               sel_error *error) {
    const sel_out_average *average = params;
    average_output *output = calloc(1, sizeof *output);
    if (!output) {
        return sel_fail_memory(error, "an output", sizeof *output);
    }
    output->context = context;
    output->files = files;
    output->name = name;
    output->cells = (size_t)sel_grid_cells(&context->domain->grid);
    sel_status status = sel_picks_make(context, &average->fields, &output->picks, error);
    status = status ? status : allocate(output, error);
    if (status != SEL_OK) {
        average_close(output);
        return status;
    }
    *self = output;
    return SEL_OK;
}

const sel_output_kind sel_average_kind = {
    .table = &sel_out_average_table,
    .period = SAMPLE_PERIOD,
    .only_when_due = true,
    .check = average_check,
    .open = average_open,
    .ask = average_ask,
    .take = average_take,
    .keep = average_keep,
    .conclude = average_conclude,
    .close = average_close,
};
