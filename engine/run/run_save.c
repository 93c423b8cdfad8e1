/* run_save.c -- checkpoints of a run: contents, schedule, resuming.
 *
 * Blocks of a checkpoint, in this order:
 *
 *     run                 settings of the run (run_settings.c)
 *     standing, mass      state of the run loop and its tests
 *     range               of temperatures so far
 *     drive               of a flow whose mean is held
 *     results, hooks      results of run.json; what the hooks' language keeps
 *     files, outputs ...  outputs (output.c)
 *     state blocks        the solver's state (state_save.c)
 *     grid, solids, field NAME   fields for sel.state
 *
 * The functions keep_... both save and load, by checkpoint->loads.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/hardware.h"
#include "engine/core/state.h"
#include "engine/output/kind.h"
#include "engine/run/running.h"

/* ---- choosing the checkpoint to resume ---- */

/* The out.checkpoint of a simulation; NULL: it has none. */
static const sel_variant *checkpoint_output(const sel_simulation *simulation) {
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        if (output->table == &sel_out_checkpoint_table) {
            return output;
        }
    }
    return NULL;
}

static void name_checkpoint(const sel_simulation *simulation, const char *directory,
                            sel_checkpoint_names *names) {
    const sel_variant *output = checkpoint_output(simulation);
    const char *name = output ? sel_output_name(output) : "checkpoint";
    snprintf(names->file, sizeof names->file, "%.64s.sel", name);
    snprintf(names->before, sizeof names->before, "%.64s.before.sel", name);
    snprintf(names->path, sizeof names->path, "%s/%s", directory, names->file);
    snprintf(names->path_before, sizeof names->path_before, "%s/%s", directory, names->before);
}

/* Whether, by its run.json, a run has ended by itself: no interrupt, no failure, not killed. */
static bool run_has_ended(const char *json) {
    return !strstr(json, "\"stopped_by\": \"running\"") &&
           !strstr(json, "\"stopped_by\": \"interrupted\"") &&
           !strstr(json, "\"stopped_by\": \"error\"");
}

sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory) {
    enum { LONGEST = 1 << 26 };
    sel_checkpoint_names names = {.keeps_before = false};
    char path[SEL_PATH_ROOM], *json = NULL;
    size_t length = 0;
    name_checkpoint(simulation, directory, &names);
    if (access(names.path, F_OK) == 0 || access(names.path_before, F_OK) == 0) {
        return SEL_RESUME_IT;
    }
    snprintf(path, sizeof path, "%s/" SEL_RUN_JSON, directory);
    sel_resume_step step = SEL_RESUME_BEGIN;
    if (!sel_file_read(path, LONGEST, "it tells of a run", &json, &length, NULL)) {
        json[length < LONGEST && length > 0 ? length - 1 : 0] = '\0'; /* the last newline */
        step = run_has_ended(json) ? SEL_RESUME_DONE : SEL_RESUME_ANEW;
    }
    free(json);
    return step;
}

/* Opens `file`, or if that is NULL the latest checkpoint. If the latest is damaged and the previous
 * one is not, the message names the previous one. */
static sel_status open_to_resume(const sel_checkpoint_names *names, const char *file,
                                 sel_checkpoint **opened, sel_error *error) {
    const bool there = access(names->path, F_OK) == 0;
    if (!file && !there && access(names->path_before, F_OK) == 0) { /* killed between two renames */
        file = names->path_before;
    }
    if (file) {
        return sel_checkpoint_open(file, opened, error);
    }
    if (!there) {
        *opened = NULL;
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: there is no checkpoint; runs write one where the scenario has "
                        "out.checkpoint, and when they are interrupted",
                        names->path);
    }
    sel_status status = sel_checkpoint_open(names->path, opened, error);
    sel_checkpoint *before = NULL;
    if (status && !sel_checkpoint_open(names->path_before, &before, NULL)) {
        sel_fail(error, status, "the one before it is whole: --resume %s", names->path_before);
    }
    sel_checkpoint_close(before);
    return status;
}

/* Fails because the file holds something that no run can have written. */
static void save_refuse(sel_checkpoint *checkpoint, const char *what) {
    sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: %s", checkpoint->path, what);
}

/* ---- the state of the run loop ---- */

static bool is_cell(int64_t cell, const sel_grid *grid) {
    return cell >= -1 && cell < sel_grid_cells(grid);
}

/* Whether the step of a test is possible in a run that is at `step`. */
static bool is_test(const run_test *test, int64_t step) {
    return test->step >= 0 && test->step <= step;
}

/* Saves or loads a bool as a byte. A bool with a byte other than 0 or 1 is undefined behaviour. */
static void keep_bool(sel_checkpoint *checkpoint, bool *value) {
    uint8_t byte = *value;
    SEL_KEEP(checkpoint, byte);
    if (byte > 1) {
        save_refuse(checkpoint, "a flag");
    }
    *value = byte == 1;
}

static void keep_standing(run *r, sel_checkpoint *checkpoint) {
    const sel_domain *domain = r->prepared->domain;
    sel_request *monitor = &r->monitor.request;
    int64_t step = r->step;
    sel_checkpoint_block(checkpoint, "standing");
    SEL_KEEP(checkpoint, step);
    SEL_KEEP(checkpoint, r->largest);
    SEL_KEEP(checkpoint, r->report->steady_measure);
    SEL_KEEP(checkpoint, r->report->largest_mach);
    SEL_KEEP(checkpoint, r->report->mean_change);
    keep_bool(checkpoint, &r->mean.pending);
    SEL_KEEP(checkpoint, r->mean.step);
    SEL_KEEP(checkpoint, r->mean.request.mean_change);
    keep_bool(checkpoint, &r->monitor.pending);
    SEL_KEEP(checkpoint, r->monitor.step);
    keep_bool(checkpoint, &monitor->only_bad_cell);
    SEL_KEEP(checkpoint, monitor->change);
    SEL_KEEP(checkpoint, monitor->bad_cells);
    SEL_KEEP(checkpoint, monitor->bad_cell);
    SEL_KEEP(checkpoint, monitor->largest);
    SEL_KEEP(checkpoint, monitor->largest_cell);
    SEL_KEEP(checkpoint, monitor->smallest);
    SEL_KEEP(checkpoint, monitor->smallest_cell);
    r->monitor.answered = r->monitor.pending;
    r->mean.answered = r->mean.pending;
    sel_keep(checkpoint, domain->control_values,
             (size_t)domain->control_count * sizeof *domain->control_values);
    for (int i = 0; i < domain->control_count; i++) {
        if (!isfinite(domain->control_values[i])) {
            save_refuse(checkpoint, "a control");
        }
    }
    if (step < 0 || step > SEL_MOST_STEPS || !is_test(&r->mean, step) ||
        !is_test(&r->monitor, step) || monitor->bad_cells < 0 ||
        monitor->bad_cells > sel_grid_cells(&domain->grid) ||
        !is_cell(monitor->bad_cell, &domain->grid) ||
        !is_cell(monitor->largest_cell, &domain->grid) ||
        !is_cell(monitor->smallest_cell, &domain->grid)) {
        save_refuse(checkpoint, "the step or a cell");
    } else if (checkpoint->loads && step != r->prepared->backend->whole(r->state)) {
        save_refuse(checkpoint, "its state is of another step");
    } else {
        r->step = step;
    }
}

/* Saves or loads the tests of the mass. Without such tests a checkpoint has no such block. */
static void keep_mass(run *r, sel_checkpoint *checkpoint) {
    run_mass *mass = &r->mass;
    const bool has = checkpoint->loads ? sel_checkpoint_bytes(checkpoint, "mass") >= 0
                                       : mass->step >= 0 || mass->test.pending;
    if (!has) {
        return;
    }
    sel_checkpoint_block(checkpoint, "mass");
    SEL_KEEP(checkpoint, mass->first);
    SEL_KEEP(checkpoint, mass->brought);
    SEL_KEEP(checkpoint, mass->step);
    keep_bool(checkpoint, &mass->told);
    SEL_KEEP(checkpoint, mass->test.step);
    keep_bool(checkpoint, &mass->test.pending);
    SEL_KEEP(checkpoint, mass->test.request.sum[0]);
    SEL_KEEP(checkpoint, r->report->mass_drift);
    mass->test.answered = mass->test.pending;
    if (mass->step < -1 || mass->step > r->step || !is_test(&mass->test, r->step)) {
        save_refuse(checkpoint, "the tests of the mass");
    }
}

/* Saves or loads the range of the main field. Where it is no scale a checkpoint has no such block.
 */
static void keep_range(run *r, sel_checkpoint *checkpoint) {
    run_range *range = &r->range;
    sel_request *found = &range->test.request;
    if (!r->prepared->simulation->solver->steady_by_range ||
        (checkpoint->loads && sel_checkpoint_bytes(checkpoint, "range") < 0)) {
        return;
    }
    sel_checkpoint_block(checkpoint, "range");
    SEL_KEEP(checkpoint, range->least);
    SEL_KEEP(checkpoint, range->most);
    keep_bool(checkpoint, &range->test.pending);
    SEL_KEEP(checkpoint, range->test.step);
    SEL_KEEP(checkpoint, found->min[0]);
    SEL_KEEP(checkpoint, found->max[0]);
    SEL_KEEP(checkpoint, found->sum_of_squares[0]);
    SEL_KEEP(checkpoint, found->count);
    range->test.answered = range->test.pending;
    if (!is_test(&range->test, r->step) || found->count < 0) {
        save_refuse(checkpoint, "the range");
    }
}

/* Saves or loads what the drive has seen. Without a drive a checkpoint has no such block. */
static void keep_drive(run *r, sel_checkpoint *checkpoint) {
    run_drive *drive = &r->drive;
    const bool has = !checkpoint->loads || sel_checkpoint_bytes(checkpoint, "drive") >= 0;
    if (!sel_run_drive_of(r) || !has) {
        return;
    }
    sel_checkpoint_block(checkpoint, "drive");
    SEL_KEEP(checkpoint, *drive);
    if (drive->step < -1 || drive->step > r->step || drive->steps < 0 || drive->steps > r->step ||
        !isfinite(drive->velocity) || !isfinite(drive->acceleration) || !isfinite(drive->sum)) {
        save_refuse(checkpoint, "the drive");
    }
}

static void keep_results(sel_results *results, sel_checkpoint *checkpoint) {
    int count = results->count;
    sel_checkpoint_block(checkpoint, "results");
    SEL_KEEP(checkpoint, count);
    if (count < 0) {
        save_refuse(checkpoint, "the number of results");
    }
    for (int i = 0; i < count && !checkpoint->failure.status; i++) {
        struct sel_result one = {.value = 0};
        one = checkpoint->loads ? one : results->v[i];
        SEL_KEEP(checkpoint, one);
        one.name[sizeof one.name - 1] = '\0';
        sel_plain_text(one.name);
        if (checkpoint->loads && !checkpoint->failure.status) {
            sel_results_set(results, one.name, one.value, &checkpoint->failure);
        }
    }
}

static void keep_hooks(run *r, sel_checkpoint *checkpoint) {
    const sel_list *hooks = &r->prepared->simulation->params->hooks;
    const sel_callback *first = hooks->n > 0 ? ((const sel_hook *)hooks->v)->call : NULL;
    const bool loads = checkpoint->loads;
    if (first && first->keep && (!loads || sel_checkpoint_bytes(checkpoint, "hooks") >= 0)) {
        sel_checkpoint_block(checkpoint, "hooks");
        first->keep(first, &r->hooks, checkpoint);
    }
}

static void keep_loop(run *r, sel_checkpoint *checkpoint) {
    keep_standing(r, checkpoint);
    keep_mass(r, checkpoint);
    keep_range(r, checkpoint);
    keep_drive(r, checkpoint);
    keep_results(&r->report->results, checkpoint);
    keep_hooks(r, checkpoint);
}

/* ---- fields for sel.state ---- */

static void save_field(const run *r, const char *name, sel_checkpoint *checkpoint) {
    const sel_output_context *context = r->hooks.context;
    const sel_grid *grid = &r->prepared->domain->grid;
    int component;
    const int field = sel_solver_field(context->solver, grid->dims, name, &component);
    const int components = sel_field_components(&context->solver->fields[field], grid->dims);
    char block[SEL_BLOCK_NAME];
    sel_error *error = &checkpoint->failure;
    const int64_t slabs = grid->n[grid->dims - 1], cells = sel_grid_cells(grid) / slabs;
    double *values = malloc((size_t)(cells * components) * sizeof *values);
    if (!values) {
        sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "no memory for a checkpoint");
        return;
    }
    snprintf(block, sizeof block, "field %s", name);
    sel_checkpoint_block(checkpoint, block);
    for (int64_t s = 0; s < slabs && !error->status; s++) {
        sel_request request = {.kind = SEL_READ,
                               .field = field,
                               .box = sel_grid_box(grid),
                               .precision = SEL_F64,
                               .components = components,
                               .to = values};
        request.box.lo[grid->dims - 1] = s;
        request.box.hi[grid->dims - 1] = s + 1;
        if (!sel_answer(context, &request, error)) {
            sel_keep(checkpoint, values, (size_t)(cells * components) * sizeof *values);
        }
    }
    free(values);
}

static void save_fields(const run *r, sel_checkpoint *checkpoint) {
    const sel_domain *domain = r->prepared->domain;
    const sel_grid *grid = &domain->grid;
    sel_state_grid place = {.dims = grid->dims, .nodes = grid->nodes};
    memcpy(place.n, grid->n, sizeof place.n);
    memcpy(place.dx, grid->dx, sizeof place.dx);
    memcpy(place.origin, grid->origin, sizeof place.origin);
    sel_checkpoint_block(checkpoint, "grid");
    SEL_KEEP(checkpoint, place);
    sel_checkpoint_block(checkpoint, "solids");
    sel_keep(checkpoint, domain->cell, (size_t)sel_grid_cells(grid));
    const char *const *name = r->prepared->simulation->solver->initial_fields;
    for (; name && *name; name++) {
        save_field(r, *name, checkpoint);
    }
}

/* ---- resuming ---- */

sel_status sel_run_open_directory(run *r, sel_error *error) {
    const sel_run_options *options = r->options;
    const sel_simulation *simulation = r->prepared->simulation;
    name_checkpoint(simulation, options->directory, &r->names);
    const sel_variant *output = checkpoint_output(simulation);
    r->checkpoint = output ? output->data : NULL;
    r->saves_every = output ? sel_checkpoint_seconds(output) : 0;
    sel_status status = sel_run_lock(options->directory, !options->resume, &r->lock, error);
    if (status || !options->resume) {
        return status ? status : sel_run_directory(options->directory, options->force, error);
    }
    status = open_to_resume(&r->names, options->resume_file, &r->resume, error);
    if (status) {
        return status;
    }
    const char **file = r->resume_files;
    if (access(r->names.path, F_OK) == 0) {
        *file++ = r->names.file;
    }
    if (access(r->names.path_before, F_OK) == 0) {
        *file = r->names.before;
    }
    sel_run_keep_settings(r, r->resume);
    if (!r->resume->failure.status) {
        sel_state_check(r->state, r->resume);
    }
    status = sel_checkpoint_status(r->resume, error);
    sel_run_tell_settings(r, status, error);
    const sel_output_context context = {
        .directory = options->directory, .resume = r->resume, .resume_files = r->resume_files};
    return status ? status : sel_outputs_cut(&context, error);
}

static void note_changes(run *r) {
    char text[600];
    snprintf(text, sizeof text, "goes on from step %lld (%.400s)", (long long)r->step,
             r->resume->path);
    sel_run_log(text, r);
    sel_run_note(r, "%s", r->notes.text);
    for (int i = 0; sel_warnings_line(&r->changed, i, text, sizeof text); i++) {
        sel_run_warn(r, "%s", text);
    }
}

/* *sound: the present state has not diverged, so a run may be resumed from it; else `found` tells
 * why not. Does not touch the pending tests. */
static sel_status check_state(run *r, bool *sound, char found[SEL_DIVERGENCE_TEXT],
                              sel_error *error) {
    sel_request monitor = {.kind = SEL_MONITOR,
                           .box = sel_grid_box(&r->prepared->domain->grid),
                           .only_bad_cell = true};
    const sel_backend *backend = r->prepared->backend;
    sel_status status = backend->start(r->state, &monitor, error);
    status = status ? status : backend->finish(r->state, &monitor, error);
    *sound = !status && !sel_diverged(r->prepared->plan, &monitor, r->step, found) &&
             !(r->monitor.pending &&
               sel_diverged(r->prepared->plan, &r->monitor.request, r->monitor.step, found));
    return status;
}

/* Refuses a checkpoint whose state has diverged: no run writes one, so it is damaged. */
static sel_status refuse_unsound(run *r, sel_error *error) {
    char found[SEL_DIVERGENCE_TEXT];
    bool sound = false;
    sel_status status = check_state(r, &sound, found, error);
    if (!status && !sound) {
        status =
            sel_fail(error, SEL_BAD_FILE, "%s: is damaged: no run can go on from its state (%s)",
                     r->resume->path, found);
    }
    return status;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

sel_status sel_run_load(run *r, sel_error *error) {
    sel_state_load(r->state, r->prepared->backend, r->resume);
    keep_loop(r, r->resume);
    sel_outputs_load(r->outputs, r->resume, &r->notes);
    sel_status status = sel_checkpoint_status(r->resume, error);
    status = status ? status : refuse_unsound(r, error);
    if (!status) {
        r->first_step = r->saved_step = r->step;
        r->observed_step = -1;
        r->names.keeps_before = is_same_file(r->resume->path, r->names.path_before);
        note_changes(r);
    }
    return status;
}

/* ---- writing ---- */

bool sel_run_saves_now(const run *r) {
    return r->saves_every > 0 && r->step != r->saved_step &&
           sel_machine_seconds() - r->saved_clock >= r->saves_every;
}

int64_t sel_run_next_save(const run *r) {
    return r->checkpoint ? sel_output_next(&r->checkpoint->common, 0, &r->clock, r->step)
                         : INT64_MAX;
}

static sel_status write_checkpoint(run *r, uint64_t *bytes, sel_error *error) {
    sel_checkpoint *checkpoint;
    sel_status status = sel_checkpoint_create(r->names.path, &checkpoint, error);
    if (status) {
        return status;
    }
    sel_run_keep_settings(r, checkpoint);
    keep_loop(r, checkpoint);
    sel_outputs_save(r->outputs, checkpoint);
    sel_state_save(r->state, r->prepared->backend, checkpoint);
    save_fields(r, checkpoint);
    status = sel_checkpoint_commit(checkpoint, r->names.keeps_before ? NULL : r->names.path_before,
                                   bytes, error);
    sel_checkpoint_close(checkpoint);
    return status;
}

/* Drains the writer first: all files that the checkpoint lists must exist. */
sel_status sel_run_save(run *r, sel_error *error) {
    const double begun = sel_machine_seconds();
    char size[SEL_BYTES_ROOM], found[SEL_DIVERGENCE_TEXT];
    uint64_t bytes = 0;
    bool sound = false;
    sel_status status = sel_run_wait(r, error);
    status = status ? status : sel_outputs_finish(r->outputs, error);
    status = status ? status : sel_run_answer_tests(r, error);
    status = status ? status : sel_writer_drain(r->writer, error);
    status = status ? status : check_state(r, &sound, found, error);
    if (status || !sound) {
        r->saved_clock = sel_machine_seconds();
        return status;
    }
    status = sel_outputs_add_file(r->outputs, r->names.file, error);
    if (!status && access(r->names.path, F_OK) == 0) {
        status = sel_outputs_add_file(r->outputs, r->names.before, error);
    }
    status = status ? status : write_checkpoint(r, &bytes, error);
    r->saved_clock = sel_machine_seconds();
    if (!status) {
        r->saved_step = r->step;
        r->names.keeps_before = false;
        sel_run_note(r, "checkpoint of step %lld: %s, %s, %.3g s", (long long)r->step,
                     r->names.file, sel_bytes_text((double)bytes, size), r->saved_clock - begun);
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
    sel_error failure = {.status = SEL_OK};
    if (sel_run_save(r, &failure)) {
        char text[600];
        snprintf(text, sizeof text, "no checkpoint: %.500s", failure.text);
        sel_run_log(text, r);
    }
    return SEL_OK;
}
