/* record.c -- records: time series that an output keeps in memory for its statistics at the end. */
#include <string.h>
#include "engine/output/kind.h"

sel_status sel_record_open(sel_output *output, int series, sel_record *record, sel_error *error) {
    const size_t bytes = (size_t)series * SEL_MOST_SAMPLES * sizeof(double);
    double *samples = sel_arena_alloc(output->arena, bytes);
    *record = (sel_record){.series = series, .stride = 1};
    for (int k = 0; k < series && samples; k++) {
        record->v[k] = samples + k * SEL_MOST_SAMPLES;
    }
    return samples ? SEL_OK : sel_fail_memory(error, "a record", bytes);
}

/* Drops every second sample. */
static void thin(sel_record *record) {
    for (int k = 0; k < record->series; k++) {
        for (size_t i = 0; 2 * i < record->count; i++) {
            record->v[k][i] = record->v[k][2 * i];
        }
    }
    record->count = (record->count + 1) / 2;
    record->stride *= 2;
}

void sel_record_add(sel_record *record, const double *sample) {
    if (++record->skipped < record->stride) {
        return;
    }
    record->skipped = 0;
    if (record->count == SEL_MOST_SAMPLES) {
        thin(record);
    }
    for (int k = 0; k < record->series; k++) {
        record->v[k][record->count] = sample[k];
    }
    record->count++;
}

void sel_record_keep(sel_record *record, sel_checkpoint *checkpoint) {
    SEL_KEEP(checkpoint, record->count);
    SEL_KEEP(checkpoint, record->stride);
    SEL_KEEP(checkpoint, record->skipped);
    if (record->count > SEL_MOST_SAMPLES || record->stride < 1 || record->stride > SEL_MOST_STEPS ||
        record->skipped >= record->stride) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: a record", checkpoint->path);
        record->count = 0;
        return;
    }
    for (int k = 0; k < record->series; k++) {
        const size_t bytes = record->count * sizeof(double);
        /* Checkpoints of earlier versions lack the last series of out.force (CHANGE). */
        if (checkpoint->loads && checkpoint->left == 0 && k > 0 && k == record->series - 1) {
            memset(record->v[k], 0, bytes);
        } else {
            sel_keep(checkpoint, record->v[k], bytes);
        }
    }
}
