/* out_spectrum.c -- out.spectrum: power spectral densities of fields at points, as CSV at the end.
 */
#include <stdio.h>
#include "engine/output/kind.h"

enum { SAMPLE_PERIOD = 10, WINDOWS = 8, MOST_WINDOWS = 10000 };

static const sel_table_field spectrum_fields[] = {
    SEL_OUT_SCHEDULE_ROWS(SEL_OUT_FROM_STEP_HELP, SEL_OUT_FROM_TIME_HELP),
    SEL_ROW(sel_spectrum_params, field, NAMES, SEL_OUT_FIELDS_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_spectrum_params, at, POINTS, "A point or a list of points, as of out.probe.",
            .flags = SEL_REQUIRED),
    SEL_ROW(sel_spectrum_params, windows, INT,
            "Parts of the signal whose spectra are averaged. More of them scatter less, and tell "
            "frequencies less apart: their length is 2 / (windows + 1) of the samples.",
            .flags = SEL_POSITIVE, .preset = WINDOWS),
};

const sel_table sel_out_spectrum_table = SEL_TABLE(
    "out.spectrum", sel_spectrum_params, spectrum_fields,
    "Power spectral densities of fields at points, as NAME.csv with frequency,densities, written "
    "at the end: columns as of out.probe, frequencies in cycles per unit of time. By Welch's "
    "method: Hann windows that overlap by half, the mean of each removed, zeros appended to a "
    "power of two. The integral over the frequency is the variance. A sample every 10 steps when "
    "neither every nor interval is given; what oscillates faster than half the rate of samples "
    "appears at lower frequencies. Of more than 1,048,576 samples every second one is dropped.");

typedef struct spectrum_output {
    sel_output base;
    sel_sample *sample;
    sel_record time;    /* of the samples */
    sel_record *record; /* per column: points, of each all components of the picks */
    int columns;
} spectrum_output;

static void spectrum_check(sel_output_checker *checker, const void *params) {
    static const char *const others[] = {"frequency", NULL}, *const none[] = {NULL};
    const sel_spectrum_params *spectrum = params;
    sel_points_check(checker, &spectrum->at);
    sel_columns_check(checker, &spectrum->field, false, spectrum->at.n > 1 ? none : others);
    if (spectrum->windows < 1 || spectrum->windows > MOST_WINDOWS) {
        sel_output_refuse(checker, "windows must be 1 to %d, got %lld", MOST_WINDOWS,
                          (long long)spectrum->windows);
    }
}

static sel_status spectrum_open(sel_output *base, sel_error *error) {
    spectrum_output *output = (spectrum_output *)base;
    const sel_points *at = &((const sel_spectrum_params *)base->params)->at;
    for (int i = 0; i < base->picks.count; i++) {
        output->columns += at->n * base->picks.v[i].components;
    }
    const size_t bytes = (size_t)output->columns * sizeof *output->record;
    output->record = sel_arena_alloc(base->arena, bytes);
    sel_status status = output->record ? sel_record_open(base, 1, &output->time, error)
                                       : sel_fail_memory(error, "a spectrum", bytes);
    for (int k = 0; k < output->columns && !status; k++) {
        status = sel_record_open(base, 1, &output->record[k], error);
    }
    return status ? status : sel_sample_create(base, at->v, at->n, false, &output->sample, error);
}

static sel_status spectrum_take(sel_output *base, sel_error *error) {
    spectrum_output *output = (spectrum_output *)base;
    const sel_points *at = &((const sel_spectrum_params *)base->params)->at;
    const sel_status status = sel_sample_take(output->sample, error);
    if (status) {
        return status;
    }
    sel_record *record = output->record;
    sel_record_add(&output->time, &base->time);
    for (int p = 0; p < at->n; p++) {
        for (int i = 0; i < base->picks.count; i++) {
            const sel_pick *pick = &base->picks.v[i];
            for (int c = 0; c < pick->components; c++, record++) {
                const double value = sel_sample_value(output->sample, i, p, pick->first + c);
                sel_record_add(record, &value);
            }
        }
    }
    return SEL_OK;
}

/* Name i of what the columns are of: fields, points. NULL: i is past the last. */
static const char *column_part(const sel_output *base, int i) {
    const sel_points *at = &((const sel_spectrum_params *)base->params)->at;
    if (i < base->picks.count) {
        return base->picks.v[i].name;
    }
    i -= base->picks.count;
    return i < at->n ? sel_arena_print(base->arena, "%.17g %.17g %.17g", at->v[i].v[0],
                                       at->v[i].v[1], at->v[i].v[2])
                     : NULL;
}

static void spectrum_keep(sel_output *base, sel_checkpoint *checkpoint) {
    spectrum_output *output = (spectrum_output *)base;
    sel_output_keep_names(base, column_part, "fields or points", checkpoint);
    sel_record_keep(&output->time, checkpoint);
    for (int k = 0; k < output->columns; k++) {
        sel_record_keep(&output->record[k], checkpoint);
    }
}

/* ---- the file ---- */

typedef struct spectrum_lines {
    const sel_output *base;
    const double *density; /* [columns][count] */
    size_t count;
    int columns;
    double spacing; /* of the frequencies */
} spectrum_lines;

static void write_spectrum(const void *data, sel_csv *csv) {
    const spectrum_lines *lines = data;
    const int points = ((const sel_spectrum_params *)lines->base->params)->at.n;
    sel_csv_text(csv, "frequency");
    for (int p = 0; p < points; p++) {
        sel_picks_columns(&lines->base->picks, points > 1 ? p + 1 : 0, csv);
    }
    sel_csv_end_line(csv);
    for (size_t k = 0; k < lines->count; k++) {
        sel_csv_number(csv, (double)k * lines->spacing);
        for (int column = 0; column < lines->columns; column++) {
            sel_csv_number(csv, lines->density[(size_t)column * lines->count + k]);
        }
        sel_csv_end_line(csv);
    }
}

static void warn_of_few(const sel_output *base, size_t samples, int windows) {
    char about[128];
    snprintf(about, sizeof about, "%.64s.csv is not written", base->name);
    sel_output_warn(base, about,
                    "%zu samples are too few for the spectra of %d windows (windows = %d); run "
                    "longer, sample more often (every), or take fewer windows",
                    samples, windows, windows);
}

static sel_status spectrum_conclude(sel_output *base, sel_error *error) {
    const spectrum_output *output = (const spectrum_output *)base;
    const int windows = (int)((const sel_spectrum_params *)base->params)->windows;
    const size_t n = output->time.count, count = sel_signal_frequencies(n, windows);
    if (count == 0) {
        warn_of_few(base, n, windows);
        return SEL_OK;
    }
    const double *time = output->time.v[0];
    const size_t bytes = (size_t)output->columns * count * sizeof(double);
    double *density = sel_arena_alloc(base->arena, bytes);
    bool failed = !density;
    for (int k = 0; k < output->columns && !failed; k++) {
        failed = !sel_signal_density(time, output->record[k].v[0], n, windows,
                                     density + (size_t)k * count);
    }
    const spectrum_lines lines = {base, density, count, output->columns,
                                  failed ? 0 : sel_signal_spacing(time, n, windows)};
    return failed ? sel_fail_memory(error, "spectra", bytes)
                  : sel_output_table(base, &lines, write_spectrum, error);
}

const sel_output_kind sel_spectrum_kind = {
    .table = &sel_out_spectrum_table,
    .size = sizeof(spectrum_output),
    .period = SAMPLE_PERIOD,
    .only_when_due = true,
    .check = spectrum_check,
    .open = spectrum_open,
    .take = spectrum_take,
    .keep = spectrum_keep,
    .conclude = spectrum_conclude,
};
