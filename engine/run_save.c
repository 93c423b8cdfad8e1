/* run_save.c -- checkpoints of a run: when they are due, how they are written, how a run goes on.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "engine/divergence.h"
#include "engine/folder.h"
#include "engine/machine.h"
#include "engine/output/kind.h"
#include "engine/running.h"

/* ---- going on ---- */

static sel_standing standing(const run *r) {
    return (sel_standing){.step = r->step,
                          .monitor_pending = r->monitor_pending,
                          .monitor_answered = r->monitor_answered,
                          .monitor_step = r->monitor_step,
                          .monitor = r->monitor,
                          .largest = r->largest,
                          .steady_measure = r->report->steady_measure,
                          .largest_mach = r->report->largest_mach};
}

static sel_kept_run kept_run(run *r, sel_standing *at) {
    return (sel_kept_run){.scenario = r->record.scenario,
                          .prepared = r->prepared,
                          .state = r->state,
                          .outputs = r->outputs,
                          .hooks = &r->hooks,
                          .results = &r->report->results,
                          .standing = at};
}

sel_status sel_run_open_directory(run *r, sel_error *error) {
    const sel_run_options *options = r->options;
    const sel_simulation *simulation = r->prepared->simulation;
    sel_standing at = standing(r);
    const sel_kept_run kept = kept_run(r, &at);
    sel_checkpoint_name(simulation, options->directory, &r->names);
    const sel_variant *output = sel_checkpoint_output(simulation);
    r->checkpoint = output ? output->data : NULL;
    r->saves_every = output ? sel_checkpoint_seconds(output) : 0;
    if (!options->resume) {
        return sel_run_directory(options->directory, options->force, error);
    }
    sel_status status =
        sel_resume_open(simulation, options->directory, options->resume_file, &r->resume, error);
    const char **file = r->resume_files;
    if (access(r->names.path, F_OK) == 0) {
        *file++ = r->names.file;
    }
    if (access(r->names.path_before, F_OK) == 0) {
        *file = r->names.before;
    }
    status = status ? status : sel_resume_check(&kept, r->resume, &r->notes, error);
    const sel_output_context context = {
        .directory = options->directory, .resume = r->resume, .resume_files = r->resume_files};
    return status ? status : sel_outputs_cut(&context, error);
}

static void note_changes(run *r) {
    char text[600];
    snprintf(text, sizeof text, "goes on from step %lld (%.400s)", (long long)r->step,
             sel_checkpoint_path(r->resume));
    sel_run_log(text, r);
    sel_record_log(&r->record, r->notes.text);
}

sel_status sel_run_load(run *r, sel_error *error) {
    sel_standing at = standing(r);
    const sel_kept_run kept = kept_run(r, &at);
    sel_status status = sel_resume_load(&kept, r->resume, &r->notes, error);
    if (status) {
        return status;
    }
    r->step = r->first_step = r->saved_step = at.step;
    r->names.keeps_before = strcmp(sel_checkpoint_path(r->resume), r->names.path_before) == 0;
    r->monitor = at.monitor;
    r->monitor_pending = at.monitor_pending;
    r->monitor_answered = at.monitor_answered;
    r->monitor_step = at.monitor_step;
    r->largest = at.largest;
    r->report->steady_measure = at.steady_measure;
    r->report->largest_mach = at.largest_mach;
    note_changes(r);
    return SEL_OK;
}

/* ---- writing ---- */

bool sel_run_saves_now(const run *r) {
    return r->saves_every > 0 && r->step != r->saved_step &&
           sel_machine_seconds() - r->saved_clock >= r->saves_every;
}

int64_t sel_run_next_save(const run *r) {
    return r->checkpoint
               ? sel_output_next(&r->checkpoint->common, 0, r->prepared->domain->grid.dt, r->step)
               : INT64_MAX;
}

/* Whether one may go on from the present state. Leaves the test under way alone. */
static sel_status look_at_state(run *r, bool *sound, sel_error *error) {
    char found[SEL_DIVERGENCE_TEXT];
    sel_request look = {.kind = SEL_MONITOR,
                        .box = sel_grid_box(&r->prepared->domain->grid),
                        .only_bad_cell = true};
    const sel_backend *backend = r->prepared->backend;
    sel_status status = backend->start(r->state, &look, error);
    status = status ? status : backend->finish(r->state, &look, error);
    *sound = !status && !sel_diverged(r->prepared->plan, &look, r->step, found) &&
             !(r->monitor_pending &&
               sel_diverged(r->prepared->plan, &r->monitor, r->monitor_step, found));
    return status;
}

static void say_saved(run *r, uint64_t bytes, double seconds) {
    char text[256], size[SEL_BYTES_ROOM];
    snprintf(text, sizeof text, "checkpoint of step %lld: %s, %s, %.3g s", (long long)r->step,
             r->names.file, sel_bytes_text((double)bytes, size), seconds);
    sel_record_log(&r->record, text);
}

/* All files are on the way to the disk before the checkpoint says that they are there. */
sel_status sel_run_save(run *r, sel_error *error) {
    const double begun = sel_machine_seconds();
    uint64_t bytes = 0;
    bool sound = false;
    sel_status status = sel_run_wait(r, error);
    status = status ? status : sel_outputs_finish(r->outputs, error);
    status = status ? status : sel_run_answer_monitor(r, error);
    status = status ? status : sel_writer_drain(r->writer, error);
    status = status ? status : look_at_state(r, &sound, error);
    if (status || !sound) {
        r->saved_clock = sel_machine_seconds();
        return status;
    }
    status = sel_outputs_add_file(r->outputs, r->names.file, error);
    if (!status && access(r->names.path, F_OK) == 0) {
        status = sel_outputs_add_file(r->outputs, r->names.before, error);
    }
    sel_standing at = standing(r);
    const sel_kept_run kept = kept_run(r, &at);
    status = status ? status : sel_resume_save(&kept, &r->names, &bytes, error);
    r->saved_clock = sel_machine_seconds();
    if (!status) {
        r->saved_step = r->step;
        r->names.keeps_before = false;
        say_saved(r, bytes, r->saved_clock - begun);
    }
    return status;
}

sel_status sel_run_save_last(run *r, sel_error *error) {
    const sel_stopped_by by = r->report->stopped_by;
    if (r->saved_step == r->step || (!r->checkpoint && by != SEL_BY_INTERRUPT)) {
        return SEL_OK;
    }
    if (by != SEL_BY_INTERRUPT) {
        return sel_run_save(r, error);
    }
    if (sel_run_save(r, &r->failure)) {
        char text[600];
        snprintf(text, sizeof text, "no checkpoint: %.500s", r->failure.text);
        sel_run_log(text, r);
    }
    return SEL_OK;
}

void sel_run_name_checkpoint(run *r) {
    char *reason = r->report->stop_reason;
    const size_t used = strlen(reason), room = sizeof r->report->stop_reason - used;
    if (r->saved_step >= 0) {
        snprintf(reason + used, room, ". %s holds step %lld", r->names.path,
                 (long long)r->saved_step);
    }
}
