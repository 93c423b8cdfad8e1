/* output.c -- the outputs of a run: open, schedule, write, checkpoint.
 *
 * All outputs that are due at a step are started together, and later taken together, in the order
 * of the script. So rows, frames and results have the same order on synchronous and asynchronous
 * backends.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/base/text.h"
#include "engine/output/kind.h"
#include "engine/output/output.h"

struct sel_outputs {
    const sel_output_context *context;
    sel_arena *arena; /* memory of all outputs */
    sel_output_files files;
    int count;
    sel_output **v;

    /* The state whose outputs have been started. */
    int64_t step;
    double time;
    bool last;

    double waited; /* seconds spent waiting for the backend */
};

static const sel_output_kind *const kinds[] = {
    &sel_vtk_kind,   &sel_probe_kind,   &sel_profile_kind, &sel_reduce_kind,    &sel_balance_kind,
    &sel_force_kind, &sel_wall_kind,    &sel_flux_kind,    &sel_average_kind,   &sel_spectrum_kind,
    &sel_pores_kind, &sel_picture_kind, &sel_grid_kind,    &sel_checkpoint_kind};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const sel_table *const tables[] = {
    &sel_out_vtk_table,      &sel_out_probe_table,     &sel_out_profile_table,
    &sel_out_reduce_table,   &sel_out_balance_table,   &sel_out_force_table,
    &sel_out_wall_table,     &sel_out_flux_table,      &sel_out_average_table,
    &sel_out_spectrum_table, &sel_out_pores_table,     &sel_out_picture_table,
    &sel_out_grid_table,     &sel_out_checkpoint_table};
const sel_family sel_output_family = {
    "out",
    "What a run writes. The last state is always written.",
    tables,
    sizeof tables / sizeof *tables,
};

const sel_output_kind *sel_output_kind_of(const sel_table *table) {
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k]->table == table) {
            return kinds[k];
        }
    }
    return NULL;
}

/* ---- schedule ---- */

/* The first step after `step` at which the time has reached a further multiple of `interval`. */
static int64_t next_interval(const sel_clock *clock, double interval, int64_t step) {
    if (step < 0) {
        return 0;
    }
    double passed = floor(sel_clock_time(clock, step) / interval);
    int64_t next = sel_clock_step(clock, (passed + 1) * interval);
    /* By round-off the multiple may be that of `step` itself: take the one after it. */
    next = next > step ? next : sel_clock_step(clock, (passed + 2) * interval);
    return next > step ? next : step + 1;
}

int64_t sel_output_from(const sel_output_common *common, const sel_clock *clock) {
    const int64_t by_time = isnan(common->from_time) ? 0 : sel_clock_step(clock, common->from_time);
    return by_time > common->from_step ? by_time : common->from_step;
}

sel_output_common sel_output_schedule(const sel_output_kind *kind,
                                      const sel_output_common *common) {
    sel_output_common schedule = *common;
    if (kind->all_rows) {
        schedule.from_step = 0;
        schedule.from_time = (double)NAN;
    }
    return schedule;
}

int64_t sel_output_next(const sel_output_common *common, int64_t period, const sel_clock *clock,
                        int64_t step) {
    if (common->at == SEL_OUTPUT_AT_END) {
        return INT64_MAX;
    }
    const int64_t from = sel_output_from(common, clock);
    step = from - 1 > step ? from - 1 : step;
    if (!isnan(common->interval) && from < INT64_MAX) {
        return next_interval(clock, common->interval, step);
    }
    if (common->every != SEL_INT_NOT_GIVEN) {
        return sel_next_multiple(step, common->every);
    }
    return period ? sel_next_multiple(step < 0 ? 0 : step, period) : INT64_MAX;
}

static int64_t next_due(const sel_output *output, int64_t step) {
    const sel_output_common schedule = sel_output_schedule(output->kind, output->params);
    return sel_output_next(&schedule, output->kind->period, output->context->clock, step);
}

int64_t sel_outputs_next(const sel_outputs *outputs, int64_t step) {
    int64_t next = INT64_MAX;
    for (int i = 0; i < outputs->count; i++) {
        int64_t due = next_due(outputs->v[i], step);
        next = due < next ? due : next;
    }
    return next;
}

/* ---- the list of files ---- */

/* Opens NAME.csv and lists it. In a resumed run it is truncated to its length at the checkpoint. */
static sel_status open_csv(sel_output_files *files, const char *name, sel_csv **csv,
                           sel_error *error) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s.csv", name);
    sel_output_file *file = sel_output_files_known(files, path);
    sel_status status = file ? SEL_OK : sel_output_files_add(files, NULL, path, "", error);
    file = file ? file : files->last;
    status = status ? status : sel_csv_open(files->directory, path, file->bytes, csv, error);
    if (status == SEL_OK) {
        file->csv = *csv;
    }
    return status;
}

/* Saves or loads the list of files, with the lengths of CSV files. */
static void keep_files(sel_output_files *files, sel_checkpoint *checkpoint) {
    int count = files->count;
    sel_output_file *file = files->first;
    SEL_KEEP(checkpoint, count);
    if (count < 0) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the number of files",
                            checkpoint->path);
    }
    for (int i = 0; i < count && !checkpoint->failure.status; i++) {
        int64_t bytes = file && file->csv ? sel_csv_bytes(file->csv) : file ? file->bytes : -1;
        const char *name = sel_keep_text(checkpoint, files->arena, file ? file->name : NULL);
        SEL_KEEP(checkpoint, bytes);
        if (!checkpoint->loads) {
            file = file->next;
        } else if (!checkpoint->failure.status) {
            sel_output_files_append(files, name, true, bytes, &checkpoint->failure);
        }
    }
}

/* Adds the files of the resumed run: those in its checkpoint, then context->resume_files. */
static sel_status add_known(sel_output_files *files, const sel_output_context *context,
                            sel_error *error) {
    sel_checkpoint_block(context->resume, "files");
    keep_files(files, context->resume);
    sel_status status = sel_checkpoint_status(context->resume, error);
    for (const char *const *more = context->resume_files; *more && !status; more++) {
        if (!sel_output_files_known(files, *more) &&
            !sel_output_files_append(files, *more, true, -1, error)) {
            return SEL_NO_DEVICE;
        }
    }
    return status;
}

sel_status sel_outputs_cut(const sel_output_context *context, sel_error *error) {
    sel_arena *arena = sel_arena_create();
    sel_output_files files = {.directory = context->directory, .arena = arena};
    sel_status status = arena ? add_known(&files, context, error)
                              : sel_fail_memory(error, "the list of files", sizeof files);
    const size_t room = (size_t)files.count + 1;
    const char **names = status ? NULL : sel_arena_alloc(arena, room * sizeof *names);
    int64_t *bytes = status ? NULL : sel_arena_alloc(arena, room * sizeof *bytes);
    if (!status && (!names || !bytes)) {
        status = sel_fail_memory(error, "the list of files", room * sizeof *names);
    }
    const sel_output_file *file = files.first;
    for (int i = 0; file && !status; i++, file = file->next) {
        names[i] = file->name;
        bytes[i] = file->bytes;
    }
    status = status ? status : sel_folder_resume(context->directory, names, bytes, error);
    sel_arena_destroy(arena);
    return status;
}

/* ---- opening ---- */

/* Resolves the fields that the parameters name. Leaves room for one pick more (out_flux.c). */
static sel_status make_picks(sel_output *output, sel_error *error) {
    const sel_output_context *context = output->context;
    const sel_table *table = output->kind->table;
    int count = 0;
    while (sel_output_field(table, output->params, count)) {
        count++;
    }
    output->picks.v = sel_arena_alloc(output->arena, ((size_t)count + 1) * sizeof *output->picks.v);
    if (!output->picks.v) {
        return sel_fail_memory(error, "an output", (size_t)count * sizeof *output->picks.v);
    }
    output->picks.count = count;
    for (int k = 0; k < count; k++) {
        output->picks.v[k] = sel_pick_of(context->solver, context->domain->grid.dims,
                                         sel_output_field(table, output->params, k));
    }
    return SEL_OK;
}

static sel_status open_rows(sel_output *output, sel_error *error) {
    sel_status status = open_csv(output->files, output->name, &output->csv, error);
    if (status == SEL_OK) {
        sel_csv_text(output->csv, "step");
        sel_csv_text(output->csv, "time");
    }
    return status;
}

static sel_status end_row(sel_output *output, sel_error *error) {
    sel_csv_end_line(output->csv);
    return sel_csv_flush(output->csv, error);
}

static sel_status open_output(sel_outputs *outputs, const sel_variant *from, sel_error *error) {
    const sel_output_kind *kind = sel_output_kind_of(from->table);
    if (kind->size == 0) {
        return SEL_OK;
    }
    sel_output *output = sel_arena_alloc(outputs->arena, kind->size);
    if (!output) {
        return sel_fail_memory(error, "an output", kind->size);
    }
    outputs->v[outputs->count++] = output;
    output->kind = kind;
    output->context = outputs->context;
    output->arena = outputs->arena;
    output->params = from->data;
    output->name = sel_output_name(from);
    output->files = &outputs->files;
    output->written = -1;
    sel_status status = make_picks(output, error);
    status = status || !kind->rows ? status : open_rows(output, error);
    status = status ? status : kind->open(output, error);
    return status || !kind->rows ? status : end_row(output, error);
}

sel_status sel_outputs_open(const sel_output_context *context, sel_outputs **outputs,
                            sel_error *error) {
    int count = context->simulation->params->output.n;
    *outputs = NULL;
    sel_arena *arena = sel_arena_create();
    sel_outputs *made = arena ? sel_arena_alloc(arena, sizeof *made) : NULL;
    sel_output **v = made ? sel_arena_alloc(arena, (size_t)count * sizeof *v) : NULL;
    if (!v) {
        sel_arena_destroy(arena);
        return sel_fail_memory(error, "the outputs", (size_t)count * sizeof *v);
    }
    *made = (sel_outputs){
        .context = context,
        .arena = arena,
        .files = {.directory = context->directory, .force = context->force, .arena = arena},
        .v = v};
    sel_status status = context->resume ? add_known(&made->files, context, error) : SEL_OK;
    for (int i = 0; i < count && status == SEL_OK; i++) {
        status = open_output(made, sel_output_variant(context->simulation, i), error);
    }
    if (status != SEL_OK) {
        sel_outputs_close(made);
        return status;
    }
    *outputs = made;
    return SEL_OK;
}

/* ---- writing ---- */

/* Waits for the first `count` requests of an output. Waits for all even if one fails. */
static sel_status finish_requests(sel_outputs *outputs, sel_output *output, int count,
                                  sel_error *error) {
    const sel_output_context *context = outputs->context;
    double before = sel_machine_seconds();
    sel_status status = SEL_OK;
    output->under_way = false;
    for (int i = 0; i < count; i++) {
        sel_status one =
            context->backend->finish(context->state, &output->requests.v[i], status ? NULL : error);
        status = status ? status : one;
    }
    outputs->waited += sel_machine_seconds() - before;
    return status;
}

static sel_status start_output(sel_outputs *outputs, sel_output *output, sel_error *error) {
    const sel_output_context *context = outputs->context;
    sel_requests *requests = &output->requests;
    output->step = outputs->step;
    output->time = outputs->time;
    sel_status status = output->kind->ask ? output->kind->ask(output, error) : SEL_OK;
    int started = 0;
    while (!status && started < requests->count) {
        requests->v[started].term_count = 0; /* terms are appended */
        status = context->backend->start(context->state, &requests->v[started], error);
        started += status == SEL_OK;
    }
    if (status) {
        finish_requests(outputs, output, started, NULL);
        return status;
    }
    output->under_way = true;
    return SEL_OK;
}

static bool is_due(const sel_outputs *outputs, const sel_output *output) {
    bool due = next_due(output, outputs->step - 1) == outputs->step;
    bool at_end = outputs->last && !output->kind->only_when_due;
    return (due || at_end) && output->written != outputs->step;
}

sel_status sel_outputs_start(sel_outputs *outputs, int64_t step, double time, bool last,
                             sel_error *error) {
    sel_status status = sel_outputs_finish(outputs, error);
    outputs->step = step;
    outputs->time = time;
    outputs->last = last;
    for (int i = 0; i < outputs->count && !status; i++) {
        if (is_due(outputs, outputs->v[i])) {
            status = start_output(outputs, outputs->v[i], error);
        }
    }
    return status;
}

/* Whether the requests could be answered: after a failure the state may have no forces and fluxes,
 * and outputs under way that ask for them are skipped. */
static bool is_observed(const sel_requests *requests) {
    bool observed = true;
    for (int i = 0; i < requests->count; i++) {
        observed = observed && !requests->v[i].unobserved;
    }
    return observed;
}

static sel_status take_output(sel_outputs *outputs, sel_output *output, sel_error *error) {
    const bool rows = output->kind->rows;
    sel_status status = finish_requests(outputs, output, output->requests.count, error);
    if (status == SEL_OK && !is_observed(&output->requests)) {
        return SEL_OK;
    }
    if (status == SEL_OK && rows) {
        sel_output_row(output);
    }
    status = status ? status : output->kind->take(output, error);
    if (status == SEL_OK && rows) {
        status = end_row(output, error);
    } else if (rows) {
        sel_csv_drop(output->csv);
    }
    output->written = status ? output->written : output->step;
    return status;
}

static sel_status conclude(const sel_outputs *outputs, sel_output *output, sel_error *error) {
    if (output->concluded || !output->kind->conclude) {
        return SEL_OK;
    }
    output->concluded = true;
    output->step = outputs->step;
    output->time = outputs->time;
    return output->kind->conclude(output, error);
}

sel_status sel_outputs_finish(sel_outputs *outputs, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < outputs->count && !status; i++) {
        sel_output *output = outputs->v[i];
        if (output->under_way) {
            status = take_output(outputs, output, error);
        }
        if (!status && outputs->last) {
            status = conclude(outputs, output, error);
        }
    }
    outputs->last = false;
    return status;
}

/* Whether an output asks for what only observed steps show. */
static bool needs_observed(const sel_outputs *outputs, const sel_output *output) {
    bool needs = false;
    for (int i = 0; i < output->requests.count; i++) {
        needs = needs || sel_request_observes(outputs->context->plan, &output->requests.v[i]);
    }
    return needs;
}

void sel_outputs_end(sel_outputs *outputs, int64_t step, double time, bool whole, bool target) {
    for (int i = 0; i < outputs->count; i++) {
        if (outputs->v[i]->under_way) {
            take_output(outputs, outputs->v[i], NULL);
        }
    }
    outputs->step = step;
    outputs->time = time;
    outputs->last = whole;
    for (int i = 0; i < outputs->count; i++) {
        sel_output *output = outputs->v[i];
        if (whole && is_due(outputs, output) && (target || !needs_observed(outputs, output)) &&
            start_output(outputs, output, NULL) == SEL_OK) {
            take_output(outputs, output, NULL);
        }
        if (output->written >= 0) {
            conclude(outputs, output, NULL);
        }
    }
}

double sel_outputs_waited(const sel_outputs *outputs) {
    return outputs->waited;
}

void sel_outputs_list(const sel_outputs *outputs, FILE *to) {
    const int64_t written = sel_writer_so_far(outputs->context->writer).written;
    const char *between = "";
    for (const sel_output_file *file = outputs->files.first; file; file = file->next) {
        if (file->job <= written) {
            fputs(between, to);
            sel_json_string(to, file->name);
            between = ", ";
        }
    }
}

sel_status sel_outputs_add_file(sel_outputs *outputs, const char *name, sel_error *error) {
    for (const sel_output_file *file = outputs->files.first; file; file = file->next) {
        if (strcmp(file->name, name) == 0) {
            return SEL_OK;
        }
    }
    return sel_output_files_add(&outputs->files, NULL, name, "", error);
}

/* ---- in a checkpoint ---- */

static void keep_output(sel_output *output, sel_checkpoint *checkpoint) {
    SEL_KEEP(checkpoint, output->written);
    if (output->written < -1 || output->written > SEL_MOST_STEPS) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the step of an output",
                            checkpoint->path);
    }
    if (output->kind->keep) {
        output->kind->keep(output, checkpoint);
    }
}

void sel_outputs_save(sel_outputs *outputs, sel_checkpoint *checkpoint) {
    int count = outputs->count;
    char block[SEL_BLOCK_NAME];
    sel_checkpoint_block(checkpoint, "files");
    keep_files(&outputs->files, checkpoint);
    sel_checkpoint_block(checkpoint, "outputs");
    SEL_KEEP(checkpoint, count);
    for (int i = 0; i < count; i++) {
        sel_keep_text(checkpoint, NULL, outputs->v[i]->name);
        sel_keep_text(checkpoint, NULL, outputs->v[i]->kind->table->name);
    }
    for (int i = 0; i < count; i++) {
        snprintf(block, sizeof block, "output %d", i + 1);
        sel_checkpoint_block(checkpoint, block);
        keep_output(outputs->v[i], checkpoint);
        sel_output_keep_meaning(outputs->v[i], i + 1, checkpoint, NULL);
    }
}

/* The output of that name; NULL: none. Another kind than in the checkpoint is a failure. */
static sel_output *same_output(sel_outputs *outputs, const char *name, const char *kind,
                               sel_checkpoint *checkpoint) {
    for (int i = 0; i < outputs->count; i++) {
        sel_output *output = outputs->v[i];
        if (strcmp(output->name, name) != 0) {
            continue;
        }
        if (strcmp(output->kind->table->name, kind) != 0) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: the output '%s' was an %s, and is an %s now; give it another "
                                "name",
                                checkpoint->path, name, kind, output->kind->table->name);
        }
        return output;
    }
    return NULL;
}

void sel_outputs_load(sel_outputs *outputs, sel_checkpoint *checkpoint, sel_error *notes) {
    int count = 0;
    char block[SEL_BLOCK_NAME];
    sel_checkpoint_block(checkpoint, "outputs");
    SEL_KEEP(checkpoint, count);
    if (count < 0 || count >= SEL_MOST_OUTPUTS) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: it has %d outputs",
                            checkpoint->path, count);
    }
    for (int i = 0; i < count && !checkpoint->failure.status; i++) {
        const char *name = sel_keep_text(checkpoint, outputs->arena, NULL);
        const char *kind = sel_keep_text(checkpoint, outputs->arena, NULL);
        sel_output *output = same_output(outputs, name, kind, checkpoint);
        if (output) {
            output->kept = i + 1;
        } else {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s '%s' is no longer written", kind, name);
        }
    }
    for (int i = 0; i < outputs->count; i++) {
        sel_output *output = outputs->v[i];
        if (!output->kept) {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s '%s' is new", output->kind->table->name,
                     output->name);
            continue;
        }
        snprintf(block, sizeof block, "output %d", output->kept);
        sel_checkpoint_block(checkpoint, block);
        keep_output(output, checkpoint);
        sel_output_keep_meaning(output, output->kept, checkpoint, notes);
    }
}

void sel_outputs_close(sel_outputs *outputs) {
    if (!outputs) {
        return;
    }
    sel_writer_drain(outputs->context->writer, NULL);
    for (int i = 0; i < outputs->count; i++) {
        sel_output *output = outputs->v[i];
        if (output->under_way) {
            finish_requests(outputs, output, output->requests.count, NULL);
        }
        if (output->kind->close) {
            output->kind->close(output);
        }
        sel_csv_close(output->csv);
        free(output->requests.v);
    }
    sel_arena_destroy(outputs->arena);
}
